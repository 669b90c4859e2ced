// The outputs of runs for given samples. A workgroup computes those of one run for one batch of samples.
//
// Loop iterations: those of the forward pass of one step.

const TRAINING: bool = false;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> plan: array<u32>;
@group(0) @binding(2) var<storage, read> lists: array<u32>;
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> scratch: array<vec4<u32>>;
// Vectors of outputs, samples of a run after one another.
@group(0) @binding(6) var<storage, read_write> outputs: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let chunks = (params.samples + params.batch - 1u) / params.batch;
    let unit = params.first + group.x;
    let place = unit / chunks;
    let record = params.records_at + place * RECORD_WORDS;
    let first = unit % chunks * params.batch;
    let count = min(params.batch, params.samples - first);
    weights_at = plan[record + RUN] * params.stride;
    scratch_at = group.x * params.scratch;
    // They are in workgroup memory only if the rows are, so that the barrier after the rows suffices.
    load_parameters();
    let list = plan[record + LIST] + first;
    let columns = layer(0u, INPUT_QUADS);
    let scaling = plan[record + SCALING];
    for (var item = lane; item < count * columns; item += WIDTH) {
        let sample = item / columns;
        let column = item % columns;
        var value = x[lists[list + sample] * columns + column];
        if scaling != NONE { value = (value - x[scaling + column]) * x[scaling + columns + column]; }
        set_row(layer(0u, IN_ROWS) + sample * layer(0u, IN_PITCH) + column, value);
    }
    rows_written();
    forward(record, count, vec2<u32>(0u));
    let last = params.layers - 1u;
    let width = layer(last, OUTPUT_QUADS);
    for (var item = lane; item < count * width; item += WIDTH) {
        let sample = item / width;
        let column = item % width;
        let at = layer(last, DERIVATIVES) + sample * layer(last, OUT_PITCH) + column;
        outputs[(place * params.samples + first + sample) * width + column] = row(at);
    }
}
