// Computes the sums over rows, or over segments of long rows, and writes each sum to its slot. An item is (slot, first
// entry, end of the entries, unused). See rows.wgsl.

struct Params { first: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> columns: array<u32>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read> scale: array<f32>;
@group(0) @binding(5) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> sums: array<vec4<f32>>;

@compute @workgroup_size(LANES * TEAMS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let place = params.first + group.x * TEAMS + lane / LANES;
    let part = lane % LANES;
    if place < params.end {
        let item = items[place];
        sums[item.x * LANES + part] = sum_of_row(item.y, item.z, part);
    }
}
