//! `fiedler run fft`, `ifft`, `rfft`, `irfft`, `fft2`, `ifft2` and `power-spectrum`: Fourier transforms along an axis.

use super::input::{Axes, Input, NUMBERS, REALS};
use super::{Precision, To, seconds};
use crate::commands::values::{not_negative, positive, whole};
use crate::commands::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real, Scalar};
use fiedler::io::{Data, NamedArray, NpyData, Rows};
use fiedler::ops::fft::{self, Window, choose_fft, choose_rfft};
use fiedler::policy::{Choice, Side};
use fiedler::{Axis, Context, Error, Shape};
use num_complex::Complex;
use std::path::PathBuf;

/// The options of every transform.
#[derive(Debug, Args)]
pub(super) struct Transform {
    /// One to three axes in a .npy file: float32, float64, complex64, complex128, float16 as float32, integers and
    /// booleans as float64.
    input: PathBuf,
    #[command(flatten)]
    to: To,
    /// The precision to compute in [default: the precision of the input].
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
}

/// The options of every transform along one axis.
#[derive(Debug, Args)]
pub(super) struct Along {
    #[command(flatten)]
    transform: Transform,
    /// The axis, counted as in NumPy: -1 is the last one.
    #[arg(long, value_name = "AXIS", default_value_t = -1, allow_negative_numbers = true)]
    axis: isize,
}

#[derive(Debug, Args)]
pub(super) struct Back {
    #[command(flatten)]
    along: Along,
    /// The number of real values along the axis: 2 (m - 1) or 2 m - 1 for m frequencies [default: 2 (m - 1)].
    #[arg(short, value_name = "N", value_parser = whole::<usize>)]
    n: Option<usize>,
}

#[derive(Debug, Args)]
pub(super) struct PowerSpectrum {
    #[command(flatten)]
    along: Along,
    /// The window by which the signal is multiplied. The window is periodic, as in SciPy's get_window.
    #[arg(long, value_enum, value_name = "WINDOW", default_value = "rectangular")]
    window: WindowName,
    /// The number of samples per second.
    #[arg(long, value_name = "HZ", default_value_t = 1.0, value_parser = positive)]
    rate: f64,
    /// The edges of the bands in Hz, ascending, separated by commas. `band_powers` has the power in each band. A band
    /// includes its lower edge and excludes its upper edge, with the last edge included in the last band.
    #[arg(long, value_name = "HZ,HZ,...", value_delimiter = ',', value_parser = not_negative, allow_hyphen_values = true)]
    bands: Vec<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WindowName {
    Rectangular,
    Hann,
    Hamming,
    Blackman,
}

/// A transform whose input and output have the same precision.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    Fft,
    Ifft,
    Rfft,
    Fft2,
    Ifft2,
}

/// A precision in which files store real and complex values.
trait Stored: Real
where
    Complex<Self>: Scalar,
{
    fn reals(data: &[Self]) -> Data<'_>;
    fn complex(data: &[Complex<Self>]) -> Data<'_>;
}

impl Stored for f32 {
    fn reals(data: &[Self]) -> Data<'_> {
        Data::F32(data)
    }
    fn complex(data: &[Complex<Self>]) -> Data<'_> {
        Data::C64(data)
    }
}

impl Stored for f64 {
    fn reals(data: &[Self]) -> Data<'_> {
        Data::F64(data)
    }
    fn complex(data: &[Complex<Self>]) -> Data<'_> {
        Data::C128(data)
    }
}

impl Along {
    pub(super) fn run(&self, which: Which) -> Result<Outcome, Failure> {
        self.transform.run(which, self.axis)
    }
}

impl Transform {
    pub(super) fn both(&self, which: Which) -> Result<Outcome, Failure> {
        // The input has at least two axes, so axis -2 exists.
        self.run(which, -2)
    }

