//! Divergences on the device. The totals of the histograms are computed first; a total of NaN marks an invalid
//! histogram. Then the divergences are computed. For a list of pairs, a team of invocations computes each pair. For the
//! matrix of all pairs, a workgroup computes a tile of the matrix. If there are more bins than the loops of one
//! dispatch may process, further dispatches process the next bins in order. This division is fixed, so the bits of the
//! results are fixed too.

use super::kernels::{
    Matrix, Pairs, Rows, Sums, TILE, Tiles, Totals, WIDTH, matrix_variant, rows_variant, team, totals_variant,
};
use super::{Divergence, DivergenceOptions};
use crate::device::{Buffer, Gpu, Recorder};
use crate::error::{ErrorKind, Result};
use crate::shape::{Shape, to_u32};

/// The maximum number of bins in one dispatch of [`Totals`] and [`Rows`], which then make 32,768 + 1,024 iterations per
/// invocation.
const BINS: u32 = 64 << 15;
/// The maximum number of bins in one dispatch of [`Matrix`], which then makes 32,768 + 2,048 iterations per invocation.
const TILED_BINS: u32 = 1 << 15;
/// The estimated number of operations per term. The recorder limits the size of a dispatch by this estimate.
const TERM: f64 = 40.0;

/// Histograms on the device, with their shape.
pub(super) type Batch<'a> = (&'a Buffer<f32>, Shape);

/// The kernels store probabilities in units of 2^-`UNIT`. In this unit, probabilities down to 2^-225 are normal
/// numbers. Sums of terms do not overflow, although a term may be 200 times a probability.
const UNIT: i32 = 100;

/// The parameters by which the kernels turn a sum into a divergence.
struct Meaning {
    factor: f32,
    smoothing: f32,
    spread: f32,
    unit: i32,
    root: u32,
}

impl Meaning {
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "f32 is the kernels' precision")]
    fn new(kind: Divergence, options: &DivergenceOptions, bins: usize) -> Self {
        // If smoothing adds more than 1 to every probability, the unit is made larger by a factor of about the added
        // value, so that sums do not overflow. The exponent of the unit stays even, so that the unit has an exact
        // square root.
        let unit = UNIT - 2 * (options.smoothing.max(1.0).log2() / 2.0).ceil() as i32;
        let root = kind.is_root();
        let factor = match kind {
            _ if root => options.scale(kind).sqrt() * 2_f64.powi(-unit / 2),
            // The terms of chi-square are in units of 1.
            Divergence::ChiSquare => 1.0,
            _ => options.scale(kind) * 2_f64.powi(-unit),
        };
        Self {
            factor: factor as f32,
            smoothing: (options.smoothing * 2_f64.powi(unit)) as f32,
            spread: (1.0 + bins as f64 * options.smoothing) as f32,
            unit,
            root: u32::from(root),
        }
    }
}

/// Checks that every array fits a binding.
///
/// # Errors
/// [`ErrorKind::Limit`] if an array does not.
pub(super) fn check(gpu: &Gpu, shapes: &[Shape]) -> Result<()> {
    let adapter = gpu.adapter();
    for shape in shapes {
        let (needed, allowed) = ((shape.len() as u64).saturating_mul(4), adapter.limits.storage_binding);
        if needed > allowed {
            let what = format!("bytes of histograms or divergences in one binding on {}", adapter.name);
            return Err(ErrorKind::Limit { what, needed, allowed }.into());
        }
    }
    Ok(())
}

/// Records D(p_i, q_i) for all i. If an entry of the batch has only one histogram q, records D(p_i, q).
pub(super) fn rows(
    gpu: &Gpu,
    kind: Divergence,
    (p, shape): Batch<'_>,
    (q, q_shape): Batch<'_>,
    options: &DivergenceOptions,
) -> Result<Buffer<f32>> {
    let mut rec = gpu.record();
    let [bins, count, q_count] = [shape.rows, shape.cols * shape.batch, q_shape.cols * q_shape.batch].map(to_u32);
    let (p, q) = (&*p.cast_ref::<u32>(), &*q.cast_ref::<u32>());
    let p_totals = totals(&mut rec, p, bins, count, options)?;
    let q_totals = totals(&mut rec, q, bins, q_count, options)?;
    let mut divergences: Buffer<u32> = rec.array(shape.cols * shape.batch)?;
    let Meaning { factor, smoothing, spread, unit, root } = Meaning::new(kind, options, shape.rows);
    let share = if q_shape.cols == shape.cols { 1 } else { to_u32(shape.cols).max(1) };
    let (team, variant) = (team(bins), rows_variant(kind, team(bins)));
    for begin in (0..bins).step_by(BINS as usize) {
        let end = bins.min(begin + BINS);
        let work = TERM * f64::from(WIDTH / team) * f64::from(end - begin);
        for range in rec.ranges(count.div_ceil(WIDTH / team), work) {
            let (fresh, last) = (u32::from(begin == 0), u32::from(end == bins));
            let first = range.first;
            let params =
                Pairs { bins, begin, end, count, first, fresh, last, share, root, factor, smoothing, spread, unit };
            let kernel = Rows { params, p, q, p_totals: &p_totals, q_totals: &q_totals, divergences: &mut divergences };
            rec.dispatch(&kernel, &variant, range.grid(), range.flops)?;
        }
    }
    Ok(divergences.cast())
}

