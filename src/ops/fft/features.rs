//! Features of signals: power spectra, band powers, spectral centroids. If the transform of a signal is on the device,
//! the features are computed on the device too, and nothing is read back in between.

use super::gpu::Kind;
use super::kernels::{BAND_WIDTHS, Bands, BandsOf, Power, PowerOf};
use super::{Task, lines_of};
use crate::array::{Array, Real, Scalar, Storage};
use crate::context::Context;
use crate::device::{Buffer, Grid};
use crate::error::{Error, Result};
use crate::ops::convert::tiny::{Lines, Raised, lower, lower_here};
use crate::parallel;
use crate::policy::Choice;
use crate::shape::{Axis, Shape, to_u32};
use num_complex::Complex;
use std::borrow::Cow;
use std::f64::consts::TAU;
use std::ops::Range;

/// The number of powers that a thread computes at a time.
const TASK: usize = 1 << 12;
/// The number of sums of powers that a thread computes at a time.
const SUMS: usize = 1 << 6;

/// A window, which multiplies a signal before it is transformed. The windows are periodic, as is usual for spectra, and
/// equal those of SciPy's `get_window`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Window {
    /// All ones.
    #[default]
    Rectangular,
    /// `1/2 - 1/2 cos(2 pi j / n)`.
    Hann,
    /// `0.54 - 0.46 cos(2 pi j / n)`.
    Hamming,
    /// `0.42 - 0.5 cos(2 pi j / n) + 0.08 cos(4 pi j / n)`.
    Blackman,
}

impl Window {
    /// Returns the n values of the window.
    #[must_use]
    pub fn values(self, n: usize) -> Vec<f64> {
        let value = |j: usize| {
            let angle = TAU * j as f64 / n as f64;
            match self {
                Self::Rectangular => 1.0,
                Self::Hann => 0.5 - 0.5 * angle.cos(),
                Self::Hamming => 0.54 - 0.46 * angle.cos(),
                Self::Blackman => 0.42 - 0.5 * angle.cos() + 0.08 * (2.0 * angle).cos(),
            }
        };
        // SciPy also returns 1 for a window of length 1.
        if n == 1 { vec![1.0] } else { (0..n).map(value).collect() }
    }
}

/// The one-sided power spectra of real signals.
#[derive(Clone, Debug)]
pub struct PowerSpectrum<T = f32> {
    /// The powers: n/2 + 1 elements along the axis, frequency 0 first.
    pub power: Array<T>,
    n: usize,
    axis: Axis,
    small: Option<Small<T>>,
}

/// The powers of signals of small numbers, times powers of two. Without them, many of these powers would be 0.
#[derive(Clone, Debug)]
struct Small<T> {
    power: Array<T>,
    /// The exponent e of each signal, which was multiplied by 2^-e, and its powers by the square.
    exponents: Vec<i32>,
}

