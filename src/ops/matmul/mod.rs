//! Batched products of matrices, with the steps that usually follow them.
//!
//! op(A) is A or its transpose, and op(B) is B or its transpose. On the device, the shape of one product determines
//! which form of the kernels computes it (`forms`). The form `tiny` is for results of at most 32 rows and columns: a
//! workgroup computes several results, and an invocation computes 4 x 4 elements. In the forms `tile_64` and
//! `tile_128`, an invocation computes 8 x 8 elements in registers, and workgroup memory is double-buffered. The form
//! `direct` is for software adapters: an invocation computes up to 16 x 16 elements, and there is no workgroup memory.
//! If one result would not keep the device busy, its sums are split into parts (split-k), which the kernel `sum` adds
//! in a fixed order. The steps that follow a sum (`shaders/matmul/product.wgsl`) are part of every form, and are
//! compiled out if a product has none. f16 is decoded by bit operations, so these forms do not need the WebGPU feature
//! `shader-f16`.
//!
//! The form `cooperative` multiplies f16 on matrix units. Cooperative matrices are experimental in wgpu, so this form
//! is used only if the caller requests it by name, or for sizes for which `fiedler tune` found it to be right and
//! faster. The same source makes two kernels. The kernel for fragments of 8 x 8 is for Metal and for Mesa's lavapipe
//! 26, and has run on lavapipe. The kernel for fragments of 16 x 16 has not run on any device yet.
//!
//! For f32 split into f16 ([`Precision::SplitF16`], `split`), the kernel `largest` finds the largest magnitude of each
//! line (a row of op(A) or a column of op(B)). The kernel `split` scales each element x of a line by a power of two and
//! splits the result into two f16, `x 2^s = high + low`. It writes `high` and `low` to separate arrays, where a word
//! holds two adjacent elements of a line. Then three products of f16 (high by high, high by low and low by high) make
//! raw sums. The kernel `sum` adds these sums and undoes the scaling by bit operations. All terms of a line have the
//! same scale, so `batches` cuts these products by matrices and blocks, never by terms.
//!
//! The CPU uses faer, and this crate's SIMD kernels (`cpu/tiny`) for batches of matrices of at most 24 rows and
//! columns.

mod batches;
mod cpu;
mod forms;
pub(in crate::ops) mod gpu;
pub(super) mod kernels;
mod options;
mod split;

