// Copies the outputs of the runs for a batch of samples.

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;
// Vectors of outputs, samples of a run after one another.
@group(0) @binding(9) var<storage, read_write> outputs: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let last = params.layers - 1u;
    let columns = layer(last, OUTPUT_QUADS);
    let here = here_of(group.x, (params.batch * columns + WIDTH - 1u) / WIDTH);
    let item = here.unit * WIDTH + lane;
    if item < here.count * columns {
        let sample = here.batch * params.batch + item / columns;
        let at = layer(last, DERIVATIVES) + item / columns * layer(last, OUT_PITCH) + item % columns;
        outputs[(here.place * params.samples + sample) * columns + item % columns] = row(at);
    }
}
