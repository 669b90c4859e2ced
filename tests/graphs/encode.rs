//! Encodings: their eigenpairs are correct, and bad input is refused. tests/graphs/sameness.rs checks that
//! encodings are the same on every backend.

use common::batches::{all_bits, graph, spectrum, tied_graphs};
use common::graphs;
use common::random::SplitMix64;
use common::solve::{Checked, alike, bits};
use common::{Test, on_cpu, on_each, on_gpus, sample, suite};
use fiedler::encode::{Encoding, Method, SpectralEncoder, Which};
use fiedler::graph::generate::uniform;
use fiedler::graph::{Conventions, Graph, GraphBatch, GraphRef, IsolatedDiagonal, Symmetrization, molecules};
use fiedler::ops::laplacian::{Laplacian, Normalization};
use fiedler::policy::{Curve, DeviceClass, Family, Point, Rates};
use fiedler::{Backend, Context, ErrorKind};
use nalgebra::DMatrix;
use rayon::prelude::*;

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];
const EPS: f64 = f32::EPSILON as f64;

pub fn tests() -> Vec<Test> {
    suite(
        "encode",
        vec![
            on_each("pairs of the Laplacian", pairs),
            on_each("padding and masks", padding),
            on_each("trivial pairs dropped", drop_trivial),
            on_each("isolated nodes", isolated),
            on_each("bit-equal when repeated and under small budgets", cuts),
            on_each("bad input is refused", refused),
            on_gpus("each graph runs on its faster side", sides),
            on_cpu("random-walk diagonals", walks),
        ],
    )
}

/// Compares eigenvalues with the referee's, checks eigenvectors with the f64 operator, and recomputes certificates.
/// The graphs include weighted ones.
fn pairs(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(2);
    let mut all = vec![];
    for _ in 0..60 {
        let simple = graphs::random(&mut random);
        let edges: Vec<_> = simple.edges.iter().map(|&(a, b)| (a, b, (0.2 + random.unit()) as f32)).collect();
        all.push(Graph::from_weighted_edges(simple.n, &edges, &Conventions::default())?);
    }
    let weighted = GraphBatch::from_graphs(&all)?;
    for graphs in [weighted, tied_graphs()] {
        for normalization in ALL {
            for which in [Which::Smallest, Which::Largest] {
                let encoding = SpectralEncoder::new(6).laplacian(normalization).which(which).encode(ctx, &graphs)?;
                (0..graphs.len()).into_par_iter().try_for_each(|g| {
                    check_pairs(graphs.graph(g), g, normalization, which, &encoding)
                        .map_err(|e| format!("graph {g}, {normalization:?}, {which:?}: {e}"))
                })?;
            }
        }
    }
    Ok(())
}

