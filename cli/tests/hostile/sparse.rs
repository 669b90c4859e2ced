//! Laplacians, sparse products, and eigenpairs of sparse matrices.

use super::problems::{Problem, gram, noise, wide};
use fiedler::array::Array;
use fiedler::encode::{Method, SpectralEncoder};
use fiedler::graph::generate::{complete, cycle, grid, path, star, uniform};
use fiedler::graph::{Conventions, EdgeList, Graph, GraphBatch, IsolatedDiagonal, SelfLoops};
use fiedler::ops::eigen::Which;
use fiedler::ops::sparse::{OnDevice, Operator, SparseMatrix, spmm};
use fiedler::ops::{self, EigshMethod, EigshOptions, Normalization};
use fiedler::{Context, Result, Shape};

const NORMALIZATIONS: [Normalization; 3] =
    [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];

pub(super) fn problems() -> Vec<Problem> {
    vec![
        Problem::new("laplacians of graphs of many sizes", laplacians),
        Problem::new("sparse products", products),
        Problem::new("sparse products with long rows", long_rows),
        Problem::new("sparse matrices from edges", from_edges),
        Problem::new("eigenpairs by a filter", |ctx| pairs(ctx, EigshMethod::Chebyshev)),
        Problem::new("eigenvalues of a matrix with a long row", |ctx| {
            let graph = star(1500)?;
            let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
            let options = EigshOptions::default().method(EigshMethod::Chebyshev).tolerance(1e-5);
            Ok(wide(&ops::eigsh(ctx, &operator, 1, Which::Largest, &options)?.values))
        }),
        // Some are done before the others. Nodes without an edge are in no null vector.
        Problem::new("eigenvalues of several graphs at once", |ctx| {
            let conventions = Conventions { isolated: IsolatedDiagonal::One, ..Conventions::default() };
            let of = |nodes, edges: Vec<(u32, u32)>| Graph::from_edges(nodes, &edges, &conventions);
            let path = |len: u32| (0..len).map(|i| (i, i + 1)).collect();
            let graphs = [of(1500, (1..1500).map(|i| (0, i)).collect())?, of(90, path(89))?, of(35, path(30))?];
            let batch = GraphBatch::from_graphs(&graphs)?;
            let found = SpectralEncoder::new(3).method(Method::Fast).encode(ctx, &batch)?;
            Ok(wide(&found.eigenvalues))
        }),
        Problem::new("eigenpairs by subspace iteration", |ctx| pairs(ctx, EigshMethod::Subspace)),
    ]
}

/// Returns edges with weights, some of them twice, and self-loops.
fn edges(nodes: u32, count: usize, seed: usize) -> Vec<(u32, u32, f32)> {
    let node = |x: f32| ((x + 1.0) / 2.0 * nodes as f32) as u32 % nodes;
    noise(3 * count, seed).chunks_exact(3).map(|x| (node(x[0]), node(x[1]), x[2].abs() + 0.1)).collect()
}

fn laplacians(ctx: &Context) -> Result<Vec<f64>> {
    let mut out = Vec::new();
    for isolated in [IsolatedDiagonal::Zero, IsolatedDiagonal::One] {
        let conventions = Conventions { isolated, ..Conventions::default() };
        // A node that no edge leads to, and one with a self-loop.
        let loops = Conventions { self_loops: SelfLoops::Keep, isolated, ..Conventions::scipy() };
        let plain = |nodes: usize| {
            let all: Vec<(u32, u32)> = edges(nodes as u32, nodes, nodes).iter().map(|&(i, j, _)| (i, j)).collect();
            Graph::from_edges(nodes, &all, &conventions)
        };
        let weighted = |nodes: usize| Graph::from_weighted_edges(nodes, &edges(nodes as u32, nodes, 1), &conventions);
        let sizes = [1, 2, 3, 9, 40, 66];
        for graphs in [
            sizes.map(plain).into_iter().collect::<Result<Vec<_>>>()?,
            sizes.map(weighted).into_iter().collect::<Result<_>>()?,
            vec![Graph::from_weighted_edges(5, &[(0, 1, 0.5), (2, 2, 1.5), (2, 3, 1.0)], &loops)?],
        ] {
            let batch = GraphBatch::from_graphs(&graphs)?;
            for normalization in NORMALIZATIONS {
                out.extend(wide(&ops::laplacian::<f32>(ctx, &batch, normalization)?.to_host(ctx)?));
            }
        }
    }
    Ok(out)
}

