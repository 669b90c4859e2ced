//! Findings collected over a run.

use crate::machine::{Finding, Kind, Severity};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The findings of a run, where those of the same kind, kernel and place are one.
#[derive(Debug, Default)]
pub struct Report {
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    findings: Vec<Finding>,
    places: HashMap<Place, usize>,
}

/// What makes findings one: kind, kernel, entry point, the functions and spans of both places, and the variable.
type Place = (Kind, String, String, Option<(String, Option<(u32, u32)>)>, Option<(String, Option<(u32, u32)>)>, String);

impl Report {
    /// Adds the findings of a dispatch.
    pub fn add(&self, findings: impl IntoIterator<Item = Finding>) {
        let mut found = self.lock();
        for finding in findings {
            let place = place(&finding);
            match found.places.get(&place) {
                Some(&index) => found.findings[index].count += finding.count,
                None => {
                    let index = found.findings.len();
                    found.places.insert(place, index);
                    found.findings.push(finding);
                }
            }
        }
    }

    /// Returns all findings in the order in which they were first seen.
    pub fn findings(&self) -> Vec<Finding> {
        self.lock().findings.clone()
    }

    /// Returns the findings and forgets them.
    pub fn take(&self) -> Vec<Finding> {
        let mut found = self.lock();
        found.places.clear();
        std::mem::take(&mut found.findings)
    }

    /// Whether no finding is graver than a note.
    pub fn is_clean(&self) -> bool {
        self.lock().findings.iter().all(|finding| finding.kind.severity() == Severity::Note)
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(finding: &Finding) -> Place {
    let key = |location: &Option<crate::machine::Location>| {
        location.as_ref().map(|location| (location.function.clone(), location.span))
    };
    let variable = finding.what.split(['[', '.']).next().unwrap_or_default().to_owned();
    let (kernel, entry) = (finding.kernel.clone(), finding.entry.clone());
    (finding.kind, kernel, entry, key(&finding.location), key(&finding.other_location), variable)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.lock();
        if found.findings.is_empty() {
            return writeln!(f, "no findings");
        }
        for severity in [Severity::Error, Severity::Note] {
            let findings: Vec<_> = found.findings.iter().filter(|f| f.kind.severity() == severity).collect();
            if findings.is_empty() {
                continue;
            }
            let word = if severity == Severity::Error { "errors" } else { "notes" };
            writeln!(f, "{} {word}:", findings.len())?;
            for finding in findings {
                writeln!(f, "  {finding}")?;
            }
        }
        Ok(())
    }
}
