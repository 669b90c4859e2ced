//! `fiedler run matmul`: products of stored matrices.

use super::{Precision, To, seconds};
use crate::cli::{Failure, Outcome};
use clap::Args;
use fiedler::array::{Array, HostArray};
use fiedler::io::{Data, NamedArray, NpyData, Rows, read_npy};
use fiedler::ops::matmul::{Gemm, Multiplied};
use fiedler::policy::Side;
use fiedler::{Context, Error, Shape};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Matmul {
    /// Left factors, `(m, k)` or `(batch, m, k)` in a .npy file: f16, f32 or f64, as the right ones. The products are of the same type;
    /// sums of f16 are f32.
    a: PathBuf,
    /// Right factors, `(k, n)` or `(batch, k, n)`. The batches are equal, or one matrix serves all.
    b: PathBuf,
    #[command(flatten)]
    to: To,
    /// The left factors' transposes are meant: they are `(k, m)`.
    #[arg(long)]
    transpose_a: bool,
    /// The right factors' transposes are meant: they are `(n, k)`.
    #[arg(long)]
    transpose_b: bool,
    /// What products are multiplied by.
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    alpha: f64,
    /// In which precision; without it, that of the input.
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
}

/// Rows, columns, and the batch where there is such an axis.
#[derive(Clone, Copy, Debug)]
struct Axes {
    rows: usize,
    cols: usize,
    batch: Option<usize>,
}

impl Axes {
    fn of(file: &Path, shape: &[usize]) -> Result<Self, Failure> {
        match *shape {
            [rows, cols] => Ok(Self { rows, cols, batch: None }),
            [batch, rows, cols] => Ok(Self { rows, cols, batch: Some(batch) }),
            _ => {
                let what = format!("{}: expected (m, n) or (batch, m, n), found {} axis", file.display(), shape.len());
                Err(Failure::Call(what))
            }
        }
    }

    fn turned(self, yes: bool) -> Self {
        if yes { Self { rows: self.cols, cols: self.rows, ..self } } else { self }
    }

    /// The library's shape of the same numbers: rows are columns to it.
    fn shape(self) -> Shape {
        Shape::new(self.cols, self.rows, self.batch.unwrap_or(1))
    }
}

impl Matmul {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.to.check(&[&self.a, &self.b])?;
        let (a, b) = (read_npy(&self.a)?, read_npy(&self.b)?);
        let ctx = Precision::place(self.precision, self.to.context()?);
        match (Precision::of(self.precision, a.data), Precision::of(self.precision, b.data)) {
            (NpyData::F32(x), NpyData::F32(y)) => self.solve(&ctx, (&a.shape, x), (&b.shape, y), |c| Data::F32(c)),
            (NpyData::F64(x), NpyData::F64(y)) => self.solve(&ctx, (&a.shape, x), (&b.shape, y), |c| Data::F64(c)),
            (NpyData::F16(x), NpyData::F16(y)) => self.solve(&ctx, (&a.shape, x), (&b.shape, y), |c| Data::F16(c)),
            (x, y) => {
                let files = format!("{} and {}", self.a.display(), self.b.display());
                let found = format!("{} and {}", x.name(), y.name());
                Err(Failure::Call(format!("{files}: expected both float16, float32 or float64, found {found}")))
            }
        }
    }

    fn solve<T: Multiplied>(
        &self,
        ctx: &Context,
        (shape_a, a): (&[usize], Vec<T>),
        (shape_b, b): (&[usize], Vec<T>),
        wrap: impl for<'a> Fn(&'a [T]) -> Data<'a>,
    ) -> Result<Outcome, Failure> {
        let (of_a, of_b) = (Axes::of(&self.a, shape_a)?, Axes::of(&self.b, shape_b)?);
        let (left, right) = (of_a.turned(self.transpose_a), of_b.turned(self.transpose_b));
        let (x, y) = (of_a.batch.unwrap_or(1), of_b.batch.unwrap_or(1));
        if left.cols != right.rows || (x != y && x != 1 && y != 1) {
            let what = format!(
                "{} {shape_a:?} and {} {shape_b:?}: expected as many columns as rows, and equal batches or one matrix for all",
                self.a.display(),
                self.b.display(),
            );
            return Err(Failure::Call(what));
        }
        // numpy's order is that of the transposes: C' = op(B)' op(A)', and nothing is rearranged.
        let (a, b) = (Array::from_vec(of_a.shape(), a)?, Array::from_vec(of_b.shape(), b)?);
        let gemm = Gemm::new().transpose_a(self.transpose_b).transpose_b(self.transpose_a).alpha(self.alpha);
        let call = || -> Result<HostArray<T>, Error> { gemm.run(ctx, &b, &a)?.to_host(ctx) };
        let (found, first) = seconds(call)?;

        let batch = of_a.batch.or(of_b.batch).map(|_| found.shape().batch);
        let shape = batch.into_iter().chain([left.rows, right.cols]).collect();
        self.to.write(&[NamedArray { name: "c", rows: Rows::Other, shape, data: wrap(found.as_slice()) }])?;

        let on_device = gemm.choose(ctx, b.shape(), a.shape(), true)?.side == Side::Gpu;
        let there = |array: &Array<T>| self.to.placed(ctx, array, on_device);
        let (a, b) = (there(&a)?, there(&b)?);
        self.to.report(first, || call().map(drop), || gemm.run(ctx, &b, &a).and_then(|_| ctx.wait()))?;
        Ok(Outcome::Done)
    }
}
