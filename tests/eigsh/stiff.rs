//! Spectra in which one method or another fails: weakly joined clusters, a clique with a long tail. `auto` finds the pairs all the same.

use crate::common::referee;
use crate::common::solve::Checked;
use crate::common::sparse::{Sparse, Truth, check, tolerance};
use fiedler::Context;
use fiedler::graph::generate::uniform;
use fiedler::graph::{Conventions, Graph};
use fiedler::ops::sparse::Operator;
use fiedler::ops::{EigshOptions, Normalization, Which, eigsh};

/// Random graphs of 140 nodes, one after another joined by one edge of each weight.
fn clusters(weights: &[f32]) -> fiedler::Result<Graph> {
    let size = 140;
    let mut edges = Vec::new();
    for cluster in 0..=weights.len() {
        let begin = (cluster * size) as u32;
        let random = uniform(size, 4 * size, cluster as u64)?;
        edges.extend((0..size).flat_map(|i| {
            let neighbors: Vec<usize> = random.view().row(i).map(|(j, _)| j).filter(|&j| j > i).collect();
            neighbors.into_iter().map(move |j| (begin + i as u32, begin + j as u32, 1.0))
        }));
        // Connected, whatever the draw.
        edges.extend((1..size as u32).map(|i| (begin + i - 1, begin + i, 1.0)));
    }
    edges.extend(weights.iter().enumerate().map(|(c, &w)| ((c * size + 7) as u32, ((c + 1) * size + 9) as u32, w)));
    let merged = Conventions { duplicates: fiedler::graph::Duplicates::Max, ..Conventions::default() };
    Graph::from_weighted_edges((weights.len() + 1) * size, &edges, &merged)
}

/// A clique with a path behind it.
fn lollipop(clique: u32, path: u32) -> fiedler::Result<Graph> {
    let within = (0..clique).flat_map(|i| (0..i).map(move |j| (j, i)));
    let edges: Vec<(u32, u32)> = within.chain((clique..clique + path).map(|i| (i - 1, i))).collect();
    Graph::from_edges((clique + path) as usize, &edges, &Conventions::default())
}

pub fn stiff(ctx: &Context) -> Checked {
    let graphs =
        [("1e-6", clusters(&[1e-6])?), ("1e-4, 1e-6", clusters(&[1e-4, 1e-6])?), ("lollipop", lollipop(70, 230)?)];
    for (name, graph) in &graphs {
        for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
            let name = format!("{name}, {normalization:?}");
            let matrix = Sparse::laplacian(graph.view(), normalization);
            let values = referee::eigenvalues(&matrix.dense(), matrix.order())?;
            let operator = Operator::<f64>::laplacian(graph.view(), normalization)?;
            let k = 8;
            let found = eigsh(ctx, &operator, k, Which::Smallest, &EigshOptions::default())?;
            // Far fewer than where one value hides the others: thousands.
            assert!(found.products <= 2000, "{name}: {} products by {}", found.products, found.method);
            let (tolerance, values) = (tolerance::<f64>(), &values[..k]);
            let truth = Truth { matrix: &matrix, values, which: Which::Smallest, tolerance, all: true };
            check(&found, truth).map_err(|e| format!("{name}, by {}: {e}", found.method))?;
        }
    }
    Ok(())
}
