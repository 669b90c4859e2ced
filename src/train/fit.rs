//! What a training results in: every run with its parameters, its scores and its history.

use super::Run;
use super::running::{Epoch, RunStatus, Running};
use super::spec::Spec;
use super::statistics::Summary;
use super::stop::{Metric, Part, Stop};
use crate::ops::mlp::{MixedPrecision, Mlp, Number, Program, Replica, Scaler, Scores, Tensor};
use crate::policy::Choice;
use std::collections::BTreeMap;

/// The number of samples of a part below which its scores mean little, which reports say. All of them may have one
/// label by chance.
pub(crate) const FEW: u64 = 10;

/// Says, a sentence each, in how many of `runs` runs a part has only samples of one class. `found` has these parts,
/// with their numbers of samples and their labels.
pub(crate) fn parts_of_one_class(
    found: impl Iterator<Item = (Part, u64, usize)>,
    runs: usize,
    classes: &[String],
) -> Vec<String> {
    let mut counts = BTreeMap::new();
    // Few training samples of one class teach nothing either.
    for (part, _, label) in found.filter(|(part, samples, _)| *part == Part::Train || *samples >= FEW) {
        counts.entry((part as usize, label)).or_insert((part, 0_usize)).1 += 1;
    }
    let words = |((_, label), (part, count)): ((usize, usize), (Part, usize))| {
        let class = classes.get(label).cloned().unwrap_or_else(|| label.to_string());
        let own = if count == runs { String::new() } else { format!(" in {count} of {runs} runs") };
        format!("{} has only samples of class `{class}`{own}", part.name())
    };
    counts.into_iter().map(words).collect()
}

/// Says in how many of `runs` runs the metric of a stopping rule was never defined.
pub(crate) fn unchosen(stop: &str, undefined: usize, runs: usize) -> String {
    let own = if undefined < runs { format!("{undefined} of ") } else { String::new() };
    let noun = if runs == 1 { "run" } else { "runs" };
    format!("{stop} was defined in no epoch of {own}{runs} {noun}, so it chose none")
}

/// The result of a training.
#[derive(Debug)]
pub struct Fit<T> {
    pub(super) program: Program,
    pub(super) spec: Spec,
    pub(super) stop: Option<Stop>,
    pub(super) runs: Vec<Fitted<T>>,
    choice: Choice,
}

/// One run of a [`Fit`].
#[derive(Debug)]
pub struct Fitted<T> {
    pub(super) run: Run,
    pub(super) replica: Replica<T>,
    pub(super) status: RunStatus,
    pub(super) epochs: u64,
    pub(super) best_epoch: Option<u64>,
    pub(super) scores: [Option<Scores>; 3],
    pub(super) history: Vec<Epoch>,
    pub(super) seconds: f64,
    pub(super) steps: u64,
    scaler: Scaler,
}

impl<T: Number> Fitted<T> {
    pub(super) fn new(running: Running<T>, scores: [Option<Scores>; 3]) -> Self {
        let Running { run, replica, best, counters, history, .. } = running;
        // The last step may have gone wrong without a step after it that would have noticed.
        let finite = scores[Part::Train as usize].as_ref().is_none_or(|scores| scores.loss().is_finite());
        let status = counters.status.unwrap_or(RunStatus::Cancelled);
        Self {
            run,
            status: if finite || !status.is_good() { status } else { RunStatus::Diverged },
            epochs: counters.epoch,
            best_epoch: best.is_some().then_some(counters.best_epoch),
            scores,
            history,
            seconds: counters.seconds,
            steps: replica.steps,
            scaler: replica.scaler,
            replica: best.unwrap_or(replica),
        }
    }

