//! Builds rows from edge lists on the device: writes both entries of every edge, sorts the entries by row and column
//! (stable radix sort, 4 bits per pass, least significant first), and keeps only the first of all entries that share
//! both their row and their column. If there are weights, the entries are sorted by descending weight before they are
//! sorted by row and column, so that the entry that is kept has the largest weight. No atomics are used, so every run
//! gives the same result. The result equals that of [`GraphBatch`] under the default
//! [`Conventions`](crate::graph::Conventions): an edge counts in both directions, the largest weight is kept if an edge
//! is listed several times, and self-loops and edges of weight 0 are dropped.
//!
//! [`GraphBatch`]: crate::graph::GraphBatch

use super::gpu::{Resident, Rows, Slab, check_rows};
use super::kernels::{
    BLOCK, Blocks, Bounds, Compact, Count, Digit, Edges, Entries, Expand, Histogram, Mark, Nodes, Raise, Scales, Scan,
    Scatter, VALUES, edge_variant, scales_variant, scatter_variant,
};
use crate::device::{Buffer, Gpu, Grid, Recorder};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::IsolatedDiagonal;
use crate::ops::Normalization;
use crate::shape::to_u32;

/// The number of bits of a digit of the radix sort.
const DIGIT: u32 = VALUES.ilog2();

/// The edge lists of a batch of graphs. Nodes are numbered consecutively through all graphs.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Listed<'a> {
    /// Graph g has the nodes `node_offsets[g]..node_offsets[g + 1]`.
    pub(in crate::ops) node_offsets: &'a [usize],
    pub(in crate::ops) sources: &'a [u32],
    pub(in crate::ops) targets: &'a [u32],
    /// The weight of each edge; `None` if every weight is 1.
    pub(in crate::ops) weights: Option<&'a [f32]>,
}

/// Rows in compressed sparse row form on the device. The row offsets are on the host too.
#[derive(Debug)]
pub(in crate::ops) struct Csr {
    pub(in crate::ops) row_offsets: Vec<usize>,
    offsets: Buffer<u32>,
    /// The column indices, which ascend in each row; nodes are numbered consecutively through all graphs. Elements
    /// after the entries of the last row are undefined.
    pub(in crate::ops) columns: Buffer<u32>,
    pub(in crate::ops) weights: Option<Buffer<f32>>,
}

impl Listed<'_> {
    fn nodes(&self) -> usize {
        self.node_offsets.last().copied().unwrap_or(0)
    }

    /// Performs the same checks as the conversion of an [`EdgeList`](crate::graph::EdgeList) to a graph.
    fn check(&self) -> Result<()> {
        const WHAT: &str = "rows from edges";
        let (sources, targets) = (self.sources.len(), self.targets.len());
        let weights = self.weights.map_or(sources, <[f32]>::len);
        if targets != sources || weights != sources {
            let expected = "as many targets and weights as sources";
            return Err(Error::shape(
                WHAT,
                expected,
                format!("{sources} sources, {targets} targets, {weights} weights"),
            ));
        }
        let nodes = self.nodes();
        let graph_of = |node: u32| self.node_offsets.partition_point(|&offset| offset <= node as usize);
        let wrong = |(&source, &target): (&u32, &u32)| {
            let outside = source.max(target) as usize >= nodes;
            outside || self.node_offsets.len() > 2 && graph_of(source) != graph_of(target)
        };
        if let Some(edge) = self.sources.iter().zip(self.targets).position(wrong) {
            let (source, target) = (self.sources[edge], self.targets[edge]);
            let what = format!("edge {edge} ({source}, {target}) does not join two of the {nodes} nodes, of one graph");
            return Err(Error::domain(WHAT, what));
        }
        let wrong = |weight: &f32| !weight.is_finite() || *weight < 0.0;
        if let Some(edge) = self.weights.and_then(|weights| weights.iter().position(wrong)) {
            let what = format!("edge {edge} has a weight that is negative or not finite");
            return Err(Error::domain(WHAT, what));
        }
        Ok(())
    }
}

