//! The small dense problems of an iteration: the best orthonormal basis and the best values that a block has, by the batched solver.

use super::space::{Grams, Rotation};
use crate::array::{Array, Ragged, both_to_host};
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigen::{Which, eigh, eigh_ragged};
use crate::shape::{Layout, to_u32};
use nalgebra::{DMatrix, DVector};

/// The rotation of one problem's block to its Ritz vectors, from the wanted end inward.
#[derive(Debug)]
pub(super) struct Ritz {
    pub(super) rotation: Rotation,
    /// The ratio of the largest to the smallest eigenvalue of X'X, its columns scaled to unit norm.
    pub(super) condition: f64,
}

/// Rayleigh-Ritz for each problem: `X'AX q = theta X'X q`. X'X is factored by its eigendecomposition after scaling (Stathopoulos
/// and Wu 2002), where directions below the sums' own error, `epsilon`, are held up to it: the block then is not orthonormal yet,
/// which `condition` tells. Problems `side_by_side` are solved so that none depends upon how many there are.
///
/// # Errors
/// Those of `eigh`, none of which an f64 batch on the CPU has.
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
            // A column of nothing is a direction of its own, of no length.
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

/// Eigenvalues, ascending, and eigenvectors of small matrices of one order.
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
    // A ragged batch is solved matrix by matrix as if it were a part of a larger one.
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
