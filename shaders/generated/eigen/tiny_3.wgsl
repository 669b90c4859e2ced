// Order 3 of the eigendecomposition in registers, see eigen/small.wgsl.
//
// Written by tools/unroll: `cargo run --example unroll` writes it anew.

alias Column = vec3<f32>;

// Two columns count as orthogonal if their inner product is at most its rounding error, 4 eps.
const TOLERANCE: f32 = 4.7683716e-7;

fn inner(x: Column, y: Column) -> f32 { return dot(x, y); }
// Returns the sum of the magnitudes of the elements.
fn size(x: Column) -> f32 { return dot(abs(x), vec3<f32>(1.0)); }
// Returns the bits of the largest magnitude of an element.
fn peak(x: Column) -> u32 { return max(magnitude_bits(x.x), max(magnitude_bits(x.y), magnitude_bits(x.z))); }
fn load(m: Matrix, j: u32) -> Column { return Column(entry(m, 0u, j), entry(m, 1u, j), entry(m, 2u, j)); }
// Returns x times 2^-e for a matrix with the exponent e.
fn column_scaled_down(x: Column, e: i32) -> Column {
    var y = x * power_of_two(-max(e, NEAR_SUBNORMAL));
    if e < NEAR_SUBNORMAL { y = Column(raised(x.x, e), raised(x.y, e), raised(x.z, e)); }
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
    w[at + 0u] = x.x;
    w[at + 1u] = x.y;
    w[at + 2u] = x.z;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.count { return; }
    let m = matrix_of(table[params.first + id.x]);
    let a0 = load(m, 0u);
    let a1 = load(m, 1u);
    let a2 = load(m, 2u);
    let bits = max(peak(a0), max(peak(a1), peak(a2)));
    let finite = bits < INFINITE;
    let e = matrix_exponent(bits);
    var w0 = column_scaled_down(a0, e);
    var w1 = column_scaled_down(a1, e);
    var w2 = column_scaled_down(a2, e);
    let discs = max(disc(size(w0), w0.x), max(disc(size(w1), w1.y), disc(size(w2), w2.z)));
    let norm = discs.x;
    let shift = select(discs.y + 0.05 * norm, 1.0, bits == 0u);
    w0.x += shift;
    w1.y += shift;
    w2.z += shift;

    var sweeps = 0u;
    var turned = finite && m.order > 1u;
    while turned && sweeps < params.sweeps {
        turned = false;
        var g0 = inner(w0, w0);
        var g1 = inner(w1, w1);
        var g2 = inner(w2, w2);
        turned = turn(&w1, &w2, &g1, &g2) | turned;
        turned = turn(&w0, &w2, &g0, &g2) | turned;
        turned = turn(&w0, &w1, &g0, &g1) | turned;
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
    // The residual A v - g v, row by row.
    let row0 = column_scaled_down(load(m, 0u), e);
    sums0 += remainder(inner(row0, v0), g0, v0.x);
    sums1 += remainder(inner(row0, v1), g1, v1.x);
    sums2 += remainder(inner(row0, v2), g2, v2.x);
    let row1 = column_scaled_down(load(m, 1u), e);
    sums0 += remainder(inner(row1, v0), g0, v0.y);
    sums1 += remainder(inner(row1, v1), g1, v1.y);
    sums2 += remainder(inner(row1, v2), g2, v2.y);
    let row2 = column_scaled_down(load(m, 2u), e);
    sums0 += remainder(inner(row2, v0), g0, v0.z);
    sums1 += remainder(inner(row2, v1), g1, v1.z);
    sums2 += remainder(inner(row2, v2), g2, v2.z);
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
}
