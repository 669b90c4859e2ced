//! Graphs of petgraph.

use super::{assert_close, assert_refused, dense, is_domain, random_edges, spectrum};
use common::random::SplitMix64;
use fiedler::graph::{Conventions, Duplicates, Graph, GraphBatch, Symmetrization};
use nalgebra::DMatrix;
use petgraph::graph::{DiGraph, NodeIndex, UnGraph};
use petgraph::graphmap::UnGraphMap;
use petgraph::stable_graph::{StableDiGraph, StableUnGraph};
use petgraph::visit::{EdgeRef, NodeFiltered, Reversed};
use std::hash::RandomState;

/// What the default conventions make of undirected edges: the largest weight of each, without self-loops.
fn largest_weights(nodes: usize, edges: impl Iterator<Item = (usize, usize, f64)>) -> DMatrix<f64> {
    let mut w = DMatrix::<f64>::zeros(nodes, nodes);
    for (source, target, weight) in edges.filter(|edge| edge.0 != edge.1) {
        w[(source, target)] = w[(source, target)].max(weight);
        w[(target, source)] = w[(source, target)];
    }
    w
}

#[test]
fn the_laplacian_has_the_spectrum_of_the_graph_without_the_removed_nodes() {
    let mut random = SplitMix64::new(3);
    for _ in 0..200 {
        let (nodes, edges) = random_edges(&mut random);
        let mut graph = StableUnGraph::<usize, f64>::default();
        let names: Vec<NodeIndex> = (0..nodes).map(|node| graph.add_node(node)).collect();
        edges.iter().for_each(|&(a, b, weight)| _ = graph.add_edge(names[a], names[b], weight));
        for _ in 0..random.below(nodes) {
            graph.remove_node(names[random.below(nodes)]);
        }
        let found = Graph::from_petgraph(&graph, &Conventions::default(), |edge| 2.0 * edge.weight()).unwrap();
        assert_eq!(found.nodes, graph.node_indices().collect::<Vec<_>>());
        let number = |node: usize| found.nodes.iter().position(|&name| graph[name] == node);
        let left = edges.iter().filter_map(|&(a, b, weight)| Some((number(a)?, number(b)?, 2.0 * weight)));
        let wanted = largest_weights(found.nodes.len(), left);
        assert_eq!(dense(&found.graph), wanted);
        assert_close(&spectrum(&dense(&found.graph)), &spectrum(&wanted));
    }
}

#[test]
fn undirected_graphs_come_back() {
    let mut random = SplitMix64::new(4);
    let with_loops = Conventions { symmetrization: Symmetrization::Max, ..Conventions::networkx() };
    for round in 0..200 {
        let (nodes, edges) = random_edges(&mut random);
        let edges: Vec<(u32, u32, f64)> = edges.iter().map(|&(a, b, w)| (a as u32, b as u32, w)).collect();
        let conventions = if round % 2 == 0 { Conventions::default() } else { with_loops };
        let graph = Graph::from_weighted_edges(nodes, &edges, &conventions).unwrap();
        let theirs = graph.view().to_petgraph().unwrap();
        assert_eq!(theirs.node_count(), nodes);
        let own = Graph::from_petgraph(&theirs, &conventions, |edge| *edge.weight()).unwrap();
        assert_eq!((own.graph, own.nodes), (graph, theirs.node_indices().collect()));
    }
    let none = Graph::from_petgraph(&UnGraph::<(), f64>::default(), &Conventions::default(), |edge| *edge.weight());
    assert_eq!(none.unwrap().graph.view().to_petgraph().unwrap().node_count(), 0);
}

/// A graph within a batch is the same as alone.
#[test]
fn a_graph_of_a_batch_goes_to_petgraph() {
    let conventions = Conventions::default();
    let [a, b] = [[(0, 1, 0.5), (1, 2, 2.0)], [(0, 2, 0.1), (1, 2, 3.0)]]
        .map(|edges| Graph::from_weighted_edges(3, &edges, &conventions).unwrap());
    let batch = GraphBatch::from_graphs(&[a, b]).unwrap();
    let theirs = batch.graph(1).to_petgraph().unwrap();
    let edges: Vec<_> =
        theirs.edge_references().map(|e| (e.source().index(), e.target().index(), *e.weight())).collect();
    assert_eq!(edges, [(0, 2, 0.1), (1, 2, 3.0)]);
}

