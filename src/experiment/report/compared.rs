//! Comparisons of configurations whose runs share their seeds.

use super::super::grid::{self, Cell, Compared};
use super::super::record::Record;
use super::super::spec::{Spec, SplitBy};
use super::super::statistics::{
    Corrected, Equivalence, Interval, McNemar, Paired, Verdict, holm, resampled_runs_needed,
};
use super::{LEVEL, by_seed};
use crate::error::Result;
use crate::train::{Metric, Part};
use serde::Serialize;
use std::collections::BTreeMap;

/// The error rate of tests of equivalence, and the probability with which a number of pairs is to find it.
const ALPHA: f64 = 0.05;
const POWER: f64 = 0.9;

/// A comparison of two configurations that differ in one factor.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ComparisonReport {
    /// The factor in which they differ.
    pub factor: String,
    /// The configuration, in words, and its place.
    pub name: String,
    /// The place of the configuration.
    pub configuration: usize,
    /// The configuration that it is compared to, in words.
    pub baseline_name: String,
    /// The place of the configuration that it is compared to.
    pub baseline: usize,
    /// The differences of the metric, configuration minus baseline, by seed.
    pub paired: Paired,
    /// The same with the correction for divisions of one data set, if every seed divides the samples anew.
    pub corrected: Option<Corrected>,
    /// The interval that decides: the corrected one, if there is one.
    pub interval: Option<Interval>,
    /// The p value of the difference: that of `corrected`, if there is one, and that of the sign-flip permutation test
    /// otherwise. `None` where there is no interval.
    pub p: Option<f64>,
    /// The same after Holm's adjustment for all comparisons of the report.
    pub adjusted_p: Option<f64>,
    /// The smallest p value that is possible with this number of seeds, if p is that of the sign-flip test.
    pub smallest_p: Option<f64>,
    /// Whether the configuration is better: only if the interval excludes 0.
    pub verdict: Verdict,
    /// Whether the difference is too small to matter, if the experiment says what matters. It has the correction of
    /// `corrected`, if there is one.
    pub equivalence: Option<Equivalence>,
    /// The number of pairs with which the test of equivalence would find it with a probability of 90 %, if the true
    /// difference is 0 and the deviation that of the pairs. With `corrected`, a pair is a division. `None` if there is
    /// no such test, or no number of divisions suffices.
    pub pairs_needed: Option<u64>,
    /// The exact test of two models on one set of samples, if there is one seed and one division.
    pub mcnemar: Option<McNemar>,
}

impl ComparisonReport {
    /// Returns why there is no interval, in words; `None` if there is one.
    #[must_use]
    pub fn why_no_interval(&self) -> Option<&'static str> {
        match (self.interval, self.paired.n) {
            (Some(_), _) => None,
            (None, 1) => Some("none: one seed"),
            (None, _) => Some("none: equal with every seed"),
        }
    }
}

/// Compares everything that the experiment asks for. `parts` are those of the file, if runs take these.
pub(super) fn all(
    spec: &Spec,
    parts: Option<[usize; 3]>,
    cells: &[Cell],
    records: &[Vec<Record>],
    factors: &[String],
) -> Result<Vec<ComparisonReport>> {
    let mut made = Vec::new();
    for Compared { factor, baseline, other } in grid::compared(spec)? {
        let [one, two] = [&records[other], &records[baseline]];
        if let Some(mut report) = compare(spec, parts, one, two)? {
            report.factor = factor;
            (report.configuration, report.baseline) = (other, baseline);
            (report.name, report.baseline_name) = (cells[other].name(factors), cells[baseline].name(factors));
            made.push(report);
        }
    }
    if !made.is_empty() {
        let ps: Vec<f64> = made.iter().filter_map(|report| report.p).collect();
        for (report, adjusted) in made.iter_mut().filter(|report| report.p.is_some()).zip(holm(&ps)?) {
            report.adjusted_p = Some(adjusted);
        }
    }
    Ok(made)
}

