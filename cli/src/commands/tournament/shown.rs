//! What `fiedler tournament` prints.

use super::super::many;
use fiedler::experiment::tournament::{MARKDOWN, Tournament};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Returns the result as text.
pub(super) fn text(found: &Tournament, seconds: f64, folder: &Path) -> String {
    let strings: usize = found.groups.iter().map(|group| group.strings).sum();
    let mut text = format!(
        "{}: {} of {} groups, {strings} strings of {} bits: {seconds:.1} s",
        found.kind,
        many(found.pairs.len(), "pair", "pairs"),
        found.groups.len(),
        found.bits
    );
    let scores: Vec<f64> = (0..found.pairs.len()).filter_map(|pair| found.value(found.score, pair)).collect();
    let (least, largest) = scores
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, largest), &score| (least.min(score), largest.max(score)));
    if !scores.is_empty() {
        let _ = write!(text, "; {} {least:.4} to {largest:.4}", found.score);
    }
    found.notes.iter().for_each(|note| text.push_str(&format!("\n  {note}")));
    let _ = write!(text, "\nreport: {}", folder.join(MARKDOWN).display());
    text
}

/// Returns the same as JSON. The pairs are in the files.
pub(super) fn as_json(found: &Tournament, seconds: f64, folder: &Path) -> Value {
    json!({
        "output": folder, "kind": found.kind, "settings": found.settings, "groups": found.groups, "bits": found.bits,
        "pairs": found.pairs.len(), "score": found.score, "relations": found.relations, "notes": found.notes,
        "seconds": seconds,
    })
}
