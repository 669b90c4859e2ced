// Normalizes the results of a layer's linear map by the rows at hand, and what follows. Batch normalization sums over
// samples, layer normalization does not. The places are those of `normalize` in mlp/forward.wgsl.
//
// Iterations of an invocation: 64 + 13 ceil(n / 32), where n is the batch or the number of vectors of a sample.

override TRAINING: bool = true;

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let l = params.part;
    let columns = layer(l, OUTPUT_QUADS);
    let pitch = layer(l, OUT_PITCH);
    let hats = layer(l, HATS);
    var all = params.batch;
    if OVER_SAMPLES { all = columns; }
    let here = here_of(group.x, (all + SUMS_TOGETHER - 1u) / SUMS_TOGETHER);
    let own = strand_of();
    let which = here.unit * SUMS_TOGETHER + own.x;
    if OVER_SAMPLES {
        let end = select(0u, here.count, which < columns);
        var sum = vec4<f32>(0.0);
        for (var b = own.y; b < end; b += STRANDS) { sum += row(hats + b * pitch + which); }
        let mean = of_all(sum) / f32(here.count);
        sum = vec4<f32>(0.0);
        for (var b = own.y; b < end; b += STRANDS) {
            let off = row(hats + b * pitch + which) - mean;
            sum += off * off;
        }
        let variance = of_all(sum) / f32(here.count);
        let inverse = 1.0 / sqrt(variance + EPSILON);
        if own.y == 0u && which < columns {
            let sums = layer(l, SUMS) + which;
            set_row(sums + 2u * columns, mean);
            set_row(sums + 3u * columns, variance);
            set_row(sums + 4u * columns, inverse);
        }
        for (var b = own.y; b < end; b += STRANDS) {
            let at = hats + b * pitch + which;
            let hat = (row(at) - mean) * inverse;
            set_row(at, hat);
            hand_on(here.record, l, b, which, hat, here.step);
        }
    } else {
        let outputs = layer(l, OUTPUTS);
        let end = select(0u, columns, which < here.count);
        let first = hats + which * pitch;
        var sum = vec4<f32>(0.0);
        for (var column = own.y; column < end; column += STRANDS) { sum += row(first + column); }
        let mean = all_four(of_all(sum)) / f32(outputs);
        sum = vec4<f32>(0.0);
        for (var column = own.y; column < end; column += STRANDS) {
            let off = padded(row(first + column) - mean, column, outputs);
            sum += off * off;
        }
        let inverse = 1.0 / sqrt(all_four(of_all(sum)) / f32(outputs) + EPSILON);
        if own.y == 0u && which < here.count { set_row(first + columns, vec4<f32>(inverse)); }
        for (var column = own.y; column < end; column += STRANDS) {
            let hat = padded((row(first + column) - mean) * inverse, column, outputs);
            set_row(first + column, hat);
            hand_on(here.record, l, which, column, hat, here.step);
        }
    }
}
