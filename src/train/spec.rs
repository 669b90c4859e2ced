//! What decides every bit of a training, as checkpoints and the files of results have it.

use super::Runs;
use super::split::Division;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::io::Tensors;
use crate::ops::mlp::{Hyper, Number};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Incremented when the meaning of a checkpoint changes.
pub(super) const VERSION: u64 = 4;
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
        match trainer.division {
            Division::Shares => {}
            Division::Fold(fold) => spec["fold"] = json!([fold.number, fold.of]),
            Division::Parts(parts) => spec["parts"] = json!(parts),
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

    /// Checks that a specification that was stored at `path` is this one. `place` says in words what that file is.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`], with all differences.
    pub(super) fn expect(&self, stored: &Value, path: &Path, place: &str) -> Result<()> {
        let differences = self.differences(stored, place);
        if differences.is_empty() {
            return Ok(());
        }
        let what = format!("{} is of another training: {}", path.display(), differences.join("; "));
        Err(Error::domain("resume", what))
    }

    /// Does the same for a finished training, of which no checkpoint is read, so that its version does not matter.
    ///
    /// # Errors
    /// The same.
    pub(super) fn expect_finished(&self, stored: &Value, path: &Path) -> Result<()> {
        let mut stored = stored.clone();
        stored["version"] = self.0["version"].clone();
        self.expect(&stored, path, "in the finished training")
    }

    /// Returns a line for each key in which `stored` differs.
    fn differences(&self, stored: &Value, place: &str) -> Vec<String> {
        let (own, found) = (self.groups(), groups_of(stored));
        let groups = (own != found).then(|| format!("groups of samples: {own} now, {found} {place}"));
        let keys = self.0.as_object().into_iter().flatten().filter(|(key, _)| *key != "groups");
        // The hash of the data is that of their elements, whose precision may differ.
        let precise = stored["precision"] == self.0["precision"];
        // Other groups are hashed in another order.
        let precise = precise && groups.is_none();
        let others =
            keys.filter(|(key, value)| stored[*key] != **value && (precise || *key != "data")).map(|(key, value)| {
                match key.as_str() {
                    "data" => "the data differ".to_owned(),
                    "runs" => of_runs(value, &stored["runs"], place),
                    _ => format!("{key}: {value} now, {} {place}", stored[key]),
                }
            });
        others.chain(groups).collect()
    }
}

/// Returns the first difference between the rows of two trainings' runs.
fn of_runs(own: &Value, stored: &Value, place: &str) -> String {
    let rows = |runs: &Value| runs.as_array().cloned().unwrap_or_default();
    let (own, stored) = (rows(own), rows(stored));
    if own.len() != stored.len() {
        return format!("runs: {} now, {} {place}", own.len(), stored.len());
    }
    let different = own.iter().zip(&stored).enumerate().find(|(_, (own, stored))| own != stored);
    let Some((number, (own, stored))) = different else { return String::new() };
    let hyper = |row: &Value| row["hyper"].as_object().cloned().unwrap_or_default();
    let (own_hyper, stored_hyper) = (hyper(own), hyper(stored));
    let name = own_hyper.keys().find(|name| own_hyper.get(*name) != stored_hyper.get(*name));
    let key = ["seed", "epochs"].into_iter().find(|key| own[*key] != stored[*key]);
    let (name, now, then) = match (key, name) {
        (None, Some(name)) => (name.as_str(), &own["hyper"][name], &stored["hyper"][name]),
        (key, _) => (key.unwrap_or("number"), &own[key.unwrap_or("run")], &stored[key.unwrap_or("run")]),
    };
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("run {number}: {name} {} now, {} {place}", word(now), word(then))
}

/// Returns the number of groups of samples of a training.
pub(super) fn groups_of(spec: &Value) -> usize {
    spec["groups"].as_u64().and_then(|groups| usize::try_from(groups).ok()).unwrap_or(1)
}

/// Writes a number so that infinity and NaN survive JSON.
fn shown(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Returns the specification in a file of weights.
///
/// # Errors
/// [`crate::ErrorKind::Parse`] if it is no such file; [`crate::ErrorKind::Io`] if it cannot be read.
pub(super) fn stored_spec(weights: &Path) -> Result<Value> {
    let found = stored_json(&Tensors::open(weights)?, SPEC);
    found.ok_or_else(|| Error::parse(weights, None, "weights that `fiedler train` wrote", "another file"))
}

/// Returns a JSON value that a file's metadata have.
pub(super) fn stored_json(tensors: &Tensors, key: &str) -> Option<Value> {
    // A text array is a JSON list in the metadata.
    let list: Vec<String> = serde_json::from_str(tensors.metadata(key)?).ok()?;
    serde_json::from_str(list.first()?).ok()
}
