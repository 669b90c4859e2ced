//! Magnetic Laplacians: Hermitian matrices of graphs whose edges have directions.
//!
//! The direction of an edge becomes the phase of its entry (Fanuel, Alaíz and Suykens, Magnetic eigenmaps for community
//! detection in directed networks, Phys. Rev. E 95, 2017; Zhang et al., MagNet, NeurIPS 2021; Geisler et al.,
//! Transformers meet directed graphs, ICML 2023, for positional encodings).

use super::{Laplacian, Normalization};
use crate::error::{Error, Result};
use crate::graph::{Components, GraphRef, IsolatedDiagonal};
use crate::ops::sparse::{Bounds, NullSpace, Operator};
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
    graph: GraphRef<'a>,
    /// The Laplacian of W.
    real: Laplacian<'a>,
    normalization: Normalization,
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
fn wrapped(turns: f64) -> f64 {
    turns - turns.round()
}

/// A magnetic Laplacian after a change of gauge: the Hermitian matrix `P* L P`, where P is a diagonal matrix of phases.
///
/// The phases of a spanning tree of each component become 1, and so do the signs of its weights. A component is
/// *consistent* if every entry then is that of the Laplacian of the magnitudes of W, which is the case if the phases and
/// signs around every cycle multiply to 1. Such a component has the null vector of this real Laplacian, times P. In
/// trees, undirected graphs and balanced signed graphs, every component is consistent; a directed cycle of n nodes is if
/// q n is a whole number.
pub(crate) struct Gauged<'a> {
    laplacian: MagneticLaplacian<'a>,
    /// The diagonal of P, in turns.
    turns: Vec<f64>,
    components: Components,
    is_consistent: Vec<bool>,
    /// The null space of P* L P, which is real and not negative.
    pub(crate) null: NullSpace<f64>,
    /// Bounds on the spectrum, which are those of the Laplacian of the magnitudes of W.
    pub(crate) bounds: Bounds,
}

impl<'a> Gauged<'a> {
    /// Changes the gauge.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if weights or degrees leave the range of f64.
    pub(crate) fn new(laplacian: MagneticLaplacian<'a>) -> Result<Self> {
        let (graph, n) = (laplacian.graph, laplacian.order());
        let components = graph.components();
        let mut turns = vec![f64::NAN; n];
        let mut is_consistent = vec![true; components.count];
        // Rounding adds up along a path, and a mismatch that is as small has an eigenvalue far below rounding.
        let tolerance = 4.0 * n as f64 * f64::EPSILON;
        let mut left = Vec::new();
        for start in 0..n {
            if turns[start].is_nan() {
                turns[start] = 0.0;
                left.push(start);
            }
            while let Some(node) = left.pop() {
                for (other, weight, flow) in graph.row_with_flows(node) {
                    let along = wrapped(turns[node] - turn(laplacian.charge, weight, flow));
                    if turns[other].is_nan() {
                        turns[other] = along;
                        left.push(other);
                    } else if wrapped(turns[other] - along).abs() > tolerance {
                        is_consistent[components.labels[node] as usize] = false;
                    }
                }
            }
        }
        let normalized = laplacian.normalization != Normalization::Combinatorial;
        let degrees = graph.degrees();
        let alone = match graph.conventions().isolated {
            IsolatedDiagonal::One if normalized => 0.0,
            _ => 1.0,
        };
        let size = |node: usize| match degrees[node] {
            _ if !is_consistent[components.labels[node] as usize] => 0.0,
            0.0 => alone,
            degree if normalized => degree.sqrt(),
            _ => 1.0,
        };
        let mut null = NullSpace::new();
        null.push(&components.labels, size);
        let solved = if normalized { Normalization::Symmetric } else { Normalization::Combinatorial };
        let bounds = Operator::<f64>::laplacian(graph, solved)?.bounds(0);
        Ok(Self { laplacian, turns, components, is_consistent, null, bounds })
    }

    pub(crate) fn order(&self) -> usize {
        self.laplacian.order()
    }

    pub(crate) fn components(&self) -> usize {
        self.components.count
    }

    /// Returns the diagonal of P.
    pub(crate) fn phases(&self) -> Vec<Complex<f64>> {
        self.turns.iter().map(|&turns| phase(turns)).collect()
    }

    /// Returns the factor of the entry in a row and a column, beside the magnitude of the weight.
    fn factor(&self, row: usize, column: usize, weight: f64, flow: f64) -> Complex<f64> {
        if column < row {
            // The matrix is Hermitian to the last bit.
            return self.factor(column, row, weight, -flow).conj();
        }
        if self.is_consistent[self.components.labels[row] as usize] {
            return 1.0.into();
        }
        phase(turn(self.laplacian.charge, weight, flow) - (self.turns[row] - self.turns[column]))
    }

