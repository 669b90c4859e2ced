//! Divergences between histograms: how far one distribution over the same bins is from another.

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
use std::sync::Arc;

/// Histograms that a thread checks at a time.
const CHECKED: usize = 1 << 8;

/// Which divergence D(p, q) of distributions over the same bins. 0 log 0 is 0 in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Divergence {
    /// Kullback and Leibler's: sum p log(p / q). Infinite where q = 0 < p.
    KullbackLeibler,
    /// Jensen and Shannon's: half of Kullback and Leibler's of p and of q against their mean; at most log 2, symmetric.
    JensenShannon,
    /// Its root, which is a metric: SciPy's `jensenshannon`.
    JensenShannonDistance,
    /// sum |p - q| / 2, at most 1, a metric.
    TotalVariation,
    /// Pearson's: sum (p - q)^2 / q. Infinite where q = 0 < p.
    ChiSquare,
    /// sum (p - q)^2 / (p + q) / 2, at most 1, symmetric.
    SymmetricChiSquare,
    /// Hellinger's distance: the root of sum (sqrt p - sqrt q)^2 / 2, at most 1, a metric.
    Hellinger,
}

impl Divergence {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::KullbackLeibler,
        Self::JensenShannon,
        Self::JensenShannonDistance,
        Self::TotalVariation,
        Self::ChiSquare,
        Self::SymmetricChiSquare,
        Self::Hellinger,
    ];

    /// Whether D(p, q) is D(q, p).
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        !matches!(self, Self::KullbackLeibler | Self::ChiSquare)
    }

    /// Whether it is the root of a sum.
    fn is_root(self) -> bool {
        matches!(self, Self::JensenShannonDistance | Self::Hellinger)
    }

    /// Whether it is measured in nats, bits or the like.
    fn has_base(self) -> bool {
        matches!(self, Self::KullbackLeibler | Self::JensenShannon | Self::JensenShannonDistance)
    }
}

/// How histograms are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DivergenceOptions {
    /// The base of logarithms: e (nats) by default; 2 for bits.
    pub base: f64,
    /// Divide every histogram by its sum first, as counts want it. Without it a sum has to be 1, to 1e-3; what rounding leaves of the
    /// difference d counts as d^2 / 2 in all divergences but the total variation.
    pub normalize: bool,
    /// What is added to every bin of every (normalized) histogram before it is normalized again: 0 by default. With more than 0 nothing
    /// is infinite.
    pub smoothing: f64,
}

impl Default for DivergenceOptions {
    fn default() -> Self {
        Self { base: std::f64::consts::E, normalize: false, smoothing: 0.0 }
    }
}

impl DivergenceOptions {
    /// What a sum in nats is multiplied by.
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

/// The divergence of every histogram of `p` from its partner in `q`.
///
/// Sums are of terms that are 0 or more and small where p and q are close (p log(p/q) - p + q, not p log(p/q)), so divergences of
/// nearly equal histograms keep their digits: on an adapter a relative error of (40 + bins / 512) 2^-23, on the CPU the rounding
/// to f32, or (40 + bins / 64) 2^-53 in f64. With `normalize` an adapter rounds q once more, which adds 2^-22 sqrt(2 D) (to a
/// root 2^-22, to the total variation that relative error of 1). On an adapter, divergences below 2^-126 may be 0, but entries
/// count however small they are: subnormal ones as they are, those of less than 2^-225 of their histogram as that.
///
/// # Shapes
/// `p`: (bins, count) x batch, a histogram a column, so that it lies in one piece (in numpy's order a row). `q`: the same, or
/// (bins, 1) x batch: one for all of an entry. Result: (count, 1) x batch. f32 on the CPU is computed in f64; f64 stays on the CPU.
///
/// # Errors
/// [`crate::ErrorKind::Shape`] where the shapes do not fit or there are histograms without bins. [`crate::ErrorKind::Domain`] for
/// an option that makes no sense and, of histograms on the host, for an entry that is negative or not finite and for a sum that
/// is not 1 (with `normalize`: that is 0). Of histograms that lie on the device the divergence is NaN there, but a sum that is
/// not 1 is not looked for. Limits as of [`divergence_matrix`]; device errors.
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

/// The divergence of every histogram of an entry of the batch from every other of it: entry (i, j) is D(p_i, p_j).
///
/// # Shapes
/// `p`: (bins, count) x batch, a histogram a column. Result: (count, count) x batch; symmetric to the last bit where the
/// divergence is, with a diagonal of 0. Accuracy as of [`divergence`].
///
/// # Errors
/// As of [`divergence`], and [`crate::ErrorKind::Limit`] where the result is beyond the memory budget, or the device was insisted
/// upon and a binding does not hold the histograms or the result.
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

/// Returns where `terms` terms of histograms of these shapes would be computed, and why; `resident` says of each of the first arrays
/// whether it is on the device.
#[must_use]
pub fn choose_divergence<T: Real>(ctx: &Context, terms: usize, shapes: &[Shape], resident: &[bool]) -> Choice {
    call::<T>(terms, shapes, resident).choose(ctx)
}

/// A term takes a logarithm and a division; the CPU computes in f64.
fn call<'a, T: Real>(terms: usize, shapes: &'a [Shape], resident: &[bool]) -> Call<impl Fn(&Gpu, u64) -> bool + 'a> {
    #[expect(clippy::cast_precision_loss, reason = "counts for the cost model")]
    let (terms, moved) = {
        let lies = |i: usize| resident.get(i).copied().unwrap_or(i + 1 == shapes.len());
        let bytes = shapes.iter().enumerate().filter(|(i, _)| !lies(*i)).map(|(_, shape)| 4.0 * shape.len() as f64);
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
    Call { name: "divergence", precision: Precision::of::<T>(), workload, empty: false, fits }
}

fn bins(shape: Shape) -> Result<()> {
    if shape.rows == 0 && shape.cols * shape.batch > 0 {
        return Err(Error::shape("divergence", "histograms of at least one bin", shape.to_string()));
    }
    Ok(())
}

/// Whether histograms on the host are histograms.
fn check_entries<T: Real>(ctx: &Context, name: &str, histograms: &Array<T>, options: &DivergenceOptions) -> Result<()> {
    let Storage::Host(data) = histograms.storage() else { return Ok(()) };
    let (data, bins) = (Arc::clone(data), histograms.shape().rows.max(1));
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
            return Some(format!("expected a positive sum, found {sum} of histogram {i} of {name}"));
        }
        let one = options.normalize || (sum - 1.0).abs() <= 1e-3;
        (!one).then(|| {
            format!("expected sums of 1, to 1e-3, found {sum} of histogram {i} of {name}; counts have to be normalized")
        })
    };
    let of_run = |run: usize, some: &[T]| (run * CHECKED..).zip(some.chunks(bins)).find_map(wrong);
    let first = ctx.on_host(|| Ok(parallel::map(data.chunks(bins * CHECKED), of_run).into_iter().flatten().next()))?;
    first.map_or(Ok(()), |what| Err(Error::domain("divergence", what)))
}
