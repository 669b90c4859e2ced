//! Tables of graphs: the row of a graph has the same bytes in whatever batch it is, in whatever order and on however
//! many threads, and they are those of the encoder.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use common::random::SplitMix64;
use common::solve::{Checked, alike};
use common::{Test, graphs, on_cpu, on_each, suite};
use fiedler::arrow::{Encoder, batches_of};
use fiedler::encode::SpectralEncoder;
use fiedler::graph::generate::{cycle, path};
use fiedler::graph::{Conventions, Graph, GraphBatch};
use fiedler::{Backend, Context};

pub fn tests() -> Vec<Test> {
    suite(
        "arrow",
        vec![
            on_each("rows do not depend on their batch", rows),
            on_cpu("rows do not depend on the threads", threads),
            on_each("columns are the arrays of the encoding", columns),
        ],
    )
}

/// Graphs with ties, weights, isolated nodes, several components, no nodes, and one that is solved by iteration.
fn mixed(count: usize) -> GraphBatch {
    let mut random = SplitMix64::new(23);
    let conventions = Conventions::default();
    let mut all = vec![
        Graph::from_edges(0, &[], &conventions).unwrap(),
        Graph::from_edges(1, &[], &conventions).unwrap(),
        Graph::from_edges(2, &[(0, 1)], &conventions).unwrap(),
        cycle(12).unwrap(),
        path(700).unwrap(),
    ];
    while all.len() < count {
        let simple = graphs::random(&mut random);
        let weighted = all.len() % 3 == 0;
        let edges: Vec<_> = simple
            .edges
            .iter()
            .map(|&(a, b)| (a, b, if weighted { (0.2 + random.unit()) as f32 } else { 1.0 }))
            .collect();
        all.push(Graph::from_weighted_edges(simple.n, &edges, &conventions).unwrap());
    }
    GraphBatch::from_graphs(&all).unwrap()
}

fn table(graphs: &GraphBatch) -> RecordBatch {
    let mut batches = batches_of(graphs, None);
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none(), "one batch has them all");
    batch
}

fn encoder() -> Encoder {
    Encoder::new(SpectralEncoder::new(6).walk_steps(3))
}

/// The columns of the encoding of a row, without what the table had. Rows of weighted batches have a column more.
fn encoded(batch: &RecordBatch, row: usize) -> RecordBatch {
    let from = batch.schema().index_of("eigenvalues").unwrap();
    batch.project(&(from..batch.num_columns()).collect::<Vec<_>>()).unwrap().slice(row, 1)
}

fn rows(ctx: &Context) -> Checked {
    let count = if ctx.adapter().is_some_and(|adapter| adapter.software) { 150 } else { 1000 };
    let (graphs, encoder) = (mixed(count), encoder());
    let whole = encoder.encode_batch(ctx, &table(&graphs))?;
    let same = |graph: usize, batch: &RecordBatch, row: usize| {
        if encoded(&whole, graph) == encoded(batch, row) { Ok(()) } else { Err(format!("graph {graph} differs")) }
    };
    // Seven uneven batches, of a table and of the graphs themselves, whose weights may then all be 1.
    let cuts = [0, 1, 5, 6, count / 7, count / 2, count - 3, count];
    for cut in cuts.windows(2) {
        let slice = table(&graphs).slice(cut[0], cut[1] - cut[0]);
        let own = table(&graphs.select(&(cut[0]..cut[1]).collect::<Vec<_>>()));
        for batch in [encoder.encode_batch(ctx, &slice)?, encoder.encode_batch(ctx, &own)?] {
            (cut[0]..cut[1]).try_for_each(|graph| same(graph, &batch, graph - cut[0]))?;
        }
    }
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = SplitMix64::new(5);
    (1..count).rev().for_each(|i| order.swap(i, random.below(i + 1)));
    let shuffled = encoder.encode_batch(ctx, &table(&graphs.select(&order)))?;
    order.iter().enumerate().try_for_each(|(row, &graph)| same(graph, &shuffled, row))?;
    // Parts under a budget that still holds the largest graph on a device.
    let small = alike(ctx).memory_budget(64 << 20).build()?;
    let mut row = 0;
    encoder.encode_parts(&small, &table(&graphs), |part| {
        (0..part.num_rows()).for_each(|own| assert_eq!(encoded(&whole, row + own), encoded(&part, own)));
        row += part.num_rows();
        Ok(())
    })?;
    assert_eq!(row, count);
    Ok(())
}

fn threads(_: &Context) -> Checked {
    let table = table(&mixed(300));
    let made = |threads: usize| {
        let ctx = Context::builder().backend(Backend::Cpu).threads(threads).build()?;
        encoder().encode_batch(&ctx, &table)
    };
    let one = made(1)?;
    for threads in [2, 3, 8] {
        assert_eq!(made(threads)?, one, "{threads} threads");
    }
    Ok(())
}

fn columns(ctx: &Context) -> Checked {
    let graphs = mixed(40);
    let encoding = SpectralEncoder::new(6).walk_steps(3).by_graph().encode(ctx, &graphs)?;
    for (fixed, batch) in [
        (false, encoder().encode_batch(ctx, &table(&graphs))?),
        (true, encoder().fixed_size(true).encode_batch(ctx, &table(&graphs))?),
    ] {
        let numbers = |name: &str| batch[name].as_primitive::<Float32Type>().clone();
        for graph in 0..graphs.len() {
            let values = batch["eigenvalues"].as_list::<i32>().value(graph);
            let values = values.as_primitive::<Float32Type>();
            let ties = batch["tie_group"].as_list::<i32>().value(graph);
            let ties = ties.as_primitive::<Int32Type>();
            for j in 0..6 {
                let there = encoding.mask[graph * 6 + j] == 1;
                assert_eq!((values.is_valid(j), ties.is_valid(j)), (there, there));
                if there {
                    assert_eq!(values.value(j).to_bits(), encoding.eigenvalues(graph)[j].to_bits());
                    assert_eq!(i64::from(ties.value(j)), encoding.tie_group[graph * 6 + j]);
                }
            }
            let rows = |name: &str, width: usize| -> Vec<f32> {
                let nodes = batch[name].as_list::<i32>().value(graph);
                let of = |node: usize| -> Vec<f32> {
                    let row =
                        if fixed { nodes.as_fixed_size_list().value(node) } else { nodes.as_list::<i32>().value(node) };
                    assert_eq!(row.len(), width);
                    row.as_primitive::<Float32Type>().values().to_vec()
                };
                (0..nodes.len()).flat_map(of).collect()
            };
            let listed = |matrix: fiedler::encode::RowMajor<'_>| -> Vec<f32> {
                matrix.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect()
            };
            assert_eq!(rows("eigenvectors", 6), listed(encoding.eigenvectors(graph)));
            assert_eq!(rows("random_walk", 3), listed(encoding.random_walk(graph)));
            assert_eq!(numbers("residual").value(graph).to_bits(), encoding.residual[graph].to_bits());
            assert_eq!(numbers("orthogonality").value(graph).to_bits(), encoding.orthogonality[graph].to_bits());
            assert_eq!(batch["components"].as_primitive::<Int64Type>().value(graph), encoding.components[graph]);
            assert_eq!(batch["tie_cut"].as_boolean().value(graph), encoding.tie_cut[graph] == 1);
            assert_eq!(batch["status"].as_string::<i32>().value(graph), encoding.certificate(graph).status.name());
            assert!(batch["error"].is_null(graph));
        }
    }
    Ok(())
}
