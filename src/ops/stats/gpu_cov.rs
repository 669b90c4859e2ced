//! Covariances on the device: the means and products of leaves of rows, and the tree that merges them. The functions
//! record commands and do not wait for the device, except for [`Output::Scaled`] and [`Closed::to_host`].

use super::kernels::{
    Append, Appending, ColumnMeans, Columns, Covariance, Ending, GROUPS, Gram, Join, JoinMeans, Joining, LEAF_ROWS,
    Means, NONE, SIDES, Sample, Shift, join_variant,
};
use super::tree::{Tree, subtrees};
use super::{count, gram};
use crate::context::Context;
use crate::device::{Buffer, Gpu, Grid, Recorder, Shared};
use crate::error::{DEVICE_BYTES, ErrorKind, Result, within_limits};
use crate::shape::{Shape, to_u32};
use std::ops::Range;

/// The division of the products of columns into square tiles, for every matrix of a batch. Only the tiles of the lower
/// triangle are computed.
#[derive(Clone, Copy, Debug)]
struct Tiles {
    cols: usize,
    matrices: usize,
    side: usize,
}

impl Tiles {
    fn of(cols: usize, matrices: usize) -> Self {
        let side = SIDES.into_iter().find(|side| cols <= 4 * side).unwrap_or(SIDES[SIDES.len() - 1]);
        Self { cols, matrices, side }
    }

    fn tiles(&self) -> usize {
        let edge = self.cols.div_ceil(4 * self.side);
        edge * (edge + 1) / 2
    }

    /// Returns the number of vectors of four products in a node that covers all matrices.
    fn vectors(&self) -> usize {
        self.matrices * self.tiles() * 4 * self.side * self.side
    }

    /// Returns the number of values in the means of a node that covers all matrices. Each column has three values: a
    /// mean, a flag and the exponent of the unit.
    fn means(&self) -> usize {
        3 * self.matrices * self.cols
    }

    fn side(&self) -> (&'static str, f64) {
        ("SIDE", count(self.side))
    }
}

/// The reduction of some rows of every matrix: the number of rows, the means of the columns with flags and exponents,
/// and tiles of products.
#[derive(Clone, Debug)]
struct Node {
    rows: u64,
    means: Shared<f32>,
    products: Shared<[f32; 4]>,
}

/// A stream of rows: the tree, and the tail, which holds the rows that do not fill a leaf yet.
#[derive(Debug)]
pub(super) struct Stream {
    tiles: Tiles,
    /// The base-2 logarithm of the maximum number of leaves that are reduced together.
    most: u32,
    shifts: Option<Shared<f32>>,
    tree: Tree<Node>,
    tail: Option<Buffer<f32>>,
    held: usize,
}

/// Returns the number of bytes of the results and of the working memory, which holds a few nodes and the leaves that
/// are reduced together.
pub(super) fn bytes(shape: Shape) -> u64 {
    let tiles = Tiles::of(shape.cols, shape.batch);
    let node = 16 * tiles.vectors() as u64 + 4 * tiles.means() as u64;
    let levels = u64::from(shape.rows.div_ceil(LEAF_ROWS).max(1).ilog2()) + 4;
    node.saturating_mul(levels).saturating_add(4 * (shape.batch * shape.cols * shape.cols) as u64)
}

/// Checks that the device can compute a matrix of the given shape within `budget` bytes in addition to the elements of
/// the matrix.
///
/// # Errors
/// [`ErrorKind::Limit`] if the device cannot.
pub(super) fn fits(gpu: &Gpu, shape: Shape, budget: u64) -> Result<()> {
    let adapter = gpu.adapter();
    let one = Shape { batch: 1, ..shape };
    let binding = 16 * Tiles::of(shape.cols, 1).vectors() as u64;
    let limits = [
        ("bytes of one binding", binding, adapter.limits.storage_binding),
        (DEVICE_BYTES, bytes(one).saturating_mul(4) / 3, budget),
    ];
    within_limits(format_args!("the covariance of one matrix on {}", adapter.name), limits)
}

