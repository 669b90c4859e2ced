//! Structural encodings: against their definitions in f64, closed forms, laws, and what does not depend on a batch.

use common::graphs::all_graphs;
use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, suite};
use fiedler::encode::{StructuralEncoder, StructuralEncoding};
use fiedler::graph::generate::{complete, cycle, hypercube, path, star};
use fiedler::graph::{Conventions, Graph, GraphBatch, GraphRef, IsolatedDiagonal, Symmetrization, molecules};
use fiedler::ops::{Normalization, Status};
use fiedler::{Context, ErrorKind};
use nalgebra::DMatrix;

const TIMES: [f64; 4] = [0.0, 0.3, 1.0, 7.5];
const RESTARTS: [f64; 3] = [0.05, 0.4, 1.0];

pub fn tests() -> Vec<Test> {
    suite(
        "structural",
        vec![
            on_cpu("definitions, on random graphs", definitions),
            on_cpu("definitions, on molecules", on_molecules),
            on_cpu("definitions, on all graphs of up to 7 nodes", on_all_small_graphs),
            on_cpu("closed forms", closed_forms),
            on_cpu("weights of many decades", decades),
            on_cpu("wave kernels", wave_kernels),
            on_cpu("electrostatic columns", electrostatic),
            on_cpu("f32 is f64, rounded", rounded),
            on_cpu("a graph does not depend on its batch", batches),
            on_cpu("isolated nodes, and graphs without a node", edges_of_the_domain),
            on_cpu("numbers that f32 does not hold", overflow),
            on_cpu("what is refused", refused),
        ],
    )
}

fn all() -> StructuralEncoder {
    StructuralEncoder::new()
        .heat_kernel(&TIMES)
        .wave_kernel(5)
        .pagerank(&RESTARTS)
        .electrostatic(true)
        .resistances(true)
        .all_pairs(true)
        .invariants(true)
}

pub fn in_f64(
    encoder: &StructuralEncoder,
    ctx: &Context,
    graphs: &GraphBatch,
) -> fiedler::Result<StructuralEncoding<f64>> {
    encoder.encode_with(ctx, graphs, |_| ())
}

/// Returns a random graph of up to 30 nodes with weights between 1/4 and 4, often of several components.
fn random_graph(random: &mut SplitMix64) -> Graph {
    let n = 1 + random.below(30);
    let density = [0.03, 0.1, 0.3, 0.9][random.below(4)];
    let mut edges = Vec::new();
    for (a, b) in (0..n).flat_map(|a| (0..a).map(move |b| (b as u32, a as u32))) {
        if random.unit() < density {
            edges.push((a, b, 4.0_f64.powf(random.signed())));
        }
    }
    Graph::from_weighted_edges(n, &edges, &Conventions::default()).unwrap()
}

/// The matrices by which the encodings of a graph are defined.
struct Truth {
    n: usize,
    degrees: Vec<f64>,
    adjacency: DMatrix<f64>,
    laplacian: DMatrix<f64>,
    pseudoinverse: DMatrix<f64>,
    labels: Vec<u32>,
    components: usize,
}

impl Truth {
    fn new(graph: GraphRef<'_>) -> Self {
        let n = graph.nodes();
        let adjacency = DMatrix::from_fn(n, n, |i, j| graph.weight(i, j));
        let degrees: Vec<f64> = (0..n).map(|i| adjacency.row(i).sum()).collect();
        let laplacian = DMatrix::from_fn(n, n, |i, j| if i == j { degrees[i] } else { 0.0 }) - &adjacency;
        let components = graph.components();
        let size = |label: u32| components.labels.iter().filter(|&&own| own == label).count() as f64;
        // L + J / m on each component of m nodes is regular, and its inverse is L+ + J / m.
        let shift = DMatrix::from_fn(n, n, |i, j| match components.labels[i] == components.labels[j] {
            true => 1.0 / size(components.labels[i]),
            false => 0.0,
        });
        let pseudoinverse = (&laplacian + &shift).try_inverse().unwrap() - shift;
        let (count, labels) = (components.count, components.labels);
        Self { n, degrees, adjacency, laplacian, pseudoinverse, labels, components: count }
    }

    fn resistance(&self, i: usize, j: usize) -> f64 {
        let l = &self.pseudoinverse;
        if self.labels[i] == self.labels[j] { l[(i, i)] + l[(j, j)] - 2.0 * l[(i, j)] } else { f64::INFINITY }
    }

