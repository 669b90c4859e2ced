//! Derives from the rows what the plots and the table need: the rows that are compared, shares of the roofline
//! ceilings, and crossovers.

use super::{Ceiling, Report, Row};
use crate::page::numbers::{quotient, usable};
use std::collections::{BTreeSet, HashMap};

/// The spread, (max - min) / median, above which a figure counts as noise.
pub const NOISE: f64 = 0.5;

impl Row {
    /// Returns the seconds of a call from host to host. On the CPU, the data of every call is already on the host.
    pub(super) fn call(&self) -> Option<f64> {
        let seconds = if self.on_cpu { self.resident.or(self.transfers) } else { self.transfers };
        seconds.and_then(usable)
    }

    /// Returns the seconds of the computation alone.
    pub(super) fn compute(&self) -> Option<f64> {
        if self.on_cpu { self.call() } else { self.resident.and_then(usable) }
    }

    /// Returns the seconds to compare with the prediction: the time of the whole call, or the time of the computation
    /// if only the computation was measured.
    pub(super) fn foretold(&self) -> Option<f64> {
        self.call().or_else(|| self.compute())
    }

    /// Returns the predicted time divided by the measured time.
    pub(super) fn prediction(&self) -> Option<f64> {
        quotient(self.predicted?, self.foretold()?)
    }

    /// Returns whether anything was measured.
    pub(super) fn measured(&self) -> bool {
        [self.resident, self.transfers, self.first].into_iter().flatten().any(|v| usable(v).is_some())
    }

    /// Returns whether the figure cannot be trusted, because its spread is unknown or too wide.
    pub(super) fn noisy(&self) -> bool {
        self.measured() && (self.spread.is_nan() || self.spread > NOISE)
    }

    /// Returns the parts of the workload's name that are not sizes. They distinguish workloads of the same family, size
    /// and batch.
    fn variant(&self) -> String {
        self.workload.split('/').filter(|part| !part.contains('=')).collect::<Vec<_>>().join("/")
    }

    /// Returns the number of operations per byte.
    pub(super) fn intensity(&self) -> Option<f64> {
        quotient(self.flops, self.bytes)
    }

    /// Returns the number of operations per second.
    pub(super) fn flop_rate(&self) -> Option<f64> {
        quotient(self.flops, self.compute()?)
    }

    /// Returns the share of the roofline ceiling that this row reached, where `ceiling` holds the rates of the row's
    /// side. If nothing is computed, the ceiling is the copy rate.
    pub(super) fn share(&self, ceiling: &Ceiling) -> Option<f64> {
        let seconds = self.compute()?;
        let least = [quotient(self.flops, ceiling.fma), quotient(self.bytes, ceiling.copy)];
        usable(least.into_iter().flatten().reduce(f64::max)? / seconds)
    }
}

/// A report with the indices that the plots need.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The report itself.
    pub(super) report: &'a Report,
    /// The families in order of appearance. The plots select a family by its index.
    pub(super) families: Vec<&'a str>,
    /// The sides: first those on the CPU, then the adapters. The plots select a side by its index.
    pub(super) sides: Vec<&'a str>,
    /// The batch sizes in ascending order. The plots select a batch size by its index.
    pub(super) batches: Vec<f64>,
    /// The sides that are not on the CPU.
    pub(super) adapters: Vec<&'a str>,
    /// The first side on the CPU; speedups are relative to its times.
    pub(super) baseline: Option<&'a str>,
    /// The rows by workload and side.
    found: HashMap<(&'a str, &'a str), &'a Row>,
}

/// The rows of one family and side that have the same variant of the operation.
#[derive(Debug)]
pub(super) struct Series<'a> {
    /// The part of the workload's name that distinguishes the variant; empty if there is only one.
    pub(super) variant: String,
    /// The index of the variant in its family.
    pub(super) index: usize,
    /// The rows, by size.
    pub(super) rows: Vec<&'a Row>,
}

/// Returns each name once, in order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|&name| seen.insert(name)).collect()
}

