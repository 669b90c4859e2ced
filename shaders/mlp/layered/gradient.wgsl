// The gradient of a layer's weights, and the optimizer.
//
// Iterations of an invocation: 5 ceil(batch / 16) + 20.

fn left_vector(at: u32) -> vec4<f32> { return row(at); }
fn right_vector(at: u32) -> vec4<f32> { return row(at); }

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let block = params.part;
    let rows = block_word(block, BLOCK_ROWS);
    let columns = quads(block_word(block, BLOCK_COLS));
    let across = tiles(block_word(block, BLOCK_COLS));
    let here = here_of(group.x, tiles(rows) * across);
    let top = here.unit / across * TILE;
    let start = here.unit % across * TILE;
    let a = Factor(block_word(block, LEFT), block_word(block, LEFT_PITCH), here.count, quads(rows));
    let b = Factor(block_word(block, RIGHT), block_word(block, RIGHT_PITCH), here.count, columns);
    let sums = sums_of(a, b, top, start, here.count);
    let column = start / 4u + lane % TILE_QUADS;
    let alive = goes_on(here.record);
    for (var j = 0u; j < 4u; j += 1u) {
        let i = top + 4u * (lane / TILE_QUADS) + j;
        if alive && i < rows && column < columns { take_gradient(here.record, block, i, column, row_of(sums, j)); }
    }
}