/// Builds rows from edges.
///
/// # Errors
/// [`ErrorKind::Shape`] and [`ErrorKind::Domain`] for an invalid list; [`ErrorKind::Limit`] if the entries exceed a
/// binding; device errors.
pub(in crate::ops) fn csr(gpu: &Gpu, listed: Listed<'_>) -> Result<Csr> {
    listed.check()?;
    check_rows(gpu, listed.nodes())?;
    let adapter = gpu.adapter();
    let (needed, allowed) = (8 * listed.sources.len() as u64 + 4, adapter.limits.storage_binding.min(1 << 33));
    if needed > allowed {
        let what = format!("bytes of the columns of a graph that is made of edges on {}", adapter.name);
        return Err(ErrorKind::Limit { what, needed, allowed }.into());
    }
    #[expect(clippy::float_cmp, reason = "exactly 1 is what an unweighted edge has")]
    let weights = listed.weights.filter(|weights| weights.iter().any(|&weight| weight != 1.0));
    let (edges, nodes) = (to_u32(listed.sources.len()), to_u32(listed.nodes()));
    let mut rec = gpu.record();
    let mut sorter = Sorter::expand(&mut rec, listed, weights, edges, nodes)?;
    if weights.is_some() {
        sorter.sort(&mut rec, WEIGHTS, 32)?;
    }
    sorter.sort(&mut rec, COLUMNS, bits(nodes.saturating_sub(1)))?;
    sorter.sort(&mut rec, ROWS, bits(nodes))?;
    let Sorter { arrays: [rows, columns, complements], spare: [_, mut to_columns, _], count, .. } = sorter;

    // Of the entries with equal row and column, only the first is kept.
    let mut places = rec.array(count as usize + 1)?;
    let grid = Grid::Invocations(count + 1);
    let params = Entries { count, nodes };
    rec.dispatch(
        &Mark { params, rows: &rows, columns: &columns, places: &mut places },
        &[],
        grid,
        4.0 * f64::from(count),
    )?;
    scan(&mut rec, &mut places, count + 1)?;
    let mut to_weights = rec.array(if weights.is_some() { count as usize } else { 1 })?;
    let kernel = Compact {
        params: Count { count },
        columns: &columns,
        weights: &complements,
        places: &places,
        to_columns: &mut to_columns,
        to_weights: &mut to_weights,
    };
    rec.dispatch(&kernel, &edge_variant(weights.is_some()), Grid::Invocations(count), 4.0 * f64::from(count))?;
    let mut offsets = rec.array(nodes as usize + 1)?;
    let kernel = Bounds { params, rows: &rows, places: &places, offsets: &mut offsets };
    rec.dispatch(&kernel, &[], Grid::Invocations(nodes + 1), 64.0 * f64::from(nodes))?;
    let read = rec.read(&offsets)?;
    drop(rec);
    let row_offsets = read.wait()?.into_iter().map(|offset| offset as usize).collect();
    Ok(Csr { row_offsets, offsets, columns: to_columns, weights: weights.map(|_| to_weights) })
}

/// Builds the Laplacian of the listed graphs without building the graphs on the host. The operator has no known null
/// vectors.
///
/// # Errors
/// The same as [`csr`].
pub(in crate::ops) fn laplacian(
    gpu: &Gpu,
    listed: Listed<'_>,
    normalization: Normalization,
    isolated: IsolatedDiagonal,
    lanes: u32,
) -> Result<Resident> {
    let Csr { row_offsets, offsets, columns, weights } = csr(gpu, listed)?;
    let nodes = row_offsets.len() - 1;
    let mut rec = gpu.record();
    let weighted = weights.is_some();
    let rows =
        Rows::adopt(&mut rec, &row_offsets, columns.share(), weights.map(Buffer::share), listed.node_offsets, lanes)?;
    let mut degrees = rec.array(if weighted { nodes } else { 1 })?;
    if weighted {
        let ones = Slab { lanes: 1, data: rec.upload(&vec![[1.0; 4]; nodes])? };
        rows.gather(&mut rec, &ones, &mut degrees)?;
    }
    let normalized = normalization != Normalization::Combinatorial;
    let [mut diagonal, mut scale] = [rec.array(nodes)?, rec.array(nodes)?];
    let kernel = Scales {
        params: Nodes { nodes: to_u32(nodes) },
        offsets: &offsets,
        degrees: &degrees,
        diagonal: &mut diagonal,
        scale: &mut scale,
    };
    let variant = scales_variant(weighted, normalized, isolated == IsolatedDiagonal::One);
    rec.dispatch(&kernel, &variant, Grid::Invocations(to_u32(nodes)), 8.0 * nodes as f64)?;
    Resident::assemble(&mut rec, rows, diagonal, normalized.then_some(scale), -1.0, listed.node_offsets.len() - 1)
}

/// The indices of the arrays of a [`Sorter`].
const ROWS: usize = 0;
const COLUMNS: usize = 1;
const WEIGHTS: usize = 2;

/// The entries while they are being sorted.
struct Sorter {
    arrays: [Buffer<u32>; 3],
    spare: [Buffer<u32>; 3],
    counts: Buffer<u32>,
    count: u32,
    weighted: bool,
}

