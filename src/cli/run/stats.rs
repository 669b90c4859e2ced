//! `fiedler run stats`, `quantiles`, `histogram`, `cov`, `corr` and `pca`.

use super::layout::{in_rows, matrices, transposed};
use super::{Precision, To, seconds};
use crate::cli::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, HostArray, Real};
use fiedler::io::{Data, NamedArray, Npy, NpyData, Rows, read_npy};
use fiedler::ops::pca::{Pca as Components, PcaOptions, Solver, pca};
use fiedler::ops::stats::{
    self, Nan, StatsOptions, choose_cov, choose_describe, corr, cov, describe, histogram, quantiles,
};
use fiedler::policy::Side;
use fiedler::{Axis, Backend, Context, Error, Shape};
use std::path::PathBuf;

/// What every statistic is told.
#[derive(Debug, Args)]
struct Common {
    /// `(m, n)` or, but for pca, `(batch, m, n)` in a .npy file, f32 or f64.
    input: PathBuf,
    #[command(flatten)]
    to: To,
    /// In which precision; without it, that of the input.
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
}

/// What is reduced to a number or a few.
#[derive(Debug, Args)]
struct Along {
    /// Over what: the rows of each column (numpy's axis -2), the columns of each row (-1), the batch (-3), or everything.
    #[arg(long, value_enum, value_name = "AXIS", default_value = "rows")]
    axis: AxisName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AxisName {
    Rows,
    Cols,
    Batch,
    All,
}

impl Along {
    /// None is over everything.
    fn axis(&self) -> Option<Axis> {
        match self.axis {
            AxisName::Rows => Some(Axis::Rows),
            AxisName::Cols => Some(Axis::Cols),
            AxisName::Batch => Some(Axis::Batch),
            AxisName::All => None,
        }
    }
}

fn nan_of(omit: bool) -> Nan {
    if omit { Nan::Omit } else { Nan::Propagate }
}

#[derive(Debug, Args)]
pub(super) struct Stats {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    along: Along,
    /// The variance is divided by the count less this.
    #[arg(long, value_name = "N", default_value_t = 1)]
    ddof: u32,
    /// Leave NaNs out; without it they make their statistics NaN.
    #[arg(long)]
    omit_nan: bool,
}

#[derive(Debug, Args)]
pub(super) struct Quantiles {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    along: Along,
    /// Which, within 0 and 1; they stand where the axis was.
    #[arg(short, value_name = "Q,Q,...", value_delimiter = ',', default_value = "0,0.25,0.5,0.75,1")]
    q: Vec<f64>,
    /// Leave NaNs out; without it they make their quantiles NaN.
    #[arg(long)]
    omit_nan: bool,
}

#[derive(Debug, Args)]
pub(super) struct Histogram {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    along: Along,
    /// Bins of one width; they stand where the axis was.
    #[arg(long, value_name = "N", default_value_t = 10)]
    bins: usize,
    /// The ends of the first and the last bin; without it the least and the greatest number.
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    range: Vec<f64>,
}

#[derive(Debug, Args)]
pub(super) struct Cov {
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Corr {
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Pca {
    #[command(flatten)]
    common: Common,
    /// How many components.
    #[arg(short, value_name = "K")]
    k: usize,
    /// Divide each coordinate by the root of its variance.
    #[arg(long)]
    whiten: bool,
    /// How they are found. truncated: by a random projection, so that the last ones are approximate, which the residual does not tell.
    #[arg(long, value_enum, value_name = "SOLVER", default_value = "auto")]
    solver: SolverName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SolverName {
    Auto,
    Covariance,
    Svd,
    Truncated,
}

/// An array as a file has it: a name, its length along each axis, its numbers row-major.
type Made<N> = (&'static str, Vec<usize>, Vec<N>);

/// What a call made.
struct Found<T> {
    numbers: Vec<Made<T>>,
    wide: Vec<Made<f64>>,
    counts: Vec<Made<i64>>,
    converged: bool,
}

impl<T> Found<T> {
    fn of(numbers: Vec<Made<T>>) -> Self {
        Self { numbers, wide: Vec::new(), counts: Vec::new(), converged: true }
    }
}

/// One of the operations here, in whichever precision.
trait Operation {
    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, batched: bool) -> Result<Found<T>, Error>;
    /// Results left where they are made.
    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(), Error>;
    /// Whether the device would be chosen for what lies there already.
    fn runs_on_device<T: Real>(&self, ctx: &Context, x: &Array<T>) -> bool {
        choose_describe::<T>(ctx, x.shape(), true).side == Side::Gpu
    }
}

impl Common {
    fn run(&self, operation: &impl Operation) -> Result<Outcome, Failure> {
        self.to.check(&[&self.input])?;
        let Npy { shape, data } = read_npy(&self.input)?;
        let ctx = self.to.context()?;
        match (data, self.precision) {
            (NpyData::F32(data), Some(Precision::Refined)) => {
                let wide: Vec<f64> = data.into_iter().map(f64::from).collect();
                self.on(operation, &ctx.with_backend(Backend::Cpu), &shape, &wide)
            }
            (NpyData::F32(data), _) => self.on(operation, &ctx, &shape, &data),
            (NpyData::F64(data), Some(Precision::F32)) => {
                let narrow: Vec<f32> = data.into_iter().map(f32::from_f64).collect();
                self.on(operation, &ctx, &shape, &narrow)
            }
            (NpyData::F64(data), _) => self.on(operation, &ctx, &shape, &data),
            (other, _) => {
                let file = self.input.display();
                Err(Failure::Call(format!("{file}: expected float32 or float64, found {}", other.name())))
            }
        }
    }

    fn on<T: Real>(
        &self,
        operation: &impl Operation,
        ctx: &Context,
        shape: &[usize],
        data: &[T],
    ) -> Result<Outcome, Failure> {
        let x = matrices(&self.input, shape, data)?;
        let batched = shape.len() == 3;
        let (found, first) = seconds(|| operation.call(ctx, &x, batched))?;
        let array = |name, shape: &[usize], data| NamedArray { name, rows: Rows::Other, shape: shape.to_vec(), data };
        let arrays: Vec<NamedArray<'_>> = found
            .numbers
            .iter()
            .map(|(name, shape, data)| array(*name, shape, numbers(data)))
            .chain(found.wide.iter().map(|(name, shape, data)| array(*name, shape, Data::F64(data))))
            .chain(found.counts.iter().map(|(name, shape, data)| array(*name, shape, Data::I64(data))))
            .collect();
        self.to.write(&arrays)?;
        let there = self.to.placed(ctx, &x, operation.runs_on_device(ctx, &x))?;
        self.to.report(
            first,
            || operation.call(ctx, &x, batched).map(drop),
            || {
                operation.leave_there(ctx, &there)?;
                ctx.wait()
            },
        )?;
        Ok(if found.converged { Outcome::Done } else { Outcome::Uncertified })
    }
}

/// In the precision that they have: T is f32 or f64.
fn numbers<T: Real>(data: &[T]) -> Data<'_> {
    if T::ON_DEVICE { Data::F32(bytemuck::cast_slice(data)) } else { Data::F64(bytemuck::cast_slice(data)) }
}

/// The axes of a reduction to `kept` numbers, or to one whose axis is gone.
fn reduced(shape: Shape, axis: Option<Axis>, kept: bool, batched: bool) -> Vec<usize> {
    let Some(axis) = axis else { return if kept { vec![shape.rows] } else { vec![] } };
    let all = [(Axis::Batch, shape.batch), (Axis::Rows, shape.rows), (Axis::Cols, shape.cols)];
    let stays = |&(own, _): &(Axis, usize)| if own == axis { kept } else { own != Axis::Batch || batched };
    all.into_iter().filter(stays).map(|(_, length)| length).collect()
}

fn made<T: Real>(
    name: &'static str,
    ctx: &Context,
    array: &Array<T>,
    shape: impl Fn(Shape) -> Vec<usize>,
) -> Result<Made<T>, Error> {
    let host: HostArray<T> = array.to_host(ctx)?;
    Ok((name, shape(host.shape()), in_rows(&host)))
}

/// Counts in the order of an array of that shape, in numpy's.
fn counted(name: &'static str, counts: &[u64], shape: Shape, axes: Vec<usize>) -> Made<i64> {
    let signed: Vec<i64> = counts.iter().map(|&count| i64::try_from(count).unwrap_or(i64::MAX)).collect();
    (name, axes, transposed(&signed, shape.cols, shape.rows))
}

impl Stats {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }

    fn options(&self) -> StatsOptions {
        StatsOptions { ddof: self.ddof, nan: nan_of(self.omit_nan) }
    }
}

impl Operation for Stats {
    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, batched: bool) -> Result<Found<T>, Error> {
        let axis = self.along.axis();
        let found = describe(ctx, x, axis, self.options())?;
        let axes = |shape| reduced(shape, axis, false, batched);
        let shape = found.mean.shape();
        let numbers = vec![
            made("mean", ctx, &found.mean, axes)?,
            made("variance", ctx, &found.variance, axes)?,
            made("min", ctx, &found.min, axes)?,
            made("max", ctx, &found.max, axes)?,
            made("skewness", ctx, &found.skewness, axes)?,
            made("kurtosis", ctx, &found.kurtosis, axes)?,
        ];
        let counts = vec![counted("count", &found.counts(ctx)?, shape, axes(shape))];
        Ok(Found { counts, ..Found::of(numbers) })
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(), Error> {
        describe(ctx, x, self.along.axis(), self.options()).map(drop)
    }
}

impl Quantiles {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }
}

impl Operation for Quantiles {
    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, batched: bool) -> Result<Found<T>, Error> {
        let axis = self.along.axis();
        let found = quantiles(ctx, x, axis, &self.q, nan_of(self.omit_nan))?;
        Ok(Found::of(vec![made("quantiles", ctx, &found, |shape| reduced(shape, axis, true, batched))?]))
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(), Error> {
        quantiles(ctx, x, self.along.axis(), &self.q, nan_of(self.omit_nan)).map(drop)
    }
}

impl Histogram {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        if !matches!(self.range.len(), 0 | 2) {
            return Err(Failure::Call(format!("--range: expected LOW,HIGH, found {} numbers", self.range.len())));
        }
        self.common.run(&self)
    }

