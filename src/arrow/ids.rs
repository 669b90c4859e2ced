//! The ids of nodes in a table with a row for each edge. They follow the rule of edge lists: ids of any kind, in
//! ascending order if all are natural numbers, and else in the order in which they first appear. White space around a
//! text does not belong to the id.

use super::listed::Fault;
use super::refused;
use super::values::{Lists, Numbers, is_text, text_at};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::io::{NodeIds, distinct, integer, numbering};
use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::DataType;
use arrow_select::take::take;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

/// The names in a column: of nodes, or of the graphs that rows belong to.
pub(super) enum Names<'a> {
    Numbers(Numbers<'a>),
    Text(ArrayRef),
}

impl<'a> Names<'a> {
    /// Borrows the names of an array: integers as they are, and what else names something as text.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if it has neither numbers nor text.
    pub(super) fn of(column: &'a ArrayRef) -> Result<Self> {
        match column.data_type() {
            kind if kind.is_integer() || *kind == DataType::Null => Ok(Self::Numbers(Numbers::of(column)?)),
            _ => Ok(Self::Text(as_text(column)?)),
        }
    }

    /// Borrows the names of an array of ids whose type in the result is `kind`.
    fn of_kind(column: &'a ArrayRef, kind: IdKind) -> Result<Self> {
        if kind == IdKind::Text { Ok(Self::Text(as_text(column)?)) } else { Self::of(column) }
    }
}

/// Returns an array as text, in which numbers are written as in a CSV file.
fn as_text(column: &ArrayRef) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            as_text(&take(dictionary.values(), dictionary.keys(), None).map_err(|error| refused(&error))?)
        }
        kind if is_text(kind) => Ok(Arc::clone(column)),
        kind => {
            let (numbers, floats) = (Numbers::of(column)?, kind.is_floating());
            let text = |row: usize| match floats {
                true => numbers.real(row).map(|number| format!("{number:?}")),
                false => numbers.integer(row).map(|number| number.to_string()),
            };
            Ok(Arc::new((0..column.len()).map(text).collect::<StringArray>()))
        }
    }
}

/// The type in which the result has the ids of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdKind {
    Int64,
    UInt64,
    Text,
}

impl IdKind {
    /// Returns the type for the ids of two columns, which is text unless both have integers.
    pub(super) fn of(source: &DataType, target: &DataType) -> Self {
        let both = |own: fn(&DataType) -> bool| [source, target].into_iter().all(own);
        match (both(|kind| *kind == DataType::UInt64), both(DataType::is_integer)) {
            (true, _) => Self::UInt64,
            (_, true) => Self::Int64,
            _ => Self::Text,
        }
    }

    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Int64 => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
            Self::Text => DataType::Utf8,
        }
    }

    /// Returns a list of ids for each row, and null where a row has no graph.
    pub(super) fn lists(self, rows: &[Option<&GraphIds>]) -> ArrayRef {
        macro_rules! integers {
            ($builder:expr, $convert:expr) => {{
                let mut lists = ListBuilder::new($builder);
                for row in rows {
                    if let Some(ids) = row {
                        ids.integers().for_each(|id| lists.values().append_value($convert(id)));
                    }
                    lists.append(row.is_some());
                }
                Arc::new(lists.finish())
            }};
        }
        match self {
            Self::Int64 => integers!(Int64Builder::new(), |id: i64| id),
            Self::UInt64 => integers!(UInt64Builder::new(), i64::cast_unsigned),
            Self::Text => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                for row in rows {
                    if let Some(ids) = row {
                        ids.texts(false).for_each(|id| lists.values().append_value(id));
                    }
                    lists.append(row.is_some());
                }
                Arc::new(lists.finish())
            }
        }
    }
}

/// The ids of the nodes of a graph, in the order of the nodes.
#[derive(Clone, Debug)]
pub(super) enum GraphIds {
    /// Consecutive ids: the first, and the number of nodes.
    Counting(i64, u64),
    /// The bits of integers.
    Integers(Vec<i64>),
    Text(Vec<String>),
}

