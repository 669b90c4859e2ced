//! What follows from the pseudoinverse L+ of the combinatorial Laplacian: effective resistances, the electrostatic
//! potentials of GraphGPS, the Kirchhoff index and the number of spanning trees.
//!
//! With the eigenpairs (l_k, v_k) whose eigenvalues are not 0, and u_k = v_k / sqrt(l_k), L+ is the sum of u_k u_k'.
//! The resistance between nodes i and j is the sum of (u_ki - u_kj)^2 (Klein and Randic, Resistance distance, J. Math.
//! Chem. 12, 1993), so no nearly equal numbers are subtracted after they were added up. Its error is some n eps of
//! itself, and eps^2 of the largest resistance: the u_k of the smallest eigenvalue has an error of eps / sqrt(l_k).

use super::spectrum::Spectrum;
use crate::graph::{Components, GraphRef};
use crate::lanes::{SimdScalar, Task, Vector};
use crate::parallel;

/// The number of columns of the electrostatic encoding.
pub(super) const ELECTROSTATIC: usize = 10;
/// The number of nodes from which on the columns of a matrix are computed in parallel. Smaller graphs are processed in
/// parallel with each other.
const LARGE: usize = 512;

/// The vectors u_k of a graph.
pub(super) struct Grounded<'a> {
    graph: GraphRef<'a>,
    components: Components,
    /// The vectors u_k as the columns of a column-major matrix.
    scaled: Vec<f64>,
    values: &'a [f64],
}

impl<'a> Grounded<'a> {
    /// `spectrum` is that of the combinatorial Laplacian.
    pub(super) fn new(graph: GraphRef<'a>, spectrum: &'a Spectrum) -> Self {
        let mut scaled = spectrum.vectors.clone();
        for (column, value) in scaled.chunks_exact_mut(graph.nodes().max(1)).zip(&spectrum.values) {
            let factor = 1.0 / value.sqrt();
            column.iter_mut().for_each(|x| *x *= factor);
        }
        Self { graph, components: graph.components(), scaled, values: &spectrum.values }
    }

    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn are_connected(&self, i: usize, j: usize) -> bool {
        self.components.labels[i] == self.components.labels[j]
    }

