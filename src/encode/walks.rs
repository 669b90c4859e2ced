//! Random-walk encodings: the probabilities that a random walk is back at its start after each number of steps.

use crate::graph::GraphRef;
use crate::lanes::{SimdScalar, Task, Vector};
use crate::parallel;

/// The number of walks that are computed together as columns of a block. A row of the block is two cache lines. (For a
/// preferential-attachment graph with 10,000 nodes, 16 steps take 3.3 s on two cores with a width of 4 walks, 2.4 s
/// with 8, 1.9 s with 16, 6.2 s with 32 and 2.9 s with 64; 2026-11-22.)
const WIDTH: usize = 16;
/// The number of walks that are computed together if the blocks would exceed [`BLOCK_BYTES`] with [`WIDTH`] walks.
const NARROW: usize = 4;
/// The maximum size in bytes of the two blocks of a thread. For graphs that exceed it even with [`NARROW`] walks, walks
/// are computed one at a time.
const BLOCK_BYTES: usize = 32 << 20;
/// If the walks have reached more than `1 / FILLED` of all rows, all rows are visited, because a list of the reached
/// rows would cost more than it saves.
const FILLED: usize = 2;
/// The minimum work for one thread: the number of entries and rows that are visited, multiplied by the number of steps.
/// This work takes about 20 us.
const LEAST_WORK: usize = 16 * 1024;

/// Computes the diagonals of the powers 1 to `steps` of `D^-1 W` in f64 and rounds them to f32. W is the adjacency
/// matrix, and D is the diagonal matrix of the degrees. The result is a row-major `(n, steps)` matrix. Rows of nodes
/// with degree 0 are zero. Edge weights are used, and W must be symmetric. (Dwivedi et al., Graph Neural Networks with
/// Learnable Structural and Positional Representations, 2022, use the same diagonals.)
pub(super) fn return_probabilities(graph: GraphRef<'_>, steps: usize) -> Vec<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the encoding's precision")]
    let narrow = |moments: &[f64], out: &mut [f32]| out.iter_mut().zip(moments).for_each(|(out, &x)| *out = x as f32);
    Walks::similar(graph).moments(steps, steps, narrow)
}

/// A symmetric matrix without negative entries, of whose powers the diagonals are computed.
pub(super) struct Walks<'a> {
    graph: GraphRef<'a>,
    /// The offset of each row's first entry, followed by the total number of entries.
    starts: Vec<usize>,
    entries: Vec<f64>,
    /// What is added to the diagonal; empty if nothing is.
    stays: Vec<f64>,
}

