//! The covariance of a stream of rows.

use super::cov::{call, matrix, means, room};
use super::gpu_cov::{self, Output, Unit};
use super::gram::{Gram, ROWS, leaf};
use super::running::{in_chunks, rows_of};
use super::tree::{Tree, reduce, subtrees};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::Buffer;
use crate::error::{Error, Result};
use crate::ops::operation::Operation;
use crate::policy::Side;
use crate::shape::Shape;
use std::convert::Infallible;

/// The covariance ([`super::cov`]) of the columns of a stream of rows that arrives in chunks.
///
/// The side (CPU or device) is chosen when the first chunk is pushed. A state on the device stays there, and pushing
/// does not wait. The result has the same bits however the stream is cut into chunks, and the same bits as the result
/// of [`super::cov`] for all rows at once. The state consists of a few matrices of products of the columns. It also
/// holds the last rows until they fill a leaf, which has 1024 rows on the device and 2048 rows on the CPU.
#[derive(Debug)]
pub struct RunningCovariance<T = f32> {
    cols: usize,
    rows: u64,
    state: State<T>,
}

#[derive(Debug)]
enum State<T> {
    /// Nothing was pushed yet.
    Fresh,
    /// The current stream, and the products of the streams that were merged earlier.
    Host(Stream<T>, Option<Gram>),
    /// The current stream, and the streams that were merged earlier.
    Device(gpu_cov::Stream, Vec<gpu_cov::Closed>),
}

impl<T: Real> RunningCovariance<T> {
    /// Creates the covariance of an empty stream with `cols` columns.
    #[must_use]
    pub fn new(cols: usize) -> Self {
        Self { cols, rows: 0, state: State::Fresh }
    }

    /// Returns the number of rows that were appended so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Appends the rows of `chunk`.
    ///
    /// # Shapes
    /// `(any, cols)`, one matrix.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if `chunk` is not one matrix with `cols` columns; [`crate::ErrorKind::Domain`] if
    /// [`Backend::Gpu`](crate::Backend::Gpu) is set and `T` is f64; [`crate::ErrorKind::Limit`] if the matrix of
    /// products exceeds the memory budget; device errors.
    pub fn push(&mut self, ctx: &Context, chunk: &Array<T>) -> Result<()> {
        let shape = chunk.shape();
        let rows = rows_of("RunningCovariance::push", shape, self.cols)?;
        if let State::Fresh = self.state {
            room::<T>(ctx, "RunningCovariance", shape)?;
            self.state = match call::<T>("RunningCovariance", shape, chunk.is_resident()).decide(ctx)?.side {
                Side::Cpu => State::Host(Stream::new(self.cols), None),
                Side::Gpu => {
                    let gpu = ctx.gpu()?;
                    gpu_cov::fits(gpu, shape, ctx.device_budget())?;
                    State::Device(gpu_cov::Stream::new(gpu, self.cols, 1, ctx.device_budget()), Vec::new())
                }
            };
        }
        match &mut self.state {
            State::Fresh => {}
            State::Host(stream, _) => {
                let chunk = chunk.storage().to_vec(ctx)?;
                ctx.cancel().check()?;
                ctx.on_threads(|| stream.push(&chunk, shape.rows));
            }
            State::Device(stream, _) if rows > 0 => match chunk.storage() {
                Storage::Device(buffer) => stream.push(ctx.gpu_of(buffer)?, buffer, shape.rows)?,
                Storage::Host(data) => {
                    let (gpu, sides) = (ctx.gpu()?, (shape.rows, shape.cols));
                    let push = |chunk: &Buffer<f32>, rows| stream.push(gpu, chunk, rows);
                    in_chunks(gpu, ctx.device_budget(), &T::for_device(data), sides, push)?;
                }
            },
            State::Device(..) => {}
        }
        self.rows += rows;
        Ok(())
    }

    /// Appends all rows of `other`. If both streams have rows, rows that are pushed afterwards start a new leaf of the
    /// tree. On a device, both streams stay separate until a result is requested; then the host combines them in f64.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if `other` has a different number of columns; [`crate::ErrorKind::Domain`] if
    /// `other` ran on the other side (CPU or device); device errors.
    pub fn merge(&mut self, ctx: &Context, other: Self) -> Result<()> {
        if other.cols != self.cols {
            let expected = format!("{} columns", self.cols);
            return Err(Error::shape("RunningCovariance::merge", expected, other.cols.to_string()));
        }
        match (&mut self.state, other.state) {
            (_, State::Fresh) => {}
            (own @ State::Fresh, state) => *own = state,
            (State::Host(stream, before), State::Host(other, others)) => {
                let closed = std::mem::replace(stream, Stream::new(self.cols));
                let parts = [before.take(), closed.root(), others, other.root()];
                *before = parts.into_iter().flatten().reduce(|a, b| a.merge(&b));
            }
            (State::Device(stream, before), State::Device(other, others)) => {
                let gpu = ctx.gpu()?;
                let fresh = gpu_cov::Stream::new(gpu, self.cols, 1, ctx.device_budget());
                before.extend(std::mem::replace(stream, fresh).closed(gpu)?);
                before.extend(others);
                before.extend(other.closed(gpu)?);
            }
            _ => {
                let what = "one is on the device and the other on the CPU; run both on one side";
                return Err(Error::domain("RunningCovariance::merge", what));
            }
        }
        self.rows += other.rows;
        Ok(())
    }