#[test]
fn conventions_decide_about_directions() {
    let directed = DiGraph::<(), f64>::from_edges([(0, 1, 1.0), (1, 0, 3.0), (1, 2, 4.0)]);
    let made = |symmetrization| {
        let conventions = Conventions { symmetrization, ..Conventions::default() };
        Graph::from_petgraph(&directed, &conventions, |edge| *edge.weight()).map(|found| found.graph)
    };
    let weights = |symmetrization| {
        let graph = made(symmetrization).unwrap();
        [(0, 1), (1, 0), (1, 2), (2, 1)].map(|(row, column)| graph.view().weight(row, column))
    };
    assert_eq!(weights(Symmetrization::Max), [3.0, 3.0, 4.0, 4.0]);
    assert_eq!(weights(Symmetrization::Mean), [2.0, 2.0, 2.0, 2.0]);
    assert_eq!(weights(Symmetrization::Keep), [1.0, 3.0, 4.0, 0.0]);
    assert_refused(made(Symmetrization::Error), is_domain, "from node 0 to node 1");
    let kept = made(Symmetrization::Keep).unwrap();
    assert_refused(kept.view().to_petgraph(), is_domain, "expected an undirected graph");
    let reversed = Graph::from_petgraph(Reversed(&directed), &Conventions::scipy(), |_| 1.0).unwrap();
    assert_eq!(reversed.graph.view().neighbors(2), [1]);
    // Every convention finds an undirected graph symmetric, in which the order of parallel edges counts.
    let undirected = UnGraph::<(), f64>::from_edges([(0, 1, 1.0), (1, 0, 3.0), (2, 2, 5.0)]);
    for (duplicates, wanted) in [(Duplicates::Sum, 4.0), (Duplicates::First, 1.0), (Duplicates::Last, 3.0)] {
        let conventions = Conventions { duplicates, ..Conventions::networkx() };
        let graph = Graph::from_petgraph(&undirected, &conventions, |edge| *edge.weight()).unwrap().graph;
        assert_eq!(dense(&graph), DMatrix::from_row_slice(3, 3, &[0.0, wanted, 0.0, wanted, 0.0, 0.0, 0.0, 0.0, 5.0]));
    }
}

#[test]
fn other_kinds_of_graphs_are_taken() {
    let map = UnGraphMap::<&str, f64, RandomState>::from_edges([("b", "a", 2.0), ("a", "c", 3.0)]);
    let found = Graph::from_petgraph(&map, &Conventions::default(), |(_, _, &weight)| weight).unwrap();
    assert_eq!((found.nodes, found.graph.view().degrees()), (vec!["b", "a", "c"], vec![2.0, 5.0, 3.0]));
    let mut graph = StableDiGraph::<(), ()>::from_edges([(0, 1), (1, 2), (2, 3), (3, 4)]);
    graph.remove_node(1.into());
    let filtered = NodeFiltered::from_fn(&graph, |node| node != 3.into());
    let found = Graph::from_petgraph(&filtered, &Conventions::default(), |_| 1.0).unwrap();
    assert_eq!(found.nodes, [0, 2, 4].map(NodeIndex::new));
    assert_eq!(found.graph.view().entries(), 0);
}

#[test]
fn weights_that_no_graph_has_are_refused() {
    let graph = UnGraph::<(), f64>::from_edges([(0, 1, 1.0), (1, 2, -1.0)]);
    let signed = Conventions { signed: true, ..Conventions::default() };
    let made = |conventions: &Conventions, factor: f64| {
        Graph::from_petgraph(&graph, conventions, |edge| factor * edge.weight())
    };
    let part = "expected a finite weight that is not negative, found -1 at edge 1, from node 1 to node 2";
    assert_refused(made(&Conventions::default(), 1.0), is_domain, part);
    assert_refused(made(&signed, f64::NAN), is_domain, "expected a finite weight, found NaN at edge 0");
    assert_eq!(made(&signed, 1.0).unwrap().graph.view().weight(2, 1), -1.0);
}
