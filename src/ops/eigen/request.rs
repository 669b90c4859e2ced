//! The request of a caller of the eigendecomposition: one value, from the public functions to the solvers of either
//! side.

use crate::cancel::Cancel;
use std::ops::Range;

/// Returns the columns that a matrix needs, given its index in the batch and its eigenvalues up to a common factor.
pub(crate) type Choose<'a> = &'a (dyn Fn(usize, &[f64]) -> Range<usize> + Sync);

/// The eigenvectors to compute, as columns in the order of ascending values.
#[derive(Clone, Copy)]
pub(super) enum Columns<'a> {
    /// All columns.
    All,
    /// No columns, only values.
    None,
    /// The columns from a first up to an end, for every matrix; all matrices have one order. Results contain only these
    /// pairs.
    At(usize, usize),
    /// At least the columns that each matrix needs; others may stay 0.
    Chosen(Choose<'a>),
}

impl Columns<'_> {
    /// Returns the columns for the matrix at `index`, whose values in ascending order are `values`.
    pub(super) fn of(self, index: usize, values: impl ExactSizeIterator<Item = f64>) -> Range<usize> {
        match self {
            Self::All => 0..values.len(),
            Self::None => 0..0,
            Self::At(first, end) => first..end,
            Self::Chosen(choose) => choose(index, &values.collect::<Vec<_>>()),
        }
    }

    /// Returns whether no columns are wanted.
    pub(super) fn is_none(self) -> bool {
        matches!(self, Self::None)
    }
}

/// A request (see the module).
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) columns: Columns<'a>,
    /// Whether a certificate is wanted, of these columns or of all. A device always computes one, of all.
    pub(super) certificate: bool,
    /// Whether the batch is the one that the caller made. A small one then leaves most lanes empty, and its matrices
    /// are solved one by one. A ragged batch may be a part of a larger one, and the results must not show where that
    /// was split.
    pub(super) whole: bool,
    /// Stops the CPU's work between two matrices; results that were not computed stay 0.
    pub(super) cancel: &'a Cancel,
}
