//! `fiedler predict`: predicts with networks that `fiedler train` trained.

use super::columns;
use super::outputs::Overwriting;
use super::printing::Printing;
use super::train::CHECKPOINT;
use super::values::whole;
use super::{Failure, Outcome, Where, many, print};
use clap::Args;
use fiedler::Error;
use fiedler::io::{self, Data, KnownInputs, NamedArray, Rows, SampleRows, Wanted};
use fiedler::train::{Model, Number, WEIGHTS};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Predict with networks that `fiedler train` trained.
#[derive(Debug, Args)]
#[command(after_long_help = "OUT has, for each sample, the probability of each class (`probabilities`) and the class \
(`prediction`, as its place among the classes), or the predicted values (`values`). A .csv file names the classes.")]
pub(super) struct Predict {
    /// The folder that `fiedler train` wrote.
    dir: PathBuf,
    /// The inputs, in a format that `fiedler train` reads. Labels, and an index or ids, are left out.
    data: PathBuf,
    /// Leave out these columns; in a table without names, by their places, which count from 1. Columns that the
    /// training did not have are left out anyway, if they have names.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Take these columns as inputs of a model that has no names for them, although their names are those of labels, an
    /// index or ids.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    take: Vec<String>,
    /// The file to write: .npz, .safetensors or .csv.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The run that predicts [default: the best by the metric of the stopping rule, or by the validation loss,
    /// or by the training loss if there are no validation samples].
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    run: Option<usize>,
    /// Predict the mean over all runs.
    #[arg(long, conflicts_with = "run")]
    ensemble: bool,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    printing: Printing,
}

impl Predict {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.printing.begin();
        let weights = self.dir.join(WEIGHTS);
        if !weights.exists() && self.dir.join(CHECKPOINT).exists() {
            let dir = self.dir.display();
            return Err(Failure::Said(format!(
                "{dir}: expected a finished training, with {WEIGHTS}, found {CHECKPOINT} alone, so this one is \
                 unfinished; the same `fiedler train` with --resume finishes it"
            )));
        }
        self.overwriting.check_output(&self.output, &[&self.data, &weights], &["npz", "safetensors", "csv"])?;
        match Model::<f32>::open(&weights) {
            Ok(model) => self.predict(&model, |x| {
                #[expect(clippy::cast_possible_truncation, reason = "the networks are in f32")]
                let x = x as f32;
                x
            }),
            Err(error) => match Model::<f64>::open(&weights) {
                Ok(model) => self.predict(&model, |x| x),
                // The error of the precision that the file has.
                Err(other) if error.to_string().contains("weights in f32") => Err(other.into()),
                Err(_) => Err(error.into()),
            },
        }
    }

    fn predict<T: Number>(&self, model: &Model<T>, element: fn(f64) -> T) -> Result<Outcome, Failure> {
        let ctx = self.place.with(fiedler::Context::builder().device(false))?;
        let inputs = model.net().inputs();
        let origin = model.origin();
        let wanted = Wanted::Inputs(KnownInputs {
            inputs,
            names: &origin.inputs,
            target: origin.target,
            left_out: &origin.left_out,
            classes: &origin.classes,
            ignore: &self.ignore,
            take: &self.take,
        });
        let runs: Vec<usize> =
            if self.ensemble { model.good_runs() } else { vec![self.run.unwrap_or(model.best_run())] };
        if let Some(run) = self.run.filter(|run| *run >= model.runs()) {
            return Err(Failure::Call(format!("--run: expected a run below {}, found {run}", model.runs())));
        }
        let check = |found: usize| match found == inputs {
            true => Ok(()),
            false => Err(Failure::Said(format!(
                "{}: expected {}, as the network has, found {found}",
                self.data.display(),
                many(inputs, "input", "inputs")
            ))),
        };
        let (found, findings) = match SampleRows::open(&self.data, wanted)? {
            Some(file) => {
                check(file.inputs())?;
                (model.predict_rows(&ctx, &file, &runs)?, file.findings().clone())
            }
            None => {
                let table = io::read_samples(&self.data, wanted)?;
                check(table.inputs)?;
                let x = table.x.into_iter().map(element).collect();
                (model.predict(&ctx, table.inputs, x, &runs)?, table.findings)
            }
        };
        let (columns, classes) = (model.columns(), &model.origin().classes);
        let samples = found.len() / columns;
        let predictions: Vec<i64> = found.chunks_exact(columns).map(largest).collect();
        if self.output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
            io::write_text(&self.output, &csv(&found, &predictions, classes, columns))?;
        } else {
            self.write(&found, &predictions, classes, [samples, columns])?;
        }
        let left_out = model.runs() - runs.len();
        if self.printing.json {
            print(serde_json::json!({
                "output": self.output, "samples": samples, "runs": runs, "left_out": left_out, "classes": classes,
                "data": columns::as_json(&findings),
            }));
        } else if !self.printing.quiet {
            let without = if left_out > 0 { format!(", without {left_out} that diverged") } else { String::new() };
            let of = if self.ensemble {
                format!("the mean of {}{without}", many(runs.len(), "run", "runs"))
            } else {
                format!("run {}", runs[0])
            };
            let classes = match classes.len() {
                0 => String::new(),
                count => format!(", {}", many(count, "class", "classes")),
            };
            for doubt in &findings.doubts {
                super::complain(&format_args!("{}: {doubt}", self.data.display()));
            }
            let notes: String = findings.notes().iter().map(|note| format!("; {note}")).collect();
            let shown = self.output.display();
            let (samples, inputs) = (many(samples, "sample", "samples"), many(inputs, "input", "inputs"));
            print(format_args!("{samples} predicted by {of}: {shown}; from {inputs}{classes}{notes}"));
        }
        Ok(Outcome::Done)
    }

    fn write(&self, found: &[f64], predictions: &[i64], classes: &[String], shape: [usize; 2]) -> Result<(), Error> {
        let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
        let mut arrays =
            vec![array(if classes.is_empty() { "values" } else { "probabilities" }, shape.to_vec(), Data::F64(found))];
        if !classes.is_empty() {
            arrays.push(array("prediction", vec![predictions.len()], Data::I64(predictions)));
            arrays.push(array("classes", vec![classes.len()], Data::Text(classes)));
        }
        io::write(&self.output, &arrays)
    }
}

/// Returns the place of the largest number.
fn largest(row: &[f64]) -> i64 {
    let mut best = 0;
    for (place, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = place;
        }
    }
    i64::try_from(best).unwrap_or(i64::MAX)
}

fn csv(found: &[f64], predictions: &[i64], classes: &[String], columns: usize) -> String {
    let quoted = |name: &str| {
        if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
    };
    let mut text = String::from(if classes.is_empty() { "sample" } else { "sample,prediction" });
    for column in 0..columns {
        let _ = match classes.get(column) {
            Some(name) => write!(text, ",{}", quoted(&format!("p({name})"))),
            None => write!(text, ",value{column}"),
        };
    }
    text.push('\n');
    for (sample, (row, prediction)) in found.chunks_exact(columns).zip(predictions).enumerate() {
        let _ = write!(text, "{sample}");
        if let Some(name) = usize::try_from(*prediction).ok().and_then(|place| classes.get(place)) {
            let _ = write!(text, ",{}", quoted(name));
        }
        row.iter().for_each(|value| {
            let _ = write!(text, ",{value}");
        });
        text.push('\n');
    }
    text
}
