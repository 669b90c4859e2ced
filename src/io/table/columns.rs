//! What the fields of columns tell of their roles, once all rows are read.

use super::{Reader, Rows, Table, Use};
use crate::error::{Error, Result};
use crate::io::field::Field;
use crate::io::layers::Numbers;
use crate::io::roles::{Findings, LabelColumn, LeftOut, TargetOrigin, coordinate_among, is_index, suspects};
use crate::io::samples::{TableTargets, no_label, targets_of_words};
use std::collections::BTreeSet;

/// The fields of a column.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) words: Vec<String>,
    /// The number of fields that are no numbers, and the first of them with its line.
    pub(super) wordy: usize,
    pub(super) first: Option<(u64, String)>,
    /// The number of fields that are whole numbers.
    whole: usize,
    /// What is wrong with the first field, if the column is an input.
    pub(super) lost: Option<Error>,
    /// The first field that is no label, in words, with its line.
    unlabeled: Option<(u64, String)>,
    /// Whether the column is an input once a field is no whole number, so that the fields need not be kept.
    may_end: bool,
    ended: bool,
}

impl Texts {
    pub(super) fn new(may_end: bool) -> Self {
        Self { may_end, ..Self::default() }
    }

    /// Notes a field of a column whose role the fields decide.
    pub(super) fn note(&mut self, line: u64, field: &str, lost: Option<Error>) {
        if Field::of(field) == Field::Word {
            self.wordy += 1;
            self.first.get_or_insert_with(|| (line, field.to_owned()));
        }
        self.unlabeled = self.unlabeled.take().or_else(|| no_label([field]).map(|(_, found)| (line, found)));
        let number = field.parse::<f64>();
        self.whole += usize::from(number.as_ref().is_ok_and(|x| x.fract() == 0.0));
        self.ended |= self.may_end && number.is_ok_and(|x| x.fract() != 0.0);
        if self.ended {
            self.words = Vec::new();
        } else {
            self.words.push(field.to_owned());
        }
        self.lost = self.lost.take().or(lost);
    }

    /// Forgets the field of the first row, which is a name.
    pub(super) fn forget_first(&mut self, field: &str) {
        if !self.words.is_empty() {
            self.words.remove(0);
        }
        self.unlabeled = self.unlabeled.take().filter(|_| no_label([field]).is_none());
        match field.parse::<f64>() {
            Ok(x) if x.fract() == 0.0 => self.whole = self.whole.saturating_sub(1),
            Ok(_) => {}
            Err(_) => (self.wordy, self.first, self.lost) = (self.wordy.saturating_sub(1), None, None),
        }
    }

    fn classes(&self) -> usize {
        self.words.iter().collect::<BTreeSet<_>>().len()
    }

    /// Returns whether all fields are words that repeat.
    fn repeats_words(&self, rows: usize) -> bool {
        self.wordy == rows && (2..rows).contains(&self.classes())
    }

    /// Returns whether all fields are whole numbers, of which each occurs at least twice on average.
    fn repeats_numbers(&self, rows: usize) -> bool {
        self.whole == rows && 2 * self.classes() <= rows
    }
}

