//! The inputs of a model among the columns of a table.

use super::{Reader, Use, listed};
use crate::error::Result;
use crate::io::field::Field;
use crate::io::roles::{self, LeftOut, index_name, labels_among, numbering};
use crate::io::samples::KnownInputs;

/// A column that has the labels by its place alone, and another that may be no input instead, and why.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supposed {
    pub(super) label: usize,
    other: Option<(usize, LeftOut)>,
}

impl Supposed {
    /// Returns the same columns behind another one.
    pub(super) fn shifted(self) -> Self {
        Self { label: self.label + 1, other: self.other.map(|(at, why)| (at + 1, why)) }
    }
}

/// Says which columns a model needs.
fn wanted(known: KnownInputs<'_>) -> String {
    format!("{} columns of inputs, or one more with labels", known.inputs)
}

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
        let mut told = Vec::new();
        if self.names.is_some() {
            // What a header tells of an index, of ids or of labels.
            for &at in &all {
                let why = no_input(at, fields);
                if why != LeftOut::Other && !known.take.iter().any(|own| own == roles::shown(fields[at])) {
                    self.uses[at] = Use::No(why);
                    told.push(format!("`{}` ({})", self.name(at), why.name()));
                }
            }
            all.retain(|&at| self.uses[at] == Use::Input);
        }
        let labeled = self.uses.contains(&Use::No(LeftOut::Label));
        // Beside labels that a header names, another column has none.
        let skipped = known.skipped(all.len()).filter(|_| !labeled || all.len() == known.inputs);
        let words = self.words_alone(fields, &all, known);
        if words.iter().any(|place| skipped.as_ref().is_none_or(|skipped| !skipped.contains(place))) {
            for &place in &words {
                let label = words.len() == 1 || Some(place) == known.target_among(all.len());
                self.uses[all[place]] = Use::Word(if label { LeftOut::Label } else { LeftOut::Other });
            }
            return Ok(());
        }
        let Some(skipped) = skipped else {
            let found = match all.len() {
                few if few < known.inputs && !told.is_empty() => {
                    format!("{few} without {}, which --take with the name takes as inputs", told.join(", "))
                }
                more if more == known.inputs + 1 => {
                    format!("{}; use --ignore for the column that is no input", fields.len())
                }
                _ => fields.len().to_string(),
            };
            return Err(self.wrong(line, wanted(known), found));
        };
        for (place, &at) in all.iter().enumerate().filter(|(place, _)| skipped.contains(place)) {
            self.uses[at] = Use::No(LeftOut::Other);
            if Some(place) == known.target_among(all.len()) {
                self.uses[at] = Use::Either;
                self.supposed = Some(Supposed { label: at, other: None });
            }
        }
        if let Some(Supposed { other, .. }) = self.supposed.as_mut().filter(|_| all.len() == known.inputs + 1) {
            let (place, why) = match known.others_alone()[..] {
                [place] if self.names.is_none() => (place, LeftOut::Other),
                _ => (0, LeftOut::Index),
            };
            self.uses[all[place]] = Use::Either;
            *other = Some((all[place], why));
        }
        Ok(())
    }

    /// Decides which column is no input, where one may have labels, and another may be an index or what was left out in
    /// training.
    pub(super) fn decide_known(&mut self, known: KnownInputs<'_>) -> Result<()> {
        let Some(Supposed { label, other }) = self.supposed else { return Ok(()) };
        let words = |at: usize| self.texts[at].as_ref().map_or(&[] as &[String], |texts| texts.words.as_slice());
        let unfit = words(label).iter().find(|field| !known.may_be_label(field));
        let [counts, numbers] = other.map_or([false; 2], |(at, _)| numbering(words(at)));
        let of_training = other.is_some_and(|(_, why)| why == LeftOut::Other);
        let is_number = self.texts[label].as_ref().is_some_and(|texts| texts.lost.is_none());
        // Where there are no classes, the target is a number, as an input is.
        let doubtful = if known.classes.is_empty() { numbers || of_training } else { counts };
        let (out, why) = match (other, unfit) {
            (Some((at, _)), None) if at != label && is_number && doubtful => {
                let [one, last] = [at, label].map(|at| self.column(at));
                let remedy = "is not an input; name it with --ignore";
                let found = format!("{}; either column {one} or column {last} {remedy}", self.uses.len());
                return Err(self.wrong(self.first, wanted(known), found));
            }
            (_, None) => (label, LeftOut::Label),
            (Some((at, why)), Some(_)) if counts || of_training => (at, why),
            (_, Some(field)) => {
                let remedy = "which is no class; use --ignore for a column that is no input";
                let found = format!("{field:?} in column {}, {remedy}", self.column(label));
                return Err(self.wrong(self.first, wanted(known), found));
            }
        };
        for at in (0..self.uses.len()).filter(|&at| self.uses[at] == Use::Either).collect::<Vec<_>>() {
            self.uses[at] = if at == out { Use::No(why) } else { Use::Input };
            if let Some(lost) = self.texts[at].take().and_then(|texts| texts.lost).filter(|_| at != out) {
                return Err(lost);
            }
        }
        Ok(())
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
