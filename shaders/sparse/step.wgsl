// Makes a step of a recurrence for the rows that are not cut into segments. An element of y is read only by the
// invocation that writes it. An item is (row, first entry, end of the row's entries, problem). See advance.wgsl and
// rows.wgsl.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> columns: array<u32>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read> diagonal: array<f32>;
@group(0) @binding(5) var<storage, read> scale: array<f32>;
@group(0) @binding(6) var<storage, read> coefficients: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(LANES * TEAMS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let place = params.first + group.x * TEAMS + lane / LANES;
    let part = lane % LANES;
    if place < params.end {
        let item = items[place];
        if any(taking_part(item.w, part)) {
            advance(item.x, item.w, part, sum_of_row(item.y, item.z, part));
        } else {
            pass_over(item.x, part);
        }
    }
}
