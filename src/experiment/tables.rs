//! The data set of an experiment, and the inputs of every configuration.

use super::grid::{Cell, FEATURES, LAYERS};
use super::spec::{Generated, Spec, wrong};
use crate::array::Real;
use crate::cache::{Cache, KeyHasher};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::features::generate::{Digits, Series, Strings, Vectors};
use crate::features::{Extractor, Representation};
use crate::io::{LabelColumn, Layers, Numbers, Roles, TableTargets, fits, unlearnable};
use crate::ops::mlp::{Samples, Targets};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A data set that was opened.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) layers: Layers,
    /// The number of samples, which are fewer in `layers` if they are generated for a plan.
    pub(super) samples: usize,
}

/// The inputs of a configuration.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Sample by sample.
    x: Vec<f32>,
    pub(super) inputs: usize,
}

impl Source {
    /// Opens the data set of an experiment. A generated one is written into the folder, unless it is there already.
    ///
    /// # Errors
    /// The errors of [`Layers::open`]; [`Domain`](crate::ErrorKind::Domain) if there are no targets, or some class has
    /// no sample.
    pub(super) fn open(ctx: &Context, spec: &Spec, folder: &Path) -> Result<Self> {
        let paths = match spec.data.generate {
            Some(generated) => {
                let path = folder.join(name(generated));
                if !path.exists() {
                    write(ctx, generated, &path)?;
                }
                vec![path]
            }
            None => paths(spec),
        };
        let layers = open(spec, &paths)?;
        Ok(Self { samples: layers.len(), layers })
    }

    /// Opens the data set for a plan. Of a generated one, only a few samples are generated.
    ///
    /// # Errors
    /// As for [`Source::open`].
    pub(super) fn preview(ctx: &Context, spec: &Spec) -> Result<Self> {
        let Some(generated) = spec.data.generate else {
            let layers = open(spec, &paths(spec))?;
            return Ok(Self { samples: layers.len(), layers });
        };
        let folder = tempfile::tempdir().map_err(|error| Error::io("create", &std::env::temp_dir(), error))?;
        let (few, samples) = few(generated);
        let path = folder.path().join(name(few));
        write(ctx, few, &path)?;
        let layers = open(spec, &[path])?;
        Ok(Self { layers, samples: samples.min(spec.data.rows.unwrap_or(usize::MAX)) })
    }

    /// Returns the number of classes, or 0, and the number of values of a target, or 0.
    pub(super) fn targets(&self) -> (usize, usize) {
        match self.layers.targets() {
            TableTargets::Labels(_, classes) => (classes.len(), 0),
            TableTargets::Values(_, each) => (0, *each),
            TableTargets::None => (0, 0),
        }
    }

    /// Returns a hash of what the operating system says of the files, and of numbers that were read as a whole. If it
    /// is the same later, the data set is the same.
    ///
    /// # Errors
    /// The errors of [`Layers::read`].
    pub(super) fn fingerprint(&self) -> Result<String> {
        let mut hasher = KeyHasher::new("fiedler 2026-11-26 where the numbers of a data set are");
        let (all, rows) = ((0..self.layers.layers().len()).collect::<Vec<_>>(), 0..self.layers.len());
        hasher.number(rows.end as u64);
        for (layer, origin) in all.iter().zip(self.layers.origins(&all, rows.clone())) {
            match origin {
                Some(origin) => hasher.bytes(origin.as_bytes()),
                None => match &self.layers.read(&[*layer], rows.clone())?[0].numbers {
                    Numbers::F32(numbers) => hasher.bytes(bytemuck::cast_slice(numbers)),
                    Numbers::F64(numbers) => hasher.bytes(bytemuck::cast_slice(numbers)),
                },
            };
        }
        add_targets(&self.layers, &mut hasher);
        Ok(hasher.finish().to_string())
    }

    /// Returns the names of the classes.
    pub(super) fn classes(&self) -> &[String] {
        match self.layers.targets() {
            TableTargets::Labels(_, classes) => classes,
            _ => &[],
        }
    }
}

/// Returns the paths of the data set.
fn paths(spec: &Spec) -> Vec<PathBuf> {
    let texts = spec.data.source.iter().flat_map(|source| source.as_slice());
    texts.map(PathBuf::from).collect()
}