/// Computes the one-sided power spectrum of every line:
/// `P_k = c |sum_j w_j x_j exp(-2 pi i j k / n)|^2 / (sum_j w_j)^2`, where x has n elements and w is the window. The
/// factor c is 1 at frequency 0 and, if n is even, at frequency n/2. At all other frequencies c is 2, because the power
/// at frequency n - k is counted at k. A sine of amplitude A with a whole number of periods has power A^2 / 2 at its
/// frequency. With [`Window::Rectangular`] the sum of P is the mean square of x (SciPy's `periodogram`,
/// `scaling="spectrum"`, `detrend=False`).
///
/// A line (the n elements of one signal) with a non-finite element has a non-finite spectrum. The power overflows if an
/// amplitude exceeds the square root of the largest number of the precision. It is subnormal or 0 if an amplitude is
/// below the square root of the smallest; band powers and centroids are right even then, if the signals are on the host
/// when this is called.
///
/// # Shapes
/// The n elements along the axis become n/2 + 1.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::fft::Window;
/// use fiedler::ops::power_spectrum;
/// use fiedler::{Axis, Context, Shape};
///
/// // 8 periods of a cosine in 64 samples: the power is at frequency 8.
/// let ctx = Context::cpu();
/// let x: Vec<f32> = (0..64).map(|j| (std::f32::consts::TAU * 8.0 * j as f32 / 64.0).cos()).collect();
/// let found = power_spectrum(&ctx, &Array::from_vec(Shape::new(64, 1, 1), x)?, Window::Hann, Axis::Rows)?;
/// let power = found.power.to_host(&ctx)?;
/// let largest = (0..33).max_by(|&a, &b| power.as_slice()[a].total_cmp(&power.as_slice()[b]));
/// assert_eq!(largest, Some(8));
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The same as [`rfft`](super::rfft).
pub fn power_spectrum<T: Real>(ctx: &Context, x: &Array<T>, window: Window, axis: Axis) -> Result<PowerSpectrum<T>>
where
    Complex<T>: Scalar,
{
    let task = Task::of(ctx, "power_spectrum", Kind::RealForward, x, axis, None)?;
    let (n, lines, shape) = (task.n, task.lines, task.shape);
    let values = window.values(n);
    let scale = 1.0 / values.iter().sum::<f64>();
    let table = match window {
        Window::Rectangular => None,
        _ => Some(Array::from_vec(Shape::new(n, 1, 1), values.into_iter().map(T::from_f64).collect())?),
    };
    let Raised { words, exponents } = match x.storage() {
        Storage::Host(data) => Raised::below(small::<T>(), &data[..], lines, 1),
        Storage::Device(_) => Raised { words: Cow::default(), exponents: Vec::new() },
    };
    let raised = if exponents.is_empty() { None } else { Some(Array::from_vec(x.shape(), words.into_owned())?) };
    let spectrum: Array<Complex<T>> = task.transform(ctx, raised.as_ref().unwrap_or(x), table.as_ref())?;
    let powers = |exponents: &[i32]| -> Result<Array<T>> {
        let storage = match spectrum.storage() {
            Storage::Host(spectrum) => Storage::host(ctx.on_host(|| {
                let mut power = power_here(spectrum, n, lines.inner, scale);
                lower_here(exponents, lines, 1, 2, &mut power);
                Ok(power)
            })?),
            Storage::Device(buffer) => {
                let mut power = power_there(ctx, buffer, n, lines, scale)?;
                lower(ctx.gpu_of(buffer)?, exponents, lines, 1, 2, &mut power)?;
                Storage::device(power)
            }
        };
        Ok(spectrum.made(shape, storage))
    };
    let power = powers(&exponents)?;
    let small = if exponents.is_empty() { None } else { Some(Small { power: powers(&[])?, exponents }) };
    Ok(PowerSpectrum { power, n, axis, small })
}

/// Returns the bound of the largest magnitude below which a signal is scaled. Its square is far from the least normal
/// number, because the power of noise is divided among all frequencies.
fn small<T: Real>() -> f64 {
    2.0_f64.powi(if T::ON_DEVICE { -32 } else { -400 })
}

