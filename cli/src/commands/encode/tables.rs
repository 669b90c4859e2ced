//! `fiedler encode` with tables: Arrow and Parquet, in or out, batch by batch. The next rows are read and the last ones
//! written while others are encoded, so that memory does not grow with the table.

use super::report::pairs;
use super::{Encode, Precision};
use crate::commands::reading::{columns, is_standard_input};
use crate::commands::stores::{Form, Stores};
use crate::commands::{Failure, Outcome, complain, many, print, print_beside};
use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use clap::{Args, ValueEnum};
use fiedler::arrow::{Encoder, Kind, Role, Runs, Shard, TableReader, TableWriter, batches_of};
use fiedler::graph::{Conventions, Isolated, Merged, Symmetrization};
use fiedler::io::DataSet;
use fiedler::{Context, Error, ErrorKind};
use std::io::{self, ErrorKind as IoKind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

/// The options of tables.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Tables (.parquet, .arrow, .arrows)")]
pub(super) struct Tables {
    /// The format of standard input, if INPUT is `-`, and of standard output, if OUT is `-`: arrow is Arrow's IPC
    /// stream format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Streamed>,
    /// Encode only part I of N of a table, which takes every N-th row group or batch. I counts from 1.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Use the column NAME as ROLE: src, dst, edge_index, weight, num_nodes or graph.
    #[arg(long = "column", value_name = "ROLE=NAME", value_parser = column)]
    columns: Vec<(Role, String)>,
    /// How a table has the numbers of a node: a list of any size, which every program reads, or of fixed size.
    #[arg(long, value_enum, value_name = "LAYOUT")]
    layout: Option<Lists>,
    /// Leave out the columns of the edges.
    #[arg(long)]
    no_edges: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Streamed {
    Arrow,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Lists {
    Lists,
    Fixed,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(i, n)| Shard::new(i.parse().ok()?, n.parse().ok()?));
    parts.ok_or_else(|| "expected I/N with I from 1 to N, such as 2/8".to_owned())
}

fn column(text: &str) -> Result<(Role, String), String> {
    let named = text.split_once('=').and_then(|(role, name)| Some((Role::named(role)?, name.to_owned())));
    let roles = || Role::ALL.map(|role| role.names()[0]).join(", ");
    named.ok_or_else(|| format!("expected ROLE=NAME, where ROLE is one of {}", roles()))
}

/// Where the batches of a call come from.
enum Input {
    Table(TableReader),
    Graphs(Box<DataSet>),
}

/// What a call has done.
#[derive(Default)]
struct Done {
    graphs: usize,
    /// Graphs that have no encoding, and the first of them.
    refused: usize,
    first: Option<String>,
    uncertified: usize,
    /// Graphs with fewer pairs than requested, and the minimum number of pairs of one of them.
    fewer: usize,
    fewest: usize,
    residual: f32,
    isolated: Isolated,
    notices: Vec<String>,
}

impl Done {
    fn add(&mut self, batch: &RecordBatch, k: usize) {
        let text = |name: &str| batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
        let (Some(status), Some(errors)) = (text("status"), text("error")) else { return };
        for row in 0..batch.num_rows() {
            if errors.is_valid(row) {
                self.refused += 1;
                self.first.get_or_insert_with(|| format!("row {}: {}", self.graphs + row + 1, errors.value(row)));
            } else if status.value(row) != "converged" {
                self.uncertified += 1;
            }
        }
        for pairs in batch.column_by_name("eigenvalues").into_iter().flat_map(pairs_of).filter(|&pairs| pairs < k) {
            self.fewest = if self.fewer == 0 { pairs } else { self.fewest.min(pairs) };
            self.fewer += 1;
        }
        self.graphs += batch.num_rows();
        let residuals = batch.column_by_name("residual").and_then(|column| column.as_primitive_opt::<Float32Type>());
        let residuals = residuals.into_iter().flatten().flatten();
        self.residual = residuals.fold(self.residual, |most, x| if x.is_nan() || x > most { x } else { most });
    }
}

/// Returns the number of eigenpairs of each graph that has an encoding. Those beyond are null.
fn pairs_of(eigenvalues: &ArrayRef) -> Vec<usize> {
    let lists: Vec<Option<ArrayRef>> = match eigenvalues.as_fixed_size_list_opt() {
        Some(lists) => lists.iter().collect(),
        None => eigenvalues.as_list_opt::<i32>().into_iter().flatten().collect(),
    };
    lists.into_iter().flatten().map(|list| list.len() - list.null_count()).collect()
}

impl Tables {
    fn kind_of_output(&self, output: &Path) -> Option<Kind> {
        let streamed = self.format.is_some() && is_standard_input(output);
        if streamed { Some(Kind::Stream) } else { Kind::of_name(output) }
    }

    /// Returns whether the input is an Arrow stream on standard input or of a pipe.
    pub(super) fn streams_in(&self, input: &Path) -> bool {
        self.format.is_some() && (is_standard_input(input) || !(input.is_file() || input.is_dir()))
    }

    /// Returns an option that only tables have, if one is given.
    fn said(&self) -> Option<&'static str> {
        let said = [
            (self.format.is_some(), "--format"),
            (self.shard.is_some(), "--shard"),
            (!self.columns.is_empty(), "--column"),
            (self.layout.is_some(), "--layout"),
            (self.no_edges, "--no-edges"),
        ];
        said.into_iter().find_map(|(said, name)| said.then_some(name))
    }
}

impl Encode {
    /// Encodes a call whose output is a table. Returns `None` if it is none.
    pub(super) fn tables(&self) -> Result<Option<Outcome>, Failure> {
        let Some(kind) = self.tables.kind_of_output(&self.output) else {
            if is_standard_input(&self.output) {
                return Err(Failure::Call("-o -: expected --format arrow, which standard output takes".to_owned()));
            }
            return match self.tables.said() {
                Some(option) => Err(Failure::Call(format!(
                    "{option}: expected an output in .parquet, .arrow or .arrows, found {}",
                    self.output.display()
                ))),
                None => Ok(None),
            };
        };
        self.structural.check_no_tables()?;
        let to_stdout = is_standard_input(&self.output);
        if !to_stdout {
            self.overwriting.check_output(&self.output, &[&self.input], &["parquet", "arrow", "feather", "arrows"])?;
        }
        self.check_place()?;
        if to_stdout && self.storing.resumes() {
            return Err(Failure::Call("--resume: expected an output that is a file, found standard output".to_owned()));
        }
        let began = Instant::now();
        let stores = Stores::open(Form::Files, self.storing, &self.output)?;
        let encoder = Encoder::new(self.encoder(&stores))
            .conventions(self.conventions())
            .columns(columns(&self.tables.columns))
            .fixed_size(self.tables.layout == Some(Lists::Fixed))
            .in_f64(self.precision == Precision::F64)
            .with_edges(!self.tables.no_edges);
        // The side of a graph must not depend on how many graphs there are, so a device is always looked for.
        let ctx = self.profiling.context(&self.place, self.precision != Precision::F64, None)?;
        let done = match self.open(&ctx)? {
            Input::Table(table) => {
                let schema = encoder.schema(&ctx, &table.schema())?;
                let notice = encoder.column_names().notice(&table.schema());
                let notice = notice.map(|notice| format!("{}: {notice}", self.input.display()));
                self.complain_of(notice.as_slice());
                // A stream, or a part of a table, may have no rows.
                let whole = !self.tables.streams_in(&self.input) && self.tables.shard.is_none();
                let edges = whole && encoder.column_names().in_edge_rows(&table.schema());
                let empty = |batch: &Result<RecordBatch, Error>| batch.as_ref().is_ok_and(|own| own.num_rows() == 0);
                let mut table = table.skip_while(move |batch| edges && empty(batch)).peekable();
                if edges && table.peek().is_none() {
                    let [expected, found] = ["at least one edge", "none before the end"].map(Into::into);
                    let nothing = ErrorKind::Parse { path: self.input.as_path().into(), line: None, expected, found };
                    return Err(Error::from(nothing).into());
                }
                let done =
                    self.through(&ctx, &encoder, kind, &schema, table).inspect(|done| self.complain_of(&done.notices));
                done.map(|done| Done { notices: notice.into_iter().chain(done.notices).collect(), ..done })
            }
            Input::Graphs(data) => {
                let mut batches = batches_of(&data.graphs, data.node_ids.as_ref()).peekable();
                let Some(Ok(first)) = batches.peek() else {
                    let found = format!("{}: expected graphs, found none", self.input.display());
                    return Err(Failure::Call(found));
                };
                // The graphs were symmetrized when they were read, and list both directions, unless they keep flows.
                let own = data.graphs.conventions();
                let symmetrization = if own.flows { own.symmetrization } else { Symmetrization::Max };
                let conventions = Conventions { symmetrization, ..own };
                let encoder = encoder.conventions(conventions);
                let schema = encoder.schema(&ctx, &first.schema())?;
                let done = self.through(&ctx, &encoder, kind, &schema, batches);
                done.map(|done| Done { isolated: data.isolated(), notices: data.all_notices().collect(), ..done })
            }
        };
        let done = match done {
            // The reader of standard output has stopped reading.
            Err(error) if to_stdout && is_broken_pipe(&error) => return Ok(Some(Outcome::Done)),
            done => done?,
        };
        stores.done();
        self.profiling.stage("encode");
        self.tell(&ctx, &stores, &done, began.elapsed().as_secs_f64());
        self.profiling.finish()?;
        let certified = done.refused + done.uncertified == 0;
        Ok(Some(if certified { Outcome::Done } else { Outcome::Uncertified }))
    }

    /// Prints notices to standard error, if the report is not JSON, which has them.
    fn complain_of(&self, notices: &[String]) {
        if !self.printing.quiet && !self.printing.json {
            notices.iter().for_each(|notice| complain(notice));
        }
    }

    fn open(&self, ctx: &Context) -> Result<Input, Failure> {
        let shard = self.tables.shard.unwrap_or(Shard::WHOLE);
        if self.tables.streams_in(&self.input) {
            let table = match is_standard_input(&self.input) {
                true => TableReader::stream(Path::new("standard input"), io::stdin(), shard)?,
                false => TableReader::open(&self.input, shard, ctx.memory_budget())?,
            };
            return self.of_table(table);
        }
        if Kind::of_file(&self.input).is_some() {
            return self.of_table(TableReader::open(&self.input, shard, ctx.memory_budget())?);
        }
        if self.tables.shard.is_some() {
            return Err(Failure::Call(format!("--shard: expected a table, found {}", self.input.display())));
        }
        let mut data = self.reading.read(&self.input, &self.conventions())?;
        if !self.printing.quiet && !self.printing.json {
            super::notify(&data);
        }
        if self.largest_component {
            super::keep_largest(&mut data);
        }
        Ok(Input::Graphs(Box::new(data)))
    }

    fn of_table(&self, table: TableReader) -> Result<Input, Failure> {
        if self.largest_component {
            let what = "--largest-component: expected graphs in a file or folder of graphs, found a table";
            return Err(Failure::Call(what.to_owned()));
        }
        if self.reading.edge_weight_column.is_some() {
            let what = format!("--edge-weight-column: expected a TUDataset, found a table, {}", self.input.display());
            return Err(Failure::Call(what));
        }
        Ok(Input::Table(table))
    }

    /// Reads, encodes and writes the batches of a table, each on a thread of its own.
    fn through(
        &self,
        ctx: &Context,
        encoder: &Encoder,
        kind: Kind,
        schema: &Schema,
        table: impl Iterator<Item = Result<RecordBatch, Error>> + Send,
    ) -> Result<Done, Error> {
        let mut done = Done::default();
        let bar = self.printing.spinner("{spinner} {pos} graphs, {per_sec}");
        let fill = |writer: &mut TableWriter<'_>| {
            std::thread::scope(|scope| {
                let (send, batches) = sync_channel(1);
                let (give, made) = sync_channel(1);
                scope.spawn(move || read_all(table, &send));
                let encoding = scope.spawn(move || encode_all(ctx, encoder, &batches, &give));
                for batch in &made {
                    writer.write(&batch)?;
                    done.add(&batch, self.k);
                    bar.set_position(done.graphs as u64);
                }
                let (isolated, merged) = encoding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                done.isolated = isolated;
                done.notices = merged.doubts().map(|doubt| format!("{}: {doubt}.", self.input.display())).collect();
                Ok(())
            })
        };
        let written = match is_standard_input(&self.output) {
            true => TableWriter::to(Path::new("standard output"), kind, io::stdout(), schema, fill),
            false => TableWriter::create(&self.output, kind, schema, fill),
        };
        bar.finish_and_clear();
        written.map(|()| done)
    }

    /// Reports what was done: to standard error if standard output has the table.
    fn tell(&self, ctx: &Context, stores: &Stores, done: &Done, seconds: f64) {
        if let Some(first) = &done.first {
            let rows = many(done.refused, "graph has", "graphs have");
            complain(&format!("{rows} no encoding; the column error says why. The first is {first}"));
        }
        if self.printing.quiet {
            return;
        }
        let adapter = ctx.adapter().map(|adapter| adapter.name.as_str());
        let text = if self.printing.json {
            serde_json::json!({
                "input": self.input, "output": self.output, "graphs": done.graphs, "k": self.k,
                "graphs_with_fewer_pairs": done.fewer, "fewest_pairs": if done.fewer == 0 { self.k } else { done.fewest },
                "nodes_without_edges": done.isolated.nodes,
                "ids_seem_to_begin_at_1": done.isolated.seems_from_one(), "notices": done.notices,
                "refused": done.refused, "uncertified": done.uncertified, "residual": done.residual,
                "adapter": adapter, "blocks": stores.as_json(), "seconds": {"all": seconds},
            })
            .to_string()
        } else {
            let state = match (done.refused, done.uncertified) {
                (0, 0) => "all converged".to_owned(),
                (0, some) => format!("{some} NOT converged"),
                (refused, 0) => format!("{refused} NOT encoded"),
                (refused, some) => format!("{refused} NOT encoded, {some} NOT converged"),
            };
            let input = match is_standard_input(&self.input) {
                true => "standard input".into(),
                false => self.input.to_string_lossy(),
            };
            let isolated = match done.isolated.nodes {
                0 => String::new(),
                _ => format!(" ({})", done.isolated),
            };
            format!(
                "{input}: {}{isolated}, {}; {state}, largest residual {:.1e}; {}{seconds:.3} s",
                many(done.graphs, "graph", "graphs"),
                pairs(self.k, done.graphs == 1, done.fewer, done.fewest),
                done.residual,
                stores.words(),
            )
        };
        if is_standard_input(&self.output) { print_beside(&text) } else { print(text) }
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io { source, .. } if source.kind() == IoKind::BrokenPipe)
}

