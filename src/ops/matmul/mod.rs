//! Products of matrices, batched, with what usually follows them.

mod batches;
mod cpu;
mod forms;
pub(in crate::ops) mod gpu;
pub(super) mod kernels;
mod options;
mod split;

use crate::array::{Array, Scalar, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{self, Operation};
use crate::policy::{Choice, Family, Workload};
use crate::shape::{Shape, to_u32};
use half::f16;
pub use options::{Activation, Bias, Gemm, Precision};

mod private {
    /// What can be multiplied is settled here.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for half::f16 {}
}

/// What [`matmul`] multiplies: f32 and f64 in their own precision, f16 with sums in f32.
pub trait Multiplied: Scalar + private::Sealed {}
impl Multiplied for f32 {}
impl Multiplied for f64 {}
impl Multiplied for f16 {}

/// The product of every matrix of `a` with its partner of `b`. [`Gemm`] has transposes, factors, a matrix and a bias to add, and an
/// activation.
///
/// f32 and f64 are computed in their own precision (f64 on the CPU), f16 with sums in f32 and results rounded to the nearest f16,
/// ties to even: what is 65520 or more is infinite then. Every number of a result is within `4 eps sqrt(k) (|A| |B|)` of the true
/// one, eps being 2^-23 for f32 and f16, 2^-52 for f64, and for f16 its own rounding besides; a sum of k equal terms may be
/// `k eps` off, as any sum in turn. Infinities and NaN go their way as the arithmetic says.
///
/// # Shapes
/// `a` is `(m, k)`, `b` is `(k, n)`, the result `(m, n)`. The batches are equal, or one of them is 1: that matrix serves all.
/// Where k is 0 the result is zero.
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if k or the batches do not agree; [`crate::ErrorKind::Limit`] if the result far exceeds the byte
/// budget or, with [`Backend::Gpu`](crate::Backend::Gpu), what its kernels take; [`crate::ErrorKind::Domain`] for f64 there; device errors.
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

/// A factor as it was given.
#[derive(Clone, Copy, Debug)]
struct Given {
    transposed: bool,
    /// Whether one matrix serves all.
    shared: bool,
}

/// What is added, and whether one serves all.
#[derive(Clone, Copy, Debug)]
struct Added {
    beta: f64,
    shared: bool,
}

/// What a bias is added along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BiasAxis {
    /// One number for each row.
    Rows,
    /// One number for each column.
    Columns,
}

/// A bias, and whether one serves all.
#[derive(Clone, Copy, Debug)]
struct Along {
    axis: BiasAxis,
    shared: bool,
}

/// What is to be multiplied: op(A) `(m, k)`, op(B) `(k, n)`.
#[derive(Clone, Copy, Debug)]
struct Problem {
    m: usize,
    n: usize,
    k: usize,
    batch: usize,
    a: Given,
    b: Given,
    alpha: f64,
    /// C is there only where beta is not 0.
    c: Option<Added>,
    bias: Option<Along>,
    activation: Activation,
}

impl Problem {
    /// The problem of these shapes.
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
                return Err(Error::shape("matmul", format!("a batch of {x} or 1 beside {}", left()), right()));
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

    /// Whether results are the sums, times alpha.
    fn plain(&self) -> bool {
        self.c.is_none() && self.bias.is_none() && self.activation == Activation::None
    }

    /// Numbers of A, of B, of C and of the bias that one matrix of the batch, or all of them, take.
    fn lens(&self) -> [(usize, bool); 4] {
        let Self { m, n, k, a, b, c, bias, .. } = *self;
        let of_bias = bias.map_or((0, true), |x| (if x.axis == BiasAxis::Rows { m } else { n }, x.shared));
        let size = |rows: usize, cols: usize| rows.saturating_mul(cols);
        [(size(m, k), a.shared), (size(k, n), b.shared), c.map_or((0, true), |c| (size(m, n), c.shared)), of_bias]
    }

    /// Numbers that were given, C and the bias among them.
    fn given(&self) -> usize {
        let all = |(len, shared): (usize, bool)| if shared { len } else { len.saturating_mul(self.batch) };
        self.lens().into_iter().map(all).fold(0, usize::saturating_add)
    }

    /// Where one left factor serves all of a batch whose right factors lie side by side, it is one product with all of their columns.
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

/// Flop of decompositions, in which the policy's rates are measured, that take as long as one of a product: 2e10 flop/s a thread
/// there, 1.9e11 here at n = 1024 in f32 (2026-11-21, AVX-512).
const EASIER: f64 = 1.0 / 8.0;
/// What a number read or written costs beside: small products run at the speed of memory.
const MOVED: f64 = 4.0;

/// One call.
struct Task<'a> {
    problem: &'a Problem,
    /// Of the numbers.
    stored: operation::Precision,
    precision: Precision,
    /// Whether a number takes half a word on a device.
    half: bool,
    /// Words of 32 bits a number, on the way to a device.
    words: f64,
    resident: bool,
}

