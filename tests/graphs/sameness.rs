//! The same graph has the same encoding on every backend, also if it has ties, in every order of its nodes, and
//! whichever side `auto` chooses.

use common::batches::{all_bits, graph, spectrum, tied_graphs};
use common::graphs;
use common::random::SplitMix64;
use common::solve::{Checked, alike, bits};
use common::{Test, on_each, on_gpus, suite};
use fiedler::cache::Cache;
use fiedler::encode::{Encoding, SpectralEncoder, Which};
use fiedler::forms::{JacobiForm, KernelForm};
use fiedler::graph::{Conventions, Graph, GraphBatch, molecules};
use fiedler::ops::laplacian::Normalization;
use fiedler::policy::{CpuRates, GpuRates, Rates, Reason, Side};
use fiedler::{Backend, Context};
use rayon::prelude::*;
use std::sync::Arc;

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];
const EPS: f64 = f32::EPSILON as f64;

pub fn tests() -> Vec<Test> {
    suite(
        "sameness",
        vec![
            on_gpus("the CPU's encoding, ties included", same_as_cpu),
            on_gpus("molecules: the CPU's signs and bases, combinatorial", |ctx| decided_alike(ctx, ALL[0])),
            on_gpus("molecules: the CPU's signs and bases, symmetric", |ctx| decided_alike(ctx, ALL[1])),
            on_gpus("molecules: the CPU's signs and bases, random walk", |ctx| decided_alike(ctx, ALL[2])),
            on_each("a relabeled graph", relabelled),
            on_gpus("auto on a software adapter", auto),
            on_gpus("small graphs on the adapter, large ones on the CPU", mixed),
            on_each("partly stored results", stored),
        ],
    )
}

/// Returns the allowed difference between two entries of eigenvectors of the eigenvalue `value`. It is 1e-4, or
/// 1e-6 divided by the gap to the next distinct eigenvalue if that is larger. The solver's error, about 1e-7 |L|,
/// turns an eigenvector by an angle of this error divided by the gap. Eigenvalues within 16 eps of each other count
/// as one eigenvalue here.
fn allowed(spectrum: &[f64], value: f64) -> f64 {
    let resolution = 16.0 * EPS * spectrum.last().copied().unwrap_or(0.0).abs();
    let near = |x: f64, y: f64| (x - y).abs() <= resolution;
    let Some(own) =
        (0..spectrum.len()).min_by(|&i, &j| (spectrum[i] - value).abs().total_cmp(&(spectrum[j] - value).abs()))
    else {
        return 1e-4;
    };
    let (mut first, mut last) = (own, own);
    while first > 0 && near(spectrum[first], spectrum[first - 1]) {
        first -= 1;
    }
    while last + 1 < spectrum.len() && near(spectrum[last], spectrum[last + 1]) {
        last += 1;
    }
    let below = if first > 0 { spectrum[first] - spectrum[first - 1] } else { f64::INFINITY };
    let above = if last + 1 < spectrum.len() { spectrum[last + 1] - spectrum[last] } else { f64::INFINITY };
    (1e-6 / below.min(above)).max(1e-4)
}

/// Compares two encodings of one batch entry by entry.
fn compare(graphs: &GraphBatch, normalization: Normalization, got: &Encoding, want: &Encoding) -> Result<(), String> {
    assert_eq!((got.mask.len(), &got.node_offsets), (want.mask.len(), &want.node_offsets));
    (0..graphs.len()).into_par_iter().try_for_each(|g| {
        let graph = graphs.graph(g);
        let fail = |what: String| Err(format!("graph {g} of {} nodes, {normalization:?}: {what}", graph.nodes()));
        if got.status[g] != 0 || want.status[g] != 0 {
            return fail(format!("{:?} and {:?}", got.certificate(g), want.certificate(g)));
        }
        let columns = g * got.k..(g + 1) * got.k;
        if (got.components[g], &got.mask[columns.clone()], &got.tie_group[columns.clone()])
            != (want.components[g], &want.mask[columns.clone()], &want.tie_group[columns])
        {
            return fail("components, masks or tie groups differ".into());
        }
        let spectrum = spectrum(graph, normalization);
        let size = spectrum.last().copied().unwrap_or(0.0).abs();
        let (a, b) = (got.eigenvectors(g), want.eigenvectors(g));
        for (j, (x, y)) in got.eigenvalues(g).iter().zip(want.eigenvalues(g)).enumerate() {
            if x.is_nan() && y.is_nan() {
                continue; // masked: compared above
            }
            let (x, y) = (f64::from(*x), f64::from(*y));
            // Each of the two eigenvalues is off by at most the allowed error, 30 eps |L|, and here |L|_1 is at
            // most twice the largest eigenvalue.
            if (x - y).abs() > 60.0 * EPS * 2.0 * size || x.is_nan() || y.is_nan() {
                return fail(format!("value {j}: {x:e} and {y:e}"));
            }
            let allowed = allowed(&spectrum, y);
            for i in 0..graph.nodes() {
                let away = f64::from((a[(i, j)] - b[(i, j)]).abs());
                if away > allowed || away.is_nan() {
                    let (a, b) = (a[(i, j)], b[(i, j)]);
                    return fail(format!("vector {j} (value {y:.6}), node {i}: {a} and {b}, allowed {allowed:.1e}"));
                }
            }
        }
        Ok(())
    })
}

