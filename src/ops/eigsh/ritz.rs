//! The small dense problems of an iteration, which determine the best orthonormal basis and the Ritz values of a
//! block. The batched solver solves them.

use super::space::{Grams, Rotation};
use crate::array::{Array, Ragged, both_to_host};
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigen::{Which, eigh, eigh_ragged};
use crate::shape::{Layout, to_u32};
use nalgebra::{DMatrix, DVector};

/// The rotation of one problem's block to its Ritz vectors, which are ordered from the wanted end of the spectrum.
#[derive(Debug)]
pub(super) struct Ritz {
    pub(super) rotation: Rotation,
    /// The ratio of the largest to the smallest eigenvalue of X'X, after the columns of X are scaled to unit norm.
    pub(super) condition: f64,
}

/// Solves `X'AX q = theta X'X q` (Rayleigh-Ritz) for each problem. X'X is scaled to a unit diagonal and factorized
/// by its eigendecomposition (Stathopoulos and Wu 2002). The error of the sums in X'X is the product of `epsilon`,
/// the order and the largest eigenvalue of X'X. Eigenvalues of X'X below that error are raised to it. The new block
/// is then not orthonormal yet, which a large `condition` shows. If `side_by_side` is set, the result for one
/// problem does not depend on the number of problems.
///
/// # Errors
/// The errors of `eigh`, none of which occurs for an f64 batch on the CPU.
pub(super) fn rayleigh_ritz(
    ctx: &Context,
    grams: &[Grams],
    which: Which,
    epsilon: f64,
    side_by_side: bool,
) -> Result<Vec<Ritz>> {
    let Some(first) = grams.first() else { return Ok(Vec::new()) };
    let width = first.xx.nrows();
    let scales: Vec<DVector<f64>> = grams
        .iter()
        .map(|g| g.xx.diagonal().map(|square| if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 }))
        .collect();
    let scaled: Vec<DMatrix<f64>> = grams
        .iter()
        .zip(&scales)
        .map(|(g, d)| {
            let mut scaled = DMatrix::from_fn(width, width, |i, j| d[i] * g.xx[(i, j)] * d[j]);
            // A zero column of X then gives a coordinate vector as an eigenvector, with the eigenvalue 0.
            (0..width).filter(|&i| d[i] == 0.0).for_each(|i| scaled[(i, i)] = 0.0);
            scaled
        })
        .collect();
    let bases = decompose(ctx, &scaled, side_by_side)?;
    let mut conditions = Vec::with_capacity(grams.len());
    let orthonormal: Vec<DMatrix<f64>> = bases
        .into_iter()
        .zip(&scales)
        .map(|((lengths, mut basis), d)| {
            let largest = lengths.max();
            let least = epsilon * width as f64 * largest;
            conditions.push(largest / lengths.min().max(f64::MIN_POSITIVE));
            for (mut column, &length) in basis.column_iter_mut().zip(lengths.iter()) {
                column /= length.max(least).sqrt();
            }
            DMatrix::from_fn(width, width, |i, j| d[i] * basis[(i, j)])
        })
        .collect();
    let projected: Vec<DMatrix<f64>> = grams
        .iter()
        .zip(&orthonormal)
        .map(|(g, s)| {
            let h = s.transpose() * &g.xax * s;
            (&h + h.transpose()) / 2.0
        })
        .collect();
    let solved = decompose(ctx, &projected, side_by_side)?;
    let inward = |(values, vectors): (DVector<f64>, DMatrix<f64>)| match which {
        Which::Smallest => (values.as_slice().to_vec(), vectors),
        Which::Largest => {
            let places: Vec<usize> = (0..width).rev().collect();
            (values.as_slice().iter().rev().copied().collect(), vectors.select_columns(&places))
        }
    };
    Ok(solved
        .into_iter()
        .map(inward)
        .zip(&orthonormal)
        .zip(conditions)
        .map(|(((values, vectors), s), condition)| Ritz { rotation: Rotation { q: s * vectors, values }, condition })
        .collect())
}

/// Computes the eigenvalues, ascending, and the eigenvectors of small matrices of the same order.
fn decompose(
    ctx: &Context,
    matrices: &[DMatrix<f64>],
    side_by_side: bool,
) -> Result<Vec<(DVector<f64>, DMatrix<f64>)>> {
    if !side_by_side {
        let found = eigh(ctx, &Array::from_matrices(matrices)?)?;
        let (values, vectors) = both_to_host(ctx, &found.values, &found.vectors)?;
        let pair = |i| (values.matrix(i).column(0).into_owned(), vectors.matrix(i).into_owned());
        return Ok((0..matrices.len()).map(pair).collect());
    }
    // A ragged batch solves each matrix in the same way, however many matrices there are.
    let layout = Layout::new(matrices.iter().map(|matrix| to_u32(matrix.nrows())));
    let elements = matrices.iter().flat_map(|matrix| matrix.iter().copied()).collect();
    let found = eigh_ragged(ctx, &Ragged::from_vec(layout, elements)?)?.to_host(ctx)?;
    let pair = |i: usize| {
        let (rows, elements) = (found.layout.rows(i), found.layout.elements(i));
        let n = rows.len();
        (DVector::from_column_slice(&found.values[rows]), DMatrix::from_column_slice(n, n, &found.vectors[elements]))
    };
    Ok((0..matrices.len()).map(pair).collect())
}
