// Computes the squared lengths of the columns of W (short, short). Iterations: ceil(short / LANES) + LANES.

struct Params { first: u32, short: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read_write> lengths: array<f32>;

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.short;
    let blocks = (n + GROUPS - 1u) / GROUPS;
    let matrix = (params.first + group.x) / blocks;
    let column = (params.first + group.x) % blocks * GROUPS + lane / LANES;
    var square = 0.0;
    if column < n {
        for (var i = lane % LANES; i < n; i += LANES) {
            let value = w[(matrix * n + column) * n + i];
            square += value * value;
        }
    }
    square = sum_over_lanes(lane, square);
    if column < n && lane % LANES == 0u { lengths[matrix * n + column] = square; }
}
