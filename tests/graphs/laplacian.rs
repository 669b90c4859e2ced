//! Compares dense Laplacians of every backend with the f64 operators on the host, which tests/host/graph.rs
//! compares with other libraries' matrices.

use common::random::SplitMix64;
use common::solve::{Checked, alike, bits};
use common::{Test, on_each, on_gpus, suite};
use fiedler::graph::{
    Conventions, DegreeDirection, Graph, GraphBatch, GraphRef, IsolatedDiagonal, Preset, SelfLoops, Symmetrization,
    ZeroDegreeScale, molecules,
};
use fiedler::ops::laplacian::{Laplacian, Normalization, laplacian};
use fiedler::{Context, ErrorKind};

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];

/// Numbers of nodes around the 64 invocations of a workgroup, each of which takes every 64th row.
const SIZES: [usize; 8] = [0, 1, 2, 3, 63, 64, 65, 130];

pub fn tests() -> Vec<Test> {
    suite(
        "laplacian",
        vec![
            on_each("every convention against the f64 operator", every_convention),
            on_each("rows sum to zero, symmetric ones are symmetric", laws),
            on_each("results do not depend on how a batch is cut", cuts),
            on_each("many graphs", many),
            on_gpus("limits", limits),
        ],
    )
}

/// Returns a random, untidy list of edges: directed, with self-loops, some listed twice, and a third of the nodes
/// isolated.
fn edges(n: usize, random: &mut SplitMix64) -> Vec<(u32, u32, f32)> {
    let connected = n - n / 3;
    (0..3 * connected)
        .map(|_| {
            let (a, b) = (random.below(connected) as u32, random.below(connected) as u32);
            (a, b, (0.1 + 4.0 * random.unit()) as f32)
        })
        .collect()
}

/// Returns one graph of each size, under the same conventions.
fn batch(conventions: &Conventions, weighted: bool) -> fiedler::Result<GraphBatch> {
    let mut random = SplitMix64::new(1);
    let mut graphs = Vec::new();
    for n in SIZES {
        let mut list = edges(n, &mut random);
        if !weighted {
            list.iter_mut().for_each(|edge| edge.2 = 1.0);
        }
        if conventions.symmetrization == Symmetrization::Error {
            list = list.iter().flat_map(|&(a, b, w)| [(a, b, w), (b, a, w)]).collect();
        }
        graphs.push(Graph::from_weighted_edges(n, &list, conventions)?);
    }
    GraphBatch::from_graphs(&graphs)
}

/// Returns conventions that together have every value of every option on which a Laplacian depends.
fn conventions() -> Vec<Conventions> {
    let mut all: Vec<Conventions> = Preset::ALL.into_iter().map(Preset::conventions).collect();
    for degree in [DegreeDirection::In, DegreeDirection::Out] {
        for symmetrization in [Symmetrization::Keep, Symmetrization::Sum, Symmetrization::Mean, Symmetrization::Max] {
            for self_loops in [SelfLoops::Keep, SelfLoops::Drop] {
                for isolated in [IsolatedDiagonal::Zero, IsolatedDiagonal::One] {
                    for zero_degree_scale in [ZeroDegreeScale::Zero, ZeroDegreeScale::One] {
                        let default = Conventions::default();
                        all.push(Conventions {
                            degree,
                            symmetrization,
                            self_loops,
                            isolated,
                            zero_degree_scale,
                            ..default
                        });
                    }
                }
            }
        }
    }
    all
}

/// Returns the largest error that f32 permits in an entry. Off the diagonal, a weight is multiplied by two inverse
/// square roots of degrees. The relative error of each inverse root is 2 eps plus half the relative error of its
/// degree. On the diagonal, a weight is subtracted from a degree. A degree is a sum of `terms` weights, and each
/// addition is rounded, so its relative error is at most terms eps / 2. The bound also covers an f64 result that is
/// rounded once to f32.
fn allowed(entry: f64, degree: f64, terms: usize, normalization: Normalization, diagonal: bool) -> f64 {
    let eps = f64::from(f32::EPSILON);
    let sum = 0.5 * terms as f64 * eps;
    match (normalization, diagonal) {
        (Normalization::Combinatorial, true) => (sum + eps) * degree,
        (Normalization::Combinatorial, false) => 0.5 * eps * entry.abs(), // a weight, rounded to f32
        (_, true) => sum + 4.0 * eps,                                     // 1 - w / d, of at most 1
        (_, false) => (sum + 8.0 * eps) * entry.abs(),
    }
}

