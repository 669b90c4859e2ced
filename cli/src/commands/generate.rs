//! `fiedler generate`: data sets and graphs, the same everywhere for the same words and seed.

use super::values::whole;
use super::{Failure, Outcome, check_place, complain, print};
use clap::{Args, Subcommand};
use fiedler::graph::generate::{self, BlockModel, Probability};
use fiedler::graph::spectra::Family;
use std::path::PathBuf;

/// Write a data set or a graph: made to a plan, or from a seed.
#[derive(Debug, Args)]
pub(super) struct Generate {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// Molecule-like graphs: connected, rings, at most four bonds an atom. Written as a TUDataset folder.
    Molecules {
        /// How many graphs.
        #[arg(long, default_value_t = 1000, value_parser = whole::<usize>)]
        graphs: usize,
        #[command(flatten)]
        seed: Seed,
        /// The folder to make; it must not exist.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Nodes in a line.
    Path(Nodes),
    /// Nodes in a ring.
    Cycle(Nodes),
    /// A grid of nodes.
    Grid(Sides),
    /// A grid whose opposite sides are joined.
    Torus(Sides),
    /// All words of DIMENSION bits, joined where they differ in one bit.
    Hypercube {
        /// Bits: 2^dimension nodes.
        #[arg(long, value_parser = whole::<u32>)]
        dimension: u32,
        #[command(flatten)]
        out: Out,
    },
    /// Every node joined to every other.
    Complete(Nodes),
    /// One node joined to every other.
    Star(Nodes),
    /// The stochastic block model: edges within blocks and between them at two rates.
    Blocks {
        /// How many blocks.
        #[arg(long, value_parser = whole::<usize>)]
        blocks: usize,
        /// Nodes of each.
        #[arg(long, value_parser = whole::<usize>)]
        size: usize,
        /// How likely an edge within a block is, such as 0.05 or 1/20.
        #[arg(long, value_name = "P")]
        within: Probability,
        /// How likely an edge between two blocks is.
        #[arg(long, value_name = "P")]
        between: Probability,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        out: Out,
    },
    /// Preferential attachment (Barabasi and Albert): new nodes link to those that have many links.
    Preferential {
        /// Nodes in all.
        #[arg(long, value_parser = whole::<usize>)]
        nodes: usize,
        /// Links of each new node.
        #[arg(long, value_parser = whole::<usize>)]
        links: usize,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        out: Out,
    },
    /// So many distinct edges, every graph of them as likely as any other.
    Uniform {
        /// Nodes.
        #[arg(long, value_parser = whole::<usize>)]
        nodes: usize,
        /// Edges.
        #[arg(long, value_parser = whole::<usize>)]
        edges: usize,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        out: Out,
    },
}

#[derive(Debug, Args)]
struct Nodes {
    /// Nodes.
    #[arg(long, value_parser = whole::<usize>)]
    nodes: usize,
    #[command(flatten)]
    out: Out,
}

#[derive(Debug, Args)]
struct Sides {
    /// Nodes from top to bottom.
    #[arg(long, value_parser = whole::<usize>)]
    rows: usize,
    /// Nodes from left to right.
    #[arg(long, value_parser = whole::<usize>)]
    columns: usize,
    #[command(flatten)]
    out: Out,
}

#[derive(Clone, Copy, Debug, Args)]
struct Seed {
    /// The seed: the same graphs for the same seed, everywhere.
    #[arg(long, default_value_t = 1, value_parser = whole::<u64>)]
    seed: u64,
}

#[derive(Debug, Args)]
struct Out {
    /// Where to: .txt, an edge list, or .mtx, MatrixMarket.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Generate {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        // A graph of a plan, or one from a seed: what it is, in the words of the call.
        let (out, graph, words) = match self.kind {
            Kind::Molecules { graphs, seed, output } => return molecules(graphs, seed, &output),
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
                "{shown}: {lost} nodes have no edge, so an edge list has no place for them; .mtx has"
            ));
        }
        print(format_args!("{shown}: 1 graphs, {} nodes, {} entries", view.nodes(), view.entries()));
        Ok(Outcome::Done)
    }
}

fn molecules(graphs: usize, Seed { seed }: Seed, output: &std::path::Path) -> Result<Outcome, Failure> {
    let batch = fiedler::graph::molecules(graphs, seed)?;
    fiedler::io::write_tudataset(output, &batch)?;
    let shown = output.display();
    print(format_args!("{shown}: {graphs} graphs, {} nodes, {} entries", batch.nodes(), batch.entries()));
    Ok(Outcome::Done)
}

/// The graph of a plan; the output is looked at first, for a graph may take long.
fn planned(out: Out, family: Family, words: String) -> Result<(Out, fiedler::graph::Graph, String), Failure> {
    out.check()?;
    Ok((out, family.graph()?, words))
}

impl Out {
    fn check(&self) -> Result<(), Failure> {
        check_place(&self.output, &["txt", "mtx"])
    }
}
