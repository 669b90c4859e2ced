//! Faults on purpose, for tests and rehearsals, in every build: the environment variable `FIEDLER_CARD_FAULT` has a
//! list of `hang:WORDS`, `lost:WORDS` and `abort:WORDS`, which befall the first item of a step whose name contains
//! WORDS (a kernel that never ends, the loss of the device, the end of the process), and `disk:STEP`, from which step
//! on the card cannot be written. Only `fiedler bench --card` reads it.

use crate::commands::Failure;
use fiedler::{Error, ErrorKind};
use std::io;
use std::path::Path;

const VARIABLE: &str = "FIEDLER_CARD_FAULT";
const KINDS: [&str; 4] = ["hang", "lost", "abort", "disk"];

/// Returns the faults that are asked for, each with its words.
fn faults() -> Vec<(String, String)> {
    let said = std::env::var(VARIABLE).unwrap_or_default();
    let split = |one: &str| one.split_once(':').map(|(kind, words)| (kind.to_owned(), words.to_owned()));
    said.split(';').filter(|one| !one.is_empty()).map(|one| split(one).unwrap_or_default()).collect()
}

/// Checks that all faults have a known kind.
pub(super) fn check() -> Result<Vec<String>, Failure> {
    let all = faults();
    if all.iter().any(|(kind, words)| !KINDS.contains(&kind.as_str()) || words.is_empty()) {
        let found = std::env::var(VARIABLE).unwrap_or_default();
        let kinds = KINDS.join(":WORDS, ");
        return Err(Failure::Call(format!("{VARIABLE}: expected some of {kinds}:STEP between `;`, found `{found}`")));
    }
    Ok(all.into_iter().map(|(kind, words)| format!("{kind}:{words}")).collect())
}

/// Suffers the fault of an item.
pub(super) fn befall(item: &str) -> Result<(), Error> {
    match faults().iter().find(|(_, words)| item.contains(words.as_str())).map(|(kind, _)| kind.as_str()) {
        Some("hang") => loop {
            std::thread::park();
        },
        Some("lost") => Err(ErrorKind::DeviceLost { message: format!("{VARIABLE} asks for it") }.into()),
        Some("abort") => std::process::abort(),
        _ => Ok(()),
    }
}

/// Fails if the disk is full from one of the steps so far on.
pub(super) fn disk(path: &Path, begun: &[&str]) -> Result<(), Failure> {
    let full = faults().iter().any(|(kind, step)| kind == "disk" && begun.contains(&step.as_str()));
    let why = io::Error::from(io::ErrorKind::StorageFull);
    if full { Err(Failure::Said(format!("cannot write {}: {why}", path.display()))) } else { Ok(()) }
}
