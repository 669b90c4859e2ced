//! `fiedler run`: one operation on a stored array, with numpy's order and meaning.

mod operations;
mod sparse;

use super::encode::End;
use super::{Failure, Outcome, Where, check_output, print};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, HostArray, Real};
use fiedler::io::{Data, NamedArray, Npy, NpyData, Rows, read_npy};
use fiedler::ops::Status;
use fiedler::{Backend, Context, Error, Shape};
use operations::Found;
use sparse::{MatrixName, MethodName};
use std::path::PathBuf;
use std::time::Instant;

/// Run one operation on a stored array (.npy), as numpy would.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The operation.
    #[arg(value_enum)]
    operation: Operation,
    /// `(m, n)` or `(batch, m, n)` in a .npy file, f32 or f64; for eigh and eigvalsh m = n, and the lower triangle is read. For eigsh and
    /// spmm a graph: an edge list or a MatrixMarket file.
    input: PathBuf,
    /// Where to (.npz or .safetensors), in numpy's order: `w` and, for eigh, `v`; `u`, `s` and `vh`, for svdvals `s` alone; and of each
    /// matrix `residual`, `orthogonality`, `status`. eigsh: `w`, `v`, of each pair `residual` and `status`, and `null_space`. spmm: `y`.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    place: Where,
    /// svd: U is (m, m) and Vh (n, n), numpy's full_matrices.
    #[arg(long)]
    full: bool,
    /// eigh: the K smallest pairs, or with --which the largest; all without it. eigsh: needed. spmm: the columns of a made-up block.
    #[arg(short, value_name = "K")]
    k: Option<usize>,
    /// Which end of the spectrum -k counts from.
    #[arg(long, value_enum, value_name = "END", default_value = "smallest", requires = "k")]
    which: End,
    /// f32: compute f64 input in f32, as the GPU's kernels do. refined: compute f32 input in f64, on the CPU.
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
    /// eigsh, spmm: which matrix of the graph; `none` is the matrix in the MatrixMarket file itself, in f64.
    #[arg(long, value_enum, value_name = "MATRIX", default_value = "symmetric")]
    laplacian: MatrixName,
    /// eigsh: how.
    #[arg(long, value_enum, value_name = "METHOD", default_value = "auto")]
    method: MethodName,
    /// eigsh: the largest residual of a converged pair, relative to the 1-norm [default: 2e-6 in f32, 1e-10 in f64].
    #[arg(long, value_name = "T")]
    tolerance: Option<f64>,
    /// eigsh: the start vectors' seed.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// spmm: the block, `(n, columns)` in a .npy file.
    #[arg(long, value_name = "FILE")]
    block: Option<PathBuf>,
    /// Call it N more times; the last line printed is a JSON object with first_ms, transfers_ms and resident_ms.
    #[arg(long, value_name = "N", default_value_t = 0)]
    time: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Operation {
    Eigh,
    Eigvalsh,
    Svd,
    Svdvals,
    /// K pairs of a sparse matrix.
    Eigsh,
    /// A sparse matrix times a block.
    Spmm,
}

/// The operations on dense matrices.
#[derive(Clone, Copy, Debug)]
enum Dense {
    Eigh,
    Eigvalsh,
    Svd,
    Svdvals,
}

