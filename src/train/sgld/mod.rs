//! Sampling of network parameters at a ladder of inverse temperatures, through the trainer.
//!
//! A *chain* is a run that samples parameters instead of minimizing the loss. A *rung* is the place of an inverse
//! temperature in the ladder, in ascending order. [`Sgld`] makes runs of the law and the ladder, each with
//! hyperparameters and a number of epochs of its own, and a [`Trainer`] trains them. [`Chains`] has the results by
//! temperature. The generalization bound (`bound.rs`) is computed from the losses alone.

mod chains;

pub use chains::{BOUNDS, Chains};

use super::bound::check_increasing;
use super::schedule::Schedule;
use super::split::Split;
use super::trainer::{OnProgress, Scaling, Trainer};
use super::{Run, Runs};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::mlp::{Hyper, Init, Loss, Mlp, Norm, Number, Optimizer, Samples};
use crate::policy::Choice;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// The seed of the first chain, and of the division of the samples.
const SEED: u64 = 42;

/// What is sampled at inverse temperature beta. L is the mean loss of the N training samples, w are all parameters, and
/// sigma is the standard deviation of the prior, a normal distribution with mean 0. At beta = 0, all of them are the
/// prior.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// exp(-beta L) times the prior: the Gibbs posterior of PAC-Bayesian theory, for which the bound holds.
    PacBayes,
    /// exp(-beta (L + |w|^2 / (2 sigma^2))): the prior is tempered, too, so it narrows as beta grows. The law is not
    /// continuous at beta = 0, and the bound does not hold.
    Gibbs,
    /// exp(-beta N L) times the prior. If L is a mean of negative log likelihoods, beta = 1 is the Bayesian posterior.
    Posterior,
}

impl Law {
    /// All laws.
    pub const ALL: [Self; 3] = [Self::PacBayes, Self::Gibbs, Self::Posterior];

