//! The singular value decomposition of batches of matrices.
//!
//! A wide matrix is solved as its transpose, so all code below the public functions sees tall matrices: B = P S Q',
//! where B is `(long, short)`. Code in which Q is the factor of a QR factorization writes V for the right basis.

mod batches;
mod cpu;
mod elements;
mod gpu;
pub(super) mod kernels;
mod truncated;

use super::certificate::{Certificate, Certificates, all_converged};
use crate::array::{Array, Field, Real, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{Operation, Precision};
use crate::policy::{Choice, Family, Workload};
use crate::shape::Shape;
use std::sync::Arc;

pub(crate) use cpu::LANES_FOR;
pub use elements::Decomposed;
pub use truncated::{SvdTruncated, TruncatedOptions, choose_svd_truncated, svd_truncated};

/// How many columns of U and rows of Vh are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vectors {
    /// The `min(m, n)` singular vectors that belong to singular values, as with NumPy's `full_matrices=False`.
    #[default]
    Thin,
    /// Complete orthonormal bases of both spaces: U is `(m, m)`, and Vh is `(n, n)`.
    Full,
}

/// The decomposition `A = U diag(S) Vh` of a batch of matrices (m, n).
#[derive(Clone, Debug)]
pub struct Svd<T: Field = f32> {
    /// The left singular vectors as columns, `(m, min(m, n))` for each matrix, or `(m, m)` for [`Vectors::Full`].
    pub u: Array<T>,
    /// The singular values in descending order, `(min(m, n), 1)` for each matrix. They are not negative.
    pub s: Array<T::Real>,
    /// The right singular vectors as rows, `(min(m, n), n)` for each matrix, or `(n, n)` for [`Vectors::Full`].
    pub vh: Array<T>,
    certificates: Certificates,
}

/// The singular values of a batch of matrices (m, n).
#[derive(Clone, Debug)]
pub struct Svdvals<T: Field = f32> {
    /// The singular values in descending order, `(min(m, n), 1)` for each matrix. They are not negative.
    pub s: Array<T::Real>,
    certificates: Certificates,
}

/// Computes the singular value decomposition of every real or complex matrix of `a`, with NumPy's conventions:
/// `A = U diag(S) Vh`, where S is in descending order.
///
/// The device, and the CPU for batches of small matrices, use Householder QR and then one-sided Jacobi on the rows of R
/// (Hestenes 1958; Drmac and Veselic, SIAM J. Matrix Anal. Appl. 29, 2008, without their pivoting). The orthogonal
/// rows, scaled to length 1, are the columns of V. A second QR, of A V, gives U as its Q factor and S as the diagonal
/// of its R factor. Both bases are therefore orthonormal regardless of the rank. The CPU solves other matrices by
/// bidiagonalization with divide and conquer. All methods compute in the precision of the input. However, if f32 is not
/// accurate enough for one of these other matrices, the CPU solves the matrix again in f64.
///
/// If the rows or columns of a matrix on the host differ greatly in size, the CPU solves it by one-sided Jacobi with
/// pivoting in f64 (LAPACK's dgejsv), on either side. Each singular value of `D1 B D2` with diagonal matrices D1 and D2
/// is then within `10 max(m, n) eps cond(B)` of itself (25 if both differ from the identity).
///
/// Complex matrices are decomposed on the CPU, one at a time, by bidiagonalization and divide and conquer in f64. The
/// entry of largest magnitude of each right singular vector is real and positive.
///
/// The certificate's residual is `max_j |A v_j - s_j u_j|_2 / |A|_1` if m >= n. For a wide matrix, it is the residual
/// of the transpose, `max_j |A' u_j - s_j v_j|_2 / |A'|_1`, which is more informative. The certificate's orthogonality
/// is the larger of `max |U'U - I|` and `max |Vh Vh' - I|`. Both residual and orthogonality are promised to be at most
/// `15 max(m, n) eps`. A matrix with a NaN or an infinity gets the status NonFinite, singular values of NaN and
/// singular vectors of 0, and does not affect the other matrices.
///
/// # Shapes
/// A is `(m, n)`, with any batch size; m = 0, n = 0 and a batch of 0 are allowed.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::{Vectors, svd};
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// let a = Array::from_vec(Shape::new(3, 2, 1), vec![3.0_f32, 0.0, 0.0, 0.0, 0.0, 4.0])?;
/// let found = svd(&ctx, &a, Vectors::Thin)?.ok(&ctx)?;
/// assert_eq!((found.u.shape(), found.vh.shape()), (Shape::new(3, 2, 1), Shape::new(2, 2, 1)));
/// assert!((found.s.to_host(&ctx)?.as_slice()[0] - 4.0).abs() < 1e-5);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// With [`Backend::Gpu`](crate::Backend::Gpu), [`crate::ErrorKind::Limit`] or [`crate::ErrorKind::Domain`] if the
/// device cannot hold a matrix or has no kernels for the precision; device errors.
pub fn svd<T: Decomposed>(ctx: &Context, a: &Array<T>, vectors: Vectors) -> Result<Svd<T>> {
    let problem = Problem::of(ctx, a.shape(), vectors == Vectors::Full)?;
    let (Parts { u, s, vh, certificates }, choice) = T::solve(ctx, &problem, a.storage(), true)?;
    let [u_shape, s_shape, vh_shape] = problem.shapes();
    Ok(Svd {
        u: Array::from_storage(u_shape, u).chosen(&choice),
        s: Array::from_storage(s_shape, s).chosen(&choice),
        vh: Array::from_storage(vh_shape, vh).chosen(&choice),
        certificates,
    })
}