impl Stream {
    /// Creates a stream for `matrices` matrices of `cols` columns, within `budget` bytes.
    pub(super) fn new(gpu: &Gpu, cols: usize, matrices: usize, budget: u64) -> Self {
        let tiles = Tiles::of(cols, matrices);
        let node = (16 * tiles.vectors() as u64).max(1);
        let room = (budget / 8).min(gpu.adapter().limits.storage_binding);
        let most = (room / node).max(1).ilog2();
        Self { tiles, most, shifts: None, tree: Tree::default(), tail: None, held: 0 }
    }

    fn columns(&self) -> usize {
        self.tiles.cols * self.tiles.matrices
    }

    /// Appends the rows of `x`, which has `rows` rows in every matrix.
    pub(super) fn push(&mut self, gpu: &Gpu, x: &Buffer<f32>, rows: usize) -> Result<()> {
        if self.columns() == 0 {
            return Ok(());
        }
        let mut rec = gpu.record();
        let mut next = 0;
        if self.held > 0 {
            next = rows.min(LEAF_ROWS - self.held);
            self.keep(&mut rec, x, rows, 0..next)?;
            if self.held == LEAF_ROWS {
                self.close(&mut rec)?;
            }
        }
        next = self.leaves(&mut rec, x, rows, next)?;
        self.keep(&mut rec, x, rows, next..rows)
    }

    /// Reduces all rows of `x` to one node.
    fn whole(&mut self, rec: &mut Recorder<'_>, x: &Buffer<f32>, rows: usize) -> Result<Option<Node>> {
        let next = self.leaves(rec, x, rows, 0)?;
        let last = match next < rows {
            true => {
                let shifts = self.shifts(rec, x, rows, next..rows)?;
                Some(self.run(rec, x, rows, next..rows, &shifts)?)
            }
            false => None,
        };
        let tiles = self.tiles;
        self.tree.root(last, |a, b| merge(rec, tiles, &a, &b))
    }

    /// Appends the complete leaves of `x` from row `next` on; returns the index of the row after the last leaf.
    fn leaves(&mut self, rec: &mut Recorder<'_>, x: &Buffer<f32>, rows: usize, next: usize) -> Result<usize> {
        let leaves = (rows - next) / LEAF_ROWS;
        if leaves == 0 {
            return Ok(next);
        }
        let shifts = self.shifts(rec, x, rows, next..rows)?;
        self.shifts = Some(shifts.clone());
        let (first, tiles) = (self.tree.leaves(), self.tiles);
        for (level, leaf) in subtrees(first..first + leaves as u64, self.most) {
            let begin = next + usize::try_from(leaf - first).unwrap_or(usize::MAX) * LEAF_ROWS;
            let node = self.run(rec, x, rows, begin..begin + (LEAF_ROWS << level), &shifts)?;
            self.tree.push(level, node, |a, b| merge(rec, tiles, &a, &b))?;
        }
        Ok(next + leaves * LEAF_ROWS)
    }

    /// Returns the shift of each column, which is a value near the elements of the column. Distances are measured from
    /// the shift. If the stream has no shifts yet, computes them from `rows`.
    fn shifts(&self, rec: &mut Recorder<'_>, x: &Buffer<f32>, len: usize, rows: Range<usize>) -> Result<Shared<f32>> {
        if let Some(shifts) = &self.shifts {
            return Ok(shifts.clone());
        }
        let mut shifts = rec.array(self.columns())?;
        let columns = to_u32(self.columns());
        let params =
            Sample { series: columns, len: to_u32(len), inner: 1, begin: to_u32(rows.start), end: to_u32(rows.end) };
        let kernel = Shift { params, x, shifts: &mut shifts };
        rec.dispatch(&kernel, &[], Grid::Invocations(columns), 128.0 * f64::from(columns))?;
        Ok(shifts.share())
    }

