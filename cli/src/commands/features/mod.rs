//! `fiedler features`: computes representations of every sample of a data set.

mod explain;
mod list;
mod made;
mod source;
mod steps;

pub(super) use explain::Computed;

use self::source::Source;
use super::columns::{self, Columns};
use super::outputs::Overwriting;
use super::printing::Printing;
use super::reading::Reading;
use super::stores::{Stores, Storing};
use super::values::finite;
use super::{Failure, Outcome, Where, complain, many, print};
use clap::Args;
use fiedler::Error;
use fiedler::features::{Progress, Report, Representation, Step, Steps};
use fiedler::io::{self, Findings, LabelColumn, Roles, RowTable};
use fiedler::ops::series::Status;
use indicatif::ProgressBar;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The names of the numbers in `status`.
const STATUS: [&str; 4] = ["ok", "undefined", "overflow", "not_finite"];

/// Compute representations of every sample of a data set: moments, quantiles, spectra and others.
#[derive(Debug, Args)]
#[command(
    after_long_help = "INPUT: .npy, .npz or .safetensors, whose arrays (samples, numbers) or (samples, rows, columns) are \
the layers; several such files, a folder of them or a pattern, if every file is a sample; a table (CSV, TSV, white \
space), or lines of bits, perhaps with a label. For representations of the kind graph, INPUT is what `fiedler encode` \
reads: a TUDataset folder, whose graphs are the samples and whose graph labels are the labels, or another data set \
of graphs.\n\
OUT receives the arrays features (samples, columns), status, labels, ids and names, or, as .csv, a column for each \
feature and the label. As .npy, it has the features column by column, so that numpy.load(OUT, mmap_mode='r') reads some \
columns without the others, and the other arrays are in OUT.rows.npz. Beside it, OUT.features.json says what every column is.\n\
Status: 0 ok; 1 columns that are not defined for the sample are NaN; 2 columns beyond the range of f32 are infinite; \
3 the sample has a NaN or an infinity, and all its columns are NaN.\n\
A histogram with range=\"fitted\" takes its edges from the samples of --fit-rows: the least and the greatest number of \
each layer. --fit FILE keeps them, and --transform FILE uses them."
)]
pub(super) struct Features {
    /// The data set: one file, or several, of which each is a sample; or graphs.
    #[arg(value_name = "INPUT", required_unless_present = "list")]
    inputs: Vec<PathBuf>,
    /// The file to write: .npz, .safetensors, .npy or .csv.
    #[arg(short, long, value_name = "OUT", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// What to compute: names that --list shows, kinds with parameters such as 'quantiles(q=[0.1, 0.9])', and files of
    /// definitions (.toml, .json), separated by commas. Quotes around the name of a file keep its commas.
    #[arg(long, value_name = "LIST", default_value = "core33")]
    representations: String,
    /// Only the layers whose names match, such as 'attn1*'; * stands for any letters.
    #[arg(long, value_name = "PATTERN,..", value_delimiter = ',')]
    layers: Vec<String>,
    /// The column or array that has the labels or values of the samples [default: the one named y, label, labels,
    /// class, target, targets, species, variety, diagnosis or outcome; then the last column of a table, or the first,
    /// if it alone has words or whole numbers that repeat]. The report says which it was.
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Take all columns and arrays as numbers of the samples, none as labels.
    #[arg(long, conflicts_with = "label")]
    no_labels: bool,
    #[command(flatten)]
    columns: Columns,
    /// What to write instead of NaN where a column is not defined, or the sample itself has a NaN.
    #[arg(long, value_name = "X", value_parser = finite)]
    undefined: Option<f64>,
    /// Steps to fit to the samples, in the given order, each to what those before it make: zscore, pca=K. With --fit.
    #[arg(long, value_name = "STEP,..", value_delimiter = ',', requires = "fit")]
    steps: Vec<Step>,
    /// Fit the steps, and the edges of histograms with range="fitted", to the samples, write their parameters to FILE
    /// (.safetensors), and apply them.
    #[arg(long, value_name = "FILE", conflicts_with = "transform")]
    fit: Option<PathBuf>,
    /// The samples to fit to, such as 0..700; the last is left out [default: all].
    #[arg(long, value_name = "FIRST..END", requires = "fit", value_parser = rows)]
    fit_rows: Option<Range<usize>>,
    /// Apply the steps and the edges of a file that --fit wrote.
    #[arg(long, value_name = "FILE")]
    transform: Option<PathBuf>,
    /// Show every kind of column with its formula, and every preset.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    storing: Storing,
    #[command(flatten)]
    printing: Printing,
}

