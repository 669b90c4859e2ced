//! Whether the first row of a table has the names of the columns: one decision for trainings, features, experiments
//! and predictions. Where the row itself does not tell, the other rows do.

use super::{Ask, Reader, Use};
use crate::error::Error;
use crate::io::field::{Field, is_header};
use crate::io::roles::{LabelColumn, index_name, is_label, shown};
use csv::StringRecord;
use std::io::Read;
use std::ops::Range;

/// Returns whether the first row is a header, as far as the row itself and the names that are asked for tell.
pub(super) fn is_names(fields: &[&str], ask: &Ask<'_>) -> bool {
    let numbers = fields.iter().all(|field| field.parse::<f64>().is_ok());
    // Numbers are a sample, not names, unless they count as pandas makes names.
    if is_header(fields) || numbered(fields) && !numbers {
        return true;
    }
    if let Some(known) = ask.known {
        return known.are_among(fields);
    }
    let label = match ask.roles.label {
        LabelColumn::Named(name) => Some(name),
        _ => None,
    };
    if numbers {
        return numbered(fields) && label.is_some_and(|name| fields.contains(&name));
    }
    // Beside words, a number that may be a place is none of the names.
    let is_name = |name: &str| {
        place_of(name, fields.len()).is_none() && fields.iter().any(|&field| field == name || shown(field) == name)
    };
    let others = ask.roles.ignore.iter().chain(ask.roles.take).map(String::as_str);
    label.into_iter().chain(others).any(is_name)
}

/// Returns the place that a number from 1 on means in a table without names.
pub(super) fn place_of(name: &str, columns: usize) -> Option<usize> {
    name.parse::<usize>().ok().filter(|place| (1..=columns).contains(place)).map(|place| place - 1)
}

/// Returns whether a first row has names that count from 0, as pandas makes them, beside the name of an index or of
/// labels. A single letter may be a label itself.
fn numbered(fields: &[&str]) -> bool {
    let named = |at: usize, field: &str| index_name(at, field).is_some() || field.len() > 1 && is_label(field);
    let numbers = fields.iter().enumerate().filter(|&(at, field)| !named(at, field));
    let numbers: Vec<&str> = numbers.map(|(_, field)| *field).collect();
    !numbers.is_empty() && numbers.iter().zip(0..).all(|(field, place)| field.parse() == Ok(place))
}

/// Returns the columns at the end that have neither a name nor content, since the rows end with separators, as
/// spreadsheets write them. If the first row is a header, it alone may end so. Other rows have to be of one length: a
/// shorter one says that a separator at the end is before a number that is missing.
pub(super) fn blank_columns(mut reader: csv::Reader<impl Read>, ask: &Ask<'_>) -> Range<usize> {
    let mut record = StringRecord::new();
    let (mut blank, mut header) = (0..0, false);
    // What cannot be read is told by the reader of the table.
    while let Ok(true) = reader.read_record(&mut record) {
        let fields: Vec<&str> = record.iter().map(str::trim).collect();
        let Some(last) = fields.iter().rposition(|field| !field.is_empty()) else { continue };
        if blank.is_empty() {
            blank = last + 1..fields.len();
            header = is_names(&fields[..blank.start], ask);
        }
        if blank.is_empty() || last >= blank.start || !header && fields.len() != blank.end {
            return 0..0;
        }
    }
    blank
}

