// The sums of squares of pieces of the gradients of runs that are clipped.
//
// Iterations of an invocation: 16 (blocks + 1) + 256.

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let here = here_of(group.x, pieces());
    var sum = 0.0;
    for (var j = lane; j < PIECE; j += WIDTH) {
        let at = here.unit * PIECE + j;
        if element_of(at).exists {
            let g = kept_gradient(at);
            sum += dot(g, g);
        }
    }
    sum = of_workgroup(sum);
    if lane == 0u { scratch[scratch_at + params.lengths_at + here.unit] = vec4<u32>(bitcast<u32>(sum), 0u, 0u, 0u); }
}
