//! What came out of an experiment: the statistics of every configuration, and the comparisons.

mod cells;
mod compared;
mod markdown;

pub use cells::{Best, CellReport, CurveReport, MeanBand};
pub use compared::ComparisonReport;

use super::grid;
use super::record::Record;
use super::run::Experiment;
use super::spec::{Spec, SplitBy, SplitTable};
use super::store::Folder;
use crate::error::Result;
use crate::io;
use crate::train::{FEW, Metric, Part, parts_of_one_class, unchosen};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The level of all intervals.
pub(super) const LEVEL: f64 = 0.95;

/// The name of the file with a line of JSON for each run.
pub const RUNS: &str = "runs.jsonl";
/// The name of the file with a row for each run.
pub const SUMMARY: &str = "summary.csv";
/// The name of the report in JSON.
pub const REPORT: &str = "report.json";
/// The name of the report in Markdown.
pub const MARKDOWN: &str = "report.md";

/// What came out of an experiment.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the experiment.
    pub name: String,
    /// The metric that is compared, such as `test.accuracy`.
    pub metric: String,
    /// Whether a larger value of it is better.
    pub larger_is_better: bool,
    /// What differs between the seeds, in words.
    pub varied: String,
    /// The number of runs, and of those that are finished.
    pub runs: usize,
    /// The number of runs that are finished.
    pub finished: usize,
    /// The names of the factors that have several values.
    pub factors: Vec<String>,
    /// The names of the classes; none if the targets are values.
    pub classes: Vec<String>,
    /// The configurations.
    pub configurations: Vec<CellReport>,
    /// The comparisons.
    pub comparisons: Vec<ComparisonReport>,
    /// For each pair of configurations, the mean difference of the metric, row minus column, over the seeds that both
    /// have; `None` if there is no such seed. Empty if there are more than 40 configurations.
    pub differences: Vec<Vec<Option<f64>>>,
    /// The part by whose samples runs were stopped and their parameters chosen, if results on this part are reported
    /// as the metric, or it is `test`. Such results are too good.
    pub selected_on: Option<&'static str>,
    /// The number of runs that ended well although what would have stopped them was defined in none of their epochs, by
    /// its name.
    pub without_stop: BTreeMap<String, usize>,
    /// Which parts have only samples of one class, a sentence each: training samples, and 10 or more validation or test
    /// samples.
    pub one_class: Vec<String>,
    /// The best mean of the configurations, and what the best of as many is expected to be; `None` if no run ended
    /// well.
    pub best: Option<Best>,
    /// The experiment, with all defaults but shares, where runs take the parts that the file of the data set has.
    pub spec: String,
    /// What the experiment took, and the seconds of a thread that each configuration took. These alone differ between
    /// two calls.
    pub times: TimesReport,
}

/// What an experiment took.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct TimesReport {
    /// The seconds of a thread of all runs.
    pub runs: f64,
    /// The same for each configuration.
    pub configurations: Vec<f64>,
}

/// The most configurations of which all pairs are compared.
const MOST_PAIRS: usize = 40;

impl Report {
    /// Says, a sentence each, that the metric is of few samples, that runs had no epoch to choose, and that a part has
    /// only samples of one class, where it is so.
    #[must_use]
    pub fn cautions(&self) -> Vec<String> {
        let part = self.metric.split_once('.').map_or("", |(part, _)| part);
        let few = self.configurations.iter().filter_map(|cell| cell.samples.get(part)).min().filter(|few| **few < FEW);
        let few = few.map(|few| {
            let samples = if *few == 1 { "sample" } else { "samples" };
            format!("{} is of {few} {samples} in a run, which says little about others", self.metric)
        });
        let undefined = self.without_stop.iter().map(|(name, runs)| unchosen(name, *runs, self.finished));
        few.into_iter().chain(undefined).chain(self.one_class.iter().cloned()).collect()
    }
}

