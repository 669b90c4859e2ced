//! The accuracy on images of digits, beside that of torch.

use super::{Claim, check_counts, check_margin};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::experiment::spec::wrong;
use crate::experiment::statistics::{Equivalence, Estimate, Status};
use crate::features::generate;
use crate::io::{self, Roles, TableTargets, Wanted};
use crate::ops::mlp::{Activation, Loss, Mlp, Optimizer, Samples, Targets};
use crate::train::{Fold, Metric, Part, Runs, Split, Trainer};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The accuracies of torch 2.15 on the generated images, a line for each seed (`benches/verify_torch.py`).
const ACCURACIES: &str = include_str!("accuracies.txt");
/// The error rate of the test of equivalence.
const ALPHA: f64 = 0.05;
/// The greatest intensity of a pixel.
const GREATEST: f32 = 16.0;

/// The claim that the accuracy is that of torch: the mean over seeds of the mean over folds, with a 64-32-10 network,
/// Adam at 1e-3 and batches of 32.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Digits {
    /// The number of seeds.
    pub seeds: usize,
    /// The number of folds of each seed.
    pub folds: usize,
    /// The number of epochs.
    pub epochs: u64,
    /// The difference that does not matter.
    pub margin: f64,
    /// The number of generated images.
    pub samples: usize,
    /// A table of images instead, with the label in the last column.
    pub source: Option<PathBuf>,
    /// The accuracies of torch on that table, a line for each seed.
    pub torch: Option<PathBuf>,
}

impl Default for Digits {
    fn default() -> Self {
        Self { seeds: 50, folds: 5, epochs: 30, margin: 0.005, samples: 1797, source: None, torch: None }
    }
}

impl Digits {
    pub(super) fn check_parameters(&self) -> Result<()> {
        let Self { seeds, folds, epochs, margin, samples, source, torch } = self;
        let counts = [("seeds", seeds, 2), ("folds", folds, 2), ("samples", samples, 10 * *folds as u64)];
        check_counts(counts.map(|(name, count, least)| (name, *count as u64, least)))?;
        check_counts([("epochs", *epochs, 1)])?;
        match (source, torch) {
            (Some(source), None) => {
                let found = source.display();
                Err(wrong(format!("torch: expected the accuracies on the table, found source = \"{found}\" alone")))
            }
            (None, Some(torch)) => {
                let found = torch.display();
                Err(wrong(format!("source: expected the table of the accuracies, found torch = \"{found}\" alone")))
            }
            _ => check_margin("margin", *margin),
        }
    }

    pub(super) fn check(&self, ctx: &Context, seed: u64, folder: &Path) -> Result<Vec<Claim>> {
        let (samples, torch) = match self.source.as_ref().zip(self.torch.as_ref()) {
            None => (images(self.samples)?, accuracies(ACCURACIES, Path::new("accuracies.txt"))?),
            Some((source, torch)) => {
                let path = folder.join(torch);
                let text = std::fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
                (table(&folder.join(source))?, accuracies(&text, &path)?)
            }
        };
        let found = self.train(ctx, &samples, seed)?;
        let torch = &torch[..torch.len().min(self.seeds)];
        Ok(vec![self.judge(&found, torch)?])
    }

    /// Returns the accuracy of each seed.
    fn train(&self, ctx: &Context, samples: &Samples<f32>, seed: u64) -> Result<Vec<f64>> {
        let net = Mlp::builder(samples.inputs()).layer(32, Activation::Relu).output(10)?;
        let runs = Runs::seeds(Optimizer::Adam, seed, self.seeds)?;
        let mut sums = vec![0.0; self.seeds];
        for number in 0..self.folds {
            let fit = Trainer::new(net.clone(), Loss::CROSS_ENTROPY, Optimizer::Adam)
                .epochs(self.epochs)
                .split(Split { shares: [1.0, 0.0, 0.0], seed: None })
                .fold(Fold { number, of: self.folds })
                .fit(ctx, samples, &runs)?;
            for (sum, run) in sums.iter_mut().zip(fit.runs()) {
                *sum += run.scores(Part::Test).map_or(f64::NAN, |scores| Metric::Accuracy.of(scores));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of folds")]
        Ok(sums.into_iter().map(|sum| sum / self.folds as f64).collect())
    }

    /// Compares accuracies of as many seeds, which share nothing.
    fn judge(&self, found: &[f64], torch: &[f64]) -> Result<Claim> {
        let test = Equivalence::welch(found, torch, self.margin, ALPHA)?;
        let status = match test.interval {
            _ if test.equivalent => Status::Pass,
            Some(interval) if interval.low > self.margin || interval.high < -self.margin => Status::Fail,
            _ => Status::Undecided,
        };
        let [own, theirs] = [Estimate::of(found, 0.95)?, Estimate::of(torch, 0.95)?];
        let claim = Claim::judged(
            format!("the accuracy on digits is that of torch, within {}", self.margin),
            test.difference,
            test.interval,
            format!("two one-sided tests at {ALPHA}: the interval of the difference within {} of 0", self.margin),
            status,
        );
        Ok(claim.note(format!(
            "{:.4} (sd {:.4}, {} seeds), torch {:.4} (sd {:.4}, {} seeds), {} folds",
            own.mean, own.deviation, own.n, theirs.mean, theirs.deviation, theirs.n, self.folds
        )))
    }
}

/// Returns generated images, with intensities from 0 to 1.
pub(super) fn images(count: usize) -> Result<Samples<f32>> {
    let digits = generate::Digits::new(count, 1)?;
    let mut x = vec![0.0; 64 * count];
    x.chunks_mut(64).enumerate().for_each(|(sample, out)| digits.fill(sample, out));
    x.iter_mut().for_each(|x| *x /= GREATEST);
    #[expect(clippy::cast_possible_truncation, reason = "digits")]
    Samples::new(64, x, Targets::Labels((0..count).map(|sample| digits.class(sample) as u32).collect()))
}

/// Reads images, whose intensities are divided by 16.
fn table(path: &Path) -> Result<Samples<f32>> {
    let table = io::read_samples(path, Wanted::Labels(Roles::default()))?;
    let TableTargets::Labels(labels, _) = table.targets else {
        return Err(Error::parse(path, None, "labels in the last column", "none"));
    };
    #[expect(clippy::cast_possible_truncation, reason = "integers up to 16")]
    Samples::new(table.inputs, table.x.iter().map(|&x| x as f32 / GREATEST).collect(), Targets::Labels(labels))
}

/// Reads a number from each line.
fn accuracies(text: &str, path: &Path) -> Result<Vec<f64>> {
    let number = |(line, text): (u64, &str)| {
        let accuracy = text.trim().parse().ok().filter(|x: &f64| (0.0..=1.0).contains(x));
        accuracy.ok_or_else(|| Error::parse(path, Some(line), "an accuracy from 0 to 1", format!("{text:?}")))
    };
    (1..).zip(text.lines()).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The claim fails, or is undecided, where it should be.
    #[test]
    fn the_claim_can_fail() {
        let claim = Digits::default();
        let around = |mean: f64| (0..20).map(|i| mean + 0.002 * (f64::from(i) - 9.5) / 10.0).collect::<Vec<_>>();
        let status = |difference: f64| claim.judge(&around(0.97 + difference), &around(0.97)).unwrap().status;
        assert_eq!(status(0.0), Status::Pass);
        assert_eq!(status(0.002), Status::Pass);
        assert_eq!(status(0.005), Status::Undecided);
        assert_eq!(status(0.02), Status::Fail);
        assert_eq!(status(-0.02), Status::Fail);
    }
}
