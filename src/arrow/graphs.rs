//! Tables of graphs in memory, and graphs of tables.

use super::columns::Columns;
use super::ids::{GraphIds, joined};
use super::listed::{Limits, Listed};
use super::refused;
use super::rows::{Rows, too_many};
use super::runs::Runs;
use crate::cancel::Cancel;
use crate::context::DEFAULT_BUDGET;
use crate::error::{Error, Result};
use crate::graph::{Conventions, GraphBatch, GraphRef, Symmetrization, WeightsRef};
use crate::io::{DataSet, Format, NodeIds, TIMESTAMP_BOUND, TableTargets};
use arrow_array::builder::{Int64Builder, ListBuilder, PrimitiveBuilder, StringBuilder, UInt32Builder};
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The entries of the adjacency matrices of a table.
const ENTRIES: usize = 1 << 20;

/// Returns tables of the graphs of a data set, with the columns `num_nodes`, `src`, `dst`, `weight` if edges have
/// weights (in f64 if one of all graphs is not exactly an f32), and `node_ids` if nodes have ids. Each edge of an
/// undirected graph is listed in both directions; if the graphs keep flows, an edge is listed as it was before the
/// graph was made symmetric. A table has as many graphs as have about a million entries together, and one at least;
/// together they have every graph in order.
pub fn batches_of<'a>(
    graphs: &'a GraphBatch,
    ids: Option<&'a NodeIds>,
) -> impl Iterator<Item = Result<RecordBatch>> + Send + 'a {
    let mut first = 0;
    std::iter::from_fn(move || {
        let (mut end, mut entries) = (first, 0);
        while end < graphs.len() && (end == first || entries + graphs.graph(end).entries() <= ENTRIES) {
            entries += graphs.graph(end).entries();
            end += 1;
        }
        let range = std::mem::replace(&mut first, end)..end;
        (!range.is_empty()).then(|| batch_of(graphs, ids, range))
    })
}

fn batch_of(graphs: &GraphBatch, ids: Option<&NodeIds>, range: Range<usize>) -> Result<RecordBatch> {
    let mut nodes = Int64Builder::new();
    let mut sources = ListBuilder::new(UInt32Builder::new());
    let mut targets = ListBuilder::new(UInt32Builder::new());
    for graph in range.clone().map(|graph| graphs.graph(graph)) {
        nodes.append_value(i64::try_from(graph.nodes()).unwrap_or(i64::MAX));
        let flows = graph.all_flows().is_some();
        for (row, node) in (0..graph.nodes()).zip(0_u32..) {
            if flows {
                for (column, _) in listed_row(graph, row).filter(|entry| entry.1 != 0.0) {
                    sources.values().append_value(node);
                    targets.values().append_value(u32::try_from(column).unwrap_or(u32::MAX));
                }
                continue;
            }
            let neighbors = graph.neighbors(row);
            sources.values().append_value_n(node, neighbors.len());
            targets.values().append_slice(neighbors);
        }
        sources.append(true);
        targets.append(true);
    }
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("num_nodes", Arc::new(nodes.finish())),
        ("src", Arc::new(sources.finish())),
        ("dst", Arc::new(targets.finish())),
    ];
    let own = range.clone().map(|graph| graphs.graph(graph)).filter_map(|graph| graph.all_weights());
    match graphs.weights() {
        None => {}
        Some(_) if graphs.flows().is_some() => {
            let of_graph = |graph: GraphRef<'_>| {
                let of_row = |row| listed_row(graph, row).map(|entry| entry.1).filter(|&weight| weight != 0.0);
                Cow::Owned((0..graph.nodes()).flat_map(of_row).collect::<Vec<f64>>())
            };
            let own = range.clone().map(|graph| of_graph(graphs.graph(graph)));
            columns.push(("weight", lists::<Float64Type>(own)));
        }
        Some(WeightsRef::F32(_)) => columns.push(("weight", lists::<Float32Type>(own.map(|w| w.in_f32())))),
        Some(WeightsRef::F64(_)) => columns.push(("weight", lists::<Float64Type>(own.map(|w| w.in_f64())))),
    }
    if let Some(ids) = ids {
        columns.push(("node_ids", ids_of(graphs, ids, range)));
    }
    RecordBatch::try_from_iter(columns).map_err(|error| refused(&error))
}

