//! What a caller of the eigendecomposition asks for: one value, from the public door to the solvers of either side.

use crate::cancel::Cancel;
use std::ops::Range;

/// The columns that the matrix of that index in a batch needs, given its eigenvalues up to a common factor.
pub(crate) type Choose<'a> = &'a (dyn Fn(usize, &[f64]) -> Range<usize> + Sync);

/// Which eigenvectors, of columns in the order of ascending values.
#[derive(Clone, Copy)]
pub(super) enum Columns<'a> {
    /// Every one.
    All,
    /// None: values alone.
    None,
    /// Those from a first up to an end, of every matrix, all of one order. Results hold these pairs and no others.
    At(usize, usize),
    /// Those that each matrix needs, at least; others may stay 0.
    Chosen(Choose<'a>),
}

impl Columns<'_> {
    /// The columns of the matrix of that index, with these values in ascending order.
    pub(super) fn of(self, index: usize, values: impl ExactSizeIterator<Item = f64>) -> Range<usize> {
        match self {
            Self::All => 0..values.len(),
            Self::None => 0..0,
            Self::At(first, end) => first..end,
            Self::Chosen(choose) => choose(index, &values.collect::<Vec<_>>()),
        }
    }

    /// Whether there are none.
    pub(super) fn is_none(self) -> bool {
        matches!(self, Self::None)
    }
}

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) columns: Columns<'a>,
    /// Whether the certificate is wanted: of the columns, or of all. A device always gives one, of all.
    pub(super) certificate: bool,
    /// Whether the batch is what the caller made it: then a small one leaves most lanes empty, and its matrices go one by one. A
    /// ragged batch may be a part of a larger one, whose cut must not show.
    pub(super) whole: bool,
    /// Ends the CPU's work between two matrices; what is left out stays 0.
    pub(super) cancel: &'a Cancel,
}
