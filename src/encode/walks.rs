//! Random-walk encodings: how likely a walk is back where it began.

use crate::graph::GraphRef;
use rayon::prelude::*;

/// The diagonals of the powers 1 to `steps` of `D^-1 W`, `(n, steps)` row-major, in f64. A node of degree 0 has zeros; weights count.
/// W is symmetric.
///
/// The diagonals are those of the powers of the similar `S = D^-1/2 W D^-1/2`, so half of the steps are enough: with
/// `u_t = S^t e_i` they are `u_t . u_t` for the power 2t and `u_t . u_(t+1)` for the power 2t + 1. Only what a walk can reach in
/// so many steps is visited. (Dwivedi et al., Graph Neural Networks with Learnable Structural and Positional Representations,
/// 2022, use the same diagonals.)
pub(super) fn return_probabilities(graph: GraphRef<'_>, steps: usize) -> Vec<f32> {
    let n = graph.nodes();
    if steps == 0 {
        return Vec::new();
    }
    let scale: Vec<f64> = graph.degrees().into_iter().map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }).collect();
    let mut out = vec![0.0; n * steps];
    let walks = out.par_chunks_exact_mut(steps).enumerate();
    walks.for_each_init(
        || [Reached::new(n), Reached::new(n)],
        |[here, next], (node, out)| {
            here.clear();
            here.add(node, 1.0);
            for pair in out.chunks_mut(2) {
                next.clear();
                for &i in &here.nodes {
                    let x = here.values[i] * scale[i];
                    graph.row(i).for_each(|(column, weight)| next.add(column, weight * x * scale[column]));
                }
                #[expect(clippy::cast_possible_truncation, reason = "f32 is the encoding's precision")]
                for (out, other) in pair.iter_mut().zip([&*here, &*next]) {
                    *out = next.nodes.iter().map(|&i| next.values[i] * other.values[i]).sum::<f64>() as f32;
                }
                std::mem::swap(here, next);
            }
        },
    );
    out
}

/// A vector that is zero nearly everywhere.
struct Reached {
    values: Vec<f64>,
    reached: Vec<bool>,
    /// The nodes whose value may not be zero.
    nodes: Vec<usize>,
}

impl Reached {
    fn new(n: usize) -> Self {
        Self { values: vec![0.0; n], reached: vec![false; n], nodes: Vec::new() }
    }

    fn add(&mut self, node: usize, value: f64) {
        if !self.reached[node] {
            self.reached[node] = true;
            self.nodes.push(node);
        }
        self.values[node] += value;
    }

    fn clear(&mut self) {
        for &node in &self.nodes {
            (self.values[node], self.reached[node]) = (0.0, false);
        }
        self.nodes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::return_probabilities;
    use crate::graph::{Conventions, Graph};
    use nalgebra::DMatrix;

    #[test]
    fn diagonals_of_powers_of_a_weighted_walk() {
        let edges = [(0, 1, 2.0), (1, 2, 0.5), (2, 0, 1.0), (2, 3, 4.0)];
        let graph = Graph::from_weighted_edges(5, &edges, &Conventions::default()).unwrap();
        let w = DMatrix::from_fn(5, 5, |i, j| graph.view().weight(i, j));
        let p = DMatrix::from_fn(5, 5, |i, j| if w.row(i).sum() > 0.0 { w[(i, j)] / w.row(i).sum() } else { 0.0 });
        let got = return_probabilities(graph.view(), 5);
        for t in 1..=5 {
            let power = p.pow(t);
            for i in 0..5 {
                // One rounding to f32, after square roots that are exact to 1e-16.
                let (got, want) = (f64::from(got[i * 5 + t as usize - 1]), power[(i, i)]);
                assert!(
                    (got - want).abs() <= f64::from(f32::EPSILON) * want.max(1e-30),
                    "node {i}, step {t}: {got}, {want}"
                );
            }
        }
    }
}