impl Features {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        if self.list {
            print(list::list()?);
            return Ok(Outcome::Done);
        }
        let Some(output) = &self.output else { return Err(Failure::Call("expected --output".to_owned())) };
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        let about = beside(output);
        let rows = output.extension().is_some_and(|ending| ending == "npy").then(|| RowTable::beside(output));
        let all: Vec<&Path> = [Some(output), Some(&about), rows.as_ref(), self.fit.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        let representations = Representation::parse_list(&self.representations);
        let representations =
            representations.map_err(|error| Failure::Call(format!("--representations: {}", plain(&error))))?;
        if self.storing.is_finished(self.overwriting, &all) {
            let found = made::check(output, &about, &representations)?;
            let (source, _stores) = Source::open(&self, output, representations.clone())?;
            made::check_data(output, &self.asked(&source)?, &found)?;
        }
        if self.storing.finished(self.overwriting, self.printing, &all) {
            return Ok(Outcome::Done);
        }
        self.overwriting.check_output(output, &inputs, &["npz", "safetensors", "npy", "csv"])?;
        for path in [Some(&about), rows.as_ref()].into_iter().flatten() {
            self.overwriting.check(path)?;
        }
        if let Some(fit) = &self.fit {
            self.overwriting.check_place(fit, &["safetensors"]).map_err(|failure| failure.of("--fit"))?;
        }
        if self.fit.as_ref() == Some(output) {
            return Err(Failure::Call(format!("--fit {0}: expected another file than the output", output.display())));
        }
        self.printing.begin();
        let began = Instant::now();
        let (mut source, stores) = Source::open(&self, output, representations)?;
        let names = source.names(&self.place)?;
        let (ctx, place) = source.context(&self.place)?;
        let bar = self.printing.bar(source.len(), "{bar:20} {pos} of {len} samples; {msg}; to go: {eta}");
        source.prepare(&ctx, &bar)?;
        let steps = self.fitted(&ctx, &mut source, &names)?;
        let names = steps.as_ref().map_or(names, Steps::names);
        let samples = source.len();
        let parts = source.findings().and_then(|findings| findings.parts);
        let table = RowTable { samples, columns: &names, targets: source.targets(), ids: source.ids(), parts };
        let mut report = Report::default();
        table.write(output, |take| {
            report = source.stream(&ctx, Some((&bar, began)), |values, status| {
                let status: Vec<u8> = status.iter().map(|&status| status as u8).collect();
                let mut values = Cow::Borrowed(values);
                if let Some(steps) = steps.as_ref().filter(|steps| !steps.is_empty()) {
                    values = steps.transform(&ctx, &values)?.into();
                }
                if let Some(number) = self.undefined {
                    values.to_mut().iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = narrow(number));
                }
                take(&values, &status)
            })?;
            Ok(())
        })?;
        bar.finish_and_clear();
        // Not before the columns are complete, so that a call that fails leaves nothing.
        if let (Some(path), Some(steps)) = (&self.fit, &steps) {
            steps.write(path)?;
        }
        let mut description = source.description(&ctx, &names, report)?;
        description["side"] = place.as_deref().unwrap_or("cpu").into();
        if let Some(steps) = steps.as_ref().filter(|steps| !steps.is_empty()) {
            // The columns are those that the steps read; the file has those that they made.
            description["steps"] = serde_json::json!({"of": steps.columns(), "made": names});
        }
        io::write_text(&about, &format!("{description:#}\n"))?;
        stores.done();
        let (adapter, seconds) = (place.as_deref(), began.elapsed().as_secs_f64());
        self.tell(&Told { output, source: &source, columns: names.len(), report, stores: &stores, adapter, seconds });
        Ok(if report.uncertified == 0 { Outcome::Done } else { Outcome::Uncertified })
    }

    /// Returns what the description of an output of this call would say of the data set, the columns and the steps.
    fn asked(&self, source: &Source) -> Result<serde_json::Value, Failure> {
        let names = source.names(&self.place)?;
        let columns: Vec<_> = names.iter().map(|name| serde_json::json!({"name": name})).collect();
        let mut asked = serde_json::json!({"columns": columns});
        source.add_data(&mut asked);
        // The file of --transform may have edges and no steps.
        if self.transform.is_none() {
            asked["steps"] = (self.fit.is_some() && !self.steps.is_empty()).into();
        }
        Ok(asked)
    }

    fn roles(&self) -> Roles<'_> {
        let roles = self.columns.roles(self.label.as_deref());
        if self.no_labels { Roles { label: LabelColumn::None, ..roles } } else { roles }
    }

    fn tell(&self, told: &Told<'_>) {
        let Told { output, source, columns, report, stores, adapter, seconds } = *told;
        let [ok, undefined, overflow, not_finite] = report.status;
        if self.printing.json {
            let status: serde_json::Map<_, _> =
                STATUS.iter().zip(report.status).map(|(name, count)| ((*name).to_owned(), count.into())).collect();
            print(serde_json::json!({
                "output": output, "samples": source.len(), "layers": source.layers(), "columns": columns,
                "status": status, "bytes": report.bytes, "seconds": seconds, "blocks": stores.as_json(),
                "units": {"found": report.units[0], "computed": report.units[1]}, "targets": source.targets_as_json(),
                "inputs": source.inputs(), "data": source.findings().map(columns::as_json), "side": adapter.unwrap_or("cpu"), "not_converged": report.uncertified,
            }));
            return;
        }
        if self.printing.quiet {
            return;
        }
        let samples = many(source.len(), "sample", "samples");
        let found = stores.words();
        let found = found.strip_suffix("; ").map_or_else(String::new, |found| format!("; {found}"));
        let columns = many(columns, "column", "columns");
        let (shown, targets) = (output.display(), source.targets_in_words());
        let place = adapter.map_or_else(String::new, |name| format!(" on {name}"));
        let inputs = source.inputs();
        let inputs = inputs.map_or_else(String::new, |inputs| format!(" of {}", many(inputs, "input", "inputs")));
        let found_out = source.findings().into_iter().flat_map(Findings::notes);
        let divided = source.findings().is_some_and(|findings| findings.parts.is_some());
        let lost = divided && output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        let lost = lost.then(|| "a .csv file does not keep these parts, as .npz does".to_owned());
        let notes = found_out.chain(lost).chain(source.isolated_in_words());
        let notes: String = notes.map(|note| format!("; {note}")).collect();
        print(format_args!("{shown}: {samples}{inputs}, {columns}, {targets}, {seconds:.2} s{place}{found}{notes}"));
        if ok < source.len() {
            let said = [
                (undefined, "with undefined columns"),
                (overflow, "beyond f32"),
                (not_finite, "with a NaN or an infinity"),
                (report.uncertified, "with eigenvalues that did not converge"),
            ];
            let said: Vec<String> =
                said.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
            complain(&format_args!("of {samples}, {}; `status` says which", said.join(", ")));
        }
    }
}

