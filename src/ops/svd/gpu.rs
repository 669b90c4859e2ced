//! The singular value decomposition on the device: which kernels run, in which order, and on which buffers.
//!
//! A QR factorization gives B = Q R. Rotations make the rows of R orthogonal, and these rows, scaled to length 1, are
//! the columns of V. A second QR factorization, of B V, gives P and S (see [`super::svd`]).

use super::Problem;
use super::kernels::{
    Basis, Columns, Finish, FormQ, Forming, Given, Gram, Lengths, Load, Multiply, Order, Panel, Parts, Peaks,
    Reflections, Residual, Residuals, Scale, Square, TILES, Tall, Transpose, Triangle, Update,
};
use crate::device::{Adapter, Buffer, Gpu, Grid, Recorder};
use crate::error::{ErrorKind, Result};
use crate::forms::KernelForm;
use crate::ops::jacobi::gpu::{Batch, Method, orthogonalize};
use crate::shape::to_u32;

/// The maximum number of columns in a panel that is not the whole matrix. One workgroup factorizes the panel, and then
/// as many workgroups as needed apply its reflections to the later columns.
const PANEL: u32 = 32;
/// The number of columns up to which the whole matrix is one panel.
const ONE_PANEL: u32 = 64;

/// U, S, Vh and the certificates on the device. U and Vh are `None` if they are not wanted.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) u: Option<Buffer<f32>>,
    pub(super) s: Buffer<f32>,
    pub(super) vh: Option<Buffer<f32>>,
    pub(super) certificates: Buffer<[f32; 4]>,
}

/// Returns whether the device can solve matrices of the given shape. Memory is checked separately.
pub(super) fn fits(gpu: &Gpu, problem: &Problem) -> bool {
    limits(gpu, problem).is_ok()
}

/// Returns the name of the kernel form of the Jacobi rotations, which make the rows of R orthogonal.
pub(super) fn form(gpu: &Gpu, problem: &Problem) -> &'static str {
    Method::of(gpu.adapter(), KernelForm::Svd, Shape::of(problem).short).map_or("", |method| method.form().name())
}

/// Returns the number of bytes of device memory that one matrix needs while it is solved and its results are read back,
/// excluding the matrix as given.
pub(super) fn bytes_of_one(problem: &Problem) -> u64 {
    let [u, s, vh] = problem.shapes().map(|shape| shape.matrix_len() as u64);
    let (long, short, left) = (problem.long() as u64, problem.short() as u64, problem.left() as u64);
    let tiles = |n: u64| n.div_ceil(16).pow(2);
    let numbers = long * short + 2 * short * short + long * left + u.max(vh) + 7 * short + tiles(left) + tiles(short);
    4 * (numbers + u + s + vh) + 64
}

/// Returns the shape as the kernels see it, if the device can solve matrices of that shape.
///
/// # Errors
/// [`ErrorKind::Limit`] if the device cannot solve matrices of the given shape.
fn limits(gpu: &Gpu, problem: &Problem) -> Result<Shape> {
    let adapter = gpu.adapter();
    let limit = |what: &str, needed: u64, allowed: u64| {
        Err(ErrorKind::Limit { what: format!("{what} in the kernels of svd on {}", adapter.name), needed, allowed }
            .into())
    };
    let largest = (problem.long() * problem.left().max(problem.short())) as u64 * 4;
    if largest > adapter.limits.storage_binding {
        return limit("bytes of one matrix", largest, adapter.limits.storage_binding);
    }
    let shape = Shape::of(problem);
    let needed = shape.iterations();
    if needed > adapter.loop_budget / 2 {
        return limit("loop iterations for the rows of a matrix", needed.into(), (adapter.loop_budget / 2).into());
    }
    if Method::of(adapter, KernelForm::Svd, shape.short).is_none() {
        return limit("order of the triangle of a matrix", shape.short.into(), 0);
    }
    Ok(shape)
}

/// The shape of a batch as the kernels see it. A wide matrix is solved as its transpose.
#[derive(Clone, Copy, Debug)]
struct Shape {
    long: u32,
    short: u32,
    left: u32,
    wide: u32,
    batch: u32,
}

