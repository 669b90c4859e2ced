// The transforms of a few points in registers, and the stages made of them. Transforms of odd length compute with the sums and differences
// of points that mirror each other. Every index into x is a constant, so that points stay in registers. Needs fft/pass.wgsl.
//
// Written by tools/unroll: `cargo run --example unroll` writes it anew.

fn points_13() {
    let x0 = x[0u];
    let x1 = x[1u];
    let x2 = x[2u];
    let x3 = x[3u];
    let x4 = x[4u];
    let x5 = x[5u];
    let x6 = x[6u];
    let x7 = x[7u];
    let x8 = x[8u];
    let x9 = x[9u];
    let x10 = x[10u];
    let x11 = x[11u];
    let x12 = x[12u];
    let p1 = x1 + x12;
    let m1 = x1 - x12;
    let p2 = x2 + x11;
    let m2 = x2 - x11;
    let p3 = x3 + x10;
    let m3 = x3 - x10;
    let p4 = x4 + x9;
    let m4 = x4 - x9;
    let p5 = x5 + x8;
    let m5 = x5 - x8;
    let p6 = x6 + x7;
    let m6 = x6 - x7;
    x[0u] = x0 + p1 + p2 + p3 + p4 + p5 + p6;
    let a1 = x0 + (0.885456 * p1 + 0.56806475 * p2 + 0.12053668 * p3 + (-0.3546049) * p4 + (-0.7485108) * p5 + (-0.97094184) * p6);
    let b1 = 0.46472317 * m1 + 0.82298386 * m2 + 0.99270886 * m3 + 0.9350162 * m4 + 0.66312265 * m5 + 0.23931566 * m6;
    x[1u] = a1 + quarter(b1);
    x[12u] = a1 - quarter(b1);
    let a2 = x0 + (0.56806475 * p1 + (-0.3546049) * p2 + (-0.97094184) * p3 + (-0.7485108) * p4 + 0.12053668 * p5 + 0.885456 * p6);
    let b2 = 0.82298386 * m1 + 0.9350162 * m2 + 0.23931566 * m3 + (-0.66312265) * m4 + (-0.99270886) * m5 + (-0.46472317) * m6;
    x[2u] = a2 + quarter(b2);
    x[11u] = a2 - quarter(b2);
    let a3 = x0 + (0.12053668 * p1 + (-0.97094184) * p2 + (-0.3546049) * p3 + 0.885456 * p4 + 0.56806475 * p5 + (-0.7485108) * p6);
    let b3 = 0.99270886 * m1 + 0.23931566 * m2 + (-0.9350162) * m3 + (-0.46472317) * m4 + 0.82298386 * m5 + 0.66312265 * m6;
    x[3u] = a3 + quarter(b3);
    x[10u] = a3 - quarter(b3);
    let a4 = x0 + ((-0.3546049) * p1 + (-0.7485108) * p2 + 0.885456 * p3 + 0.12053668 * p4 + (-0.97094184) * p5 + 0.56806475 * p6);
    let b4 = 0.9350162 * m1 + (-0.66312265) * m2 + (-0.46472317) * m3 + 0.99270886 * m4 + (-0.23931566) * m5 + (-0.82298386) * m6;
    x[4u] = a4 + quarter(b4);
    x[9u] = a4 - quarter(b4);
    let a5 = x0 + ((-0.7485108) * p1 + 0.12053668 * p2 + 0.56806475 * p3 + (-0.97094184) * p4 + 0.885456 * p5 + (-0.3546049) * p6);
    let b5 = 0.66312265 * m1 + (-0.99270886) * m2 + 0.82298386 * m3 + (-0.23931566) * m4 + (-0.46472317) * m5 + 0.9350162 * m6;
    x[5u] = a5 + quarter(b5);
    x[8u] = a5 - quarter(b5);
    let a6 = x0 + ((-0.97094184) * p1 + 0.885456 * p2 + (-0.7485108) * p3 + 0.56806475 * p4 + (-0.3546049) * p5 + 0.12053668 * p6);
    let b6 = 0.23931566 * m1 + (-0.46472317) * m2 + 0.66312265 * m3 + (-0.82298386) * m4 + 0.9350162 * m5 + (-0.99270886) * m6;
    x[6u] = a6 + quarter(b6);
    x[7u] = a6 - quarter(b6);
}

fn take_13(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
    x[2u] = points[bank(at.begin + 2u * at.stride)];
    x[3u] = points[bank(at.begin + 3u * at.stride)];
    x[4u] = points[bank(at.begin + 4u * at.stride)];
    x[5u] = points[bank(at.begin + 5u * at.stride)];
    x[6u] = points[bank(at.begin + 6u * at.stride)];
    x[7u] = points[bank(at.begin + 7u * at.stride)];
    x[8u] = points[bank(at.begin + 8u * at.stride)];
    x[9u] = points[bank(at.begin + 9u * at.stride)];
    x[10u] = points[bank(at.begin + 10u * at.stride)];
    x[11u] = points[bank(at.begin + 11u * at.stride)];
    x[12u] = points[bank(at.begin + 12u * at.stride)];
}

