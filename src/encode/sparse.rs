//! Converts the pairs that an iteration on a sparse Laplacian found to the [`Candidates`] of an encoding. The iteration
//! finds only pairs at the wanted end of the spectrum, and the null space is known in advance and is not computed.

use super::canonical::sign_in_doubt;
use super::pairs::{Candidates, Selection};
use super::settings::Settings;
use crate::ops::eigen::Which;
use crate::ops::eigsh::{Solved, Wanted};
use crate::ops::sparse::Operator;
use crate::ops::{Normalization, Status};

/// Returns the Laplacian whose pairs are computed. For the random-walk Laplacian, this is the symmetric Laplacian,
/// which is similar to it.
pub(super) fn solved_normalization(normalization: Normalization) -> Normalization {
    match normalization {
        Normalization::RandomWalk => Normalization::Symmetric,
        other => other,
    }
}

/// Returns the pairs that an iteration must compute for a graph with n nodes. The null space, which has the dimension
/// `null`, is not computed.
pub(super) fn wanted(settings: &Settings, null: usize, n: usize) -> Wanted {
    let count = Selection::new(settings, null, n).others.len();
    Wanted { count, most: settings.k, which: settings.which, separate: true }
}

/// Returns the pairs that an iteration found, in ascending order of their eigenvalues.
pub(super) fn candidates(settings: &Settings, selection: &Selection, n: usize, found: &Solved) -> Candidates {
    let m = found.values.len();
    let taken = m.min(selection.others.len());
    let (values, vectors, selected) = match settings.which {
        Which::Smallest => (found.values.clone(), found.vectors.clone(), 0..taken),
        // An iteration returns the largest pairs first, so their order is reversed.
        Which::Largest => (
            found.values.iter().rev().copied().collect(),
            found.vectors.chunks_exact(n.max(1)).rev().flatten().copied().collect(),
            m - taken..m,
        ),
    };
    let next = found.next.filter(|_| settings.which == Which::Smallest);
    let (apart, status) = (found.reached, Status::Converged);
    Candidates { values, vectors, selected, apart, next, status, iterated: true, relative: false }
}

/// The largest error of an f32 eigenvector, relative to its norm, at which the eigenpair is accepted.
const ERROR: f64 = 1e-2;

/// Returns whether the error of the f32 pairs of an iteration may change which eigenvalues are tied, which eigenvalues
/// are selected, or the sign of an eigenvector. `similarity` contains the row factors that convert the eigenvectors to
/// those of the random-walk Laplacian, if that Laplacian is requested.
pub(super) fn is_doubtful(
    candidates: &Candidates,
    found: &Solved,
    operator: &Operator<'_, f64>,
    similarity: Option<&[f64]>,
) -> bool {
    let (n, values) = (operator.rows(), &candidates.values);
    let null = operator.null_vectors() > 0;
    // The eigenvalues contain the error of rounding to f32, even if the residuals are smaller than this error.
    let residual =
        found.residuals.iter().copied().fold(4.0 * f64::from(f32::EPSILON) * operator.bounds(0).norm, f64::max);
    let before = |i: usize| {
        if i > 0 {
            values[i] - values[i - 1]
        } else if null {
            values[0]
        } else {
            f64::INFINITY
        }
    };
    let after = |i: usize| match values.get(i + 1) {
        Some(next) => next - values[i],
        None => candidates.next.map_or(f64::INFINITY, |next| next - values[i]),
    };
    candidates.selected.clone().any(|i| {
        let column = &candidates.vectors[i * n..(i + 1) * n];
        // The iteration may find the first eigenvalue beyond the pairs that it computes. This eigenvalue is used only
        // if the smallest pairs are requested. If the largest pairs are requested, the distance to it is ignored.
        let error = residual / before(i).min(after(i));
        error > ERROR
            || error.is_nan()
            || sign_in_doubt(column, error, |_| 1.0)
            || similarity.is_some_and(|scale| sign_in_doubt(column, error, |row| scale[row]))
    })
}
