//! `fiedler run fft`, `ifft`, `rfft`, `irfft`, `fft2`, `ifft2` and `power-spectrum`: Fourier transforms along an axis.

use super::{Precision, To, seconds};
use crate::cli::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real, Scalar};
use fiedler::io::{Data, NamedArray, Npy, NpyData, Rows, read_npy};
use fiedler::ops::fft::{self, Window, choose_fft};
use fiedler::policy::Side;
use fiedler::{Axis, Context, Error, Shape};
use num_complex::Complex;
use std::path::PathBuf;

/// What every transform is told.
#[derive(Debug, Args)]
pub(super) struct Transform {
    /// One to three axes in a .npy file (fft2, ifft2: two or three): float32, float64, or float16 as float32; for fft, ifft,
    /// irfft, fft2 and ifft2 also complex64 or complex128.
    input: PathBuf,
    #[command(flatten)]
    to: To,
    /// In which precision; without it, that of the input.
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
}

/// And where there is one axis.
#[derive(Debug, Args)]
pub(super) struct Along {
    #[command(flatten)]
    transform: Transform,
    /// The axis, as numpy counts: -1 is the last one.
    #[arg(long, value_name = "AXIS", default_value_t = -1, allow_negative_numbers = true)]
    axis: isize,
}

#[derive(Debug, Args)]
pub(super) struct Back {
    #[command(flatten)]
    along: Along,
    /// Reals along the axis, for m frequencies 2 (m - 1) or 2 m - 1 [default: 2 (m - 1)].
    #[arg(short, value_name = "N")]
    n: Option<usize>,
}

#[derive(Debug, Args)]
pub(super) struct PowerSpectrum {
    #[command(flatten)]
    along: Along,
    /// What the signal is multiplied by.
    #[arg(long, value_enum, value_name = "WINDOW", default_value = "rectangular")]
    window: WindowName,
    /// Samples a second.
    #[arg(long, value_name = "HZ", default_value_t = 1.0)]
    rate: f64,
    /// Edges of bands in Hz, ascending, with commas between them: `band_powers` has the power between neighbours.
    #[arg(long, value_name = "HZ,HZ,...", value_delimiter = ',')]
    bands: Vec<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WindowName {
    Rectangular,
    Hann,
    Hamming,
    Blackman,
}

/// Which transform, where all numbers are of one precision.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    Fft,
    Ifft,
    Rfft,
    Fft2,
    Ifft2,
}

/// The precisions, as files have them.
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
        // The last but one is there too.
        self.run(which, -2)
    }

    fn read(&self) -> Result<Npy, Failure> {
        let Npy { shape, data } = read_npy(&self.input)?;
        let data = match Precision::of(self.precision, data) {
            NpyData::F16(data) => NpyData::F32(data.into_iter().map(f32::from).collect()),
            other => other,
        };
        Ok(Npy { shape, data })
    }

    fn context(&self) -> Result<Context, Failure> {
        Ok(Precision::place(self.precision, self.to.context()?))
    }

    fn run(&self, which: Which, axis: isize) -> Result<Outcome, Failure> {
        self.to.check(&[&self.input])?;
        let Npy { shape, data } = self.read()?;
        let numpy = Numpy::of(self, &shape, axis)?;
        match (data, which) {
            (NpyData::F32(data), Which::Rfft) => numpy.real(data),
            (NpyData::F64(data), Which::Rfft) => numpy.real(data),
            (NpyData::C64(_) | NpyData::C128(_), Which::Rfft) => {
                Err(numpy.refused("float32 or float64", "complex numbers"))
            }
            (NpyData::F32(data), _) => numpy.complex(which, data.into_iter().map(Complex::from).collect()),
            (NpyData::F64(data), _) => numpy.complex(which, data.into_iter().map(Complex::from).collect()),
            (NpyData::C64(data), _) => numpy.complex(which, data),
            (NpyData::C128(data), _) => numpy.complex(which, data),
            (other, _) => Err(numpy.refused("floats of 32 or 64 bits, or complex numbers of these", other.name())),
        }
    }
}

impl Back {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let transform = &self.along.transform;
        transform.to.check(&[&transform.input])?;
        let Npy { shape, data } = transform.read()?;
        let numpy = Numpy::of(transform, &shape, self.along.axis)?;
        match data {
            NpyData::F32(data) => numpy.back(data.into_iter().map(Complex::from).collect(), self.n),
            NpyData::F64(data) => numpy.back(data.into_iter().map(Complex::from).collect(), self.n),
            NpyData::C64(data) => numpy.back(data, self.n),
            NpyData::C128(data) => numpy.back(data, self.n),
            other @ NpyData::F16(_) => Err(numpy.refused("complex64 or complex128", other.name())),
        }
    }
}

