// The derivatives of the losses by the inputs of the activation in front of a layer. RIGHT_ALONG says that the rows of
// the weights are inputs.
//
// Iterations of an invocation: 5 ceil(outputs / 16) + 44.

const TRAINING: bool = true;

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;

fn left_vector(at: u32) -> vec4<f32> { return row(at); }
fn right_vector(at: u32) -> vec4<f32> { return weight(at); }

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let l = params.part;
    let outputs = layer(l, OUTPUTS);
    let inputs = layer(l - 1u, OUTPUTS);
    let columns = layer(l, INPUT_QUADS);
    let across = tiles(inputs);
    let here = here_of(group.x, tiles(params.batch) * across);
    let top = here.unit / across * TILE;
    let start = here.unit % across * TILE;
    let a = Factor(layer(l, DERIVATIVES), layer(l, OUT_PITCH), here.count, layer(l, OUTPUT_QUADS));
    let by_input = Factor(layer(l, WEIGHTS), layer(l, WEIGHT_PITCH), inputs, layer(l, OUTPUT_QUADS));
    let by_output = Factor(layer(l, WEIGHTS), layer(l, WEIGHT_PITCH), outputs, columns);
    var b = by_output;
    if RIGHT_ALONG { b = by_input; }
    let sums = sums_of(a, b, top, start, outputs);
    let column = start / 4u + lane % TILE_QUADS;
    for (var i = 0u; i < 4u; i += 1u) {
        let sample = top + 4u * (lane / TILE_QUADS) + i;
        if sample < here.count && column < columns {
            hand_back(here.record, l - 1u, sample, column, row_of(sums, i), here.step);
        }
    }
}
