//! Reads the edges of an edge list, one per line, and decides whether its first line may be something other than an
//! edge.

use super::edge_data::{self, edge_data};
use super::header::{self, Header, NO_COLUMN, Words};
use super::lines::{Lines, natural, quoted};
use super::opening::{Opening, count, integer};
use super::separator::{self, IN_ORDER, Separator, decimal, is_comment};
use super::source::Source;
use crate::error::{Error, Result};
use csv::StringRecord;
use std::borrow::Cow;

/// What errors say about the expected form of a row.
pub(super) const A_ROW: &str = "two ids and perhaps a weight, parted by white space, commas or semicolons";

/// What is known about an edge list before it is read.
#[derive(Clone, Copy, Default)]
pub(super) struct Layout {
    /// Whether the first line is a header of counts.
    pub(super) headed: bool,
    /// The separator of the fields; `None` if the separator is detected from the lines.
    pub(super) separator: Option<Separator>,
}

/// A reader of the rows of an edge list: the lines that are edges.
pub(super) struct Rows {
    source: Source,
    pub(super) lines: Lines,
    form: Form,
    /// The number of rows that have been read.
    count: usize,
    /// The header of words, if there is one. `notice` lists the columns that are not read.
    header: Option<Header>,
    pub(super) notice: Option<String>,
    /// The names in a header of words until the first row is read.
    names: Option<Names>,
    /// The name of the column of the weights in such a header.
    weights_name: Option<String>,
    /// The number of comments after a header of words or an edge that have the form of an edge, the first one's line,
    /// and the marks that they begin with.
    like_edges: (u64, u64, &'static str),
    /// What the first line says about the columns if it is a header. It is a header if the next row contains numbers.
    pending: Option<Result<Header, String>>,
    /// The first line that is neither a comment nor a header of words. This line is also returned as a row, unless it
    /// is a single number or the layout says that it is a header of counts.
    pub(super) opening: Option<Opening>,
    layout: Layout,
    /// Whether the whole file has been searched to determine its separator.
    surveyed: bool,
    /// The fields of a line that contains quotes, with the quotes removed.
    unquoted: StringRecord,
}

/// The names of the columns in a header of words.
struct Names {
    line: u64,
    fields: Vec<String>,
    /// Whether they name the columns of both ids.
    both: bool,
}

/// The form of a line: how it is divided into fields.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Form {
    separator: Separator,
    /// The number of fields in each line; 0 before the first edge is read.
    pub(super) columns: usize,
    /// Whether the third field is a dictionary as networkx writes it, such as `{}` or `{'weight': 3.0}`.
    pub(super) data: bool,
}

pub(super) struct Row<'a> {
    pub(super) source: &'a str,
    pub(super) target: &'a str,
    pub(super) weight: Option<f64>,
    /// Whether this is the first row of a file without a header.
    pub(super) first: bool,
    pub(super) line: u64,
}

impl Rows {
    pub(super) fn open(source: &Source, layout: Layout) -> Result<Self> {
        Ok(Self {
            source: source.clone(),
            lines: Lines::open(source)?,
            form: Form { separator: Separator::White, columns: 0, data: false },
            count: 0,
            header: None,
            notice: None,
            names: None,
            weights_name: None,
            like_edges: (0, 0, ""),
            pending: None,
            opening: None,
            layout,
            surveyed: layout.separator.is_some(),
            unquoted: StringRecord::new(),
        })
    }

