//! Laplacians as f64 operators on the host. They follow the definitions directly, so tests compare the results of the
//! kernels with them.

use crate::array::Real;
use crate::error::{Error, Result};
use crate::graph::{GraphRef, IsolatedDiagonal, ZeroDegreeScale};
use nalgebra::DMatrix;

/// The kind of Laplacian. W is the adjacency matrix of the graph, and D is the diagonal matrix of its degrees. Degrees
/// are sums of the magnitudes of weights, so the Laplacians of a [signed](crate::graph::Conventions::signed) graph are
/// the signed Laplacians.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// D - W.
    Combinatorial,
    /// I - D^-1/2 W D^-1/2.
    Symmetric,
    /// I - D^-1 W.
    RandomWalk,
}

/// The Laplacian of one graph under the conventions of the graph. It is an f64 operator whose order n is the number of
/// nodes.
///
/// Constructing a `Laplacian` allocates at most two vectors of n numbers. The off-diagonal entries are computed on
/// demand.
#[derive(Clone, Debug)]
pub struct Laplacian<'a> {
    graph: GraphRef<'a>,
    normalization: Normalization,
    diagonal: Vec<f64>,
    /// The diagonal of D^-1/2 or of D^-1; empty for the combinatorial Laplacian.
    scale: Vec<f64>,
}

impl<'a> Laplacian<'a> {
    /// Returns the Laplacian of the graph.
    #[must_use]
    pub fn new(graph: GraphRef<'a>, normalization: Normalization) -> Self {
        let conventions = graph.conventions();
        let mut diagonal = graph.degrees();
        let unscaled = match conventions.zero_degree_scale {
            ZeroDegreeScale::Zero => 0.0,
            ZeroDegreeScale::One => 1.0,
        };
        let scale = match normalization {
            Normalization::Combinatorial => Vec::new(),
            Normalization::Symmetric => {
                diagonal.iter().map(|&d| if d > 0.0 { 1.0 / d.sqrt() } else { unscaled }).collect()
            }
            Normalization::RandomWalk => diagonal.iter().map(|&d| if d > 0.0 { 1.0 / d } else { unscaled }).collect(),
        };
        for (node, entry) in diagonal.iter_mut().enumerate() {
            let degree = *entry;
            let own = graph.weight(node, node);
            *entry = match (normalization, conventions.isolated) {
                (Normalization::Combinatorial, _) => degree - own,
                (_, IsolatedDiagonal::Zero) if degree == 0.0 => 0.0,
                (_, IsolatedDiagonal::One) if degree == 0.0 => 1.0,
                _ => 1.0 - own / degree,
            };
        }
        Self { graph, normalization, diagonal, scale }
    }

    /// Returns the order n, which is the number of rows and also the number of columns.
    #[must_use]
    pub fn order(&self) -> usize {
        self.diagonal.len()
    }

    /// Returns the diagonal entry of a row. The entry takes self-loops into account.
    ///
    /// # Panics
    /// If `row` is not below the order, like indexing a slice.
    #[must_use]
    pub fn diagonal(&self, row: usize) -> f64 {
        self.diagonal[row]
    }

    /// Returns the off-diagonal entries of a row, `(column, value)`, by ascending column.
    ///
    /// # Panics
    /// If `row` is not below the order, like indexing a slice.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.graph.row(row).filter(move |&(column, _)| column != row);
        entries.map(move |(column, weight)| (column, -self.scaled(row, column, weight)))
    }

    /// Returns a scaled entry of W. For the symmetric Laplacian, the scales of the row and of the column are first
    /// multiplied by each other. The order of these two factors does not change their product, so if W is symmetric,
    /// the Laplacian is symmetric to the last bit.
    fn scaled(&self, row: usize, column: usize, weight: f64) -> f64 {
        match self.normalization {
            Normalization::Combinatorial => weight,
            Normalization::Symmetric => weight * (self.scale[row] * self.scale[column]),
            Normalization::RandomWalk => weight * self.scale[row],
        }
    }

    /// Computes `y = L x`.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the length of `x` or `y` is not the order.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) -> Result<()> {
        let n = self.order();
        if x.len() != n || y.len() != n {
            let found = format!("{} and {}", x.len(), y.len());
            return Err(Error::shape("laplacian times vector", format!("two vectors of {n}"), found));
        }
        for (row, out) in y.iter_mut().enumerate() {
            let neighbors: f64 = self.row(row).map(|(column, value)| value * x[column]).sum();
            *out = self.diagonal[row] * x[row] + neighbors;
        }
        Ok(())
    }

    /// Returns the whole matrix.
    #[must_use]
    pub fn to_dense(&self) -> DMatrix<f64> {
        let n = self.order();
        let mut dense = DMatrix::zeros(n, n);
        self.fill(dense.as_mut_slice());
        dense
    }

    /// Writes the diagonal and the off-diagonal entries into a column-major n x n matrix of zeros.
    pub(super) fn fill<T: Real>(&self, out: &mut [T]) {
        let n = self.order();
        for row in 0..n {
            out[row + row * n] = T::from_f64(self.diagonal[row]);
            for (column, value) in self.row(row) {
                out[row + column * n] = T::from_f64(value);
            }
        }
    }

    /// Returns the 1-norm, which is the largest sum of the magnitudes in a column. Returns 0 for the empty matrix.
    #[must_use]
    pub fn norm_1(&self) -> f64 {
        let mut sums: Vec<f64> = self.diagonal.iter().map(|entry| entry.abs()).collect();
        for row in 0..self.order() {
            for (column, value) in self.row(row) {
                sums[column] += value.abs();
            }
        }
        sums.into_iter().fold(0.0, f64::max)
    }

    /// Returns whether the matrix equals its transpose exactly.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "symmetry is exact")]
    pub fn symmetric(&self) -> bool {
        if self.normalization != Normalization::RandomWalk && self.graph.is_symmetric() {
            return true;
        }
        let reverse = |row, column| self.scaled(column, row, self.graph.weight(column, row));
        (0..self.order()).all(|row| self.row(row).all(|(column, value)| -value == reverse(row, column)))
    }

    /// Returns the diagonal of D^-1/2, with 1 where the degree is zero. If v is an eigenvector of the symmetric
    /// Laplacian, then D^-1/2 v is an eigenvector of the random-walk Laplacian for the same eigenvalue.
    #[must_use]
    pub fn similarity_scale(&self) -> Vec<f64> {
        self.graph.degrees().into_iter().map(|degree| if degree > 0.0 { 1.0 / degree.sqrt() } else { 1.0 }).collect()
    }
}
