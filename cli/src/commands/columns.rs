//! The options that say which columns and arrays are inputs, and what is told of them.

use super::many;
use clap::Args;
use fiedler::io::{self, Findings, LabelColumn, Roles, TableTargets};
use serde_json::{Value, json};

/// Which columns or arrays are no inputs.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Columns {
    /// Leave out these columns or arrays; in a table without names, by their places, which count from 1.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
    /// Take these columns although their names say that they are no inputs: an index (`Unnamed: 0`, index), or ids.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(super) take: Vec<String>,
}

impl Columns {
    pub(super) fn roles<'a>(&'a self, label: Option<&'a str>) -> Roles<'a> {
        let label = label.map_or(LabelColumn::Auto, LabelColumn::Named);
        Roles { label, ignore: &self.ignore, take: &self.take }
    }
}

/// Prints what is suspicious to standard error. `option` says how inputs are left out.
pub(super) fn warn(findings: &Findings, data: &dyn std::fmt::Display, option: impl Fn(&str) -> String) {
    for warning in findings.warnings(|names| format!("{} leaves it out", option(names))) {
        super::complain(&format_args!("{data}: {warning}"));
    }
}

/// Warns of labels that seem to be values, as which `loss` predicts them.
pub(super) fn warn_of_values(
    findings: &Findings,
    data: &dyn std::fmt::Display,
    (samples, classes): (usize, &[String]),
    loss: &str,
) {
    if let (Some(origin), true) = (&findings.target, io::seem_values(samples, classes)) {
        let (classes, samples) = (classes.len(), many(samples, "sample", "samples"));
        super::complain(&format_args!(
            "{data}: the labels from {origin} are numbers of {classes} classes in {samples}; if they are values, \
             {loss} predicts them"
        ));
    }
}

/// Returns the option that leaves out inputs, as a shell takes it.
pub(super) fn ignoring(names: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_,.:/+=@%-".contains(c);
    let quoted = match names.chars().all(is_plain) {
        true => names.to_owned(),
        false => format!("'{}'", names.replace('\'', r"'\''")),
    };
    let between = if names.starts_with('-') { '=' } else { ' ' };
    format!("--ignore{between}{quoted}")
}

/// Returns in words where the targets are, and how many classes there are.
pub(super) fn targets_in_words(findings: &Findings, classes: Option<usize>) -> String {
    match (&findings.target, classes) {
        (Some(origin), Some(classes)) => {
            format!("labels from {origin}, {}", many(classes, "class", "classes"))
        }
        (Some(origin), None) => format!("targets from {origin}"),
        (None, _) => "no labels".to_owned(),
    }
}

/// Returns the number of classes of labels.
pub(super) fn classes(targets: &TableTargets) -> Option<usize> {
    match targets {
        TableTargets::Labels(_, classes) => Some(classes.len()),
        TableTargets::Values(..) | TableTargets::None => None,
    }
}

/// Returns what was left out and what is suspicious as JSON.
pub(super) fn as_json(findings: &Findings) -> Value {
    let left_out = findings.left_out.iter().map(|(name, why)| json!({"name": name, "why": why.name()}));
    let suspects = findings.suspects.iter().map(|(name, what)| json!({"name": name, "what": what.words()}));
    json!({
        "target": findings.target.as_ref().map(ToString::to_string),
        "left_out": left_out.collect::<Vec<_>>(), "suspicious": suspects.collect::<Vec<_>>(),
        "flattened": findings.flattened, "parts": findings.parts, "doubts": findings.doubts,
    })
}

/// What is told of the data set.
pub(super) struct About<'a> {
    pub(super) inputs: usize,
    pub(super) findings: &'a Findings,
    pub(super) classes: &'a [String],
}

impl About<'_> {
    /// Returns the last line of a report: the labels, what was left out, and what was made to fit.
    pub(super) fn words(&self, adjustments: &[String]) -> String {
        let classes = (!self.classes.is_empty()).then_some(self.classes.len());
        let notes = self.findings.notes().into_iter().chain(adjustments.iter().cloned());
        let notes: String = notes.map(|note| format!("; {note}")).collect();
        let inputs = many(self.inputs, "input", "inputs");
        format!("\n  data: {inputs}, {}{notes}", targets_in_words(self.findings, classes))
    }

    /// Adds the same to a report in JSON.
    pub(super) fn added_to(&self, mut report: Value, adjustments: &[String]) -> Value {
        report["inputs"] = self.inputs.into();
        report["classes"] = self.classes.len().into();
        report["data"] = as_json(self.findings);
        report["adjustments"] = adjustments.into();
        report
    }
}
