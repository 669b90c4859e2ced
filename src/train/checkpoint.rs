//! Checkpoints: everything that runs on their way need to go on, in one safetensors file. There is no state of a random
//! generator in it, because random numbers are functions of the seed and the number of the step.

use super::running::{Counters, Epoch, RunStatus, Running};
use super::schedule::Plateau;
use super::spec::{SPEC, Spec, VERSION, stored_json};
use crate::error::{Error, Result};
use crate::io::{self, Data, NamedArray, NpyData, Rows, Tensors};
use crate::ops::mlp::{Number, Program, Replica, Scaler, Tensor};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The key of the checksum in the metadata.
const CHECKSUM: &str = "checksum";

/// A checkpoint that was read.
pub(super) struct Stored {
    path: PathBuf,
    tensors: Tensors,
    pub(super) spec: Value,
}

impl Stored {
    /// Reads a checkpoint, or returns `None` if there is none.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Parse`] if the file is not a checkpoint, or if its content differs from what was written;
    /// [`crate::ErrorKind::Io`] if it cannot be read.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let wrong = |expected: &str, found: &str| Error::parse(path, None, expected, found);
        let tensors = Tensors::open(path)?;
        let spec = stored_json(&tensors, SPEC).ok_or_else(|| wrong("a checkpoint of fiedler", "another file"))?;
        let checksum = json!([tensors.checksum(CHECKSUM)]).to_string();
        // Earlier versions have no checksum. Their version is a difference.
        if tensors.metadata(CHECKSUM).map_or(spec["version"] == json!(VERSION), |found| found != checksum) {
            return Err(wrong("a checkpoint as it was written", "other bytes, which do not have its checksum"));
        }
        Ok(Some(Self { path: path.to_owned(), tensors, spec }))
    }
}

/// A checkpoint's file.
#[derive(Debug)]
pub(super) struct Checkpoint<'a> {
    path: PathBuf,
    spec: &'a Spec,
}

/// The number of numbers of a run's row.
const ROW: usize = 20;

impl<'a> Checkpoint<'a> {
    pub(super) fn new(path: &Path, spec: &'a Spec) -> Self {
        Self { path: path.to_owned(), spec }
    }

    /// Writes the state of all runs.
    #[expect(clippy::cast_possible_wrap, reason = "a number of records")]
    pub(super) fn save<T: Number>(&self, program: &Program, all: &[Running<T>]) -> Result<()> {
        let mut stacked = Stacked::default();
        let moments = all.iter().map(|running| program.optimizer.moments(&running.run.hyper)).max().unwrap_or(0);
        for running in all {
            stacked.push("", running.replica.all_tensors(&program.net, moments));
            let best = running.best.as_ref().unwrap_or(&running.replica);
            stacked.push("best.", best.tensors(&program.net));
        }
        let rows: Vec<f64> = all.iter().flat_map(row).collect();
        let history: Vec<f64> = all.iter().flat_map(|r| r.history.iter().flat_map(Epoch::numbers)).collect();
        let lengths: Vec<i64> = all.iter().map(|running| running.history.len() as i64).collect();
        let text = [self.spec.0.to_string()];
        let mut arrays = stacked.arrays(all.len());
        let named = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
        arrays.push(named("rows", vec![all.len(), ROW], Data::F64(&rows)));
        arrays.push(named("history", vec![history.len() / Epoch::NUMBERS, Epoch::NUMBERS], Data::F64(&history)));
        arrays.push(named("lengths", vec![all.len()], Data::I64(&lengths)));
        arrays.push(named(SPEC, vec![1], Data::Text(&text)));
        let checksum = [io::checksum(&arrays)];
        arrays.push(named(CHECKSUM, vec![1], Data::Text(&checksum)));
        io::write(&self.path, &arrays)
    }

    /// Sets the state of all runs from a checkpoint.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if it is of another training; [`crate::ErrorKind::Parse`] if it is incomplete.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of records")]
    pub(super) fn load<T: Number>(&self, stored: &Stored, program: &Program, all: &mut [Running<T>]) -> Result<()> {
        let Stored { path, tensors, spec } = stored;
        self.spec.expect(spec, path, "in the checkpoint")?;
        let wrong = |expected: &str, found: String| Error::parse(path, None, expected, found);
        let numbers = |name: &str| match tensors.array(name)?.data {
            NpyData::F64(data) => Ok(data),
            other => Err(wrong("numbers in float64", format!("{name} in {}", other.name()))),
        };
        let (rows, history, lengths) = (numbers("rows")?, numbers("history")?, numbers("lengths")?);
        let rows = rows.as_chunks::<ROW>().0;
        let count = lengths.iter().map(|&length| length as usize).sum::<usize>();
        let widths = [Epoch::NUMBERS, Epoch::EARLIER];
        let width = widths.into_iter().find(|width| count.checked_mul(*width) == Some(history.len()));
        let (true, true, Some(width)) = (rows.len() == all.len(), lengths.len() == all.len(), width) else {
            return Err(wrong("a row for each run", format!("{} rows for {} runs", rows.len(), all.len())));
        };
        let mut stacks: BTreeMap<String, Vec<T>> = BTreeMap::new();
        for name in tensors.names().filter(|name| !["rows", "history", "lengths"].contains(name)) {
            stacks.insert(
                name.to_owned(),
                elements(tensors.array(name)?.data).ok_or_else(|| wrong(T::NAME, name.to_owned()))?,
            );
        }
        let mut history = history.chunks_exact(width);
        for (place, running) in all.iter_mut().enumerate() {
            let find = |prefix: &str, name: &str, shape: &[usize]| {
                let (full, len) = (format!("{prefix}{name}"), shape.iter().product::<usize>());
                let found = stacks.get(&full).and_then(|stack| stack.get(place * len..(place + 1) * len));
                found.map(<[T]>::to_vec).ok_or_else(|| wrong(&format!("a tensor {full}"), "none".to_owned()))
            };
            running.replica.set_tensors(&program.net, |name, shape| find("", name, shape))?;
            let has_best = set_row(running, &rows[place]);
            if has_best {
                let mut best = running.replica.clone();
                best.set_network(&program.net, |name, shape| find("best.", name, shape))?;
                running.best = Some(best);
            }
            running.history = history.by_ref().take(lengths[place] as usize).map(Epoch::of_numbers).collect();
        }
        Ok(())
    }
}

