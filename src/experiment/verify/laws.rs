//! Laws that hold without a peer: the law of chains, and equalities of trainings.

use super::{Claim, check_counts, check_margin, digits, judge};
use crate::cancel::Cancel;
use crate::context::{Context, ContextBuilder};
use crate::error::{Error, Result};
use crate::experiment::statistics::{Equivalence, Interval, Status};
use crate::ops::mlp::{Activation, Loss, MixedPrecision, Mlp, Number, Optimizer, Samples, Targets};
use crate::policy::Backend;
use crate::train::{Fit, Law, Metric, Part, Runs, Sgld, Split, Trainer};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The error rate of tests of equivalence.
const ALPHA: f64 = 0.05;
/// The images, the runs and the epochs of a training that is interrupted, which takes several rounds of 200 ms.
const IMAGES: usize = 1797;
const RESUMED: usize = 8;
const LONG: u64 = 150;
/// The standard normal quantile of the intervals, three standard errors, and their level.
const QUANTILE: f64 = 3.0;
const LEVEL: f64 = 0.9973;

/// The claims that need no peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Laws {
    /// The number of chains.
    pub chains: usize,
    /// The number of seeds in f32 and in f16.
    pub seeds: usize,
    /// The number of generated images.
    pub samples: usize,
    /// The number of epochs.
    pub epochs: u64,
    /// The difference of the accuracy that does not matter.
    pub margin: f64,
    /// Half the greatest width of the interval of a variance over its law's. A wrong temperature, curvature or noise
    /// moves a variance by more: those of the two laws differ by a half.
    pub variance_margin: f64,
}

impl Default for Laws {
    fn default() -> Self {
        Self { chains: 5000, seeds: 22, samples: 1797, epochs: 30, margin: 0.005, variance_margin: 0.1 }
    }
}

impl Laws {
    pub(super) fn check_parameters(&self) -> Result<()> {
        let Self { chains, seeds, samples, epochs, margin, variance_margin } = self;
        let counts = [("chains", chains, 1), ("seeds", seeds, 2), ("samples", samples, 20)];
        check_counts(counts.map(|(name, count, least)| (name, *count as u64, least)))?;
        check_counts([("epochs", *epochs, 1)])?;
        check_margin("margin", *margin)?;
        check_margin("variance_margin", *variance_margin)
    }

    pub(super) fn check(&self, ctx: &Context, seed: u64) -> Result<Vec<Claim>> {
        let samples = digits::images(self.samples)?;
        let mut claims = self.stationary(ctx, seed)?;
        claims.push(resumed(ctx, &digits::images(IMAGES)?, seed)?);
        claims.push(alone(ctx, &samples, seed)?);
        claims.push(self.mixed(ctx, &samples, seed)?);
        Ok(claims)
    }

    /// Compares the variance of chains of a linear model with their exact law. For one input with the values 0 and the
    /// inputs 1 and -1, the loss is w^2 + b^2. With the curvature h = 2 s + p, where s is the factor of the loss and p
    /// that of the prior, a step of size e at the inverse temperature beta has the stationary variance
    /// 1 / (beta h (1 - e h / 4)).
    #[expect(clippy::cast_precision_loss, reason = "a number of chains")]
    pub(super) fn stationary(&self, ctx: &Context, seed: u64) -> Result<Vec<Claim>> {
        let samples = Samples::new(1, vec![1.0_f64, -1.0, 1.0, -1.0], Targets::Values(vec![0.0; 4], 1))?;
        let (sigma, step, beta) = (0.7_f64, 0.05, 3.0);
        let prior = 1.0 / (sigma * sigma);
        let claim = |(law, scale, precision): (Law, f64, f64)| {
            let chains = Sgld::new(law, Mlp::builder(1).output(1)?, Loss::MeanSquares, sigma)
                .betas(&[beta])
                .epochs(&[250])
                .rates(&[step])
                .batch(4)
                .split(Split { shares: [1.0, 0.0, 0.0], seed: Some(0) })
                .seeds(seed, self.chains)
                .sample(ctx, &samples)?;
            let all: Vec<f64> =
                (0..self.chains).flat_map(|chain| chains.parameters(0, chain)).flat_map(|tensor| tensor.data).collect();
            let h = 2.0 * scale + precision;
            let wanted = 1.0 / (beta * h * (1.0 - step * h / 4.0));
            let n = all.len() as f64;
            let ratio = all.iter().map(|x| x * x).sum::<f64>() / n / wanted;
            // The variance of the mean of n squares of standard normals is 2 / n.
            let error = QUANTILE * (2.0 / n).sqrt();
            let interval = Interval { low: ratio - error, high: ratio + error, level: LEVEL };
            let status = judge(!interval.contains(1.0), interval, self.variance_margin);
            let statement = format!("chains of the law {} have their stationary variance", law.name());
            Ok(Claim::judged(
                statement,
                ratio,
                Some(interval),
                format!(
                    "the interval of the ratio to the exact one has 1, and is at most {} to either side",
                    self.variance_margin
                ),
                status,
            )
            .note(format!("{} chains of a linear model, beta {beta}", self.chains)))
        };
        [(Law::PacBayes, 1.0, prior / beta), (Law::Gibbs, 1.0, prior)].into_iter().map(claim).collect()
    }