fn check_pairs(
    graph: GraphRef<'_>,
    g: usize,
    normalization: Normalization,
    which: Which,
    encoding: &Encoding,
) -> Result<(), String> {
    let (n, k) = (graph.nodes(), encoding.k.min(graph.nodes()));
    let l = Laplacian::new(graph, normalization);
    let norm = if l.norm_1() == 0.0 { 1.0 } else { l.norm_1() };
    let spectrum = spectrum(graph, normalization);
    let start = if which == Which::Smallest { 0 } else { n - k };
    let promise = 10.0 * EPS * n as f64;
    let v = encoding.eigenvectors(g).map(f64::from);
    let mut worst = 0.0_f64;
    for j in 0..k {
        let value = f64::from(encoding.eigenvalues(g)[j]);
        // The error that the design allows for n < 90.
        let near = (value - spectrum[start + j]).abs() <= 30.0 * EPS * norm;
        if !near {
            return Err(format!("value {j}: {value:e}, in truth {:e}", spectrum[start + j]));
        }
        let x: Vec<f64> = v.column(j).iter().copied().collect();
        let mut y = vec![0.0; n];
        l.apply(&x, &mut y).map_err(|e| e.to_string())?;
        let away = y.iter().zip(&x).map(|(y, x)| (y - value * x).powi(2)).sum::<f64>().sqrt() / norm;
        if away > promise || away.is_nan() {
            return Err(format!("residual of pair {j}: {away:e}, promised {promise:e}"));
        }
        worst = worst.max(away);
        // The eigenvector has 2-norm 1, up to the rounding of each entry to f32.
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if (length - 1.0).abs() > EPS || length.is_nan() {
            return Err(format!("vector {j} has the length {length}"));
        }
        let (sign, positive) = sign_rule(&x);
        if !positive {
            return Err(format!("vector {j}: entry {sign} should be positive: {x:?}"));
        }
    }
    // The test and the encoder both compute the residual in f64 from the same f32 eigenpairs. The certificate is
    // stored in f32.
    let certified = f64::from(encoding.residual[g]);
    if (certified - worst).abs() > 1e-6 * worst + 1e-12 || certified.is_nan() {
        return Err(format!("residual certified {certified:e}, in truth {worst:e}"));
    }
    let basis = if normalization == Normalization::RandomWalk {
        let mut basis = v.clone();
        // D^1/2 v is an eigenvector of the symmetric Laplacian, which is similar to this one. After normalization,
        // these vectors are orthonormal.
        for (i, scale) in l.similarity_scale().into_iter().enumerate() {
            basis.row_mut(i).scale_mut(1.0 / scale);
        }
        basis.columns_mut(0, k).column_iter_mut().for_each(|mut column| column /= column.norm());
        basis
    } else {
        v
    };
    let basis = basis.columns(0, k);
    let away = (basis.transpose() * basis - DMatrix::identity(k, k)).amax();
    let certified = f64::from(encoding.orthogonality[g]);
    // For the random-walk Laplacian, the certificate is computed before the eigenvectors are scaled and rounded.
    // This changes each product by about one eps, or 4 eps with the condition number of the scaling.
    let slack = if normalization == Normalization::RandomWalk { 4.0 * EPS } else { 1e-12 };
    if (certified - away).abs() > slack + 1e-6 * away || away > promise || certified.is_nan() {
        return Err(format!("orthogonality certified {certified:e}, in truth {away:e}"));
    }
    if encoding.status[g] != 0 {
        return Err(format!("{:?}", encoding.certificate(g)));
    }
    if encoding.components[g] != components(graph) {
        return Err(format!("{} components, in truth {}", encoding.components[g], components(graph)));
    }
    Ok(())
}

/// Returns the index of the entry that decides the sign of an eigenvector, and whether this entry is positive. It
/// is the first entry whose magnitude is within 1 % of the largest magnitude. If rounding may decide which entry is
/// the first, because magnitudes are within a thousandth of the threshold, one positive candidate is enough.
fn sign_rule(x: &[f64]) -> (usize, bool) {
    let largest = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let candidates = |factor: f64| x.iter().position(|x| x.abs() >= factor * largest).unwrap_or(0);
    let all = [0.989, 0.99, 0.991].map(candidates);
    (all[1], all.iter().any(|&i| x[i] > 0.0))
}

/// Counts connected components by flood fill.
fn components(graph: GraphRef<'_>) -> i64 {
    let mut seen = vec![false; graph.nodes()];
    let mut count = 0;
    for start in 0..graph.nodes() {
        let mut stack = vec![start];
        count += i64::from(!seen[start]);
        while let Some(i) = stack.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                stack.extend(graph.neighbors(i).iter().map(|&j| j as usize));
            }
        }
    }
    count
}