fn open(spec: &Spec, paths: &[PathBuf]) -> Result<Layers> {
    let values = spec.are_values()?;
    let found = if values == Some(true) { LabelColumn::Needed } else { LabelColumn::Auto };
    let label = spec.data.label.as_deref().map_or(found, LabelColumn::Named);
    let roles = Roles { label, ignore: &spec.data.ignore, take: &spec.data.take };
    let mut layers = Layers::open_as(paths, roles, values).map_err(in_keys)?;
    layers.search();
    let shown = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
    // Of a generated data set, a plan has few samples.
    if let (TableTargets::Labels(_, classes), None) = (layers.targets(), spec.data.generate) {
        let remedy = "train.loss = \"mse\" takes numbers as targets, and data.label names another column or array";
        if let Some(why) = unlearnable(layers.len(), classes, remedy) {
            let origin = layers.target_origin().map_or_else(String::new, |origin| format!("labels from {origin}: "));
            return Err(wrong(format!("{shown}: {origin}{why}")));
        }
    }
    if let Some(rows) = spec.data.rows {
        layers = layers.first(rows);
    }
    match layers.targets() {
        TableTargets::None => Err(wrong(format!(
            "{shown}: expected labels or values of the samples, found none; data.label names the column or array"
        ))),
        TableTargets::Labels(labels, classes) => {
            let mut seen = vec![false; classes.len()];
            labels.iter().for_each(|&label| seen[label as usize] = true);
            match seen.iter().position(|seen| !seen) {
                Some(class) => Err(wrong(format!(
                    "{shown}: expected samples of every class among the first {}, found none of {}; shuffle the samples",
                    layers.len(),
                    classes[class]
                ))),
                None => Ok(layers),
            }
        }
        TableTargets::Values(..) => Ok(layers),
    }
}

/// Returns an error of a reader, which names options of the command, with the keys of an experiment instead.
fn in_keys(error: Error) -> Error {
    let ErrorKind::Parse { path, line, expected, found } = error.kind() else { return error };
    let keys = |text: &str| {
        let options = [("--label", "data.label"), ("--ignore", "data.ignore"), ("--take", "data.take")];
        options.iter().fold(text.to_owned(), |text, (option, key)| text.replace(option, key))
    };
    Error::parse(path, *line, keys(expected), keys(found))
}

/// Returns the name of the file of a generated data set. Other parameters have another name.
fn name(generated: Generated) -> String {
    let mut hasher = KeyHasher::new("fiedler 2026-11-26 parameters of a generated data set");
    hasher.bytes(json!(generated).to_string().as_bytes());
    let ending = match generated {
        Generated::Vectors { .. } => "safetensors",
        Generated::Series { .. } | Generated::Digits { .. } => "npz",
        Generated::Strings { .. } => "txt",
    };
    format!("data-{}.{ending}", &hasher.finish().to_string()[..8])
}

fn write(ctx: &Context, generated: Generated, path: &Path) -> Result<()> {
    match generated {
        Generated::Vectors { samples, classes, seed } => Vectors::new(samples, classes, seed)?.write(ctx, path),
        Generated::Series { samples, length, classes, seed } => {
            Series::new(samples, classes, length..=length, seed)?.write(ctx, path)
        }
        Generated::Digits { samples, seed } => Digits::new(samples, seed)?.write(ctx, path),
        Generated::Strings { samples, devices, length, seed } => {
            Strings::new(samples, devices, length, seed)?.write(ctx, path)
        }
    }
}

/// Returns the same data set with two samples of each class, and the number of samples.
fn few(generated: Generated) -> (Generated, usize) {
    let mut few = generated;
    let least = match generated {
        Generated::Vectors { classes, .. } | Generated::Series { classes, .. } => 2 * classes,
        Generated::Digits { .. } => 20,
        Generated::Strings { devices, .. } => 2 * devices.max(3),
    };
    let samples = few.samples_mut();
    let all = std::mem::replace(samples, least.min(*samples));
    (few, all)
}

/// The columns of the configurations that are computed together.
pub(super) struct Extraction {
    pub(super) extractor: Extractor,
    /// The columns of each configuration.
    columns: Vec<Vec<usize>>,
    width: usize,
}

/// A pair of the names of a representation and of a choice of layers.
pub(super) type Pair = (String, String);

/// Returns the pair of a configuration.
pub(super) fn pair(cell: &Cell) -> Pair {
    (cell.value(FEATURES), cell.value(LAYERS))
}