/// Returns the largest number of weights in a degree, which is the sum of a row or of a column.
fn most_terms(graph: GraphRef<'_>) -> usize {
    let mut arriving = vec![0; graph.nodes()];
    graph.columns().iter().for_each(|&column| arriving[column as usize] += 1);
    let leaving = (0..graph.nodes()).map(|row| graph.neighbors(row).len());
    leaving.chain(arriving).max().unwrap_or(0)
}

fn compare(ctx: &Context, graphs: &GraphBatch, normalization: Normalization) -> Result<f64, String> {
    let found = laplacian::<f32>(ctx, graphs, normalization).map_err(|e| e.to_string())?;
    let (layout, data) = (found.layout().clone(), found.to_host(ctx).map_err(|e| e.to_string())?);
    assert_eq!(layout.batch(), graphs.len());
    let mut worst = 0.0_f64;
    for (g, graph) in graphs.iter().enumerate() {
        let n = graph.nodes();
        let want = Laplacian::new(graph, normalization).to_dense();
        let got = &data[layout.elements(g)];
        assert_eq!(got.len(), n * n);
        let degrees = graph.degrees();
        let most = most_terms(graph);
        for (e, &got) in got.iter().enumerate() {
            let (row, column) = (e % n, e / n);
            let (got, want) = (f64::from(got), want[(row, column)]);
            let allowed = allowed(want, degrees[row].max(degrees[column]), most, normalization, row == column);
            let error = (got - want).abs();
            if error > allowed || error.is_nan() {
                return Err(format!(
                    "{normalization:?}, {:?}, {n} nodes, ({row}, {column}): got {got:e}, want {want:e}, allowed {allowed:e}",
                    graphs.conventions()
                ));
            }
            worst = worst.max(error);
        }
    }
    Ok(worst)
}

