//! Reads data sets for training: a table of numbers with a label in each row, strings of bits with a label, or arrays.

use super::field::is_header;
use super::magic::compressed;
use super::npy::NpyData;
use super::tensors::{StoredArray, read_named};
use crate::error::{Error, Result};
use csv::{ReaderBuilder, StringRecord};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The names under which files of arrays store the inputs, and the targets.
pub(super) const INPUTS: [&str; 5] = ["x", "X", "features", "inputs", "data"];
pub(super) const TARGETS: [&str; 6] = ["y", "Y", "labels", "label", "targets", "target"];

/// The targets of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableTargets {
    /// The class of each sample, as a place in the list of the classes' names.
    Labels(Vec<u32>, Vec<String>),
    /// The given number of values for each sample, sample by sample.
    Values(Vec<f64>, usize),
    /// Nothing.
    None,
}

/// A data set that was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleTable {
    /// The number of inputs of a sample.
    pub inputs: usize,
    /// The inputs, sample by sample.
    pub x: Vec<f64>,
    /// The targets.
    pub targets: TableTargets,
    /// The names of the inputs, if the file is a table with a header.
    pub names: Vec<String>,
    /// The place of the column with the target, if the file is a table.
    pub target: Option<usize>,
}

impl SampleTable {
    /// Returns the number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.x.len() / self.inputs.max(1)
    }

    /// Returns whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }
}