fn padding(ctx: &Context) -> Checked {
    let sizes = [0, 1, 3, 0, 2];
    let all: Vec<Graph> = sizes.iter().map(|&n| graph(&graphs::path(n).graph)).collect();
    let graphs = GraphBatch::from_graphs(&all)?;
    for normalization in ALL {
        for which in [Which::Smallest, Which::Largest] {
            for k in [0, 1, 2, 5] {
                let encoder = SpectralEncoder::new(k).laplacian(normalization).which(which).walk_steps(2);
                let e = encoder.encode(ctx, &graphs)?;
                assert_eq!(
                    (e.graphs(), e.uncertified(), e.eigenvalues.len(), e.eigenvectors.len()),
                    (5, 0, 5 * k, 6 * k)
                );
                assert_eq!((e.node_offsets.as_slice(), e.random_walk.len()), ([0, 0, 1, 4, 4, 6].as_slice(), 12));
                assert_eq!(e.components, [0, 1, 1, 0, 1]);
                for (g, &n) in sizes.iter().enumerate() {
                    let v = e.eigenvectors(g);
                    assert_eq!((v.nrows(), v.ncols()), (n, k));
                    for j in 0..k {
                        let there = j < n.min(k);
                        assert_eq!(e.mask[g * k + j], u8::from(there), "graph {g}, column {j}");
                        assert_eq!(e.eigenvalues(g)[j].is_nan(), !there);
                        assert_eq!(e.tie_group[g * k + j] == -1, !there);
                        assert!(there || v.column(j).iter().all(|&x| x == 0.0));
                    }
                }
            }
        }
    }
    let none = SpectralEncoder::new(3).encode(ctx, &GraphBatch::from_graphs(&[])?)?;
    assert_eq!((none.graphs(), none.node_offsets.as_slice(), none.eigenvalues.len()), (0, [0].as_slice(), 0));
    Ok(())
}

fn drop_trivial(ctx: &Context) -> Checked {
    // The graph has three components: two triangles joined by an edge, a path of three nodes, and an isolated node.
    let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (6, 7), (7, 8)];
    let three: GraphBatch = Graph::from_edges(10, &edges, &Conventions::default())?.into();
    for normalization in ALL {
        let encoder = |k| SpectralEncoder::new(k).laplacian(normalization);
        let (all, kept) = (encoder(10).encode(ctx, &three)?, encoder(10).drop_trivial(true).encode(ctx, &three)?);
        assert_eq!((all.components[0], kept.components[0]), (3, 3));
        assert_eq!(all.eigenvalues(0).iter().filter(|x| x.abs() <= 1e-5).count(), 3, "{:?}", all.eigenvalues(0));
        assert_eq!(kept.mask, [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
        let (kept_values, all_values) = (&kept.eigenvalues(0)[..7], &all.eigenvalues(0)[3..]);
        assert!(kept_values.iter().all(|&x| x > 0.1) && bits(kept_values) == bits(all_values));
        assert_eq!(
            bits(kept.eigenvectors(0).columns(0, 7).clone_owned().as_slice()),
            bits(all.eigenvectors(0).columns(3, 7).clone_owned().as_slice())
        );
        // The largest eigenpairs do not include a zero mode either.
        let largest = encoder(9).drop_trivial(true).which(Which::Largest).encode(ctx, &three)?;
        assert_eq!(largest.mask, [1, 1, 1, 1, 1, 1, 1, 0, 0]);
    }
    // Two triangles joined by almost nothing form one component. The zero mode, which is known, is a separate
    // group, and it alone is dropped; the remaining vectors are orthogonal to it.
    let bridge = [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 3, 1e-7), (3, 4, 1.0), (4, 5, 1.0), (5, 3, 1.0)];
    let weak: GraphBatch = Graph::from_weighted_edges(6, &bridge, &Conventions::default())?.into();
    for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
        let encoder = SpectralEncoder::new(3).laplacian(normalization);
        let all = encoder.encode(ctx, &weak)?;
        assert!(all.tie_group[..2] == [0, 1] && all.components[0] == 1, "{:?}", all.tie_group);
        let kept = encoder.drop_trivial(true).encode(ctx, &weak)?;
        let v = kept.eigenvectors(0).map(f64::from);
        // The degrees differ by 1e-7, so D^1/2 is practically constant, too. The sum has six entries, each with an
        // error of an eps or two.
        let along: f64 = v.column(0).iter().sum::<f64>() / 6_f64.sqrt();
        assert!(along.abs() <= 10.0 * EPS, "{normalization:?}: {along:e} along the dropped mode");
        for i in 0..6 {
            let want = if i < 3 { 1.0 } else { -1.0 } / 6_f64.sqrt();
            assert!((v[(i, 0)] - want).abs() <= 1e-4, "{normalization:?}: {v}");
        }
    }
    // All eigenpairs of this graph are zero modes, so none remains.
    let empty: GraphBatch = Graph::from_edges(4, &[], &Conventions::default())?.into();
    let encoding = SpectralEncoder::new(2).drop_trivial(true).encode(ctx, &empty)?;
    assert_eq!((encoding.components[0], encoding.mask.as_slice()), (4, [0, 0].as_slice()));
    Ok(())
}

