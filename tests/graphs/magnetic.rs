//! Magnetic Laplacians: dense truth by formula, closed forms, laws, sameness of bits, and what is refused.

use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, on_gpus, suite};
use fiedler::cache::Cache;
use fiedler::encode::{Encoding, Method, SpectralEncoder, Which};
use fiedler::graph::{Conventions, Graph, GraphBatch, IsolatedDiagonal, Symmetrization, molecules};
use fiedler::ops::{MagneticLaplacian, Normalization};
use fiedler::{Context, ErrorKind};
use nalgebra::DMatrix;
use num_complex::Complex;
use std::f64::consts::TAU;
use std::sync::Arc;

type C = Complex<f64>;

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];
const EPS: f64 = f64::EPSILON;
const FLOWS: fn() -> Conventions = || Conventions { flows: true, ..Conventions::default() };

pub fn tests() -> Vec<Test> {
    suite(
        "magnetic",
        vec![
            on_cpu("directed cycles", cycles),
            on_cpu("pairs of random graphs against dense truth", truth),
            on_cpu("paths and trees have the spectrum without directions", trees),
            on_each("charge 0 and undirected graphs give the real bits", real_bits),
            on_cpu("reversed directions give the conjugate", reversed),
            on_cpu("renumbered nodes give the same vectors", renumbered),
            on_cpu("an iteration finds what a decomposition does", iterated),
            on_cpu("bits do not depend on threads, budgets and parts", bits),
            on_cpu("stored results", stored),
            on_cpu("bad input is refused", refused),
            on_gpus("a context that asks for the GPU is refused", gpu),
        ],
    )
}

type Edges = Vec<(u32, u32, f64)>;

/// Returns a directed graph without duplicates, of two components, with an isolated node. Some edges have a reverse of
/// another weight.
fn random_edges(n: usize, random: &mut SplitMix64, signed: bool) -> Edges {
    let mut edges = Edges::new();
    for a in 0..n {
        for b in 0..n {
            let apart = a % 2 != b % 2 || a + 1 == n || b + 1 == n;
            if a != b && !apart && random.below(n) < 3 {
                let sign = if signed { random.sign() } else { 1.0 };
                edges.push((a as u32, b as u32, sign * (0.2 + random.unit())));
            }
        }
    }
    edges
}

/// Returns the Laplacian by its definition.
fn formula(n: usize, edges: &Edges, rule: Symmetrization, kind: Normalization, isolated: f64, q: f64) -> DMatrix<C> {
    let mut a = DMatrix::<f64>::zeros(n, n);
    edges.iter().for_each(|&(i, j, w)| a[(i as usize, j as usize)] = w);
    let w = DMatrix::from_fn(n, n, |i, j| {
        let (x, y) = (a[(i, j)], a[(j, i)]);
        match rule {
            Symmetrization::Mean => (x + y) / 2.0,
            _ if x.abs() >= y.abs() => x,
            _ => y,
        }
    });
    let d: Vec<f64> = (0..n).map(|i| w.row(i).iter().map(|x| x.abs()).sum()).collect();
    DMatrix::from_fn(n, n, |i, j| {
        let h = C::cis(TAU * q * (a[(i, j)] - a[(j, i)])) * w[(i, j)];
        let one = C::from(if i == j { 1.0 } else { 0.0 });
        match kind {
            Normalization::Combinatorial => one * d[i] - h,
            _ if d[i] == 0.0 => one * isolated,
            _ if d[j] == 0.0 => C::default(),
            Normalization::Symmetric => one - h / (d[i] * d[j]).sqrt(),
            Normalization::RandomWalk => one - h / d[i],
        }
    })
}

