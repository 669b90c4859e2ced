//! Graphs in the types of the library.

use super::graphs::{self, Simple};
use super::referee;
use super::solve::bits;
use fiedler::encode::Encoding;
use fiedler::graph::{Conventions, Graph, GraphBatch, GraphRef, molecules};
use fiedler::ops::laplacian::{Laplacian, Normalization};

/// Builds a graph from a simple one under the default conventions.
pub fn graph(simple: &Simple) -> Graph {
    Graph::from_edges(simple.n, &simple.edges, &Conventions::default()).expect("a simple graph")
}

/// Returns graphs with many repeated eigenvalues, and molecules.
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

/// Returns the true spectrum of the graph's Laplacian. For the random-walk Laplacian, it solves the symmetric
/// Laplacian, which is similar to it.
pub fn spectrum(graph: GraphRef<'_>, normalization: Normalization) -> Vec<f64> {
    let solved = if normalization == Normalization::RandomWalk { Normalization::Symmetric } else { normalization };
    let dense = Laplacian::new(graph, solved).to_dense();
    referee::eigenvalues(dense.as_slice(), graph.nodes()).expect("the referee's values")
}

/// Returns all values of an encoding as bits.
pub fn all_bits(e: &Encoding) -> (Vec<u32>, Vec<u8>, Vec<i64>) {
    let floats = [&e.eigenvalues, &e.eigenvectors, &e.residual, &e.orthogonality, &e.random_walk];
    (
        floats.iter().flat_map(|x| bits(x)).collect(),
        [e.status.as_slice(), e.mask.as_slice()].concat(),
        [e.node_offsets.as_slice(), e.components.as_slice(), e.tie_group.as_slice()].concat(),
    )
}

/// Returns all values of the encoding of graph `i` as bits.
pub fn bits_of_graph(e: &Encoding, i: usize) -> (Vec<u32>, Vec<u8>, Vec<i64>) {
    let (rows, nodes) = (i * e.k..(i + 1) * e.k, e.node_offsets[i] as usize..e.node_offsets[i + 1] as usize);
    let floats = [
        &e.eigenvalues[rows.clone()],
        &e.eigenvectors[nodes.start * e.k..nodes.end * e.k],
        &e.random_walk[nodes.start * e.walk_steps..nodes.end * e.walk_steps],
        &[e.residual[i], e.orthogonality[i]],
    ];
    (
        floats.iter().flat_map(|x| bits(x)).collect(),
        [&e.mask[rows.clone()], &[e.status[i], e.tie_cut[i]]].concat(),
        [&e.tie_group[rows], &[e.components[i]]].concat(),
    )
}
