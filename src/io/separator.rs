//! Finds what separates the fields of an edge list. A line alone does not always show it; then the whole file does.

use super::edge_data::edge_data;
use super::lines::{Lines, natural};
use crate::error::{Error, Result};
use csv::StringRecord;
use std::path::Path;

/// A separator between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    White,
    Tab,
    Comma,
    Semicolon,
}

/// The indices of two ids and a weight, unless a header says otherwise.
pub(super) const IN_ORDER: [usize; 3] = [0, 1, 2];

impl Separator {
    /// Returns the separator that a line alone suggests: a comma wherever there is one.
    pub(super) fn of(line: &str) -> Self {
        if line.contains(',') { Self::Comma } else { Self::White }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::White => "white space",
            Self::Tab => "tabs",
            Self::Comma => "commas",
            Self::Semicolon => "semicolons",
        }
    }
}

/// Returns whether a line has no edge on it, nor anything else that is read.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(['#', '%'])
}

/// Returns the fields at the indices `places`, empty where there is none, and the number of fields.
pub(super) fn split<'a>(
    line: &'a str,
    separator: Separator,
    places: [usize; 3],
    unquoted: &'a mut StringRecord,
) -> ([&'a str; 3], usize) {
    let (mut parts, mut count) = ([""; 3], 0);
    each(line, separator, unquoted, |field| {
        for (part, place) in parts.iter_mut().zip(places) {
            if place == count {
                *part = field;
            }
        }
        count += 1;
    });
    (parts, count)
}

/// Returns all fields.
pub(super) fn fields(line: &str, separator: Separator) -> Vec<String> {
    let mut all = Vec::new();
    each(line, separator, &mut StringRecord::new(), |field| all.push(field.to_owned()));
    all
}

fn each<'a>(line: &'a str, separator: Separator, unquoted: &'a mut StringRecord, take: impl FnMut(&'a str)) {
    let mark = match separator {
        Separator::White => return line.split_ascii_whitespace().for_each(take),
        Separator::Tab => return line.split('\t').map(str::trim).for_each(take),
        Separator::Comma => b',',
        Separator::Semicolon => b';',
    };
    if line.contains('"') {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(mark).from_reader(line.as_bytes());
        // Reading from memory cannot fail; a quote that is left open ends with the line.
        if let Ok(true) = reader.read_record(unquoted) {
            return unquoted.iter().map(str::trim).for_each(take);
        }
    }
    line.split(char::from(mark)).map(str::trim).for_each(take);
}

/// Returns whether more than one separator is possible for the line.
pub(super) fn is_doubtful(line: &str) -> bool {
    let ids = ids_of(line);
    let parted_alike = || ids.split('\t').map(str::trim).eq(ids.split_ascii_whitespace());
    ids.contains(';') || (ids.trim().contains('\t') && (ids.contains(',') || !parted_alike()))
}

/// Returns the line without a dictionary, which has its own separators.
fn ids_of(line: &str) -> &str {
    edge_data(line.trim_end()).map_or(line, |(ids, _)| ids)
}

/// Returns the separator of every line, if semicolons or tabs may be it; `None` if each line shows its own.
pub(super) fn find(path: &Path) -> Result<Option<Separator>> {
    let mut lines = Lines::open(path)?;
    let (mut survey, mut unquoted) = (Survey::new(), StringRecord::new());
    let (mut first, mut at) = (true, None);
    while survey.is_open() && lines.advance()? {
        let line = lines.text()?;
        if is_comment(line) {
            continue;
        }
        // A header of counts may have another separator than the edges.
        let counts = line.split_ascii_whitespace().all(|field| natural(field.as_bytes()).is_some());
        if !(first && counts) {
            survey.see(ids_of(line), &mut unquoted);
            at = at.or(Some(lines.at()));
        }
        first = false;
    }
    survey.settle().map_err(|[one, other]| {
        let found = format!(
            "fields that {} part as well as {}; part them by commas, and put ids that have one in quotes",
            one.plural(),
            other.plural()
        );
        Error::parse(path, at, "fields whose separator is certain", found)
    })
}

/// What a separator makes of the lines.
struct Candidate {
    separator: Separator,
    /// Whether every line has the separator between fields.
    everywhere: bool,
    /// Whether it splits every line into two ids, or two ids and a number.
    fits: bool,
    /// Whether both ids of every line contain a semicolon.
    holds: bool,
    /// The number of fields of a line; 0 before the first.
    columns: usize,
    /// Whether the first line has three words, which fit only as a header.
    named: bool,
}

impl Candidate {
    fn new(separator: Separator) -> Self {
        Self { separator, everywhere: true, fits: true, holds: true, columns: 0, named: false }
    }

