//! `fiedler train --sgld`: samples parameters at a ladder of inverse temperatures, and bounds their expected losses.

use super::super::columns::About;
use super::super::values::{not_negative, positive};
use super::super::{Failure, Outcome, many, print};
use super::options::{NormName, Precision};
use super::report::{add_ended, ended, mean, number};
use super::{Train, outcome, wrong};
use clap::{Args, ValueEnum};
use fiedler::Error;
use fiedler::io::{self, Findings};
use fiedler::train::{
    BOUNDS, Bound, Chains, Integral, Law, Metric, Mlp, Number, Origin, Part, Samples, Schedule, Sgld, Split, Summary,
    WEIGHTS,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Why mixed precision is refused.
pub(super) const PRECISION: &str = "--sgld: expected --precision f32 or f64, because rounding changes the law";

/// The metrics of the printed table: the loss, and the accuracy, which is shown as an error.
const METRICS: [(Part, Metric); 4] = [
    (Part::Train, Metric::Loss),
    (Part::Test, Metric::Loss),
    (Part::Train, Metric::Accuracy),
    (Part::Test, Metric::Accuracy),
];

#[derive(Debug, Args)]
pub(super) struct Sampling {
    /// Sample the parameters by Langevin dynamics at each inverse temperature of --betas, instead of minimizing the
    /// loss.
    #[arg(long)]
    pub(super) sgld: bool,
    /// --sgld: the inverse temperatures, in increasing order; 0 draws from the prior.
    #[arg(long, value_name = "BETA,..", value_delimiter = ',', value_parser = not_negative, requires = "sgld")]
    betas: Vec<f64>,
    /// --sgld: the standard deviation of the prior, a normal distribution of all parameters [default: 1].
    #[arg(long, value_name = "SIGMA", value_parser = positive, requires = "sgld")]
    sigma: Option<f64>,
    /// --sgld: what is sampled [default: pac-bayes].
    #[arg(long, value_enum, requires = "sgld")]
    preset: Option<Preset>,
    /// --sgld: bound the expected loss at each beta, by the mean training losses from beta = 0 on.
    #[arg(long, requires = "sgld")]
    bound: bool,
    /// --bound: the probability with which the bound may fail [default: 0.05].
    #[arg(long, value_name = "P", value_parser = probability, requires = "bound")]
    delta: Option<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Preset {
    /// exp(-beta L) times the prior, where L is the mean training loss.
    PacBayes,
    /// exp(-beta (L + |w|^2 / (2 sigma^2))); the prior narrows as beta grows, so there is no bound.
    Gibbs,
    /// exp(-beta N L) times the prior, for N training samples.
    Posterior,
}

impl From<Preset> for Law {
    fn from(preset: Preset) -> Self {
        match preset {
            Preset::PacBayes => Self::PacBayes,
            Preset::Gibbs => Self::Gibbs,
            Preset::Posterior => Self::Posterior,
        }
    }
}

fn probability(text: &str) -> Result<f64, String> {
    let value = text.trim().parse().ok().filter(|value: &f64| *value > 0.0 && *value < 1.0);
    value.ok_or_else(|| "expected a number between 0 and 1".to_owned())
}

impl Train {
    /// Refuses options that change the law of the chains or have no effect on them.
    pub(super) fn check_sampling(&self) -> Result<(), Failure> {
        if matches!(self.precision, Precision::F16 | Precision::Bf16) {
            return Err(Failure::Call(PRECISION.to_owned()));
        }
        let changed = "no --sgld, whose law it would change";
        let own = "no --sgld, which sets it by --betas, --sigma and --preset";
        for (given, option, wanted) in [
            (self.optimizer.is_some(), "--optimizer", "no --sgld, which is an optimizer itself"),
            (!self.temperature.is_empty(), "--temperature", own),
            (!self.prior_precision.is_empty(), "--prior-precision", own),
            (!self.momentum.is_empty(), "--momentum", changed),
            (!self.weight_decay.is_empty(), "--weight-decay", own),
            (!self.l1.is_empty(), "--l1", changed),
            (!self.clip.is_empty(), "--clip", changed),
            (!self.dropout.is_empty(), "--dropout", changed),
            (!self.settings.is_empty(), "--set", own),
            (matches!(self.norm, NormName::Batch), "--norm batch", changed),
            (self.stop.is_some(), "--stop", changed),
            (matches!(self.schedule, Schedule::Plateau { .. }), "--schedule plateau", changed),
        ] {
            if given {
                return Err(Failure::Call(format!("{option}: expected {wanted}")));
            }
        }
        if self.sampling.betas.is_empty() && self.law() != Law::Posterior {
            return Err(Failure::Call("--sgld: expected --betas, such as 0,1,10, or --preset posterior".to_owned()));
        }
        Ok(())
    }

    fn law(&self) -> Law {
        self.sampling.preset.map_or(Law::PacBayes, Law::from)
    }

    fn delta(&self) -> f64 {
        self.sampling.delta.unwrap_or(0.05)
    }

    fn sgld(&self, net: Mlp) -> Sgld {
        let mut sgld = Sgld::new(self.law(), net, self.loss(), self.sampling.sigma.unwrap_or(1.0))
            .epochs(&self.epochs())
            .seeds(self.seed, self.count())
            .schedule(self.schedule)
            .warm_up(self.warm_up)
            .scaling(self.scale.into());
        if let Some(batch) = self.batch {
            sgld = sgld.batch(batch);
        }
        let split = Split { shares: self.split(), seed: Some(self.split_seed.unwrap_or(self.seed)) };
        sgld = if self.split.is_some() { sgld.split(split) } else { sgld.split_if_possible(split) };
        if !self.sampling.betas.is_empty() {
            sgld = sgld.betas(&self.sampling.betas);
        }
        if !self.lr.is_empty() {
            sgld = sgld.rates(&self.lr);
        }
        match self.init() {
            Some(init) => sgld.init(init),
            None => sgld,
        }
    }

    /// Samples, writes the files and reports.
    pub(super) fn sample<T: Number>(
        &self,
        samples: &Samples<T>,
        net: Mlp,
        origin: &Origin,
        findings: &Findings,
    ) -> Result<Outcome, Failure> {
        let mut sgld = self.sgld(net);
        if let Some(parts) = findings.parts {
            sgld = sgld.parts(parts);
        }
        let adjustments = sgld.adjustments(samples.len());
        // What the options alone make wrong; the number of samples only scales the exponent.
        sgld.runs(1).map_err(wrong)?;
        if self.sampling.bound {
            sgld.check_bound().map_err(wrong)?;
        }
        let ctx = &self.context(|ctx| sgld.choose::<T>(ctx, samples.len()))?;
        if self.is_finished() {
            return self.compared(sgld.check_finished(ctx, samples, &self.output.join(WEIGHTS)));
        }
        let work =
            |path: &Path, every, progress| sgld.clone().checkpoint(path, every).progress(progress).sample(ctx, samples);
        let (chains, seconds) = self.in_folder(work)?;
        let bounds = self.sampling.bound.then(|| Bounds::of(&chains, self.delta()));
        if let Some(Ok(_)) = &bounds {
            io::write_text(&self.output.join(BOUNDS), &chains.bounds_table(self.delta())?)?;
        }
        self.store(chains.fit(), &chains.table(), origin)?;
        if !self.quiet {
            let done = Done { chains: &chains, bounds, delta: self.delta(), seconds, threads: ctx.threads() };
            let about = About { inputs: samples.inputs(), findings, classes: &origin.classes };
            print(if self.json {
                about.added_to(done.as_json(), &adjustments).to_string()
            } else {
                let one_class = chains.fit().parts_of_one_class(&origin.classes);
                let one_class: String = one_class.iter().map(|words| format!("\n  {words}")).collect();
                done.words() + &one_class + &about.words(&adjustments)
            });
        }
        Ok(outcome(chains.fit()))
    }
}

/// The bounds on the loss and on the 0-1 loss, with upper sums for the integral.
struct Bounds {
    loss: Vec<Bound>,
    error: Vec<Bound>,
}

impl Bounds {
    fn of<T: Number>(chains: &Chains<T>, delta: f64) -> Result<Self, Error> {
        let rule = Integral::UpperSum;
        Ok(Self { loss: chains.bounds(delta, rule)?, error: chains.error_bounds(delta, rule)? })
    }
}

/// What is printed after sampling.
struct Done<'a, T> {
    chains: &'a Chains<T>,
    /// The bounds, if they were asked for, or why there are none.
    bounds: Option<Result<Bounds, Error>>,
    delta: f64,
    seconds: f64,
    threads: usize,
}

impl<T: Number> Done<'_, T> {
    /// Returns the summary of a metric, in which an accuracy has become an error.
    fn summary(&self, rung: usize, part: Part, metric: Metric) -> Summary {
        let found = self.chains.summary(part, metric, rung);
        if metric == Metric::Accuracy { Summary { mean: 1.0 - found.mean, ..found } } else { found }
    }

    /// Returns the loss and the 0-1 loss of the test samples, the loss scaled to `[0, 1]`.
    fn tested(&self, rung: usize) -> [f64; 2] {
        let loss = self.chains.unit_loss(Part::Test, rung).unwrap_or(f64::NAN);
        [loss, self.summary(rung, Part::Test, Metric::Accuracy).mean]
    }

    fn words(&self) -> String {
        let (chains, fit) = (self.chains, self.chains.fit());
        let mut text = format!(
            "{} of {} ({} parameters), {}, {} at {}: {}",
            many(fit.runs().len(), "chain", "chains"),
            fit.net(),
            fit.net().parameters(),
            many(chains.training_samples(), "training sample", "training samples"),
            chains.law(),
            many(chains.betas().len(), "beta", "betas"),
            ended(fit, self.seconds, self.threads),
        );
        let shown = METRICS.into_iter().filter(|&(part, metric)| {
            (0..chains.betas().len()).any(|rung| self.summary(rung, part, metric).mean.is_finite())
        });
        let shown: Vec<(Part, Metric)> = shown.collect();
        let name = |&(part, metric): &(Part, Metric)| {
            format!("{}.{}", part.name(), if metric == Metric::Accuracy { "error" } else { metric.name() })
        };
        let mut rows = vec![["beta", "chains"].map(str::to_owned).into_iter().chain(shown.iter().map(name)).collect()];
        let mut several = false;
        for (rung, beta) in chains.betas().iter().enumerate() {
            let found: Vec<Summary> = shown.iter().map(|&(part, metric)| self.summary(rung, part, metric)).collect();
            let good = found.first().map_or(0, |found| found.n);
            several |= good > 1;
            let with_interval = |found: &Summary| match found.n {
                0 => "-".to_owned(),
                1 => format!("{:.4}", found.mean),
                _ => format!("{:.4} +- {:.4}", found.mean, found.half_width),
            };
            let first = [beta.to_string(), good.to_string()];
            rows.push(first.into_iter().chain(found.iter().map(with_interval)).collect());
        }
        text.push_str(&aligned(&rows));
        text.push_str(if several {
            "\n  means over the chains, with 95 % intervals"
        } else {
            "\n  of one chain, so without intervals"
        });
        match &self.bounds {
            None => {}
            Some(Err(error)) => {
                let _ = write!(text, "\n  no bound: {error}");
            }
            Some(Ok(bounds)) => text.push_str(&self.bounds_in_words(bounds)),
        }
        text
    }

    fn bounds_in_words(&self, bounds: &Bounds) -> String {
        let mut text = format!(
            "\n  bounds on expected losses, each with probability {}; the loss is scaled to [0, 1]; \
             means count as exact",
            1.0 - self.delta
        );
        let names = ["beta", "KL", "train.loss", "test.loss", "bound", "train.error", "test.error", "bound"];
        let mut rows = vec![names.map(str::to_owned).to_vec()];
        for (rung, (loss, error)) in bounds.loss.iter().zip(&bounds.error).enumerate() {
            let [test_loss, test_error] = self.tested(rung);
            let numbers = [loss.training, test_loss, loss.expected, error.training, test_error, error.expected]
                .map(|x| if x.is_nan() { "-".to_owned() } else { format!("{x:.4}") });
            rows.push([loss.beta.to_string(), format!("{:.2}", loss.divergence)].into_iter().chain(numbers).collect());
        }
        text.push_str(&aligned(&rows));
        text
    }

    fn as_json(&self) -> Value {
        let (chains, fit) = (self.chains, self.chains.fit());
        let rungs = chains.betas().iter().enumerate().map(|(rung, beta)| {
            let mut made = json!({"beta": beta, "epochs": chains.chains(rung).map(|chain| chain.epochs()).max()});
            for (part, metric) in METRICS {
                let found = self.summary(rung, part, metric);
                if found.n > 0 {
                    let name = if metric == Metric::Accuracy { "error" } else { metric.name() };
                    made[format!("{}.{name}", part.name())] = mean(&found);
                }
            }
            if let Some(Ok(bounds)) = &self.bounds {
                let [test_loss, test_error] = self.tested(rung);
                let shown = |bound: &Bound, test: f64| {
                    json!({"train": bound.training, "test": number(test), "divergence": bound.divergence,
                           "bound": bound.expected, "gap_bound": bound.gap})
                };
                made["bound.loss"] = shown(&bounds.loss[rung], test_loss);
                made["bound.error"] = shown(&bounds.error[rung], test_error);
            }
            made
        });
        let mut report = json!({
            "net": fit.net().to_string(),
            "parameters": fit.net().parameters(),
            "training_samples": chains.training_samples(),
            "chains": fit.runs().len(),
            "law": chains.law().name(),
            "betas": rungs.collect::<Vec<_>>(),
        });
        match &self.bounds {
            None => {}
            Some(Ok(_)) => report["delta"] = json!(self.delta),
            Some(Err(error)) => report["no_bound"] = json!(error.to_string()),
        }
        add_ended(&mut report, fit, self.seconds, self.threads);
        report
    }
}

/// Returns lines whose columns are aligned to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        text.push_str("\n ");
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(text, "  {cell:>width$}");
        }
    }
    text
}