impl Shape {
    fn of(problem: &Problem) -> Self {
        let [long, short, left, batch] = [problem.long(), problem.short(), problem.left(), problem.batch].map(to_u32);
        Self { long, short, left, wide: problem.wide().into(), batch }
    }

    /// Returns the maximum number of loop iterations of an invocation in the smallest possible dispatch, which applies
    /// one reflection or computes a row of tiles.
    fn iterations(&self) -> u32 {
        let columns = Columns::of(self.long);
        let tiles = self.long.div_ceil(16).saturating_mul(5).max(self.short.div_ceil(16).saturating_mul(17));
        (reflection(columns, self.long) * 3).max(tiles)
    }

    fn tile(&self) -> u32 {
        if self.long <= TILES[0] { TILES[0] } else { TILES[1] }
    }
}

/// Returns the number of loop iterations of an invocation that applies one reflection to one column.
fn reflection(columns: Columns, rows: u32) -> u32 {
    2 * rows.div_ceil(columns.lanes) + columns.lanes + 2
}

/// Returns the number of columns of a panel that fit the loop budget. Half of the budget is left to the rest of the
/// kernel.
fn panel_of(rows: u32, cols: u32, loop_budget: u32) -> u32 {
    let columns = Columns::of(rows);
    let most = if cols <= ONE_PANEL { cols } else { PANEL };
    let iterations = |b: u32| b * (1 + b.div_ceil(columns.groups)) * reflection(columns, rows);
    (1..=most).rev().find(|&b| iterations(b) <= loop_budget / 2).unwrap_or(1)
}

/// Returns the number of reflections that one dispatch may apply.
fn reflections_of(rows: u32, loop_budget: u32) -> u32 {
    (loop_budget / 2 / reflection(Columns::of(rows), rows)).max(1)
}

