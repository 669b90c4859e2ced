//! `fiedler generate`: writes data sets and graphs. The same options and seed give the same output on every machine.

use super::outputs::{Told, exists};
use super::values::{counted, whole};
use super::{Failure, Outcome, complain, interrupt, many};
use clap::{Args, Subcommand, ValueEnum};
use fiedler::features::generate::{Digits, Series, Strings, Vectors};
use fiedler::graph::generate::{self, BlockModel, Probability};
use fiedler::graph::spectra::Family;
use fiedler::{Backend, Context};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Write a random data set, a random graph, or a graph of a fixed family.
#[derive(Debug, Args)]
pub(super) struct Generate {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// Molecule-like graphs: connected, with rings, at most four bonds per atom. Written as a TUDataset folder.
    Molecules {
        /// The number of graphs.
        #[arg(long, default_value_t = 1000, value_parser = whole::<usize>)]
        graphs: usize,
        #[command(flatten)]
        seed: Seed,
        /// The folder to create.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
        #[command(flatten)]
        told: Told,
    },
    /// Vectors as those of low-rank adapters: 128 layers of 320 to 1280 numbers for each sample, in classes.
    Vectors {
        /// The number of samples, which have 399 kB each.
        #[arg(long, value_parser = counted)]
        samples: usize,
        /// The number of classes.
        #[arg(long, default_value_t = 10, value_parser = counted)]
        classes: usize,
        /// The layers and the law.
        #[arg(long, value_enum, default_value_t = Preset::Lora)]
        preset: Preset,
        #[command(flatten)]
        seed: Seed,
        /// A file that ends in .safetensors or .npz, or a folder to create, with a file for each sample.
        #[arg(short, long, value_name = "FILE|DIR")]
        output: PathBuf,
        #[command(flatten)]
        told: Told,
    },
    /// Series of four laws: white noise, autoregression, a sine in noise, a random walk.
    Series {
        /// The number of series.
        #[arg(long, value_parser = counted)]
        samples: usize,
        /// The length of every series.
        #[arg(long, value_name = "L", value_parser = counted, required_unless_present = "lengths")]
        length: Option<usize>,
        /// The least and the greatest length, such as 100..500; written without labels.
        #[arg(long, value_name = "A..B", value_parser = range, conflicts_with = "length")]
        lengths: Option<RangeInclusive<usize>>,
        /// The number of classes; class 0 is white noise.
        #[arg(long, default_value_t = 4, value_parser = counted)]
        classes: usize,
        #[command(flatten)]
        seed: Seed,
        /// The file to write: .npz, .safetensors or .csv.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        #[command(flatten)]
        told: Told,
    },
    /// Strings of bits from simulated random number generators, each with its class, 1 to 3.
    Strings {
        /// The number of strings.
        #[arg(long, value_parser = counted)]
        samples: usize,
        /// The number of devices; device k has the class k mod 3 + 1.
        #[arg(long, value_name = "D", default_value_t = 3, value_parser = counted)]
        devices: usize,
        /// The number of bits of a string.
        #[arg(long, value_name = "L", default_value_t = 100, value_parser = counted)]
        length: usize,
        #[command(flatten)]
        seed: Seed,
        /// The file to write: .txt.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        #[command(flatten)]
        told: Told,
    },
    /// Images of drawn digits, 8 x 8 pixels each, in ten classes.
    Digits {
        /// The number of images.
        #[arg(long, value_parser = counted)]
        samples: usize,
        #[command(flatten)]
        seed: Seed,
        /// The file to write: .npz, .safetensors or .csv.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        #[command(flatten)]
        told: Told,
    },
    /// Nodes in a line.
    Path(Nodes),
    /// Nodes in a ring.
    Cycle(Nodes),
    /// A grid of nodes.
    Grid(Sides),
    /// A grid whose opposite sides are joined.
    Torus(Sides),
    /// All words of DIMENSION bits, joined if they differ in exactly one bit.
    Hypercube {
        /// The number of bits; the graph has 2^DIMENSION nodes.
        #[arg(long, value_parser = whole::<u32>)]
        dimension: u32,
        #[command(flatten)]
        out: Out,
    },
    /// Every node joined to every other node.
    Complete(Nodes),
    /// One node joined to every other node.
    Star(Nodes),
    /// The stochastic block model: edges within blocks with one probability, between blocks with another.
    Blocks {
        /// The number of blocks.
        #[arg(long, value_parser = whole::<usize>)]
        blocks: usize,
        /// The number of nodes in each block.
        #[arg(long, value_parser = whole::<usize>)]
        size: usize,
        /// The probability of an edge within a block, such as 0.05 or 1/20.
        #[arg(long, value_name = "P")]
        within: Probability,
        /// The probability of an edge between two blocks.
        #[arg(long, value_name = "P")]
        between: Probability,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        out: Out,
    },
    /// Preferential attachment (Barabasi and Albert): new nodes prefer links to nodes that have many links.
    Preferential {
        /// The number of nodes.
        #[arg(long, value_parser = whole::<usize>)]
        nodes: usize,
        /// The number of links of each new node.
        #[arg(long, value_parser = whole::<usize>)]
        links: usize,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        out: Out,
    },
    /// A graph drawn uniformly from all graphs with the given numbers of nodes and edges.
    Uniform {
        /// The number of nodes.
        #[arg(long, value_parser = whole::<usize>)]
        nodes: usize,
        /// The number of distinct edges.
        #[arg(long, value_parser = whole::<usize>)]
        edges: usize,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        out: Out,
    },
}

