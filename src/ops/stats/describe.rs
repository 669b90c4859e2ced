//! Moments and extremes of the series of a batch.

use super::moments::Moments;
use super::{Nan, View, count, cpu, gpu, reduced};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu, Shared};
use crate::error::{Error, Result};
use crate::ops::convert::tiny::{Lines, Raised};
use crate::ops::operation::{Call, Operation, Precision, always};
use crate::policy::{Choice, Family, Workload};
use crate::shape::{Axis, Shape};
use std::sync::Arc;

/// The options of [`describe`] and [`super::RunningStats`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatsOptions {
    /// The value that is subtracted from the count to get the divisor of the variance. The default is 1, as for
    /// covariances. The default of NumPy's `var` is 0.
    pub ddof: u32,
    /// The effect of a NaN.
    pub nan: Nan,
}

impl Default for StatsOptions {
    fn default() -> Self {
        Self { ddof: 1, nan: Nan::Propagate }
    }
}

/// The moments and extremes of every series. Each array has the shape of the input, [`reduced`](super::reduced) to one
/// value per series.
#[derive(Clone, Debug)]
pub struct Description<T = f32> {
    /// The mean; NaN for an empty series.
    pub mean: Array<T>,
    /// The variance, with the divisor count - ddof: exactly 0 for equal elements, NaN if there are at most ddof
    /// elements.
    pub variance: Array<T>,
    /// The least element; NaN for an empty series.
    pub min: Array<T>,
    /// The greatest element; NaN for an empty series.
    pub max: Array<T>,
    /// The biased skewness `m3 / m2^(3/2)`, as in scipy.stats.skew, where `m2` and `m3` are the second and third
    /// central moments; NaN for equal elements.
    pub skewness: Array<T>,
    /// The biased excess kurtosis `m4 / m2^2 - 3`, as in scipy.stats.kurtosis, where `m2` and `m4` are the second and
    /// fourth central moments; NaN for equal elements.
    pub kurtosis: Array<T>,
    counts: Counts,
}

#[derive(Clone, Debug)]
enum Counts {
    Host(Arc<Vec<u64>>),
    /// Two 32-bit words per series, the lower word first.
    Device(Shared<u32>),
}

impl<T: Real> Description<T> {
    /// Returns the number of elements of each series, without omitted NaNs. Waits for the device.
    ///
    /// # Errors
    /// Device errors.
    pub fn counts(&self, ctx: &Context) -> Result<Arc<Vec<u64>>> {
        Ok(match &self.counts {
            Counts::Host(all) => Arc::clone(all),
            Counts::Device(buffer) => Arc::new(counts_of(&ctx.gpu_of(buffer)?.read(buffer)?.wait()?)),
        })
    }

    /// Returns where the description was computed, and why. Returns `None` for a description from
    /// [`RunningStats`](super::RunningStats), which chooses the side when the first chunk is pushed.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.mean.choice()
    }

    fn chosen(self, choice: &Arc<Choice>) -> Self {
        Self {
            mean: self.mean.chosen(choice),
            variance: self.variance.chosen(choice),
            min: self.min.chosen(choice),
            max: self.max.chosen(choice),
            skewness: self.skewness.chosen(choice),
            kurtosis: self.kurtosis.chosen(choice),
            counts: self.counts,
        }
    }

    /// Builds the description from the moments of every series.
    pub(super) fn of(moments: &[Moments], shape: Shape, ddof: u32) -> Self {
        let array = |get: &dyn Fn(&Moments) -> f64| {
            Array::from_storage(shape, Storage::host(moments.iter().map(|m| T::from_f64(get(m))).collect()))
        };
        Self {
            mean: array(&Moments::mean),
            variance: array(&|m| m.variance(ddof)),
            min: array(&Moments::min),
            max: array(&Moments::max),
            skewness: array(&Moments::skewness),
            kurtosis: array(&Moments::kurtosis),
            counts: Counts::Host(Arc::new(moments.iter().map(Moments::count).collect())),
        }
    }

    /// Wraps the results that are on the device.
    pub(super) fn resident(found: gpu::Found, shape: Shape) -> Self {
        let array = |buffer| Array::from_storage(shape, Storage::device(buffer));
        Self {
            mean: array(found.mean),
            variance: array(found.variance),
            min: array(found.least),
            max: array(found.most),
            skewness: array(found.skewness),
            kurtosis: array(found.kurtosis),
            counts: Counts::Device(found.counts.share()),
        }
    }
}