/// Returns the columns and the weights of a row of W before it was made symmetric, under conventions that keep flows. A
/// weight is 0 if only the reverse was listed.
fn listed_row<'a>(graph: GraphRef<'a>, row: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
    let is_mean = graph.conventions().symmetrization == Symmetrization::Mean;
    graph.row_with_flows(row).map(move |(column, weight, flow)| {
        let listed = match is_mean {
            true => weight + flow / 2.0,
            // The weight is the one of larger magnitude of both directions, and the flow their difference.
            false if (weight - flow).abs() <= weight.abs() => weight,
            false => weight + flow,
        };
        (column, listed)
    })
}

fn lists<'a, P: ArrowPrimitiveType>(own: impl Iterator<Item = Cow<'a, [P::Native]>>) -> ArrayRef
where
    P::Native: 'a,
{
    let mut lists = ListBuilder::new(PrimitiveBuilder::<P>::new());
    for own in own {
        lists.values().append_slice(&own);
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn ids_of(graphs: &GraphBatch, ids: &NodeIds, range: Range<usize>) -> ArrayRef {
    let nodes = range.map(|graph| graphs.node_offsets()[graph]..graphs.node_offsets()[graph + 1]);
    match ids {
        NodeIds::Integers(ids) => {
            let mut lists = ListBuilder::new(Int64Builder::new());
            for own in nodes {
                lists.values().append_slice(&ids[own]);
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
        NodeIds::Text(ids) => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            nodes.for_each(|own| lists.append_value(ids[own].iter().map(Some)));
            Arc::new(lists.finish())
        }
    }
}

/// Reads all graphs of the batches of a table with this schema. `path` is its name in errors, and that of the data set.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if the table is damaged, or a row is no graph; those of
/// [`GraphBatch::from_edge_list`]; [`Limit`](crate::ErrorKind::Limit) if the graphs exceed the memory budget.
pub fn read(
    path: &Path,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    columns: &Columns,
    conventions: &Conventions,
) -> Result<DataSet> {
    let limits = Limits { per_node: 1, bytes: u64::MAX, alone: DEFAULT_BUDGET, solving: 0 };
    let found = columns.of(schema)?;
    let mut listed = Listed::new(found.weights.is_some(), conventions.signed);
    let mut runs = Runs::new(columns.clone());
    let alone = found.is_long() && found.graph.is_none();
    let no_graph = |listed: &Listed| match listed.faults.first() {
        Some((place, fault)) => {
            let at = format!("a graph at place {}", place + 1);
            let words = fault.what.strip_prefix("expected ");
            let parts = words.and_then(|what| what.split_once(", found ").or_else(|| what.split_once("; found ")));
            Err(match parts {
                // The table is one graph, so the place says nothing.
                Some((expected, found)) if alone => Error::parse(path, None, expected, found),
                Some((expected, found)) => Error::parse(path, None, format!("{expected} in {at}"), found),
                None => Error::parse(path, None, at, &*fault.what),
            })
        }
        None => Ok(()),
    };
    let mut add = |batch: &RecordBatch| {
        let all = Rows::of(batch, columns)?.0.list(0, limits, &mut listed);
        no_graph(&listed)?;
        if all { Ok(()) } else { Err(too_many("nodes")) }
    };
    for batch in batches {
        if let Some(batch) = runs.push(batch?)? {
            add(&batch)?;
        }
    }
    if let Some(batch) = runs.finish()? {
        add(&batch)?;
    }
    if found.is_long() && listed.count == 0 {
        return Err(Error::parse(path, None, "at least one edge", "none before the end"));
    }
    let timestamps = found.weights.filter(|_| found.is_long() && listed.has_only_weights_above(TIMESTAMP_BOUND));
    let (graphs, _) = listed.graphs(&Cancel::new(), conventions)?;
    no_graph(&listed)?;
    let ids: Vec<GraphIds> = listed.ids.into_iter().map(|(_, ids)| ids).collect();
    let node_ids = found.edges.ids().and_then(|kind| joined(&ids, kind));
    let timestamps = timestamps.map(|weights| {
        let name = schema.field(weights).name();
        format!(
            "the column `{name}` was read as weights, though each is beyond 1e8, as timestamps are; without it every \
             edge weighs 1."
        )
    });
    let notices = columns.notice(schema).into_iter().chain(timestamps);
    let notices = notices.map(|notice| format!("{}: {notice}", path.display())).collect();
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let (format, labels) = (Format::Table, TableTargets::None);
    let (merged, without_first) = (listed.merged, listed.without_first);
    Ok(DataSet { name, graphs, node_ids, format, labels, notices, merged, without_first })
}
