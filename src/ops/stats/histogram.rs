//! Histograms with bins of equal width.

use super::describe::{StatsOptions, describe};
use super::{View, count, reduced, select};
use crate::array::{Array, Real};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{Call, Operation, Precision};
use crate::parallel;
use crate::policy::{Choice, Workload};
use crate::shape::{Axis, Shape};
use std::sync::Arc;

/// The number of elements of every series in each bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The shape of `counts`: the shape of the input, [`reduced`](super::reduced) to the number of bins.
    pub shape: Shape,
    /// The number of elements in each bin, in the order of an array of shape `shape`.
    pub counts: Vec<u64>,
    /// The edges of the bins, at equal distances. There is one more edge than there are bins.
    pub edges: Vec<f64>,
    /// For every series, the number of elements below the first edge.
    pub below: Vec<u64>,
    /// For every series, the number of elements above the last edge.
    pub above: Vec<u64>,
    /// For every series, the number of NaNs.
    pub nan: Vec<u64>,
    choice: Option<Arc<Choice>>,
}

impl Histogram {
    /// Returns where the histogram was counted, and why.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_deref()
    }
}

/// Counts the elements of every series in `bins` bins of equal width between the ends of `range`, as NumPy's
/// `histogram` does. Each bin includes its lower edge, and the last bin also includes its upper edge. Elements outside
/// the range and NaNs are counted separately.
///
/// Without a range, the bins extend from the least to the greatest finite element of the whole array. If all finite
/// elements are equal, the range extends 0.5 to either side of them; if no element is finite, the range is from 0 to 1.
/// Finding the range takes another pass, for which the call waits. An element is counted in the bin whose edges, in
/// f64, enclose the element, so the CPU and the device return the same counts.
///
/// # Shapes
/// Any; `counts` has the shape of the input, [`reduced`](super::reduced) to `bins` values per series.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::histogram;
/// use fiedler::{Axis, Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(5, 1, 1), vec![0.0_f32, 0.1, 0.9, 1.0, 7.0])?;
/// let found = histogram(&ctx, &x, Axis::Rows, 2, Some((0.0, 1.0)))?;
/// assert_eq!((&found.counts[..], &found.above[..]), (&[2, 2][..], &[1][..]));
/// assert_eq!(found.edges, [0.0, 0.5, 1.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if there are no bins, the range is not finite or does not ascend, bins are narrower
/// than f64 resolves, or [`Backend::Gpu`](crate::Backend::Gpu) is set and `T` is f64; [`crate::ErrorKind::Limit`] if
/// the results exceed the memory budget, or `Backend::Gpu` is set and the array does not fit the device; device errors.
pub fn histogram<T: Real>(
    ctx: &Context,
    x: &Array<T>,
    axis: impl Into<Option<Axis>>,
    bins: usize,
    range: Option<(f64, f64)>,
) -> Result<Histogram> {
    if bins == 0 {
        return Err(Error::domain("histogram", "expected one bin at least, found 0"));
    }
    let axis = axis.into();
    let (shape, view) = (reduced(x.shape(), axis, bins), View::of(x.shape(), axis));
    let needed = (shape.len() as u64).saturating_add(bins as u64).saturating_mul(8);
    if needed > ctx.memory_budget() {
        let what = format!("bytes for {bins} bins of the histograms");
        return Err(Error::budget(what, needed, ctx.memory_budget()));
    }
    let (low, high) = match range {
        Some(range) => range,
        None => found(ctx, x)?,
    };
    let edges = edges(low, high, bins)?;
    let (made, choice) = call::<T>(view, bins, x.is_resident()).run(
        ctx,
        || Ok(on_cpu(&x.storage().to_vec(ctx)?, view, shape, edges.clone())),
        |gpu| {
            select::histogram_fits(gpu, view, bins, ctx.device_budget())?;
            let all = select::histogram(gpu, &*x.storage().on_device(ctx, gpu)?, view, &edges)?;
            Ok(spread(&all, view, shape, edges.clone()))
        },
    )?;
    Ok(Histogram { choice: Some(choice), ..made })
}

