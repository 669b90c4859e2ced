//! `fiedler run`: one operation on a stored array, with numpy's order and meaning.

use super::{Failure, Outcome, Where, check_output, print};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real};
use fiedler::io::{Data, NamedArray, Npy, NpyData, Rows, read_npy};
use fiedler::ops::{Certificate, Status, eigh};
use fiedler::{Context, Error, Shape};
use std::path::PathBuf;
use std::time::Instant;

/// Run one operation on a stored array (.npy), as numpy would.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The operation.
    #[arg(value_enum)]
    operation: Operation,
    /// `(n, n)` or `(batch, n, n)`, f32 or f64; the lower triangle is read.
    input: PathBuf,
    /// Where to (.npz or .safetensors): `w` and, for eigh, `v` in numpy's order, and `residual`, `orthogonality`, `status`.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    place: Where,
    /// Compute f64 input in f32, as the GPU's kernels do.
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
    /// Call it N more times; the last line printed is a JSON object with first_ms, transfers_ms and resident_ms.
    #[arg(long, value_name = "N", default_value_t = 0)]
    time: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Operation {
    Eigh,
    Eigvalsh,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Precision {
    F32,
}

impl Run {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        check_output(&self.output, &self.input, &["npz", "safetensors"])?;
        let Npy { shape, data } = read_npy(&self.input)?;
        let ctx = self.place.context()?;
        match (data, self.precision) {
            (NpyData::F32(data), _) => self.solve(&ctx, &shape, &data, |out| Data::F32(out)),
            (NpyData::F64(data), None) => self.solve(&ctx, &shape, &data, |out| Data::F64(out)),
            (NpyData::F64(data), Some(Precision::F32)) => {
                let narrow: Vec<f32> = data.into_iter().map(f32::from_f64).collect();
                self.solve(&ctx, &shape, &narrow, |out| Data::F32(out))
            }
        }
    }

    fn solve<T: Real>(
        &self,
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
        let found = self.call(ctx, &a)?;
        let first = started.elapsed().as_secs_f64();
        let Found { values, vectors, certificates } = &found;

        // A single matrix has no batch axis, in numpy's way.
        let with_batch = |rest: &[usize]| batch.into_iter().chain(rest.iter().copied()).collect::<Vec<_>>();
        let array =
            |name, shape: &[usize], data| NamedArray { name, rows: Rows::Other, shape: with_batch(shape), data };
        let residual: Vec<f64> = certificates.iter().map(|c| c.residual).collect();
        let orthogonality: Vec<f64> = certificates.iter().map(|c| c.orthogonality).collect();
        let status: Vec<u8> = certificates.iter().map(|c| c.status as u8).collect();
        let row_major = transposed(vectors, rows, cols);
        let mut arrays = vec![array("w", &[rows], wrap(values))];
        if self.operation == Operation::Eigh {
            arrays.push(array("v", &[rows, cols], wrap(&row_major)));
        }
        arrays.push(array("residual", &[], Data::F64(&residual)));
        arrays.push(array("orthogonality", &[], Data::F64(&orthogonality)));
        arrays.push(array("status", &[], Data::U8(&status)));
        fiedler::io::write(&self.output, &arrays)?;

        if self.time > 0 {
            let transfers = self.median(|| self.call(ctx, &a).map(drop))?;
            let on_device =
                if fiedler::ops::eigen::choose_eigh::<T>(ctx, &orders(&a), true).side == fiedler::policy::Side::Gpu {
                    a.to_device(ctx)?
                } else {
                    a.clone()
                };
            let resident = self.median(|| {
                let found = eigh(ctx, &on_device)?;
                ctx.wait()?;
                drop(found);
                Ok(())
            })?;
            let report = serde_json::json!({
                "first_ms": first * 1e3, "transfers_ms": transfers * 1e3, "resident_ms": resident * 1e3,
            });
            print(report);
        }
        let bad = certificates.iter().any(|c| c.status != Status::Converged);
        Ok(if bad { Outcome::Uncertified } else { Outcome::Done })
    }

    /// From the host to the host.
    fn call<T: Real>(&self, ctx: &Context, a: &Array<T>) -> Result<Found<T>, Error> {
        let found = eigh(ctx, a)?;
        let vectors = match self.operation {
            Operation::Eigh => found.vectors.to_host(ctx)?.as_slice().to_vec(),
            Operation::Eigvalsh => Vec::new(),
        };
        let values = found.values.to_host(ctx)?.as_slice().to_vec();
        Ok(Found { values, vectors, certificates: found.certificates(ctx)?.to_vec() })
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

struct Found<T> {
    values: Vec<T>,
    vectors: Vec<T>,
    certificates: Vec<Certificate>,
}

fn orders<T: Real>(a: &Array<T>) -> Vec<u32> {
    let shape = a.shape();
    vec![u32::try_from(shape.rows).unwrap_or(u32::MAX); shape.batch]
}

/// Each `rows x cols` matrix from row-major to column-major, or back.
fn transposed<T: Real>(data: &[T], rows: usize, cols: usize) -> Vec<T> {
    let mut out = data.to_vec();
    if rows * cols > 0 {
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