    /// Checks that these arrays can be written, and reads the input.
    fn read(&self, types: &[&str], axes: Axes, arrays: &[&str]) -> Result<Input<'_>, Failure> {
        self.to.check(&[&self.input], arrays)?;
        Ok(Input::read(&self.input, types, axes, self.precision)?.widened())
    }

    fn run(&self, which: Which, axis: isize) -> Result<Outcome, Failure> {
        let types = if matches!(which, Which::Rfft) { REALS } else { NUMBERS };
        let both = matches!(which, Which::Fft2 | Which::Ifft2);
        let mut input = self.read(types, if both { Axes::TWO_OR_THREE } else { Axes::ANY }, &["y"])?;
        let data = input.take();
        let numpy = Numpy::of(self, &input, axis, which.name())?;
        if both && input.shape.last() == Some(&0) {
            return Err(input.wrong("at least one element along the last two axes"));
        }
        match (data, which) {
            (NpyData::F32(data), Which::Rfft) => numpy.real(data),
            (NpyData::F64(data), Which::Rfft) => numpy.real(data),
            (NpyData::F32(data), _) => numpy.complex(which, data.into_iter().map(Complex::from).collect()),
            (NpyData::F64(data), _) => numpy.complex(which, data.into_iter().map(Complex::from).collect()),
            (NpyData::C64(data), _) => numpy.complex(which, data),
            (NpyData::C128(data), _) => numpy.complex(which, data),
            // f16 has been widened to f32.
            (NpyData::F16(_), _) => Ok(Outcome::Done),
        }
    }
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Self::Fft => "fft",
            Self::Ifft => "ifft",
            Self::Rfft => "rfft",
            Self::Fft2 => "fft2",
            Self::Ifft2 => "ifft2",
        }
    }
}

impl Back {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let transform = &self.along.transform;
        let mut input = transform.read(NUMBERS, Axes::ANY, &["y"])?;
        let data = input.take();
        let numpy = Numpy::of(transform, &input, self.along.axis, "irfft")?;
        let n = numpy.reals(self.n)?;
        match data {
            NpyData::F32(data) => numpy.back(data.into_iter().map(Complex::from).collect(), n),
            NpyData::F64(data) => numpy.back(data.into_iter().map(Complex::from).collect(), n),
            NpyData::C64(data) => numpy.back(data, n),
            NpyData::C128(data) => numpy.back(data, n),
            // f16 has been widened to f32.
            NpyData::F16(_) => Ok(Outcome::Done),
        }
    }
}

impl PowerSpectrum {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        if self.bands.len() == 1 || !self.bands.is_sorted_by(|a, b| a < b) {
            let found: Vec<String> = self.bands.iter().map(ToString::to_string).collect();
            let what = format!("--bands: expected at least two edges in ascending order, found {}", found.join(","));
            return Err(Failure::Call(what));
        }
        let transform = &self.along.transform;
        let arrays = ["power", "frequencies", "spectral_centroid", "band_powers"];
        let mut input = transform.read(REALS, Axes::ANY, &arrays[..if self.bands.is_empty() { 3 } else { 4 }])?;
        let data = input.take();
        let numpy = Numpy::of(transform, &input, self.along.axis, "power-spectrum")?;
        match data {
            NpyData::F32(data) => numpy.power(data, self),
            NpyData::F64(data) => numpy.power(data, self),
            // Only f32 and f64 data reaches this match.
            _ => Ok(Outcome::Done),
        }
    }
}

/// An array in NumPy's order. Its last axis is the library's first axis (the rows), so no data is rearranged.
struct Numpy<'a> {
    call: &'a Transform,
    input: &'a Input<'a>,
    shape: Shape,
    axis: Axis,
    /// The number of the axis in the call.
    number: isize,
    name: &'static str,
}

