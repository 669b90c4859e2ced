//! Canonical phases and bases of complex eigenvectors: the rules of `encode::canonical`, with phases in place of signs.
//!
//! The phase of an eigenvector is arbitrary, and so is the unitary basis of the eigenspace of a repeated eigenvalue.
//! The basis of a tie group is the pivoted Cholesky factor of the group's projector `P = V V*`. The pivot is the row
//! with the largest remaining diagonal entry and, among rows whose norms are equal within 1 %, the lowest. The pivot's
//! entry is real and positive in its own column, and 0 in the columns after it.

use crate::encode::canonical::TIE;
use num_complex::Complex;

type C = Complex<f64>;

/// Replaces the first `wanted` columns of `group` by the first `wanted` vectors of the canonical basis of the space
/// that all columns span. The other columns become arbitrary. `group` is column-major with `n` rows, and its columns
/// must be orthonormal up to rounding. If an entry is not finite, `group` is unchanged.
pub(super) fn canonical_basis(group: &mut [C], n: usize, wanted: usize) {
    if n == 0 || !group.iter().all(|x| x.is_finite()) {
        return;
    }
    for first in 0..wanted.min(group.len() / n) {
        let rest = &mut group[first * n..];
        let Some(pivot) = pivot_row(rest, n) else { break };
        reflect(rest, n, pivot);
    }
    for column in group.chunks_exact_mut(n) {
        let norm = column.iter().map(C::norm_sqr).sum::<f64>().sqrt();
        if norm > 0.0 {
            column.iter_mut().for_each(|x| *x /= norm);
        }
    }
}

/// Returns the lowest row whose norm over these columns is the largest within [`TIE`], or `None` if all rows are zero.
fn pivot_row(columns: &[C], n: usize) -> Option<usize> {
    let mut squares = vec![0.0; n];
    for column in columns.chunks_exact(n) {
        squares.iter_mut().zip(column).for_each(|(s, x)| *s += x.norm_sqr());
    }
    let largest = squares.iter().copied().fold(0.0, f64::max);
    let enough = (1.0 - TIE) * (1.0 - TIE) * largest;
    squares.iter().position(|&s| s > 0.0 && s >= enough)
}

/// Combines the columns so that the row `pivot` becomes `(r, 0, ..., 0)` with `r > 0`.
///
/// With c, the conjugate of the row, the first column becomes `V c / r`, which is column `pivot` of the projector,
/// scaled. The Householder reflection that takes c to a multiple of the first unit vector does this up to a phase.
fn reflect(columns: &mut [C], n: usize, pivot: usize) {
    let mut w: Vec<C> = columns.chunks_exact(n).map(|column| column[pivot].conj()).collect();
    let r = w.iter().map(C::norm_sqr).sum::<f64>().sqrt();
    let size = w[0].norm();
    let phase = if size > 0.0 { w[0] / size } else { 1.0.into() };
    // The reflection takes c to `-phase r e_1`, so that nothing cancels in w.
    w[0] += phase * r;
    let square: f64 = w.iter().map(C::norm_sqr).sum();
    for i in 0..n {
        let row = columns[i..].iter().step_by(n);
        let along = row.zip(&w).map(|(a, b)| a * b).sum::<C>() * (2.0 / square);
        let row = columns[i..].iter_mut().step_by(n);
        row.zip(&w).for_each(|(a, b)| *a -= along * b.conj());
    }
    columns[..n].iter_mut().for_each(|x| *x *= -phase);
    columns[pivot..].iter_mut().step_by(n).for_each(|x| *x = C::default());
    columns[pivot] = r.into();
}

#[cfg(test)]
mod tests {
    use super::{C, canonical_basis};
    use nalgebra::DMatrix;

    /// Returns a random unitary matrix of a seed.
    fn unitary(size: usize, state: &mut u64) -> DMatrix<C> {
        let mut next = || {
            // Knuth's MMIX generator, of which the upper 53 bits are used.
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        DMatrix::from_fn(size, size, |_, _| C::new(next(), next())).qr().q()
    }

    #[test]
    fn the_basis_given_does_not_matter() {
        let mut state = 7;
        for (n, m) in [(1, 1), (5, 1), (6, 2), (9, 4), (5, 5)] {
            let space = unitary(n, &mut state).columns(0, m).into_owned();
            let mut want = space.clone();
            canonical_basis(want.as_mut_slice(), n, m);
            // The projector is the same, and the pivots of the columns are real and positive.
            let projector = |v: &DMatrix<C>| v * v.adjoint();
            let largest = |x: &DMatrix<C>| x.iter().map(|x| x.norm()).fold(0.0, f64::max);
            // Each of m reflections and the products round to a few eps: 1e-13 is 450 eps.
            assert!(largest(&(projector(&want) - projector(&space))) <= 1e-13);
            for column in want.column_iter() {
                let most = column.iter().map(|x| x.norm()).fold(0.0, f64::max);
                let pivot = column.iter().position(|x| x.norm() >= 0.99 * most).unwrap();
                assert!(column[pivot].re > 0.0 && column[pivot].im == 0.0, "{column}");
            }
            for round in 0..20 {
                let mut got = &space * unitary(m, &mut state);
                canonical_basis(got.as_mut_slice(), n, m);
                let error = largest(&(&got - &want));
                assert!(error <= 1e-12, "n = {n}, m = {m}, round {round}: differs by {error:e}");
            }
        }
    }

    #[test]
    fn edges_of_the_domain() {
        canonical_basis(&mut [], 0, 0);
        let mut one = [C::new(0.0, -1.0)];
        canonical_basis(&mut one, 1, 1);
        assert_eq!(one, [C::new(1.0, 0.0)]);
        let mut zero = [C::default(); 4];
        canonical_basis(&mut zero, 2, 2);
        assert_eq!(zero, [C::default(); 4]);
        let mut odd = [C::new(f64::NAN, 0.0), C::new(0.0, 1.0)];
        canonical_basis(&mut odd, 2, 1);
        assert!(odd[0].re.is_nan() && odd[1] == C::new(0.0, 1.0));
    }
}
