//! Magnetic Laplacians after a change of gauge, as sparse operators.

use super::null::NullSpace;
use super::operator::{Bounds, Operator};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Components, IsolatedDiagonal};
use crate::ops::laplacian::Normalization;
use crate::ops::laplacian::magnetic::{MagneticLaplacian, phase, wrapped};
use nalgebra::DMatrix;
use num_complex::Complex;

/// A magnetic Laplacian after a change of gauge: the Hermitian matrix `P* L P`, where P is a diagonal matrix of phases.
///
/// The phases of a spanning tree of each component become 1, and so do the signs of its weights. A component is
/// *consistent* if every entry then is that of the Laplacian of the magnitudes of W, which is the case if the phases
/// and signs around every cycle multiply to 1. Such a component has the null vector of this real Laplacian, times P. In
/// trees, undirected graphs and balanced signed graphs, every component is consistent; a directed cycle of n nodes is
/// if q n is a whole number.
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
                    let along = wrapped(turns[node] - laplacian.turn(weight, flow));
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
        phase(self.laplacian.turn(weight, flow) - (self.turns[row] - self.turns[column]))
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
    /// occurs twice as often as that of the Hermitian matrix: if the real vector (x, y) belongs to it, then x + i y
    /// does to the Hermitian one.
    ///
    /// # Errors
    /// [`Limit`](crate::ErrorKind::Limit) if twice the number of nodes exceeds 32 bits.
    pub(crate) fn doubled(&self) -> Result<Operator<'static, f64>> {
        let n = self.order();
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let index = |column: usize| {
            let what = || "rows of a sparse matrix of twice the order of a magnetic Laplacian".to_owned();
            let limit = || ErrorKind::Limit { what: what(), needed: 2 * n as u64, allowed: u32::MAX.into() };
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
