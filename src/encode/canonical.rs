//! Canonical signs and bases, which make the encoding of a graph independent of the solver that computed the
//! eigenvectors.
//!
//! The sign of an eigenvector is arbitrary, and so is the orthonormal basis of the eigenspace of a repeated eigenvalue.
//! This module chooses a basis by a rule that depends only on the space that the vectors span: the basis of a tie group
//! is the pivoted Cholesky factor of the group's projector `P = V V'`, where the columns of `V` are the group's
//! eigenvectors. The pivot is always the row with the largest remaining diagonal entry. If `p` is the first pivot row,
//! the first column is `P e_p / sqrt(P_pp)`. Each further column is computed in the same way, after the outer product
//! of the previous column with itself has been subtracted from `P`. `P` is never formed. Instead, the columns of `V`
//! are combined by a reflection, so that the pivot row of `V` becomes `(r, 0, ..., 0)`. The reflection gives the same
//! columns with full accuracy.
//!
//! The vectors must be orthonormal, so the vectors of a random-walk Laplacian are made canonical before they are scaled
//! by `D^-1/2`. A tie group must be complete, because no rule gives a unique basis if only some vectors of an
//! eigenspace are known. A caller that needs `k` columns therefore solves for the whole group that contains the `k`-th
//! column and discards the excess columns afterwards.

/// The relative tolerance within which the norms of two rows are considered equal. If several rows have the largest
/// norm in this sense, the one with the lowest index is the pivot.
///
/// Symmetric nodes have rows of equal norms up to the solver's error, which in f32 is about `1e-6 / gap` for vectors of
/// unit norm, where `gap` is the relative distance to the next eigenvalue. The tolerance of 1e-2 exceeds this error for
/// every gap down to `1e-4`. A larger tolerance is not needed, and a smaller tolerance has no advantage, because a
/// pivot row whose norm is within 1 % of the largest norm is as stable as the row of largest norm. Whatever the
/// tolerance, the results of two solvers can differ only if the norm of a row is so close to the limit for equal norms
/// that the solvers' errors decide on which side of the limit it is. (Every rule has such a limit, because no
/// continuous function assigns a basis to every subspace.)
///
/// The tolerance was tested with a backward error of 3 eps |L| on all graphs of MUTAG and on the graphs of PROTEINS
/// with up to 60 nodes (2026-11-20). With tolerances from 1e-3 to 2e-2, no vector changed by more than the solver's
/// error. With 1e-4, and with 5e-2 and above, some vectors changed their sign.
pub(super) const TIE: f64 = 1e-2;

/// Replaces the first `wanted` columns of `group` by the first `wanted` vectors of the canonical basis of the space
/// that all columns span. The other columns become arbitrary. `group` is column-major with `n` rows, and its columns
/// must be orthonormal or a projection of orthonormal columns.
///
/// In each resulting column, the pivot entry is positive, entries at lower indices are smaller in magnitude, and no
/// entry exceeds the pivot entry by more than the tolerance. For a single column, this is the sign rule: the entry of
/// largest magnitude is positive, and among entries that are equal within the tolerance, the one with the lowest index
/// counts. If there are several columns, each of them satisfies the rule, for three reasons. An entry is at most the
/// norm of its row over the remaining columns. The pivot row has the largest of these norms within the tolerance. The
/// reflection makes the pivot entry equal to the norm of the pivot row. The resulting columns have unit 2-norm. If all
/// entries of `group` are zero, or any entry is not finite, `group` is unchanged.
pub(super) fn canonical_basis(group: &mut [f64], n: usize, wanted: usize) {
    if n == 0 || !group.iter().all(|x| x.is_finite()) {
        return;
    }
    for first in 0..wanted.min(group.len() / n) {
        let rest = &mut group[first * n..];
        let Some(pivot) = pivot_row(rest, n) else { break };
        reflect(rest, n, pivot);
    }
    for column in group.chunks_exact_mut(n) {
        let norm = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            column.iter_mut().for_each(|x| *x /= norm);
        }
    }
}