    /// Returns the off-diagonal entries of a row of P* L P, `(column, value)`, by ascending column.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, Complex<f64>)> + '_ {
        let flows = self.laplacian.graph.row_with_flows(row).filter(move |&(column, ..)| column != row);
        let entry = move |((column, value), (_, weight, flow)): ((usize, f64), (usize, f64, f64))| {
            (column, -self.factor(row, column, weight, flow) * value.abs())
        };
        self.laplacian.real.row(row).zip(flows).map(entry)
    }

    /// Writes P* L P into a column-major n x n matrix of zeros.
    pub(crate) fn fill(&self, out: &mut [Complex<f64>]) {
        let n = self.order();
        for row in 0..n {
            out[row + row * n] = self.laplacian.diagonal(row).into();
            self.row(row).for_each(|(column, value)| out[row + column * n] = value);
        }
    }

    /// Computes `V* P* L P V`, where the columns of V are the given vectors, as a sum over edges: of `w (x_i - h x_j)`
    /// times the conjugate of `w (y_i - h y_j)`, where h is a phase. Nothing cancels in it but differences of entries,
    /// so small eigenvalues keep their digits.
    pub(crate) fn form(&self, vectors: &[Complex<f64>]) -> DMatrix<Complex<f64>> {
        let (n, graph) = (self.order().max(1), self.laplacian.graph);
        let m = vectors.len() / n;
        let normalized = self.laplacian.normalization != Normalization::Combinatorial;
        let degrees = graph.degrees();
        let scale = |i: usize| if normalized && degrees[i] > 0.0 { 1.0 / degrees[i].sqrt() } else { 1.0 };
        let alone = normalized && graph.conventions().isolated == IsolatedDiagonal::One;
        let mut sum = DMatrix::zeros(m, m);
        let mut add = |weight: f64, entry: &dyn Fn(&[Complex<f64>]) -> Complex<f64>| {
            let entries: Vec<Complex<f64>> = vectors.chunks_exact(n).map(entry).collect();
            for (a, x) in entries.iter().enumerate() {
                entries.iter().enumerate().for_each(|(b, y)| sum[(a, b)] += x.conj() * y * weight);
            }
        };
        for i in 0..self.order() {
            let own = scale(i);
            for (j, weight, flow) in graph.row_with_flows(i).filter(|&(j, ..)| j >= i) {
                let (other, factor) = (scale(j), self.factor(i, j, weight, flow));
                // A self-loop is half an edge from a node to itself.
                let share = if j == i { weight.abs() / 2.0 } else { weight.abs() };
                add(share, &|x| x[i] * own - factor * x[j] * other);
            }
            if alone && degrees[i] == 0.0 {
                add(1.0, &|x| x[i]);
            }
        }
        sum
    }

    /// Returns P* L P as a real symmetric operator of twice the order, `[Re, -Im; Im, Re]`. Each of its eigenvalues
    /// occurs twice as often as that of the Hermitian matrix: if the real vector (x, y) belongs to it, then x + i y does
    /// to the Hermitian one.
    ///
    /// # Errors
    /// [`Limit`](crate::ErrorKind::Limit) if twice the number of nodes exceeds 32 bits.
    pub(crate) fn doubled(&self) -> Result<Operator<'static, f64>> {
        let n = self.order();
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let index = |column: usize| {
            let what = || "rows of a sparse matrix of twice the order of a magnetic Laplacian".to_owned();
            let limit =
                || crate::error::ErrorKind::Limit { what: what(), needed: 2 * n as u64, allowed: u32::MAX.into() };
            u32::try_from(column).map_err(|_| Error::from(limit()))
        };
        for row in 0..2 * n {
            let own = row % n;
            let mut entries: Vec<(usize, Complex<f64>)> = self.row(own).collect();
            entries.push((own, self.laplacian.diagonal(own).into()));
            entries.sort_unstable_by_key(|entry| entry.0);
            let parts = |entry: Complex<f64>| if row < n { [entry.re, -entry.im] } else { [entry.im, entry.re] };
            for half in 0..2 {
                for &(column, entry) in &entries {
                    let value = parts(entry)[half];
                    if value != 0.0 {
                        columns.push(index(half * n + column)?);
                        values.push(value);
                    }
                }
            }
            offsets.push(columns.len());
        }
        let mut operator = Operator::<f64>::from_csr(offsets, columns, values)?;
        operator.bounds = vec![self.bounds];
        operator.null = self.null.twice();
        Ok(operator)
    }
}

/// Returns the angle of an entry of H, in turns. A negative weight is half a turn.
fn turn(charge: f64, weight: f64, flow: f64) -> f64 {
    let turns = wrapped(charge * flow);
    if weight < 0.0 { wrapped(turns + 0.5) } else { turns }
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
