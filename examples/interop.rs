//! Types of other crates in and out: ndarray, faer, petgraph and sprs, each with the feature of its name.

use faer::Mat;
use fiedler::ops::{EigshOptions, eigen::Which, eigsh, sparse::Operator};
use fiedler::prelude::*;
use ndarray::{Array3, Axis, s};
use petgraph::stable_graph::StableUnGraph;
use sprs::CsMat;

fn main() -> fiedler::Result<()> {
    let ctx = Context::new()?;

    // ndarray: the products X X' of a part of eight recordings of four signals, which is a view of the recordings.
    let recordings = Array3::from_shape_fn((8, 4, 100), |(i, j, t)| f64::sin((1 + i + 2 * j) as f64 * 0.1 * t as f64));
    let part = recordings.slice(s![.., .., 20..80]);
    let products = matmul(&ctx, &Array::from(part), &Array::from(part.permuted_axes([0, 2, 1])))?;
    let spectra = eigvalsh(&ctx, &products)?.values.to_host(&ctx)?;
    let spectra = spectra.as_ndarray()?; // a view (8, 4, 1), without a copy
    println!("eigenvalues of the first recording: {:.3}", spectra.index_axis(Axis(0), 0).t());

    // faer: singular values of a matrix, compared with faer's own.
    let a = Mat::from_fn(6, 4, |i, j| 1.0 / (1 + i + j) as f64);
    let found = svdvals(&ctx, &Array::from(&a))?.s.to_host(&ctx)?;
    let own = a.singular_values().expect("faer converges");
    assert!((0..4).all(|j| (found.as_faer(0)[(j, 0)] - own[j]).abs() < 1e-12));

    // petgraph: a graph from which a node was removed, with weights of its own.
    let mut roads = StableUnGraph::<&str, f64>::default();
    let towns = ["Ahorn", "Birke", "Eiche", "Linde", "Tanne"].map(|name| roads.add_node(name));
    for (from, to, kilometers) in [(0, 1, 4.0), (1, 2, 3.0), (2, 3, 9.0), (3, 4, 2.0), (1, 4, 20.0)] {
        roads.add_edge(towns[from], towns[to], kilometers);
    }
    roads.remove_node(towns[0]);
    let network = Graph::from_petgraph(&roads, &Conventions::default(), |road| 1.0 / road.weight())?;
    let graphs = GraphBatch::from(network.graph.clone());
    let encoding = SpectralEncoder::new(2).laplacian(Normalization::Combinatorial).encode(&ctx, &graphs)?;
    for (row, &town) in network.nodes.iter().enumerate() {
        // The sign is the side of the long road.
        println!("{}: {:+.3}", roads[town], encoding.eigenvectors(0)[(row, 1)]);
    }

    // sprs: the largest eigenvalue of the adjacency matrix, which the graph and the operator share.
    let adjacency: CsMat<f64> = network.graph.view().to_sprs();
    let operator = Operator::try_from(adjacency.view())?;
    let largest = eigsh(&ctx, &operator, 1, Which::Largest, &EigshOptions::default())?;
    println!("spectral radius: {:.6}", largest.values[0]);
    Ok(())
}
