//! The commands, one file each, and the items that they share: the options for the backend, exit codes and errors.

mod bench;
mod columns;
mod doctor;
mod encode;
mod experiment;
mod explain;
mod features;
mod generate;
mod interrupt;
mod outputs;
mod packaging;
mod predict;
mod printing;
mod profile;
mod reading;
mod run;
mod stores;
mod tournament;
mod train;
mod tune;
mod values;

use clap::{Args, Command as Words, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use fiedler::policy::Choice;
use fiedler::{Backend, Context, ContextBuilder, Error, ErrorKind};
use std::ffi::OsString;

/// Laplacian encodings of graphs and batched linear algebra, on any GPU and on the CPU, each result with its
/// certificate.
#[derive(Debug, Parser)]
#[command(
    name = "fiedler",
    version,
    after_help = "Exit status: 0 done; 1 failed; 2 wrong call; 3 done, but some matrices did not converge or some runs diverged; 130 \
interrupted by Ctrl-C; 143 and 129 ended by SIGTERM and SIGHUP.\nEnvironment: FIEDLER_BACKEND, FIEDLER_ADAPTER, FIEDLER_THREADS, FIEDLER_MEMORY_BUDGET (such as \
512M), FIEDLER_CACHE_DIR, FIEDLER_CACHE_BYTES (1G by default; 0 stores nothing), FIEDLER_SOFTWARE_AS_GPU (1 weighs a \
software adapter as if it were a GPU), RUST_LOG."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compute k eigenpairs of the Laplacian of every graph of a data set.
    Encode(encode::Encode),
    /// Run one operation on a stored array (.npy), as NumPy would.
    Run(run::Run),
    /// Show the adapters of this machine, what would be chosen, what is wrong and what to do.
    ///
    /// Kernels are tested on problems with known answers, and speed is measured. The exit status is 1 if anything is
    /// wrong; having no GPU is not wrong.
    Doctor(doctor::Doctor),
    /// Measure this machine once; from then on `auto` chooses by these measurements.
    Tune(tune::Tune),
    /// Say where a workload would run, how long it would take, and why.
    Explain(explain::Explain),
    /// Measure operations on the CPU and on the adapter, and compare them with the predictions.
    Bench(bench::Bench),
    /// Train many small networks at once, one for each seed and each value of a grid.
    Train(Box<train::Train>),
    /// Predict with networks that `fiedler train` trained.
    Predict(predict::Predict),
    /// Compute representations of every sample of a data set: moments, quantiles, spectra and others.
    Features(features::Features),
    /// Run an experiment that a file describes: features, a grid of trainings, statistics, a report.
    Experiment(experiment::Experiment),
    /// Compare all pairs of groups of bit strings: divergences, adversarial networks, or classifiers.
    Tournament(tournament::Tournament),
    /// Write a random data set, a random graph, or a graph of a fixed family.
    Generate(generate::Generate),
    /// Print what makes a shell complete the arguments of `fiedler`.
    Completions(packaging::Completions),
    /// Write the man pages: one for `fiedler`, and one for each subcommand.
    Man(packaging::Man),
}

/// `auto` looks for an adapter only if the predicted CPU time, in seconds, is at least this. Finding and opening an
/// adapter and compiling its first kernels takes between 0.1 s (two software adapters, 2026-11-22) and a second.
const WORTH_OPENING: f64 = 0.5;

/// The largest thread count accepted. No machine has more cores, so a larger number is a typing error.
const MOST_THREADS: usize = 4096;

/// The reason that is reported when an f64 call runs on the CPU although the call does not ask for the CPU.
const IN_F64: &str = "f64 is computed there";

/// Where to compute.
#[derive(Clone, Debug, Args)]
struct Where {
    /// Where to compute: auto, gpu or cpu.
    #[arg(long, value_name = "BACKEND")]
    backend: Option<Backend>,
    /// The adapter whose name or driver contains NAME; software adapters are used only when named. NAME#1 is the second
    /// match, and pci:0000:41:00.0 is the adapter at that PCI address.
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// The number of CPU threads. It affects results only if it changes the side that auto chooses [default: one per
    /// core].
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,
}

impl Where {
    /// Returns the options as arguments for another process of this program.
    fn arguments(&self) -> Vec<String> {
        let name = |backend| match backend {
            Backend::Auto => "auto",
            Backend::Gpu => "gpu",
            Backend::Cpu => "cpu",
        };
        let backend = self.backend.map(|backend| ["--backend".to_owned(), name(backend).to_owned()]);
        let adapter = self.adapter.clone().map(|name| ["--adapter".to_owned(), name]);
        let threads = self.threads.map(|count| ["--threads".to_owned(), count.to_string()]);
        [backend, adapter, threads].into_iter().flatten().flatten().collect()
    }

    /// Opens the context that the options and the environment ask for. Options take precedence.
    fn context(&self) -> Result<Context, Failure> {
        self.with(Context::builder())
    }

    /// Returns the backend that the options ask for. Without such an option, the environment decides.
    fn backend(&self) -> Backend {
        let said = || std::env::var("FIEDLER_BACKEND").ok().and_then(|text| text.parse().ok());
        self.backend.or_else(said).unwrap_or_default()
    }

    /// Returns whether the options or the environment name an adapter, or a backend other than auto. If they do, the
    /// command does not predict whether opening a device pays.
    fn is_said(&self) -> bool {
        self.backend() != Backend::Auto || self.adapter().is_some()
    }

    /// Returns whether the call asks for `--backend gpu`.
    fn insists(&self) -> bool {
        self.backend() == Backend::Gpu
    }