    fn see(&mut self, line: &str, first: bool, unquoted: &mut StringRecord) {
        let (parts, columns) = split(line, self.separator, IN_ORDER, unquoted);
        let present = &parts[..columns.min(3)];
        // A tab next to a comma is white space, which is allowed there.
        let at_comma = |part: &str| part.starts_with(',') || part.ends_with(',');
        self.everywhere &= match self.separator {
            Separator::Tab => line.trim().contains('\t') && !line.split('\t').any(|part| at_comma(part.trim())),
            // A quote that remains belongs to the fields of another separator.
            Separator::Comma | Separator::Semicolon => columns > 1 && !present.iter().any(|part| part.contains('"')),
            Separator::White => columns > 1,
        };
        self.named |= first && columns == 3 && !present.iter().any(|part| is_number(part));
        let third = columns == 2 || (first && self.named) || is_number(parts[2]);
        let same = self.columns == 0 || self.columns == columns;
        self.fits &= self.everywhere
            && (2..=3).contains(&columns)
            && same
            && third
            && !parts[0].is_empty()
            && !parts[1].is_empty();
        self.holds &= parts[..2].iter().all(|part| part.trim_matches(';').contains(';'));
        // A header of counts may have fewer fields than the edges.
        if !(first && present.iter().all(|part| natural(part.as_bytes()).is_some())) {
            self.columns = columns;
        }
    }
}

/// What the lines so far show about their separator.
struct Survey {
    lines: u64,
    semicolon: Candidate,
    tab: Candidate,
    comma: Candidate,
    white: Candidate,
    /// Whether a field between tabs contains a space.
    spaced: bool,
    /// Whether white space splits every line into numbers; `plain_numbers` is the same for the lines without a space
    /// between tabs, once there is one.
    numbers: bool,
    plain_numbers: Option<bool>,
}

impl Survey {
    fn new() -> Self {
        Self {
            lines: 0,
            semicolon: Candidate::new(Separator::Semicolon),
            tab: Candidate::new(Separator::Tab),
            comma: Candidate::new(Separator::Comma),
            white: Candidate::new(Separator::White),
            spaced: false,
            numbers: true,
            plain_numbers: None,
        }
    }

    /// Returns whether more lines may decide more.
    fn is_open(&self) -> bool {
        self.semicolon.everywhere || self.tab.everywhere
    }

    fn see(&mut self, line: &str, unquoted: &mut StringRecord) {
        let first = self.lines == 0;
        self.lines += 1;
        for candidate in [&mut self.semicolon, &mut self.tab, &mut self.comma, &mut self.white] {
            candidate.see(line, first, unquoted);
        }
        // A first line of words may be a header.
        if first && !line.split_ascii_whitespace().any(is_number) {
            return;
        }
        let numbers = line.split_ascii_whitespace().all(is_number);
        let spaced = line.split('\t').any(|field| field.trim().contains(' '));
        self.numbers &= numbers;
        self.spaced |= spaced;
        if !spaced {
            self.plain_numbers = Some(self.plain_numbers.unwrap_or(true) && numbers);
        }
    }

    /// Returns the separator; as an error, two that are equally possible.
    fn settle(&self) -> Result<Option<Separator>, [Separator; 2]> {
        let Self { semicolon, tab, comma, white, .. } = self;
        let fits = |candidate: &Candidate| candidate.fits && !(candidate.named && self.lines == 1);
        if self.lines == 0 || !self.is_open() {
            return Ok(None);
        }
        if semicolon.everywhere {
            // Ids may contain semicolons if both do.
            let rival = [comma, tab, white].into_iter().find(|rival| fits(rival) && rival.holds);
            return match rival {
                Some(rival) if fits(semicolon) => Err([semicolon.separator, rival.separator]),
                Some(rival) => Ok(Some(rival.separator)),
                None => Ok(Some(semicolon.separator)),
            };
        }
        if fits(comma) {
            return if fits(tab) { Err([tab.separator, comma.separator]) } else { Ok(Some(comma.separator)) };
        }
        // Numbers contain no spaces: among numbers, a space separates fields as a tab does.
        if self.spaced && (self.numbers || self.plain_numbers == Some(true)) {
            return Ok(Some(white.separator));
        }
        match fits(white) {
            true if self.spaced && fits(tab) => Err([tab.separator, white.separator]),
            true => Ok(Some(white.separator)),
            false => Ok(Some(tab.separator)),
        }
    }
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok() || (field.contains(',') && decimal(field).is_some())
}

/// Returns a number with its decimal comma replaced by a point.
pub(super) fn decimal(field: &str) -> Option<String> {
    let point = field.replacen(',', ".", 1);
    (!field.contains('.') && point.parse::<f64>().is_ok()).then_some(point)
}
