//! Whether a finished output is that of a call with --resume, as far as its description says what it was made of.

use crate::commands::{Failure, many};
use fiedler::features::Representation;
use serde_json::{Map, Value};
use std::path::Path;

/// Checks that an output, of which `about` is the description, has these representations, and returns the description.
pub(super) fn check(output: &Path, about: &Path, representations: &[Representation]) -> Result<Value, Failure> {
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
    if before != names || *made != asked {
        let (asked, found) = (in_words(&names, &asked, made), in_words(&before, made, &asked));
        return Err(another(output, &format!("the representations {asked}"), &found));
    }
    Ok(found)
}

/// Checks that an output with the description `found` is of the data set, the columns and the steps that `asked` has.
pub(super) fn check_data(output: &Path, asked: &Value, found: &Value) -> Result<(), Failure> {
    let both: [(String, String); 6] = [
        [asked, found].map(samples).into(),
        differing([asked, found].map(|about| each(about, "layers", layer)), "layer").into(),
        differing([asked, found].map(|about| each(about, "columns", name)), "column").into(),
        [asked, found].map(targets).into(),
        // Descriptions of earlier versions do not have it.
        if found.get("left_out").is_some() { [asked, found].map(left_out).into() } else { Default::default() },
        match asked["steps"].as_bool() {
            Some(wanted) => [wanted, found["steps"].is_object()].map(steps).into(),
            None => Default::default(),
        },
    ];
    let (asked, found): (Vec<String>, Vec<String>) = both.into_iter().filter(|(asked, found)| asked != found).unzip();
    if asked.is_empty() { Ok(()) } else { Err(another(output, &asked.join(", "), &found.join(", "))) }
}

/// Returns the wrong call for an output that is not what was asked for.
fn another(output: &Path, asked: &str, found: &str) -> Failure {
    Failure::Call(format!(
        "{}: expected an output of {asked}, which --resume would go on with, found one of {found}; --overwrite \
         replaces it, and another --output keeps it",
        output.display()
    ))
}

/// Returns the names of representations, with the parameters of those that others of the same name do not have.
fn in_words(names: &[&str], own: &Map<String, Value>, others: &Map<String, Value>) -> String {
    let words = |name: &&str| match (own.get(*name), others.get(*name)) {
        (Some(own), Some(other)) if own != other => format!("{name} with {own}"),
        _ => (*name).to_owned(),
    };
    names.iter().map(words).collect::<Vec<_>>().join(", ")
}

/// Says how many samples a description has, and how large their graphs are.
fn samples(about: &Value) -> String {
    let count = |value: &Value| value.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
    let samples = many(count(&about["samples"]), "sample", "samples");
    let graphs = &about["graphs"];
    match graphs.is_object() {
        true => format!("{samples} with {} nodes and {} entries", graphs["nodes"], graphs["entries"]),
        false => samples,
    }
}

/// Returns the elements of a list of a description, each in words.
fn each(about: &Value, list: &str, words: fn(&Value) -> String) -> Vec<String> {
    about[list].as_array().into_iter().flatten().map(words).collect()
}

fn name(column: &Value) -> String {
    format!("`{}`", column["name"].as_str().unwrap_or_default())
}

fn layer(layer: &Value) -> String {
    format!("{} of shape {}", name(layer), layer["shape"])
}

/// Says how two lists differ: by their lengths, or else by the first elements that differ.
fn differing([asked, found]: [Vec<String>; 2], one: &str) -> [String; 2] {
    let place = asked.iter().zip(&found).position(|(asked, found)| asked != found);
    [&asked, &found].map(|list| match place {
        Some(place) if asked.len() == found.len() => format!("the {one} {}", list[place]),
        _ => many(list.len(), one, &format!("{one}s")),
    })
}

/// Says where a description has its labels from.
fn targets(about: &Value) -> String {
    let own = &about["targets"];
    let (Some(are), Some(from)) = (own["are"].as_str(), own["from"].as_str()) else { return "no labels".to_owned() };
    match (&own["name"], &own["names"], own["place"].as_u64()) {
        (Value::String(name), ..) => format!("{are} from the {from} `{name}`"),
        (_, names @ Value::Array(_), _) => format!("{are} from the {from} {names}"),
        (.., Some(place)) => format!("{are} from {from} {}", place + 1),
        _ => format!("{are} from {from}"),
    }
}

/// Says which columns or arrays a description leaves out.
fn left_out(about: &Value) -> String {
    let quoted = |name: &Value| format!("`{}`", name.as_str().unwrap_or_default());
    let names = each(about, "left_out", quoted);
    if names.is_empty() { "nothing left out".to_owned() } else { format!("{} left out", names.join(" and ")) }
}

fn steps(has: bool) -> String {
    if has { "columns after --steps" } else { "columns without --steps" }.to_owned()
}
