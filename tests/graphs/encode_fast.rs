//! Compares the encoder's iterations with its dense decompositions. Every method has to find the same eigenpairs,
//! on data sets that mix small and large graphs.

use common::batches::all_bits;
use common::solve::{Checked, alike};
use common::sparse::{Sparse, Weighted, weighted};
use common::{Test, on_cpu, on_each, sample, suite};
use fiedler::encode::{Encoding, Method, SpectralEncoder, Which};
use fiedler::graph::generate::{
    BlockModel, Probability, block_model, grid, hypercube, path, preferential_attachment, star, torus,
};
use fiedler::graph::{Conventions, Graph, GraphBatch, IsolatedDiagonal, molecules};
use fiedler::ops::Normalization;
use fiedler::{Context, ErrorKind};

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];
const ENDS: [Which; 2] = [Which::Smallest, Which::Largest];
const EPS: f64 = f32::EPSILON as f64;

pub fn tests() -> Vec<Test> {
    suite(
        "encode_fast",
        vec![
            on_each("fast, auto and exact agree", agree),
            on_each("isolated nodes, under both conventions", isolated),
            on_cpu("results do not depend on how a batch is cut", cuts),
            on_each("bit-equal when repeated", twice),
            on_each("graphs of a batch do not affect each other", neighbors),
            on_each("small orders and few pairs", small),
            on_each("bad input is refused", refused),
        ],
    )
}

/// Returns small and large graphs in alternation, connected or not, weighted or not, with ties or without.
fn mixed() -> fiedler::Result<GraphBatch> {
    let how = Weighted { conventions: Conventions::default(), spread: 0.5, loops: 0, isolated: 3 };
    let blocks = BlockModel { blocks: 3, size: 220, within: Probability::new(1, 9)?, between: Probability::new(0, 1)? };
    let unweighted = Weighted { spread: 0.0, isolated: 0, ..how };
    let molecules = molecules(12, 3)?;
    let mut all = Vec::new();
    for (i, large) in [
        torus(26, 25)?,
        preferential_attachment(700, 3, 1)?,
        hypercube(10)?,
        block_model(blocks, 2)?,
        star(640)?,
        grid(31, 27)?,
        path(130)?,
    ]
    .iter()
    .enumerate()
    {
        all.push(weighted(molecules.graph(i), unweighted, 1)?);
        all.push(weighted(large.view(), unweighted, 1)?);
        if i == 1 || i == 5 {
            all.push(weighted(large.view(), how, 2)?);
        }
    }
    for (n, edges) in [(0, vec![]), (1, vec![]), (5, vec![]), (2, vec![(0, 1, 1.0)])] {
        all.push(Graph::from_weighted_edges(n, &edges, &Conventions::default())?);
    }
    GraphBatch::from_graphs(&all)
}

