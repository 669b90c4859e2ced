//! Finds the columns of a table that describe graphs.

use super::ids::IdKind;
use super::values::{is_text, item};
use super::wrong;
use crate::error::Result;
use crate::io::{
    NAMED_ENDS, NO_COLUMN, are_ends, check_order, edge_columns, ignored, is_index, is_named_weight, may_be_index,
    weight_column,
};
use arrow_schema::{DataType, Schema};

/// What a column says of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The graph that an edge belongs to, in a table with a row for each edge.
    Graph,
    /// The number of nodes of the graph.
    NodeCount,
    /// The sources of edges: lists of nodes numbered from 0 within their graph, or an id of any kind in each row.
    Sources,
    /// The targets of edges.
    Targets,
    /// Both ends of the edges of a graph, or of the edge in a row.
    EdgeIndex,
    /// The weights of edges.
    Weights,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 6] =
        [Self::Graph, Self::NodeCount, Self::Sources, Self::Targets, Self::EdgeIndex, Self::Weights];

    /// Returns the names by which a column is found if no name was given, in the order of the search.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Graph => &["graph", "graph_id"],
            Self::NodeCount => &["num_nodes"],
            Self::Sources => &["src", "source", "row", "from", "u"],
            Self::Targets => &["dst", "target", "col", "to", "v"],
            Self::EdgeIndex => &["edge_index", "edges", "edge", "pair"],
            Self::Weights => &["weight", "edge_weight"],
        }
    }

    /// Returns the role that a user names by the first of its columns' names.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.names()[0] == name)
    }
}

/// The names of the columns that describe graphs. By default, columns are found by the names that [`Role::names`]
/// lists. In a table with a row for each edge, columns are also found by the names that the first line of an edge list
/// may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns([Option<String>; 6]);

impl Columns {
    /// Sets the name of the column of a role.
    #[must_use]
    pub fn named(mut self, role: Role, name: impl Into<String>) -> Self {
        self.0[role as usize] = Some(name.into());
        self
    }

    fn said(&self, role: Role) -> Option<&str> {
        self.0[role as usize].as_deref()
    }

    /// Returns the index of the column of a role. A column that was not named must be of a type that `fits`.
    fn find(&self, schema: &Schema, role: Role, fits: impl Fn(&DataType) -> bool) -> Result<Option<usize>> {
        if let Some(name) = self.said(role) {
            return Ok(Some(at(schema, name)?));
        }
        let found = role.names().iter().filter_map(|name| schema.index_of(name).ok());
        Ok(found.into_iter().find(|&index| fits(schema.field(index).data_type())))
    }

    /// Returns whether each row of a table is an edge.
    #[must_use]
    pub fn in_edge_rows(&self, schema: &Schema) -> bool {
        self.edges(schema).is_ok_and(|edges| edges.ids().is_some())
    }

    /// Finds the columns that describe graphs.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if there are none, or a column is of another type than its role takes.
    pub(super) fn of(&self, schema: &Schema) -> Result<Found> {
        let edges = self.edges(schema)?;
        let long = edges.ids().is_some();
        let numbers = |kind: &DataType| if long { kind.is_numeric() } else { item(kind).is_some_and(is_number) };
        let listed = match edges {
            Edges::Table(source, target, _) if self.said(Role::Weights).is_none() => {
                self.weights_of_table(schema, source, target)?
            }
            _ => None,
        };
        // A number in a column `weight` beside lists of edges is not of an edge, and is left alone.
        let weights = match listed {
            None => self.find(schema, Role::Weights, |kind| long || numbers(kind))?,
            found => found,
        };
        let nodes = self.find(schema, Role::NodeCount, |_| true)?;
        let graph = if long { self.find(schema, Role::Graph, |_| true)? } else { None };
        let check = |index: Option<usize>, fits: bool, expected: &str| match index {
            Some(index) if !fits => Err(unfit(schema, index, expected)),
            _ => Ok(()),
        };
        let kind = |index: Option<usize>| index.map(|index| schema.field(index).data_type());
        check(weights, kind(weights).is_none_or(numbers), if long { "numbers" } else { "lists of numbers" })?;
        check(nodes, kind(nodes).is_none_or(is_number), "integers")?;
        check(graph, kind(graph).is_none_or(is_name), "integers or text")?;
        Ok(Found { edges, weights, nodes, graph })
    }