impl<T: Real> PowerSpectrum<T> {
    /// Returns where the spectrum was computed, and why.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.power.choice()
    }

    /// Returns the number of elements of the signal along the axis.
    #[must_use]
    pub fn signal_len(&self) -> usize {
        self.n
    }

    /// Returns the frequency of each element in Hz, for signals with `rate` samples per second.
    #[must_use]
    pub fn frequencies(&self, rate: f64) -> Vec<f64> {
        (0..=self.n / 2).map(|k| k as f64 * rate / self.n as f64).collect()
    }

    /// Sums the power between adjacent `edges` in Hz, for signals with `rate` samples per second. A band includes its
    /// lower edge and excludes its upper one, except that the last band includes both edges (as in NumPy's
    /// `histogram`).
    ///
    /// # Shapes
    /// Along the axis, the result has one element fewer than there are `edges`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there are fewer than two edges, if an edge is negative or not finite, if the
    /// edges are not strictly ascending, or if the rate is not finite and positive. [`crate::ErrorKind::Limit`] if the
    /// result exceeds the memory budget and there are more than four times as many bands as frequencies. Device errors.
    pub fn band_powers(&self, ctx: &Context, edges: &[f64], rate: f64) -> Result<Array<T>> {
        check_rate("band_powers", rate)?;
        let ascending = edges.windows(2).all(|pair| pair[0] < pair[1]);
        if edges.len() < 2 || !ascending || edges.iter().any(|edge| !edge.is_finite() || *edge < 0.0) {
            let what = format!("the edges must be two at least, finite, not negative and ascending, found {edges:?}");
            return Err(Error::domain("band_powers", what));
        }
        let frequencies = self.frequencies(rate);
        let below = |edge: f64| frequencies.partition_point(|&f| f < edge);
        let last = edges.len() - 2;
        let bands: Vec<Range<usize>> = edges
            .windows(2)
            .enumerate()
            .map(|(i, pair)| {
                let end = if i == last { frequencies.partition_point(|&f| f <= pair[1]) } else { below(pair[1]) };
                below(pair[0])..end
            })
            .collect();
        let needed = 8 * (self.shape_of(bands.len()).len() as u64);
        if needed > ctx.memory_budget() && bands.len() > 4 * frequencies.len() {
            let what = format!("bytes for {} bands of every signal", bands.len());
            return Err(Error::budget(what, needed, ctx.memory_budget()));
        }
        self.summed(ctx, &bands, None)
    }

    /// Computes the power-weighted mean frequency `sum f P / sum P` in Hz, where P is the power at frequency f, for
    /// signals with `rate` samples per second. The result is 0 for a signal of zeros. It is not finite if the
    /// spectrum is not finite.
    ///
    /// # Shapes
    /// The result has one element along the axis.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the rate is not finite and positive; device errors.
    pub fn spectral_centroid(&self, ctx: &Context, rate: f64) -> Result<Array<T>> {
        check_rate("spectral_centroid", rate)?;
        let everything = 0..self.n / 2 + 1;
        self.summed(ctx, std::slice::from_ref(&everything), Some(rate / self.n as f64))
    }

    fn shape_of(&self, along: usize) -> Shape {
        let shape = self.power.shape();
        match self.axis {
            Axis::Rows => Shape { rows: along, ..shape },
            Axis::Cols => Shape { cols: along, ..shape },
            Axis::Batch => Shape { batch: along, ..shape },
        }
    }

    /// Computes the power in each band or, if `unit` is given, the power-weighted mean frequency of each band. `unit`
    /// is the distance between two adjacent frequencies.
    fn summed(&self, ctx: &Context, bands: &[Range<usize>], unit: Option<f64>) -> Result<Array<T>> {
        let (bins, lines) = lines_of(self.power.shape(), self.axis);
        let shape = self.shape_of(bands.len());
        let power = self.small.as_ref().map_or(&self.power, |small| &small.power);
        // A frequency does not depend on the scale of the signal.
        let exponents: &[i32] = match &self.small {
            Some(small) if unit.is_none() => &small.exponents,
            _ => &[],
        };
        let storage = match power.storage() {
            Storage::Host(power) => {
                let mut sums = sums_here(power, bins, lines, bands, unit);
                lower_here(exponents, lines, 1, 2, &mut sums);
                Storage::host(sums)
            }
            Storage::Device(buffer) => {
                let mut sums = sums_there(ctx, buffer, bins, lines, bands, unit)?;
                lower(ctx.gpu_of(buffer)?, exponents, lines, 1, 2, &mut sums)?;
                Storage::device(sums)
            }
        };
        Ok(self.power.made(shape, storage))
    }
}

