//! The rule that decides which eigenvalues of a Laplacian count as equal because f64 cannot separate them. All solvers
//! use this rule.
//!
//! A Laplacian is `C'C` for its weighted incidence matrix C, so its eigenvalues are the squares of the singular values
//! of C. An algorithm in f64 computes these singular values with an error of a few eps times the largest singular
//! value. If clusters of a graph are weakly joined, some eigenvalues may be `1e-12` times the largest eigenvalue or
//! less. The square roots of such eigenvalues are far apart relative to the error of the singular values, even where
//! the eigenvalues differ by less than the rounding errors of the Laplacian itself (Demmel and Kahan 1990 give the
//! argument for bidiagonal matrices).

/// The tie tolerance. Two eigenvalues are tied if their square roots differ by at most this tolerance times the square
/// root of an upper bound on the eigenvalues.
///
/// If two eigenvalues are just far enough apart not to be tied, the error of their eigenvectors is a few eps divided by
/// this tolerance. This error is 1e-5 at the large end of the spectrum, and 1e-4 at worst.
pub(crate) const TIE: f64 = 1e-10;

/// Returns the tie tolerance for eigenpairs of a matrix of order `n` that are computed and returned in f64. The
/// eigenvalues of a group then differ by no more than the residual that is promised for an eigenpair, `10 n eps`.
#[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
pub(crate) fn fine_tie(n: usize) -> f64 {
    4.0 * n as f64 * f64::EPSILON
}

/// Returns whether two eigenvalues are tied, where `bound` is an upper bound on the magnitudes of all eigenvalues of
/// the same matrix. Returns false if either eigenvalue is NaN.
pub(crate) fn tied(a: f64, b: f64, bound: f64) -> bool {
    tied_within(TIE, a, b, bound)
}

fn tied_within(tolerance: f64, a: f64, b: f64, bound: f64) -> bool {
    (a.max(0.0).sqrt() - b.max(0.0).sqrt()).abs() <= tolerance * bound.max(0.0).sqrt() && !a.is_nan() && !b.is_nan()
}

/// Returns the index of the tie group of each eigenvalue. The groups are numbered from 0, and each group is a chain of
/// neighbors that are tied within `tolerance`. `values` are the eigenvalues and must be in ascending order. `bound` is
/// as in [`tied`]; if the eigenvalues are accurate relative to themselves, there is none, and the larger of two takes
/// its place. Each NaN is a separate group.
#[must_use]
pub(crate) fn tie_groups(values: &[f64], tolerance: f64, bound: Option<f64>) -> Vec<u32> {
    let mut group = 0;
    let mut groups = Vec::with_capacity(values.len());
    for (i, &value) in values.iter().enumerate() {
        if i > 0 {
            let bound = bound.unwrap_or(value);
            group += u32::from(!tied_within(tolerance, values[i - 1], value, bound));
        }
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{TIE, tied};

    fn tie_groups(values: &[f64], bound: f64) -> Vec<u32> {
        super::tie_groups(values, TIE, Some(bound))
    }

    #[test]
    fn accurate_values_are_compared_with_each_other() {
        let values = [1e-22, 2e-22, 2e-22 * (1.0 + 1e-11), 1.0, 1.0 + 1e-11];
        assert_eq!(super::tie_groups(&values, TIE, None), [0, 1, 1, 2, 2]);
        assert_eq!(super::tie_groups(&values, super::fine_tie(5), None), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn groups_are_chains_of_neighbors() {
        assert_eq!(tie_groups(&[], 1.0), [0_u32; 0]);
        assert_eq!(tie_groups(&[1.0], 1.0), [0]);
        // Near the bound, the rule allows a difference of 2e-10.
        let near = |x: f64| 1.0 + x * 1e-10;
        assert_eq!(tie_groups(&[0.0, 0.5, near(0.0), near(1.5), near(3.0), near(9.0)], 1.0), [0, 1, 2, 2, 2, 3]);
        assert_eq!(tie_groups(&[0.0, 0.0, f64::NAN, f64::NAN], 1.0), [0, 0, 1, 2]);
        assert_eq!(tie_groups(&[-1e-17, 0.0, 1e-3], 1.0), [0, 0, 1]);
    }

    /// Eigenvalues that result from edge weights of 1e-12 are not tied with each other or with 0. All eigenvalues below
    /// the square of the tolerance, which is 1e-20, are tied.
    #[test]
    fn small_values_are_told_apart_by_their_roots() {
        assert!(!tied(1e-12, 3e-12, 1.0) && !tied(0.0, 1e-18, 1.0));
        assert!(tied(1e-22, 9e-21, 1.0) && tied(0.0, 1e-21, 1.0));
        assert!(tied(0.0, 0.0, 0.0) && !tied(0.0, 1.0, 0.0));
    }
}
