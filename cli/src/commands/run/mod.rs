//! `fiedler run`: runs one operation on a stored array, with the order and the meaning of axes of NumPy. Each family of
//! operations has a separate file.

mod ceilings;
mod dense;
mod divergence;
mod fft;
mod input;
mod layout;
mod matmul;
mod pca;
mod random;
mod sparse;
mod stats;

use super::outputs::Overwriting;
use super::printing::Printing;
use super::profile::Profiling;
use super::values::whole;
use super::{Failure, IN_F64, Outcome, Where, many, print};
use clap::{Args, Subcommand, ValueEnum};
use fiedler::array::{Array, Real, Scalar};
use fiedler::io::{NamedArray, NpyData};
use fiedler::policy::{Choice, Side};
use fiedler::{Backend, Context, Error};
use input::Input;
use num_complex::Complex;
use std::cell::OnceCell;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Run one operation on a stored array (.npy), as NumPy would.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(subcommand)]
    operation: Operation,
}

#[derive(Debug, Subcommand)]
enum Operation {
    /// Eigenvalues and eigenvectors of symmetric matrices: `w`, `v`.
    Eigh(dense::Eigh),
    /// Eigenvalues of symmetric matrices: `w`.
    Eigvalsh(dense::Eigvalsh),
    /// The singular value decomposition: `u`, `s`, `vh`.
    #[command(mut_arg("input", |arg| arg.help(input::DECOMPOSED)))]
    Svd(dense::Svd),
    /// Singular values: `s`.
    #[command(mut_arg("input", |arg| arg.help(input::DECOMPOSED)))]
    Svdvals(dense::Svdvals),
    /// Products of matrices: `c`.
    Matmul(matmul::Matmul),
    /// K eigenpairs of a sparse matrix: `w`, `v`, the `residual` and `status` of each pair, and `null_space`.
    ///
    /// `w` ascends. `v` has columns of unit 2-norm. `residual` is |A v - l v|_2 / |A|_1 of each pair, measured in f64
    /// on the written values; a pair has converged (`status` 0) if its residual is at most --tolerance. `null_space` is
    /// the dimension of a Laplacian's null space, which is known in advance: one vector for each connected component.
    /// The iteration determines the sign of an eigenvector and the basis of the eigenspace of equal eigenvalues;
    /// `fiedler encode` makes both canonical and says which eigenvalues are tied.
    Eigsh(sparse::Eigsh),
    /// A sparse matrix times a block: `y`.
    Spmm(sparse::Spmm),
    /// The highest rates of this machine, measured: bytes/s of a copy and flop/s of multiply-adds, as JSON.
    Ceilings(ceilings::Ceilings),
    /// Divergences between histograms or samples. The array in the output is named `d`.
    Divergence(divergence::Divergence),
    /// Random numbers of a named stream: `x`.
    Random(random::Random),
    /// Moments along an axis: `count`, `mean`, `variance`, `min`, `max`, `skewness`, `kurtosis`.
    Stats(stats::Stats),
    /// Quantiles along an axis: `quantiles`.
    Quantiles(stats::Quantiles),
    /// Counts of values per bin along an axis: `counts`, `edges`, and the counts of values in no bin, `below`, `above`,
    /// `nan`.
    Histogram(stats::Histogram),
    /// The covariance of columns: `cov`.
    #[command(mut_arg("input", |arg| arg.help(input::MATRICES)))]
    Cov(stats::Cov),
    /// The correlation of columns: `corr`.
    #[command(mut_arg("input", |arg| arg.help(input::MATRICES)))]
    Corr(stats::Corr),
    /// Principal components: `components`, `transformed`, `explained_variance` and more.
    ///
    /// The output has `components`, `explained_variance`, `explained_variance_ratio`, `singular_values`, `mean`,
    /// `noise_variance`, `transformed` (the rows in the components' coordinates), and the certificate: `residual`,
    /// `orthogonality`, `status`.
    #[command(mut_arg("input", |arg| arg.help(input::MATRIX)))]
    Pca(pca::Pca),
    /// The Fourier transform along an axis. Output: `y`.
    Fft(fft::Along),
    /// The inverse of fft. Output: `y`.
    Ifft(fft::Along),
    /// The Fourier transform of real values along an axis, computed for half of the spectrum. Output: `y`.
    #[command(mut_arg("input", |arg| arg.help(input::REAL_AXES)))]
    Rfft(fft::Along),
    /// The inverse of rfft. Output: `y`.
    Irfft(fft::Back),
    /// The Fourier transform along the last two axes. Output: `y`.
    #[command(mut_arg("input", |arg| arg.help(input::TWO_AXES)))]
    Fft2(fft::Transform),
    /// The inverse of fft2. Output: `y`.
    #[command(mut_arg("input", |arg| arg.help(input::TWO_AXES)))]
    Ifft2(fft::Transform),
    /// One-sided power spectra of real signals: `power`, `frequencies`, `spectral_centroid` and, with --bands,
    /// `band_powers`.
    ///
    /// For a signal x of n samples and a window w, `power` has n/2 + 1 entries along the axis. Entry k is c |sum_j w_j
    /// x_j exp(-2 pi i j k / n)|^2 / (sum_j w_j)^2, where c = 2, except that c = 1 for k = 0 and, if n is even, for k =
    /// n/2. A sine of amplitude A has the power A^2 / 2. SciPy's periodogram returns the same with scaling="spectrum"
    /// and detrend=False. `spectral_centroid` is the mean frequency weighted by the power, or 0 for a signal of zeros;
    /// in its array the transformed axis stays, with length 1.
    #[command(mut_arg("input", |arg| arg.help(input::REAL_AXES)))]
    PowerSpectrum(fft::PowerSpectrum),
}

