// The transforms of 2, 3, 4, 5, 7, 8, 11 and 13 points that lie side by side in x, from slot i on. Those of odd length take the
// sums and the differences of points that mirror each other. Joined to fft/pass.wgsl.
//
// Written by tests/unrolled.rs; `FIEDLER_WRITE=1 cargo test --test unrolled` writes it anew.

fn transform_2(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    x[i] = x0 + x1;
    x[i + 1u] = x0 - x1;
}

fn transform_3(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    let x2 = x[i + 2u];
    let p1 = x1 + x2;
    let m1 = x1 - x2;
    x[i] = x0 + p1;
    let a1 = x0 + ((-0.5) * p1);
    let b1 = 0.8660254 * m1;
    x[i + 1u] = vec2<f32>(a1.x + b1.y, a1.y - b1.x);
    x[i + 2u] = vec2<f32>(a1.x - b1.y, a1.y + b1.x);
}

fn transform_4(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    let x2 = x[i + 2u];
    let x3 = x[i + 3u];
    let yp = x0 + x2;
    let ym = x0 - x2;
    let yq = x1 + x3;
    let yn = x1 - x3;
    let y0 = yp + yq;
    let y1 = vec2<f32>(ym.x + yn.y, ym.y - yn.x);
    let y2 = yp - yq;
    let y3 = vec2<f32>(ym.x - yn.y, ym.y + yn.x);
    x[i + 0u] = y0;
    x[i + 1u] = y1;
    x[i + 2u] = y2;
    x[i + 3u] = y3;
}

fn transform_5(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    let x2 = x[i + 2u];
    let x3 = x[i + 3u];
    let x4 = x[i + 4u];
    let p1 = x1 + x4;
    let m1 = x1 - x4;
    let p2 = x2 + x3;
    let m2 = x2 - x3;
    x[i] = x0 + p1 + p2;
    let a1 = x0 + (0.309017 * p1 + (-0.809017) * p2);
    let b1 = 0.95105654 * m1 + 0.58778524 * m2;
    x[i + 1u] = vec2<f32>(a1.x + b1.y, a1.y - b1.x);
    x[i + 4u] = vec2<f32>(a1.x - b1.y, a1.y + b1.x);
    let a2 = x0 + ((-0.809017) * p1 + 0.309017 * p2);
    let b2 = 0.58778524 * m1 + (-0.95105654) * m2;
    x[i + 2u] = vec2<f32>(a2.x + b2.y, a2.y - b2.x);
    x[i + 3u] = vec2<f32>(a2.x - b2.y, a2.y + b2.x);
}

fn transform_7(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    let x2 = x[i + 2u];
    let x3 = x[i + 3u];
    let x4 = x[i + 4u];
    let x5 = x[i + 5u];
    let x6 = x[i + 6u];
    let p1 = x1 + x6;
    let m1 = x1 - x6;
    let p2 = x2 + x5;
    let m2 = x2 - x5;
    let p3 = x3 + x4;
    let m3 = x3 - x4;
    x[i] = x0 + p1 + p2 + p3;
    let a1 = x0 + (0.6234898 * p1 + (-0.22252093) * p2 + (-0.90096885) * p3);
    let b1 = 0.7818315 * m1 + 0.9749279 * m2 + 0.43388373 * m3;
    x[i + 1u] = vec2<f32>(a1.x + b1.y, a1.y - b1.x);
    x[i + 6u] = vec2<f32>(a1.x - b1.y, a1.y + b1.x);
    let a2 = x0 + ((-0.22252093) * p1 + (-0.90096885) * p2 + 0.6234898 * p3);
    let b2 = 0.9749279 * m1 + (-0.43388373) * m2 + (-0.7818315) * m3;
    x[i + 2u] = vec2<f32>(a2.x + b2.y, a2.y - b2.x);
    x[i + 5u] = vec2<f32>(a2.x - b2.y, a2.y + b2.x);
    let a3 = x0 + ((-0.90096885) * p1 + 0.6234898 * p2 + (-0.22252093) * p3);
    let b3 = 0.43388373 * m1 + (-0.7818315) * m2 + 0.9749279 * m3;
    x[i + 3u] = vec2<f32>(a3.x + b3.y, a3.y - b3.x);
    x[i + 4u] = vec2<f32>(a3.x - b3.y, a3.y + b3.x);
}