    /// Reduces `rows`, the first of which starts a leaf, to one node: computes the leaves, then merges them pairwise.
    fn run(
        &self,
        rec: &mut Recorder<'_>,
        x: &Buffer<f32>,
        len: usize,
        rows: Range<usize>,
        shifts: &Buffer<f32>,
    ) -> Result<Node> {
        let tiles = self.tiles;
        let mut leaves = rows.len().div_ceil(LEAF_ROWS);
        let mut means = rec.array(leaves * tiles.means())?;
        let mut products = rec.array(leaves * tiles.vectors())?;
        let params = |first| Columns {
            first,
            cols: to_u32(tiles.cols),
            matrices: to_u32(tiles.matrices),
            len: to_u32(len),
            begin: to_u32(rows.start),
            end: to_u32(rows.end),
        };
        let height = count(LEAF_ROWS.min(rows.len()));
        let work = 8.0 * count(GROUPS) * height;
        for range in rec.ranges(to_u32(leaves * self.columns().div_ceil(GROUPS)), work) {
            let kernel = Means { params: params(range.first), x, shifts, means: &mut means };
            rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
        }
        let work = 2.0 * height * count(16 * tiles.side * tiles.side);
        for range in rec.ranges(to_u32(leaves * tiles.matrices * tiles.tiles()), work) {
            let kernel = Gram { params: params(range.first), x, shifts, means: &means, products: &mut products };
            rec.dispatch(&kernel, &[tiles.side()], range.grid(), range.flops)?;
        }
        // There is one leaf, or the complete leaves of a subtree.
        debug_assert!(leaves.is_power_of_two(), "{leaves} leaves");
        let mut full = LEAF_ROWS as u64;
        while leaves > 1 {
            let joined = Run { nodes: leaves, rows: full, others: full, pair: false };
            (means, products) = join(rec, tiles, joined, [&means, &means], [&products, &products])?;
            (leaves, full) = (leaves / 2, 2 * full);
        }
        Ok(Node { rows: rows.len() as u64, means: means.share(), products: products.share() })
    }

    fn keep(&mut self, rec: &mut Recorder<'_>, x: &Buffer<f32>, len: usize, rows: Range<usize>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut tail = match self.tail.take() {
            Some(tail) => tail,
            None => rec.array(self.columns() * LEAF_ROWS)?,
        };
        let params = Appending {
            series: to_u32(self.columns()),
            len: to_u32(len),
            inner: 1,
            begin: to_u32(rows.start),
            count: to_u32(rows.len()),
            room: to_u32(LEAF_ROWS),
            held: to_u32(self.held),
        };
        let numbers = self.columns() * rows.len();
        let kernel = Append { params, x, tail: &mut tail };
        let done = rec.dispatch(&kernel, &[], Grid::Invocations(to_u32(numbers)), count(numbers));
        self.tail = Some(tail);
        done?;
        self.held += rows.len();
        Ok(())
    }

    /// Reduces the rows in the tail to a node, and returns the node with its shifts; returns `None` if the tail is
    /// empty.
    fn last(&self, rec: &mut Recorder<'_>) -> Result<Option<(Node, Shared<f32>)>> {
        let Some(tail) = self.tail.as_ref().filter(|_| self.held > 0) else { return Ok(None) };
        let shifts = self.shifts(rec, tail, LEAF_ROWS, 0..self.held)?;
        let node = self.run(rec, tail, LEAF_ROWS, 0..self.held, &shifts)?;
        Ok(Some((node, shifts)))
    }

    /// Appends the tail, which is a whole leaf, to the tree.
    fn close(&mut self, rec: &mut Recorder<'_>) -> Result<()> {
        if let Some((node, shifts)) = self.last(rec)? {
            self.shifts = Some(shifts);
            let tiles = self.tiles;
            self.tree.push(0, node, |a, b| merge(rec, tiles, &a, &b))?;
        }
        self.held = 0;
        Ok(())
    }

    /// Reduces all rows so far to a node, and returns the node with its shifts; returns `None` if there are no rows.
    fn root(&self, rec: &mut Recorder<'_>) -> Result<Option<(Node, Shared<f32>)>> {
        let last = self.last(rec)?;
        let shifts = last.as_ref().map(|(_, shifts)| shifts.clone()).or_else(|| self.shifts.clone());
        let tiles = self.tiles;
        let own = self.tree.root(last.map(|(node, _)| node), |a, b| merge(rec, tiles, &a, &b))?;
        Ok(own.zip(shifts))
    }

    /// Returns the reduction of the rows so far as a separate value; returns `None` if there are no rows.
    pub(super) fn closed(&self, gpu: &Gpu) -> Result<Option<Closed>> {
        let root = self.root(&mut gpu.record())?;
        Ok(root.map(|(node, shifts)| Closed { tiles: self.tiles, node, shifts }))
    }

    /// Computes the results for the rows so far; returns `None` if there are no rows.
    pub(super) fn finish(&self, gpu: &Gpu, output: Output) -> Result<Option<Found>> {
        let root = self.root(&mut gpu.record())?;
        let Some((node, shifts)) = root else { return Ok(None) };
        finish(gpu, self.tiles, &node, &shifts, output).map(Some)
    }
}