impl<'a> Walks<'a> {
    /// Returns the matrix `S = D^-1/2 W D^-1/2`, which is similar to `D^-1 W`.
    pub(super) fn similar(graph: GraphRef<'a>) -> Self {
        let scale: Vec<f64> = graph.degrees().into_iter().map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }).collect();
        Self::of(graph, Vec::new(), |row, column, weight| weight * (scale[row] * scale[column]))
    }

    /// Returns the matrix `I - (D - W) / rate`. `rate` must be at least the largest degree.
    pub(super) fn lazy(graph: GraphRef<'a>, rate: f64) -> Self {
        let stays = graph.degrees().into_iter().map(|degree| 1.0 - degree / rate).collect();
        Self::of(graph, stays, |_, _, weight| weight / rate)
    }

    fn of(graph: GraphRef<'a>, stays: Vec<f64>, entry: impl Fn(usize, usize, f64) -> f64) -> Self {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for row in 0..graph.nodes() {
            entries.extend(graph.row(row).map(|(column, weight)| entry(row, column, weight)));
            starts.push(entries.len());
        }
        Self { graph, starts, entries, stays }
    }

    /// Computes the diagonals of the powers 1 to `steps`, and from those of each node a row of `width` numbers by
    /// `finish`.
    ///
    /// Only half of the steps must be computed: with `u_t = S^t e_i`, the diagonal entry i of the power 2t is `u_t .
    /// u_t`, and the diagonal entry i of the power 2t + 1 is `u_t . u_(t+1)`. The walks of consecutive nodes are
    /// computed together as the columns of a block, and only the rows that at least one of these walks can have reached
    /// are visited.
    ///
    /// Each column's sums are computed in the order of the rows, and a row that the walk of a column has not reached
    /// contributes 0. The bits of a column therefore depend neither on the other columns nor on the width of the block.
    pub(super) fn moments<T: Copy + Default + Send>(
        &self,
        steps: usize,
        width: usize,
        finish: impl Fn(&[f64], &mut [T]) + Sync,
    ) -> Vec<T> {
        let mut out = vec![T::default(); self.graph.nodes() * width];
        if !out.is_empty() {
            let bytes = 2 * size_of::<f64>() * self.graph.nodes();
            match BLOCK_BYTES / bytes {
                WIDTH.. => self.walks::<WIDTH, T>((steps, width), &mut out, &finish),
                NARROW.. => self.walks::<NARROW, T>((steps, width), &mut out, &finish),
                _ => self.walks::<1, T>((steps, width), &mut out, &finish),
            }
        }
        out
    }

    /// Returns the number of entries that the walks of a node visit in all steps.
    pub(super) fn visits(&self, node: usize, steps: usize) -> usize {
        let n = self.graph.nodes();
        let (mut here, mut next, mut is_reached) = (Reached { rows: vec![node] }, Reached::default(), vec![false; n]);
        let mut visits = 0;
        for step in (0..steps).step_by(2) {
            next.step(&here, self, &mut is_reached);
            if next.rows.len() == n {
                return visits + (steps - step).div_ceil(2) * self.entries.len();
            }
            visits += next.rows.iter().map(|&row| self.starts[row + 1] - self.starts[row]).sum::<usize>();
            std::mem::swap(&mut here, &mut next);
        }
        visits
    }

    /// Returns the column and the value of each entry in a row.
    #[inline(always)]
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let entries = &self.entries[self.starts[row]..self.starts[row + 1]];
        self.graph.neighbors(row).iter().map(|&column| column as usize).zip(entries.iter().copied())
    }

    /// Computes the walks of all nodes in blocks of W walks.
    fn walks<const W: usize, T: Send>(
        &self,
        (steps, width): (usize, usize),
        out: &mut [T],
        finish: &(impl Fn(&[f64], &mut [T]) + Sync),
    ) {
        let n = self.graph.nodes();
        let least = 1 + LEAST_WORK / ((self.entries.len() + n) * steps.max(1));
        parallel::for_each_with(
            out.chunks_mut(least * W * width),
            || (Blocks::<W>::new(n), vec![0.0; W * steps]),
            |(blocks, moments), i, out| {
                for (block, out) in (i * least..).zip(out.chunks_mut(W * width)) {
                    let moments = &mut moments[..out.len() / width * steps];
                    f64::in_lanes(Walk { walks: self, blocks, first: block * W, steps, out: moments });
                    out.chunks_mut(width).zip(moments.chunks(steps.max(1))).for_each(|(out, own)| finish(own, out));
                }
            },
        );
    }
}

/// Two blocks of W columns: `here` has the current vector of each walk, and `next` receives the vectors after one more
/// step. `reached` and `before` list the rows of `here` and `next` that may be nonzero; all other rows are 0.
struct Blocks<const W: usize> {
    here: Vec<[f64; W]>,
    next: Vec<[f64; W]>,
    reached: Reached,
    before: Reached,
    is_reached: Vec<bool>,
}

impl<const W: usize> Blocks<W> {
    fn new(n: usize) -> Self {
        Self {
            here: vec![[0.0; W]; n],
            next: vec![[0.0; W]; n],
            reached: Reached::default(),
            before: Reached::default(),
            is_reached: vec![false; n],
        }
    }
}

/// The rows in which any column of a block may be nonzero, in ascending order.
#[derive(Default)]
struct Reached {
    rows: Vec<usize>,
}

