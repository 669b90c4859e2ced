// Computes the singular values s_j, and the residual |B v_j - s_j p_j| of each, from Y = B V and P. The singular values
// are the diagonal of R in B V = P R. Singular values that differ only by rounding may be out of order, so each one is
// replaced by the smallest of itself and those before it.
//
// Iterations: ceil(short / LANES) + ceil(long / LANES) + 2 LANES.

struct Params { first: u32, long: u32, short: u32, left: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> p: array<f32>;
@group(0) @binding(4) var<storage, read> betas: array<f32>;
@group(0) @binding(5) var<storage, read_write> values: array<f32>;
@group(0) @binding(6) var<storage, read_write> residuals: array<f32>;

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.short;
    let blocks = (n + GROUPS - 1u) / GROUPS;
    let matrix = (params.first + group.x) / blocks;
    let column = (params.first + group.x) % blocks * GROUPS + lane / LANES;
    let part = lane % LANES;
    let finite = (state[matrix].x & FLAG_NON_FINITE) == 0u;
    // The smallest singular value has the largest complement of its bits.
    var complement = 0u;
    if column < n {
        for (var i = part; i <= column; i += LANES) {
            complement = max(complement, INFINITE - min(magnitude_bits(betas[matrix * n + i]), INFINITE));
        }
    }
    let value = bitcast<f32>(INFINITE - max_over_lanes(lane, complement));
    var square = 0.0;
    if column < n {
        for (var i = part; i < params.long; i += LANES) {
            let away = y[(matrix * n + column) * params.long + i] - value * p[(matrix * params.left + column) * params.long + i];
            square += away * away;
        }
    }
    square = sum_over_lanes(lane, square);
    if column < n && part == 0u {
        let own = times_power_of_two(bitcast<u32>(value), bitcast<i32>(state[matrix].y));
        // If the matrix is not finite, its singular values are NaN, made from bits at run time because WGSL has no
        // constant NaN.
        if finite { values[matrix * n + column] = own; }
        else { values[matrix * n + column] = bitcast<f32>(0x7fc00000u | min(params.first, 1u)); }
        // A singular value may overflow in f32 although no element of the matrix does.
        residuals[matrix * n + column] = select(sqrt(square), 3.0e38, magnitude_bits(own) >= INFINITE);
    }
}