/// The reduced rows of a stream that has ended.
#[derive(Debug)]
pub(super) struct Closed {
    tiles: Tiles,
    node: Node,
    shifts: Shared<f32>,
}

impl Closed {
    /// Returns the means and products on the host, in f64. Waits for the device.
    pub(super) fn to_host(&self, ctx: &Context) -> Result<gram::Gram> {
        let gpu = ctx.gpu_of(&self.shifts)?;
        let reads = (gpu.read(&self.node.means)?, gpu.read(&self.node.products)?, gpu.read(&self.shifts)?);
        let (means, products, shifts) = (reads.0.wait()?, reads.1.wait()?, reads.2.wait()?);
        let (cols, edge) = (self.tiles.cols, 4 * self.tiles.side);
        let unit = |j: usize| f64::from(means[2 * cols + j]).exp2();
        // A flag of 1 marks a column with an element that is not finite, and the results of this column become NaN. All
        // other flags are 0.
        let finite = |j: usize| if means[cols + j] == 0.0 { 1.0 } else { f64::NAN };
        let mean = |j: usize| (f64::from(shifts[j]) + f64::from(means[j]) * unit(j)) * finite(j);
        let mut lower = vec![0.0; cols * cols];
        let numbers: &[f32] = bytemuck::cast_slice(&products);
        for i in 0..cols {
            for j in 0..=i {
                let tile = i / edge * (i / edge + 1) / 2 + j / edge;
                let product = numbers[tile * edge * edge + i % edge * edge + j % edge];
                lower[i * cols + j] = f64::from(product) * unit(i) * unit(j) * finite(i) * finite(j);
            }
        }
        Ok(gram::Gram { rows: self.node.rows, means: (0..cols).map(mean).collect(), products: lower })
    }
}

/// The kind of result that is computed from products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Output {
    Covariance,
    Correlation,
    /// The covariances of one matrix in units of 4^e, where e is the exponent of the largest distance. These values do
    /// not overflow f32, whatever the unit of the data is. To find e, the host waits for the exponents of all columns.
    Scaled,
}

/// The result for every matrix, and the means of its columns.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) covariance: Buffer<f32>,
    pub(super) means: Buffer<f32>,
    pub(super) unit: Unit,
}

/// The unit of covariances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ops) struct Unit {
    /// The covariances are in units of 4^e, where e is this exponent.
    pub(in crate::ops) exponent: i32,
    /// Whether the largest deviation from the mean is so small that the device lost digits of it, because it flushes
    /// subnormal numbers to 0.
    pub(in crate::ops) lost: bool,
}

/// If the exponent of the largest deviation is below this bound, digits are lost: the exponent of the least normal
/// number plus the number of bits in a mantissa.
const LOST: i32 = -126 + 23;

/// Computes covariances or correlations of every matrix of `x`. The matrices must have at least one row.
pub(super) fn covariance(gpu: &Gpu, x: &Buffer<f32>, shape: Shape, budget: u64, output: Output) -> Result<Found> {
    let mut stream = Stream::new(gpu, shape.cols, shape.batch, budget);
    let mut rec = gpu.record();
    let shifts = stream.shifts(&mut rec, x, shape.rows, 0..shape.rows)?;
    stream.shifts = Some(shifts.clone());
    let node = stream.whole(&mut rec, x, shape.rows)?;
    drop(rec);
    match node {
        Some(node) => finish(gpu, stream.tiles, &node, &shifts, output),
        None => Err(ErrorKind::Device { message: "a covariance of no row".to_owned() }.into()),
    }
}

