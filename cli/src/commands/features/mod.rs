//! `fiedler features`: computes representations of every sample of a data set.

mod explain;
mod list;

pub(super) use explain::Computed;

use super::printing::Printing;
use super::stores::{Form, Stores, Storing};
use super::values::finite;
use super::{Failure, Outcome, Where, check_output, check_place, complain, many, print};
use clap::Args;
use fiedler::features::{Extractor, Progress, Report, Representation, Step, Steps};
use fiedler::io::{self, LabelColumn, Layers, RowTable, TableTargets, TargetOrigin};
use fiedler::ops::series::Status;
use fiedler::policy::Side;
use fiedler::{Context, Error};
use indicatif::ProgressBar;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The names of the numbers in `status`.
const STATUS: [&str; 4] = ["ok", "undefined", "overflow", "not_finite"];

/// Compute representations of every sample of a data set: moments, quantiles, spectra and others.
#[derive(Debug, Args)]
#[command(
    after_long_help = "INPUT: .npy, .npz or .safetensors, whose arrays (samples, numbers) or (samples, rows, columns) are \
the layers; several such files, a folder of them or a pattern, if every file is a sample; a table (CSV, TSV, white \
space), or lines of bits, perhaps with a label.\n\
OUT receives the arrays features (samples, columns), status, labels, ids and names, or, as .csv, a column for each \
feature and the label. Beside it, OUT.features.json says what every column is.\n\
Status: 0 ok; 1 columns that are not defined for the sample are NaN; 2 columns beyond the range of f32 are infinite; \
3 the sample has a NaN or an infinity, and all its columns are NaN."
)]
pub(super) struct Features {
    /// The data set: one file, or several, of which each is a sample.
    #[arg(value_name = "INPUT", required_unless_present = "list")]
    inputs: Vec<PathBuf>,
    /// The file to write: .npz, .safetensors or .csv. It must not exist yet.
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
    /// target or targets, or class in a table; then the last column of a table, if it has no numbers, or only integers
    /// with at least two samples of each on average]. The report says which it was.
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Take all columns and arrays as numbers of the samples, none as labels.
    #[arg(long, conflicts_with = "label")]
    no_labels: bool,
    /// What to write instead of NaN where a column is not defined, or the sample itself has a NaN.
    #[arg(long, value_name = "X", value_parser = finite)]
    undefined: Option<f64>,
    /// Steps to fit to the samples, in the given order, each to what those before it make: zscore, pca=K. With --fit.
    #[arg(long, value_name = "STEP,..", value_delimiter = ',', requires = "fit")]
    steps: Vec<Step>,
    /// Fit the steps to the samples, write their parameters to FILE (.safetensors), and apply them.
    #[arg(long, value_name = "FILE", requires = "steps", conflicts_with = "transform")]
    fit: Option<PathBuf>,
    /// The samples to fit to, such as 0..700; the last is left out [default: all].
    #[arg(long, value_name = "FIRST..END", requires = "fit", value_parser = rows)]
    fit_rows: Option<Range<usize>>,
    /// Apply the steps of a file that --fit wrote.
    #[arg(long, value_name = "FILE")]
    transform: Option<PathBuf>,
    /// Show every kind of column with its formula, and every preset.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    place: Where,
    /// Replace OUT if it exists.
    #[arg(long)]
    overwrite: bool,
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
        check_place(output, &["npz", "safetensors", "csv"])?;
        let about = beside(output);
        for path in [Some(output), Some(&about), self.fit.as_ref()].into_iter().flatten() {
            if path.exists() && !self.overwrite {
                let shown = path.display();
                return Err(Failure::Call(format!("{shown}: it exists already; --overwrite replaces it")));
            }
        }
        for input in &self.inputs {
            check_output(output, input, &["npz", "safetensors", "csv"])?;
        }
        if let Some(fit) = &self.fit {
            check_place(fit, &["safetensors"]).map_err(|failure| failure.of("--fit"))?;
        }
        if self.fit.as_ref() == Some(output) {
            return Err(Failure::Call(format!("--fit {0}: expected another file than the output", output.display())));
        }
        let representations = Representation::parse_list(&self.representations);
        let representations =
            representations.map_err(|error| Failure::Call(format!("--representations: {}", plain(&error))))?;
        self.printing.begin();
        let began = Instant::now();
        let data = Layers::open_with(&self.inputs, self.labels())?;
        let stores = Stores::open(Form::Packs, self.storing, output)?;
        let mut extractor = Extractor::new(representations).layers(&self.layers);
        for store in stores.all() {
            extractor = extractor.cache(Arc::clone(store));
        }
        let cpu = self.place.with(Context::builder().device(false))?;
        let names = extractor.names(&cpu, &data).map_err(|error| Failure::Call(plain(&error)))?;
        let opens = self.place.opens_device(|ctx| extractor.choose(ctx, &data))?;
        let ctx = self.place.with(Context::builder().device(opens))?;
        let choice = extractor.choose(&ctx, &data)?;
        let place = ctx.adapter().filter(|_| choice.side == Side::Gpu).map(|adapter| adapter.name.clone());
        let bar = self.printing.bar(data.len(), "{bar:20} {pos} of {len} samples; {msg}; to go: {eta}");
        let steps = self.fitted(&ctx, &extractor, &data, &names)?;
        let names = steps.as_ref().map_or(names, Steps::names);
        let table = RowTable { samples: data.len(), columns: &names, targets: data.targets(), ids: data.ids() };
        let mut report = Report::default();
        table.write(output, |take| {
            report = extractor.stream(&ctx, &data, |values, status, progress| {
                show(&bar, progress, began);
                let status: Vec<u8> = status.iter().map(|&status| status as u8).collect();
                let mut values = Cow::Borrowed(values);
                if let Some(steps) = &steps {
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
        let description = extractor.description(&ctx, &data)?;
        let mut description = with_facts(description, &data, &names, report);
        description["side"] = place.as_deref().unwrap_or("cpu").into();
        if let Some(steps) = &steps {
            // The columns are those that the steps read; the file has those that they made.
            description["steps"] = serde_json::json!({"of": steps.columns(), "made": names});
        }
        io::write_text(&about, &format!("{description:#}\n"))?;
        stores.done();
        let (adapter, seconds) = (place.as_deref(), began.elapsed().as_secs_f64());
        self.tell(&Told { output, data: &data, columns: names.len(), report, stores: &stores, adapter, seconds });
        Ok(Outcome::Done)
    }

    fn labels(&self) -> LabelColumn<'_> {
        match &self.label {
            Some(name) => LabelColumn::Named(name),
            None if self.no_labels => LabelColumn::None,
            None => LabelColumn::Auto,
        }
    }

    /// Returns the steps that are applied to the columns: those that are fitted now, or those of a file.
    fn fitted(
        &self,
        ctx: &Context,
        extractor: &Extractor,
        data: &Layers,
        names: &[String],
    ) -> Result<Option<Steps>, Failure> {
        if let Some(path) = &self.fit {
            let chosen = self.fit_rows.clone().unwrap_or(0..data.len());
            if chosen.end > data.len() || chosen.is_empty() {
                let Range { start, end } = chosen;
                return Err(Failure::Call(format!(
                    "--fit-rows {start}..{end}: expected rows of {} samples",
                    data.len()
                )));
            }
            let steps = Steps::fit(ctx, &self.steps, names, |take| {
                let mut first = 0;
                let pass = extractor.stream(ctx, data, |values, status, _| {
                    let own = chosen.start.clamp(first, first + status.len()) - first
                        ..chosen.end.clamp(first, first + status.len()) - first;
                    first += status.len();
                    take(&values[own.start * names.len()..own.end * names.len()], &status[own])
                });
                pass.map(|_| ())
            })?;
            steps.write(path)?;
            return Ok(Some(steps));
        }
        let Some(path) = &self.transform else { return Ok(None) };
        let steps = Steps::read(path)?;
        if steps.columns() != names {
            let differs = steps.columns().iter().zip(names).find(|(theirs, own)| theirs != own);
            let found = differs.map_or_else(
                || format!("{} columns, not {}", names.len(), steps.columns().len()),
                |(theirs, own)| format!("{own} instead of {theirs}"),
            );
            let shown = path.display();
            return Err(Failure::Call(format!(
                "--transform {shown}: expected the columns of the steps, found {found}"
            )));
        }
        Ok(Some(steps))
    }

    fn tell(&self, told: &Told<'_>) {
        let Told { output, data, columns, report, stores, adapter, seconds } = *told;
        let [ok, undefined, overflow, not_finite] = report.status;
        if self.printing.json {
            let status: serde_json::Map<_, _> =
                STATUS.iter().zip(report.status).map(|(name, count)| ((*name).to_owned(), count.into())).collect();
            print(serde_json::json!({
                "output": output, "samples": data.len(), "layers": data.layers().len(), "columns": columns,
                "status": status, "bytes": report.bytes, "seconds": seconds, "blocks": stores.as_json(),
                "units": {"found": report.units[0], "computed": report.units[1]}, "targets": targets(data),
                "side": adapter.unwrap_or("cpu"),
            }));
            return;
        }
        if self.printing.quiet {
            return;
        }
        let samples = many(data.len(), "sample", "samples");
        let found = stores.words();
        let found = found.strip_suffix("; ").map_or_else(String::new, |found| format!("; {found}"));
        let targets = match (data.targets(), data.target_origin()) {
            (TableTargets::Labels(..), Some(origin)) => format!("labels from {origin}"),
            (TableTargets::Values(..), Some(origin)) => format!("targets from {origin}"),
            _ => "no labels".to_owned(),
        };
        let shown = output.display();
        let place = adapter.map_or_else(String::new, |name| format!(" on {name}"));
        print(format_args!("{shown}: {samples}, {columns} columns, {targets}, {seconds:.2} s{place}{found}"));
        if ok < data.len() {
            let said = [
                (undefined, "have undefined columns"),
                (overflow, "exceed f32"),
                (not_finite, "have a NaN or an infinity"),
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
    data: &'a Layers,
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
fn with_facts(mut about: serde_json::Value, data: &Layers, names: &[String], report: Report) -> serde_json::Value {
    let layers =
        data.layers().iter().map(|layer| serde_json::json!({"name": layer.name, "shape": shape(layer.extent)}));
    about["samples"] = data.len().into();
    about["shape"] = vec![data.len(), names.len()].into();
    about["layers"] = layers.collect::<Vec<_>>().into();
    let meanings = [Status::Ok, Status::Undefined, Status::Overflow, Status::NotFinite];
    let status = meanings.iter().map(|&status| {
        serde_json::json!({"status": status as u8, "name": STATUS[status as usize], "samples": report.status[status as usize]})
    });
    about["status"] = status.collect::<Vec<_>>().into();
    about["targets"] = targets(data);
    about["version"] = env!("CARGO_PKG_VERSION").into();
    about
}

/// Describes what the targets are, and where they were found.
fn targets(data: &Layers) -> serde_json::Value {
    let kind = match data.targets() {
        TableTargets::Labels(..) => "labels",
        TableTargets::Values(..) => "values",
        TableTargets::None => return serde_json::Value::Null,
    };
    match data.target_origin() {
        Some(TargetOrigin::Column { place, name }) => {
            serde_json::json!({"are": kind, "from": "column", "place": place, "name": name})
        }
        Some(TargetOrigin::Array(name)) => serde_json::json!({"are": kind, "from": "array", "name": name}),
        Some(TargetOrigin::Folders) => serde_json::json!({"are": kind, "from": "folders"}),
        _ => serde_json::json!({"are": kind, "from": "lines"}),
    }
}

fn shape(extent: io::Extent) -> Vec<usize> {
    match extent {
        io::Extent::Vector(n) | io::Extent::Ragged { longest: n } => vec![n],
        io::Extent::Matrix { rows, columns } => vec![rows, columns],
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
fn show(bar: &ProgressBar, progress: Progress, began: Instant) {
    let seconds = began.elapsed().as_secs_f64();
    bar.set_position(progress.samples as u64);
    bar.set_message(format!("{:.0} MB a second", progress.bytes as f64 / 1e6 / seconds));
}
