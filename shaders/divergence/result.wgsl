// Computes a divergence from the sum of its terms. Needs divergence/scaled.wgsl.

// Returns the bits of the divergence for a sum of terms. The sum is divided by the total of p and by `spread`, the
// factor by which smoothing enlarges this total. If `root` is 1, the square root is taken. The result is multiplied by
// `factor`, which accounts for the base of logarithms and the unit of the sum. If `root` is 1, `factor` is the square
// root of this correction. `factor` is applied last, so that the square root of a tiny sum is accurate.
fn result_of(sum: u32, total: u32, factor: f32, spread: f32, root: u32) -> u32 {
    if !finite(sum) { return sum; }
    let value = max(0.0, bitcast<f32>(sum) / (bitcast<f32>(total) * spread));
    return bitcast<u32>(select(value, sqrt(value), root != 0u) * factor);
}

// Returns the bits of `before` + `sum`. The result is `before` if `before` is NaN or infinity, and otherwise infinity
// if `infinite`.
fn added(before: u32, sum: f32, infinite: bool) -> u32 {
    if !finite(before) { return before; }
    return select(bitcast<u32>(bitcast<f32>(before) + sum), INFINITY, infinite);
}
