//! Spectra for which some method fails, such as those of weakly joined clusters and of a clique with a long tail.
//! `auto` finds the eigenpairs nevertheless.

use common::referee;
use common::solve::Checked;
use common::sparse::{Sparse, Truth, check, tolerance};
use fiedler::Context;
use fiedler::array::Real;
use fiedler::graph::generate::uniform;
use fiedler::graph::{Conventions, Graph};
use fiedler::ops::sparse::Operator;
use fiedler::ops::{EigshMethod, EigshOptions, Normalization, Which, eigsh};

/// Returns random graphs of 140 nodes in a row, each joined to the next by one edge of the given weight.
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
        // These edges make each random graph connected.
        edges.extend((1..size as u32).map(|i| (begin + i - 1, begin + i, 1.0)));
    }
    edges.extend(weights.iter().enumerate().map(|(c, &w)| ((c * size + 7) as u32, ((c + 1) * size + 9) as u32, w)));
    let merged = Conventions { duplicates: fiedler::graph::Duplicates::Max, ..Conventions::default() };
    Graph::from_weighted_edges((weights.len() + 1) * size, &edges, &merged)
}

/// Returns a clique with a path attached to it.
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
            // The limit is far below the thousands of products that an iteration takes if one eigenvalue hides the
            // others.
            assert!(found.products <= 2000, "{name}: {} products by {}", found.products, found.method);
            let (tolerance, values) = (tolerance::<f64>(), &values[..k]);
            let truth = Truth { matrix: &matrix, values, which: Which::Smallest, tolerance, all: true };
            check(&found, truth).map_err(|e| format!("{name}, by {}: {e}", found.method))?;
        }
    }
    Ok(())
}

/// A diagonal matrix with 64 or 336 eigenvalues at the lower end that are a thousandth apart. The other eigenvalues are
/// 500 to 1000. For a block of 32 columns, the close eigenvalues look like one eigenvalue of multiplicity 64 or 336,
/// which requires another polynomial.
fn close_in<T: Real>(ctx: &Context) -> Checked {
    let (n, k) = (400, 16);
    for close in [64, 336] {
        let far = |i: usize| 500.0 + 500.0 * (i - close) as f64 / (n - 1 - close) as f64;
        let values: Vec<f64> = (0..n).map(|i| if i < close { 1.0 + 1e-3 * i as f64 } else { far(i) }).collect();
        let rounded = values.iter().map(|&x| T::from_f64(x)).collect();
        let operator = Operator::<T>::from_csr((0..=n).collect(), (0..n as u32).collect(), rounded)?;
        let options = EigshOptions::default().method(EigshMethod::Chebyshev);
        let found = eigsh(ctx, &operator, k, Which::Smallest, &options)?;
        let matrix = Sparse::new(values.iter().enumerate().map(|(i, &x)| vec![(i, x)]).collect(), None);
        let (tolerance, values) = (tolerance::<T>(), &values[..k]);
        let truth = Truth { matrix: &matrix, values, which: Which::Smallest, tolerance, all: true };
        check(&found, truth).map_err(|e| format!("{close} close values, {} products: {e}", found.products))?;
    }
    Ok(())
}

pub fn close(ctx: &Context) -> Checked {
    close_in::<f32>(ctx)?;
    close_in::<f64>(ctx)
}