fn same_as_cpu(ctx: &Context) -> Checked {
    let graphs = tied_graphs();
    for normalization in ALL {
        for which in [Which::Smallest, Which::Largest] {
            for (k, drop) in [(8, false), (4, true), (64, false)] {
                let encoder =
                    SpectralEncoder::new(k).laplacian(normalization).which(which).drop_trivial(drop).walk_steps(3);
                let (got, report) = encoder.encode_with(ctx, &graphs, |_| ())?;
                assert_eq!((report.on_gpu, report.on_cpu), (graphs.len(), 0));
                let want = encoder.encode(&Context::cpu(), &graphs)?;
                compare(&graphs, normalization, &got, &want)
                    .map_err(|e| format!("{which:?}, k = {k}, drop {drop}: {e}"))?;
                // The host computes the random walks in f64 on both sides.
                assert_eq!(bits(&got.random_walk), bits(&want.random_walk));
            }
        }
    }
    Ok(())
}

/// Ties and signs near a threshold have to be decided in the same way on both sides. The test encodes 20,000
/// molecules if `FIEDLER_LARGE` is set, which takes software adapters minutes, and 400 molecules otherwise.
fn decided_alike(ctx: &Context, normalization: Normalization) -> Checked {
    let count = if std::env::var_os("FIEDLER_LARGE").is_some() { 20_000 } else { 400 };
    let graphs = molecules(count, 7)?;
    let mut again = 0;
    for which in [Which::Smallest, Which::Largest] {
        for k in [8, 16] {
            let encoder = SpectralEncoder::new(k).laplacian(normalization).which(which);
            let (got, report) = encoder.encode_with(ctx, &graphs, |_| ())?;
            assert_eq!(report.on_gpu, count);
            again += report.solved_again;
            let want = encoder.encode(&Context::cpu(), &graphs)?;
            assert_eq!(got.tie_cut, want.tie_cut);
            compare(&graphs, normalization, &got, &want).map_err(|e| format!("{which:?}, k = {k}: {e}"))?;
        }
    }
    println!("{:.1} % of {count} molecules, 4 ways, were decided in f64", again as f64 / (0.04 * count as f64));
    Ok(())
}

/// Encodes the nodes of a graph in another order. The rows of the encoding have to be in that order. The sign of an
/// eigenvector is decided by the first of its largest entries, so it may depend on the order of the nodes.
/// Therefore the graphs here have no ties, and their eigenvectors have one entry that is by far the largest.
fn relabelled(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(11);
    let mut compared = 0;
    for round in 0..40 {
        let n = 12 + round % 40;
        let mut edges: Vec<(u32, u32, f32)> = (1..n as u32).map(|i| (i - 1, i, (0.2 + random.unit()) as f32)).collect();
        edges.extend((0..n).map(|_| (random.below(n) as u32, random.below(n) as u32, (0.2 + random.unit()) as f32)));
        let mut order: Vec<u32> = (0..n as u32).collect();
        (1..n).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        let moved: Vec<_> = edges.iter().map(|&(a, b, w)| (order[a as usize], order[b as usize], w)).collect();
        let make = |edges: &[_]| Graph::from_weighted_edges(n, edges, &Conventions::default()).map(GraphBatch::from);
        let (before, after) = (make(&edges)?, make(&moved)?);
        for normalization in ALL {
            let encoder = SpectralEncoder::new(6).laplacian(normalization);
            let (a, b) = (encoder.encode(ctx, &before)?, encoder.encode(ctx, &after)?);
            let spectrum = spectrum(before.graph(0), normalization);
            let (v, w) = (a.eigenvectors(0), b.eigenvectors(0));
            for j in 0..6 {
                let mut sizes: Vec<f32> = v.column(j).iter().map(|x| x.abs()).collect();
                sizes.sort_by(f32::total_cmp);
                if sizes[n - 2] > 0.98 * sizes[n - 1] {
                    continue; // the sign necessarily depends on the order of the nodes
                }
                compared += 1;
                let allowed = allowed(&spectrum, a.eigenvalues(0)[j].into());
                for i in 0..n {
                    let (x, y) = (v[(i, j)], w[(order[i] as usize, j)]);
                    let near = f64::from((x - y).abs()) <= allowed;
                    assert!(near, "round {round}, {normalization:?}, vector {j}, node {i}: {x} and {y}");
                }
            }
        }
    }
    assert!(compared > 400, "only {compared} vectors compared");
    Ok(())
}