/// The vectors that can be generated.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Preset {
    /// Adapters of rank 1 for Stable Diffusion 1.5.
    Lora,
}

#[derive(Debug, Args)]
struct Nodes {
    /// The number of nodes.
    #[arg(long, value_parser = whole::<usize>)]
    nodes: usize,
    #[command(flatten)]
    out: Out,
}

#[derive(Debug, Args)]
struct Sides {
    /// The number of nodes from top to bottom.
    #[arg(long, value_parser = whole::<usize>)]
    rows: usize,
    /// The number of nodes from left to right.
    #[arg(long, value_parser = whole::<usize>)]
    columns: usize,
    #[command(flatten)]
    out: Out,
}

#[derive(Clone, Copy, Debug, Args)]
struct Seed {
    /// The seed; the same seed gives the same output on every machine.
    #[arg(long, default_value_t = 1, value_parser = whole::<u64>)]
    seed: u64,
}

#[derive(Debug, Args)]
struct Out {
    /// The file to write: .txt for an edge list, .mtx for MatrixMarket.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    told: Told,
}

impl Generate {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        // `graph` is a graph of a fixed family or a random graph. `words` repeats the options of the call for the
        // file's header.
        let (out, graph, words) = match self.kind {
            Kind::Molecules { graphs, seed, output, told } => return molecules(graphs, seed, &output, told),
            Kind::Vectors { samples, classes, preset: Preset::Lora, seed, output, told } => {
                return vectors(samples, classes, seed, &output, told);
            }
            Kind::Series { samples, length, lengths, classes, seed, output, told } => {
                let lengths = lengths.or(length.map(|length| length..=length)).unwrap_or(1..=1);
                return series(samples, (lengths, classes), seed, &output, told);
            }
            Kind::Strings { samples, devices, length, seed: Seed { seed }, output, told } => {
                told.overwriting.check_place(&output, &["txt"])?;
                Strings::new(samples, devices, length, seed)?.write(&threads()?, &output)?;
                let (samples, devices) = (many(samples, "string", "strings"), many(devices, "device", "devices"));
                told.say(&output, format_args!("{samples} of {length} bits from {devices}"));
                return Ok(Outcome::Done);
            }
            Kind::Digits { samples, seed: Seed { seed }, output, told } => {
                told.overwriting.check_place(&output, &["npz", "safetensors", "csv"])?;
                Digits::new(samples, seed)?.write(&threads()?, &output)?;
                told.say(&output, format_args!("{} of 8 x 8 pixels", many(samples, "image", "images")));
                return Ok(Outcome::Done);
            }
            Kind::Path(Nodes { nodes, out }) => planned(out, Family::Path { nodes }, format!("path --nodes {nodes}"))?,
            Kind::Cycle(Nodes { nodes, out }) => {
                planned(out, Family::Cycle { nodes }, format!("cycle --nodes {nodes}"))?
            }
            Kind::Complete(Nodes { nodes, out }) => {
                planned(out, Family::Complete { nodes }, format!("complete --nodes {nodes}"))?
            }
            Kind::Star(Nodes { nodes, out }) => planned(out, Family::Star { nodes }, format!("star --nodes {nodes}"))?,
            Kind::Grid(Sides { rows, columns, out }) => {
                planned(out, Family::Grid { rows, columns }, format!("grid --rows {rows} --columns {columns}"))?
            }
            Kind::Torus(Sides { rows, columns, out }) => {
                planned(out, Family::Torus { rows, columns }, format!("torus --rows {rows} --columns {columns}"))?
            }
            Kind::Hypercube { dimension, out } => {
                planned(out, Family::Hypercube { dimension }, format!("hypercube --dimension {dimension}"))?
            }
            Kind::Blocks { blocks, size, within, between, seed: Seed { seed }, out } => {
                out.check()?;
                let graph = generate::block_model(BlockModel { blocks, size, within, between }, seed)?;
                let plan = format!("blocks --blocks {blocks} --size {size} --within {within} --between {between}");
                (out, graph, format!("{plan} --seed {seed}"))
            }
            Kind::Preferential { nodes, links, seed: Seed { seed }, out } => {
                out.check()?;
                let graph = generate::preferential_attachment(nodes, links, seed)?;
                (out, graph, format!("preferential --nodes {nodes} --links {links} --seed {seed}"))
            }
            Kind::Uniform { nodes, edges, seed: Seed { seed }, out } => {
                out.check()?;
                let graph = generate::uniform(nodes, edges, seed)?;
                (out, graph, format!("uniform --nodes {nodes} --edges {edges} --seed {seed}"))
            }
        };
        let view = graph.view();
        let lost = fiedler::io::write_graph(&out.output, view, &format!("fiedler generate {words}"))?;
        let shown = out.output.display();
        if lost > 0 {
            complain(&format_args!(
                "{shown}: {lost} nodes have no edge, and an edge list cannot hold them; an .mtx file can"
            ));
        }
        out.told.say(&out.output, format_args!("1 graph, {} nodes, {} entries", view.nodes(), view.entries()));
        Ok(Outcome::Done)
    }
}

