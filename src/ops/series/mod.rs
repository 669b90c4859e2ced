//! Numbers that describe a series or a matrix: moments, quantiles, histograms, spectra, autocorrelations, singular
//! values.
//!
//! A [`Measure`] is one or more columns of one kind, with its conventions. A [`Program`] computes the columns of
//! several measures from samples of one [`SampleShape`], in one pass over memory: what several columns need, such as
//! sorted numbers or a transform, is computed once. All arithmetic is in f64 and the results are rounded to f32 at the
//! end. Every sample is computed alone, so its bits do not depend on the samples beside it or on the number of threads.

mod bits;
mod covariance;
mod cpu;
mod gpu;
mod histogram;
pub(super) mod kernels;
mod moments;
mod named;
mod order;
mod parts;
mod quantiles;
mod raw;
mod singular;
mod spectrum;
mod transform;

pub use bits::{Bits, BitsColumn};
pub use covariance::{Covariance, CovarianceColumn};
pub use histogram::{HistogramColumn, Histograms};
pub use moments::{Moment, Moments};
pub use named::{Named, unknown};
pub use order::{Autocorrelation, OrderColumn};
pub use quantiles::{QuantileRule, Quantiles};
pub use raw::Raw;
pub use singular::{Singular, SingularColumn};
pub use spectrum::{Spectrum, SpectrumColumn};

use crate::array::Real;
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::lanes::Vector;
use crate::ops::operation::{Call, Operation, Precision};
use crate::policy::{Choice, Workload};
use cpu::Group;
use parts::Known;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use transform::Transform;

/// The shape of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleShape {
    /// A series or vector with this number of elements.
    Vector(usize),
    /// A matrix, stored row by row.
    Matrix {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
}

impl SampleShape {
    /// Returns the number of numbers.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Vector(n) => n,
            Self::Matrix { rows, columns } => rows * columns,
        }
    }

    /// Returns whether there are no numbers.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the number of columns; a vector is one row.
    #[must_use]
    pub fn columns(self) -> usize {
        match self {
            Self::Vector(n) => n,
            Self::Matrix { columns, .. } => columns,
        }
    }

    /// Returns whether the sample has more than one row and more than one column.
    #[must_use]
    pub fn is_matrix(self) -> bool {
        matches!(self, Self::Matrix { rows, columns } if rows > 1 && columns > 1)
    }
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    /// All columns have values.
    #[default]
    Ok = 0,
    /// Columns that are not defined for the sample are NaN, such as the skewness of equal numbers.
    Undefined = 1,
    /// Columns are infinite because their values exceed the range of f32. Others may be undefined.
    Overflow = 2,
    /// The sample has a NaN or an infinity, and all its columns are NaN.
    NotFinite = 3,
}

impl Status {
    /// Returns the status with a number.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        [Self::Ok, Self::Undefined, Self::Overflow, Self::NotFinite].get(usize::from(number)).copied()
    }

    /// Returns the status that a sample has if only some of its columns are looked at, which are given.
    #[must_use]
    pub fn of_columns(self, columns: &[f32]) -> Self {
        match self {
            Self::NotFinite => self,
            _ if columns.iter().any(|column| column.is_infinite()) => Self::Overflow,
            _ if columns.iter().any(|column| column.is_nan()) => Self::Undefined,
            _ => Self::Ok,
        }
    }
}

/// Columns of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Measure {
    /// The numbers themselves, or a projection of them.
    Raw(Raw),
    /// Moments.
    Moments(Moments),
    /// Quantiles.
    Quantiles(Quantiles),
    /// A histogram.
    Histogram(Histograms),
    /// The spectrum.
    Spectrum(Spectrum),
    /// Singular values.
    Singular(Singular),
    /// Eigenvalues of a covariance matrix.
    Covariance(Covariance),
    /// Columns that depend on the order of the numbers.
    Autocorrelation(Autocorrelation),
    /// Columns of bit strings.
    Bits(Bits),
}

