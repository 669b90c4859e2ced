// Computes the largest magnitude in every column of B as bits. B is A, or the transpose of A if A is wide.

struct Params { first: u32, long: u32, short: u32, wide: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> peaks: array<u32>;

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let given = Given(params.long, params.short, params.wide);
    let blocks = (params.short + GROUPS - 1u) / GROUPS;
    let matrix = (params.first + group.x) / blocks;
    let column = (params.first + group.x) % blocks * GROUPS + lane / LANES;
    var largest = 0u;
    if column < params.short {
        for (var i = lane % LANES; i < params.long; i += LANES) {
            largest = max(largest, magnitude_bits(a[given_at(given, matrix, i, column)]));
        }
    }
    largest = max_over_lanes(lane, largest);
    if column < params.short && lane % LANES == 0u { peaks[matrix * params.short + column] = largest; }
}
