//! Divergences between histograms, which measure how far one distribution is from another one over the same bins.
//!
//! On the device, entries are read as bits, because a device may flush subnormal numbers. They are then scaled so that
//! the total of a histogram is about 2^100. The linear part of each term is subtracted, so that no term is negative and
//! nothing cancels in a sum. The logarithm of a floating-point number is computed from its exponent and, for its
//! significand, from a series of artanh.

mod cpu;
mod gpu;
pub(super) mod kernels;
mod samples;

pub use samples::divergence_of_samples;

use crate::array::{Array, Real, Storage, both_to_host};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{Call, Operation, Precision};
use crate::parallel;
use crate::policy::{Choice, Workload};
use crate::shape::Shape;

/// The number of histograms that a thread checks at a time.
const CHECKED: usize = 1 << 8;

/// A divergence D(p, q) of distributions over the same bins. In every divergence, 0 log 0 counts as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Divergence {
    /// The Kullback-Leibler divergence: sum p log(p / q). It is infinite if q = 0 < p in a bin.
    KullbackLeibler,
    /// The Jensen-Shannon divergence: half the sum of the Kullback-Leibler divergences of p and of q from the mean of p
    /// and q. It is symmetric and at most log 2.
    JensenShannon,
    /// The square root of the Jensen-Shannon divergence, which is SciPy's `jensenshannon`. It is a metric.
    JensenShannonDistance,
    /// The total variation: sum |p - q| / 2. It is a metric and at most 1.
    TotalVariation,
    /// Pearson's chi-square: sum (p - q)^2 / q. It is infinite if q = 0 < p in a bin.
    ChiSquare,
    /// The symmetric chi-square: sum (p - q)^2 / (p + q) / 2. It is at most 1.
    SymmetricChiSquare,
    /// The Hellinger distance: the square root of sum (sqrt p - sqrt q)^2 / 2. It is a metric and at most 1.
    Hellinger,
}

impl Divergence {
    /// All divergences.
    pub const ALL: [Self; 7] = [
        Self::KullbackLeibler,
        Self::JensenShannon,
        Self::JensenShannonDistance,
        Self::TotalVariation,
        Self::ChiSquare,
        Self::SymmetricChiSquare,
        Self::Hellinger,
    ];

    /// Returns whether D(p, q) equals D(q, p).
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        !matches!(self, Self::KullbackLeibler | Self::ChiSquare)
    }

    /// Returns whether this is the square root of a sum.
    fn is_root(self) -> bool {
        matches!(self, Self::JensenShannonDistance | Self::Hellinger)
    }

    /// Returns whether the divergence depends on the base of logarithms.
    fn has_base(self) -> bool {
        matches!(self, Self::KullbackLeibler | Self::JensenShannon | Self::JensenShannonDistance)
    }
}

/// The options of a divergence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DivergenceOptions {
    /// The base of logarithms: e (nats) by default; 2 for bits.
    pub base: f64,
    /// Whether every histogram is first divided by its sum, as counts require. If not, every sum has to be 1 to within
    /// 1e-3. If rounding leaves a small difference d between the sums of two histograms, this difference adds about
    /// d^2 / 2 to their Kullback-Leibler divergence.
    pub normalize: bool,
    /// The value that is added to every bin of every histogram, whose sum is 1 at that point. Then the histogram is
    /// normalized again. The value is 0 by default. If it is above 0, no divergence is infinite.
    pub smoothing: f64,
}

impl Default for DivergenceOptions {
    fn default() -> Self {
        Self { base: std::f64::consts::E, normalize: false, smoothing: 0.0 }
    }
}

impl DivergenceOptions {
    /// Returns the factor that converts a sum in nats to the base of the options; 1 if the divergence has no base.
    fn scale(&self, kind: Divergence) -> f64 {
        if kind.has_base() { 1.0 / self.base.ln() } else { 1.0 }
    }

    fn check(&self) -> Result<()> {
        if !(self.base.is_finite() && self.base > 1.0) {
            return Err(Error::domain("divergence", format!("expected a base above 1, found {}", self.base)));
        }
        if !(self.smoothing.is_finite() && self.smoothing >= 0.0) {
            let what = format!("expected a finite smoothing of 0 or more, found {}", self.smoothing);
            return Err(Error::domain("divergence", what));
        }
        Ok(())
    }
}

