//! Which columns of a table, and which arrays of a file, are inputs, labels, or neither: rules that all readers follow.

use super::samples::TableTargets;
use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// The names of columns and arrays that are labels, also with a capital at the front or in capitals.
pub(super) const LABELS: [&str; 10] =
    ["y", "label", "labels", "class", "target", "targets", "species", "variety", "diagnosis", "outcome"];
/// The names of columns and arrays that identify the samples.
pub(super) const IDS: [&str; 4] = ["id", "ids", "ID", "Id"];
/// The names of other columns that often number the samples.
const NUMBERS: [&str; 8] = ["sample", "sample_id", "row", "row_id", "rowid", "number", "no", "nr"];
/// The most inputs, of all samples together, among which suspicious ones are looked for in a file whose rows are read
/// when they are needed.
pub(super) const MOST_SEARCHED: usize = 1 << 24;
/// The fewest rows in which a column that counts, or that tells the label, is unlikely to do so by chance.
const FEWEST: usize = 5;

/// Which column of a table, or which array, has the labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelColumn<'a> {
    /// The column or array with one of these names: `y`, `label`, `labels`, `class`, `target`, `targets`, `species`,
    /// `variety`, `diagnosis` or `outcome`, also with a capital at the front or in capitals. In a table, a column `y`
    /// behind a column `x` is a coordinate. If several columns have such names, that is an error.
    ///
    /// If none has, a column of a table may be labels: if it has words, or only whole numbers, with at least two
    /// samples of a class on average. It is the last column, unless the first column alone may be labels, as in the
    /// series of UCR, or the last has one number in all rows. (In a table with a header, the first column is labels
    /// only if it has words.) In an archive of arrays without names, it is the array `arr_1`. The folders of samples
    /// are labels, too.
    #[default]
    Auto,
    /// The column or the array with this name. In a table without names, a number is the place of a column, counted
    /// from 1.
    Named(&'a str),
    /// As for `Auto`, but the last column has the labels if no other column does.
    Needed,
    /// None: all columns are numbers, and all arrays are layers.
    None,
}

/// Which columns of a table, or which arrays, are labels or no inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles<'a> {
    /// What has the labels.
    pub label: LabelColumn<'a>,
    /// The names of columns or arrays that are left out. In a table without names, a number is the place of a column,
    /// counted from 1.
    pub ignore: &'a [String],
    /// The names of columns that are inputs although their names say otherwise: an index of pandas, or ids. A column
    /// without a name is `Unnamed: 0`.
    pub take: &'a [String],
}

impl<'a> From<LabelColumn<'a>> for Roles<'a> {
    fn from(label: LabelColumn<'a>) -> Self {
        Self { label, ..Self::default() }
    }
}

impl Roles<'_> {
    pub(super) fn ignores(&self, name: &str) -> bool {
        self.ignore.iter().any(|own| own == name)
    }

    pub(super) fn takes(&self, name: &str) -> bool {
        self.take.iter().any(|own| own == shown(name))
    }

    /// Checks that no name has two roles.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the label or what is to be taken is to be left out, too.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        let both = |name: &str, role: &str| {
            let expected = format!("other names to leave out than that {role}");
            Err(Error::parse(path, None, expected, format!("{name} for both")))
        };
        match (self.label, self.take.iter().find(|name| self.ignores(name))) {
            (LabelColumn::Named(name), _) if self.ignores(name) => both(name, "of the label"),
            (_, Some(name)) => both(name, "of an input to take"),
            _ => Ok(()),
        }
    }
}

/// Returns the name of a column as pandas writes it.
pub(super) fn shown(name: &str) -> &str {
    if name.is_empty() { "Unnamed: 0" } else { name }
}

/// Returns whether a name says that the column or the array has labels.
pub(super) fn is_label(name: &str) -> bool {
    let capital = |own: &str| own[..1].to_ascii_uppercase() + &own[1..];
    LABELS.iter().any(|own| name == *own || name == capital(own) || name == own.to_ascii_uppercase())
}

/// Returns the places of the columns whose names say that they have labels.
pub(super) fn labels_among(names: &[&str]) -> Vec<usize> {
    let coordinate = coordinate_among(names);
    (0..names.len()).filter(|&at| is_label(names[at]) && Some(at) != coordinate).collect()
}

/// Says that one column or array has to have the labels, where several have such names.
pub(super) fn one_label(what: &str) -> String {
    format!("one {what} whose name says that it has the labels, or --label with the name of one")
}

