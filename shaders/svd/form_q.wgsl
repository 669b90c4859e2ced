// Forms the first `left` columns of Q in X = Q R (svd/panel.wgsl). Each column starts as a column of the identity, with
// the sign that makes the diagonal of R positive. Then the reflections begins..ends are applied, the last reflection
// first. A matrix that is not finite gets columns of 0. If `optional` is not 0 and the matrix has no missing column,
// the result is X itself.
//
// Iterations: (ends - begins) (2 ceil(long / LANES) + LANES) + ceil(long / LANES).

// begin: whether the reflections begins..ends are the first to be applied.
struct Params { first: u32, long: u32, short: u32, left: u32, begins: u32, ends: u32, begin: u32, optional: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> betas: array<f32>;
@group(0) @binding(4) var<storage, read> taus: array<f32>;
@group(0) @binding(5) var<storage, read_write> q: array<f32>;

// The columns to write: 0 for zeros, 1 for a copy of X, 2 for the product of the reflections.
var<workgroup> what: u32;

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let blocks = (params.left + GROUPS - 1u) / GROUPS;
    let matrix = (params.first + group.x) / blocks;
    let column = (params.first + group.x) % blocks * GROUPS + lane / LANES;
    if lane == 0u {
        what = select(2u, 1u, params.optional != 0u && state[matrix].z == 0u);
        if (state[matrix].x & FLAG_NON_FINITE) != 0u { what = 0u; }
    }
    let todo = workgroupUniformLoad(&what);
    let long = params.long;
    let base = matrix * long * params.short;
    let target_column = (matrix * params.left + column) * long;
    let part = lane % LANES;
    if params.begin != 0u && column < params.left {
        var sign = 1.0;
        if column < params.short && betas[matrix * params.short + min(column, params.short - 1u)] < 0.0 { sign = -1.0; }
        for (var i = part; i < long; i += LANES) {
            var value = 0.0;
            if todo == 1u { value = x[base + column * long + i]; }
            if todo == 2u && i == column { value = sign; }
            q[target_column + i] = value;
        }
    }
    if todo != 2u { return; }
    for (var back = params.begins; back < params.ends; back += 1u) {
        let j = params.ends - 1u - (back - params.begins);
        let own = base + j * long;
        let start = j + (part + LANES - j % LANES) % LANES;
        var product = 0.0;
        if column < params.left {
            for (var i = start; i < long; i += LANES) { product += x[own + i] * q[target_column + i]; }
        }
        product = taus[matrix * params.short + j] * next_sum_over_lanes(lane, product);
        if column < params.left {
            for (var i = start; i < long; i += LANES) { q[target_column + i] -= product * x[own + i]; }
        }
    }
}
