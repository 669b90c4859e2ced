//! The elements that all plots of measurements share: their sizes, and the texts about rows.

use super::Row;
pub(super) use crate::page::{Entry, figure, section};

/// The size of a plot in a grid of plots.
pub(super) const SMALL: (f64, f64) = (360.0, 250.0);
/// The size of a plot that is drawn once per side.
pub(super) const LARGE: (f64, f64) = (440.0, 330.0);

/// Returns the text that is shown when the pointer is over the marker of a row. `more` is an additional line.
pub(super) fn about(row: &Row, more: &str) -> String {
    let noise = if row.noisy() { "\nnoise: the runs differ too much" } else { "" };
    format!("{} on {}\n{more}{noise}", row.workload, row.side)
}