impl<'a> View<'a> {
    /// Makes a view of a report.
    pub(super) fn new(report: &'a Report) -> Self {
        let rows = &report.rows;
        let on_cpu = |wanted| rows.iter().filter(move |row| row.on_cpu == wanted).map(|row| row.side.as_str());
        let (cpus, adapters) = (distinct(on_cpu(true)), distinct(on_cpu(false)));
        let mut batches: Vec<f64> = rows.iter().filter_map(|row| usable(row.items)).collect();
        batches.sort_by(f64::total_cmp);
        batches.dedup();
        let mut found = HashMap::new();
        for row in rows {
            found.entry((row.workload.as_str(), row.side.as_str())).or_insert(row);
        }
        Self {
            report,
            families: distinct(rows.iter().map(|row| row.family.as_str())),
            sides: distinct(cpus.iter().chain(&adapters).copied()),
            batches,
            baseline: cpus.first().copied(),
            adapters,
            found,
        }
    }

    /// Returns the row of a workload on a side.
    pub(super) fn row(&self, workload: &str, side: &str) -> Option<&'a Row> {
        self.found.get(&(workload, side)).copied()
    }

    /// Returns the CPU's row of the same workload.
    pub(super) fn cpu_of(&self, row: &Row) -> Option<&'a Row> {
        self.row(&row.workload, self.baseline?)
    }

    /// Returns the speedup over the CPU: the CPU's time for the same workload divided by the row's time. Both times
    /// include transfers. `None` for rows of the CPU.
    pub(super) fn speedup(&self, row: &Row) -> Option<f64> {
        if row.on_cpu { None } else { quotient(self.cpu_of(row)?.call()?, row.call()?) }
    }

    /// Returns the measured ceilings of a side.
    pub(super) fn ceiling(&self, side: &str) -> Option<&'a Ceiling> {
        self.report.ceilings.iter().find(|c| c.side == side)
    }

    /// Returns the share of the roofline ceiling that a row reached, where the ceiling is that of the row's side.
    pub(super) fn share(&self, row: &Row) -> Option<f64> {
        row.share(self.ceiling(&row.side)?)
    }

    /// Returns the index of the mark for a batch size.
    pub(super) fn batch_mark(&self, items: f64) -> usize {
        self.batches.iter().position(|&batch| batch == items).unwrap_or(0)
    }

    /// Returns a family's rows on a side, grouped by variant and sorted by size.
    pub(super) fn variants(&self, family: &str, side: &str) -> Vec<Series<'a>> {
        let of_family = || self.report.rows.iter().filter(|row| row.family == family);
        let variants: BTreeSet<String> = of_family().map(Row::variant).collect();
        let several = variants.len() > 1;
        let series = variants.into_iter().enumerate().map(|(index, variant)| {
            let mut rows: Vec<&Row> = of_family().filter(|r| r.side == side && r.variant() == variant).collect();
            rows.sort_by(|a, b| a.size.total_cmp(&b.size));
            Series { variant: if several { variant } else { String::new() }, index, rows }
        });
        series.filter(|series| !series.rows.is_empty()).collect()
    }

    /// Returns the rows in the order of the table. Rows are sorted by operation, size and batch, and the CPU comes
    /// before the adapters.
    pub(super) fn sorted(&self) -> Vec<&'a Row> {
        let mut rows: Vec<(String, &Row)> = self.report.rows.iter().map(|row| (row.variant(), row)).collect();
        let place = |side: &str| self.sides.iter().position(|&s| s == side);
        rows.sort_by(|(v, a), (w, b)| {
            v.cmp(w)
                .then(a.size.total_cmp(&b.size))
                .then(a.items.total_cmp(&b.items))
                .then_with(|| a.workload.cmp(&b.workload))
                .then_with(|| place(&a.side).cmp(&place(&b.side)))
        });
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// Returns each size at which a line of points (size, speedup) crosses a speedup of 1, and whether the line rises
/// there. The size is interpolated between the neighboring points on logarithmic scales. The points must be in order of
/// size.
pub(super) fn crossovers(points: &[(f64, f64)]) -> Vec<(f64, bool)> {
    let mut found = Vec::new();
    for pair in points.windows(2) {
        let [(x0, y0), (x1, y1)] = [pair[0], pair[1]].map(|(x, y)| (x.ln(), y.ln()));
        if (y0 < 0.0) != (y1 < 0.0) {
            found.push(((x0 + (x1 - x0) * (y0 / (y0 - y1))).exp(), y0 < 0.0));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::{report, row};
    use super::*;

    #[test]
    fn the_crossover_is_interpolated_in_logarithms() {
        // The speedup is 1/2 at size 10 and 2 at size 1000. On logarithmic scales it is 1 halfway, at size 100.
        let found = crossovers(&[(10.0, 0.5), (1000.0, 2.0)]);
        assert_eq!(found.len(), 1);
        assert!((found[0].0 - 100.0).abs() < 1e-9 && found[0].1);
        let falls = crossovers(&[(8.0, 4.0), (16.0, 0.5)]);
        assert!((falls[0].0 - 8.0 * 2f64.powf(2.0 / 3.0)).abs() < 1e-9 && !falls[0].1);
        assert_eq!(crossovers(&[(8.0, 0.5), (16.0, 1.0)]), [(16f64.ln().exp(), true)], "reached, not passed");
        assert!(crossovers(&[(8.0, 2.0), (16.0, 3.0)]).is_empty());
        assert!(crossovers(&[(8.0, 2.0)]).is_empty() && crossovers(&[]).is_empty());
    }

    #[test]
    fn the_share_is_of_the_lower_roof() {
        let ceiling = Ceiling { side: String::new(), copy: 100.0, fma: 1000.0 };
        let mut r = row("a/f32/n=8/batch=1", "CPU", true, Some(1.0));
        (r.flops, r.bytes) = (50.0, 50.0);
        assert_eq!(r.share(&ceiling), Some(0.5), "memory bounds it: 50 of 100 bytes a second");
        (r.flops, r.bytes) = (500.0, 5.0);
        assert_eq!(r.share(&ceiling), Some(0.5), "arithmetic bounds it");
        (r.flops, r.bytes) = (0.0, 25.0);
        assert_eq!(r.share(&ceiling), Some(0.25), "nothing is computed");
        r.resident = Some(0.0);
        assert_eq!(r.share(&ceiling), None);
    }

    #[test]
    fn speed_up_counts_the_transfers() {
        let mut gpu = row("a/f32/n=8/batch=1", "GPU", false, Some(0.1));
        gpu.transfers = Some(0.5);
        let report = report(vec![row("a/f32/n=8/batch=1", "CPU", true, Some(1.0)), gpu]);
        let view = View::new(&report);
        assert_eq!(view.speedup(&report.rows[1]), Some(2.0));
        assert_eq!(view.speedup(&report.rows[0]), None);
    }

    #[test]
    fn the_table_is_in_order_of_numbers() {
        let name = |n: f64| format!("a/f32/n={n}/batch=1");
        let mut rows: Vec<Row> = [128.0, 16.0, 8.0].map(|n| row(&name(n), "CPU", true, Some(n))).into();
        for (r, n) in rows.iter_mut().zip([128.0, 16.0, 8.0]) {
            r.size = n;
        }
        let report = report(rows);
        let sizes: Vec<f64> = View::new(&report).sorted().iter().map(|r| r.size).collect();
        assert_eq!(sizes, [8.0, 16.0, 128.0]);
    }

    #[test]
    fn an_unknown_spread_is_noise() {
        let mut r = row("a", "CPU", true, Some(1.0));
        assert!(!r.noisy());
        r.spread = f64::NAN;
        assert!(r.noisy());
        (r.resident, r.transfers, r.first) = (None, None, None);
        assert!(!r.noisy(), "there is no figure to doubt");
    }
}