impl Run {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let (name, ended) = match self.operation {
            Operation::Eigh(it) => ("eigh", it.run()),
            Operation::Eigvalsh(it) => ("eigvalsh", it.run()),
            Operation::Svd(it) => ("svd", it.run()),
            Operation::Svdvals(it) => ("svdvals", it.run()),
            Operation::Matmul(it) => ("matmul", it.run()),
            Operation::Eigsh(it) => ("eigsh", it.run()),
            Operation::Spmm(it) => ("spmm", it.run()),
            Operation::Ceilings(it) => ("ceilings", it.run()),
            Operation::Divergence(it) => ("divergence", it.run()),
            Operation::Random(it) => ("random", it.run()),
            Operation::Stats(it) => ("stats", it.run()),
            Operation::Quantiles(it) => ("quantiles", it.run()),
            Operation::Histogram(it) => ("histogram", it.run()),
            Operation::Cov(it) => ("cov", it.run()),
            Operation::Corr(it) => ("corr", it.run()),
            Operation::Pca(it) => ("pca", it.run()),
            Operation::Fft(it) => ("fft", it.run(fft::Which::Fft)),
            Operation::Ifft(it) => ("ifft", it.run(fft::Which::Ifft)),
            Operation::Rfft(it) => ("rfft", it.run(fft::Which::Rfft)),
            Operation::Irfft(it) => ("irfft", it.run()),
            Operation::Fft2(it) => ("fft2", it.both(fft::Which::Fft2)),
            Operation::Ifft2(it) => ("ifft2", it.both(fft::Which::Ifft2)),
            Operation::PowerSpectrum(it) => ("power-spectrum", it.run()),
        };
        ended.map_err(|failure| failure.of(name))
    }
}

/// The precision to compute in.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Precision {
    /// Compute f64 input in f32, as the GPU's kernels do.
    F32,
    /// Compute f32 input in f64, on the CPU.
    Refined,
}

impl Precision {
    /// Converts data to the precision that the call asks for.
    fn of(asked: Option<Self>, data: NpyData) -> NpyData {
        let narrow = |x: f64| f32::from_f64(x);
        match (data, asked) {
            (NpyData::F64(data), Some(Self::F32)) => NpyData::F32(data.into_iter().map(narrow).collect()),
            (NpyData::C128(data), Some(Self::F32)) => {
                NpyData::C64(data.into_iter().map(|z| Complex::new(narrow(z.re), narrow(z.im))).collect())
            }
            (NpyData::F16(data), Some(Self::Refined)) => NpyData::F64(data.into_iter().map(f64::from).collect()),
            (NpyData::F32(data), Some(Self::Refined)) => NpyData::F64(data.into_iter().map(f64::from).collect()),
            (NpyData::C64(data), Some(Self::Refined)) => {
                NpyData::C128(data.into_iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect())
            }
            (data, _) => data,
        }
    }
}

/// The options of every operation: where to compute, where to write, and how often.
#[derive(Debug, Args)]
struct To {
    /// The file to write: .npz or .safetensors, or .npy if the result is one array.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    profiling: Profiling,
    /// Call the operation N more times from host to host, and N times with its data on the side that computes. The last
    /// line printed is a JSON object with the time of the first call, first_ms, and the median times, transfers_ms and
    /// resident_ms.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<usize>)]
    time: usize,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    printing: Printing,
    /// The reason for the choice of the side that computes.
    #[arg(skip)]
    why: OnceCell<String>,
}

impl To {
    /// Checks, before the work begins, that these arrays can be written and that the output is not one of the inputs.
    fn check(&self, inputs: &[&Path], arrays: &[&str]) -> Result<(), Failure> {
        self.printing.begin();
        self.profiling.check(self.overwriting)?;
        let endings: &[&str] = if arrays.len() == 1 { &["npy", "npz", "safetensors"] } else { &["npz", "safetensors"] };
        if arrays.len() > 1 && self.is_npy() {
            let (shown, names) = (self.output.display(), arrays.join(", "));
            return Err(Failure::Call(format!(
                "{shown}: expected an output that ends in .npz or .safetensors for the arrays {names}; .npy holds one array"
            )));
        }
        self.overwriting.check_output(&self.output, inputs, endings)
    }

    /// Returns whether the output is a .npy file, which holds one array.
    fn is_npy(&self) -> bool {
        self.output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
    }

