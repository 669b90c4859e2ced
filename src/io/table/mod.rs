//! Reads tables and strings of bits: a sample in each line. Everything that the command and the library read from texts
//! goes through here, so that a column has the same role everywhere.

mod bits;
mod columns;
mod decimals;
mod first_row;
mod known;

pub(super) use bits::bits;

use super::field::Field;
use super::layers::Numbers;
use super::magic::of_no_table;
use super::roles::{self, Findings, LabelColumn, LeftOut, Roles, index_name, labels_among, shown};
use super::samples::{KnownInputs, TableTargets};
use crate::error::{Error, Result};
use columns::Texts;
use csv::{ReaderBuilder, StringRecord};
use decimals::Marks;
use first_row::{blank_columns, is_names, place_of};
use known::Supposed;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// What is wanted of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub(super) roles: Roles<'a>,
    /// Whether the targets are numbers or labels. `None`: numbers if not all of them are whole.
    pub(super) values: Option<bool>,
    /// All numbers have to be finite, and all rows have the same length.
    pub(super) finite: bool,
    /// The inputs of a model, which alone are wanted.
    pub(super) known: Option<KnownInputs<'a>>,
}

/// A text that was read.
#[derive(Debug)]
pub(super) struct Table {
    /// The inputs, row by row.
    pub(super) numbers: Numbers,
    pub(super) rows: Rows,
    /// The names of the inputs, if the text has a header.
    pub(super) names: Vec<String>,
    pub(super) targets: TableTargets,
    pub(super) ids: Option<Vec<String>>,
    /// The place of the column with the targets, and of those that are no inputs for other reasons.
    pub(super) target: Option<usize>,
    pub(super) left_out: Vec<usize>,
    pub(super) findings: Findings,
    /// Whether these are strings of bits.
    pub(super) bits: bool,
}

#[derive(Debug)]
pub(super) enum Rows {
    /// All have this length.
    Even(usize),
    /// Where each begins, and where the last ends.
    Ragged(Vec<usize>),
}

pub(super) fn open(path: &Path, ask: &Ask<'_>) -> Result<Table> {
    let first = first_line(path)?;
    if bits(&first).is_some() { bits::open(path, ask) } else { Reader::open(path, &first, ask)?.finish() }
}

/// Returns the first line that is not blank, which shows what the file is.
fn first_line(path: &Path) -> Result<String> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let (mut first, mut number) = (String::new(), 0);
    let mut reader = BufReader::new(file);
    let head = reader.fill_buf().map_err(|error| Error::io("read", path, error))?;
    if let Some(format) = of_no_table(head) {
        return Err(Error::parse(path, None, "a table, strings of bits, .npz, .safetensors or .npy", format));
    }
    while first.trim().is_empty() {
        first.clear();
        number += 1;
        let read = reader.read_line(&mut first).map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => Error::parse(path, Some(number), "text in UTF-8", "other bytes"),
            _ => Error::io("read", path, error),
        })?;
        if read == 0 {
            break;
        }
    }
    Ok(first)
}

fn wrong_csv(path: &Path, error: csv::Error) -> Error {
    let line = error.position().map(csv::Position::line);
    let shown = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("read", path, error),
        _ => Error::parse(path, line, "a table of numbers in UTF-8", shown),
    }
}

/// What a column is, as far as its name and its place tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Input,
    Target,
    /// The first or the last column, which may have the labels.
    Either,
    /// An index, if its fields count or label the rows.
    Index(roles::IndexName),
    /// Words in all rows, which are no inputs of a model.
    Word(LeftOut),
    No(LeftOut),
}

/// A table that is being read.
struct Reader<'a> {
    path: &'a Path,
    ask: &'a Ask<'a>,
    /// The names of the columns, if there is a header.
    names: Option<Vec<String>>,
    /// The line of the first row, and its fields.
    first: u64,
    first_fields: Vec<String>,
    uses: Vec<Use>,
    /// The fields of the columns that may not be inputs.
    texts: Vec<Option<Texts>>,
    /// All fields, with NaN for those that are no numbers.
    numbers: Vec<f64>,
    /// Where each row ends in `numbers`.
    ends: Vec<usize>,
    /// Whether the first row has numbers as names, and a word as the name of the labels.
    labels_named: bool,
    marks: Marks,
    doubts: Vec<String>,
    /// The line of the first row with another number of columns than the first, and that number.
    odd: Option<(u64, usize)>,
    /// The columns at the end that have neither a name nor content.
    blank: Range<usize>,
    /// The column that has the labels by its place alone, unless its fields are none.
    supposed: Option<Supposed>,
}