/// Compares the runs of two configurations, or returns `None` if they have no seed in common.
fn compare(spec: &Spec, parts: Option<[usize; 3]>, one: &[Record], two: &[Record]) -> Result<Option<ComparisonReport>> {
    let (part, metric) = spec.metric()?;
    let (a, b) = common(by_seed(one, part, metric), &by_seed(two, part, metric));
    if a.is_empty() {
        return Ok(None);
    }
    let paired = Paired::of(&a, &b, LEVEL, spec.experiment.seed)?;
    let divided = spec.data.split.by == SplitBy::Seed || spec.data.split.folds.is_some();
    let resampled = divided && parts.is_none();
    let sizes = one.iter().filter(|record| record.is_good()).find_map(|record| {
        let samples = |part: Part| record.parts.get(part.name()).map(|part| part.samples);
        Some((samples(Part::Train)?, samples(part).filter(|_| part != Part::Train)?))
    });
    let corrected = match sizes.filter(|_| resampled) {
        Some((train, test)) => {
            // Each fold of each seed is a division of its own.
            let (a, b) = common(by_division(one, part, metric), &by_division(two, part, metric));
            let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            Some(Paired::resampled(&a, &b, size(train), size(test), LEVEL)?)
        }
        None => None,
    };
    let interval = corrected.map_or(paired.interval, |corrected| corrected.interval);
    let equivalence = match (spec.compare.margin, corrected) {
        // The interval of the verdict is the corrected one, so the test of equivalence has its error too.
        (Some(margin), Some(corrected)) if corrected.n > 1 => Some(Equivalence::corrected(&corrected, margin, ALPHA)?),
        (Some(margin), None) if a.len() > 1 => {
            let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
            Some(Equivalence::tost(&differences, margin, ALPHA)?)
        }
        _ => None,
    };
    let (deviation, ratio) = corrected.map_or((paired.deviation, 0.0), |found| (found.deviation, found.ratio));
    let pairs_needed = match equivalence {
        Some(test) => resampled_runs_needed(deviation, ratio, test.margin, ALPHA, POWER)?,
        None => None,
    };
    let p = interval.map(|_| corrected.map_or(paired.sign_flip.p, |corrected| corrected.p));
    // Of the signs, two arrangements are those of the data: all as they are, and all changed.
    let smallest_p = p.filter(|_| corrected.is_none()).map(|_| paired.sign_flip.smallest(2));
    let mcnemar = match (one, two) {
        ([one], [two]) => on_one_set(one, two)?,
        _ => None,
    };
    let verdict = Verdict::of(interval, metric.larger_is_better());
    Ok(Some(ComparisonReport {
        factor: String::new(),
        name: String::new(),
        configuration: 0,
        baseline_name: String::new(),
        baseline: 0,
        paired,
        corrected,
        interval,
        p,
        adjusted_p: None,
        smallest_p,
        verdict,
        equivalence,
        pairs_needed,
        mcnemar,
    }))
}

/// Returns the values of the keys that both lists have, in the order of the first.
fn common<K: Ord + Copy>(one: Vec<(K, f64)>, two: &[(K, f64)]) -> (Vec<f64>, Vec<f64>) {
    let two: BTreeMap<K, f64> = two.iter().copied().collect();
    one.into_iter().filter_map(|(key, a)| Some((a, *two.get(&key)?))).unzip()
}

/// Returns the metric of each run that ended well, by seed and fold.
fn by_division(records: &[Record], part: Part, metric: Metric) -> Vec<((u64, Option<usize>), f64)> {
    let good = records.iter().filter(|record| record.is_good());
    good.filter_map(|record| Some(((record.seed, record.fold), record.metric(part, metric)?))).collect()
}

/// Compares two runs on the same test samples.
fn on_one_set(one: &Record, two: &Record) -> Result<Option<McNemar>> {
    let right = |record: &Record| -> Vec<bool> {
        let digits = record.parts.get(Part::Test.name()).map(|part| part.right.as_str()).unwrap_or_default();
        digits.chars().map(|digit| digit == '1').collect()
    };
    let (first, second) = (right(one), right(two));
    if first.is_empty() || first.len() != second.len() || !(one.is_good() && two.is_good()) || one.seed != two.seed {
        return Ok(None);
    }
    McNemar::of_right(&first, &second).map(Some)
}

/// Returns the mean difference of the metric, row minus column, for each pair of configurations.
#[expect(clippy::cast_precision_loss, reason = "a number of seeds")]
pub(super) fn differences(records: &[Vec<Record>], part: Part, metric: Metric) -> Vec<Vec<Option<f64>>> {
    let all: Vec<Vec<(u64, f64)>> = records.iter().map(|own| by_seed(own, part, metric)).collect();
    let of = |one: &Vec<(u64, f64)>, two: &Vec<(u64, f64)>| {
        let (a, b) = common(one.clone(), two);
        (!a.is_empty()).then(|| a.iter().zip(&b).map(|(a, b)| a - b).sum::<f64>() / a.len() as f64)
    };
    all.iter().map(|one| all.iter().map(|two| of(one, two)).collect()).collect()
}
