//! Converts a dense eigendecomposition to the [`Candidates`] of an encoding. This module also decides which columns are
//! needed, and which f32 results must be recomputed in f64.

use super::canonical::sign_in_doubt;
use super::pairs::{Candidates, Selection};
use super::separate::{Limits, complement, quotient, separate, small};
use super::settings::Settings;
use crate::array::Real;
use crate::graph::{GraphRef, IsolatedDiagonal};
use crate::ops::eigen::Certificate;
use crate::ops::laplacian::entrywise;
use crate::ops::laplacian::factor::eigenpairs;
use crate::ops::sparse::Operator;
use crate::ops::{Normalization, Status};
use std::ops::Range;

/// Returns the range of columns of an f64 decomposition that an encoding needs: the selected columns, and adjacent
/// columns whose eigenvalues are so close to the selected ones that `separate` must process all of these columns
/// together. `values` is the whole spectrum in ascending order.
pub(super) fn needed<T: Real>(settings: &Settings, graph: GraphRef<'_>, values: &[f64]) -> Range<usize> {
    let null = null_vectors(graph, settings.normalization);
    closed(&Selection::new(settings, null, values.len()), null, values, Limits::of::<T>(values.len()))
}

/// Returns the number of known null vectors: one for each component or, of a signed graph, for each balanced one,
/// except isolated nodes whose diagonal entry is 1.
fn null_vectors(graph: GraphRef<'_>, normalization: Normalization) -> usize {
    let ones = normalization != Normalization::Combinatorial && graph.conventions().isolated == IsolatedDiagonal::One;
    let alone = if ones { graph.degrees().iter().filter(|&&d| d == 0.0).count() } else { 0 };
    let (components, signs) = graph.balance();
    let mut is_balanced = vec![true; components.count];
    for (&label, _) in components.labels.iter().zip(&signs).filter(|(_, sign)| **sign == 0.0) {
        is_balanced[label as usize] = false;
    }
    is_balanced.into_iter().filter(|&is| is).count() - alone
}

/// Returns the selection as a range of the whole spectrum. The range is extended at both ends as long as the next
/// eigenvalue is so close that a decomposition does not separate it well enough. If the extended range begins so close
/// to the null space, it also includes the null space.
fn closed(selection: &Selection, null: usize, values: &[f64], limits: Limits) -> Range<usize> {
    if selection.others.is_empty() {
        return 0..0;
    }
    let largest = values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let close = |i: usize| values[i] - values[i - 1] <= limits.close(values[i - 1], largest);
    let (mut start, mut end) = (null + selection.others.start, null + selection.others.end);
    while end < values.len() && close(end) {
        end += 1;
    }
    while start > null && close(start) {
        start -= 1;
    }
    if start == null && null > 0 && close(null) { 0..end } else { start..end }
}

/// Returns the candidates from an f64 decomposition. `values` is the whole spectrum in ascending order; of `vectors`,
/// only the [`needed`] columns are used.
pub(super) fn candidates(
    selection: &Selection,
    operator: &Operator<'_, f64>,
    (values, vectors): (&[f64], &[f64]),
    limits: Limits,
    solved: Certificate,
) -> Candidates {
    let (n, null) = (operator.rows(), operator.null_vectors());
    let range = closed(selection, null, values, limits);
    let next = values.get(range.end).copied();
    let values = values[range.start.max(null)..range.end.max(null)].to_vec();
    let columns = &vectors[range.start * n..range.end * n];
    let (first, vectors) = if range.start < null {
        // The computed null vectors are mixed with the eigenvectors of small eigenvalues, so the known null space is
        // removed from all of these columns together. The columns of the other eigenvalues are copied unchanged.
        let mixed = (null + small(&values, operator.bounds(0).upper, limits)).min(range.len());
        let (mixed, others) = columns.split_at(mixed * n);
        (0, [complement(mixed, n, &operator.null), others.to_vec()].concat())
    } else {
        (range.start - null, columns.to_vec())
    };
    let Range { start, end } = selection.others;
    let selected = if values.is_empty() { 0..0 } else { start - first..end - first };
    Candidates { values, vectors, selected, apart: true, next, status: solved.status, ..Candidates::default() }
}

/// Returns whether digits of the selected pairs may be missing from a decomposition in f64 and from what
/// [`separate`](super::separate) makes of it, so that the Laplacian has to be factored. `similarity` is as in
/// [`decided`].
pub(super) fn must_be_factored<T: Real>(
    selection: &Selection,
    operator: &Operator<'_, f64>,
    values: &[f64],
    weighted: bool,
    similarity: Option<&[f64]>,
) -> bool {
    let Some(&first) = values.get(operator.null_vectors() + selection.others.start) else { return false };
    let (n, bound) = (operator.rows(), operator.bounds(0).upper);
    let limits = Limits::of::<T>(n);
    let own = &values[operator.null_vectors()..];
    // `separate` would recombine a large part of the pairs, which takes more time than the factor.
    let many = || T::EPSILON < 1e-10 && weighted && 4 * small(own, bound, limits) > n && first <= limits.near * bound;
    let uneven = similarity.is_some_and(is_uneven::<T>);
    !selection.others.is_empty() && (first <= limits.factored * bound || uneven || many())
}

