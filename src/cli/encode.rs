//! `fiedler encode`: a data set of graphs in, certified encodings out.

use super::profile::Profiling;
use super::reading::{Reading, notify};
use super::stores::Stores;
use super::values::whole;
use super::{Failure, Outcome, Where, check_output, print};
use clap::{Args, ValueEnum};
use fiedler::encode::{Encoding, Progress, Report, SpectralEncoder, Which};
use fiedler::graph::{Conventions, Preset, Symmetrization};
use fiedler::io::{Data, DataSet, Format, NamedArray, NodeIds, Rows};
use fiedler::ops::Normalization;
use fiedler::{Backend, Context};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::PathBuf;
use std::time::Instant;

/// Compute k eigenpairs of the Laplacian of every graph of a data set.
#[derive(Debug, Args)]
pub(super) struct Encode {
    /// A TUDataset folder, an edge list (SNAP, CSV, TSV, white space) or a MatrixMarket file.
    input: PathBuf,
    /// Where to: .npz, .safetensors or .csv.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Pairs of each graph.
    #[arg(short, default_value_t = 8, value_parser = whole::<usize>)]
    k: usize,
    /// Which Laplacian.
    #[arg(long, value_enum, default_value_t = LaplacianName::Symmetric)]
    laplacian: LaplacianName,
    /// How: exact decomposes dense matrices, fast iterates on sparse ones; auto chooses.
    #[arg(long, value_enum, default_value_t = Method::Auto)]
    method: Method,
    /// Which end of the spectrum.
    #[arg(long, value_enum, default_value_t = End::Smallest)]
    which: End,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    profiling: Profiling,
    /// The Laplacian of which library: its self-loops, duplicate edges, isolated nodes.
    #[arg(long, value_enum)]
    preset: Option<PresetName>,
    /// What to do with edges that have no reverse.
    #[arg(long, value_enum, default_value_t = Symmetrize::Max)]
    symmetrize: Symmetrize,
    #[command(flatten)]
    reading: Reading,
    /// Leave out one zero mode for each connected component.
    #[arg(long)]
    drop_trivial: bool,
    /// Also the diagonals of the first N powers of D^-1 W.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<usize>)]
    walk_steps: usize,
    /// Neither read results that were stored before nor store any.
    #[arg(long)]
    no_cache: bool,
    /// Keep what is finished in the folder OUT.resume, and go on from there if a call before was killed.
    #[arg(long)]
    resume: bool,
    /// Print nothing but errors.
    #[arg(long)]
    quiet: bool,
    /// Print the report as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LaplacianName {
    Combinatorial,
    Symmetric,
    RandomWalk,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Method {
    Auto,
    Exact,
    Fast,
}

/// An end of the spectrum.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum End {
    Smallest,
    Largest,
}

