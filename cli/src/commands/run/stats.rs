//! `fiedler run stats`, `quantiles`, `histogram`, `cov` and `corr`, and the code that `pca` shares with them.

use super::input::{Axes, Input, REALS};
use super::layout::{matrices, shape_of};
use super::{Precision, To, many, one_zero, seconds};
use crate::commands::values::{self, finite, share, whole};
use crate::commands::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, HostArray, Real, column_major};
use fiedler::io::{Data, NamedArray, NpyData, Rows};
use fiedler::ops::stats::{
    self, Nan, StatsOptions, choose_cov, choose_describe, choose_histogram, choose_quantiles, corr, cov, describe,
    histogram, quantiles,
};
use fiedler::policy::{Choice, Side};
use fiedler::{Axis, Context, Error, Shape};
use std::path::PathBuf;

/// The options of every statistic.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// `(n,)`, `(m, n)` or `(batch, m, n)` in a .npy file: float32, float64, float16 as float32, integers and booleans
    /// as float64.
    input: PathBuf,
    #[command(flatten)]
    to: To,
    /// The precision to compute in [default: the precision of the input].
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
}

/// The option for the axis that is reduced to one or a few values.
#[derive(Debug, Args)]
struct Along {
    /// The axis to reduce: rows reduces over the rows of each column (NumPy's axis -2), cols over the columns of each
    /// row (-1), batch over the batch (-3), and all over everything. A vector has only one axis.
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
    /// Returns the axis to reduce; `None` stands for all axes.
    fn axis(&self, axes: usize) -> Option<Axis> {
        match self.axis {
            _ if axes == 1 => None,
            AxisName::Rows => Some(Axis::Rows),
            AxisName::Cols => Some(Axis::Cols),
            AxisName::Batch => Some(Axis::Batch),
            AxisName::All => None,
        }
    }

    fn check(&self, input: &Input<'_>) -> Result<(), Failure> {
        match self.axis {
            AxisName::Batch if input.shape.len() < 3 => Err(input.wrong("(batch, m, n) for --axis batch")),
            _ => Ok(()),
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
    /// The variance is the sum of the squared deviations divided by the count minus N.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>)]
    ddof: u32,
    /// Leave NaNs out. Without this option, the statistics of data that contains a NaN are NaN.
    #[arg(long)]
    omit_nan: bool,
}

#[derive(Debug, Args)]
pub(super) struct Quantiles {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    along: Along,
    /// The quantiles, from 0 to 1. In the result, the axis of the quantiles replaces the reduced axis.
    #[arg(short, value_name = "Q,Q,...", value_delimiter = ',', default_value = "0,0.25,0.5,0.75,1", value_parser = share,
        allow_hyphen_values = true)]
    q: Vec<f64>,
    /// Leave NaNs out. Without this option, the quantiles of data that contains a NaN are NaN.
    #[arg(long)]
    omit_nan: bool,
}