impl Sorter {
    fn expand(
        rec: &mut Recorder<'_>,
        listed: Listed<'_>,
        weights: Option<&[f32]>,
        edges: u32,
        nodes: u32,
    ) -> Result<Self> {
        let count = 2 * edges;
        let length = |used: bool| if used { count as usize } else { 1 };
        let weighted = weights.is_some();
        let [mut rows, mut columns] = [rec.array(length(true))?, rec.array(length(true))?];
        let mut complements = rec.array(length(weighted))?;
        {
            let [sources, targets] = [rec.upload(listed.sources)?, rec.upload(listed.targets)?];
            let given = rec.upload(weights.unwrap_or(&[1.0]))?;
            let kernel = Expand {
                params: Edges { edges, nodes },
                sources: &sources,
                targets: &targets,
                given: &given,
                rows: &mut rows,
                columns: &mut columns,
                weights: &mut complements,
            };
            rec.dispatch(&kernel, &edge_variant(weighted), Grid::Invocations(edges), 8.0 * f64::from(edges))?;
        }
        // Submits the work so far, so that the uploaded buffers can be reused once it has run.
        rec.flush()?;
        let spare = [rec.array(length(true))?, rec.array(length(true))?, rec.array(length(weighted))?];
        let counts = rec.array((VALUES * count.div_ceil(BLOCK)) as usize)?;
        Ok(Self { arrays: [rows, columns, complements], spare, counts, count, weighted })
    }

    /// Sorts the entries by the array with index `key`. Its elements must have at most `bits` bits.
    fn sort(&mut self, rec: &mut Recorder<'_>, key: usize, bits: u32) -> Result<()> {
        let (count, blocks) = (self.count, self.count.div_ceil(BLOCK));
        for shift in (0..bits).step_by(DIGIT as usize) {
            let [keys, others, thirds] = ordered(key, self.arrays.each_ref());
            over_blocks(rec, blocks, |rec, first, grid, flops| {
                let params = Digit { first, blocks, count, shift };
                rec.dispatch(&Histogram { params, keys, counts: &mut self.counts }, &[], grid, flops)
            })?;
            scan(rec, &mut self.counts, VALUES * blocks)?;
            let [to_keys, to_others, to_thirds] = ordered(key, self.spare.each_mut());
            over_blocks(rec, blocks, |rec, first, grid, flops| {
                let kernel = Scatter {
                    params: Digit { first, blocks, count, shift },
                    starts: &self.counts,
                    keys,
                    others,
                    thirds,
                    to_keys,
                    to_others,
                    to_thirds,
                };
                rec.dispatch(&kernel, &scatter_variant(self.weighted), grid, flops)
            })?;
            std::mem::swap(&mut self.arrays, &mut self.spare);
        }
        Ok(())
    }
}

/// Returns the arrays with the array of sort keys first. The last array is unused if there are no weights.
fn ordered<T>(key: usize, [rows, columns, weights]: [T; 3]) -> [T; 3] {
    match key {
        ROWS => [rows, columns, weights],
        COLUMNS => [columns, rows, weights],
        _ => [weights, rows, columns],
    }
}

/// Replaces every element by the sum of the elements before it.
fn scan(rec: &mut Recorder<'_>, values: &mut Buffer<u32>, count: u32) -> Result<()> {
    let blocks = count.div_ceil(BLOCK);
    let mut totals = rec.array(blocks as usize)?;
    over_blocks(rec, blocks, |rec, first, grid, flops| {
        rec.dispatch(&Scan { params: Blocks { first, count }, values, totals: &mut totals }, &[], grid, flops)
    })?;
    if blocks > 1 {
        scan(rec, &mut totals, blocks)?;
        let kernel = Raise { params: Count { count }, totals: &totals, values };
        rec.dispatch(&kernel, &[], Grid::Invocations(count), f64::from(count))?;
    }
    Ok(())
}

/// Calls `dispatch` once for each part of the blocks that is small enough for one dispatch.
fn over_blocks(
    rec: &mut Recorder<'_>,
    blocks: u32,
    mut dispatch: impl FnMut(&mut Recorder<'_>, u32, Grid, f64) -> Result<()>,
) -> Result<()> {
    let flops = 8.0 * f64::from(BLOCK);
    for part in rec.ranges(blocks, flops) {
        dispatch(rec, part.first, part.grid(), part.flops)?;
    }
    Ok(())
}

/// Returns the number of bits that the integers up to `most` need.
fn bits(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}

#[cfg(test)]
mod tests;