    fn range(&self) -> Option<(f64, f64)> {
        match *self.range {
            [low, high] => Some((low, high)),
            _ => None,
        }
    }
}

impl Operation for Histogram {
    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, batched: bool) -> Result<Found<T>, Error> {
        let axis = self.along.axis();
        let found = histogram(ctx, x, axis, self.bins, self.range())?;
        let one = stats::reduced(x.shape(), axis, 1);
        let apart = |name, counts: &[u64]| counted(name, counts, one, reduced(one, axis, false, batched));
        let counts = vec![
            counted("counts", &found.counts, found.shape, reduced(found.shape, axis, true, batched)),
            apart("below", &found.below),
            apart("above", &found.above),
            apart("nan", &found.nan),
        ];
        Ok(Found { counts, wide: vec![("edges", vec![found.edges.len()], found.edges)], ..Found::of(Vec::new()) })
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(), Error> {
        histogram(ctx, x, self.along.axis(), self.bins, self.range()).map(drop)
    }
}

/// A square matrix a matrix.
fn squares<T: Real>(name: &'static str, ctx: &Context, x: &Array<T>, batched: bool) -> Result<Found<T>, Error> {
    let axes = |shape: Shape| batched.then_some(shape.batch).into_iter().chain([shape.rows, shape.cols]).collect();
    Ok(Found::of(vec![made(name, ctx, x, axes)?]))
}