fn isolated(ctx: &Context) -> Checked {
    // A triangle between two isolated nodes.
    for (isolated, zero_modes) in [(IsolatedDiagonal::Zero, 3), (IsolatedDiagonal::One, 1)] {
        let conventions = Conventions { isolated, ..Conventions::default() };
        let graphs: GraphBatch = Graph::from_edges(5, &[(1, 2), (2, 3), (3, 1)], &conventions)?.into();
        for normalization in [Normalization::Symmetric, Normalization::RandomWalk] {
            let encoder = SpectralEncoder::new(5).laplacian(normalization);
            let e = encoder.encode(ctx, &graphs)?;
            let mut want = vec![0.0, 1.5, 1.5];
            want.extend([if isolated == IsolatedDiagonal::Zero { 0.0 } else { 1.0 }; 2]);
            want.sort_by(f64::total_cmp);
            for (got, want) in e.eigenvalues(0).iter().zip(&want) {
                assert!((f64::from(*got) - want).abs() <= 30.0 * EPS * 2.0, "{:?}", e.eigenvalues(0));
            }
            assert_eq!(e.components[0], 3);
            let kept = encoder.drop_trivial(true).encode(ctx, &graphs)?;
            assert_eq!(kept.mask.iter().filter(|&&m| m == 1).count(), 5 - zero_modes);
        }
    }
    Ok(())
}

fn cuts(ctx: &Context) -> Checked {
    let graphs = GraphBatch::from_graphs(
        &(0..150)
            .map(|i| graph(&graphs::random(&mut SplitMix64::new(i))))
            .chain([graph(&graphs::cycle(60).graph)])
            .collect::<Vec<_>>(),
    )?;
    for normalization in sample(ctx, ALL) {
        let encoder = SpectralEncoder::new(7).laplacian(normalization).walk_steps(4);
        let (whole, report) = encoder.encode_with(ctx, &graphs, |_| ())?;
        assert_eq!((report.chunks, whole.uncertified()), (1, 0));
        assert_eq!(all_bits(&encoder.encode(ctx, &graphs)?), all_bits(&whole), "twice");
        for budget in [2 << 20, 512 << 10, 256 << 10] {
            let small = alike(ctx).memory_budget(budget).build()?;
            let mut seen = Vec::new();
            let (cut, report) = encoder.encode_with(&small, &graphs, |p| seen.push((p.done, p.total)))?;
            assert!(report.chunks > 1, "{report:?}");
            assert_eq!(all_bits(&cut), all_bits(&whole), "{normalization:?} under {budget} bytes");
            assert!(seen.is_sorted() && seen.last() == Some(&(151, 151)), "{seen:?}");
            assert!(small.pool().peak <= budget, "{:?}", small.pool());
        }
    }
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let keep = Conventions { symmetrization: Symmetrization::Keep, ..Conventions::default() };
    let both = Graph::from_edges(3, &[(0, 1), (1, 0)], &keep)?;
    let one_way = Graph::from_edges(3, &[(0, 1), (1, 2)], &keep)?;
    let graphs = GraphBatch::from_graphs(&[both, one_way])?;
    let error = SpectralEncoder::new(2).encode(ctx, &graphs).expect_err("graph 1 is directed");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("graph 1"), "{error}");

    // A graph of 100 nodes exceeds the memory budget, because it takes 16 or 48 bytes per pair of nodes.
    let small = alike(ctx).memory_budget(100_000).build()?;
    let path = graph(&graphs::path(100).graph);
    let error = SpectralEncoder::new(2).encode(&small, &path.into()).expect_err("beyond the budget, or the kernels");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }) && !error.is_device(), "{error}");

    // A graph that is too large for the dense kernels. It would be iterated, but only the exact method is allowed.
    if ctx.adapter().is_some() {
        let n = fiedler::ops::eigen::device_order_limit(ctx) as usize + 1;
        let batch = GraphBatch::from_graphs(&[graph(&graphs::path(4).graph), graph(&graphs::path(n).graph)])?;
        let exact = SpectralEncoder::new(2).method(Method::Exact);
        let error = exact.encode(ctx, &batch).expect_err("beyond the kernels");
        assert!(
            matches!(*error.kind(), ErrorKind::Limit { needed, allowed, .. } if needed == n as u64 && allowed + 1 == n as u64),
            "{error}"
        );
        assert!(error.to_string().contains("graph 1") && !error.is_device(), "{error}");
    }
    Ok(())
}