    /// The symmetric Laplacian with 0 on the diagonal of isolated nodes.
    fn symmetric(&self) -> DMatrix<f64> {
        let scale = |i: usize| if self.degrees[i] > 0.0 { self.degrees[i].sqrt().recip() } else { 0.0 };
        DMatrix::from_fn(self.n, self.n, |i, j| scale(i) * self.laplacian[(i, j)] * scale(j))
    }

    /// The condition of what is inverted, at least 1.
    fn condition(&self) -> f64 {
        (self.laplacian.norm() * self.pseudoinverse.norm()).max(1.0)
    }
}

pub fn close(found: f64, want: f64, tolerance: f64, what: &str) -> Checked {
    if found == want || (found - want).abs() <= tolerance {
        return Ok(());
    }
    Err(format!("{what}: {found}, expected {want} within {tolerance:e}").into())
}

/// Checks every array of an encoding in f64 against its definition. The reference inverts matrices and sums series
/// itself, so that 30 n eps, times the condition where something is inverted, allows for the errors of both.
fn check(encoding: &StructuralEncoding<f64>, graphs: &GraphBatch) -> Checked {
    let (mut entry, mut pair) = (0, 0);
    for (g, graph) in graphs.iter().enumerate() {
        let truth = Truth::new(graph);
        let (n, first) = (truth.n, graphs.node_offsets()[g]);
        let eps = 30.0 * n as f64 * f64::EPSILON;
        let inverted = eps * truth.condition() * truth.pseudoinverse.norm().max(1.0);
        assert_eq!(encoding.status[g], Status::Converged as u8);
        assert_eq!(encoding.components[g], truth.components as i64);
        for (t, &time) in TIMES.iter().enumerate() {
            let kernel = (-time * &truth.laplacian).exp();
            for i in 0..n {
                let found = encoding.heat_kernel[(first + i) * TIMES.len() + t];
                let grown = 1.0 + time * truth.laplacian.norm();
                close(found, kernel[(i, i)], eps * grown, &format!("heat kernel at {time}"))?;
            }
        }
        for (t, &restart) in RESTARTS.iter().enumerate() {
            let walk = DMatrix::from_fn(n, n, |i, j| truth.adjacency[(i, j)] / truth.degrees[i].max(f64::MIN_POSITIVE));
            let inner = DMatrix::identity(n, n) - (1.0 - restart) * walk;
            let pagerank = restart * inner.try_inverse().unwrap();
            for i in 0..n {
                let want = if truth.degrees[i] > 0.0 { pagerank[(i, i)] } else { 1.0 };
                let found = encoding.pagerank[(first + i) * RESTARTS.len() + t];
                close(found, want, eps / restart, &format!("pagerank of {restart}"))?;
            }
        }
        for i in 0..n {
            for &j in graph.neighbors(i) {
                let (j, want) = (j as usize, truth.resistance(i, j as usize));
                let volume: f64 =
                    (0..n).filter(|&k| truth.labels[k] == truth.labels[i]).map(|k| truth.degrees[k]).sum();
                assert_eq!(encoding.edge_index[entry], (first + i) as i64);
                assert_eq!(encoding.edge_index[graphs.entries() + entry], (first + j) as i64);
                close(encoding.resistance[entry], want, inverted, "resistance")?;
                close(encoding.commute_time[entry], volume * want, volume * inverted, "commute time")?;
                entry += 1;
            }
            for j in 0..n {
                close(encoding.resistance_matrix[pair], truth.resistance(i, j), inverted, "resistance of a pair")?;
                pair += 1;
            }
        }
        assert_eq!(encoding.pair_offsets[g + 1], pair as i64);
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| truth.resistance(i, j));
        let index: f64 = pairs.filter(|resistance| resistance.is_finite()).sum();
        close(encoding.kirchhoff_index[g], index, (n * n) as f64 * inverted, "Kirchhoff index")?;
        // The determinant without the first node of each component.
        let kept: Vec<usize> = (0..n).filter(|&i| truth.labels[..i].contains(&truth.labels[i])).collect();
        let minor = truth.laplacian.select_rows(&kept).select_columns(&kept);
        close(encoding.log_spanning_trees[g], minor.determinant().ln(), eps * truth.condition(), "spanning trees")?;
        let mut values = Vec::new();
        if n > 0 {
            values.extend(truth.laplacian.clone().symmetric_eigenvalues().iter().copied());
        }
        values.sort_by(f64::total_cmp);
        let gap = if truth.components > 1 { 0.0 } else { values.get(1).copied().unwrap_or(0.0) };
        close(encoding.spectral_gap[g], gap, eps * truth.laplacian.norm().max(1.0), "spectral gap")?;
    }
    assert_eq!((entry, pair), (encoding.resistance.len(), encoding.resistance_matrix.len()));
    Ok(())
}

