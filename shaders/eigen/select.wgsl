// Copies `len` elements starting at `begin` from each block of `own` elements. One invocation per element of the
// result. If a dispatch has fewer invocations, each invocation copies several elements, in steps of the number of
// invocations.

struct Params { own: u32, begin: u32, len: u32, total: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> whole: array<f32>;
@group(0) @binding(2) var<storage, read_write> part: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < params.total; i += 64u * groups.x) {
        part[i] = whole[i / params.len * params.own + params.begin + i % params.len];
    }
}
