//! `fiedler generate`: data sets made from a seed.

use super::{Failure, Outcome, print};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Write a data set made from a seed.
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
        #[arg(long, default_value_t = 1000)]
        graphs: usize,
        /// The seed: the same graphs for the same seed, everywhere.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The folder to make; it must not exist.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
}

impl Generate {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let Kind::Molecules { graphs, seed, output } = self.kind;
        let batch = fiedler::graph::molecules(graphs, seed)?;
        fiedler::io::write_tudataset(&output, &batch)?;
        print(format_args!(
            "{}: {} graphs, {} nodes, {} entries",
            output.display(),
            graphs,
            batch.nodes(),
            batch.entries()
        ));
        Ok(Outcome::Done)
    }
}
