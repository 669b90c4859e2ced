// Order 8 of the eigendecomposition in registers, see eigen/small.wgsl.
//
// Written by tools/unroll: `cargo run --example unroll` writes it anew.

alias Column = mat2x4<f32>;

// Two columns count as orthogonal if their inner product is at most its rounding error, 4 eps.
const TOLERANCE: f32 = 4.7683716e-7;

fn inner(x: Column, y: Column) -> f32 { return dot(x[0], y[0]) + dot(x[1], y[1]); }
// Returns the sum of the magnitudes of the elements.
fn size(x: Column) -> f32 { return dot(abs(x[0]), vec4<f32>(1.0)) + dot(abs(x[1]), vec4<f32>(1.0)); }
// Returns the bits of the largest magnitude of an element.
fn peak(x: Column) -> u32 { return max(magnitude_bits(x[0].x), max(magnitude_bits(x[0].y), max(magnitude_bits(x[0].z), max(magnitude_bits(x[0].w), max(magnitude_bits(x[1].x), max(magnitude_bits(x[1].y), max(magnitude_bits(x[1].z), magnitude_bits(x[1].w)))))))); }
fn load(m: Matrix, j: u32) -> Column { return Column(entry(m, 0u, j), entry(m, 1u, j), entry(m, 2u, j), entry(m, 3u, j), entry(m, 4u, j), entry(m, 5u, j), entry(m, 6u, j), entry(m, 7u, j)); }
// Returns x times 2^-e for a matrix with the exponent e.
fn column_scaled_down(x: Column, e: i32) -> Column {
    var y = x * power_of_two(-max(e, NEAR_SUBNORMAL));
    if e < NEAR_SUBNORMAL { y = Column(raised(x[0].x, e), raised(x[0].y, e), raised(x[0].z, e), raised(x[0].w, e), raised(x[1].x, e), raised(x[1].y, e), raised(x[1].z, e), raised(x[1].w, e)); }
    return y;
}
// Makes two columns orthogonal and updates their squared norms. Returns whether they had to be rotated.
fn turn(x: ptr<function, Column>, y: ptr<function, Column>, a: ptr<function, f32>, b: ptr<function, f32>) -> bool {
    let z = inner(*x, *y);
    let r = rotation(*a, *b, z, TOLERANCE);
    let old = *x;
    *x = old * r.x - *y * r.y;
    *y = old * r.y + *y * r.x;
    let squares = turned_squares(*a, *b, z, r);
    *a = squares.x;
    *b = squares.y;
    return r.y != 0.0;
}
fn store(m: Matrix, j: u32, x: Column) {
    let at = m.elements + j * m.order;
    w[at + 0u] = x[0].x;
    w[at + 1u] = x[0].y;
    w[at + 2u] = x[0].z;
    w[at + 3u] = x[0].w;
    w[at + 4u] = x[1].x;
    w[at + 5u] = x[1].y;
    w[at + 6u] = x[1].z;
    if m.order > 7u { w[at + 7u] = x[1].w; }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.count { return; }
    let m = matrix_of(table[params.first + id.x]);
    let a0 = load(m, 0u);
    let a1 = load(m, 1u);
    let a2 = load(m, 2u);
    let a3 = load(m, 3u);
    let a4 = load(m, 4u);
    let a5 = load(m, 5u);
    let a6 = load(m, 6u);
    let a7 = load(m, 7u);
    let bits = max(peak(a0), max(peak(a1), max(peak(a2), max(peak(a3), max(peak(a4), max(peak(a5), max(peak(a6), peak(a7))))))));
    let finite = bits < INFINITE;
    let e = matrix_exponent(bits);
    var w0 = column_scaled_down(a0, e);
    var w1 = column_scaled_down(a1, e);
    var w2 = column_scaled_down(a2, e);
    var w3 = column_scaled_down(a3, e);
    var w4 = column_scaled_down(a4, e);
    var w5 = column_scaled_down(a5, e);
    var w6 = column_scaled_down(a6, e);
    var w7 = column_scaled_down(a7, e);
    let discs = max(disc(size(w0), w0[0].x), max(disc(size(w1), w1[0].y), max(disc(size(w2), w2[0].z), max(disc(size(w3), w3[0].w), max(disc(size(w4), w4[1].x), max(disc(size(w5), w5[1].y), max(disc(size(w6), w6[1].z), disc(size(w7), w7[1].w))))))));
    let norm = discs.x;
    let shift = select(discs.y + 0.05 * norm, 1.0, bits == 0u);
    w0[0].x += shift;
    w1[0].y += shift;
    w2[0].z += shift;
    w3[0].w += shift;
    w4[1].x += shift;
    w5[1].y += shift;
    w6[1].z += shift;
    w7[1].w += shift;

    var sweeps = 0u;
    var turned = finite && m.order > 1u;
    while turned && sweeps < params.sweeps {
        turned = false;
        var g0 = inner(w0, w0);
        var g1 = inner(w1, w1);
        var g2 = inner(w2, w2);
        var g3 = inner(w3, w3);
        var g4 = inner(w4, w4);
        var g5 = inner(w5, w5);
        var g6 = inner(w6, w6);
        var g7 = inner(w7, w7);
        turned = turn(&w0, &w7, &g0, &g7) | turned;
        turned = turn(&w1, &w6, &g1, &g6) | turned;
        turned = turn(&w2, &w5, &g2, &g5) | turned;
        turned = turn(&w3, &w4, &g3, &g4) | turned;
        turned = turn(&w1, &w7, &g1, &g7) | turned;
        turned = turn(&w0, &w2, &g0, &g2) | turned;
        turned = turn(&w3, &w6, &g3, &g6) | turned;
        turned = turn(&w4, &w5, &g4, &g5) | turned;
        turned = turn(&w2, &w7, &g2, &g7) | turned;
        turned = turn(&w1, &w3, &g1, &g3) | turned;
        turned = turn(&w0, &w4, &g0, &g4) | turned;
        turned = turn(&w5, &w6, &g5, &g6) | turned;
        turned = turn(&w3, &w7, &g3, &g7) | turned;
        turned = turn(&w2, &w4, &g2, &g4) | turned;
        turned = turn(&w1, &w5, &g1, &g5) | turned;
        turned = turn(&w0, &w6, &g0, &g6) | turned;
        turned = turn(&w4, &w7, &g4, &g7) | turned;
        turned = turn(&w3, &w5, &g3, &g5) | turned;
        turned = turn(&w2, &w6, &g2, &g6) | turned;
        turned = turn(&w0, &w1, &g0, &g1) | turned;
        turned = turn(&w5, &w7, &g5, &g7) | turned;
        turned = turn(&w4, &w6, &g4, &g6) | turned;
        turned = turn(&w0, &w3, &g0, &g3) | turned;
        turned = turn(&w1, &w2, &g1, &g2) | turned;
        turned = turn(&w6, &w7, &g6, &g7) | turned;
        turned = turn(&w0, &w5, &g0, &g5) | turned;
        turned = turn(&w1, &w4, &g1, &g4) | turned;
        turned = turn(&w2, &w3, &g2, &g3) | turned;
        sweeps += 1u;
    }

    // v = w / |w|, and a first approximation g of each eigenvalue.
    let square0 = inner(w0, w0);
    let inverse0 = reciprocal_sqrt(square0);
    let v0 = w0 * inverse0;
    let g0 = clamp(square0 * inverse0 - shift, -norm, norm);
    var sums0 = vec2<f32>();
    let square1 = inner(w1, w1);
    let inverse1 = reciprocal_sqrt(square1);
    let v1 = w1 * inverse1;
    let g1 = clamp(square1 * inverse1 - shift, -norm, norm);
    var sums1 = vec2<f32>();
    let square2 = inner(w2, w2);
    let inverse2 = reciprocal_sqrt(square2);
    let v2 = w2 * inverse2;
    let g2 = clamp(square2 * inverse2 - shift, -norm, norm);
    var sums2 = vec2<f32>();
    let square3 = inner(w3, w3);
    let inverse3 = reciprocal_sqrt(square3);
    let v3 = w3 * inverse3;
    let g3 = clamp(square3 * inverse3 - shift, -norm, norm);
    var sums3 = vec2<f32>();
    let square4 = inner(w4, w4);
    let inverse4 = reciprocal_sqrt(square4);
    let v4 = w4 * inverse4;
    let g4 = clamp(square4 * inverse4 - shift, -norm, norm);
    var sums4 = vec2<f32>();
    let square5 = inner(w5, w5);
    let inverse5 = reciprocal_sqrt(square5);
    let v5 = w5 * inverse5;
    let g5 = clamp(square5 * inverse5 - shift, -norm, norm);
    var sums5 = vec2<f32>();
    let square6 = inner(w6, w6);
    let inverse6 = reciprocal_sqrt(square6);
    let v6 = w6 * inverse6;
    let g6 = clamp(square6 * inverse6 - shift, -norm, norm);
    var sums6 = vec2<f32>();
    let square7 = inner(w7, w7);
    let inverse7 = reciprocal_sqrt(square7);
    let v7 = w7 * inverse7;
    let g7 = clamp(square7 * inverse7 - shift, -norm, norm);
    var sums7 = vec2<f32>();
    // The residual A v - g v, row by row.
    let row0 = column_scaled_down(load(m, 0u), e);
    sums0 += remainder(inner(row0, v0), g0, v0[0].x);
    sums1 += remainder(inner(row0, v1), g1, v1[0].x);
    sums2 += remainder(inner(row0, v2), g2, v2[0].x);
    sums3 += remainder(inner(row0, v3), g3, v3[0].x);
    sums4 += remainder(inner(row0, v4), g4, v4[0].x);
    sums5 += remainder(inner(row0, v5), g5, v5[0].x);
    sums6 += remainder(inner(row0, v6), g6, v6[0].x);
    sums7 += remainder(inner(row0, v7), g7, v7[0].x);
    let row1 = column_scaled_down(load(m, 1u), e);
    sums0 += remainder(inner(row1, v0), g0, v0[0].y);
    sums1 += remainder(inner(row1, v1), g1, v1[0].y);
    sums2 += remainder(inner(row1, v2), g2, v2[0].y);
    sums3 += remainder(inner(row1, v3), g3, v3[0].y);
    sums4 += remainder(inner(row1, v4), g4, v4[0].y);
    sums5 += remainder(inner(row1, v5), g5, v5[0].y);
    sums6 += remainder(inner(row1, v6), g6, v6[0].y);
    sums7 += remainder(inner(row1, v7), g7, v7[0].y);
    let row2 = column_scaled_down(load(m, 2u), e);
    sums0 += remainder(inner(row2, v0), g0, v0[0].z);
    sums1 += remainder(inner(row2, v1), g1, v1[0].z);
    sums2 += remainder(inner(row2, v2), g2, v2[0].z);
    sums3 += remainder(inner(row2, v3), g3, v3[0].z);
    sums4 += remainder(inner(row2, v4), g4, v4[0].z);
    sums5 += remainder(inner(row2, v5), g5, v5[0].z);
    sums6 += remainder(inner(row2, v6), g6, v6[0].z);
    sums7 += remainder(inner(row2, v7), g7, v7[0].z);
    let row3 = column_scaled_down(load(m, 3u), e);
    sums0 += remainder(inner(row3, v0), g0, v0[0].w);
    sums1 += remainder(inner(row3, v1), g1, v1[0].w);
    sums2 += remainder(inner(row3, v2), g2, v2[0].w);
    sums3 += remainder(inner(row3, v3), g3, v3[0].w);
    sums4 += remainder(inner(row3, v4), g4, v4[0].w);
    sums5 += remainder(inner(row3, v5), g5, v5[0].w);
    sums6 += remainder(inner(row3, v6), g6, v6[0].w);
    sums7 += remainder(inner(row3, v7), g7, v7[0].w);
    let row4 = column_scaled_down(load(m, 4u), e);
    sums0 += remainder(inner(row4, v0), g0, v0[1].x);
    sums1 += remainder(inner(row4, v1), g1, v1[1].x);
    sums2 += remainder(inner(row4, v2), g2, v2[1].x);
    sums3 += remainder(inner(row4, v3), g3, v3[1].x);
    sums4 += remainder(inner(row4, v4), g4, v4[1].x);
    sums5 += remainder(inner(row4, v5), g5, v5[1].x);
    sums6 += remainder(inner(row4, v6), g6, v6[1].x);
    sums7 += remainder(inner(row4, v7), g7, v7[1].x);
    let row5 = column_scaled_down(load(m, 5u), e);
    sums0 += remainder(inner(row5, v0), g0, v0[1].y);
    sums1 += remainder(inner(row5, v1), g1, v1[1].y);
    sums2 += remainder(inner(row5, v2), g2, v2[1].y);
    sums3 += remainder(inner(row5, v3), g3, v3[1].y);
    sums4 += remainder(inner(row5, v4), g4, v4[1].y);
    sums5 += remainder(inner(row5, v5), g5, v5[1].y);
    sums6 += remainder(inner(row5, v6), g6, v6[1].y);
    sums7 += remainder(inner(row5, v7), g7, v7[1].y);
    let row6 = column_scaled_down(load(m, 6u), e);
    sums0 += remainder(inner(row6, v0), g0, v0[1].z);
    sums1 += remainder(inner(row6, v1), g1, v1[1].z);
    sums2 += remainder(inner(row6, v2), g2, v2[1].z);
    sums3 += remainder(inner(row6, v3), g3, v3[1].z);
    sums4 += remainder(inner(row6, v4), g4, v4[1].z);
    sums5 += remainder(inner(row6, v5), g5, v5[1].z);
    sums6 += remainder(inner(row6, v6), g6, v6[1].z);
    sums7 += remainder(inner(row6, v7), g7, v7[1].z);
    let row7 = column_scaled_down(load(m, 7u), e);
    sums0 += remainder(inner(row7, v0), g0, v0[1].w);
    sums1 += remainder(inner(row7, v1), g1, v1[1].w);
    sums2 += remainder(inner(row7, v2), g2, v2[1].w);
    sums3 += remainder(inner(row7, v3), g3, v3[1].w);
    sums4 += remainder(inner(row7, v4), g4, v4[1].w);
    sums5 += remainder(inner(row7, v5), g5, v5[1].w);
    sums6 += remainder(inner(row7, v6), g6, v6[1].w);
    sums7 += remainder(inner(row7, v7), g7, v7[1].w);
    var residual = 0u;
    var departure = 0u;
    let pair0 = pair_of(g0, sums0, e);
    var rank0 = 0u;
    {
        residual = max(residual, pair0.residual);
        departure = max(departure, magnitude_bits(inner(v0, v0) - 1.0));
    }
    let pair1 = pair_of(g1, sums1, e);
    var rank1 = 0u;
    {
        residual = max(residual, pair1.residual);
        departure = max(departure, magnitude_bits(inner(v1, v1) - 1.0));
        departure = max(departure, magnitude_bits(inner(v0, v1)));
        if pair0.key <= pair1.key { rank1 += 1u; } else { rank0 += 1u; }
    }
    let pair2 = pair_of(g2, sums2, e);
    var rank2 = 0u;
    {
        residual = max(residual, pair2.residual);
        departure = max(departure, magnitude_bits(inner(v2, v2) - 1.0));
        departure = max(departure, magnitude_bits(inner(v0, v2)));
        departure = max(departure, magnitude_bits(inner(v1, v2)));
        if pair0.key <= pair2.key { rank2 += 1u; } else { rank0 += 1u; }
        if pair1.key <= pair2.key { rank2 += 1u; } else { rank1 += 1u; }
    }
    let pair3 = pair_of(g3, sums3, e);
    var rank3 = 0u;
    {
        residual = max(residual, pair3.residual);
        departure = max(departure, magnitude_bits(inner(v3, v3) - 1.0));
        departure = max(departure, magnitude_bits(inner(v0, v3)));
        departure = max(departure, magnitude_bits(inner(v1, v3)));
        departure = max(departure, magnitude_bits(inner(v2, v3)));
        if pair0.key <= pair3.key { rank3 += 1u; } else { rank0 += 1u; }
        if pair1.key <= pair3.key { rank3 += 1u; } else { rank1 += 1u; }
        if pair2.key <= pair3.key { rank3 += 1u; } else { rank2 += 1u; }
    }
    let pair4 = pair_of(g4, sums4, e);
    var rank4 = 0u;
    {
        residual = max(residual, pair4.residual);
        departure = max(departure, magnitude_bits(inner(v4, v4) - 1.0));
        departure = max(departure, magnitude_bits(inner(v0, v4)));
        departure = max(departure, magnitude_bits(inner(v1, v4)));
        departure = max(departure, magnitude_bits(inner(v2, v4)));
        departure = max(departure, magnitude_bits(inner(v3, v4)));
        if pair0.key <= pair4.key { rank4 += 1u; } else { rank0 += 1u; }
        if pair1.key <= pair4.key { rank4 += 1u; } else { rank1 += 1u; }
        if pair2.key <= pair4.key { rank4 += 1u; } else { rank2 += 1u; }
        if pair3.key <= pair4.key { rank4 += 1u; } else { rank3 += 1u; }
    }
    let pair5 = pair_of(g5, sums5, e);
    var rank5 = 0u;
    {
        residual = max(residual, pair5.residual);
        departure = max(departure, magnitude_bits(inner(v5, v5) - 1.0));
        departure = max(departure, magnitude_bits(inner(v0, v5)));
        departure = max(departure, magnitude_bits(inner(v1, v5)));
        departure = max(departure, magnitude_bits(inner(v2, v5)));
        departure = max(departure, magnitude_bits(inner(v3, v5)));
        departure = max(departure, magnitude_bits(inner(v4, v5)));
        if pair0.key <= pair5.key { rank5 += 1u; } else { rank0 += 1u; }
        if pair1.key <= pair5.key { rank5 += 1u; } else { rank1 += 1u; }
        if pair2.key <= pair5.key { rank5 += 1u; } else { rank2 += 1u; }
        if pair3.key <= pair5.key { rank5 += 1u; } else { rank3 += 1u; }
        if pair4.key <= pair5.key { rank5 += 1u; } else { rank4 += 1u; }
    }
    let pair6 = pair_of(g6, sums6, e);
    var rank6 = 0u;
    {
        residual = max(residual, pair6.residual);
        departure = max(departure, magnitude_bits(inner(v6, v6) - 1.0));
        departure = max(departure, magnitude_bits(inner(v0, v6)));
        departure = max(departure, magnitude_bits(inner(v1, v6)));
        departure = max(departure, magnitude_bits(inner(v2, v6)));
        departure = max(departure, magnitude_bits(inner(v3, v6)));
        departure = max(departure, magnitude_bits(inner(v4, v6)));
        departure = max(departure, magnitude_bits(inner(v5, v6)));
        if pair0.key <= pair6.key { rank6 += 1u; } else { rank0 += 1u; }
        if pair1.key <= pair6.key { rank6 += 1u; } else { rank1 += 1u; }
        if pair2.key <= pair6.key { rank6 += 1u; } else { rank2 += 1u; }
        if pair3.key <= pair6.key { rank6 += 1u; } else { rank3 += 1u; }
        if pair4.key <= pair6.key { rank6 += 1u; } else { rank4 += 1u; }
        if pair5.key <= pair6.key { rank6 += 1u; } else { rank5 += 1u; }
    }
    let pair7 = pair_of(g7, sums7, e);
    var rank7 = 0u;
    if m.order > 7u {
        residual = max(residual, pair7.residual);
        departure = max(departure, magnitude_bits(inner(v7, v7) - 1.0));
        departure = max(departure, magnitude_bits(inner(v0, v7)));
        departure = max(departure, magnitude_bits(inner(v1, v7)));
        departure = max(departure, magnitude_bits(inner(v2, v7)));
        departure = max(departure, magnitude_bits(inner(v3, v7)));
        departure = max(departure, magnitude_bits(inner(v4, v7)));
        departure = max(departure, magnitude_bits(inner(v5, v7)));
        departure = max(departure, magnitude_bits(inner(v6, v7)));
        if pair0.key <= pair7.key { rank7 += 1u; } else { rank0 += 1u; }
        if pair1.key <= pair7.key { rank7 += 1u; } else { rank1 += 1u; }
        if pair2.key <= pair7.key { rank7 += 1u; } else { rank2 += 1u; }
        if pair3.key <= pair7.key { rank7 += 1u; } else { rank3 += 1u; }
        if pair4.key <= pair7.key { rank7 += 1u; } else { rank4 += 1u; }
        if pair5.key <= pair7.key { rank7 += 1u; } else { rank5 += 1u; }
        if pair6.key <= pair7.key { rank7 += 1u; } else { rank6 += 1u; }
    }
    certificate(m, finite, !turned, sweeps, norm, residual, departure);

    // If a matrix is not finite, its eigenvalues are NaN, made from bits at run time, and its eigenvectors are 0.
    let nothing = bitcast<f32>(0x7fc00000u | min(params.first, 1u));
    {
        let place = select(0u, rank0, finite);
        values[m.rows + place] = select(nothing, pair0.given, finite);
        if params.vectors != 0u {
            if finite { store(m, place, v0); } else { store(m, place, Column()); }
        }
    }
    {
        let place = select(1u, rank1, finite);
        values[m.rows + place] = select(nothing, pair1.given, finite);
        if params.vectors != 0u {
            if finite { store(m, place, v1); } else { store(m, place, Column()); }
        }
    }
    {
        let place = select(2u, rank2, finite);
        values[m.rows + place] = select(nothing, pair2.given, finite);
        if params.vectors != 0u {
            if finite { store(m, place, v2); } else { store(m, place, Column()); }
        }
    }
    {
        let place = select(3u, rank3, finite);
        values[m.rows + place] = select(nothing, pair3.given, finite);
        if params.vectors != 0u {
            if finite { store(m, place, v3); } else { store(m, place, Column()); }
        }
    }
    {
        let place = select(4u, rank4, finite);
        values[m.rows + place] = select(nothing, pair4.given, finite);
        if params.vectors != 0u {
            if finite { store(m, place, v4); } else { store(m, place, Column()); }
        }
    }
    {
        let place = select(5u, rank5, finite);
        values[m.rows + place] = select(nothing, pair5.given, finite);
        if params.vectors != 0u {
            if finite { store(m, place, v5); } else { store(m, place, Column()); }
        }
    }
    {
        let place = select(6u, rank6, finite);
        values[m.rows + place] = select(nothing, pair6.given, finite);
        if params.vectors != 0u {
            if finite { store(m, place, v6); } else { store(m, place, Column()); }
        }
    }
    if m.order > 7u {
        let place = select(7u, rank7, finite);
        values[m.rows + place] = select(nothing, pair7.given, finite);
        if params.vectors != 0u {
            if finite { store(m, place, v7); } else { store(m, place, Column()); }
        }
    }
}
