//! Tournaments: which pairs of groups of bit strings, such as the devices that made them, can be told apart.
//!
//! | tournament | score of a pair | see |
//! |---|---|---|
//! | KL | divergences of shares and joint shares of ones, and of histograms of the strings' means | [`Kl`] |
//! | qGAN | how well a generator imitates differences of shares of ones on a grid | [`Qgan`] |
//! | C2ST | the accuracy of a classifier that was trained to tell the groups apart | [`C2st`] |
//!
//! A score is worth something if it is large for groups that differ. So each result has the [`Relation`] of its scores
//! to the difference of the groups' shares of ones, and to classes of groups if there are any, with p values.
//!
//! ```
//! use fiedler::Context;
//! use fiedler::experiment::tournament::{C2st, GroupBy, Groups};
//! use fiedler::features::generate::Strings;
//! use fiedler::io::Layers;
//!
//! let (folder, ctx) = (tempfile::tempdir()?, Context::cpu());
//! let path = folder.path().join("strings.txt");
//! Strings::new(300, 3, 16, 1)?.write(&ctx, &path)?;
//! let groups = Groups::read(&Layers::open(&[path])?, GroupBy::Index(3))?;
//! let found = C2st::new().repeats(2).run(&ctx, &groups)?;
//! assert_eq!((found.pairs.len(), found.pairs[0].names.clone()), (3, ["0".to_owned(), "1".to_owned()]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod c2st;
mod data;
mod joint;
mod kl;
mod qgan;
mod relation;
mod report;
mod strings;

pub use c2st::C2st;
pub use data::BitStrings;
pub use kl::Kl;
pub use qgan::Qgan;
use relation::Known;
pub use relation::{Related, Relation, WithinBetween};
pub use report::{MARKDOWN, PAIRS, REPORT};
pub use strings::{GroupBy, Groups};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::policy::Backend;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the operation in errors.
const NAME: &str = "tournament";
/// The positions that the tournaments KL and qGAN look at.
const POSITIONS: usize = 64;
/// The bins of the histogram of the strings' means.
const HISTOGRAM: usize = 20;

/// A function that is told how many pairs are done, of how many.
pub type OnPairs = Arc<dyn Fn(usize, usize) + Send + Sync>;

/// The tournaments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// [`Kl`].
    Kl,
    /// [`Qgan`].
    Qgan,
    /// [`C2st`].
    C2st,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kl => "kl",
            Self::Qgan => "qgan",
            Self::C2st => "c2st",
        })
    }
}

/// The result of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tournament {
    /// Which tournament it is.
    pub kind: Kind,
    /// The settings, by name.
    pub settings: BTreeMap<&'static str, u64>,
    /// The number of bits of a string.
    pub bits: usize,
    /// The groups.
    pub groups: Vec<GroupRow>,
    /// The columns of numbers that each pair has.
    pub columns: Vec<ColumnName>,
    /// The pairs of groups: the first group with every later one, then the second, and so on.
    pub pairs: Vec<PairRow>,
    /// The name of the column by which pairs are compared.
    pub score: &'static str,
    /// That column as a matrix of groups, which is symmetric. An entry is `None` on the diagonal, and if the pair has
    /// no score.
    pub matrix: Vec<Vec<Option<f64>>>,
    /// The relations of the scores to what is known of the groups.
    pub relations: Vec<Relation>,
    /// What a reader has to know, in sentences.
    pub notes: Vec<String>,
}

/// A group of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupRow {
    /// Its name.
    pub name: String,
    /// Its class, if it is known.
    pub class: Option<String>,
    /// The number of its strings.
    pub strings: usize,
    /// The share of ones among all bits of its strings.
    pub share_of_ones: f64,
}

/// The name of a column, and what it has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnName {
    /// The name.
    pub name: &'static str,
    /// What the numbers are.
    pub meaning: &'static str,
}

/// A pair of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairRow {
    /// The places of the groups in the list of groups.
    pub groups: [usize; 2],
    /// The names of the groups.
    pub names: [String; 2],
    /// Whether both groups have the same class, if classes are known.
    pub same_class: Option<bool>,
    /// The magnitude of the difference of the shares of ones.
    pub difference: f64,
    /// The numbers, in the order of the columns. `None` where there is none, such as the score of a pair that diverged.
    pub values: Vec<Option<f64>>,
}

/// A column with a number for each pair.
struct Column {
    name: ColumnName,
    values: Vec<Option<f64>>,
}

impl Column {
    fn new(name: &'static str, meaning: &'static str, values: Vec<Option<f64>>) -> Self {
        Self { name: ColumnName { name, meaning }, values }
    }
}

impl Tournament {
    fn new(kind: Kind, known: &Known<'_>, columns: Vec<Column>) -> Self {
        let groups = known.groups;
        let group = |place: usize| GroupRow {
            name: groups.name(place).to_owned(),
            class: groups.class(place).map(str::to_owned),
            strings: groups.strings(place),
            share_of_ones: groups.share_of_ones(place),
        };
        let rows: Vec<GroupRow> = (0..groups.len()).map(group).collect();
        let pair = |(place, &own): (usize, &[usize; 2])| PairRow {
            groups: own,
            names: own.map(|group| rows[group].name.clone()),
            same_class: known.is_within(own),
            difference: known.difference(own),
            values: columns.iter().map(|column| column.values[place]).collect(),
        };
        let mut notes = Vec::new();
        if groups.is_mixed() {
            notes.push("The strings of a group have several labels, so groups have no classes.".to_owned());
        }
        Self {
            kind,
            settings: BTreeMap::new(),
            bits: groups.length(),
            pairs: known.pairs.iter().enumerate().map(pair).collect(),
            groups: rows,
            columns: columns.into_iter().map(|column| column.name).collect(),
            score: "",
            matrix: Vec::new(),
            relations: Vec::new(),
            notes,
        }
    }

    /// Adds what follows from the rest.
    fn finished(mut self) -> Self {
        self.matrix = vec![vec![None; self.groups.len()]; self.groups.len()];
        for place in 0..self.pairs.len() {
            let ([a, b], value) = (self.pairs[place].groups, self.value(self.score, place));
            (self.matrix[a][b], self.matrix[b][a]) = (value, value);
        }
        self.notes.extend(self.relations.iter().flat_map(Relation::sentences));
        self
    }

    /// Returns the number of a pair in the named column. `None` if there is no such column or pair, or no number.
    #[must_use]
    pub fn value(&self, column: &str, pair: usize) -> Option<f64> {
        let at = self.columns.iter().position(|own| own.name == column)?;
        self.pairs.get(pair)?.values[at]
    }

    /// Returns the relation of the named score, if there is one.
    #[must_use]
    pub fn relation(&self, score: &str) -> Option<&Relation> {
        self.relations.iter().find(|relation| relation.score == score)
    }
}

/// Counts the pairs that are done.
struct Watch<'a> {
    of: usize,
    done: Mutex<usize>,
    progress: Option<&'a OnPairs>,
}

impl<'a> Watch<'a> {
    fn new(of: usize, progress: Option<&'a OnPairs>) -> Self {
        Self { of, done: Mutex::new(0), progress }
    }

    /// Says that another pair is done.
    fn done(&self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        if let Some(progress) = self.progress {
            progress(*done, self.of);
        }
    }
}

/// Checks that the context may compute on the CPU.
fn refuse_device(ctx: &Context) -> Result<()> {
    match ctx.policy().backend {
        Backend::Gpu => {
            Err(Error::domain(NAME, "expected the backend auto or cpu: tournaments are computed on the CPU"))
        }
        _ => Ok(()),
    }
}