/// What the columns of a program need.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    sorted: bool,
    power: bool,
    singular: bool,
    centered: bool,
}

impl Measure {
    /// Returns the names of the columns for samples of a shape.
    #[must_use]
    pub fn names(&self, shape: SampleShape) -> Vec<String> {
        match self {
            Self::Raw(of) => of.names(shape.len()),
            Self::Moments(of) => of.columns.iter().map(|column| column.name().to_owned()).collect(),
            Self::Quantiles(of) => of.names(),
            Self::Histogram(of) => of.names(),
            Self::Spectrum(of) => of.names(shape),
            Self::Singular(of) => of.names(),
            Self::Covariance(of) => of.names(),
            Self::Autocorrelation(of) => of.names(),
            Self::Bits(of) => of.names(shape),
        }
    }

    /// Computes the parts of the columns from the numbers of samples. Moments and covariances need only the sums.
    #[inline(always)]
    fn parts<V: Vector<Scalar = f64>>(&self, group: &Group<'_, V>, out: &mut Vec<V>) {
        match self {
            Self::Raw(of) => of.of_numbers(group.token, group.x, out),
            Self::Quantiles(of) => of.parts(group, out),
            Self::Histogram(of) => of.parts(group, out),
            Self::Spectrum(of) => of.parts(group, out),
            Self::Singular(of) => of.parts(group, out),
            Self::Autocorrelation(of) => of.parts(group, out),
            Self::Bits(of) => of.parts(group, out),
            Self::Moments(_) | Self::Covariance(_) => {}
        }
    }