/// Computes the divergence of every histogram of `p` from the corresponding histogram of `q`.
///
/// Every term of a sum is 0 or more, and is small if p and q are close. For example, a term of the Kullback-Leibler
/// divergence is computed as p log(p/q) - p + q, not as p log(p/q). So divergences of nearly equal histograms keep
/// their digits.
///
/// On an adapter the relative error is at most (40 + bins / 512) 2^-23. On the CPU, f32 histograms are computed in f64,
/// so their only noticeable error is the rounding of the result to f32. For f64 histograms, the relative error is at
/// most (40 + bins / 64) 2^-53. With `normalize` an adapter rounds q once more. This adds an error of 2^-22 sqrt(2 D)
/// to a divergence D, an error of 2^-22 to a divergence that is a square root, and an error of (40 + bins / 512) 2^-23
/// to the total variation. On an adapter, divergences below 2^-126 may be 0. Entries count however small they are. A
/// subnormal entry counts as its value. On an adapter, a positive entry below 2^-225 times the total of its histogram
/// counts as 2^-225 times the total.
///
/// # Shapes
/// `p` is (bins, count) x batch, with one histogram per column, so that a histogram is contiguous (in NumPy's order:
/// one histogram per row). `q` has the same shape or is (bins, 1) x batch. In the second case, all histograms of `p` in
/// one entry of the batch are compared with the same histogram of `q`. The result is (count, 1) x batch. On the CPU,
/// f32 histograms are computed in f64. f64 histograms always stay on the CPU.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence};
/// use fiedler::{Context, Shape};
///
/// let (ctx, options) = (Context::cpu(), DivergenceOptions::default());
/// let p = Array::from_vec(Shape::new(2, 1, 1), vec![0.5_f32, 0.5])?; // one histogram per column
/// let q = Array::from_vec(Shape::new(2, 1, 1), vec![0.25_f32, 0.75])?;
/// let found = divergence(&ctx, Divergence::KullbackLeibler, &p, &q, &options)?.to_host(&ctx)?;
/// let wanted = 0.5 * 2.0_f32.ln() + 0.5 * (2.0_f32 / 3.0).ln();
/// assert!((found.as_slice()[0] - wanted).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if the shapes do not match or histograms have no bins. [`crate::ErrorKind::Domain`] if
/// an option is invalid, or if a histogram on the host has an entry that is negative or not finite, or has a sum that
/// is not 1 (with `normalize`: a sum of 0). If a histogram with an invalid entry, or with a sum of 0 under `normalize`,
/// is on the device, its divergences are NaN instead. There, a sum that is not 1 is not detected.
/// [`crate::ErrorKind::Limit`] if [`Backend::Gpu`](crate::Backend::Gpu) is set and a binding cannot hold the histograms
/// or the result. Device errors.
pub fn divergence<T: Real>(
    ctx: &Context,
    kind: Divergence,
    p: &Array<T>,
    q: &Array<T>,
    options: &DivergenceOptions,
) -> Result<Array<T>> {
    options.check()?;
    let (shape, other) = (p.shape(), q.shape());
    let fits = (other.rows, other.batch) == (shape.rows, shape.batch) && (other.cols == shape.cols || other.cols == 1);
    if !fits {
        let expected = format!("q of {shape} as p, or ({}, 1) x {}", shape.rows, shape.batch);
        return Err(Error::shape("divergence", expected, other.to_string()));
    }
    bins(shape)?;
    let result = Shape::new(shape.cols, 1, shape.batch);
    for (name, histograms) in [("p", p), ("q", q)] {
        check_entries(ctx, name, histograms, options)?;
    }
    let terms = shape.len();
    let resident = [p, q].map(Array::is_resident);
    let (made, choice) = call::<T>(terms, &[shape, other, result], &resident).run(
        ctx,
        || {
            let (p, q) = both_to_host(ctx, p, q)?;
            let each = if other.cols == shape.cols { 1 } else { shape.cols.max(1) };
            Ok(Storage::host(cpu::rows(kind, p.as_slice(), q.as_slice(), shape.rows, each, options)))
        },
        |gpu| {
            gpu::check(gpu, &[shape, other, result])?;
            let (p, q) = (p.storage().on_device(ctx, gpu)?, q.storage().on_device(ctx, gpu)?);
            Ok(Storage::device(gpu::rows(gpu, kind, (&p, shape), (&q, other), options)?))
        },
    )?;
    Ok(Array::from_storage(result, made).chosen(&choice))
}