fn transform_8(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    let x2 = x[i + 2u];
    let x3 = x[i + 3u];
    let x4 = x[i + 4u];
    let x5 = x[i + 5u];
    let x6 = x[i + 6u];
    let x7 = x[i + 7u];
    let ep = x0 + x4;
    let em = x0 - x4;
    let eq = x2 + x6;
    let en = x2 - x6;
    let e0 = ep + eq;
    let e1 = vec2<f32>(em.x + en.y, em.y - en.x);
    let e2 = ep - eq;
    let e3 = vec2<f32>(em.x - en.y, em.y + en.x);
    let op = x1 + x5;
    let om = x1 - x5;
    let oq = x3 + x7;
    let on = x3 - x7;
    let o0 = op + oq;
    let o1 = vec2<f32>(om.x + on.y, om.y - on.x);
    let o2 = op - oq;
    let o3 = vec2<f32>(om.x - on.y, om.y + on.x);
    let t1 = 0.70710677 * vec2<f32>(o1.x + o1.y, o1.y - o1.x);
    let t2 = vec2<f32>(o2.y, -o2.x);
    let t3 = 0.70710677 * vec2<f32>(o3.y - o3.x, -o3.x - o3.y);
    x[i + 0u] = e0 + o0;
    x[i + 4u] = e0 - o0;
    x[i + 1u] = e1 + t1;
    x[i + 5u] = e1 - t1;
    x[i + 2u] = e2 + t2;
    x[i + 6u] = e2 - t2;
    x[i + 3u] = e3 + t3;
    x[i + 7u] = e3 - t3;
}

fn transform_11(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    let x2 = x[i + 2u];
    let x3 = x[i + 3u];
    let x4 = x[i + 4u];
    let x5 = x[i + 5u];
    let x6 = x[i + 6u];
    let x7 = x[i + 7u];
    let x8 = x[i + 8u];
    let x9 = x[i + 9u];
    let x10 = x[i + 10u];
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
    x[i] = x0 + p1 + p2 + p3 + p4 + p5;
    let a1 = x0 + (0.8412535 * p1 + 0.41541502 * p2 + (-0.14231484) * p3 + (-0.65486073) * p4 + (-0.959493) * p5);
    let b1 = 0.54064083 * m1 + 0.90963197 * m2 + 0.98982143 * m3 + 0.7557496 * m4 + 0.28173256 * m5;
    x[i + 1u] = vec2<f32>(a1.x + b1.y, a1.y - b1.x);
    x[i + 10u] = vec2<f32>(a1.x - b1.y, a1.y + b1.x);
    let a2 = x0 + (0.41541502 * p1 + (-0.65486073) * p2 + (-0.959493) * p3 + (-0.14231484) * p4 + 0.8412535 * p5);
    let b2 = 0.90963197 * m1 + 0.7557496 * m2 + (-0.28173256) * m3 + (-0.98982143) * m4 + (-0.54064083) * m5;
    x[i + 2u] = vec2<f32>(a2.x + b2.y, a2.y - b2.x);
    x[i + 9u] = vec2<f32>(a2.x - b2.y, a2.y + b2.x);
    let a3 = x0 + ((-0.14231484) * p1 + (-0.959493) * p2 + 0.41541502 * p3 + 0.8412535 * p4 + (-0.65486073) * p5);
    let b3 = 0.98982143 * m1 + (-0.28173256) * m2 + (-0.90963197) * m3 + 0.54064083 * m4 + 0.7557496 * m5;
    x[i + 3u] = vec2<f32>(a3.x + b3.y, a3.y - b3.x);
    x[i + 8u] = vec2<f32>(a3.x - b3.y, a3.y + b3.x);
    let a4 = x0 + ((-0.65486073) * p1 + (-0.14231484) * p2 + 0.8412535 * p3 + (-0.959493) * p4 + 0.41541502 * p5);
    let b4 = 0.7557496 * m1 + (-0.98982143) * m2 + 0.54064083 * m3 + 0.28173256 * m4 + (-0.90963197) * m5;
    x[i + 4u] = vec2<f32>(a4.x + b4.y, a4.y - b4.x);
    x[i + 7u] = vec2<f32>(a4.x - b4.y, a4.y + b4.x);
    let a5 = x0 + ((-0.959493) * p1 + 0.8412535 * p2 + (-0.65486073) * p3 + 0.41541502 * p4 + (-0.14231484) * p5);
    let b5 = 0.28173256 * m1 + (-0.54064083) * m2 + 0.7557496 * m3 + (-0.90963197) * m4 + 0.98982143 * m5;
    x[i + 5u] = vec2<f32>(a5.x + b5.y, a5.y - b5.x);
    x[i + 6u] = vec2<f32>(a5.x - b5.y, a5.y + b5.x);
}

