// Makes a step of a recurrence for the long rows, whose segments have already been summed. Each workgroup has one row.
// An item is (row, first slot, end of the row's slots, problem). See advance.wgsl and shares.wgsl.

override SCALED: bool = false;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> diagonal: array<f32>;
@group(0) @binding(4) var<storage, read> scale: array<f32>;
@group(0) @binding(5) var<storage, read> coefficients: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(LANES * SHARES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let item = items[params.first + group.x];
    let sum = sum_of_segments(item.y, item.z, lane);
    if lane < LANES {
        if any(taking_part(item.w, lane)) { advance(item.x, item.w, lane, sum); } else { pass_over(item.x, lane); }
    }
}