impl Extraction {
    /// Prepares the computation of some configurations in one read of the data set.
    ///
    /// # Errors
    /// The errors of [`Extractor::names`].
    pub(super) fn new(
        ctx: &Context,
        spec: &Spec,
        data: &Layers,
        pairs: &[Pair],
        caches: &[Arc<Cache>],
    ) -> Result<Self> {
        let all = spec.representations()?;
        let wanted: Vec<Representation> =
            all.into_iter().filter(|one| pairs.iter().any(|(name, _)| name == one.name())).collect();
        let patterns_of = |layers: &str| spec.data.layers.get(layers).map(|texts| texts.as_slice()).unwrap_or_default();
        let mut patterns: Vec<String> = pairs.iter().flat_map(|(_, layers)| patterns_of(layers).to_vec()).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let extractor = Extractor::new(wanted).layers(&patterns);
        let extractor = caches.iter().fold(extractor, |extractor, cache| extractor.cache(Arc::clone(cache)));
        let columns = extractor.columns(ctx, data)?;
        let of_pair = |(name, layers): &Pair| {
            let own = patterns_of(layers);
            let is_own = |layer: &str| own.iter().any(|pattern| fits(pattern, layer));
            (0..columns.len()).filter(|&at| columns[at].representation == *name && is_own(&columns[at].layer)).collect()
        };
        Ok(Self { columns: pairs.iter().map(of_pair).collect(), width: columns.len(), extractor })
    }

    /// Returns the number of inputs of each configuration.
    pub(super) fn inputs(&self) -> Vec<usize> {
        self.columns.iter().map(Vec::len).collect()
    }

    /// Computes the inputs of all configurations in one read. `progress` is told how many samples are complete.
    ///
    /// # Errors
    /// The errors of [`Extractor::stream`], and [`Domain`](crate::ErrorKind::Domain) if a column is not finite for a
    /// sample and the experiment says nothing of such columns.
    pub(super) fn compute(
        &self,
        ctx: &Context,
        spec: &Spec,
        data: &Layers,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<Table>> {
        let mut tables: Vec<Table> = self
            .inputs()
            .into_iter()
            .map(|inputs| Table { x: Vec::with_capacity(inputs * data.len()), inputs })
            .collect();
        let mut first = 0;
        self.extractor.stream(ctx, data, |values, status, done| {
            for (sample, row) in (first..).zip(values.chunks(self.width.max(1))) {
                for (table, columns) in tables.iter_mut().zip(&self.columns) {
                    for &column in columns {
                        let x = row[column];
                        table.x.push(if x.is_finite() {
                            x
                        } else {
                            self.replaced(ctx, spec, data, sample, column, x)?
                        });
                    }
                }
            }
            first += status.len();
            progress(done.samples);
            Ok(())
        })?;
        Ok(tables)
    }

    #[expect(clippy::cast_possible_truncation, reason = "columns are f32")]
    fn replaced(&self, ctx: &Context, spec: &Spec, data: &Layers, sample: usize, column: usize, x: f32) -> Result<f32> {
        if let Some(undefined) = spec.data.undefined {
            return Ok(undefined as f32);
        }
        let name = self.extractor.names(ctx, data)?.swap_remove(column);
        Err(wrong(format!(
            "expected finite columns, found {x} in {name} of sample {sample}; data.undefined = 0 writes 0 instead"
        )))
    }
}

impl Table {
    /// Returns the samples with the targets of a data set.
    pub(super) fn samples<T: Real>(&self, data: &Layers) -> Result<Samples<T>> {
        let targets = match data.targets() {
            TableTargets::Labels(labels, _) => Targets::Labels(labels.clone()),
            TableTargets::Values(values, each) => {
                Targets::Values(values.iter().map(|&x| T::from_f64(x)).collect(), *each)
            }
            TableTargets::None => Targets::Labels(Vec::new()),
        };
        Samples::new(self.inputs, self.x.iter().map(|&x| T::from_f64(x.into())).collect(), targets)
    }

    /// Returns a hash of the inputs and the targets.
    pub(super) fn hash(&self, data: &Layers) -> String {
        let mut hasher = KeyHasher::new("fiedler 2026-11-26 inputs and targets of a configuration, little-endian");
        hasher.number(self.inputs as u64).bytes(bytemuck::cast_slice(&self.x));
        add_targets(data, &mut hasher);
        hasher.finish().to_string()[..16].to_owned()
    }
}

/// Adds the targets of a data set to a hash.
fn add_targets(data: &Layers, hasher: &mut KeyHasher) {
    match data.targets() {
        TableTargets::Labels(labels, classes) => {
            hasher.bytes(bytemuck::cast_slice(labels));
            classes.iter().for_each(|class| {
                hasher.bytes(class.as_bytes());
            });
        }
        TableTargets::Values(values, _) => {
            hasher.bytes(bytemuck::cast_slice(values));
        }
        TableTargets::None => {}
    }
}