impl From<End> for Which {
    fn from(end: End) -> Self {
        match end {
            End::Smallest => Self::Smallest,
            End::Largest => Self::Largest,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PresetName {
    Scipy,
    Networkx,
    Pyg,
    Dgl,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Symmetrize {
    /// The larger of the two weights: an edge listed once is an undirected edge.
    Max,
    /// W + W'.
    Sum,
    /// (W + W') / 2.
    Mean,
    /// An edge without its reverse is an error.
    Error,
}

/// Seconds of the CPU's work from which `auto` looks for an adapter: to look, open one and compile its first kernels takes from 0.1 s (two
/// software adapters, 2026-11-22) to a second.
const WORTH_OPENING: f64 = 0.5;

impl Encode {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        check_output(&self.output, &self.input, &["npz", "safetensors", "csv"])?;
        self.profiling.check()?;
        if self.quiet {
            // Warnings are not errors.
            log::set_max_level(log::LevelFilter::Error);
        }
        let stores = Stores::new(!self.no_cache, self.resume.then_some(&self.output))?;
        let encoder = self.encoder(&stores);
        // A device that was asked for is opened, or missed, before a large file is read.
        let asked = self.place.backend() != Backend::Auto || self.place.adapter().is_some();
        let mut started = Instant::now();
        let mut lap = || std::mem::replace(&mut started, Instant::now()).elapsed().as_secs_f64();
        let early = if asked { Some((self.profiling.context(&self.place, true, None)?, lap())) } else { None };
        let data = self.reading.read(&self.input, &self.conventions())?;
        if !self.quiet && !self.json {
            notify(&data);
        }
        // In its file, the first graph of a TUDataset is graph 1.
        let encoder = encoder.first_graph(usize::from(data.format == Format::TuDataset));
        let read = lap();
        let (ctx, opened) = match early {
            Some(early) => {
                self.profiling.stage("read");
                early
            }
            None => {
                let cpu = self.place.with(Context::builder().device(false))?;
                let device = encoder.choose(&cpu, &data.graphs).cpu_seconds >= WORTH_OPENING;
                (self.profiling.context(&self.place, device, Some("read"))?, lap())
            }
        };

        let started = Instant::now();
        let bar = self.progress_bar(data.graphs.len());
        let (encoding, report) = encoder
            .encode_with(&ctx, &data.graphs, |Progress { done, .. }| bar.set_position(done as u64))
            .inspect_err(|_| bar.abandon())?;
        bar.finish_and_clear();
        let encoded = started.elapsed().as_secs_f64();
        self.profiling.stage("encode");

        let started = Instant::now();
        fiedler::io::write(&self.output, &arrays(&encoding, data.node_ids.as_ref()))?;
        let wrote = started.elapsed().as_secs_f64();
        stores.done();
        self.profiling.stage("write");
        let seconds = [("open", opened), ("read", read), ("encode", encoded), ("write", wrote)];
        if !self.quiet {
            print(self.report(&ctx, &data, &encoding, &report, &stores, &seconds));
        }
        self.profiling.finish()?;
        Ok(if encoding.uncertified() == 0 { Outcome::Done } else { Outcome::Uncertified })
    }

    fn conventions(&self) -> Conventions {
        let preset = self.preset.map(|name| match name {
            PresetName::Scipy => Preset::Scipy,
            PresetName::Networkx => Preset::Networkx,
            PresetName::Pyg => Preset::Pyg,
            PresetName::Dgl => Preset::Dgl,
        });
        let symmetrization = match self.symmetrize {
            Symmetrize::Max => Symmetrization::Max,
            Symmetrize::Sum => Symmetrization::Sum,
            Symmetrize::Mean => Symmetrization::Mean,
            Symmetrize::Error => Symmetrization::Error,
        };
        // A file lists an undirected edge once or twice, so what the libraries do with direction is left to --symmetrize.
        Conventions { symmetrization, ..preset.map(Preset::conventions).unwrap_or_default() }
    }

    fn encoder(&self, stores: &Stores) -> SpectralEncoder {
        let encoder = SpectralEncoder::new(self.k);
        let encoder = stores.all().fold(encoder, |encoder, store| encoder.cache(store.clone()));
        encoder
            .laplacian(match self.laplacian {
                LaplacianName::Combinatorial => Normalization::Combinatorial,
                LaplacianName::Symmetric => Normalization::Symmetric,
                LaplacianName::RandomWalk => Normalization::RandomWalk,
            })
            .which(self.which.into())
            .drop_trivial(self.drop_trivial)
            .walk_steps(self.walk_steps)
            .method(match self.method {
                Method::Auto => fiedler::encode::Method::Auto,
                Method::Exact => fiedler::encode::Method::Exact,
                Method::Fast => fiedler::encode::Method::Fast,
            })
    }

    /// Rate and ETA on standard error, where it is a terminal.
    fn progress_bar(&self, graphs: usize) -> ProgressBar {
        let target = if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(graphs as u64), target);
        let template = "{bar:30} {pos}/{len} graphs, {per_sec}, {eta} to go";
        bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
    }

    fn report(
        &self,
        ctx: &Context,
        data: &DataSet,
        encoding: &Encoding,
        report: &Report,
        stores: &Stores,
        seconds: &[(&str, f64)],
    ) -> String {
        let adapter = ctx.adapter().map(|a| a.name.as_str());
        let uncertified = encoding.uncertified();
        let worst = |values: &[f32]| values.iter().copied().fold(0.0, f32::max);
        if self.json {
            let times: serde_json::Map<_, _> =
                seconds.iter().map(|(stage, s)| ((*stage).to_owned(), (*s).into())).collect();
            return serde_json::json!({
                "input": self.input, "output": self.output, "format": format!("{:?}", data.format),
                "graphs": encoding.graphs(), "nodes": data.graphs.nodes(), "entries": data.graphs.entries(), "k": self.k,
                "components": encoding.components.iter().sum::<i64>(),
                "on_gpu": report.on_gpu, "on_cpu": report.on_cpu, "stored": report.stored, "pieces": stores.as_json(), "chunks": report.chunks, "adapter": adapter,
                "without_adapter": ctx.without_adapter_because(), "choice": report.choice.to_string(),
                "uncertified": uncertified, "residual": worst(&encoding.residual),
                "orthogonality": worst(&encoding.orthogonality), "seconds": times, "notices": data.notices,
            })
            .to_string();
        }
        let place = match (report.on_gpu, report.on_cpu, adapter) {
            (0, 0, _) if report.stored > 0 => "computed before".to_owned(),
            (0, _, _) => "on the CPU".to_owned(),
            (_, 0, Some(name)) => format!("on {name}"),
            (gpu, cpu, name) => format!("{gpu} on {} and {cpu} on the CPU", name.unwrap_or("the adapter")),
        };
        let state = if uncertified == 0 { "all converged".to_owned() } else { format!("{uncertified} NOT converged") };
        let times: Vec<_> = seconds.iter().map(|(stage, s)| format!("{stage} {s:.3} s")).collect();
        format!(
            "{}: {} graphs, {} nodes, k = {}, {place} ({}); {state}, residual <= {:.1e}; {}{}",
            data.name,
            encoding.graphs(),
            data.graphs.nodes(),
            self.k,
            report.choice,
            worst(&encoding.residual),
            stores.words(),
            times.join(", ")
        )
    }
}

/// The arrays of the file, in the order of the documentation.
fn arrays<'a>(encoding: &'a Encoding, ids: Option<&'a NodeIds>) -> Vec<NamedArray<'a>> {
    let (graphs, k) = (encoding.graphs(), encoding.k);
    let nodes = encoding.eigenvectors.len().checked_div(k).unwrap_or_else(|| node_count(encoding));
    let array = |name, rows, shape: &[usize], data| NamedArray { name, rows, shape: shape.to_vec(), data };
    let mut all = vec![
        array("eigenvalues", Rows::Graphs, &[graphs, k], Data::F32(&encoding.eigenvalues)),
        array("eigenvectors", Rows::Nodes, &[nodes, k], Data::F32(&encoding.eigenvectors)),
        array("node_offsets", Rows::Other, &[graphs + 1], Data::I64(&encoding.node_offsets)),
        array("residual", Rows::Graphs, &[graphs], Data::F32(&encoding.residual)),
        array("orthogonality", Rows::Graphs, &[graphs], Data::F32(&encoding.orthogonality)),
        array("status", Rows::Graphs, &[graphs], Data::U8(&encoding.status)),
        array("components", Rows::Graphs, &[graphs], Data::I64(&encoding.components)),
        array("tie_group", Rows::Graphs, &[graphs, k], Data::I64(&encoding.tie_group)),
        array("mask", Rows::Graphs, &[graphs, k], Data::U8(&encoding.mask)),
    ];
    if encoding.walk_steps > 0 {
        let shape = [nodes, encoding.walk_steps];
        all.push(array("random_walk", Rows::Nodes, &shape, Data::F32(&encoding.random_walk)));
    }
    match ids {
        Some(NodeIds::Integers(ids)) => all.push(array("node_ids", Rows::Nodes, &[nodes], Data::I64(ids))),
        Some(NodeIds::Text(ids)) => all.push(array("node_ids", Rows::Nodes, &[nodes], Data::Text(ids))),
        None => {}
    }
    all
}

fn node_count(encoding: &Encoding) -> usize {
    encoding.node_offsets.last().and_then(|&n| usize::try_from(n).ok()).unwrap_or(0)
}
