//! Computes the representations of a data set, while its next block is read.

use super::compute::{Programs, Units};
use super::edges::{Concrete, Edges};
use super::plan::{Column, Plan};
use super::read::{Block, Reader};
use super::representation::Representation;
use super::side::{self, Sides};
use super::stored::{Definitions, Stores, Unit};
use crate::cache::Cache;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::io::Layers;
use crate::ops::series::Status;
use crate::policy::Choice;
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// Computes representations of every sample of a data set.
#[derive(Clone, Debug)]
pub struct Extractor {
    representations: Vec<Representation>,
    patterns: Vec<String>,
    stores: Stores,
    pub(super) edges: Option<Edges>,
}

/// How far an extraction is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of samples whose columns are complete.
    pub samples: usize,
    /// The number of all samples.
    pub total: usize,
    /// The bytes of the numbers that were read.
    pub bytes: u64,
}

/// What became of an extraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of samples with each [`Status`].
    pub status: [usize; 4],
    /// The number of units that were found in a cache, and that were computed. A unit is one representation of a block
    /// of samples of one layer, or one encoding of a graph.
    pub units: [usize; 2],
    /// The number of graphs with eigenvalues that did not converge.
    pub uncertified: usize,
    /// The bytes of the numbers that were read.
    pub bytes: u64,
}

/// Columns of all samples, in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Extracted {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Column>,
    pub(super) values: Vec<f32>,
    pub(super) status: Vec<Status>,
    pub(super) report: Report,
}

/// Takes the columns of some samples, what became of each sample, and the progress.
type Take<'a> = &'a mut dyn FnMut(&[f32], &[Status], Progress) -> Result<()>;

impl Extractor {
    /// Makes an extractor of representations, whose columns are in this order.
    #[must_use]
    pub fn new(representations: Vec<Representation>) -> Self {
        Self { representations, patterns: Vec::new(), stores: Stores::default(), edges: None }
    }

    /// Chooses the layers whose names match any of the patterns, in which `*` stands for any letters. Without patterns,
    /// all layers are chosen.
    #[must_use]
    pub fn layers(mut self, patterns: &[String]) -> Self {
        patterns.clone_into(&mut self.patterns);
        self
    }

    /// Adds a cache, which is searched after those that were added before.
    #[must_use]
    pub fn cache(mut self, cache: Arc<Cache>) -> Self {
        self.stores.0.push(cache);
        self
    }

    /// Returns the representations.
    #[must_use]
    pub fn representations(&self) -> &[Representation] {
        &self.representations
    }

    /// Returns the names of the columns for a data set.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a pattern matches no layer, two columns have one name, or a
    /// representation has no fixed number of columns for series of different lengths;
    /// [`Limit`](crate::ErrorKind::Limit) if the columns of one sample exceed a quarter of the memory budget.
    pub fn names(&self, ctx: &Context, data: &Layers) -> Result<Vec<String>> {
        Ok(self.plan(ctx, data)?.names())
    }

    /// Returns a description of all columns and of the representations, as `features.json` has it.
    ///
    /// # Errors
    /// The errors of [`Extractor::names`].
    pub fn description(&self, ctx: &Context, data: &Layers) -> Result<Value> {
        let mut description = self.plan(ctx, data)?.description(&self.representations);
        if let Some(edges) = self.edges.as_ref().filter(|_| self.wants_edges()) {
            description["edges"] = edges.description();
        }
        Ok(description)
    }

    /// Returns on which side the columns of a data set would be computed, and why. One choice serves all samples.
    ///
    /// # Errors
    /// The errors of [`Extractor::names`].
    pub fn choose(&self, ctx: &Context, data: &Layers) -> Result<Choice> {
        side::choose(ctx, &self.representations, data, &self.plan(ctx, data)?)
    }

    pub(super) fn plan(&self, ctx: &Context, data: &Layers) -> Result<Plan> {
        Plan::new(&self.representations, data, &self.patterns, ctx.memory_budget())
    }

    /// Computes the columns of all samples.
    ///
    /// # Errors
    /// The errors of [`Extractor::stream`], and [`Limit`](crate::ErrorKind::Limit) if the columns exceed the memory
    /// budget.
    pub fn extract(&self, ctx: &Context, data: &Layers) -> Result<Extracted> {
        let plan = self.plan(ctx, data)?;
        check_budget(ctx, plan.columns.len(), data.len())?;
        let (mut values, mut status) = (Vec::new(), Vec::new());
        let report = self.through(ctx, data, &plan, &mut |some, of, _| {
            values.extend_from_slice(some);
            status.extend_from_slice(of);
            Ok(())
        })?;
        Ok(Extracted { names: plan.names(), columns: plan.columns, values, status, report })
    }

