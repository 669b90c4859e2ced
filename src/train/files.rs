//! The files of a finished training: `weights.safetensors`, `runs.jsonl` and `summary.csv`.

use super::checkpoint::{Stacked, elements};
use super::fit::{Fit, Fitted};
use super::model::Model;
use super::spec::{SPEC, stored_json};
use super::stop::{Metric, Part};
use crate::error::{Error, Result};
use crate::io::{self, Data, NamedArray, Rows, Tensors};
use crate::ops::mlp::{Hyper, Number};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The name of the file with the parameters of all runs.
pub const WEIGHTS: &str = "weights.safetensors";
/// The name of the file with a line for each recorded epoch of each run.
pub const LOG: &str = "runs.jsonl";
/// The name of the file with a row for each run.
pub const SUMMARY: &str = "summary.csv";

/// The key of what is known about the data in the metadata.
const ORIGIN: &str = "origin";

/// What the file of a data set said about its columns, which predictions need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// The names of the classes; none if the targets are values.
    pub classes: Vec<String>,
    /// The names of the inputs; none if the file had none.
    pub inputs: Vec<String>,
    /// The place of the column with the target, if the file was a table.
    pub target: Option<usize>,
    /// The places of the columns that were neither inputs nor the target, if the file was a table.
    pub left_out: Vec<usize>,
}

impl<T: Number> Fit<T> {
    /// Writes the parameters of all runs to a safetensors file. The tensors have torch's names and layout, with the
    /// runs along an additional first axis. The metadata have the settings, how each run ended, and what `origin` says.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] if the file cannot be written.
    pub fn write_weights(&self, path: &Path, origin: &Origin) -> Result<()> {
        let mut stacked = Stacked::default();
        for run in &self.runs {
            stacked.push("", run.replica.tensors(&self.program.net));
            if let Some(scaling) = &run.replica.scaling {
                let shape = vec![scaling.len()];
                let part = |name: &str, place: usize| crate::ops::mlp::Tensor {
                    name: name.to_owned(),
                    shape: shape.clone(),
                    data: scaling.iter().map(|pair| pair[place]).collect(),
                };
                stacked.push("", vec![part("scaling.mean", 0), part("scaling.factor", 1)]);
            }
        }
        let spec = [self.spec.0.to_string()];
        let good: Vec<bool> = self.runs.iter().map(|run| run.status.is_good()).collect();
        let told = json!({"classes": origin.classes, "inputs": origin.inputs, "target": origin.target,
                          "left_out": origin.left_out, "best_run": self.best_run(), "good": good});
        let told = [told.to_string()];
        let mut arrays = stacked.arrays(self.runs.len());
        for (name, text) in [(SPEC, &spec), (ORIGIN, &told)] {
            arrays.push(NamedArray { name, rows: Rows::Other, shape: vec![1], data: Data::Text(text) });
        }
        io::write(path, &arrays)
    }

    /// Writes the parameters of one run to a safetensors file that `torch.nn.Module.load_state_dict` accepts for a
    /// module whose lists `layers` and `norms` have the linear maps and the normalizations. With
    /// [`Scaling::Standard`](super::Scaling::Standard), the module's inputs have to be scaled first, by the tensors
    /// `scaling.mean` and `scaling.factor` of [`Fit::write_weights`].
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no such run; [`crate::ErrorKind::Io`] if the file cannot be written.
    pub fn export(&self, path: &Path, run: usize) -> Result<()> {
        let Some(fitted) = self.runs.get(run) else {
            return Err(Error::domain("export", format!("expected a run below {}, found {run}", self.runs.len())));
        };
        let tensors = fitted.replica.tensors(&self.program.net);
        let arrays: Vec<NamedArray<'_>> = tensors
            .iter()
            .map(|tensor| NamedArray {
                name: &tensor.name,
                rows: Rows::Other,
                shape: tensor.shape.clone(),
                data: super::checkpoint::data(&tensor.data),
            })
            .collect();
        io::write(path, &arrays)
    }