/// Returns the place of a column `y` behind a column `x`, which is a coordinate.
pub(super) fn coordinate_among(names: &[&str]) -> Option<usize> {
    let x = names.iter().position(|name| matches!(*name, "x" | "X"))?;
    Some(x + names[x..].iter().position(|name| matches!(*name, "y" | "Y"))?)
}

/// An index of pandas or R that a table may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexName {
    /// Without a name, or with one that pandas makes.
    Own,
    /// `index`, which may be something else.
    Word,
}

/// Returns whether the column at a place is an index by its name.
pub(super) fn index_name(at: usize, name: &str) -> Option<IndexName> {
    match name {
        "" if at == 0 => Some(IndexName::Own),
        "index" | "Index" => Some(IndexName::Word),
        _ if name.starts_with("Unnamed: 0") || name.starts_with("__index_level_") => Some(IndexName::Own),
        _ => None,
    }
}

/// Returns whether the fields of a column with the name of an index count the rows or label them.
pub(super) fn is_index(name: IndexName, fields: &[String]) -> bool {
    let numbers: Option<Vec<f64>> = fields.iter().map(|field| field.parse().ok()).collect();
    // Tables that were joined count anew; a column of 0 and 1 does not count.
    let counts = |numbers: &[f64]| {
        let first = numbers.first().copied().unwrap_or_default();
        let anew = numbers.iter().skip(1).any(|x| *x == first);
        first.fract() == 0.0
            && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0 || pair[1] == first)
            && (!anew || numbers.get(2) == Some(&(first + 2.0)))
    };
    if numbers.as_ref().is_some_and(|numbers| counts(numbers)) {
        return true;
    }
    let whole = numbers.as_ref().is_none_or(|numbers| numbers.iter().all(|x| x.fract() == 0.0));
    // The index of samples that were drawn or joined has numbers several times, in any order.
    if name == IndexName::Own && numbers.is_some() && whole {
        return true;
    }
    let words = numbers.is_some() || fields.iter().all(|field| field.parse::<f64>().is_err());
    let different = fields.iter().collect::<BTreeSet<_>>().len() == fields.len();
    different && (name == IndexName::Own || whole && words)
}

/// Returns whether the fields of a column without a name count the rows, and whether they may number them in another
/// way: as different whole numbers.
pub(super) fn numbering(fields: &[String]) -> [bool; 2] {
    let numbers: Option<Vec<f64>> = fields.iter().map(|field| field.parse().ok()).collect();
    let numbers = numbers.unwrap_or_default();
    let begins = matches!(numbers.first(), Some(0.0 | 1.0));
    let counts = begins && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
    let many = |by_name| numbers.len() >= FEWEST && numbers_rows(numbers.iter().copied(), numbers.len(), by_name);
    [counts || many(false), counts || many(true)]
}

/// Returns the places of the columns with these names that are no inputs: the index of pandas or R, if its fields,
/// which `fields` returns for a place, count or label the rows, and ids. So tables in memory have the roles of those in
/// files.
///
/// # Errors
/// Those of `fields`.
pub fn no_inputs<E>(
    names: &[String],
    mut fields: impl FnMut(usize) -> std::result::Result<Vec<String>, E>,
) -> std::result::Result<Vec<(usize, LeftOut)>, E> {
    let (mut made, mut ids) = (Vec::new(), false);
    for (at, name) in names.iter().enumerate() {
        if let Some(index) = index_name(at, name) {
            if is_index(index, &fields(at)?) {
                made.push((at, LeftOut::Index));
            }
        } else if !ids && IDS.contains(&name.as_str()) {
            ids = true;
            made.push((at, LeftOut::Ids));
        }
    }
    Ok(made)
}

/// Where the targets of a data set were found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetOrigin {
    /// A column of a table.
    Column {
        /// The place of the column, counted from 0.
        place: usize,
        /// The name in the header, if there is one.
        name: Option<String>,
    },
    /// The array with this name.
    Array(String),
    /// The arrays with these names, of the parts of a data set.
    Arrays(Vec<String>),
    /// The names of the folders.
    Folders,
    /// The words after the strings of bits.
    Words,
}

impl fmt::Display for TargetOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { name: Some(name), .. } if !name.is_empty() => write!(f, "column `{name}`"),
            Self::Column { place, .. } => write!(f, "column {}", place + 1),
            Self::Array(name) => write!(f, "the array `{name}`"),
            Self::Arrays(names) => {
                let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                match quoted.split_last() {
                    Some((last, others)) => write!(f, "the arrays {} and {last}", others.join(", ")),
                    None => f.write_str("no array"),
                }
            }
            Self::Folders => f.write_str("the names of the folders"),
            Self::Words => f.write_str("the words after the bits"),
        }
    }
}

