//! The runs of a training: plain rows, each with its number, its seed and its hyperparameters.

use crate::error::{Error, Result};
use crate::ops::mlp::{Hyper, Optimizer};
use std::collections::BTreeSet;

/// The largest number of runs.
const MOST: usize = 1 << 20;

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The number of the run, which names its results.
    pub number: usize,
    /// The seed. Initial weights, order, dropout, noise and split are functions of it, so two runs with the same seed
    /// and different hyperparameters begin alike.
    pub seed: u64,
    /// The hyperparameters.
    pub hyper: Hyper,
    /// The largest number of epochs; `None` for that of the trainer. Adversarial pairs have steps instead.
    pub epochs: Option<u64>,
}

/// The runs of a training.
///
/// ```
/// use fiedler::ops::mlp::Optimizer;
/// use fiedler::train::Runs;
///
/// let runs = Runs::seeds(Optimizer::Adam, 42, 20)?.grid("lr", &[1e-3, 3e-4])?; // every seed with every rate
/// assert_eq!(runs.rows().len(), 40);
/// assert_eq!((runs.rows()[1].seed, runs.rows()[1].hyper.learning_rate), (42, 3e-4));
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    rows: Vec<Run>,
    /// The names of the hyperparameters that differ between runs.
    varied: BTreeSet<&'static str>,
}

impl Runs {
    /// Returns `count` runs with the seeds `first`, `first + 1`, and so on, and the optimizer's default
    /// hyperparameters.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there are no runs or more than 2^20.
    pub fn seeds(optimizer: Optimizer, first: u64, count: usize) -> Result<Self> {
        Self::of_hyper(optimizer.defaults(), first, count)
    }

    /// Does the same with the given hyperparameters.
    ///
    /// # Errors
    /// The same as for [`Runs::seeds`].
    pub fn of_hyper(hyper: Hyper, first: u64, count: usize) -> Result<Self> {
        within(count)?;
        let seed = |number: usize| first.wrapping_add(number as u64);
        let rows = (0..count).map(|number| Run { number, seed: seed(number), hyper, epochs: None }).collect();
        Ok(Self { rows, varied: BTreeSet::new() })
    }

    /// Returns a run for each of `count` seeds with each of the given hyperparameters, which have numbers of epochs of
    /// their own. The runs of a seed are adjacent, in the order of `kinds`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there would be no runs or more than 2^20.
    pub fn of_kinds(kinds: &[(Hyper, u64)], first: u64, count: usize) -> Result<Self> {
        within(count.saturating_mul(kinds.len()))?;
        let seeds = (0..count as u64).map(|place| first.wrapping_add(place));
        let runs = seeds.flat_map(|seed| kinds.iter().map(move |&(hyper, epochs)| (seed, hyper, epochs)));
        let row = |(number, (seed, hyper, epochs))| Run { number, seed, hyper, epochs: Some(epochs) };
        let differs = |name: &&str| kinds.windows(2).any(|pair| pair[0].0.get(name) != pair[1].0.get(name));
        // A dropout that is not set is NaN, which differs from itself.
        let set = |name: &&str| kinds.iter().any(|(hyper, _)| hyper.get(name).is_some_and(|value| !value.is_nan()));
        Ok(Self {
            rows: runs.enumerate().map(row).collect(),
            varied: Hyper::names().filter(set).filter(differs).collect(),
        })
    }

    /// Returns a run for each pair of a seed and hyperparameters.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there are no runs or more than 2^20.
    pub fn of_rows(rows: impl IntoIterator<Item = (u64, Hyper)>) -> Result<Self> {
        let row = |(number, (seed, hyper))| Run { number, seed, hyper, epochs: None };
        let rows: Vec<Run> = rows.into_iter().enumerate().map(row).collect();
        within(rows.len())?;
        // A dropout that is not set is NaN, which differs from itself.
        let bits = |hyper: &Hyper, name: &str| hyper.get(name).map(f64::to_bits);
        let varied =
            Hyper::names().filter(|name| rows.iter().any(|run| bits(&run.hyper, name) != bits(&rows[0].hyper, name)));
        Ok(Self { varied: varied.collect(), rows })
    }

    /// Replaces every run by one run for each of the values of the named hyperparameter.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there is no such hyperparameter, if a value is out of its range, or if there
    /// would be no runs or more than 2^20.
    pub fn grid(mut self, name: &str, values: &[f64]) -> Result<Self> {
        within(self.rows.len().saturating_mul(values.len()))?;
        let mut rows = Vec::with_capacity(self.rows.len() * values.len());
        for run in &self.rows {
            for &value in values {
                let mut hyper = run.hyper;
                hyper.set(name, value)?;
                rows.push(Run { number: rows.len(), hyper, ..run.clone() });
            }
        }
        if let Some(name) = Hyper::names().find(|known| *known == name && values.len() > 1) {
            self.varied.insert(name);
        }
        Ok(Self { rows, ..self })
    }

    /// Returns the runs.
    #[must_use]
    pub fn rows(&self) -> &[Run] {
        &self.rows
    }

    /// Returns the mean number of epochs, where runs that have none of their own have `epochs`.
    pub(super) fn mean_epochs(&self, epochs: u64) -> u64 {
        let all: u128 = self.rows.iter().map(|run| u128::from(run.epochs.unwrap_or(epochs))).sum();
        u64::try_from(all.div_ceil(self.rows.len().max(1) as u128)).unwrap_or(u64::MAX)
    }

    /// Returns the names of the hyperparameters that differ between runs.
    pub fn varied(&self) -> impl Iterator<Item = &'static str> {
        self.varied.iter().copied()
    }
}

fn within(count: usize) -> Result<()> {
    if (1..=MOST).contains(&count) {
        return Ok(());
    }
    Err(Error::domain("train", format!("expected 1 to {MOST} runs, found {count}")))
}
