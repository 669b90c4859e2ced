//! An experiment with its folder: it runs what is not finished, as far as it gets, and goes on there the next time.

use super::grid::{self, Cell, Row};
use super::groups::{Group, groups, parts, side_by_side};
use super::record::{About, Record};
use super::spec::{PrecisionName, Spec, wrong};
use super::store::{self, Finished, Folder, Of};
use super::tables::{Extraction, Pair, Source, Table, pair};
use crate::cache::Cache;
use crate::clock::Instant;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::mlp::{Number, Samples};
use crate::policy::Side;
use crate::train::{Part, Trainer};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time between two checkpoints of runs on their way. One of wide networks takes seconds.
pub(super) const CHECKPOINT: Duration = Duration::from_secs(60);

/// How far an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of samples whose features are complete, of those that are being computed.
    pub samples: usize,
    /// The number of all samples.
    pub of_samples: usize,
    /// The number of runs that are finished, those of earlier calls included.
    pub runs: usize,
    /// The number of all runs.
    pub of_runs: usize,
    /// The number of runs that were finished before this call.
    pub before: usize,
    /// The time since the beginning of this call.
    pub elapsed: Duration,
}

/// A function that is told of the progress.
pub type OnProgress = Arc<dyn Fn(&Progress) + Send + Sync>;

/// What an experiment took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Times {
    /// The seconds in which the data set was read and features were computed.
    pub features: f64,
    /// The seconds of the trainings.
    pub training: f64,
    /// The number of runs that this call trained.
    pub trained: usize,
}

/// An experiment and its folder.
#[derive(Clone)]
pub struct Experiment {
    spec: Spec,
    folder: PathBuf,
    caches: Vec<Arc<Cache>>,
    progress: Option<OnProgress>,
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Experiment").field("spec", &self.spec).field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// What the trainings share.
struct Shared<'a> {
    ctx: &'a Context,
    spec: &'a Spec,
    cells: &'a [Cell],
    source: &'a Source,
    folder: &'a Folder,
    fingerprint: &'a str,
    finished: &'a Mutex<usize>,
    told: &'a (dyn Fn(usize, usize) + Sync),
}

/// The samples of a configuration, in the precision of its runs.
enum Inputs {
    F32(Arc<Samples<f32>>),
    F64(Arc<Samples<f64>>),
}

/// A group with its samples.
struct Job {
    group: Group,
    inputs: Inputs,
    data: String,
}

impl Experiment {
    /// Creates an experiment that works in a folder, which is created when it runs.
    #[must_use]
    pub fn new(spec: Spec, folder: impl Into<PathBuf>) -> Self {
        Self { spec, folder: folder.into(), caches: Vec::new(), progress: None }
    }

    /// Adds a cache of features, which is searched after those that were added before.
    #[must_use]
    pub fn cache(mut self, cache: Arc<Cache>) -> Self {
        self.caches.push(cache);
        self
    }