/// Returns the lowest row whose norm over these columns is the largest within [`TIE`], or `None` if all rows are zero.
fn pivot_row(columns: &[f64], n: usize) -> Option<usize> {
    let mut squares = vec![0.0; n];
    for column in columns.chunks_exact(n) {
        squares.iter_mut().zip(column).for_each(|(s, x)| *s += x * x);
    }
    let largest = squares.iter().copied().fold(0.0, f64::max);
    let enough = (1.0 - TIE) * (1.0 - TIE) * largest;
    squares.iter().position(|&s| s > 0.0 && s >= enough)
}

/// Returns whether the sign of a single vector in canonical form is uncertain. The vector is `column` with each entry
/// multiplied by the `scale` of its row, and each entry of `column` has an error of at most `error`. The sign is
/// uncertain if perturbations within these errors can change the sign of the pivot. The pivot is the entry with the
/// lowest index among the entries of largest magnitude.
pub(super) fn sign_in_doubt(column: &[f64], error: f64, scale: impl Fn(usize) -> f64) -> bool {
    let entries = || column.iter().enumerate().map(|(row, x)| (x * scale(row), (error * scale(row)).abs()));
    // The largest magnitude is between `least` and `most`.
    let least = entries().map(|(x, e)| x.abs() - e).fold(0.0, f64::max);
    let most = entries().map(|(x, e)| x.abs() + e).fold(0.0, f64::max);
    let mut sign = 0.0;
    for (x, e) in entries() {
        if x.abs() + e < (1.0 - TIE) * least {
            continue; // The entry cannot be the pivot.
        }
        if sign != 0.0 && sign != x.signum() || x.abs() <= e {
            return true;
        }
        sign = x.signum();
        if x.abs() - e >= (1.0 - TIE) * most {
            return false; // A later entry cannot be the pivot.
        }
    }
    // All entries that may be the pivot have the same sign. If no entry may be the pivot, the sign is uncertain.
    sign == 0.0
}