fn check_rate(operation: &'static str, rate: f64) -> Result<()> {
    if rate.is_finite() && rate > 0.0 {
        return Ok(());
    }
    Err(Error::domain(operation, format!("the rate must be finite and positive, found {rate}")))
}

fn power_here<T: Real>(spectrum: &[Complex<T>], n: usize, inner: usize, scale: f64) -> Vec<T> {
    let bins = n / 2 + 1;
    let power = |i: usize, x: &Complex<T>| {
        let k = i / inner.max(1) % bins;
        let alone = k == 0 || (k + 1 == bins && n.is_multiple_of(2));
        let (re, im) = (x.re.to_f64() * scale, x.im.to_f64() * scale);
        T::from_f64(if alone { 1.0 } else { 2.0 } * (re * re + im * im))
    };
    parallel::map_runs(spectrum.len(), TASK, |i| power(i, &spectrum[i]))
}

fn power_there(ctx: &Context, spectrum: &Buffer<f32>, n: usize, lines: Lines, scale: f64) -> Result<Buffer<f32>> {
    let mut rec = ctx.gpu_of(spectrum)?.record();
    let bins = n / 2 + 1;
    let count = bins * lines.inner * lines.outer;
    let mut power = rec.array(count)?;
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    let scale = scale as f32;
    let even = u32::from(n.is_multiple_of(2));
    let params = PowerOf { count: to_u32(count), inner: to_u32(lines.inner.max(1)), bins: to_u32(bins), even, scale };
    let kernel = Power { params, spectrum: &spectrum.cast_ref(), power: &mut power };
    rec.dispatch(&kernel, &[], Grid::Invocations(to_u32(count)), 4.0 * count as f64)?;
    Ok(power)
}

fn sums_here<T: Real>(power: &[T], bins: usize, lines: Lines, bands: &[Range<usize>], unit: Option<f64>) -> Vec<T> {
    let inner = lines.inner.max(1);
    let sum = |own: usize| {
        let line = own / inner;
        let begin = line / bands.len() * bins * inner + own % inner;
        let (mut all, mut weighed) = (0.0, 0.0);
        for k in bands[line % bands.len()].clone() {
            let p = power[begin + k * inner].to_f64();
            all += p;
            weighed += p * k as f64;
        }
        T::from_f64(match unit {
            Some(unit) if all != 0.0 && all.is_finite() => weighed / all * unit,
            _ => all,
        })
    };
    parallel::map_runs(lines.inner * bands.len() * lines.outer, SUMS, sum)
}

fn sums_there(
    ctx: &Context,
    power: &Buffer<f32>,
    bins: usize,
    lines: Lines,
    bands: &[Range<usize>],
    unit: Option<f64>,
) -> Result<Buffer<f32>> {
    let mut rec = ctx.gpu_of(power)?.record();
    let ranges: Vec<[u32; 2]> = bands.iter().map(|band| [to_u32(band.start), to_u32(band.end)]).collect();
    let ranges = rec.upload(&ranges)?;
    let count = lines.inner * bands.len() * lines.outer;
    let mut sums = rec.array(count)?;
    let longest = bands.iter().map(Range::len).max().unwrap_or(0);
    let width = BAND_WIDTHS.into_iter().find(|(most, _)| longest <= *most).map_or(256, |(_, width)| width);
    let flops = 4.0 * longest as f64;
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    let unit_there = unit.unwrap_or(1.0) as f32;
    for range in rec.ranges(to_u32(count), flops) {
        let params = BandsOf {
            first: range.first,
            inner: to_u32(lines.inner.max(1)),
            bins: to_u32(bins),
            bands: to_u32(bands.len()),
            centroid: u32::from(unit.is_some()),
            unit: unit_there,
        };
        let kernel = Bands { params, power, ranges: &ranges, sums: &mut sums };
        let variant = [("WIDTH", f64::from(width))];
        rec.dispatch(&kernel, &variant, range.grid(), range.flops)?;
    }
    Ok(sums)
}
