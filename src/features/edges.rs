//! Common edges of histograms, which come from training samples, and the measures that have them.

use super::extract::Extractor;
use super::part::Part;
use super::plan::{Plan, Planned};
use super::representation::Representation;
use super::wrong;
use crate::array::Real;
use crate::context::Context;
use crate::error::Result;
use crate::io::{LayerRows, Layers, Numbers};
use crate::ops::series::{Histograms, Measure};
use serde_json::Value;
use std::ops::Range;

/// The range of the histograms of each layer: the least and the greatest number of the layer in training samples. It
/// takes the place of `range = "fitted"` in representations. Numbers of other samples that are beyond it are in no bin.
///
/// ```
/// use fiedler::features::{Extractor, Representation};
/// use fiedler::io::Layers;
/// use fiedler::Context;
///
/// let ctx = Context::cpu();
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("series.csv");
/// std::fs::write(&path, "1.5,2,3,5\n2,1,2,9\n")?;
/// let data = Layers::open(&[path])?;
/// let list = Representation::parse_list("histogram(range='fitted', bins=2, columns=['counts'])")?;
/// let extractor = Extractor::new(list);
/// // The first sample alone is used for training.
/// let edges = extractor.fit_edges(&ctx, &data, 0..1)?;
/// assert_eq!(edges.iter().next(), Some(("values", (1.5, 5.0))));
/// let found = extractor.edges(edges).extract(&ctx, &data)?;
/// assert_eq!((found.row(0), found.row(1)), (&[3.0, 1.0][..], &[2.0, 0.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Edges {
    layers: Vec<String>,
    /// The lower and the upper edge of each layer, one pair after the other.
    ends: Vec<f64>,
}

impl Edges {
    /// Makes edges of the names of layers and of their ends, or returns what is wrong.
    pub(super) fn new(layers: Vec<String>, ends: Vec<f64>) -> Result<Self, String> {
        if layers.is_empty() || ends.len() != 2 * layers.len() {
            return Err(format!("{} edges of {} layers", ends.len(), layers.len()));
        }
        let made = Self { layers, ends };
        if let Some((layer, (low, high))) =
            made.iter().find(|(_, (low, high))| low >= high || !(high - low).is_finite())
        {
            return Err(format!("the edges {low} and {high} of {layer}"));
        }
        Ok(made)
    }

    /// Iterates over the layers, with the lower and the upper edge of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, (f64, f64))> {
        let ends = self.ends.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        self.layers.iter().map(String::as_str).zip(ends)
    }

    /// Returns the names of the layers.
    pub(super) fn layers(&self) -> &[String] {
        &self.layers
    }

    /// Returns the lower and the upper edge of each layer, one pair after the other.
    pub(super) fn ends(&self) -> &[f64] {
        &self.ends
    }

    /// Returns the range of a layer of a data set. If there is only one layer, its name does not matter, since that of
    /// an `.npy` file is the name of the file.
    fn range(&self, data: &Layers, layer: usize) -> Result<(f64, f64)> {
        let name = &data.layers()[layer].name;
        let alone = self.layers.len() == 1 && data.layers().len() == 1;
        let found = self.iter().find(|(known, _)| alone || known == name);
        found.map(|(_, range)| range).ok_or_else(|| {
            let known = self.layers.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if self.layers.len() > 8 { ", ..." } else { "" };
            wrong(format!("expected fitted edges of the layer {name}, found those of {known}{more}"))
        })
    }

    /// Describes the edges, by layer.
    pub(super) fn description(&self) -> Value {
        self.iter().map(|(layer, (low, high))| (layer, vec![low, high])).collect()
    }
}

/// The measures of all representations for each planned layer, with known parameters only.
pub(super) struct Concrete {
    /// The measures of each representation, for different ranges.
    lists: Vec<Vec<Vec<Measure>>>,
    /// Which of the lists belongs to each planned layer.
    of: Vec<usize>,
}

impl Concrete {
    /// Puts the edges of the layers into the measures.
    pub(super) fn new(
        representations: &[Representation],
        plan: &Plan,
        data: &Layers,
        edges: Option<&Edges>,
    ) -> Result<Self> {
        let fitted = |one: &&Representation| one.is_fitted();
        let Some(first) = representations.iter().find(fitted) else {
            let list = representations.iter().map(Representation::measures).collect();
            return Ok(Self { lists: vec![list], of: vec![0; plan.layers.len()] });
        };
        let Some(edges) = edges else {
            let what = format!(
                "expected edges for the histograms of {} whose range is fitted, found none; `Extractor::fit_edges` \
                 finds them, and the command does so with --fit FILE, or takes those of a file with --transform FILE",
                first.name()
            );
            return Err(wrong(what));
        };
        let list = |planned: &Planned| {
            let range = Some(edges.range(data, planned.layer)?);
            let concrete = |part: &Part| match part {
                Part::Fitted(histogram) => Some(Measure::Histogram(Histograms { range, ..histogram.clone() })),
                Part::Numbers(measure) => Some(measure.clone()),
                Part::Graph(_) => None,
            };
            let measures = representations.iter().map(|one| one.parts().iter().filter_map(concrete).collect());
            Ok(measures.collect())
        };
        let lists = plan.layers.iter().map(list).collect::<Result<Vec<_>>>()?;
        Ok(Self { of: (0..lists.len()).collect(), lists })
    }