/// Returns where [`histogram`] would count an array of the given shape into `bins` bins, and why.
#[must_use]
pub fn choose_histogram<T: Real>(
    ctx: &Context,
    shape: Shape,
    axis: impl Into<Option<Axis>>,
    bins: usize,
    resident: bool,
) -> Choice {
    call::<T>(View::of(shape, axis.into()), bins, resident).choose(ctx)
}

fn call<T: Real>(view: View, bins: usize, resident: bool) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let numbers = count(view.len());
    let workload = Workload {
        cpu_flops: 20.0 * numbers,
        gpu_flops: 10.0 * numbers,
        size: count(view.len),
        items: numbers,
        dispatches: 2.0,
        ..Workload::default()
    }
    .transferring(resident, 4.0 * numbers, 0.0);
    let fits = move |gpu: &Gpu, budget| select::histogram_fits(gpu, view, bins, budget).is_ok();
    Call { name: "histogram", precision: Precision::of::<T>(), workload, empty: view.len() == 0, fits, waits: true }
}

/// Returns the edges of `bins` bins of equal width, by NumPy's rule.
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if the range is not finite or does not ascend, or if bins are narrower than f64
/// resolves.
pub(in crate::ops) fn edges(low: f64, high: f64, bins: usize) -> Result<Vec<f64>> {
    if !(low.is_finite() && high.is_finite() && low < high && (high - low).is_finite()) {
        return Err(Error::domain("histogram", format!("expected a finite range that ascends, found {low} to {high}")));
    }
    let width = (high - low) / count(bins);
    let edges: Vec<f64> = (0..=bins).map(|i| if i == bins { high } else { low + width * count(i) }).collect();
    if !edges.is_sorted_by(|a, b| a < b) {
        let what = format!("{bins} bins between {low} and {high} are narrower than f64 tells apart");
        return Err(Error::domain("histogram", what));
    }
    Ok(edges)
}

/// Counts the numbers in each bin. The last three counts are those of the numbers below the first edge, of the numbers
/// above the last edge, and of NaNs.
pub(in crate::ops) fn counted(numbers: impl Iterator<Item = f64>, edges: &[f64]) -> Vec<u64> {
    let mut own = vec![0; edges.len() + 2];
    numbers.for_each(|x| own[bin(x, edges)] += 1);
    own
}

