//! Which statements and branches have been executed.

use super::finding::Location;
use super::program::Program;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;

/// Which statements and branches of a program have been executed, by line. Programs of the same source can be merged.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    places: BTreeMap<(Location, Option<&'static str>), bool>,
}

impl Coverage {
    pub(crate) fn of(program: &Program) -> Self {
        let mut coverage = Self::default();
        for point in &program.code.points {
            let reached = point.reached.load(Relaxed);
            let function = &program.code.functions[point.function as usize];
            let branch = point.branch.iter().map(|&(side, span)| (span, Some(side)));
            for (span, side) in point.statements.iter().map(|&span| (span, None)).chain(branch) {
                let location = program.locate(function, span, String::new());
                *coverage.places.entry((location, side)).or_default() |= reached;
            }
        }
        coverage
    }

    /// Adds what another program of the same source has executed, such as another variant.
    pub fn merge(&mut self, other: &Self) {
        for (place, reached) in &other.places {
            *self.places.entry(place.clone()).or_default() |= reached;
        }
    }

    /// Returns the places that were never executed: statements, and sides of branches with the side's name.
    pub fn missing(&self) -> impl Iterator<Item = (&Location, Option<&'static str>)> {
        self.places.iter().filter(|&(_, &reached)| !reached).map(|((location, side), _)| (location, *side))
    }

    /// Returns whether the innermost statement around a range of bytes of the source was executed.
    pub fn has_run(&self, (start, end): (u32, u32)) -> bool {
        let around = |(location, side): &(Location, Option<&'static str>)| {
            let (from, to) = location.span.filter(|&(from, to)| side.is_none() && from <= start && end <= to)?;
            Some(to - from)
        };
        let innermost = self.places.iter().filter_map(|(place, &reached)| Some((around(place)?, !reached))).min();
        innermost.is_some_and(|(_, missing)| !missing)
    }

    /// Returns how many statements and sides of branches were executed, and how many there are.
    pub fn reached(&self) -> (usize, usize) {
        (self.places.values().filter(|&&reached| reached).count(), self.places.len())
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reached, all) = self.reached();
        writeln!(f, "{reached} of {all} statements and branches")?;
        for (location, side) in self.missing() {
            writeln!(f, "  never: {location}{}", side.map(|side| format!(", {side}")).unwrap_or_default())?;
        }
        Ok(())
    }
}