impl<'a> Numpy<'a> {
    fn of(call: &'a Transform, input: &'a Input<'a>, number: isize, name: &'static str) -> Result<Self, Failure> {
        let count = input.shape.len();
        let shape = match input.shape[..] {
            [batch, m, n] => Shape::new(n, m, batch),
            [m, n] => Shape::new(n, m, 1),
            // Here the array has one axis, because other numbers of axes were refused when the file was read.
            _ => Shape::new(input.shape.iter().product(), 1, 1),
        };
        let from_last = if number < 0 { number.unsigned_abs() } else { count.saturating_sub(number.unsigned_abs()) };
        let axis = match from_last {
            1 if count >= 1 => Axis::Rows,
            2 if count >= 2 => Axis::Cols,
            3 if count >= 3 => Axis::Batch,
            _ => {
                let what = format!("--axis: expected -{count} to {} for {}, found {number}", count - 1, input.shown());
                return Err(Failure::Call(what));
            }
        };
        let numpy = Self { call, input, shape, axis, number, name };
        if numpy.along() == 0 {
            return Err(input.wrong(format_args!("at least one element along axis {number}")));
        }
        Ok(numpy)
    }

    /// Returns the number of elements along the axis.
    fn along(&self) -> usize {
        match self.axis {
            Axis::Rows => self.shape.rows,
            Axis::Cols => self.shape.cols,
            Axis::Batch => self.shape.batch,
        }
    }

    /// Returns the number of real values along the axis of the result of `irfft`.
    fn reals(&self, asked: Option<usize>) -> Result<usize, Failure> {
        let m = self.along();
        let allowed = [2 * (m - 1), 2 * m - 1];
        let n = asked.unwrap_or(allowed[0]);
        if n > 0 && allowed.contains(&n) {
            return Ok(n);
        }
        let wanted = if m == 1 { "1".to_owned() } else { format!("{} or {}", allowed[0], allowed[1]) };
        let (of, axis) = (self.input.shown(), self.number);
        let found = asked.map_or("no -n".to_owned(), |n| n.to_string());
        Err(Failure::Call(format!(
            "-n: expected {wanted}, for {m} frequencies along axis {axis} of {of}, found {found}"
        )))
    }

    /// Returns the result's shape, with as many axes as the input has.
    fn axes(&self, made: Shape) -> Vec<usize> {
        let all = [made.batch, made.cols, made.rows];
        all[3 - self.input.shape.len()..].to_vec()
    }

