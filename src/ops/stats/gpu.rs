//! Moments on the device: the leaves, the tree that merges them, and the statistics of its root. The functions only
//! record commands; none of them waits.

use super::kernels::{
    Append, Appending, Ends, Finish, GROUPS, Leaf, Merge, Nodes, Rows, Sample, Shift, leaf_variant, merge_variant,
};
use super::tree::{Tree, subtrees};
use super::{LEAF, Nan, View, count};
use crate::device::{Buffer, Gpu, Grid, Recorder, Shared};
use crate::error::Result;
use crate::shape::to_u32;

/// The number of vectors of four words in a node.
const WORDS: usize = 3;
/// The number of operations per element of a leaf, for both passes together.
const FLOPS: f64 = 20.0;

/// One node for each series, in one buffer.
pub(super) type Node = Shared<[u32; 4]>;

/// The statistics of every series, on the device. Each buffer holds one value per series, except that `counts` holds
/// two words.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) mean: Buffer<f32>,
    pub(super) variance: Buffer<f32>,
    pub(super) least: Buffer<f32>,
    pub(super) most: Buffer<f32>,
    pub(super) skewness: Buffer<f32>,
    pub(super) kurtosis: Buffer<f32>,
    pub(super) counts: Buffer<u32>,
}

/// Returns the maximum number of bytes of device memory that the moments of an array take in addition to the array
/// itself.
pub(super) fn bytes(view: View) -> u64 {
    let nodes = view.series() as u64 * view.len.div_ceil(LEAF).max(1) as u64;
    // The leaves, half as many merged nodes, and the results.
    nodes * 16 * WORDS as u64 * 3 / 2 + view.series() as u64 * (4 * 9 + 16 * WORDS as u64)
}

/// Reduces every series of `x` to one node.
pub(super) fn root(gpu: &Gpu, x: &Buffer<f32>, view: View, nan: Nan) -> Result<Node> {
    let mut rec = gpu.record();
    let shifts = shifts(&mut rec, x, view, 0..view.len)?;
    run(&mut rec, x, view, 0, view.len, &shifts, nan)
}

/// Returns, for every series, a value near its elements, computed from the first elements within `rows`.
fn shifts(rec: &mut Recorder<'_>, x: &Buffer<f32>, view: View, rows: std::ops::Range<usize>) -> Result<Buffer<f32>> {
    let series = to_u32(view.series());
    let mut shifts = rec.array(view.series())?;
    let params = Sample {
        series,
        len: to_u32(view.len),
        inner: to_u32(view.inner),
        begin: to_u32(rows.start),
        end: to_u32(rows.end),
    };
    rec.dispatch(&Shift { params, x, shifts: &mut shifts }, &[], Grid::Invocations(series), 128.0 * f64::from(series))?;
    Ok(shifts)
}

/// Reduces the rows `begin..end` of every series to one node: computes the leaves, then merges them pairwise. Row
/// `begin` has to start a leaf.
fn run(
    rec: &mut Recorder<'_>,
    x: &Buffer<f32>,
    view: View,
    begin: usize,
    end: usize,
    shifts: &Buffer<f32>,
    nan: Nan,
) -> Result<Node> {
    let series = view.series();
    // An empty range still makes one leaf, which has no elements.
    let mut leaves = (end - begin).div_ceil(LEAF).max(1);
    let mut nodes = rec.array(WORDS * series * leaves)?;
    let variant = leaf_variant(view.inner > 1, nan == Nan::Omit);
    let units = to_u32(series.div_ceil(GROUPS) * leaves);
    let work = FLOPS * count(GROUPS * LEAF.min(end - begin));
    for range in rec.ranges(units, work) {
        let params = Rows {
            first: range.first,
            series: to_u32(series),
            len: to_u32(view.len),
            inner: to_u32(view.inner),
            begin: to_u32(begin),
            end: to_u32(end),
        };
        let kernel = Leaf { params, x, shifts, nodes: &mut nodes };
        rec.dispatch(&kernel, &variant, range.grid(), range.flops)?;
    }
    while leaves > 1 {
        let half = leaves.div_ceil(2);
        let mut out = rec.array(WORDS * series * half)?;
        let invocations = to_u32(series * half);
        let params = Nodes { series: to_u32(series), nodes: to_u32(leaves) };
        let kernel = Merge { params, left: &nodes, right: &nodes, out: &mut out };
        rec.dispatch(&kernel, &merge_variant(false), Grid::Invocations(invocations), 64.0 * f64::from(invocations))?;
        (nodes, leaves) = (out, half);
    }
    Ok(nodes.share())
}

/// Merges two nodes of every series.
pub(super) fn merge(rec: &mut Recorder<'_>, series: usize, left: &Node, right: &Node) -> Result<Node> {
    let mut out = rec.array(WORDS * series)?;
    let params = Nodes { series: to_u32(series), nodes: 2 };
    let work = 64.0 * count(series);
    let kernel = Merge { params, left, right, out: &mut out };
    rec.dispatch(&kernel, &merge_variant(true), Grid::Invocations(to_u32(series)), work)?;
    Ok(out.share())
}