fn definitions(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(50);
    let graphs: Vec<Graph> = (0..400).map(|_| random_graph(&mut random)).collect();
    let graphs = GraphBatch::from_graphs(&graphs)?;
    check(&in_f64(&all(), ctx, &graphs)?, &graphs)?;
    // The other Laplacian, and without the null space.
    let encoder = StructuralEncoder::new().heat_kernel(&TIMES).drop_trivial(true);
    let plain = in_f64(&encoder, ctx, &graphs)?;
    let scaled = in_f64(&encoder.laplacian(Normalization::Symmetric).drop_trivial(false), ctx, &graphs)?;
    for (g, graph) in graphs.iter().enumerate() {
        let (truth, first) = (Truth::new(graph), graphs.node_offsets()[g]);
        let size = |i: usize| truth.labels.iter().filter(|&&label| label == truth.labels[i]).count() as f64;
        for (t, &time) in TIMES.iter().enumerate() {
            let kernels = [&truth.laplacian, &truth.symmetric()].map(|l| (-time * l).exp());
            let eps = 30.0 * truth.n as f64 * f64::EPSILON * (1.0 + time * truth.laplacian.norm());
            for i in 0..truth.n {
                let at = (first + i) * TIMES.len() + t;
                close(plain.heat_kernel[at], kernels[0][(i, i)] - 1.0 / size(i), eps, "without the null space")?;
                close(scaled.heat_kernel[at], kernels[1][(i, i)], eps, "of the symmetric Laplacian")?;
            }
        }
    }
    Ok(())
}

fn on_molecules(ctx: &Context) -> Checked {
    let graphs = molecules(200, 51)?;
    check(&in_f64(&all(), ctx, &graphs)?, &graphs)
}

fn on_all_small_graphs(ctx: &Context) -> Checked {
    let conventions = Conventions::default();
    let graphs = (1..=7).flat_map(all_graphs).map(|graph| Graph::from_edges(graph.n, &graph.edges, &conventions));
    let graphs = GraphBatch::from_graphs(&graphs.collect::<fiedler::Result<Vec<_>>>()?)?;
    assert_eq!(graphs.len(), 1252, "OEIS A000088");
    check(&in_f64(&all(), ctx, &graphs)?, &graphs)
}

/// A path, a cycle, a star, a complete graph and a hypercube, whose resistances and spanning trees are known (Klein and
/// Randic 1993; Cayley 1889).
fn closed_forms(ctx: &Context) -> Checked {
    let n = 12_usize;
    let size = n as f64;
    let graphs = GraphBatch::from_graphs(&[path(n)?, cycle(n)?, star(n)?, complete(n)?, hypercube(4)?])?;
    let found = in_f64(&all(), ctx, &graphs)?;
    let resistance = |g: usize, i: usize, j: usize| {
        let n = graphs.graph(g).nodes();
        found.resistance_matrix[found.pair_offsets[g] as usize + i * n + j]
    };
    let near = |found: f64, want: f64, what: &str| close(found, want, 1e-13 * want.abs().max(1.0), what);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let away = i.abs_diff(j) as f64;
        near(resistance(0, i, j), away, "path")?;
        near(resistance(1, i, j), away * (size - away) / size, "cycle")?;
        near(resistance(2, i, j), if i == j { 0.0 } else { 1.0 + f64::from(u8::from(i > 0 && j > 0)) }, "star")?;
        near(resistance(3, i, j), if i == j { 0.0 } else { 2.0 / size }, "complete graph")?;
    }
    near(resistance(4, 0, 1), 15.0 / 32.0, "hypercube: 15 of 32 edges")?;
    let wiener = size * (size * size - 1.0) / 6.0; // the sum of all distances
    for (g, want) in [wiener, wiener / 2.0, (size - 1.0) * (size - 1.0), size - 1.0].into_iter().enumerate() {
        near(found.kirchhoff_index[g], want, "Kirchhoff index")?;
    }
    // 2^11 * 2^4 * 3^6 ... of the hypercube: the product over its eigenvalues 2, 4, 6, 8 over 16 nodes.
    let cube = 2_f64.ln() * 4.0 + 4_f64.ln() * 6.0 + 6_f64.ln() * 4.0 + 8_f64.ln() - 16_f64.ln();
    for (g, want) in [0.0, size.ln(), 0.0, (size - 2.0) * size.ln(), cube].into_iter().enumerate() {
        near(found.log_spanning_trees[g], want, "spanning trees")?;
    }
    near(found.spectral_gap[3], size, "spectral gap of the complete graph")?;
    // Foster's theorem: the resistances of the edges, times their weights, add up to the edges of a tree.
    let molecules = molecules(100, 52)?;
    let encoding = in_f64(&StructuralEncoder::new().resistances(true), ctx, &molecules)?;
    let mut entry = 0;
    for graph in molecules.iter() {
        let sum: f64 = encoding.resistance[entry..entry + graph.entries()].iter().sum();
        entry += graph.entries();
        near(sum / 2.0, graph.nodes() as f64 - graph.components().count as f64, "Foster's theorem")?;
    }
    Ok(())
}

