// Copies `given` to `made`, one vector of four per invocation, to measure the bandwidth of memory. It has no loops.

override WIDTH: u32 = 256;

struct Params { first: u32, count: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> given: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> made: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = (params.first + group.x) * WIDTH + lane;
    if i < params.count { made[i] = given[i]; }
}