/// Why a column or an array is no input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// It is the index of a table of pandas or R.
    Index,
    /// It identifies the samples.
    Ids,
    /// It was to be left out.
    Ignored,
    /// It has no name and no content: each row, or the header alone, ends with a separator.
    Empty,
    /// It has the labels, which predictions do not need.
    Label,
    /// The model has no such input, or the file has the inputs under another name.
    Other,
}

impl LeftOut {
    /// Returns the reason in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Ids => "ids",
            Self::Ignored => "ignored",
            Self::Empty => "empty",
            Self::Label => "label",
            Self::Other => "no input",
        }
    }
}

/// What is suspicious about an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Suspicion {
    /// It numbers the rows. If these are sorted, it tells the label.
    Counts,
    /// It is the same in all rows.
    Constant,
    /// Its value and the label determine each other.
    TellsLabel,
}

impl Suspicion {
    /// Returns what is suspicious in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Counts => "numbers the samples",
            Self::Constant => "is the same in all samples",
            Self::TellsLabel => "determines the label",
        }
    }
}

/// What a reader found out about the columns of a table or the arrays of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Findings {
    /// Where the targets are.
    pub target: Option<TargetOrigin>,
    /// The columns and arrays that are no inputs, and why.
    pub left_out: Vec<(String, LeftOut)>,
    /// The inputs that are suspicious, and what is. They are used.
    pub suspects: Vec<(String, Suspicion)>,
    /// The axes of a sample, if it was a matrix or had more axes, and has become a row of numbers.
    pub flattened: Option<Vec<usize>>,
    /// The numbers of training, validation and test samples, if the file divides them.
    pub parts: Option<[usize; 3]>,
    /// The input `y` behind an input `x`, which is a coordinate although labels may have this name.
    pub coordinate: Option<String>,
    /// What the reader decided although it might be meant otherwise, each in words.
    pub doubts: Vec<String>,
    /// Whether the inputs are in arrays, of which no column, such as `x[3]`, can be left out by its name.
    pub of_arrays: bool,
}

impl Findings {
    /// Looks for what is suspicious about the inputs of a matrix, row by row, whose columns have these names: columns
    /// that number the rows, are the same in all of them, or determine the label.
    #[must_use]
    pub fn of_matrix(names: &[String], x: &[f64], targets: &TableTargets) -> Self {
        Self { suspects: suspects(names, x, targets, true), ..Self::default() }
    }

    /// Returns in words what was left out, and what has become of the arrays.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(axes) = &self.flattened {
            let axes: Vec<String> = axes.iter().map(ToString::to_string).collect();
            notes.push(format!("samples of {} as rows of numbers", axes.join(" x ")));
        }
        if let Some([train, validation, test]) = self.parts {
            let named = [(train, "training"), (validation, "validation"), (test, "test")];
            let named = named.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
            notes.push(format!("{} samples as in the file", named.collect::<Vec<_>>().join(", ")));
        }
        if let Some(name) = &self.coordinate {
            notes.push(format!("`{name}` is an input, a coordinate like `x`, unless it is named as the label"));
        }
        if !self.left_out.is_empty() {
            let each = self.left_out.iter().map(|(name, why)| match why {
                LeftOut::Other | LeftOut::Ignored => format!("`{name}`"),
                _ => format!("`{name}` ({})", why.name()),
            });
            let mut each: Vec<String> = each.collect();
            // A column without a name may be beside one that has the name by which it goes.
            each.dedup();
            notes.push(format!("left out: {}", each.join(", ")));
        }
        notes
    }

    /// Returns the doubts, and a warning for each kind of suspicion. `advice` returns how inputs of a table are left
    /// out.
    #[must_use]
    pub fn warnings(&self, advice: impl Fn(&str) -> String) -> Vec<String> {
        const SHOWN: usize = 3;
        let kinds = [Suspicion::Counts, Suspicion::TellsLabel, Suspicion::Constant].into_iter();
        let kinds = kinds.flat_map(|kind| [(kind, false), (kind, true)]);
        let within = |name: &str| self.of_arrays && name.ends_with(']');
        let warning = |(kind, part): (Suspicion, bool)| {
            let own = self.suspects.iter().filter(|(name, what)| *what == kind && within(name) == part);
            let names: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
            let first = names[..names.len().min(SHOWN)].iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
            let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
            let each = if names.len() > 1 { "each of the inputs" } else { "the input" };
            let advice = match part {
                true => "leave it out of the array if it is no input".to_owned(),
                false => advice(&names[..names.len().min(SHOWN)].join(",")),
            };
            (!names.is_empty()).then(|| format!("{each} {}{more} {}; {advice}", first.join(", "), kind.words()))
        };
        self.doubts.iter().cloned().chain(kinds.filter_map(warning)).collect()
    }
}

