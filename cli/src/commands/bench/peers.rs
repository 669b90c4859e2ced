//! The times of other libraries, as `dense_peers.py` prints them.

use crate::commands::Failure;
use std::collections::BTreeMap;
use std::path::Path;

/// For each workload, the names of other libraries and their times in ms.
pub(super) type Peers = BTreeMap<String, Vec<(String, f64)>>;

/// Reads the times from JSON lines. Lines without a workload, a library or a time are skipped.
pub(super) fn peers(path: &Path) -> Result<Peers, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Said(format!("bench: cannot read {}: {error}", path.display())))?;
    let mut all = Peers::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value: serde_json::Value = serde_json::from_str(line).map_err(|error| {
            Failure::Said(format!("bench: {}:{}: expected a JSON object: {error}", path.display(), i + 1))
        })?;
        if let (Some(workload), Some(peer), Some(ms)) =
            (value["workload"].as_str(), value["peer"].as_str(), value["ms"].as_f64())
        {
            if !(ms.is_finite() && ms > 0.0) {
                let place = format!("{}:{}", path.display(), i + 1);
                return Err(Failure::Said(format!("bench: {place}: expected ms above 0, found {ms}")));
            }
            all.entry(workload.to_owned()).or_default().push((peer.to_owned(), ms));
        }
    }
    Ok(all)
}
