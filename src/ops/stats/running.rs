//! Statistics of a stream of rows.

use super::describe::{Description, StatsOptions, call};
use super::moments::Moments;
use super::tree::{Tree, reduce, subtrees};
use super::{LEAF, Nan, View, cpu, gpu};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{Error, Result};
use crate::ops::operation::Operation;
use crate::parallel;
use crate::policy::Side;
use crate::shape::Shape;
use std::borrow::Cow;
use std::convert::Infallible;

/// The statistics of [`super::describe`] for the columns of a stream of rows that arrives in chunks.
///
/// The side (CPU or device) is chosen when the first chunk is pushed. A state on the device stays there, and pushing
/// does not wait. The result has the same bits however the stream is cut into chunks, and the same bits as the result
/// of [`super::describe`] for all rows at once. The state has about the size of 4096 rows.
#[derive(Debug)]
pub struct RunningStats<T = f32> {
    cols: usize,
    options: StatsOptions,
    rows: u64,
    state: State<T>,
}

#[derive(Debug)]
enum State<T> {
    /// Nothing was pushed yet.
    Fresh,
    /// The current stream, and the moments of the streams that were merged earlier.
    Host(Stream<T>, Vec<Vec<Moments>>),
    /// The current stream, and the nodes of the streams that were merged earlier.
    Device(gpu::Stream, Vec<gpu::Node>),
}

impl<T: Real> RunningStats<T> {
    /// Creates the statistics of an empty stream with `cols` columns.
    #[must_use]
    pub fn new(cols: usize, options: StatsOptions) -> Self {
        Self { cols, options, rows: 0, state: State::Fresh }
    }

    /// Returns the number of rows that were appended so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends the rows of `chunk`.
    ///
    /// # Shapes
    /// `(any, cols)`, one matrix.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if `chunk` is not one matrix with `cols` columns; [`crate::ErrorKind::Domain`] if
    /// [`Backend::Gpu`](crate::Backend::Gpu) is set and `T` is f64; device errors.
    pub fn push(&mut self, ctx: &Context, chunk: &Array<T>) -> Result<()> {
        let shape = chunk.shape();
        let rows = rows_of("RunningStats::push", shape, self.cols)?;
        if let State::Fresh = self.state {
            self.state = match call::<T>("RunningStats", shape, chunk.is_resident()).decide(ctx)?.side {
                Side::Cpu => State::Host(Stream::new(self.cols), Vec::new()),
                Side::Gpu => State::Device(gpu::Stream::new(self.cols, self.options.nan), Vec::new()),
            };
        }
        let view = View { outer: self.cols, len: shape.rows, inner: 1 };
        match &mut self.state {
            State::Fresh => {}
            State::Host(stream, _) => {
                let (chunk, nan) = (chunk.storage().to_vec(ctx)?, self.options.nan);
                ctx.cancel().check()?;
                ctx.on_threads(|| stream.push(&chunk, shape.rows, nan));
            }
            State::Device(stream, _) if rows > 0 => match chunk.storage() {
                Storage::Device(buffer) => stream.push(ctx.gpu_of(buffer)?, buffer, view)?,
                Storage::Host(data) => {
                    let (gpu, sides) = (ctx.gpu()?, (shape.rows, shape.cols));
                    let push = |chunk: &Buffer<f32>, len| stream.push(gpu, chunk, View { len, ..view });
                    in_chunks(gpu, ctx.device_budget(), &T::for_device(data), sides, push)?;
                }
            },
            State::Device(..) => {}
        }
        self.rows += rows;
        Ok(())
    }

    /// Appends all rows of `other`. Rows that are pushed afterwards start a new leaf.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if `other` has a different number of columns; [`crate::ErrorKind::Domain`] if
    /// `other` has different options or ran on the other side (CPU or device); device errors.
    pub fn merge(&mut self, ctx: &Context, other: Self) -> Result<()> {
        if other.cols != self.cols {
            let expected = format!("{} columns", self.cols);
            return Err(Error::shape("RunningStats::merge", expected, other.cols.to_string()));
        }
        if other.options != self.options {
            let what = format!("expected {:?}, found {:?}", self.options, other.options);
            return Err(Error::domain("RunningStats::merge", what));
        }
        match (&mut self.state, other.state) {
            (_, State::Fresh) => {}
            (own @ State::Fresh, state) => *own = state,
            (State::Host(stream, before), State::Host(other, others)) => {
                let closed = std::mem::replace(stream, Stream::new(self.cols));
                before.extend(closed.root(self.options.nan));
                before.extend(others);
                before.extend(other.root(self.options.nan));
            }
            (State::Device(stream, before), State::Device(other, others)) => {
                let gpu = ctx.gpu()?;
                if let Some(node) = others.first() {
                    ctx.gpu_of(node)?;
                }
                let closed = std::mem::replace(stream, gpu::Stream::new(self.cols, self.options.nan));
                before.extend(closed.root(gpu)?);
                before.extend(others);
                before.extend(other.root(gpu)?);
            }
            _ => {
                let what = "one is on the device and the other on the CPU; run both on one side";
                return Err(Error::domain("RunningStats::merge", what));
            }
        }
        self.rows += other.rows;
        Ok(())
    }

