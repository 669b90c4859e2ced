// Copies the samples of the runs' batches. A workgroup copies four samples of a run.
//
// Iterations of an invocation: as in src/ops/mlp/gpu/layered.rs.

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let here = here_of(group.x, quads(params.batch));
    let record = here.record;
    choose_order(record, plus(plan[record + EPOCH_LOW], plan[record + EPOCH_HIGH], here.passed / params.batches));
    // Of a batch with few samples, some workgroups copy none.
    let begin = 4u * here.unit;
    gather(record, here.batch, begin, clamp(here.count, begin, begin + 4u));
}
