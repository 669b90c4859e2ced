// Shortens the gradients of runs that are clipped, and the optimizer.
//
// Iterations of an invocation: 16 (blocks + 21) + ceil(pieces / 256) + 256.

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let here = here_of(group.x, pieces());
    let record = here.record;
    var sum = 0.0;
    for (var piece = lane; piece < pieces(); piece += WIDTH) {
        sum += bitcast<f32>(scratch[scratch_at + params.lengths_at + piece].x);
    }
    let length = sqrt(of_workgroup(sum));
    let shorten = min(1.0, bitcast<f32>(plan[record + CLIP]) / (length + 1e-6));
    if plan[record + CLIPS] == 1u && goes_on(record) {
        for (var j = lane; j < PIECE; j += WIDTH) {
            let at = here.unit * PIECE + j;
            let own = element_of(at);
            if own.exists { change(record, own.block, own.i, own.column, shorten * kept_gradient(at)); }
        }
    }
}