/// Computes [`svd`] and brings the results to the host, for use where blocking is impossible, such as in a browser.
/// Nothing has to be waited for afterwards: [`Array::to_host`] and [`Svd::certificates`] return at once. The CPU, if it
/// is chosen, computes on the thread that awaits the future.
///
/// # Errors
/// The errors of [`svd`].
pub async fn svd_async<T: Decomposed>(ctx: &Context, a: &Array<T>, vectors: Vectors) -> Result<Svd<T>> {
    let found = svd(ctx, a, vectors)?;
    let reads = (found.u.read(ctx)?, found.s.read(ctx)?, found.vh.read(ctx)?, found.certificates.read(ctx)?);
    Ok(Svd {
        u: reads.0.arrive().await?.into(),
        s: reads.1.arrive().await?.into(),
        vh: reads.2.arrive().await?.into(),
        certificates: Certificates::Host(reads.3.arrive().await?),
    })
}

/// Computes the singular values like [`svd`], but does not return the singular vectors. These are computed only for the
/// certificate.
///
/// # Shapes
/// A is `(m, n)`, with any batch size. The values are `(min(m, n), 1)` for each matrix.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::svdvals;
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// let a = Array::from_vec(Shape::new(2, 2, 1), vec![0.0_f32, 2.0, 1.0, 0.0])?;
/// let s = svdvals(&ctx, &a)?.s.to_host(&ctx)?;
/// assert!((s.as_slice()[0] - 2.0).abs() < 1e-6 && (s.as_slice()[1] - 1.0).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The errors of [`svd`].
pub fn svdvals<T: Decomposed>(ctx: &Context, a: &Array<T>) -> Result<Svdvals<T>> {
    let problem = Problem::of(ctx, a.shape(), false)?;
    let (Parts { s, certificates, .. }, choice) = T::solve(ctx, &problem, a.storage(), false)?;
    Ok(Svdvals { s: Array::from_storage(problem.shapes()[1], s).chosen(&choice), certificates })
}

/// Returns where [`svd`] would run on matrices of the given shape, and why.
#[must_use]
pub fn choose_svd<T: Field>(ctx: &Context, shape: Shape, vectors: Vectors, resident: bool) -> Choice {
    let problem = Problem { rows: shape.rows, cols: shape.cols, batch: shape.batch, full: vectors == Vectors::Full };
    Task::of::<T>(&problem, resident).choose(ctx)
}

/// One call, described for the cost model.
struct Task<'a> {
    problem: &'a Problem,
    precision: Precision,
    resident: bool,
    complex: bool,
}

impl<'a> Task<'a> {
    fn of<T: Field>(problem: &'a Problem, resident: bool) -> Self {
        let precision = if T::IS_COMPLEX { Precision::on_cpu::<T>() } else { Precision::of::<T>() };
        Self { problem, precision, resident, complex: T::IS_COMPLEX }
    }
}

impl Operation for Task<'_> {
    fn name(&self) -> &'static str {
        "svd"
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn workload(&self, ctx: &Context) -> Workload {
        let Self { problem, resident, .. } = *self;
        let batch = as_f64(problem.batch);
        let flops = problem.flops() * batch * if self.complex { 4.0 } else { 1.0 };
        let made: f64 = problem.shapes().iter().map(|shape| as_f64(shape.len())).sum();
        Workload {
            family: Family::Svd,
            size: as_f64(problem.short()),
            items: batch,
            cpu_flops: flops,
            gpu_flops: flops,
            // Dispatches apply the reflections, make sweeps over the triangular factor, and form U and Vh. The blocked
            // form of the sweeps needs separate dispatches for each round of pairs of blocks.
            dispatches: if problem.short() > 128 { 400.0 } else { 12.0 },
            algorithms: [cpu::algorithm(problem), ctx.gpu().map_or("", |gpu| gpu::form(gpu, problem))],
            ..Workload::default()
        }
        .transferring(resident, 4.0 * as_f64(problem.shape().len()), 4.0 * made)
    }

    fn fits(&self, gpu: &Gpu, _: u64) -> bool {
        gpu::fits(gpu, self.problem)
    }

    fn waits(&self, gpu: &Gpu, budget: u64) -> bool {
        batches::within(gpu, self.problem, budget).is_ok_and(|most| self.problem.batch > most)
    }
}

