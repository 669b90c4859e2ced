//! Decides whether the first line of an edge list is an edge, a header of counts, or a header of words. The decision
//! depends on the rest of the file. If it remains doubtful, a notice says how the line was read.

use super::lines::{Lines, natural, quoted};
use super::metis::Metis;
use super::rows::{A_ROW, Form};
use crate::error::{Error, Result};
use std::path::Path;

/// If fewer edges than this follow the first line, the line may be an edge whose numbers equal the counts by chance.
const FEW: u64 = 10;

/// The first line that is neither a comment nor a header of words.
pub(super) struct Opening {
    pub(super) line: u64,
    text: String,
    fields: usize,
    /// The fields of the line, padded with zeros; `None` unless all fields are natural numbers that [`integer`]
    /// accepts.
    numbers: Option<[u64; 3]>,
    /// Whether the fields are names of the columns of both ids, such as `u` and `v`.
    pub(super) names: bool,
    /// The error for a line that cannot be an edge because the next line has a different form. `None` if the line may
    /// be an edge.
    pub(super) misfit: Option<Error>,
}

/// A description of the edges after the first line.
pub(super) struct Rest {
    pub(super) edges: u64,
    /// The number of distinct ids.
    pub(super) ids: u64,
    /// The least and the greatest id; `None` if an id is not a number.
    pub(super) range: Option<(u64, u64)>,
    /// Whether each of the two numbers in [`Opening::ends`] occurs as an id in these edges. If the ids are text, this
    /// field says whether the source and the target of the first line occur in these edges.
    pub(super) has: [bool; 2],
    /// The distinct edges, ignoring their direction; `None` if the first line cannot be a count of distinct edges
    /// ([`Opening::may_count_fewer`]).
    pub(super) distinct: Option<Distinct>,
}

/// The distinct edges of a list, where an edge and its reverse are the same edge.
pub(super) struct Distinct {
    /// The number of distinct edges.
    edges: u64,
    /// Whether every edge is listed exactly once in each direction, and every self-loop exactly once.
    mirrored: bool,
}

impl Distinct {
    pub(super) fn new<T: Ord + Copy>(pairs: impl Iterator<Item = (T, T)>) -> Self {
        let mut all: Vec<(T, T, bool)> = pairs.map(|(a, b)| (a.min(b), a.max(b), a > b)).collect();
        all.sort_unstable();
        let (mut edges, mut mirrored) = (0, true);
        for run in all.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
            edges += 1;
            mirrored &= match run {
                [(a, b, _)] => a == b,
                [(_, _, false), (_, _, true)] => true,
                _ => false,
            };
        }
        Self { edges, mirrored }
    }
}

/// How the first line is read.
pub(super) enum Reading {
    /// The line is an ordinary edge.
    Edge,
    /// The line is a header. If it states the number of nodes, and all ids of the file fit into that many consecutive
    /// ids, the variant contains the id of the first node and the number of nodes.
    Header(Option<(u64, u64)>),
}

/// Parses a natural number that is at most [`i64::MAX`] and has no leading zeros. `007` is not accepted as a number,
/// because it is a different id than `7`.
pub(crate) fn integer(field: &str) -> Option<u64> {
    let number = natural(field.as_bytes())?;
    (number <= i64::MAX.cast_unsigned() && (!field.starts_with('0') || field.len() == 1)).then_some(number)
}

