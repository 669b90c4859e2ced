//! The phases of complex vectors: of each, the entry of largest magnitude is made real and positive.

use num_complex::Complex;

/// Of entries whose squared magnitudes differ by less than this share, as all of those of a discrete Fourier transform
/// do up to rounding, the first counts as the largest.
const TIED: f64 = 1e-3;

/// Returns the index of the entry of largest magnitude.
pub(super) fn leader(entries: impl Iterator<Item = Complex<f64>> + Clone) -> usize {
    let most = entries.clone().map(|x| x.norm_sqr()).fold(0.0, f64::max);
    entries.into_iter().position(|x| x.norm_sqr() >= most * (1.0 - TIED)).unwrap_or(0)
}

/// Returns the entry of largest magnitude, divided by its magnitude; 1 for a vector of zeros.
pub(super) fn leading_phase(entries: impl Iterator<Item = Complex<f64>> + Clone) -> Complex<f64> {
    let leading = entries.clone().nth(leader(entries)).unwrap_or_default();
    let length = leading.norm_sqr().sqrt();
    if length > 0.0 { leading / length } else { Complex::from(1.0) }
}
