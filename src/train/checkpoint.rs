//! Checkpoints: everything that runs on their way need to go on, in one safetensors file. There is no state of a random
//! generator in it, because random numbers are functions of the seed and the number of the step.

use super::Runs;
use super::running::{Counters, Epoch, RunStatus, Running};
use super::schedule::Plateau;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::io::{self, Data, NamedArray, NpyData, Rows, Tensors};
use crate::ops::mlp::{Hyper, Number, Program, Replica, Scaler, Tensor};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Incremented when the meaning of a checkpoint changes.
const VERSION: u64 = 3;
/// The key of the specification in the metadata.
pub(super) const SPEC: &str = "fiedler";

/// What decides every bit of a training: the settings, the runs and the data, as a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spec(pub(super) Value);

impl Spec {
    /// Describes a training in `groups` groups of samples, whose data have the given hash.
    pub(super) fn new<T: Number>(
        trainer: &Trainer,
        (hash, groups): (&str, usize),
        runs: &Runs,
        [side, form]: [&str; 2],
    ) -> Self {
        let rows = runs.rows().iter().map(|run| {
            let hyper: Map<String, Value> =
                Hyper::names().map(|name| (name.to_owned(), json!(shown(run.hyper.get(name))))).collect();
            let mut row = json!({"run": run.number, "seed": run.seed, "hyper": hyper});
            if let Some(epochs) = run.epochs {
                row["epochs"] = json!(epochs);
            }
            row
        });
        let layers = trainer.net.layers().iter().map(|layer| {
            json!({"outputs": layer.outputs, "norm": format!("{:?}", layer.norm),
                   "activation": format!("{:?}", layer.activation), "dropout": layer.dropout})
        });
        let mut spec = json!({
            "version": VERSION,
            "precision": T::NAME,
            "mixed_precision": trainer.mixed.name(),
            "side": side,
            "inputs": trainer.net.inputs(),
            "layers": layers.collect::<Vec<_>>(),
            "loss": format!("{:?}", trainer.loss),
            "optimizer": trainer.optimizer.to_string(),
            "batch": trainer.batch,
            "epochs": trainer.epochs,
            "init": format!("{:?}", trainer.init),
            "schedule": format!("{:?}", trainer.schedule),
            "warm_up": trainer.warm_up,
            "stop": trainer.stop.map(|stop| format!("{stop} with patience {}", stop.patience)),
            "split": {"shares": trainer.split.shares, "seed": trainer.split.seed},
            "scaling": format!("{:?}", trainer.scaling),
            "drop_last": trainer.drop_last,
            "data": hash,
            "runs": rows.collect::<Vec<_>>(),
        });
        if !form.is_empty() {
            spec["form"] = json!(form);
        }
        if groups > 1 {
            spec["groups"] = json!(groups);
        }
        Self(spec)
    }

    /// Returns the number of groups of samples.
    pub(super) fn groups(&self) -> usize {
        groups_of(&self.0)
    }

    /// Returns where the runs are trained: `cpu`, or the name of an adapter.
    pub(super) fn side(&self) -> &str {
        self.0["side"].as_str().unwrap_or_default()
    }

    /// Returns a line for each key in which `stored` differs.
    fn differences(&self, stored: &Value) -> Vec<String> {
        let (own, found) = (self.groups(), groups_of(stored));
        let groups = (own != found).then(|| format!("groups of samples: {own} now, {found} in the checkpoint"));
        let keys = self.0.as_object().into_iter().flatten().filter(|(key, _)| *key != "groups");
        // The hash of the data is that of their elements, whose precision may differ.
        let precise = stored["precision"] == self.0["precision"];
        // Other groups are hashed in another order.
        let precise = precise && groups.is_none();
        let others =
            keys.filter(|(key, value)| stored[*key] != **value && (precise || *key != "data")).map(|(key, value)| {
                match key.as_str() {
                    "data" => "the data are others".to_owned(),
                    "runs" => "the runs are others".to_owned(),
                    _ => format!("{key}: {value} now, {} in the checkpoint", stored[key]),
                }
            });
        others.chain(groups).collect()
    }
}

/// Returns the number of groups of samples of a training.
pub(super) fn groups_of(spec: &Value) -> usize {
    spec["groups"].as_u64().and_then(|groups| usize::try_from(groups).ok()).unwrap_or(1)
}

/// Writes a number so that infinity and NaN survive JSON.
fn shown(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
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
        io::write(&self.path, &arrays)
    }

    /// Sets the state of all runs from the file, if it exists.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the file is of another training; [`crate::ErrorKind::Parse`] if it is broken.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of records")]
    pub(super) fn load<T: Number>(&self, program: &Program, all: &mut [Running<T>]) -> Result<()> {
        if !self.path.exists() {
            return Ok(());
        }
        let wrong = |expected: &str, found: String| Error::parse(&self.path, None, expected, found);
        let tensors = Tensors::open(&self.path)?;
        let stored =
            stored_json(&tensors, SPEC).ok_or_else(|| wrong("a checkpoint of fiedler", "another file".to_owned()))?;
        let differences = self.spec.differences(&stored);
        if !differences.is_empty() {
            let what = format!("{} is of another training: {}", self.path.display(), differences.join("; "));
            return Err(Error::domain("resume", what));
        }
        let numbers = |name: &str| match tensors.array(name)?.data {
            NpyData::F64(data) => Ok(data),
            other => Err(wrong("numbers in float64", format!("{name} in {}", other.name()))),
        };
        let (rows, history, lengths) = (numbers("rows")?, numbers("history")?, numbers("lengths")?);
        let (rows, history) = (rows.as_chunks::<ROW>().0, history.as_chunks::<{ Epoch::NUMBERS }>().0);
        let count = lengths.iter().map(|&length| length as usize).sum::<usize>();
        if rows.len() != all.len() || lengths.len() != all.len() || history.len() != count {
            return Err(wrong("a row for each run", format!("{} rows for {} runs", rows.len(), all.len())));
        }
        let mut stacks: BTreeMap<String, Vec<T>> = BTreeMap::new();
        for name in tensors.names().filter(|name| !["rows", "history", "lengths"].contains(name)) {
            stacks.insert(
                name.to_owned(),
                elements(tensors.array(name)?.data).ok_or_else(|| wrong(T::NAME, name.to_owned()))?,
            );
        }
        let mut history = history.iter();
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

/// Returns a JSON value that a file's metadata have.
pub(super) fn stored_json(tensors: &Tensors, key: &str) -> Option<Value> {
    // A text array is a JSON list in the metadata.
    let list: Vec<String> = serde_json::from_str(tensors.metadata(key)?).ok()?;
    serde_json::from_str(list.first()?).ok()
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
        c.visit as f64,
    ]
}

/// Sets a run's counters, and returns whether it has best parameters.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts below 2^53")]
fn set_row<T: Number>(running: &mut Running<T>, row: &[f64; ROW]) -> bool {
    let whole = |at: usize| row[at] as u64;
    running.replica.steps = whole(0);
    running.counters = Counters {
        epoch: whole(1),
        visit: row[19] as usize,
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