    /// Opens the context for these inputs and the requested precision. `choose` predicts the times. Checks the call
    /// before it looks for a device.
    fn context(
        &self,
        precision: Option<Precision>,
        inputs: &[&Input<'_>],
        choose: impl Fn(&Context) -> Result<Choice, Error>,
    ) -> Result<Context, Failure> {
        let wide = inputs.iter().find(|input| input.is_wide());
        match wide {
            Some(input) if precision != Some(Precision::Refined) => self.check_wide(input.described())?,
            _ => {}
        }
        self.context_for(precision == Some(Precision::Refined) || wide.is_some(), choose)
    }

    /// Opens the context for a call whose times `choose` predicts. If `in_f64` is true, the context computes on the
    /// CPU, even if the call leaves the side open.
    fn context_for(
        &self,
        in_f64: bool,
        choose: impl Fn(&Context) -> Result<Choice, Error>,
    ) -> Result<Context, Failure> {
        let device = if in_f64 { self.place.is_said() } else { self.place.opens_device(&choose)? };
        let ctx = self.profiling.context(&self.place, device, Some("read"))?;
        let (ctx, why) = match in_f64 && self.place.backend() != Backend::Cpu {
            true => (ctx.with_backend(Backend::Cpu), IN_F64.to_owned()),
            false => {
                let why = choose(&ctx)?.reason.to_string();
                (ctx, why)
            }
        };
        self.why.get_or_init(|| why);
        Ok(ctx)
    }

    /// Refuses f64 with `--backend gpu`, because f64 is computed on the CPU.
    fn check_wide(&self, what: impl Display) -> Result<(), Failure> {
        if !self.place.insists() {
            return Ok(());
        }
        Err(Failure::Call(format!(
            "{what}: f64 is computed on the CPU alone: expected --precision f32, or --backend cpu or auto, found gpu"
        )))
    }

    /// Prints one line that says what was computed from which input, on which side and why, how the call ended, and how
    /// many seconds it took. Also prints the profile if the call asks for one.
    fn say(
        &self,
        (ctx, choice): (&Context, Option<&Choice>),
        what: impl Display,
        state: impl Display,
        seconds: f64,
    ) -> Result<(), Failure> {
        let (place, why) = (place_of(ctx, choice), self.why.get());
        if self.printing.json {
            print(serde_json::json!({
                "output": self.output, "computed": what.to_string(), "place": place, "why": why,
                "state": state.to_string(), "seconds": seconds,
            }));
        } else if !self.printing.quiet {
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            print(format_args!("{what}, {place}{why}; {state} in {seconds:.3} s"));
        }
        self.profiling.finish()
    }

    /// Writes the result and the other arrays; a .npy file holds only the result.
    fn write(&self, arrays: &[NamedArray<'_>]) -> Result<(), Error> {
        self.profiling.stage("compute");
        let result = if self.is_npy() { &arrays[..1] } else { arrays };
        fiedler::io::write(&self.output, result)?;
        self.profiling.stage("write");
        Ok(())
    }

    /// If the call asks for times, prints three times in milliseconds: for the first call, for calls from host to host,
    /// and for calls whose data is already on the side that computes.
    fn report(
        &self,
        first: f64,
        from_host: impl FnMut() -> Result<(), Error>,
        in_place: impl FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.time > 0 {
            let (transfers, resident) = (self.median(from_host)?, self.median(in_place)?);
            print(serde_json::json!({
                "first_ms": first * 1e3, "transfers_ms": transfers * 1e3, "resident_ms": resident * 1e3,
            }));
        }
        Ok(())
    }

    /// Returns the array for timed calls, on the side that computes. Nothing is transferred if the call asks for no
    /// times.
    fn placed<T: Scalar>(&self, ctx: &Context, array: &Array<T>, on_device: bool) -> Result<Array<T>, Error> {
        if on_device && self.time > 0 { array.to_device(ctx) } else { Ok(array.clone()) }
    }

    /// Returns the median time of `self.time` calls, in seconds.
    fn median(&self, mut call: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
        let mut times = Vec::new();
        for _ in 0..self.time {
            times.push(seconds(&mut call)?.1);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

/// Turns negative zeros into positive zeros, because results are written with positive zeros only.
fn one_zero<T: Real>(numbers: &mut [T]) {
    numbers.iter_mut().for_each(|x| *x += T::from_f64(0.0));
}

/// Says where a result was computed, according to the choice that the result carries.
fn place_of(ctx: &Context, choice: Option<&Choice>) -> String {
    match (ctx.adapter(), choice.map(|choice| choice.side)) {
        (Some(adapter), Some(Side::Gpu)) => format!("on {}", adapter.name),
        _ => "on the CPU".to_owned(),
    }
}

/// Returns the result of a call and its duration in seconds.
fn seconds<T>(call: impl FnOnce() -> Result<T, Error>) -> Result<(T, f64), Error> {
    let started = Instant::now();
    let made = call()?;
    Ok((made, started.elapsed().as_secs_f64()))
}
