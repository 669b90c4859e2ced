//! The encoder of tables.

use super::columns::{Columns, Found};
use super::listed::{Fault, Limits, Listed};
use super::made::{Layout, Precision};
use super::rows::{Rows, too_many};
use super::{refused, wrong};
use crate::context::{Context, DEFAULT_BUDGET};
use crate::encode::{Encoding, SpectralEncoder, numerics};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{Conventions, GraphBatch, Isolated, Merged};
use crate::lanes::width;
use crate::policy::Backend;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Metadata, Schema, SchemaRef};
use arrow_select::take::take;
use std::collections::HashMap;
use std::sync::Arc;

/// Encodes the graphs of a table. Everything about a graph is decided by the graph alone, so that its row has the same
/// bytes in whatever batch it is.
///
/// A table has a graph in each row: lists of integers `src` and `dst`, or an `edge_index` of two lists or of pairs, and
/// perhaps `num_nodes` (else the largest node and one) and lists of numbers `weight`. Or it has an edge in each row, as
/// an edge list: ids of any kind, integers or text, in `src` and `dst` or as a pair in `edge`, and perhaps numbers
/// `weight`, integers `num_nodes`, and `graph`, whose rows are consecutive; without it, the table is one graph.
/// [`Role::names`](super::Role::names) lists further names, and [`Columns`] sets others.
///
/// The result has a row for each graph, in their order, with all columns of the table (of a table of edges, `graph` and
/// the list `node_ids`, which has the id of each node in their order) and these:
///
/// | column | type | |
/// | --- | --- | --- |
/// | `eigenvalues` | list of k floats | ascending, null where the graph has no pair |
/// | `eigenvectors` | list of lists of k floats | a list for each node, 0 where there is no pair |
/// | `eigenvectors_imaginary` | list of lists of floats | as many imaginary parts, with [`SpectralEncoder::magnetic`] |
/// | `random_walk` | list of lists of floats | a list for each node, with [`SpectralEncoder::walk_steps`] |
/// | `tie_group` | list of k int32 | as [`Encoding::tie_group`], null where there is no pair |
/// | `tie_cut` | bool | as [`Encoding::tie_cut`] |
/// | `components` | int64 | the number of connected components |
/// | `residual`, `orthogonality` | float | as [`Encoding::residual`] and [`Encoding::orthogonality`] |
/// | `status` | text | `converged`, what else became of the pairs, `bad input` or `too large` |
/// | `error` | text | why the graph has no encoding, or null |
///
/// The metadata of the schema says how the numbers were computed: `fiedler.version`, `fiedler.numerics`,
/// `fiedler.settings` (JSON), `fiedler.side`, `fiedler.adapter` and `fiedler.simd`. Nodes of a cluster that agree in
/// these, and in their rates, compute the same bytes.
#[derive(Clone, Debug)]
pub struct Encoder {
    encoder: SpectralEncoder,
    conventions: Conventions,
    columns: Columns,
    fixed: bool,
    wide: bool,
    edges: bool,
}

impl Encoder {
    /// Makes an encoder of tables with the settings of `encoder`, which decides everything
    /// [by graph](SpectralEncoder::by_graph).
    #[must_use]
    pub fn new(encoder: SpectralEncoder) -> Self {
        Self {
            encoder: encoder.by_graph(),
            conventions: Conventions::default(),
            columns: Columns::default(),
            fixed: false,
            wide: false,
            edges: true,
        }
    }

    /// Sets the conventions under which edges become graphs.
    #[must_use]
    pub fn conventions(mut self, conventions: Conventions) -> Self {
        self.conventions = conventions;
        self
    }

    /// Sets the names of the columns that describe graphs.
    #[must_use]
    pub fn columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// Sets whether the numbers of a node are a list of fixed size, which Spark does not read. The default is no.
    #[must_use]
    pub fn fixed_size(mut self, yes: bool) -> Self {
        self.fixed = yes;
        self
    }

    /// Sets whether to compute in f64, on the CPU. Eigenvalues and eigenvectors are then doubles.
    #[must_use]
    pub fn in_f64(mut self, yes: bool) -> Self {
        self.wide = yes;
        self
    }

    /// Sets whether the result has the columns of the edges and their weights, too. The default is yes.
    #[must_use]
    pub fn with_edges(mut self, yes: bool) -> Self {
        self.edges = yes;
        self
    }

    /// Returns the names of the columns that describe graphs.
    #[must_use]
    pub fn column_names(&self) -> &Columns {
        &self.columns
    }

    /// Returns the settings as a JSON object, as the metadata of a result has them under `fiedler.settings`.
    #[must_use]
    pub fn settings(&self) -> String {
        self.encoder.described(self.conventions, self.wide)
    }

