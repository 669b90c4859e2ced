// A divergence out of the sum of its terms. Needs divergence/scaled.wgsl.

// The bits of what a sum means: by the total of p and what smoothing added to it, its root where asked for, times a factor: of
// the base and of the sum's unit, which is a root's as well, so that a root of next to nothing is right.
fn result_of(sum: u32, total: u32, factor: f32, spread: f32, root: u32) -> u32 {
    if !finite(sum) { return sum; }
    let value = max(0.0, bitcast<f32>(sum) / (bitcast<f32>(total) * spread));
    return bitcast<u32>(select(value, sqrt(value), root != 0u) * factor);
}

// The bits of a sum that goes on: no number and infinity stay.
fn added(before: u32, sum: f32, infinite: bool) -> u32 {
    if !finite(before) { return before; }
    return select(bitcast<u32>(bitcast<f32>(before) + sum), INFINITY, infinite);
}
