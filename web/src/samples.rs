//! The samples of the page.

use crate::errors::thrown;
use fiedler::graph::generate::{complete, cycle, grid, hypercube, star, torus};
use fiedler::graph::{Conventions, molecules};
use fiedler::io::{DataSet, ReadOptions, read_from};
use fiedler::{Error, Graph, GraphBatch, Result};
use wasm_bindgen::prelude::*;

/// Zachary's karate club (1977), as the repository ships it.
const KARATE: &[u8] = include_bytes!("../../examples/data/karate.txt");

/// The largest side of a grid: 90,000 nodes.
const LARGEST_GRID: usize = 300;

/// Returns the names of the samples, in the order in which the page lists them.
#[wasm_bindgen]
#[must_use]
pub fn samples() -> Vec<String> {
    ["karate", "mesh", "grid30", "ring-of-cliques", "molecules", "ties"].map(String::from).to_vec()
}

/// Returns the graphs of a sample. A name `gridN` with any N from 2 to [`LARGEST_GRID`] is a grid of N x N nodes.
pub(crate) fn sample(name: &str) -> Result<GraphBatch, JsValue> {
    made(name).map_err(thrown)
}

fn made(name: &str) -> Result<GraphBatch> {
    match name {
        "karate" => karate().map(|data| data.graphs),
        "mesh" => mesh(20).map(GraphBatch::from),
        "ring-of-cliques" => ring_of_cliques(12, 8).map(GraphBatch::from),
        "molecules" => molecules(200, 7),
        "ties" => ties(),
        _ => {
            let side = name.strip_prefix("grid").and_then(|side| side.parse().ok());
            match side.filter(|side| (2..=LARGEST_GRID).contains(side)) {
                Some(side) => grid(side, side).map(GraphBatch::from),
                None => {
                    let known = samples().join(", ");
                    let what = format!("expected one of {known}, or gridN with N from 2 to 300, found {name:?}");
                    Err(Error::domain("sample", what))
                }
            }
        }
    }
}

/// Returns the karate club, whose file names the nodes from 1.
pub(crate) fn karate() -> Result<DataSet> {
    read_from("karate.txt", KARATE, &Conventions::default(), &ReadOptions::default())
}

/// Returns the triangulated L-shaped membrane, three squares of `side` x `side` nodes: a finite-element mesh with a
/// corner, whose low eigenvectors are the vibrations of the membrane.
fn mesh(side: usize) -> Result<Graph> {
    let inside = |row: usize, column: usize| row < side || column < side;
    let mut places = vec![None; 4 * side * side];
    let mut nodes = 0;
    for (place, number) in places.iter_mut().enumerate() {
        if inside(place / (2 * side), place % (2 * side)) {
            *number = Some(nodes);
            nodes += 1;
        }
    }
    let at = |row: usize, column: usize| places.get(row * 2 * side + column).copied().flatten();
    let mut edges = Vec::new();
    for row in 0..2 * side {
        for column in 0..2 * side {
            let right = column + 1 < 2 * side;
            let others = [(row, column + 1, right), (row + 1, column, true), (row + 1, column + 1, right)];
            for (there, across, on_the_same_side) in others {
                let other = at(there, across).filter(|_| on_the_same_side && inside(there, across));
                edges.extend(at(row, column).zip(other));
            }
        }
    }
    Graph::from_edges(nodes as usize, &edges, &Conventions::default())
}

/// Returns `count` complete graphs of `size` nodes, each joined to the next one by an edge, the last one to the first.
fn ring_of_cliques(count: u32, size: u32) -> Result<Graph> {
    let mut edges = Vec::new();
    for clique in 0..count {
        let first = clique * size;
        for a in 0..size {
            edges.extend((0..a).map(|b| (first + b, first + a)));
        }
        edges.push((first + size - 1, (clique + 1) % count * size));
    }
    Graph::from_edges((count * size) as usize, &edges, &Conventions::default())
}

/// Returns 40 small graphs with repeated eigenvalues.
fn ties() -> Result<GraphBatch> {
    let mut graphs = Vec::new();
    for nodes in 5..15 {
        graphs.extend([cycle(nodes)?, complete(nodes)?, star(nodes)?]);
    }
    for side in 3..10 {
        graphs.push(torus(side, side)?);
    }
    for dimension in 3..6 {
        graphs.push(hypercube(dimension)?);
    }
    GraphBatch::from_graphs(&graphs)
}