    fn layout(&self) -> Layout {
        let (k, walk_steps) = self.encoder.widths();
        Layout { k, walk_steps, fixed: self.fixed, wide: self.wide, complex: self.encoder.is_complex() }
    }

    fn limits(&self, ctx: &Context) -> Limits {
        let Layout { k, walk_steps, complex, .. } = self.layout();
        let k = if complex { 2 * k } else { k };
        // A part of the budget, because the solver needs memory of its own, and the next rows are read meanwhile.
        let bytes = ctx.memory_budget().min(DEFAULT_BUDGET) / 8;
        Limits {
            per_node: k.max(walk_steps),
            bytes,
            alone: ctx.memory_budget(),
            solving: self.encoder.bytes_per_node(),
        }
    }

    /// Returns the indices of the columns of a table that the result has, too.
    fn kept(&self, schema: &Schema, found: Found) -> Vec<usize> {
        match found.is_long() {
            true => found.graph.into_iter().collect(),
            false => (0..schema.fields().len()).filter(|&at| self.edges || !found.lists_edges(at)).collect(),
        }
    }

    /// Returns the schema of the result for tables of this schema.
    ///
    /// # Errors
    /// [`Domain`](ErrorKind::Domain) if the table has no columns of edges, or has a column with the name of one that is
    /// added.
    pub fn schema(&self, ctx: &Context, table: &Schema) -> Result<SchemaRef> {
        let found = self.columns.of(table)?;
        let ids = found.edges.ids().map(|kind| {
            let item = Field::new_list_field(kind.data_type(), true);
            Field::new("node_ids", DataType::List(Arc::new(item)), true)
        });
        let added: Vec<Field> = ids.into_iter().chain(self.layout().fields()).collect();
        let kept: Vec<Field> = self.kept(table, found).into_iter().map(|at| table.field(at).clone()).collect();
        if let Some(twice) = kept.iter().find(|field| added.iter().any(|other| other.name() == field.name())) {
            let name = twice.name();
            return Err(wrong(format!("expected no column `{name}`, whose name is that of a column of the result")));
        }
        let metadata: Metadata = table.metadata().clone().into_iter().chain(self.metadata(ctx)).collect();
        Ok(Arc::new(Schema::new_with_metadata(kept.into_iter().chain(added).collect::<Vec<_>>(), metadata)))
    }

    fn metadata(&self, ctx: &Context) -> HashMap<String, String> {
        let side = match ctx.policy().backend {
            Backend::Auto if !self.wide => "auto",
            Backend::Gpu if !self.wide => "gpu",
            _ => "cpu",
        };
        let adapter = ctx.adapter().filter(|_| side != "cpu").map_or_else(String::new, |adapter| adapter.name.clone());
        let all = [
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("numerics", numerics().to_string()),
            ("settings", self.settings()),
            ("side", side.to_owned()),
            ("adapter", adapter),
            ("simd", format!("{}, {} lanes of f64", std::env::consts::ARCH, width::<f64>())),
        ];
        all.into_iter().map(|(key, value)| (format!("fiedler.{key}"), value)).collect()
    }

    /// Encodes the graphs of a batch.
    ///
    /// # Errors
    /// [`Domain`](ErrorKind::Domain) if the batch has no columns of edges, the rows of a graph are not consecutive, or
    /// the result has more numbers than Arrow's lists can have (2^31); device errors. A graph that cannot be encoded is
    /// no error: its row says why.
    pub fn encode_batch(&self, ctx: &Context, batch: &RecordBatch) -> Result<RecordBatch> {
        let limits = Limits { bytes: u64::MAX, ..self.limits(ctx) };
        let mut all = Vec::new();
        self.encode(ctx, batch, limits, &mut |made| {
            all.push(made);
            if all.len() > 1 { Err(too_many("eigenvectors")) } else { Ok(()) }
        })?;
        all.pop().ok_or_else(|| wrong("no batch was made"))
    }