fn finish(gpu: &Gpu, tiles: Tiles, node: &Node, shifts: &Buffer<f32>, output: Output) -> Result<Found> {
    let (cols, matrices) = (tiles.cols, tiles.matrices);
    let exponent = match output {
        #[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
        Output::Scaled => {
            let means = gpu.read(&node.means)?.wait()?;
            means.chunks_exact(3 * cols).flat_map(|own| &own[2 * cols..]).fold(NONE, |most, &x| most.max(x as i32))
        }
        _ => 0,
    };
    let mut rec = gpu.record();
    let divisor = narrow(node.rows.saturating_sub(1));
    let params = Ending { cols: to_u32(cols), matrices: to_u32(matrices), nan: f32::NAN.to_bits(), divisor, exponent };
    let mut covariance = rec.array(matrices * cols * cols)?;
    let products = node.products.cast_ref::<f32>();
    let kernel = Covariance { params, products: &products, means: &node.means, out: &mut covariance };
    let size = matrices * cols * cols;
    let variant = [("CORRELATION", f64::from(u8::from(output == Output::Correlation))), tiles.side()];
    rec.dispatch(&kernel, &variant, Grid::Invocations(to_u32(size)), 16.0 * count(size))?;
    let mut means = rec.array(matrices * cols)?;
    let kernel = ColumnMeans { params, means: &node.means, shifts, out: &mut means };
    rec.dispatch(&kernel, &[], Grid::Invocations(to_u32(matrices * cols)), 4.0 * count(matrices * cols))?;
    Ok(Found { covariance, means, unit: Unit { exponent, lost: (NONE + 1..LOST).contains(&exponent) } })
}

/// The nodes that are joined. If `pair` is false, all nodes are in one buffer. If `pair` is true, there are two nodes,
/// each in its own buffer. The first of two neighbors has `rows` rows, and the second has `others`.
#[derive(Clone, Copy)]
struct Run {
    nodes: usize,
    rows: u64,
    others: u64,
    pair: bool,
}

/// Merges two nodes.
fn merge(rec: &mut Recorder<'_>, tiles: Tiles, a: &Node, b: &Node) -> Result<Node> {
    let run = Run { nodes: 2, rows: a.rows, others: b.rows, pair: true };
    let (means, products) = join(rec, tiles, run, [&a.means, &b.means], [&a.products, &b.products])?;
    Ok(Node { rows: a.rows + b.rows, means: means.share(), products: products.share() })
}

/// Merges neighboring nodes pairwise.
fn join(
    rec: &mut Recorder<'_>,
    tiles: Tiles,
    run: Run,
    means: [&Buffer<f32>; 2],
    products: [&Buffer<[f32; 4]>; 2],
) -> Result<(Buffer<f32>, Buffer<[f32; 4]>)> {
    let half = run.nodes / 2;
    let params = Joining {
        cols: to_u32(tiles.cols),
        matrices: to_u32(tiles.matrices),
        nodes: to_u32(run.nodes),
        rows: narrow(run.rows),
        others: narrow(run.others),
    };
    let mut out = rec.array(half * tiles.vectors())?;
    let variant = join_variant(run.pair, tiles.side);
    let kernel = Join {
        params,
        left: products[0],
        right: products[1],
        left_means: means[0],
        right_means: means[1],
        out: &mut out,
    };
    let vectors = to_u32(half * tiles.vectors());
    rec.dispatch(&kernel, &variant, Grid::Invocations(vectors), 32.0 * f64::from(vectors))?;
    let mut out_means = rec.array(half * tiles.means())?;
    let kernel = JoinMeans { params, left: means[0], right: means[1], out: &mut out_means };
    let columns = to_u32(half * tiles.cols * tiles.matrices);
    rec.dispatch(&kernel, &variant[..1], Grid::Invocations(columns), 8.0 * f64::from(columns))?;
    Ok((out_means, out))
}

/// Converts a number of rows to the weight that kernels use.
fn narrow(rows: u64) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a weight of rows")]
    let rows = rows as f32;
    rows
}
