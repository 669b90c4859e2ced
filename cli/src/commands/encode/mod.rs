//! `fiedler encode`: reads a data set of graphs and writes certified encodings.

mod made;
mod report;
mod structural;
mod tables;

use super::outputs::Overwriting;
use super::printing::Printing;
use super::profile::Profiling;
use super::reading::{Reading, notify};
use super::stores::{Form, Stores, Storing};
use super::values::{charge, whole};
use super::{Failure, Outcome, Where, print};
use clap::{Args, ValueEnum};
use fiedler::array::Real;
use fiedler::encode::{Encoding, Progress, Report, SpectralEncoder, Which};
use fiedler::graph::{Conventions, GraphBatch, LargestComponents, Preset, Symmetrization};
use fiedler::io::{DataSet, NodeIds};
use fiedler::ops::Normalization;
use fiedler::{Context, Error};
use std::path::PathBuf;
use std::time::Instant;
use structural::Structural;
use tables::Tables;

/// Compute k eigenpairs of the Laplacian of every graph of a data set.
#[derive(Debug, Args)]
#[command(after_long_help = ARRAYS_AND_RECIPE)]
pub(super) struct Encode {
    /// A TUDataset or OGB folder, an edge list (SNAP, CSV, TSV, white space), MatrixMarket, GraphML, GEXF, GML,
    /// node-link or Cytoscape JSON, graph6 or sparse6, Pajek, DIMACS, METIS, an adjacency list (.adjlist), edge_index
    /// in .npy, .npz or .safetensors, or a scipy.sparse .npz. Each may be compressed (.gz, .zst), or in a .zip or .tar
    /// archive. A folder of such files, or a pattern such as 'runs/*.gml', is one data set. Or a table in .parquet,
    /// .arrow or .arrows. `-` reads from standard input.
    input: PathBuf,
    /// The file to write: .npz, .safetensors or .csv, or a table in .parquet, .arrow or .arrows. With --format arrow,
    /// `-` writes a table to standard output.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The number of eigenpairs per graph. If a graph has fewer, the columns beyond them are masked.
    #[arg(short, default_value_t = 8, value_parser = whole::<usize>)]
    k: usize,
    /// The Laplacian.
    #[arg(long, value_enum, default_value_t = LaplacianName::Symmetric)]
    laplacian: LaplacianName,
    /// Use the magnetic Laplacian with the charge Q, from 0 to 0.5: the directions of edges become phases, and
    /// eigenvectors are complex. W is made symmetric by --symmetrize max or mean. Computed on the CPU.
    #[arg(long, value_name = "Q", value_parser = charge)]
    charge: Option<f64>,
    /// The method: exact decomposes dense matrices, fast uses iterative methods on sparse matrices, and auto chooses.
    #[arg(long, value_enum, default_value_t = Method::Auto)]
    method: Method,
    /// The end of the spectrum to compute.
    #[arg(long, value_enum, default_value_t = End::Smallest)]
    which: End,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    profiling: Profiling,
    /// Treat self-loops, duplicate edges and isolated nodes as the named library does. Without a preset, self-loops are
    /// dropped, the largest of duplicate weights counts, and isolated nodes have 0 on the diagonal.
    #[arg(long, value_enum)]
    preset: Option<PresetName>,
    /// Keep only the largest connected component of each graph. If several components are equally large, keep the
    /// component with the lowest node. `node_ids` lists the nodes that are kept.
    #[arg(long)]
    largest_component: bool,
    /// The precision in which eigenvalues and eigenvectors are written. f64 is computed only on the CPU, and in f64 the
    /// iterative methods stop at residuals of 1e-10 rather than 2e-6.
    #[arg(long, value_enum, value_name = "PRECISION", default_value_t = Precision::F32)]
    precision: Precision,
    /// What to do with an edge that is listed in only one direction.
    #[arg(long, value_enum, default_value_t = Symmetrize::Max)]
    symmetrize: Symmetrize,
    /// Accept negative weights. Degrees are then sums of the magnitudes of weights, which makes every Laplacian the
    /// signed Laplacian; of duplicates and directions, the weight of largest magnitude counts.
    #[arg(long)]
    signed: bool,
    #[command(flatten)]
    reading: Reading,
    /// Leave out the null space: one eigenpair with the eigenvalue 0 for each connected component or, with --signed,
    /// for each balanced one.
    #[arg(long)]
    drop_trivial: bool,
    /// Also write the diagonals of the first N powers of D^-1 W, where W is the adjacency matrix and D is the diagonal
    /// matrix of the degrees.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<usize>)]
    walk_steps: usize,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    storing: Storing,
    #[command(flatten)]
    printing: Printing,
    #[command(flatten)]
    structural: Structural,
    #[command(flatten)]
    tables: Tables,
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

/// A precision of the output.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Precision {
    F32,
    F64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PresetName {
    /// scipy.sparse.csgraph.laplacian: self-loops dropped, duplicates summed, isolated nodes 0 on the diagonal.
    Scipy,
    /// networkx.normalized_laplacian_matrix: self-loops kept, the last of duplicates, isolated nodes 0 on the diagonal.
    Networkx,
    /// torch_geometric.utils.get_laplacian: self-loops dropped, duplicates summed, isolated nodes 1 on the diagonal.
    Pyg,
    /// dgl.lap_pe: self-loops kept, duplicates summed, isolated nodes 1 on the diagonal.
    Dgl,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Symmetrize {
    /// The larger of the two weights, so an edge that is listed once is an undirected edge.
    Max,
    /// The sum of the two weights, W + W'.
    Sum,
    /// The mean of the two weights, (W + W') / 2.
    Mean,
    /// An edge without its reverse is an error.
    Error,
}

/// The help text about the arrays of the output, and about how to reproduce the arrays of another library.
const ARRAYS_AND_RECIPE: &str = "Arrays:
  eigenvalues    (graphs, k)  ascending; NaN where there is no pair
  eigenvectors   (nodes, k)   of unit 2-norm within a graph. The entry of largest magnitude is positive; among entries
                              within 1 % of the largest, the one with the lowest index counts. With --charge they
                              are complex, and this entry is real: complex numbers in .npz and .safetensors (f32
                              alone), columns _real and _imaginary in .csv, and a column eigenvectors_imaginary
                              beside the real parts in tables
  node_offsets   (graphs + 1) the row at which each graph begins
  residual       (graphs)     max |L v - l v|_2 / |L|_1 over the pairs, measured in f64 on the written values
  orthogonality  (graphs)     max |V'V - I|; for random-walk, of the vectors of the similar symmetric matrix
  status         (graphs)     0 converged; 1 not converged; 2 not finite; 3 unresolved
  components     (graphs)     the number of connected components. It is also the number of zero eigenvalues, unless
                              isolated nodes have 1 on the diagonal (presets pyg and dgl) or, with --signed, some
                              components are not balanced
  tie_group      (graphs, k)  pairs with the same number are tied: the square roots of their values differ by at most
                              1e-10 times the square root of the spectrum's bound. Their vectors are the canonical basis
                              of the space that they span. The null space is a separate group
  tie_cut        (graphs)     1 if the last group has more pairs than these k columns hold
  mask           (graphs, k)  1 where there is a pair
  random_walk    (nodes, N)   return probabilities, with --walk-steps N
  node_ids       (nodes)      the file's names of its nodes, unless they are 0, 1, 2 and so on

Arrays of structural encodings, each with its option, and their certificates (structural_status, structural_residual,
structural_orthogonality):
  heat_kernel        (nodes, T)     diagonals of exp(-t L); heat_times has the times
  wave_kernel        (nodes, N)     wave kernel signatures
  pagerank           (nodes, A)     diagonals of a (I - (1 - a) D^-1 W)^-1; restarts has the probabilities a
  electrostatic      (nodes, 10)    ElstaticSE of GraphGPS
  edge_index         (2, entries)   the nodes of both directions of each edge, of which
  resistance         (entries)      is the effective resistance, and
  commute_time       (entries)      the expected number of steps of a walk there and back
  pair_offsets       (graphs + 1)   where each graph's part of
  resistance_matrix  (pairs)        begins: n x n effective resistances, infinite between components
  spectral_gap       (graphs)       the second smallest eigenvalue of D - W
  kirchhoff_index    (graphs)       the sum of the effective resistances of all pairs of nodes
  log_spanning_trees (graphs)       the natural logarithm of their number

torch_geometric's AddLaplacianEigenvectorPE leaves out the first eigenvector. For its K columns, use --preset pyg and
-k K+1, and take the columns of `eigenvectors` from 1 on.";

impl Encode {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.printing.begin();
        if self.storing.is_finished(self.overwriting, &[&self.output]) {
            made::check(&self)?;
        }
        if self.storing.finished(self.overwriting, self.printing, &[&self.output]) {
            return Ok(Outcome::Done);
        }
        if let Some(outcome) = self.tables()? {
            return Ok(outcome);
        }
        let endings = ["npz", "safetensors", "csv", "parquet", "arrow", "arrows"];
        self.overwriting.check_output(&self.output, &[&self.input], &endings)?;
        self.check_place()?;
        let stores = Stores::open(Form::Files, self.storing, &self.output)?;
        let encoder = self.encoder(&stores);
        match self.precision {
            Precision::F32 => {
                self.done(&stores, encoder, |encoder, ctx, graphs, progress| encoder.encode_with(ctx, graphs, progress))
            }
            Precision::F64 => {
                self.done(&stores, encoder, |encoder, ctx, graphs, progress| encoder.encode_f64(ctx, graphs, progress))
            }
        }
    }

    /// Checks where the call is to be computed.
    fn check_place(&self) -> Result<(), Failure> {
        self.profiling.check(self.overwriting)?;
        if self.charge.is_some() && matches!(self.symmetrize, Symmetrize::Sum) {
            let what = "--charge: expected --symmetrize max, mean or error, found sum, which does not tell directions";
            return Err(Failure::Call(what.to_owned()));
        }
        if self.charge.is_some_and(|charge| charge > 0.0) && self.place.insists() {
            let what =
                "--charge: magnetic Laplacians are solved on the CPU alone: expected --backend cpu or auto, found gpu";
            return Err(Failure::Call(what.to_owned()));
        }
        if self.precision == Precision::F64 && self.place.insists() {
            let what = "--precision f64 is computed on the CPU alone: expected --backend cpu or auto, found gpu";
            return Err(Failure::Call(what.to_owned()));
        }
        Ok(())
    }

    fn done<T: Real>(
        &self,
        stores: &Stores,
        encoder: SpectralEncoder,
        encode: impl FnOnce(
            &SpectralEncoder,
            &Context,
            &GraphBatch,
            &mut dyn FnMut(Progress),
        ) -> Result<(Encoding<T>, Report), Error>,
    ) -> Result<Outcome, Failure> {
        // If the call asks for a device, the device is opened first, so that a missing device is reported before a
        // large file is read.
        let mut started = Instant::now();
        let mut lap = || std::mem::replace(&mut started, Instant::now()).elapsed().as_secs_f64();
        let early =
            if self.place.is_said() { Some((self.profiling.context(&self.place, true, None)?, lap())) } else { None };
        let mut data = self.reading.read(&self.input, &self.conventions())?;
        let Printing { quiet, json } = self.printing;
        if !quiet && !json {
            notify(&data);
        }
        let encoder = encoder.first_graph(data.format.first_graph());
        let (listed, isolated) = (data.graphs.nodes(), data.isolated());
        if self.largest_component {
            keep_largest(&mut data);
        }
        let read = lap();
        let (ctx, opened) = match early {
            Some(early) => {
                self.profiling.stage("read");
                early
            }
            None => {
                let wide = self.precision == Precision::F64;
                let device = !wide && self.place.opens_device(|cpu| Ok(encoder.choose(cpu, &data.graphs)))?;
                (self.profiling.context(&self.place, device, Some("read"))?, lap())
            }
        };

        let started = Instant::now();
        // First, because it refuses more graphs and options.
        let structural = self.structural.encoded::<T>(&ctx, &data, self.drop_trivial)?;
        let template = "{bar:30} {pos}/{len} graphs, {per_sec}, {eta} to go";
        let bar = self.printing.bar(data.graphs.len(), template);
        let (encoding, report) =
            encode(&encoder, &ctx, &data.graphs, &mut |Progress { done, .. }| bar.set_position(done as u64))
                .inspect_err(|_| bar.abandon())?;
        bar.finish_and_clear();
        let encoded = started.elapsed().as_secs_f64();
        self.profiling.stage("encode");

        let started = Instant::now();
        let arrays =
            [fiedler::io::encoding_arrays(&encoding, data.node_ids.as_ref()), structural::arrays(structural.as_ref())];
        fiedler::io::write(&self.output, &arrays.concat())?;
        let wrote = started.elapsed().as_secs_f64();
        stores.done();
        self.profiling.stage("write");
        if !quiet {
            let seconds = [("open", opened), ("read", read), ("encode", encoded), ("write", wrote)];
            let facts = report::Facts::of(&data.graphs, &encoding);
            let done =
                report::Done { ctx: &ctx, data: &data, listed, report: &report, stores, seconds, facts, isolated };
            print(if json { done.as_json(self) } else { done.words(self) });
        }
        self.profiling.finish()?;
        let uncertified = encoding.uncertified() + structural.map_or(0, |structural| structural.uncertified());
        Ok(if uncertified == 0 { Outcome::Done } else { Outcome::Uncertified })
    }

    fn wants_smallest(&self) -> bool {
        matches!(self.which, End::Smallest)
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
        // A file may list an undirected edge once or twice. What happens to directed edges is decided by --symmetrize,
        // not by the preset.
        let others = preset.map(Preset::conventions).unwrap_or_default();
        Conventions { symmetrization, signed: self.signed, flows: self.charge.is_some(), ..others }
    }

    fn encoder(&self, stores: &Stores) -> SpectralEncoder {
        stores.all().fold(self.settings(), |encoder, store| encoder.cache(store.clone()))
    }

    /// Returns the encoder without a cache.
    fn settings(&self) -> SpectralEncoder {
        let encoder = SpectralEncoder::new(self.k);
        let encoder = self.charge.map_or(encoder.clone(), |charge| encoder.magnetic(charge));
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
}

/// Keeps only the largest component of each graph, and sets the ids of the nodes that are kept.
fn keep_largest(data: &mut DataSet) {
    let LargestComponents { graphs, nodes, .. } = data.graphs.largest_components();
    data.node_ids = Some(match data.node_ids.take() {
        Some(NodeIds::Integers(ids)) => NodeIds::Integers(nodes.iter().map(|&node| ids[node]).collect()),
        Some(NodeIds::Text(ids)) => NodeIds::Text(nodes.iter().map(|&node| ids[node].clone()).collect()),
        // If the file has no ids, nodes are numbered consecutively across the whole data set.
        None => NodeIds::Integers(nodes.iter().map(|&node| i64::try_from(node).unwrap_or(i64::MAX)).collect()),
    });
    data.graphs = graphs;
}