impl PowerSpectrum {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let transform = &self.along.transform;
        transform.to.check(&[&transform.input])?;
        let Npy { shape, data } = transform.read()?;
        let numpy = Numpy::of(transform, &shape, self.along.axis)?;
        match data {
            NpyData::F32(data) => numpy.power(data, self),
            NpyData::F64(data) => numpy.power(data, self),
            other => Err(numpy.refused("float32 or float64", other.name())),
        }
    }
}

/// An array as numpy has it. Its last axis is the library's first, so that nothing has to be moved.
struct Numpy<'a> {
    call: &'a Transform,
    axes: Vec<usize>,
    shape: Shape,
    axis: Axis,
}

impl<'a> Numpy<'a> {
    fn of(call: &'a Transform, axes: &[usize], axis: isize) -> Result<Self, Failure> {
        let (file, count) = (call.input.display(), axes.len());
        let shape = match *axes {
            [n] => Shape::new(n, 1, 1),
            [m, n] => Shape::new(n, m, 1),
            [batch, m, n] => Shape::new(n, m, batch),
            _ => return Err(Failure::Call(format!("{file}: expected one to three axes, found {count}"))),
        };
        let from_last = if axis < 0 { (-axis).cast_unsigned() } else { count.saturating_sub(axis.cast_unsigned()) };
        let axis = match from_last {
            1 if count >= 1 => Axis::Rows,
            2 if count >= 2 => Axis::Cols,
            3 if count >= 3 => Axis::Batch,
            _ => return Err(Failure::Call(format!("{file}: there is no axis {axis} among {count}"))),
        };
        Ok(Self { call, axes: axes.to_vec(), shape, axis })
    }

    fn refused(&self, wanted: &str, found: &str) -> Failure {
        Failure::Call(format!("{}: expected {wanted}, found {found}", self.call.input.display()))
    }

    /// The result's axes: as many as there were.
    fn axes(&self, made: Shape) -> Vec<usize> {
        let all = [made.batch, made.cols, made.rows];
        all[3 - self.axes.len()..].to_vec()
    }

    /// One transform, whose result is called `y`.
    fn one<I: Scalar, O: Scalar>(
        &self,
        data: Vec<I>,
        call: impl Fn(&Context, &Array<I>) -> Result<Array<O>, Error>,
        stored: impl for<'d> Fn(&'d [O]) -> Data<'d>,
        there: bool,
    ) -> Result<Outcome, Failure> {
        let to = &self.call.to;
        let ctx = self.call.context()?;
        let array = Array::from_vec(self.shape, data)?;
        let (made, first) = seconds(|| call(&ctx, &array)?.to_host(&ctx))?;
        let name =
            NamedArray { name: "y", rows: Rows::Other, shape: self.axes(made.shape()), data: stored(made.as_slice()) };
        to.write(&[name])?;
        let there = there && choose_fft::<f32>(&ctx, self.shape, self.axis, true).side == Side::Gpu;
        let in_place = to.placed(&ctx, &array, there)?;
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
        self.one(data, call, |data| T::complex(data), T::ON_DEVICE)
    }

    fn real<T: Stored>(&self, data: Vec<T>) -> Result<Outcome, Failure>
    where
        Complex<T>: Scalar,
    {
        let axis = self.axis;
        self.one(data, |ctx, a: &Array<T>| fft::rfft(ctx, a, axis), |data| T::complex(data), T::ON_DEVICE)
    }

    fn back<T: Stored>(&self, data: Vec<Complex<T>>, n: Option<usize>) -> Result<Outcome, Failure>
    where
        Complex<T>: Scalar,
    {
        let Shape { rows, cols, batch } = self.shape;
        let frequencies = match self.axis {
            Axis::Rows => rows,
            Axis::Cols => cols,
            Axis::Batch => batch,
        };
        let (axis, n) = (self.axis, n.unwrap_or(2 * frequencies.saturating_sub(1)));
        self.one(data, |ctx, a: &Array<Complex<T>>| fft::irfft(ctx, a, n, axis), |data| T::reals(data), T::ON_DEVICE)
    }

    fn power<T: Stored>(&self, data: Vec<T>, wanted: &PowerSpectrum) -> Result<Outcome, Failure>
    where
        Complex<T>: Scalar,
    {
        let to = &self.call.to;
        let ctx = self.call.context()?;
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
        let there = T::ON_DEVICE && choose_fft::<T>(&ctx, self.shape, self.axis, true).side == Side::Gpu;
        let in_place = to.placed(&ctx, &array, there)?;
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
