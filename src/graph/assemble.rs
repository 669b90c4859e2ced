//! Builds the compressed sparse rows of graphs from listed edges with counting sorts. The graphs are built one after
//! the other, so scratch memory is needed for only one graph at a time.

use super::refusal::{Reason, Refusal};
use super::{Conventions, Duplicates, EdgeList, GraphBatch, Merged, SelfLoops, Symmetrization, Weights};
use crate::cancel::Cancel;
use crate::error::{Error, Result};

pub(super) const BUILD: &str = "graph from edges";

/// The reason why the current graph cannot be built.
enum Refused {
    /// The row of an edge, its column, and the reason why it is refused.
    Edge(usize, usize, Reason),
    /// Another error.
    Error(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The type of the weights while graphs are built. Sums are computed in f64.
trait Weight: Copy + Default + Into<f64> {
    /// Converts a weight that was converted to f64 before or, if the type is f64, was added up there.
    fn of(weight: f64) -> Self;
}

impl Weight for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "the weight was an f32")]
    fn of(weight: f64) -> Self {
        weight as Self
    }
}

impl Weight for f64 {
    fn of(weight: f64) -> Self {
        weight
    }
}

/// The entries of consecutive rows. Each entry has a column and, if the graphs are weighted, a weight.
#[derive(Default)]
struct Rows<W> {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<W>,
    /// The net flow of each entry, if the conventions ask for flows and the rows are symmetrized.
    flows: Vec<f64>,
}

/// The edges of an [`EdgeList`], whose weights have the type W.
struct Listed<W> {
    node_offsets: Vec<usize>,
    source: Vec<u32>,
    target: Vec<u32>,
    weights: Option<Vec<W>>,
}

pub(super) fn assemble(
    edges: EdgeList,
    conventions: &Conventions,
    cancel: &Cancel,
) -> Result<(GraphBatch, Merged), Refusal> {
    check_conventions(conventions)?;
    check(&edges, conventions.signed, cancel)?;
    // Sums and means may have more digits than an f32 has. Those of up to 2^22 ones do not.
    let sums = conventions.duplicates == Duplicates::Sum
        || matches!(conventions.symmetrization, Symmetrization::Sum | Symmetrization::Mean);
    let EdgeList { node_offsets, source, target, weights } = edges;
    match weights {
        None if !sums || source.len() < 1 << 22 => {
            assemble_in::<f32>(Listed { node_offsets, source, target, weights: None }, sums, conventions, cancel)
        }
        None => assemble_in::<f64>(Listed { node_offsets, source, target, weights: None }, sums, conventions, cancel),
        Some(Weights::F32(weights)) if !sums => {
            let weights = Some(weights);
            assemble_in(Listed { node_offsets, source, target, weights }, true, conventions, cancel)
        }
        Some(mut weights) => {
            let weights = Some(std::mem::take(weights.wide()));
            assemble_in(Listed { node_offsets, source, target, weights }, true, conventions, cancel)
        }
    }
}

/// Builds the graphs of valid edges. `weighted` says whether weights other than 1 are possible: those of the list, the
/// sums of duplicates, and the sums or means of both directions.
fn assemble_in<W: Weight>(
    edges: Listed<W>,
    weighted: bool,
    conventions: &Conventions,
    cancel: &Cancel,
) -> Result<(GraphBatch, Merged), Refusal>
where
    Weights: From<Vec<W>>,
{
    let edges = if is_better_reversed(&edges, conventions) { reversed(edges) } else { edges };
    let (node_offsets, mut listed) = group_by_source(edges, weighted, cancel)?;

    let mut row_offsets = Vec::with_capacity(listed.offsets.len());
    row_offsets.push(0);
    let mut out = Rows { offsets: row_offsets, columns: Vec::with_capacity(listed.columns.len()), ..Rows::default() };
    let (mut rows, mut transposed, mut scratch) = (Rows::default(), Rows::default(), Vec::new());
    let mut counts = Merged::default();
    for (index, graph) in node_offsets.windows(2).enumerate() {
        cancel.check()?;
        let span = &listed.offsets[graph[0]..=graph[1]];
        check_graph(&listed, span, graph[0], graph[1])?;
        let refused = |refused| match refused {
            Refused::Edge(row, column, reason) => Refusal::edge(index, graph[0], (row, column), reason),
            Refused::Error(error) => Refusal::List(error),
        };
        if node_offsets.len() == 2 && listed.is_merged() {
            // The only graph is not copied.
            rows = std::mem::take(&mut listed);
        } else {
            let rule = (conventions.duplicates, &mut counts);
            rows.merge(&listed, span, graph[0], rule, &mut scratch, cancel).map_err(refused)?;
        }
        if conventions.symmetrization == Symmetrization::Keep {
            transposed.become_empty(rows.offsets.len());
        } else {
            transposed.become_transpose(&rows, cancel)?;
        }
        for row in 0..graph[1] - graph[0] {
            cancel.check()?;
            append_row(&mut out, [&rows, &transposed], row, conventions, weighted, &mut counts).map_err(refused)?;
        }
    }
    let Rows { offsets: row_offsets, mut columns, weights, flows } = out;
    columns.shrink_to_fit();
    let weights = Weights::from(weights).stored();
    let flows = Some(flows).filter(|flows| flows.iter().any(|&flow| flow != 0.0));
    Ok((GraphBatch { node_offsets, row_offsets, columns, weights, flows, conventions: *conventions }, counts))
}

