//! Experiments as files: TOML whose every key is known, with all defaults written back.

mod alike;
mod data;
mod mistakes;
mod names;
mod settings;

pub use data::{Data, Generated, Patterns, SplitBy, SplitTable};
pub(super) use mistakes::{in_words, of_domain, of_toml, refuse_infinite};
pub use names::{ActivationName, InitName, LossName, NormName, OptimizerName, PrecisionName, ScaleName};
pub use settings::{Model, OptimizerTable, ScheduleTable, Settings, StopTable, Training};

use super::grid;
use crate::error::{Error, Result};
use crate::features::Representation;
use crate::train::{Metric, Part};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// The most repeats.
const MOST_REPEATS: usize = 1 << 16;

/// An experiment: data, configurations, what is trained on each of them, and what is compared. See the
/// [module](crate::experiment) for an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The name, the seeds, and what a quick run replaces.
    pub experiment: Head,
    /// The data set, and how each run divides it.
    pub data: Data,
    /// The representations, each of which is a configuration; without any, all numbers as they are.
    #[serde(default)]
    pub features: Vec<Feature>,
    /// The network.
    #[serde(default)]
    pub model: Model,
    /// The training.
    #[serde(default)]
    pub train: Training,
    /// Values to try, by the names of keys such as `train.optimizer.lr`; every combination is a configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grid: BTreeMap<String, Vec<Value>>,
    /// What is compared.
    #[serde(default)]
    pub compare: Compare,
}

/// The name of an experiment, its seeds, and what a quick run replaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The name.
    pub name: String,
    /// The first seed; the others follow it.
    #[serde(default = "seed")]
    pub seed: u64,
    /// The number of seeds.
    #[serde(default = "one")]
    pub repeats: usize,
    /// What a quick run replaces.
    #[serde(default, skip_serializing_if = "Quick::is_empty")]
    pub quick: Quick,
}

fn seed() -> u64 {
    42
}

fn one() -> usize {
    1
}

/// What a quick run replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// The number of seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<usize>,
    /// The number of samples, from the first on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// The largest number of epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u64>,
}

impl Quick {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A representation, or several: a text as [`Representation::parse_list`] reads it, or a table with `name` and what
/// [`Representation::read`] reads under a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "the name of a representation, or a table with a name and a kind")]
pub enum Feature {
    /// Presets and kinds, separated by commas; each is a configuration.
    Named(String),
    /// A definition.
    Defined(Map<String, Value>),
}

/// What is compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compare {
    /// The factors whose values are compared: `features`, `layers` and keys of the grid.
    pub by: Vec<String>,
    /// The value of a factor to which the others are compared. The factor is the first that has this value; the others
    /// are compared to their first value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Value>,
    /// The metric, such as `test.accuracy`. If it is empty, reading the file sets it to the accuracy, or of values r2,
    /// of the test samples, or of the last part that has samples.
    pub metric: String,
    /// The difference of the metric that does not matter, for tests of equivalence; none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}

pub(super) fn wrong(what: impl Into<String>) -> Error {
    Error::domain("experiment", what)
}

/// Checks a name, which is also that of a folder.
pub(super) fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_alphanumeric() || ['-', '_', '.', ' '].contains(&c);
    if name.trim().is_empty() || !name.chars().all(plain) || name.starts_with('.') {
        return Err(wrong(format!(
            "experiment.name: expected letters, digits, spaces, dots and dashes (the first no dot), found {name:?}"
        )));
    }
    Ok(())
}

