//! Strings of bits: a sample in each line, perhaps with a label.

use super::{Ask, Rows, Table};
use crate::error::{Error, Result};
use crate::io::layers::Numbers;
use crate::io::roles::{Findings, LabelColumn, TargetOrigin};
use crate::io::samples::{TableTargets, no_label, targets_of_words};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// The fewest digits of a string of bits. Shorter ones may be numbers.
const FEWEST_BITS: usize = 8;

/// Returns the string of bits and the label of a line that consists of these.
pub(in crate::io) fn bits(line: &str) -> Option<(&str, Option<&str>)> {
    let line = line.trim_start_matches('\u{feff}');
    let mut words = line.split([' ', '\t', ',', ';', '\r', '\n']).filter(|word| !word.is_empty());
    let (bits, label) = (words.next()?, words.next());
    let valid =
        bits.len() >= FEWEST_BITS && bits.bytes().all(|byte| matches!(byte, b'0' | b'1')) && words.next().is_none();
    valid.then_some((bits, label))
}

pub(super) fn open(path: &Path, ask: &Ask<'_>) -> Result<Table> {
    let label = ask.roles.label;
    let name = match label {
        LabelColumn::Named(name) => Some(("labels", name)),
        _ => ask.roles.ignore.iter().chain(ask.roles.take).next().map(|name| ("a column", name.as_str())),
    };
    if let Some((what, name)) = name {
        let found = "strings of bits, whose labels have no name";
        return Err(Error::parse(path, None, format!("a table or arrays, with {what} named {name}"), found));
    }
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let (mut numbers, mut words, mut rows, mut length, mut line) = (Vec::new(), Vec::new(), 0, 0, String::new());
    let (mut reader, mut values) = (BufReader::new(file), Vec::new());
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
        let Some((digits, word)) = bits(&line) else {
            return Err(wrong("a string of bits, perhaps with a label".to_owned(), format!("{:?}", line.trim_end())));
        };
        if rows == 0 {
            length = digits.len();
        }
        if digits.len() != length {
            return Err(wrong(format!("{length} bits, as in the first line"), format!("{} bits", digits.len())));
        }
        numbers.extend(digits.bytes().map(|digit| f32::from(digit - b'0')));
        rows += 1;
        if ask.known.is_some() {
            continue;
        }
        if label == LabelColumn::Needed && word.is_none() {
            return Err(wrong("a label after the bits".to_owned(), "none".to_owned()));
        }
        if ask.values == Some(true) {
            let value = word.and_then(|word| word.parse().ok()).filter(|value: &f64| value.is_finite());
            let found = || wrong("a finite number".to_owned(), format!("{:?}", word.unwrap_or_default()));
            values.push(value.ok_or_else(found)?);
        }
        if let (Some((_, found)), true) = (no_label(word), label != LabelColumn::None) {
            return Err(wrong("a label".to_owned(), found));
        }
        words.extend(word.map(str::to_owned));
        if ![0, rows].contains(&words.len()) {
            let (expected, found) = if word.is_some() { ("no label", "one") } else { ("a label", "none") };
            return Err(wrong(format!("{expected}, as in the lines before"), found.to_owned()));
        }
    }
    let labeled = !words.is_empty() && label != LabelColumn::None;
    let targets = match labeled {
        true if ask.values == Some(true) => TableTargets::Values(values, 1),
        true => targets_of_words(words, ask.values),
        false => TableTargets::None,
    };
    let findings = Findings { target: labeled.then_some(TargetOrigin::Words), ..Findings::default() };
    let (numbers, rows) = (Numbers::F32(numbers), Rows::Even(length));
    let (names, ids, target, left_out) = (Vec::new(), None, None, Vec::new());
    Ok(Table { numbers, rows, names, targets, ids, target, left_out, findings, bits: true })
}