#[derive(Debug, Args)]
pub(super) struct Histogram {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    along: Along,
    /// The number of bins, which have equal width. In the result, the axis of the bins replaces the reduced axis.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = values::counted)]
    bins: usize,
    /// The lower edge of the first bin and the upper edge of the last bin [default: the least and the greatest value].
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', num_args = 1, allow_hyphen_values = true, value_parser = finite)]
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

/// An array of the output file: its name, its shape, and its values in row-major order.
pub(super) type Made<N> = (&'static str, Vec<usize>, Vec<N>);

/// The results of a call.
pub(super) struct Found<T> {
    pub(super) numbers: Vec<Made<T>>,
    pub(super) wide: Vec<Made<f64>>,
    pub(super) counts: Vec<Made<i64>>,
    pub(super) converged: bool,
    pub(super) choice: Option<Choice>,
    /// A description of how the call ended, for the last line of the output.
    pub(super) state: String,
}

impl<T> Found<T> {
    fn of(choice: Option<&Choice>, numbers: Vec<Made<T>>) -> Self {
        let (wide, counts, choice) = (Vec::new(), Vec::new(), choice.copied());
        Self { numbers, wide, counts, converged: true, choice, state: "done".to_owned() }
    }
}

/// An operation of this module, in either precision.
pub(super) trait Operation {
    const NAME: &'static str;
    const AXES: Axes;
    /// Checks that the operation applies to an array of the input's shape.
    fn check(&self, _: &Input<'_>) -> Result<(), Failure> {
        Ok(())
    }
    /// Returns the option that restricts the call to the CPU, if there is one.
    fn on_cpu_alone(&self) -> Option<&'static str> {
        None
    }
    /// Runs the operation; `axes` is the number of axes in the file.
    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<Found<T>, Error>;
    /// Runs the operation and leaves the results on the side where they were computed.
    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<(), Error>;
    /// Returns the names of the output's arrays.
    fn arrays(&self) -> &'static [&'static str];
    /// Returns where the operation would run on an array of the given shape. `axes` is the number of axes in the file.
    /// `resident` says whether the array is already on the device.
    fn choose<T: Real>(&self, ctx: &Context, shape: Shape, axes: usize, resident: bool) -> Choice;
}

/// The names of the arrays of a decomposition. In these arrays, negative zeros are written as positive zeros.
const DECOMPOSED: &[&str] =
    &["components", "explained_variance", "explained_variance_ratio", "singular_values", "transformed"];

impl Common {
    pub(super) fn run<O: Operation>(&self, operation: &O) -> Result<Outcome, Failure> {
        self.to.check(&[&self.input], operation.arrays())?;
        let input = Input::read(&self.input, REALS, O::AXES, self.precision)?.widened();
        operation.check(&input)?;
        if let Some(option) = operation.on_cpu_alone().filter(|_| self.to.place.insists()) {
            return Err(Failure::Call(format!(
                "{option} is computed on the CPU alone: expected --backend cpu or auto, found gpu"
            )));
        }
        match &input.data {
            NpyData::F64(data) => self.on(operation, &input, data),
            NpyData::F32(data) => self.on(operation, &input, data),
            // Only f32 and f64 data reaches this match.
            _ => Ok(Outcome::Done),
        }
    }

    fn on<T: Real, O: Operation>(&self, operation: &O, input: &Input<'_>, data: &[T]) -> Result<Outcome, Failure> {
        let (shape, axes) = (shape_of(&input.shape), input.shape.len());
        let choose = |ctx: &Context| Ok(operation.choose::<T>(ctx, shape, axes, false));
        let ctx = &self.to.context(self.precision, &[input], choose)?;
        let x = matrices(&input.shape, data)?;
        let (mut found, first) = seconds(|| operation.call(ctx, &x, axes))?;
        found.numbers.iter_mut().filter(|(name, _, _)| DECOMPOSED.contains(name)).for_each(|(_, _, x)| one_zero(x));
        let array = |name, shape: &[usize], data| NamedArray { name, rows: Rows::Other, shape: shape.to_vec(), data };
        let arrays: Vec<NamedArray<'_>> = found
            .numbers
            .iter()
            .map(|(name, shape, data)| array(*name, shape, numbers(data)))
            .chain(found.wide.iter().map(|(name, shape, data)| array(*name, shape, Data::F64(data))))
            .chain(found.counts.iter().map(|(name, shape, data)| array(*name, shape, Data::I64(data))))
            .collect();
        self.to.write(&arrays)?;
        self.to.say(
            (ctx, found.choice.as_ref()),
            format_args!("{}: {}", O::NAME, input.described()),
            &found.state,
            first,
        )?;
        let on_device = operation.choose::<T>(ctx, shape, axes, true).side == Side::Gpu;
        let there = self.to.placed(ctx, &x, on_device)?;
        self.to.report(
            first,
            || operation.call(ctx, &x, axes).map(drop),
            || {
                operation.leave_there(ctx, &there, axes)?;
                ctx.wait()
            },
        )?;
        Ok(if found.converged { Outcome::Done } else { Outcome::Uncertified })
    }
}

