//! The lines of an edge list that are edges, and what its first line may be instead.

use super::lines::{Lines, natural};
use super::opening::Opening;
use crate::error::{Error, Result};
use std::path::Path;

/// Header lines of two columns that are told from an edge by their words alone.
const HEADERS: [(&str, &str); 4] = [("source", "target"), ("src", "dst"), ("from", "to"), ("fromnodeid", "tonodeid")];

/// The lines that are edges.
pub(super) struct Rows {
    pub(super) lines: Lines,
    form: Form,
    /// How many rows there were.
    count: usize,
    /// Whether a header of words was passed over, and how many columns it says there are, where its words alone would not tell it.
    header: Option<usize>,
    /// The first line that is neither a comment nor a header of words; it is a row too unless it is `skipped`.
    pub(super) opening: Option<Opening>,
    /// Whether the first line is known to be no edge.
    skip: bool,
    /// Fields of a line with quotes, without them.
    unquoted: csv::StringRecord,
}

/// What the fields of a line are.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Form {
    comma: bool,
    /// 2 or 3; 0 before the first edge.
    pub(super) columns: usize,
    /// Whether the third is a dictionary, `{}` or `{'weight': 3.0}`, as networkx writes it.
    pub(super) data: bool,
}

pub(super) struct Row<'a> {
    pub(super) source: &'a str,
    pub(super) target: &'a str,
    pub(super) weight: Option<f32>,
    /// Whether it is the first, and no header came before.
    pub(super) first: bool,
    pub(super) line: u64,
}

impl Rows {
    /// All lines; `skip` leaves out the first one, which is known to be a header of numbers.
    pub(super) fn open(path: &Path, skip: bool) -> Result<Self> {
        let (lines, unquoted) = (Lines::open(path)?, csv::StringRecord::new());
        let form = Form { comma: false, columns: 0, data: false };
        Ok(Self { lines, form, count: 0, header: None, opening: None, skip, unquoted })
    }

    pub(super) fn advance(&mut self) -> Result<Option<Row<'_>>> {
        loop {
            if !self.lines.advance()? {
                return Ok(None);
            }
            let line = self.lines.text()?.trim();
            if line.is_empty() || line.starts_with(['#', '%']) {
                continue;
            }
            if self.form.columns == 0 {
                let (parts, form) = split(line, None, &mut self.unquoted);
                if self.header.is_none() && !form.data {
                    let header = if is_known(parts) { Some(0) } else { is_header(parts, form).then_some(form.columns) };
                    if header.is_some() {
                        self.header = header;
                        continue;
                    }
                }
                if self.header.is_none() && self.opening.is_none() {
                    let opening = Opening::new(self.lines.at(), line, parts, form);
                    let alone = opening.is_lone();
                    self.opening = Some(opening);
                    // A number alone is no edge; whether it is a count, what follows will show.
                    if alone || self.skip {
                        continue;
                    }
                }
            } else if self.count == 1 {
                self.second();
            }
            break;
        }
        let first = self.count == 0 && self.header.is_none() && self.opening.as_ref().is_some_and(|o| !o.is_lone());
        let first = first && !self.skip;
        let fixed = (self.form.columns > 0).then_some(self.form.comma);
        let (parts, form) = split(self.lines.text()?.trim(), fixed, &mut self.unquoted);
        // A line of three words names three columns of what follows.
        let named = self.form.columns == 0 && !form.comma && self.header == Some(3);
        let wanted = if named { Form { columns: 3, ..form } } else { self.form };
        let fits = match wanted.columns {
            0 => (2..=3).contains(&form.columns),
            columns => (form.columns, form.data) == (columns, wanted.data),
        };
        if !fits || parts[0].is_empty() || parts[1].is_empty() {
            return Err(misfit(&self.lines, wanted));
        }
        self.form = form;
        self.count += 1;
        let weight = match (form.columns, form.data) {
            (3, false) => Some(self.lines.weight(parts[2].as_bytes())?),
            (3, true) => dictionary(&self.lines, parts[2])?,
            _ => None,
        };
        Ok(Some(Row { source: parts[0], target: parts[1], weight, first, line: self.lines.at() }))
    }

    /// Where the second row has another form than a first one of numbers, that one can only be a header: whether it is will show.
    fn second(&mut self) {
        let Ok(line) = self.lines.text() else { return };
        let (parts, form) = split(line.trim(), None, &mut self.unquoted);
        let (same, edge) = (form == self.form, (2..=3).contains(&form.columns));
        // A comma may be part of an id, but not of a number.
        let parted = form.comma == self.form.comma || parts[..2].iter().all(|part| natural(part.as_bytes()).is_some());
        let error = misfit(&self.lines, self.form);
        if let Some(opening) = self.opening.as_mut().filter(|opening| opening.may_be_header())
            && !same
            && edge
            && parted
        {
            opening.misfit = Some(error);
            self.form = form;
        }
    }

    /// That there is no edge.
    pub(super) fn nothing(&self) -> Error {
        match &self.opening {
            Some(opening) if self.count == 0 => opening.alone(&self.lines),
            _ => self.lines.error("at least one edge", "none before the end"),
        }
    }
}