/// Formats a count with its noun, as in `1 edge` and `2 edges`.
pub(super) fn count(number: u64, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

impl Opening {
    pub(super) fn new(line: u64, text: &str, parts: [&str; 3], form: Form) -> Self {
        let fields = form.columns;
        let all = parts.iter().take(fields).map(|part| integer(part)).collect::<Option<Vec<u64>>>();
        let number = |all: &[u64], place: usize| all.get(place).copied().unwrap_or(0);
        let numbers = all.filter(|_| (1..=3).contains(&fields) && !form.data);
        let numbers = numbers.map(|all| [number(&all, 0), number(&all, 1), number(&all, 2)]);
        Self { line, text: text.chars().take(60).collect(), fields, numbers, names: false, misfit: None }
    }

    /// Returns whether the line is a single number, and therefore not an edge.
    pub(super) fn is_lone(&self) -> bool {
        self.fields == 1 && self.numbers.is_some()
    }

    /// Returns whether the line may be a header with the number of nodes and the number of edges, as `nodes edges` or
    /// `nodes nodes edges`.
    pub(super) fn may_be_header(&self) -> bool {
        self.claim().is_some()
    }

    /// Returns the number of nodes and the number of edges that the line states, if it may be a header with both.
    fn claim(&self) -> Option<(u64, u64)> {
        match (self.fields, self.numbers?) {
            (2, [nodes, edges, _]) => Some((nodes, edges)),
            (3, [rows, columns, edges]) if rows == columns => Some((rows, edges)),
            _ => None,
        }
    }

    /// Returns whether the line states fewer edges than `edges`, the number of listed edges, but at least half of that
    /// number. The file may then list both directions of an edge, or list some edges more than once.
    pub(super) fn may_count_fewer(&self, edges: u64) -> bool {
        self.claim().is_some_and(|(_, claimed)| claimed < edges && edges <= 2 * claimed)
    }

    /// Returns the two numbers that [`Rest::has`] describes. Both are in the first line.
    pub(super) fn ends(&self) -> Option<[u64; 2]> {
        self.claim().map(|(nodes, edges)| [nodes, edges])
    }

    /// Returns the error for a file that contains only this line.
    pub(super) fn alone(&self, lines: &Lines) -> Error {
        if self.is_lone() {
            lines.error_at(self.line, A_ROW, self.shown())
        } else {
            lines.error("at least one edge", "none before the end")
        }
    }

    fn shown(&self) -> String {
        quoted(self.text.as_bytes())
    }

    fn notice(&self, path: &Path, what: impl std::fmt::Display) -> String {
        format!("{}:{}: `{}` {what}", path.display(), self.line, self.text)
    }

    /// Returns the notice that the first line was read as an edge although its ids occur in no other line. This
    /// notice is only for files whose ids are text.
    pub(super) fn unknown_ids(&self, path: &Path) -> String {
        self.notice(path, "was read as an edge, though neither id occurs again; if it is a header, put # before it.")
    }

    /// Returns the notice that the first line was read as the names of the columns.
    pub(super) fn names_notice(&self, path: &Path) -> String {
        self.notice(path, "was read as the names of the columns, since neither is an id below it.")
    }

    /// Decides how to read the first line, given a description of the rest of the file. Also returns a notice if there
    /// is something to report.
    pub(super) fn read(&mut self, path: &Path, rest: &Rest) -> Result<(Reading, Option<String>)> {
        if self.is_lone() {
            return self.read_lone(path, rest);
        }
        let claim = self.claim().filter(|&(nodes, _)| rest.edges > 0 && nodes >= rest.ids);
        let Some((nodes, edges)) = claim else {
            return self.misfit.take().map_or(Ok((Reading::Edge, None)), Err);
        };
        let counted = edges == rest.edges;
        let distinct = rest.distinct.as_ref().filter(|distinct| distinct.edges == edges);
        let first = rest.first_of(nodes);
        let fits = first.is_some() || nodes == rest.ids;
        let proved = match distinct {
            // If the other lines list every edge in both directions, the first line cannot be an edge, because its
            // reverse is not listed.
            Some(distinct) => {
                distinct.mirrored || self.misfit.is_some() || (rest.edges >= FEW && rest.has != [true; 2])
            }
            None => counted && !self.is_by_chance(rest, nodes),
        };
        if proved && fits {
            let nodes = first.map(|first| (first, nodes));
            self.check_nodes(path, rest, nodes)?;
            return Ok((Reading::Header(nodes), Some(self.header_notice(path, rest, distinct, nodes))));
        }
        let follow = format!("{} among {} follow", count(rest.edges, "edge"), count(rest.ids, "id"));
        if self.misfit.take().is_some() {
            let expected = format!("an edge as the next line has it, or a header that fits: {follow}");
            return Err(Error::parse(path, Some(self.line), expected, self.shown()));
        }
        let counted = counted || distinct.is_some();
        let doubtful = match self.fields {
            2 => counted || rest.has == [false; 2] || (fits && rest.has != [true; 2]),
            _ => counted || !rest.has[0],
        };
        let what = format!("was read as an edge; if it is a header, put # before it: {follow}.");
        Ok((Reading::Edge, doubtful.then(|| self.notice(path, what))))
    }

    /// Returns whether the first line may be an edge whose numbers equal the counts by chance. This is possible only if
    /// there are few edges, the line has the form of an edge, and the number of edges that it states also occurs as an
    /// id in another line. A further condition applies if the ids of the other lines fit into `nodes` consecutive ids
    /// that begin at 0 or at 1: they must be exactly the ids from 1 to `nodes - 1`, so that only the id `nodes` is
    /// missing.
    fn is_by_chance(&self, rest: &Rest, nodes: u64) -> bool {
        let likely = match rest.first_of(nodes) {
            Some(first) => first == 1 && !rest.has[0] && rest.ids + 1 == nodes,
            None => true,
        };
        self.misfit.is_none() && rest.has[1] && likely && rest.edges < FEW
    }

    fn header_notice(
        &self,
        path: &Path,
        rest: &Rest,
        distinct: Option<&Distinct>,
        nodes: Option<(u64, u64)>,
    ) -> String {
        let edges = distinct.map_or(rest.edges, |distinct| distinct.edges);
        let listed = match distinct {
            Some(Distinct { mirrored: true, .. }) => ", in both directions",
            Some(_) => ", some more than once",
            None => "",
        };
        let what = format!(
            "was read as a header: {} among {}{} follow{listed}{}.",
            count(edges, "edge"),
            count(nodes.map_or(rest.ids, |(_, nodes)| nodes), "node"),
            rest.isolated(nodes),
            if self.misfit.is_none() { "; if it is an edge, move it below another one" } else { "" }
        );
        self.notice(path, what)
    }

    /// Returns the notice that the file may also be a METIS graph.
    pub(super) fn metis_notice(&self, path: &Path, metis: &Metis, reading: &Reading) -> String {
        let read = if matches!(reading, Reading::Edge) { "the first edge" } else { "the header" };
        let what = format!(
            "was read as {read} of an edge list, but the file is a METIS graph of {} and {} just as well; if it is that, \
             give it the ending .graph.",
            count(metis.nodes, "node"),
            count(metis.edges, "edge")
        );
        self.notice(path, what)
    }

    /// Reads a first line that is a single number as the number of edges or the number of nodes.
    fn read_lone(&mut self, path: &Path, rest: &Rest) -> Result<(Reading, Option<String>)> {
        let number = self.numbers.map_or(0, |numbers| numbers[0]);
        let first = rest.first_of(number);
        let (of_edges, of_nodes) = (number == rest.edges, first.is_some() || number == rest.ids);
        let nodes = first.map(|first| (first, number)).filter(|_| !of_edges || number == rest.ids);
        let what = match (of_edges, of_nodes) {
            (true, true) if nodes.is_none() && number != rest.ids => format!(
                "was read as the number of edges; as that of nodes it would mean {} without any.",
                count(number - rest.ids, "node")
            ),
            (true, true) => "was read as a count: that many nodes and edges follow.".to_owned(),
            (true, false) => "was read as the number of edges, for that many follow.".to_owned(),
            (false, true) => {
                self.check_nodes(path, rest, nodes)?;
                format!("was read as the number of nodes, which the ids fit{}.", rest.isolated(nodes))
            }
            (false, false) => {
                let expected = format!(
                    "two ids, or the number of edges or nodes: {} among {} follow",
                    count(rest.edges, "edge"),
                    count(rest.ids, "id")
                );
                return Err(Error::parse(path, Some(self.line), expected, self.shown()));
            }
        };
        Ok((Reading::Header(nodes), Some(self.notice(path, what))))
    }

    /// Returns an error if the stated number of nodes is implausibly large, so that a wrong number does not allocate
    /// memory.
    fn check_nodes(&self, path: &Path, rest: &Rest, nodes: Option<(u64, u64)>) -> Result<()> {
        let most = rest.edges.saturating_mul(64).saturating_add(1 << 24);
        match nodes {
            Some((_, nodes)) if nodes > most => {
                let expected = format!("at most {most} nodes for {}", count(rest.edges, "edge"));
                Err(Error::parse(path, Some(self.line), expected, self.shown()))
            }
            _ => Ok(()),
        }
    }
}

impl Rest {
    /// Returns the first id if all ids fit into `nodes` consecutive ids that begin at 0 or at 1. If both beginnings are
    /// possible, returns 1, because the id 0 does not occur.
    fn first_of(&self, nodes: u64) -> Option<u64> {
        let (least, greatest) = self.range?;
        match least {
            0 => (greatest < nodes).then_some(0),
            _ => (greatest <= nodes).then_some(1),
        }
    }

    fn isolated(&self, nodes: Option<(u64, u64)>) -> String {
        match nodes {
            Some((first, nodes)) if nodes > self.ids => {
                let last = first + nodes - 1;
                format!(" (ids {first} to {last}; {} without any edge)", nodes - self.ids)
            }
            _ => String::new(),
        }
    }
}