impl Reader<'_> {
    /// Says that there is no column with a name, or at the place that a number means where no column has a name.
    pub(super) fn no_column(&self, line: u64, name: &str, role: &str, found: &str) -> Error {
        match (&self.names, name.parse::<i64>()) {
            (None, Ok(_)) => self.wrong(line, format!("a column from 1 to {}{role}", self.uses.len()), name),
            _ => self.wrong(line, format!("a column named {name}{role}"), found),
        }
    }

    /// Says in which column a field is that is no number, and what leaves the column out.
    pub(super) fn in_column(&self, at: usize, field: &str) -> String {
        // A target is needed, and so is an input of a model.
        let needed = self.uses.get(at) == Some(&Use::Target) || self.ask.known.is_some();
        match self.names {
            Some(_) if field.is_empty() || needed => format!(" in column `{}`", self.name(at)),
            Some(_) => format!(" in column `{}`, which --ignore with its name leaves out", self.name(at)),
            None => self.advice(at, field, needed),
        }
    }

    /// Says what can become of a column without a name.
    fn advice(&self, at: usize, field: &str, needed: bool) -> String {
        // In rows of several lengths, a place is no column.
        if field.is_empty() || self.uses.len() < 2 || self.odd.is_some() {
            return String::new();
        }
        let place = at + 1;
        if needed {
            return format!(" in column {place}");
        }
        let wanted = matches!(self.ask.roles.label, LabelColumn::Auto | LabelColumn::Needed);
        // Neither a word after numbers nor NaN is a label.
        let label = if wanted && self.ends.is_empty() && Field::of(field) == Field::Word {
            format!("--label {place} takes as the labels and ")
        } else {
            String::new()
        };
        format!(" in column {place}, which {label}--ignore {place} leaves out")
    }

    /// Makes the first row names, if its label is the only word of a column of numbers, or if it counts the columns as
    /// pandas does and is unlike the other rows. Returns whether it did.
    pub(super) fn take_first_as_names(&mut self) -> bool {
        self.labels_named = self.label_is_name();
        if !self.labels_named && !self.counts_columns() {
            return false;
        }
        self.numbers.drain(..self.uses.len());
        self.ends.remove(0);
        self.ends.iter_mut().for_each(|end| *end -= self.uses.len());
        let fields = std::mem::take(&mut self.first_fields);
        for (texts, field) in self.texts.iter_mut().zip(&fields) {
            if let Some(texts) = texts {
                texts.forget_first(field);
            }
        }
        self.names = Some(fields);
        true
    }

    /// Returns whether the first field of the column that has the labels, or may have them, is its only word.
    fn label_is_name(&self) -> bool {
        let rows = self.ends.len();
        let own = self.uses.iter().position(|own| *own == Use::Target);
        let last = (self.uses.last() == Some(&Use::Either)).then(|| self.uses.len() - 1);
        let Some(at) = own.or(self.supposed.map(|supposed| supposed.label)).or(last) else { return false };
        let Some(texts) = &self.texts[at] else { return false };
        let first = texts.first.as_ref().is_some_and(|(line, word)| *line == self.first && !word.is_empty());
        // Beside labels that are words, the numbers have to be names as pandas makes them.
        let names = self.first_fields.iter().enumerate().filter(|(place, _)| *place != at);
        let counts = names.zip(0..).all(|((_, name), place)| name.parse() == Ok(place));
        let alone = || counts && rows > 2 && !texts.words[1..].contains(&texts.words[0]);
        first && rows > 1 && self.odd.is_none() && (texts.wordy == 1 || texts.wordy == rows && alone())
    }

    /// Returns whether the first row is 0, 1, 2 and so on, while a later row has a number that is negative or not
    /// whole: names as pandas writes those of an array. Two columns suffice if both are inputs of a model, and
    /// otherwise three. Either way, what it was read as is a doubt.
    fn counts_columns(&mut self) -> bool {
        let columns = self.first_fields.len();
        let fewest = if self.ask.known.is_some_and(|known| known.inputs == columns) { 2 } else { 3 };
        let counts = self.first_fields.iter().zip(0..).all(|(field, place)| field.parse() == Ok(place));
        if !(self.names.is_none() && columns >= fewest && counts && self.odd.is_none()) {
            return false;
        }
        let unlike = |x: &f64| x.is_finite() && (*x < 0.0 || x.fract() != 0.0);
        let names = self.ends.len() > 1 && self.numbers[self.uses.len()..].iter().any(unlike);
        let (what, other) = if names { ("names of the columns", "a sample") } else { ("a sample", "their names") };
        self.doubts.push(format!(
            "line {} counts the columns from 0, as a header of pandas does, and was read as {what}, not as {other}",
            self.first
        ));
        names
    }
}