fn transform_13(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    let x2 = x[i + 2u];
    let x3 = x[i + 3u];
    let x4 = x[i + 4u];
    let x5 = x[i + 5u];
    let x6 = x[i + 6u];
    let x7 = x[i + 7u];
    let x8 = x[i + 8u];
    let x9 = x[i + 9u];
    let x10 = x[i + 10u];
    let x11 = x[i + 11u];
    let x12 = x[i + 12u];
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
    x[i] = x0 + p1 + p2 + p3 + p4 + p5 + p6;
    let a1 = x0 + (0.885456 * p1 + 0.56806475 * p2 + 0.12053668 * p3 + (-0.3546049) * p4 + (-0.7485108) * p5 + (-0.97094184) * p6);
    let b1 = 0.46472317 * m1 + 0.82298386 * m2 + 0.99270886 * m3 + 0.9350162 * m4 + 0.66312265 * m5 + 0.23931566 * m6;
    x[i + 1u] = vec2<f32>(a1.x + b1.y, a1.y - b1.x);
    x[i + 12u] = vec2<f32>(a1.x - b1.y, a1.y + b1.x);
    let a2 = x0 + (0.56806475 * p1 + (-0.3546049) * p2 + (-0.97094184) * p3 + (-0.7485108) * p4 + 0.12053668 * p5 + 0.885456 * p6);
    let b2 = 0.82298386 * m1 + 0.9350162 * m2 + 0.23931566 * m3 + (-0.66312265) * m4 + (-0.99270886) * m5 + (-0.46472317) * m6;
    x[i + 2u] = vec2<f32>(a2.x + b2.y, a2.y - b2.x);
    x[i + 11u] = vec2<f32>(a2.x - b2.y, a2.y + b2.x);
    let a3 = x0 + (0.12053668 * p1 + (-0.97094184) * p2 + (-0.3546049) * p3 + 0.885456 * p4 + 0.56806475 * p5 + (-0.7485108) * p6);
    let b3 = 0.99270886 * m1 + 0.23931566 * m2 + (-0.9350162) * m3 + (-0.46472317) * m4 + 0.82298386 * m5 + 0.66312265 * m6;
    x[i + 3u] = vec2<f32>(a3.x + b3.y, a3.y - b3.x);
    x[i + 10u] = vec2<f32>(a3.x - b3.y, a3.y + b3.x);
    let a4 = x0 + ((-0.3546049) * p1 + (-0.7485108) * p2 + 0.885456 * p3 + 0.12053668 * p4 + (-0.97094184) * p5 + 0.56806475 * p6);
    let b4 = 0.9350162 * m1 + (-0.66312265) * m2 + (-0.46472317) * m3 + 0.99270886 * m4 + (-0.23931566) * m5 + (-0.82298386) * m6;
    x[i + 4u] = vec2<f32>(a4.x + b4.y, a4.y - b4.x);
    x[i + 9u] = vec2<f32>(a4.x - b4.y, a4.y + b4.x);
    let a5 = x0 + ((-0.7485108) * p1 + 0.12053668 * p2 + 0.56806475 * p3 + (-0.97094184) * p4 + 0.885456 * p5 + (-0.3546049) * p6);
    let b5 = 0.66312265 * m1 + (-0.99270886) * m2 + 0.82298386 * m3 + (-0.23931566) * m4 + (-0.46472317) * m5 + 0.9350162 * m6;
    x[i + 5u] = vec2<f32>(a5.x + b5.y, a5.y - b5.x);
    x[i + 8u] = vec2<f32>(a5.x - b5.y, a5.y + b5.x);
    let a6 = x0 + ((-0.97094184) * p1 + 0.885456 * p2 + (-0.7485108) * p3 + 0.56806475 * p4 + (-0.3546049) * p5 + 0.12053668 * p6);
    let b6 = 0.23931566 * m1 + (-0.46472317) * m2 + 0.66312265 * m3 + (-0.82298386) * m4 + 0.9350162 * m5 + (-0.99270886) * m6;
    x[i + 6u] = vec2<f32>(a6.x + b6.y, a6.y - b6.x);
    x[i + 7u] = vec2<f32>(a6.x - b6.y, a6.y + b6.x);
}

// The transform of every `radix` slots.
fn transform() {
    switch radix {
        case 2u: { for (var i = 0u; i + 2u <= SLOTS; i += 2u) { transform_2(i); } }
        case 3u: { for (var i = 0u; i + 3u <= SLOTS; i += 3u) { transform_3(i); } }
        case 4u: { for (var i = 0u; i + 4u <= SLOTS; i += 4u) { transform_4(i); } }
        case 5u: { for (var i = 0u; i + 5u <= SLOTS; i += 5u) { transform_5(i); } }
        case 7u: { for (var i = 0u; i + 7u <= SLOTS; i += 7u) { transform_7(i); } }
        case 8u: { for (var i = 0u; i + 8u <= SLOTS; i += 8u) { transform_8(i); } }
        case 11u: { for (var i = 0u; i + 11u <= SLOTS; i += 11u) { transform_11(i); } }
        case 13u: { for (var i = 0u; i + 13u <= SLOTS; i += 13u) { transform_13(i); } }
        default: {}
    }
}
