//! Makes eigenvectors v of the symmetric Laplacian accurate at nodes of small degree, so that `D^-1/2 v`, those of the
//! random-walk Laplacian, are accurate there, too.
//!
//! A solver leaves an error of about eps in every entry of v, which D^-1/2 amplifies. In terms of the computed vectors
//! v_k, the error of v_l is `sum e_kl v_k` with `e_kl = v_k'r / (l_k - l_l)`, where r is the residual of v_l. If r is
//! computed edge by edge, its own error at node i is proportional to the root of the degree of i, as v_l itself is. The
//! part of the error that lies on nodes of small degree is therefore found accurately.

use crate::graph::GraphRef;
use crate::ops::columns::product;
use faer::{Mat, MatRef, Par};

/// How often the vectors are corrected. The error of the first correction is of second order in the distance of close
/// eigenvalues.
const ROUNDS: usize = 2;
/// The relative distance of two eigenvalues up to which their vectors are left as they are to each other: a correction
/// would not be small.
const CLOSE: f64 = 1e-7;

/// The largest overlap `sum |v_k| |v_l|` of two vectors that are corrected by each other, relative to the distance of
/// their eigenvalues.
const OVERLAP: f64 = 0.1;

/// Corrects all eigenvectors of the symmetric Laplacian of a graph but those of its null space.
pub(crate) fn correct(graph: GraphRef<'_>, values: &[f64], vectors: &mut [f64]) {
    let (n, count) = (graph.nodes(), values.len());
    for _ in 0..ROUNDS {
        let residuals = residuals(graph, values, vectors);
        let v = MatRef::from_column_major_slice(&*vectors, n, count);
        let sizes = Mat::from_fn(n, count, |i, j| v[(i, j)].abs());
        let overlaps = product(sizes.as_ref().transpose(), sizes.as_ref(), Par::Seq);
        let mut shares = product(v.transpose(), residuals.as_ref(), Par::Seq);
        for l in 0..count {
            for k in 0..count {
                let (sum, gap) = (values[k] + values[l], values[k] - values[l]);
                // The error of v_k'r is eps times the overlap of the vectors. If it were not small beside the distance,
                // the vectors would lose their orthogonality.
                let better = gap.abs() > CLOSE * sum && overlaps[(k, l)] <= OVERLAP * gap.abs();
                shares[(k, l)] = if better { shares[(k, l)] / gap } else { 0.0 };
            }
        }
        let errors = product(v, shares.as_ref(), Par::Seq);
        for (j, column) in vectors.chunks_exact_mut(n.max(1)).enumerate() {
            column.iter_mut().zip(errors.col_as_slice(j)).for_each(|(x, error)| *x -= error);
        }
    }
}

/// Returns `L v - l v` for every pair, where L is the symmetric Laplacian.
fn residuals(graph: GraphRef<'_>, values: &[f64], vectors: &[f64]) -> Mat<f64> {
    let n = graph.nodes();
    let degrees = graph.degrees();
    let roots: Vec<f64> = degrees.iter().map(|degree| degree.sqrt()).collect();
    let mut residuals = Mat::zeros(n, values.len());
    for (j, (&value, column)) in values.iter().zip(vectors.chunks_exact(n.max(1))).enumerate() {
        let x: Vec<f64> = column.iter().zip(&roots).map(|(v, root)| if *root > 0.0 { v / root } else { 0.0 }).collect();
        for (i, to) in residuals.col_as_slice_mut(j).iter_mut().enumerate().filter(|&(i, _)| roots[i] > 0.0) {
            let along: f64 = graph.row(i).map(|(other, weight)| weight * (x[i] - x[other])).sum();
            *to = (along - value * degrees[i] * x[i]) / roots[i];
        }
    }
    residuals
}