fn put_13(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
    points[bank(at.begin + 2u * at.stride)] = x[2u];
    points[bank(at.begin + 3u * at.stride)] = x[3u];
    points[bank(at.begin + 4u * at.stride)] = x[4u];
    points[bank(at.begin + 5u * at.stride)] = x[5u];
    points[bank(at.begin + 6u * at.stride)] = x[6u];
    points[bank(at.begin + 7u * at.stride)] = x[7u];
    points[bank(at.begin + 8u * at.stride)] = x[8u];
    points[bank(at.begin + 9u * at.stride)] = x[9u];
    points[bank(at.begin + 10u * at.stride)] = x[10u];
    points[bank(at.begin + 11u * at.stride)] = x[11u];
    points[bank(at.begin + 12u * at.stride)] = x[12u];
}

fn turn_13(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    let w2 = tables[at.twiddle + 1u * at.stride];
    let w3 = times(w2, w1);
    let w4 = tables[at.twiddle + 3u * at.stride];
    let w5 = times(w4, w1);
    let w6 = times(w4, w2);
    let w7 = times(w4, w3);
    let w8 = tables[at.twiddle + 7u * at.stride];
    let w9 = times(w8, w1);
    let w10 = times(w8, w2);
    let w11 = times(w8, w3);
    let w12 = times(w8, w4);
    x[1u] = by(x[1u], w1);
    x[2u] = by(x[2u], w2);
    x[3u] = by(x[3u], w3);
    x[4u] = by(x[4u], w4);
    x[5u] = by(x[5u], w5);
    x[6u] = by(x[6u], w6);
    x[7u] = by(x[7u], w7);
    x[8u] = by(x[8u], w8);
    x[9u] = by(x[9u], w9);
    x[10u] = by(x[10u], w10);
    x[11u] = by(x[11u], w11);
    x[12u] = by(x[12u], w12);
}