/// Dispatches `units` workgroups of about `flops` operations each, in ranges that fit one dispatch.
fn over(
    rec: &mut Recorder<'_>,
    units: u32,
    flops: f64,
    mut dispatch: impl FnMut(&mut Recorder<'_>, u32, Grid, f64) -> Result<()>,
) -> Result<()> {
    for range in rec.ranges(units, flops) {
        dispatch(rec, range.first, range.grid(), range.flops)?;
    }
    Ok(())
}

/// Records the decomposition of every matrix of `a`.
///
/// # Errors
/// [`ErrorKind::Limit`] if the device cannot solve matrices of the given shape; device errors.
pub(super) fn svd(gpu: &Gpu, problem: &Problem, a: &Buffer<f32>, vectors: bool) -> Result<Resident> {
    let shape = limits(gpu, problem)?;
    let adapter = gpu.adapter();
    let Shape { long, short, left, wide, batch } = shape;
    let (rows, cols) = (f64::from(long), f64::from(short));
    let count = problem.batch;
    let [all_b, all_w, all_p, all_columns] =
        [problem.long() * problem.short(), problem.short().pow(2), problem.long() * problem.left(), problem.short()]
            .map(|len| len * count);
    let mut rec = gpu.record();
    let mut state = rec.array(count)?;
    let mut b = rec.array(all_b)?;
    let mut sums = rec.array(all_columns)?;
    let by_column = Columns::of(long);
    let blocks = batch * short.div_ceil(by_column.groups);
    let given = |first| Given { first, long, short, wide };
    let column_work = rows * f64::from(by_column.groups);
    {
        let mut peaks = rec.array(all_columns)?;
        over(&mut rec, blocks, column_work, |rec, first, grid, flops| {
            let kernel = Peaks { params: given(first), a, peaks: &mut peaks };
            rec.dispatch(&kernel, &by_column.overrides(), grid, flops)
        })?;
        over(&mut rec, batch, cols, |rec, first, grid, flops| {
            rec.dispatch(&Scale { params: Square { first, short }, peaks: &peaks, state: &mut state }, &[], grid, flops)
        })?;
    }
    over(&mut rec, blocks, 2.0 * column_work, |rec, first, grid, flops| {
        let kernel = Load { params: given(first), a, state: &state, b: &mut b, sums: &mut sums };
        rec.dispatch(&kernel, &by_column.overrides(), grid, flops)
    })?;

    // Compute V from the triangular factor of B.
    let mut householder = Householder { betas: rec.array(all_columns)?, taus: rec.array(all_columns)? };
    let mut w = rec.array(all_w)?;
    let mut x = rec.array(all_w)?;
    householder.factor(&mut rec, adapter, &state, &mut b, shape, false)?;
    let by_order = Columns::of(short);
    let square_blocks = batch * short.div_ceil(by_order.groups);
    let square_work = cols * f64::from(by_order.groups);
    over(&mut rec, square_blocks, square_work, |rec, first, grid, flops| {
        let kernel = Triangle { params: Tall { first, long, short }, x: &b, betas: &householder.betas, w: &mut w };
        rec.dispatch(&kernel, &by_order.overrides(), grid, flops)
    })?;
    jacobi(&mut rec, adapter, shape, &mut w, &mut state)?;
    let mut lengths = rec.array(all_columns)?;
    over(&mut rec, square_blocks, 2.0 * square_work, |rec, first, grid, flops| {
        let kernel = Lengths { params: Square { first, short }, w: &w, lengths: &mut lengths };
        rec.dispatch(&kernel, &by_order.overrides(), grid, flops)
    })?;
    over(&mut rec, square_blocks, 3.0 * square_work, |rec, first, grid, flops| {
        let params = Square { first, short };
        let kernel = Order { params, w: &w, lengths: &lengths, x: &mut x, state: &mut state };
        rec.dispatch(&kernel, &by_order.overrides(), grid, flops)
    })?;
    let square = Shape { long: short, left: short, wide: 0, ..shape };
    householder.factor(&mut rec, adapter, &state, &mut x, square, true)?;
    let mut v = w;
    householder.form(&mut rec, adapter, &state, &x, &mut v, square, true)?;

    // Compute P and the singular values from B V.
    let product = Product { a, state: &state, v: &v, shape };
    product.record(&mut rec, &mut b)?;
    householder.factor(&mut rec, adapter, &state, &mut b, shape, false)?;
    let mut p = rec.array(all_p)?;
    householder.form(&mut rec, adapter, &state, &b, &mut p, shape, false)?;

    // Compute the certificate from the results that are returned.
    product.record(&mut rec, &mut b)?;
    let mut s = rec.array(all_columns)?;
    let mut residuals = lengths;
    over(&mut rec, blocks, 4.0 * column_work, |rec, first, grid, flops| {
        let params = Residuals { first, long, short, left };
        let betas = &householder.betas;
        let kernel = Residual { params, state: &state, y: &b, p: &p, betas, values: &mut s, residuals: &mut residuals };
        rec.dispatch(&kernel, &by_column.overrides(), grid, flops)
    })?;
    let departures_of_p = gram(&mut rec, &p, shape)?;
    let departures_of_v = gram(&mut rec, &v, square)?;
    let mut certificates = rec.array(count)?;
    let (of_p, of_v) = (tiles(left, shape.tile()), tiles(short, square.tile()));
    over(&mut rec, batch, 4.0 * cols + 2.0 * f64::from(of_p), |rec, first, grid, flops| {
        let kernel = Finish {
            params: Parts { first, long, short, of_p, of_v },
            state: &state,
            sums: &sums,
            residuals: &residuals,
            departures_of_p: &departures_of_p,
            departures_of_v: &departures_of_v,
            certificates: &mut certificates,
        };
        rec.dispatch(&kernel, &[], grid, flops)
    })?;
    if !vectors {
        return Ok(Resident { u: None, s, vh: None, certificates });
    }
    // One basis is U, and the transpose of the other basis is Vh. The transpose is written to a buffer that is no
    // longer needed, if that buffer has the right size.
    let (right, turned, room) = match (wide != 0, left == short) {
        (false, _) => (&v, square, x),
        (true, true) => (&p, shape, b),
        (true, false) => (&p, shape, rec.array(all_p)?),
    };
    let mut vh = room;
    let tile = turned.tile();
    let units = batch * turned.long.div_ceil(tile) * turned.left.div_ceil(tile);
    over(&mut rec, units, 4.0 * f64::from(tile * tile), |rec, first, grid, flops| {
        let params = Basis { first, long: turned.long, left: turned.left };
        rec.dispatch(&Transpose { params, q: right, out: &mut vh }, &[("TILE", tile.into())], grid, flops)
    })?;
    let u = if wide == 0 { p } else { v };
    Ok(Resident { u: Some(u), s, vh: Some(vh), certificates })
}

/// The values of a QR factorization that are stored separately from its reflection vectors.
struct Householder {
    betas: Buffer<f32>,
    taus: Buffer<f32>,
}

impl Householder {
    /// Factorizes X = Q R in place. If `optional` is true, factorizes only matrices for which a column of V is missing,
    /// because its length is negligible (svd/state.wgsl).
    fn factor(
        &mut self,
        rec: &mut Recorder<'_>,
        adapter: &Adapter,
        state: &Buffer<[u32; 4]>,
        x: &mut Buffer<f32>,
        shape: Shape,
        optional: bool,
    ) -> Result<()> {
        let Shape { long, short, batch, .. } = shape;
        let optional = optional.into();
        let columns = Columns::of(long);
        let panel = panel_of(long, short, adapter.loop_budget);
        let work = 4.0 * f64::from(long);
        let mut from = 0;
        while from < short {
            let to = (from + panel).min(short);
            let width = f64::from(to - from);
            over(rec, batch, work * width * width / 2.0, |rec, first, grid, flops| {
                let params = Reflections { first, long, short, begins: from, ends: to, optional };
                let kernel = Panel { params, state, x, betas: &mut self.betas, taus: &mut self.taus };
                rec.dispatch(&kernel, &columns.overrides(), grid, flops)
            })?;
            let blocks = (short - to).div_ceil(columns.groups);
            over(rec, batch * blocks, work * width * f64::from(columns.groups), |rec, first, grid, flops| {
                let params = Reflections { first, long, short, begins: from, ends: to, optional };
                rec.dispatch(&Update { params, state, taus: &self.taus, x }, &columns.overrides(), grid, flops)
            })?;
            from = to;
        }
        Ok(())
    }

    /// Forms the first `left` columns of Q.
    #[expect(clippy::too_many_arguments, reason = "what a kernel binds")]
    fn form(
        &self,
        rec: &mut Recorder<'_>,
        adapter: &Adapter,
        state: &Buffer<[u32; 4]>,
        x: &Buffer<f32>,
        q: &mut Buffer<f32>,
        shape: Shape,
        optional: bool,
    ) -> Result<()> {
        let Shape { long, short, left, batch, .. } = shape;
        let columns = Columns::of(long);
        let most = reflections_of(long, adapter.loop_budget);
        let units = batch * left.div_ceil(columns.groups);
        let mut to = short;
        while to > 0 {
            let from = to.saturating_sub(most);
            let flops = 4.0 * f64::from(long) * f64::from(columns.groups) * f64::from(to - from);
            over(rec, units, flops, |rec, first, grid, flops| {
                let begin = (to == short).into();
                let params =
                    Forming { first, long, short, left, begins: from, ends: to, begin, optional: optional.into() };
                let kernel = FormQ { params, state, x, betas: &self.betas, taus: &self.taus, q };
                rec.dispatch(&kernel, &columns.overrides(), grid, flops)
            })?;
            to = from;
        }
        Ok(())
    }
}

/// The inputs of the product B V, where B is computed again from the matrix as given.
struct Product<'a> {
    a: &'a Buffer<f32>,
    state: &'a Buffer<[u32; 4]>,
    v: &'a Buffer<f32>,
    shape: Shape,
}