    /// Returns the statistics of all rows so far, in arrays of shape `(1, cols)`; more rows may be pushed afterwards.
    ///
    /// # Errors
    /// Device errors.
    pub fn finish(&self, ctx: &Context) -> Result<Description<T>> {
        let shape = Shape::new(1, self.cols, 1);
        let none = || Description::of(&vec![Moments::default(); self.cols], shape, self.options.ddof);
        match &self.state {
            State::Fresh => Ok(none()),
            State::Host(stream, before) => {
                let all = before.iter().cloned().chain(stream.root(self.options.nan)).reduce(cpu::merge);
                Ok(all.map_or_else(none, |all| Description::of(&all, shape, self.options.ddof)))
            }
            State::Device(stream, before) => {
                let gpu = ctx.gpu()?;
                let mut root: Option<gpu::Node> = None;
                for node in before.iter().cloned().chain(stream.root(gpu)?) {
                    ctx.gpu_of(&node)?;
                    root = Some(match root {
                        None => node,
                        Some(first) => gpu::merge(&mut gpu.record(), self.cols, &first, &node)?,
                    });
                }
                let Some(root) = root else { return Ok(none()) };
                Ok(Description::resident(gpu::finish(gpu, &root, self.cols, self.options.ddof)?, shape))
            }
        }
    }
}

/// Returns the number of rows of a chunk after checking that the chunk is one matrix with `cols` columns.
pub(super) fn rows_of(operation: &'static str, shape: Shape, cols: usize) -> Result<u64> {
    if shape.cols != cols || shape.batch != 1 {
        return Err(Error::shape(operation, format!("(any, {cols}) x 1"), shape.to_string()));
    }
    Ok(shape.rows as u64)
}

/// Sends the rows of a matrix to the device in chunks that fit a binding and an eighth of the budget, and calls `push`
/// with each chunk and its number of rows.
pub(super) fn in_chunks(
    gpu: &Gpu,
    budget: u64,
    x: &[f32],
    (rows, cols): (usize, usize),
    mut push: impl FnMut(&Buffer<f32>, usize) -> Result<()>,
) -> Result<()> {
    let room = (budget / 8).min(gpu.adapter().limits.storage_binding) / (4 * cols.max(1) as u64);
    let most = usize::try_from(room).unwrap_or(usize::MAX).max(1);
    for first in (0..rows).step_by(most) {
        let own = first..(first + most).min(rows);
        let chunk: Cow<'_, [f32]> = if rows <= most {
            x.into()
        } else {
            x.chunks_exact(rows).flat_map(|column| &column[own.clone()]).copied().collect()
        };
        // The temporary recording ends with this statement, before `push` begins another one.
        let buffer = gpu.record().upload(&chunk)?;
        push(&buffer, own.len())?;
    }
    Ok(())
}

/// A stream on the CPU: the tree, and the last rows, which do not fill a leaf yet.
#[derive(Debug)]
struct Stream<T> {
    tree: Tree<Vec<Moments>>,
    /// The last rows, one vector per column.
    tail: Vec<Vec<T>>,
}

impl<T: Real> Stream<T> {
    fn new(cols: usize) -> Self {
        Self { tree: Tree::default(), tail: vec![Vec::new(); cols] }
    }

    fn push(&mut self, x: &[T], rows: usize, nan: Nan) {
        let Some(held) = self.tail.first().map(Vec::len) else { return };
        let mut next = 0;
        if held > 0 {
            next = rows.min(LEAF - held);
            self.keep(x, rows, 0..next);
            if held + next == LEAF {
                let node = self.last(nan);
                self.add(0, node);
                self.tail.iter_mut().for_each(Vec::clear);
            }
        }
        let leaves = (rows - next) / LEAF;
        let first = self.tree.leaves();
        for (level, leaf) in subtrees(first..first + leaves as u64, u64::BITS) {
            let begin = next + usize::try_from(leaf - first).unwrap_or(usize::MAX) * LEAF;
            let column = |own: &[T]| {
                let rows = |leaf| cpu::rows_of(leaf, LEAF << level);
                let own = &own[begin..];
                reduce(level, 0, &|leaf| cpu::leaf(&own[rows(leaf)], nan), &Moments::merge)
            };
            let node = parallel::map(x.chunks_exact(rows), |_, own| column(own));
            self.add(level, node);
        }
        self.keep(x, rows, next + leaves * LEAF..rows);
    }

    fn keep(&mut self, x: &[T], rows: usize, some: std::ops::Range<usize>) {
        if !some.is_empty() {
            self.tail.iter_mut().zip(x.chunks_exact(rows)).for_each(|(tail, own)| tail.extend(&own[some.clone()]));
        }
    }

    fn last(&self, nan: Nan) -> Vec<Moments> {
        parallel::map(&self.tail, |_, own| cpu::leaf(own, nan))
    }

    fn add(&mut self, level: u32, node: Vec<Moments>) {
        let Ok(()) = self.tree.push(level, node, |a, b| Ok::<_, Infallible>(cpu::merge(a, b)));
    }

    fn root(&self, nan: Nan) -> Option<Vec<Moments>> {
        let last = self.tail.first().is_some_and(|own| !own.is_empty()).then(|| self.last(nan));
        let Ok(root) = self.tree.root(last, |a, b| Ok::<_, Infallible>(cpu::merge(a, b)));
        root
    }
}