/// Every number of columns that a lane may have, and more than a slab has.
fn products(ctx: &Context) -> Result<Vec<f64>> {
    let mut out = Vec::new();
    let weighted = Graph::from_weighted_edges(50, &edges(50, 200, 1), &Conventions::default())?;
    for graph in [cycle(33)?, weighted] {
        for normalization in NORMALIZATIONS {
            let operator = Operator::<f32>::laplacian(graph.view(), normalization)?;
            for columns in [1, 4, 5, 9, 16, 20, 24, 28, 31, 33] {
                let x = Array::from_vec(
                    Shape::new(columns, graph.view().nodes(), 1),
                    noise(columns * graph.view().nodes(), columns),
                )?;
                out.extend(wide(spmm(ctx, &operator, &x)?.to_host(ctx)?.as_slice()));
            }
        }
    }
    let matrix = SparseMatrix::from_csr(4, vec![0, 2, 2, 5], vec![0, 3, 0, 1, 2], vec![1.0_f32, -2.0, 0.5, 3.0, 4.0])?;
    let x = Array::from_vec(Shape::new(3, 4, 1), noise(12, 1))?;
    out.extend(wide(matrix.times(ctx, &x)?.to_host(ctx)?.as_slice()));
    Ok(out)
}

/// Rows whose entries several workgroups add up.
fn long_rows(ctx: &Context) -> Result<Vec<f64>> {
    let mut out = Vec::new();
    let nodes = 3000_u32;
    let mut list: Vec<(u32, u32, f32)> = (1..nodes).map(|i| (0, i, 1.0 + (i % 5) as f32)).collect();
    list.extend(edges(nodes, 500, 2));
    let weighted = Graph::from_weighted_edges(nodes as usize, &list, &Conventions::default())?;
    for (graph, normalization) in [(star(2000)?, Normalization::Combinatorial), (weighted, Normalization::Symmetric)] {
        let operator = Operator::<f32>::laplacian(graph.view(), normalization)?;
        for columns in [1, 6, 13] {
            let x = Array::from_vec(
                Shape::new(columns, graph.view().nodes(), 1),
                noise(columns * graph.view().nodes(), columns),
            )?;
            out.extend(wide(spmm(ctx, &operator, &x)?.to_host(ctx)?.as_slice()).iter().map(|x| x / 100.0));
        }
    }
    Ok(out)
}

/// The device sorts edges. On the CPU, the same matrices are made of graphs.
fn from_edges(ctx: &Context) -> Result<Vec<f64>> {
    let mut out = Vec::new();
    for (nodes, count, isolated) in [
        (1, 0, IsolatedDiagonal::Zero),
        (2, 1, IsolatedDiagonal::One),
        (300, 2000, IsolatedDiagonal::Zero),
        (700, 300, IsolatedDiagonal::One),
    ] {
        let conventions = Conventions { isolated, ..Conventions::default() };
        for (weighted, normalization) in
            NORMALIZATIONS.into_iter().flat_map(|normalization| [(false, normalization), (true, normalization)])
        {
            let list = || -> Result<EdgeList> {
                let mut list = EdgeList::new(nodes)?;
                for (i, j, weight) in edges(nodes as u32, count, nodes) {
                    if weighted { list.push_weighted(i, j, weight) } else { list.push(i, j) }
                }
                Ok(list)
            };
            let x = Array::from_vec(Shape::new(5, nodes, 1), noise(5 * nodes, 5))?;
            let y = if ctx.adapter().is_some() {
                OnDevice::from_edges(ctx, &list()?, &conventions, normalization)?.spmm(ctx, &x)?
            } else {
                let batch = GraphBatch::from_edge_list(list()?, &conventions)?;
                spmm(ctx, &Operator::<f32>::laplacians(&batch, normalization)?, &x)?
            };
            out.extend(wide(y.to_host(ctx)?.as_slice()));
        }
    }
    Ok(out)
}

/// Several matrices at once, connected and not.
fn pairs(ctx: &Context, method: EigshMethod) -> Result<Vec<f64>> {
    let mut out = Vec::new();
    let two: Vec<(u32, u32)> = (0..40).map(|i| (i, i + 1)).chain((50..90).map(|i| (i, i + 1))).collect();
    let apart = Graph::from_edges(100, &two, &Conventions::default())?;
    let graphs = [grid(9, 10)?, apart, path(70)?, uniform(80, 200, 1)?, complete(30)?];
    for (graph, normalization) in graphs.iter().zip(NORMALIZATIONS.into_iter().cycle()) {
        let operator = Operator::<f32>::laplacian(graph.view(), normalization)?;
        for (which, k) in [(Which::Smallest, 3), (Which::Largest, 5)] {
            let options = EigshOptions::default().method(method).tolerance(1e-5);
            let found = ops::eigsh(ctx, &operator, k, which, &options)?;
            out.extend(wide(&found.values));
            out.extend(gram(&wide(found.vectors.as_slice()), graph.view().nodes()));
        }
    }
    Ok(out)
}
