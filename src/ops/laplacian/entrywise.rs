//! Makes eigenvectors v of the symmetric Laplacian accurate at nodes of small degree, so that `D^-1/2 v`, those of the
//! random-walk Laplacian, are accurate there, too.
//!
//! A solver leaves an error of about eps in every entry of v, which D^-1/2 amplifies. In terms of the computed vectors
//! v_k, the error of v_l is `sum e_kl v_k` with `e_kl = v_k'r / (l_k - l_l)`, where r is the residual of v_l. If r is
//! computed edge by edge, its own error at node i is proportional to the root of the degree of i, as v_l itself is. The
//! part of the error that lies on nodes of small degree is therefore found accurately.
//!
//! For vectors with close eigenvalues, e_kl and e_lk are right as long as they are a rotation, but not to within eps.
//! So only that of the two is computed which D^-1/2 amplifies; the other is its negative, and makes the vectors
//! orthogonal to each other.
//!
//! This is not enough if two vectors with close eigenvalues differ greatly in length after D^-1/2, above all within a
//! tie group, whose canonical basis combines them. What is left is found in twice the digits
//! ([`doubled`](super::doubled)).

use crate::graph::GraphRef;
use crate::ops::columns::product;
use faer::{Mat, MatRef, Par};
use std::ops::Range;

/// How often the vectors are corrected. The second time, residuals do not have the errors of the first.
const ROUNDS: usize = 2;
/// The largest angle by which two vectors are turned. The rotations are expanded to second order, so the vectors depart
/// from orthogonality by its fourth power. In a trial of this method in NumPy, 42 of 150 random graphs with weights of
/// up to 40 decades had a residual above `10 n eps` without a correction, and one with it, because of a tie
/// (2026-11-28).
const ANGLE: f64 = 1e-4;

/// Corrects all eigenvectors of the symmetric Laplacian of a graph but those of its null space.
pub(crate) fn correct(graph: GraphRef<'_>, values: &[f64], vectors: &mut [f64]) {
    let (n, count) = (graph.nodes(), values.len());
    let degrees = graph.degrees();
    let inverse = |i: usize| if degrees[i] > 0.0 { 1.0 / degrees[i] } else { 1.0 };
    let amplified = |column: &[f64]| column.iter().enumerate().map(|(i, x)| x * x * inverse(i)).sum();
    let sizes: Vec<f64> = vectors.chunks_exact(n.max(1)).map(amplified).collect();
    for _ in 0..ROUNDS {
        let residuals = residuals(graph, values, vectors);
        let v = MatRef::from_column_major_slice(&*vectors, n, count);
        let shares = product(v.transpose(), residuals.as_ref(), Par::Seq);
        let overlaps = product(v.transpose(), v, Par::Seq);
        let (mut rotation, mut departure) = (Mat::<f64>::zeros(count, count), Mat::<f64>::zeros(count, count));
        for l in 0..count {
            for k in (0..count).filter(|&k| (sizes[k], k) > (sizes[l], l)) {
                departure[(l, k)] = overlaps[(k, l)];
                let angle = shares[(k, l)] / (values[k] - values[l]);
                if angle.abs() <= ANGLE {
                    rotation[(k, l)] = angle;
                    rotation[(l, k)] = -angle;
                }
            }
        }
        let square = product(rotation.as_ref(), rotation.as_ref(), Par::Seq);
        let errors = Mat::from_fn(count, count, |k, l| rotation[(k, l)] + departure[(k, l)] - square[(k, l)] / 2.0);
        let errors = product(v, errors.as_ref(), Par::Seq);
        for (j, column) in vectors.chunks_exact_mut(n.max(1)).enumerate() {
            column.iter_mut().zip(errors.col_as_slice(j)).for_each(|(x, error)| *x -= error);
        }
    }
}

/// Returns whether the selected vectors of the random-walk Laplacian are accurate to about `n eps` over the distance of
/// their eigenvalue from others. `vectors` are all vectors of the symmetric Laplacian, and `groups` has the tie group
/// of each.
///
/// Their residuals have to be at most `n eps`, relative to their lengths. This does not suffice where vectors of other
/// eigenvalues are nearly parallel, as those of a node are that hangs on a weak edge: an error in their common
/// direction has hardly a residual. The part of an error that lies along the vector `D^-1/2 v_k` is at most the
/// residual, over the distance of the eigenvalues, times the condition number `|D^-1/2 v_k| |D^1/2 v_k|` of the
/// eigenvalue `l_k` (Wilkinson 1965). So it is small where this number is, or where D^-1/2 amplifies v_k no more than
/// v.
pub(crate) fn are_accurate(
    graph: GraphRef<'_>,
    groups: &[u32],
    (values, vectors): (&[f64], &[f64]),
    selected: Range<usize>,
    eps: f64,
) -> bool {
    let n = graph.nodes();
    let degrees = graph.degrees();
    #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
    let allowed = n as f64 * eps;
    let walk: Vec<Vec<f64>> = vectors
        .chunks_exact(n.max(1))
        .map(|v| v.iter().zip(&degrees).map(|(v, d)| if *d > 0.0 { v / d.sqrt() } else { 0.0 }).collect())
        .collect();
    let length = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    let lengths: Vec<f64> = walk.iter().map(|x| length(&mut x.iter().copied())).collect();
    let left = |x: &[f64]| length(&mut x.iter().zip(&degrees).map(|(x, d)| x * d));
    let conditions: Vec<f64> = walk.iter().zip(&lengths).map(|(x, length)| length * left(x)).collect();
    selected.into_iter().all(|j| {
        let (x, allowed) = (&walk[j], allowed * lengths[j]);
        let along = |i: usize| graph.row(i).map(|(other, weight)| difference(weight, x[i], x[other])).sum::<f64>();
        let away = |i: usize| if degrees[i] > 0.0 { along(i) / degrees[i] - values[j] * x[i] } else { 0.0 };
        let residual = length(&mut (0..n).map(away));
        let small = |k: usize| lengths[k] * f64::EPSILON <= allowed || conditions[k] * residual <= allowed;
        residual <= allowed && (0..walk.len()).all(|k| groups[k] == groups[j] || small(k))
    })
}

/// Returns the share of an edge in the product of its Laplacian with x, at the node with the entry `own`.
fn difference(weight: f64, own: f64, other: f64) -> f64 {
    weight.abs() * if weight < 0.0 { own + other } else { own - other }
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
            let along: f64 = graph.row(i).map(|(other, weight)| difference(weight, x[i], x[other])).sum();
            *to = (along - value * degrees[i] * x[i]) / roots[i];
        }
    }
    residuals
}