impl Operation {
    /// Which one on dense matrices, if it is one.
    fn dense(self) -> Option<Dense> {
        match self {
            Self::Eigh => Some(Dense::Eigh),
            Self::Eigvalsh => Some(Dense::Eigvalsh),
            Self::Svd => Some(Dense::Svd),
            Self::Svdvals => Some(Dense::Svdvals),
            Self::Eigsh | Self::Spmm => None,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Precision {
    F32,
    Refined,
}

impl Run {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        check_output(&self.output, &self.input, &["npz", "safetensors"])?;
        if self.full && self.operation != Operation::Svd {
            return Err(Failure::Call("--full is of svd alone".to_owned()));
        }
        let Some(operation) = self.operation.dense() else { return self.run_sparse() };
        if self.k.is_some() && self.operation != Operation::Eigh {
            return Err(Failure::Call("-k is of eigh, eigsh and spmm alone".to_owned()));
        }
        let Npy { shape, data } = read_npy(&self.input)?;
        let mut ctx = self.place.context()?;
        match (data, self.precision) {
            (NpyData::F32(data), Some(Precision::Refined)) => {
                ctx = ctx.with_backend(Backend::Cpu);
                let wide: Vec<f64> = data.into_iter().map(f64::from).collect();
                self.solve(operation, &ctx, &shape, &wide, |out| Data::F64(out))
            }
            (NpyData::F32(data), _) => self.solve(operation, &ctx, &shape, &data, |out| Data::F32(out)),
            (NpyData::F64(data), None | Some(Precision::Refined)) => {
                self.solve(operation, &ctx, &shape, &data, |out| Data::F64(out))
            }
            (NpyData::F64(data), Some(Precision::F32)) => {
                let narrow: Vec<f32> = data.into_iter().map(f32::from_f64).collect();
                self.solve(operation, &ctx, &shape, &narrow, |out| Data::F32(out))
            }
        }
    }

    fn solve<T: Real>(
        &self,
        operation: Dense,
        ctx: &Context,
        shape: &[usize],
        data: &[T],
        wrap: impl for<'a> Fn(&'a [T]) -> Data<'a>,
    ) -> Result<Outcome, Failure> {
        let (batch, rows, cols) = match *shape {
            [rows, cols] => (None, rows, cols),
            [batch, rows, cols] => (Some(batch), rows, cols),
            _ => (None, 0, 0),
        };
        let a = Array::from_vec(Shape::new(rows, cols, batch.unwrap_or(1)), transposed(data, rows, cols))?;
        let started = Instant::now();
        let found = self.call(operation, ctx, &a)?;
        let first = started.elapsed().as_secs_f64();

        // A single matrix has no batch axis, in numpy's way.
        let with_batch = |rest: &[usize]| batch.into_iter().chain(rest.iter().copied()).collect::<Vec<_>>();
        let array =
            |name, shape: &[usize], data| NamedArray { name, rows: Rows::Other, shape: with_batch(shape), data };
        let Found { arrays: computed, certificates } = &found;
        let row_major: Vec<(&'static str, Vec<usize>, Vec<T>)> =
            computed.iter().map(|(name, made)| (*name, numpy_shape(name, made.shape()), in_rows(made))).collect();
        let mut arrays: Vec<NamedArray<'_>> =
            row_major.iter().map(|(name, shape, data)| array(name, shape, wrap(data))).collect();
        let residual: Vec<f64> = certificates.iter().map(|c| c.residual).collect();
        let orthogonality: Vec<f64> = certificates.iter().map(|c| c.orthogonality).collect();
        let status: Vec<u8> = certificates.iter().map(|c| c.status as u8).collect();
        arrays.push(array("residual", &[], Data::F64(&residual)));
        arrays.push(array("orthogonality", &[], Data::F64(&orthogonality)));
        arrays.push(array("status", &[], Data::U8(&status)));
        fiedler::io::write(&self.output, &arrays)?;

        if self.time > 0 {
            let transfers = self.median(|| self.call(operation, ctx, &a).map(drop))?;
            let on_device = if self.runs_on_device(operation, ctx, &a) { a.to_device(ctx)? } else { a.clone() };
            let resident = self.median(|| self.leave_there(operation, ctx, &on_device))?;
            let report = serde_json::json!({
                "first_ms": first * 1e3, "transfers_ms": transfers * 1e3, "resident_ms": resident * 1e3,
            });
            print(report);
        }
        let bad = certificates.iter().any(|c| c.status != Status::Converged);
        Ok(if bad { Outcome::Uncertified } else { Outcome::Done })
    }

    /// The median of `self.time` calls, in seconds.
    fn median(&self, mut call: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
        let mut times = Vec::new();
        for _ in 0..self.time {
            let started = Instant::now();
            call()?;
            times.push(started.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

/// Values are one axis to numpy, columns to the library.
fn numpy_shape(name: &str, shape: Shape) -> Vec<usize> {
    if matches!(name, "w" | "s") { vec![shape.rows] } else { vec![shape.rows, shape.cols] }
}

/// Every matrix in numpy's order.
fn in_rows<T: Real>(array: &HostArray<T>) -> Vec<T> {
    let shape = array.shape();
    transposed(array.as_slice(), shape.cols, shape.rows)
}

/// Each `rows x cols` matrix from row-major to column-major; with both exchanged, back.
fn transposed<T: Real>(data: &[T], rows: usize, cols: usize) -> Vec<T> {
    let mut out = data.to_vec();
    if rows > 1 && cols > 1 {
        for (from, to) in data.chunks_exact(rows * cols).zip(out.chunks_exact_mut(rows * cols)) {
            for i in 0..rows {
                for j in 0..cols {
                    to[i + j * rows] = from[i * cols + j];
                }
            }
        }
    }
    out
}