/// Returns what is suspicious about the inputs of a matrix with the given names. `constant` says whether to look for
/// inputs that are the same in all rows.
pub(super) fn suspects(
    names: &[String],
    x: &[f64],
    targets: &TableTargets,
    constant: bool,
) -> Vec<(String, Suspicion)> {
    let width = names.len();
    let rows = x.len().checked_div(width).unwrap_or(0);
    let column = |at: usize| x.iter().skip(at).step_by(width).copied();
    let of = |at: usize| {
        if constant && rows > 1 && column(at).all(|own| own.to_bits() == x[at].to_bits()) {
            return Some(Suspicion::Constant);
        }
        if rows < FEWEST {
            return None;
        }
        let by_name = NUMBERS.contains(&names[at].to_ascii_lowercase().as_str());
        if numbers_rows(column(at), rows, by_name) {
            return Some(Suspicion::Counts);
        }
        tells(column(at), rows, targets).then_some(Suspicion::TellsLabel)
    };
    (0..width).filter_map(|at| Some((names[at].clone(), of(at)?))).collect()
}

/// Returns whether the numbers are different whole numbers, without gaps unless the name says that they number rows.
fn numbers_rows(x: impl Iterator<Item = f64> + Clone, rows: usize, by_name: bool) -> bool {
    // Most columns are told from a few rows.
    let head: BTreeSet<u64> = x.clone().take(64).map(f64::to_bits).collect();
    if head.len() < rows.min(64) || !x.clone().all(|x| x.fract() == 0.0 && x.abs() < 1e15) {
        return false;
    }
    let (least, most) = x.clone().fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)));
    #[expect(clippy::cast_precision_loss, reason = "fewer rows than 2^53")]
    let dense = most - least == rows as f64 - 1.0;
    (dense || by_name) && x.map(f64::to_bits).collect::<BTreeSet<_>>().len() == rows
}

/// Returns whether each number goes with one label and each label with one number.
fn tells(x: impl Iterator<Item = f64> + Clone, rows: usize, targets: &TableTargets) -> bool {
    match targets {
        TableTargets::Labels(labels, classes) => {
            if classes.len() < 2 || 2 * classes.len() > rows {
                return false;
            }
            let mut numbers = vec![None; classes.len()];
            for (x, &label) in x.zip(labels) {
                let own: &mut Option<f64> = &mut numbers[label as usize];
                if own.get_or_insert(x).to_bits() != x.to_bits() {
                    return false;
                }
            }
            let different: BTreeSet<u64> = numbers.iter().flatten().map(|x| x.to_bits()).collect();
            different.len() == classes.len()
        }
        TableTargets::Values(values, 1) => x.zip(values).all(|(x, value)| x.to_bits() == value.to_bits()),
        TableTargets::Values(..) | TableTargets::None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{IndexName, is_index, is_label, labels_among};

    #[test]
    fn names_of_labels_are_exact() {
        for name in ["y", "Y", "label", "Label", "LABEL", "class", "targets", "Species", "diagnosis"] {
            assert!(is_label(name), "{name}");
        }
        for name in ["", "lAbel", "classes", "label1", "my label", "ys", "kind"] {
            assert!(!is_label(name), "{name}");
        }
        assert_eq!(labels_among(&["x", "y", "ring"]), [0; 0]);
        assert_eq!(labels_among(&["x1", "y"]), [1]);
        assert_eq!(labels_among(&["y", "x", "z"]), [0]);
        assert_eq!(labels_among(&["y", "label"]), [0, 1]);
    }

    #[test]
    fn an_index_counts_or_labels_the_rows() {
        let list = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (text, own, word) in [
            ("0 1 2", true, true),
            ("5 6 7", true, true),
            ("0 1 2 0 1", true, true),
            ("7 3 5", true, true),
            ("a b c", true, true),
            ("a b a", false, false),
            ("0 1 0 1", true, false),
            ("0 0 0", true, false),
            ("1 1 2", true, false),
            ("17 3 17 0", true, false),
            ("0.1 0.2 0.3", true, false),
            ("0.0 1.0 2.0", true, true),
            ("0.5 0.5", false, false),
        ] {
            assert_eq!(is_index(IndexName::Own, &list(text)), own, "{text}");
            assert_eq!(is_index(IndexName::Word, &list(text)), word, "{text}");
        }
    }
}