/// Sends the batches of a table, as long as they are received.
fn read_all(table: impl Iterator<Item = Result<RecordBatch, Error>>, send: &SyncSender<Result<RecordBatch, Error>>) {
    for batch in table {
        if send.send(batch).is_err() {
            return;
        }
    }
}

/// Encodes the batches that are received, and sends the results. It ends early if these are no longer received: the
/// error is then where they were written.
fn encode_all(
    ctx: &Context,
    encoder: &Encoder,
    batches: &Receiver<Result<RecordBatch, Error>>,
    give: &SyncSender<RecordBatch>,
) -> Result<(Isolated, Merged), Error> {
    let mut runs = Runs::new(encoder.column_names().clone());
    let mut ended = false;
    let (mut isolated, mut merged) = (Isolated::default(), Merged::default());
    let mut encode = |batch: &RecordBatch| -> Result<(), Error> {
        let (own, listed) = encoder.encode_parts(ctx, batch, |made| {
            ended |= give.send(made).is_err();
            if ended { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
        })?;
        (isolated, merged) = (isolated.and(own), merged.and(listed));
        Ok(())
    };
    for batch in batches {
        if let Some(batch) = runs.push(batch?)? {
            encode(&batch)?;
        }
    }
    if let Some(batch) = runs.finish()? {
        encode(&batch)?;
    }
    Ok((isolated, merged))
}
