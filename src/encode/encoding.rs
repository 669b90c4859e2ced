//! The result of an encoder: k eigenpairs of every graph, padded, with certificates.

use crate::array::Real;
use crate::ops::{Certificate, Status};
use nalgebra::{DMatrixView, Dyn};

/// A row-major view of one graph's rows of an array.
pub type RowMajor<'a, T = f32> = nalgebra::MatrixView<'a, T, Dyn, Dyn, Dyn, Dyn>;

/// The spectral encodings of a batch of graphs. Arrays are row-major; columns beyond a graph's pairs are masked:
/// value NaN, vector 0, tie group -1, mask 0.
///
/// Eigenvalues and eigenvectors are of type `T`: f32, or f64 from
/// [`SpectralEncoder::encode_f64`](super::SpectralEncoder::encode_f64).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Encoding<T = f32> {
    /// The number of pairs requested per graph.
    pub k: usize,
    /// The number of steps of the random walk; 0 if none were requested.
    pub walk_steps: usize,
    /// `(graphs, k)`: ascending within a graph.
    pub eigenvalues: Vec<T>,
    /// `(nodes, k)`: unit 2-norm columns within a graph.
    pub eigenvectors: Vec<T>,
    /// `(graphs + 1)`: the offset of each graph's first row, and the number of rows at the end.
    pub node_offsets: Vec<i64>,
    /// `(graphs)`: `max_j |L v_j - l_j v_j|_2 / |L|_1` over the pairs, measured in f64 on the pairs as they are here.
    pub residual: Vec<f32>,
    /// `(graphs)`: `max |V'V - I|` over the pairs, of the symmetric similar if L is the random walk's.
    pub orthogonality: Vec<f32>,
    /// `(graphs)`: the code of a [`Status`] each.
    pub status: Vec<u8>,
    /// `(graphs)`: the number of connected components.
    pub components: Vec<i64>,
    /// `(graphs, k)`: pairs with the same number are tied, and their vectors are the canonical basis of the space
    /// they span. The known null space is a separate group; other values are tied if their square roots are within
    /// 1e-10 of the square root of the spectrum's bound.
    pub tie_group: Vec<i64>,
    /// `(graphs)`: 1 if the tie group farthest from the wanted end of the spectrum, or the null space, has more pairs
    /// than are here.
    pub tie_cut: Vec<u8>,
    /// `(graphs, k)`: 1 where there is a pair.
    pub mask: Vec<u8>,
    /// `(nodes, walk_steps)`: the diagonals of the powers 1, 2, ... of D^-1 W.
    pub random_walk: Vec<f32>,
}

impl<T: Real> Encoding<T> {
    /// Returns the number of graphs.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.status.len()
    }

    /// Returns the eigenvalues of graph `i`: `k` values, NaN beyond the graph's own.
    ///
    /// # Panics
    /// If there is no graph `i`, as indexing does.
    #[must_use]
    pub fn eigenvalues(&self, i: usize) -> &[T] {
        &self.eigenvalues[i * self.k..(i + 1) * self.k]
    }

    /// Returns the eigenvectors of graph `i`: `(n, k)`.
    ///
    /// # Panics
    /// If there is no graph `i`, as indexing does.
    #[must_use]
    pub fn eigenvectors(&self, i: usize) -> RowMajor<'_, T> {
        self.rows(&self.eigenvectors, i, self.k)
    }

    /// Returns the random walk's return probabilities of graph `i`: `(n, walk_steps)`.
    ///
    /// # Panics
    /// If there is no graph `i`, as indexing does.
    #[must_use]
    pub fn random_walk(&self, i: usize) -> RowMajor<'_> {
        self.rows(&self.random_walk, i, self.walk_steps)
    }

    /// Returns the certificate of graph `i`.
    ///
    /// # Panics
    /// If there is no graph `i`, as indexing does.
    #[must_use]
    pub fn certificate(&self, i: usize) -> Certificate {
        Certificate {
            status: Status::from_code(self.status[i]),
            sweeps: 0,
            residual: self.residual[i].into(),
            orthogonality: self.orthogonality[i].into(),
        }
    }

    /// Returns the number of graphs whose status is not Converged.
    #[must_use]
    pub fn uncertified(&self) -> usize {
        self.status.iter().filter(|&&s| s != Status::Converged as u8).count()
    }

    fn rows<'a, U: nalgebra::Scalar>(&self, array: &'a [U], i: usize, columns: usize) -> RowMajor<'a, U> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "offsets were made from usize")]
        let (begin, end) = (self.node_offsets[i] as usize, self.node_offsets[i + 1] as usize);
        let part = &array[begin * columns..end * columns];
        DMatrixView::from_slice_with_strides_generic(part, Dyn(end - begin), Dyn(columns), Dyn(columns), Dyn(1))
    }
}
