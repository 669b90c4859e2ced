//! Finds connected components by union-find. The number of zero eigenvalues of the Laplacian equals the number of
//! components.

use super::GraphRef;

/// The connected components of a graph, ignoring the direction of edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// The number of components.
    pub count: usize,
    /// The component of each node. Components are numbered from 0 in the order of their lowest nodes.
    pub labels: Vec<u32>,
}

impl Components {
    pub(super) fn of(graph: GraphRef<'_>) -> Self {
        let Ok(nodes) = u32::try_from(graph.nodes()) else { unreachable!("a graph's nodes are numbered in 32 bits") };
        let mut parent: Vec<u32> = (0..nodes).collect();
        for (row, node) in (0..nodes).enumerate() {
            for &neighbor in graph.neighbors(row) {
                let (a, b) = (root(&mut parent, node), root(&mut parent, neighbor));
                // The lower root becomes the parent, so the root of a component is its lowest node.
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        let mut labels = vec![0; graph.nodes()];
        let mut count = 0;
        for (row, node) in (0..nodes).enumerate() {
            let root = root(&mut parent, node);
            if root == node {
                labels[row] = count;
                count += 1;
            } else {
                labels[row] = labels[root as usize];
            }
        }
        Self { count: count as usize, labels }
    }
}

/// Returns the root of a node's tree. On the way to the root, path halving shortens the tree.
fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        parent[node as usize] = parent[parent[node as usize] as usize];
        node = parent[node as usize];
    }
    node
}