impl Spec {
    /// Reads an experiment. What is not given is set to its default.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse), with the file and the line where they are known, if a key is unknown, a
    /// value has another type or is out of its range, or parts do not fit each other; [`Io`](crate::ErrorKind::Io) if
    /// the file cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Self::parse(&text, path, &folder)
    }

    /// Reads an experiment from a text. `path` names it in errors, and relative paths start from `folder`.
    ///
    /// # Errors
    /// The errors of [`Spec::read`].
    pub fn parse(text: &str, path: &Path, folder: &Path) -> Result<Self> {
        let table: toml::Table = toml::from_str(text).map_err(|error| of_toml(path, text, &error))?;
        refuse_infinite(path, &table)?;
        let mut spec: Self = toml::from_str(text).map_err(|error| of_toml(path, text, &error))?;
        spec.complete(folder).map_err(|error| of_domain(path, error))?;
        Ok(spec)
    }

    /// Returns the experiment with what its `quick` replaces.
    #[must_use]
    pub fn quick(mut self) -> Self {
        let Quick { repeats, rows, epochs } = self.experiment.quick;
        self.experiment.repeats = repeats.unwrap_or(self.experiment.repeats).min(self.experiment.repeats);
        self.data.rows = rows.map(|rows| rows.min(self.data.rows.unwrap_or(usize::MAX))).or(self.data.rows);
        self.train.epochs = epochs.unwrap_or(self.train.epochs).min(self.train.epochs);
        if let (Some(generated), Some(rows)) = (&mut self.data.generate, rows) {
            let samples = generated.samples_mut();
            *samples = rows.min(*samples);
        }
        self
    }

    /// Returns the file with all defaults.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    fn complete(&mut self, folder: &Path) -> Result<()> {
        check_name(&self.experiment.name)?;
        let repeats = self.experiment.repeats;
        if !(1..=MOST_REPEATS).contains(&repeats) {
            return Err(wrong(format!("experiment.repeats: expected 1 to {MOST_REPEATS}, found {repeats}")));
        }
        self.check_quick()?;
        self.complete_data(folder)?;
        let mut settings = self.settings();
        // Where the grid has other optimizers, each has defaults of its own.
        if self.grid.keys().any(|key| key == "train.optimizer" || key == "train.optimizer.kind") {
            settings.train.optimizer = OptimizerTable::default();
            settings.complete()?;
            settings.train.optimizer = self.train.optimizer.clone();
        } else {
            settings.complete()?;
        }
        (self.model, self.train) = (settings.model, settings.train);
        let mut names = HashSet::new();
        for representation in self.representations()? {
            if !names.insert(representation.name().to_owned()) {
                let what = format!("expected different names, found {} twice", representation.name());
                return Err(wrong(format!("features: {what}")));
            }
        }
        if self.compare.metric.is_empty() {
            self.compare.metric = self.default_metric();
        }
        self.metric()?;
        if let Some(margin) = self.compare.margin.filter(|margin| *margin <= 0.0) {
            return Err(wrong(format!("compare.margin: expected a number above 0, found {margin}")));
        }
        // Every combination of the grid has valid settings, and what is compared varies.
        for cell in grid::cells(self)? {
            self.check_stop(&cell.settings)?;
        }
        grid::compared(self)?;
        Ok(())
    }

    fn check_quick(&self) -> Result<()> {
        let Quick { repeats, rows, epochs } = self.experiment.quick;
        let counts = [("repeats", repeats.map(|n| n as u64)), ("rows", rows.map(|n| n as u64)), ("epochs", epochs)];
        match counts.into_iter().find(|(_, count)| *count == Some(0)) {
            Some((name, _)) => Err(wrong(format!("experiment.quick.{name}: expected at least 1, found 0"))),
            None => Ok(()),
        }
    }

    /// Checks that a stopping rule has samples to look at.
    fn check_stop(&self, settings: &Settings) -> Result<()> {
        let Some(stop) = &settings.train.stop else { return Ok(()) };
        let part =
            Part::ALL.into_iter().find(|part| stop.on.split_once('.').is_some_and(|(name, _)| name == part.name()));
        match part.filter(|part| self.shares()[*part as usize] == 0.0) {
            Some(part) => {
                let (on, name) = (&stop.on, part.name());
                let what =
                    format!("train.stop.on: expected a part with samples, found {on:?}, and a share of 0 for {name}");
                Err(wrong(what))
            }
            None => Ok(()),
        }
    }

    /// Returns what a grid varies.
    pub(super) fn settings(&self) -> Settings {
        Settings { model: self.model.clone(), train: self.train.clone() }
    }

    /// Returns the representations; without any, all numbers as they are.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a definition is wrong.
    pub fn representations(&self) -> Result<Vec<Representation>> {
        if self.features.is_empty() {
            return Representation::parse_list("raw");
        }
        let mut made = Vec::new();
        for feature in &self.features {
            match feature {
                Feature::Named(list) => {
                    made.extend(Representation::parse_list(list).map_err(|error| error.within("features"))?)
                }
                Feature::Defined(table) => {
                    let mut table = table.clone();
                    let name = table.remove("name");
                    let Some(name) = name.as_ref().and_then(Value::as_str) else {
                        return Err(wrong("features: expected a name in every table, found none"));
                    };
                    made.push(Representation::define(name, table).map_err(|error| error.within("features"))?);
                }
            }
        }
        Ok(made)
    }

    /// Returns the metric that is compared if none is given: of the test samples, or of the last part that has samples.
    fn default_metric(&self) -> String {
        let shares = self.shares();
        let part = Part::ALL.into_iter().rev().find(|part| shares[*part as usize] > 0.0).unwrap_or(Part::Train);
        let metric = if self.train.loss == LossName::Mse { Metric::R2 } else { Metric::Accuracy };
        format!("{}.{}", part.name(), metric.name())
    }

    /// Returns whether the targets are values, if all configurations say the same.
    pub(super) fn are_values(&self) -> Result<Option<bool>> {
        let all = grid::cells(self)?;
        let values = |cell: &grid::Cell| cell.settings.train.loss == LossName::Mse;
        let first = all.first().map(values);
        Ok(first.filter(|first| all.iter().all(|cell| values(cell) == *first)))
    }

    /// Returns the part and the metric that are compared.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if there is no such part or metric, or the part has no samples.
    pub fn metric(&self) -> Result<(Part, Metric)> {
        let text = &self.compare.metric;
        let found = text.split_once('.').and_then(|(part, metric)| {
            let part = Part::ALL.into_iter().find(|known| known.name() == part)?;
            Some((part, Metric::ALL.into_iter().find(|known| known.name() == metric)?))
        });
        let Some((part, metric)) = found else {
            let known: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
            let wanted = format!("a part, a dot and a metric (train, validation or test; {})", known.join(", "));
            return Err(wrong(format!("compare.metric: expected {wanted}, found {text:?}")));
        };
        if self.shares()[part as usize] == 0.0 {
            let what = format!("expected a part with samples, found {text:?}, and a share of 0 for {}", part.name());
            return Err(wrong(format!("compare.metric: {what}")));
        }
        let values = self.train.loss == LossName::Mse;
        if metric != Metric::Loss && metric.is_of_values() != values {
            let wanted = if values {
                "loss, r2, rmse or mae, because values have no classes"
            } else {
                "a metric of classes or the loss; r2, rmse and mae need train.loss = \"mse\""
            };
            return Err(wrong(format!("compare.metric: expected {wanted}, found {text:?}")));
        }
        Ok((part, metric))
    }
}
