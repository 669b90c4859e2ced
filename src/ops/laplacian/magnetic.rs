//! Magnetic Laplacians: Hermitian matrices of graphs whose edges have directions.
//!
//! The direction of an edge becomes the phase of its entry (Fanuel, Alaíz and Suykens, Magnetic eigenmaps for community
//! detection in directed networks, Phys. Rev. E 95, 2017; Zhang et al., MagNet, NeurIPS 2021; Geisler et al.,
//! Transformers meet directed graphs, ICML 2023, for positional encodings).

use super::{Laplacian, Normalization};
use crate::error::{Error, Result};
use crate::graph::GraphRef;
use nalgebra::DMatrix;
use num_complex::Complex;
use std::f64::consts::TAU;

/// The magnetic Laplacian of one graph, a Hermitian matrix of the order n, the number of nodes. It is that of
/// [`Laplacian`] with `H(u, v) = W(u, v) exp(2 pi i q f(u, v))` in place of W, where q is the charge and f(u, v) is the
/// net flow of the edge, `A(u, v) - A(v, u)`: A is the adjacency matrix before it was made symmetric, and W afterwards.
/// Degrees are those of W. The charge 0 and an undirected graph give the real Laplacian.
///
/// ```
/// use fiedler::graph::{Conventions, Graph};
/// use fiedler::ops::{MagneticLaplacian, Normalization};
///
/// // One directed edge: at the charge 1/4, its entry is -i.
/// let conventions = Conventions { flows: true, ..Conventions::default() };
/// let edge = Graph::from_edges(2, &[(0, 1)], &conventions)?;
/// let l = MagneticLaplacian::new(edge.view(), Normalization::Combinatorial, 0.25)?.to_dense();
/// assert_eq!((l[(0, 1)].re, l[(0, 1)].im, l[(1, 0)].im), (0.0, -1.0, 1.0));
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MagneticLaplacian<'a> {
    pub(in crate::ops) graph: GraphRef<'a>,
    /// The Laplacian of W.
    pub(in crate::ops) real: Laplacian<'a>,
    pub(in crate::ops) normalization: Normalization,
    charge: f64,
}

/// Checks the charge of a magnetic Laplacian.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) unless it is from 0 to 1/2.
pub(crate) fn check_charge(operation: &'static str, charge: f64) -> Result<()> {
    match (0.0..=0.5).contains(&charge) {
        true => Ok(()),
        false => Err(Error::domain(operation, format!("expected a charge from 0 to 0.5, found {charge}"))),
    }
}

impl<'a> MagneticLaplacian<'a> {
    /// Returns the magnetic Laplacian of a graph with [flows](crate::graph::Conventions::flows).
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the charge is not from 0 to 1/2, or W is not symmetric.
    pub fn new(graph: GraphRef<'a>, normalization: Normalization, charge: f64) -> Result<Self> {
        check_charge("magnetic Laplacian", charge)?;
        if !graph.is_symmetric() {
            let what = "expected a graph that was made symmetric, by max or mean, found a directed one";
            return Err(Error::domain("magnetic Laplacian", what));
        }
        Ok(Self { graph, real: Laplacian::new(graph, normalization), normalization, charge })
    }

    /// Returns the order n, which is the number of rows and also the number of columns.
    #[must_use]
    pub fn order(&self) -> usize {
        self.real.order()
    }

    /// Returns the diagonal entry of a row, which is real.
    ///
    /// # Panics
    /// If `row` is not below the order, like indexing a slice.
    #[must_use]
    pub fn diagonal(&self, row: usize) -> f64 {
        self.real.diagonal(row)
    }

    /// Returns the off-diagonal entries of a row, `(column, value)`, by ascending column.
    ///
    /// # Panics
    /// If `row` is not below the order, like indexing a slice.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, Complex<f64>)> + '_ {
        let flows = self.graph.row_with_flows(row).filter(move |&(column, ..)| column != row);
        self.real.row(row).zip(flows).map(|((column, value), (.., flow))| (column, phase(self.charge * flow) * value))
    }

    /// Returns the whole matrix.
    #[must_use]
    pub fn to_dense(&self) -> DMatrix<Complex<f64>> {
        let n = self.order();
        let mut dense = DMatrix::zeros(n, n);
        for row in 0..n {
            dense[(row, row)] = self.diagonal(row).into();
            self.row(row).for_each(|(column, value)| dense[(row, column)] = value);
        }
        dense
    }

    /// Returns the 1-norm, which is the largest sum of the magnitudes in a column. It is that of the Laplacian of W.
    #[must_use]
    pub fn norm_1(&self) -> f64 {
        self.real.norm_1()
    }

    /// Returns the angle of an entry of H, in turns. A negative weight is half a turn.
    pub(in crate::ops) fn turn(&self, weight: f64, flow: f64) -> f64 {
        let turns = wrapped(self.charge * flow);
        if weight < 0.0 { wrapped(turns + 0.5) } else { turns }
    }

    /// Returns the Laplacian of W.
    pub(crate) fn real(&self) -> &Laplacian<'a> {
        &self.real
    }
}

/// Returns `exp(2 pi i turns)`. Multiples of a quarter of a turn are exact, and the phases of opposite turns are
/// conjugate to the last bit.
pub(crate) fn phase(turns: f64) -> Complex<f64> {
    let turns = wrapped(turns);
    let quarters = (4.0 * turns).round();
    let (sin, cos) = (TAU * (turns - quarters / 4.0)).sin_cos();
    match quarters {
        0.0 => Complex::new(cos, sin),
        1.0 => Complex::new(-sin, cos),
        -1.0 => Complex::new(sin, -cos),
        _ => Complex::new(-cos, -sin),
    }
}

/// Returns the same angle from -1/2 to 1/2 turns.
pub(in crate::ops) fn wrapped(turns: f64) -> f64 {
    turns - turns.round()
}

#[cfg(test)]
mod tests {
    use super::phase;
    use num_complex::Complex;

    #[test]
    fn phases_are_exact_where_they_can_be_and_conjugate() {
        for (turns, want) in
            [(0.0, (1.0, 0.0)), (0.25, (0.0, 1.0)), (-0.75, (0.0, 1.0)), (0.5, (-1.0, 0.0)), (7.0, (1.0, 0.0))]
        {
            let Complex { re, im } = phase(turns);
            assert_eq!((re, im), want, "{turns} turns");
        }
        for i in 0..1000 {
            let turns = f64::from(i) * 0.00713;
            assert_eq!(phase(-turns), phase(turns).conj());
            let plain = Complex::cis(std::f64::consts::TAU * turns);
            // The plain product rounds an angle of up to 45, of which an ulp is 7e-15.
            assert!((phase(turns) - plain).norm() <= 1e-14, "{turns}");
        }
    }
}
