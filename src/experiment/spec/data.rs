//! The data set of an experiment, and how runs divide it.

use super::{Spec, wrong};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The file, the files, the folder or the pattern that [`Layers`](crate::io::Layers) reads, relative to the folder
    /// of the experiment's file. Not with `generate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Patterns>,
    /// A data set that is generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate: Option<Generated>,
    /// The column or array that has the targets. The default is what [`Layers::open`](crate::io::Layers::open) finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The names of columns or arrays that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The names of columns that are inputs although their names say otherwise: an index of pandas, or ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub take: Vec<String>,
    /// The number of samples that are used, from the first on; all, if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// What replaces columns that are not defined for a sample. Without it, they are an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined: Option<f64>,
    /// How each run divides the samples.
    #[serde(default)]
    pub split: SplitTable,
    /// The layers of each configuration, by the name of the configuration.
    #[serde(default = "all_layers")]
    pub layers: BTreeMap<String, Patterns>,
}

fn all_layers() -> BTreeMap<String, Patterns> {
    BTreeMap::from([("all".to_owned(), Patterns::One("*".to_owned()))])
}

/// One text, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
pub enum Patterns {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Patterns {
    /// Returns the texts.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }
}

/// A data set of [`features::generate`](crate::features::generate).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Generated {
    /// Vectors as those of low-rank adapters: 128 layers, 399 kB a sample.
    Vectors {
        /// The number of samples.
        samples: usize,
        /// The number of classes.
        #[serde(default = "ten")]
        classes: usize,
        /// The seed.
        #[serde(default = "one_seed")]
        seed: u64,
    },
    /// Series of different laws.
    Series {
        /// The number of samples.
        samples: usize,
        /// The length of every series.
        length: usize,
        /// The number of classes.
        #[serde(default = "four")]
        classes: usize,
        /// The seed.
        #[serde(default = "one_seed")]
        seed: u64,
    },
    /// Images of drawn digits, 8 x 8 pixels each.
    Digits {
        /// The number of images.
        samples: usize,
        /// The seed.
        #[serde(default = "one_seed")]
        seed: u64,
    },
    /// Strings of bits from simulated random number generators.
    Strings {
        /// The number of strings.
        samples: usize,
        /// The number of devices; device k has the class k mod 3 + 1.
        #[serde(default = "three")]
        devices: usize,
        /// The number of bits of a string.
        #[serde(default = "hundred")]
        length: usize,
        /// The seed.
        #[serde(default = "one_seed")]
        seed: u64,
    },
}

impl Generated {
    /// Returns the number of samples, to be changed.
    pub(in crate::experiment) fn samples_mut(&mut self) -> &mut usize {
        match self {
            Self::Vectors { samples, .. }
            | Self::Series { samples, .. }
            | Self::Digits { samples, .. }
            | Self::Strings { samples, .. } => samples,
        }
    }
}

fn ten() -> usize {
    10
}

fn four() -> usize {
    4
}

fn three() -> usize {
    3
}

fn hundred() -> usize {
    100
}

fn one_seed() -> u64 {
    1
}

/// How each run divides the samples into those for training, validation and test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SplitTable {
    /// The share for training. A single share that is not given is what the others leave; of several, that for
    /// validation is 0.1, that for test 0.2 or one fold, and that for training what these leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train: Option<f64>,
    /// The share for validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// The share for test; with `folds`, one fold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<f64>,
    /// Whether every run divides the samples by its own seed, or all do by the same.
    pub by: SplitBy,
    /// The seed of a fixed division; the first seed of the experiment, if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The number of folds, each of which is the test set of a run of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
}

impl SplitTable {
    /// Sets the shares for training and validation that are not given, and returns that for test.
    fn complete(&mut self, test: Option<f64>) -> Option<f64> {
        // Without the rounding errors of the differences, and without a zero below 0.
        let rest = |one: f64, other: f64| (1e12 * (1.0 - one - other)).round() / 1e12 + 0.0;
        match (self.train, self.validation, test) {
            (Some(train), None, Some(test)) => self.validation = Some(rest(train, test)),
            (Some(train), Some(validation), None) => return Some(rest(train, validation)),
            (_, validation, test) => {
                let (validation, test) = (validation.unwrap_or(0.1), test.unwrap_or(0.2));
                (self.validation, self.train) = (Some(validation), self.train.or(Some(rest(validation, test))));
                return Some(test);
            }
        }
        test
    }
}