/// What the report tells.
struct Told<'a> {
    output: &'a Path,
    source: &'a Source,
    columns: usize,
    report: Report,
    stores: &'a Stores,
    /// The name of the adapter, if a device computed.
    adapter: Option<&'a str>,
    seconds: f64,
}

/// Parses a range of rows.
fn rows(text: &str) -> Result<Range<usize>, String> {
    let parsed = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    parsed.ok_or_else(|| "expected rows such as 0..700".to_owned())
}

/// Returns the path of the description of a file.
fn beside(output: &Path) -> PathBuf {
    output.with_extension("features.json")
}

/// Returns the message without the name of the operation, which is that of the command.
fn plain(error: &Error) -> String {
    let shown = error.to_string();
    shown.strip_prefix("features: ").unwrap_or(&shown).to_owned()
}

#[expect(clippy::cast_possible_truncation, reason = "columns are stored in f32")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Adds to the description of the columns what else the file is.
fn with_facts(about: &mut serde_json::Value, samples: usize, names: &[String], report: Report) {
    about["shape"] = vec![samples, names.len()].into();
    let meanings = [Status::Ok, Status::Undefined, Status::Overflow, Status::NotFinite];
    let status = meanings.iter().map(|&status| {
        serde_json::json!({"status": status as u8, "name": STATUS[status as usize], "samples": report.status[status as usize]})
    });
    about["status"] = status.collect::<Vec<_>>().into();
    about["version"] = env!("CARGO_PKG_VERSION").into();
}

#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
fn show(bar: &ProgressBar, progress: Progress, began: Instant) {
    let seconds = began.elapsed().as_secs_f64();
    bar.set_position(progress.samples as u64);
    bar.set_message(format!("{:.0} MB a second", progress.bytes as f64 / 1e6 / seconds));
}
