//! Counting on the device, for histograms and for quantiles. Quantiles are found by a radix selection on the bits of
//! the elements.

use super::kernels::{
    Binning, Bins, Chosen, Digiting, Digits, Interpolate, Interpolated, PART, RANKS, RadixSelect, Sum, Totals, WINDOW,
    interpolate_variant,
};
use super::quantiles::place;
use super::{Nan, View, count, gpu};
use crate::device::{Buffer, Gpu, Grid, Recorder};
use crate::error::{DEVICE_BYTES, Result, within_limits};
use crate::shape::to_u32;

/// The maximum number of bytes of counts that exist at the same time.
const COUNTS: usize = 64 << 20;

/// Checks that the device can hold the array and `counts` counts.
///
/// # Errors
/// [`crate::ErrorKind::Limit`] if the array or the counts exceed a binding, if both together exceed the budget, or if a
/// series has too many parts.
fn limits(gpu: &Gpu, operation: &str, view: View, counts: usize, budget: u64) -> Result<()> {
    let adapter = gpu.adapter();
    let (array, counts) = (4 * view.len() as u64, 4_u64.saturating_mul(counts as u64));
    let limits = [
        ("bytes of one binding", array.max(counts), adapter.limits.storage_binding),
        // The counts, their totals, and the bytes that the buffer pool adds by rounding sizes up.
        (DEVICE_BYTES, array.saturating_add(counts.saturating_mul(3)), budget / 4 * 3),
        ("parts of a series", view.len.div_ceil(PART) as u64, u64::from(adapter.loop_budget / 2)),
    ];
    within_limits(format_args!("{operation} on {}", adapter.name), limits)
}

/// Checks that the device can hold what [`quantiles`] needs.
///
/// # Errors
/// [`crate::ErrorKind::Limit`] if the device cannot hold the array and the counts.
pub(super) fn fits(gpu: &Gpu, view: View, quantiles: usize, budget: u64) -> Result<()> {
    let ranks = quantiles.saturating_mul(2).saturating_add(1);
    limits(gpu, "quantiles", view, view.len.div_ceil(PART).saturating_mul(ranks).saturating_mul(256), budget)
}

/// Checks that the device can hold what [`histogram`] needs.
///
/// # Errors
/// [`crate::ErrorKind::Limit`] if the device cannot hold the array and the counts.
pub(super) fn histogram_fits(gpu: &Gpu, view: View, bins: usize, budget: u64) -> Result<()> {
    let parts = view.len.div_ceil(PART).saturating_mul(view.series());
    limits(gpu, "histogram", view, parts.saturating_mul(bins.saturating_add(3)), budget)
}

/// Counts the elements of every series in each bin, then the elements below the first edge, the elements above the last
/// edge, and the NaNs. Waits for the device.
pub(super) fn histogram(gpu: &Gpu, x: &Buffer<f32>, view: View, edges: &[f64]) -> Result<Vec<u64>> {
    let (bins, parts) = (edges.len() - 1, view.len.div_ceil(PART));
    // An f32 number x is at or above an f64 edge if and only if x is at or above the least f32 number that is not below
    // the edge. The last bin includes its upper edge, so that edge is replaced by the greatest f32 number that is not
    // above the edge.
    let ends: Vec<u32> =
        edges.iter().enumerate().map(|(i, &edge)| key_of(if i < bins { above(edge) } else { -above(-edge) })).collect();
    let size = view.series() * (bins + 3);
    let totals = {
        let mut rec = gpu.record();
        let ends = rec.upload(&ends)?;
        let mut counts = rec.array(parts * size)?;
        let units = to_u32(parts * view.series());
        let work = 64.0 * count(PART.min(view.len));
        for window in (0..bins).step_by(WINDOW) {
            for range in rec.ranges(units, work) {
                let params = Binning {
                    first: range.first,
                    series: to_u32(view.series()),
                    len: to_u32(view.len),
                    inner: to_u32(view.inner),
                    bins: to_u32(bins),
                    window: to_u32(window),
                };
                let kernel = Bins { params, x, ends: &ends, counts: &mut counts };
                rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
            }
        }
        sum(&mut rec, &counts, size, parts)?
    };
    Ok(gpu.read(&totals)?.wait()?.into_iter().map(u64::from).collect())
}

fn sum(rec: &mut Recorder<'_>, counts: &Buffer<u32>, size: usize, parts: usize) -> Result<Buffer<u32>> {
    let mut totals = rec.array(size)?;
    let kernel = Totals { params: Sum { size: to_u32(size), parts: to_u32(parts) }, counts, totals: &mut totals };
    rec.dispatch(&kernel, &[], Grid::Invocations(to_u32(size)), count(size * parts))?;
    Ok(totals)
}

/// Returns the least f32 number that is not below `edge`.
fn above(edge: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what it is for")]
    let near = edge as f32;
    if f64::from(near) >= edge { near } else { near.next_up() }
}