/// Returns a path that is the same from every folder, so that the file with all defaults can be read anywhere.
fn absolute(folder: &Path, path: &str) -> Result<String> {
    let joined = folder.join(path);
    let absolute = std::path::absolute(&joined).map_err(|error| Error::io("find", &joined, error))?;
    absolute.into_os_string().into_string().map_err(|path| {
        let found = path.display();
        wrong(format!("data.source: expected a path in UTF-8, found {found}"))
    })
}

/// By what samples are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitBy {
    /// Every run by its own seed, so that the spread of the results includes that of the division.
    #[default]
    Seed,
    /// All runs alike.
    Fixed,
}

impl Spec {
    /// Sets what was not given of the data set to its defaults, and checks it.
    pub(super) fn complete_data(&mut self, folder: &Path) -> Result<()> {
        let data = &self.data;
        if data.source.is_some() == data.generate.is_some() {
            let found = if data.source.is_some() { "both" } else { "neither" };
            return Err(wrong(format!("data: expected either source or generate, found {found}")));
        }
        if data.layers.is_empty() {
            return Err(wrong("data.layers: expected at least one configuration, found none"));
        }
        let layers: Vec<(&String, &Patterns)> = data.layers.iter().collect();
        for (place, (name, patterns)) in layers.iter().enumerate() {
            if let Some((twin, _)) = layers[..place].iter().find(|(_, other)| other.as_slice() == patterns.as_slice()) {
                let what = format!("expected different layers, found the same in {twin} and {name}");
                return Err(wrong(format!("data.layers: {what}")));
            }
        }
        if data.rows == Some(0) {
            return Err(wrong("data.rows: expected at least 1, found 0"));
        }
        if let Some(undefined) = data.undefined.filter(|x| !x.is_finite()) {
            return Err(wrong(format!("data.undefined: expected a finite number, found {undefined}")));
        }
        let first = self.experiment.seed;
        let split = &mut self.data.split;
        if let (SplitBy::Seed, Some(seed)) = (split.by, split.seed) {
            return Err(wrong(format!("data.split.seed: expected by = \"fixed\", found a seed of {seed}")));
        }
        if split.by == SplitBy::Fixed {
            split.seed = split.seed.or(Some(first));
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of folds")]
        match split.folds {
            Some(folds) if !(2..=100).contains(&folds) => {
                return Err(wrong(format!("data.split.folds: expected 2 to 100, found {folds}")));
            }
            Some(folds) => {
                if let Some(test) = split.test {
                    let what = "expected no share beside folds, because each fold is a test set";
                    return Err(wrong(format!("data.split.test: {what}, found {test}")));
                }
                split.complete(Some(1.0 / folds as f64));
            }
            None => split.test = split.complete(split.test),
        }
        let shares = self.shares();
        if !(shares.iter().all(|share| *share >= 0.0) && shares[0] > 0.0)
            || (shares.iter().sum::<f64>() - 1.0).abs() > 1e-9
        {
            let what = "expected shares of at least 0 that sum to 1 (that of train above 0)";
            let [train, validation, test] = shares;
            let found = format!("train = {train}, validation = {validation} and test = {test}");
            return Err(wrong(format!("data.split: {what}, found {found}")));
        }
        if let Some(Patterns::One(one)) = &mut self.data.source {
            *one = absolute(folder, one)?;
        }
        if let Some(Patterns::Several(several)) = &mut self.data.source {
            several.iter_mut().try_for_each(|one| absolute(folder, one).map(|path| *one = path))?;
        }
        Ok(())
    }

    /// Returns whether no other shares than the default ones are asked for.
    #[expect(clippy::cast_precision_loss, reason = "a number of folds")]
    pub(in crate::experiment) fn has_default_shares(&self) -> bool {
        let (own, mut default) = (self.data.split, SplitTable::default());
        let test = default.complete(own.folds.map(|folds| 1.0 / folds as f64));
        let test = if own.folds.is_some() { None } else { test };
        (own.train, own.validation, own.test) == (default.train, default.validation, test)
    }

    /// Returns the shares of training, validation and test samples.
    #[expect(clippy::cast_precision_loss, reason = "a number of folds")]
    pub(in crate::experiment) fn shares(&self) -> [f64; 3] {
        let SplitTable { train, validation, test, folds, .. } = self.data.split;
        let test = test.or(folds.map(|folds| 1.0 / folds as f64)).unwrap_or(0.0);
        [train.unwrap_or(0.0), validation.unwrap_or(0.0), test]
    }
}
