//! Computes the representations of a data set: a thread reads it, a thread computes, and the caller's thread collects.

use super::collect::Collector;
use super::compute::{Computer, Programs};
use super::edges::{Concrete, Edges};
use super::plan::{Column, Plan};
use super::read::Reader;
use super::representation::Representation;
use super::side::{self, Sides};
use super::stored::{Definitions, Stores};
use crate::cache::Cache;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io::Layers;
use crate::ops::series::Status;
use crate::parallel;
use crate::policy::Choice;
use serde_json::Value;
use std::sync::Arc;
use std::sync::mpsc::{channel, sync_channel};

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
pub(super) type Take<'a> = &'a mut dyn FnMut(&[f32], &[Status], Progress) -> Result<()>;

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

    /// Returns what each column is for a data set.
    ///
    /// # Errors
    /// The errors of [`Extractor::names`].
    pub fn columns(&self, ctx: &Context, data: &Layers) -> Result<Vec<Column>> {
        Ok(self.plan(ctx, data)?.columns)
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
    /// of each sample, sample by sample, what became of each sample, and the progress. Meanwhile the next samples are
    /// read and computed, on other threads. The memory does not grow with the number of samples.
    ///
    /// # Errors
    /// The errors of [`Extractor::names`], [`Layers::read`] and [`Program::run`](crate::ops::series::Program::run),
    /// those that `take` returns, and [`Domain`](crate::ErrorKind::Domain) if a histogram wants fitted edges and there
    /// are none of a layer; [`Cancelled`](crate::ErrorKind::Cancelled).
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
        parallel::needs_threads("features")?;
        let sides = &Sides::new(ctx, &side::choose(ctx, &self.representations, data, plan)?);
        let concrete = &Concrete::new(&self.representations, plan, data, self.edges.as_ref())?;
        let definitions = Definitions::new(concrete, &sides.identity);
        let (read, blocks) = sync_channel(1);
        let (give_back, used) = channel();
        let (computed, units) = sync_channel(plan.ahead);
        let reader = Reader { data, plan, stores: &self.stores, definitions, used };
        let computer = Computer { data, plan, sides, programs: Programs::new(concrete) };
        let report = std::thread::scope(|scope| {
            scope.spawn(move || reader.read(&read));
            scope.spawn(move || computer.compute(&blocks, &give_back, &computed));
            // If this ends early, the other threads end too, because what they send is not received.
            Collector { ctx, plan, stores: &self.stores, total: data.len(), units }.collect(take)
        });
        // What was computed before an error is stored too.
        self.stores.flush();
        report
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
