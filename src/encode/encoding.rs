//! What an encoder gives: k eigenpairs of every graph, padded, with certificates.

use crate::array::Real;
use crate::ops::{Certificate, Status};
use nalgebra::{DMatrixView, Dyn};

/// The row-major view of one graph's part of an array.
pub type RowMajor<'a, T = f32> = nalgebra::MatrixView<'a, T, Dyn, Dyn, Dyn, Dyn>;

/// The spectral encodings of a batch of graphs. Arrays are row-major; columns beyond a graph's pairs are masked: value NaN,
/// vector 0, tie group -1, mask 0.
///
/// Eigenvalues and eigenvectors are of `T`: f32, or f64 where an encoder was asked for that.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Encoding<T = f32> {
    /// Pairs asked for of each graph.
    pub k: usize,
    /// Steps of the random walk; 0 where none were asked for.
    pub walk_steps: usize,
    /// `(graphs, k)`, ascending.
    pub eigenvalues: Vec<T>,
    /// `(nodes, k)`: unit 2-norm columns within a graph.
    pub eigenvectors: Vec<T>,
    /// `(graphs + 1)`: where each graph's rows begin.
    pub node_offsets: Vec<i64>,
    /// `(graphs)`: `max_j |L v_j - l_j v_j|_2 / |L|_1` over the pairs given, measured in f64 on what is given.
    pub residual: Vec<f32>,
    /// `(graphs)`: `max |V'V - I|` over the pairs given, of the symmetric similar where L is the random walk's.
    pub orthogonality: Vec<f32>,
    /// `(graphs)`: a [`Status`] each.
    pub status: Vec<u8>,
    /// `(graphs)`: connected components.
    pub components: Vec<i64>,
    /// `(graphs, k)`: pairs of one number are tied, and their vectors are the canonical basis of the space they span. The known null
    /// space is a group of its own; other values are tied where their square roots are within 1e-10 of the square root of the
    /// spectrum's bound.
    pub tie_group: Vec<i64>,
    /// `(graphs)`: 1 where the last tie group, or the null space, has more pairs than the k that are here.
    pub tie_cut: Vec<u8>,
    /// `(graphs, k)`: 1 where there is a pair.
    pub mask: Vec<u8>,
    /// `(nodes, walk_steps)`: the diagonals of the powers 1, 2, ... of D^-1 W.
    pub random_walk: Vec<f32>,
}

impl<T: Real> Encoding<T> {
    /// Graphs.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.status.len()
    }

    /// The eigenvalues of graph `i`, `k` of them, NaN beyond its own.
    ///
    /// # Panics
    /// If there is no graph `i`, as indexing does.
    #[must_use]
    pub fn eigenvalues(&self, i: usize) -> &[T] {
        &self.eigenvalues[i * self.k..(i + 1) * self.k]
    }

    /// The eigenvectors of graph `i`: `(n, k)`.
    ///
    /// # Panics
    /// If there is no graph `i`, as indexing does.
    #[must_use]
    pub fn eigenvectors(&self, i: usize) -> RowMajor<'_, T> {
        self.rows(&self.eigenvectors, i, self.k)
    }

    /// The random walk's return probabilities of graph `i`: `(n, walk_steps)`.
    ///
    /// # Panics
    /// If there is no graph `i`, as indexing does.
    #[must_use]
    pub fn random_walk(&self, i: usize) -> RowMajor<'_> {
        self.rows(&self.random_walk, i, self.walk_steps)
    }

    /// The certificate of graph `i`.
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

    /// Graphs whose status is not Converged.
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