    /// Returns the columns that may have edges and weights in a table with a row for each edge, as an edge list has
    /// them. An index is none of them.
    fn of_an_edge_list<'a>(&self, schema: &'a Schema) -> (Vec<usize>, Vec<&'a str>) {
        let index = self.index(schema);
        let own = self.of_edges(schema).into_iter().filter(|at| !index.contains(at));
        own.map(|at| (at, schema.field(at).name().as_str())).unzip()
    }

    /// Returns the columns other than those of the graph and of the number of nodes.
    fn of_edges(&self, schema: &Schema) -> Vec<usize> {
        let others = [Role::Graph, Role::NodeCount].map(|role| self.find(schema, role, |_| true).ok().flatten());
        (0..schema.fields().len()).filter(|&at| !others.contains(&Some(at))).collect()
    }

    /// Returns the columns that are an index: by their names, or because pandas stored them as one and their names are
    /// not those of ends. Integers in a column `index` are one if the columns beside it have the ends. A column that
    /// the call names is none.
    fn index(&self, schema: &Schema) -> Vec<usize> {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let named = edge_columns(&names).ok().flatten();
        let is_end = |at: usize| named.is_some_and(|(source, target)| [source, target].contains(&at));
        let said = |at: usize| Role::ALL.into_iter().any(|role| self.said(role) == Some(names[at]));
        let stored = stored_index(schema);
        let is_own = |at: usize| is_index(names[at]) || !is_end(at) && stored.iter().any(|name| name == names[at]);
        let (mut index, others): (Vec<usize>, Vec<usize>) =
            self.of_edges(schema).into_iter().partition(|&at| !said(at) && is_own(at));
        let kind = |at: usize| schema.field(at).data_type();
        let is_word = |at: usize| may_be_index(names[at]) && kind(at).is_integer() && !said(at);
        if let Some(word) = others.iter().copied().find(|&at| is_word(at)) {
            let others: Vec<usize> = others.into_iter().filter(|&at| at != word).collect();
            if named.is_some() || others.len() > 1 && others[..2].iter().all(|&at| is_name(kind(at))) {
                index.push(word);
            }
        }
        index
    }

    /// Returns the column of the weights that an edge list with these columns would have.
    fn weights_of_table(&self, schema: &Schema, source: usize, target: usize) -> Result<Option<usize>> {
        let (places, names) = self.of_an_edge_list(schema);
        let place = |column: usize| places.iter().position(|&place| place == column);
        let Some(ends) = place(source).zip(place(target)) else { return Ok(None) };
        let columns = schema.fields().len() - self.index(schema).len();
        let found = weight_column(&names, columns, ends).map_err(contradiction)?.map(|weight| places[weight]);
        let fits = |kind: &DataType, name: &str| kind.is_numeric() || is_named_weight(name);
        Ok(found.filter(|&found| fits(schema.field(found).data_type(), schema.field(found).name())))
    }

    /// Says which columns of a table were taken for the ends and the weights of edges although their names do not say
    /// so, and which columns of a table with a row for each edge are not read.
    #[must_use]
    pub fn notice(&self, schema: &Schema) -> Option<String> {
        let found = self.of(schema).ok()?;
        let name = |index: usize| schema.field(index).name().as_str();
        let known = |index: &usize| {
            self.said(Role::Weights) == Some(name(*index)) || Role::Weights.names().contains(&name(*index))
        };
        let weights = found.weights.filter(|index| !known(index));
        let weights = weights
            .map(|at| format!("the column `{}` was read as the weights of the edges, as in an edge list.", name(at)));
        let (ends, unread) = match found.edges {
            Edges::Table(source, target, _) => {
                let in_order = self.said(Role::Sources).is_none() && !are_named(schema, source, target);
                let (one, other) = (name(source), name(target));
                let words = || {
                    format!("the columns `{one}` and `{other}` were read as the ends of the edges, as in an edge list.")
                };
                (in_order.then(words), Some([source, target]))
            }
            Edges::Pairs(index, _) => (None, Some([index; 2])),
            Edges::Rows(..) | Edges::Index(_) => (None, None),
        };
        let unread = unread.and_then(|[source, target]| {
            let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
            let [weights, graph, nodes] = [found.weights, found.graph, found.nodes].map(|at| at.unwrap_or(NO_COLUMN));
            ignored(&names, &[source, target, weights, graph, nodes])
        });
        let all: Vec<String> = ends.into_iter().chain(weights).chain(unread).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    fn edges(&self, schema: &Schema) -> Result<Edges> {
        let lists = |kind: &DataType| *kind == DataType::Null || item(kind).is_some_and(is_number);
        let kind_of = |index: usize| schema.field(index).data_type();
        // Of columns that are no ends, the error names one whose values are text in a CSV file.
        let ends = |source: usize, target: usize| match [source, target].map(kind_of) {
            [a, b] if lists(a) && lists(b) => Ok(Some(Edges::Rows(source, target))),
            [a, b] if is_id(a) && is_id(b) => Ok(Some(Edges::Table(source, target, IdKind::of(a, b)))),
            kinds => match kinds.iter().position(|kind| kind.is_temporal() || **kind == DataType::Boolean) {
                Some(end) => Err(uncast(schema, [source, target][end])),
                None => Ok(None),
            },
        };
        let both = |index: usize| match item(kind_of(index)) {
            Some(inner) if item(inner).is_some_and(is_number) => Some(Edges::Index(index)),
            Some(inner) if is_name(inner) => Some(Edges::Pairs(index, IdKind::of(inner, inner))),
            _ => None,
        };
        if self.said(Role::Sources).or(self.said(Role::Targets)).is_some() {
            let found = |role: Role| {
                let found = self.find(schema, role, |_| true)?;
                found.map_or_else(|| at(schema, role.names()[0]), Ok)
            };
            let [source, target] = [found(Role::Sources)?, found(Role::Targets)?];
            let expected = "integers, text, or lists of integers, as in the column of the other ends";
            return ends(source, target)?.ok_or_else(|| unfit(schema, source, expected));
        }
        if let Some(name) = self.said(Role::EdgeIndex) {
            let index = at(schema, name)?;
            let expected = "two lists of integers, a list of pairs of integers, or a pair of ids";
            return both(index).ok_or_else(|| unfit(schema, index, expected));
        }
        let mut named = Role::EdgeIndex.names().iter().filter_map(|name| schema.index_of(name).ok());
        if let Some(found) = named.find_map(both) {
            return Ok(found);
        }
        let names = Role::Sources.names().iter().zip(Role::Targets.names());
        let mut named = names.filter_map(|(a, b)| Some((schema.index_of(a).ok()?, schema.index_of(b).ok()?)));
        let named = named.find_map(|(source, target)| ends(source, target).transpose()).transpose();
        if let Ok(Some(found @ Edges::Rows(..))) = named {
            return Ok(found);
        }
        let (places, names) = self.of_an_edge_list(schema);
        // As in an edge list, two columns of ids are the ends under any names, and so are those before a number.
        let in_order = || -> Result<Option<Edges>> {
            let (&[source, target], others) = places.split_at(places.len().min(2)) else { return Ok(None) };
            if others.len() > 1 || !others.iter().all(|&at| kind_of(at).is_numeric()) {
                return Ok(None);
            }
            let found = ends(source, target)?.filter(|_| is_name(kind_of(source)) && is_name(kind_of(target)));
            found.map(|found| check_order(&names).map(|()| found).map_err(contradiction)).transpose()
        };
        let found = match edge_columns(&names).map_err(contradiction)? {
            Some((source, target)) => ends(places[source], places[target])?,
            None => match named? {
                None => in_order()?,
                found => found,
            },
        };
        found.filter(|edges| edges.ids().is_some()).ok_or_else(|| {
            let fields = schema.fields().iter().map(|field| format!("{} ({})", field.name(), field.data_type()));
            let found = fields.collect::<Vec<_>>().join(", ");
            let expected =
                "expected the columns src and dst of integers, of text or of lists of integers, or edge_index";
            let advice = if self.index(schema).is_empty() { "" } else { INDEX_ADVICE };
            wrong(format!("{expected}; found {}{advice}", if found.is_empty() { "no columns" } else { &found }))
        })
    }
}