/// Edges of trees have the inverse weights as resistances, of as many decades as the weights span. The error is that of
/// the eigenpairs, each accurate relative to itself: some `n eps` of a resistance, and `eps^2` of the largest one, in
/// whose mode the ends of every other edge should have the same entry.
fn decades(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(53);
    for span in [4, 12, 24, 34] {
        let n = 14;
        let edges: Vec<(u32, u32, f64)> =
            (1..n).map(|i| (random.below(i) as u32, i as u32, 10.0_f64.powi(-(random.below(span) as i32)))).collect();
        let graphs: GraphBatch = Graph::from_weighted_edges(n, &edges, &Conventions::default())?.into();
        let found = in_f64(&StructuralEncoder::new().resistances(true).invariants(true), ctx, &graphs)?;
        let narrow = StructuralEncoder::new().resistances(true).encode(ctx, &graphs)?;
        let most = found.resistance.iter().copied().fold(0.0, f64::max);
        let shared = n as f64 * f64::EPSILON.powi(2) * most;
        for (entry, resistance) in found.resistance.iter().enumerate() {
            let row = found.edge_index[entry] as usize;
            let want = 1.0 / graphs.graph(0).weight(row, found.edge_index[graphs.entries() + entry] as usize);
            close(*resistance, want, 100.0 * n as f64 * f64::EPSILON * want + shared, &format!("{span} decades"))?;
            let tolerance = 10.0 * n as f64 * f64::from(f32::EPSILON) * want + shared;
            close(narrow.resistance[entry].into(), want, tolerance, &format!("{span} decades in f32"))?;
        }
        let product: f64 = edges.iter().map(|edge| edge.2.ln()).sum();
        close(found.log_spanning_trees[0], product, 1e-11, "the only tree")?;
    }
    Ok(())
}

/// The formula of Aubry et al. on the eigenpairs of another solver, where their weights do not underflow.
fn wave_kernels(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(54);
    let count = 5;
    let mut compared = 0;
    for _ in 0..100 {
        let graph = random_graph(&mut random);
        let n = graph.view().nodes();
        let truth = Truth::new(graph.view());
        let found = in_f64(&StructuralEncoder::new().wave_kernel(count), ctx, &graph.into())?;
        let eigen = truth.laplacian.clone().symmetric_eigen();
        let mut pairs: Vec<(f64, usize)> = eigen.eigenvalues.iter().copied().zip(0..).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let pairs: Vec<(f64, usize)> = pairs[truth.components..].iter().map(|&(value, i)| (value.ln(), i)).collect();
        let (Some(first), Some(last)) = (pairs.first(), pairs.last()) else {
            assert!(found.wave_kernel.iter().all(|&x| x == 0.0), "without edges");
            continue;
        };
        let step = (last.0 - first.0) / (count as f64 + 28.0);
        if step < 1e-3 {
            continue; // nearly one eigenvalue, by which the reference would divide
        }
        compared += 1;
        let deviation = 7.0 * step;
        let [low, high] = [first.0 + 2.0 * deviation, last.0 - 2.0 * deviation];
        for e in 0..count {
            let energy = low + (high - low) * e as f64 / (count - 1) as f64;
            let weight = |own: f64| (-(energy - own).powi(2) / (2.0 * deviation * deviation)).exp();
            let total: f64 = pairs.iter().map(|pair| weight(pair.0)).sum();
            for i in 0..n {
                let sum: f64 = pairs.iter().map(|&(own, k)| weight(own) * eigen.eigenvectors[(i, k)].powi(2)).sum();
                // Logarithms of eigenvalues, divided by the deviation, and squared.
                let tolerance = 1e-11 * truth.condition() / step;
                close(found.wave_kernel[i * count + e], sum / total, tolerance, "wave kernel")?;
            }
        }
    }
    assert!(compared > 50, "only {compared} graphs were compared");
    // One eigenvalue besides 0: it passes whole.
    let found = in_f64(&StructuralEncoder::new().wave_kernel(3), ctx, &complete(5)?.into())?;
    found.wave_kernel.iter().try_for_each(|&x| close(x, 0.2, 1e-14, "complete graph"))
}

