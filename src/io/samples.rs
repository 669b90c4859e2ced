//! Reads data sets for training: a table of numbers with a label in each row, strings of bits with a label, or arrays.

use super::array_file::ArrayFile;
use super::array_roles::{ArrayRoles, listed};
use super::field::{Field, is_missing};
use super::layers::{Format, Numbers};
use super::roles::{Findings, LABELS, LabelColumn, LeftOut, Roles, TargetOrigin, suspects};
use super::table::{self, Ask, Rows};
use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

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
    /// The places of the columns that are neither inputs nor the target, if the file is a table.
    pub left_out: Vec<usize>,
    /// What the reader found out about the columns or the arrays.
    pub findings: Findings,
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

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// Inputs and classes. If nothing says where the labels of a table are, they are in the last column.
    Labels(Roles<'a>),
    /// Inputs and values. If nothing says where the values of a table are, they are in the last column.
    Values(Roles<'a>),
    /// Inputs alone, as a model has them.
    Inputs(KnownInputs<'a>),
}

/// The inputs of a model. What else a file has is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownInputs<'a> {
    /// Their number.
    pub inputs: usize,
    /// Their names; none if they have none. A table with a header has to have them in this order.
    pub names: &'a [String],
    /// The place of the target in the table of the training, or `None` for the last column.
    pub target: Option<usize>,
    /// The places of other columns of that table that were left out.
    pub left_out: &'a [usize],
    /// The names of the classes; none if the targets are values.
    pub classes: &'a [String],
    /// The names of columns that are left out, or in a table without names their places, counted from 1.
    pub ignore: &'a [String],
    /// The names of columns that are inputs of a model without names, although they are those of labels, an index or
    /// ids.
    pub take: &'a [String],
}

impl KnownInputs<'_> {
    /// Returns whether the fields of a row are, without others, the names of the inputs.
    pub(super) fn are_among(&self, fields: &[&str]) -> bool {
        let own = fields.iter().filter(|field| self.names.iter().any(|name| name == *field));
        !self.names.is_empty() && own.copied().eq(self.names.iter().map(String::as_str))
    }

    /// Returns whether a field may be a label: it is a class, missing, or a word, which is no input.
    pub(super) fn may_be_label(&self, field: &str) -> bool {
        let is_class = || self.classes.iter().any(|class| is_same(class, field));
        self.classes.is_empty() || is_missing(field) || Field::of(field) == Field::Word || is_class()
    }

    /// Returns the places of the columns that are no inputs in a table with the given number of columns, which may have
    /// the target, or what was left out in training, or both; one column more may be something else than the target.
    /// Returns `None` if it has another number.
    pub(super) fn skipped(&self, columns: usize) -> Option<Vec<usize>> {
        let others = self.left_out.len();
        match columns.checked_sub(self.inputs)? {
            0 => Some(Vec::new()),
            1 => Some(self.target_among(columns).into_iter().collect()),
            more if more == others + 1 => {
                Some(self.left_out.iter().copied().chain(self.target_among(columns)).collect())
            }
            more if more == others => Some(self.others_alone()),
            _ => None,
        }
    }

    /// Returns the places of what was left out in training, in a table without the target.
    pub(super) fn others_alone(&self) -> Vec<usize> {
        let before = |place: usize| usize::from(self.target.is_some_and(|target| target < place));
        self.left_out.iter().map(|&place| place - before(place)).collect()
    }

    /// Returns the place of the target in such a table.
    pub(super) fn target_among(&self, columns: usize) -> Option<usize> {
        match columns.checked_sub(self.inputs)? {
            1 => {
                let before = |target: usize| self.left_out.iter().filter(|place| **place < target).count();
                Some(self.target.map_or(self.inputs, |target| target - before(target)))
            }
            more if more == self.left_out.len() + 1 => Some(self.target.unwrap_or(columns - 1)),
            _ => None,
        }
    }
}