/// Records D(p_i, p_j) for all pairs within an entry of the batch.
pub(super) fn matrix(
    gpu: &Gpu,
    kind: Divergence,
    (p, shape): Batch<'_>,
    options: &DivergenceOptions,
) -> Result<Buffer<f32>> {
    let mut rec = gpu.record();
    let [bins, histograms, entries] = [shape.rows, shape.cols, shape.batch].map(to_u32);
    let p = &*p.cast_ref::<u32>();
    let totals = totals(&mut rec, p, bins, histograms.saturating_mul(entries), options)?;
    let mut divergences: Buffer<u32> = rec.array(shape.cols * shape.cols * shape.batch)?;
    let Meaning { factor, smoothing, spread, unit, root } = Meaning::new(kind, options, shape.rows);
    let tiles = histograms.div_ceil(TILE);
    let symmetric = u32::from(kind.is_symmetric());
    for begin in (0..bins).step_by(TILED_BINS as usize) {
        let end = bins.min(begin + TILED_BINS);
        let work = TERM * f64::from(TILE * TILE) * f64::from(end - begin);
        for range in rec.ranges(tiles.saturating_mul(tiles).saturating_mul(entries), work) {
            let (fresh, last) = (u32::from(begin == 0), u32::from(end == bins));
            let first = range.first;
            let params = Tiles {
                bins,
                begin,
                end,
                histograms,
                tiles,
                first,
                fresh,
                last,
                symmetric,
                root,
                factor,
                smoothing,
                spread,
                unit,
            };
            let kernel = Matrix { params, p, totals: &totals, divergences: &mut divergences };
            rec.dispatch(&kernel, &matrix_variant(kind), range.grid(), range.flops)?;
        }
    }
    Ok(divergences.cast())
}

/// Records the sums of all histograms.
fn totals(
    rec: &mut Recorder<'_>,
    histograms: &Buffer<u32>,
    bins: u32,
    count: u32,
    options: &DivergenceOptions,
) -> Result<Buffer<[u32; 2]>> {
    let mut totals: Buffer<[u32; 2]> = rec.array(count as usize)?;
    let team = team(bins);
    for begin in (0..bins).step_by(BINS as usize) {
        let end = bins.min(begin + BINS);
        let work = 2.0 * f64::from(WIDTH / team) * f64::from(end - begin);
        for range in rec.ranges(count.div_ceil(WIDTH / team), work) {
            let params = Sums {
                bins,
                begin,
                end,
                count,
                first: range.first,
                fresh: u32::from(begin == 0),
                last: u32::from(end == bins),
                normalize: u32::from(options.normalize),
            };
            let kernel = Totals { params, histograms, totals: &mut totals };
            rec.dispatch(&kernel, &totals_variant(team), range.grid(), range.flops)?;
        }
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::{BINS, TILE, TILED_BINS, WIDTH, team};

    /// lavapipe silently ends the loops of an invocation after 65,535 iterations in total. rows.wgsl and totals.wgsl
    /// have three loops: over the terms of an invocation, over its runs of 32 terms, and over the levels of the tree
    /// that adds the sums of a team. matrix.wgsl has two loops: over the bins, and over groups of 16 bins.
    #[test]
    fn the_loops_of_every_kernel_fit_lavapipe() {
        assert_eq!(team(BINS), WIDTH);
        let rows = BINS / WIDTH + BINS / WIDTH / 32 + WIDTH.ilog2();
        let matrix = TILED_BINS + TILED_BINS / TILE;
        assert!([rows, matrix].into_iter().all(|loops| loops <= 65_535));
    }
}
