// The outputs of a network for the rows of a batch.

// Returns `start` plus vector `column` of the product of a row of the batch and a block of parameters. If `along`, the
// elements of the result belong to rows of the block, otherwise to columns.
fn product(left: u32, inner: u32, block: u32, pitch: u32, column: u32, along: bool, start: vec4<f32>) -> vec4<f32> {
    var sum = start;
    if along {
        var at = block + 4u * column * pitch;
        for (var k = 0u; k < inner; k += 1u) {
            let a = row(left + k);
            let two = vec2<f32>(dot(a, weight(at)), dot(a, weight(at + pitch)));
            sum += vec4<f32>(two, dot(a, weight(at + 2u * pitch)), dot(a, weight(at + 3u * pitch)));
            at += 1u;
        }
    } else {
        var at = block + column;
        for (var k = 0u; k < inner; k += 1u) {
            let a = row(left + k);
            sum += a.x * weight(at);
            sum += a.y * weight(at + pitch);
            sum += a.z * weight(at + 2u * pitch);
            sum += a.w * weight(at + 3u * pitch);
            at += 4u * pitch;
        }
    }
    return sum;
}

// Computes the outputs.
fn forward(record: u32, count: u32, step: vec2<u32>) {
    for (var l = 0u; l < params.layers; l += 1u) {
        let columns = layer(l, OUTPUT_QUADS);
        let pitch = layer(l, OUT_PITCH);
        let norm = layer(l, NORM);
        // Layers that normalize by the batch at hand apply their activation after a second pass.
        let passes = select(1u, 2u, norm == LAYER_NORM || (norm == BATCH_NORM && TRAINING));
        for (var turn = 1u; turn <= passes; turn += 1u) {
            for (var item = lane; item < count * columns; item += WIDTH) {
                let sample = item % count;
                let column = item / count;
                let at = sample * pitch + column;
                var x: vec4<f32>;
                if turn == 1u {
                    let left = layer(l, IN_ROWS) + sample * layer(l, IN_PITCH);
                    let inner = layer(l, INPUT_QUADS);
                    let start = parameter(layer(l, BIAS) + column);
                    let along = layer(l, BY_OUTPUT) == 1u;
                    x = product(left, inner, layer(l, WEIGHTS), layer(l, WEIGHT_PITCH), column, along, start);
                    if !TRAINING {
                        if norm == BATCH_NORM {
                            let running = weights_at + layer(l, RUNNING) + column;
                            x = (x - weights[running]) / sqrt(weights[running + columns] + EPSILON);
                        }
                    }
                } else {
                    x = exact(layer(l, HATS) + at);
                }
                if turn < passes {
                    set_exact(layer(l, HATS) + at, x);
                } else {
                    hand_on(record, l, sample, column, x, step);
                }
            }
            rows_written();
            if turn < passes {
                if norm == LAYER_NORM { normalize_samples(l, count); }
                if TRAINING {
                    if norm == BATCH_NORM { normalize_columns(l, count); }
                }
                rows_written();
            }
        }
    }
}

// Normalize the results of a layer's linear map, over the samples of a batch or over the outputs of a sample. The sums
// of a layer keep the derivatives by gains and shifts, and, of batch normalization, the means, the variances and
// 1 / sqrt(variance + epsilon). Layer normalization keeps the latter behind each row of normalized elements.

fn normalize_columns(l: u32, count: u32) {
    let columns = layer(l, OUTPUT_QUADS);
    let pitch = layer(l, OUT_PITCH);
    let hats = layer(l, HATS);
    for (var column = lane; column < columns; column += WIDTH) {
        var mean = vec4<f32>(0.0);
        for (var b = 0u; b < count; b += 1u) { mean += exact(hats + b * pitch + column); }
        mean /= f32(count);
        var variance = vec4<f32>(0.0);
        for (var b = 0u; b < count; b += 1u) {
            let off = exact(hats + b * pitch + column) - mean;
            variance += off * off;
        }
        variance /= f32(count);
        let inverse = 1.0 / sqrt(variance + EPSILON);
        let sums = layer(l, SUMS) + column;
        set_exact(sums + 2u * columns, mean);
        set_exact(sums + 3u * columns, variance);
        set_exact(sums + 4u * columns, inverse);
        for (var b = 0u; b < count; b += 1u) {
            let at = hats + b * pitch + column;
            set_exact(at, (exact(at) - mean) * inverse);
        }
    }
}

fn normalize_samples(l: u32, count: u32) {
    let columns = layer(l, OUTPUT_QUADS);
    let pitch = layer(l, OUT_PITCH);
    let hats = layer(l, HATS);
    let outputs = layer(l, OUTPUTS);
    for (var b = lane; b < count; b += WIDTH) {
        let first = hats + b * pitch;
        var sum = vec4<f32>(0.0);
        for (var column = 0u; column < columns; column += 1u) { sum += exact(first + column); }
        let mean = (sum.x + sum.y + sum.z + sum.w) / f32(outputs);
        sum = vec4<f32>(0.0);
        for (var column = 0u; column < columns; column += 1u) {
            let off = padded(exact(first + column) - mean, column, outputs);
            sum += off * off;
        }
        let inverse = 1.0 / sqrt((sum.x + sum.y + sum.z + sum.w) / f32(outputs) + EPSILON);
        set_exact(first + columns, vec4<f32>(inverse));
        for (var column = 0u; column < columns; column += 1u) {
            set_exact(first + column, padded((exact(first + column) - mean) * inverse, column, outputs));
        }
    }
}