/// Wraps values for writing, without a conversion. `T` is f32 or f64.
fn numbers<T: Real>(data: &[T]) -> Data<'_> {
    if T::ON_DEVICE { Data::F32(bytemuck::cast_slice(data)) } else { Data::F64(bytemuck::cast_slice(data)) }
}

/// Returns the NumPy shape of the result of a reduction; `shape` is the result's shape in the library. If `kept` is
/// true, the reduced axis stays, with its new length. Otherwise the axis is dropped. `batched` says whether the input
/// has a batch axis.
fn reduced(shape: Shape, axis: Option<Axis>, kept: bool, batched: bool) -> Vec<usize> {
    let Some(axis) = axis else { return if kept { vec![shape.rows] } else { vec![] } };
    let all = [(Axis::Batch, shape.batch), (Axis::Rows, shape.rows), (Axis::Cols, shape.cols)];
    let stays = |&(own, _): &(Axis, usize)| if own == axis { kept } else { own != Axis::Batch || batched };
    all.into_iter().filter(stays).map(|(_, length)| length).collect()
}

pub(super) fn made<T: Real>(
    name: &'static str,
    ctx: &Context,
    array: &Array<T>,
    shape: impl Fn(Shape) -> Vec<usize>,
) -> Result<Made<T>, Error> {
    let host: HostArray<T> = array.to_host(ctx)?;
    Ok((name, shape(host.shape()), host.to_row_major()))
}

/// Converts counts to NumPy's order. In the library's order, they form an array of the shape `shape`.
fn counted(name: &'static str, counts: &[u64], shape: Shape, axes: Vec<usize>) -> Made<i64> {
    let signed: Vec<i64> = counts.iter().map(|&count| i64::try_from(count).unwrap_or(i64::MAX)).collect();
    (name, axes, column_major(&signed, shape.cols, shape.rows))
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
    const NAME: &'static str = "stats";
    const AXES: Axes = Axes::SERIES;

    fn check(&self, input: &Input<'_>) -> Result<(), Failure> {
        self.along.check(input)
    }

    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<Found<T>, Error> {
        let axis = self.along.axis(axes);
        let found = describe(ctx, x, axis, self.options())?;
        let axes = |shape| reduced(shape, axis, false, axes == 3);
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
        Ok(Found { counts, ..Found::of(found.choice(), numbers) })
    }

    fn arrays(&self) -> &'static [&'static str] {
        &["count", "mean", "variance", "min", "max", "skewness", "kurtosis"]
    }

    fn choose<T: Real>(&self, ctx: &Context, shape: Shape, _: usize, resident: bool) -> Choice {
        choose_describe::<T>(ctx, shape, resident)
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<(), Error> {
        describe(ctx, x, self.along.axis(axes), self.options()).map(drop)
    }
}

impl Quantiles {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }
}

impl Operation for Quantiles {
    const NAME: &'static str = "quantiles";
    const AXES: Axes = Axes::SERIES;

    fn check(&self, input: &Input<'_>) -> Result<(), Failure> {
        self.along.check(input)
    }

    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<Found<T>, Error> {
        let axis = self.along.axis(axes);
        let found = quantiles(ctx, x, axis, &self.q, nan_of(self.omit_nan))?;
        Ok(Found::of(
            found.choice(),
            vec![made("quantiles", ctx, &found, |shape| reduced(shape, axis, true, axes == 3))?],
        ))
    }

    fn arrays(&self) -> &'static [&'static str] {
        &["quantiles"]
    }

    fn choose<T: Real>(&self, ctx: &Context, shape: Shape, axes: usize, resident: bool) -> Choice {
        choose_quantiles::<T>(ctx, shape, self.along.axis(axes), self.q.len(), resident)
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<(), Error> {
        quantiles(ctx, x, self.along.axis(axes), &self.q, nan_of(self.omit_nan)).map(drop)
    }
}