/// Reads a data set. [`LabelColumn`] says where the labels are.
///
/// Strings of bits have at least 8 digits. `.npz`, `.safetensors`: the inputs are an array `x` (also `X`, `features`,
/// `inputs`, `data` or `images`) whose first axis is that of the samples; further axes become one. `X_train` and
/// `X_test`, with `y_train` and `y_test`, are parts of a data set, and so are `X_val` and names such as `test_images`.
/// `.npy`: inputs alone. Text: either lines of a string of bits and a label, or a table separated by commas,
/// semicolons, tabs or white space, with a label in each row. The first row is a header if none of its fields is a
/// number and none but the first is empty, if the roles name one of its words, if its label is the only one that is not
/// a number, or if its numbers count from 0 beside the name of an index or of labels, as pandas writes them.
///
/// The index of a table of pandas or R is no input: a first column without a name, `Unnamed: 0`, `index` or
/// `__index_level_0__`, if its fields count or label the rows. A column `id`, `ids`, `Id` or `ID` identifies the
/// samples.
///
/// Labels may be any words. If all are numbers, their classes are in numeric order, and labels that are equal as
/// numbers, such as 1 and 1.0, are one class. Otherwise, they are in alphabetic order.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse), which names the line, if a row has another number of columns than the first, a
/// field is not a finite number, or there are no samples; [`Io`](crate::ErrorKind::Io) if the operating system reports
/// an error.
pub fn read_samples(path: &Path, wanted: Wanted<'_>) -> Result<SampleTable> {
    let table = if Format::of(path).is_some() { of_arrays(path, wanted)? } else { of_text(path, wanted)? };
    if table.is_empty() {
        return Err(Error::parse(path, None, "at least one sample", "none"));
    }
    Ok(table)
}