impl Experiment {
    /// Returns the report of the runs that are finished.
    ///
    /// # Errors
    /// The errors of [`Experiment::records`].
    pub fn report(&self) -> Result<Report> {
        let spec = self.spec();
        let cells = grid::cells(spec)?;
        let rows = grid::rows(spec, &cells)?;
        let records = self.records()?;
        let (part, metric) = spec.metric()?;
        let (factors, parts) = (grid::factors(spec)?, self.parts());
        let of_cell = |place: usize| {
            let ids: Vec<&str> = rows.iter().filter(|row| row.cell == place).map(|row| row.id.as_str()).collect();
            let own = records.iter().filter(|(record, _)| ids.contains(&record.id.as_str()));
            own.collect::<Vec<_>>()
        };
        let by_cell: Vec<Vec<&(Record, f64)>> = (0..cells.len()).map(of_cell).collect();
        let only = |own: &Vec<&(Record, f64)>| own.iter().map(|(record, _)| record.clone()).collect::<Vec<_>>();
        let owned: Vec<Vec<Record>> = by_cell.iter().map(only).collect();
        let configurations = cells.iter().zip(&owned);
        let configurations: Vec<CellReport> = configurations
            .map(|(cell, own)| CellReport::new(cell, &cell.name(&factors), own, part, metric))
            .collect::<Result<_>>()?;
        let comparisons = compared::all(spec, parts, &cells, &owned, &factors)?;
        let seconds = |own: &Vec<&(Record, f64)>| own.iter().map(|(_, seconds)| seconds).sum::<f64>();
        let each: Vec<f64> = by_cell.iter().map(seconds).collect();
        let differences =
            if cells.len() <= MOST_PAIRS { compared::differences(&owned, part, metric) } else { Vec::new() };
        let stopped = cells.iter().filter_map(|cell| Some(cell.settings.train.stop.as_ref()?.on.split_once('.')?.0));
        let selected_on = stopped.filter_map(|name| Part::ALL.into_iter().find(|part| part.name() == name));
        // Test is what is reported whatever the metric is.
        let selected_on = selected_on.filter(|own| [part, Part::Test].contains(own)).max_by_key(|own| *own as usize);
        let mut without_stop = BTreeMap::new();
        for (cell, own) in cells.iter().zip(&owned) {
            let runs = own.iter().filter(|record| record.is_good() && record.best_epoch.is_none()).count();
            if let (Some(stop), true) = (&cell.settings.train.stop, runs > 0) {
                *without_stop.entry(stop.on.clone()).or_default() += runs;
            }
        }
        let of_one = |record: &Record, part: Part| {
            let own = record.parts.get(part.name())?;
            Some((part, own.samples, own.only_label()?))
        };
        let of_one = records.iter().flat_map(|(record, _)| Part::ALL.map(|part| of_one(record, part)));
        let classes = self.classes();
        let one_class = parts_of_one_class(of_one.flatten(), records.len(), &classes);
        let means: Vec<f64> = configurations.iter().filter_map(|cell| Some(cell.estimate?.mean)).collect();
        Ok(Report {
            name: spec.experiment.name.clone(),
            metric: spec.compare.metric.clone(),
            larger_is_better: metric.larger_is_better(),
            varied: varied(spec, parts),
            runs: rows.len(),
            finished: records.len(),
            factors,
            classes,
            configurations,
            comparisons,
            differences,
            selected_on: selected_on.map(Part::name),
            without_stop,
            one_class,
            best: Best::of(&means, metric.larger_is_better())?,
            spec: shown(spec, parts),
            times: TimesReport { runs: each.iter().sum(), configurations: each },
        })
    }