/// Compares two encodings of one graph: eigenvalues, masks, ties, zero modes and eigenvectors.
fn same(
    graphs: &GraphBatch,
    g: usize,
    normalization: Normalization,
    one: &Encoding,
    two: &Encoding,
) -> Result<(), String> {
    let k = one.k;
    let graph = graphs.graph(g);
    let norm = Sparse::laplacian(graph, normalization).norm;
    let of = |x: &[i64], j: usize| x[g * k + j];
    if one.mask[g * k..(g + 1) * k] != two.mask[g * k..(g + 1) * k] || one.components[g] != two.components[g] {
        return Err(format!("masks or components differ: {} and {}", one.components[g], two.components[g]));
    }
    for (name, encoding) in [("one", one), ("two", two)] {
        if encoding.status[g] != 0 || f64::from(encoding.residual[g]) > 1e-5 {
            return Err(format!("the {name}'s {:?}", encoding.certificate(g)));
        }
    }
    let there = (0..k).filter(|&j| one.mask[g * k + j] == 1).count();
    let (a, b) = (&one.eigenvalues(g)[..there], &two.eigenvalues(g)[..there]);
    for j in 0..there {
        let away = f64::from(a[j] - b[j]).abs();
        // The tolerance of the iteration, which bounds the error of an eigenvalue, plus the rounding of both
        // eigenvalues.
        let near = away <= (2e-6 + 2.0 * EPS) * norm;
        if !near {
            return Err(format!("value {j}: {:e} and {:e}, {:e} |L| apart", a[j], b[j], away / norm));
        }
    }
    // Ties are checked where neighboring eigenvalues are clearly apart, or equal by the symmetry of the graph.
    for j in 1..there {
        let gap = f64::from(a[j] - a[j - 1]) / norm;
        let tied = [&one.tie_group, &two.tie_group].map(|ties| of(ties, j) == of(ties, j - 1));
        if gap > 2e-5 && tied != [false; 2] || gap == 0.0 && tied != [true; 2] {
            return Err(format!("pairs {} and {j}, {gap:e} |L| apart: tied {tied:?}", j - 1));
        }
    }
    // The angle between the eigenspaces is at most the residual divided by the gap around the tie group. The
    // canonical basis amplifies this error, because the entry in the pivot row of a column may be as small as 1 /
    // sqrt(n).
    let noise = f64::from(one.residual[g] + two.residual[g]) * norm + EPS * norm;
    let mut start = 0;
    while start < there {
        let end = (start..there).find(|&j| of(&one.tie_group, j) != of(&one.tie_group, start)).unwrap_or(there);
        // The eigenvalues before the first and after the last column are not known here. So tie groups at the
        // ends are compared only if the encoding has the whole spectrum.
        let below = if start > 0 { f64::from(a[start] - a[start - 1]) } else { f64::INFINITY };
        let above = if end < there { f64::from(a[end] - a[end - 1]) } else { f64::INFINITY };
        let inner = end < there && start > 0 || there == graph.nodes();
        let allowed = 50.0 * noise / below.min(above) + 1e-5;
        for j in (start..end).filter(|_| inner && allowed < 1e-2) {
            let (x, y) = (one.eigenvectors(g), two.eigenvectors(g));
            let away = (x.column(j) - y.column(j)).amax();
            let within = f64::from(away) <= allowed;
            if !within {
                return Err(format!("vector {j} of {:e}: {away:e} apart, allowed {allowed:e}", a[j]));
            }
        }
        start = end;
    }
    Ok(())
}

fn agree(ctx: &Context) -> Checked {
    let graphs = mixed()?;
    // Each Laplacian and each end has columns with and without the trivial eigenvectors.
    let all = ALL.into_iter().zip([false, true, false]).flat_map(|(l, drop)| [(l, ENDS[0], drop), (l, ENDS[1], !drop)]);
    for (normalization, which, drop) in sample(ctx, all) {
        let encoder = SpectralEncoder::new(6).laplacian(normalization).which(which).drop_trivial(drop);
        // The dense decompositions run on the CPU in f64, because devices do not take matrices of these orders.
        let exact = encoder.clone().method(Method::Exact).encode(&Context::cpu(), &graphs)?;
        for method in [Method::Fast, Method::Auto] {
            let found = encoder.clone().method(method).encode(ctx, &graphs)?;
            for g in 0..graphs.len() {
                let n = graphs.graph(g).nodes();
                let name = format!("graph {g} ({n} nodes), {normalization:?}, {which:?}, drop {drop}, {method:?}");
                same(&graphs, g, normalization, &exact, &found).map_err(|e| format!("{name}: {e}"))?;
                let zeros = found.eigenvalues(g).iter().filter(|&&x| x == 0.0).count();
                let wanted = if drop || which == Which::Largest { 0 } else { (exact.components[g] as usize).min(6) };
                let iterated = method == Method::Fast && which == Which::Smallest && n > 100;
                assert!(!iterated || zeros == wanted, "{name}: {zeros} zeros, {wanted} wanted");
            }
        }
    }
    Ok(())
}