impl Reader<'_> {
    /// Decides whether the first or the last column has the labels.
    pub(super) fn decide_target(&mut self) -> Result<()> {
        let (rows, even) = (self.ends.len(), self.odd.is_none());
        let either: Vec<usize> = (0..self.uses.len()).filter(|&at| self.uses[at] == Use::Either).collect();
        let [first, last] = either[..] else { return Ok(()) };
        let (Some(one), Some(other)) = (&self.texts[first], &self.texts[last]) else { return Ok(()) };
        let needed = self.ask.roles.label == LabelColumn::Needed;
        let by_last = other.wordy == rows || even && other.repeats_numbers(rows);
        let few = 2 * other.classes() <= rows;
        let whole = self.names.is_none() && even && one.repeats_numbers(rows) && one.classes() > 1;
        // One number in all rows tells no classes apart.
        let by_first = whole && (!few || other.classes() == 1);
        let target = if self.labels_named || other.wordy == rows || needed && other.wordy > 0 {
            Some(last)
        } else if one.repeats_words(rows) || by_first && !(by_last && other.classes() > 1) {
            Some(first)
        } else if by_last {
            Some(last)
        } else {
            needed.then_some(last)
        };
        match (&other.first, &self.odd) {
            (Some((line, word)), _) if target != Some(last) => {
                let expected = "a number, or words as labels in all rows";
                return Err(self.wrong(*line, expected, format!("{word:?}")));
            }
            (_, Some((line, columns))) if target == Some(last) => {
                let expected = format!("{} columns, as in the first row", self.uses.len());
                return Err(self.wrong(*line, expected, columns.to_string()));
            }
            _ => {}
        }
        for at in [first, last] {
            self.uses[at] = if Some(at) == target { Use::Target } else { Use::Input };
        }
        for at in [first, last].into_iter().filter(|&at| Some(at) != target) {
            if let Some(lost) = self.texts[at].take().and_then(|texts| texts.lost) {
                return Err(lost);
            }
        }
        Ok(())
    }

    /// Checks that every row has a label.
    pub(super) fn check_labels(&self) -> Result<()> {
        let target = self.uses.iter().position(|own| *own == Use::Target);
        let Some((at, texts)) = target.and_then(|at| Some((at, self.texts[at].as_ref()?))) else { return Ok(()) };
        let Some((line, found)) = &texts.unlabeled else { return Ok(()) };
        let column = self.column(at);
        Err(self.wrong(*line, "a label", format!("{found}, in column {column}; leave out rows without a label")))
    }

    /// Decides whether the columns with the name of an index are one.
    pub(super) fn decide_index(&mut self) -> Result<()> {
        for at in 0..self.uses.len() {
            let Use::Index(name) = self.uses[at] else { continue };
            let Some(texts) = &mut self.texts[at] else { continue };
            if is_index(name, &texts.words) {
                self.uses[at] = Use::No(LeftOut::Index);
            } else if let Some(lost) = texts.lost.take() {
                return Err(lost);
            } else {
                self.uses[at] = Use::Input;
            }
        }
        Ok(())
    }

    /// Returns the table, without the columns that are no inputs.
    pub(super) fn table(mut self) -> Result<Table> {
        let columns = self.uses.len();
        let target = self.uses.iter().position(|own| *own == Use::Target);
        let is_input = |at: usize| self.uses.get(at).is_none_or(|own| *own == Use::Input);
        let width = (0..columns).filter(|&at| is_input(at)).count();
        if width == 0 {
            let names: Vec<String> = (0..columns).map(|at| self.name(at)).collect();
            return Err(self.wrong(self.first, "columns of numbers", format!("the columns {}", names.join(", "))));
        }
        let mut values = Vec::new();
        if let (Some(target), Some(true)) = (target, self.ask.values) {
            values = self.numbers.iter().skip(target).step_by(columns).copied().collect();
        }
        let mut kept = Vec::with_capacity(self.ends.len() + 1);
        if width < columns {
            let (mut row, mut at, mut inputs) = (0, 0, 0);
            let mut numbers = std::mem::take(&mut self.numbers);
            kept.push(0);
            numbers.retain(|_| {
                let keep = is_input(at);
                (at, inputs) = (at + 1, inputs + usize::from(keep));
                if self.ends.get(row) == Some(&(kept_before(&self.ends, row) + at)) {
                    kept.push(inputs);
                    (row, at) = (row + 1, 0);
                }
                keep
            });
            self.numbers = numbers;
        } else if self.odd.is_some() {
            kept.extend(std::iter::once(0).chain(self.ends.iter().copied()));
        }
        let rows = if self.odd.is_none() { Rows::Even(width) } else { Rows::Ragged(kept) };
        let shown: Vec<String> = (0..columns).filter(|&at| is_input(at)).map(|at| self.name(at)).collect();
        let left_out = (0..columns).filter_map(|at| match self.uses[at] {
            Use::No(why) | Use::Word(why) => Some((at, why)),
            _ => None,
        });
        let left_out: Vec<(usize, LeftOut)> = left_out.collect();
        let origin = target.map(|place| {
            let name = self.names.as_ref().and_then(|names| names.get(place).cloned());
            TargetOrigin::Column { place, name }
        });
        let id =
            [LeftOut::Ids, LeftOut::Index].into_iter().find_map(|own| left_out.iter().find(|(_, why)| *why == own));
        let mut words = |at: usize| self.texts[at].take().map(|texts| texts.words).unwrap_or_default();
        let ids = id.map(|(at, _)| words(*at)).filter(|ids| !ids.is_empty());
        let targets = match target {
            Some(_) if self.ask.values == Some(true) => TableTargets::Values(values, 1),
            Some(target) => targets_of_words(words(target), self.ask.values),
            None => TableTargets::None,
        };
        let mut suspects = match (&rows, self.ask.known) {
            (Rows::Even(_), None) => suspects(&shown, &self.numbers, &targets, true),
            _ => Vec::new(),
        };
        // What was asked for by name is no surprise.
        suspects.retain(|(name, _)| !self.ask.roles.takes(name));
        let named = |(at, why): &(usize, LeftOut)| (self.name(*at), *why);
        // Named as pandas names them.
        let blank = self.blank.clone().map(|at| (format!("Unnamed: {at}"), LeftOut::Empty));
        let findings = Findings {
            target: origin,
            left_out: left_out.iter().map(named).chain(blank).collect(),
            suspects,
            coordinate: self.coordinate(),
            doubts: std::mem::take(&mut self.doubts),
            ..Findings::default()
        };
        let names = match &self.names {
            Some(names) => (0..columns).filter(|&at| is_input(at)).map(|at| names[at].clone()).collect(),
            None => Vec::new(),
        };
        let left_out = left_out.into_iter().filter(|(_, why)| *why != LeftOut::Label).map(|(at, _)| at).collect();
        let numbers = Numbers::F64(self.numbers);
        Ok(Table { numbers, rows, names, targets, ids, target, left_out, findings, bits: false })
    }
}

impl Reader<'_> {
    /// Returns the name of the input that might be the labels, were it not a coordinate.
    fn coordinate(&self) -> Option<String> {
        let names: Vec<&str> = self.names.iter().flatten().map(String::as_str).collect();
        let searched = matches!(self.ask.roles.label, LabelColumn::Auto | LabelColumn::Needed);
        let own = coordinate_among(&names).filter(|&at| searched && self.uses[at] == Use::Input)?;
        self.ask.known.is_none().then(|| names[own].to_owned())
    }
}

/// Returns where a row begins.
fn kept_before(ends: &[usize], row: usize) -> usize {
    if row == 0 { 0 } else { ends[row - 1] }
}