    /// Computes the columns.
    #[inline(always)]
    fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, parts: &[V], out: &mut Vec<V>) {
        match self {
            Self::Raw(_) => out.extend_from_slice(parts),
            Self::Moments(of) => of.columns(known, out),
            Self::Quantiles(of) => of.columns(known, parts, out),
            Self::Histogram(of) => of.columns(known, parts, out),
            Self::Spectrum(of) => of.columns(known, parts, out),
            Self::Singular(of) => of.columns(known, parts, out),
            Self::Covariance(of) => of.columns(known, out),
            Self::Autocorrelation(of) => of.columns(known, parts, out),
            Self::Bits(of) => of.columns(known, parts, out),
        }
    }

    /// Checks the parameters.
    pub(crate) fn check(&self) -> Result<()> {
        let wrong =
            |wanted: &str, found: String| Err(Error::domain("features", format!("expected {wanted}, found {found}")));
        let share = |q: f64| (0.0..=1.0).contains(&q);
        let epsilon = |epsilon: f64| epsilon.is_finite() && epsilon >= 0.0;
        let most = 1 << 20;
        let counted = |count: usize| (1..=most).contains(&count);
        match self {
            Self::Raw(of) if of.project > most => wrong("at most 2^20 columns of a projection", of.project.to_string()),
            Self::Covariance(of) if !counted(of.top) => wrong("a top of 1 to 2^20 eigenvalues", of.top.to_string()),
            Self::Moments(of) if !epsilon(of.epsilon) => wrong("an epsilon of 0 or more", of.epsilon.to_string()),
            Self::Quantiles(of) => {
                let all = of.q.iter().chain(of.spreads.iter().flat_map(|(low, high)| [low, high]));
                match all.copied().find(|&q| !share(q)) {
                    Some(q) => wrong("quantiles from 0 to 1", q.to_string()),
                    None => Ok(()),
                }
            }
            Self::Histogram(of) => match of.range {
                _ if !counted(of.bins) => wrong("1 to 2^20 bins", of.bins.to_string()),
                _ if !epsilon(of.epsilon) => wrong("an epsilon of 0 or more", of.epsilon.to_string()),
                Some((low, high)) if !(low < high && (high - low).is_finite()) => {
                    wrong("a range that ascends", format!("{low} to {high}"))
                }
                _ => Ok(()),
            },
            Self::Spectrum(of) if !counted(of.top) => wrong("a top of 1 to 2^20 frequencies", of.top.to_string()),
            Self::Spectrum(of) if !counted(of.bands) => wrong("1 to 2^20 bands", of.bands.to_string()),
            Self::Spectrum(of) if !share(of.rolloff) => wrong("a rolloff from 0 to 1", of.rolloff.to_string()),
            Self::Spectrum(of) if !epsilon(of.epsilon) => wrong("an epsilon of 0 or more", of.epsilon.to_string()),
            Self::Singular(of) if !counted(of.top) => wrong("a top of 1 to 2^20 singular values", of.top.to_string()),
            Self::Singular(of) if !epsilon(of.epsilon) => wrong("an epsilon of 0 or more", of.epsilon.to_string()),
            Self::Autocorrelation(of) => match of.lags.iter().find(|&&lag| !counted(lag)) {
                Some(lag) => wrong("lags of 1 to 2^20", lag.to_string()),
                None if !(2..=7).contains(&of.order) => wrong("an order of 2 to 7", of.order.to_string()),
                None if !counted(of.delay) => wrong("a delay of 1 to 2^20", of.delay.to_string()),
                None if !counted(of.support) => wrong("a support of 1 to 2^20", of.support.to_string()),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// The columns of several measures, computed together for samples of one shape.
#[derive(Debug)]
pub struct Program {
    shape: SampleShape,
    /// The measures that differ from each other.
    measures: Vec<Measure>,
    /// The columns of each measure among those of `measures`, in the order in which they were asked for.
    order: Vec<Range<usize>>,
    names: Vec<String>,
    needs: Needs,
    width: usize,
    transform: Option<Transform>,
}

/// Columns of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// The number of columns.
    pub width: usize,
    /// The columns of each sample, sample by sample.
    pub values: Vec<f32>,
    /// What became of each sample.
    pub status: Vec<Status>,
}

impl Program {
    /// Plans the columns of measures, in order.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a parameter is out of range, or a measure has no columns;
    /// [`Shape`](crate::ErrorKind::Shape) if samples have no numbers.
    pub fn new(measures: Vec<Measure>, shape: SampleShape) -> Result<Self> {
        if shape.is_empty() {
            return Err(Error::shape("features", "samples with at least one number", "none"));
        }
        measures.iter().try_for_each(Measure::check)?;
        if measures.is_empty() || measures.iter().any(|measure| measure.names(shape).is_empty()) {
            return Err(Error::domain("features", "expected at least one column of each measure, found none"));
        }
        let names = measures.iter().flat_map(|measure| measure.names(shape)).collect();
        // Representations have measures in common, which are evaluated once.
        let (mut different, mut order): (Vec<Measure>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
        let (mut places, mut end) = (Vec::new(), 0);
        for measure in measures {
            let place = different.iter().position(|known| *known == measure).unwrap_or_else(|| {
                let begin = end;
                end += measure.names(shape).len();
                places.push(begin..end);
                different.push(measure);
                places.len() - 1
            });
            order.push(places[place].clone());
        }
        let measures = different;
        let width = order.iter().map(ExactSizeIterator::len).sum();
        let mut needs = Needs::default();
        for measure in &measures {
            match measure {
                Measure::Quantiles(_) => needs.sorted = true,
                Measure::Spectrum(_) => needs.power = true,
                Measure::Singular(_) => needs.singular = shape.is_matrix(),
                Measure::Covariance(_) => needs.centered = shape.is_matrix(),
                _ => {}
            }
        }
        let transform = needs.power.then(|| Transform::new(shape));
        Ok(Self { shape, measures, order, names, needs, width, transform })
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the names of the columns.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Returns whether [`Program::run`] wants the singular values of the samples, and of the samples from whose columns
    /// the means were subtracted.
    #[must_use]
    pub fn wants(&self) -> [bool; 2] {
        [self.needs.singular, self.needs.centered]
    }

    /// Computes the columns of samples, which are stored one after the other, each row by row. `values` has the
    /// singular values of each sample in descending order, and those of the sample from whose columns the means were
    /// subtracted, as far as the program wants them.
    ///
    /// On the device, the sums, orders and counts are computed in f32, from numbers that were scaled by a power of two,
    /// and the formulas on the CPU in f64. Numbers in f64 stay on the CPU.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the numbers do not divide into samples of the program's shape, or there
    /// are no singular values where there should be; [`Limit`](crate::ErrorKind::Limit) if
    /// [`Backend::Gpu`](crate::Backend::Gpu) is set and the kernels cannot compute a measure or samples of this length
    /// (2,048 numbers at most); [`Cancelled`](crate::ErrorKind::Cancelled); device errors.
    pub fn run<T: Real>(&self, ctx: &Context, samples: &[T], values: [&[f64]; 2]) -> Result<Columns> {
        let n = self.shape.len();
        if !samples.len().is_multiple_of(n) {
            let expected = format!("samples of {n} numbers each");
            return Err(Error::shape("features", expected, format!("{} numbers", samples.len())));
        }
        let count = samples.len() / n;
        let least = self.shape.columns().min(n / self.shape.columns());
        for (wanted, values) in self.wants().into_iter().zip(values) {
            if values.len() != if wanted { count * least } else { 0 } {
                let expected = format!("{least} singular values for each of {count} samples");
                return Err(Error::shape("features", expected, values.len().to_string()));
            }
        }
        let on_cpu = || {
            let mut made =
                Columns { width: self.width, values: vec![0.0; count * self.width], status: vec![Status::Ok; count] };
            cpu::run(self, samples, values, &mut made.values, &mut made.status);
            Ok(made)
        };
        let on_device = |gpu: &Arc<Gpu>| {
            gpu::check(self)?;
            gpu::run(ctx, gpu, self, &T::for_device(samples), values)
        };
        Ok(self.call::<T>(count).run(ctx, on_cpu, on_device)?.0)
    }

    /// Returns where [`Program::run`] would compute the columns of `count` samples, and why.
    #[must_use]
    pub fn choose<T: Real>(&self, ctx: &Context, count: usize) -> Choice {
        self.call::<T>(count).choose(ctx)
    }

    /// Returns whether there are kernels for the columns of samples of this shape and precision.
    #[must_use]
    pub fn has_kernels<T: Real>(&self) -> bool {
        T::ON_DEVICE && gpu::check(self).is_ok()
    }

    /// Describes the work for `count` samples to the cost model. The numbers of operations are those of the times that
    /// the CPU took for series of 500 numbers (`benches/results/2026-11-25-features-cpu.md`).
    #[must_use]
    pub fn workload(&self, count: usize) -> Workload {
        let numbers = (count * self.shape.len()) as f64;
        let mut operations = 30.0;
        for measure in &self.measures {
            operations += match measure {
                Measure::Moments(_) | Measure::Singular(_) | Measure::Covariance(_) | Measure::Raw(_) => 2.0,
                Measure::Quantiles(_) => 80.0,
                Measure::Spectrum(_) => 90.0,
                Measure::Histogram(_) | Measure::Bits(_) => 20.0,
                Measure::Autocorrelation(_) => 60.0,
            };
        }
        Workload {
            items: count as f64,
            cpu_flops: operations * numbers,
            gpu_flops: operations * numbers,
            host_flops: 4.0 * (count * self.width) as f64,
            dispatches: 2.0 + 2.0 * self.measures.len() as f64,
            ..Workload::default()
        }
        .transferring(false, 4.0 * numbers, 4.0 * (count * self.width) as f64)
    }

    fn call<T: Real>(&self, count: usize) -> Call<impl Fn(&Gpu, u64) -> bool> {
        let fits = gpu::check(self).is_ok();
        let (precision, workload) = (Precision::of::<T>(), self.workload(count));
        Call { name: "features", precision, workload, empty: count == 0, fits: move |_: &Gpu, _| fits, waits: true }
    }
}