    /// Encodes the graphs of a batch in parts that fit into the memory budget together with their results, and hands
    /// each part to `take`, in order. Returns the nodes without edges, and what became of edges that are listed more
    /// than once.
    ///
    /// # Errors
    /// Those of [`Encoder::encode_batch`], except for too many numbers, and those of `take`.
    pub fn encode_parts(
        &self,
        ctx: &Context,
        batch: &RecordBatch,
        mut take: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<(Isolated, Merged)> {
        self.encode(ctx, batch, self.limits(ctx), &mut take)
    }

    fn encode(
        &self,
        ctx: &Context,
        batch: &RecordBatch,
        limits: Limits,
        take: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<(Isolated, Merged)> {
        let schema = self.schema(ctx, &batch.schema())?;
        let (rows, found) = Rows::of(batch, &self.columns)?;
        let kept = self.kept(&batch.schema(), found);
        let (mut first, mut isolated, mut merged) = (0, Isolated::default(), Merged::default());
        loop {
            let mut listed = ctx.install(|| rows.take(first, limits, self.conventions.signed));
            let begins = &rows.begins()[first..=first + listed.count];
            let mut columns = Vec::new();
            for &at in &kept {
                columns.push(rows_at(batch.column(at), begins, found.is_long())?);
            }
            let (graphs, places) = listed.graphs(ctx.cancel(), &self.conventions)?;
            let lacks = |graph: &usize| listed.without_first.binary_search(&places[*graph]).is_ok();
            let without_first: Vec<usize> = (0..graphs.len()).filter(lacks).collect();
            isolated = isolated.and(graphs.isolated(&without_first));
            merged = merged.and(listed.merged);
            let made = match self.wide {
                true => self.columns_of(&graphs, places, &mut listed, |graphs| {
                    Ok(self.encoder.encode_f64(ctx, graphs, |_| ())?.0)
                }),
                false => self.columns_of(&graphs, places, &mut listed, |graphs| self.encoder.encode(ctx, graphs)),
            }?;
            if let Some(kind) = found.edges.ids() {
                let mut named = vec![None; listed.count];
                listed.ids.iter().for_each(|(place, ids)| named[*place] = Some(ids));
                listed.faults.iter().for_each(|(place, _)| named[*place] = None);
                columns.push(kind.lists(&named));
            }
            columns.extend(made);
            first += listed.count;
            take(RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|error| refused(&error))?)?;
            if first >= rows.len() {
                return Ok((isolated, merged));
            }
        }
    }

    /// Encodes graphs, and makes the columns of the table.
    fn columns_of<T: Precision>(
        &self,
        graphs: &GraphBatch,
        mut places: Vec<usize>,
        listed: &mut Listed,
        encode: impl Fn(&GraphBatch) -> Result<Encoding<T>>,
    ) -> Result<Vec<ArrayRef>> {
        let mut left = Vec::with_capacity(graphs.len());
        for (number, graph) in graphs.iter().enumerate() {
            match self.encoder.check_range::<T>(graph) {
                Ok(()) => left.push(number),
                Err(what) => listed.faults.push((places[number], Fault::bad(what))),
            }
        }
        let held = (left.len() < graphs.len()).then(|| {
            places = left.iter().map(|&graph| places[graph]).collect();
            graphs.select(&left)
        });
        let graphs = held.as_ref().unwrap_or(graphs);
        let encoding = match encode(graphs) {
            Err(error) if is_limit(&error) => {
                let mut left: Vec<usize> = (0..graphs.len()).collect();
                for (graph, error) in too_large(graphs, &left, error, &encode)? {
                    left.retain(|&other| other != graph);
                    listed.faults.push((places[graph], Fault::too_large(error.to_string())));
                }
                places = left.iter().map(|&graph| places[graph]).collect();
                encode(&graphs.select(&left))?
            }
            other => other?,
        };
        self.layout().columns(listed.count, encoding, &places, &listed.faults)
    }
}

fn is_limit(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit { .. })
}

/// Returns which of these graphs, whose encoding exceeded a limit, exceed it by themselves. Such graphs are rare, and
/// their halves are tried until each is alone.
fn too_large<T>(
    graphs: &GraphBatch,
    among: &[usize],
    error: Error,
    encode: &impl Fn(&GraphBatch) -> Result<Encoding<T>>,
) -> Result<Vec<(usize, Error)>> {
    if let [alone] = *among {
        return Ok(vec![(alone, error)]);
    }
    let mut found = Vec::new();
    let (first, second) = among.split_at(among.len() / 2);
    for half in [first, second] {
        match encode(&graphs.select(half)) {
            Err(error) if is_limit(&error) => found.extend(too_large(graphs, half, error, encode)?),
            other => drop(other?),
        }
    }
    Ok(found)
}

/// Returns the rows of a column at which graphs begin: consecutive ones if each row is a graph.
pub(super) fn rows_at(column: &ArrayRef, begins: &[usize], long: bool) -> Result<ArrayRef> {
    let [first, .., end] = *begins else { return Ok(column.slice(0, 0)) };
    if !long {
        return Ok(column.slice(first, end - first));
    }
    let rows: UInt64Array = begins[..begins.len() - 1].iter().map(|&row| row as u64).collect();
    take(column, &rows, None).map_err(|error| refused(&error))
}
