//! The representations that ship, as the file of definitions that they are.

use super::representation::{Representation, of_table};
use crate::error::Result;
use serde_json::{Map, Value};
use std::path::Path;

/// The definitions of all presets.
const DEFINITIONS: &str = include_str!("presets.toml");

/// Returns the definitions of the presets by name, as values.
pub(super) fn definitions() -> Map<String, Value> {
    // A test reads the file, so there is always a table.
    toml::from_str(DEFINITIONS).unwrap_or_default()
}

/// Returns every preset and what it is.
///
/// # Errors
/// None: the definitions are part of this library.
pub fn presets() -> Result<Vec<(Representation, String)>> {
    let made = definitions().into_iter().map(|(name, value)| {
        let about = value.get("about").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok((of_table(Path::new("presets.toml"), &name, value, 0)?, about))
    });
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::series::SampleShape;

    #[test]
    fn every_preset_has_its_number_of_columns() {
        let widths: Vec<(String, usize)> = presets()
            .unwrap()
            .into_iter()
            .map(|(preset, about)| {
                assert!(!about.is_empty(), "{} says nothing of itself", preset.name());
                (preset.name().to_owned(), preset.names(SampleShape::Vector(500)).len())
            })
            .collect();
        let wanted = [
            ("tsfresh-minimal", 10),
            ("core33", 33),
            ("simple_stats", 5),
            ("rank_based", 11),
            ("stats", 7),
            ("spectral", 32),
            ("matrix_norms", 7),
            ("distribution", 12),
            ("frequency", 14),
            ("info", 2),
            ("flat_vec", 500),
            ("ensemble", 67),
        ];
        assert_eq!(widths.len(), wanted.len());
        for (name, width) in wanted {
            assert!(widths.contains(&(name.to_owned(), width)), "{name} of {width} columns is not in {widths:?}");
        }
    }
}