    /// Compares the accuracies of the same seeds in f32 and with products of f16 numbers.
    fn mixed(&self, ctx: &Context, samples: &Samples<f32>, seed: u64) -> Result<Claim> {
        let runs = Runs::seeds(Optimizer::Adam, seed, self.seeds)?;
        let accuracies = |mixed| {
            let trainer = trainer(samples)?.epochs(self.epochs).mixed_precision(mixed);
            trainer.fit(ctx, samples, &runs).map(|fit| accuracies(&fit))
        };
        let (narrow, full) = (accuracies(MixedPrecision::F16)?, accuracies(MixedPrecision::Off)?);
        equivalent("f16 loses no accuracy", &narrow, &full, self.margin)
    }
}

/// Returns the trainer of a 64-32-10 network.
pub(super) fn trainer(samples: &Samples<f32>) -> Result<Trainer> {
    let net = Mlp::builder(samples.inputs()).layer(32, Activation::Relu).output(10)?;
    Ok(Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).split(Split { shares: [0.8, 0.0, 0.2], seed: None }))
}

/// Returns the test accuracy of each run.
pub(super) fn accuracies<T: Number>(fit: &Fit<T>) -> Vec<f64> {
    let of = |scores| Metric::Accuracy.of(scores);
    fit.runs().iter().map(|run| run.scores(Part::Test).map_or(f64::NAN, of)).collect()
}

/// Returns the claim that two ways of training the same seeds are equally accurate.
pub(super) fn equivalent(statement: &str, one: &[f64], other: &[f64], margin: f64) -> Result<Claim> {
    let differences: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - b).collect();
    let test = Equivalence::tost(&differences, margin, ALPHA)?;
    let apart = test.interval.is_some_and(|interval| interval.low > margin || interval.high < -margin);
    let status = match (test.equivalent, apart) {
        (true, _) => Status::Pass,
        (false, true) => Status::Fail,
        (false, false) => Status::Undecided,
    };
    let rule = format!("two one-sided tests at {ALPHA} of paired differences, margin {margin}");
    Ok(Claim::judged(statement, test.difference, test.interval, rule, status)
        .note(format!("{} seeds with the same divisions", differences.len())))
}

/// Returns the numbers of every run as bits.
fn bits<T: Number>(fit: &Fit<T>, run: usize) -> Vec<u64> {
    fit.weights(run).iter().flat_map(|tensor| tensor.data.iter().map(|x| x.to_f64().to_bits())).collect()
}

/// Returns how many of the pairs of numbers differ; all, if their numbers differ.
fn differing(one: &[u64], other: &[u64]) -> usize {
    if one.len() == other.len() {
        one.iter().zip(other).filter(|(a, b)| a != b).count()
    } else {
        one.len().max(other.len())
    }
}

/// Interrupts a training several times, and compares its result with one that was not.
fn resumed(ctx: &Context, samples: &Samples<f32>, seed: u64) -> Result<Claim> {
    let runs = Runs::seeds(Optimizer::Adam, seed, RESUMED)?;
    let cpu = ctx.with_backend(Backend::Cpu);
    let whole = trainer(samples)?.epochs(LONG).fit(&cpu, samples, &runs)?;
    let folder = tempfile::tempdir().map_err(|error| Error::io("create", &std::env::temp_dir(), error))?;
    let path = folder.path().join("checkpoint.safetensors");
    let mut interruptions = 0;
    let fit = loop {
        let cancel = Cancel::new();
        let rounds = AtomicUsize::new(0);
        let switch = cancel.clone();
        let stop = Arc::new(move |progress: &crate::train::Progress| {
            // In the first round, while there is something left.
            if rounds.fetch_add(1, Ordering::Relaxed) == 0 && progress.ended < progress.runs {
                switch.cancel();
            }
        });
        let trainer = trainer(samples)?.epochs(LONG).checkpoint(&path, Duration::from_secs(3600));
        let trainer = if interruptions < 3 { trainer.progress(stop) } else { trainer };
        ctx.cancel().check()?;
        // On one thread, so that it takes several rounds on any machine.
        let own = ContextBuilder::on_threads(1, cancel)?;
        match trainer.fit(&own, samples, &runs) {
            Err(error) if error.is_cancelled() => interruptions += 1,
            found => break found?,
        }
    };
    let differ: usize = (0..RESUMED).map(|run| differing(&bits(&fit, run), &bits(&whole, run))).sum();
    Ok(Claim::exact(
        "a training that was interrupted and resumed has the same bits",
        differ as f64,
        "no parameter differs",
        differ == 0 && interruptions > 0,
    )
    .note(format!("interrupted {interruptions} times")))
}

/// Trains a run alone and beside others, on one thread and on all.
fn alone(ctx: &Context, samples: &Samples<f32>, seed: u64) -> Result<Claim> {
    let beside = trainer(samples)?.epochs(5).fit(ctx, samples, &Runs::seeds(Optimizer::Adam, seed, 8)?)?;
    let mut differ = 0;
    for run in [0, 7] {
        let runs = Runs::seeds(Optimizer::Adam, seed + run as u64, 1)?;
        let alone = trainer(samples)?.epochs(5).fit(ctx, samples, &runs)?;
        differ += differing(&bits(&alone, 0), &bits(&beside, run));
    }
    let statement = "a run has the same bits alone and beside others";
    Ok(Claim::exact(statement, differ as f64, "no parameter differs", differ == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalence_can_fail() {
        let around = |mean: f64| (0..20).map(|i| mean + 0.001 * f64::from(i % 5)).collect::<Vec<_>>();
        let spread = |mean: f64| (0..20).map(|i| mean + 0.002 * f64::from(i % 3)).collect::<Vec<_>>();
        let status = |one: f64| equivalent("x", &spread(one), &around(0.97), 0.005).unwrap().status;
        assert_eq!((status(0.97), status(0.9), status(0.9755)), (Status::Pass, Status::Fail, Status::Undecided));
    }
}