    /// Returns the run's number, seed and hyperparameters.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns how the run ended.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        self.status
    }

    /// Returns the number of epochs that were completed.
    #[must_use]
    pub fn epochs(&self) -> u64 {
        self.epochs
    }

    /// Returns the number of steps that were made.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns how many of these steps were skipped, because a number was beyond the range of f16.
    #[must_use]
    pub fn skipped_steps(&self) -> u64 {
        self.scaler.skipped.into()
    }

    /// Returns the epoch of the returned parameters, counted from 0, or `None` if they are those of the last epoch,
    /// because there is no stopping rule.
    #[must_use]
    pub fn best_epoch(&self) -> Option<u64> {
        self.best_epoch
    }

    /// Returns the scores of the returned parameters on a part, or `None` if the part has no samples.
    #[must_use]
    pub fn scores(&self, part: Part) -> Option<&Scores> {
        self.scores[part as usize].as_ref()
    }

    /// Returns the records of the epochs.
    #[must_use]
    pub fn history(&self) -> &[Epoch] {
        &self.history
    }

    /// Returns the seconds of a thread that the run took.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl<T: Number> Fit<T> {
    pub(super) fn new(program: Program, spec: Spec, stop: Option<Stop>, runs: Vec<Fitted<T>>, choice: Choice) -> Self {
        Self { program, spec, stop, runs, choice }
    }

    /// Returns on which side the runs were trained, and why.
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Returns the network.
    #[must_use]
    pub fn net(&self) -> &Mlp {
        &self.program.net
    }

    /// Returns the precision of the operands of products.
    #[must_use]
    pub fn mixed_precision(&self) -> MixedPrecision {
        self.program.mixed
    }

    /// Returns where the runs were trained: `cpu`, or the name of an adapter.
    #[must_use]
    pub fn side(&self) -> &str {
        self.spec.side()
    }

    /// Returns all runs, by their numbers.
    #[must_use]
    pub fn runs(&self) -> &[Fitted<T>] {
        &self.runs
    }

    /// Returns the parameters of a run: those of its best epoch if there is a stopping rule, otherwise the last ones.
    ///
    /// # Panics
    /// If there is no such run.
    #[must_use]
    pub fn weights(&self, run: usize) -> Vec<Tensor<T>> {
        self.runs[run].replica.tensors(&self.program.net)
    }

    /// Returns the statistics of a metric over the runs that ended well.
    #[must_use]
    pub fn summary(&self, part: Part, metric: Metric) -> Summary {
        self.summary_of(part, metric, |_| true)
    }

    /// Does the same for the runs that `which` selects.
    #[must_use]
    pub fn summary_of(&self, part: Part, metric: Metric, which: impl Fn(&Fitted<T>) -> bool) -> Summary {
        let good = self.runs.iter().filter(|run| run.status.is_good() && which(run));
        let values = good.filter_map(|run| run.scores(part)).map(|scores| metric.of(scores));
        Summary::of(values, metric.larger_is_better())
    }

    /// Returns what always guessing would score on a part, with its statistics over the runs that ended well: the
    /// accuracy of the most frequent class of the training samples, or the root mean square error of the mean of their
    /// values.
    #[must_use]
    pub fn guessing(&self, part: Part) -> (Metric, Summary) {
        let pairs = || {
            let good = self.runs.iter().filter(|run| run.status.is_good());
            good.filter_map(|run| run.scores(part).zip(run.scores(Part::Train)))
        };
        if pairs().any(|(scores, _)| scores.classes() > 0) {
            let values = pairs().map(|(scores, train)| scores.accuracy_of_guessing(train));
            (Metric::Accuracy, Summary::of(values, true))
        } else {
            let values = pairs().map(|(scores, train)| scores.root_mean_square_error_of_guessing(train));
            (Metric::Rmse, Summary::of(values, false))
        }
    }

    /// Says, a sentence each, which parts have only samples of one class, and in how many runs: training samples, and
    /// 10 or more validation or test samples. `classes` are the names of the classes.
    #[must_use]
    pub fn parts_of_one_class(&self, classes: &[String]) -> Vec<String> {
        let of = |run: &Fitted<T>, part: Part| {
            let scores = run.scores(part)?;
            Some((part, scores.samples(), scores.only_label()?))
        };
        let found = self.runs.iter().flat_map(|run| Part::ALL.map(|part| of(run, part)));
        parts_of_one_class(found.flatten(), self.runs.len(), classes)
    }

    /// Says of how many runs that ended well the stopping rule chose no epoch, since its metric was never defined.
    #[must_use]
    pub fn unchosen(&self) -> Option<String> {
        let undefined = self.runs.iter().filter(|run| run.status.is_good() && run.best_epoch().is_none()).count();
        let stop = self.stop.filter(|_| undefined > 0)?;
        Some(unchosen(&stop.to_string(), undefined, self.runs.len()))
    }

    /// Returns the number of groups in which the samples were read.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.spec.groups()
    }

    /// Returns whether runs were stopped or selected by their test samples.
    #[must_use]
    pub fn is_selected_on_test(&self) -> bool {
        self.stop.is_some_and(|stop| stop.part == Part::Test)
    }

    /// Returns the number of the run with the best value of the stopping rule's metric, or of the validation loss, or
    /// of the training loss; of equally good runs, the first. The test samples decide only if the stopping rule says
    /// so.
    #[must_use]
    pub fn best_run(&self) -> usize {
        let has_validation = self.runs.iter().any(|run| run.scores(Part::Validation).is_some());
        let fallback = if has_validation { Part::Validation } else { Part::Train };
        let (part, metric) = self.stop.map_or((fallback, Metric::Loss), |stop| (stop.part, stop.metric));
        let sign = if metric.larger_is_better() { 1.0 } else { -1.0 };
        let value = |run: &Fitted<T>| run.scores(part).map_or(f64::NEG_INFINITY, |scores| sign * metric.of(scores));
        let good = |run: &Fitted<T>| {
            let value = if run.status.is_good() { value(run) } else { f64::NAN };
            if value.is_nan() { f64::NEG_INFINITY } else { value }
        };
        let mut best = 0;
        for (place, run) in self.runs.iter().enumerate() {
            if good(run) > good(&self.runs[best]) {
                best = place;
            }
        }
        best
    }
}