fn stage_13(now: Stage, mirrored: bool) {
    let each = params.length / 13u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 13u, now.stride);
            take_13(at);
            if !mirrored { turn_13(at); }
            points_13();
            if mirrored { turn_13(at); }
            put_13(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_13(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 13u {
        loop {
            stage_13(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 13u; }
        }
    }
    return now;
}

fn points_11() {
    let x0 = x[0u];
    let x1 = x[1u];
    let x2 = x[2u];
    let x3 = x[3u];
    let x4 = x[4u];
    let x5 = x[5u];
    let x6 = x[6u];
    let x7 = x[7u];
    let x8 = x[8u];
    let x9 = x[9u];
    let x10 = x[10u];
    let p1 = x1 + x10;
    let m1 = x1 - x10;
    let p2 = x2 + x9;
    let m2 = x2 - x9;
    let p3 = x3 + x8;
    let m3 = x3 - x8;
    let p4 = x4 + x7;
    let m4 = x4 - x7;
    let p5 = x5 + x6;
    let m5 = x5 - x6;
    x[0u] = x0 + p1 + p2 + p3 + p4 + p5;
    let a1 = x0 + (0.8412535 * p1 + 0.41541502 * p2 + (-0.14231484) * p3 + (-0.65486073) * p4 + (-0.959493) * p5);
    let b1 = 0.54064083 * m1 + 0.90963197 * m2 + 0.98982143 * m3 + 0.7557496 * m4 + 0.28173256 * m5;
    x[1u] = a1 + quarter(b1);
    x[10u] = a1 - quarter(b1);
    let a2 = x0 + (0.41541502 * p1 + (-0.65486073) * p2 + (-0.959493) * p3 + (-0.14231484) * p4 + 0.8412535 * p5);
    let b2 = 0.90963197 * m1 + 0.7557496 * m2 + (-0.28173256) * m3 + (-0.98982143) * m4 + (-0.54064083) * m5;
    x[2u] = a2 + quarter(b2);
    x[9u] = a2 - quarter(b2);
    let a3 = x0 + ((-0.14231484) * p1 + (-0.959493) * p2 + 0.41541502 * p3 + 0.8412535 * p4 + (-0.65486073) * p5);
    let b3 = 0.98982143 * m1 + (-0.28173256) * m2 + (-0.90963197) * m3 + 0.54064083 * m4 + 0.7557496 * m5;
    x[3u] = a3 + quarter(b3);
    x[8u] = a3 - quarter(b3);
    let a4 = x0 + ((-0.65486073) * p1 + (-0.14231484) * p2 + 0.8412535 * p3 + (-0.959493) * p4 + 0.41541502 * p5);
    let b4 = 0.7557496 * m1 + (-0.98982143) * m2 + 0.54064083 * m3 + 0.28173256 * m4 + (-0.90963197) * m5;
    x[4u] = a4 + quarter(b4);
    x[7u] = a4 - quarter(b4);
    let a5 = x0 + ((-0.959493) * p1 + 0.8412535 * p2 + (-0.65486073) * p3 + 0.41541502 * p4 + (-0.14231484) * p5);
    let b5 = 0.28173256 * m1 + (-0.54064083) * m2 + 0.7557496 * m3 + (-0.90963197) * m4 + 0.98982143 * m5;
    x[5u] = a5 + quarter(b5);
    x[6u] = a5 - quarter(b5);
}

fn take_11(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
    x[2u] = points[bank(at.begin + 2u * at.stride)];
    x[3u] = points[bank(at.begin + 3u * at.stride)];
    x[4u] = points[bank(at.begin + 4u * at.stride)];
    x[5u] = points[bank(at.begin + 5u * at.stride)];
    x[6u] = points[bank(at.begin + 6u * at.stride)];
    x[7u] = points[bank(at.begin + 7u * at.stride)];
    x[8u] = points[bank(at.begin + 8u * at.stride)];
    x[9u] = points[bank(at.begin + 9u * at.stride)];
    x[10u] = points[bank(at.begin + 10u * at.stride)];
}

fn put_11(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
    points[bank(at.begin + 2u * at.stride)] = x[2u];
    points[bank(at.begin + 3u * at.stride)] = x[3u];
    points[bank(at.begin + 4u * at.stride)] = x[4u];
    points[bank(at.begin + 5u * at.stride)] = x[5u];
    points[bank(at.begin + 6u * at.stride)] = x[6u];
    points[bank(at.begin + 7u * at.stride)] = x[7u];
    points[bank(at.begin + 8u * at.stride)] = x[8u];
    points[bank(at.begin + 9u * at.stride)] = x[9u];
    points[bank(at.begin + 10u * at.stride)] = x[10u];
}

fn turn_11(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    let w2 = tables[at.twiddle + 1u * at.stride];
    let w3 = times(w2, w1);
    let w4 = tables[at.twiddle + 3u * at.stride];
    let w5 = times(w4, w1);
    let w6 = times(w4, w2);
    let w7 = times(w4, w3);
    let w8 = tables[at.twiddle + 7u * at.stride];
    let w9 = times(w8, w1);
    let w10 = times(w8, w2);
    x[1u] = by(x[1u], w1);
    x[2u] = by(x[2u], w2);
    x[3u] = by(x[3u], w3);
    x[4u] = by(x[4u], w4);
    x[5u] = by(x[5u], w5);
    x[6u] = by(x[6u], w6);
    x[7u] = by(x[7u], w7);
    x[8u] = by(x[8u], w8);
    x[9u] = by(x[9u], w9);
    x[10u] = by(x[10u], w10);
}

fn stage_11(now: Stage, mirrored: bool) {
    let each = params.length / 11u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 11u, now.stride);
            take_11(at);
            if !mirrored { turn_11(at); }
            points_11();
            if mirrored { turn_11(at); }
            put_11(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_11(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 11u {
        loop {
            stage_11(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 11u; }
        }
    }
    return now;
}

fn points_7() {
    let x0 = x[0u];
    let x1 = x[1u];
    let x2 = x[2u];
    let x3 = x[3u];
    let x4 = x[4u];
    let x5 = x[5u];
    let x6 = x[6u];
    let p1 = x1 + x6;
    let m1 = x1 - x6;
    let p2 = x2 + x5;
    let m2 = x2 - x5;
    let p3 = x3 + x4;
    let m3 = x3 - x4;
    x[0u] = x0 + p1 + p2 + p3;
    let a1 = x0 + (0.6234898 * p1 + (-0.22252093) * p2 + (-0.90096885) * p3);
    let b1 = 0.7818315 * m1 + 0.9749279 * m2 + 0.43388373 * m3;
    x[1u] = a1 + quarter(b1);
    x[6u] = a1 - quarter(b1);
    let a2 = x0 + ((-0.22252093) * p1 + (-0.90096885) * p2 + 0.6234898 * p3);
    let b2 = 0.9749279 * m1 + (-0.43388373) * m2 + (-0.7818315) * m3;
    x[2u] = a2 + quarter(b2);
    x[5u] = a2 - quarter(b2);
    let a3 = x0 + ((-0.90096885) * p1 + 0.6234898 * p2 + (-0.22252093) * p3);
    let b3 = 0.43388373 * m1 + (-0.7818315) * m2 + 0.9749279 * m3;
    x[3u] = a3 + quarter(b3);
    x[4u] = a3 - quarter(b3);
}

fn take_7(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
    x[2u] = points[bank(at.begin + 2u * at.stride)];
    x[3u] = points[bank(at.begin + 3u * at.stride)];
    x[4u] = points[bank(at.begin + 4u * at.stride)];
    x[5u] = points[bank(at.begin + 5u * at.stride)];
    x[6u] = points[bank(at.begin + 6u * at.stride)];
}

fn put_7(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
    points[bank(at.begin + 2u * at.stride)] = x[2u];
    points[bank(at.begin + 3u * at.stride)] = x[3u];
    points[bank(at.begin + 4u * at.stride)] = x[4u];
    points[bank(at.begin + 5u * at.stride)] = x[5u];
    points[bank(at.begin + 6u * at.stride)] = x[6u];
}

fn turn_7(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    let w2 = tables[at.twiddle + 1u * at.stride];
    let w3 = times(w2, w1);
    let w4 = tables[at.twiddle + 3u * at.stride];
    let w5 = times(w4, w1);
    let w6 = times(w4, w2);
    x[1u] = by(x[1u], w1);
    x[2u] = by(x[2u], w2);
    x[3u] = by(x[3u], w3);
    x[4u] = by(x[4u], w4);
    x[5u] = by(x[5u], w5);
    x[6u] = by(x[6u], w6);
}

fn stage_7(now: Stage, mirrored: bool) {
    let each = params.length / 7u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 7u, now.stride);
            take_7(at);
            if !mirrored { turn_7(at); }
            points_7();
            if mirrored { turn_7(at); }
            put_7(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_7(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 7u {
        loop {
            stage_7(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 7u; }
        }
    }
    return now;
}

fn points_5() {
    let x0 = x[0u];
    let x1 = x[1u];
    let x2 = x[2u];
    let x3 = x[3u];
    let x4 = x[4u];
    let p1 = x1 + x4;
    let m1 = x1 - x4;
    let p2 = x2 + x3;
    let m2 = x2 - x3;
    x[0u] = x0 + p1 + p2;
    let a1 = x0 + (0.309017 * p1 + (-0.809017) * p2);
    let b1 = 0.95105654 * m1 + 0.58778524 * m2;
    x[1u] = a1 + quarter(b1);
    x[4u] = a1 - quarter(b1);
    let a2 = x0 + ((-0.809017) * p1 + 0.309017 * p2);
    let b2 = 0.58778524 * m1 + (-0.95105654) * m2;
    x[2u] = a2 + quarter(b2);
    x[3u] = a2 - quarter(b2);
}

fn take_5(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
    x[2u] = points[bank(at.begin + 2u * at.stride)];
    x[3u] = points[bank(at.begin + 3u * at.stride)];
    x[4u] = points[bank(at.begin + 4u * at.stride)];
}

fn put_5(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
    points[bank(at.begin + 2u * at.stride)] = x[2u];
    points[bank(at.begin + 3u * at.stride)] = x[3u];
    points[bank(at.begin + 4u * at.stride)] = x[4u];
}

fn turn_5(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    let w2 = tables[at.twiddle + 1u * at.stride];
    let w3 = times(w2, w1);
    let w4 = tables[at.twiddle + 3u * at.stride];
    x[1u] = by(x[1u], w1);
    x[2u] = by(x[2u], w2);
    x[3u] = by(x[3u], w3);
    x[4u] = by(x[4u], w4);
}

fn stage_5(now: Stage, mirrored: bool) {
    let each = params.length / 5u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 5u, now.stride);
            take_5(at);
            if !mirrored { turn_5(at); }
            points_5();
            if mirrored { turn_5(at); }
            put_5(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_5(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 5u {
        loop {
            stage_5(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 5u; }
        }
    }
    return now;
}

fn points_3() {
    let x0 = x[0u];
    let x1 = x[1u];
    let x2 = x[2u];
    let p1 = x1 + x2;
    let m1 = x1 - x2;
    x[0u] = x0 + p1;
    let a1 = x0 + ((-0.5) * p1);
    let b1 = 0.8660254 * m1;
    x[1u] = a1 + quarter(b1);
    x[2u] = a1 - quarter(b1);
}

fn take_3(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
    x[2u] = points[bank(at.begin + 2u * at.stride)];
}

fn put_3(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
    points[bank(at.begin + 2u * at.stride)] = x[2u];
}

fn turn_3(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    let w2 = tables[at.twiddle + 1u * at.stride];
    x[1u] = by(x[1u], w1);
    x[2u] = by(x[2u], w2);
}

fn stage_3(now: Stage, mirrored: bool) {
    let each = params.length / 3u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 3u, now.stride);
            take_3(at);
            if !mirrored { turn_3(at); }
            points_3();
            if mirrored { turn_3(at); }
            put_3(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_3(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 3u {
        loop {
            stage_3(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 3u; }
        }
    }
    return now;
}

fn points_2() {
    let x0 = x[0u];
    let x1 = x[1u];
    x[0u] = x0 + x1;
    x[1u] = x0 - x1;
}

fn take_2(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
}

fn put_2(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
}

fn turn_2(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    x[1u] = by(x[1u], w1);
}

fn stage_2(now: Stage, mirrored: bool) {
    let each = params.length / 2u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 2u, now.stride);
            take_2(at);
            if !mirrored { turn_2(at); }
            points_2();
            if mirrored { turn_2(at); }
            put_2(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_2(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 2u {
        loop {
            stage_2(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 2u; }
        }
    }
    return now;
}

fn points_4() {
    let x0 = x[0u];
    let x1 = x[1u];
    let x2 = x[2u];
    let x3 = x[3u];
    let yp = x0 + x2;
    let ym = x0 - x2;
    let yq = x1 + x3;
    let yn = x1 - x3;
    let y0 = yp + yq;
    let y1 = ym + quarter(yn);
    let y2 = yp - yq;
    let y3 = ym - quarter(yn);
    x[0u] = y0;
    x[1u] = y1;
    x[2u] = y2;
    x[3u] = y3;
}

fn take_4(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
    x[2u] = points[bank(at.begin + 2u * at.stride)];
    x[3u] = points[bank(at.begin + 3u * at.stride)];
}

fn put_4(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
    points[bank(at.begin + 2u * at.stride)] = x[2u];
    points[bank(at.begin + 3u * at.stride)] = x[3u];
}

fn turn_4(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    let w2 = tables[at.twiddle + 1u * at.stride];
    let w3 = times(w2, w1);
    x[1u] = by(x[1u], w1);
    x[2u] = by(x[2u], w2);
    x[3u] = by(x[3u], w3);
}

fn stage_4(now: Stage, mirrored: bool) {
    let each = params.length / 4u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 4u, now.stride);
            take_4(at);
            if !mirrored { turn_4(at); }
            points_4();
            if mirrored { turn_4(at); }
            put_4(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_4(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 4u {
        loop {
            stage_4(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 4u; }
        }
    }
    return now;
}

fn points_8() {
    let x0 = x[0u];
    let x1 = x[1u];
    let x2 = x[2u];
    let x3 = x[3u];
    let x4 = x[4u];
    let x5 = x[5u];
    let x6 = x[6u];
    let x7 = x[7u];
    let ep = x0 + x4;
    let em = x0 - x4;
    let eq = x2 + x6;
    let en = x2 - x6;
    let e0 = ep + eq;
    let e1 = em + quarter(en);
    let e2 = ep - eq;
    let e3 = em - quarter(en);
    let op = x1 + x5;
    let om = x1 - x5;
    let oq = x3 + x7;
    let on = x3 - x7;
    let o0 = op + oq;
    let o1 = om + quarter(on);
    let o2 = op - oq;
    let o3 = om - quarter(on);
    let t1 = 0.70710677 * (o1 + quarter(o1));
    let t2 = quarter(o2);
    let t3 = 0.70710677 * (quarter(o3) - o3);
    x[0u] = e0 + o0;
    x[4u] = e0 - o0;
    x[1u] = e1 + t1;
    x[5u] = e1 - t1;
    x[2u] = e2 + t2;
    x[6u] = e2 - t2;
    x[3u] = e3 + t3;
    x[7u] = e3 - t3;
}

fn take_8(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
    x[2u] = points[bank(at.begin + 2u * at.stride)];
    x[3u] = points[bank(at.begin + 3u * at.stride)];
    x[4u] = points[bank(at.begin + 4u * at.stride)];
    x[5u] = points[bank(at.begin + 5u * at.stride)];
    x[6u] = points[bank(at.begin + 6u * at.stride)];
    x[7u] = points[bank(at.begin + 7u * at.stride)];
}

fn put_8(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
    points[bank(at.begin + 2u * at.stride)] = x[2u];
    points[bank(at.begin + 3u * at.stride)] = x[3u];
    points[bank(at.begin + 4u * at.stride)] = x[4u];
    points[bank(at.begin + 5u * at.stride)] = x[5u];
    points[bank(at.begin + 6u * at.stride)] = x[6u];
    points[bank(at.begin + 7u * at.stride)] = x[7u];
}

fn turn_8(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    let w2 = tables[at.twiddle + 1u * at.stride];
    let w3 = times(w2, w1);
    let w4 = tables[at.twiddle + 3u * at.stride];
    let w5 = times(w4, w1);
    let w6 = times(w4, w2);
    let w7 = times(w4, w3);
    x[1u] = by(x[1u], w1);
    x[2u] = by(x[2u], w2);
    x[3u] = by(x[3u], w3);
    x[4u] = by(x[4u], w4);
    x[5u] = by(x[5u], w5);
    x[6u] = by(x[6u], w6);
    x[7u] = by(x[7u], w7);
}

fn stage_8(now: Stage, mirrored: bool) {
    let each = params.length / 8u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 8u, now.stride);
            take_8(at);
            if !mirrored { turn_8(at); }
            points_8();
            if mirrored { turn_8(at); }
            put_8(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_8(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 8u {
        loop {
            stage_8(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 8u; }
        }
    }
    return now;
}

fn points_16() {
    let x0 = x[0u];
    let x1 = x[1u];
    let x2 = x[2u];
    let x3 = x[3u];
    let x4 = x[4u];
    let x5 = x[5u];
    let x6 = x[6u];
    let x7 = x[7u];
    let x8 = x[8u];
    let x9 = x[9u];
    let x10 = x[10u];
    let x11 = x[11u];
    let x12 = x[12u];
    let x13 = x[13u];
    let x14 = x[14u];
    let x15 = x[15u];
    let ap = x0 + x8;
    let am = x0 - x8;
    let aq = x4 + x12;
    let an = x4 - x12;
    let a0 = ap + aq;
    let a1 = am + quarter(an);
    let a2 = ap - aq;
    let a3 = am - quarter(an);
    let bp = x1 + x9;
    let bm = x1 - x9;
    let bq = x5 + x13;
    let bn = x5 - x13;
    let b0 = bp + bq;
    let b1 = bm + quarter(bn);
    let b2 = bp - bq;
    let b3 = bm - quarter(bn);
    let cp = x2 + x10;
    let cm = x2 - x10;
    let cq = x6 + x14;
    let cn = x6 - x14;
    let c0 = cp + cq;
    let c1 = cm + quarter(cn);
    let c2 = cp - cq;
    let c3 = cm - quarter(cn);
    let dp = x3 + x11;
    let dm = x3 - x11;
    let dq = x7 + x15;
    let dn = x7 - x15;
    let d0 = dp + dq;
    let d1 = dm + quarter(dn);
    let d2 = dp - dq;
    let d3 = dm - quarter(dn);
    let y0p = a0 + c0;
    let y0m = a0 - c0;
    let y0q = b0 + d0;
    let y0n = b0 - d0;
    let y00 = y0p + y0q;
    let y01 = y0m + quarter(y0n);
    let y02 = y0p - y0q;
    let y03 = y0m - quarter(y0n);
    x[0u] = y00;
    x[4u] = y01;
    x[8u] = y02;
    x[12u] = y03;
    let t11 = 0.9238795 * b1 + 0.38268343 * quarter(b1);
    let t12 = 0.70710677 * c1 + 0.70710677 * quarter(c1);
    let t13 = 0.38268343 * d1 + 0.9238795 * quarter(d1);
    let y1p = a1 + t12;
    let y1m = a1 - t12;
    let y1q = t11 + t13;
    let y1n = t11 - t13;
    let y10 = y1p + y1q;
    let y11 = y1m + quarter(y1n);
    let y12 = y1p - y1q;
    let y13 = y1m - quarter(y1n);
    x[1u] = y10;
    x[5u] = y11;
    x[9u] = y12;
    x[13u] = y13;
    let t21 = 0.70710677 * b2 + 0.70710677 * quarter(b2);
    let t23 = (-0.70710677) * d2 + 0.70710677 * quarter(d2);
    let y2p = a2 + quarter(c2);
    let y2m = a2 - quarter(c2);
    let y2q = t21 + t23;
    let y2n = t21 - t23;
    let y20 = y2p + y2q;
    let y21 = y2m + quarter(y2n);
    let y22 = y2p - y2q;
    let y23 = y2m - quarter(y2n);
    x[2u] = y20;
    x[6u] = y21;
    x[10u] = y22;
    x[14u] = y23;
    let t31 = 0.38268343 * b3 + 0.9238795 * quarter(b3);
    let t32 = (-0.70710677) * c3 + 0.70710677 * quarter(c3);
    let t33 = (-0.9238795) * d3 + (-0.38268343) * quarter(d3);
    let y3p = a3 + t32;
    let y3m = a3 - t32;
    let y3q = t31 + t33;
    let y3n = t31 - t33;
    let y30 = y3p + y3q;
    let y31 = y3m + quarter(y3n);
    let y32 = y3p - y3q;
    let y33 = y3m - quarter(y3n);
    x[3u] = y30;
    x[7u] = y31;
    x[11u] = y32;
    x[15u] = y33;
}

fn take_16(at: Place) {
    x[0u] = points[bank(at.begin + 0u * at.stride)];
    x[1u] = points[bank(at.begin + 1u * at.stride)];
    x[2u] = points[bank(at.begin + 2u * at.stride)];
    x[3u] = points[bank(at.begin + 3u * at.stride)];
    x[4u] = points[bank(at.begin + 4u * at.stride)];
    x[5u] = points[bank(at.begin + 5u * at.stride)];
    x[6u] = points[bank(at.begin + 6u * at.stride)];
    x[7u] = points[bank(at.begin + 7u * at.stride)];
    x[8u] = points[bank(at.begin + 8u * at.stride)];
    x[9u] = points[bank(at.begin + 9u * at.stride)];
    x[10u] = points[bank(at.begin + 10u * at.stride)];
    x[11u] = points[bank(at.begin + 11u * at.stride)];
    x[12u] = points[bank(at.begin + 12u * at.stride)];
    x[13u] = points[bank(at.begin + 13u * at.stride)];
    x[14u] = points[bank(at.begin + 14u * at.stride)];
    x[15u] = points[bank(at.begin + 15u * at.stride)];
}

fn put_16(at: Place) {
    points[bank(at.begin + 0u * at.stride)] = x[0u];
    points[bank(at.begin + 1u * at.stride)] = x[1u];
    points[bank(at.begin + 2u * at.stride)] = x[2u];
    points[bank(at.begin + 3u * at.stride)] = x[3u];
    points[bank(at.begin + 4u * at.stride)] = x[4u];
    points[bank(at.begin + 5u * at.stride)] = x[5u];
    points[bank(at.begin + 6u * at.stride)] = x[6u];
    points[bank(at.begin + 7u * at.stride)] = x[7u];
    points[bank(at.begin + 8u * at.stride)] = x[8u];
    points[bank(at.begin + 9u * at.stride)] = x[9u];
    points[bank(at.begin + 10u * at.stride)] = x[10u];
    points[bank(at.begin + 11u * at.stride)] = x[11u];
    points[bank(at.begin + 12u * at.stride)] = x[12u];
    points[bank(at.begin + 13u * at.stride)] = x[13u];
    points[bank(at.begin + 14u * at.stride)] = x[14u];
    points[bank(at.begin + 15u * at.stride)] = x[15u];
}

fn turn_16(at: Place) {
    let w1 = tables[at.twiddle + 0u * at.stride];
    let w2 = tables[at.twiddle + 1u * at.stride];
    let w3 = times(w2, w1);
    let w4 = tables[at.twiddle + 3u * at.stride];
    let w5 = times(w4, w1);
    let w6 = times(w4, w2);
    let w7 = times(w4, w3);
    let w8 = tables[at.twiddle + 7u * at.stride];
    let w9 = times(w8, w1);
    let w10 = times(w8, w2);
    let w11 = times(w8, w3);
    let w12 = times(w8, w4);
    let w13 = times(w8, w5);
    let w14 = times(w8, w6);
    let w15 = times(w8, w7);
    x[1u] = by(x[1u], w1);
    x[2u] = by(x[2u], w2);
    x[3u] = by(x[3u], w3);
    x[4u] = by(x[4u], w4);
    x[5u] = by(x[5u], w5);
    x[6u] = by(x[6u], w6);
    x[7u] = by(x[7u], w7);
    x[8u] = by(x[8u], w8);
    x[9u] = by(x[9u], w9);
    x[10u] = by(x[10u], w10);
    x[11u] = by(x[11u], w11);
    x[12u] = by(x[12u], w12);
    x[13u] = by(x[13u], w13);
    x[14u] = by(x[14u], w14);
    x[15u] = by(x[15u], w15);
}

fn stage_16(now: Stage, mirrored: bool) {
    let each = params.length / 16u;
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = place(b, each, 16u, now.stride);
            take_16(at);
            if !mirrored { turn_16(at); }
            points_16();
            if mirrored { turn_16(at); }
            put_16(at);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

fn every_16(begin: Stage, mirrored: bool) -> Stage {
    var now = begin;
    if radix_of(now.number) == 16u {
        loop {
            stage_16(now, mirrored);
            workgroupBarrier();
            now = next(now, mirrored);
            continuing { break if radix_of(now.number) != 16u; }
        }
    }
    return now;
}

// Runs all stages from stage `begin` on.
fn every(begin: Stage) {
    var now = begin;
    if MIDDLE == 0u { now = every_13(now, false); }
    if MIDDLE == 0u { now = every_11(now, false); }
    if MIDDLE == 0u { now = every_7(now, false); }
    if MIDDLE == 0u { now = every_5(now, false); }
    if MIDDLE == 0u { now = every_3(now, false); }
    if MIDDLE == 0u { now = every_2(now, false); }
    if MIDDLE == 0u { now = every_4(now, false); }
    if (MIDDLE == 0u) | (MIDDLE == 8u) { now = every_8(now, false); }
    if (MIDDLE == 0u) | (MIDDLE == 16u) { now = every_16(now, false); }
}

// Runs all stages in reverse order, so that the result is in the order that the next transform takes.
fn every_mirrored(begin: Stage) {
    var now = begin;
    now = every_16(now, true);
    now = every_8(now, true);
    now = every_4(now, true);
    now = every_3(now, true);
    now = every_5(now, true);
    now = every_7(now, true);
    now = every_11(now, true);
}

// The butterfly of the first stage, if its radix is compiled in: from the input into workgroup memory.
fn first_butterfly(lines: Lines, element: u32, each: u32, at: Place) {
    if FIRST >= 2u {
        x[0u] = brought(lines, element + 0u * each);
        x[1u] = brought(lines, element + 1u * each);
    }
    if FIRST >= 4u {
        x[2u] = brought(lines, element + 2u * each);
        x[3u] = brought(lines, element + 3u * each);
    }
    if FIRST >= 8u {
        x[4u] = brought(lines, element + 4u * each);
        x[5u] = brought(lines, element + 5u * each);
        x[6u] = brought(lines, element + 6u * each);
        x[7u] = brought(lines, element + 7u * each);
    }
    if FIRST >= 16u {
        x[8u] = brought(lines, element + 8u * each);
        x[9u] = brought(lines, element + 9u * each);
        x[10u] = brought(lines, element + 10u * each);
        x[11u] = brought(lines, element + 11u * each);
        x[12u] = brought(lines, element + 12u * each);
        x[13u] = brought(lines, element + 13u * each);
        x[14u] = brought(lines, element + 14u * each);
        x[15u] = brought(lines, element + 15u * each);
    }
    if FIRST == 2u { points_2(); put_2(at); }
    if FIRST == 4u { points_4(); put_4(at); }
    if FIRST == 8u { points_8(); put_8(at); }
    if FIRST == 16u { points_16(); put_16(at); }
}

// Multiplies the points of `element` and of every `each`-th element after it by their roots between two passes.
fn turn_between(element: u32, each: u32, digits: Digits) {
    let w0 = roots(element * digits);
    x[0u] = by_each(x[0u], w0);
    let r1 = roots(1u * each * digits);
    let w1 = by_each(w0, r1);
    x[1u] = by_each(x[1u], w1);
    if LAST == 2u { return; }
    let r2 = roots(2u * each * digits);
    let w2 = by_each(w0, r2);
    x[2u] = by_each(x[2u], w2);
    let w3 = by_each(w1, r2);
    x[3u] = by_each(x[3u], w3);
    if LAST == 4u { return; }
    let r4 = roots(4u * each * digits);
    let w4 = by_each(w0, r4);
    x[4u] = by_each(x[4u], w4);
    let w5 = by_each(w1, r4);
    x[5u] = by_each(x[5u], w5);
    let w6 = by_each(w2, r4);
    x[6u] = by_each(x[6u], w6);
    let w7 = by_each(w3, r4);
    x[7u] = by_each(x[7u], w7);
    if LAST == 8u { return; }
    let r8 = roots(8u * each * digits);
    let w8 = by_each(w0, r8);
    x[8u] = by_each(x[8u], w8);
    let w9 = by_each(w1, r8);
    x[9u] = by_each(x[9u], w9);
    let w10 = by_each(w2, r8);
    x[10u] = by_each(x[10u], w10);
    let w11 = by_each(w3, r8);
    x[11u] = by_each(x[11u], w11);
    let w12 = by_each(w4, r8);
    x[12u] = by_each(x[12u], w12);
    let w13 = by_each(w5, r8);
    x[13u] = by_each(x[13u], w13);
    let w14 = by_each(w6, r8);
    x[14u] = by_each(x[14u], w14);
    let w15 = by_each(w7, r8);
    x[15u] = by_each(x[15u], w15);
}

// The butterfly of the last stage, if its radix is compiled in: from workgroup memory to the output.
fn last_butterfly(at: Place, lines: Lines, element: u32) {
    if LAST == 2u { take_2(at); turn_2(at); points_2(); }
    if LAST == 4u { take_4(at); turn_4(at); points_4(); }
    if LAST == 8u { take_8(at); turn_8(at); points_8(); }
    if LAST == 16u { take_16(at); turn_16(at); points_16(); }
    if TURN { turn_between(element, at.stride, digits_of(lines)); }
    if LAST >= 2u {
        put_out(lines, element + 0u * at.stride, x[0u]);
        put_out(lines, element + 1u * at.stride, x[1u]);
    }
    if LAST >= 4u {
        put_out(lines, element + 2u * at.stride, x[2u]);
        put_out(lines, element + 3u * at.stride, x[3u]);
    }
    if LAST >= 8u {
        put_out(lines, element + 4u * at.stride, x[4u]);
        put_out(lines, element + 5u * at.stride, x[5u]);
        put_out(lines, element + 6u * at.stride, x[6u]);
        put_out(lines, element + 7u * at.stride, x[7u]);
    }
    if LAST >= 16u {
        put_out(lines, element + 8u * at.stride, x[8u]);
        put_out(lines, element + 9u * at.stride, x[9u]);
        put_out(lines, element + 10u * at.stride, x[10u]);
        put_out(lines, element + 11u * at.stride, x[11u]);
        put_out(lines, element + 12u * at.stride, x[12u]);
        put_out(lines, element + 13u * at.stride, x[13u]);
        put_out(lines, element + 14u * at.stride, x[14u]);
        put_out(lines, element + 15u * at.stride, x[15u]);
    }
}