fn check_conventions(conventions: &Conventions) -> Result<()> {
    match conventions.symmetrization {
        // An undirected edge may be listed once, so its flow is not known.
        found @ (Symmetrization::Sum | Symmetrization::Keep) if conventions.flows => {
            let found = format!("{found:?}").to_lowercase();
            let what = format!("expected the symmetrization max, mean or error of a graph with flows, found {found}");
            Err(Error::domain(BUILD, what))
        }
        _ => Ok(()),
    }
}

/// Checks the requirements for all lists: every node exists, and every weight is finite and, unless the graphs are
/// signed, not negative.
fn check(edges: &EdgeList, signed: bool, cancel: &Cancel) -> Result<()> {
    let nodes = edges.nodes();
    for (edge, (&source, &target)) in edges.source.iter().zip(&edges.target).enumerate() {
        cancel.check_at(edge)?;
        if source.max(target) as usize >= nodes {
            let what = format!("edge {edge} ({source}, {target}) names a node that is not among the {nodes}");
            return Err(Error::domain(BUILD, what));
        }
    }
    for (edge, weight) in edges.weights().iter().flat_map(|weights| weights.iter()).enumerate() {
        if !weight.is_finite() || weight < 0.0 && !signed {
            let but = if signed { "" } else { " that is not negative" };
            let what = format!("edge {edge} has the weight {weight}; expected a finite one{but}");
            return Err(Error::domain(BUILD, what));
        }
    }
    Ok(())
}

/// Returns whether the reversed edges give the same graph and are already grouped by source, so that they need not be
/// sorted. Files often list an undirected edge once, and the edges in the order of either end.
///
/// The graph of the reversed edges is the transpose, and these symmetrizations make both equal. A list that the
/// conventions may refuse stays as it is, because an error names the first refused edge in the order of the sources.
fn is_better_reversed<W>(edges: &Listed<W>, conventions: &Conventions) -> bool {
    edges.node_offsets.len() == 2
        // The flows of the transpose are the negative ones.
        && !conventions.flows
        && matches!(conventions.symmetrization, Symmetrization::Max | Symmetrization::Mean)
        && matches!(conventions.duplicates, Duplicates::Max | Duplicates::First | Duplicates::Last)
        && !edges.source.is_sorted()
        && edges.target.is_sorted()
}

fn reversed<W>(Listed { node_offsets, source, target, weights }: Listed<W>) -> Listed<W> {
    Listed { node_offsets, source: target, target: source, weights }
}

/// Groups the list by source and returns the node offsets and the groups. Within a group, edges keep the order in which
/// they are listed. The memory of the list is freed on return.
fn group_by_source<W: Weight>(edges: Listed<W>, weighted: bool, cancel: &Cancel) -> Result<(Vec<usize>, Rows<W>)> {
    let Listed { node_offsets, source, target, weights } = edges;
    let nodes = node_offsets.last().copied().unwrap_or(0);
    let mut offsets = vec![0; nodes + 1];
    count_starts(&mut offsets, source.iter().map(|&node| node as usize));
    if source.is_sorted() {
        let ones = || vec![W::of(1.0); target.len()];
        let weights = if weighted { weights.unwrap_or_else(ones) } else { Vec::new() };
        return Ok((node_offsets, Rows { offsets, columns: target, weights, flows: Vec::new() }));
    }
    let mut columns = vec![0; target.len()];
    let mut sorted = if weighted { vec![W::of(1.0); target.len()] } else { Vec::new() };
    for (edge, &node) in source.iter().enumerate() {
        cancel.check_at(edge)?;
        let place = &mut offsets[node as usize];
        columns[*place] = target[edge];
        if let Some(weights) = &weights {
            sorted[*place] = weights[edge];
        }
        *place += 1;
    }
    ends_to_starts(&mut offsets);
    Ok((node_offsets, Rows { offsets, columns, weights: sorted, flows: Vec::new() }))
}

