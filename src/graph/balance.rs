//! Balance of the components of signed graphs.

use super::{Components, GraphRef};

impl GraphRef<'_> {
    /// Returns whether any weight is negative.
    pub(crate) fn has_negative_weights(&self) -> bool {
        self.conventions.signed && self.weights.is_some_and(|weights| weights.iter().any(|weight| weight < 0.0))
    }

    /// Returns the components of an undirected graph, and the sign of each node: 1 or -1 in a balanced component, and 0
    /// in any other. In a balanced component, the weight of every edge has the sign of the product of the signs of its
    /// nodes (Harary 1953), so the change of the signs of all nodes with -1 makes its weights positive, and the null
    /// vector of these is that of the signed Laplacian before the change. The lowest node of a component has the sign
    /// 1.
    pub(crate) fn balance(&self) -> (Components, Vec<f64>) {
        let components = self.components();
        if !self.has_negative_weights() {
            return (components, vec![1.0; self.nodes()]);
        }
        let mut signs = vec![0.0; self.nodes()];
        let mut is_balanced = vec![true; components.count];
        let mut queue = Vec::new();
        for start in 0..self.nodes() {
            if signs[start] == 0.0 {
                signs[start] = 1.0;
                queue.push(start);
            }
            while let Some(node) = queue.pop() {
                for (other, weight) in self.row(node) {
                    let sign = if weight < 0.0 { -signs[node] } else { signs[node] };
                    if signs[other] == 0.0 {
                        signs[other] = sign;
                        queue.push(other);
                    } else if signs[other] * sign < 0.0 {
                        is_balanced[components.labels[node] as usize] = false;
                    }
                }
            }
        }
        let known = |(sign, &label): (f64, &u32)| if is_balanced[label as usize] { sign } else { 0.0 };
        let signs = signs.into_iter().zip(&components.labels).map(known).collect();
        (components, signs)
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{Conventions, Graph};

    #[test]
    fn signs_of_balanced_components() {
        let signed = Conventions { signed: true, ..Conventions::default() };
        // A balanced square, a triangle with one negative edge, and an isolated node.
        let edges = [(0, 1, 1.0), (1, 2, -1.0), (2, 3, 2.0), (3, 0, -0.5), (4, 5, 1.0), (5, 6, 1.0), (4, 6, -1e-300)];
        let graph = Graph::from_weighted_edges(8, &edges, &signed).unwrap();
        let (components, signs) = graph.view().balance();
        assert_eq!(components.count, 3);
        assert_eq!(signs, [1.0, 1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0]);
        let keep = Conventions { self_loops: crate::graph::SelfLoops::Keep, ..signed };
        let negative_loop = Graph::from_weighted_edges(3, &[(0, 0, -1.0), (1, 1, 1.0), (1, 2, -1.0)], &keep).unwrap();
        assert_eq!(negative_loop.view().balance().1, [0.0, 1.0, -1.0]);
    }
}