/// What the targets of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// Classes, in the named column or array, or in the last column.
    Labels(Option<&'a str>),
    /// Values, in the named column or array, or in the last column.
    Values(Option<&'a str>),
    /// Inputs alone, of the given number and names (none if they have none). If a table has one column more, the column
    /// at this place, or the last one, is the target, which is left out.
    Inputs(usize, &'a [String], Option<usize>),
}

/// Reads a data set.
///
/// Strings of bits have at least 8 digits. `.npz`, `.safetensors`: the inputs are a matrix `x` (also `X`, `features`,
/// `inputs` or `data`) with a row for each sample, the targets an array `y` (also `labels` or `targets`). `.npy`:
/// inputs alone. Text: either lines of a string of bits and a label, or a table separated by commas, semicolons, tabs
/// or white space, with a label in each row. The first row is a header if none of its fields is a number and none but
/// the first is empty, if it has the name that is wanted, or if its label is the only one that is not a number.
///
/// Labels may be any words. If all are numbers, their classes are in numeric order, and labels that are equal as
/// numbers, such as 1 and 1.0, are one class. Otherwise, they are in alphabetic order.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse), which names the line, if a row has another number of columns than the first, a
/// field is not a finite number, or there are no samples; [`Io`](crate::ErrorKind::Io) if the operating system reports
/// an error.
pub fn read_samples(path: &Path, wanted: Wanted<'_>) -> Result<SampleTable> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    let arrays = matches!(ending.as_ref().and_then(|e| e.to_str()), Some("npz" | "safetensors" | "npy"));
    let table = if arrays { of_arrays(path, wanted)? } else { of_text(path, wanted)? };
    if table.is_empty() {
        return Err(Error::parse(path, None, "at least one sample", "none"));
    }
    Ok(table)
}

fn of_arrays(path: &Path, wanted: Wanted<'_>) -> Result<SampleTable> {
    let wrong = |expected: &str, found: String| Error::parse(path, None, expected, found);
    let target = match wanted {
        Wanted::Labels(Some(name)) | Wanted::Values(Some(name)) => vec![name],
        Wanted::Labels(None) | Wanted::Values(None) => TARGETS.to_vec(),
        Wanted::Inputs(..) => Vec::new(),
    };
    let (mut arrays, names) = read_named(path, &[&INPUTS[..], &target].concat())?;
    let features = names.iter().any(|name| name == "features");
    let names = names.join(", ");
    let mut take = |known: &[&str], alone: bool| {
        let at = arrays.iter().position(|array| known.contains(&array.name.as_str()));
        let at = at.or_else(|| (alone && arrays.len() == 1).then_some(0))?;
        Some(arrays.swap_remove(at))
    };
    let y = match wanted {
        Wanted::Labels(name) | Wanted::Values(name) => {
            let expected = format!("targets under the name {}", name.unwrap_or("y, labels or targets"));
            let advice = if features {
                "; features have labels if their input has them (`fiedler features --label NAME`)"
            } else {
                ""
            };
            let none = if name.is_none() { "no labels, only " } else { "" };
            let found = || wrong(&expected, format!("{none}the arrays {names}{advice}"));
            Some(take(&target, false).ok_or_else(found)?)
        }
        Wanted::Inputs(..) => None,
    };
    let x = take(&INPUTS, matches!(wanted, Wanted::Inputs(..)));
    let x =
        x.ok_or_else(|| wrong("inputs under the name x, features, inputs or data", format!("the arrays {names}")))?;
    let [rows, inputs] = x.shape[..] else {
        return Err(wrong("inputs with a row for each sample, (samples, inputs)", format!("the shape {:?}", x.shape)));
    };
    let x = reals(path, x)?;
    let Some(y) = y else {
        return Ok(SampleTable { inputs, x, targets: TableTargets::None, names: Vec::new(), target: None });
    };
    let shape = y.shape.clone();
    if shape.first() != Some(&rows) || shape[1..].contains(&0) {
        return Err(wrong(&format!("{rows} targets, one for each sample"), format!("the shape {shape:?}")));
    }
    let each: usize = shape[1..].iter().product();
    let values = reals(path, y)?;
    let targets = match wanted {
        Wanted::Values(_) => TableTargets::Values(values, each),
        _ if each != 1 => return Err(wrong("one label for each sample", format!("the shape {shape:?}"))),
        _ => {
            let words = values.iter().map(|value| {
                let whole = value.fract() == 0.0 && value.abs() < 1e15;
                if whole { Ok(format!("{value:.0}")) } else { Err(wrong("whole numbers as labels", value.to_string())) }
            });
            labels_of(words.collect::<Result<Vec<_>>>()?)
        }
    };
    Ok(SampleTable { inputs, x, targets, names: Vec::new(), target: None })
}

fn reals(path: &Path, array: StoredArray) -> Result<Vec<f64>> {
    match array.data {
        NpyData::F32(data) => Ok(data.into_iter().map(f64::from).collect()),
        NpyData::F64(data) => Ok(data),
        NpyData::F16(data) => Ok(data.into_iter().map(f64::from).collect()),
        other => Err(Error::parse(path, None, "real numbers", format!("{} of type {}", array.name, other.name()))),
    }
}

/// Returns the classes of words. If all words are numbers, those that are equal as numbers are one class, whose name is
/// the shortest of them.
pub(super) fn labels_of(words: Vec<String>) -> TableTargets {
    let mut different: Vec<String> = words.clone();
    different.sort_unstable();
    different.dedup();
    let integers: Option<Vec<i64>> = different.iter().map(|word| word.parse().ok()).collect();
    // Not NaN and inf, which are words.
    let is_number = |word: &String| word.bytes().any(|byte| byte.is_ascii_digit());
    let real = |word: &String| word.parse().ok().filter(|number: &f64| number.is_finite() && is_number(word));
    // Zero has one sign.
    let reals: Option<Vec<f64>> = different.iter().map(|word| Some(real(word)? + 0.0)).collect();
    let classes = match (integers, reals) {
        (Some(numbers), _) => by_number(&numbers, different, i64::cmp),
        (None, Some(numbers)) => by_number(&numbers, different, f64::total_cmp),
        (None, None) => different.into_iter().map(|word| vec![word]).collect(),
    };
    let spellings = classes.iter().zip(0..).flat_map(|(class, place)| class.iter().map(move |word| (word, place)));
    let places: BTreeMap<&String, u32> = spellings.collect();
    let labels = words.iter().map(|word| places[word]).collect();
    TableTargets::Labels(labels, classes.into_iter().map(|mut spellings| spellings.swap_remove(0)).collect())
}

/// Returns the words of each number in ascending order, the shortest word of a number first.
fn by_number<N: Copy>(numbers: &[N], words: Vec<String>, order: impl Fn(&N, &N) -> Ordering) -> Vec<Vec<String>> {
    let mut pairs: Vec<(N, String)> = numbers.iter().copied().zip(words).collect();
    pairs.sort_by(|(a, one), (b, other)| order(a, b).then(one.len().cmp(&other.len())).then(one.cmp(other)));
    let groups = pairs.chunk_by(|(a, _), (b, _)| order(a, b).is_eq());
    groups.map(|group| group.iter().map(|(_, word)| word.clone()).collect()).collect()
}

/// The fewest digits of a string of bits. Shorter ones may be numbers.
const FEWEST_BITS: usize = 8;

/// Returns the string of bits and the label of a line that consists of these.
pub(super) fn bits(line: &str) -> Option<(&str, Option<&str>)> {
    let line = line.trim_start_matches('\u{feff}');
    let mut words = line.split([' ', '\t', ',', ';', '\r', '\n']).filter(|word| !word.is_empty());
    let (bits, label) = (words.next()?, words.next());
    let valid =
        bits.len() >= FEWEST_BITS && bits.bytes().all(|byte| matches!(byte, b'0' | b'1')) && words.next().is_none();
    valid.then_some((bits, label))
}

fn of_text(path: &Path, wanted: Wanted<'_>) -> Result<SampleTable> {
    let first = first_line(path)?;
    if bits(&first).is_some() { of_bits(path, wanted) } else { of_table(path, &first, wanted) }
}

/// Returns the first line that is not blank, which shows what the file is.
pub(super) fn first_line(path: &Path) -> Result<String> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let (mut first, mut number) = (String::new(), 0);
    let mut reader = BufReader::new(file);
    let head = reader.fill_buf().map_err(|error| Error::io("read", path, error))?;
    if let Some(format) = compressed(head) {
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

/// Returns the character that separates the fields of a table, or `None` for white space.
pub(super) fn separator(first: &str) -> Option<u8> {
    [b',', b';', b'\t'].into_iter().find(|&byte| first.bytes().any(|b| b == byte))
}

fn of_bits(path: &Path, wanted: Wanted<'_>) -> Result<SampleTable> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    let (mut inputs, mut x, mut words) = (0, Vec::new(), Vec::new());
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let Some((bits, label)) = bits(line) else {
            return Err(Error::parse(path, Some(number), "a string of bits and a label", format!("{line:?}")));
        };
        if inputs == 0 {
            inputs = bits.len();
        }
        if bits.len() != inputs {
            let found = format!("{} bits", bits.len());
            return Err(Error::parse(path, Some(number), format!("{inputs} bits, as in the first line"), found));
        }
        x.extend(bits.bytes().map(|byte| f64::from(byte - b'0')));
        match (wanted, label) {
            (Wanted::Inputs(..), _) => {}
            (_, Some(label)) => {
                words.push(label.to_owned());
                lines.push(number);
            }
            (_, None) => return Err(Error::parse(path, Some(number), "a label after the bits", "none")),
        }
    }
    let targets = match wanted {
        Wanted::Inputs(..) => TableTargets::None,
        Wanted::Labels(_) => labels_of(words),
        Wanted::Values(_) => TableTargets::Values(
            words.iter().zip(lines).map(|(word, line)| number(path, line, word)).collect::<Result<_>>()?,
            1,
        ),
    };
    Ok(SampleTable { inputs, x, targets, names: Vec::new(), target: None })
}

fn number(path: &Path, line: u64, field: &str) -> Result<f64> {
    match field.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Error::parse(path, Some(line), "a finite number", format!("{field:?}"))),
    }
}