impl Product<'_> {
    fn record(&self, rec: &mut Recorder<'_>, y: &mut Buffer<f32>) -> Result<()> {
        let Self { a, state, v, shape: Shape { long, short, wide, batch, .. } } = *self;
        let tile = self.shape.tile();
        let units = batch * long.div_ceil(tile) * short.div_ceil(tile);
        let flops = 2.0 * f64::from(tile * tile) * f64::from(short);
        over(rec, units, flops, |rec, first, grid, flops| {
            let kernel = Multiply { params: Given { first, long, short, wide }, a, state, v, y };
            rec.dispatch(&kernel, &[("TILE", tile.into())], grid, flops)
        })
    }
}

/// Records rotations until the columns of every W are orthogonal.
fn jacobi(
    rec: &mut Recorder<'_>,
    adapter: &Adapter,
    shape: Shape,
    w: &mut Buffer<f32>,
    state: &mut Buffer<[u32; 4]>,
) -> Result<()> {
    let Shape { short, batch, .. } = shape;
    let Some(method) = Method::of(adapter, KernelForm::Svd, short) else { return Ok(()) };
    let entry = |place: u32| [short, place * short * short, place * short, place];
    let table = rec.upload(&(0..batch).map(entry).collect::<Vec<_>>())?;
    let batch = Batch { table: &table, matrices: 0..batch };
    orthogonalize(rec, adapter, method, &batch, w, state)
}

