//! The request of a caller of the eigendecomposition. The public functions pass it to the solver of the CPU or of the
//! device.

use crate::cancel::Cancel;
use std::ops::Range;

/// A function that returns the columns of eigenvectors that are needed for a matrix. Its arguments are the index of the
/// matrix in the batch, and the eigenvalues of the matrix in ascending order, all multiplied by the same unknown
/// positive factor.
pub(crate) type Choose<'a> = &'a (dyn Fn(usize, &[f64]) -> Range<usize> + Sync);

/// The eigenvectors to compute. Their columns are numbered in the order of ascending eigenvalues.
#[derive(Clone, Copy)]
pub(super) enum Columns<'a> {
    /// All columns.
    All,
    /// No columns, only the eigenvalues.
    None,
    /// The columns from the first index up to, but not including, the second index, for every matrix. All matrices have
    /// the same order. The results contain only the eigenpairs of these columns.
    At(usize, usize),
    /// At least the columns that the function returns for each matrix. The other columns may stay 0.
    Chosen(Choose<'a>),
}

impl Columns<'_> {
    /// Returns the columns for the matrix with the index `index`, whose eigenvalues in ascending order are `values`.
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
    /// Whether a certificate is wanted. The CPU may certify all columns or only the wanted columns. The device always
    /// certifies all columns.
    pub(super) certificate: bool,
    /// Whether the batch is exactly the one that the caller passed. If it is, and if the batch has too few matrices to
    /// fill most SIMD lanes, the CPU solves all but the smallest matrices one by one. If it is not, the batch may be a
    /// part of a larger ragged batch. The results must then not depend on where the larger batch was split, so the CPU
    /// does not consider the number of matrices.
    pub(super) whole: bool,
    /// The cancellation token, which the CPU checks between two matrices. Results that were not computed stay 0.
    pub(super) cancel: &'a Cancel,
}
