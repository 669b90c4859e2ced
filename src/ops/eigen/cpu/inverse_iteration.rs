//! Computes some eigenvectors of a symmetric tridiagonal matrix by inverse iteration (LAPACK's xSTEIN), in f64.
//!
//! Every vector is made orthogonal to all vectors before it, which is cheap because few vectors are wanted. Each vector
//! is checked. If its residual is too large, or if orthogonalization reduces it to 0, the caller uses a method that
//! does not depend on gaps between eigenvalues.

use crate::ops::twisted::Tridiagonal;

/// The maximum number of linear systems solved for one vector. Two are typical.
const SOLVES: usize = 6;

/// Returns unit eigenvectors for the eigenvalues `values`, one eigenvector after the other. `values` must be in
/// ascending order. Returns `None` if the residual of any vector stays above `tolerance |T|`.
pub(super) fn eigenvectors(t: Tridiagonal<'_>, values: &[f64], tolerance: f64) -> Option<Vec<f64>> {
    let n = t.diagonal.len();
    let norm = t.norm();
    let mut vectors: Vec<f64> = Vec::with_capacity(n * values.len());
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut shift = f64::NEG_INFINITY;
    for &value in values {
        // Nearly equal eigenvalues get different shifts, so that their linear systems favor different directions.
        shift = if value - shift < 10.0 * f64::EPSILON * norm { shift + 10.0 * f64::EPSILON * norm } else { value };
        let factors = Factors::new(t, shift, f64::EPSILON * norm);
        let mut x: Vec<f64> = (0..n).map(|_| noise.next()).collect();
        let mut found = false;
        for _ in 0..SOLVES {
            factors.solve(&mut x);
            normalize(&mut x)?;
            // Orthogonalizing twice is enough (Parlett, after Kahan).
            for _ in 0..2 {
                for before in vectors.chunks_exact(n) {
                    let along: f64 = before.iter().zip(&x).map(|(a, b)| a * b).sum();
                    x.iter_mut().zip(before).for_each(|(x, a)| *x -= along * a);
                }
                normalize(&mut x)?;
            }
            found = t.residual(value, &x) <= tolerance * norm;
            if found {
                break;
            }
        }
        if !found {
            return None;
        }
        vectors.extend(&x);
    }
    Some(vectors)
}

/// Scales `x` to unit 2-norm; returns `None` if `x` is 0 or not finite.
fn normalize(x: &mut [f64]) -> Option<()> {
    let largest = x.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    x.iter_mut().for_each(|y| *y /= largest);
    let norm = x.iter().map(|y| y * y).sum::<f64>().sqrt();
    x.iter_mut().for_each(|y| *y /= norm);
    Some(())
}

/// The factorization `T - s I = P L U` with partial pivoting (LAPACK's xGTTRF), where s is the shift.
struct Factors {
    /// The multipliers of the elimination, which form L.
    lower: Vec<f64>,
    /// The reciprocals of the pivots, which are the diagonal of U.
    inverse: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    swapped: Vec<bool>,
}

impl Factors {
    /// Factorizes `T - shift I`. The shift is close to an eigenvalue, so a pivot may be close to 0. A pivot whose
    /// magnitude is below `tiny` is replaced by `tiny` with the same sign.
    fn new(t: Tridiagonal<'_>, shift: f64, tiny: f64) -> Self {
        let n = t.diagonal.len();
        let mut f = Self {
            lower: vec![0.0; n],
            inverse: vec![0.0; n],
            first: vec![0.0; n],
            second: vec![0.0; n],
            swapped: vec![false; n],
        };
        let tiny = tiny.max(f64::MIN_POSITIVE / f64::EPSILON);
        let pivot = |x: f64| if x.abs() < tiny { tiny.copysign(x) } else { x };
        let (mut diagonal, mut off) = (t.diagonal[0] - shift, if n > 1 { t.off_diagonal[0] } else { 0.0 });
        for i in 0..n.saturating_sub(1) {
            let below = t.off_diagonal[i];
            let (next, next_off) = (t.diagonal[i + 1] - shift, if i + 2 < n { t.off_diagonal[i + 1] } else { 0.0 });
            f.swapped[i] = below.abs() > diagonal.abs();
            if f.swapped[i] {
                f.inverse[i] = 1.0 / below;
                f.lower[i] = diagonal / below;
                (f.first[i], f.second[i]) = (next, next_off);
                diagonal = off - f.lower[i] * next;
                off = -f.lower[i] * next_off;
            } else {
                let own = pivot(diagonal);
                f.inverse[i] = 1.0 / own;
                f.lower[i] = below / own;
                f.first[i] = off;
                diagonal = next - f.lower[i] * off;
                off = next_off;
            }
        }
        f.inverse[n - 1] = 1.0 / pivot(diagonal);
        f
    }

    fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        for i in 0..n - 1 {
            if self.swapped[i] {
                x.swap(i, i + 1);
            }
            x[i + 1] -= self.lower[i] * x[i];
        }
        for i in (0..n).rev() {
            let one = if i + 1 < n { self.first[i] * x[i + 1] } else { 0.0 };
            let two = if i + 2 < n { self.second[i] * x[i + 2] } else { 0.0 };
            x[i] = (x[i] - one - two) * self.inverse[i];
        }
    }
}

/// A generator of numbers in (-1, 1), which are the same in every run (Marsaglia's xorshift).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let x = (self.0 >> 11) as f64;
        x / (1_u64 << 52) as f64 - 1.0
    }
}
