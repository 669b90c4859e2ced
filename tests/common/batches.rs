//! Graphs as the library takes them.

use super::graphs::{self, Simple};
use fiedler::graph::{Conventions, Graph, GraphBatch, molecules};

/// A simple graph under the default conventions.
pub fn graph(simple: &Simple) -> Graph {
    Graph::from_edges(simple.n, &simple.edges, &Conventions::default()).expect("a simple graph")
}

/// Graphs full of ties, and molecules.
pub fn tied_graphs() -> GraphBatch {
    let mut all: Vec<Graph> = [
        graphs::cycle(3),
        graphs::cycle(12),
        graphs::cycle(17),
        graphs::cycle(48),
        graphs::complete(2),
        graphs::complete(9),
        graphs::complete(31),
        graphs::star(10),
        graphs::star(33),
        graphs::hypercube(3),
        graphs::hypercube(5),
        graphs::petersen(),
        graphs::path(2),
        graphs::path(20),
        graphs::path(60),
        graphs::grid(4, 5),
        graphs::grid(7, 7),
        graphs::path(1),
    ]
    .iter()
    .map(|form| graph(&form.graph))
    .collect();
    all.push(graph(&graphs::seven_nodes()));
    let molecules = molecules(100, 1).expect("molecules");
    for molecule in molecules.iter() {
        let edges: Vec<(u32, u32)> =
            (0..molecule.nodes()).flat_map(|i| molecule.neighbors(i).iter().map(move |&j| (i as u32, j))).collect();
        all.push(Graph::from_edges(molecule.nodes(), &edges, &Conventions::default()).expect("a molecule"));
    }
    GraphBatch::from_graphs(&all).expect("one batch")
}
