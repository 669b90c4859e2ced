//! Tables and strings of bits: a sample in each line, in one layer.

use super::{Extent, IDS, LabelColumn, Layer, LayerRows, Layers, Numbers, Source, TargetOrigin};
use crate::error::{Error, Result};
use crate::io::field::{Field, is_header};
use crate::io::samples::{TARGETS, TableTargets, bits, first_line, labels_of, separator, wrong_csv};
use csv::{ReaderBuilder, StringRecord};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::ops::Range;
use std::path::Path;

/// The numbers of all samples.
#[derive(Debug)]
pub(super) struct Table {
    numbers: Numbers,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    /// All have this length.
    Even(usize),
    /// Where each begins, and where the last ends.
    Ragged(Vec<usize>),
}

impl Table {
    pub(super) fn read(&self, rows: Range<usize>, made: &mut LayerRows) {
        match &self.rows {
            Rows::Even(length) => {
                made.numbers.copy(&self.numbers, rows.start * length..rows.end * length);
                made.lengths = None;
            }
            Rows::Ragged(offsets) => {
                made.numbers.copy(&self.numbers, offsets[rows.start]..offsets[rows.end]);
                made.lengths = Some(offsets[rows.start..=rows.end].windows(2).map(|pair| pair[1] - pair[0]).collect());
            }
        }
    }
}

pub(super) fn open(path: &Path, label: LabelColumn<'_>) -> Result<Layers> {
    let first = first_line(path)?;
    if bits(&first).is_some() { open_bits(path, label) } else { Reader::open(path, &first, label)?.finish() }
}

/// The labels, and where they were found.
type Labels = Option<(Vec<String>, TargetOrigin)>;

fn layers(name: &str, extent: Extent, table: Table, labels: Labels, ids: Option<Vec<String>>) -> Layers {
    let wide = matches!(table.numbers, Numbers::F64(_));
    let len = match &table.rows {
        Rows::Even(length) => table.numbers.len() / length,
        Rows::Ragged(offsets) => offsets.len() - 1,
    };
    let layers = vec![Layer { name: name.to_owned(), extent, wide }];
    let (targets, origin) = match labels {
        Some((words, origin)) => (labels_of(words), Some(origin)),
        None => (TableTargets::None, None),
    };
    Layers { source: Source::Table(table), layers, len, targets, origin, ids }
}

fn open_bits(path: &Path, label: LabelColumn<'_>) -> Result<Layers> {
    if let LabelColumn::Named(name) = label {
        let expected = format!("a table or arrays, with labels named {name}");
        return Err(Error::parse(path, None, expected, "strings of bits, whose labels have no name"));
    }
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let (mut numbers, mut words, mut rows, mut length, mut line) = (Vec::new(), Vec::new(), 0, 0, String::new());
    let mut reader = BufReader::new(file);
    for number in 1_u64.. {
        line.clear();
        let wrong = |expected: String, found: String| Error::parse(path, Some(number), expected, found);
        let read = reader.read_line(&mut line).map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => wrong("text in UTF-8".to_owned(), "other bytes".to_owned()),
            _ => Error::io("read", path, error),
        })?;
        if read == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let Some((digits, label)) = bits(&line) else {
            return Err(wrong("a string of bits, perhaps with a label".to_owned(), format!("{:?}", line.trim_end())));
        };
        if rows == 0 {
            length = digits.len();
        }
        if digits.len() != length {
            return Err(wrong(format!("{length} bits, as in the first line"), format!("{} bits", digits.len())));
        }
        numbers.extend(digits.bytes().map(|digit| f32::from(digit - b'0')));
        words.extend(label.map(str::to_owned));
        rows += 1;
        if ![0, rows].contains(&words.len()) {
            let (expected, found) = if label.is_some() { ("no label", "one") } else { ("a label", "none") };
            return Err(wrong(format!("{expected}, as in the lines before"), found.to_owned()));
        }
    }
    let labeled = !words.is_empty() && label != LabelColumn::None;
    let table = Table { numbers: Numbers::F32(numbers), rows: Rows::Even(length) };
    let labels = labeled.then_some((words, TargetOrigin::Words));
    Ok(layers("bits", Extent::Vector(length), table, labels, None))
}

