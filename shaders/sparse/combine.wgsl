// Adds the sums of the segments of each long row and writes the totals to y. If the totals are needed for a step of a
// recurrence, finish.wgsl is used instead. Each workgroup has one row. An item is (row, first slot, end of the row's
// slots, unused). See shares.wgsl.

struct Params { first: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(LANES * SHARES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let item = items[params.first + group.x];
    let sum = sum_of_segments(item.y, item.z, lane);
    if lane < LANES { y[item.x * LANES + lane] = sum; }
}