    pub(super) fn advance(&mut self) -> Result<Option<Row<'_>>> {
        loop {
            if !self.lines.advance()? {
                return Ok(None);
            }
            if is_comment(self.lines.text()?) {
                self.see_comment()?;
                continue;
            }
            if self.form.columns == 0 && self.is_passed_over()? {
                continue;
            }
            if self.form.columns > 0 && self.count == 1 {
                self.second()?;
            }
            return self.row().map(Some);
        }
    }

    /// Calls `edge` with the ids and the weight of each row that follows, up to the first line that is not plain. Such
    /// a row is the same edge as [`Rows::advance`] finds in it. The first two rows, which show how the others are to
    /// be read, are never plain. If `edge` returns false, ends after this row and returns false.
    pub(super) fn plain(&mut self, mut edge: impl FnMut(u64, u64, Option<f64>) -> bool) -> bool {
        let in_order = !matches!(self.header, Some(Header::Named { .. }));
        if self.count < 2 || self.form.data || !in_order {
            return true;
        }
        let Form { separator, columns, .. } = self.form;
        while let Some((source, target, weight)) = self.lines.plain(|line| line.edge(separator, columns > 2)) {
            self.count += 1;
            if !edge(source, target, weight) {
                return false;
            }
        }
        true
    }

    /// Counts the current line, a comment, if it has the form of an edge whose first id begins with `#` or `%`.
    fn see_comment(&mut self) -> Result<()> {
        let line = self.lines.text()?.trim();
        let (separator, columns) = match (&self.names, self.form.columns) {
            (Some(names), 0) => (self.layout.separator.unwrap_or_else(|| Separator::of(line)), names.fields.len()),
            (_, columns) => (self.form.separator, columns),
        };
        let (mark, marks) = if line.starts_with('#') { ('#', "#") } else { ('%', "%") };
        let id =
            line.strip_prefix(mark).is_some_and(|rest| rest.starts_with(|c: char| c != mark && !c.is_whitespace()));
        if !id || columns == 0 || self.form.data {
            return Ok(());
        }
        let places = places(self.header);
        let (parts, found) = separator::split(line, separator, places, &mut self.unquoted);
        let weighted = columns > 2 && places[2] != NO_COLUMN;
        let ends = !parts[0].is_empty() && !parts[1].is_empty();
        if found == columns && ends && !(weighted && self.names.is_none() && !is_number(parts[2], separator)) {
            self.like_edges = match self.like_edges {
                (0, ..) => (1, self.lines.at(), marks),
                (seen, first, before) => (seen + 1, first, if marks == before { marks } else { "# or %" }),
            };
        }
        Ok(())
    }

    /// Returns the notices about the columns and about comments that may be edges.
    pub(super) fn notices(&mut self) -> Vec<String> {
        let (seen, line, marks) = self.like_edges;
        let comments = (seen > 0).then(|| {
            let commas = match self.form.separator {
                Separator::Comma | Separator::Semicolon => "",
                Separator::White | Separator::Tab => "part the fields by commas and ",
            };
            let taken = match seen {
                1 => format!("begins with {marks} was taken for a comment; if it is an edge"),
                _ => format!("begin with {marks} were taken for comments; if they are edges"),
            };
            let (path, lines) = (self.lines.path().display(), count(seen, "line"));
            format!("{path}:{line}: {lines} that {taken}, {commas}put ids that begin with {marks} in quotes.")
        });
        self.notice.take().into_iter().chain(comments).collect()
    }

    /// Returns whether to skip the current line, because it is a count or a header that consists of words. Called only
    /// before the first row.
    fn is_passed_over(&mut self) -> Result<bool> {
        let separator = self.separator()?;
        let line = trimmed(self.lines.text()?, separator);
        let (parts, form) = split(line, separator, IN_ORDER, &mut self.unquoted);
        let mut named = false;
        if self.header.is_none() && !form.data {
            let fields = separator::fields(line, separator);
            let index = fields.len() > 2 && header::may_be_index(&fields[0]);
            let counts = index && counts_rows(&self.source, separator, self.lines.at())?;
            let words = Words::new(&fields, counts);
            named = words.both && fields.len() == 2;
            if words.certain || named && self.layout.headed {
                let line = self.lines.at();
                self.header = Some(words.header.map_err(|found| contradiction(&self.lines, line, found))?);
                self.names = Some(Names { line, fields, both: words.both });
                return Ok(true);
            }
            // If the line consists of two words, the lines below it show whether it is a header.
            let possible = fields.len() == 2 && words.wordy && self.opening.is_none();
            let telling = !matches!(words.header, Ok(Header::InOrder));
            self.pending = (possible && telling).then_some(words.header);
        }
        if self.header.is_some() || self.opening.is_some() {
            return Ok(false);
        }
        let mut opening = Opening::new(self.lines.at(), line.trim(), parts, form);
        opening.names = named;
        let alone = opening.is_lone();
        self.opening = Some(opening);
        // A single number is not an edge; the lines below it show whether it is a count.
        Ok(alone || self.layout.headed)
    }

    /// Returns the separator of the current line if no earlier row has established it. If the line is ambiguous, the
    /// whole file determines the separator.
    fn separator(&mut self) -> Result<Separator> {
        let line = self.lines.text()?;
        if !self.surveyed && separator::is_doubtful(line) {
            self.surveyed = true;
            self.layout.separator = separator::find(&self.source)?;
        }
        let ids = edge_data(line.trim()).map_or(line, |(ids, _)| ids);
        Ok(self.layout.separator.unwrap_or_else(|| Separator::of(ids)))
    }

    /// Returns the current line as a row.
    fn row(&mut self) -> Result<Row<'_>> {
        let first = self.count == 0 && self.header.is_none() && self.opening.as_ref().is_some_and(|o| !o.is_lone());
        let first = first && !self.layout.headed;
        let separator = if self.form.columns > 0 { self.form.separator } else { self.separator()? };
        let places = places(self.header);
        let line = trimmed(self.lines.text()?, separator);
        let (parts, form) = split(line, separator, places, &mut self.unquoted);
        let wanted = wanted(self.form, self.header, form);
        let fits = match wanted.columns {
            0 => (2..=3).contains(&form.columns),
            columns => (form.columns, form.data) == (columns, wanted.data),
        };
        if !fits || parts[0].is_empty() || parts[1].is_empty() {
            return Err(misfit(&self.lines, self.header, wanted, form));
        }
        self.form = form;
        self.count += 1;
        let mut weighted = form.columns > 2 && places[2] != NO_COLUMN;
        if let Some(names) = self.names.take() {
            if weighted && !form.data && names.lack_weights(places[2], parts[2], separator) {
                let [source, target, _] = places;
                weighted = false;
                self.header = Some(Header::Named { columns: form.columns, places: [source, target, NO_COLUMN] });
            }
            self.notice = self.header.and_then(|header| note(&self.lines, &names, header));
            self.weights_name = names.fields.get(places[2]).cloned();
        }
        let weight = match form.data {
            true => edge_data::weight(&self.lines, parts[2])?,
            false if weighted => Some(weight(&self.lines, parts[2], separator, self.weights_name.as_deref())?),
            false => None,
        };
        Ok(Row { source: parts[0], target: parts[1], weight, first, line: self.lines.at() })
    }

    /// Uses the second row to decide whether the first row was a header.
    fn second(&mut self) -> Result<()> {
        let separator = self.separator()?;
        let line = trimmed(self.lines.text()?, separator);
        let (parts, form) = split(line, separator, IN_ORDER, &mut self.unquoted);
        let numbers = |parts: &[&str]| parts.iter().all(|part| integer(part).is_some());
        if let Some(header) = self.pending.take().filter(|_| numbers(&parts[..2])) {
            let at = self.opening.as_ref().map_or(1, |opening| opening.line);
            self.header = Some(header.map_err(|found| contradiction(&self.lines, at, found))?);
        }
        // If the first row consists of numbers and this row has a different form, the first row can only be a header.
        // The rest of the file decides whether it is a valid one.
        let (same, edge) = (form == self.form, (2..=3).contains(&form.columns));
        // The character of a separator may occur inside a text id, but not inside a number.
        let natural = |part: &&str| natural(part.as_bytes()).is_some();
        let parted = form.separator == self.form.separator || parts[..2].iter().all(natural);
        let error = misfit(&self.lines, None, self.form, form);
        if let Some(opening) = self.opening.as_mut().filter(|opening| opening.may_be_header())
            && !same
            && edge
            && parted
        {
            opening.misfit = Some(error);
            self.form = form;
        }
        Ok(())
    }

    /// Returns the layout with which the file can be read again.
    pub(super) fn layout(&self, headed: bool) -> Layout {
        Layout { headed, ..self.layout }
    }

    /// Returns the error for a file without edges.
    pub(super) fn nothing(&self) -> Error {
        match &self.opening {
            Some(opening) if self.count == 0 => opening.alone(&self.lines),
            _ => self.lines.error("at least one edge", "none before the end"),
        }
    }
}

