// Sorts the columns of W by descending length and scales each column to length 1. A column whose squared length is at
// most MISSING is set to 0, and `state` records that the basis lacks a column, which another kernel adds.
// Iterations: 2 ceil(short / LANES) + LANES.

struct Params { first: u32, short: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> lengths: array<f32>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> state: array<vec4<u32>>;

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.short;
    let blocks = (n + GROUPS - 1u) / GROUPS;
    let matrix = (params.first + group.x) / blocks;
    let column = (params.first + group.x) % blocks * GROUPS + lane / LANES;
    let part = lane % LANES;
    var before = 0.0;
    var square = 0.0;
    if column < n {
        square = lengths[matrix * n + column];
        // The bits of squares have their order, see shared/keys.wgsl.
        let own = magnitude_bits(square);
        for (var other = part; other < n; other += LANES) {
            let length = magnitude_bits(lengths[matrix * n + other]);
            if length > own || (length == own && other < column) { before += 1.0; }
        }
    }
    // The sum is a count, so it is exact in any order.
    let rank = u32(sum_over_lanes(lane, before));
    if column < n {
        var inverse = 0.0;
        if square > MISSING { inverse = reciprocal_sqrt(square); }
        for (var i = part; i < n; i += LANES) {
            x[(matrix * n + rank) * n + i] = w[(matrix * n + column) * n + i] * inverse;
        }
        // If any column is missing, then the shortest one is missing.
        if rank + 1u == n && part == 0u { state[matrix].z = select(1u, 0u, square > MISSING); }
    }
}