    /// Returns the covariance of all rows so far, `(cols, cols)`; more rows may be pushed afterwards.
    ///
    /// # Errors
    /// Device errors.
    pub fn cov(&self, ctx: &Context) -> Result<Array<T>> {
        Ok(self.finish(ctx, Output::Covariance)?.1)
    }

    /// Returns the correlation of all rows so far, `(cols, cols)`; more rows may be pushed afterwards.
    ///
    /// # Errors
    /// Device errors.
    pub fn corr(&self, ctx: &Context) -> Result<Array<T>> {
        Ok(self.finish(ctx, Output::Correlation)?.1)
    }

    /// Returns the means of all rows so far, `(1, cols)`.
    ///
    /// # Errors
    /// Device errors.
    pub fn mean(&self, ctx: &Context) -> Result<Array<T>> {
        Ok(self.finish(ctx, Output::Covariance)?.0)
    }

    /// Returns the means, the matrix that `output` asks for, and the unit of the covariances.
    pub(in crate::ops) fn finish(&self, ctx: &Context, output: Output) -> Result<(Array<T>, Array<T>, Unit)> {
        let shapes = (Shape::new(1, self.cols, 1), Shape::new(self.cols, self.cols, 1));
        if let State::Device(stream, before) = &self.state
            && before.is_empty()
            && let Some(found) = stream.finish(ctx.gpu()?, output)?
        {
            ctx.gpu_of(&found.means)?;
            let array = |shape, buffer| Array::from_storage(shape, Storage::device(buffer));
            return Ok((array(shapes.0, found.means), array(shapes.1, found.covariance), found.unit));
        }
        let gram = self.gram(ctx)?;
        let array = |shape, data| Array::from_storage(shape, Storage::host(data));
        Ok((
            array(shapes.0, means(&gram)),
            array(shapes.1, matrix(&gram, output == Output::Correlation)),
            Unit::default(),
        ))
    }

    /// Returns the products of all rows on the host, in f64.
    fn gram(&self, ctx: &Context) -> Result<Gram> {
        let root = match &self.state {
            State::Fresh => None,
            State::Host(stream, before) => {
                [before.clone(), stream.root()].into_iter().flatten().reduce(|a, b| a.merge(&b))
            }
            State::Device(stream, before) => {
                let mut root: Option<Gram> = None;
                for closed in before.iter().chain(&stream.closed(ctx.gpu()?)?) {
                    let next = closed.to_host(ctx)?;
                    root = Some(match root {
                        None => next,
                        Some(first) => first.merge(&next),
                    });
                }
                root
            }
        };
        let cols = self.cols;
        Ok(root.unwrap_or_else(|| Gram { rows: 0, means: vec![0.0; cols], products: vec![0.0; cols * cols] }))
    }

    /// Returns the means and covariances in f64, computed on the host. Returns `None` if the state is a single stream
    /// on the device, because the device computes the covariances of such a state.
    pub(in crate::ops) fn in_f64(&self, ctx: &Context) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
        if let State::Device(_, before) = &self.state
            && before.is_empty()
        {
            return Ok(None);
        }
        let gram = self.gram(ctx)?;
        Ok(Some((means(&gram), matrix(&gram, false))))
    }
}

/// A stream on the CPU: the tree, and the last rows, which do not fill a leaf yet.
#[derive(Debug)]
struct Stream<T> {
    tree: Tree<Gram>,
    /// The last rows, one vector per column.
    tail: Vec<Vec<T>>,
}

impl<T: Real> Stream<T> {
    fn new(cols: usize) -> Self {
        Self { tree: Tree::default(), tail: vec![Vec::new(); cols] }
    }

    fn push(&mut self, x: &[T], rows: usize) {
        let (Some(held), cols) = (self.tail.first().map(Vec::len), self.tail.len()) else { return };
        let mut next = 0;
        if held > 0 {
            next = rows.min(ROWS - held);
            self.keep(x, rows, 0..next);
            if held + next == ROWS {
                if let Some(node) = self.last() {
                    self.add(0, node);
                }
                self.tail.iter_mut().for_each(Vec::clear);
            }
        }
        let leaves = (rows - next) / ROWS;
        let first = self.tree.leaves();
        // Subtrees have at most 2^6 leaves, so that only a few matrices of products exist at the same time. The leaves
        // of a subtree are computed in parallel.
        for (level, number) in subtrees(first..first + leaves as u64, 6) {
            let begin = |number: u64| next + usize::try_from(number - first).unwrap_or(usize::MAX) * ROWS;
            let one = |number: u64| leaf(x, rows, cols, begin(number)..begin(number) + ROWS);
            let node = reduce(level, number, &one, &|a: Gram, b: Gram| a.merge(&b));
            self.add(level, node);
        }
        self.keep(x, rows, next + leaves * ROWS..rows);
    }

    fn keep(&mut self, x: &[T], rows: usize, some: std::ops::Range<usize>) {
        if !some.is_empty() {
            self.tail.iter_mut().zip(x.chunks_exact(rows)).for_each(|(tail, own)| tail.extend(&own[some.clone()]));
        }
    }

    fn last(&self) -> Option<Gram> {
        let held = self.tail.first().map_or(0, Vec::len);
        (held > 0).then(|| leaf(&self.tail.concat(), held, self.tail.len(), 0..held))
    }

    fn add(&mut self, level: u32, node: Gram) {
        let Ok(()) = self.tree.push(level, node, |a, b| Ok::<_, Infallible>(a.merge(&b)));
    }

    fn root(&self) -> Option<Gram> {
        let Ok(root) = self.tree.root(self.last(), |a, b| Ok::<_, Infallible>(a.merge(&b)));
        root
    }
}