/// Computes the divergences of all pairs of histograms within an entry of the batch: entry (i, j) is D(p_i, p_j).
///
/// # Shapes
/// `p` is (bins, count) x batch, with one histogram per column. The result is (count, count) x batch, with a diagonal
/// of 0. If the divergence is symmetric, the result is symmetric to the last bit. The accuracy is the same as for
/// [`divergence`].
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence_matrix};
/// use fiedler::{Context, Shape};
///
/// let (ctx, options) = (Context::cpu(), DivergenceOptions::default());
/// let p = Array::from_vec(Shape::new(2, 2, 1), vec![1.0_f32, 0.0, 0.0, 1.0])?; // (1, 0) and (0, 1)
/// let found = divergence_matrix(&ctx, Divergence::TotalVariation, &p, &options)?.to_host(&ctx)?;
/// assert_eq!(found.as_slice(), [0.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The same as [`divergence`], and [`crate::ErrorKind::Limit`] if the result exceeds the memory budget.
pub fn divergence_matrix<T: Real>(
    ctx: &Context,
    kind: Divergence,
    p: &Array<T>,
    options: &DivergenceOptions,
) -> Result<Array<T>> {
    options.check()?;
    let shape = p.shape();
    bins(shape)?;
    let result = Shape::new(shape.cols, shape.cols, shape.batch);
    let (needed, allowed) = ((result.len() as u64).saturating_mul(size_of::<T>() as u64), ctx.memory_budget());
    if needed > allowed {
        return Err(Error::budget("bytes of a matrix of divergences", needed, allowed));
    }
    check_entries(ctx, "p", p, options)?;
    let terms = shape.len().saturating_mul(shape.cols);
    let (made, choice) = call::<T>(terms, &[shape, result], &[p.is_resident(); 2]).run(
        ctx,
        || Ok(Storage::host(cpu::matrix(kind, p.to_host(ctx)?.as_slice(), shape, options))),
        |gpu| {
            gpu::check(gpu, &[shape, result])?;
            Ok(Storage::device(gpu::matrix(gpu, kind, (&*p.storage().on_device(ctx, gpu)?, shape), options)?))
        },
    )?;
    Ok(Array::from_storage(result, made).chosen(&choice))
}

/// Returns where divergences with `terms` terms in total would be computed, and why. `shapes` holds the shapes of the
/// inputs and then of the result; `resident` says for each input whether it is on the device.
#[must_use]
pub fn choose_divergence<T: Real>(ctx: &Context, terms: usize, shapes: &[Shape], resident: &[bool]) -> Choice {
    call::<T>(terms, shapes, resident).choose(ctx)
}

/// Describes the call to the cost model. A term takes a logarithm and a division. It counts as more operations on the
/// CPU than on the device, because the CPU computes in f64.
fn call<'a, T: Real>(terms: usize, shapes: &'a [Shape], resident: &[bool]) -> Call<impl Fn(&Gpu, u64) -> bool + 'a> {
    #[expect(clippy::cast_precision_loss, reason = "counts for the cost model")]
    let (terms, moved) = {
        let on_device = |i: usize| resident.get(i).copied().unwrap_or(i + 1 == shapes.len());
        let bytes =
            shapes.iter().enumerate().filter(|(i, _)| !on_device(*i)).map(|(_, shape)| 4.0 * shape.len() as f64);
        (terms as f64, bytes.sum())
    };
    let workload = Workload {
        items: terms,
        cpu_flops: 100.0 * terms,
        gpu_flops: 40.0 * terms,
        dispatches: 3.0,
        ..Workload::default()
    }
    .transferring(false, moved, 0.0);
    let fits = move |gpu: &Gpu, _| gpu::check(gpu, shapes).is_ok();
    Call { name: "divergence", precision: Precision::of::<T>(), workload, empty: false, fits, waits: false }
}

fn bins(shape: Shape) -> Result<()> {
    if shape.rows == 0 && shape.cols * shape.batch > 0 {
        return Err(Error::shape("divergence", "histograms of at least one bin", shape.to_string()));
    }
    Ok(())
}

/// Checks that histograms on the host are valid.
fn check_entries<T: Real>(ctx: &Context, name: &str, histograms: &Array<T>, options: &DivergenceOptions) -> Result<()> {
    let Storage::Host(data) = histograms.storage() else { return Ok(()) };
    let (data, bins) = (data.clone(), histograms.shape().rows.max(1));
    let wrong = |(i, histogram): (usize, &[T])| {
        let mut sum = 0.0;
        for (bin, x) in histogram.iter().map(|x| x.to_f64()).enumerate() {
            if !(x.is_finite() && x >= 0.0) {
                return Some(format!(
                    "expected finite entries of 0 or more, found {x} in bin {bin} of histogram {i} of {name}"
                ));
            }
            sum += x;
        }
        if options.normalize && sum <= 0.0 {
            return Some(format!("expected a positive sum, found {sum:?} of histogram {i} of {name}"));
        }
        let one = options.normalize || (sum - 1.0).abs() <= 1e-3;
        (!one).then(|| {
            format!(
                "expected sums of 1, to 1e-3, found {sum:?} of histogram {i} of {name}; counts have to be normalized"
            )
        })
    };
    let of_run = |run: usize, some: &[T]| (run * CHECKED..).zip(some.chunks(bins)).find_map(wrong);
    let first = ctx.on_host(|| Ok(parallel::map(data.chunks(bins * CHECKED), of_run).into_iter().flatten().next()))?;
    first.map_or(Ok(()), |what| Err(Error::domain("divergence", what)))
}
