// Changes parameters by a step, or keeps their gradient until its length is known.

@group(0) @binding(5) var<storage, read_write> weights: array<vec4<f32>>;

// Returns whether a run goes on: a loss that is not finite ends it before the step.
fn goes_on(record: u32) -> bool { return found[found_at(record)].y == 0u; }

// Changes a vector of parameters, given its gradient.
fn change(record: u32, block: u32, i: u32, column: u32, g: vec4<f32>) {
    let kind = plan[record + UPDATE];
    let rates = plan[record + RATES] + 8u * params.turn;
    let a = vec4<f32>(rate(rates), rate(rates + 1u), rate(rates + 2u), rate(rates + 3u));
    let b = vec4<f32>(rate(rates + 4u), rate(rates + 5u), rate(rates + 6u), rate(rates + 7u));
    let at = block_word(block, PLACE) + i * block_word(block, BLOCK_PITCH) + column;
    var xi = vec4<f32>(0.0);
    if kind >= SGLD { xi = noise_of(block, i, column); }
    weights[weights_at + at] = moved(record, kind, a, b, at, weight(at), g, xi);
}

// Takes a gradient without its penalty: changes the parameters, or keeps the gradient if the run is clipped. Both are
// decided by the run alone, so that its bits are.
fn take_gradient(record: u32, block: u32, i: u32, column: u32, sum: vec4<f32>) {
    let at = block_word(block, PLACE) + i * block_word(block, BLOCK_PITCH) + column;
    let g = penalized(sum, weight(at), bitcast<f32>(plan[record + PENALTY]));
    if plan[record + CLIPS] == 1u {
        scratch[scratch_at + params.gradients_at + at] = bitcast<vec4<u32>>(g);
    } else {
        change(record, block, i, column, g);
    }
}
