//! `fiedler tournament`: which pairs of groups of bit strings can be told apart.

mod shown;

use super::outputs::{Overwriting, exists};
use super::printing::Printing;
use super::values::{counted, whole};
use super::{Failure, Outcome, Where, print};
use clap::{Args, Subcommand};
use fiedler::experiment::tournament::{BitStrings, C2st, GroupBy, Groups, Kl, OnPairs, Qgan, Tournament as Found};
use fiedler::{Context, Error};
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Compare all pairs of groups of bit strings, such as the devices that made them.
#[derive(Debug, Args)]
#[command(
    after_long_help = "DATA is lines of bits with a label, as `fiedler generate strings` writes them, or any data set \
of one layer of zeros and ones. Strings with the same label are a group; with --devices N, those whose line numbers have \
the same remainder by N.\n\
DIR receives pairs.csv (a row for each pair), report.json and report.md. Each report has the correlations of the scores \
with the differences of the shares of ones, and the p values of these."
)]
pub(super) struct Tournament {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// Divergences of the shares and joint shares of ones at 64 positions, and of histograms of the strings' means.
    Kl {
        #[command(flatten)]
        call: Call,
        /// The number of random relabelings for the p values; 0 for none.
        #[arg(long, value_name = "N", default_value_t = 999, value_parser = whole::<u64>)]
        permutations: u64,
    },
    /// How well an adversarial generator imitates the differences of the shares of ones, on a grid of 64 x 64.
    Qgan {
        #[command(flatten)]
        call: Call,
        /// The number of steps of a training; 1000 in the full form.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = counted)]
        steps: usize,
        /// The number of seeds of each pair; several show the noise of the score.
        #[arg(long, value_name = "R", default_value_t = 1, value_parser = counted)]
        repeats: usize,
    },
    /// The accuracy of a classifier that is trained on half of the strings to tell two groups apart.
    C2st {
        #[command(flatten)]
        call: Call,
        /// The number of seeds of each pair.
        #[arg(long, value_name = "R", default_value_t = 10, value_parser = counted)]
        repeats: usize,
        /// The number of epochs of a training.
        #[arg(long, value_name = "N", value_parser = counted)]
        epochs: Option<usize>,
        /// The units of a hidden layer; 0 for a logistic regression.
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<usize>)]
        hidden: usize,
    },
}

#[derive(Debug, Args)]
struct Call {
    /// The strings.
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// The folder to create, for pairs.csv, report.json and report.md.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Make N groups by the line number modulo N, as `fiedler generate strings --devices N` writes devices.
    #[arg(long, value_name = "N", value_parser = counted)]
    devices: Option<usize>,
    /// The first seed.
    #[arg(long, default_value_t = 42, value_parser = whole::<u64>)]
    seed: u64,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    printing: Printing,
}

impl Tournament {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        match self.kind {
            Kind::Kl { call, permutations } => {
                let kl = Kl::new().permutations(permutations).seed(call.seed);
                call.hold(|ctx, groups, told| kl.progress(told).run(ctx, groups))
            }
            Kind::Qgan { call, steps, repeats } => {
                let qgan = Qgan::new().steps(steps as u64).repeats(repeats).seed(call.seed);
                call.hold(|ctx, groups, told| qgan.progress(told).run(ctx, groups))
            }
            Kind::C2st { call, repeats, epochs, hidden } => {
                let c2st = C2st::new().repeats(repeats).hidden(hidden).seed(call.seed);
                let c2st = match epochs {
                    Some(epochs) => c2st.epochs(epochs as u64),
                    None => c2st,
                };
                call.hold(|ctx, groups, told| c2st.progress(told).run(ctx, groups))
            }
        }
    }
}

impl Call {
    /// Holds a tournament, and writes its files.
    fn hold(
        self,
        tournament: impl FnOnce(&Context, &Groups, OnPairs) -> Result<Found, Error>,
    ) -> Result<Outcome, Failure> {
        self.printing.begin();
        if self.place.insists() {
            let what = "expected the backend cpu or auto, found gpu: tournaments are computed on the CPU";
            return Err(Failure::Call(what.to_owned()));
        }
        self.overwriting.check(&self.output)?;
        if exists(&self.output) && !self.output.is_dir() {
            let shown = self.output.display();
            return Err(Failure::Call(format!("{shown}: expected a folder to write to, found a file")));
        }
        let ctx = self.place.with(Context::builder().device(false))?;
        let begun = Instant::now();
        let strings = BitStrings::open(&self.data)?;
        let by = match self.devices {
            Some(count) if !(2..=strings.len()).contains(&count) => {
                let what = format!("--devices: expected 2 to {}, the number of strings, found {count}", strings.len());
                return Err(Failure::Call(what));
            }
            Some(count) => GroupBy::Index(count),
            None => GroupBy::Class,
        };
        let groups = strings.groups(by)?;
        drop(strings);
        let bar =
            self.printing.bar(groups.len() * (groups.len() - 1) / 2, "{bar:20} {pos} of {len} pairs; to go: {eta}");
        let found = tournament(&ctx, &groups, on_pairs(bar.clone()));
        bar.finish_and_clear();
        let found = found?;
        fiedler::io::fill_folder(&self.output, |folder| found.write(folder))?;
        let seconds = begun.elapsed().as_secs_f64();
        if self.printing.json {
            print(shown::as_json(&found, seconds, &self.output));
        } else if !self.printing.quiet {
            print(shown::text(&found, seconds, &self.output));
        }
        let all = found.pairs.iter().enumerate().all(|(place, _)| found.value(found.score, place).is_some());
        Ok(if all { Outcome::Done } else { Outcome::Uncertified })
    }
}

/// Returns what shows the progress in a bar.
fn on_pairs(bar: ProgressBar) -> OnPairs {
    Arc::new(move |done, _| bar.set_position(done as u64))
}