fn auto(ctx: &Context) -> Checked {
    if !ctx.adapter().is_some_and(|adapter| adapter.software) {
        return Ok(()); // a GPU may win, see tests/host/policy.rs
    }
    let graphs = molecules(5000, 2)?;
    let auto = ctx.with_backend(Backend::Auto);
    let encoder = SpectralEncoder::new(4);
    let (encoding, report) = encoder.encode_with(&auto, &graphs, |_| ())?;
    assert_eq!((report.on_cpu, report.on_gpu), (5000, 0));
    assert_eq!((report.choice.side, report.choice.reason), (Side::Cpu, Reason::SoftwareAdapter));
    assert_eq!(all_bits(&encoding), all_bits(&encoder.encode(&Context::cpu(), &graphs)?));
    // The same holds for large graphs.
    let large = graph(&graphs::cycle(150).graph).into();
    assert_eq!(encoder.encode(&auto, &large)?.uncertified(), 0);
    Ok(())
}

/// Small graphs are encoded on the adapter and large ones on the CPU, as `auto` does with a GPU. Each graph has the
/// same result as alone, however the batch is cut. Only the workgroup-memory kernels are used, so that even graphs
/// of moderate size are too large for the device.
fn mixed(ctx: &Context) -> Checked {
    // With these rates, the device is faster for all graphs that its kernels take.
    let gpu = GpuRates { round_trip: 1e-12, dispatch: 1e-12, ..GpuRates::flat(1e12, 1e15) };
    let rates = Rates { cpu: CpuRates::default_of(1), gpu };
    let auto = alike(ctx)
        .backend(Backend::Auto)
        .software_as_gpu(true)
        .kernels(&[KernelForm::Eigh(JacobiForm::Workgroup)])
        .rates(rates);
    let limit = fiedler::ops::eigen::device_order_limit(&auto.clone().build()?) as usize;
    let mut all: Vec<Graph> = (0..300).map(|i| graph(&graphs::random(&mut SplitMix64::new(i)))).collect();
    for n in [limit - 1, limit, limit + 1, 2 * limit] {
        all.push(graph(&graphs::path(n).graph));
    }
    let batch = GraphBatch::from_graphs(&all)?;
    let encoder = SpectralEncoder::new(5).walk_steps(2);
    let (whole, report) = encoder.encode_with(&auto.clone().build()?, &batch, |_| ())?;
    // The steps after the solver always run on the CPU. For the smallest graphs these steps are nearly all of the
    // work, so the two sides take about the same time. Such a tie goes to the CPU.
    assert!(report.on_gpu > 200 && report.on_cpu >= 2, "{report:?}");
    compare(&batch, Normalization::Symmetric, &whole, &encoder.encode(&Context::cpu(), &batch)?)?;
    let (cut, report) = encoder.encode_with(&auto.clone().memory_budget(8 << 20).build()?, &batch, |_| ())?;
    assert!(report.chunks > 2, "{report:?}");
    assert_eq!(all_bits(&cut), all_bits(&whole));
    // A stored result of the CPU is not used in place of a result of the adapter.
    let cache = Arc::new(Cache::new().memory(1000, 1 << 30));
    let (encoder, auto) = (encoder.cache(cache), auto.build()?);
    let largest = (0..300).max_by_key(|&i| batch.graph(i).nodes()).expect("300 graphs");
    encoder.encode(&Context::cpu(), &batch.select(&[largest, 300]))?;
    for stored in [0, 304] {
        let (again, report) = encoder.encode_with(&auto, &batch, |_| ())?;
        assert!(report.stored == stored && all_bits(&again) == all_bits(&whole), "{report:?}");
    }
    Ok(())
}

/// Stored results of some graphs and new results of the other graphs make the same encoding as one call without a
/// cache. Results that the CPU stored are not used on an adapter.
fn stored(ctx: &Context) -> Checked {
    let all: Vec<Graph> = (0..100).map(|i| graph(&graphs::random(&mut SplitMix64::new(i)))).collect();
    let batch = GraphBatch::from_graphs(&all)?;
    let encoder = SpectralEncoder::new(5).laplacian(Normalization::RandomWalk).walk_steps(2);
    let whole = encoder.encode(ctx, &batch)?;
    let cache = Arc::new(Cache::new().memory(1000, 1 << 30));
    let encoder = encoder.cache(Arc::clone(&cache));
    if ctx.adapter().is_some() {
        encoder.encode(&Context::cpu(), &batch)?; // stores results that an adapter does not use
    }
    let some: Vec<usize> = (0..100).filter(|i| i % 3 != 1).collect();
    encoder.encode(ctx, &batch.select(&some))?;
    let (again, report) = encoder.encode_with(ctx, &batch, |_| ())?;
    // Some of the graphs that were left out equal other graphs.
    assert!((some.len()..90).contains(&report.stored), "{report:?}");
    assert_eq!(report.stored + report.on_cpu + report.on_gpu, 100, "{report:?}");
    assert!(all_bits(&again) == all_bits(&whole));
    Ok(())
}
