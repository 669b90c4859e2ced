//! The largest connected component of each graph of a batch.

use super::{GraphBatch, GraphRef};

/// The largest connected component of every graph of a batch, and the nodes that remain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LargestComponents {
    /// One graph for each graph of the batch, in their order, with the nodes of its component in their order.
    pub graphs: GraphBatch,
    /// For each node that remains, its index in the original batch, counted through all graphs; ascending.
    pub nodes: Vec<usize>,
}

impl GraphBatch {
    /// Returns the connected component of each graph that has the most nodes, ignoring the direction of edges; of
    /// several equally large ones, the one with the lowest node. A graph without nodes stays one.
    ///
    /// ```
    /// use fiedler::graph::{Conventions, Graph, GraphBatch};
    /// // A pair, and a path of three nodes.
    /// let graph = Graph::from_edges(5, &[(0, 3), (1, 2), (2, 4)], &Conventions::default())?;
    /// let largest = GraphBatch::from(graph).largest_components();
    /// assert_eq!(largest.nodes, [1, 2, 4]);
    /// assert_eq!(largest.graphs.graph(0).neighbors(1), [0, 2]);
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    #[must_use]
    pub fn largest_components(&self) -> LargestComponents {
        let mut graphs = Self {
            node_offsets: vec![0],
            row_offsets: vec![0],
            columns: Vec::new(),
            weights: self.weights.as_ref().map(|_| Vec::new()),
            conventions: self.conventions,
        };
        let mut nodes = Vec::new();
        for (graph, &first) in self.iter().zip(&self.node_offsets) {
            let rows = largest(graph);
            // The new number of each node that stays. The others are not neighbors of any node that stays.
            let mut renamed = vec![0; graph.nodes()];
            for (&row, new) in rows.iter().zip(0..) {
                renamed[row] = new;
            }
            for &row in &rows {
                graphs.columns.extend(graph.neighbors(row).iter().map(|&column| renamed[column as usize]));
                if let (Some(all), Some(own)) = (&mut graphs.weights, graph.weights(row)) {
                    all.extend_from_slice(own);
                }
                graphs.row_offsets.push(graphs.columns.len());
            }
            nodes.extend(rows.iter().map(|row| first + row));
            graphs.node_offsets.push(nodes.len());
        }
        // Weights of 1 are implied.
        graphs.weights = graphs.weights.filter(|weights| weights.iter().any(|&weight| weight != 1.0));
        LargestComponents { graphs, nodes }
    }
}

/// Returns the nodes of the largest component, ascending.
fn largest(graph: GraphRef<'_>) -> Vec<usize> {
    let components = graph.components();
    let mut sizes = vec![0_usize; components.count];
    components.labels.iter().for_each(|&label| sizes[label as usize] += 1);
    // Components are numbered by their lowest nodes, so the first of equals counts.
    let Some(most) = sizes.iter().max() else { return Vec::new() };
    let chosen = sizes.iter().position(|size| size == most);
    (0..graph.nodes()).filter(|&node| Some(components.labels[node] as usize) == chosen).collect()
}