impl Reached {
    /// Replaces the list by the rows that are one step from the rows of `from`, or by all rows if `from` has more rows
    /// than the limit that [`FILLED`] sets.
    fn step(&mut self, from: &Self, walks: &Walks<'_>, is_reached: &mut [bool]) {
        let n = is_reached.len();
        if from.rows.len() > n / FILLED {
            if self.rows.len() < n {
                self.rows.clear();
                self.rows.extend(0..n);
            }
            return;
        }
        self.rows.clear();
        let mut reach = |node: usize| {
            if !std::mem::replace(&mut is_reached[node], true) {
                self.rows.push(node);
            }
        };
        for &row in &from.rows {
            if !walks.stays.is_empty() {
                reach(row);
            }
            walks.graph.neighbors(row).iter().for_each(|&column| reach(column as usize));
        }
        self.rows.iter().for_each(|&row| is_reached[row] = false);
        self.rows.sort_unstable();
    }
}

/// The task that computes the walks of up to W consecutive nodes, starting with node `first`.
struct Walk<'a, const W: usize> {
    walks: &'a Walks<'a>,
    blocks: &'a mut Blocks<W>,
    first: usize,
    steps: usize,
    /// The diagonals of the powers, (walks, steps).
    out: &'a mut [f64],
}

impl<const W: usize> Task<f64> for Walk<'_, W> {
    type Output = ();

    /// The computation uses arrays; the vector type only selects the instruction set.
    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, _: V::Token) {
        let Self { walks, blocks, first, steps, out } = self;
        let Blocks { here, next, reached, before, is_reached } = blocks;
        for rows in [&*reached, &*before] {
            rows.rows.iter().for_each(|&row| (here[row], next[row]) = ([0.0; W], [0.0; W]));
        }
        let count = out.len() / steps.max(1);
        reached.rows.clear();
        reached.rows.extend(first..first + count);
        before.rows.clear();
        (0..count).for_each(|column| here[first + column][column] = 1.0);
        for step in (0..steps).step_by(2) {
            // `next` still contains the vectors of the previous step. Its nonzero rows are set to zero.
            before.rows.iter().for_each(|&row| next[row] = [0.0; W]);
            before.step(reached, walks, is_reached);
            let mut sums = [[0.0; W]; 2];
            // This is a loop because a closure would be compiled without the SIMD instructions of this function.
            for &row in &before.rows {
                let mut sum = [0.0; W];
                for (column, entry) in walks.row(row) {
                    let from = &here[column];
                    for j in 0..W {
                        sum[j] += entry * from[j];
                    }
                }
                let own = &here[row];
                if let Some(stays) = walks.stays.get(row) {
                    for j in 0..W {
                        sum[j] += stays * own[j];
                    }
                }
                for j in 0..W {
                    sums[0][j] += sum[j] * own[j];
                    sums[1][j] += sum[j] * sum[j];
                }
                next[row] = sum;
            }
            for (power, sums) in (step..steps).zip(sums) {
                out.chunks_exact_mut(steps).zip(sums).for_each(|(out, sum)| out[power] = sum);
            }
            std::mem::swap(here, next);
            std::mem::swap(reached, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NARROW, WIDTH, Walks, return_probabilities};
    use crate::graph::{Conventions, Graph};
    use nalgebra::DMatrix;

    fn graph(nodes: usize, edges: &[(u32, u32, f32)]) -> Graph {
        Graph::from_weighted_edges(nodes, edges, &Conventions::default()).unwrap()
    }

    /// Checks the result against the powers of the dense matrix.
    fn right(graph: &Graph, steps: usize) {
        let n = graph.view().nodes();
        let w = DMatrix::from_fn(n, n, |i, j| graph.view().weight(i, j));
        let p = DMatrix::from_fn(n, n, |i, j| if w.row(i).sum() > 0.0 { w[(i, j)] / w.row(i).sum() } else { 0.0 });
        let got = return_probabilities(graph.view(), steps);
        let mut power = DMatrix::identity(n, n);
        for t in 0..steps {
            power *= &p;
            for i in 0..n {
                // The result is rounded to f32 once; the error of the square roots, about 1e-16, is negligible.
                let (got, want) = (f64::from(got[i * steps + t]), power[(i, i)]);
                assert!(
                    (got - want).abs() <= f64::from(f32::EPSILON) * want.max(1e-30),
                    "node {i}, step {}: {got}, {want}",
                    t + 1
                );
            }
        }
    }

    /// Returns a graph that consists of a path with a star at its end, a weighted triangle, and isolated nodes. Some
    /// blocks of this graph exceed the limit for lists of reached rows, and others do not.
    fn mixed() -> Graph {
        let path = (0..60).map(|i| (i, i + 1, 1.0));
        let star = (61..80).map(|i| (60, i, 0.25));
        let triangle = [(80, 81, 2.0), (81, 82, 0.5), (82, 80, 1.0), (82, 83, 4.0)];
        graph(90, &path.chain(star).chain(triangle).collect::<Vec<_>>())
    }

    #[test]
    fn diagonals_of_powers_of_a_weighted_walk() {
        right(&graph(5, &[(0, 1, 2.0), (1, 2, 0.5), (2, 0, 1.0), (2, 3, 4.0)]), 5);
        right(&mixed(), 1);
        right(&mixed(), 40);
        assert!(return_probabilities(mixed().view(), 0).is_empty());
    }

    #[test]
    fn columns_do_not_see_each_other() {
        let graph = mixed();
        let copy = |moments: &[f64], out: &mut [f64]| out.copy_from_slice(moments);
        for (walks, steps) in [Walks::similar(graph.view()), Walks::lazy(graph.view(), 24.0)]
            .iter()
            .flat_map(|walks| [1, 2, 7, 24].map(|steps| (walks, steps)))
        {
            let mut all = [(); 3].map(|()| vec![f64::NAN; 90 * steps]);
            walks.walks::<1, f64>((steps, steps), &mut all[0], &copy);
            walks.walks::<NARROW, f64>((steps, steps), &mut all[1], &copy);
            walks.walks::<WIDTH, f64>((steps, steps), &mut all[2], &copy);
            let [alone, narrow, wide] = all.map(|out| out.into_iter().map(f64::to_bits).collect::<Vec<_>>());
            assert_eq!((&alone, &alone), (&narrow, &wide), "{steps} steps");
        }
    }

    /// The diagonals of the powers of `I - (D - W) / rate`, and what a walk visits of a path.
    #[test]
    fn a_walk_that_may_stay() {
        let graph = mixed();
        let rate = 24.0;
        let step = DMatrix::from_fn(90, 90, |i, j| {
            let degree: f64 = (0..90).map(|k| graph.view().weight(i, k)).sum();
            (if i == j { 1.0 - degree / rate } else { 0.0 }) + graph.view().weight(i, j) / rate
        });
        let copy = |moments: &[f64], out: &mut [f64]| out.copy_from_slice(moments);
        let found = Walks::lazy(graph.view(), rate).moments(9, 9, copy);
        let mut power = DMatrix::identity(90, 90);
        for t in 0..9 {
            power *= &step;
            // Sums of numbers that are not negative: as many roundings as there are factors and terms.
            (0..90).for_each(|i| assert!((found[i * 9 + t] - power[(i, i)]).abs() <= 1e-13, "node {i}, step {t}"));
        }
        let path = graph_of_path(50);
        let visits = |steps| Walks::similar(path.view()).visits(25, steps);
        assert_eq!((visits(1), visits(2), visits(4)), (4, 4, 4 + 6)); // 2 and then 3 nodes of 2 entries each
    }

    fn graph_of_path(nodes: u32) -> Graph {
        graph(nodes as usize, &(1..nodes).map(|i| (i - 1, i, 1.0)).collect::<Vec<_>>())
    }
}