fn of_table(path: &Path, first: &str, wanted: Wanted<'_>) -> Result<SampleTable> {
    let separator = separator(first);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator.unwrap_or(b' '))
        .from_path(path)
        .map_err(|error| wrong_csv(path, error))?;
    let (mut record, mut columns, mut label_at) = (StringRecord::new(), 0, None);
    let (mut x, mut words, mut values) = (Vec::new(), Vec::<String>::new(), Vec::new());
    let (mut names, mut first_line) = (Vec::new(), 0);
    while reader.read_record(&mut record).map_err(|error| wrong_csv(path, error))? {
        let line = record.position().map_or(0, csv::Position::line);
        // White space separates fields however much of it there is.
        let fields: Vec<&str> =
            record.iter().map(str::trim).filter(|field| separator.is_some() || !field.is_empty()).collect();
        if fields.iter().all(|field| field.is_empty()) {
            continue;
        }
        if columns == 0 {
            columns = fields.len();
            label_at = target_column(path, line, &fields, wanted)?;
            let inputs = || fields.iter().enumerate().filter(|(at, _)| Some(*at) != label_at).map(|(_, field)| *field);
            let named = match wanted {
                Wanted::Labels(name) | Wanted::Values(name) => name.is_some(),
                Wanted::Inputs(_, names, _) => !names.is_empty() && inputs().eq(names.iter().map(String::as_str)),
            };
            if named || is_header(&fields) {
                names = inputs().map(str::to_owned).collect();
                check_names(path, line, &names, wanted)?;
                continue;
            }
            first_line = line;
        }
        if fields.len() != columns {
            let expected = format!("{columns} columns, as in the first row");
            return Err(Error::parse(path, Some(line), expected, fields.len().to_string()));
        }
        for (at, field) in fields.iter().enumerate() {
            if Some(at) != label_at {
                if columns <= 2 && bits(field).is_some() {
                    let found = format!("{field:?}, a string of bits");
                    return Err(Error::parse(
                        path,
                        Some(line),
                        "a table; strings of bits begin in the first line",
                        found,
                    ));
                }
                x.push(number(path, line, field)?);
            } else if matches!(wanted, Wanted::Values(_)) {
                values.push(number(path, line, field)?);
            } else if field.is_empty() {
                return Err(Error::parse(path, Some(line), "a label", "an empty field"));
            } else {
                words.push((*field).to_owned());
            }
        }
    }
    let inputs = columns.saturating_sub(usize::from(label_at.is_some()));
    // Numbers as names of the columns, as pandas writes them, with a word as the name of the label.
    let is_number = |word: &String| word.parse::<f64>().is_ok();
    if first_line > 0 && words.len() > 1 && !is_number(&words[0]) && words[1..].iter().all(is_number) {
        names = x.drain(..inputs).map(|name: f64| name.to_string()).collect();
        words.remove(0);
    }
    let targets = match wanted {
        Wanted::Labels(_) => labels_of(words),
        Wanted::Values(_) => TableTargets::Values(values, 1),
        Wanted::Inputs(..) => TableTargets::None,
    };
    Ok(SampleTable { inputs, x, targets, names, target: label_at })
}