/// Computes the start of each bucket of a counting sort by `keys`. `offsets` must contain a zero for each bucket and
/// one additional zero.
fn count_starts(offsets: &mut [usize], keys: impl Iterator<Item = usize>) {
    for key in keys {
        offsets[key] += 1;
    }
    let mut sum = 0;
    for offset in offsets {
        (*offset, sum) = (sum, sum + *offset);
    }
}

/// Restores the starts of the buckets. While entries were placed, each start advanced to the end of its bucket, which
/// is the start of the next bucket.
fn ends_to_starts(offsets: &mut [usize]) {
    let last = offsets.len() - 1;
    offsets.copy_within(..last, 1);
    offsets[0] = 0;
}

fn check_graph<W>(listed: &Rows<W>, span: &[usize], first: usize, end: usize) -> Result<()> {
    let entries = &listed.columns[span[0]..span[span.len() - 1]];
    let Some(odd) = entries.iter().find(|&&column| !(first..end).contains(&(column as usize))) else { return Ok(()) };
    let what = format!("an edge joins two graphs: it ends at node {odd}, and starts in the graph of {first}..{end}");
    Err(Error::domain(BUILD, what))
}

impl<W: Weight> Rows<W> {
    /// Replaces these rows by the matrix W of one graph. `span` contains the offsets of the graph's rows in `listed`.
    /// Each row is sorted, and each run of duplicates is merged into one entry. The columns of the matrix count from
    /// `first`, the graph's first node.
    #[expect(clippy::cast_possible_truncation, reason = "columns come from u32 and only become smaller")]
    fn merge(
        &mut self,
        listed: &Self,
        span: &[usize],
        first: usize,
        (rule, counts): (Duplicates, &mut Merged),
        scratch: &mut Vec<(usize, f64)>,
        cancel: &Cancel,
    ) -> Result<(), Refused> {
        self.become_empty(1);
        for (row, pair) in span.windows(2).enumerate() {
            cancel.check()?;
            // Most lists have each row in ascending order, without duplicates. Such a row is only copied.
            if listed.columns[pair[0]..pair[1]].is_sorted_by(|a, b| a < b) {
                let columns = listed.columns[pair[0]..pair[1]].iter();
                self.columns.extend(columns.map(|&column| column - first as u32));
                self.weights.extend_from_slice(listed.weights.get(pair[0]..pair[1]).unwrap_or_default());
                self.offsets.push(self.columns.len());
                continue;
            }
            scratch.clear();
            let weight = |entry: usize| listed.weights.get(entry).map_or(1.0, |&weight| weight.into());
            scratch.extend((pair[0]..pair[1]).map(|entry| (listed.columns[entry] as usize - first, weight(entry))));
            // The sort is stable, so duplicates keep the order in which they are listed.
            scratch.sort_by_key(|entry| entry.0);
            for run in scratch.chunk_by(|a, b| a.0 == b.0) {
                let column = run[0].0;
                if run.len() > 1 && rule == Duplicates::Error {
                    return Err(Refused::Edge(row, column, Reason::Duplicate(run.len())));
                }
                self.columns.push(column as u32);
                if !listed.weights.is_empty() {
                    counts.count_duplicates(run.iter().map(|entry| entry.1), rule);
                    let weight = merged(run, rule);
                    if weight.is_infinite() {
                        return Err(Refused::Edge(row, column, Reason::Overflow));
                    }
                    self.weights.push(W::of(weight));
                }
            }
            self.offsets.push(self.columns.len());
        }
        Ok(())
    }

    /// Returns whether each row is in ascending order, without duplicates.
    fn is_merged(&self) -> bool {
        self.offsets.windows(2).all(|pair| self.columns[pair[0]..pair[1]].is_sorted_by(|a, b| a < b))
    }

    /// Removes all entries. `offsets` is the number of row offsets, which is the number of rows plus one.
    fn become_empty(&mut self, offsets: usize) {
        self.offsets.clear();
        self.offsets.resize(offsets, 0);
        self.columns.clear();
        self.weights.clear();
    }

    /// Replaces these rows by the transpose of the square matrix `of`. The rows of the transpose are sorted.
    fn become_transpose(&mut self, of: &Self, cancel: &Cancel) -> Result<()> {
        self.become_empty(of.offsets.len());
        count_starts(&mut self.offsets, of.columns.iter().map(|&column| column as usize));
        self.columns.resize(of.columns.len(), 0);
        self.weights.resize(of.weights.len(), W::default());
        for (row, pair) in (0..).zip(of.offsets.windows(2)) {
            for entry in pair[0]..pair[1] {
                cancel.check_at(entry)?;
                let place = &mut self.offsets[of.columns[entry] as usize];
                self.columns[*place] = row;
                if !of.weights.is_empty() {
                    self.weights[*place] = of.weights[entry];
                }
                *place += 1;
            }
        }
        ends_to_starts(&mut self.offsets);
        Ok(())
    }

