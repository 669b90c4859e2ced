//! What an experiment would do, before it does it.

use super::grid;
use super::groups::{Group, groups, parts, side_by_side};
use super::run::{CHECKPOINT, Experiment};
use super::spec::PrecisionName;
use super::store;
use super::tables::{Extraction, Source, pair};
use crate::context::Context;
use crate::error::Result;
use crate::io::Findings;
use crate::policy::Side;
use serde::Serialize;
use std::collections::HashSet;

/// The bytes that a disk reads in a second, for the predicted time of reading the data set.
const DISK: f64 = 1e9;

/// The form of a training on the CPU: each run is a task of a thread.
const CPU_FORM: &str = "a task for each run";

/// The bytes of a process that has read nothing, and those of a column's names while columns are computed. The bytes of
/// the samples that are read at a time are at most this.
const PROCESS: u64 = 20_000_000;
const COLUMN: u64 = 420;
const READ: u64 = 16 << 20;

/// What an experiment would do.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The number of samples.
    pub samples: usize,
    /// The number of numbers of a sample, of all layers.
    pub inputs: usize,
    /// The number of classes, or 0 if the targets are values.
    pub classes: usize,
    /// The names of the classes.
    #[serde(skip)]
    pub class_names: Vec<String>,
    /// What was found out about the columns or arrays of the data set.
    #[serde(skip)]
    pub findings: Findings,
    /// What is made to fit a small data set: a batch and a split that are defaults.
    pub adjustments: Vec<String>,
    /// The number of configurations.
    pub configurations: usize,
    /// The number of runs, and how many of them are finished already.
    pub runs: usize,
    /// The number of runs that are finished already.
    pub finished: usize,
    /// The runs that are trained together.
    pub groups: Vec<PlannedGroup>,
    /// The side on which features are computed, and the predicted seconds if none is found in a cache.
    pub features: PlannedFeatures,
    /// The predicted seconds of everything, if no run stops early.
    pub seconds: f64,
    /// The predicted bytes of memory: those of the process, of the names of columns, of the data set, which is mapped,
    /// and of the largest of computing inputs, making samples of them, and training.
    pub bytes: u64,
}

/// How features would be computed.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedFeatures {
    /// The number of columns of all configurations.
    pub columns: usize,
    /// `cpu` or `gpu`.
    pub side: &'static str,
    /// The predicted seconds, of which the data set takes some to be read.
    pub seconds: f64,
}

/// Runs that are trained together.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedGroup {
    /// The representation, the layers and the fold.
    pub name: String,
    /// The network.
    pub net: String,
    /// The number of runs.
    pub runs: usize,
    /// `cpu` or `gpu`.
    pub side: &'static str,
    /// The form of the computation.
    pub form: String,
    /// The reason for the side.
    pub reason: String,
    /// The predicted seconds, if no run stops early.
    pub seconds: f64,
    /// The predicted bytes of memory.
    pub bytes: u64,
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Cpu => "cpu",
        Side::Gpu => "gpu",
    }
}

