//! Reads the graphs of a record batch: one in each row, or the runs of rows that are edges of one graph.

use super::columns::{Columns, Edges, Found};
use super::ids::{EdgeIds, name};
use super::listed::{Fault, Limits, Listed, Nodes};
use super::runs::Ids;
use super::values::{Lists, Numbers};
use super::wrong;
use crate::error::Result;
use arrow_array::RecordBatch;
use std::ops::Range;

/// The graphs of a record batch.
pub(super) struct Rows<'a> {
    ends: Ends<'a>,
    nodes: Option<Numbers<'a>>,
    /// The first row of each graph, and the number of all rows.
    begins: Vec<usize>,
}

/// How the edges of a graph are listed.
enum Ends<'a> {
    /// By two lists in its row.
    Pair { ends: [(Lists<'a>, Numbers<'a>); 2], weights: Option<(Lists<'a>, Numbers<'a>)> },
    /// By a list of lists in its row, which are the ends of an edge each (`pairs`), or the sources and the targets.
    Index {
        edges: Lists<'a>,
        inner: Lists<'a>,
        numbers: Numbers<'a>,
        pairs: bool,
        weights: Option<(Lists<'a>, Numbers<'a>)>,
    },
    /// By its rows. The column of the weights has a name.
    Table { ids: EdgeIds<'a>, weights: Option<(Numbers<'a>, &'a str)> },
}

impl<'a> Rows<'a> {
    pub(super) fn of(batch: &'a RecordBatch, columns: &Columns) -> Result<(Self, Found)> {
        let found = columns.of(&batch.schema())?;
        let lists = |index: usize| -> Result<(Lists<'a>, Numbers<'a>)> {
            let lists = Lists::of(batch.column(index))?;
            let numbers = Numbers::of(lists.values)?;
            Ok((lists, numbers))
        };
        let numbers = |index: usize| Numbers::of(batch.column(index));
        let named = |index: usize| -> Result<(Numbers<'a>, &'a str)> { Ok((numbers(index)?, name(batch, index))) };
        let ends = match found.edges {
            Edges::Rows(source, target) => {
                Ends::Pair { ends: [lists(source)?, lists(target)?], weights: found.weights.map(lists).transpose()? }
            }
            Edges::Index(index) => {
                let edges = Lists::of(batch.column(index))?;
                let inner = Lists::of(edges.values)?;
                let numbers = Numbers::of(inner.values)?;
                // A list of lists of two is a list of pairs. Two lists of any length are the sources and the targets.
                let pairs = matches!(edges.values.data_type(), arrow_schema::DataType::FixedSizeList(_, 2));
                Ends::Index { edges, inner, numbers, pairs, weights: found.weights.map(lists).transpose()? }
            }
            Edges::Table(source, target, kind) => Ends::Table {
                ids: EdgeIds::two(batch, [source, target], kind)?,
                weights: found.weights.map(named).transpose()?,
            },
            Edges::Pairs(index, kind) => {
                Ends::Table { ids: EdgeIds::pairs(batch, index, kind)?, weights: found.weights.map(named).transpose()? }
            }
        };
        let begins = match found.is_long() {
            true => Ids::of(batch, found)?.begins()?,
            false => (0..=batch.num_rows()).collect(),
        };
        Ok((Self { ends, nodes: found.nodes.map(numbers).transpose()?, begins }, found))
    }

    /// Returns the number of graphs.
    pub(super) fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns the first row of each graph, and the number of all rows.
    pub(super) fn begins(&self) -> &[usize] {
        &self.begins
    }

    fn is_weighted(&self) -> bool {
        match &self.ends {
            Ends::Pair { weights, .. } | Ends::Index { weights, .. } => weights.is_some(),
            Ends::Table { weights, .. } => weights.is_some(),
        }
    }

    /// Lists the graphs from `first` on that the limits hold, at least one.
    pub(super) fn take(&self, first: usize, limits: Limits, signed: bool) -> Listed {
        let mut listed = Listed::new(self.is_weighted(), signed);
        self.list(first, limits, &mut listed);
        listed
    }

    /// Adds the graphs from `first` on that the limits hold to those that are listed. Returns whether that is all of
    /// them.
    pub(super) fn list(&self, first: usize, limits: Limits, listed: &mut Listed) -> bool {
        (first..self.len()).all(|graph| {
            let nodes = self.read(self.begins[graph]..self.begins[graph + 1], listed);
            listed.end(nodes, limits)
        })
    }

