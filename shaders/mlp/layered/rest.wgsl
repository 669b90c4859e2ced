// The gradients of biases, gains and shifts, and the optimizer; the running statistics. A workgroup has eight vectors
// of one block of parameters, or of one layer's statistics. `params.part` is the most workgroups that a block needs.
//
// Iterations of an invocation: ceil(batch / 32) + 36.

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let here = here_of(group.x, (params.blocks + params.layers) * params.part);
    let block = here.unit / params.part;
    let own = strand_of();
    let column = here.unit % params.part * SUMS_TOGETHER + own.x;
    var sum = vec4<f32>(0.0);
    var takes = false;
    if block < params.blocks && block_word(block, KIND) != MATRIX {
        takes = column < quads(block_word(block, BLOCK_COLS));
        let summed = block_word(block, KIND) == SUMMED;
        let end = select(0u, select(here.count, 1u, summed), takes);
        let first = block_word(block, RIGHT) + column;
        for (var b = own.y; b < end; b += STRANDS) { sum += row(first + b * block_word(block, RIGHT_PITCH)); }
    }
    sum = of_all(sum);
    if own.y == 0u && goes_on(here.record) {
        if takes { take_gradient(here.record, block, 0u, column, sum); }
        if block >= params.blocks {
            let l = block - params.blocks;
            if layer(l, NORM) == BATCH_NORM && column < layer(l, OUTPUT_QUADS) { follow(l, column, here.count); }
        }
    }
}
