//! The whole spectrum of the Laplacian of a graph, without the null space, which is known.

use crate::array::Real;
use crate::encode::dense::null_vectors;
use crate::encode::separate::Limits;
use crate::encode::sparse::solved_normalization;
use crate::error::Result;
use crate::graph::{GraphRef, IsolatedDiagonal};
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
        let (n, null) = (graph.nodes(), null_vectors(graph, solved));
        let projector = null_diagonal(graph, solved);
        let operator = Operator::laplacian(graph, solved)?;
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
            orthogonality: departure(&found.vectors, n),
        };
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

/// Returns the diagonal of the projector onto the null space, which has one vector for each component: the indicator
/// of the component for the combinatorial Laplacian, and D^1/2 times it for the symmetric one.
pub(super) fn null_diagonal(graph: GraphRef<'_>, normalization: Normalization) -> Vec<f64> {
    let (components, degrees) = (graph.components(), graph.degrees());
    let normalized = normalization != Normalization::Combinatorial;
    let share = |node: usize| if normalized { degrees[node] } else { 1.0 };
    let mut totals = vec![0.0; components.count];
    components.labels.iter().enumerate().for_each(|(node, &label)| totals[label as usize] += share(node));
    let one = graph.conventions().isolated == IsolatedDiagonal::One;
    let entry = |(node, &label): (usize, &u32)| match totals[label as usize] {
        0.0 => f64::from(u8::from(!one)), // an isolated node
        total => share(node) / total,
    };
    components.labels.iter().enumerate().map(entry).collect()
}

/// Computes `max |V'V - I|` of the columns of V, which have n rows.
fn departure(vectors: &[f64], n: usize) -> f64 {
    let columns: Vec<&[f64]> = vectors.chunks_exact(n.max(1)).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let away = |(i, j): (usize, usize)| (product(columns[i], columns[j]) - f64::from(u8::from(i == j))).abs();
    (0..columns.len()).flat_map(|j| (0..=j).map(move |i| (i, j))).map(away).fold(0.0, f64::max)
}
