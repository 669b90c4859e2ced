//! With `by_graph`, every bit of the encoding of a graph depends on the graph alone: not on the other graphs of its
//! batch, nor on their order, nor on the number of threads.

use common::batches::{bits_of_graph, graph};
use common::graphs;
use common::random::SplitMix64;
use common::solve::{Checked, alike};
use common::{Test, on_each, on_gpus, sample, suite};
use fiedler::encode::{Encoding, SpectralEncoder, Which};
use fiedler::graph::generate::{grid, preferential_attachment};
use fiedler::graph::{Conventions, Graph, GraphBatch};
use fiedler::ops::laplacian::Normalization;
use fiedler::policy::{CpuRates, GpuRates, Rates};
use fiedler::{Backend, Context, ContextBuilder};

const THREADS: [usize; 4] = [1, 2, 3, 8];

pub fn tests() -> Vec<Test> {
    suite(
        "by_graph",
        vec![
            on_each("the same bits in every batch", any_batch),
            on_gpus("the same side in every batch", sides),
            on_gpus("small batches would be solved on the other side", by_set),
        ],
    )
}

/// Returns the graph with weights between 0.2 and 1.2.
fn weighted(simple: &graphs::Simple, random: &mut SplitMix64) -> Graph {
    let edges: Vec<_> = simple.edges.iter().map(|&(a, b)| (a, b, (0.2 + random.unit()) as f32)).collect();
    Graph::from_weighted_edges(simple.n, &edges, &Conventions::default()).expect("a graph")
}

/// Returns two copies of the graph side by side, so that every eigenvalue is at least double.
fn twice(simple: &graphs::Simple) -> Graph {
    let n = simple.n as u32;
    let edges: Vec<_> = simple.edges.iter().flat_map(|&(a, b)| [(a, b), (a + n, b + n)]).collect();
    Graph::from_edges(2 * simple.n, &edges, &Conventions::default()).expect("a graph")
}

/// Returns graphs of all kinds in random order: with ties, isolated nodes, weights, several components, without nodes,
/// and so large that they are solved one at a time or by iteration.
fn all_kinds(count: usize) -> Vec<Graph> {
    let mut random = SplitMix64::new(23);
    let mut all: Vec<Graph> =
        [0, 1, 2].map(|n| Graph::from_edges(n, &[], &Conventions::default()).expect("nodes")).into();
    all.push(graph(&graphs::path(2).graph));
    all.push(preferential_attachment(700, 2, 1).expect("a graph"));
    all.push(grid(25, 28).expect("a graph"));
    let edges: Vec<_> = (1..700).map(|i| (i / 3, i, 0.5 + (i % 7) as f32)).collect();
    all.push(Graph::from_weighted_edges(700, &edges, &Conventions::default()).expect("a tree"));
    all.push(preferential_attachment(150, 3, 2).expect("a graph"));
    all.push(grid(12, 11).expect("a graph"));
    for i in all.len()..count {
        let one = graphs::random(&mut random);
        let n = 3 + random.below(30);
        all.push(match i % 8 {
            0 => graph(&graphs::cycle(n).graph),
            1 => graph(&graphs::star(n).graph),
            2 => graph(&graphs::grid(2 + n % 5, 2 + n / 5).graph),
            3 => twice(&one),
            4 | 5 => weighted(&one, &mut random),
            _ => graph(&one),
        });
    }
    let mut order: Vec<usize> = (0..count).collect();
    (1..count).rev().for_each(|i| order.swap(i, random.below(i + 1)));
    order.into_iter().map(|i| all[i].clone()).collect()
}

/// Returns the ranges of seven parts, of which the first is the smallest and the last is more than half.
fn uneven(count: usize) -> Vec<Vec<usize>> {
    let ends = [0, 1, count / 60, count / 20, count / 10, count / 5, count * 2 / 5, count];
    ends.windows(2).map(|pair| (pair[0]..pair[1]).collect()).collect()
}

/// Checks that the graphs of a part have the bits that they have in the whole.
fn same(whole: &Encoding, part: &Encoding, indices: &[usize], what: &str) -> Result<(), String> {
    for (place, &i) in indices.iter().enumerate() {
        if bits_of_graph(part, place) != bits_of_graph(whole, i) {
            return Err(format!("{what}: graph {i}, which is number {place} of {}, has other bits", indices.len()));
        }
    }
    Ok(())
}