/// That the current line has other fields than the lines of this form.
fn misfit(lines: &Lines, form: Form) -> Error {
    lines.unexpected(match (form.columns, form.data) {
        (0, _) => "two ids and perhaps a weight, parted by white space or commas",
        (2, _) => "two ids, as in the lines before",
        (_, false) => "two ids and a weight, as in the lines before",
        (_, true) => "two ids and edge data as networkx writes it, as in the lines before",
    })
}

/// The first three fields, how many there are, and what parts them, unless that is known: a comma wherever there is one.
fn split<'a>(line: &'a str, comma: Option<bool>, unquoted: &'a mut csv::StringRecord) -> ([&'a str; 3], Form) {
    if let Some((ids, data)) = edge_data(line) {
        let comma = comma.unwrap_or(ids.contains(','));
        if split_plain(ids, comma, unquoted).1 == 2 {
            let ([source, target, _], _) = split_plain(ids, comma, unquoted);
            return ([source, target, data], Form { comma, columns: 3, data: true });
        }
    }
    let comma = comma.unwrap_or(line.contains(','));
    let (parts, columns) = split_plain(line, comma, unquoted);
    (parts, Form { comma, columns, data: false })
}

fn split_plain<'a>(line: &'a str, comma: bool, unquoted: &'a mut csv::StringRecord) -> ([&'a str; 3], usize) {
    if !comma {
        return first_three(line.split_ascii_whitespace());
    }
    if line.contains('"') {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        // Reading from memory fails at nothing; a quote that is left open ends with the line.
        if let Ok(true) = reader.read_record(unquoted) {
            return first_three(unquoted.iter().map(str::trim));
        }
    }
    first_three(line.split(',').map(str::trim))
}

fn first_three<'a>(all: impl Iterator<Item = &'a str>) -> ([&'a str; 3], usize) {
    let (mut parts, mut count) = ([""; 3], 0);
    for field in all {
        if let Some(part) = parts.get_mut(count) {
            *part = field;
        }
        count += 1;
    }
    (parts, count)
}

/// What stands before a dictionary at the end of a line, and the dictionary.
fn edge_data(line: &str) -> Option<(&str, &str)> {
    if !line.ends_with('}') {
        return None;
    }
    let (ids, data) = line.split_at(line.find('{')?);
    let parted = ids.ends_with(|c: char| c == ',' || c.is_ascii_whitespace());
    parted.then(|| (ids.trim_end().trim_end_matches(',').trim_end(), data))
}

/// The weight in a dictionary as Python writes it; none in an empty one.
fn dictionary(lines: &Lines, data: &str) -> Result<Option<f32>> {
    let inner = data.trim_start_matches('{').trim_end_matches('}').trim();
    if inner.is_empty() {
        return Ok(None);
    }
    match inner.split_once(':') {
        Some((key, value)) if matches!(key.trim(), "'weight'" | "\"weight\"") && !value.contains([',', ':', '{']) => {
            lines.weight(value.trim().as_bytes()).map(Some)
        }
        _ => {
            let expected = "edge data of a weight alone, {'weight': 3.0}, or none, {}";
            let found = format!(
                "the edge data {data}, as networkx.write_edgelist writes them; with data=['weight'] it writes weights alone, with \
                 data=False no data"
            );
            Err(lines.error(expected, found))
        }
    }
}

/// Whether the first two words are known to name columns.
fn is_known(parts: [&str; 3]) -> bool {
    let is = |field: &str, word| field.eq_ignore_ascii_case(word);
    HEADERS.iter().any(|(source, target)| is(parts[0], source) && is(parts[1], target))
}

/// Whether words name columns: three of them where the third should be a weight.
fn is_header(parts: [&str; 3], form: Form) -> bool {
    form.columns == 3 && parts.iter().all(|field| !field.is_empty() && field.parse::<f64>().is_err())
}