    /// Runs the transform, and writes the result as `y`.
    fn one<I: Scalar, O: Scalar>(
        &self,
        data: Vec<I>,
        call: impl Fn(&Context, &Array<I>) -> Result<Array<O>, Error>,
        stored: impl for<'d> Fn(&'d [O]) -> Data<'d>,
        choose: impl Fn(&Context, bool) -> Choice,
    ) -> Result<Outcome, Failure> {
        let to = &self.call.to;
        let ctx = to.context(self.call.precision, &[self.input], |ctx| Ok(choose(ctx, false)))?;
        let array = Array::from_vec(self.shape, data)?;
        let (made, first) = seconds(|| call(&ctx, &array)?.to_host(&ctx))?;
        let name =
            NamedArray { name: "y", rows: Rows::Other, shape: self.axes(made.shape()), data: stored(made.as_slice()) };
        to.write(&[name])?;
        to.say((&ctx, made.choice()), format_args!("{}: {}", self.name, self.input.described()), "done", first)?;
        let in_place = to.placed(&ctx, &array, choose(&ctx, true).side == Side::Gpu)?;
        to.report(
            first,
            || call(&ctx, &array)?.to_host(&ctx).map(drop),
            || {
                call(&ctx, &in_place)?;
                ctx.wait()
            },
        )?;
        Ok(Outcome::Done)
    }

    fn complex<T: Stored>(&self, which: Which, data: Vec<Complex<T>>) -> Result<Outcome, Failure>
    where
        Complex<T>: Scalar,
    {
        let axis = self.axis;
        let call = move |ctx: &Context, a: &Array<Complex<T>>| match which {
            Which::Ifft => fft::ifft(ctx, a, axis),
            Which::Fft2 => fft::fft2(ctx, a),
            Which::Ifft2 => fft::ifft2(ctx, a),
            Which::Fft | Which::Rfft => fft::fft(ctx, a, axis),
        };
        let choose = |ctx: &Context, resident: bool| {
            let along = |axis| choose_fft::<T>(ctx, self.shape, axis, resident);
            match which {
                Which::Fft2 | Which::Ifft2 => {
                    let (rows, cols) = (along(Axis::Rows), along(Axis::Cols));
                    Choice { cpu_seconds: rows.cpu_seconds + cols.cpu_seconds, ..cols }
                }
                Which::Fft | Which::Ifft | Which::Rfft => along(axis),
            }
        };
        self.one(data, call, |data| T::complex(data), choose)
    }

    fn real<T: Stored>(&self, data: Vec<T>) -> Result<Outcome, Failure>
    where
        Complex<T>: Scalar,
    {
        let axis = self.axis;
        let choose = |ctx: &Context, resident| choose_rfft::<T>(ctx, self.shape, axis, resident);
        self.one(data, |ctx, a: &Array<T>| fft::rfft(ctx, a, axis), |data| T::complex(data), choose)
    }

    fn back<T: Stored>(&self, data: Vec<Complex<T>>, n: usize) -> Result<Outcome, Failure>
    where
        Complex<T>: Scalar,
    {
        let axis = self.axis;
        let choose = |ctx: &Context, resident| choose_rfft::<T>(ctx, self.shape, axis, resident);
        self.one(data, |ctx, a: &Array<Complex<T>>| fft::irfft(ctx, a, n, axis), |data| T::reals(data), choose)
    }

    fn power<T: Stored>(&self, data: Vec<T>, wanted: &PowerSpectrum) -> Result<Outcome, Failure>
    where
        Complex<T>: Scalar,
    {
        let to = &self.call.to;
        let choose = |ctx: &Context, resident| choose_rfft::<T>(ctx, self.shape, self.axis, resident);
        let ctx = to.context(self.call.precision, &[self.input], |ctx| Ok(choose(ctx, false)))?;
        let window = match wanted.window {
            WindowName::Rectangular => Window::Rectangular,
            WindowName::Hann => Window::Hann,
            WindowName::Hamming => Window::Hamming,
            WindowName::Blackman => Window::Blackman,
        };
        let array = Array::from_vec(self.shape, data)?;
        let call = |a: &Array<T>| {
            let found = fft::power_spectrum(&ctx, a, window, self.axis)?;
            let centroid = found.spectral_centroid(&ctx, wanted.rate)?;
            let bands = match wanted.bands.as_slice() {
                [] => None,
                edges => Some(found.band_powers(&ctx, edges, wanted.rate)?),
            };
            Ok::<_, Error>((found, centroid, bands))
        };
        let ((found, made), first) = seconds(|| {
            let (found, centroid, bands) = call(&array)?;
            let mut made = vec![("power", found.power.to_host(&ctx)?), ("spectral_centroid", centroid.to_host(&ctx)?)];
            if let Some(bands) = bands {
                made.push(("band_powers", bands.to_host(&ctx)?));
            }
            Ok((found, made))
        })?;
        let frequencies = found.frequencies(wanted.rate);
        let named = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
        let mut arrays: Vec<NamedArray<'_>> =
            made.iter().map(|(name, made)| named(name, self.axes(made.shape()), T::reals(made.as_slice()))).collect();
        arrays.push(named("frequencies", vec![frequencies.len()], Data::F64(&frequencies)));
        to.write(&arrays)?;
        to.say((&ctx, found.choice()), format_args!("{}: {}", self.name, self.input.described()), "done", first)?;
        let in_place = to.placed(&ctx, &array, choose(&ctx, true).side == Side::Gpu)?;
        to.report(
            first,
            || {
                let (found, centroid, bands) = call(&array)?;
                found.power.to_host(&ctx)?;
                centroid.to_host(&ctx)?;
                bands.map_or(Ok(()), |bands| bands.to_host(&ctx).map(drop))
            },
            || {
                call(&in_place)?;
                ctx.wait()
            },
        )?;
        Ok(Outcome::Done)
    }
}