use crate::array::{Array, Real, Scalar, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{self, Operation};
use crate::policy::{Choice, Family, Workload};
use crate::shape::{Shape, to_u32};
use half::f16;
use num_complex::Complex;
pub use options::{Activation, Bias, Gemm, Precision};

mod private {
    /// Restricts [`Multiplied`](super::Multiplied) to the types below.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for half::f16 {}
    impl Sealed for num_complex::Complex<f32> {}
    impl Sealed for num_complex::Complex<f64> {}
}

/// The element types that [`matmul`] multiplies: f32, f64 and complex numbers of them in their own precision, f16 with
/// sums in f32.
pub trait Multiplied: Scalar + private::Sealed {}
impl Multiplied for f32 {}
impl Multiplied for f64 {}
impl Multiplied for f16 {}
impl Multiplied for Complex<f32> {}
impl Multiplied for Complex<f64> {}

/// Returns whether the elements are complex numbers, whose products the CPU computes.
fn is_complex<T: Multiplied>() -> bool {
    T::NAME.starts_with("complex")
}

/// Multiplies every matrix of `a` by the corresponding matrix of `b`. [`Gemm`] also takes transposes and scale factors,
/// adds a matrix and a bias, and applies an activation.
///
/// Products of f32 and f64 are computed in these precisions (f64 and complex numbers on the CPU only). Products of f16
/// have sums in f32, which are rounded to the nearest f16, ties to even; magnitudes of 65520 or more become infinite.
/// Every element of a result differs from the exact value by at most `4 eps sqrt(k)` times the same element of `|A|
/// |B|`, where eps is 2^-23 for f32 and f16 and 2^-52 for f64. In f16, the rounding of the result is an additional
/// error. This bound assumes that the rounding errors of a sum are independent. Where they are not, for example if all
/// k terms are equal, the relative error may reach `k eps`, as in any sequential sum. Infinities and NaN propagate
/// through the arithmetic.
///
/// # Shapes
/// `a` is `(m, k)`, `b` is `(k, n)`, the result `(m, n)`. The batches of `a` and `b` are equal, or one of them is 1. In
/// the second case, the only matrix of that array is shared by the whole batch. If k is 0, the result is zero.
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if k or the batches do not agree; [`crate::ErrorKind::Limit`] if the result exceeds the
/// memory budget and is also more than four times as large as `a` and `b` together; with
/// [`Backend::Gpu`](crate::Backend::Gpu), [`crate::ErrorKind::Limit`] if the product exceeds the limits of the kernels
/// and [`crate::ErrorKind::Domain`] for f64; device errors.
///
/// ```
/// use fiedler::{Context, Shape, array::Array, ops::matmul};
/// let ctx = Context::cpu();
/// let a = Array::from_vec(Shape::new(2, 2, 1), vec![1.0_f32, 2.0, 3.0, 4.0])?; // columns (1, 2) and (3, 4)
/// let x = Array::from_vec(Shape::new(2, 1, 1), vec![1.0, 10.0])?;
/// assert_eq!(matmul(&ctx, &a, &x)?.to_host(&ctx)?.as_slice(), [31.0, 42.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
pub fn matmul<T: Multiplied>(ctx: &Context, a: &Array<T>, b: &Array<T>) -> Result<Array<T>> {
    Gemm::new().run(ctx, a, b)
}

/// Computes [`matmul`] and brings the result to the host, for use where blocking is impossible, such as in a browser.
/// [`Array::to_host`] then returns at once. The CPU, if it is chosen, computes on the thread that awaits the future.
///
/// # Errors
/// The errors of [`matmul`].
pub async fn matmul_async<T: Multiplied>(ctx: &Context, a: &Array<T>, b: &Array<T>) -> Result<Array<T>> {
    Ok(matmul(ctx, a, b)?.to_host_async(ctx).await?.into())
}

/// A factor as the caller passed it.
#[derive(Clone, Copy, Debug)]
struct Given {
    transposed: bool,
    /// Whether one matrix is shared by the whole batch.
    shared: bool,
}

/// The matrix C to add: its factor `beta`, and whether one matrix is shared by the whole batch.
#[derive(Clone, Copy, Debug)]
struct Added {
    beta: f64,
    shared: bool,
}

/// The axis that a bias is added along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BiasAxis {
    /// One value for each row.
    Rows,
    /// One value for each column.
    Columns,
}

/// The axis of a bias, and whether one bias is shared by the whole batch.
#[derive(Clone, Copy, Debug)]
struct Along {
    axis: BiasAxis,
    shared: bool,
}

/// The shapes and options of a product: op(A) `(m, k)`, op(B) `(k, n)`.
#[derive(Clone, Copy, Debug)]
struct Problem {
    m: usize,
    n: usize,
    k: usize,
    batch: usize,
    a: Given,
    b: Given,
    alpha: f64,
    /// The matrix to add; `None` also if beta is 0.
    c: Option<Added>,
    bias: Option<Along>,
    activation: Activation,
}

