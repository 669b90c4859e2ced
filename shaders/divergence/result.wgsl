// The divergence from the sum of its terms. Needs divergence/scaled.wgsl.

// Returns the bits of the divergence of a sum: it is divided by the total of p and by what smoothing added to that;
// `root` asks for its square root. The factor accounts for the base and the sum's unit. It is applied after the root,
// and is then a root itself, so that the root of a tiny sum is right.
fn result_of(sum: u32, total: u32, factor: f32, spread: f32, root: u32) -> u32 {
    if !finite(sum) { return sum; }
    let value = max(0.0, bitcast<f32>(sum) / (bitcast<f32>(total) * spread));
    return bitcast<u32>(select(value, sqrt(value), root != 0u) * factor);
}

// Returns the bits of a sum after an addition; NaN and infinity stay.
fn added(before: u32, sum: f32, infinite: bool) -> u32 {
    if !finite(before) { return before; }
    return select(bitcast<u32>(bitcast<f32>(before) + sum), INFINITY, infinite);
}