/// Encodes all graphs as one batch, in uneven parts, and in another order, on each number of threads.
fn every_way(encoder: &SpectralEncoder, builder: &ContextBuilder, all: &[Graph], every_thread: bool) -> Checked {
    let batch = GraphBatch::from_graphs(all)?;
    let whole = encoder.encode(&builder.clone().threads(THREADS[0]).build()?, &batch)?;
    let mut order: Vec<usize> = (0..all.len()).collect();
    let mut random = SplitMix64::new(5);
    (1..all.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
    let reversed: Vec<Vec<usize>> =
        uneven(all.len()).into_iter().map(|part| part.iter().map(|i| all.len() - 1 - i).collect()).collect();
    let ways = [vec![(0..all.len()).collect()], uneven(all.len()), reversed, vec![order]];
    for (place, threads) in THREADS.into_iter().enumerate() {
        let ctx = builder.clone().threads(threads).build()?;
        for (i, way) in ways.iter().enumerate() {
            if !every_thread && i != place {
                continue;
            }
            for part in way {
                // The graphs are combined anew, so that the batch has weights only if one of them has.
                let graphs: Vec<Graph> = part.iter().map(|&i| all[i].clone()).collect();
                let found = encoder.encode(&ctx, &GraphBatch::from_graphs(&graphs)?)?;
                same(&whole, &found, part, &format!("{threads} threads, way {i}"))?;
            }
        }
    }
    Ok(())
}

fn any_batch(ctx: &Context) -> Checked {
    let encoder = SpectralEncoder::new(8).walk_steps(3).by_graph();
    if ctx.adapter().is_none() {
        let all = all_kinds(1000);
        every_way(&encoder, &alike(ctx), &all, true)?;
        let other = SpectralEncoder::new(5).laplacian(Normalization::Combinatorial).which(Which::Largest).by_graph();
        every_way(&other.drop_trivial(true), &alike(ctx), &all, false)?;
        return every_way(&encoder.laplacian(Normalization::RandomWalk), &alike(ctx), &all, false);
    }
    every_way(&encoder, &alike(ctx), &sample(ctx, all_kinds(400)), false)
}

/// Returns the settings of a context that chooses the device for large batches of graphs of about 20 nodes or more, and
/// the CPU for small batches.
fn either(ctx: &Context) -> ContextBuilder {
    let gpu = GpuRates { round_trip: 5e-3, dispatch: 1e-12, ..GpuRates::flat(1e13, 1e15) };
    let rates = Rates { cpu: CpuRates::default_of(1), gpu };
    alike(ctx).backend(Backend::Auto).software_as_gpu(true).rates(rates)
}

fn randoms() -> Vec<Graph> {
    (0..300).map(|seed| graph(&graphs::random(&mut SplitMix64::new(seed)))).collect()
}

fn sides(ctx: &Context) -> Checked {
    let (all, encoder) = (randoms(), SpectralEncoder::new(5).by_graph());
    let auto = either(ctx).build()?;
    let (_, report) = encoder.encode_with(&auto, &GraphBatch::from_graphs(&all)?, |_| ())?;
    assert!(report.on_gpu > 50 && report.on_cpu > 50, "{report:?}");
    let mut on_gpu = 0;
    for part in all.chunks(43) {
        on_gpu += encoder.encode_with(&auto, &GraphBatch::from_graphs(part)?, |_| ())?.1.on_gpu;
    }
    assert_eq!(on_gpu, report.on_gpu);
    for (nodes, entries) in [(6, 12), (30, 200), (90, 700), (5000, 30_000)] {
        let side = |graphs| encoder.choose_alike(&auto, (nodes, entries), graphs).side;
        assert_eq!((side(1), side(10_000)), (side(4096), side(4096)), "{nodes} nodes");
    }
    // A context that receives the rates as text makes the same choices.
    let sent = Rates::from_json(&auto.policy().rates.to_json())?;
    let other = either(ctx).rates(sent).threads(3).build()?;
    let batch = GraphBatch::from_graphs(&all)?;
    assert_eq!(encoder.choose(&other, &batch), encoder.choose(&auto, &batch));
    every_way(&encoder, &either(ctx), &all, false)
}

/// The choice for a whole batch differs, so the tests above would notice it.
fn by_set(ctx: &Context) -> Checked {
    let (all, auto) = (randoms(), either(ctx).build()?);
    let (encoder, alone) = (SpectralEncoder::new(5), GraphBatch::from_graphs(&all[..20])?);
    let on_gpu =
        |encoder: SpectralEncoder| Ok::<_, fiedler::Error>(encoder.encode_with(&auto, &alone, |_| ())?.1.on_gpu);
    assert_eq!(on_gpu(encoder.clone())?, 0);
    assert!(on_gpu(encoder.by_graph())? > 0);
    Ok(())
}