impl GraphIds {
    fn integers(&self) -> Box<dyn Iterator<Item = i64> + '_> {
        match self {
            Self::Counting(first, nodes) => Box::new(*first..first.saturating_add_unsigned(*nodes)),
            Self::Integers(ids) => Box::new(ids.iter().copied()),
            Self::Text(_) => Box::new(std::iter::empty()),
        }
    }

    fn texts(&self, unsigned: bool) -> Box<dyn Iterator<Item = String> + '_> {
        match self {
            Self::Text(ids) => Box::new(ids.iter().cloned()),
            other if unsigned => Box::new(other.integers().map(|id| id.cast_unsigned().to_string())),
            other => Box::new(other.integers().map(|id| id.to_string())),
        }
    }

    /// Returns the number of nodes.
    pub(super) fn nodes(&self) -> u64 {
        match self {
            Self::Counting(_, nodes) => *nodes,
            Self::Integers(ids) => ids.len() as u64,
            Self::Text(ids) => ids.len() as u64,
        }
    }

    /// Returns whether the ids are 0, 1, 2 and so on.
    pub(super) fn is_counting(&self) -> bool {
        match self {
            Self::Counting(first, _) => *first == 0,
            Self::Integers(ids) => ids.iter().zip(0..).all(|(&id, place)| id == place),
            Self::Text(_) => false,
        }
    }
}

/// Returns the ids of all graphs as an edge list has them: integers if all are natural numbers, and `None` if those of
/// every graph are 0, 1, 2 and so on.
pub(super) fn joined(graphs: &[GraphIds], kind: IdKind) -> Option<NodeIds> {
    if graphs.iter().all(GraphIds::is_counting) {
        return None;
    }
    let natural = |ids: &GraphIds| !matches!(ids, GraphIds::Text(_)) && ids.integers().all(|id| id >= 0);
    Some(match graphs.iter().all(natural) {
        true => NodeIds::Integers(graphs.iter().flat_map(GraphIds::integers).collect()),
        false => NodeIds::Text(graphs.iter().flat_map(|ids| ids.texts(kind == IdKind::UInt64)).collect()),
    })
}

/// The ids at the ends of the edges of a table.
pub(super) struct EdgeIds<'a> {
    ends: Ends<'a>,
    pub(super) kind: IdKind,
    /// The names of the columns of the sources and of the targets.
    columns: [&'a str; 2],
}