impl<'a> Reader<'a> {
    fn open(path: &'a Path, first: &str, ask: &'a Ask<'a>) -> Result<Self> {
        let separator = decimals::separator(first);
        let commas = matches!(separator, Some(b';' | b'\t'));
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(separator.unwrap_or(b' '));
        let open = || builder.from_path(path).map_err(|error| wrong_csv(path, error));
        // White space at the end of a line separates nothing.
        let blank = if separator.is_some() { blank_columns(open()?, ask) } else { 0..0 };
        let mut reader = open()?;
        let mut made = Self {
            path,
            ask,
            names: None,
            first: 0,
            first_fields: Vec::new(),
            uses: Vec::new(),
            texts: Vec::new(),
            numbers: Vec::new(),
            ends: Vec::new(),
            labels_named: false,
            marks: Marks::default(),
            doubts: Vec::new(),
            odd: None,
            blank,
            supposed: None,
        };
        let mut record = StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| wrong_csv(path, error))? {
            let line = record.position().map_or(0, csv::Position::line);
            // White space separates fields however much of it there is.
            let fields = record.iter().map(str::trim).filter(|field| separator.is_some() || !field.is_empty());
            let read = |field| if commas { decimals::with_point(field) } else { Cow::Borrowed(field) };
            let mut read: Vec<Cow<'_, str>> = fields.map(read).collect();
            if read.len() == made.blank.end {
                read.truncate(made.blank.start);
            }
            let fields: Vec<&str> = read.iter().map(|field| &**field).collect();
            if fields.iter().all(|field| field.is_empty()) {
                continue;
            }
            if made.uses.is_empty() && made.begin(line, &fields)? {
                continue;
            }
            made.row(line, &fields)?;
            if commas {
                made.note_marks(line, &read)?;
            }
        }
        Ok(made)
    }

    fn wrong(&self, line: u64, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::parse(self.path, (line > 0).then_some(line), expected, found)
    }

    /// Returns the name of a column, or its place, counted from 1.
    fn name(&self, at: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(at)) {
            Some(name) => shown(name).to_owned(),
            None => (at + 1).to_string(),
        }
    }

    /// Returns the name of a column in quotes, or its place.
    fn column(&self, at: usize) -> String {
        if self.names.is_some() { format!("`{}`", self.name(at)) } else { self.name(at) }
    }

    /// Finds the roles of the columns. Returns whether the first row is a header.
    fn begin(&mut self, line: u64, fields: &[&str]) -> Result<bool> {
        self.first = line;
        self.first_fields = fields.iter().map(|&field| field.to_owned()).collect();
        let header = is_names(fields, self.ask);
        if header {
            self.names = Some(self.first_fields.clone());
        }
        self.uses = vec![Use::Input; fields.len()];
        self.texts.resize_with(fields.len(), || None);
        if let Some(known) = self.ask.known {
            self.find_known(line, fields, known)?;
        } else {
            self.find_roles(line, fields)?;
        }
        let either = self.uses.iter().position(|own| *own == Use::Either);
        for (at, (texts, own)) in self.texts.iter_mut().zip(&self.uses).enumerate() {
            let kept = match own {
                Use::Target | Use::Either | Use::Index(_) | Use::No(LeftOut::Ids) => true,
                Use::Input | Use::Word(_) | Use::No(_) => false,
            };
            if kept {
                let labels = self.supposed.is_some_and(|supposed| supposed.label == at);
                *texts = Some(Texts::new(either == Some(at) && !labels));
            }
        }
        Ok(header)
    }

    /// Returns the place of the column with a name, or, in a table without names, at a place that counts from 1.
    fn place(&self, name: &str) -> Option<usize> {
        match &self.names {
            Some(names) => names.iter().position(|own| own == name || shown(own) == name),
            None => place_of(name, self.uses.len()),
        }
    }

    fn find_roles(&mut self, line: u64, fields: &[&str]) -> Result<()> {
        let roles = self.ask.roles;
        roles.check(self.path)?;
        let mut seen = BTreeSet::new();
        if let Some(name) = fields.iter().find(|name| self.names.is_some() && !seen.insert(**name)) {
            return Err(self.wrong(line, "each column name once", format!("two columns named {}", shown(name))));
        }
        let found = match &self.names {
            None if fields.iter().all(|field| field.parse::<f64>().is_ok()) => {
                "a first row of numbers, so no column has a name".to_owned()
            }
            None => "a first row of words and numbers, so no column has a name".to_owned(),
            Some(_) => format!("the columns {}", listed(fields)),
        };
        for name in roles.ignore {
            let place = self.place(name);
            // What is left out anyway may be named as pandas names it.
            if place.is_none() && self.blank.clone().any(|at| *name == format!("Unnamed: {at}")) {
                continue;
            }
            let place = place.ok_or_else(|| self.no_column(line, name, " to leave out", &found))?;
            self.uses[place] = Use::No(LeftOut::Ignored);
        }
        if let Some(name) = roles.take.iter().find(|name| self.place(name).is_none()) {
            return Err(self.no_column(line, name, " to take", &found));
        }
        let target = match roles.label {
            LabelColumn::Named(name) => Some(self.place(name).ok_or_else(|| self.no_column(line, name, "", &found))?),
            LabelColumn::None => None,
            LabelColumn::Auto | LabelColumn::Needed => self.named_target(line, fields)?,
        };
        if let Some(target) = target {
            self.uses[target] = Use::Target;
        }
        if let Some(names) = &self.names {
            for (at, name) in names.iter().enumerate() {
                if self.uses[at] == Use::Input && !roles.takes(name) {
                    self.uses[at] = match index_name(at, name) {
                        Some(index) => Use::Index(index),
                        None => Use::Input,
                    };
                }
            }
            let id = |(at, name): (usize, &String)| {
                self.uses[at] == Use::Input && roles::IDS.contains(&name.as_str()) && !roles.takes(name)
            };
            if let Some(at) = names.iter().enumerate().position(id) {
                self.uses[at] = Use::No(LeftOut::Ids);
            }
        }
        let inputs: Vec<usize> = (0..fields.len()).filter(|&at| self.uses[at] == Use::Input).collect();
        let wanted = target.is_none() && roles.label != LabelColumn::None;
        if roles.label == LabelColumn::Needed && wanted && inputs.len() < 2 {
            let found = match (fields.len(), &self.names) {
                (1, _) => "1 column".to_owned(),
                (_, None) => format!("{} of {} columns, since the others are left out", inputs.len(), fields.len()),
                (_, Some(_)) => found,
            };
            return Err(self.wrong(line, "columns of inputs and a target", found));
        }
        if inputs.is_empty() && !self.uses.iter().any(|own| matches!(own, Use::Index(_))) {
            return Err(self.wrong(line, "columns of numbers", format!("the columns {}", listed(fields))));
        }
        if let ([first, .., last], true) = (&inputs[..], wanted) {
            let own = if self.ask.values == Some(true) { [Use::Input, Use::Target] } else { [Use::Either; 2] };
            [self.uses[*first], self.uses[*last]] = own;
        }
        Ok(())
    }

    /// Returns the column whose name says that it has the labels.
    fn named_target(&self, line: u64, fields: &[&str]) -> Result<Option<usize>> {
        if self.names.is_none() {
            return Ok(None);
        }
        let found = labels_among(fields).into_iter().filter(|&at| self.uses[at] == Use::Input);
        match found.collect::<Vec<_>>()[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            ref several => {
                let names: Vec<&str> = several.iter().map(|&at| fields[at]).collect();
                Err(self.wrong(line, roles::one_label("column"), names.join(" and ")))
            }
        }
    }

    /// Adds the column that the header of R's `write.table` does not name: the names of the rows.
    fn add_row_names(&mut self) {
        if let Some(names) = &mut self.names {
            names.insert(0, String::new());
            let known = self.ask.known.is_some();
            self.uses.insert(0, if known { Use::No(LeftOut::Index) } else { Use::Index(roles::IndexName::Own) });
            self.texts.insert(0, (!known).then(|| Texts::new(false)));
            self.supposed = self.supposed.map(Supposed::shifted);
        }
    }

    fn row(&mut self, line: u64, fields: &[&str]) -> Result<()> {
        if self.names.is_some() && self.ends.is_empty() && fields.len() == self.uses.len() + 1 {
            self.add_row_names();
        }
        let columns = self.uses.len();
        if fields.len() != columns {
            let even = |own: &Use| matches!(own, Use::Target | Use::No(_));
            if self.names.is_some() || self.ask.finite || self.uses.iter().any(even) {
                let expected = format!("{columns} columns, as in the first row");
                return Err(self.wrong(line, expected, fields.len().to_string()));
            }
            self.odd.get_or_insert((line, fields.len()));
        }
        for (at, &field) in fields.iter().enumerate() {
            // The last field of a row of another length may be a label, too.
            let column = if at + 1 == fields.len() { columns - 1 } else { at };
            let own = match self.uses.get(column) {
                Some(Use::Either) if column + 1 == columns && at + 1 != fields.len() => Use::Input,
                Some(own) => *own,
                None => Use::Input,
            };
            let number = match own {
                Use::No(LeftOut::Ids) => {
                    self.note_text(line, column, field);
                    f64::NAN
                }
                Use::No(_) => f64::NAN,
                Use::Word(_) => {
                    if field.is_empty() || Field::of(field) != Field::Word {
                        let expected = format!("words in all rows of column {}, as in the first row", at + 1);
                        return Err(self.wrong(line, expected, format!("{field:?}")));
                    }
                    f64::NAN
                }
                Use::Target if self.ask.values != Some(true) => {
                    self.note_text(line, column, field);
                    f64::NAN
                }
                // A missing number is told at once, other fields once all are known. A model needs no labels.
                Use::Index(_) => self.either(line, column, at, field),
                Use::Either if !field.is_empty() || self.ask.known.is_some() => self.either(line, column, at, field),
                Use::Either | Use::Input | Use::Target => self.number(line, at, field)?,
            };
            self.numbers.push(number);
        }
        self.ends.push(self.numbers.len());
        Ok(())
    }

    /// Notes a field of a column that is no input.
    fn note_text(&mut self, line: u64, column: usize, field: &str) {
        if let Some(texts) = &mut self.texts[column] {
            texts.note(line, field, None);
        }
    }

    /// Notes a field of a column that may be no input, and returns its number.
    fn either(&mut self, line: u64, column: usize, at: usize, field: &str) -> f64 {
        let (number, lost) = match self.number(line, at, field) {
            Ok(number) => (number, None),
            Err(error) => (f64::NAN, Some(error)),
        };
        if let Some(texts) = &mut self.texts[column] {
            texts.note(line, field, lost);
        }
        number
    }

    fn number(&self, line: u64, at: usize, field: &str) -> Result<f64> {
        let finite = if self.ask.finite { "a finite number" } else { "a number" };
        match Field::of(field) {
            Field::Number(number) if number.is_finite() || !self.ask.finite => {
                if self.ask.finite && self.uses.len() <= 2 && bits(field).is_some() {
                    let found = format!("{field:?}, a string of bits");
                    return Err(self.wrong(line, "a table; strings of bits begin in the first line", found));
                }
                Ok(number)
            }
            Field::Number(_) => Err(self.wrong(line, finite, format!("{field:?}{}", self.in_column(at, field)))),
            Field::Lost(expected) => {
                let name = self.names.as_ref().and_then(|names| names.get(at)).filter(|name| !name.is_empty());
                let column = name.map_or_else(|| (at + 1).to_string(), |name| format!("`{name}`"));
                Err(self.wrong(line, expected, format!("{field} in column {column}")))
            }
            Field::Word => {
                let missing =
                    if self.ask.finite { finite.to_owned() } else { format!("{finite}, or nan if it is missing") };
                let expected = match field.is_empty() {
                    true => missing,
                    false if decimals::has_comma(field) => {
                        format!("{finite} with a decimal point, or semicolons or tabs between the fields")
                    }
                    false if line == self.first => format!("{finite}, or a header without any number"),
                    false => finite.to_owned(),
                };
                let unnamed = self.first_fields.iter().skip(1).filter(|field| field.is_empty()).count();
                let all = unnamed + usize::from(self.first_fields.first().is_some_and(String::is_empty));
                let wordy = || self.first_fields.iter().all(|field| Field::of(field) == Field::Word);
                if line == self.first && self.names.is_none() && unnamed > 0 && wordy() {
                    let found = format!("{all} column{} without a name", if all == 1 { "" } else { "s" });
                    return Err(self.wrong(line, "a header in which the first column alone may have no name", found));
                }
                Err(self.wrong(line, expected, format!("{field:?}{}", self.in_column(at, field))))
            }
        }
    }

    fn finish(mut self) -> Result<Table> {
        if self.ends.is_empty() {
            return Err(self.wrong(0, "at least one sample", "none"));
        }
        if self.take_first_as_names()
            && let (Some(names), Some(known)) = (&self.names, self.ask.known)
            && !known.names.is_empty()
        {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.check_names(self.first, &names, known)?;
        }
        self.doubt_commas();
        match self.ask.known {
            Some(known) => self.decide_known(known)?,
            None => self.decide_target()?,
        }
        self.check_labels()?;
        self.decide_index()?;
        self.table()
    }
}

/// Returns the names of columns, separated by commas.
fn listed(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| shown(name.as_ref())).collect::<Vec<_>>().join(", ")
}