impl<'a> Task<'a> {
    fn of<T: Multiplied>(problem: &'a Problem, precision: Precision, resident: bool) -> Self {
        let half = T::words(2) == 1;
        let stored = operation::Precision::of::<T>();
        Self { problem, stored, precision, half, words: as_f64(T::words(1 << 10)) / 1024.0, resident }
    }

    /// The kernels that would be taken.
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
        let products = if self.precision == Precision::SplitF16 { f64::from(split::PRODUCTS) } else { 1.0 };
        let flops = 2.0 * m * n * k * batch * EASIER * products + MOVED * numbers * products;
        let form = ctx.gpu().ok().and_then(|gpu| self.form(gpu)).unwrap_or("");
        Workload {
            family: Family::Matmul,
            size: (m * n * k).cbrt(),
            items: batch,
            cpu_flops: flops,
            gpu_flops: flops,
            dispatches: 1.0,
            algorithms: [if m.max(n).max(k) <= as_f64(cpu::TINY) { "own vectors" } else { "faer" }, form],
            ..Workload::default()
        }
        .transferring(resident, 4.0 * words * as_f64(problem.given()), 4.0 * words * m * n * batch)
    }

    fn fits(&self, gpu: &Gpu, _: u64) -> bool {
        self.form(gpu).is_some()
    }
}

fn as_f64(count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let count = count as f64;
    count
}

impl<T: Multiplied> Gemm<T> {
    /// Where this would run on factors of these shapes, and why; `resident`: they lie on the device.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if they cannot be multiplied.
    pub fn choose(&self, ctx: &Context, a: Shape, b: Shape, resident: bool) -> Result<Choice> {
        Ok(Task::of::<T>(&Problem::of(self, a, b)?, self.precision, resident).choose(ctx))
    }

    /// The products.
    ///
    /// # Shapes
    /// op(A) `(m, k)`, op(B) `(k, n)`, the result `(m, n)`; batches are equal, or 1.
    ///
    /// # Errors
    /// As [`matmul`]; [`crate::ErrorKind::Domain`] for a precision that the numbers or the device do not have.
    pub fn run(&self, ctx: &Context, a: &Array<T>, b: &Array<T>) -> Result<Array<T>> {
        let problem = Problem::of(self, a.shape(), b.shape())?;
        let shape = problem.result();
        let needed = (T::words(shape.len()) as u64).saturating_mul(4);
        // What was given fits into memory already; an outer product may be far larger.
        if needed > ctx.memory_budget() && shape.len() / 4 > problem.given() {
            let what = "bytes for the results of matmul";
            return Err(Error::budget(what, needed, ctx.memory_budget()));
        }
        if self.precision == Precision::SplitF16 && T::NAME != "f32" {
            return Err(Error::domain("matmul", format!("f32 is split into f16, found {}", T::NAME)));
        }
        let c = self.added.as_ref().filter(|_| problem.c.is_some()).map(|(_, c)| c.storage());
        let bias = self.bias.as_ref().map(|bias| bias.array().storage());
        let operands = [Some(a.storage()), Some(b.storage()), c, bias];
        let (made, choice) = Task::of::<T>(&problem, self.precision, a.is_resident() && b.is_resident()).run(
            ctx,
            || Ok(Storage::host(on_cpu(ctx, &problem, operands, self.precision)?)),
            |gpu| batches::solve(ctx, gpu, &problem, operands, self.precision),
        )?;
        Ok(Array::from_storage(shape, made).chosen(&choice))
    }
}

/// The products on the CPU, in the precision of the numbers.
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
    let numbers = |i: usize| here[i].as_ref().map_or(&[][..], |numbers| numbers.as_slice());
    let all = cpu::Operands { a: numbers(0), b: numbers(1), c: numbers(2), bias: numbers(3) };
    let problem = &if problem.m.max(problem.n) > cpu::TINY { problem.folded() } else { *problem };
    Ok(match T::NAME {
        "f64" => bytemuck::allocation::cast_vec(<f64 as cpu::Working>::gemm(problem, all.cast())),
        "f16" => bytemuck::allocation::cast_vec(cpu::gemm_of_halves(problem, all.cast())),
        _ if precision == Precision::SplitF16 => bytemuck::allocation::cast_vec(cpu::split::gemm(problem, all.cast())),
        _ => bytemuck::allocation::cast_vec(<f32 as cpu::Working>::gemm(problem, all.cast())),
    })
}