impl Histogram {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        match self.range[..] {
            [] => {}
            [low, high] if low < high && (high - low).is_finite() => {
                #[expect(clippy::cast_precision_loss, reason = "a count of bins")]
                let width = (high - low) / self.bins as f64;
                if low + width <= low || high - width >= high {
                    let what =
                        format!("--bins: {} bins from {low} to {high} are narrower than f64 can resolve", self.bins);
                    return Err(Failure::Call(what));
                }
            }
            [low, high] => {
                return Err(Failure::Call(format!(
                    "--range: expected LOW,HIGH in ascending order, found {low},{high}"
                )));
            }
            _ => {
                let found = many(self.range.len(), "number", "numbers");
                return Err(Failure::Call(format!("--range: expected LOW,HIGH, found {found}")));
            }
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
    const NAME: &'static str = "histogram";
    const AXES: Axes = Axes::SERIES;

    fn check(&self, input: &Input<'_>) -> Result<(), Failure> {
        self.along.check(input)
    }

    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<Found<T>, Error> {
        let axis = self.along.axis(axes);
        let found = histogram(ctx, x, axis, self.bins, self.range())?;
        let one = stats::reduced(x.shape(), axis, 1);
        let apart = |name, counts: &[u64]| counted(name, counts, one, reduced(one, axis, false, axes == 3));
        let choice = found.choice().copied();
        let counts = vec![
            counted("counts", &found.counts, found.shape, reduced(found.shape, axis, true, axes == 3)),
            apart("below", &found.below),
            apart("above", &found.above),
            apart("nan", &found.nan),
        ];
        Ok(Found {
            counts,
            wide: vec![("edges", vec![found.edges.len()], found.edges)],
            ..Found::of(choice.as_ref(), Vec::new())
        })
    }

    fn arrays(&self) -> &'static [&'static str] {
        &["counts", "edges", "below", "above", "nan"]
    }

    fn choose<T: Real>(&self, ctx: &Context, shape: Shape, axes: usize, resident: bool) -> Choice {
        choose_histogram::<T>(ctx, shape, self.along.axis(axes), self.bins, resident)
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<(), Error> {
        histogram(ctx, x, self.along.axis(axes), self.bins, self.range()).map(drop)
    }
}

/// Returns the result of an operation that turns each matrix into a square matrix.
fn squares<T: Real>(name: &'static str, ctx: &Context, x: &Array<T>, batched: bool) -> Result<Found<T>, Error> {
    let axes = |shape: Shape| batched.then_some(shape.batch).into_iter().chain([shape.rows, shape.cols]).collect();
    Ok(Found::of(x.choice(), vec![made(name, ctx, x, axes)?]))
}

impl Cov {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }
}

impl Operation for Cov {
    const NAME: &'static str = "cov";
    const AXES: Axes = Axes::MATRICES;

    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<Found<T>, Error> {
        squares(Self::NAME, ctx, &cov(ctx, x)?, axes == 3)
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>, _: usize) -> Result<(), Error> {
        cov(ctx, x).map(drop)
    }

    fn arrays(&self) -> &'static [&'static str] {
        &[Self::NAME]
    }

    fn choose<T: Real>(&self, ctx: &Context, shape: Shape, _: usize, resident: bool) -> Choice {
        choose_cov::<T>(ctx, shape, resident)
    }
}

impl Corr {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }
}

impl Operation for Corr {
    const NAME: &'static str = "corr";
    const AXES: Axes = Axes::MATRICES;

    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, axes: usize) -> Result<Found<T>, Error> {
        squares(Self::NAME, ctx, &corr(ctx, x)?, axes == 3)
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>, _: usize) -> Result<(), Error> {
        corr(ctx, x).map(drop)
    }

    fn arrays(&self) -> &'static [&'static str] {
        &[Self::NAME]
    }

    fn choose<T: Real>(&self, ctx: &Context, shape: Shape, _: usize, resident: bool) -> Choice {
        choose_cov::<T>(ctx, shape, resident)
    }
}