/// Checks that the columns have the names that the inputs had in training.
fn check_names(path: &Path, line: u64, names: &[String], wanted: Wanted<'_>) -> Result<()> {
    match wanted {
        Wanted::Inputs(_, known, _) if !known.is_empty() && known != names => {
            let expected = format!("the inputs {}", known.join(", "));
            Err(Error::parse(path, Some(line), expected, names.join(", ")))
        }
        _ => Ok(()),
    }
}

/// Returns the place of the target among the fields of the first row.
fn target_column(path: &Path, line: u64, fields: &[&str], wanted: Wanted<'_>) -> Result<Option<usize>> {
    let name = match wanted {
        Wanted::Inputs(inputs, ..) if fields.len() == inputs => return Ok(None),
        Wanted::Inputs(inputs, _, place) if fields.len() == inputs + 1 => return Ok(Some(place.unwrap_or(inputs))),
        Wanted::Inputs(inputs, ..) => {
            let expected = format!("{inputs} columns of inputs, or one more with labels");
            return Err(Error::parse(path, Some(line), expected, fields.len().to_string()));
        }
        Wanted::Labels(name) | Wanted::Values(name) => name,
    };
    if fields.len() < 2 {
        return Err(Error::parse(path, Some(line), "columns of inputs and a target", fields.len().to_string()));
    }
    let Some(name) = name else { return Ok(Some(fields.len() - 1)) };
    match fields.iter().position(|field| *field == name) {
        Some(at) => Ok(Some(at)),
        None => {
            let expected = format!("a column named {name}");
            Err(Error::parse(path, Some(line), expected, format!("the columns {}", fields.join(", "))))
        }
    }
}

pub(super) fn wrong_csv(path: &Path, error: csv::Error) -> Error {
    let line = error.position().map(csv::Position::line);
    let shown = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("read", path, error),
        _ => Error::parse(path, line, "a table of numbers in UTF-8", shown),
    }
}

#[cfg(test)]
mod tests {
    use super::{TableTargets, labels_of};

    /// Numbers that are equal are one class, whose name does not depend on the order of the samples.
    #[test]
    fn labels_become_classes() {
        for (words, labels, classes) in [
            (&["b", "a", "b"][..], &[1, 0, 1][..], &["a", "b"][..]),
            (&["10", "9", "-1"], &[2, 1, 0], &["-1", "9", "10"]),
            (&["1.0", "1", "10", "2.50", "2.5"], &[0, 0, 2, 1, 1], &["1", "2.5", "10"]),
            (&["007", "7", "+7"], &[0, 0, 0], &["7"]),
            (&["007", "010"], &[0, 1], &["007", "010"]),
            (&["-0", "0.0", "1"], &[0, 0, 1], &["-0", "1"]),
            (&["1", "1.0", "x"], &[0, 1, 2], &["1", "1.0", "x"]),
            (&["nan", "inf", "1"], &[2, 1, 0], &["1", "inf", "nan"]),
            (&["9007199254740993", "9007199254740992"], &[1, 0], &["9007199254740992", "9007199254740993"]),
        ] {
            let found = labels_of(words.iter().map(|&word| word.to_owned()).collect());
            let classes = classes.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(found, TableTargets::Labels(labels.to_vec(), classes), "{words:?}");
        }
    }
}
