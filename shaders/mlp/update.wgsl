// Penalties, clipping, and the optimizer's update of every parameter (src/ops/mlp/cpu/update.rs).

var<workgroup> squares: array<vec4<f32>, (WIDTH + 3) / 4>;

// Returns the gradient of a vector of parameters, with the derivative of the L1 term.
fn gradient(block: u32, i: u32, column: u32, count: u32, old: vec4<f32>, l1: f32) -> vec4<f32> {
    let kind = block_word(block, KIND);
    let right = block_word(block, RIGHT) + column;
    let right_pitch = block_word(block, RIGHT_PITCH);
    var sum = vec4<f32>(0.0);
    if kind == MATRIX {
        let left = block_word(block, LEFT);
        let left_pitch = block_word(block, LEFT_PITCH);
        for (var b = 0u; b < count; b += 1u) {
            sum += number(left + b * left_pitch, i) * row(right + b * right_pitch);
        }
    } else {
        if kind == ROW {
            for (var b = 0u; b < count; b += 1u) { sum += row(right + b * right_pitch); }
        } else {
            sum = exact(right);
        }
    }
    return penalized(unscale * sum, old, l1);
}

// Returns the factor that shortens the gradient of all parameters to the length `clip`.
fn clipping(count: u32, l1: f32, clip: f32) -> f32 {
    var sum = 0.0;
    for (var block = 0u; block < params.blocks; block += 1u) {
        let columns = (block_word(block, BLOCK_COLS) + 3u) / 4u;
        let place = block_word(block, PLACE);
        for (var item = lane; item < block_word(block, BLOCK_ROWS) * columns; item += WIDTH) {
            let i = item / columns;
            let column = item % columns;
            let old = parameter(place + i * block_word(block, BLOCK_PITCH) + column);
            let g = gradient(block, i, column, count, old, l1);
            sum += dot(g, g);
        }
    }
    squares[lane / 4u][lane % 4u] = sum;
    workgroupBarrier();
    var sums = vec4<f32>(0.0);
    for (var i = 0u; i < WIDTH / 4u; i += 1u) { sums += squares[i]; }
    return min(1.0, clip / (sqrt((sums.x + sums.y) + (sums.z + sums.w)) + 1e-6));
}

// Changes all parameters by one step.
fn update(record: u32, t: u32, count: u32) {
    parameters_read();
    let kind = plan[record + UPDATE];
    let l1 = bitcast<f32>(plan[record + PENALTY]);
    let clip = bitcast<f32>(plan[record + CLIP]);
    let rates = plan[record + RATES] + 8u * t;
    var a = vec4<f32>(rate(rates), rate(rates + 1u), rate(rates + 2u), rate(rates + 3u));
    var b = vec4<f32>(rate(rates + 4u), rate(rates + 5u), rate(rates + 6u), rate(rates + 7u));
    if F16 {
        let corrected = correction(record, t);
        switch kind {
            case ADAM: {
                a.x *= corrected.x;
                b.x = corrected.y;
            }
            case MOMENTUM, NESTEROV: { a.w = corrected.x; }
            default: {}
        }
    }
    var shorten = 1.0;
    if plan[record + CLIPS] == 1u { shorten = clipping(count, l1, clip); }
    for (var block = 0u; block < params.blocks; block += 1u) {
        let columns = (block_word(block, BLOCK_COLS) + 3u) / 4u;
        let place = block_word(block, PLACE);
        for (var item = lane; item < block_word(block, BLOCK_ROWS) * columns; item += WIDTH) {
            let i = item / columns;
            let column = item % columns;
            let at = place + i * block_word(block, BLOCK_PITCH) + column;
            let old = parameter(at);
            let g = shorten * gradient(block, i, column, count, old, l1);
            var xi = vec4<f32>(0.0);
            if kind >= SGLD { xi = noise_of(block, i, column); }
            let next = moved(record, kind, a, b, at, old, g, xi);
            set_parameter(at, next, block_word(block, KIND) == MATRIX);
        }
    }
    for (var l = 0u; l < params.layers; l += 1u) {
        if layer(l, NORM) == BATCH_NORM {
            let columns = layer(l, OUTPUT_QUADS);
            for (var column = lane; column < columns; column += WIDTH) { follow(l, column, count); }
        }
    }
    storageBarrier();
    workgroupBarrier();
}
