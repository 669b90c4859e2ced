//! What parts the fields of an edge list. A line alone does not always tell; then the whole file does.

use super::edge_data::edge_data;
use super::lines::{Lines, natural};
use crate::error::{Error, Result};
use csv::StringRecord;
use std::path::Path;

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    White,
    Tab,
    Comma,
    Semicolon,
}

/// The places of two ids and a weight, where no header says otherwise.
pub(super) const IN_ORDER: [usize; 3] = [0, 1, 2];

impl Separator {
    /// What a line alone suggests: a comma wherever there is one.
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

/// Whether a line has no edge on it, nor anything else that is read.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(['#', '%'])
}

/// The fields at these places, nothing where there is none, and how many fields there are.
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

/// All fields.
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
        // Reading from memory fails at nothing; a quote that is left open ends with the line.
        if let Ok(true) = reader.read_record(unquoted) {
            return unquoted.iter().map(str::trim).for_each(take);
        }
    }
    line.split(char::from(mark)).map(str::trim).for_each(take);
}

/// Whether more than one separator may part the line's fields.
pub(super) fn is_doubtful(line: &str) -> bool {
    let ids = ids_of(line);
    let parted_alike = || ids.split('\t').map(str::trim).eq(ids.split_ascii_whitespace());
    ids.contains(';') || (ids.trim().contains('\t') && (ids.contains(',') || !parted_alike()))
}

/// The line without a dictionary, which has separators of its own.
fn ids_of(line: &str) -> &str {
    edge_data(line.trim_end()).map_or(line, |(ids, _)| ids)
}

/// What parts the fields of every line, where semicolons or tabs may; none where each line tells for itself.
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
    /// Whether every line has it between fields.
    everywhere: bool,
    /// Whether every line so becomes two ids, or two ids and a number.
    fits: bool,
    /// Whether both ids of every line have a semicolon within.
    holds: bool,
    /// How many fields a line has, 0 before the first.
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
        // A tab beside a comma is white space, which may be there.
        let beside = |part: &str| part.starts_with(',') || part.ends_with(',');
        self.everywhere &= match self.separator {
            Separator::Tab => line.trim().contains('\t') && !line.split('\t').any(|part| beside(part.trim())),
            // A quote that is left was closed by another separator.
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

/// What the lines so far say of their separator.
struct Survey {
    lines: u64,
    semicolon: Candidate,
    tab: Candidate,
    comma: Candidate,
    white: Candidate,
    /// Whether white space stands between tabs.
    spaced: bool,
    /// Whether white space parts every line into numbers; and whether it does those without white space between tabs, once there is one.
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

    /// Whether more lines may tell more.
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

    /// The separator; as an error, two of which either may be it.
    fn settle(&self) -> Result<Option<Separator>, [Separator; 2]> {
        let Self { semicolon, tab, comma, white, .. } = self;
        let fits = |candidate: &Candidate| candidate.fits && !(candidate.named && self.lines == 1);
        if self.lines == 0 || !self.is_open() {
            return Ok(None);
        }
        if semicolon.everywhere {
            // Ids may have semicolons in them, if both have.
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
        // Numbers have no spaces in them: among numbers, a space parts fields as a tab does.
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

/// A number with a decimal comma, with a point in its place.
pub(super) fn decimal(field: &str) -> Option<String> {
    let point = field.replacen(',', ".", 1);
    (!field.contains('.') && point.parse::<f64>().is_ok()).then_some(point)
}
