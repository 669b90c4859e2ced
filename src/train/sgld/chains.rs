//! What sampling results in: the chains of every inverse temperature, their losses, and the bounds that follow.

use super::{Law, Sgld};
use crate::error::{Error, Result};
use crate::ops::mlp::{Loss, Number, Tensor};
use crate::train::bound::{Bound, Integral, Ladder};
use crate::train::fit::{Fit, Fitted};
use crate::train::split::Split;
use crate::train::statistics::Summary;
use crate::train::stop::{Metric, Part};
use crate::train::trainer::Scaling;
use std::fmt::Write as _;

/// The name of the file with the bounds.
pub const BOUNDS: &str = "bounds.csv";

/// The chains of an [`Sgld`], by inverse temperature. The place of an inverse temperature among [`Chains::betas`] is
/// its rung.
#[derive(Debug)]
pub struct Chains<T> {
    fit: Fit<T>,
    law: Law,
    betas: Vec<f64>,
    training_samples: usize,
    split: Split,
    scaling: Scaling,
}

impl<T: Number> Chains<T> {
    pub(super) fn new(sgld: &Sgld, fit: Fit<T>, training_samples: usize) -> Self {
        Self {
            fit,
            law: sgld.law,
            betas: sgld.betas.clone(),
            training_samples,
            split: sgld.trainer.split,
            scaling: sgld.trainer.scaling,
        }
    }

    /// Returns what is sampled.
    #[must_use]
    pub fn law(&self) -> Law {
        self.law
    }

    /// Returns the inverse temperatures.
    #[must_use]
    pub fn betas(&self) -> &[f64] {
        &self.betas
    }

    /// Returns the number of training samples.
    #[must_use]
    pub fn training_samples(&self) -> usize {
        self.training_samples
    }

    /// Returns the result of the training, in which each chain is a run.
    #[must_use]
    pub fn fit(&self) -> &Fit<T> {
        &self.fit
    }

    /// Returns the chains of a rung, in the order of their seeds.
    pub fn chains(&self, rung: usize) -> impl Iterator<Item = &Fitted<T>> {
        self.fit.runs().iter().filter(move |chain| self.rung(chain) == rung)
    }

    /// Returns the last parameters of the chain of a rung with the given place among the seeds: a sample of the law.
    ///
    /// # Panics
    /// If there is no such chain.
    #[must_use]
    pub fn parameters(&self, rung: usize, seed: usize) -> Vec<Tensor<T>> {
        assert!(rung < self.betas.len(), "rung {rung} of {}", self.betas.len());
        self.fit.weights(seed * self.betas.len() + rung)
    }

    /// Returns the statistics of a metric over the chains of a rung, those that diverged left out. A chain's metric is
    /// that of its last parameters on all samples of the part, not a mean over an epoch of changing parameters.
    #[must_use]
    pub fn summary(&self, part: Part, metric: Metric, rung: usize) -> Summary {
        self.fit.summary_of(part, metric, |chain| self.rung(chain) == rung)
    }

    /// Returns a bound on the expected loss at every inverse temperature, where the loss is scaled to `[0, 1]`:
    /// (L - a) / (b - a) for a loss in [a, b]. It is the bound of [`Ladder`] with the means over the chains, which
    /// count as exact. It holds with probability at least 1 - `delta` for one inverse temperature that is fixed
    /// beforehand.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the bound does not hold or cannot be computed: for [`Law::Gibbs`], whose prior
    /// depends on beta; for a loss without bounds; if the inputs are scaled by what the training samples say; if the
    /// chains have different training samples; if the betas do not begin with 0; if a chain diverged; or if `delta`
    /// does not lie between 0 and 1.
    pub fn bounds(&self, delta: f64, rule: Integral) -> Result<Vec<Bound>> {
        let bounds = self.ladder(delta)?.bounds(rule);
        Ok(self.with_own_betas(bounds))
    }

    /// Returns a bound on the expected 0-1 loss, which is 1 minus the accuracy, at every inverse temperature. The
    /// divergence is that of [`Chains::bounds`], since the chains sample by the loss and not by the 0-1 loss.
    ///
    /// # Errors
    /// The same as for [`Chains::bounds`].
    pub fn error_bounds(&self, delta: f64, rule: Integral) -> Result<Vec<Bound>> {
        let ladder = self.ladder(delta)?;
        let errors = self.means(|rung| 1.0 - self.summary(Part::Train, Metric::Accuracy, rung).mean);
        Ok(self.with_own_betas(ladder.bounds_of(rule, &errors)?))
    }

    /// Returns the mean loss of a part over the chains of a rung, scaled to `[0, 1]` as in [`Chains::bounds`], or
    /// `None` if the loss has no bounds.
    #[must_use]
    pub fn unit_loss(&self, part: Part, rung: usize) -> Option<f64> {
        let (least, width) = range(&self.fit.program.loss)?;
        // Rounding may exceed the bounds by a little.
        let scaled = (self.summary(part, Metric::Loss, rung).mean - least) / width;
        Some(if scaled.is_nan() { scaled } else { scaled.clamp(0.0, 1.0) })
    }

