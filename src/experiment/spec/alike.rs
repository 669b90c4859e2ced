//! What may change of an experiment whose folder has finished runs.

use super::{Spec, wrong};
use crate::error::Result;
use std::path::Path;
use toml::{Table, Value};

/// What may change: the values of factors, their comparison, and how many seeds there are.
const FREE: [&[&str]; 6] =
    [&["features"], &["grid"], &["compare"], &["data", "layers"], &["experiment", "repeats"], &["experiment", "quick"]];
/// Where the data set is. Its numbers decide whether it is the same.
const SOURCE: &[&str] = &["data", "source"];

impl Spec {
    /// Checks that the experiment is that of a folder, which `before` describes. Returns whether its data set is at
    /// another place.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if more differs than the values of factors and the number of seeds.
    pub(in crate::experiment) fn is_moved(&self, before: &Table, folder: &Path) -> Result<bool> {
        let mut now: Table = toml::from_str(&self.to_toml()).unwrap_or_default();
        let mut before = before.clone();
        let keys: Vec<Vec<String>> = [&before, &now]
            .into_iter()
            .filter_map(|table| table.get("grid")?.as_table())
            .flat_map(|grid| grid.keys().map(|key| key.split('.').map(str::to_owned).collect()))
            .collect();
        let [one, other] = [&mut before, &mut now].map(|table| {
            // A key of the grid has no other value.
            let of_grid = keys.iter().map(|key| key.iter().map(String::as_str).collect::<Vec<_>>());
            of_grid.for_each(|key| drop(remove(table, &key)));
            FREE.iter().for_each(|key| drop(remove(table, key)));
            remove(table, SOURCE)
        });
        match difference(&before, &now, "") {
            None => Ok(one != other),
            Some((key, [old, new])) => Err(wrong(format!(
                "{}: expected the experiment of this folder, which has {key} = {old}, found {key} = {new}; beside the \
                 factors, the number of seeds and what is compared nothing may change: use a new folder",
                folder.display()
            ))),
        }
    }
}

/// Removes the value of a key, and the tables around it that are then empty.
fn remove(table: &mut Table, key: &[&str]) -> Option<Value> {
    match key {
        [] => None,
        [last] => table.remove(*last),
        [first, rest @ ..] => {
            let inner = table.get_mut(*first)?.as_table_mut()?;
            let removed = remove(inner, rest);
            if inner.is_empty() {
                table.remove(*first);
            }
            removed
        }
    }
}

/// Returns the first key whose value differs, with both values in words.
fn difference(one: &Table, other: &Table, within: &str) -> Option<(String, [String; 2])> {
    let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().find_map(|key| {
        let name = if within.is_empty() { key.clone() } else { format!("{within}.{key}") };
        match (one.get(key), other.get(key)) {
            (Some(Value::Table(one)), Some(Value::Table(other))) => difference(one, other, &name),
            (one, other) if one == other => None,
            (one, other) => {
                let words = |value: Option<&Value>| value.map_or_else(|| "(none)".to_owned(), Value::to_string);
                Some((name, [one, other].map(words)))
            }
        }
    })
}