    /// Reads the edges of a graph, and returns what is known about its nodes.
    fn read(&self, rows: Range<usize>, listed: &mut Listed) -> Result<Nodes, Fault> {
        let row = rows.start;
        match &self.ends {
            Ends::Pair { ends: [(sources, source), (targets, target)], weights } => {
                let (Some(from), Some(to)) = (sources.of_row(row), targets.of_row(row)) else { return Err(no_edges()) };
                pairs(listed, [(from, source), (to, target)], weights.as_ref(), row)?;
            }
            Ends::Index { edges, inner, numbers, pairs: true, weights } => {
                let own = edges.of_row(row).ok_or_else(no_edges)?;
                let ends = |edge: usize| inner.of_row(edge).map(|pair| [pair.start, pair.start + 1]);
                let weights = Weights::of(weights.as_ref(), row, own.len())?;
                for (place, edge) in own.enumerate() {
                    let pair = match ends(edge) {
                        Some([a, b]) => [numbers.whole(a)?, numbers.whole(b)?],
                        None => [None; 2],
                    };
                    listed.edge(pair, weights.at(place))?;
                }
            }
            Ends::Index { edges, inner, numbers, pairs: false, weights } => {
                let own = edges.of_row(row).ok_or_else(no_edges)?;
                if own.len() != 2 {
                    let found = own.len();
                    return Err(Fault::bad(format!("expected 2 lists, the sources and the targets, found {found}")));
                }
                let (Some(from), Some(to)) = (inner.of_row(own.start), inner.of_row(own.start + 1)) else {
                    return Err(no_edges());
                };
                pairs(listed, [(from, numbers), (to, numbers)], weights.as_ref(), row)?;
            }
            Ends::Table { ids, weights } => {
                let (ends, ids) = ids.number(rows.clone(), self.said(rows.clone())?)?;
                for (at, edge) in rows.zip(ends.chunks_exact(2)) {
                    let weight = weights
                        .as_ref()
                        .map(|(numbers, column)| weight((numbers, column), at, row, listed.signed))
                        .transpose()?;
                    listed.edge([edge[0], edge[1]].map(|node| Some(node.into())), weight)?;
                }
                return Ok(Nodes::Named(ids));
            }
        }
        Ok(self.said(rows)?.map_or(Nodes::Unsaid, Nodes::Said))
    }

    /// Returns the number of nodes that the rows of a graph have, if the table has it.
    fn said(&self, rows: Range<usize>) -> Result<Option<i128>, Fault> {
        let Some(nodes) = &self.nodes else { return Ok(None) };
        let said = nodes.whole(rows.start)?;
        for row in rows.skip(1) {
            let other = nodes.whole(row)?;
            if other != said {
                let shown =
                    |number: Option<i128>| number.map_or_else(|| "null".to_owned(), |number| number.to_string());
                let (said, other) = (shown(said), shown(other));
                return Err(Fault::bad(format!(
                    "expected one number of nodes in the rows of a graph, found {said} and {other}"
                )));
            }
        }
        Ok(said)
    }
}

/// Returns the weight of the edge in a row of a graph that begins at another row. As in an edge list, none is missing.
fn weight((numbers, column): (&Numbers<'_>, &str), row: usize, first: usize, signed: bool) -> Result<f64, Fault> {
    let weight = numbers.real(row);
    weight.filter(|weight| weight.is_finite() && (signed || *weight >= 0.0)).ok_or_else(|| {
        let found = weight.map_or_else(|| "null".to_owned(), |weight| weight.to_string());
        let place = format!("in the column `{column}` in row {}", row - first + 1);
        let but = if signed { "" } else { " and not negative" };
        Fault::bad(format!("expected a weight that is finite{but}, found {found} {place}"))
    })
}

fn no_edges() -> Fault {
    Fault::bad("expected a list of edges, found null")
}

/// Adds edges whose ends are in two lists.
fn pairs(
    listed: &mut Listed,
    [(from, source), (to, target)]: [(Range<usize>, &Numbers<'_>); 2],
    weights: Option<&(Lists<'_>, Numbers<'_>)>,
    row: usize,
) -> Result<(), Fault> {
    if from.len() != to.len() {
        return Err(Fault::bad(format!("expected as many targets as sources, found {} and {}", to.len(), from.len())));
    }
    let weights = Weights::of(weights, row, from.len())?;
    for (place, (a, b)) in from.zip(to).enumerate() {
        listed.edge([source.whole(a)?, target.whole(b)?], weights.at(place))?;
    }
    Ok(())
}

/// The weights of the edges of a row.
struct Weights<'a>(Option<(usize, &'a Numbers<'a>)>);

impl<'a> Weights<'a> {
    fn of(column: Option<&'a (Lists<'a>, Numbers<'a>)>, row: usize, edges: usize) -> Result<Self, Fault> {
        let Some((lists, numbers)) = column else { return Ok(Self(None)) };
        match lists.of_row(row) {
            None => Ok(Self(None)),
            Some(own) if own.len() == edges => Ok(Self(Some((own.start, numbers)))),
            Some(own) => Err(Fault::bad(format!("expected a weight for each of {edges} edges, found {}", own.len()))),
        }
    }

    fn at(&self, place: usize) -> Option<f64> {
        // A null among numbers is NaN in pandas, and here.
        self.0.map(|(first, numbers)| numbers.real(first + place).unwrap_or(f64::NAN))
    }
}

/// Returns the number of graphs as an error names them.
pub(super) fn too_many(values: &str) -> crate::Error {
    wrong(format!("expected fewer rows: the {values} of these graphs are more than Arrow's lists can number (2^31)"))
}
