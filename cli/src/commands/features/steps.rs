//! The steps of a call: those that are fitted now, or those of a file.

use super::Features;
use super::source::Source;
use crate::commands::Failure;
use fiedler::Context;
use fiedler::features::Steps;
use std::ops::Range;
use std::path::Path;

impl Features {
    /// Returns the steps that are applied to the columns: those that are fitted now, or those of a file. Edges of
    /// histograms are fitted first, because the columns need them.
    pub(super) fn fitted(
        &self,
        ctx: &Context,
        source: &mut Source,
        names: &[String],
    ) -> Result<Option<Steps>, Failure> {
        match (&self.fit, &self.transform) {
            (Some(_), _) => self.fit(ctx, source, names).map(Some),
            (None, Some(path)) => Self::read_steps(path, source, names).map(Some),
            (None, None) if source.wants_edges() => {
                let what = "--representations: expected --fit FILE, which fits the range of a histogram with \
                            range=\"fitted\" to training samples and keeps it, or --transform FILE, which reads it";
                Err(Failure::Call(what.to_owned()))
            }
            (None, None) => Ok(None),
        }
    }

    fn fit(&self, ctx: &Context, source: &mut Source, names: &[String]) -> Result<Steps, Failure> {
        if self.steps.is_empty() && !source.wants_edges() {
            let what = "--fit: expected --steps, or a histogram with range=\"fitted\", found nothing to fit";
            return Err(Failure::Call(what.to_owned()));
        }
        let chosen = self.fit_rows.clone().unwrap_or(0..source.len());
        if chosen.end > source.len() || chosen.is_empty() {
            let Range { start, end } = chosen;
            let all = source.len();
            return Err(Failure::Call(format!("--fit-rows {start}..{end}: expected rows of {all} samples")));
        }
        let edges = source.fit_edges(ctx, chosen.clone())?;
        let mut steps = Steps::fit(ctx, &self.steps, names, |take| {
            let mut first = 0;
            let pass = source.stream(ctx, None, |values, status| {
                let own = chosen.start.clamp(first, first + status.len()) - first
                    ..chosen.end.clamp(first, first + status.len()) - first;
                first += status.len();
                take(&values[own.start * names.len()..own.end * names.len()], &status[own])
            });
            pass.map(|_| ())
        })?;
        if let Some(edges) = edges {
            steps = steps.with_edges(edges);
        }
        Ok(steps)
    }

    fn read_steps(path: &Path, source: &mut Source, names: &[String]) -> Result<Steps, Failure> {
        let steps = Steps::read(path)?;
        let refused = |wanted: &str, found: &str| {
            Err(Failure::Call(format!("--transform {}: expected {wanted}, found {found}", path.display())))
        };
        if steps.columns() != names {
            let differs = steps.columns().iter().zip(names).find(|(theirs, own)| theirs != own);
            let found = differs.map_or_else(
                || format!("{} columns, not {}", names.len(), steps.columns().len()),
                |(theirs, own)| format!("{own} instead of {theirs}"),
            );
            return refused("the columns of the steps", &found);
        }
        match steps.edges() {
            Some(edges) if source.wants_edges() => source.use_edges(edges.clone()),
            None if source.wants_edges() => return refused("the fitted edges of histograms", "none"),
            // The same columns would have other bins than those that the steps were fitted to.
            Some(_) => return refused("a histogram with range=\"fitted\", as in the file", "none"),
            None => {}
        }
        Ok(steps)
    }
}
