//! Random-walk encodings: how likely a walk is back where it began.

use crate::graph::GraphRef;

/// The diagonals of the powers 1 to `steps` of `D^-1 W`, `(n, steps)` row-major, in f64. A node of degree 0 has zeros; weights count.
///
/// Column by column: `P^t e_i` from `P^(t-1) e_i`, one sparse product a step (Dwivedi et al., Graph Neural Networks with Learnable
/// Structural and Positional Representations, 2022, use the same diagonals).
pub(super) fn return_probabilities(graph: GraphRef<'_>, steps: usize) -> Vec<f32> {
    let n = graph.nodes();
    let inverse: Vec<f64> = graph.degrees().into_iter().map(|d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect();
    let mut out = Vec::with_capacity(n * steps);
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
    for node in 0..n {
        x.fill(0.0);
        x[node] = 1.0;
        for _ in 0..steps {
            for (row, next) in y.iter_mut().enumerate() {
                *next = inverse[row] * graph.row(row).map(|(column, weight)| weight * x[column]).sum::<f64>();
            }
            std::mem::swap(&mut x, &mut y);
            #[expect(clippy::cast_possible_truncation, reason = "f32 is the encoding's precision")]
            out.push(x[node] as f32);
        }
    }
    out
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
        let got = return_probabilities(graph.view(), 4);
        for t in 1..=4 {
            let power = p.pow(t);
            for i in 0..5 {
                // One rounding to f32.
                let (got, want) = (f64::from(got[i * 4 + t as usize - 1]), power[(i, i)]);
                assert!(
                    (got - want).abs() <= f64::from(f32::EPSILON) * want.max(1e-30),
                    "node {i}, step {t}: {got}, {want}"
                );
            }
        }
    }
}