/// GraphGPS's get_electrostatic_function_encoding, step by step.
fn electrostatic(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(55);
    for _ in 0..200 {
        let graph = random_graph(&mut random);
        let truth = Truth::new(graph.view());
        let n = truth.n;
        let found = in_f64(&StructuralEncoder::new().electrostatic(true), ctx, &graph.into())?;
        let l = &truth.pseudoinverse;
        let potential = DMatrix::from_fn(n, n, |i, j| l[(i, j)] - l[(j, j)]);
        let statistics = |all: Vec<f64>| {
            let mean = all.iter().sum::<f64>() / n as f64;
            let squares: f64 = all.iter().map(|x| (x - mean).powi(2)).sum();
            let deviation = if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 };
            let [least, most] = [f64::min, f64::max].map(|fold| all.iter().copied().fold(all[0], fold));
            [least, most, mean, deviation]
        };
        let share = |i: usize, j: usize| match truth.degrees[i] {
            0.0 => 0.0,
            degree => truth.adjacency[(i, j)] / degree * potential[(i, j)],
        };
        for j in 0..n {
            let [a, b, c, d] = statistics((0..n).map(|i| potential[(i, j)]).collect());
            let [e, _, f, g] = statistics((0..n).map(|i| potential[(j, i)]).collect());
            let sums = [(0..n).map(|i| share(i, j)).sum(), (0..n).map(|i| share(j, i)).sum()];
            let want = [a, b, c, d, e, b, f, g, sums[0], sums[1]];
            let tolerance = 30.0 * n as f64 * f64::EPSILON * truth.condition() * l.norm().max(1.0);
            for (column, (found, want)) in found.electrostatic[10 * j..][..10].iter().zip(want).enumerate() {
                close(*found, want, tolerance, &format!("column {column} of {n} nodes"))?;
            }
        }
    }
    Ok(())
}

fn rounded(ctx: &Context) -> Checked {
    let graphs = molecules(50, 56)?;
    let (wide, narrow) = (in_f64(&all(), ctx, &graphs)?, all().encode(ctx, &graphs)?);
    let pairs = [
        (&wide.heat_kernel, &narrow.heat_kernel),
        (&wide.wave_kernel, &narrow.wave_kernel),
        (&wide.pagerank, &narrow.pagerank),
        (&wide.electrostatic, &narrow.electrostatic),
        (&wide.resistance, &narrow.resistance),
        (&wide.commute_time, &narrow.commute_time),
        (&wide.resistance_matrix, &narrow.resistance_matrix),
        (&wide.kirchhoff_index, &narrow.kirchhoff_index),
    ];
    for (array, (wide, narrow)) in pairs.into_iter().enumerate() {
        assert_eq!(wide.len(), narrow.len());
        let largest = wide.iter().copied().filter(|x| x.is_finite()).fold(1.0, |m: f64, x| m.max(x.abs()));
        for (wide, narrow) in wide.iter().zip(narrow) {
            // Half a unit of the last place; the graphs for which f64 factors the Laplacian differ in f64's.
            close((*narrow).into(), *wide, f64::from(f32::EPSILON) * largest, &format!("array {array}"))?;
        }
    }
    Ok(())
}

/// The numbers of a graph alone, in a batch, on one thread and with a small budget, bit by bit.
fn batches(ctx: &Context) -> Checked {
    let graphs = molecules(300, 57)?;
    let whole = all().encode(ctx, &graphs)?;
    let bits = |encoding: &StructuralEncoding| {
        let arrays = [&encoding.heat_kernel, &encoding.wave_kernel, &encoding.pagerank, &encoding.electrostatic];
        let more =
            [&encoding.resistance, &encoding.commute_time, &encoding.resistance_matrix, &encoding.kirchhoff_index];
        arrays
            .into_iter()
            .chain(more)
            .map(|array| array.iter().map(|x| x.to_bits()).collect())
            .collect::<Vec<Vec<u32>>>()
    };
    for (threads, budget) in [(1, 4 << 30), (2, 8 << 20)] {
        let other = Context::builder().device(false).threads(threads).memory_budget(budget).build()?;
        assert_eq!(bits(&all().encode(&other, &graphs)?), bits(&whole), "{threads} threads, {budget} bytes");
    }
    for own in [0_usize, 7, 299] {
        let alone = all().encode(ctx, &graphs.select(&[own]))?;
        let rows = graphs.node_offsets()[own] * 10..graphs.node_offsets()[own + 1] * 10;
        assert_eq!(alone.electrostatic, whole.electrostatic[rows], "graph {own}");
    }
    Ok(())
}