    /// Sets a function that is told of the progress, by one thread at a time.
    #[must_use]
    pub fn progress(self, progress: OnProgress) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Returns what the experiment is.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns whether the folder has the files of an experiment.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        Folder::is_begun(&self.folder, Of::Experiment)
    }

    /// Runs what is not finished. If it is interrupted, the next call goes on where it was, and the results have the
    /// same bytes. Values that were added to the grid are run, and those that were removed are left out of the results.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if another process works in the folder, the folder has other files or
    /// another experiment, or the data set differs from that of finished runs; the errors of
    /// [`Layers::open`](crate::io::Layers::open), [`Extractor::stream`](crate::features::Extractor::stream) and
    /// [`Trainer::fit`]; [`Limit`](crate::ErrorKind::Limit) if the inputs of one configuration exceed half the memory
    /// budget; [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn run(&self, ctx: &Context) -> Result<Times> {
        let spec = &self.spec;
        let cells = grid::cells(spec)?;
        let rows = grid::rows(spec, &cells)?;
        let folder = Folder::create(&self.folder, Of::Experiment)?;
        let moved = match folder.spec()? {
            Some(before) => spec.is_moved(&before, &self.folder)?,
            None => false,
        };
        let known = folder.finished()?;
        let source = Source::open(ctx, spec, folder.path())?;
        let fingerprint = source.fingerprint()?;
        let missing: Vec<Row> = rows.iter().filter(|row| !known.contains_key(&row.id)).cloned().collect();
        let before = rows.len() - missing.len();
        // Finished runs of another data set would be compared with those of this one.
        let mut own = rows.iter().filter_map(|row| known.get(&row.id)).peekable();
        if moved && !known.is_empty() && own.peek().is_none() {
            let shown = self.folder.display();
            let what = "expected the data set of the finished runs, found another data.source; use a new folder";
            return Err(wrong(format!("{shown}: {what}")));
        }
        let changed = own.any(|run| moved || run.fingerprint != fingerprint);
        // What is there stays as it is until it is known that this belongs to it.
        let begin = || {
            folder.write_spec(&spec.to_toml())?;
            folder.write_parts(parts(spec, &source))?;
            folder.write_classes(source.classes())
        };
        if !changed {
            begin()?;
        }
        let pairs = distinct(if changed { &rows } else { &missing }, &cells);
        let begun = Instant::now();
        let samples = source.layers.len();
        let told = |done: usize, runs: usize| {
            if let Some(progress) = &self.progress {
                let (of_samples, of_runs, elapsed) = (samples, rows.len(), begun.elapsed());
                progress(&Progress { samples: done, of_samples, runs, of_runs, before, elapsed });
            }
        };
        let finished = Mutex::new(before);
        let shared = Shared {
            ctx,
            spec,
            cells: &cells,
            source: &source,
            folder: &folder,
            fingerprint: &fingerprint,
            finished: &finished,
            told: &told,
        };
        let mut times = Times { trained: missing.len(), ..Times::default() };
        for wave in self.waves(ctx, &source, pairs)? {
            let began = Instant::now();
            let extraction = Extraction::new(ctx, spec, &source.layers, &wave, &self.caches)?;
            let runs = *locked(&finished);
            let tables = extraction.compute(ctx, spec, &source.layers, |done| told(done, runs))?;
            let hashes: Vec<String> = tables.iter().map(|table| table.hash(&source.layers)).collect();
            for (pair_of, hash) in wave.iter().zip(&hashes) {
                let own = rows.iter().filter(|row| pair(&cells[row.cell]) == *pair_of);
                if own.filter_map(|row| known.get(&row.id)).any(|run| run.record.data != *hash) {
                    let (name, shown) = (format!("{} of {}", pair_of.0, pair_of.1), self.folder.display());
                    return Err(wrong(format!(
                        "{shown}: expected the data set of the finished runs, found another one for {name}; use a new \
                         folder"
                    )));
                }
            }
            if changed {
                begin()?;
            }
            times.features += began.elapsed().as_secs_f64();
            let began = Instant::now();
            let jobs = jobs(&shared, &missing, &wave, &tables, &hashes)?;
            drop(tables);
            train(&shared, jobs)?;
            times.training += began.elapsed().as_secs_f64();
        }
        folder.remove_checkpoints();
        Ok(times)
    }

    /// Returns all finished runs of the experiment, in the order of its rows, with the seconds of a thread that each
    /// took.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if a file is damaged; [`Io`](crate::ErrorKind::Io).
    pub fn records(&self) -> Result<Vec<(Record, f64)>> {
        let cells = grid::cells(&self.spec)?;
        let mut known = store::finished(&self.folder)?;
        let own = |row: &Row| {
            let Finished { record, seconds, .. } = known.remove(&row.id)?;
            // The same settings may be values of a grid now.
            Some((Record { factors: cells[row.cell].factors.clone(), ..record }, seconds))
        };
        Ok(grid::rows(&self.spec, &cells)?.iter().filter_map(own).collect())
    }

    /// Returns the names of the classes, as the last call that trained has stored them.
    pub(super) fn classes(&self) -> Vec<String> {
        store::classes(&self.folder)
    }

    /// Returns the parts of the file, if the last call that trained has stored that its runs take these.
    pub(super) fn parts(&self) -> Option<[usize; 3]> {
        store::parts(&self.folder)
    }

    /// Divides configurations into those that are computed in one read: as many as fit in half the memory budget.
    fn waves(&self, ctx: &Context, source: &Source, pairs: Vec<Pair>) -> Result<Vec<Vec<Pair>>> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let (budget, samples) = (ctx.memory_budget() / 2, source.layers.len() as u64);
        let inputs = Extraction::new(ctx, &self.spec, &source.layers, &pairs, &[])?.inputs();
        let mut waves: Vec<Vec<Pair>> = Vec::new();
        let mut bytes = 0;
        for (pair, inputs) in pairs.into_iter().zip(inputs) {
            // The table and the samples that are made of it.
            let own = 8 * samples * inputs as u64;
            if own > budget {
                let what = format!("bytes for the {inputs} inputs of {samples} samples of {} of {}", pair.0, pair.1);
                return Err(Error::budget(what, 2 * own, ctx.memory_budget()));
            }
            match waves.last_mut().filter(|_| bytes + own <= budget) {
                Some(wave) => wave.push(pair),
                None => {
                    waves.push(vec![pair]);
                    bytes = 0;
                }
            }
            bytes += own;
        }
        Ok(waves)
    }
}

