//! Tables with a row for each edge: which rows belong to one graph, and how a stream of them becomes batches of whole
//! graphs.

use super::columns::{Columns, Found};
use super::ids::Names;
use super::values::text_at;
use super::{refused, wrong};
use crate::error::Result;
use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use std::collections::HashSet;

/// The names of the graphs that the rows of a table belong to.
pub(super) struct Ids<'a> {
    rows: usize,
    /// `None` if all rows are edges of one graph.
    names: Option<Names<'a>>,
}

/// The name of a graph. `None` is null.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Id {
    Number(Option<i128>),
    Text(Option<String>),
}

impl<'a> Ids<'a> {
    pub(super) fn of(batch: &'a RecordBatch, found: Found) -> Result<Self> {
        let names = found.graph.map(|graph| Names::of(batch.column(graph))).transpose()?;
        Ok(Self { rows: batch.num_rows(), names })
    }

    fn at(&self, row: usize) -> Id {
        match &self.names {
            None => Id::Number(None),
            Some(Names::Numbers(numbers)) => Id::Number(numbers.integer(row)),
            Some(Names::Text(array)) => Id::Text(text_at(array, row).map(str::to_owned)),
        }
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        match &self.names {
            None => true,
            Some(Names::Numbers(numbers)) => numbers.integer(a) == numbers.integer(b),
            Some(Names::Text(array)) => text_at(array, a) == text_at(array, b),
        }
    }

    /// Returns the first row of each run, and the number of all rows.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the rows of a graph are not consecutive, or a row names no graph.
    pub(super) fn begins(&self) -> Result<Vec<usize>> {
        let starts_run = |&row: &usize| row == 0 || !self.is_same(row - 1, row);
        let mut begins: Vec<usize> = (0..self.rows).filter(starts_run).collect();
        let mut seen = Seen::default();
        if self.names.is_some() {
            begins.iter().try_for_each(|&row| seen.add(self.at(row)))?;
        }
        begins.push(self.rows);
        Ok(begins)
    }
}

/// The graphs whose runs have begun.
#[derive(Debug, Default)]
struct Seen(HashSet<Id>);

impl Seen {
    fn add(&mut self, id: Id) -> Result<()> {
        let shown = match &id {
            Id::Number(None) | Id::Text(None) => return Err(wrong("expected a graph in every row, found null")),
            Id::Number(Some(number)) => number.to_string(),
            Id::Text(Some(text)) => format!("{text:?}"),
        };
        if !self.0.insert(id) {
            return Err(wrong(format!("expected the edges of a graph in consecutive rows, found graph {shown} again")));
        }
        Ok(())
    }
}

/// Turns a stream of batches whose rows are edges into batches of whole graphs: the rows of the last graph of a batch
/// wait until another graph begins. Batches with a graph in each row are handed on as they are.
#[derive(Debug)]
pub struct Runs {
    columns: Columns,
    waiting: Vec<RecordBatch>,
    last: Option<Id>,
    seen: Seen,
}

impl Runs {
    /// Begins a stream of tables whose columns are found by these names.
    #[must_use]
    pub fn new(columns: Columns) -> Self {
        Self { columns, waiting: Vec::new(), last: None, seen: Seen::default() }
    }

    /// Takes the next batch. Returns the graphs that are complete now, if any.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the batch has no columns of edges, or the rows of a graph are not
    /// consecutive.
    pub fn push(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let found = self.columns.of(&batch.schema())?;
        if !found.is_long() {
            return Ok(Some(batch));
        }
        let Some(last) = batch.num_rows().checked_sub(1) else { return Ok(None) };
        let ids = Ids::of(&batch, found)?;
        let begins = ids.begins()?;
        let (first, end) = (ids.at(0), ids.at(last));
        let goes_on = self.last.as_ref() == Some(&first);
        if found.graph.is_some() {
            let new = usize::from(goes_on);
            begins[new..begins.len() - 1].iter().try_for_each(|&row| self.seen.add(ids.at(row)))?;
        }
        let begin = begins[begins.len() - 2];
        self.last = Some(end);
        if begin == 0 && goes_on {
            self.waiting.push(batch);
            return Ok(None);
        }
        let complete = batch.slice(0, begin);
        let rest = batch.slice(begin, batch.num_rows() - begin);
        let mut ready = std::mem::replace(&mut self.waiting, vec![rest]);
        if begin > 0 {
            ready.push(complete);
        }
        joined(&ready)
    }

    /// Ends the stream, and returns the last graph, if there is one.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if Arrow refuses to join its rows.
    pub fn finish(mut self) -> Result<Option<RecordBatch>> {
        joined(&std::mem::take(&mut self.waiting))
    }
}

fn joined(batches: &[RecordBatch]) -> Result<Option<RecordBatch>> {
    match batches {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        [first, ..] => concat_batches(&first.schema(), batches).map(Some).map_err(|error| refused(&error)),
    }
}
