// The whole eigendecomposition of a small matrix in one kernel, in registers. It does what eigen/prepare, jacobi/* and
// eigen/finish do for a larger matrix (see these files), with the same results. The unrolled code is in eigen/tiny_N
// (one invocation per matrix) and eigen/lane_N (one lane per pair of columns). A matrix of an order below N is padded
// with columns that are orthogonal from the start.

// vectors: whether the eigenvectors are stored. They are computed in any case, because the certificate needs them.
struct Params { first: u32, count: u32, sweeps: u32, vectors: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read_write> w: array<f32>;
@group(0) @binding(4) var<storage, read_write> values: array<f32>;
@group(0) @binding(5) var<storage, read_write> certificates: array<vec4<f32>>;

// Returns an element of A, which is read from the lower triangle, or 0 beyond the order. (It has no early
// return, see shared/real.wgsl.)
fn entry(m: Matrix, i: u32, j: u32) -> f32 {
    var x = 0.0;
    if max(i, j) < m.order { x = a[m.elements + max(i, j) + min(i, j) * m.order]; }
    return x;
}

// Returns, for a column with the given sum of magnitudes and the given diagonal element, its contribution to |A|_1 and
// the distance by which its Gershgorin disc reaches below zero.
fn disc(sum: f32, center: f32) -> vec2<f32> { return vec2<f32>(sum, max(sum - abs(center) - center, 0.0)); }

// Returns the contribution of one row to |r|^2 and to v'r, where r = A v - g v. `product` is the row of A v, and
// `guess` is g.
fn remainder(product: f32, guess: f32, v: f32) -> vec2<f32> {
    let r = product - guess * v;
    return vec2<f32>(r * r, r * v);
}

// The key of the eigenvalue of a column times 2^-e, the eigenvalue, and the bits of its residual. The bits are those of
// infinity if the eigenvalue overflows in f32 although no element of A does.
struct Pair { key: u32, given: f32, residual: u32 }

fn pair_of(guess: f32, sums: vec2<f32>, e: i32) -> Pair {
    let value = guess + sums.y;
    let given = times_power_of_two(bitcast<u32>(value), e);
    let residual = magnitude_bits(sqrt(max(sums.x - sums.y * sums.y, 0.0)));
    return Pair(key_of(value), given, select(residual, INFINITE, magnitude_bits(given) >= INFINITE));
}

fn certificate(m: Matrix, finite: bool, orthogonal: bool, sweeps: u32, norm: f32, residual: u32, departure: u32) {
    certificates[m.place] = judge(m.order, PROMISE, norm, residual, departure, sweeps, orthogonal, finite);
}
