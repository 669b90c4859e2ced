//! Creates operators from matrices in compressed sparse row form, and validates the matrices.

use super::null::NullSpace;
use super::operator::{Bounds, Operator};
use crate::array::Real;
use crate::error::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// The row offsets, columns and values of a matrix in compressed sparse row form, of which each may be borrowed.
pub(crate) type Csr<'a, T> = (Cow<'a, [usize]>, Cow<'a, [u32]>, Cow<'a, [T]>);

impl<'a, T: Real> Operator<'a, T> {
    /// Creates an operator from a symmetric matrix in compressed sparse row form. Row i has the column indices
    /// `columns[row_offsets[i]..row_offsets[i + 1]]`, which must ascend, and the corresponding `values`.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the arrays do not fit together; [`Domain`](crate::ErrorKind::Domain) for a
    /// column out of range or out of order, a value that is not finite, or an entry that differs from its mirror image
    /// across the diagonal.
    pub fn from_csr(row_offsets: Vec<usize>, columns: Vec<u32>, values: Vec<T>) -> Result<Self> {
        Self::from_lent_csr((row_offsets.into(), columns.into(), values.into()))
    }

    /// Creates an operator as [`Operator::from_csr`] does, from arrays that may be the caller's.
    ///
    /// # Errors
    /// The same as [`Operator::from_csr`].
    pub(crate) fn from_lent_csr(csr: Csr<'a, T>) -> Result<Self> {
        let order = csr.0.len().saturating_sub(1);
        Self::checked("sparse symmetric matrix", true, (order, order), csr)
    }

    /// Creates an operator from any matrix. The matrix has the given shape, (rows, columns), and becomes the upper left
    /// corner of a square matrix, whose order is the larger dimension; `row_offsets` must cover all rows of the square
    /// matrix. The operator supports products only.
    ///
    /// # Errors
    /// The same as [`Operator::from_csr`], but the matrix need not be symmetric.
    pub(super) fn any_csr(
        row_offsets: Vec<usize>,
        shape: (usize, usize),
        columns: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        Self::checked("sparse matrix", false, shape, (row_offsets.into(), columns.into(), values.into()))
    }

    fn checked(
        what: &'static str,
        symmetric: bool,
        (rows, cols): (usize, usize),
        (row_offsets, columns, values): Csr<'a, T>,
    ) -> Result<Self> {
        let (first, last) = (row_offsets.first().copied(), row_offsets.last().copied());
        let ascending = row_offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if first != Some(0) || !ascending || last != Some(columns.len()) || columns.len() != values.len() {
            let expected = "ascending row offsets from 0 to the number of columns, and a value for each column";
            let found = format!(
                "offsets from {first:?} to {last:?} ({}), {} columns, {} values",
                if ascending { "ascending" } else { "not ascending" },
                columns.len(),
                values.len()
            );
            return Err(Error::shape(what, expected, found));
        }
        // A matrix that is not square is stored as a square matrix whose order is its larger dimension.
        let order = row_offsets.len() - 1;
        if order != rows.max(cols) {
            return Err(Error::shape(what, format!("{rows} rows"), format!("{order} of them")));
        }
        if u32::try_from(order).is_err() {
            let what = "rows of a sparse matrix".to_owned();
            return Err(ErrorKind::Limit { what, needed: order as u64, allowed: u32::MAX.into() }.into());
        }
        let span = |row: usize| row_offsets[row]..row_offsets[row + 1];
        let mut bounds = Bounds { lower: f64::INFINITY, upper: f64::NEG_INFINITY, norm: 0.0 };
        for (row, &begin) in row_offsets[..order].iter().enumerate() {
            let (mut own, mut others) = (0.0, 0.0);
            for place in span(row) {
                let (column, value) = (columns[place] as usize, values[place].to_f64());
                let previous = (place > begin).then(|| columns[place - 1] as usize);
                if column >= cols || previous.is_some_and(|p| p >= column) {
                    let found = format!("row {row}: expected ascending columns below {cols}, found {column}");
                    return Err(Error::domain(what, found));
                }
                if !value.is_finite() {
                    return Err(Error::domain(what, format!("entry ({row}, {column}) is {value}, not finite")));
                }
                let equal = || {
                    let across = span(column);
                    let reverse = columns[across.clone()].binary_search_by(|&c| (c as usize).cmp(&row));
                    reverse.is_ok_and(|i| values[across.start + i] == values[place])
                };
                if symmetric && !equal() {
                    let found =
                        format!("entry ({row}, {column}) is {value}, its equal across the diagonal is not there");
                    return Err(Error::domain(what, found));
                }
                if column == row { own = value } else { others += value.abs() }
            }
            bounds.lower = bounds.lower.min(own - others);
            bounds.upper = bounds.upper.max(own + others);
            bounds.norm = bounds.norm.max(own.abs() + others);
        }
        if order == 0 {
            bounds = Bounds::default();
        }
        Ok(Self {
            node_offsets: vec![0, order],
            row_offsets,
            columns,
            weights: Some(values),
            coupling: 1.0,
            diagonal: vec![T::from_f64(0.0); order].into(),
            scale: None,
            bounds: vec![bounds],
            null: NullSpace::none(order),
        })
    }
}