    /// Returns a table in CSV with a row for each chain, as [`Fit::table`] does, with a column for beta.
    #[must_use]
    pub fn table(&self) -> String {
        self.fit.table_with(&["beta"], |chain| vec![self.betas[self.rung(chain)].to_string()])
    }

    /// Returns a table in CSV with a row for each inverse temperature, each loss (`loss` scaled to `[0, 1]`, and
    /// `error`, the 0-1 loss) and each rule for the integral: the mean loss of the training samples, the divergence of
    /// the posterior from the prior, the bound on the expected loss, the bound on its difference from that of the
    /// training samples, and the mean loss of the test samples.
    ///
    /// # Errors
    /// The same as for [`Chains::bounds`].
    pub fn bounds_table(&self, delta: f64) -> Result<String> {
        let mut text = String::from("beta,measure,integral,train,divergence,bound,gap_bound,test\n");
        for rule in Integral::ALL {
            for (measure, bounds) in [("loss", self.bounds(delta, rule)?), ("error", self.error_bounds(delta, rule)?)] {
                for (rung, bound) in bounds.iter().enumerate() {
                    let test = match measure {
                        "loss" => self.unit_loss(Part::Test, rung).unwrap_or(f64::NAN),
                        _ => 1.0 - self.summary(Part::Test, Metric::Accuracy, rung).mean,
                    };
                    let Bound { beta, training, divergence, gap, expected, .. } = bound;
                    let _ = write!(text, "{beta},{measure},{},{training},{divergence},{expected},{gap},", rule.name());
                    let _ = if test.is_nan() { writeln!(text) } else { writeln!(text, "{test}") };
                }
            }
        }
        Ok(text)
    }

    fn rung(&self, chain: &Fitted<T>) -> usize {
        Sgld::rung(self.betas.len(), chain.run())
    }

    fn means(&self, of: impl FnMut(usize) -> f64) -> Vec<f64> {
        (0..self.betas.len()).map(of).collect()
    }

    /// Returns the factor of the scaled loss in the exponent, for each unit of beta.
    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
    fn factor(&self, width: f64) -> f64 {
        if self.law == Law::Posterior { width * self.training_samples as f64 } else { width }
    }

    fn ladder(&self, delta: f64) -> Result<Ladder> {
        let width = check_bound(self.law, &self.fit.program.loss, self.scaling, self.split)?;
        for (rung, beta) in self.betas.iter().enumerate() {
            let bad = self.chains(rung).filter(|chain| !chain.status().is_good()).count();
            if bad > 0 {
                let what = format!("expected chains that do not diverge, found {bad} that did at beta {beta}");
                return Err(Error::domain("bound", what));
            }
        }
        let factor = self.factor(width);
        let betas: Vec<f64> = self.betas.iter().map(|beta| beta * factor).collect();
        let losses = self.means(|rung| self.unit_loss(Part::Train, rung).unwrap_or(f64::NAN));
        Ladder::new(&betas, &losses, self.training_samples, delta)
    }

    fn with_own_betas(&self, bounds: Vec<Bound>) -> Vec<Bound> {
        bounds.into_iter().zip(&self.betas).map(|(bound, &beta)| Bound { beta, ..bound }).collect()
    }
}

/// Returns the width of the loss's range if chains with these settings have bounds.
///
/// # Errors
/// Those of [`Chains::bounds`] that depend on the settings alone.
pub(super) fn check_bound(law: Law, loss: &Loss, scaling: Scaling, split: Split) -> Result<f64> {
    let wrong = |what: &str| Err(Error::domain("bound", what));
    if law == Law::Gibbs {
        return wrong("expected a law whose prior is the same at every beta, pac-bayes or posterior, found gibbs");
    }
    if scaling != Scaling::None {
        return wrong("expected inputs as they are, found inputs scaled by the training samples");
    }
    if split.seed.is_none() {
        return wrong("expected the same training samples for all chains, found a split without a seed");
    }
    match range(loss) {
        Some((_, width)) => Ok(width),
        None => wrong(&format!(
            "expected a loss with bounds, such as the bounded cross entropy or the Savage loss, found the {loss}"
        )),
    }
}

/// Returns the least value of a loss and the width of its range, or `None` if it has no bounds.
fn range(loss: &Loss) -> Option<(f64, f64)> {
    match loss {
        Loss::BoundedCrossEntropy(most) => {
            let least = -(-(-most).exp()).ln_1p();
            Some((least, most - least))
        }
        Loss::Savage => Some((0.0, 1.0)),
        Loss::Tangent => Some((0.0, (std::f64::consts::PI + 1.0).powi(2))),
        _ => None,
    }
}