enum Ends<'a> {
    Two([Names<'a>; 2]),
    /// Both ids of an edge are a list in its row.
    Pairs(Lists<'a>, Names<'a>),
}

impl<'a> EdgeIds<'a> {
    pub(super) fn two(batch: &'a RecordBatch, ends: [usize; 2], kind: IdKind) -> Result<Self> {
        let [source, target] = ends.map(|at| Names::of_kind(batch.column(at), kind));
        Ok(Self { ends: Ends::Two([source?, target?]), kind, columns: ends.map(|at| name(batch, at)) })
    }

    pub(super) fn pairs(batch: &'a RecordBatch, column: usize, kind: IdKind) -> Result<Self> {
        let lists = Lists::of(batch.column(column))?;
        let names = Names::of_kind(lists.values, kind)?;
        Ok(Self { ends: Ends::Pairs(lists, names), kind, columns: [name(batch, column); 2] })
    }

    /// Says that an end is missing, in a row of a graph that begins at another row.
    fn no_end(&self, found: &str, end: usize, row: usize, first: usize) -> Fault {
        let place = self.place(end, row, first);
        Fault::bad(format!("expected a node at each end of an edge, found {found} {place}"))
    }

    /// Says where a fault is. Rows count from 1 in each graph, since a batch does not know how many were before it.
    fn place(&self, end: usize, row: usize, first: usize) -> String {
        format!("in the column `{}` in row {}", self.columns[end], row - first + 1)
    }

    /// Returns the names of the source and of the target in a row of a graph that begins at another row, and their
    /// places in these.
    fn at(&self, row: usize, first: usize) -> Result<[(&Names<'a>, usize); 2], Fault> {
        match &self.ends {
            Ends::Two([source, target]) => Ok([(source, row), (target, row)]),
            Ends::Pairs(lists, names) => match lists.of_row(row) {
                Some(own) if own.len() == 2 => Ok([(names, own.start), (names, own.start + 1)]),
                Some(own) => {
                    let place = self.place(0, row, first);
                    Err(Fault::bad(format!("expected the 2 ids of an edge, found {} {place}", own.len())))
                }
                None => Err(self.no_end("null", 0, row, first)),
            },
        }
    }

    /// Numbers the nodes of the graph whose edges are in these rows. Returns the source and the target of each edge,
    /// one after the other, and the ids of the nodes. `said` is the number of nodes that the table has. Then the ids
    /// count from 0, or from 1 if that number is an id, unless it is the number of different ids.
    pub(super) fn number(&self, rows: Range<usize>, said: Option<i128>) -> Result<(Vec<u32>, GraphIds), Fault> {
        match self.kind {
            IdKind::Text => self.number_texts(rows, said),
            _ => self.number_integers(rows, said),
        }
    }

    fn number_integers(&self, rows: Range<usize>, said: Option<i128>) -> Result<(Vec<u32>, GraphIds), Fault> {
        let mut ids = Vec::with_capacity(2 * rows.len());
        let first = rows.start;
        for row in rows {
            for (end, (names, at)) in self.at(row, first)?.into_iter().enumerate() {
                let no_end = || self.no_end("null", end, row, first);
                let Names::Numbers(numbers) = names else { return Err(no_end()) };
                let id = numbers.integer(at).ok_or_else(no_end)?;
                let unsigned = || u64::try_from(id).ok().filter(|_| self.kind == IdKind::UInt64).map(u64::cast_signed);
                let wrong = || Fault::bad(format!("expected ids below 2^63 beside signed integers, found {id}"));
                ids.push(i64::try_from(id).ok().or_else(unsigned).ok_or_else(wrong)?);
            }
        }
        if ids.iter().all(|&id| id >= 0) {
            return natural(&ids, said);
        }
        let mut nodes = HashMap::new();
        let (mut names, mut ends) = (Vec::new(), Vec::with_capacity(ids.len()));
        for id in ids {
            ends.push(node_of(&mut nodes, &mut names, id)?);
        }
        matching(said, ends, GraphIds::Integers(names))
    }

    fn number_texts(&self, rows: Range<usize>, said: Option<i128>) -> Result<(Vec<u32>, GraphIds), Fault> {
        let mut nodes = HashMap::new();
        let (mut names, mut ends) = (Vec::new(), Vec::with_capacity(2 * rows.len()));
        let first = rows.start;
        for row in rows {
            for (end, (own, at)) in self.at(row, first)?.into_iter().enumerate() {
                let text = match own {
                    Names::Text(array) => text_at(array, at).map(str::trim),
                    Names::Numbers(_) => None,
                };
                let id = text.filter(|id| !id.is_empty());
                let found = if text.is_some() { "an empty id" } else { "null" };
                ends.push(node_of(&mut nodes, &mut names, id.ok_or_else(|| self.no_end(found, end, row, first))?)?);
            }
        }
        let numbers: Option<Vec<i64>> = names.iter().map(|id| integer(id).map(u64::cast_signed)).collect();
        match numbers {
            Some(numbers) => natural(&ends.iter().map(|&end| numbers[end as usize]).collect::<Vec<_>>(), said),
            None => matching(said, ends, GraphIds::Text(names.into_iter().map(str::to_owned).collect())),
        }
    }
}

pub(super) fn name(batch: &RecordBatch, column: usize) -> &str {
    batch.schema_ref().field(column).name()
}

/// Returns the index of a node, which is new if its name is.
fn node_of<T: Copy + Eq + Hash>(nodes: &mut HashMap<T, u32>, names: &mut Vec<T>, name: T) -> Result<u32, Fault> {
    match nodes.entry(name) {
        Entry::Occupied(known) => Ok(*known.get()),
        Entry::Vacant(new) => {
            let node = u32::try_from(names.len()).map_err(|_| Fault::too_large("a graph of more than 2^32 nodes"))?;
            names.push(name);
            Ok(*new.insert(node))
        }
    }
}

/// Numbers nodes whose ids are natural numbers.
fn natural(ids: &[i64], said: Option<i128>) -> Result<(Vec<u32>, GraphIds), Fault> {
    let all = || ids.iter().map(|&id| id.cast_unsigned());
    let nodes = said.and_then(|said| u64::try_from(said).ok()).filter(|&said| said <= u32::MAX.into());
    let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
    let first = nodes.and_then(|nodes| (0..2).find(|&first| least >= first && most < nodes + first));
    if let (Some(nodes), Some(first)) = (nodes, first.filter(|_| !ids.is_empty())) {
        #[expect(clippy::cast_possible_truncation, reason = "the ids are below a number of nodes of 32 bits")]
        let ends = all().map(|id| (id - first) as u32).collect();
        return Ok((ends, GraphIds::Counting(first.cast_signed(), nodes)));
    }
    // Graphs are numbered side by side, each of them without a stop; a graph as large as a file is read once.
    let names = distinct(all(), ids.len(), &Cancel::new()).unwrap_or_default();
    let node = numbering(&names, ids.len());
    let ends = all().map(node).collect();
    matching(said, ends, GraphIds::Integers(names.into_iter().map(u64::cast_signed).collect()))
}

/// Checks that there are as many ids as the table has nodes. Nodes without edges have no ids.
fn matching(said: Option<i128>, ends: Vec<u32>, ids: GraphIds) -> Result<(Vec<u32>, GraphIds), Fault> {
    let found = ids.nodes();
    match said {
        Some(said) if said != i128::from(found) => Err(Fault::bad(format!(
            "expected the ids of {said} nodes, as the table says, or numbers below that; found {found} different ids"
        ))),
        _ => Ok((ends, ids)),
    }
}
