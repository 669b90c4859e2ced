//! The result of an encoder: k eigenpairs for every graph, padded to a common shape, with certificates.

use crate::array::Real;
use crate::ops::{Certificate, Status};
use nalgebra::{DMatrixView, Dyn};
use num_complex::Complex;
use std::ops::Range;

/// A view of the rows of a row-major array that belong to one graph.
pub type RowMajor<'a, T = f32> = nalgebra::MatrixView<'a, T, Dyn, Dyn, Dyn, Dyn>;
/// A view of the rows of a row-major array of complex numbers that belong to one graph.
pub type ComplexRowMajor<'a, T = f32> = RowMajor<'a, Complex<T>>;

/// The spectral encodings of a batch of graphs. Arrays are row-major. If a graph has fewer than k pairs, the remaining
/// columns are masked: the eigenvalue is NaN, the eigenvector is 0, the tie group is -1 and the mask is 0.
///
/// Eigenvalues and eigenvectors have the type `T`, which is f32, or f64 in the result of
/// [`SpectralEncoder::encode_f64`](super::SpectralEncoder::encode_f64).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Encoding<T = f32> {
    /// The number of pairs requested per graph.
    pub k: usize,
    /// The number of steps of the random walk; 0 if none were requested.
    pub walk_steps: usize,
    /// The eigenvalues, with shape `(graphs, k)`, ascending within a graph.
    pub eigenvalues: Vec<T>,
    /// The eigenvectors, with shape `(nodes, k)`. Within a graph, each column has unit 2-norm. It is empty if the
    /// eigenvectors are complex.
    pub eigenvectors: Vec<T>,
    /// The complex eigenvectors of magnetic Laplacians, with shape `(nodes, k)`. Within a graph, each column has unit
    /// 2-norm. It is empty if the eigenvectors are real.
    pub complex_eigenvectors: Vec<Complex<T>>,
    /// The index of each graph's first node, followed by the total number of nodes; `(graphs + 1)` values.
    pub node_offsets: Vec<i64>,
    /// The residual `max_j |L v_j - l_j v_j|_2 / |L|_1` of each graph's pairs. It is computed in f64 from the stored
    /// pairs.
    pub residual: Vec<f32>,
    /// The departure from orthogonality `max |V'V - I|` of each graph's pairs. For a random-walk Laplacian, it is
    /// computed from the vectors of the similar symmetric Laplacian.
    pub orthogonality: Vec<f32>,
    /// The code of the [`Status`] of each graph.
    pub status: Vec<u8>,
    /// The number of connected components of each graph.
    pub components: Vec<i64>,
    /// The tie group of each pair, with shape `(graphs, k)`. Pairs of the same group are tied, and their vectors are
    /// the canonical basis of the space that they span. The known null space is a separate group. Other eigenvalues are
    /// tied if the difference between their square roots is at most 1e-10 times the square root of the bound of the
    /// spectrum.
    pub tie_group: Vec<i64>,
    /// Whether each graph's encoding contains only some pairs of a tie group (1) or only complete groups (0). An
    /// incomplete group is either the null space or the group farthest from the wanted end of the spectrum.
    pub tie_cut: Vec<u8>,
    /// The mask with shape `(graphs, k)`, which is 1 for every pair that exists.
    pub mask: Vec<u8>,
    /// The return probabilities of the random walk, with shape `(nodes, walk_steps)`. They are the diagonals of the
    /// powers 1, 2, ... of D^-1 W, where W is the adjacency matrix and D is the diagonal matrix of the degrees.
    pub random_walk: Vec<f32>,
}

impl<T: Real> Encoding<T> {
    /// Returns the number of graphs.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.status.len()
    }

    /// Returns the `k` eigenvalues of graph `i`. If the graph has fewer than `k` pairs, the remaining values are NaN.
    ///
    /// # Panics
    /// If the batch has no graph `i`.
    #[must_use]
    pub fn eigenvalues(&self, i: usize) -> &[T] {
        &self.eigenvalues[i * self.k..(i + 1) * self.k]
    }

    /// Returns the eigenvectors of graph `i` as an `(n, k)` matrix, where n is the number of nodes. Of complex ones,
    /// these are the real parts.
    ///
    /// # Panics
    /// If the batch has no graph `i`.
    #[must_use]
    pub fn eigenvectors(&self, i: usize) -> RowMajor<'_, T> {
        if self.complex_eigenvectors.is_empty() {
            return self.rows(&self.eigenvectors, i, self.k);
        }
        let of_graph = self.nodes(i);
        let (n, parts) = (of_graph.len(), 2 * self.k);
        let all: &[T] = bytemuck::cast_slice(&self.complex_eigenvectors);
        let part = &all[of_graph.start * parts..of_graph.end * parts];
        DMatrixView::from_slice_with_strides_generic(part, Dyn(n), Dyn(self.k), Dyn(parts), Dyn(2))
    }

    /// Returns the complex eigenvectors of graph `i` as an `(n, k)` matrix, where n is the number of nodes. Returns
    /// `None` if the encoder computed real ones, without
    /// [`SpectralEncoder::magnetic`](super::SpectralEncoder::magnetic).
    ///
    /// # Panics
    /// If the batch has no graph `i`.
    #[must_use]
    pub fn complex_eigenvectors(&self, i: usize) -> Option<ComplexRowMajor<'_, T>> {
        let all = &self.complex_eigenvectors;
        (!all.is_empty() || self.nodes(i).is_empty()).then(|| self.rows(all, i, self.k))
    }

    /// Returns the return probabilities of the random walk on graph `i` as an `(n, walk_steps)` matrix, where n is the
    /// number of nodes.
    ///
    /// # Panics
    /// If the batch has no graph `i`.
    #[must_use]
    pub fn random_walk(&self, i: usize) -> RowMajor<'_> {
        self.rows(&self.random_walk, i, self.walk_steps)
    }

    /// Returns the certificate of graph `i`.
    ///
    /// # Panics
    /// If the batch has no graph `i`.
    #[must_use]
    pub fn certificate(&self, i: usize) -> Certificate {
        Certificate {
            status: Status::from_code(self.status[i]),
            sweeps: 0,
            residual: self.residual[i].into(),
            orthogonality: self.orthogonality[i].into(),
        }
    }

    /// Returns the number of graphs whose status is not `Converged`.
    #[must_use]
    pub fn uncertified(&self) -> usize {
        self.status.iter().filter(|&&s| s != Status::Converged as u8).count()
    }

    fn rows<'a, U: nalgebra::Scalar>(&self, array: &'a [U], i: usize, columns: usize) -> RowMajor<'a, U> {
        let nodes = self.nodes(i);
        let part = &array[nodes.start * columns..nodes.end * columns];
        DMatrixView::from_slice_with_strides_generic(part, Dyn(nodes.len()), Dyn(columns), Dyn(columns), Dyn(1))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "offsets were made from usize")]
    fn nodes(&self, i: usize) -> Range<usize> {
        self.node_offsets[i] as usize..self.node_offsets[i + 1] as usize
    }
}