impl Problem {
    /// Checks the shapes and returns the problem.
    fn of<T: Multiplied>(gemm: &Gemm<T>, a: Shape, b: Shape) -> Result<Self> {
        let turned = |shape: Shape, yes: bool| if yes { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
        let ((m, k), (terms, n)) = (turned(a, gemm.transpose_a), turned(b, gemm.transpose_b));
        let named = |name: &str, (rows, cols): (usize, usize), yes: bool, batch: usize| {
            format!("{name}{} ({rows}, {cols}) x {batch}", if yes { "'" } else { "" })
        };
        let left = || named("A", (m, k), gemm.transpose_a, a.batch);
        let right = || named("B", (terms, n), gemm.transpose_b, b.batch);
        if k != terms {
            return Err(Error::shape("matmul", format!("a right factor with {k} rows for {}", left()), right()));
        }
        let batch = match (a.batch, b.batch) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            (x, _) => {
                return Err(Error::shape("matmul", format!("a batch of {x} or 1 for {}", left()), right()));
            }
        };
        let partner = |what: &'static str, found: Shape, (rows, cols): (usize, usize)| {
            if (found.rows, found.cols) != (rows, cols) || ![1, batch].contains(&found.batch) {
                let expected = format!("({rows}, {cols}), one or {batch}, for {} times {}", left(), right());
                return Err(Error::shape(what, expected, found.to_string()));
            }
            Ok(found.batch == 1)
        };
        let c = match &gemm.added {
            Some((beta, c)) => {
                let shared = partner("matmul: the matrix to add", c.shape(), (m, n))?;
                (*beta != 0.0).then_some(Added { beta: *beta, shared })
            }
            None => None,
        };
        let bias = match &gemm.bias {
            Some(Bias::Rows(bias)) => {
                Some(Along { axis: BiasAxis::Rows, shared: partner("matmul: a bias of rows", bias.shape(), (m, 1))? })
            }
            Some(Bias::Columns(bias)) => Some(Along {
                axis: BiasAxis::Columns,
                shared: partner("matmul: a bias of columns", bias.shape(), (1, n))?,
            }),
            None => None,
        };
        Ok(Self {
            m,
            n,
            k,
            batch,
            a: Given { transposed: gemm.transpose_a, shared: a.batch == 1 },
            b: Given { transposed: gemm.transpose_b, shared: b.batch == 1 },
            alpha: gemm.alpha,
            c,
            bias,
            activation: gemm.activation,
        })
    }

    fn result(&self) -> Shape {
        Shape::new(self.m, self.n, self.batch)
    }

    /// Returns whether the results are just the sums times alpha, without C, a bias or an activation.
    fn plain(&self) -> bool {
        self.c.is_none() && self.bias.is_none() && self.activation == Activation::None
    }

    /// Returns, for each of A, B, C and the bias, the number of elements of one matrix, and whether that matrix is
    /// shared by the whole batch.
    fn lens(&self) -> [(usize, bool); 4] {
        let Self { m, n, k, a, b, c, bias, .. } = *self;
        let of_bias = bias.map_or((0, true), |x| (if x.axis == BiasAxis::Rows { m } else { n }, x.shared));
        let size = |rows: usize, cols: usize| rows.saturating_mul(cols);
        [(size(m, k), a.shared), (size(k, n), b.shared), c.map_or((0, true), |c| (size(m, n), c.shared)), of_bias]
    }

    /// Returns the number of elements of all operands, including C and the bias.
    fn given(&self) -> usize {
        let all = |(len, shared): (usize, bool)| if shared { len } else { len.saturating_mul(self.batch) };
        self.lens().into_iter().map(all).fold(0, usize::saturating_add)
    }

    /// Folds the batch into columns. If the left factor is shared by the batch and the right factors are contiguous,
    /// then the batch is one product, whose right factor has the columns of all right factors. Otherwise returns the
    /// problem unchanged.
    fn folded(self) -> Self {
        let aligned = self.c.is_none_or(|c| !c.shared)
            && self.bias.is_none_or(|bias| (bias.axis == BiasAxis::Rows) == bias.shared)
            && self.a.shared
            && !self.b.shared
            && !self.b.transposed;
        match self.n.checked_mul(self.batch) {
            Some(n) if aligned && self.batch > 1 => Self { n, batch: 1, ..self },
            _ => self,
        }
    }
}

/// The time of one flop of a product, relative to a flop of the decompositions on which the policy's rates are
/// measured. The decompositions reach 2e10 flop/s per thread, and products of f32 matrices of order 1024 reach 1.9e11
/// flop/s per thread (2026-11-21, AVX-512).
pub(in crate::ops) const PRODUCT_FLOP_COST: f64 = 1.0 / 8.0;
/// The additional cost, in flops, of an element that is read or written. It is needed because small products run at the
/// speed of memory.
const COST_PER_ELEMENT: f64 = 4.0;