fn every_convention(ctx: &Context) -> Checked {
    let mut compared = 0;
    for conventions in conventions() {
        for weighted in [false, true] {
            let graphs = batch(&conventions, weighted)?;
            for normalization in ALL {
                compare(ctx, &graphs, normalization)?;
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 6 * (4 + 64));
    Ok(())
}

fn laws(ctx: &Context) -> Checked {
    for weighted in [false, true] {
        let graphs = batch(&Conventions::default(), weighted)?;
        for normalization in ALL {
            let found = laplacian::<f32>(ctx, &graphs, normalization)?;
            let (layout, data) = (found.layout().clone(), found.to_host(ctx)?);
            for (g, graph) in graphs.iter().enumerate() {
                let (n, l) = (graph.nodes(), &data[layout.elements(g)]);
                if normalization != Normalization::RandomWalk {
                    assert!(
                        (0..n * n).all(|e| l[e].to_bits() == l[e / n + n * (e % n)].to_bits()),
                        "symmetric to the bit"
                    );
                }
                for i in 0..n {
                    // The symmetric Laplacian satisfies L D^1/2 1 = 0, and the others satisfy L 1 = 0, where 1 is
                    // the vector of ones.
                    let x = |j: usize| match normalization {
                        Normalization::Symmetric => graph.degrees()[j].sqrt(),
                        _ => 1.0,
                    };
                    let terms: Vec<f64> = (0..n).map(|j| f64::from(l[i + n * j]) * x(j)).collect();
                    let (sum, size): (f64, f64) = (terms.iter().sum(), terms.iter().map(|t| t.abs()).sum());
                    // Each entry has a relative error (see `allowed`), so the error of the sum is relative to the
                    // sum of the magnitudes of the entries.
                    let near = sum.abs() <= (0.5 * most_terms(graph) as f64 + 8.0) * f64::from(f32::EPSILON) * size;
                    assert!(near, "{normalization:?}, {n} nodes, row {i}: sums to {sum:e} of {size:e}");
                }
            }
        }
    }
    Ok(())
}

/// The Laplacians are the same graph by graph, in one batch, and in a batch in another order.
fn cuts(ctx: &Context) -> Checked {
    let graphs = batch(&Conventions::default(), true)?;
    let reversed: Vec<usize> = (0..graphs.len()).rev().collect();
    let backwards = graphs.select(&reversed);
    for normalization in ALL {
        let whole = laplacian::<f32>(ctx, &graphs, normalization)?;
        let (layout, whole) = (whole.layout().clone(), whole.to_host(ctx)?);
        let other = laplacian::<f32>(ctx, &backwards, normalization)?;
        let (other_layout, other) = (other.layout().clone(), other.to_host(ctx)?);
        for i in 0..graphs.len() {
            let alone = laplacian::<f32>(ctx, &graphs.select(&[i]), normalization)?.to_host(ctx)?;
            let want = bits(&whole[layout.elements(i)]);
            assert_eq!(bits(&alone), want, "{normalization:?}, graph {i} alone");
            assert_eq!(
                bits(&other[other_layout.elements(graphs.len() - 1 - i)]),
                want,
                "{normalization:?}, graph {i} backwards"
            );
        }
    }
    Ok(())
}

/// A batch of more graphs than a dispatch has workgroups, and an empty batch.
fn many(ctx: &Context) -> Checked {
    compare(ctx, &GraphBatch::from_graphs(&[])?, Normalization::Symmetric)?;
    compare(ctx, &molecules(2000, 3)?, Normalization::Symmetric)?;
    let pair = Graph::from_edges(2, &[(0, 1)], &Conventions::default())?;
    let pairs = GraphBatch::from_graphs(&vec![pair; 70_000])?;
    compare(ctx, &pairs, Normalization::Combinatorial)?;
    Ok(())
}

fn limits(ctx: &Context) -> Checked {
    let adapter = ctx.adapter().expect("an adapter");
    // One graph, with few edges, has a matrix that barely exceeds a binding. The other graph needs more loop
    // iterations than an invocation may have.
    let over = ((adapter.limits.storage_binding / 4) as f64).sqrt() as usize + 1;
    let path: Vec<(u32, u32)> = (1..over as u32).map(|i| (i - 1, i)).collect();
    if 4 * (over as u64).pow(2) > adapter.limits.storage_binding && over < 100_000 {
        let graph = Graph::from_edges(over, &path, &Conventions::default())?;
        let error = laplacian::<f32>(ctx, &graph.into(), Normalization::Symmetric).expect_err("over a binding");
        assert!(
            matches!(*error.kind(), ErrorKind::Limit { needed, allowed, .. }
                if needed == 4 * (over as u64).pow(2) && allowed == adapter.limits.storage_binding),
            "{error}"
        );
        assert!(error.to_string().contains(&adapter.name) && !error.is_device());
    }
    // If the device's kernels can take a call but the memory budget is too small for it, the error is a lack of
    // memory.
    let small = alike(ctx).memory_budget(256 << 10).build()?;
    let graph = Graph::from_edges(400, &path[..399.min(path.len())], &Conventions::default())?;
    let error =
        laplacian::<f32>(&small, &graph.into(), Normalization::Symmetric).expect_err("640,000 bytes in 262,144");
    assert!(error.is_out_of_memory() && error.is_device(), "{error}");
    // The context remains usable.
    compare(&small, &molecules(10, 4)?, Normalization::Symmetric)?;
    // f64 is not narrowed silently.
    let error = laplacian::<f64>(ctx, &molecules(1, 4)?, Normalization::Symmetric).expect_err("f64 on the device");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    Ok(())
}