    /// Writes `runs.jsonl`, `summary.csv`, `report.json` and `report.md` into the folder.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a process works in the folder; [`Io`](crate::ErrorKind::Io) if the
    /// operating system reports an error; the errors of [`Experiment::records`].
    pub fn write_report(&self, report: &Report) -> Result<()> {
        let _lock = Folder::lock(self.folder())?;
        let records = self.records()?;
        let place = |name: &str| self.folder().join(name);
        let mut lines = String::new();
        for (record, _) in &records {
            let _ = writeln!(lines, "{}", record.to_line());
        }
        io::write_text(&place(RUNS), &lines)?;
        io::write_text(&place(SUMMARY), &summary(&records))?;
        let json = serde_json::to_string_pretty(report).unwrap_or_default();
        io::write_text(&place(REPORT), &format!("{json}\n"))?;
        io::write_text(&place(MARKDOWN), &report.to_markdown())
    }
}

/// Returns what differs between the seeds, in words, and what their spread does not tell. `parts` are those of the
/// file, if runs take these.
fn varied(spec: &Spec, parts: Option<[usize; 3]>) -> String {
    let (split, alike) = match (spec.data.split.by, spec.data.split.folds, parts) {
        // A file without validation samples leaves it to the seeds which of its training samples they are.
        (SplitBy::Seed, _, Some([_, 0, _])) => {
            ("the choice of validation samples, ", "all runs have the test samples of the file")
        }
        (_, _, Some(_)) => ("", "all runs divide the samples alike, as the file does"),
        (SplitBy::Seed, None, None) => ("the division of the samples, ", "all seeds divide one data set"),
        (SplitBy::Seed, Some(_), None) => ("the division of the samples into folds, ", "all seeds divide one data set"),
        (SplitBy::Fixed, _, None) => ("", "all runs divide the samples alike"),
    };
    let differ = format!("{split}the initial parameters and the order of the samples");
    if spec.experiment.repeats == 1 {
        let resampled = spec.data.split.by == SplitBy::Seed && parts.is_none();
        let fixed = if resampled { String::new() } else { format!("; {alike}") };
        return format!("one seed was run, so nothing tells how far the results depend on {differ}{fixed}");
    }
    format!(
        "seeds differ in {differ}; {alike}, so the interval of a mean over seeds does not tell what other samples would give"
    )
}

/// Returns the file of the experiment with what holds of its runs: with the parts of the data set, no shares do.
fn shown(spec: &Spec, parts: Option<[usize; 3]>) -> String {
    let mut shown = spec.clone();
    if let Some([_, validation, _]) = parts {
        let SplitTable { by, seed, .. } = spec.data.split;
        let (by, seed) = if validation > 0 { (SplitBy::Fixed, None) } else { (by, seed) };
        shown.data.split = SplitTable { by, seed, ..SplitTable::default() };
    }
    shown.to_toml()
}

/// Returns a table in CSV with a row for each run.
fn summary(records: &[(Record, f64)]) -> String {
    let rows: Vec<Vec<(String, Value)>> = records.iter().map(|(record, _)| record.to_row()).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut table = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = table.write_record(&names);
    for row in &rows {
        let cell = |name: &&String| match row.iter().find(|(own, _)| own == *name) {
            None | Some((_, Value::Null)) => String::new(),
            Some((_, value)) => grid::shown(value),
        };
        let _ = table.write_record(names.iter().map(cell));
    }
    String::from_utf8(table.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Returns the values of a metric by seed: with folds, the mean over the folds of a seed that all ended well.
pub(super) fn by_seed(records: &[Record], part: Part, metric: Metric) -> Vec<(u64, f64)> {
    let mut seeds: Vec<u64> = records.iter().map(|record| record.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let of_seed = |seed: u64| {
        let own = records.iter().filter(|record| record.seed == seed);
        let values: Option<Vec<f64>> =
            own.map(|record| record.metric(part, metric).filter(|_| record.is_good())).collect();
        #[expect(clippy::cast_precision_loss, reason = "a number of folds")]
        values
            .filter(|values| !values.is_empty())
            .map(|values| (seed, values.iter().sum::<f64>() / values.len() as f64))
    };
    seeds.into_iter().filter_map(of_seed).collect()
}