/// Reflects the columns so that the row `pivot` becomes `(r, 0, ..., 0)` with `r > 0`.
///
/// The column with the largest entry in this row comes first, with a negative entry. Then a reflected column keeps a
/// share of itself that is not small, and what rounding leaves in its small entries is small, too: `D^-1/2` amplifies
/// them.
fn reflect(columns: &mut [f64], n: usize, pivot: usize) {
    let (head, others) = columns.split_at_mut(n);
    let larger = others.chunks_exact_mut(n).max_by(|a, b| a[pivot].abs().total_cmp(&b[pivot].abs()));
    if let Some(largest) = larger {
        if largest[pivot].abs() > head[pivot].abs() {
            head.swap_with_slice(largest);
        }
        if head[pivot] > 0.0 {
            head.iter_mut().for_each(|x| *x = -*x);
        }
    }
    let mut x: Vec<f64> = columns.chunks_exact(n).map(|column| column[pivot]).collect();
    let tail: f64 = x[1..].iter().map(|y| y * y).sum();
    let r = (x[0] * x[0] + tail).sqrt();
    // x becomes the Householder vector x - r e_1. If x[0] > 0, the difference x[0] - r is rewritten to avoid
    // cancellation.
    x[0] = if x[0] > 0.0 { -tail / (x[0] + r) } else { x[0] - r };
    let square = x[0] * x[0] + tail;
    if square > 0.0 {
        for i in 0..n {
            let row = columns[i..].iter().step_by(n);
            let projection = 2.0 / square * row.zip(&x).map(|(a, b)| a * b).sum::<f64>();
            let row = columns[i..].iter_mut().step_by(n);
            row.zip(&x).for_each(|(a, b)| *a -= projection * b);
        }
    }
    columns[pivot..].iter_mut().step_by(n).for_each(|a| *a = 0.0);
    columns[pivot] = r;
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    /// Replaces each tie group of `vectors` by its canonical basis and returns the group of each of the `values`.
    fn canonicalise(values: &[f64], vectors: &mut [f64], n: usize, resolution: f64) -> Vec<u32> {
        let mut group = 0;
        let near = |i: usize| i > 0 && values[i] - values[i - 1] <= resolution;
        let tied = |i| {
            group += u32::from(i > 0 && !near(i));
            group
        };
        let groups: Vec<u32> = (0..values.len()).map(tied).collect();
        let mut start = 0;
        for members in groups.chunk_by(|a, b| a == b) {
            let end = start + members.len();
            canonical_basis(&mut vectors[start * n..end * n], n, members.len());
            start = end;
        }
        groups
    }

    /// A generator of reproducible pseudorandom numbers in (-1, 1).
    struct Noise(u64);

    impl Noise {
        fn next(&mut self) -> f64 {
            // Knuth's MMIX generator, of which the upper 53 bits are used.
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }

        fn orthogonal(&mut self, size: usize) -> DMatrix<f64> {
            DMatrix::from_fn(size, size, |_, _| self.next()).qr().q()
        }
    }

    /// In the plane of the first axis and the last, the canonical basis is these axes. Of two vectors whose first
    /// entries differ by decades, the entries that vanish are small beside the smaller one: D^-1/2 may amplify them.
    #[test]
    fn entries_that_vanish_are_small_beside_what_they_are_made_of() {
        for decade in 1..15 {
            let small = 0.7 * 0.1_f64.powi(decade);
            let large = (1.0 - small * small).sqrt();
            for flat in [[small, 0.0, large, large, 0.0, -small], [large, 0.0, -small, small, 0.0, large]] {
                let mut basis = flat;
                canonical_basis(&mut basis, 3, 2);
                assert_eq!(basis[0], 1.0, "{basis:?}");
                assert!(basis[2].abs() <= 4.0 * f64::EPSILON * small, "{decade} decades: {:e}", basis[2]);
            }
        }
    }

    fn laplacian(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> DMatrix<f64> {
        let mut l = DMatrix::zeros(n, n);
        for (a, b) in edges {
            l[(a, b)] -= 1.0;
            l[(b, a)] -= 1.0;
            l[(a, a)] += 1.0;
            l[(b, b)] += 1.0;
        }
        l
    }

    /// Returns graphs and their names. Most eigenvalues of these graphs are repeated, integers or well separated.
    fn symmetric_graphs() -> Vec<(&'static str, DMatrix<f64>)> {
        let complete = |n: usize| laplacian(n, (0..n).flat_map(|a| (0..a).map(move |b| (b, a))));
        vec![
            ("cycle 3", laplacian(3, (0..3).map(|i| (i, (i + 1) % 3)))),
            ("cycle 12", laplacian(12, (0..12).map(|i| (i, (i + 1) % 12)))),
            ("cycle 17", laplacian(17, (0..17).map(|i| (i, (i + 1) % 17)))),
            ("complete 2", complete(2)),
            ("complete 9", complete(9)),
            ("star 10", laplacian(10, (1..10).map(|i| (0, i)))),
            ("star 10, center last", laplacian(10, (0..9).map(|i| (9, i)))),
            (
                "hypercube 4",
                laplacian(16, (0..16_usize).flat_map(|a| (0..4).map(move |b| (a, a ^ (1 << b))).filter(|e| e.0 < e.1))),
            ),
            ("no edges", laplacian(6, [])),
        ]
    }

    fn eigen(l: &DMatrix<f64>) -> (Vec<f64>, DMatrix<f64>) {
        let found = l.clone().symmetric_eigen();
        let mut order: Vec<usize> = (0..l.nrows()).collect();
        order.sort_by(|&a, &b| found.eigenvalues[a].total_cmp(&found.eigenvalues[b]));
        (order.iter().map(|&i| found.eigenvalues[i]).collect(), found.eigenvectors.select_columns(&order))
    }

    /// Returns different bases of the same eigenspaces: the columns of each group are multiplied by a random orthogonal
    /// matrix.
    fn mixed(vectors: &DMatrix<f64>, groups: &[u32], noise: &mut Noise) -> DMatrix<f64> {
        let mut out = vectors.clone();
        let mut start = 0;
        for members in groups.chunk_by(|a, b| a == b) {
            let block = vectors.columns(start, members.len()) * noise.orthogonal(members.len());
            out.columns_mut(start, members.len()).copy_from(&block);
            start += members.len();
        }
        out
    }

    fn largest(difference: &DMatrix<f64>) -> f64 {
        difference.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
    }

    #[test]
    fn the_basis_given_does_not_matter() {
        let mut noise = Noise(1);
        for (name, l) in symmetric_graphs() {
            let n = l.nrows();
            let (values, vectors) = eigen(&l);
            let mut want = vectors.clone();
            let groups = canonicalise(&values, want.as_mut_slice(), n, 1e-8);
            for round in 0..20 {
                let mut got = mixed(&vectors, &groups, &mut noise);
                canonicalise(&values, got.as_mut_slice(), n, 1e-8);
                // The tolerance allows for f64 rounding times the condition of the pivots: 1e-12 is 4500 epsilons.
                let error = largest(&(&got - &want));
                assert!(error <= 1e-12, "{name}, round {round}: differs by {error:e}");
            }
        }
    }

    #[test]
    fn noise_of_a_solver_does_not_matter() {
        let mut noise = Noise(2);
        for (name, l) in symmetric_graphs() {
            let n = l.nrows();
            let (values, vectors) = eigen(&l);
            let mut want = vectors.clone();
            let groups = canonicalise(&values, want.as_mut_slice(), n, 1e-8);
            for round in 0..20 {
                let mut got = mixed(&vectors, &groups, &mut noise).map(|x| x + 1e-7 * noise.next());
                canonicalise(&values, got.as_mut_slice(), n, 1e-8);
                // The noise of 1e-7 per entry is divided by pivots of at least sqrt(1 / n) in a few successive columns,
                // so it grows by a factor of at most 100.
                let error = largest(&(&got - &want));
                assert!(error <= 1e-5, "{name}, round {round}: differs by {error:e}");
            }
        }
    }

    #[test]
    fn the_space_and_orthonormality_are_kept() {
        for (name, l) in symmetric_graphs() {
            let n = l.nrows();
            let (values, vectors) = eigen(&l);
            let mut got = vectors.clone();
            let groups = canonicalise(&values, got.as_mut_slice(), n, 1e-8);
            let gram = largest(&(got.transpose() * &got - DMatrix::identity(n, n)));
            assert!(gram <= 1e-13, "{name}: orthogonality {gram:e}"); // 450 epsilons of f64
            let mut start = 0;
            for members in groups.chunk_by(|a, b| a == b) {
                let (before, after) = (vectors.columns(start, members.len()), got.columns(start, members.len()));
                let moved = largest(&(before * before.transpose() - after * after.transpose()));
                assert!(moved <= 1e-13, "{name}: projector moved by {moved:e}"); // 450 epsilons of f64
                start += members.len();
            }
        }
    }

    #[test]
    fn it_is_the_pivoted_cholesky_factor_of_the_projector() {
        for (name, l) in symmetric_graphs() {
            let n = l.nrows();
            let (values, vectors) = eigen(&l);
            let mut got = vectors.clone();
            let groups = canonicalise(&values, got.as_mut_slice(), n, 1e-8);
            let mut start = 0;
            for members in groups.chunk_by(|a, b| a == b) {
                let v = vectors.columns(start, members.len());
                let mut p = v * v.transpose();
                for column in start..start + members.len() {
                    let largest_left = (0..n).map(|i| p[(i, i)]).fold(0.0, f64::max);
                    let pivot = (0..n).find(|&i| p[(i, i)] >= 0.99 * 0.99 * largest_left).unwrap();
                    let factor = p.column(pivot) / p[(pivot, pivot)].sqrt();
                    let error = (&factor - got.column(column)).amax();
                    // The Cholesky factorization computes with the squares of the entries. In the worst case, this
                    // loses half of the 16 digits; for these graphs, it loses few.
                    assert!(error <= 1e-10, "{name}, column {column}: differs by {error:e}");
                    p -= &factor * factor.transpose();
                }
                start += members.len();
            }
        }
    }

    #[test]
    fn the_sign_rule() {
        let unit = |x: &[f64]| {
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / norm).collect::<Vec<_>>()
        };
        // Each pair contains a vector and the index of the entry that must be positive in its canonical form.
        for (given, positive) in [
            (unit(&[0.1, -3.0, 2.0]), 1),
            (unit(&[-1.0, 1.0, -1.0, 1.0]), 0),
            (unit(&[-1.0, 1.000_001, 0.0]), 0), // equal up to noise: the lowest index counts
            (unit(&[-0.9, 1.0, 0.0]), 1),       // not a tie
            (vec![-1.0], 0),
        ] {
            for sign in [1.0, -1.0] {
                let mut got: Vec<f64> = given.iter().map(|x| x * sign).collect();
                canonical_basis(&mut got, given.len(), 1);
                let want = given.iter().map(|x| x * given[positive].signum());
                assert!(got[positive] > 0.0);
                // The only rounding is a division by a norm that is 1 up to rounding.
                assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() <= 1e-15), "{given:?} gave {got:?}");
            }
        }
    }

    /// If a sign is reported as certain, no perturbation within the error changes the sign of the canonical form.
    #[test]
    fn signs_within_their_error() {
        let ones = |_: usize| 1.0;
        assert!(!sign_in_doubt(&[0.1, -3.0, 2.0], 0.1, ones));
        assert!(!sign_in_doubt(&[-1.0, 1.0], 1e-3, ones), "the first is the pivot, whichever is larger");
        assert!(sign_in_doubt(&[-0.9901, 1.0], 1e-3, ones), "within 1 % or not");
        assert!(!sign_in_doubt(&[0.9901, 1.0], 1e-3, ones), "one sign either way");
        assert!(sign_in_doubt(&[0.0, 0.0], 1e-3, ones) && sign_in_doubt(&[1.0], 2.0, ones));
        assert!(sign_in_doubt(&[-0.5, 1.0], 1e-3, |row| [1.9802, 1.0][row]), "the scaled vector counts");
        let mut noise = Noise(5);
        for _ in 0..2000 {
            let error = 10_f64.powf(-1.0 - 5.0 * noise.next().abs());
            let given: Vec<f64> = (0..6).map(|_| (4.0 * noise.next()).round() + error * noise.next()).collect();
            if sign_in_doubt(&given, error, ones) {
                continue;
            }
            let canonical = |x: &[f64]| {
                let mut x = x.to_vec();
                canonical_basis(&mut x, 6, 1);
                x
            };
            let moved: Vec<f64> = given.iter().map(|x| x + error * noise.next()).collect();
            let along: f64 = canonical(&given).iter().zip(canonical(&moved)).map(|(x, y)| x * y).sum();
            assert!(along > 0.0, "{given:?} and {moved:?}, error {error:e}");
        }
    }

    #[test]
    fn columns_outside_the_group_are_left_alone() {
        let mut v = vec![-1.0, 0.0, 0.0, -1.0, 0.0, 1.0];
        canonical_basis(&mut v[2..4], 2, 1);
        assert_eq!(v, [-1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn edges_of_the_domain() {
        canonical_basis(&mut [], 0, 0);
        assert_eq!(canonicalise(&[], &mut [], 0, 1.0), [0_u32; 0]);
        let mut one = [-1.0];
        assert_eq!(canonicalise(&[3.0], &mut one, 1, 0.0), [0]);
        assert_eq!(one, [1.0]);
        // If the group spans the whole space, any basis becomes the unit vectors in order.
        let mut all = Noise(3).orthogonal(7);
        canonical_basis(all.as_mut_slice(), 7, 7);
        assert!(largest(&(all - DMatrix::identity(7, 7))) <= 1e-14); // 45 epsilons of f64
        // A column of padding stays zero, and a column that is not finite does not affect other columns.
        let mut padded = vec![0.0, -1.0, 0.0, 0.0, f64::NAN, 0.0];
        canonicalise(&[0.0, 1.0, 2.0], &mut padded, 2, 0.1);
        assert_eq!(padded[..4], [0.0, 1.0, 0.0, 0.0]);
        assert!(padded[4].is_nan());
    }
}