/// Compares with the diagonals of the powers of D^-1 W, for a weighted graph with an isolated node.
fn walks(ctx: &Context) -> Checked {
    let edges = [(0, 1, 0.5), (1, 2, 2.0), (2, 0, 1.5), (2, 3, 4.0), (4, 5, 3.0)];
    let graph = Graph::from_weighted_edges(7, &edges, &Conventions::default())?;
    let w = DMatrix::from_fn(7, 7, |i, j| graph.view().weight(i, j));
    let p = DMatrix::from_fn(7, 7, |i, j| if w.row(i).sum() > 0.0 { w[(i, j)] / w.row(i).sum() } else { 0.0 });
    let encoding = SpectralEncoder::new(2).walk_steps(6).encode(ctx, &graph.into())?;
    for step in 1..=6 {
        for i in 0..7 {
            let (got, want) = (f64::from(encoding.random_walk(0)[(i, step as usize - 1)]), p.pow(step)[(i, i)]);
            // The entries are sums of a few products in f64, rounded once to f32.
            assert!((got - want).abs() <= EPS * want, "step {step}, node {i}: {got} and {want}");
        }
    }
    let without = SpectralEncoder::new(2).encode(ctx, &molecules(3, 1)?)?;
    assert!(without.random_walk.is_empty() && without.walk_steps == 0);
    Ok(())
}

/// With these rates the CPU is faster on small graphs and the device on large ones. Each graph goes to its faster
/// side, and has the same bits as when that side encodes all graphs.
fn sides(ctx: &Context) -> Checked {
    let mut rates = Rates::of(DeviceClass::Discrete, 0, 1);
    let curve = |rates: [f64; 2]| {
        let point = |(size, rate)| Point { size, rates: vec![[1.0, rate]] };
        (Family::Encode, Curve { points: [8.0, 64.0].into_iter().zip(rates).map(point).collect(), first: 0.0 })
    };
    rates.cpu.curves.own.push(curve([1e12, 1e6]));
    rates.gpu.curves.own.push(curve([1e6, 1e12]));
    (rates.gpu.round_trip, rates.gpu.upload, rates.gpu.download) = (1e-9, 1e15, 1e15);
    let auto = alike(ctx).backend(Backend::Auto).software_as_gpu(true).rates(rates).build()?;
    // Small and large graphs alternate.
    let one = |i: usize| if i.is_multiple_of(3) { uniform(64, 100, i as u64) } else { uniform(8, 12, i as u64) };
    let graphs = GraphBatch::from_graphs(&(0..30).map(one).collect::<fiedler::Result<Vec<_>>>()?)?;
    let encoder = SpectralEncoder::new(5);
    let (found, report) = encoder.encode_with(&auto, &graphs, |_| ())?;
    if (report.on_cpu, report.on_gpu) != (20, 10) {
        return Err(format!("{} on the CPU, {} on the device", report.on_cpu, report.on_gpu).into());
    }
    let [cpu, gpu] = [Backend::Cpu, Backend::Gpu].map(|backend| encoder.encode(&auto.with_backend(backend), &graphs));
    let (cpu, gpu) = (cpu?, gpu?);
    for i in 0..30_usize {
        let (side, name) = if i.is_multiple_of(3) { (&gpu, "the device") } else { (&cpu, "the CPU") };
        let all = |e: &Encoding| [bits(e.eigenvalues(i)), e.eigenvectors(i).iter().map(|x| x.to_bits()).collect()];
        if all(&found) != all(side) {
            return Err(format!("graph {i} has not the bits of {name}").into());
        }
    }
    Ok(())
}
