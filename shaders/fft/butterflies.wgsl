// The transforms of 2, 3, 4, 5, 7, 8, 11, 13 and 16 points that lie side by side in x, from slot i on. Those of odd length take the
// sums and the differences of points that mirror each other. Then what fft/pass.wgsl, to which this is joined, does with every slot.
//
// Written by tests/unrolled.rs; `FIEDLER_WRITE=1 cargo test --test unrolled` writes it anew.

fn points_2(i: u32) {
    let x0 = x[i + 0u];
    let x1 = x[i + 1u];
    x[i] = x0 + x1;
    x[i + 1u] = x0 - x1;
}

fn points_3(i: u32) {
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

fn points_4(i: u32) {
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

fn points_5(i: u32) {
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

fn points_7(i: u32) {
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

fn points_8(i: u32) {
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

fn points_11(i: u32) {
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

fn points_13(i: u32) {
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

fn points_16(i: u32) {
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
    let x13 = x[i + 13u];
    let x14 = x[i + 14u];
    let x15 = x[i + 15u];
    let ap = x0 + x8;
    let am = x0 - x8;
    let aq = x4 + x12;
    let an = x4 - x12;
    let a0 = ap + aq;
    let a1 = vec2<f32>(am.x + an.y, am.y - an.x);
    let a2 = ap - aq;
    let a3 = vec2<f32>(am.x - an.y, am.y + an.x);
    let bp = x1 + x9;
    let bm = x1 - x9;
    let bq = x5 + x13;
    let bn = x5 - x13;
    let b0 = bp + bq;
    let b1 = vec2<f32>(bm.x + bn.y, bm.y - bn.x);
    let b2 = bp - bq;
    let b3 = vec2<f32>(bm.x - bn.y, bm.y + bn.x);
    let cp = x2 + x10;
    let cm = x2 - x10;
    let cq = x6 + x14;
    let cn = x6 - x14;
    let c0 = cp + cq;
    let c1 = vec2<f32>(cm.x + cn.y, cm.y - cn.x);
    let c2 = cp - cq;
    let c3 = vec2<f32>(cm.x - cn.y, cm.y + cn.x);
    let dp = x3 + x11;
    let dm = x3 - x11;
    let dq = x7 + x15;
    let dn = x7 - x15;
    let d0 = dp + dq;
    let d1 = vec2<f32>(dm.x + dn.y, dm.y - dn.x);
    let d2 = dp - dq;
    let d3 = vec2<f32>(dm.x - dn.y, dm.y + dn.x);
    let y0p = a0 + c0;
    let y0m = a0 - c0;
    let y0q = b0 + d0;
    let y0n = b0 - d0;
    let y00 = y0p + y0q;
    let y01 = vec2<f32>(y0m.x + y0n.y, y0m.y - y0n.x);
    let y02 = y0p - y0q;
    let y03 = vec2<f32>(y0m.x - y0n.y, y0m.y + y0n.x);
    x[i + 0u] = y00;
    x[i + 4u] = y01;
    x[i + 8u] = y02;
    x[i + 12u] = y03;
    let t11 = vec2<f32>(0.9238795 * b1.x + 0.38268343 * b1.y, 0.9238795 * b1.y - 0.38268343 * b1.x);
    let t12 = vec2<f32>(0.70710677 * c1.x + 0.70710677 * c1.y, 0.70710677 * c1.y - 0.70710677 * c1.x);
    let t13 = vec2<f32>(0.38268343 * d1.x + 0.9238795 * d1.y, 0.38268343 * d1.y - 0.9238795 * d1.x);
    let y1p = a1 + t12;
    let y1m = a1 - t12;
    let y1q = t11 + t13;
    let y1n = t11 - t13;
    let y10 = y1p + y1q;
    let y11 = vec2<f32>(y1m.x + y1n.y, y1m.y - y1n.x);
    let y12 = y1p - y1q;
    let y13 = vec2<f32>(y1m.x - y1n.y, y1m.y + y1n.x);
    x[i + 1u] = y10;
    x[i + 5u] = y11;
    x[i + 9u] = y12;
    x[i + 13u] = y13;
    let t21 = vec2<f32>(0.70710677 * b2.x + 0.70710677 * b2.y, 0.70710677 * b2.y - 0.70710677 * b2.x);
    let t23 = vec2<f32>((-0.70710677) * d2.x + 0.70710677 * d2.y, (-0.70710677) * d2.y - 0.70710677 * d2.x);
    let y2p = a2 + vec2<f32>(c2.y, -c2.x);
    let y2m = a2 - vec2<f32>(c2.y, -c2.x);
    let y2q = t21 + t23;
    let y2n = t21 - t23;
    let y20 = y2p + y2q;
    let y21 = vec2<f32>(y2m.x + y2n.y, y2m.y - y2n.x);
    let y22 = y2p - y2q;
    let y23 = vec2<f32>(y2m.x - y2n.y, y2m.y + y2n.x);
    x[i + 2u] = y20;
    x[i + 6u] = y21;
    x[i + 10u] = y22;
    x[i + 14u] = y23;
    let t31 = vec2<f32>(0.38268343 * b3.x + 0.9238795 * b3.y, 0.38268343 * b3.y - 0.9238795 * b3.x);
    let t32 = vec2<f32>((-0.70710677) * c3.x + 0.70710677 * c3.y, (-0.70710677) * c3.y - 0.70710677 * c3.x);
    let t33 = vec2<f32>((-0.9238795) * d3.x + (-0.38268343) * d3.y, (-0.9238795) * d3.y - (-0.38268343) * d3.x);
    let y3p = a3 + t32;
    let y3m = a3 - t32;
    let y3q = t31 + t33;
    let y3n = t31 - t33;
    let y30 = y3p + y3q;
    let y31 = vec2<f32>(y3m.x + y3n.y, y3m.y - y3n.x);
    let y32 = y3p - y3q;
    let y33 = vec2<f32>(y3m.x - y3n.y, y3m.y + y3n.x);
    x[i + 3u] = y30;
    x[i + 7u] = y31;
    x[i + 11u] = y32;
    x[i + 15u] = y33;
}

fn every_2() {
    points_2(0u);
    points_2(2u);
    points_2(4u);
    points_2(6u);
    if SLOTS >= 16u {
        points_2(8u);
        points_2(10u);
        points_2(12u);
        points_2(14u);
    }
    if SLOTS >= 26u {
        points_2(16u);
        points_2(18u);
        points_2(20u);
        points_2(22u);
        points_2(24u);
    }
}

fn every_3() {
    points_3(0u);
    points_3(3u);
    if SLOTS >= 16u {
        points_3(6u);
        points_3(9u);
        points_3(12u);
    }
    if SLOTS >= 26u {
        points_3(15u);
        points_3(18u);
        points_3(21u);
    }
}

fn every_4() {
    points_4(0u);
    points_4(4u);
    if SLOTS >= 16u {
        points_4(8u);
        points_4(12u);
    }
    if SLOTS >= 26u {
        points_4(16u);
        points_4(20u);
    }
}

fn every_5() {
    points_5(0u);
    if SLOTS >= 16u {
        points_5(5u);
        points_5(10u);
    }
    if SLOTS >= 26u {
        points_5(15u);
        points_5(20u);
    }
}

fn every_7() {
    points_7(0u);
    if SLOTS >= 16u {
        points_7(7u);
    }
    if SLOTS >= 26u {
        points_7(14u);
    }
}

fn every_8() {
    points_8(0u);
    if SLOTS >= 16u {
        points_8(8u);
    }
    if SLOTS >= 26u {
        points_8(16u);
    }
}

fn every_11() {
    if SLOTS >= 16u {
        points_11(0u);
    }
    if SLOTS >= 26u {
        points_11(11u);
    }
}

fn every_13() {
    if SLOTS >= 16u {
        points_13(0u);
    }
    if SLOTS >= 26u {
        points_13(13u);
    }
}

fn every_16() {
    if SLOTS >= 16u {
        points_16(0u);
    }
}

// The transforms of a stage: of any, or of one whose radix is compiled in.
fn transform_all(radix: u32) {
    switch radix {
        case 2u: { every_2(); }
        case 3u: { every_3(); }
        case 4u: { every_4(); }
        case 5u: { every_5(); }
        case 7u: { every_7(); }
        case 8u: { every_8(); }
        case 11u: { every_11(); }
        case 13u: { every_13(); }
        case 16u: { every_16(); }
        default: {}
    }
}

fn transform_0() {
    if RADIX_0 == 2u { every_2(); }
    if RADIX_0 == 3u { every_3(); }
    if RADIX_0 == 4u { every_4(); }
    if RADIX_0 == 5u { every_5(); }
    if RADIX_0 == 8u { every_8(); }
    if RADIX_0 == 16u { every_16(); }
}

fn transform_1() {
    if RADIX_1 == 2u { every_2(); }
    if RADIX_1 == 3u { every_3(); }
    if RADIX_1 == 4u { every_4(); }
    if RADIX_1 == 5u { every_5(); }
    if RADIX_1 == 8u { every_8(); }
    if RADIX_1 == 16u { every_16(); }
}

fn transform_2() {
    if RADIX_2 == 2u { every_2(); }
    if RADIX_2 == 3u { every_3(); }
    if RADIX_2 == 4u { every_4(); }
    if RADIX_2 == 5u { every_5(); }
    if RADIX_2 == 8u { every_8(); }
    if RADIX_2 == 16u { every_16(); }
}

fn transform_3() {
    if RADIX_3 == 2u { every_2(); }
    if RADIX_3 == 3u { every_3(); }
    if RADIX_3 == 4u { every_4(); }
    if RADIX_3 == 5u { every_5(); }
    if RADIX_3 == 8u { every_8(); }
    if RADIX_3 == 16u { every_16(); }
}

fn load_all(s: Stage) {
    load_slot(s, 0u);
    load_slot(s, 1u);
    load_slot(s, 2u);
    load_slot(s, 3u);
    load_slot(s, 4u);
    load_slot(s, 5u);
    load_slot(s, 6u);
    load_slot(s, 7u);
    if SLOTS >= 16u {
        load_slot(s, 8u);
        load_slot(s, 9u);
        load_slot(s, 10u);
        load_slot(s, 11u);
        load_slot(s, 12u);
        load_slot(s, 13u);
        load_slot(s, 14u);
        load_slot(s, 15u);
    }
    if SLOTS >= 26u {
        load_slot(s, 16u);
        load_slot(s, 17u);
        load_slot(s, 18u);
        load_slot(s, 19u);
        load_slot(s, 20u);
        load_slot(s, 21u);
        load_slot(s, 22u);
        load_slot(s, 23u);
        load_slot(s, 24u);
        load_slot(s, 25u);
    }
}

fn gather(s: Stage) {
    gather_slot(s, 0u);
    gather_slot(s, 1u);
    gather_slot(s, 2u);
    gather_slot(s, 3u);
    gather_slot(s, 4u);
    gather_slot(s, 5u);
    gather_slot(s, 6u);
    gather_slot(s, 7u);
    if SLOTS >= 16u {
        gather_slot(s, 8u);
        gather_slot(s, 9u);
        gather_slot(s, 10u);
        gather_slot(s, 11u);
        gather_slot(s, 12u);
        gather_slot(s, 13u);
        gather_slot(s, 14u);
        gather_slot(s, 15u);
    }
    if SLOTS >= 26u {
        gather_slot(s, 16u);
        gather_slot(s, 17u);
        gather_slot(s, 18u);
        gather_slot(s, 19u);
        gather_slot(s, 20u);
        gather_slot(s, 21u);
        gather_slot(s, 22u);
        gather_slot(s, 23u);
        gather_slot(s, 24u);
        gather_slot(s, 25u);
    }
}

fn gather_real(s: Stage) {
    gather_real_slot(s, 0u);
    gather_real_slot(s, 1u);
    gather_real_slot(s, 2u);
    gather_real_slot(s, 3u);
    gather_real_slot(s, 4u);
    gather_real_slot(s, 5u);
    gather_real_slot(s, 6u);
    gather_real_slot(s, 7u);
    if SLOTS >= 16u {
        gather_real_slot(s, 8u);
        gather_real_slot(s, 9u);
        gather_real_slot(s, 10u);
        gather_real_slot(s, 11u);
        gather_real_slot(s, 12u);
        gather_real_slot(s, 13u);
        gather_real_slot(s, 14u);
        gather_real_slot(s, 15u);
    }
    if SLOTS >= 26u {
        gather_real_slot(s, 16u);
        gather_real_slot(s, 17u);
        gather_real_slot(s, 18u);
        gather_real_slot(s, 19u);
        gather_real_slot(s, 20u);
        gather_real_slot(s, 21u);
        gather_real_slot(s, 22u);
        gather_real_slot(s, 23u);
        gather_real_slot(s, 24u);
        gather_real_slot(s, 25u);
    }
}

fn gather_imaginary(s: Stage) {
    gather_imaginary_slot(s, 0u);
    gather_imaginary_slot(s, 1u);
    gather_imaginary_slot(s, 2u);
    gather_imaginary_slot(s, 3u);
    gather_imaginary_slot(s, 4u);
    gather_imaginary_slot(s, 5u);
    gather_imaginary_slot(s, 6u);
    gather_imaginary_slot(s, 7u);
    if SLOTS >= 16u {
        gather_imaginary_slot(s, 8u);
        gather_imaginary_slot(s, 9u);
        gather_imaginary_slot(s, 10u);
        gather_imaginary_slot(s, 11u);
        gather_imaginary_slot(s, 12u);
        gather_imaginary_slot(s, 13u);
        gather_imaginary_slot(s, 14u);
        gather_imaginary_slot(s, 15u);
    }
    if SLOTS >= 26u {
        gather_imaginary_slot(s, 16u);
        gather_imaginary_slot(s, 17u);
        gather_imaginary_slot(s, 18u);
        gather_imaginary_slot(s, 19u);
        gather_imaginary_slot(s, 20u);
        gather_imaginary_slot(s, 21u);
        gather_imaginary_slot(s, 22u);
        gather_imaginary_slot(s, 23u);
        gather_imaginary_slot(s, 24u);
        gather_imaginary_slot(s, 25u);
    }
}

fn scatter(s: Stage) {
    scatter_slot(s, 0u);
    scatter_slot(s, 1u);
    scatter_slot(s, 2u);
    scatter_slot(s, 3u);
    scatter_slot(s, 4u);
    scatter_slot(s, 5u);
    scatter_slot(s, 6u);
    scatter_slot(s, 7u);
    if SLOTS >= 16u {
        scatter_slot(s, 8u);
        scatter_slot(s, 9u);
        scatter_slot(s, 10u);
        scatter_slot(s, 11u);
        scatter_slot(s, 12u);
        scatter_slot(s, 13u);
        scatter_slot(s, 14u);
        scatter_slot(s, 15u);
    }
    if SLOTS >= 26u {
        scatter_slot(s, 16u);
        scatter_slot(s, 17u);
        scatter_slot(s, 18u);
        scatter_slot(s, 19u);
        scatter_slot(s, 20u);
        scatter_slot(s, 21u);
        scatter_slot(s, 22u);
        scatter_slot(s, 23u);
        scatter_slot(s, 24u);
        scatter_slot(s, 25u);
    }
}

fn scatter_real(s: Stage) {
    scatter_real_slot(s, 0u);
    scatter_real_slot(s, 1u);
    scatter_real_slot(s, 2u);
    scatter_real_slot(s, 3u);
    scatter_real_slot(s, 4u);
    scatter_real_slot(s, 5u);
    scatter_real_slot(s, 6u);
    scatter_real_slot(s, 7u);
    if SLOTS >= 16u {
        scatter_real_slot(s, 8u);
        scatter_real_slot(s, 9u);
        scatter_real_slot(s, 10u);
        scatter_real_slot(s, 11u);
        scatter_real_slot(s, 12u);
        scatter_real_slot(s, 13u);
        scatter_real_slot(s, 14u);
        scatter_real_slot(s, 15u);
    }
    if SLOTS >= 26u {
        scatter_real_slot(s, 16u);
        scatter_real_slot(s, 17u);
        scatter_real_slot(s, 18u);
        scatter_real_slot(s, 19u);
        scatter_real_slot(s, 20u);
        scatter_real_slot(s, 21u);
        scatter_real_slot(s, 22u);
        scatter_real_slot(s, 23u);
        scatter_real_slot(s, 24u);
        scatter_real_slot(s, 25u);
    }
}

fn scatter_imaginary(s: Stage) {
    scatter_imaginary_slot(s, 0u);
    scatter_imaginary_slot(s, 1u);
    scatter_imaginary_slot(s, 2u);
    scatter_imaginary_slot(s, 3u);
    scatter_imaginary_slot(s, 4u);
    scatter_imaginary_slot(s, 5u);
    scatter_imaginary_slot(s, 6u);
    scatter_imaginary_slot(s, 7u);
    if SLOTS >= 16u {
        scatter_imaginary_slot(s, 8u);
        scatter_imaginary_slot(s, 9u);
        scatter_imaginary_slot(s, 10u);
        scatter_imaginary_slot(s, 11u);
        scatter_imaginary_slot(s, 12u);
        scatter_imaginary_slot(s, 13u);
        scatter_imaginary_slot(s, 14u);
        scatter_imaginary_slot(s, 15u);
    }
    if SLOTS >= 26u {
        scatter_imaginary_slot(s, 16u);
        scatter_imaginary_slot(s, 17u);
        scatter_imaginary_slot(s, 18u);
        scatter_imaginary_slot(s, 19u);
        scatter_imaginary_slot(s, 20u);
        scatter_imaginary_slot(s, 21u);
        scatter_imaginary_slot(s, 22u);
        scatter_imaginary_slot(s, 23u);
        scatter_imaginary_slot(s, 24u);
        scatter_imaginary_slot(s, 25u);
    }
}

fn turn_all(s: Stage) {
    turn_slot(s, 0u);
    turn_slot(s, 1u);
    turn_slot(s, 2u);
    turn_slot(s, 3u);
    turn_slot(s, 4u);
    turn_slot(s, 5u);
    turn_slot(s, 6u);
    turn_slot(s, 7u);
    if SLOTS >= 16u {
        turn_slot(s, 8u);
        turn_slot(s, 9u);
        turn_slot(s, 10u);
        turn_slot(s, 11u);
        turn_slot(s, 12u);
        turn_slot(s, 13u);
        turn_slot(s, 14u);
        turn_slot(s, 15u);
    }
    if SLOTS >= 26u {
        turn_slot(s, 16u);
        turn_slot(s, 17u);
        turn_slot(s, 18u);
        turn_slot(s, 19u);
        turn_slot(s, 20u);
        turn_slot(s, 21u);
        turn_slot(s, 22u);
        turn_slot(s, 23u);
        turn_slot(s, 24u);
        turn_slot(s, 25u);
    }
}

fn filter_all(s: Stage) {
    filter_slot(s, 0u);
    filter_slot(s, 1u);
    filter_slot(s, 2u);
    filter_slot(s, 3u);
    filter_slot(s, 4u);
    filter_slot(s, 5u);
    filter_slot(s, 6u);
    filter_slot(s, 7u);
    if SLOTS >= 16u {
        filter_slot(s, 8u);
        filter_slot(s, 9u);
        filter_slot(s, 10u);
        filter_slot(s, 11u);
        filter_slot(s, 12u);
        filter_slot(s, 13u);
        filter_slot(s, 14u);
        filter_slot(s, 15u);
    }
    if SLOTS >= 26u {
        filter_slot(s, 16u);
        filter_slot(s, 17u);
        filter_slot(s, 18u);
        filter_slot(s, 19u);
        filter_slot(s, 20u);
        filter_slot(s, 21u);
        filter_slot(s, 22u);
        filter_slot(s, 23u);
        filter_slot(s, 24u);
        filter_slot(s, 25u);
    }
}

fn store_all(s: Stage) {
    store_slot(s, 0u);
    store_slot(s, 1u);
    store_slot(s, 2u);
    store_slot(s, 3u);
    store_slot(s, 4u);
    store_slot(s, 5u);
    store_slot(s, 6u);
    store_slot(s, 7u);
    if SLOTS >= 16u {
        store_slot(s, 8u);
        store_slot(s, 9u);
        store_slot(s, 10u);
        store_slot(s, 11u);
        store_slot(s, 12u);
        store_slot(s, 13u);
        store_slot(s, 14u);
        store_slot(s, 15u);
    }
    if SLOTS >= 26u {
        store_slot(s, 16u);
        store_slot(s, 17u);
        store_slot(s, 18u);
        store_slot(s, 19u);
        store_slot(s, 20u);
        store_slot(s, 21u);
        store_slot(s, 22u);
        store_slot(s, 23u);
        store_slot(s, 24u);
        store_slot(s, 25u);
    }
}
