//! Determines the separator of the fields in an edge list. If a single line is ambiguous, the whole file is examined.

use super::edge_data::edge_data;
use super::lines::{Lines, natural};
use super::source::Source;
use crate::error::{Error, Result};
use csv::StringRecord;

/// A separator between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    White,
    Tab,
    Comma,
    Semicolon,
}

/// The indices of the source, the target and the weight if no header states others.
pub(super) const IN_ORDER: [usize; 3] = [0, 1, 2];

impl Separator {
    /// Returns the separator that the line itself suggests: a comma if the line contains one, otherwise white space.
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

/// Returns whether the line is empty or a comment.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(['#', '%'])
}

/// Returns the fields at the indices `places`, and the number of all fields of the line. If the line has no field at
/// an index, the returned field is empty.
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

/// Returns all fields of a line.
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
        // Reading from memory cannot fail; an unclosed quote ends at the end of the line.
        if let Ok(true) = reader.read_record(unquoted) {
            return unquoted.iter().map(str::trim).for_each(take);
        }
    }
    line.split(char::from(mark)).map(str::trim).for_each(take);
}

/// Returns whether the line has more than one possible separator.
pub(super) fn is_doubtful(line: &str) -> bool {
    let ids = ids_of(line);
    let parted_alike = || ids.split('\t').map(str::trim).eq(ids.split_ascii_whitespace());
    ids.contains(';') || (ids.trim().contains('\t') && (ids.contains(',') || !parted_alike()))
}

/// Returns the line without a trailing dictionary, whose punctuation does not separate fields.
fn ids_of(line: &str) -> &str {
    edge_data(line.trim_end()).map_or(line, |(ids, _)| ids)
}

/// Returns the separator that all lines of the file share, if any line has a semicolon or a tab that may separate
/// fields. Otherwise returns `None`: the separator of each line is then evident from that line alone.
pub(super) fn find(source: &Source) -> Result<Option<Separator>> {
    let mut lines = Lines::open(source)?;
    let (mut survey, mut unquoted) = (Survey::new(), StringRecord::new());
    let (mut first, mut at) = (true, None);
    while survey.is_open() && lines.advance()? {
        let line = lines.text()?;
        if is_comment(line) {
            continue;
        }
        // A header of counts may use a different separator than the edges do.
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
        Error::parse(source.name(), at, "fields whose separator is certain", found)
    })
}

/// A possible separator and the result of splitting the lines at it.
struct Candidate {
    separator: Separator,
    /// Whether every line contains the separator between two fields.
    everywhere: bool,
    /// Whether the separator splits every line into two ids, or into two ids and a number.
    fits: bool,
    /// Whether both ids of every line contain a semicolon between other characters.
    holds: bool,
    /// The number of fields in each line; 0 before the first line.
    columns: usize,
    /// Whether the first line has three fields that are not numbers, so that it can only be a header.
    named: bool,
}

impl Candidate {
    fn new(separator: Separator) -> Self {
        Self { separator, everywhere: true, fits: true, holds: true, columns: 0, named: false }
    }

    fn see(&mut self, line: &str, first: bool, unquoted: &mut StringRecord) {
        let (parts, columns) = split(line, self.separator, IN_ORDER, unquoted);
        let present = &parts[..columns.min(3)];
        // A tab next to a comma does not separate fields: it is white space, which is allowed there.
        let at_comma = |part: &str| part.starts_with(',') || part.ends_with(',');
        self.everywhere &= match self.separator {
            Separator::Tab => line.trim().contains('\t') && !line.split('\t').any(|part| at_comma(part.trim())),
            // If a field still contains a quote, the quoted field was cut apart, so the line has a different separator.
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
        // A header of counts may have fewer fields than the edges do.
        if !(first && present.iter().all(|part| natural(part.as_bytes()).is_some())) {
            self.columns = columns;
        }
    }
}

/// What the lines that have been read so far show about their separator.
struct Survey {
    lines: u64,
    semicolon: Candidate,
    tab: Candidate,
    comma: Candidate,
    white: Candidate,
    /// Whether any tab-separated field contains a space.
    spaced: bool,
    /// Whether all fields of all lines are numbers if the lines are split at white space. `plain_numbers` says the same
    /// for only those lines whose tab-separated fields contain no space; it is `None` if there is no such line.
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

    /// Returns whether further lines can still affect the result.
    fn is_open(&self) -> bool {
        self.semicolon.everywhere || self.tab.everywhere
    }

    fn see(&mut self, line: &str, unquoted: &mut StringRecord) {
        let first = self.lines == 0;
        self.lines += 1;
        for candidate in [&mut self.semicolon, &mut self.tab, &mut self.comma, &mut self.white] {
            candidate.see(line, first, unquoted);
        }
        // A first line of words may be a header, so its fields are not examined further.
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

    /// Returns the separator. The error contains two separators that are equally possible.
    fn settle(&self) -> Result<Option<Separator>, [Separator; 2]> {
        let Self { semicolon, tab, comma, white, .. } = self;
        let fits = |candidate: &Candidate| candidate.fits && !(candidate.named && self.lines == 1);
        if self.lines == 0 || !self.is_open() {
            return Ok(None);
        }
        if semicolon.everywhere {
            // Semicolons may be part of the ids if both ids of every line contain a semicolon.
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
        // Numbers contain no spaces, so if all fields are numbers, a space separates two fields as a tab does.
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

/// Replaces the decimal comma of a number by a point. Returns `None` if the result is not a number.
pub(super) fn decimal(field: &str) -> Option<String> {
    let point = field.replacen(',', ".", 1);
    (!field.contains('.') && point.parse::<f64>().is_ok()).then_some(point)
}
