//! The inputs of a model among the columns of a table.

use super::{Reader, Use, listed};
use crate::error::Result;
use crate::io::field::Field;
use crate::io::roles::{self, LeftOut, index_name, labels_among};
use crate::io::samples::KnownInputs;

impl Reader<'_> {
    /// Finds the inputs of a model.
    pub(super) fn find_known(&mut self, line: u64, fields: &[&str], known: KnownInputs<'_>) -> Result<()> {
        for name in known.ignore {
            if let Some(place) = self.place(name) {
                self.uses[place] = Use::No(LeftOut::Ignored);
            }
        }
        if self.names.is_some() && !known.names.is_empty() {
            self.check_names(line, fields, known)?;
            for at in (0..fields.len()).filter(|&at| !known.names.iter().any(|own| own == fields[at])) {
                self.uses[at] = Use::No(no_input(at, fields));
            }
            return Ok(());
        }
        let mut all: Vec<usize> = (0..fields.len()).filter(|&at| self.uses[at] == Use::Input).collect();
        let mut labeled = false;
        if self.names.is_some() && all.len() > known.inputs {
            // What a header tells of an index, of ids or of labels.
            let others: Vec<usize> = all.iter().copied().filter(|&at| no_input(at, fields) == LeftOut::Other).collect();
            if others.len() >= known.inputs {
                for &at in all.iter().filter(|at| !others.contains(at)) {
                    self.uses[at] = Use::No(no_input(at, fields));
                    labeled |= self.uses[at] == Use::No(LeftOut::Label);
                }
                all = others;
            }
        }
        let skipped = known.skipped(all.len(), |place| self.names.is_none().then(|| fields[all[place]]));
        // Beside labels that a header names, another column has none.
        let skipped = skipped.filter(|_| !labeled || all.len() == known.inputs);
        let words = self.words_alone(fields, &all, known);
        if words.iter().any(|place| skipped.as_ref().is_none_or(|skipped| !skipped.contains(place))) {
            for &place in &words {
                let label = words.len() == 1 || Some(place) == known.target_among(all.len());
                self.uses[all[place]] = Use::Word(if label { LeftOut::Label } else { LeftOut::Other });
            }
            return Ok(());
        }
        let Some(skipped) = skipped else {
            let extra =
                if all.len() == known.inputs + 1 { "; use --ignore for the column that is no input" } else { "" };
            let expected = format!("{} columns of inputs, or one more with labels", known.inputs);
            return Err(self.wrong(line, expected, format!("{}{extra}", fields.len())));
        };
        for (place, &at) in all.iter().enumerate().filter(|(place, _)| skipped.contains(place)) {
            let is_target = Some(place) == known.target_among(all.len());
            self.uses[at] = Use::No(if is_target { LeftOut::Label } else { LeftOut::Other });
            // Whether its first field is a class shows whether it has labels.
            if is_target && self.names.is_some() && !known.classes.is_empty() {
                self.supposed = Some(at);
            }
        }
        Ok(())
    }

    /// Checks that the first field of a column that has a name, and the labels by its place, is a class of the model.
    pub(super) fn check_supposed(&self, line: u64, at: usize, fields: &[&str], known: KnownInputs<'_>) -> Result<()> {
        let Some(field) = fields.get(at).filter(|field| !known.may_be_label(field)) else { return Ok(()) };
        let expected = format!("{} columns of inputs, or one more with labels", known.inputs);
        let name = self.name(at);
        let found =
            format!("{field:?} in column `{name}`, which is no class; use --ignore for a column that is no input");
        Err(self.wrong(line, expected, found))
    }

    /// Returns the places among the columns `all` that have words in a first row without names, if the others are as
    /// many as the inputs: since words are no inputs, these are what is left out, wherever it was in the training.
    fn words_alone(&self, fields: &[&str], all: &[usize], known: KnownInputs<'_>) -> Vec<usize> {
        let is_word = |place: &usize| {
            let field = fields[all[*place]];
            !field.is_empty() && Field::of(field) == Field::Word
        };
        let words: Vec<usize> = (0..all.len()).filter(is_word).collect();
        if self.names.is_none() && words.len() + known.inputs == all.len() { words } else { Vec::new() }
    }

    /// Checks that the inputs that a model knows by names are among the names of the columns, in their order.
    pub(super) fn check_names(&self, line: u64, names: &[&str], known: KnownInputs<'_>) -> Result<()> {
        let is_own = |name: &&str| known.names.iter().any(|own| own == name);
        let own: Vec<&str> = names.iter().copied().filter(is_own).collect();
        if own.iter().eq(known.names) {
            return Ok(());
        }
        let (order, found) =
            if own.len() == known.names.len() { (" in this order", own.as_slice()) } else { ("", names) };
        Err(self.wrong(line, format!("the inputs {}{order}", listed(known.names)), listed(found)))
    }
}

/// Returns why a column that is no input of a model is none, by its name.
fn no_input(at: usize, names: &[&str]) -> LeftOut {
    match names[at] {
        name if index_name(at, name).is_some() => LeftOut::Index,
        name if roles::IDS.contains(&name) => LeftOut::Ids,
        _ if labels_among(names).contains(&at) => LeftOut::Label,
        _ => LeftOut::Other,
    }
}
