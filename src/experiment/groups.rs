//! Runs that are trained together: those of one network, one way of training, one data set and one fold.

use super::grid::{Cell, FEATURES, LAYERS, Row};
use super::spec::{Spec, SplitBy, wrong};
use super::tables::{Pair, Source, pair};
use crate::error::Result;
use crate::train::{Fold, Metric, Runs, Split, Trainer};
use serde_json::json;
use std::collections::HashMap;

/// Runs that are trained together.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) pair: Pair,
    pub(super) fold: Option<usize>,
    /// One of their configurations; the others differ from it in hyperparameters only.
    pub(super) cell: Cell,
    pub(super) rows: Vec<Row>,
}

/// Returns the groups of some runs, in the order of their first runs.
pub(super) fn groups(cells: &[Cell], rows: &[Row]) -> Vec<Group> {
    let mut made: Vec<Group> = Vec::new();
    let mut places = HashMap::new();
    for row in rows {
        let cell = &cells[row.cell];
        let key = (pair(cell), json!(cell.settings.shared()).to_string(), row.fold);
        let place = *places.entry(key).or_insert_with(|| {
            made.push(Group { pair: pair(cell), fold: row.fold, cell: cell.clone(), rows: Vec::new() });
            made.len() - 1
        });
        made[place].rows.push(row.clone());
    }
    made
}

/// Returns how many groups are trained side by side on the CPU, from the numbers of their runs. Where a group has fewer
/// runs than would keep the threads busy, there are several.
pub(super) fn side_by_side(threads: usize, runs: impl ExactSizeIterator<Item = usize>) -> usize {
    let groups = runs.len();
    let fewest = runs.min().unwrap_or(1).max(1);
    (2 * threads).div_ceil(fewest).min(threads).min(groups).max(1)
}

/// Returns the numbers of training, validation and test samples if the parts of the file are used as they are. Folds,
/// and shares that are asked for, divide all samples.
pub(super) fn parts(spec: &Spec, source: &Source) -> Option<[usize; 3]> {
    let divided = spec.data.split.folds.is_some() || !spec.has_default_shares();
    source.layers.findings().parts.filter(|_| !divided)
}

impl Group {
    /// Returns the trainer of the runs.
    pub(super) fn trainer(&self, spec: &Spec, inputs: usize, source: &Source) -> Result<Trainer> {
        let seed = spec.data.split.seed.filter(|_| spec.data.split.by == SplitBy::Fixed);
        let named = |error: crate::Error| error.within(self.name());
        let split = Split { shares: spec.shares(), seed };
        let trainer = self.cell.settings.trainer(inputs, source.targets(), split).map_err(named)?;
        let (_, metric) = spec.metric()?;
        if !metric.fits(trainer.loss(), trainer.net()) {
            let what = format!("expected a metric that {} has, found {}", self.name(), spec.compare.metric);
            let why = if metric == Metric::Auc { ", which is of two classes" } else { "" };
            return Err(wrong(format!("compare.metric: {what}{why}")));
        }
        let trainer = if spec.has_default_shares() { trainer.split_if_possible(split) } else { trainer.split(split) };
        Ok(match (self.fold, spec.data.split.folds, parts(spec, source)) {
            (Some(number), Some(of), _) => trainer.fold(Fold { number, of }),
            (_, _, Some(parts)) => trainer.parts(parts),
            _ => trainer,
        })
    }

    /// Returns the runs, in the order of the rows.
    pub(super) fn runs(&self, cells: &[Cell]) -> Result<Runs> {
        let row = |row: &Row| Ok((row.seed, cells[row.cell].settings.hyper()?));
        Runs::of_rows(self.rows.iter().map(row).collect::<Result<Vec<_>>>()?)
    }

    /// Returns what the runs have in common, in words.
    pub(super) fn name(&self) -> String {
        let fold = self.fold.map_or_else(String::new, |fold| format!(", fold {fold}"));
        format!("{} of {}{fold}", self.cell.value(FEATURES), self.cell.value(LAYERS))
    }
}
