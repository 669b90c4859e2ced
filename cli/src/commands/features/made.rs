//! Whether a finished output has the representations that a call with --resume asks for.

use crate::commands::Failure;
use fiedler::features::Representation;
use serde_json::{Map, Value};
use std::path::Path;

/// Checks that an output, of which `about` is the description, has these representations.
pub(super) fn check(output: &Path, about: &Path, representations: &[Representation]) -> Result<(), Failure> {
    let shown = about.display();
    let read = std::fs::read_to_string(about);
    let text = read.map_err(|error| Failure::Said(format!("cannot read {shown}: {error}")))?;
    let found: Value = serde_json::from_str(&text).unwrap_or_default();
    let (Some(made), Some(columns)) = (found["representations"].as_object(), found["columns"].as_array()) else {
        let what = format!("{shown}: expected a description that `fiedler features` wrote, found another file");
        return Err(Failure::Said(what));
    };
    let asked: Map<String, Value> =
        representations.iter().map(|one| (one.name().to_owned(), one.definition())).collect();
    let names: Vec<&str> = representations.iter().map(Representation::name).collect();
    let mut before: Vec<&str> = Vec::new();
    for name in columns.iter().filter_map(|column| column["representation"].as_str()) {
        if !before.contains(&name) {
            before.push(name);
        }
    }
    if before == names && *made == asked {
        return Ok(());
    }
    Err(Failure::Call(format!(
        "{}: expected an output of the representations {}, which --resume would go on with, found one of {}; \
         --overwrite replaces it",
        output.display(),
        in_words(&names, &asked, made),
        in_words(&before, made, &asked),
    )))
}

/// Returns the names of representations, with the parameters of those that others of the same name do not have.
fn in_words(names: &[&str], own: &Map<String, Value>, others: &Map<String, Value>) -> String {
    let words = |name: &&str| match (own.get(*name), others.get(*name)) {
        (Some(own), Some(other)) if own != other => format!("{name} with {own}"),
        _ => (*name).to_owned(),
    };
    names.iter().map(words).collect::<Vec<_>>().join(", ")
}