    /// Returns the columns and the weights of a row. There are no weights if each is 1.
    fn row(&self, row: usize) -> (&[u32], &[W]) {
        let entries = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[entries.clone()], self.weights.get(entries).unwrap_or_default())
    }
}

/// Returns the weight of larger magnitude, and of w and -w the positive one.
fn larger(one: f64, other: f64) -> f64 {
    let is_larger = other.abs() > one.abs() || other > one && other == -one;
    if is_larger { other } else { one }
}

/// Merges the weights of a nonempty run of duplicates into one weight, which may overflow.
fn merged(run: &[(usize, f64)], rule: Duplicates) -> f64 {
    match rule {
        Duplicates::Sum => run.iter().map(|entry| entry.1).sum(),
        Duplicates::Max => run.iter().map(|entry| entry.1).fold(0.0, larger),
        Duplicates::First | Duplicates::Error => run[0].1,
        Duplicates::Last => run[run.len() - 1].1,
    }
}

/// Appends a row of the symmetrized matrix. It is computed from the same row of W and of the transpose of W.
fn append_row<W: Weight>(
    out: &mut Rows<W>,
    [rows, transposed]: [&Rows<W>; 2],
    row: usize,
    conventions: &Conventions,
    weighted: bool,
    counts: &mut Merged,
) -> Result<(), Refused> {
    let (forward, own_weights) = rows.row(row);
    let (backward, other_weights) = transposed.row(row);
    // Where each undirected edge of weight 1 is listed from its higher node, no entry is in both rows.
    let apart = || forward.last().zip(backward.first()).is_none_or(|(last, first)| last < first);
    if !weighted && conventions.symmetrization == Symmetrization::Max && apart() {
        out.columns.extend_from_slice(forward);
        out.columns.extend_from_slice(backward);
        forward.iter().filter(|&&column| column as usize != row).for_each(|_| counts.count([1.0, 0.0], conventions));
        if conventions.flows {
            out.flows.extend(forward.iter().map(|_| 1.0).chain(backward.iter().map(|_| -1.0)));
        }
        out.offsets.push(out.columns.len());
        return Ok(());
    }
    let (mut i, mut j) = (0, 0);
    while i < forward.len() || j < backward.len() {
        let (a, b) = (forward.get(i).copied().unwrap_or(u32::MAX), backward.get(j).copied().unwrap_or(u32::MAX));
        let column = a.min(b);
        let own = if a == column { own_weights.get(i).map_or(1.0, |&weight| weight.into()) } else { 0.0 };
        let other = if b == column { other_weights.get(j).map_or(1.0, |&weight| weight.into()) } else { 0.0 };
        (i, j) = (i + usize::from(a == column), j + usize::from(b == column));
        if conventions.self_loops == SelfLoops::Drop && column as usize == row {
            continue;
        }
        let refused = |reason| Refused::Edge(row, column as usize, reason);
        let weight = combined(own, other, conventions.symmetrization);
        let weight = weight.ok_or_else(|| refused(Reason::Asymmetric(own, other)))?;
        if !weight.is_finite() || conventions.flows && !(own - other).is_finite() {
            return Err(refused(Reason::Overflow));
        }
        // Once for each edge: in the row of its source or, if it is listed both ways, in the upper row.
        if own != 0.0 && column as usize != row && (other == 0.0 || column as usize > row) {
            counts.count([own, other], conventions);
        }
        // An edge of weight 0 is dropped, because it changes no matrix and must not connect two components.
        if weight != 0.0 {
            out.columns.push(column);
            if weighted {
                out.weights.push(W::of(weight));
            }
            if conventions.flows {
                out.flows.push(own - other);
            }
        }
    }
    out.offsets.push(out.columns.len());
    Ok(())
}

/// Combines the weight of an entry with the weight of its reverse. Returns `None` if the rule requires equal weights
/// and the two differ.
#[expect(clippy::float_cmp, reason = "symmetry is exact")]
fn combined(own: f64, other: f64, rule: Symmetrization) -> Option<f64> {
    match rule {
        Symmetrization::Keep => Some(own),
        Symmetrization::Sum => Some(own + other),
        Symmetrization::Mean => Some(own / 2.0 + other / 2.0),
        Symmetrization::Max => Some(larger(own, other)),
        Symmetrization::Error => (own == other).then_some(own),
    }
}
