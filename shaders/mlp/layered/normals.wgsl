// The standard normals of samplers. An invocation makes eight.
//
// Iterations of an invocation: 20.

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let here = here_of(group.x, (params.noise + WIDTH - 1u) / WIDTH);
    let item = here.unit * WIDTH + lane;
    if item < params.noise { make_normals(here.record, item, here.step); }
}