/// Returns the pairs of representation and layers of some runs, in their order.
fn distinct(rows: &[Row], cells: &[Cell]) -> Vec<Pair> {
    let mut seen = HashSet::new();
    rows.iter().map(|row| pair(&cells[row.cell])).filter(|pair| seen.insert(pair.clone())).collect()
}

/// Returns the groups of a wave with their samples.
fn jobs(
    shared: &Shared<'_>,
    missing: &[Row],
    wave: &[Pair],
    tables: &[Table],
    hashes: &[String],
) -> Result<VecDeque<Job>> {
    let places: HashMap<&Pair, usize> = wave.iter().enumerate().map(|(place, pair)| (pair, place)).collect();
    let (mut narrow, mut wide) = (HashMap::new(), HashMap::new());
    let mut made = VecDeque::new();
    for group in groups(shared.cells, missing) {
        let Some(&place) = places.get(&group.pair) else { continue };
        let data = &shared.source.layers;
        let inputs = if group.cell.settings.train.precision == PrecisionName::F64 {
            let samples = match wide.get(&place) {
                Some(samples) => Arc::clone(samples),
                None => Arc::new(tables[place].samples(data)?),
            };
            wide.insert(place, Arc::clone(&samples));
            Inputs::F64(samples)
        } else {
            let samples = match narrow.get(&place) {
                Some(samples) => Arc::clone(samples),
                None => Arc::new(tables[place].samples(data)?),
            };
            narrow.insert(place, Arc::clone(&samples));
            Inputs::F32(samples)
        };
        made.push_back(Job { group, inputs, data: hashes[place].clone() });
    }
    Ok(made)
}

/// Trains all groups. Where a group has fewer runs than there are threads, several groups are trained side by side.
fn train(shared: &Shared<'_>, jobs: VecDeque<Job>) -> Result<()> {
    let mut together = side_by_side(shared.ctx.threads(), jobs.iter().map(|job| job.group.rows.len()));
    if jobs.iter().any(|job| on_device(shared, job)) {
        together = 1;
    }
    let (queue, failed) = (Mutex::new(jobs), Mutex::new(None));
    std::thread::scope(|scope| {
        for _ in 0..together {
            scope.spawn(|| {
                loop {
                    if locked(&failed).is_some() {
                        return;
                    }
                    let Some(job) = locked(&queue).pop_front() else { return };
                    let done = match &job.inputs {
                        Inputs::F32(samples) => train_group(shared, &job, samples),
                        Inputs::F64(samples) => train_group(shared, &job, samples),
                    };
                    if let Err(error) = done {
                        locked(&failed).get_or_insert(error);
                    }
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn on_device(shared: &Shared<'_>, job: &Job) -> bool {
    let Inputs::F32(samples) = &job.inputs else { return false };
    let trainer = job.group.trainer(shared.spec, samples.inputs(), shared.source);
    let choice = trainer.and_then(|trainer| trainer.choose::<f32>(shared.ctx, samples.len(), job.group.rows.len()));
    choice.is_ok_and(|choice| choice.side == Side::Gpu)
}

/// Trains a group from its checkpoint on, and stores its runs.
fn train_group<T: Number>(shared: &Shared<'_>, job: &Job, samples: &Samples<T>) -> Result<()> {
    let Shared { ctx, spec, cells, source, folder, .. } = *shared;
    let group = &job.group;
    let checkpoint = folder.checkpoint(group.rows.iter().map(|row| row.id.as_str()));
    let trainer: Trainer = group.trainer(spec, samples.inputs(), source)?;
    let trainer = trainer.row_group(samples.len()).checkpoint(&checkpoint, CHECKPOINT);
    let fit = trainer.fit(ctx, samples, &group.runs(cells)?).map_err(|error| error.within(group.name()))?;
    let predictions = trainer.predictions(ctx, samples, &fit, Part::Test)?;
    let labels = match samples.targets() {
        crate::ops::mlp::Targets::Labels(labels) => labels.as_slice(),
        crate::ops::mlp::Targets::Values(..) => &[],
    };
    let records = group.rows.iter().zip(fit.runs()).zip(predictions).map(|((row, fitted), predicted)| {
        let right = predicted.iter().map(|&(sample, class)| if labels[sample as usize] == class { '1' } else { '0' });
        let about = About {
            id: &row.id,
            factors: &cells[row.cell].factors,
            fold: row.fold,
            data: &job.data,
            side: fit.side(),
            right: right.collect(),
        };
        let record = Record::new(about, fitted);
        Finished { record, seconds: fitted.seconds(), fingerprint: shared.fingerprint.to_owned() }
    });
    folder.finish(&records.collect::<Vec<_>>())?;
    // What is finished needs no checkpoint. One that stays is not used again.
    let _ = std::fs::remove_file(&checkpoint);
    let mut finished = locked(shared.finished);
    *finished += group.rows.len();
    (shared.told)(source.layers.len(), *finished);
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