fn molecules(graphs: usize, Seed { seed }: Seed, output: &Path, told: Told) -> Result<Outcome, Failure> {
    told.overwriting.check(output)?;
    let batch = fiedler::graph::molecules(graphs, seed)?;
    fiedler::io::fill_folder(output, |folder| fiedler::io::write_tudataset(folder, &batch))?;
    told.say(output, format_args!("{graphs} graphs, {} nodes, {} entries", batch.nodes(), batch.entries()));
    Ok(Outcome::Done)
}

fn vectors(samples: usize, classes: usize, Seed { seed }: Seed, output: &Path, told: Told) -> Result<Outcome, Failure> {
    if output.extension().is_some() {
        told.overwriting.check_place(output, &["safetensors", "npz"])?;
    } else if exists(output) {
        let what = "it exists already; a folder of samples is not replaced, because those of two calls would be mixed";
        return Err(Failure::Call(format!("{}: {what}", output.display())));
    }
    let vectors = Vectors::new(samples, classes, seed)?;
    vectors.write(&threads()?, output)?;
    let (samples, layers) = (many(samples, "sample", "samples"), vectors.layers());
    let numbers: usize = layers.iter().map(|layer| layer.numbers).sum();
    let classes = many(classes, "class", "classes");
    told.say(output, format_args!("{samples} of {} layers, {numbers} numbers, in {classes}", layers.len()));
    Ok(Outcome::Done)
}

fn series(
    samples: usize,
    (lengths, classes): (RangeInclusive<usize>, usize),
    Seed { seed }: Seed,
    output: &Path,
    told: Told,
) -> Result<Outcome, Failure> {
    let (least, most) = (*lengths.start(), *lengths.end());
    told.overwriting.check_place(output, if least < most { &["csv"] } else { &["npz", "safetensors", "csv"] })?;
    Series::new(samples, classes, lengths, seed)?.write(&threads()?, output)?;
    let length = if least < most { format!("{least} to {most}") } else { least.to_string() };
    let classes = many(classes, "class", "classes");
    told.say(output, format_args!("{samples} series of {length} numbers in {classes}"));
    Ok(Outcome::Done)
}

/// Returns the threads that the environment asks for, without a device.
fn threads() -> Result<Context, Failure> {
    let builder = Context::builder().cancel(interrupt::cancel()).environment();
    Ok(builder.map_err(|error| Failure::Call(error.to_string()))?.backend(Backend::Cpu).device(false).build()?)
}

/// Parses a range of lengths, such as 100..500. Both ends belong to it.
fn range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (least, most) = text.split_once("..").ok_or("expected two lengths, such as 100..500")?;
    let (least, most) = (counted(least)?, counted(most)?);
    if least > most {
        return Err("expected the lesser length first".to_owned());
    }
    Ok(least..=most)
}

/// Makes a graph of a fixed family. Checks first that the output can be written, because making a large graph may take
/// long.
fn planned(out: Out, family: Family, words: String) -> Result<(Out, fiedler::graph::Graph, String), Failure> {
    out.check()?;
    Ok((out, family.graph()?, words))
}

impl Out {
    fn check(&self) -> Result<(), Failure> {
        self.told.overwriting.check_place(&self.output, &["txt", "mtx"])
    }
}
