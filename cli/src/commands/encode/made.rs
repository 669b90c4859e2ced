//! Whether a finished output is that of a call with --resume, as far as the output says what it was made of.

use super::structural::Structural;
use super::{Encode, Precision, keep_largest};
use crate::commands::{Failure, many};
use fiedler::arrow::{Encoder, Kind, Shard, TableReader};
use fiedler::graph::{Conventions, Symmetrization};
use fiedler::io::read_shapes;
use serde_json::{Map, Value};

/// The memory, in bytes, that reading a table may take for a batch, of which none is read.
const BUDGET: u64 = 1 << 30;

/// Checks that the output of a call is not that of another one.
pub(super) fn check(call: &Encode) -> Result<(), Failure> {
    let ending = call.output.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let both = match Kind::of_file(&call.output) {
        Some(_) => of_table(call)?,
        None if ["npz", "safetensors"].contains(&ending.as_str()) => of_arrays(call)?,
        // A text does not say what it was made of.
        None => return Ok(()),
    };
    let Some(both) = both else {
        let shown = call.output.display();
        let what = "expected a file that `fiedler encode` wrote, which --resume would go on with, found another one";
        return Err(Failure::Call(format!("{shown}: {what}; --overwrite replaces it")));
    };
    let (asked, found): (Vec<String>, Vec<String>) = both.into_iter().filter(|(asked, found)| asked != found).unzip();
    if asked.is_empty() {
        return Ok(());
    }
    Err(Failure::Call(format!(
        "{}: expected an output of {}, which --resume would go on with, found one of {}; --overwrite replaces it",
        call.output.display(),
        asked.join(", "),
        found.join(", ")
    )))
}

/// What a call asks for, and what its output has instead, each in words. `None` for the output of another program.
type Both = Option<Vec<(String, String)>>;

/// Compares the shapes of the arrays of an output with the graphs and the options of a call.
fn of_arrays(call: &Encode) -> Result<Both, Failure> {
    let arrays = read_shapes(&call.output)?;
    let find = |wanted: &str| arrays.iter().find(|(name, ..)| name == wanted);
    let axes = |wanted: &str| match find(wanted).map(|(_, _, shape)| &shape[..]) {
        Some(&[rows, columns]) => Some([rows, columns]),
        _ => None,
    };
    let Some((([graphs, k], [nodes, _]), (_, kind, _))) =
        axes("eigenvalues").zip(axes("eigenvectors")).zip(find("eigenvalues"))
    else {
        return Ok(None);
    };
    let walk_steps = axes("random_walk").map_or(0, |[_, steps]| steps);
    let precision = if matches!(kind.as_str(), "<f8" | "F64") { Precision::F64 } else { Precision::F32 };
    let mut data = call.reading.read(&call.input, &call.conventions())?;
    if call.largest_component {
        keep_largest(&mut data);
    }
    let counts = |asked: usize, found: usize, of: &str| {
        let words = |count: usize| many(count, of, &format!("{of}s"));
        (words(asked), words(found))
    };
    let is_complex = find("eigenvectors").is_some_and(|(_, kind, _)| matches!(kind.as_str(), "<c8" | "<c16" | "C64"));
    let real = |real: bool| (if real { "real eigenvectors" } else { "complex eigenvectors" }).to_owned();
    let bits = |precision: Precision| format!("{precision:?}").to_lowercase();
    let columns = |wanted: &str| find(wanted).map_or(0, |(_, _, shape)| if shape.len() == 2 { shape[1] } else { 1 });
    let structural =
        Structural::columns(call).map(|(name, asked)| counts(asked, columns(name), &format!("{name} column")));
    let pairs = vec![
        counts(data.graphs.len(), graphs, "graph"),
        counts(data.graphs.nodes(), nodes, "node"),
        counts(call.k, k, "eigenpair"),
        (format!("--walk-steps {}", call.walk_steps), format!("--walk-steps {walk_steps}")),
        (bits(call.precision), bits(precision)),
        (real(call.charge.is_none()), real(!is_complex)),
    ];
    Ok(Some(pairs.into_iter().chain(structural).collect()))
}

/// Compares the settings in the metadata of a table with those of a call.
fn of_table(call: &Encode) -> Result<Both, Failure> {
    let schema = TableReader::open(&call.output, Shard::WHOLE, BUDGET)?.schema();
    let settings = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let Some(found) = schema.metadata().get("fiedler.settings").and_then(|text| settings(text)) else {
        return Ok(None);
    };
    let conventions = match Kind::of_file(&call.input).is_some() || call.tables.streams_in(&call.input) {
        true => call.conventions(),
        false if call.conventions().flows => call.conventions(),
        // The graphs were symmetrized when they were read.
        false => Conventions { symmetrization: Symmetrization::Max, ..call.conventions() },
    };
    let encoder = Encoder::new(call.settings()).conventions(conventions).in_f64(call.precision == Precision::F64);
    let asked = settings(&encoder.settings()).unwrap_or_default();
    let words = |name: &str, value: Option<&Value>| match value {
        Some(Value::String(text)) => format!("{name} {text}"),
        Some(value) => format!("{name} {value}"),
        None => format!("no {name}"),
    };
    Ok(Some(asked.iter().map(|(name, value)| (words(name, Some(value)), words(name, found.get(name)))).collect()))
}