impl Names {
    /// Returns whether the column at a place has no weights beside two named ends, because its field in the first row,
    /// such as a word, is no number.
    fn lack_weights(&self, place: usize, field: &str, separator: Separator) -> bool {
        let doubtful = |name: &&String| {
            !(name.is_empty() || header::is_named_weight(name) || field.is_empty() && header::is_weight(name))
        };
        self.both && self.fields.get(place).filter(doubtful).is_some() && !is_number(field, separator)
    }
}

/// Returns the indices of the source, the target and the weight in a row.
fn places(header: Option<Header>) -> [usize; 3] {
    match header {
        Some(Header::Named { places, .. }) => places,
        _ => IN_ORDER,
    }
}

/// Returns whether the first column counts the rows, from 0 or 1, that follow the header in a line, and both columns
/// behind it may have ids: a column of numbers has none if one is written as a real number, such as 0.5.
fn counts_rows(source: &Source, separator: Separator, header: u64) -> Result<bool> {
    let (mut lines, mut unquoted) = (Lines::open(source)?, StringRecord::new());
    let mut next = None;
    let (mut numbers, mut reals) = ([true; 2], [false; 2]);
    while lines.advance()? {
        let line = lines.text()?;
        if lines.at() <= header || is_comment(line) {
            continue;
        }
        let (parts, _) = separator::split(trimmed(line, separator), separator, IN_ORDER, &mut unquoted);
        match integer(parts[0]).filter(|&number| next.map_or(number < 2, |next| number == next)) {
            Some(number) => next = Some(number + 1),
            None => return Ok(false),
        }
        for (at, field) in parts[1..].iter().enumerate() {
            let number = is_number(field, separator);
            numbers[at] &= number || field.is_empty();
            reals[at] |= number && !field.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-'));
        }
    }
    Ok(next.is_some() && (0..2).all(|at| !(numbers[at] && reals[at])))
}