fn isolated(ctx: &Context) -> Checked {
    for isolated in [IsolatedDiagonal::Zero, IsolatedDiagonal::One] {
        let conventions = Conventions { isolated, ..Conventions::default() };
        let how = Weighted { conventions, spread: 0.3, loops: 0, isolated: 4 };
        let with = |graph: Graph, seed| weighted(graph.view(), how, seed);
        let graphs = GraphBatch::from_graphs(&[
            with(grid(14, 19)?, 1)?,
            with(path(3)?, 2)?,
            with(preferential_attachment(640, 2, 4)?, 3)?,
        ])?;
        for normalization in ALL {
            let zeros =
                if normalization == Normalization::Combinatorial || isolated == IsolatedDiagonal::Zero { 5 } else { 1 };
            for k in [3, 7] {
                for drop in [false, true] {
                    let encoder = SpectralEncoder::new(k).laplacian(normalization).drop_trivial(drop);
                    let exact = encoder.clone().method(Method::Exact).encode(&Context::cpu(), &graphs)?;
                    let fast = encoder.method(Method::Fast).encode(ctx, &graphs)?;
                    for g in 0..graphs.len() {
                        let name = format!("{isolated:?}, graph {g}, {normalization:?}, k = {k}, drop {drop}");
                        same(&graphs, g, normalization, &exact, &fast).map_err(|e| format!("{name}: {e}"))?;
                        assert_eq!(fast.components[g], 5);
                        let wanted = if drop { 0 } else { zeros.min(k) };
                        let found = fast.eigenvalues(g).iter().filter(|&&x| x == 0.0).count();
                        assert_eq!(found, wanted, "{name}: {:?}", fast.eigenvalues(g));
                        // The basis of the null space is in its canonical order: the vector with the largest
                        // entry comes first.
                        let v = fast.eigenvectors(g);
                        for j in 0..wanted {
                            assert!(
                                (v.column(j) - exact.eigenvectors(g).column(j)).amax() <= 2e-5,
                                "{name}: zero mode {j}"
                            );
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Graphs that a device iterates together do not affect each other. Each has the same bits alone, among all other
/// graphs, and if the order of the graphs is reversed.
fn neighbors(ctx: &Context) -> Checked {
    let how = Weighted { conventions: Conventions::default(), spread: 0.5, loops: 0, isolated: 4 };
    let graphs = [
        torus(12, 13)?,
        star(300)?,
        weighted(grid(9, 17)?.view(), how, 3)?,
        preferential_attachment(260, 3, 1)?,
        hypercube(8)?,
        path(140)?,
    ];
    for (k, normalization) in sample(ctx, [(5, Normalization::Combinatorial), (9, Normalization::Symmetric)]) {
        let encoder = SpectralEncoder::new(k).laplacian(normalization).method(Method::Fast);
        let together = encoder.encode(ctx, &GraphBatch::from_graphs(&graphs)?)?;
        let backwards: Vec<Graph> = graphs.iter().rev().cloned().collect();
        let backwards = encoder.encode(ctx, &GraphBatch::from_graphs(&backwards)?)?;
        for (g, graph) in graphs.iter().enumerate() {
            let alone = encoder.encode(ctx, &graph.clone().into())?;
            for (other, place) in [(&together, g), (&backwards, graphs.len() - 1 - g)] {
                let same = other.eigenvectors(place) == alone.eigenvectors(0)
                    && other.eigenvalues(place) == alone.eigenvalues(0);
                assert!(same, "graph {g}, k = {k}, {normalization:?}: its neighbors show");
            }
        }
    }
    Ok(())
}

/// In any order of the graphs and under any memory budget, the bits are the same.
fn cuts(ctx: &Context) -> Checked {
    let graphs = mixed()?;
    let normalizations = [Normalization::Combinatorial, Normalization::RandomWalk];
    let ways = [Method::Fast, Method::Auto].into_iter().flat_map(|method| normalizations.map(|own| (method, own)));
    for (method, normalization) in sample(ctx, ways) {
        let encoder = SpectralEncoder::new(6).laplacian(normalization).method(method);
        let (whole, report) = encoder.encode_with(ctx, &graphs, |_| ())?;
        for budget in [12 << 20, 32 << 20] {
            let small = alike(ctx).memory_budget(budget).build()?;
            let encoded = encoder.encode_with(&small, &graphs, |_| ());
            let (cut, cut_report) = match (encoded, method) {
                (Ok(cut), _) => cut,
                // The dense decompositions that `auto` chooses may not fit the budget.
                (Err(error), Method::Auto) if matches!(error.kind(), ErrorKind::Limit { .. }) => continue,
                (Err(error), _) => return Err(error.into()),
            };
            assert!(budget > 12 << 20 || cut_report.chunks > report.chunks, "{cut_report:?}");
            assert!(all_bits(&cut) == all_bits(&whole), "{method:?}, {normalization:?} under {budget} bytes");
        }
        let order: Vec<usize> = (0..graphs.len()).rev().collect();
        let backwards = encoder.encode(ctx, &graphs.select(&order))?;
        for (place, &g) in order.iter().enumerate() {
            let (a, b) = (whole.eigenvectors(g).clone_owned(), backwards.eigenvectors(place).clone_owned());
            assert!(a == b, "graph {g} backwards");
        }
    }
    Ok(())
}

fn twice(ctx: &Context) -> Checked {
    let graphs = mixed()?;
    for method in sample(ctx, [Method::Fast, Method::Auto]) {
        let encoder = SpectralEncoder::new(5).method(method);
        let (one, two) = (encoder.encode(ctx, &graphs)?, encoder.encode(ctx, &graphs)?);
        assert!(all_bits(&one) == all_bits(&two), "{method:?}");
    }
    Ok(())
}

/// Batches without graphs, graphs without nodes, with one node or without edges; and requests for no eigenpairs,
/// for all of them, and for more than there are.
fn small(ctx: &Context) -> Checked {
    let none = SpectralEncoder::new(3).method(Method::Fast).encode(ctx, &GraphBatch::from_graphs(&[])?)?;
    assert_eq!((none.graphs(), none.eigenvalues.len()), (0, 0));
    let graph = |n, edges: &[(u32, u32)]| Graph::from_edges(n, edges, &Conventions::default());
    let graphs = GraphBatch::from_graphs(&[
        graph(0, &[])?,
        graph(1, &[])?,
        graph(120, &[])?,
        graph(2, &[(0, 1)])?,
        path(7)?,
        star(110)?,
        graph(6, &[(0, 1), (3, 4)])?,
        grid(9, 12)?,
    ])?;
    for normalization in ALL {
        for which in ENDS {
            for drop in [false, true] {
                for k in [0, 1, 2, 7, 108, 125] {
                    let encoder = SpectralEncoder::new(k).laplacian(normalization).which(which).drop_trivial(drop);
                    let exact = encoder.clone().method(Method::Exact).encode(&Context::cpu(), &graphs)?;
                    let fast = encoder.method(Method::Fast).encode(ctx, &graphs)?;
                    assert_eq!((fast.graphs(), fast.eigenvalues.len()), (graphs.len(), k * graphs.len()));
                    for g in 0..graphs.len() {
                        let name = format!("graph {g}, k = {k}, {normalization:?}, {which:?}, drop {drop}");
                        same(&graphs, g, normalization, &exact, &fast).map_err(|e| format!("{name}: {e}"))?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    // The three blocks of 16 or more columns do not fit the budget, but the graph itself does.
    let graphs: GraphBatch = path(60_000)?.into();
    let small = alike(ctx).memory_budget(6 << 20).build()?;
    let error = SpectralEncoder::new(16).method(Method::Fast).encode(&small, &graphs).expect_err("beyond the budget");
    let needs = matches!(*error.kind(), ErrorKind::Limit { needed, allowed, .. } if needed > allowed);
    assert!(needs && !error.is_device() && error.to_string().contains("graph 0"), "{error}");
    Ok(())
}