fn edges_of_the_domain(ctx: &Context) -> Checked {
    let pyg = Conventions { symmetrization: Symmetrization::Max, ..Conventions::pyg() };
    assert_eq!(pyg.isolated, IsolatedDiagonal::One);
    for conventions in [Conventions::default(), pyg] {
        let graphs = GraphBatch::from_graphs(&[
            Graph::from_edges(0, &[], &conventions)?,
            Graph::from_edges(1, &[], &conventions)?,
            Graph::from_edges(4, &[(0, 2)], &conventions)?,
        ])?;
        let encoding = in_f64(&all(), ctx, &graphs)?;
        check(&encoding, &graphs)?;
        assert_eq!(encoding.electrostatic[..10], [0.0; 10]);
    }
    let none = in_f64(&all(), ctx, &GraphBatch::from_graphs(&[])?)?;
    assert_eq!((none.graphs(), none.node_offsets), (0, vec![0]));
    let nothing = in_f64(&StructuralEncoder::new(), ctx, &path(3)?.into())?;
    assert!(nothing.heat_kernel.is_empty() && nothing.edge_index.is_empty() && nothing.status == [0]);
    // Self-loops that are kept count in the degrees, and have no resistance.
    let kept = Conventions { self_loops: fiedler::graph::SelfLoops::Keep, ..Conventions::default() };
    let looped: GraphBatch = Graph::from_edges(2, &[(0, 0), (0, 1)], &kept)?.into();
    let found = in_f64(&all(), ctx, &looped)?;
    assert_eq!(found.edge_index, [0, 0, 1, 0, 1, 0]);
    close(found.resistance[0], 0.0, 0.0, "loop")?;
    close(found.resistance[1], 1.0, 1e-15, "edge")?;
    close(found.commute_time[1], 3.0, 1e-14, "a volume of 3")
}

fn overflow(ctx: &Context) -> Checked {
    let weak: GraphBatch = Graph::from_weighted_edges(2, &[(0, 1, 1e-60)], &Conventions::default())?.into();
    let found = StructuralEncoder::new().resistances(true).encode(ctx, &weak)?;
    assert_eq!((found.status[0], found.resistance[0]), (Status::Unresolved as u8, f32::INFINITY));
    let wide = in_f64(&StructuralEncoder::new().resistances(true), ctx, &weak)?;
    assert_eq!(wide.status[0], Status::Converged as u8);
    close(wide.resistance[0], 1e60, 1e46, "in f64")
}

fn refused(ctx: &Context) -> Checked {
    let graphs: GraphBatch = path(3)?.into();
    let expected = |encoder: StructuralEncoder, ctx: &Context, graphs: &GraphBatch, words: &str| {
        let error = encoder.encode(ctx, graphs).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        error
    };
    for time in [-1.0, f64::NAN, f64::INFINITY] {
        expected(StructuralEncoder::new().heat_kernel(&[1.0, time]), ctx, &graphs, "expected times of at least 0");
    }
    for restart in [0.0, 1.5, f64::NAN] {
        expected(StructuralEncoder::new().pagerank(&[restart]), ctx, &graphs, "restart probabilities above 0");
    }
    let directed = Conventions { symmetrization: Symmetrization::Keep, ..Conventions::default() };
    let one_way = GraphBatch::from_graphs(&[path(2)?, Graph::from_edges(2, &[(0, 1)], &directed)?]);
    let one_way = one_way.or_else(|_| GraphBatch::from_graphs(&[Graph::from_edges(2, &[(0, 1)], &directed)?]))?;
    expected(all().first_graph(1), ctx, &one_way, "is directed");
    let small = Context::builder().device(false).memory_budget(1 << 20).build()?;
    let error = expected(all(), &small, &path(400)?.into(), "graph 0 (400 nodes)");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    Ok(())
}