    /// Returns the name: `pac-bayes`, `gibbs` or `posterior`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PacBayes => "pac-bayes",
            Self::Gibbs => "gibbs",
            Self::Posterior => "posterior",
        }
    }

    /// Returns the hyperparameters of SGLD whose law is this one.
    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
    fn hyper(self, beta: f64, sigma: f64, rate: f64, samples: usize) -> Hyper {
        let precision = 1.0 / (sigma * sigma);
        Hyper {
            learning_rate: rate,
            temperature: 1.0 / beta,
            gradient_scale: if self == Self::Posterior { samples as f64 } else { 1.0 },
            // The temperature is that of the sum, so a prior that is not tempered is divided by beta first.
            prior_precision: if self == Self::Gibbs || beta == 0.0 { precision } else { precision / beta },
            ..Optimizer::Sgld.defaults()
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Samples the parameters of a network by stochastic gradient Langevin dynamics ([`Optimizer::Sgld`]), with several
/// independent chains at each of several inverse temperatures. All chains are trained at once by a [`Trainer`].
///
/// A chain's sample is its last state, so the samples of an inverse temperature are independent of each other, and
/// their standard errors are those of independent numbers. There is no stopping rule and there are no best parameters,
/// because a choice by the loss would change the law.
///
/// A step of size e is `w - e/2 (s g + p w) + sqrt(e / beta) xi`, where g is the gradient of the mean loss of a batch,
/// s is 1, or N for [`Law::Posterior`], and p is 1 / sigma^2 for [`Law::Gibbs`] and 1 / (beta sigma^2) otherwise. Its
/// law is the wanted one for small steps, all samples in each batch, and many steps. At beta = 0, every step draws from
/// the prior itself.
///
/// ```
/// use fiedler::Context;
/// use fiedler::train::{Activation, Integral, Loss, Metric, Mlp, Part, Samples, Sgld, Split, Targets};
///
/// // 150 points, and on which side of a line they lie.
/// let x: Vec<f32> = (0..300).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect();
/// let labels = x.chunks(2).map(|x| u32::from(x[0] + 0.5 * x[1] > 0.0)).collect();
/// let samples = Samples::new(2, x, Targets::Labels(labels))?;
///
/// let net = Mlp::builder(2).layer(8, Activation::Relu).output(1)?;
/// let chains = Sgld::pac_bayes(net, Loss::BoundedCrossEntropy(4.0), 1.0)
///     .betas(&[0.0, 1.0, 10.0])
///     .epochs(&[1, 20, 60]) // one for each beta
///     .rates(&[0.1])
///     .batch(50)
///     .split(Split { shares: [2.0 / 3.0, 0.0, 1.0 / 3.0], seed: Some(1) })
///     .seeds(42, 20)
///     .sample(&Context::cpu(), &samples)?;
/// let loss = |rung| chains.summary(Part::Train, Metric::Loss, rung).mean;
/// assert!(loss(2) < loss(0)); // the larger beta, the smaller the loss
/// let bounds = chains.bounds(0.05, Integral::UpperSum)?;
/// assert!(bounds[2].expected > bounds[2].training && bounds[2].expected < 1.0);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sgld {
    law: Law,
    sigma: f64,
    betas: Vec<f64>,
    epochs: Vec<u64>,
    rates: Vec<f64>,
    first_seed: u64,
    repetitions: usize,
    trainer: Trainer,
}

impl Sgld {
    /// Creates a sampler of a law with the given deviation of the prior. It has beta = 1, 100 epochs, a step size of
    /// 0.01, batches of 32 samples (or all training samples, if they are fewer), 10 chains that begin in the prior, and
    /// a division of the samples into 0.8 for training and 0.2 for test that all chains share.
    #[must_use]
    pub fn new(law: Law, net: Mlp, loss: Loss, sigma: f64) -> Self {
        let split = Split { shares: [0.8, 0.0, 0.2], seed: Some(SEED) };
        Self {
            law,
            sigma,
            betas: vec![1.0],
            epochs: vec![100],
            rates: vec![Optimizer::Sgld.defaults().learning_rate],
            first_seed: SEED,
            repetitions: 10,
            trainer: Trainer::new(net, loss, Optimizer::Sgld).init(Init::Normal(sigma)).split_if_possible(split),
        }
    }

    /// Creates a sampler of [`Law::PacBayes`].
    #[must_use]
    pub fn pac_bayes(net: Mlp, loss: Loss, sigma: f64) -> Self {
        Self::new(Law::PacBayes, net, loss, sigma)
    }

    /// Creates a sampler of [`Law::Gibbs`].
    #[must_use]
    pub fn gibbs(net: Mlp, loss: Loss, sigma: f64) -> Self {
        Self::new(Law::Gibbs, net, loss, sigma)
    }

    /// Creates a sampler of [`Law::Posterior`].
    #[must_use]
    pub fn posterior(net: Mlp, loss: Loss, sigma: f64) -> Self {
        Self::new(Law::Posterior, net, loss, sigma)
    }

    /// Sets the inverse temperatures, which increase.
    #[must_use]
    pub fn betas(self, betas: &[f64]) -> Self {
        Self { betas: betas.to_vec(), ..self }
    }

    /// Sets the number of epochs: one number for each beta, or one for all but beta = 0, where one epoch suffices.
    #[must_use]
    pub fn epochs(self, epochs: &[u64]) -> Self {
        Self { epochs: epochs.to_vec(), ..self }
    }

    /// Sets the step size: one number for each beta, or one for all. The schedule multiplies it.
    #[must_use]
    pub fn rates(self, rates: &[f64]) -> Self {
        Self { rates: rates.to_vec(), ..self }
    }

    /// Sets the number of chains at each beta, and the seed of the first one. Chains of different betas with the same
    /// seed have the same initial parameters, batches and noise.
    #[must_use]
    pub fn seeds(self, first: u64, count: usize) -> Self {
        Self { first_seed: first, repetitions: count, ..self }
    }

    /// Sets the number of samples of a step. With fewer than all, the noise of the gradients widens the law.
    #[must_use]
    pub fn batch(self, batch: usize) -> Self {
        self.with(|trainer| trainer.batch(batch))
    }

    /// Sets the law of the initial parameters, instead of the prior.
    #[must_use]
    pub fn init(self, init: Init) -> Self {
        self.with(|trainer| trainer.init(init))
    }

    /// Sets the schedule of the step size, which must not depend on the loss: any but [`Schedule::Plateau`].
    #[must_use]
    pub fn schedule(self, schedule: Schedule) -> Self {
        self.with(|trainer| trainer.schedule(schedule))
    }

    /// Sets the number of epochs in which the step size rises linearly to that of the schedule.
    #[must_use]
    pub fn warm_up(self, epochs: u64) -> Self {
        self.with(|trainer| trainer.warm_up(epochs))
    }

    /// Sets how the data set is divided. Without a seed, each chain divides it by its own, and there is no bound.
    #[must_use]
    pub fn split(self, split: Split) -> Self {
        self.with(|trainer| trainer.split(split))
    }

    /// Does the same, but of a small data set, parts may have no samples ([`Trainer::split_if_possible`]).
    #[must_use]
    pub fn split_if_possible(self, split: Split) -> Self {
        self.with(|trainer| trainer.split_if_possible(split))
    }

    /// Takes the parts as the data set has them ([`Trainer::parts`]).
    #[must_use]
    pub fn parts(self, samples: [usize; 3]) -> Self {
        self.with(|trainer| trainer.parts(samples))
    }

    /// Returns what is made to fit a data set of `samples` samples, in words ([`Trainer::adjustments`]).
    #[must_use]
    pub fn adjustments(&self, samples: usize) -> Vec<String> {
        self.trainer.adjustments(samples)
    }

    /// Sets how inputs are scaled.
    #[must_use]
    pub fn scaling(self, scaling: Scaling) -> Self {
        self.with(|trainer| trainer.scaling(scaling))
    }

    /// Does the same as [`Trainer::checkpoint`].
    #[must_use]
    pub fn checkpoint(self, path: &Path, every: Duration) -> Self {
        self.with(|trainer| trainer.checkpoint(path, every))
    }

    /// Sets a function that is told of the progress.
    #[must_use]
    pub fn progress(self, on_progress: OnProgress) -> Self {
        self.with(|trainer| trainer.progress(on_progress))
    }

    fn with(self, change: impl FnOnce(Trainer) -> Trainer) -> Self {
        Self { trainer: change(self.trainer), ..self }
    }

    /// Runs all chains. Chain r of beta number b is run `r * betas + b` of [`Chains::fit`].
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a beta, the deviation of the prior, a step size or a number of epochs is out of
    /// its range, if there are neither one nor as many of them as betas, if a step size is so large that the prior
    /// alone makes a chain diverge (4 or more over the p of the step), if the network has dropout or batch
    /// normalization, whose losses are no functions of the parameters, or if the schedule depends on the loss; and the
    /// errors of [`Trainer::fit`].
    pub fn sample<T: Number>(&self, ctx: &Context, samples: &Samples<T>) -> Result<Chains<T>> {
        let training = self.trainer.counts(samples.len())?[0];
        let runs = self.runs(training)?;
        let fit = self.trainer.fit(ctx, samples, &runs)?;
        Ok(Chains::new(self, fit, training))
    }

    /// Compares a finished training with these settings, as [`Trainer::check_finished`] does.
    ///
    /// # Errors
    /// The errors of [`Trainer::check_finished`].
    pub fn check_finished<T: Number>(&self, ctx: &Context, samples: &Samples<T>, weights: &Path) -> Result<()> {
        let runs = self.runs(self.trainer.counts(samples.len())?[0])?;
        let trainer = self.trainer.clone().row_group(samples.len());
        trainer.check_finished(ctx, samples, &runs, weights)
    }

    /// Returns where the chains of a data set of `samples` samples would run, and why, as [`Trainer::choose`] does.
    ///
    /// # Errors
    /// Those of [`Sgld::sample`] that do not depend on the samples.
    pub fn choose<T: Number>(&self, ctx: &Context, samples: usize) -> Result<Choice> {
        let runs = self.runs(self.trainer.counts(samples)?[0])?;
        self.trainer.choose_of::<T>(ctx, samples, runs.rows().len(), runs.mean_epochs(0))
    }

    /// Returns the runs of all chains, for the given number of training samples: the chains of the first seed at every
    /// beta, those of the second seed, and so on.
    ///
    /// # Errors
    /// Those of [`Sgld::sample`] that do not depend on the samples.
    pub fn runs(&self, training_samples: usize) -> Result<Runs> {
        let wrong = |what: String| Err(Error::domain("sample", what));
        let sigma = self.sigma;
        if !(sigma > 0.0 && sigma.is_finite()) {
            return wrong(format!("expected a finite deviation of the prior above 0, found {sigma}"));
        }
        if self.betas.is_empty() {
            return wrong("expected at least one beta, found none".to_owned());
        }
        check_increasing("sample", &self.betas)?;
        for (what, count) in [("numbers of epochs", self.epochs.len()), ("step sizes", self.rates.len())] {
            if ![1, self.betas.len()].contains(&count) {
                return wrong(format!("{what}: expected 1 or {}, one for each beta, found {count}", self.betas.len()));
            }
        }
        if let Schedule::Plateau { .. } = self.trainer.schedule {
            return wrong("expected a schedule that does not depend on the loss, found a plateau's".to_owned());
        }
        for (place, layer) in self.trainer.net.layers().iter().enumerate() {
            let found = if layer.norm == Norm::Batch { "batch normalization" } else { "dropout" };
            if layer.norm == Norm::Batch || layer.dropout > 0.0 {
                return wrong(format!(
                    "expected a loss that is a function of the parameters alone, found {found} in layer {place}"
                ));
            }
        }
        let mut kinds = Vec::with_capacity(self.betas.len());
        for (place, &beta) in self.betas.iter().enumerate() {
            let of = |numbers: usize| if numbers == 1 { 0 } else { place };
            let (rate, epochs) = (self.rates[of(self.rates.len())], self.epochs[of(self.epochs.len())]);
            let epochs = if beta == 0.0 && self.epochs.len() == 1 { epochs.min(1) } else { epochs };
            if !(rate > 0.0 && rate.is_finite()) {
                return wrong(format!("beta {beta}: expected a finite step size above 0, found {rate}"));
            }
            if epochs == 0 {
                return wrong(format!("beta {beta}: expected at least 1 epoch, found 0"));
            }
            let hyper = self.law.hyper(beta, sigma, rate, training_samples);
            hyper.check(Optimizer::Sgld).map_err(|error| Error::domain("sample", format!("beta {beta}: {error}")))?;
            let most = 4.0 / hyper.prior_precision;
            if beta > 0.0 && rate >= most {
                return wrong(format!("beta {beta}: expected a step size below {most}, found {rate}"));
            }
            kinds.push((hyper, epochs));
        }
        Runs::of_kinds(&kinds, self.first_seed, self.repetitions)
    }

    /// Checks that [`Chains::bounds`] will have bounds, as far as the settings decide it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`], as [`Chains::bounds`].
    pub fn check_bound(&self) -> Result<()> {
        if self.betas.first() != Some(&0.0) {
            let first = self.betas.first().map_or_else(|| "none".to_owned(), f64::to_string);
            return Err(Error::domain("bound", format!("expected betas that begin with 0, found {first}")));
        }
        chains::check_bound(self.law, &self.trainer.loss, self.trainer.scaling, self.trainer.split)?;
        Ok(())
    }

    /// Returns the place of a run's beta.
    fn rung(betas: usize, run: &Run) -> usize {
        run.number % betas
    }
}