    /// Returns the effective resistance of each entry of the adjacency matrix, between its row and its column.
    pub(super) fn of_entries(&self) -> Vec<f64> {
        let (n, pairs) = (self.nodes(), self.values.len());
        // The rows of the matrix, so that those of two nodes are read one number after the other.
        let mut rows = vec![0.0; n * pairs];
        for (k, column) in self.scaled.chunks_exact(n.max(1)).enumerate() {
            column.iter().enumerate().for_each(|(i, &x)| rows[i * pairs + k] = x);
        }
        let row = |i: usize| &rows[i * pairs..(i + 1) * pairs];
        let between = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(x, y)| (x - y) * (x - y)).sum();
        (0..n).flat_map(|i| self.graph.neighbors(i).iter().map(move |&j| between(i, j as usize))).collect()
    }

    /// Returns the sum of the degrees in the component of each entry's row. A walk from one node to another and back
    /// takes this many steps for each unit of resistance (Chandra et al., The electrical resistance of a graph captures
    /// its commute and cover times, STOC 1989).
    pub(super) fn volumes(&self) -> Vec<f64> {
        let mut volumes = vec![0.0; self.components.count];
        let labels = || self.components.labels.iter().map(|&label| label as usize);
        labels().zip(self.graph.degrees()).for_each(|(label, degree)| volumes[label] += degree);
        labels().enumerate().flat_map(|(i, label)| vec![volumes[label]; self.graph.neighbors(i).len()]).collect()
    }

    /// Returns the effective resistances between all nodes, (n, n). They are infinite between components.
    pub(super) fn of_all_pairs(&self) -> Vec<f64> {
        let mut all = self.columns(Form::Resistance);
        let n = self.nodes();
        for i in 0..n {
            (0..n).filter(|&j| !self.are_connected(i, j)).for_each(|j| all[i * n + j] = f64::INFINITY);
        }
        all
    }

    /// Returns the matrix of a form, column after column.
    fn columns(&self, form: Form) -> Vec<f64> {
        let n = self.nodes();
        let mut all = vec![0.0; n * n];
        let column = |j: usize, out: &mut [f64]| f64::in_lanes(Column { scaled: &self.scaled, j, form, out });
        match n {
            LARGE.. => parallel::for_each(all.chunks_exact_mut(n), column),
            _ => all.chunks_exact_mut(n.max(1)).enumerate().for_each(|(j, out)| column(j, out)),
        }
        all
    }

    /// Returns the electrostatic encoding of each node, (n, 10), as GraphGPS computes it. `E(i, j) = L+(i, j) - L+(j,
    /// j)` is the potential of node i for a unit charge in node j, relative to that of j.
    pub(super) fn electrostatic(&self) -> Vec<f64> {
        let n = self.nodes();
        let potentials = self.columns(Form::Potential);
        let mut out = vec![0.0; n * ELECTROSTATIC];
        let loopless = |i: usize| self.graph.row(i).filter(move |&(j, _)| j != i);
        for j in 0..n {
            let own = &mut out[j * ELECTROSTATIC..(j + 1) * ELECTROSTATIC];
            let [least, most, mean, deviation] = summary(potentials[j * n..(j + 1) * n].iter().copied());
            let [least_of_row, _, mean_of_row, deviation_of_row] = summary(potentials[j..].iter().step_by(n).copied());
            // The sixth column of GraphGPS repeats the second.
            own[..8].copy_from_slice(&[
                least,
                most,
                mean,
                deviation,
                least_of_row,
                most,
                mean_of_row,
                deviation_of_row,
            ]);
        }
        for i in 0..n {
            let degree: f64 = loopless(i).map(|(_, weight)| weight).sum();
            for (j, weight) in loopless(i).filter(|_| degree > 0.0) {
                let share = weight / degree * potentials[j * n + i];
                out[j * ELECTROSTATIC + 8] += share;
                out[i * ELECTROSTATIC + 9] += share;
            }
        }
        out
    }

    /// Returns the sum of the resistances between all pairs of nodes that are connected (Klein and Randic 1993). For a
    /// component of m nodes, it is m times the trace of L+ on it.
    pub(super) fn kirchhoff_index(&self) -> f64 {
        let n = self.nodes().max(1);
        let (labels, mut sizes) = (&self.components.labels, vec![0.0; self.components.count]);
        labels.iter().for_each(|&label| sizes[label as usize] += 1.0);
        let of_column = |column: &[f64]| -> f64 {
            column.iter().zip(labels).map(|(x, &label)| x * x * sizes[label as usize]).sum()
        };
        // The smallest ones first.
        self.scaled.chunks_exact(n).rev().map(of_column).sum()
    }

    /// Returns the logarithm of the number of spanning trees, or of spanning forests of a graph with several
    /// components, by Kirchhoff's matrix-tree theorem. With weights, trees count with the product of theirs.
    pub(super) fn log_spanning_trees(&self) -> f64 {
        let mut sizes = vec![0.0_f64; self.components.count];
        self.components.labels.iter().for_each(|&label| sizes[label as usize] += 1.0);
        self.values.iter().map(|value| value.ln()).sum::<f64>() - sizes.iter().map(|size| size.ln()).sum::<f64>()
    }

    /// Returns the second smallest eigenvalue, which is 0 if there are several components, or no second node.
    pub(super) fn spectral_gap(&self) -> f64 {
        self.values.first().copied().filter(|_| self.components.count == 1).unwrap_or(0.0)
    }
}

/// Returns the minimum, the maximum, the mean and the standard deviation of a sample, with n - 1 degrees of freedom.
/// One number deviates by 0.
fn summary(all: impl ExactSizeIterator<Item = f64> + Clone) -> [f64; 4] {
    let n = all.len() as f64;
    let mean = all.clone().sum::<f64>() / n;
    let squares: f64 = all.clone().map(|x| (x - mean) * (x - mean)).sum();
    let (least, most) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)));
    [least, most, mean, (squares / (n - 1.0).max(1.0)).sqrt()]
}

/// A matrix that is a sum over the vectors u_k.
#[derive(Clone, Copy)]
enum Form {
    /// The entry (i, j) is the sum of (u_ki - u_kj)^2.
    Resistance,
    /// The entry (i, j) is the sum of u_kj (u_ki - u_kj).
    Potential,
}

/// Computes a column of the matrix of a form.
struct Column<'a> {
    scaled: &'a [f64],
    j: usize,
    form: Form,
    out: &'a mut [f64],
}

impl Task<f64> for Column<'_> {
    type Output = ();

    /// The computation uses arrays; the vector type only selects the instruction set.
    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, _: V::Token) {
        let Self { scaled, j, form, out } = self;
        for column in scaled.chunks_exact(out.len()) {
            let own = column[j];
            match form {
                Form::Resistance => {
                    for i in 0..out.len() {
                        let away = column[i] - own;
                        out[i] += away * away;
                    }
                }
                Form::Potential => {
                    for i in 0..out.len() {
                        out[i] += own * (column[i] - own);
                    }
                }
            }
        }
    }
}
