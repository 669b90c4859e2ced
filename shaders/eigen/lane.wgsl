// The code of eigen/lane_N that needs no unrolling: the eigendecomposition by LANES lanes of a subgroup, in the order
// of shared/ring.wgsl. A subgroup holds one or more matrices. A matrix whose columns are orthogonal is no longer
// rotated. It waits for the other matrices, and none of its bits change.
//
// Loop iterations of an invocation: LANES + 1 iterations per sweep, and about N + LANES to finish.

// Returns rows 4 q to 4 q + 3 of a column of A, with zeros beyond the order.
fn quad(m: Matrix, column: u32, q: u32) -> vec4<f32> {
    return vec4<f32>(entry(m, 4u * q, column), entry(m, 4u * q + 1u, column), entry(m, 4u * q + 2u, column), entry(m, 4u * q + 3u, column));
}

// Returns x times 2^-e for a matrix with the exponent e.
fn quad_scaled_down(x: vec4<f32>, e: i32) -> vec4<f32> {
    var y = x * power_of_two(-max(e, NEAR_SUBNORMAL));
    if e < NEAR_SUBNORMAL { y = vec4<f32>(raised(x.x, e), raised(x.y, e), raised(x.z, e), raised(x.w, e)); }
    return y;
}

fn put(m: Matrix, column: u32, q: u32, x: vec4<f32>) {
    let row = 4u * q;
    let at = m.elements + column * m.order + row;
    if row < m.order { w[at] = x.x; }
    if row + 1u < m.order { w[at + 1u] = x.y; }
    if row + 2u < m.order { w[at + 2u] = x.z; }
    if row + 3u < m.order { w[at + 3u] = x.w; }
}

// Returns rows 4 q to 4 q + 3 of column `column` of the identity.
fn unit(column: u32, q: u32) -> vec4<f32> {
    return select(vec4<f32>(), vec4<f32>(1.0), vec4<u32>(4u * q) + vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(column));
}

fn size(x: vec4<f32>) -> f32 { return dot(abs(x), vec4<f32>(1.0)); }

// Returns the bits of the largest magnitude of a component.
fn peak(x: vec4<f32>) -> u32 {
    let bits = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    return max(max(bits.x, bits.y), max(bits.z, bits.w));
}

// Returns the maximum of x over the lanes. x is not negative, so comparing the bits compares the values.
fn most_of(x: f32) -> f32 { return bitcast<f32>(most(bitcast<u32>(x))); }