fn tiles(left: u32, tile: u32) -> u32 {
    left.div_ceil(tile).pow(2)
}

/// Records the kernel that computes, tile by tile, how far every basis departs from orthonormality.
fn gram(rec: &mut Recorder<'_>, q: &Buffer<f32>, shape: Shape) -> Result<Buffer<f32>> {
    let Shape { long, left, batch, .. } = shape;
    let tile = shape.tile();
    let units = batch * tiles(left, tile);
    let mut departures = rec.array(units as usize)?;
    over(rec, units, 2.0 * f64::from(tile * tile) * f64::from(long), |rec, first, grid, flops| {
        let kernel = Gram { params: Basis { first, long, left }, q, departures: &mut departures };
        rec.dispatch(&kernel, &[("TILE", tile.into())], grid, flops)
    })?;
    Ok(departures)
}

#[cfg(test)]
mod tests {
    use super::{Columns, PANEL, Shape, panel_of, reflections_of};

    /// lavapipe silently cuts off the loops of an invocation after 65,535 iterations in total. The counts follow the
    /// kernels.
    #[test]
    fn the_loops_of_every_kernel_fit_lavapipe() {
        const BUDGET: u32 = 65_535;
        for long in [1, 2, 31, 32, 33, 64, 110, 256, 257, 1000, 2048, 5000, 20_000] {
            let columns = Columns::of(long);
            let (pass, sum) = (long.div_ceil(columns.lanes), columns.lanes);
            for short in [1, 5, 64, 110, 257, 2048].into_iter().filter(|&short| short <= long) {
                // panel.wgsl: one pass over the column itself, and rounds over the columns after it.
                let width = panel_of(long, short, BUDGET);
                let behind = |j: u32| (width - 1 - j).div_ceil(columns.groups);
                let panel: u32 = (0..width).map(|j| 1 + pass + sum + behind(j) * (1 + 2 * pass + sum)).sum();
                // update.wgsl and form_q.wgsl: one group of lanes for each column.
                let update = width * (1 + 2 * pass + sum);
                let form = pass + reflections_of(long, BUDGET).min(short) * (1 + 2 * pass + sum);
                assert!(
                    width > 0 && panel.max(update).max(form) <= BUDGET,
                    "{long} x {short}: {panel} {update} {form}"
                );
                // multiply.wgsl and gram.wgsl: one invocation for each element; residual.wgsl and order.wgsl: one group
                // of lanes for each column.
                let tiles = (short.div_ceil(16) * 17).max(long.div_ceil(16) * 5 + 16);
                let by_column = short.div_ceil(Columns::of(short).lanes) + 2 * pass + 2 * sum;
                assert!(tiles.max(by_column) <= BUDGET, "{long} x {short}: {tiles} {by_column}");
                // The iterations of the smallest dispatch fit half of the budget, so `limits` accepts this shape.
                let shape = Shape { long, short, left: short, wide: 0, batch: 1 };
                assert!(shape.iterations() <= BUDGET / 2, "{long} x {short}: {shape:?}");
            }
            // A device with a larger budget gets wider panels, up to `PANEL` columns. Instead of wider panels, it is
            // faster to apply the reflections with many workgroups.
            assert!(panel_of(long, 1000, 1 << 24) == PANEL || long > 1_000_000);
        }
    }
}
