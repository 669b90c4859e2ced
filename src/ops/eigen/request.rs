//! The request of a caller of the eigendecomposition. It is a single value that the public functions pass to the
//! solvers of both sides.

use crate::cancel::Cancel;
use std::ops::Range;

/// A function that returns the columns that a matrix needs, given the index of the matrix in the batch and its
/// eigenvalues up to a common factor.
pub(crate) type Choose<'a> = &'a (dyn Fn(usize, &[f64]) -> Range<usize> + Sync);

/// The eigenvectors to compute, as columns in the order of ascending values.
#[derive(Clone, Copy)]
pub(super) enum Columns<'a> {
    /// All columns.
    All,
    /// No columns, only values.
    None,
    /// The columns from the first index up to, but not including, the second index, for every matrix. All matrices have
    /// the same order. Results contain only these pairs.
    At(usize, usize),
    /// At least the columns that the function returns for each matrix. The other columns may stay 0.
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

/// A caller's request; see the documentation of the module.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) columns: Columns<'a>,
    /// Whether a certificate is wanted. It may cover only the wanted columns or all columns. A device always certifies
    /// all columns.
    pub(super) certificate: bool,
    /// Whether the batch is exactly the one that the caller passed. If so, and if the batch is too small to fill most
    /// lanes, its matrices are solved one by one. Otherwise, the batch may be a part of a larger one, as for a ragged
    /// batch, and the results must not depend on where the larger batch was split.
    pub(super) whole: bool,
    /// The cancellation token, which the CPU checks between two matrices. Results that were not computed stay 0.
    pub(super) cancel: &'a Cancel,
}