/// Returns elements of the precision `T`.
pub(super) fn elements<T: Number>(data: NpyData) -> Option<Vec<T>> {
    match data {
        NpyData::F32(data) if T::ON_DEVICE => Some(bytemuck::allocation::cast_vec(data)),
        NpyData::F64(data) if !T::ON_DEVICE => Some(bytemuck::allocation::cast_vec(data)),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn row<T: Number>(running: &Running<T>) -> [f64; ROW] {
    let c = &running.counters;
    let Scaler { scale, clean, skipped, in_a_row } = running.replica.scaler;
    let status = c.status.and_then(|status| RunStatus::ALL.iter().position(|known| *known == status));
    [
        running.replica.steps as f64,
        c.epoch as f64,
        c.batch as f64,
        c.loss,
        c.correct as f64,
        c.samples as f64,
        c.best,
        c.best_epoch as f64,
        c.waited as f64,
        c.plateau.factor,
        c.plateau.best,
        c.plateau.waited as f64,
        c.seconds,
        status.map_or(-1.0, |place| place as f64),
        f64::from(u8::from(running.best.is_some())),
        scale.into(),
        clean.into(),
        skipped.into(),
        in_a_row.into(),
        c.groups_done as f64,
    ]
}

/// Sets a run's counters, and returns whether it has best parameters.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts below 2^53")]
fn set_row<T: Number>(running: &mut Running<T>, row: &[f64; ROW]) -> bool {
    let whole = |at: usize| row[at] as u64;
    running.replica.steps = whole(0);
    running.counters = Counters {
        epoch: whole(1),
        groups_done: row[19] as usize,
        batch: row[2] as usize,
        loss: row[3],
        correct: whole(4),
        samples: whole(5),
        best: row[6],
        best_epoch: whole(7),
        waited: whole(8),
        plateau: Plateau { factor: row[9], best: row[10], waited: whole(11) },
        seconds: row[12],
        status: RunStatus::ALL.get(row[13] as usize).copied().filter(|_| row[13] >= 0.0),
    };
    running.replica.scaler =
        Scaler { scale: row[15] as f32, clean: row[16] as u32, skipped: row[17] as u32, in_a_row: row[18] as u32 };
    row[14] != 0.0
}

/// The tensors of all runs, each stacked along a new first axis.
pub(super) struct Stacked<T> {
    stacks: BTreeMap<String, (Vec<usize>, Vec<T>)>,
}

impl<T> Default for Stacked<T> {
    fn default() -> Self {
        Self { stacks: BTreeMap::new() }
    }
}

impl<T: Number> Stacked<T> {
    pub(super) fn push(&mut self, prefix: &str, tensors: Vec<Tensor<T>>) {
        for Tensor { name, shape, mut data } in tensors {
            let stack = self.stacks.entry(format!("{prefix}{name}")).or_insert_with(|| (shape, Vec::new()));
            stack.1.append(&mut data);
        }
    }

    pub(super) fn arrays(&self, runs: usize) -> Vec<NamedArray<'_>> {
        let mut made = Vec::new();
        for (name, (shape, elements)) in &self.stacks {
            let shape = std::iter::once(runs).chain(shape.iter().copied()).collect();
            made.push(NamedArray { name, rows: Rows::Other, shape, data: data(elements) });
        }
        made
    }
}

/// Returns elements as data to write.
pub(super) fn data<T: Number>(elements: &[T]) -> Data<'_> {
    if T::ON_DEVICE { Data::F32(bytemuck::cast_slice(elements)) } else { Data::F64(bytemuck::cast_slice(elements)) }
}

impl<T: Number> Replica<T> {
    /// Sets the tensors of the network, without those of the optimizer.
    ///
    /// # Errors
    /// The errors of [`Replica::set_tensors`].
    pub(super) fn set_network(
        &mut self,
        net: &crate::ops::mlp::Mlp,
        mut find: impl FnMut(&str, &[usize]) -> Result<Vec<T>>,
    ) -> Result<()> {
        self.set_tensors(net, |name, shape| {
            let optimizers = name.starts_with("m.") || name.starts_with("v.");
            if optimizers { Ok(vec![T::from_f64(0.0); shape.iter().product()]) } else { find(name, shape) }
        })
    }
}
