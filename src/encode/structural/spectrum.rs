//! The whole spectrum of the Laplacian of a graph, without the null space, which is known.

use crate::array::Real;
use crate::encode::pairs::orthogonality;
use crate::encode::separate::Limits;
use crate::encode::sparse::solved_normalization;
use crate::error::Result;
use crate::graph::GraphRef;
use crate::ops::eigen::Certificate;
use crate::ops::laplacian::factor::eigenpairs;
use crate::ops::sparse::Operator;
use crate::ops::{Normalization, Status};

/// The eigenpairs of a Laplacian of n nodes whose eigenvalues are not 0.
pub(super) struct Spectrum {
    /// The eigenvalues in ascending order.
    pub(super) values: Vec<f64>,
    /// The eigenvectors as the columns of a column-major matrix of n rows.
    pub(super) vectors: Vec<f64>,
    /// The diagonal of the projector onto the null space.
    pub(super) null: Vec<f64>,
    pub(super) certificate: Certificate,
}

impl Spectrum {
    /// Returns the spectrum of a graph from all `values` and `vectors` of a decomposition of its Laplacian in f64. If
    /// that leaves the smallest eigenvalues without the digits that T has, it is computed again from a factor of the
    /// Laplacian. For [`Normalization::RandomWalk`], the pairs are those of the symmetric Laplacian.
    pub(super) fn new<T: Real>(
        (graph, normalization): (GraphRef<'_>, Normalization),
        (values, vectors): (&[f64], &[f64]),
        certificate: Certificate,
    ) -> Result<Self> {
        let solved = solved_normalization(normalization);
        let operator = Operator::laplacian(graph, solved)?;
        let (n, null, projector) = (graph.nodes(), operator.null_vectors(), operator.null.projector_diagonal());
        let bound = operator.bounds(0).upper;
        // The error of an eigenvalue in f64 is some `eps |L|`.
        let resolved = if T::EPSILON < 1e-10 { Limits::of::<T>(n).factored } else { f64::EPSILON / T::EPSILON };
        if values.get(null).is_none_or(|&first| first > resolved * bound) {
            let (values, vectors) = (values[null..].to_vec(), vectors[null * n..].to_vec());
            return Ok(Self { values, vectors, null: projector, certificate });
        }
        let found = eigenpairs(graph, solved);
        let residual = operator.residuals(&found.values, &found.vectors).into_iter().fold(0.0, f64::max);
        let status = if found.converged { Status::Converged } else { Status::NotConverged };
        let norm = operator.bounds(0).norm;
        let certificate = Certificate {
            status,
            sweeps: 0,
            residual: residual / if norm == 0.0 { 1.0 } else { norm },
            orthogonality: orthogonality::<f64>(&found.vectors, n, found.values.len()),
        };
        let certificate = certificate.judged(n, f64::EPSILON);
        Ok(Self { values: found.values, vectors: found.vectors, null: projector, certificate })
    }

    /// Returns the diagonal of f(L), without the contribution of the null space.
    pub(super) fn diagonal(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.null.len()];
        for (&value, column) in self.values.iter().zip(self.vectors.chunks_exact(self.null.len().max(1))) {
            let weight = f(value);
            diagonal.iter_mut().zip(column).for_each(|(sum, v)| *sum += weight * (v * v));
        }
        diagonal
    }
}
