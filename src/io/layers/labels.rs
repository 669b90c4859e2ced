//! Which column or array of a data set has the labels.

use crate::io::samples::TARGETS;
use std::fmt;

/// Which column of a table, or which array, has the labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelColumn<'a> {
    /// The column named `y`, `label`, `labels`, `target`, `targets` or `class`. If there is none, the last column, if
    /// it has no numbers, or only integers, with at least two samples of a class on average. The array that has one of
    /// these names (without `class`), or the folders of the samples.
    #[default]
    Auto,
    /// The column with this name in the first row, unless that has only numbers, or the array with this name.
    Named(&'a str),
    /// The last column of a table; an array as for `Auto`.
    Last,
    /// None: all columns are numbers, and all arrays are layers.
    None,
}

impl<'a> LabelColumn<'a> {
    /// Returns the names that the array of the targets may have.
    pub(super) fn arrays(&self) -> &[&'a str] {
        match self {
            Self::Auto | Self::Last => &TARGETS,
            Self::Named(name) => std::slice::from_ref(name),
            Self::None => &[],
        }
    }

    /// Returns whether the names of folders may be classes.
    pub(super) fn may_be_folders(self) -> bool {
        matches!(self, Self::Auto | Self::Last)
    }
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
            Self::Folders => f.write_str("the names of the folders"),
            Self::Words => f.write_str("the words after the bits"),
        }
    }
}
