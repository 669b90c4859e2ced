// Turns the derivatives by a normalization's results into those by its inputs. Over samples, it first sums up those by
// the gains and shifts, which layer normalization needs too.
//
// Iterations of an invocation: 64 + 2 ceil(n / 32), where n is the batch or the number of vectors of a sample.

const TRAINING: bool = true;

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let l = params.part;
    let columns = layer(l, OUTPUT_QUADS);
    let pitch = layer(l, OUT_PITCH);
    let hats = layer(l, HATS);
    let derivatives = layer(l, DERIVATIVES);
    var all = params.batch;
    if OVER_SAMPLES { all = columns; }
    let here = here_of(group.x, (all + SUMS_TOGETHER - 1u) / SUMS_TOGETHER);
    let own = strand_of();
    let which = here.unit * SUMS_TOGETHER + own.x;
    var sum = vec4<f32>(0.0);
    var products = vec4<f32>(0.0);
    if OVER_SAMPLES {
        let end = select(0u, here.count, which < columns);
        for (var b = own.y; b < end; b += STRANDS) {
            let d = row(derivatives + b * pitch + which);
            sum += d;
            products += d * row(hats + b * pitch + which);
        }
        sum = of_all(sum);
        products = of_all(products);
        let sums = layer(l, SUMS) + which;
        if own.y == 0u && which < columns {
            set_row(sums, products);
            set_row(sums + columns, sum);
        }
        if layer(l, NORM) == BATCH_NORM && which < columns {
            let factor = weight(layer(l, GAIN) + which) * row(sums + 4u * columns);
            for (var b = own.y; b < end; b += STRANDS) {
                let at = b * pitch + which;
                let off = row(derivatives + at) - (sum + row(hats + at) * products) / f32(here.count);
                set_row(derivatives + at, factor * off);
            }
        }
    } else {
        let outputs = layer(l, OUTPUTS);
        let end = select(0u, columns, which < here.count);
        for (var column = own.y; column < end; column += STRANDS) {
            let d = weight(layer(l, GAIN) + column) * row(derivatives + which * pitch + column);
            sum += d;
            products += d * row(hats + which * pitch + column);
        }
        let mean = all_four(of_all(sum)) / f32(outputs);
        let slope = all_four(of_all(products)) / f32(outputs);
        for (var column = own.y; column < end; column += STRANDS) {
            let at = which * pitch + column;
            let d = weight(layer(l, GAIN) + column) * row(derivatives + at);
            let off = padded(d - mean - row(hats + at) * slope, column, outputs);
            set_row(derivatives + at, row(hats + which * pitch + columns) * off);
        }
    }
}