/// Computes the statistics of every series from its moments.
pub(super) fn finish(gpu: &Gpu, node: &Node, series: usize, ddof: u32) -> Result<Found> {
    let mut rec = gpu.record();
    let mut found = Found {
        mean: rec.array(series)?,
        variance: rec.array(series)?,
        least: rec.array(series)?,
        most: rec.array(series)?,
        skewness: rec.array(series)?,
        kurtosis: rec.array(series)?,
        counts: rec.array(2 * series)?,
    };
    let params = Ends { series: to_u32(series), ddof, nan: f32::NAN.to_bits(), infinity: f32::INFINITY.to_bits() };
    let Found { mean, variance, least, most, skewness, kurtosis, counts } = &mut found;
    let kernel = Finish { params, nodes: node, mean, variance, least, most, skewness, kurtosis, counts };
    rec.dispatch(&kernel, &[], Grid::Invocations(to_u32(series)), 64.0 * count(series))?;
    Ok(found)
}

/// A stream of rows of `series` columns on the device: the tree, and the tail, which holds the rows that do not fill a
/// leaf yet. A stream is never cloned, because its tail is written in place.
#[derive(Debug)]
pub(super) struct Stream {
    series: usize,
    nan: Nan,
    shifts: Option<Buffer<f32>>,
    tree: Tree<Node>,
    tail: Option<Buffer<f32>>,
    held: usize,
}

impl Stream {
    pub(super) fn new(series: usize, nan: Nan) -> Self {
        Self { series, nan, shifts: None, tree: Tree::default(), tail: None, held: 0 }
    }

    fn tail_view(&self) -> View {
        View { outer: self.series, len: LEAF, inner: 1 }
    }

    /// Appends the rows of `x`, which has `view.len` elements in each series.
    pub(super) fn push(&mut self, gpu: &Gpu, x: &Buffer<f32>, view: View) -> Result<()> {
        if self.series == 0 {
            return Ok(());
        }
        let mut rec = gpu.record();
        let mut next = 0;
        if self.held > 0 {
            next = view.len.min(LEAF - self.held);
            self.keep(&mut rec, x, view, 0, next)?;
            if self.held == LEAF {
                self.close(&mut rec)?;
            }
        }
        let leaves = (view.len - next) / LEAF;
        if leaves > 0 && self.shifts.is_none() {
            self.shifts = Some(shifts(&mut rec, x, view, next..view.len)?);
        }
        let first = self.tree.leaves();
        for (level, leaf) in subtrees(first..first + leaves as u64, 16) {
            let Some(shifts) = &self.shifts else { break };
            let begin = next + usize::try_from(leaf - first).unwrap_or(usize::MAX) * LEAF;
            let node = run(&mut rec, x, view, begin, begin + (LEAF << level), shifts, self.nan)?;
            self.tree.push(level, node, |a, b| merge(&mut rec, self.series, &a, &b))?;
        }
        next += leaves * LEAF;
        self.keep(&mut rec, x, view, next, view.len - next)
    }

    /// Copies `rows` rows of `x`, from row `begin` on, to the tail, where the rows start or continue a leaf.
    fn keep(&mut self, rec: &mut Recorder<'_>, x: &Buffer<f32>, view: View, begin: usize, rows: usize) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let mut tail = match self.tail.take() {
            Some(tail) => tail,
            None => rec.array(self.series * LEAF)?,
        };
        let params = Appending {
            series: to_u32(self.series),
            len: to_u32(view.len),
            inner: to_u32(view.inner),
            begin: to_u32(begin),
            count: to_u32(rows),
            room: to_u32(LEAF),
            held: to_u32(self.held),
        };
        let numbers = self.series * rows;
        let done = rec.dispatch(
            &Append { params, x, tail: &mut tail },
            &[],
            Grid::Invocations(to_u32(numbers)),
            count(numbers),
        );
        self.tail = Some(tail);
        done?;
        self.held += rows;
        Ok(())
    }

    /// Reduces the rows in the tail to a node; returns `None` if the tail is empty.
    fn last(&self, rec: &mut Recorder<'_>) -> Result<Option<Node>> {
        let Some(tail) = self.tail.as_ref().filter(|_| self.held > 0) else { return Ok(None) };
        let made;
        let shifts = match &self.shifts {
            Some(shifts) => shifts,
            None => {
                made = shifts_of_tail(rec, tail, self.tail_view(), self.held)?;
                &made
            }
        };
        run(rec, tail, self.tail_view(), 0, self.held, shifts, self.nan).map(Some)
    }

    /// Appends the tail, which is a whole leaf, to the tree.
    fn close(&mut self, rec: &mut Recorder<'_>) -> Result<()> {
        if let (None, Some(tail)) = (&self.shifts, &self.tail) {
            self.shifts = Some(shifts_of_tail(rec, tail, self.tail_view(), self.held)?);
        }
        if let Some(node) = self.last(rec)? {
            self.tree.push(0, node, |a, b| merge(rec, self.series, &a, &b))?;
        }
        self.held = 0;
        Ok(())
    }

    /// Reduces all rows to one node; returns `None` if there are no rows.
    pub(super) fn root(&self, gpu: &Gpu) -> Result<Option<Node>> {
        let mut rec = gpu.record();
        let last = self.last(&mut rec)?;
        self.tree.root(last, |a, b| merge(&mut rec, self.series, &a, &b))
    }
}

fn shifts_of_tail(rec: &mut Recorder<'_>, tail: &Buffer<f32>, view: View, held: usize) -> Result<Buffer<f32>> {
    shifts(rec, tail, view, 0..held)
}
