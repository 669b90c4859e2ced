//! Derives from the report what several parts of the page need: the order of the configurations, and the digits of the
//! metric.

use crate::page::numbers::{Digits, NONE};
use fiedler::experiment::statistics::Interval;
use fiedler::experiment::{CellReport, Report};

/// The most configurations whose curves and classes are drawn, and of which all pairs are compared.
pub(super) const MOST: usize = 40;
/// The most rows of a drawing.
pub(super) const MOST_ROWS: usize = 120;

/// A report with what its parts share.
pub(super) struct View<'a> {
    /// The report itself.
    pub(super) report: &'a Report,
    /// The places of the configurations, the best mean first. Those without a mean are last.
    pub(super) order: Vec<usize>,
    /// The number of each configuration: its position in the order, counted from 1.
    pub(super) numbers: Vec<usize>,
    /// How the metric is written.
    pub(super) digits: Digits,
}

impl<'a> View<'a> {
    /// Makes a view of a report.
    pub(super) fn new(report: &'a Report) -> Self {
        let cells = &report.configurations;
        let mean = |place: usize| cells[place].estimate.map(|estimate| estimate.mean).filter(|mean| mean.is_finite());
        let mut order: Vec<usize> = (0..cells.len()).collect();
        let sign = if report.larger_is_better { -1.0 } else { 1.0 };
        order.sort_by(|&a, &b| {
            let of = |place| mean(place).map_or(f64::INFINITY, |mean| sign * mean);
            of(a).total_cmp(&of(b))
        });
        let mut numbers = vec![0; cells.len()];
        order.iter().enumerate().for_each(|(position, &place)| numbers[place] = position + 1);
        let estimates = || cells.iter().filter_map(|cell| cell.estimate);
        // Half the width of an interval is uncertain itself: that of a typical configuration decides the digits.
        let of_seeds = estimates().filter_map(|estimate| estimate.interval).map(|interval| interval.half_width());
        let of_tests = cells.iter().filter_map(|cell| cell.of_test_set).map(|set| set.wilson.half_width());
        let uncertainty = median(of_seeds.collect()).or_else(|| median(of_tests.collect()));
        Self { report, order, numbers, digits: Digits::new(estimates().map(|found| found.mean), uncertainty) }
    }

    /// Returns the configurations in their order, with their numbers.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, &'a CellReport)> {
        let report = self.report;
        self.order.iter().map(|&place| (self.numbers[place], &report.configurations[place]))
    }

    /// Returns an interval as text.
    pub(super) fn between(&self, interval: Option<Interval>) -> String {
        let words = |found: Interval| format!("{} to {}", self.digits.write(found.low), self.digits.write(found.high));
        interval.map_or_else(|| NONE.to_owned(), words)
    }
}

/// Returns the median of the values that are above 0.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|v| v.is_finite() && *v > 0.0);
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Returns how many runs of a configuration are finished, but have no results.
pub(super) fn unusable(cell: &CellReport) -> usize {
    let ended_well = |status: &str| ["Finished", "Stopped"].contains(&status);
    cell.statuses.iter().filter(|(status, _)| !ended_well(status)).map(|(_, count)| count).sum()
}

/// Returns a quantile of sorted values, interpolated between the two values next to it (Hyndman and Fan's type 7).
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among the values")]
    let below = (place.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    Some(low + (place - below as f64) * (high - low))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([1, 2, 4, 8], [0, .25, .5, .75, 1]).
        let found = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&[1.0, 2.0, 4.0, 8.0], share));
        assert_eq!(found, [1.0, 1.75, 3.0, 5.0, 8.0].map(Some));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.25), Some(7.0));
    }

    #[test]
    fn the_median_leaves_out_what_is_no_uncertainty() {
        assert_eq!(median(vec![3.0, 0.0, f64::NAN, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![0.0]), None);
    }
}