fn counts_of(words: &[u32]) -> Vec<u64> {
    words.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
}

/// Computes count, mean, variance, extremes, skewness and kurtosis along an axis of a batch, in one pass over memory.
///
/// Each series is divided into leaves of 4096 elements. The moments of a leaf are computed about the mean of the leaf,
/// and the leaves are merged in a tree (Chan, Golub and LeVeque 1979; Pébay 2008). So no digits are lost to
/// cancellation, however far the elements are from 0. The CPU computes in f64 and rounds to `T`. The device computes in
/// f32 about a value near the first elements of the series. On the device, a variance that exceeds the range of f32
/// becomes infinite, as it does in NumPy. A NaN makes the statistics of its series NaN or is left out, depending on
/// `options.nan`. An infinity makes the mean infinite and the central moments NaN.
///
/// # Shapes
/// Any; the results have the shape of the input, [`reduced`](super::reduced) to one value per series. Series may be
/// empty.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::stats::{StatsOptions, describe};
/// use fiedler::{Axis, Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(4, 1, 1), vec![1.0_f32, 2.0, 3.0, 4.0])?;
/// // If the axis is `None`, all elements of the array form one series.
/// let found = describe(&ctx, &x, Axis::Rows, StatsOptions::default())?;
/// assert_eq!(found.mean.to_host(&ctx)?.as_slice(), [2.5]);
/// assert!((found.variance.to_host(&ctx)?.as_slice()[0] - 5.0 / 3.0).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if [`Backend::Gpu`](crate::Backend::Gpu) is set and `T` is f64;
/// [`crate::ErrorKind::Limit`] if the results of a batch without elements exceed the memory budget; device errors.
pub fn describe<T: Real>(
    ctx: &Context,
    x: &Array<T>,
    axis: impl Into<Option<Axis>>,
    options: StatsOptions,
) -> Result<Description<T>> {
    let StatsOptions { ddof, nan } = options;
    let axis = axis.into();
    let (shape, view) = (reduced(x.shape(), axis, 1), View::of(x.shape(), axis));
    room(ctx, "seven moments", x.shape(), (shape.len() as u64).saturating_mul(56))?;
    let on_cpu = || Ok(Description::of(&cpu::describe(&x.storage().to_vec(ctx)?, view, nan), shape, ddof));
    let call = call::<T>("describe", x.shape(), x.is_resident());
    let (made, choice) = call.run(ctx, on_cpu, |gpu| match x.storage() {
        Storage::Host(data) if view.len() > most_numbers(gpu, view, ctx.device_budget()) => {
            let most = most_numbers(gpu, view, ctx.device_budget());
            in_batches(gpu, &T::for_device(data), view, shape, options, most)
        }
        Storage::Host(data) => Ok(Description::resident(raised(gpu, &T::for_device(data), view, options)?, shape)),
        Storage::Device(buffer) => whole(gpu, ctx.gpu_of(buffer).map(|_| &**buffer)?, view, shape, options),
    })?;
    Ok(made.chosen(&choice))
}

/// Returns where [`describe`] would run for a batch of the given shape, and why.
#[must_use]
pub fn choose_describe<T: Real>(ctx: &Context, shape: Shape, resident: bool) -> Choice {
    call::<T>("describe", shape, resident).choose(ctx)
}

/// Describes the call to the cost model: about twelve operations per element on the CPU, and twenty on the device.
pub(super) fn call<T: Real>(name: &'static str, shape: Shape, resident: bool) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let numbers = count(shape.len());
    let workload = Workload {
        family: Family::Describe,
        size: count(shape.rows),
        items: numbers / count(shape.rows).max(1.0),
        cpu_flops: 12.0 * numbers,
        gpu_flops: 20.0 * numbers,
        dispatches: 6.0,
        ..Workload::default()
    }
    .transferring(resident, 4.0 * numbers, 0.0);
    Call { name, precision: Precision::of::<T>(), workload, empty: shape.is_empty(), fits: always, waits: true }
}

/// If results of `needed` bytes are far larger than their input, checks that the memory budget holds the results.
pub(super) fn room(ctx: &Context, results: &str, shape: Shape, needed: u64) -> Result<()> {
    if needed > ctx.memory_budget() && needed / 64 > shape.len() as u64 {
        let what = format!("bytes for {results} of every series");
        return Err(Error::budget(what, needed, ctx.memory_budget()));
    }
    Ok(())
}