/// Returns the line without white space at its ends. If the fields are separated by tabs, tabs at the ends are kept,
/// because the first and the last field may be empty.
fn trimmed(line: &str, separator: Separator) -> &str {
    if separator == Separator::Tab { line.trim_matches(' ') } else { line.trim() }
}

/// Returns the fields at three indices, and the form of the line. For a line that ends with a dictionary, the fields
/// are the two ids and the dictionary.
fn split<'a>(
    line: &'a str,
    separator: Separator,
    places: [usize; 3],
    unquoted: &'a mut StringRecord,
) -> ([&'a str; 3], Form) {
    if let Some((ids, data)) = edge_data(line)
        && separator::split(ids, separator, places, unquoted).1 == 2
    {
        let ([source, target, _], _) = separator::split(ids, separator, places, unquoted);
        return ([source, target, data], Form { separator, columns: 3, data: true });
    }
    let (parts, columns) = separator::split(line, separator, places, unquoted);
    (parts, Form { separator, columns, data: false })
}

/// Returns the form that a row must have. The number of columns in this form is 0 if both two and three are allowed.
fn wanted(before: Form, header: Option<Header>, found: Form) -> Form {
    match header {
        _ if before.columns > 0 => before,
        Some(Header::Named { columns, .. }) => Form { columns, ..found },
        // A header of three words means three columns if white space separates the fields of the rows.
        Some(Header::Three) if matches!(found.separator, Separator::White | Separator::Tab) => {
            Form { columns: 3, ..found }
        }
        _ => before,
    }
}

/// Parses a weight, whose column may have a name.
fn weight(lines: &Lines, field: &str, separator: Separator, name: Option<&str>) -> Result<f64> {
    let found = |field| name.map_or_else(|| quoted(field), |name| format!("{} in column `{name}`", quoted(field)));
    let field = pointed(field, separator);
    lines.weight_or(field.as_bytes(), || found(field.as_bytes()))
}

fn is_number(field: &str, separator: Separator) -> bool {
    pointed(field, separator).parse::<f64>().is_ok()
}

/// Returns a number with a decimal point. The mark may be a comma only if semicolons separate the fields.
fn pointed(field: &str, separator: Separator) -> Cow<'_, str> {
    let point = (separator == Separator::Semicolon && field.contains(',')).then(|| decimal(field)).flatten();
    point.map_or(Cow::Borrowed(field), Cow::Owned)
}

/// Returns the error for the current line, whose form is `found` instead of `wanted`.
fn misfit(lines: &Lines, header: Option<Header>, wanted: Form, found: Form) -> Error {
    let expected = match (header, wanted.columns, wanted.data) {
        (Some(Header::Named { .. }), columns, false) if found.columns != columns => {
            return lines.error(format!("{columns} columns, as the header names them"), found.columns.to_string());
        }
        (_, 0, _) => A_ROW,
        (_, 2, _) => "two ids, as in the lines before",
        (_, _, false) => "two ids and a weight, as in the lines before",
        (_, _, true) => "two ids and edge data as networkx writes it, as in the lines before",
    };
    match lines.text() {
        Ok(line) if found.columns > 3 && wanted.columns != 2 && !wanted.data => {
            let fields = separator::fields(trimmed(line, found.separator), found.separator);
            let fourth = fields.get(3).map_or(String::new(), |field| quoted(field.as_bytes()));
            let advice = "leave it out, or name every column in a first line, such as source,target,weight,time";
            lines.error(expected, format!("a fourth column, {fourth}; {advice}"))
        }
        _ => lines.unexpected(expected),
    }
}

/// Returns the error for column names that contradict each other.
fn contradiction(lines: &Lines, line: u64, found: String) -> Error {
    lines.error_at(line, header::NAMED_ENDS, found)
}

/// Returns the notice that names the columns of the ends and of the weights if their names do not say that they have
/// them, and lists the columns that are not used.
fn note(lines: &Lines, Names { line, fields, .. }: &Names, header: Header) -> Option<String> {
    let (places, unread) = match header {
        Header::Named { places, .. } => (places, header::ignored(fields, &places)),
        Header::InOrder | Header::Three => (IN_ORDER, None),
    };
    let ends = fields.get(places[0]).zip(fields.get(places[1]));
    let ends = ends.and_then(|(source, target)| header::ends_in_order(source, target));
    let doubtful = |name: &&String| !name.is_empty() && !header::is_weight(name);
    let weights = fields.get(places[2]).filter(doubtful);
    let weights = weights.map(|name| format!("the column `{name}` was read as the weights of the edges."));
    let all: Vec<String> = ends.into_iter().chain(weights).chain(unread).collect();
    (!all.is_empty()).then(|| format!("{}:{line}: {}", lines.path().display(), all.join(" ")))
}