/// One call of [`matmul`].
struct Task<'a> {
    problem: &'a Problem,
    /// The precision of the stored elements.
    stored: operation::Precision,
    precision: Precision,
    /// Whether an element takes half a word on a device.
    half: bool,
    /// Whether the elements are complex, and products of them four of real numbers.
    complex: bool,
    /// The number of 32-bit words per element in a transfer to a device.
    words: f64,
    resident: bool,
}

impl<'a> Task<'a> {
    fn of<T: Multiplied>(problem: &'a Problem, precision: Precision, resident: bool) -> Self {
        let half = T::words(2) == 1;
        let complex = is_complex::<T>();
        let stored = if complex { operation::Precision::on_cpu::<T>() } else { operation::Precision::of::<T>() };
        Self { problem, stored, precision, half, complex, words: as_f64(T::words(1 << 10)) / 1024.0, resident }
    }

    /// Returns the name of the form that the device would use.
    fn form(&self, gpu: &Gpu) -> Option<&'static str> {
        let Problem { m, n, k, .. } = *self.problem;
        let [m, n, k] = [m, n, k].map(to_u32);
        gpu::form(gpu, m, n, k, self.half || self.precision == Precision::SplitF16)
    }
}

impl Operation for Task<'_> {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn precision(&self) -> operation::Precision {
        self.stored
    }

    fn workload(&self, ctx: &Context) -> Workload {
        let Self { problem, words, resident, .. } = *self;
        let [m, n, k, batch] = [problem.m, problem.n, problem.k, problem.batch].map(as_f64);
        let numbers = as_f64(problem.given()) + m * n * batch;
        let products = match self.precision {
            Precision::SplitF16 => f64::from(split::PRODUCTS),
            _ if self.complex => 4.0,
            _ => 1.0,
        };
        let flops = 2.0 * m * n * k * batch * PRODUCT_FLOP_COST * products + COST_PER_ELEMENT * numbers * products;
        let form = ctx.gpu().ok().and_then(|gpu| self.form(gpu)).unwrap_or("");
        Workload {
            family: Family::Matmul,
            size: (m * n * k).cbrt(),
            items: batch,
            cpu_flops: flops,
            gpu_flops: flops,
            dispatches: 1.0,
            algorithms: [if cpu::is_tiny(problem) { "own vectors" } else { "faer" }, form],
            ..Workload::default()
        }
        .transferring(resident, 4.0 * words * as_f64(problem.given()), 4.0 * words * m * n * batch)
    }

    fn fits(&self, gpu: &Gpu, _: u64) -> bool {
        self.form(gpu).is_some()
    }

    fn waits(&self, gpu: &Gpu, budget: u64) -> bool {
        !batches::holds(gpu, self.problem, self.half, self.precision, budget)
    }
}

fn as_f64(count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let count = count as f64;
    count
}

impl<T: Multiplied> Gemm<T> {
    /// Returns where this product would run on factors of these shapes, and why. `resident` says whether the factors
    /// are already on the device.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the shapes cannot be multiplied.
    pub fn choose(&self, ctx: &Context, a: Shape, b: Shape, resident: bool) -> Result<Choice> {
        Ok(Task::of::<T>(&Problem::of(self, a, b)?, self.precision, resident).choose(ctx))
    }

