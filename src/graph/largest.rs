//! Extracts the largest connected component of each graph of a batch.

use super::{GraphBatch, GraphRef, Weights};

/// The largest connected component of every graph of a batch, and the nodes of these components.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LargestComponents {
    /// The largest component of each graph, in the order of the graphs. The nodes of a component keep their order.
    pub graphs: GraphBatch,
    /// For each remaining node, its index in the original batch, where nodes are numbered through all graphs. The
    /// indices are ascending.
    pub nodes: Vec<usize>,
}

impl GraphBatch {
    /// Returns, for each graph, the connected component with the most nodes, ignoring the direction of edges. If
    /// several components are equally large, the component with the lowest node is returned. A graph without nodes
    /// stays empty.
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
            weights: self.weights.as_ref().map(|_| Weights::default()),
            flows: self.flows.as_ref().map(|_| Vec::new()),
            conventions: self.conventions,
        };
        let mut nodes = Vec::new();
        for (graph, &first) in self.iter().zip(&self.node_offsets) {
            let rows = largest(graph);
            // The new index of each node of the component. The values for other nodes are unused, because they are not
            // neighbors of nodes of the component.
            let mut renamed = vec![0; graph.nodes()];
            for (&row, new) in rows.iter().zip(0..) {
                renamed[row] = new;
            }
            for &row in &rows {
                graphs.columns.extend(graph.neighbors(row).iter().map(|&column| renamed[column as usize]));
                if let (Some(all), Some(own)) = (&mut graphs.weights, graph.weights(row)) {
                    all.extend(own);
                }
                if let Some(flows) = &mut graphs.flows {
                    flows.extend(graph.row_with_flows(row).map(|(_, _, flow)| flow));
                }
                graphs.row_offsets.push(graphs.columns.len());
            }
            nodes.extend(rows.iter().map(|row| first + row));
            graphs.node_offsets.push(nodes.len());
        }
        // If all remaining weights are 1, none are stored.
        graphs.weights = graphs.weights.and_then(Weights::stored);
        graphs.flows = graphs.flows.filter(|flows| flows.iter().any(|&flow| flow != 0.0));
        LargestComponents { graphs, nodes }
    }
}

/// Returns the nodes of the largest component in ascending order.
fn largest(graph: GraphRef<'_>) -> Vec<usize> {
    let components = graph.components();
    let mut sizes = vec![0_usize; components.count];
    components.labels.iter().for_each(|&label| sizes[label as usize] += 1);
    // Components are numbered in the order of their lowest nodes, so the first of several equally large components is
    // chosen.
    let Some(most) = sizes.iter().max() else { return Vec::new() };
    let chosen = sizes.iter().position(|size| size == most);
    (0..graph.nodes()).filter(|&node| Some(components.labels[node] as usize) == chosen).collect()
}