    /// Returns which list of measures belongs to a planned layer.
    pub(super) fn place(&self, planned: usize) -> usize {
        self.of[planned]
    }

    /// Returns the different lists of the measures of each representation.
    pub(super) fn lists(&self) -> &[Vec<Vec<Measure>>] {
        &self.lists
    }
}

impl Extractor {
    /// Returns whether a representation has a histogram whose range is fitted.
    #[must_use]
    pub fn wants_edges(&self) -> bool {
        self.representations().iter().any(Representation::is_fitted)
    }

    /// Sets the edges of histograms whose range is fitted.
    #[must_use]
    pub fn edges(mut self, edges: Edges) -> Self {
        self.edges = Some(edges);
        self
    }

    /// Finds the least and the greatest number of each chosen layer in the training samples `rows`, and reads no other
    /// samples. An entry with a NaN or an infinity is left out. If all numbers are equal, the range extends by 0.5 to
    /// either side.
    ///
    /// # Errors
    /// The errors of [`Extractor::names`] and of [`Layers::read`]; [`Domain`](crate::ErrorKind::Domain) if a layer has
    /// no numbers in the training samples or they span more than f64 holds;
    /// [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn fit_edges(&self, ctx: &Context, data: &Layers, rows: Range<usize>) -> Result<Edges> {
        let plan = self.plan(ctx, data)?;
        let mut found: Vec<Option<(f64, f64)>> = vec![None; plan.layers.len()];
        // If every sample is a file, a file is read once.
        let together = if data.by_sample() { plan.layers.len() } else { 1 };
        let mut made = Vec::new();
        for (group, found) in plan.layers.chunks(together).zip(found.chunks_mut(together)) {
            let layers: Vec<usize> = group.iter().map(|planned| planned.layer).collect();
            for first in rows.clone().step_by(group[0].block) {
                let samples = first..rows.end.min(first + group[0].block);
                data.read_into(&layers, samples.clone(), &mut made)?;
                ctx.on_host(|| {
                    for (found, rows) in found.iter_mut().zip(&made) {
                        *found = joined(*found, of_rows(rows, samples.len()));
                    }
                    Ok(())
                })?;
            }
        }
        let layers: Vec<String> = plan.layers.iter().map(|planned| data.layers()[planned.layer].name.clone()).collect();
        let range = |(layer, found): (&String, Option<(f64, f64)>)| {
            let missing = || wrong(format!("expected finite numbers of {layer} in the training samples, found none"));
            let (low, high) = found.ok_or_else(missing)?;
            // The edges of a sample whose numbers are equal; large numbers move at least by one place.
            let side = if low < high { 0.0 } else { 0.5_f64.max(low.abs() * 2.0 * f64::EPSILON) };
            Ok([low - side, high + side])
        };
        let ends = layers.iter().zip(found).map(range).collect::<Result<Vec<_>>>()?.concat();
        let refused = |found| wrong(format!("expected edges that f64 holds, found {found}"));
        Edges::new(layers, ends).map_err(refused)
    }
}

/// Returns the least and the greatest number of all finite entries.
fn of_rows(rows: &LayerRows, samples: usize) -> Option<(f64, f64)> {
    match &rows.numbers {
        Numbers::F32(numbers) => of_numbers(numbers, rows.lengths.as_deref(), samples),
        Numbers::F64(numbers) => of_numbers(numbers, rows.lengths.as_deref(), samples),
    }
}

fn of_numbers<T: Real>(numbers: &[T], lengths: Option<&[usize]>, samples: usize) -> Option<(f64, f64)> {
    let each = numbers.len() / samples.max(1);
    let mut left = numbers;
    let mut found = None;
    for sample in 0..samples {
        let (entry, rest) = left.split_at(lengths.map_or(each, |lengths| lengths[sample]));
        left = rest;
        found = joined(found, of_entry(entry));
    }
    found
}

/// Returns the least and the greatest number of an entry, unless it is empty or a number is not finite.
fn of_entry<T: Real>(entry: &[T]) -> Option<(f64, f64)> {
    let mut found = (f64::INFINITY, f64::NEG_INFINITY);
    for x in entry.iter().map(|x| x.to_f64()) {
        if !x.is_finite() {
            return None;
        }
        found = (found.0.min(x), found.1.max(x));
    }
    // Zero has one sign, whatever the order of the numbers.
    (!entry.is_empty()).then_some((found.0 + 0.0, found.1 + 0.0))
}

/// Returns the range that encloses both.
fn joined(one: Option<(f64, f64)>, other: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}