    /// Computes the products of a batch.
    ///
    /// # Shapes
    /// op(A) is `(m, k)`, op(B) is `(k, n)`, the result is `(m, n)`. The batches of `a` and `b` are equal, or one of
    /// them is 1.
    ///
    /// # Errors
    /// The same as [`matmul`]; [`crate::ErrorKind::Domain`] if [`Precision::SplitF16`] is set and the elements are not
    /// f32.
    pub fn run(&self, ctx: &Context, a: &Array<T>, b: &Array<T>) -> Result<Array<T>> {
        let problem = Problem::of(self, a.shape(), b.shape())?;
        let shape = problem.result();
        let needed = (T::words(shape.len()) as u64).saturating_mul(4);
        // The operands are in memory already, but the result of an outer product may be far larger than the operands.
        if needed > ctx.memory_budget() && shape.len() / 4 > problem.given() {
            let what = "bytes for the results of matmul";
            return Err(Error::budget(what, needed, ctx.memory_budget()));
        }
        if self.precision == Precision::SplitF16 && T::NAME != "f32" {
            return Err(Error::domain("matmul", format!("f32 is split into f16, found {}", T::NAME)));
        }
        if is_complex::<T>() && problem.activation != Activation::None {
            let what = format!("expected no activation of complex numbers, found {:?}", problem.activation);
            return Err(Error::domain("matmul", what));
        }
        let c = self.added.as_ref().filter(|_| problem.c.is_some()).map(|(_, c)| c.storage());
        let bias = self.bias.as_ref().map(|bias| bias.array().storage());
        let operands = [Some(a.storage()), Some(b.storage()), c, bias];
        let (made, choice) = Task::of::<T>(&problem, self.precision, a.is_resident() && b.is_resident()).run(
            ctx,
            || Ok(Storage::host_from(ctx, on_cpu(ctx, &problem, operands, self.precision)?)),
            |gpu| batches::solve(ctx, gpu, &problem, operands, self.precision),
        )?;
        Ok(Array::from_storage(shape, made).chosen(&choice))
    }
}

/// Multiplies matrices in slices on the CPU: `out = op(A) op(B)`, `(m, n, k)` for each of them. `transposed` says
/// whether op(A) and op(B) are transposes. This is for families that multiply a few matrices between other steps.
pub(in crate::ops) fn on_slices<T: Real>(
    (m, n, k): (usize, usize, usize),
    transposed: [bool; 2],
    [a, b]: [&[T]; 2],
    out: &mut [T],
) {
    let [a_given, b_given] = transposed.map(|transposed| Given { transposed, shared: false });
    let batch = out.len() / (m * n).max(1);
    let activation = Activation::None;
    let problem = Problem { m, n, k, batch, a: a_given, b: b_given, alpha: 1.0, c: None, bias: None, activation };
    let all = cpu::Operands { a, b, c: &[], bias: &[] };
    if T::ON_DEVICE {
        <f32 as cpu::Working>::gemm(&problem, all.cast(), bytemuck::cast_slice_mut(out));
    } else {
        <f64 as cpu::Working>::gemm(&problem, all.cast(), bytemuck::cast_slice_mut(out));
    }
}

/// Computes the products on the CPU, in the precision of the elements.
fn on_cpu<T: Multiplied>(
    ctx: &Context,
    problem: &Problem,
    operands: [Option<&Storage<T>>; 4],
    precision: Precision,
) -> Result<Vec<T>> {
    let mut here = Vec::with_capacity(4);
    for operand in operands {
        here.push(operand.map(|storage| storage.to_vec(ctx)).transpose()?);
    }
    let numbers = |i: usize| here[i].as_ref().map_or(&[][..], |numbers| &numbers[..]);
    let all = cpu::Operands { a: numbers(0), b: numbers(1), c: numbers(2), bias: numbers(3) };
    let problem = &if problem.m.max(problem.n) > cpu::TINY { problem.folded() } else { *problem };
    let mut made = ctx.room::<T>(problem.result().len());
    let out = &mut made[..];
    match T::NAME {
        "f64" => <f64 as cpu::Working>::gemm(problem, all.cast(), bytemuck::cast_slice_mut(out)),
        "f16" => cpu::gemm_of_halves(problem, all.cast(), bytemuck::cast_slice_mut(out)),
        "complex f32" => {
            let number = |x| Complex::from(f32::from_f64(x));
            cpu::complex::gemm(problem, all.cast(), number, bytemuck::cast_slice_mut(out));
        }
        "complex f64" => {
            cpu::complex::gemm(problem, all.cast(), Complex::from, bytemuck::cast_slice_mut::<_, Complex<f64>>(out))
        }
        _ if precision == Precision::SplitF16 => {
            cpu::split::gemm(problem, all.cast(), bytemuck::cast_slice_mut(out));
        }
        _ => <f32 as cpu::Working>::gemm(problem, all.cast(), bytemuck::cast_slice_mut(out)),
    }
    Ok(made)
}