/// A table that is being read.
struct Reader<'a> {
    path: &'a Path,
    label: LabelColumn<'a>,
    columns: usize,
    /// The names of the columns, if there is a header.
    names: Option<Vec<String>>,
    first: u64,
    label_at: Option<usize>,
    /// The name of the labels, if the other names are numbers.
    label_name: Option<String>,
    id_at: Option<usize>,
    numbers: Vec<f64>,
    /// Where each row ends in `numbers`.
    ends: Vec<usize>,
    words: Vec<String>,
    ids: Vec<String>,
    /// Whether the last column may turn out to be labels, and the numbers of its words and its integers.
    undecided: bool,
    wordy: usize,
    whole: usize,
    /// The first row with another number of columns than the first, and that number.
    odd: Option<(u64, usize)>,
    /// The first row whose last field is no number, and that field.
    word: Option<(u64, String)>,
    /// What is wrong with the first number of the last column that f64 does not hold.
    lost: Option<Error>,
}

impl<'a> Reader<'a> {
    fn open(path: &'a Path, first: &str, label: LabelColumn<'a>) -> Result<Self> {
        let separator = separator(first);
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator.unwrap_or(b' '))
            .from_path(path)
            .map_err(|error| wrong_csv(path, error))?;
        let mut made = Self {
            path,
            label,
            columns: 0,
            names: None,
            first: 0,
            label_at: None,
            label_name: None,
            id_at: None,
            numbers: Vec::new(),
            ends: Vec::new(),
            words: Vec::new(),
            ids: Vec::new(),
            undecided: false,
            wordy: 0,
            whole: 0,
            odd: None,
            word: None,
            lost: None,
        };
        let mut record = StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| wrong_csv(path, error))? {
            let line = record.position().map_or(0, csv::Position::line);
            // White space separates fields however much of it there is.
            let fields: Vec<&str> =
                record.iter().map(str::trim).filter(|field| separator.is_some() || !field.is_empty()).collect();
            if fields.iter().all(|field| field.is_empty()) {
                continue;
            }
            if made.columns == 0 && made.begin(line, &fields)? {
                continue;
            }
            made.row(line, &fields)?;
        }
        Ok(made)
    }

    fn wrong(&self, line: u64, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::parse(self.path, (line > 0).then_some(line), expected, found)
    }

    /// Returns the error of a field whose number f64 does not hold.
    fn lost(&self, line: u64, at: usize, expected: &str, field: &str) -> Error {
        let name = self.names.as_ref().and_then(|names| names.get(at)).filter(|name| !name.is_empty());
        let column = name.map_or_else(|| (at + 1).to_string(), |name| format!("`{name}`"));
        self.wrong(line, expected, format!("{field} in column {column}"))
    }

    /// Finds the roles of the columns. Returns whether the first row is a header.
    fn begin(&mut self, line: u64, fields: &[&str]) -> Result<bool> {
        let last = fields.len() - 1;
        (self.columns, self.first) = (fields.len(), line);
        let named = |names: &[&str]| fields.iter().position(|field| names.contains(field));
        let mut header = is_header(fields);
        match self.label {
            LabelColumn::Named(name) => {
                // Numbers are a sample, not names, even if one of them is the wanted name.
                let numbers = fields.iter().all(|field| field.parse::<f64>().is_ok());
                header = !numbers;
                self.label_at = named(&[name]).filter(|_| header);
                if self.label_at.is_none() {
                    let found = match numbers {
                        true => "a first row of numbers, so no column has a name".to_owned(),
                        false => format!("the columns {}", fields.join(", ")),
                    };
                    return Err(self.wrong(line, format!("a column named {name}"), found));
                }
            }
            LabelColumn::Last if last == 0 => {
                return Err(self.wrong(line, "columns of numbers and a label", "1 column"));
            }
            LabelColumn::Last => self.label_at = Some(last),
            LabelColumn::Auto => {
                self.label_at = named(&TARGETS).or(named(&["class"])).filter(|_| header);
                self.undecided = self.label_at.is_none();
            }
            LabelColumn::None => {}
        }
        if header {
            self.id_at = named(&IDS).filter(|&at| Some(at) != self.label_at);
            self.names = Some(fields.iter().map(|&field| field.to_owned()).collect());
        }
        self.undecided &= self.id_at != Some(last) && last > usize::from(self.id_at.is_some());
        if self.columns == usize::from(self.label_at.is_some()) + usize::from(self.id_at.is_some()) {
            return Err(self.wrong(line, "columns of numbers", format!("the columns {}", fields.join(", "))));
        }
        Ok(header)
    }

    fn row(&mut self, line: u64, fields: &[&str]) -> Result<()> {
        if fields.len() != self.columns {
            if self.names.is_some() || self.label_at.is_some() {
                let expected = format!("{} columns, as in the first row", self.columns);
                return Err(self.wrong(line, expected, fields.len().to_string()));
            }
            self.odd.get_or_insert((line, fields.len()));
        }
        for (at, &field) in fields.iter().enumerate() {
            if Some(at) == self.label_at {
                if field.is_empty() {
                    return Err(self.wrong(line, "a label", "an empty field"));
                }
                self.words.push(field.to_owned());
                continue;
            }
            if Some(at) == self.id_at {
                self.ids.push(field.to_owned());
                continue;
            }
            let (number, lost) = match Field::of(field) {
                Field::Word => (None, None),
                Field::Number(number) => (Some(number), None),
                Field::Lost(expected) => (Some(f64::NAN), Some(self.lost(line, at, expected, field))),
            };
            if self.undecided && at + 1 == fields.len() && !field.is_empty() {
                self.wordy += usize::from(number.is_none());
                self.whole += usize::from(field.parse::<i64>().is_ok());
                if number.is_none() && self.word.is_none() {
                    self.word = Some((line, field.to_owned()));
                }
                self.words.push(field.to_owned());
                self.numbers.push(number.unwrap_or(f64::NAN));
                // The column may turn out to be labels, which need not be numbers.
                self.lost = self.lost.take().or(lost);
                continue;
            }
            if let Some(lost) = lost {
                return Err(lost);
            }
            let Some(number) = number else {
                let expected = match field.is_empty() {
                    true => "a number, or nan if it is missing",
                    false if line == self.first => "a number, or a header without any number",
                    false => "a number",
                };
                return Err(self.wrong(line, expected, format!("{field:?}")));
            };
            self.numbers.push(number);
        }
        self.ends.push(self.numbers.len());
        Ok(())
    }

    fn finish(mut self) -> Result<Layers> {
        if self.ends.is_empty() {
            return Err(self.wrong(0, "at least one sample", "none"));
        }
        if self.undecided {
            // Numbers as names of the columns, with a word as the name of the labels.
            let named = self.wordy == 1 && self.ends.len() > 1 && self.odd.is_none();
            let named = named && self.word.as_ref().is_some_and(|(line, _)| *line == self.first);
            let mut name = None;
            if named {
                self.numbers.drain(..self.ends.remove(0));
                (self.word, self.wordy) = (None, 0);
                name = Some(self.words.remove(0));
            }
            let rows = self.ends.len();
            let classes = || self.words.iter().collect::<BTreeSet<_>>().len();
            let labeled =
                named || self.wordy == rows || self.whole == rows && self.odd.is_none() && 2 * classes() <= rows;
            match (&self.word, &self.odd) {
                (Some((line, word)), _) if !labeled => {
                    let expected = "a number, or words as labels in all rows";
                    return Err(self.wrong(*line, expected, format!("{word:?}")));
                }
                (Some(_), Some((line, columns))) => {
                    let expected = format!("{} columns, as in the first row", self.columns);
                    return Err(self.wrong(*line, expected, columns.to_string()));
                }
                _ => {}
            }
            if labeled {
                let (width, mut at) = (self.columns - usize::from(self.id_at.is_some()), 0);
                self.numbers.retain(|_| {
                    at += 1;
                    at % width != 0
                });
                self.label_at = Some(self.columns - 1);
                self.label_name = name;
            } else if let Some(lost) = self.lost {
                return Err(lost);
            } else {
                self.words.clear();
            }
        }
        let special = usize::from(self.label_at.is_some()) + usize::from(self.id_at.is_some());
        let (rows, extent) = if self.odd.is_none() {
            let length = self.columns - special;
            (Rows::Even(length), Extent::Vector(length))
        } else {
            let offsets: Vec<usize> = std::iter::once(0).chain(self.ends).collect();
            let longest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
            (Rows::Ragged(offsets), Extent::Ragged { longest })
        };
        let name = |at: usize| self.label_name.or_else(|| Some(self.names.as_ref()?.get(at)?.clone()));
        let origin = self.label_at.map(|place| TargetOrigin::Column { place, name: name(place) });
        let labels = origin.map(|origin| (self.words, origin));
        let ids = self.id_at.map(|_| self.ids);
        let table = Table { numbers: Numbers::F64(self.numbers), rows };
        Ok(layers("values", extent, table, labels, ids))
    }
}