/// Returns the default range of the bins, which contains all finite elements.
fn found<T: Real>(ctx: &Context, x: &Array<T>) -> Result<(f64, f64)> {
    let options = StatsOptions { nan: super::Nan::Omit, ..StatsOptions::default() };
    let all = describe(ctx, x, None, options)?;
    let number = |array: &Array<T>| -> Result<f64> { Ok(array.to_host(ctx)?.as_slice()[0].to_f64()) };
    let (mut low, mut high) = (number(&all.min)?, number(&all.max)?);
    if !(low.is_finite() && high.is_finite()) {
        // Infinities stay outside the bins, so the range is that of the finite elements.
        let host = x.to_host(ctx)?;
        let finite = host.as_slice().iter().map(|x| x.to_f64()).filter(|x| x.is_finite());
        (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    }
    Ok(if low > high {
        (0.0, 1.0)
    } else if low == high {
        (low - 0.5, high + 0.5)
    } else {
        (low, high)
    })
}

/// Builds the histogram from the counts of every series, which have the order of [`counted`].
fn spread(all: &[u64], view: View, shape: Shape, edges: Vec<f64>) -> Histogram {
    let bins = edges.len() - 1;
    let apart = |k: usize| all.chunks_exact(bins + 3).map(|own| own[bins + k]).collect();
    let mut counts = vec![0; shape.len()];
    for (s, own) in all.chunks_exact(bins + 3).enumerate() {
        for (i, &seen) in own[..bins].iter().enumerate() {
            counts[(s / view.inner * bins + i) * view.inner + s % view.inner] = seen;
        }
    }
    Histogram { shape, counts, below: apart(0), above: apart(1), nan: apart(2), edges, choice: None }
}

fn on_cpu<T: Real>(x: &[T], view: View, shape: Shape, edges: Vec<f64>) -> Histogram {
    if T::ON_DEVICE {
        in_f32(bytemuck::cast_slice(x), view, shape, edges)
    } else {
        in_f64(bytemuck::cast_slice(x), view, shape, edges)
    }
}

/// Instantiates [`every`] here, once, instead of in every crate that calls it.
fn in_f32(x: &[f32], view: View, shape: Shape, edges: Vec<f64>) -> Histogram {
    every(x, view, shape, edges)
}

fn in_f64(x: &[f64], view: View, shape: Shape, edges: Vec<f64>) -> Histogram {
    every(x, view, shape, edges)
}

fn every<T: Real>(x: &[T], view: View, shape: Shape, edges: Vec<f64>) -> Histogram {
    let bins = edges.len() - 1;
    let View { len, inner, .. } = view;
    // A long series is split into parts, whose counts can be added in any order.
    const PART: usize = 1 << 16;
    let parts = len.div_ceil(PART).max(1);
    let counted = |unit: usize| {
        let (s, part) = (unit / parts, unit % parts);
        let base = s / inner * len * inner + s % inner;
        let numbers = (part * PART..((part + 1) * PART).min(len)).map(|i| x[base + i * inner].to_f64());
        counted(numbers, &edges)
    };
    let series = |s: usize| {
        let sum = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        parallel::map(0..parts, |_, part| counted(s * parts + part)).into_iter().fold(vec![0; bins + 3], sum)
    };
    let run = (PART / len.max(1)).max(1);
    let all: Vec<u64> = parallel::map_runs(view.series(), run, series).into_iter().flatten().collect();
    spread(&all, view, shape, edges)
}

/// Returns the index of the count to which a number belongs, in the order of [`counted`].
fn bin(x: f64, edges: &[f64]) -> usize {
    let bins = edges.len() - 1;
    let (low, high) = (edges[0], edges[bins]);
    if x.is_nan() {
        return bins + 2;
    }
    if x < low {
        return bins;
    }
    if x > high {
        return bins + 1;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "x is within the ends")]
    let mut guess = (((x - low) / (high - low) * count(bins)) as usize).min(bins - 1);
    // The quotient may round across an edge.
    while guess > 0 && x < edges[guess] {
        guess -= 1;
    }
    while guess + 1 < bins && x >= edges[guess + 1] {
        guess += 1;
    }
    guess
}

#[cfg(test)]
mod tests {
    use super::{counted, edges};

    #[test]
    fn numpy_s_rule() -> crate::Result<()> {
        let samples = [0.0, 0.1, 0.2, 0.3, 0.3, 0.6, 0.7, 0.9, 1.0, 1.1, -0.1, f64::NAN];
        // The counts of numpy.histogram(samples, bins=10, range=(0, 1)), then the counts of the samples that NumPy
        // leaves out.
        assert_eq!(counted(samples.into_iter(), &edges(0.0, 1.0, 10)?), [1, 1, 3, 0, 0, 1, 1, 0, 0, 2, 1, 1, 1]);
        assert_eq!(edges(1.0, 2.0, 2)?, [1.0, 1.5, 2.0]);
        assert_eq!(counted([2.0; 3].into_iter(), &[1.0, 1.5, 2.0]), [0, 3, 0, 0, 0]);
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (0.0, f64::INFINITY), (f64::NAN, 1.0), (-1e308, 1e308)] {
            assert!(edges(low, high, 3).is_err());
        }
        Ok(())
    }
}
