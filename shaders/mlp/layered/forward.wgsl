// The linear map of a layer, and what follows unless the layer is normalized by the rows at hand.
//
// Iterations of an invocation: 5 ceil(inputs / 16) + 44.

// Whether the kernel trains; whether the rows of the weights are outputs, as RIGHT_ALONG says.
override TRAINING: bool = true;

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;

fn left_vector(at: u32) -> vec4<f32> { return row(at); }
fn right_vector(at: u32) -> vec4<f32> { return weight(at); }

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let l = params.part;
    let inputs = 4u * layer(l, INPUT_QUADS);
    let outputs = layer(l, OUTPUTS);
    let columns = layer(l, OUTPUT_QUADS);
    let across = tiles(outputs);
    let here = here_of(group.x, tiles(params.batch) * across);
    let top = here.unit / across * TILE;
    let start = here.unit % across * TILE;
    let a = Factor(layer(l, IN_ROWS), layer(l, IN_PITCH), here.count, inputs / 4u);
    // Behind the rows of inputs, there are rows of zeros up to a multiple of four.
    let by_input = Factor(layer(l, WEIGHTS), layer(l, WEIGHT_PITCH), inputs, columns);
    let by_output = Factor(layer(l, WEIGHTS), layer(l, WEIGHT_PITCH), outputs, inputs / 4u);
    var b = by_input;
    if RIGHT_ALONG { b = by_output; }
    let sums = sums_of(a, b, top, start, inputs);
    let column = start / 4u + lane % TILE_QUADS;
    let norm = layer(l, NORM);
    for (var i = 0u; i < 4u; i += 1u) {
        let sample = top + 4u * (lane / TILE_QUADS) + i;
        if sample < here.count && column < columns {
            var x = row_of(sums, i) + weight(layer(l, BIAS) + column);
            if norm == BATCH_NORM && !TRAINING {
                let running = weights_at + layer(l, RUNNING) + column;
                x = (x - weights[running]) / sqrt(weights[running + columns] + EPSILON);
            }
            if norm == LAYER_NORM || (norm == BATCH_NORM && TRAINING) {
                set_row(layer(l, HATS) + sample * layer(l, OUT_PITCH) + column, x);
            } else {
                hand_on(here.record, l, sample, column, x, here.step);
            }
        }
    }
}