/// Returns the maximum number of elements that are sent to the device together. These elements fit a binding, and the
/// elements and the memory for their moments fit half of the budget.
fn most_numbers(gpu: &Gpu, view: View, budget: u64) -> usize {
    let each = 4.0 + count(usize::try_from(gpu::bytes(view)).unwrap_or(usize::MAX)) / count(view.len().max(1));
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    let by_budget = (budget as f64 / 2.0 / each) as usize;
    by_budget.min(usize::try_from(gpu.adapter().limits.storage_binding / 4).unwrap_or(usize::MAX))
}

/// Computes the description of numbers on the host. Tiny series are scaled on the way to the device and back.
fn raised(gpu: &Gpu, x: &[f32], view: View, options: StatsOptions) -> Result<gpu::Found> {
    let lines = Lines { inner: view.inner, outer: view.outer };
    let raised = Raised::of(x, lines, 1);
    let x = gpu.record().upload(&raised.words)?;
    let node = gpu::root(gpu, &x, view, options.nan)?;
    let mut found = gpu::finish(gpu, &node, view.series(), options.ddof)?;
    let gpu::Found { mean, variance, least, most, .. } = &mut found;
    for (numbers, degree) in [(mean, 1), (variance, 2), (least, 1), (most, 1)] {
        raised.lower(gpu, lines, 1, degree, numbers)?;
    }
    Ok(found)
}

fn whole<T: Real>(
    gpu: &Gpu,
    x: &Buffer<f32>,
    view: View,
    shape: Shape,
    options: StatsOptions,
) -> Result<Description<T>> {
    let node = gpu::root(gpu, x, view, options.nan)?;
    Ok(Description::resident(gpu::finish(gpu, &node, view.series(), options.ddof)?, shape))
}

/// Computes the description in batches of about `most` elements. All series with the same index `o` (see [`View`]) form
/// a slice, which is contiguous in memory. A batch consists of whole slices. If a slice has more elements than `most`,
/// the batch is this slice, which is processed as a stream of rows. Both kinds of batches are contiguous in memory, and
/// the division changes no bit of the results.
fn in_batches<T: Real>(
    gpu: &Gpu,
    x: &[f32],
    view: View,
    shape: Shape,
    options: StatsOptions,
    most: usize,
) -> Result<Description<T>> {
    let slice = view.len * view.inner;
    let slices = (most / slice).max(1);
    let mut results: [Vec<f32>; 6] = Default::default();
    let mut counts = Vec::with_capacity(view.series());
    for first in (0..view.outer).step_by(slices) {
        let outer = slices.min(view.outer - first);
        let part = View { outer, ..view };
        let own = &x[first * slice..(first + outer) * slice];
        let found = if slice <= most {
            raised(gpu, own, part, options)?
        } else {
            let mut stream = gpu::Stream::new(part.series(), options.nan);
            // Half of `most`, because the rows that are kept until they fill a leaf take memory too.
            let rows = (most / 2 / view.inner).max(1);
            for chunk in own.chunks(rows * view.inner) {
                let part = View { len: chunk.len() / view.inner, ..part };
                let chunk = gpu.record().upload(chunk)?;
                stream.push(gpu, &chunk, part)?;
            }
            match stream.root(gpu)? {
                Some(node) => gpu::finish(gpu, &node, part.series(), options.ddof)?,
                None => continue,
            }
        };
        let reads = [
            gpu.read(&found.mean)?,
            gpu.read(&found.variance)?,
            gpu.read(&found.least)?,
            gpu.read(&found.most)?,
            gpu.read(&found.skewness)?,
            gpu.read(&found.kurtosis)?,
        ];
        let of_counts = gpu.read(&found.counts)?;
        for (all, read) in results.iter_mut().zip(reads) {
            all.extend(read.wait()?);
        }
        counts.extend(counts_of(&of_counts.wait()?));
    }
    let [mean, variance, min, max, skewness, kurtosis] =
        results.map(|all| Array::from_storage(shape, Storage::host(T::from_device(all))));
    Ok(Description { mean, variance, min, max, skewness, kurtosis, counts: Counts::Host(Arc::new(counts)) })
}