/// The columns that describe graphs, by their indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) edges: Edges,
    pub(super) weights: Option<usize>,
    pub(super) nodes: Option<usize>,
    pub(super) graph: Option<usize>,
}

impl Found {
    /// Returns whether a row is an edge.
    pub(super) fn is_long(self) -> bool {
        self.edges.ids().is_some()
    }

    /// Returns whether a column lists edges or their weights.
    pub(super) fn lists_edges(self, column: usize) -> bool {
        self.weights == Some(column)
            || match self.edges {
                Edges::Rows(a, b) | Edges::Table(a, b, _) => [a, b].contains(&column),
                Edges::Index(index) | Edges::Pairs(index, _) => index == column,
            }
    }
}

/// The columns of the edges: sources and targets, or both in one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Edges {
    /// A row is a graph, and lists the ends of its edges in two columns.
    Rows(usize, usize),
    /// A row is a graph, and lists its edges in one column.
    Index(usize),
    /// A row is an edge, whose ends are in two columns.
    Table(usize, usize, IdKind),
    /// A row is an edge, whose ends are in one column.
    Pairs(usize, IdKind),
}

impl Edges {
    /// Returns the type of the ids of nodes if a row is an edge.
    pub(super) fn ids(self) -> Option<IdKind> {
        match self {
            Self::Table(.., kind) | Self::Pairs(_, kind) => Some(kind),
            Self::Rows(..) | Self::Index(_) => None,
        }
    }
}