    /// Computes the columns of all samples and passes them to `take`, some samples at a time and in order: the columns
    /// of each sample, sample by sample, what became of each sample, and the progress. While columns are computed, the
    /// next samples are read. The memory does not grow with the number of samples.
    ///
    /// # Errors
    /// The errors of [`Extractor::names`], [`Layers::read`] and [`Program::run`](crate::ops::series::Program::run),
    /// those that `take` returns, and [`Domain`](crate::ErrorKind::Domain) if a histogram wants fitted edges and there
    /// are none of a layer.
    pub fn stream(
        &self,
        ctx: &Context,
        data: &Layers,
        mut take: impl FnMut(&[f32], &[Status], Progress) -> Result<()>,
    ) -> Result<Report> {
        let plan = self.plan(ctx, data)?;
        self.through(ctx, data, &plan, &mut take)
    }

    fn through(&self, ctx: &Context, data: &Layers, plan: &Plan, take: Take<'_>) -> Result<Report> {
        let (send, receive) = sync_channel(1);
        let sides = Sides::new(ctx, &side::choose(ctx, &self.representations, data, plan)?);
        let concrete = &Concrete::new(&self.representations, plan, data, self.edges.as_ref())?;
        let definitions = Definitions::new(concrete, &sides.identity);
        let reader = Reader { data, plan, stores: &self.stores, definitions };
        let report = std::thread::scope(|scope| {
            // Dropped before the reader is waited for, which otherwise would wait for a place to send to.
            let receive = receive;
            scope.spawn(move || reader.read(&send));
            let mut programs = Programs::new(concrete);
            let width = plan.columns.len();
            let mut report = Report::default();
            for first in (0..data.len()).step_by(plan.chunk) {
                let samples = first..data.len().min(first + plan.chunk);
                let mut values = vec![0.0_f32; samples.len() * width];
                let mut status = vec![Status::Ok; samples.len()];
                let mut left: usize = plan.layers.iter().map(|layer| samples.len().div_ceil(layer.block)).sum();
                while left > 0 {
                    // The reader ends early only after it has sent an error.
                    let Ok(blocks) = receive.recv() else { unreachable!("the reader sends every block") };
                    for block in blocks? {
                        left -= 1;
                        let units = programs
                            .units(&sides, plan, &block)
                            .map_err(|error| of_layer(error, &data.layers()[plan.layers[block.planned].layer].name))?;
                        self.keep(&block, &units);
                        report.units[0] += units.found;
                        report.units[1] += units.all.len() - units.found;
                        report.bytes += block.rows.as_ref().map_or(0, |rows| rows.numbers.bytes());
                        let columns = &plan.layers[block.planned].columns;
                        for (unit, columns) in units.all.iter().zip(columns) {
                            put(unit, columns.clone(), block.samples.start - first, width, &mut values, &mut status);
                        }
                    }
                }
                status.iter().for_each(|&status| report.status[status as usize] += 1);
                let progress = Progress { samples: samples.end, total: data.len(), bytes: report.bytes };
                take(&values, &status, progress)?;
            }
            Ok(report)
        });
        // What was computed before an error is stored too.
        self.stores.flush();
        report
    }

    /// Stores the units that were computed.
    fn keep(&self, block: &Block, units: &Units) {
        for (unit, (key, found)) in units.all.iter().zip(&block.found) {
            if let (Some(key), None) = (key, found) {
                self.stores.put(*key, unit);
            }
        }
    }
}

/// Returns an error if columns of samples, which are kept in memory, exceed the budget.
pub(super) fn check_budget(ctx: &Context, columns: usize, samples: usize) -> Result<()> {
    let needed = (samples as u64).saturating_mul(4 * columns as u64);
    if needed > ctx.memory_budget() {
        let what = format!("bytes for {columns} columns of {samples} samples");
        return Err(Error::budget(what, needed, ctx.memory_budget()));
    }
    Ok(())
}

/// Returns an error about a limit with the name of the layer that exceeds it.
fn of_layer(error: Error, layer: &str) -> Error {
    match error.kind() {
        ErrorKind::Limit { what, needed, allowed } => {
            ErrorKind::Limit { what: format!("layer {layer}: {what}"), needed: *needed, allowed: *allowed }.into()
        }
        _ => error,
    }
}

/// Copies a unit to its columns of some samples, of which `first` is the first.
fn put(unit: &Unit, columns: Range<usize>, first: usize, width: usize, values: &mut [f32], status: &mut [Status]) {
    let samples = unit.values.chunks(columns.len().max(1)).zip(&unit.status);
    for (place, (from, &of)) in (first..).zip(samples) {
        values[place * width + columns.start..][..columns.len()].copy_from_slice(from);
        status[place] = status[place].max(of);
    }
}

impl Extracted {
    /// Returns the names of the columns: `representation.layer.column`, without the layer if there is only one.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns what each column is.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns all values, sample by sample.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the columns of a sample.
    ///
    /// # Panics
    /// If there is no such sample.
    #[must_use]
    pub fn row(&self, sample: usize) -> &[f32] {
        &self.values[sample * self.names.len()..][..self.names.len()]
    }

    /// Returns what became of each sample.
    #[must_use]
    pub fn status(&self) -> &[Status] {
        &self.status
    }

    /// Returns what became of the extraction.
    #[must_use]
    pub fn report(&self) -> Report {
        self.report
    }
}