impl Cov {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }
}

impl Operation for Cov {
    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, batched: bool) -> Result<Found<T>, Error> {
        squares("cov", ctx, &cov(ctx, x)?, batched)
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(), Error> {
        cov(ctx, x).map(drop)
    }

    fn runs_on_device<T: Real>(&self, ctx: &Context, x: &Array<T>) -> bool {
        choose_cov::<T>(ctx, x.shape(), true).side == Side::Gpu
    }
}

impl Corr {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }
}

impl Operation for Corr {
    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, batched: bool) -> Result<Found<T>, Error> {
        squares("corr", ctx, &corr(ctx, x)?, batched)
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(), Error> {
        corr(ctx, x).map(drop)
    }

    fn runs_on_device<T: Real>(&self, ctx: &Context, x: &Array<T>) -> bool {
        choose_cov::<T>(ctx, x.shape(), true).side == Side::Gpu
    }
}

impl Pca {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }

    fn found<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(Components<T>, Array<T>), Error> {
        let solver = match self.solver {
            SolverName::Auto => Solver::Auto,
            SolverName::Covariance => Solver::Covariance,
            SolverName::Svd => Solver::Svd,
            SolverName::Truncated => Solver::Truncated,
        };
        let found = pca(ctx, x, self.k, PcaOptions { solver, ..PcaOptions::default() })?;
        let turned = found.transform(ctx, x, self.whiten)?;
        Ok((found, turned))
    }
}

impl Operation for Pca {
    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, _: bool) -> Result<Found<T>, Error> {
        let (found, turned) = self.found(ctx, x)?;
        let matrix = |shape: Shape| vec![shape.rows, shape.cols];
        let numbers = vec![
            made("components", ctx, &found.components, matrix)?,
            made("explained_variance", ctx, &found.explained_variance, |shape| vec![shape.rows])?,
            made("explained_variance_ratio", ctx, &found.explained_variance_ratio, |shape| vec![shape.rows])?,
            made("singular_values", ctx, &found.singular_values, |shape| vec![shape.rows])?,
            made("mean", ctx, &found.mean, |shape| vec![shape.cols])?,
            made("transformed", ctx, &turned, matrix)?,
        ];
        let wide = vec![
            ("noise_variance", vec![], vec![found.noise_variance]),
            ("residual", vec![], vec![found.certificate.residual]),
            ("orthogonality", vec![], vec![found.certificate.orthogonality]),
        ];
        let counts = vec![("status", vec![], vec![found.certificate.status as i64])];
        Ok(Found { numbers, wide, counts, converged: found.converged() })
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(), Error> {
        self.found(ctx, x).map(drop)
    }

    fn runs_on_device<T: Real>(&self, ctx: &Context, x: &Array<T>) -> bool {
        choose_cov::<T>(ctx, x.shape(), true).side == Side::Gpu
    }
}