/// Returns the roles of columns where targets are needed.
fn needed(roles: Roles<'_>) -> Roles<'_> {
    let label = if roles.label == LabelColumn::Auto { LabelColumn::Needed } else { roles.label };
    Roles { label, ..roles }
}

fn of_text(path: &Path, wanted: Wanted<'_>) -> Result<SampleTable> {
    let (roles, known) = match wanted {
        Wanted::Labels(roles) | Wanted::Values(roles) => (needed(roles), None),
        Wanted::Inputs(known) => (LabelColumn::None.into(), Some(known)),
    };
    let ask = Ask { roles, values: Some(matches!(wanted, Wanted::Values(_))), finite: true, known };
    let found = table::open(path, &ask)?;
    let x = match found.numbers {
        Numbers::F64(x) => x,
        Numbers::F32(x) => x.into_iter().map(f64::from).collect(),
    };
    let Rows::Even(inputs) = found.rows else {
        return Err(Error::parse(path, None, "rows of the same length", "others"));
    };
    let table::Table { names, targets, target, left_out, findings, .. } = found;
    Ok(SampleTable { inputs, x, targets, names, target, left_out, findings })
}

/// What an error of a file without inputs says.
const NO_INPUTS: &str = "inputs under the name x, features, inputs, data or images";

/// Returns the roles of the arrays of a file for inputs, and for targets where these are wanted.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if there are no inputs, or no targets.
pub(super) fn roles_of(path: &Path, names: &[(&str, usize)], wanted: Wanted<'_>) -> Result<ArrayRoles> {
    let wrong = |expected: &str, found: String| Error::parse(path, None, expected, found);
    let all: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let (roles, alone) = match wanted {
        Wanted::Labels(roles) | Wanted::Values(roles) => (needed(roles), false),
        Wanted::Inputs(_) => (LabelColumn::Auto.into(), names.len() == 1),
    };
    let missing = |error: Error| match roles.label {
        LabelColumn::Named(name) => wrong(&format!("targets under the name {name}"), listed(&all)),
        _ => error,
    };
    let found = ArrayRoles::find(path, names, roles, !alone);
    let mut made = match (found, roles.label) {
        (Err(error), LabelColumn::Named(name)) if !names.iter().any(|(own, _)| *own == name) => {
            return Err(missing(error));
        }
        (found, _) => found?,
    };
    if let Wanted::Inputs(_) = wanted {
        let (target, origin) = (std::mem::take(&mut made.target), made.origin.take());
        if let (Some(_), [(name, _)]) = (origin, names) {
            // The only array is the inputs, whatever its name is.
            made.layers.push(((*name).to_owned(), target));
        } else {
            made.left_out.extend(target.iter().map(|&at| (names[at].0.to_owned(), LeftOut::Label)));
        }
    } else if made.target.is_empty() {
        let features = names.iter().any(|(name, _)| *name == "features");
        let advice = "; features have labels if their input has them (`fiedler features --label NAME`)";
        let kept: Vec<&str> = all.iter().copied().filter(|name| !roles.ignores(name)).collect();
        let mut found = format!("{}{}", if kept.is_empty() { "" } else { "no labels, only " }, listed(&kept));
        if !roles.ignore.is_empty() {
            found += &format!("; --ignore leaves out {}", roles.ignore.join(", "));
        }
        found += if features { advice } else { "" };
        let expected = format!("targets under the name {}, or under that of --label", LABELS.join(", "));
        return Err(wrong(&expected, found));
    } else if matches!(wanted, Wanted::Values(_))
        && made.origin == Some(TargetOrigin::Array("labels".to_owned()))
        && names.iter().any(|(name, _)| *name == "classes")
    {
        // The numbers of the classes that features write beside labels that are no integers.
        return Err(wrong(
            "values as targets",
            "numbers of the classes, whose names are in the array classes".to_owned(),
        ));
    }
    if made.layers.is_empty() { Err(wrong(NO_INPUTS, listed(&all))) } else { Ok(made) }
}

fn of_arrays(path: &Path, wanted: Wanted<'_>) -> Result<SampleTable> {
    let mut file = ArrayFile::open(path)?;
    let roles = roles_of(path, &file.names(), wanted)?;
    let wrong = |expected: &str, found: String| Error::parse(path, None, expected, found);
    let places = &roles.layers[0].1;
    let (mut x, mut samples, mut of_sample) = (Vec::new(), Vec::new(), Vec::new());
    for (part, &at) in places.iter().enumerate() {
        let array = file.array(at)?;
        let [rows, axes @ ..] = &array.shape[..] else {
            return Err(wrong(
                "inputs with a row for each sample, (samples, inputs)",
                format!("the shape {:?}", array.shape),
            ));
        };
        if axes.is_empty() || part > 0 && *axes != of_sample[..] {
            let expected = match part {
                0 => "inputs with a row for each sample, (samples, inputs)".to_owned(),
                _ => format!("{} of the shape {of_sample:?} in each sample, as in the part before", array.name),
            };
            return Err(wrong(&expected, format!("the shape {:?}", array.shape)));
        }
        if array.kind.is_text() {
            return Err(wrong("real numbers", format!("text in {}", array.name)));
        }
        of_sample = axes.to_vec();
        samples.push(*rows);
        x.append(&mut file.numbers(at)?);
    }
    let inputs = of_sample.iter().product();
    let values = match wanted {
        Wanted::Labels(_) => Some(false),
        Wanted::Values(_) => Some(true),
        Wanted::Inputs(_) => None,
    };
    let targets = match values {
        Some(_) => file.targets(&roles.target, &samples, values)?,
        None => TableTargets::None,
    };
    let mut parts = (samples.len() > 1).then_some([0; 3]);
    for (&part, &samples) in roles.parts.iter().flatten().zip(&samples) {
        if let Some(parts) = &mut parts {
            parts[part] = samples;
        }
    }
    let mut left_out = roles.left_out;
    let stored = file.parts(samples.iter().sum(), &mut left_out)?;
    let parts = parts.or(stored);
    let names: Vec<String> = (0..inputs).map(|at| format!("{}[{at}]", roles.layers[0].0)).collect();
    let findings = Findings {
        target: roles.origin,
        left_out,
        // The edges of many images are the same in all of them.
        suspects: if values.is_some() { suspects(&names, &x, &targets, of_sample.len() == 1) } else { Vec::new() },
        flattened: (of_sample.len() > 1).then_some(of_sample),
        parts,
        of_arrays: true,
        ..Findings::default()
    };
    Ok(SampleTable { inputs, x, targets, names: Vec::new(), target: None, left_out: Vec::new(), findings })
}

/// What an error of labels in an array says that are NaN or infinite.
pub(super) const FINITE_LABELS: &str = "finite numbers as labels";

/// Returns the place and the text of the first label that is missing, such as an empty one or `NaN`, or infinite.
///
/// ```
/// let found = |words: [&'static str; 2]| fiedler::io::no_label(words);
/// assert_eq!(found(["a", "1"]), None);
/// assert_eq!(found(["a", "NA"]).map(|(place, _)| place), Some(1));
/// ```
#[must_use]
pub fn no_label<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<(usize, String)> {
    let is_infinite = |word: &str| word.parse().is_ok_and(f64::is_infinite);
    let (place, word) = words.into_iter().enumerate().find(|(_, word)| is_missing(word) || is_infinite(word))?;
    Some(match word {
        "" => (place, "an empty field".to_owned()),
        _ if is_missing(word) => (place, format!("{word:?}, which stands for a missing one")),
        _ => (place, format!("{word:?}, which is not finite")),
    })
}

/// Returns the values or the classes of words. Unless `values` says which they are, they are values if all are numbers,
/// of which some are not whole: the rule that arrays of floats follow.
pub(super) fn targets_of_words(words: Vec<String>, values: Option<bool>) -> TableTargets {
    let numbers = || words.iter().map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>();
    match numbers().filter(|numbers| values.is_none() && numbers.iter().any(has_fraction)) {
        Some(numbers) => TableTargets::Values(numbers, 1),
        None => labels_of(words),
    }
}

fn has_fraction(number: &f64) -> bool {
    number.is_finite() && number.fract() != 0.0
}

/// Returns whether the classes of `samples` samples seem to be values: if all are numbers, of which some are not whole,
/// or which are more than 20 and more than twice the square root of the number of samples.
///
/// ```
/// let classes = |count: i32| (0..count).map(|class| class.to_string()).collect::<Vec<_>>();
/// assert!(fiedler::io::seem_values(442, &classes(214)) && !fiedler::io::seem_values(1797, &classes(10)));
/// ```
#[must_use]
pub fn seem_values(samples: usize, classes: &[String]) -> bool {
    /// The number of classes that a data set of any size may have.
    const FEW: usize = 20;
    let numbers: Option<Vec<f64>> = classes.iter().map(|class| class.parse().ok()).collect();
    let many = classes.len() > FEW && classes.len().saturating_mul(classes.len()) > samples.saturating_mul(4);
    numbers.is_some_and(|numbers| many || numbers.iter().any(has_fraction))
}

/// Returns whether a field names a class: by the same word, or by a number that is equal.
fn is_same(class: &str, field: &str) -> bool {
    class == field || class.parse::<f64>().is_ok_and(|class| field.parse() == Ok(class))
}

/// Says why no network could learn to tell the classes apart: there is one, or so few samples of each that the labels
/// seem to be something else, numbers or names. `remedy` says what to do then.
#[must_use]
pub fn unlearnable(samples: usize, classes: &[String], remedy: &str) -> Option<String> {
    if let [only] = classes {
        return Some(format!("expected at least two classes, found only {only:?}"));
    }
    let count = classes.len();
    let numbers = classes.iter().all(|class| class.parse::<f64>().is_ok());
    let repeat = count <= 2 || if numbers { 2 * count <= samples } else { count < samples };
    let expected = "expected several samples of each class, found";
    (!repeat).then(|| format!("{expected} {count} classes in {samples} samples; {remedy}"))
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
