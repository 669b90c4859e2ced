// Applies the reflections begins..ends of a panel (svd/panel.wgsl), in this order, to the columns of X after the panel.
//
// Iterations: (ends - begins) (2 ceil(long / LANES) + LANES).

struct Params { first: u32, long: u32, short: u32, begins: u32, ends: u32, optional: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> taus: array<f32>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;

var<workgroup> wanted: u32;

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let blocks = (params.short - params.ends + GROUPS - 1u) / GROUPS;
    let matrix = (params.first + group.x) / blocks;
    let column = params.ends + (params.first + group.x) % blocks * GROUPS + lane / LANES;
    if lane == 0u { wanted = select(1u, state[matrix].z, params.optional != 0u); }
    if workgroupUniformLoad(&wanted) == 0u { return; }
    let long = params.long;
    let base = matrix * long * params.short;
    let target_column = base + column * long;
    let part = lane % LANES;
    // Only this lane accesses its rows of the column.
    for (var j = params.begins; j < params.ends; j += 1u) {
        let own = base + j * long;
        let start = j + (part + LANES - j % LANES) % LANES;
        var product = 0.0;
        if column < params.short {
            for (var i = start; i < long; i += LANES) { product += x[own + i] * x[target_column + i]; }
        }
        product = taus[matrix * params.short + j] * next_sum_over_lanes(lane, product);
        if column < params.short {
            for (var i = start; i < long; i += LANES) { x[target_column + i] -= product * x[own + i]; }
        }
    }
}
