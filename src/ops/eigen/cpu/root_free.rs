//! The eigenvalues of one symmetric tridiagonal matrix by the QL iteration without square roots (Pal, Walker and Kahan;
//! Parlett, The Symmetric Eigenvalue Problem, 8.15; LAPACK's xSTERF).
//!
//! Each step waits for the step before it, for about 30 cycles, in which the iteration with rotations takes 80: the
//! reciprocals of the two numbers that a step divides by are computed side by side.

/// The average number of sweeps allowed for each eigenvalue, as in LAPACK. About 1.7 are needed.
const SWEEPS: usize = 30;
/// Squares below this bound are taken for 0, so that no quotient of squares overflows.
const TINY: f64 = 1e-290;

/// Returns the eigenvalues in ascending order; `None` if the iteration did not converge. The matrix is scaled so that
/// its elements are near 1. The off-diagonal elements are followed by a 0.
pub(super) fn eigenvalues(diagonal: &[f64], off_diagonal: &[f64]) -> Option<Vec<f64>> {
    let n = diagonal.len();
    let mut d = diagonal.to_vec();
    let mut squares: Vec<f64> = off_diagonal.iter().map(|e| e * e).collect();
    // Smaller elements are set to 0, which changes the matrix by at most eps times its norm in total.
    let norm = d.iter().zip(off_diagonal).fold(0.0, |most: f64, (d, e)| most.max(d.abs() + e.abs()));
    let negligible = (0.5 * f64::EPSILON * norm).powi(2);
    let (mut left, mut first) = (SWEEPS * n, 0);
    while first + 1 < n {
        let Some(last) = (first..n).find(|&i| i + 1 == n || squares[i] <= negligible) else { break };
        match last - first {
            0 => first += 1,
            1 => {
                let (middle, half) = (d[first].midpoint(d[last]), (d[first] - d[last]) / 2.0);
                let root = half.mul_add(half, squares[first]).sqrt();
                (d[first], d[last]) = (middle - root, middle + root);
                first += 2;
            }
            _ => {
                left = left.checked_sub(1)?;
                sweep(&mut d[first..=last], &mut squares[first..=last]);
            }
        }
    }
    d.sort_unstable_by(f64::total_cmp);
    d.iter().all(|x| x.is_finite()).then_some(d)
}

/// Does one sweep with Wilkinson's shift on a block without negligible off-diagonal elements.
fn sweep(d: &mut [f64], squares: &mut [f64]) {
    let root = squares[0].sqrt();
    let half = (d[1] - d[0]) / (2.0 * root);
    let shift = d[0] - root / (half + half.mul_add(half, 1.0).sqrt().copysign(half));
    let last = d.len() - 1;
    let mut gamma = d[last] - shift;
    let (mut c, mut s, mut p) = (1.0, 0.0, gamma * gamma);
    for i in (0..last).rev() {
        let (square, alpha) = (squares[i], d[i]);
        let r = p + square;
        // The last of them stays 0 or negligible.
        if i + 1 < last {
            squares[i + 1] = s * r;
        }
        let (inverse, ratio) = (1.0 / r, r / p);
        let next = (p * (alpha - shift) - square * gamma) * inverse;
        d[i + 1] = gamma + (alpha - next);
        let before = std::mem::replace(&mut c, p * inverse);
        s = square * inverse;
        p = if p > TINY { next * next * ratio } else { before * square };
        gamma = next;
    }
    squares[0] = s * p;
    d[0] = shift + gamma;
}

#[cfg(test)]
mod tests {
    use super::eigenvalues;

    /// The second difference with Dirichlet ends has the eigenvalues `2 - 2 cos(pi j / (n + 1))`.
    #[test]
    fn closed_forms() {
        for n in [1, 2, 3, 4, 17, 100, 500] {
            let mut off = vec![-1.0; n];
            off[n - 1] = 0.0;
            let found = eigenvalues(&vec![2.0; n], &off).unwrap();
            for (j, x) in found.iter().enumerate() {
                let wanted = 2.0 - 2.0 * (std::f64::consts::PI * (j + 1) as f64 / (n + 1) as f64).cos();
                assert!((x - wanted).abs() < 4e-16 * 4.0 * (n as f64).sqrt(), "{n} {j}: {x} {wanted}");
            }
        }
        // Wilkinson's matrix, whose largest eigenvalues are 7e-14 apart; blocks; zeros; a zero pivot.
        let wilkinson: Vec<f64> = (-10..=10).map(|i: i32| f64::from(i.abs())).collect();
        let mut off = vec![1.0; 21];
        off[20] = 0.0;
        let found = eigenvalues(&wilkinson, &off).unwrap();
        assert!((found[20] - 10.746_194_182_903_393).abs() < 1e-13 && found[20] - found[19] < 1e-12, "{found:?}");
        assert_eq!(eigenvalues(&[3.0, 1.0, 2.0], &[0.0; 3]).unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(eigenvalues(&[0.0; 5], &[0.0; 5]).unwrap(), [0.0; 5]);
        let found = eigenvalues(&[0.0; 4], &[1.0, 0.0, 1.0, 0.0]).unwrap();
        assert_eq!(found, [-1.0, -1.0, 1.0, 1.0]);
        assert!(eigenvalues(&[f64::NAN; 4], &[1.0, 1.0, 1.0, 0.0]).is_none());
    }
}