    /// Returns a line of JSON for each recorded epoch of each run.
    #[must_use]
    pub fn log(&self) -> String {
        let mut text = String::new();
        for fitted in &self.runs {
            for epoch in &fitted.history {
                let mut line = json!({"run": fitted.run.number, "epoch": epoch.epoch, "lr": epoch.rate,
                                      "train.loss": number(epoch.loss)});
                if !epoch.accuracy.is_nan() {
                    line["train.accuracy"] = number(epoch.accuracy);
                }
                if !epoch.scale.is_nan() {
                    line["loss_scale"] = number(epoch.scale);
                    line["skipped_steps"] = json!(epoch.skipped);
                }
                for (metric, value) in Metric::ALL.into_iter().zip(epoch.validation) {
                    if !value.is_nan() {
                        line[format!("validation.{}", metric.name())] = number(value);
                    }
                }
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }

    /// Returns a table in CSV with a row for each run: its number, its seed, its hyperparameters, how it ended, after
    /// how many epochs, and the metrics of the returned parameters on every part.
    #[must_use]
    pub fn table(&self) -> String {
        self.table_with(&[], |_| Vec::new())
    }

    /// Does the same, with further columns after the seed.
    pub(super) fn table_with(&self, names: &[&str], values: impl Fn(&Fitted<T>) -> Vec<String>) -> String {
        let parts = Part::ALL.into_iter().filter(|part| self.runs.iter().any(|run| run.scores(*part).is_some()));
        let metrics: Vec<(Part, Metric)> = parts
            .flat_map(|part| Metric::ALL.map(|metric| (part, metric)))
            .filter(|(_, metric)| metric.fits(&self.program.loss, &self.program.net))
            .collect();
        let mut text = String::from("run,seed");
        names.iter().for_each(|name| text.extend([",", name]));
        Hyper::names().for_each(|name| text.extend([",", name]));
        text.push_str(",status,epochs,best_epoch");
        if self.program.mixed.scales() {
            text.push_str(",skipped_steps");
        }
        for (part, metric) in &metrics {
            let _ = write!(text, ",{}.{}", part.name(), metric.name());
        }
        text.push_str(if self.is_selected_on_test() { ",selected_on,seconds\n" } else { ",seconds\n" });
        for fitted in &self.runs {
            self.row(&mut text, fitted, &values(fitted), &metrics);
        }
        text
    }

    fn row(&self, text: &mut String, fitted: &Fitted<T>, more: &[String], metrics: &[(Part, Metric)]) {
        let _ = write!(text, "{},{}", fitted.run.number, fitted.run.seed);
        more.iter().for_each(|value| text.extend([",", value]));
        for name in Hyper::names() {
            let value = fitted.run.hyper.get(name).filter(|value| !value.is_nan());
            let _ = write!(text, ",{}", value.map_or_else(String::new, |value| value.to_string()));
        }
        let best = fitted.best_epoch.map_or_else(String::new, |epoch| epoch.to_string());
        let _ = write!(text, ",{},{},{best}", fitted.status, fitted.epochs);
        if self.program.mixed.scales() {
            let _ = write!(text, ",{}", fitted.skipped_steps());
        }
        for (part, metric) in metrics {
            let value = fitted.scores(*part).map_or(f64::NAN, |scores| metric.of(scores));
            let _ = if value.is_nan() { write!(text, ",") } else { write!(text, ",{value}") };
        }
        if self.is_selected_on_test() {
            text.push_str(",test");
        }
        let _ = writeln!(text, ",{:.3}", fitted.seconds);
    }
}

/// Returns a number for JSON, which has no infinities.
fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

impl<T: Number> Model<T> {
    /// Reads a file that [`Fit::write_weights`] wrote.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Parse`] if the file is no such file, or of another precision; [`crate::ErrorKind::Io`] if it
    /// cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let wrong = |expected: &str, found: String| Error::parse(path, None, expected, found);
        let tensors = Tensors::open(path)?;
        let spec = stored_json(&tensors, SPEC)
            .ok_or_else(|| wrong("weights that `fiedler train` wrote", "another file".to_owned()))?;
        if spec["precision"] != json!(T::NAME) {
            return Err(wrong(&format!("weights in {}", T::NAME), spec["precision"].to_string()));
        }
        let told = stored_json(&tensors, ORIGIN).unwrap_or_default();
        let words = |key: &str| -> Vec<String> {
            told[key].as_array().into_iter().flatten().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
        };
        let place = |value: &Value| value.as_u64().and_then(|place| usize::try_from(place).ok());
        let origin = Origin {
            classes: words("classes"),
            inputs: words("inputs"),
            target: place(&told["target"]),
            left_out: told["left_out"].as_array().into_iter().flatten().filter_map(place).collect(),
        };
        let good = told["good"].as_array().into_iter().flatten().map(|good| good.as_bool().unwrap_or(true)).collect();
        let runs = (place(&told["best_run"]).unwrap_or(0), good);
        let mut stacks = std::collections::BTreeMap::new();
        for name in tensors.names() {
            let array = tensors.array(name)?;
            let (shape, kind) = (array.shape, array.data.name());
            let data = elements(array.data).ok_or_else(|| wrong(T::NAME, format!("{name} in {kind}")))?;
            stacks.insert(name.to_owned(), (shape, data));
        }
        Self::of_parts(&spec, origin, runs, stacks)
            .ok_or_else(|| wrong("settings and tensors that fit each other", "others".to_owned()))
    }
}