/// Returns the key that keys.wgsl computes. Keys have the same order as the numbers. `number` is never NaN here.
fn key_of(number: f32) -> u32 {
    let bits = number.to_bits();
    if bits << 1 == 0 {
        1 << 31
    } else if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    }
}

/// Computes the quantiles `q` of every series. Waits for the device only if NaNs are left out.
pub(super) fn quantiles(
    gpu: &Gpu,
    x: &Buffer<f32>,
    view: View,
    q: &[f64],
    nan: Nan,
    budget: u64,
) -> Result<Buffer<f32>> {
    let guarded = nan == Nan::Propagate;
    let lengths: Option<Vec<u32>> = if guarded { None } else { Some(lengths(gpu, x, view)?) };
    let ranks = 2 * q.len() + usize::from(guarded);
    let parts = view.len.div_ceil(PART);
    let room = usize::try_from(budget / 16).unwrap_or(COUNTS).min(COUNTS);
    let together = (room / (4 * 256 * parts * ranks)).clamp(1, view.series());
    let mut rec = gpu.record();
    let mut out = rec.array(view.series() * q.len())?;
    for first in (0..view.series()).step_by(together) {
        let series = together.min(view.series() - first);
        let mut wanted: Vec<[u32; 4]> = Vec::with_capacity(series * ranks);
        for s in first..first + series {
            let n = lengths.as_ref().map_or(view.len, |all| all[s] as usize);
            for &q in q {
                let (low, part) = if n == 0 { (0, 0.0) } else { place(q, n) };
                let high = low + usize::from(part > 0.0);
                #[expect(clippy::cast_possible_truncation, reason = "a share of the way, rounded")]
                let share = (part as f32).to_bits();
                wanted.push([0, to_u32(low), share, u32::from(n == 0)]);
                wanted.push([0, to_u32(high), 0, 0]);
            }
            if guarded {
                wanted.push([0, to_u32(view.len - 1), 0, 0]);
            }
        }
        let mut sought = rec.upload(&wanted)?;
        for shift in [24, 16, 8, 0] {
            let mut counts = rec.array(parts * series * ranks * 256)?;
            let units = to_u32(parts * series * ranks.div_ceil(RANKS));
            let work = 16.0 * count(PART.min(view.len)) * count(ranks.min(RANKS)) + 4096.0;
            for range in rec.ranges(units, work) {
                let params = Digiting {
                    first: range.first,
                    series: to_u32(series),
                    from_series: to_u32(first),
                    len: to_u32(view.len),
                    inner: to_u32(view.inner),
                    ranks: to_u32(ranks),
                    shift,
                };
                let kernel = Digits { params, x, sought: &sought, counts: &mut counts };
                rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
            }
            let size = series * ranks * 256;
            let totals = if parts == 1 { counts } else { sum(&mut rec, &counts, size, parts)? };
            let all = to_u32(series * ranks);
            let kernel = RadixSelect { params: Chosen { ranks: all, shift }, totals: &totals, sought: &mut sought };
            rec.dispatch(&kernel, &[], Grid::Invocations(all), 512.0 * f64::from(all))?;
        }
        let params = Interpolated {
            series: to_u32(series),
            from_series: to_u32(first),
            quantiles: to_u32(q.len()),
            inner: to_u32(view.inner),
            nan: f32::NAN.to_bits(),
        };
        let kernel = Interpolate { params, sought: &sought, out: &mut out };
        let numbers = to_u32(series * q.len());
        rec.dispatch(&kernel, &interpolate_variant(guarded), Grid::Invocations(numbers), 16.0 * f64::from(numbers))?;
    }
    Ok(out)
}

/// Returns, for every series, the number of elements that are not NaN.
fn lengths(gpu: &Gpu, x: &Buffer<f32>, view: View) -> Result<Vec<u32>> {
    let node = gpu::root(gpu, x, view, Nan::Omit)?;
    let counts = gpu::finish(gpu, &node, view.series(), 0)?.counts;
    Ok(gpu.read(&counts)?.wait()?.into_iter().step_by(2).collect())
}

#[cfg(test)]
mod tests {
    use super::{above, key_of};

    #[test]
    fn keys_order_as_numbers() {
        let all = [f32::NEG_INFINITY, -3e38, -1.0, -1e-45, 0.0, 1e-45, 1.0, 3e38, f32::INFINITY];
        assert!(all.map(key_of).is_sorted_by(|a, b| a < b));
        assert_eq!(key_of(-0.0), key_of(0.0));
    }

    #[test]
    fn the_next_number_of_f32_above() {
        for edge in [0.1, -0.1, 1.0, 1e-50, -1e-50, 1.0 + 1e-9] {
            let got = f64::from(above(edge));
            assert!(got >= edge && f64::from(above(edge).next_down()) < edge, "{edge}: {got}");
        }
    }
}
