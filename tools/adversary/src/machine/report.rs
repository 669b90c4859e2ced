//! Findings of a dispatch before they have words.

use super::finding::{Finding, Invocation, Kind};
use super::op::Pc;
use super::program::Program;
use std::collections::HashMap;

/// What makes findings one: the kind and the operations.
type Key = (Kind, Pc, Option<Pc>);

#[derive(Debug)]
struct Entry {
    what: String,
    detail: String,
    invocations: Vec<Invocation>,
    count: u64,
}

/// The findings of a workgroup, or of several.
#[derive(Debug, Default)]
pub(super) struct Reports(HashMap<Key, Entry>);

impl Reports {
    pub(super) fn add(&mut self, key: Key, words: impl FnOnce() -> (String, String, Vec<Invocation>)) {
        let entry = self.0.entry(key).or_insert_with(|| {
            let (what, detail, invocations) = words();
            Entry { what, detail, invocations, count: 0 }
        });
        entry.count += 1;
    }

    pub(super) fn merge(mut self, other: Self) -> Self {
        if self.0.is_empty() {
            return other;
        }
        for (key, entry) in other.0 {
            match self.0.get_mut(&key) {
                Some(known) => known.count += entry.count,
                None => {
                    self.0.insert(key, entry);
                }
            }
        }
        self
    }

    /// Returns the findings in the order of the program.
    pub(super) fn findings(self, program: &Program, kernel: &str, setup: &str) -> Vec<Finding> {
        let mut all: Vec<(Key, Entry)> = self.0.into_iter().collect();
        all.sort_by_key(|&((kind, pc, other), _)| (pc, other, kind));
        let finding = |((kind, pc, other), entry): (Key, Entry)| Finding {
            kind,
            kernel: kernel.into(),
            entry: program.entry.clone(),
            setup: setup.into(),
            location: Some(program.location(pc)),
            other_location: other.map(|pc| program.location(pc)),
            what: entry.what,
            detail: entry.detail,
            invocations: entry.invocations,
            count: entry.count,
        };
        all.into_iter().map(finding).collect()
    }
}
