// The derivatives of a batch's loss by the results of every layer's linear map.

fn backward(record: u32, count: u32, step: vec2<u32>) {
    for (var l = params.layers - 1u; l > 0u; l -= 1u) {
        let below = l - 1u;
        let columns = layer(l, INPUT_QUADS);
        for (var item = lane; item < count * columns; item += WIDTH) {
            let sample = item % count;
            let column = item / count;
            let left = layer(l, DERIVATIVES) + sample * layer(l, OUT_PITCH);
            let inner_quads = layer(l, OUTPUT_QUADS);
            let along = layer(l, BY_OUTPUT) == 0u;
            let zero = vec4<f32>(0.0);
            let d = product(left, inner_quads, layer(l, WEIGHTS), layer(l, WEIGHT_PITCH), column, along, zero);
            hand_back(record, below, sample, column, d, step);
        }
        rows_written();
        if layer(below, NORM) != NO_NORM { denormalize(below, count); }
    }
}

// Turns the derivatives by a normalization's results into those by its inputs, and sums up those by its gains and
// shifts.
fn denormalize(l: u32, count: u32) {
    let columns = layer(l, OUTPUT_QUADS);
    let pitch = layer(l, OUT_PITCH);
    let hats = layer(l, HATS);
    let derivatives = layer(l, DERIVATIVES);
    for (var column = lane; column < columns; column += WIDTH) {
        var sum = vec4<f32>(0.0);
        var products = vec4<f32>(0.0);
        for (var b = 0u; b < count; b += 1u) {
            let d = row(derivatives + b * pitch + column);
            sum += d;
            products += d * exact(hats + b * pitch + column);
        }
        let sums = layer(l, SUMS) + column;
        set_exact(sums, products);
        set_exact(sums + columns, sum);
        if layer(l, NORM) == BATCH_NORM {
            let factor = parameter(layer(l, GAIN) + column) * exact(sums + 4u * columns);
            for (var b = 0u; b < count; b += 1u) {
                let at = b * pitch + column;
                let off = row(derivatives + at) - (sum + exact(hats + at) * products) / f32(count);
                set_row(derivatives + at, factor * off);
            }
        }
    }
    rows_written();
    if layer(l, NORM) == LAYER_NORM {
        let outputs = f32(layer(l, OUTPUTS));
        for (var b = lane; b < count; b += WIDTH) {
            var sum = vec4<f32>(0.0);
            var products = vec4<f32>(0.0);
            for (var column = 0u; column < columns; column += 1u) {
                let d = parameter(layer(l, GAIN) + column) * row(derivatives + b * pitch + column);
                sum += d;
                products += d * exact(hats + b * pitch + column);
            }
            let mean = (sum.x + sum.y + sum.z + sum.w) / outputs;
            let slope = (products.x + products.y + products.z + products.w) / outputs;
            let inverse = exact(hats + b * pitch + columns);
            for (var column = 0u; column < columns; column += 1u) {
                let at = b * pitch + column;
                let d = parameter(layer(l, GAIN) + column) * row(derivatives + at);
                let off = padded(d - mean - exact(hats + at) * slope, column, layer(l, OUTPUTS));
                set_row(derivatives + at, inverse * off);
            }
        }
        rows_written();
    }
}