impl<T: Field> Svd<T> {
    /// Returns where the call ran, and why.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.s.choice()
    }

    /// Returns the certificate of each matrix; waits for the device.
    ///
    /// # Errors
    /// Device errors.
    pub fn certificates(&self, ctx: &Context) -> Result<Arc<Vec<Certificate>>> {
        self.certificates.read(ctx)?.wait()
    }

    /// The async version of [`Svd::certificates`], for use where blocking is impossible.
    ///
    /// # Errors
    /// Device errors.
    pub async fn certificates_async(&self, ctx: &Context) -> Result<Arc<Vec<Certificate>>> {
        self.certificates.read(ctx)?.arrive().await
    }

    /// Returns this decomposition if all its matrices have converged.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Uncertified`], which names the first matrix that has not converged; device errors.
    pub fn ok(self, ctx: &Context) -> Result<Self> {
        all_converged(&self.certificates(ctx)?)?;
        Ok(self)
    }
}

impl<T: Field> Svdvals<T> {
    /// Returns where the call ran, and why.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.s.choice()
    }

    /// Returns the certificate of each matrix; waits for the device.
    ///
    /// # Errors
    /// Device errors.
    pub fn certificates(&self, ctx: &Context) -> Result<Arc<Vec<Certificate>>> {
        self.certificates.read(ctx)?.wait()
    }

    /// Returns these values if those of all matrices have converged.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Uncertified`], which names the first matrix that has not converged; device errors.
    pub fn ok(self, ctx: &Context) -> Result<Self> {
        all_converged(&self.certificates(ctx)?)?;
        Ok(self)
    }
}

/// The limit, in units of `max(m, n) eps`, promised for the residual and for the departure from orthogonality.
const PROMISE: f64 = 15.0;

/// The matrices to decompose, as given.
#[derive(Clone, Copy, Debug)]
struct Problem {
    rows: usize,
    cols: usize,
    batch: usize,
    full: bool,
}

impl Problem {
    fn of(ctx: &Context, shape: Shape, full: bool) -> Result<Self> {
        let problem = Self { rows: shape.rows, cols: shape.cols, batch: shape.batch, full };
        // The input is already in memory. The results may be far larger than the input if the matrices have no elements
        // or if full bases are wanted.
        let made = problem.shapes().iter().fold(0_u64, |sum, shape| sum.saturating_add(shape.len() as u64));
        let needed = made.saturating_mul(8).saturating_add(64 * shape.batch as u64);
        if needed > ctx.memory_budget() && made / 4 > shape.len() as u64 {
            let what = "bytes for the results of svd";
            return Err(Error::budget(what, needed, ctx.memory_budget()));
        }
        Ok(problem)
    }

    /// Returns the shape as given.
    fn shape(&self) -> Shape {
        Shape::new(self.rows, self.cols, self.batch)
    }

    /// Returns whether the transpose is solved.
    fn wide(&self) -> bool {
        self.rows < self.cols
    }

    fn long(&self) -> usize {
        self.rows.max(self.cols)
    }

    fn short(&self) -> usize {
        self.rows.min(self.cols)
    }

    /// Returns the number of columns of P, the basis of the space with the larger dimension.
    fn left(&self) -> usize {
        if self.full { self.long() } else { self.short() }
    }

    /// Returns the shapes of U, S and Vh.
    fn shapes(&self) -> [Shape; 3] {
        let (wide, short) = (self.wide(), self.short());
        let u = if wide { short } else { self.left() };
        let vh = if wide { self.left() } else { short };
        [Shape::new(self.rows, u, self.batch), Shape::new(short, 1, self.batch), Shape::new(vh, self.cols, self.batch)]
    }

    /// Returns the number of floating-point operations for one matrix: the QR factorization, about seven sweeps over R,
    /// the computation of U, and the certificate.
    fn flops(&self) -> f64 {
        let (long, short) = (as_f64(self.long()), as_f64(self.short()));
        8.0 * long * short * short + 32.0 * short * short * short + 3.0 * long * as_f64(self.left()) * short
    }
}

fn as_f64(count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let count = count as f64;
    count
}

/// U, S and Vh, on the host or on the device. `u` and `vh` are empty if they are not wanted.
#[derive(Debug)]
struct Parts<T: Field> {
    u: Storage<T>,
    s: Storage<T::Real>,
    vh: Storage<T>,
    certificates: Certificates,
}

fn solve<T: Real>(ctx: &Context, problem: &Problem, a: &Storage<T>, vectors: bool) -> Result<(Parts<T>, Arc<Choice>)> {
    let task = Task::of::<T>(problem, matches!(a, Storage::Device(_)));
    task.run(
        ctx,
        || Ok(cpu::svd(ctx, problem, &a.to_vec(ctx)?, vectors)),
        |gpu| batches::solve(ctx, gpu, problem, a, vectors),
    )
}
