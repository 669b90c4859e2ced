//! The list of representations: every kind with its parameters and formulas, and every preset.

use fiedler::Result;
use fiedler::features::{Kind, kinds, presets};
use std::fmt::Write as _;

/// Returns the list as text.
pub(super) fn list() -> Result<String> {
    let mut text = String::from("Presets\n");
    for (preset, about) in presets()? {
        let _ = writeln!(text, "  {:16} {about}", preset.name());
    }
    text += "\nKinds, with their parameters and columns; x_i are the numbers of a sample, n their number\n";
    for Kind { name, about, default, columns } in kinds() {
        let _ = writeln!(text, "\n  {name}: {about}");
        let parameters = serde_json::to_value(&default).unwrap_or_default();
        for (parameter, value) in parameters.as_object().into_iter().flatten().filter(|(name, _)| *name != "kind") {
            let _ = writeln!(text, "    {parameter} = {value}");
        }
        for (column, formula) in columns {
            let _ = writeln!(text, "      {column:24} {formula}");
        }
    }
    text.pop();
    Ok(text)
}