    /// Returns whether to open a device. The answer is yes if the call says where to compute, or if the CPU alone would
    /// take at least [`WORTH_OPENING`].
    fn opens_device(&self, choose: impl FnOnce(&Context) -> Result<Choice, Error>) -> Result<bool, Failure> {
        if self.is_said() {
            return Ok(true);
        }
        let cpu = self.with(Context::builder().device(false))?;
        Ok(choose(&cpu)?.cpu_seconds >= WORTH_OPENING)
    }

    /// Returns the adapter name in the options. Without such an option, returns the name in the environment.
    fn adapter(&self) -> Option<String> {
        self.adapter.clone().or_else(|| std::env::var("FIEDLER_ADAPTER").ok()).filter(|name| !name.is_empty())
    }

    /// Opens a context with the settings of `builder` and with those that the options and the environment ask for.
    /// Options take precedence.
    fn with(&self, mut builder: ContextBuilder) -> Result<Context, Failure> {
        if let (Some(Backend::Cpu), Some(name)) = (self.backend, &self.adapter) {
            return Err(Failure::Call(format!(
                "--adapter {name}: expected --backend gpu or auto, found --backend cpu"
            )));
        }
        if let Some(name) = &self.adapter {
            builder = builder.adapter(name);
        }
        if let Some(backend) = self.backend {
            builder = builder.backend(backend);
        }
        if let Some(threads) = self.threads {
            builder = builder.threads(threads);
        }
        builder = builder.cancel(interrupt::cancel());
        // An invalid environment variable is reported as a wrong call.
        let builder = builder.environment().map_err(|error| Failure::Call(error.to_string()))?;
        Ok(builder.build()?)
    }
}

/// How a command ended.
enum Outcome {
    Done,
    /// Some matrices do not have the status `Converged`.
    Uncertified,
}

/// The reason why a command failed.
enum Failure {
    /// The call itself is wrong.
    Call(String),
    Failed(Error),
    /// The command failed, and the message is already complete.
    Said(String),
}

impl Failure {
    /// Returns a wrong call for an option that does not fit the size of the data.
    fn into_call(self) -> Self {
        match self {
            Self::Failed(error) if matches!(error.kind(), ErrorKind::Domain { .. }) => Self::Call(error.to_string()),
            other => other,
        }
    }

    /// Returns the same failure, in which the name that the user typed for the operation replaces the library's name.
    /// Because the call supplies the shapes, an error about a shape is reported as a wrong call.
    fn of(self, operation: &str) -> Self {
        match self {
            Self::Call(message) => Self::Call(format!("{operation}: {message}")),
            Self::Said(message) => Self::Said(format!("{operation}: {message}")),
            Self::Failed(error) => match error.kind() {
                ErrorKind::Cancelled => Self::Failed(error),
                ErrorKind::Shape { expected, found, .. } => {
                    Self::Call(format!("{operation}: expected {expected}, found {found}"))
                }
                ErrorKind::Domain { what, .. } => Self::Said(format!("{operation}: {what}")),
                _ => Self::Said(format!("{operation}: {error}")),
            },
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs the command that `arguments` name, of which the first is the name of the program. Returns the exit status: 0
/// done; 1 failed; 2 wrong call; 3 done, but some matrices do not have the status `Converged`; 128 and the number of a
/// signal that ended the call.
#[must_use]
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match parsed(arguments) {
        Ok(command) => command,
        Err(error) => {
            // As with other output, a closed pipe is not a failure.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    interrupt::listen();
    let outcome = match command {
        Command::Encode(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Tune(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Train(command) => command.run(),
        Command::Predict(command) => command.run(),
        Command::Features(command) => command.run(),
        Command::Experiment(command) => command.run(),
        Command::Tournament(command) => command.run(),
        Command::Generate(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match outcome {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Uncertified) => 3,
        Err(Failure::Call(message)) => {
            complain(&message);
            2
        }
        Err(Failure::Failed(error)) if error.is_cancelled() => interrupt::tell(),
        Err(Failure::Failed(error)) => {
            complain(&error);
            1
        }
        Err(Failure::Said(message)) => {
            complain(&message);
            1
        }
    }
}

/// Parses the arguments, of which the first is the name of the program.
fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    Ok(Cli::from_arg_matches(&words().try_get_matches_from(arguments)?)?.command)
}

/// Returns whether there is a call with these arguments.
pub(crate) fn accepts(arguments: impl IntoIterator<Item = OsString>) -> bool {
    parsed(arguments).is_ok()
}

/// Returns the definition of the command line.
fn words() -> Words {
    negative_values(Cli::command())
}

/// Makes every option that takes a value accept -1 as the value, even if -1 is not valid. Otherwise clap would treat -1
/// as an option, and its error message would mislead.
fn negative_values(words: Words) -> Words {
    words
        .mut_args(|arg| {
            let option = !arg.is_positional() && arg.get_action().takes_values();
            if option { arg.allow_negative_numbers(true) } else { arg }
        })
        .mut_subcommands(negative_values)
}

/// Parses a number of threads.
fn threads(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST_THREADS).contains(count));
    count.ok_or_else(|| format!("expected 1 to {MOST_THREADS} threads"))
}

/// Formats a count with the noun in the singular or the plural.
fn many(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Prints to standard output and ignores errors, so that a closed pipe is not a failure.
fn print(text: impl std::fmt::Display) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a report to standard error, because standard output has the results.
fn print_beside(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a message to standard error. If printing fails, only the exit code tells of the failure.
fn complain(reason: &dyn std::fmt::Display) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "fiedler: {reason}");
}
