//! `fiedler run`: one operation on a stored array, with numpy's order and meaning. A file a family of operations.

mod ceilings;
mod dense;
mod divergence;
mod fft;
mod layout;
mod matmul;
mod random;
mod sparse;
mod stats;

use super::{Failure, Outcome, Where, check_output, print};
use clap::{Args, Subcommand, ValueEnum};
use fiedler::array::{Array, Real, Scalar};
use fiedler::io::{NamedArray, NpyData};
use fiedler::{Backend, Context, Error};
use num_complex::Complex;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Run one operation on a stored array (.npy), as numpy would.
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
    Svd(dense::Svd),
    /// Singular values: `s`.
    Svdvals(dense::Svdvals),
    /// Products of matrices: `c`.
    Matmul(matmul::Matmul),
    /// K eigenpairs of a sparse matrix: `w`, `v`, of each pair `residual` and `status`, and `null_space`.
    Eigsh(sparse::Eigsh),
    /// A sparse matrix times a block: `y`.
    Spmm(sparse::Spmm),
    /// What this machine can do at most, measured: bytes/s of a copy and flop/s of multiply-adds, as JSON.
    Ceilings(ceilings::Ceilings),
    /// Divergences between histograms or samples: `d`.
    Divergence(divergence::Divergence),
    /// Random numbers of a named stream: `x`.
    Random(random::Random),
    /// Moments along an axis: `count`, `mean`, `variance`, `min`, `max`, `skewness`, `kurtosis`.
    Stats(stats::Stats),
    /// Quantiles along an axis: `quantiles`.
    Quantiles(stats::Quantiles),
    /// Numbers counted by bins along an axis: `counts`, `edges`, and what lies apart, `below`, `above`, `nan`.
    Histogram(stats::Histogram),
    /// The covariance of columns: `cov`.
    Cov(stats::Cov),
    /// The correlation of columns: `corr`.
    Corr(stats::Corr),
    /// Principal components: `components`, `explained_variance` and its ratio, `singular_values`, `mean`, `noise_variance`, the rows in their
    /// coordinates, `transformed`, and the certificate: `residual`, `orthogonality`, `status`.
    Pca(stats::Pca),
    /// The Fourier transform along an axis: `y`.
    Fft(fft::Along),
    /// And back: `y`.
    Ifft(fft::Along),
    /// The Fourier transform of reals, half of the spectrum: `y`.
    Rfft(fft::Along),
    /// And back: `y`.
    Irfft(fft::Back),
    /// The Fourier transform along the last two axes: `y`.
    Fft2(fft::Transform),
    /// And back: `y`.
    Ifft2(fft::Transform),
    /// One-sided power spectra of reals, SciPy's periodogram with scaling "spectrum": `power`, `frequencies`, `spectral_centroid` and, with
    /// --bands, `band_powers`.
    PowerSpectrum(fft::PowerSpectrum),
}

impl Run {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        match self.operation {
            Operation::Eigh(it) => it.run(),
            Operation::Eigvalsh(it) => it.run(),
            Operation::Svd(it) => it.run(),
            Operation::Svdvals(it) => it.run(),
            Operation::Matmul(it) => it.run(),
            Operation::Eigsh(it) => it.run(),
            Operation::Spmm(it) => it.run(),
            Operation::Ceilings(it) => it.run(),
            Operation::Divergence(it) => it.run(),
            Operation::Random(it) => it.run(),
            Operation::Stats(it) => it.run(),
            Operation::Quantiles(it) => it.run(),
            Operation::Histogram(it) => it.run(),
            Operation::Cov(it) => it.run(),
            Operation::Corr(it) => it.run(),
            Operation::Pca(it) => it.run(),
            Operation::Fft(it) => it.run(fft::Which::Fft),
            Operation::Ifft(it) => it.run(fft::Which::Ifft),
            Operation::Rfft(it) => it.run(fft::Which::Rfft),
            Operation::Irfft(it) => it.run(),
            Operation::Fft2(it) => it.both(fft::Which::Fft2),
            Operation::Ifft2(it) => it.both(fft::Which::Ifft2),
            Operation::PowerSpectrum(it) => it.run(),
        }
    }
}

/// In which precision to compute.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Precision {
    /// f64 input in f32, as the GPU's kernels do.
    F32,
    /// f32 input in f64, on the CPU.
    Refined,
}

impl Precision {
    /// These numbers in the precision that was asked for.
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

    /// Where that is computed: f64 on the CPU, whatever else was asked for.
    fn place(asked: Option<Self>, ctx: Context) -> Context {
        if asked == Some(Self::Refined) { ctx.with_backend(Backend::Cpu) } else { ctx }
    }
}

/// Where to compute, where to write, and how often: what every operation is told.
#[derive(Debug, Args)]
struct To {
    /// Where to: .npz or .safetensors, in numpy's order.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    place: Where,
    /// Call it N more times; the last line printed is a JSON object with first_ms, transfers_ms and resident_ms.
    #[arg(long, value_name = "N", default_value_t = 0)]
    time: usize,
}

impl To {
    /// Whether the output can be written, and is none of the inputs: asked before the work is done.
    fn check(&self, inputs: &[&Path]) -> Result<(), Failure> {
        let endings = ["npz", "safetensors"];
        match inputs {
            [] => super::check_place(&self.output, &endings),
            _ => inputs.iter().try_for_each(|input| check_output(&self.output, input, &endings)),
        }
    }

    fn context(&self) -> Result<Context, Failure> {
        self.place.context()
    }

    fn write(&self, arrays: &[NamedArray<'_>]) -> Result<(), Error> {
        fiedler::io::write(&self.output, arrays)
    }

    /// Prints the times in milliseconds, if they are asked for: of the first call, of calls from host to host, of calls whose data
    /// lie where they are computed.
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

    /// The array where it is computed, for calls that are timed; where none is, nothing is moved.
    fn placed<T: Scalar>(&self, ctx: &Context, array: &Array<T>, on_device: bool) -> Result<Array<T>, Error> {
        if on_device && self.time > 0 { array.to_device(ctx) } else { Ok(array.clone()) }
    }

    /// The median of `self.time` calls, in seconds.
    fn median(&self, mut call: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
        let mut times = Vec::new();
        for _ in 0..self.time {
            times.push(seconds(&mut call)?.1);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

/// What a call makes, and how many seconds it takes.
fn seconds<T>(call: impl FnOnce() -> Result<T, Error>) -> Result<(T, f64), Error> {
    let started = Instant::now();
    let made = call()?;
    Ok((made, started.elapsed().as_secs_f64()))
}