impl Experiment {
    /// Returns what the experiment would do, without the runs that are finished in its folder. Only headers of the data
    /// set are read.
    ///
    /// # Errors
    /// The errors of [`Layers::open`](crate::io::Layers::open), [`Extractor::names`](crate::features::Extractor::names)
    /// and [`Trainer::choose`](crate::train::Trainer::choose).
    pub fn plan(&self, ctx: &Context) -> Result<Plan> {
        let spec = self.spec();
        let cells = grid::cells(spec)?;
        let rows = grid::rows(spec, &cells)?;
        let known = if self.is_begun() { store::finished(self.folder())? } else { Default::default() };
        let missing: Vec<_> = rows.iter().filter(|row| !known.contains_key(&row.id)).cloned().collect();
        let source = Source::preview(ctx, spec)?;
        let mut pairs: Vec<_> = missing.iter().map(|row| pair(&cells[row.cell])).collect();
        let mut seen = HashSet::new();
        pairs.retain(|pair| seen.insert(pair.clone()));
        let extraction = Extraction::new(ctx, spec, &source.layers, &pairs, &[])?;
        let inputs = extraction.inputs();
        let all = groups(&cells, &missing);
        let planned = all.iter().map(|group| {
            let inputs = pairs.iter().position(|pair| *pair == group.pair).map_or(0, |place| inputs[place]);
            match group.cell.settings.train.precision {
                PrecisionName::F64 => self.planned::<f64>(ctx, group, &source, inputs),
                _ => self.planned::<f32>(ctx, group, &source, inputs),
            }
        });
        let planned = planned.collect::<Result<Vec<_>>>()?;
        let features = if pairs.is_empty() {
            PlannedFeatures { columns: 0, side: "cpu", seconds: 0.0 }
        } else {
            let choice = extraction.extractor.choose(ctx, &source.layers)?;
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let (share, bytes) = (source.samples as f64 / source.layers.len() as f64, self.bytes_of(&source) as f64);
            let seconds = choice.seconds() * share + bytes / DISK;
            PlannedFeatures { columns: inputs.iter().sum(), side: side(choice.side), seconds }
        };
        let tables: u64 = inputs.iter().map(|&inputs| 4 * (inputs as u64) * source.samples as u64).sum();
        // The data set is mapped or held while there is something to run, and so are the names of its columns.
        let (columns, data) = match pairs.is_empty() {
            true => (0, 0),
            false => (inputs.iter().map(|&inputs| inputs as u64).sum(), self.bytes_of(&source)),
        };
        // The inputs are computed, then made into samples, then trained on.
        let stages = [tables + data.min(READ), 2 * tables, tables + together(&planned, ctx.threads())];
        let (layers, mut adjustments) = (&source.layers, Vec::new());
        // Those of finished runs, too, which do not depend on the number of inputs.
        if let Some(group) = groups(&cells, &rows).first() {
            adjustments = group.trainer(spec, 1, &source)?.adjustments(source.samples);
        }
        Ok(Plan {
            samples: source.samples,
            inputs: layers.layers().iter().map(|layer| layer.extent.numbers()).sum(),
            classes: source.classes().len(),
            class_names: source.classes().to_vec(),
            findings: Findings { parts: parts(spec, &source), ..layers.findings().clone() },
            adjustments,
            configurations: cells.len(),
            runs: rows.len(),
            finished: rows.len() - missing.len(),
            seconds: features.seconds + planned.iter().map(|group| group.seconds).sum::<f64>(),
            bytes: PROCESS + columns * COLUMN + data + stages.into_iter().max().unwrap_or(0),
            features,
            groups: planned,
        })
    }

    fn planned<T: crate::ops::mlp::Number>(
        &self,
        ctx: &Context,
        group: &Group,
        source: &Source,
        inputs: usize,
    ) -> Result<PlannedGroup> {
        let trainer = group.trainer(self.spec(), inputs, source)?.row_group(source.samples);
        let runs = group.rows.len();
        let choice = trainer.choose::<T>(ctx, source.samples, runs)?;
        let memory = trainer.memory::<T>(ctx, source.samples, runs)?;
        // A checkpoint is made of a copy of all runs.
        let copies = if choice.seconds() > CHECKPOINT.as_secs_f64() { 2 } else { 1 };
        Ok(PlannedGroup {
            name: group.name(),
            net: trainer.net().to_string(),
            runs,
            side: side(choice.side),
            form: if choice.side == Side::Cpu { CPU_FORM } else { choice.algorithm() }.to_owned(),
            reason: choice.to_string(),
            seconds: choice.seconds(),
            bytes: copies * memory.host,
        })
    }

    /// Returns the bytes of the data set that are read.
    fn bytes_of(&self, source: &Source) -> u64 {
        let each = source
            .layers
            .layers()
            .iter()
            .map(|layer| (layer.extent.numbers() as u64).saturating_mul(if layer.wide { 8 } else { 4 }));
        each.sum::<u64>().saturating_mul(source.samples as u64)
    }
}

/// Returns the bytes of the groups that are trained at the same time: at most, the largest ones.
fn together(planned: &[PlannedGroup], threads: usize) -> u64 {
    let mut bytes: Vec<u64> = planned.iter().map(|group| group.bytes).collect();
    bytes.sort_unstable_by(|a, b| b.cmp(a));
    let on_device = planned.iter().any(|group| group.side == side(Side::Gpu));
    let count = if on_device { 1 } else { side_by_side(threads, planned.iter().map(|group| group.runs)) };
    bytes.iter().take(count).sum()
}
