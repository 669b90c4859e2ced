//! `fiedler run matmul`: products of stored matrices.

use super::input::{Axes, Input, REALS};
use super::{Precision, To, seconds};
use crate::commands::values::finite;
use crate::commands::{Failure, Outcome};
use clap::Args;
use fiedler::array::{Array, HostArray};
use fiedler::io::{Data, NamedArray, NpyData, Rows};
use fiedler::ops::matmul::{Gemm, Multiplied};
use fiedler::policy::Side;
use fiedler::{Context, Error, Shape};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Matmul {
    /// Left factors in a .npy file, `(m, k)` or `(batch, m, k)`. The type is float16, float32 or float64; integers and
    /// booleans are read as float64. Left factors, right factors and products have the same type. Products of float16
    /// are summed in float32.
    a: PathBuf,
    /// Right factors, `(k, n)` or `(batch, k, n)`. Both batches have the same size, or the left or the right factor is
    /// a single matrix.
    b: PathBuf,
    #[command(flatten)]
    to: To,
    /// Use the transposes of the left factors. The factors in the file are then `(k, m)`.
    #[arg(long)]
    transpose_a: bool,
    /// Use the transposes of the right factors. The factors in the file are then `(n, k)`.
    #[arg(long)]
    transpose_b: bool,
    /// The scalar by which all products are multiplied. With 0 all results are 0, as in BLAS.
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true, value_parser = finite)]
    alpha: f64,
    /// The precision to compute in [default: the precision of the input].
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision: Option<Precision>,
}

/// The number of rows, the number of columns, and the size of the batch if the array has a batch axis.
#[derive(Clone, Copy, Debug)]
struct Sides {
    rows: usize,
    cols: usize,
    batch: Option<usize>,
}

impl Sides {
    fn of(input: &Input<'_>) -> Self {
        match input.shape[..] {
            [batch, rows, cols] => Self { rows, cols, batch: Some(batch) },
            [rows, cols] => Self { rows, cols, batch: None },
            // Other numbers of axes were refused when the file was read.
            _ => Self { rows: 0, cols: 0, batch: None },
        }
    }

    fn turned(self, yes: bool) -> Self {
        if yes { Self { rows: self.cols, cols: self.rows, ..self } } else { self }
    }

    /// Returns the shape of the same data in the library, where NumPy's rows are columns.
    fn shape(self) -> Shape {
        Shape::new(self.cols, self.rows, self.batch.unwrap_or(1))
    }
}

impl Matmul {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.to.check(&[&self.a, &self.b], &["c"])?;
        let read = |file| Input::read(file, REALS, Axes::MATRICES, self.precision);
        let (mut a, mut b) = (read(&self.a)?, read(&self.b)?);
        if !(a.is_wide() && b.is_wide()) && (self.alpha.abs() > f64::from(f32::MAX)) {
            return Err(Failure::Call(format!("--alpha: expected a number within float32, found {}", self.alpha)));
        }
        match (a.take(), b.take()) {
            (NpyData::F32(x), NpyData::F32(y)) => self.solve((&a, x), (&b, y), |c| Data::F32(c)),
            (NpyData::F64(x), NpyData::F64(y)) => self.solve((&a, x), (&b, y), |c| Data::F64(c)),
            (NpyData::F16(x), NpyData::F16(y)) => self.solve((&a, x), (&b, y), |c| Data::F16(c)),
            _ => Err(Failure::Call(format!("{} and {}: expected one type", a.described(), b.described()))),
        }
    }

    fn solve<T: Multiplied>(
        &self,
        (left, a): (&Input<'_>, Vec<T>),
        (right, b): (&Input<'_>, Vec<T>),
        wrap: impl for<'a> Fn(&'a [T]) -> Data<'a>,
    ) -> Result<Outcome, Failure> {
        let (inputs, inputs_of) = (format!("{}, {}", left.described(), right.described()), [left, right]);
        let (of_a, of_b) = (Sides::of(left), Sides::of(right));
        let (x, y) = (of_a.batch.unwrap_or(1), of_b.batch.unwrap_or(1));
        let wrong =
            |wanted: &str| Err(Failure::Call(format!("{} and {}: expected {wanted}", left.shown(), right.shown())));
        let (left, right) = (of_a.turned(self.transpose_a), of_b.turned(self.transpose_b));
        if left.cols != right.rows {
            let transposed = if self.transpose_a || self.transpose_b { " after transposition" } else { "" };
            let (k, rows) = (left.cols, right.rows);
            return wrong(&format!(
                "as many columns in the first as rows in the second{transposed}, found {k} and {rows}"
            ));
        }
        if x != y && x != 1 && y != 1 {
            return wrong(&format!("equal batches, or a single matrix on one side, found {x} and {y}"));
        }
        // If data in NumPy's order is read in the library's order, every matrix appears transposed. The transposed
        // product C' is op(B)' op(A)', where op is the identity or, if the call asks for it, the transposition.
        // Computing C' instead of C therefore needs no rearrangement.
        let gemm = Gemm::<T>::new().transpose_a(self.transpose_b).transpose_b(self.transpose_a).alpha(self.alpha);
        let choose = |ctx: &Context| gemm.choose(ctx, of_b.shape(), of_a.shape(), false);
        let ctx = &self.to.context(self.precision, &inputs_of, choose)?;
        let (a, b) = (Array::from_vec(of_a.shape(), a)?, Array::from_vec(of_b.shape(), b)?);
        let call = || -> Result<HostArray<T>, Error> { gemm.run(ctx, &b, &a)?.to_host(ctx) };
        let (found, first) = seconds(call)?;

        let batch = of_a.batch.or(of_b.batch).map(|_| found.shape().batch);
        let shape = batch.into_iter().chain([left.rows, right.cols]).collect();
        self.to.write(&[NamedArray { name: "c", rows: Rows::Other, shape, data: wrap(found.as_slice()) }])?;
        self.to.say((ctx, found.choice()), format_args!("matmul: {inputs}"), "done", first)?;

        let on_device = gemm.choose(ctx, b.shape(), a.shape(), true)?.side == Side::Gpu;
        let there = |array: &Array<T>| self.to.placed(ctx, array, on_device);
        let (a, b) = (there(&a)?, there(&b)?);
        self.to.report(first, || call().map(drop), || gemm.run(ctx, &b, &a).and_then(|_| ctx.wait()))?;
        Ok(Outcome::Done)
    }
}