fn spectrum(l: &DMatrix<C>) -> Vec<f64> {
    let mut values = l.clone().symmetric_eigen().eigenvalues.as_slice().to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn norm_1(l: &DMatrix<C>) -> f64 {
    l.column_iter().map(|column| column.iter().map(|x| x.norm()).sum()).fold(f64::MIN_POSITIVE, f64::max)
}

/// The eigenvalues of a directed cycle of n nodes are `2 - 2 cos(2 pi (k / n + q))`, and half of that if normalized.
/// With q n whole, the least one is the known 0, and exactly 0.
fn cycles(ctx: &Context) -> Checked {
    for n in 3..14_usize {
        let edges: Edges = (0..n as u32).map(|i| (i, (i + 1) % n as u32, 1.0)).collect();
        let graphs: GraphBatch = Graph::from_weighted_edges(n, &edges, &FLOWS())?.into();
        for q in [0.0, 0.1, 1.0 / n as f64, 0.25, 1.0 / 3.0, 0.5] {
            for kind in ALL {
                let (encoding, _) =
                    SpectralEncoder::new(n).laplacian(kind).magnetic(q).encode_f64(ctx, &graphs, |_| ())?;
                let scale = if kind == Normalization::Combinatorial { 1.0 } else { 0.5 };
                let value = |k: usize| scale * (2.0 - 2.0 * (TAU * (k as f64 / n as f64 + q)).cos());
                let mut want: Vec<f64> = (0..n).map(value).collect();
                want.sort_by(f64::total_cmp);
                let name = format!("cycle of {n}, charge {q}, {kind:?}");
                for (got, want) in encoding.eigenvalues(0).iter().zip(&want) {
                    // LAPACK's bound on the values, 30 eps of the norm, 4.
                    assert!((got - want).abs() <= 120.0 * EPS, "{name}: {got:e} instead of {want:e}");
                }
                let whole = (q * n as f64 - (q * n as f64).round()).abs() < 1e-12;
                assert_eq!(encoding.eigenvalues(0)[0] == 0.0, whole, "{name}");
                let dropped = SpectralEncoder::new(n).laplacian(kind).magnetic(q).drop_trivial(true);
                let pairs = dropped.encode(ctx, &graphs)?.mask.iter().filter(|&&there| there == 1).count();
                assert_eq!(pairs, n - usize::from(whole), "{name}");
                assert_eq!(encoding.status[0], 0, "{name}: {:?}", encoding.certificate(0));
            }
        }
    }
    Ok(())
}

fn truth(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(41);
    for (signed, rule, isolated, q) in [
        (false, Symmetrization::Max, IsolatedDiagonal::Zero, 0.25),
        (false, Symmetrization::Mean, IsolatedDiagonal::One, 0.1),
        (true, Symmetrization::Max, IsolatedDiagonal::Zero, 0.37),
    ] {
        let conventions = Conventions { symmetrization: rule, isolated, signed, ..FLOWS() };
        let lists: Vec<(usize, Edges)> = (1..26).map(|n| (n, random_edges(n, &mut random, signed))).collect();
        let all = lists.iter().map(|(n, edges)| Graph::from_weighted_edges(*n, edges, &conventions));
        let graphs = GraphBatch::from_graphs(&all.collect::<Result<Vec<_>, _>>()?)?;
        let one = if isolated == IsolatedDiagonal::One { 1.0 } else { 0.0 };
        for kind in ALL {
            for which in [Which::Smallest, Which::Largest] {
                let encoder = SpectralEncoder::new(6).laplacian(kind).which(which).magnetic(q);
                let (encoding, _) = encoder.encode_f64(ctx, &graphs, |_| ())?;
                for (g, (n, edges)) in lists.iter().enumerate() {
                    let of = |kind| formula(*n, edges, rule, kind, one, q);
                    let own = MagneticLaplacian::new(graphs.graph(g), kind, q)?.to_dense();
                    let away = (own - of(kind)).iter().map(|x| x.norm()).fold(0.0, f64::max);
                    // An entry rounds a few times, and an angle of up to 2.5 rounds to half an ulp of it.
                    assert!(away <= 16.0 * EPS * norm_1(&of(kind)), "{n} nodes, {kind:?}: off by {away:e}");
                    let solved = if kind == Normalization::RandomWalk { Normalization::Symmetric } else { kind };
                    check(&encoding, g, &of(kind), &spectrum(&of(solved)), which)
                        .map_err(|what| format!("{n} nodes, {rule:?}, {kind:?}, {which:?}: {what}"))?;
                }
            }
        }
    }
    Ok(())
}

fn check(encoding: &Encoding<f64>, g: usize, l: &DMatrix<C>, want: &[f64], which: Which) -> Result<(), String> {
    let (n, norm) = (l.nrows(), norm_1(l));
    let k = encoding.k.min(n);
    let start = if which == Which::Smallest { 0 } else { n - k };
    let vectors = encoding.complex_eigenvectors(g).ok_or("real eigenvectors")?;
    let mut worst = 0.0_f64;
    for j in 0..k {
        let value = encoding.eigenvalues(g)[j];
        // Both decompositions are within LAPACK's bound, 30 eps of the norm for orders below 90.
        if (value - want[start + j]).abs() > 60.0 * EPS * norm {
            return Err(format!("value {j}: {value:e}, in truth {:e}", want[start + j]));
        }
        if (value == 0.0) != (want[start + j].abs() < 1e-12) {
            return Err(format!("value {j} is {value:e}, in truth {:e}", want[start + j]));
        }
        let x = vectors.column(j).into_owned();
        worst = worst.max((l * &x - &x * C::from(value)).norm() / norm);
        if (x.norm() - 1.0).abs() > 4.0 * EPS * n as f64 {
            return Err(format!("vector {j} has the length {}", x.norm()));
        }
        // The pivot, the first entry within 1 % of the largest, is real and positive. Rounding may decide which is
        // first where magnitudes are near this limit, so any entry near it may be the pivot.
        let most = x.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let pivots = x.iter().filter(|x| x.norm() >= 0.989 * most);
        if !pivots.clone().any(|x| x.re > 0.0 && x.im == 0.0) {
            return Err(format!("vector {j} has no entry of about {most} that is real and positive: {x}"));
        }
    }
    let certified = f64::from(encoding.residual[g]);
    let slack = 1e-6 * worst + 4.0 * EPS;
    if (certified - worst).abs() > slack || worst > 10.0 * n as f64 * EPS || encoding.status[g] != 0 {
        return Err(format!("{:?}, in truth a residual of {worst:e}", encoding.certificate(g)));
    }
    Ok(())
}

/// In a graph without cycles, directions are a change of gauge: every charge gives the spectrum without directions, and
/// the magnitudes of its vectors.
fn trees(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(6);
    for n in [2_u32, 3, 9, 30] {
        let mut edges: Edges = (1..n).map(|i| (i - 1, i, 1.0)).collect();
        if n == 30 {
            edges = (1..n).map(|i| (random.below(i as usize) as u32, i, 0.2 + random.unit())).collect();
        }
        let made = |conventions: &Conventions| {
            Graph::from_weighted_edges(n as usize, &edges, conventions).map(GraphBatch::from)
        };
        let (directed, plain) = (made(&FLOWS())?, made(&Conventions::default())?);
        for kind in ALL {
            let encoder = SpectralEncoder::new(5).laplacian(kind);
            let (want, _) = encoder.encode_f64(ctx, &plain, |_| ())?;
            for q in [0.1, 0.25, 0.5] {
                let (got, _) = encoder.clone().magnetic(q).encode_f64(ctx, &directed, |_| ())?;
                let name = format!("{n} nodes, {kind:?}, charge {q}");
                for (x, y) in got.eigenvalues(0).iter().zip(want.eigenvalues(0)).filter(|(_, y)| !y.is_nan()) {
                    assert!((x - y).abs() <= 120.0 * EPS, "{name}: {x:e} instead of {y:e}");
                }
                assert_eq!((&got.tie_group, got.status[0]), (&want.tie_group, 0), "{name}");
                let vectors = got.complex_eigenvectors(0).ok_or("real eigenvectors")?;
                let real = want.eigenvectors(0);
                let away = vectors.iter().zip(real.iter()).map(|(x, y)| (x.norm() - y.abs()).abs());
                // The eigenvalues of these graphs are 1e-2 apart, so vectors are within a few eps times 1e2.
                assert!(away.fold(0.0, f64::max) <= 1e-12, "{name}");
            }
        }
    }
    Ok(())
}

fn complex_bits(encoding: &Encoding) -> (Vec<u32>, Vec<i64>, Vec<u8>) {
    let parts = encoding.complex_eigenvectors.iter().flat_map(|x| [x.re, x.im]);
    let floats = encoding.eigenvalues.iter().copied().chain(parts).chain(encoding.residual.iter().copied());
    let floats = floats.chain(encoding.orthogonality.iter().copied()).chain(encoding.random_walk.iter().copied());
    (floats.map(f32::to_bits).collect(), encoding.tie_group.clone(), encoding.status.clone())
}

fn real_bits(ctx: &Context) -> Checked {
    let undirected = molecules(40, 3)?;
    let edges = |g: usize| {
        let graph = undirected.graph(g);
        (0..graph.nodes())
            .flat_map(|row| graph.neighbors(row).iter().map(move |&b| (row as u32, b)))
            .collect::<Vec<_>>()
    };
    // Every edge in both directions, and only in the one from the lower node.
    let with_flows = |both: bool| {
        let all = (0..undirected.len()).map(|g| {
            let edges: Vec<_> = edges(g).into_iter().filter(|(a, b)| both || a < b).collect();
            Graph::from_edges(undirected.graph(g).nodes(), &edges, &FLOWS())
        });
        GraphBatch::from_graphs(&all.collect::<Result<Vec<_>, _>>()?)
    };
    let (both, directed) = (with_flows(true)?, with_flows(false)?);
    assert!(both.flows().is_none() && directed.flows().is_some());
    for kind in ALL {
        let encoder = SpectralEncoder::new(5).laplacian(kind).walk_steps(2);
        let want = encoder.encode(ctx, &undirected)?;
        for (graphs, q) in [(&directed, 0.0), (&both, 0.0), (&both, 0.3), (&undirected, 0.0)] {
            let got = encoder.clone().magnetic(q).encode(ctx, graphs)?;
            assert!(got.complex_eigenvectors.iter().all(|x| x.im.to_bits() == 0), "{kind:?}, charge {q}");
            let mut real = got;
            real.eigenvectors = std::mem::take(&mut real.complex_eigenvectors).iter().map(|x| x.re).collect();
            assert_eq!(common::batches::all_bits(&real), common::batches::all_bits(&want), "{kind:?}, charge {q}");
            assert_eq!(real.eigenvectors(3), want.eigenvectors(3));
        }
    }
    Ok(())
}

/// A graph that the tests below share: directed, weighted, without ties.
fn sample_graph(n: usize, seed: u64) -> Edges {
    let mut random = SplitMix64::new(seed);
    let mut edges: Edges = (1..n as u32).map(|i| (i - 1, i, 0.2 + random.unit())).collect();
    for _ in 0..2 * n {
        let (a, b) = (random.below(n) as u32, random.below(n) as u32);
        if a != b {
            edges.push((a, b, 0.2 + random.unit()));
        }
    }
    edges
}

/// The pivots are those of the conjugate, so the vectors are conjugate up to the error of the decompositions, which is
/// a few eps over the gap: 1e-12 for gaps of 1e-3.
fn reversed(ctx: &Context) -> Checked {
    let edges = sample_graph(20, 9);
    let back: Edges = edges.iter().map(|&(a, b, w)| (b, a, w)).collect();
    for kind in ALL {
        let of = |edges: &Edges| {
            let graphs = Graph::from_weighted_edges(20, edges, &FLOWS())?.into();
            let encoder = SpectralEncoder::new(6).laplacian(kind).magnetic(0.2);
            Ok::<_, fiedler::Error>(encoder.encode_f64(ctx, &graphs, |_| ())?.0)
        };
        let (one, other) = (of(&edges)?, of(&back)?);
        let away = one.complex_eigenvectors.iter().zip(&other.complex_eigenvectors).map(|(x, y)| (x - y.conj()).norm());
        let away = away.fold(0.0, f64::max);
        assert!(away <= 1e-12, "{kind:?}: off by {away:e}");
        assert!(one.complex_eigenvectors.iter().any(|x| x.im.abs() > 0.01));
    }
    Ok(())
}

/// Node i becomes node n - 1 - i. The pivot may be another entry, so vectors are compared up to a phase.
fn renumbered(ctx: &Context) -> Checked {
    let n = 20_u32;
    let edges = sample_graph(n as usize, 4);
    let other: Edges = edges.iter().map(|&(a, b, w)| (n - 1 - a, n - 1 - b, w)).collect();
    for kind in ALL {
        let of = |edges: &Edges| {
            let graphs = Graph::from_weighted_edges(n as usize, edges, &FLOWS())?.into();
            let encoder = SpectralEncoder::new(6).laplacian(kind).magnetic(0.2);
            Ok::<_, fiedler::Error>(encoder.encode_f64(ctx, &graphs, |_| ())?.0)
        };
        let (one, other) = (of(&edges)?, of(&other)?);
        let vectors = |e: &Encoding<f64>| e.complex_eigenvectors(0).map(|view| view.into_owned());
        let (one, other) = vectors(&one).zip(vectors(&other)).ok_or("real eigenvectors")?;
        for j in 0..6 {
            let along: C = (0..n as usize).map(|i| one[(i, j)].conj() * other[(n as usize - 1 - i, j)]).sum();
            assert!((along.norm() - 1.0).abs() <= 1e-12, "{kind:?}, vector {j}: {along}");
        }
    }
    Ok(())
}

/// Values of both methods differ by the squares of residuals of 1e-10 over gaps of 1e-3, which is below the error of
/// the decomposition, 30 eps of the norm for each side; vectors by residuals over gaps, 1e-7.
fn iterated(ctx: &Context) -> Checked {
    let n = 420;
    let mut path: Edges = sample_graph(n, 12);
    // A second, consistent component, and an isolated node.
    path.extend((0..9).map(|i| (n as u32 + i, n as u32 + i + 1, 1.0)));
    let graphs: GraphBatch = Graph::from_weighted_edges(n + 11, &path, &FLOWS())?.into();
    for kind in ALL {
        for which in [Which::Smallest, Which::Largest] {
            let encoder = SpectralEncoder::new(6).laplacian(kind).which(which).magnetic(0.15);
            let of = |method| encoder.clone().method(method).encode_f64(ctx, &graphs, |_| ());
            let ((exact, _), (fast, _)) = (of(Method::Exact)?, of(Method::Fast)?);
            let name = format!("{kind:?}, {which:?}");
            let norm = MagneticLaplacian::new(graphs.graph(0), kind, 0.15)?.norm_1();
            for (x, y) in exact.eigenvalues(0).iter().zip(fast.eigenvalues(0)) {
                assert!((x - y).abs() <= 1e-12 * norm, "{name}: {x:e} and {y:e}");
            }
            assert_eq!((&exact.tie_group, exact.status[0], fast.status[0]), (&fast.tie_group, 0, 0), "{name}");
            let pairs = exact.complex_eigenvectors.iter().zip(&fast.complex_eigenvectors);
            let away = pairs.map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
            assert!(away <= 1e-6, "{name}: off by {away:e}");
        }
    }
    // A long directed cycle at a charge that no component is consistent with, by the closed form; Auto iterates.
    let n = 1000_u32;
    let edges: Edges = (0..n).map(|i| (i, (i + 1) % n, 1.0)).collect();
    let graphs: GraphBatch = Graph::from_weighted_edges(n as usize, &edges, &FLOWS())?.into();
    let q = 0.25 / f64::from(n);
    let encoder = SpectralEncoder::new(4).laplacian(Normalization::Combinatorial).magnetic(q);
    let encoding = encoder.encode(ctx, &graphs)?;
    for (got, turns) in encoding.eigenvalues(0).iter().zip([0.25, -0.75, 1.25, -1.75]) {
        let want = 4.0 * (std::f64::consts::PI * turns / f64::from(n)).sin().powi(2);
        assert!((f64::from(*got) - want).abs() <= 30.0 * f64::from(f32::EPSILON), "{got:e} instead of {want:e}");
    }
    assert_eq!((&encoding.tie_group[..], encoding.status[0]), (&[0, 1, 2, 3][..], 0));
    Ok(())
}

/// Directed graphs of many sizes, with ties, weights, isolated nodes and trees; some are undirected.
fn mixed(count: usize) -> fiedler::Result<GraphBatch> {
    let mut random = SplitMix64::new(77);
    let mut all = Vec::new();
    for i in 0..count {
        let n = i % 31;
        let edges: Edges = match i % 4 {
            0 => random_edges(n, &mut random, false),
            1 => (0..n as u32).map(|i| (i, (i + 1) % n as u32, 1.0)).collect(),
            2 => (1..n as u32).flat_map(|i| [(i - 1, i, 1.0), (i, i - 1, 1.0)]).collect(),
            _ => random_edges(n, &mut random, false).into_iter().map(|(a, b, _)| (a, b, 1.0)).collect(),
        };
        all.push(Graph::from_weighted_edges(n, &edges, &FLOWS())?);
    }
    all.push(Graph::from_weighted_edges(400, &sample_graph(400, 3), &FLOWS())?);
    GraphBatch::from_graphs(&all)
}

fn bits(ctx: &Context) -> Checked {
    let graphs = mixed(150)?;
    let encoder = SpectralEncoder::new(5).magnetic(0.2).walk_steps(2);
    let whole = encoder.encode(ctx, &graphs)?;
    for (threads, budget) in [(1, 1_u64 << 30), (2, 24 << 20), (3, 16 << 20)] {
        let other = Context::builder().backend(fiedler::Backend::Cpu).threads(threads).memory_budget(budget).build()?;
        assert!(complex_bits(&encoder.encode(&other, &graphs)?) == complex_bits(&whole), "{threads} threads, {budget}");
    }
    // A graph has the same bits alone, and beside others.
    for g in [5, 24, 31, 79, 150] {
        let alone = encoder.encode(ctx, &graphs.select(&[g]))?;
        let beside = encoder.encode(ctx, &graphs.select(&[0, g, 42]))?;
        let of = |e: &Encoding, i| e.complex_eigenvectors(i).map(|view| view.map(|x| (x.re.to_bits(), x.im.to_bits())));
        assert_eq!(of(&alone, 0), of(&whole, g), "graph {g} alone");
        assert_eq!(of(&beside, 1), of(&whole, g), "graph {g} beside others");
    }
    Ok(())
}

fn stored(ctx: &Context) -> Checked {
    let graphs = mixed(40)?;
    let reversed: GraphBatch = {
        let all = (0..40).map(|g| {
            let graph = graphs.graph(g);
            let flowing =
                |row: usize| graph.row_with_flows(row).filter(|&(.., flow)| flow < 0.0).map(move |x| (row, x.0));
            let edges: Vec<(u32, u32)> =
                (0..graph.nodes()).flat_map(flowing).map(|(a, b)| (a as u32, b as u32)).collect();
            Graph::from_edges(graph.nodes(), &edges, &FLOWS())
        });
        GraphBatch::from_graphs(&all.collect::<Result<Vec<_>, _>>()?)?
    };
    let folder = tempfile::tempdir()?;
    for cache in [Cache::new().memory(4000, 1 << 30), Cache::new().disk(folder.path(), 1 << 30)] {
        let cache = Arc::new(cache);
        let new = |q: Option<f64>| {
            let encoder = SpectralEncoder::new(3).cache(Arc::clone(&cache));
            q.map_or(encoder.clone(), |q| encoder.magnetic(q))
        };
        // Whatever changes a bit of the result is looked up under another key.
        for (name, encoder, graphs) in [
            ("charge 0.2", new(Some(0.2)), &graphs),
            ("charge 0.3", new(Some(0.3)), &graphs),
            ("charge 0", new(Some(0.0)), &graphs),
            ("real", new(None), &graphs),
            ("other directions", new(Some(0.2)), &reversed),
        ] {
            let (cold, first) = encoder.encode_with(ctx, graphs, |_| ())?;
            let (warm, second) = encoder.encode_with(ctx, graphs, |_| ())?;
            // Of a graph without edges, only what is real differs.
            let alike = (0..graphs.len()).filter(|&g| graphs.graph(g).entries() == 0).count();
            assert!(first.stored <= alike, "{name}: {} were stored", first.stored);
            assert_eq!(second.stored, graphs.len(), "{name}");
            assert!(complex_bits(&cold) == complex_bits(&warm) && cold.eigenvectors == warm.eigenvectors, "{name}");
        }
    }
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let graphs: GraphBatch = Graph::from_edges(3, &[(0, 1), (1, 2), (2, 0)], &FLOWS())?.into();
    for q in [-0.1, 0.500_001, f64::NAN, f64::INFINITY] {
        let error = SpectralEncoder::new(2).magnetic(q).encode(ctx, &graphs).err().ok_or("no error")?;
        assert!(error.to_string().contains("a charge from 0 to 0.5, found"), "{q}: {error}");
        let error = MagneticLaplacian::new(graphs.graph(0), ALL[0], q).err().ok_or("no error")?;
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{q}: {error}");
    }
    let plain: GraphBatch = Graph::from_edges(3, &[(0, 1), (1, 2), (2, 0)], &Conventions::default())?.into();
    let error = SpectralEncoder::new(2).magnetic(0.1).encode(ctx, &plain).err().ok_or("no error")?;
    assert!(error.to_string().contains("needs the flows of edges"), "{error}");
    for symmetrization in [Symmetrization::Sum, Symmetrization::Keep] {
        let conventions = Conventions { symmetrization, ..FLOWS() };
        let error = Graph::from_edges(2, &[(0, 1)], &conventions).err().ok_or("no error")?;
        assert!(error.to_string().contains("expected the symmetrization max, mean or error"), "{error}");
    }
    let (nodes, rows, columns) = (vec![0, 2], vec![0, 1, 2], vec![1, 0]);
    let restored = |flows: Vec<f64>| {
        GraphBatch::from_csr(nodes.clone(), rows.clone(), columns.clone(), None, FLOWS())?.with_flows(flows)
    };
    assert!(restored(vec![1.0, -1.0]).is_ok());
    for flows in [vec![1.0, 1.0], vec![1.0], vec![f64::NAN, f64::NAN], vec![f64::INFINITY, f64::NEG_INFINITY]] {
        assert!(restored(flows.clone()).is_err(), "{flows:?}");
    }
    Ok(())
}

fn gpu(ctx: &Context) -> Checked {
    let graphs: GraphBatch = Graph::from_edges(3, &[(0, 1), (1, 2), (2, 0)], &FLOWS())?.into();
    let error = SpectralEncoder::new(2).magnetic(0.1).encode(ctx, &graphs).err().ok_or("no error")?;
    assert!(error.to_string().contains("solved on the CPU only"), "{error}");
    Ok(())
}