/// What an error advises if a table without known ends has a column whose name is that of an index.
const INDEX_ADVICE: &str = "; an index is no end of edges: name the columns of both ids src and dst, or drop the index";

fn contradiction(found: String) -> crate::Error {
    wrong(format!("expected {NAMED_ENDS}, found {found}"))
}

fn uncast(schema: &Schema, index: usize) -> crate::Error {
    let field = schema.field(index);
    let (name, kind) = (field.name(), field.data_type());
    wrong(format!("expected ids of integers or text in the column `{name}`, found {kind}; cast the column to text"))
}

fn at(schema: &Schema, name: &str) -> Result<usize> {
    schema.index_of(name).map_err(|_| {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        wrong(format!("expected a column `{name}`, found {}", names.join(", ")))
    })
}

fn unfit(schema: &Schema, index: usize, expected: &str) -> crate::Error {
    let field = schema.field(index);
    wrong(format!("expected {expected} in the column `{}`, found {}", field.name(), field.data_type()))
}

/// Returns the names of the columns that pandas says in the metadata of a schema to have been the index of the table.
fn stored_index(schema: &Schema) -> Vec<String> {
    let said: Option<serde_json::Value> =
        schema.metadata().get("pandas").and_then(|said| serde_json::from_str(said).ok());
    let columns = said.as_ref().and_then(|said| said.get("index_columns")?.as_array());
    // An index that only counts is no column, but an object that describes it.
    columns.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Returns whether values of this type are numbers, or all null.
fn is_number(kind: &DataType) -> bool {
    kind.is_numeric() || *kind == DataType::Null
}

/// Returns whether values of this type can name nodes in columns of edges.
fn is_id(kind: &DataType) -> bool {
    kind.is_floating() || is_name(kind)
}

/// Returns whether values of this type can name graphs and nodes.
fn is_name(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_id(values),
        _ => kind.is_integer() || is_text(kind),
    }
}

/// Returns whether the names of two columns say that they are the ends of edges.
fn are_named(schema: &Schema, source: usize, target: usize) -> bool {
    let names = [source, target].map(|at| schema.field(at).name().as_str());
    let pairs = Role::Sources.names().iter().zip(Role::Targets.names());
    pairs.into_iter().any(|(a, b)| [*a, *b] == names) || are_ends(names)
}