/// Separates the small eigenvalues of an encoding in f32, and returns whether each selected one is then as accurate as
/// f32 shows it, so that the Laplacian need not be factored, which takes longer.
pub(super) fn is_resolved<T: Real>(
    (graph, normalization): (GraphRef<'_>, Normalization),
    operator: &Operator<'_, f64>,
    candidates: &mut Candidates,
    similarity: Option<&[f64]>,
) -> bool {
    let (n, bound, limits) = (operator.rows(), operator.bounds(0).upper, Limits::of::<T>(operator.rows()));
    let Candidates { values, vectors, selected, .. } = candidates;
    let small = small(values, bound, limits);
    // Of many, the factor takes less time.
    if T::EPSILON < 1e-10 || 4 * small > n || similarity.is_some_and(is_uneven::<T>) {
        return false;
    }
    values[..small].copy_from_slice(&separate(graph, normalization, &mut vectors[..small * n]));
    values.get(selected.start).is_none_or(|&first| first >= limits.separated * bound)
}

/// Returns whether the error of f64, amplified at nodes of small degree, exceeds the promised `n eps` of T.
/// `similarity` is the diagonal of D^-1/2.
fn is_uneven<T: Real>(similarity: &[f64]) -> bool {
    let (least, most) = similarity.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
    let allowed = similarity.len() as f64 * (T::EPSILON / f64::EPSILON);
    most > allowed * least
}

/// Returns the candidates from a factor of the Laplacian, which has all digits of all eigenvalues. `similarity` is as
/// in [`decided`].
pub(super) fn factored<T: Real>(
    selection: &Selection,
    (graph, normalization): (GraphRef<'_>, Normalization),
    similarity: Option<&[f64]>,
) -> Candidates {
    let mut found = eigenpairs(graph, normalization);
    if similarity.is_some_and(is_uneven::<T>) {
        entrywise::correct(graph, &found.values, &mut found.vectors);
    }
    let status = if found.converged { Status::Converged } else { Status::NotConverged };
    let (values, vectors, selected) = (found.values, found.vectors, selection.others.clone());
    Candidates { values, vectors, selected, apart: true, status, relative: true, ..Candidates::default() }
}

/// The backward error of a device's decomposition, relative to the bound of the spectrum. The residuals are at most 2
/// eps of f32 on molecules and on LAPACK's families of test matrices. Another 2 eps allow for the rounding of the
/// matrix itself.
const ERROR: f64 = 4.0 * f32::EPSILON as f64;
/// The limit for the distance between two eigenvalues, relative to the bound of the spectrum. If a distance is at most
/// this limit, the graph is solved again in f64. Above this limit, the error of the vectors is about 1e-4, which is the
/// allowed difference between the CPU and the device. (With a limit of 1e-4 instead, the result for one of 20,000
/// molecules differed by 5.8e-4; 2026-11-22.)
const TOO_CLOSE: f64 = 2e-3;

/// Returns the candidates from an f32 decomposition. `similarity` contains the row factors that convert the vectors to
/// those of the random-walk Laplacian, if that Laplacian is requested. Returns `None` if the f32 error may change which
/// eigenvalues are tied, which eigenvalues are selected, or the sign of an eigenvector.
pub(super) fn decided<T: Real>(
    selection: &Selection,
    (graph, normalization): (GraphRef<'_>, Normalization),
    operator: &Operator<'_, f64>,
    similarity: Option<&[f64]>,
    (values, vectors): (&[T], &[T]),
    solved: Certificate,
) -> Option<Candidates> {
    let (n, null) = (operator.rows(), operator.null_vectors());
    let bound = operator.bounds(0).upper;
    let rest: Vec<f64> = values[null..].iter().map(|x| x.to_f64()).collect();
    let selected = selection.others.clone();
    // The distance of an eigenvalue from the next smaller one. The first eigenvalue is compared with 0, which is that
    // of the null space. Without a null space, f32 may not tell it from 0, either.
    let below = |i: usize| if i > 0 { rest[i] - rest[i - 1] } else { rest[0] };
    let gap = |i: usize| below(i).min(if i + 1 < rest.len() { below(i + 1) } else { f64::INFINITY });
    if selected.clone().any(|i| gap(i) <= TOO_CLOSE * bound) {
        return None;
    }
    let mut columns = T::all_to_f64(&vectors[(null + selected.start) * n..(null + selected.end) * n]).into_owned();
    for (i, column) in selected.clone().zip(columns.chunks_exact_mut(n.max(1))) {
        operator.null.deflate(column);
        let error = ERROR * bound / gap(i);
        let ones = |_: usize| 1.0;
        let doubtful = sign_in_doubt(column, error, ones)
            || similarity.is_some_and(|scale| sign_in_doubt(column, error, |row| scale[row]));
        if doubtful {
            return None;
        }
    }
    // The error of f32, relative to the bound, is visible in small eigenvalues. That of a Rayleigh quotient is the
    // square of the error of its vector.
    let small = bound / n.max(1) as f64;
    let mut values = rest[selected.clone()].to_vec();
    let pairs = values.iter_mut().zip(columns.chunks_exact_mut(n.max(1)));
    for (value, column) in pairs.filter(|(value, _)| **value < small) {
        let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        column.iter_mut().for_each(|x| *x /= length);
        *value = quotient(graph, normalization, column);
    }
    Some(Candidates {
        values,
        vectors: columns,
        selected: 0..selected.len(),
        apart: true,
        status: solved.status,
        ..Candidates::default()
    })
}
