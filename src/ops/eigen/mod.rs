//! Eigendecomposition of symmetric matrices, batched.
//!
//! On the device, the forms tiny and lane solve a matrix of order up to 32 with a single kernel, if the adapter
//! supports them. All other matrices are solved in three steps. `prepare` computes `W = A + s I`, where A is scaled by
//! a power of two and s comes from Gershgorin's bound, so that W is positive definite. `ops/jacobi` makes the columns
//! of W orthogonal. `finish` normalizes the columns, computes Rayleigh quotients, sorts the eigenpairs, and certifies
//! them. Beyond order 104, or where a matrix does not fit in workgroup memory, the kernels `tiled_*` do the work of
//! `prepare` and `finish`. The CPU's implementation is described in `cpu`.

mod batches;
mod buffers;
mod cpu;
mod gpu;
mod hermitian;
pub(super) mod kernels;
mod request;
mod select;
mod small;
mod task;
mod tiled;

pub use super::certificate::{Certificate, Status};
use super::certificate::{Certificates, CertificatesRead, all_converged};
use crate::array::{Array, Field, Incoming, Ragged, Real, Storage};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::operation::Operation;
use crate::policy::{Backend, Choice, Family};
use crate::shape::{Layout, Shape};
pub use hermitian::Diagonalized;
pub(crate) use request::Choose;
use request::{Columns, Request};
use std::ops::Range;
use std::sync::Arc;
use task::Task;
pub use task::{choose_eigh, choose_eigvalsh, device_order_limit};

/// Eigenvalues, eigenvectors and certificates of a batch of symmetric matrices of order n.
#[derive(Clone, Debug)]
pub struct Eigh<T: Field = f32> {
    /// The eigenvalues in ascending order, `(n, 1)` for each matrix, or `(k, 1)` if only k eigenpairs were requested.
    pub values: Array<T::Real>,
    /// The eigenvectors as columns of unit 2-norm in the order of the eigenvalues, `(n, n)` for each matrix, or
    /// `(n, k)` if only k eigenpairs were requested.
    pub vectors: Array<T>,
    certificates: Certificates,
}

/// Eigenvalues and certificates of a batch of symmetric matrices of order n.
#[derive(Clone, Debug)]
pub struct Eigvalsh<T: Field = f32> {
    /// The eigenvalues in ascending order, `(n, 1)` for each matrix.
    pub values: Array<T::Real>,
    certificates: Certificates,
}

impl<T: Field> Eigvalsh<T> {
    /// Returns where the call ran, and why.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.values.choice()
    }

    /// Returns the certificate of each matrix; waits for the device.
    ///
    /// # Errors
    /// Device errors.
    pub fn certificates(&self, ctx: &Context) -> Result<Arc<Vec<Certificate>>> {
        self.certificates.read(ctx)?.wait()
    }
}

/// Eigenvalues, eigenvectors and certificates of a ragged batch of symmetric matrices.
#[derive(Clone, Debug)]
pub struct RaggedEigh<T: Field = f32> {
    layout: Arc<Layout>,
    values: Storage<T::Real>,
    vectors: Storage<T>,
    certificates: Certificates,
    choice: Arc<Choice>,
}

/// The results as the CPU or the device returns them, in the order in which the layout lists the matrices.
struct Solved<T> {
    values: Storage<T>,
    vectors: Storage<T>,
    certificates: Certificates,
}

/// A [`RaggedEigh`] on the host.
#[derive(Clone, Debug)]
pub struct HostEigh<T: Field> {
    /// The orders of the matrices, and the offset at which each matrix starts.
    pub layout: Arc<Layout>,
    /// The eigenvalues, in ascending order within each matrix. The eigenvalues of matrix `i` have the indices
    /// `layout.rows(i)`.
    pub values: Arc<Vec<T::Real>>,
    /// The eigenvectors, as columns of unit 2-norm. The eigenvectors of matrix `i` have the indices
    /// `layout.elements(i)`.
    pub vectors: Arc<Vec<T>>,
    /// The certificates, one per matrix.
    pub certificates: Arc<Vec<Certificate>>,
}

/// The end of the spectrum to compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// The smallest eigenvalues.
    #[default]
    Smallest,
    /// The largest eigenvalues.
    Largest,
}

impl Which {
    /// Returns the indices of the `k` wanted eigenpairs among `n` eigenpairs in ascending order of the eigenvalues.
    pub(crate) fn indices(self, k: usize, n: usize) -> Range<usize> {
        match self {
            Self::Smallest => 0..k.min(n),
            Self::Largest => n.saturating_sub(k)..n,
        }
    }
}

/// Computes the eigenvalues (ascending) and eigenvectors (columns of unit 2-norm) of symmetric or complex Hermitian
/// matrices. Only the lower triangle is read, and of complex diagonal elements only the real part.
///
/// The device uses one-sided Jacobi on A + sI (Hestenes 1958; Demmel and Veselic 1992) in f32, and computes the
/// eigenvalues as Rayleigh quotients. The CPU reduces a matrix to tridiagonal form by Householder's method in the
/// input's precision. The tridiagonal matrices of a batch of small matrices are diagonalized by implicit QL in the same
/// precision. The others, which are larger or from a batch of few matrices, are diagonalized by divide and conquer in
/// f64. A matrix with a NaN or an infinity gets NaN eigenvalues and the status NonFinite, and does not affect the other
/// matrices.
///
/// If a matrix on the host is positive definite and its diagonal elements differ greatly, the CPU solves it by
/// Cholesky's factorization with pivoting and one-sided Jacobi in f64 (Demmel and Veselic 1992), on either side. Each
/// eigenvalue of `D B D` with a diagonal matrix D is then within `10 n eps cond(B)` of itself.
///
/// Complex matrices are solved on the CPU: those of a batch of small matrices as above, the others by divide and
/// conquer in f64. The entry of largest magnitude of each complex eigenvector is real and positive; of those within 1
/// in 2,000 of it, the first.
///
/// # Shapes
/// A is `(n, n)`, with any batch size; n = 0 and a batch of 0 are allowed.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::{Context, Shape, eigh};
///
/// // A batch of two: [[2, 1], [1, 2]] and [[1, 0], [0, 3]], column-major.
/// let a = Array::from_vec(Shape::new(2, 2, 2), vec![2.0_f32, 1.0, 1.0, 2.0, 1.0, 0.0, 0.0, 3.0])?;
/// let ctx = Context::cpu();
/// let found = eigh(&ctx, &a)?.ok(&ctx)?; // an error unless every matrix converged
/// let (values, vectors) = (found.values.to_host(&ctx)?, found.vectors.to_host(&ctx)?);
/// assert!((values.matrix(0)[(1, 0)] - 3.0).abs() < 1e-6);
/// assert!((vectors.matrix(0)[(0, 1)].abs() - 0.5_f32.sqrt()).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if the matrices are not square; with [`Backend::Gpu`], [`crate::ErrorKind::Limit`] or
/// [`crate::ErrorKind::Domain`] if the kernels do not support the order or the precision; device errors.
pub fn eigh<T: Diagonalized>(ctx: &Context, a: &Array<T>) -> Result<Eigh<T>> {
    let shape = square("eigh", a.shape())?;
    let layout = Arc::new(equal_layout(ctx, shape)?);
    let RaggedEigh { values, vectors, certificates, choice, .. } =
        T::solve(ctx, &layout, a.storage(), Request { whole: true, ..certified(ctx, Columns::All) })?;
    Ok(Eigh {
        values: Array::from_storage(Shape::new(shape.rows, 1, shape.batch), values).chosen(&choice),
        vectors: Array::from_storage(shape, vectors).chosen(&choice),
        certificates,
    })
}

/// Computes [`eigh`] and brings the results to the host, for use where blocking is impossible, such as in a browser.
/// Nothing has to be waited for afterwards: [`Array::to_host`] and [`Eigh::certificates`] return at once. The CPU, if
/// it is chosen, computes on the thread that awaits the future.
///
/// # Errors
/// The errors of [`eigh`].
pub async fn eigh_async<T: Diagonalized>(ctx: &Context, a: &Array<T>) -> Result<Eigh<T>> {
    let found = eigh(ctx, a)?;
    let reads = (found.values.read(ctx)?, found.vectors.read(ctx)?, found.certificates.read(ctx)?);
    Ok(Eigh {
        values: reads.0.arrive().await?.into(),
        vectors: reads.1.arrive().await?.into(),
        certificates: Certificates::Host(reads.2.arrive().await?),
    })
}

/// Computes the `k` smallest or largest eigenvalues of each matrix, in ascending order, and their eigenvectors. The
/// other eigenpairs are never copied to the host.
///
/// On the CPU, if the matrix is large and `k` is small, inverse iteration (LAPACK's xSTEIN) computes the eigenvectors.
///
/// # Shapes
/// A is `(n, n)`. For each matrix, the eigenvalues are `(k, 1)` and the eigenvectors are `(n, k)`.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::{Which, eigh_subset};
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// let a = Array::from_vec(Shape::new(3, 3, 1), vec![1.0_f32, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 5.0])?;
/// let largest = eigh_subset(&ctx, &a, Which::Largest, 1)?;
/// assert_eq!(largest.vectors.shape(), Shape::new(3, 1, 1));
/// assert!((largest.values.to_host(&ctx)?.as_slice()[0] - 5.0).abs() < 1e-5);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The errors of [`eigh`]; [`crate::ErrorKind::Shape`] if the order of the matrices is less than `k`.
pub fn eigh_subset<T: Diagonalized>(ctx: &Context, a: &Array<T>, which: Which, k: usize) -> Result<Eigh<T>> {
    let shape = square("eigh_subset", a.shape())?;
    let n = shape.rows;
    if k > n {
        return Err(Error::shape("eigh_subset", format!("at most {n} pairs of {shape}"), k.to_string()));
    }
    let layout = Arc::new(equal_layout(ctx, shape)?);
    let indices = which.indices(k, n);
    let RaggedEigh { values, vectors, certificates, choice, .. } = T::solve(
        ctx,
        &layout,
        a.storage(),
        Request { whole: true, ..certified(ctx, Columns::At(indices.start, indices.end)) },
    )?;
    Ok(Eigh {
        values: Array::from_storage(Shape::new(k, 1, shape.batch), values).chosen(&choice),
        vectors: Array::from_storage(Shape::new(n, k, shape.batch), vectors).chosen(&choice),
        certificates,
    })
}

/// Computes [`eigh`] of f32 matrices to the accuracy of f64. The residual and the orthogonality in the certificate are
/// below 1e-12 up to order 512.
///
/// The CPU solves the matrices in f64, whichever backend is set. An alternative would be to refine the device's f32
/// eigenpairs (Ogita and Aishima 2018). It is not used, because the refinement takes as many operations as the solution
/// in f64 and fails where eigenvalues are close.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::eigh_refined;
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// let a = Array::from_vec(Shape::new(2, 2, 1), vec![1.0_f32, 1.0, 1.0, 0.0])?;
/// let values = eigh_refined(&ctx, &a)?.values.to_host(&ctx)?;
/// let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
/// assert!((values.as_slice()[1] - golden).abs() < 1e-14);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The errors of [`eigh`].
pub fn eigh_refined(ctx: &Context, a: &Array<f32>) -> Result<Eigh<f64>> {
    let wide = a.storage().to_vec(ctx)?.iter().map(|&x| x.into()).collect();
    eigh(&ctx.with_backend(Backend::Cpu), &Array::from_vec(a.shape(), wide)?)
}

/// Computes the eigenvalues only. On the CPU, the cost is less than half that of [`eigh`].
///
/// Without eigenvectors, the residuals of the eigenpairs are unknown. The CPU therefore compares the sum of the
/// computed eigenvalues l with the trace of A, and their 2-norm with the Frobenius norm of A. The two errors are
/// expressed per eigenvalue and divided by `|A|_1`: they are `|sum l - tr A| / (n |A|_1)` and
/// `||l|_2 - |A|_F| / (sqrt(n) |A|_1)`. The certificate's `residual` is the larger of the two errors, and its
/// `orthogonality` is 0. The device computes the eigenvectors and certifies them, but returns only the eigenvalues.
///
/// # Shapes
/// A is `(n, n)`, with any batch size. The eigenvalues are `(n, 1)` for each matrix.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::eigvalsh;
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// let a = Array::from_vec(Shape::new(2, 2, 1), vec![2.0_f64, 1.0, 1.0, 2.0])?;
/// let values = eigvalsh(&ctx, &a)?.values.to_host(&ctx)?;
/// assert!((values.as_slice()[0] - 1.0).abs() < 1e-14 && (values.as_slice()[1] - 3.0).abs() < 1e-14);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The errors of [`eigh`].
pub fn eigvalsh<T: Diagonalized>(ctx: &Context, a: &Array<T>) -> Result<Eigvalsh<T>> {
    let shape = square("eigvalsh", a.shape())?;
    let layout = Arc::new(equal_layout(ctx, shape)?);
    let RaggedEigh { values, certificates, choice, .. } =
        T::solve(ctx, &layout, a.storage(), Request { whole: true, ..certified(ctx, Columns::None) })?;
    Ok(Eigvalsh {
        values: Array::from_storage(Shape::new(shape.rows, 1, shape.batch), values).chosen(&choice),
        certificates,
    })
}

/// Computes [`eigh`] of matrices of unequal orders.
///
/// # Examples
/// ```
/// use fiedler::array::Ragged;
/// use fiedler::ops::eigh_ragged;
/// use fiedler::{Context, Layout};
///
/// // Matrices of orders 1 and 2, one after the other.
/// let ctx = Context::cpu();
/// let a = Ragged::from_vec(Layout::new([1, 2]), vec![7.0_f32, 2.0, 1.0, 1.0, 2.0])?;
/// let found = eigh_ragged(&ctx, &a)?.to_host(&ctx)?;
/// let second = &found.values[found.layout.rows(1)];
/// assert!((second[0] - 1.0).abs() < 1e-5 && (second[1] - 3.0).abs() < 1e-5);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// The errors of [`eigh`].
pub fn eigh_ragged<T: Diagonalized>(ctx: &Context, a: &Ragged<T>) -> Result<RaggedEigh<T>> {
    T::solve(ctx, a.layout(), a.storage(), certified(ctx, Columns::All))
}

/// Computes [`eigh_ragged`] for a caller that needs only some eigenvectors and certifies them itself. `choose` returns
/// the columns that are needed; the other columns of the result may be 0.
pub(crate) fn eigh_uncertified<T: Real>(ctx: &Context, a: &Ragged<T>, choose: Choose<'_>) -> Result<RaggedEigh<T>> {
    let request = Request { certificate: false, ..certified(ctx, Columns::Chosen(choose)) };
    solve(ctx, a.layout(), a.storage(), request)
}

impl<T: Field> Eigh<T> {
    /// Returns where the call ran, and why.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.values.choice()
    }

    /// Returns the certificate of each matrix; waits for the device.
    ///
    /// # Errors
    /// Device errors.
    pub fn certificates(&self, ctx: &Context) -> Result<Arc<Vec<Certificate>>> {
        self.certificates.read(ctx)?.wait()
    }

    /// The async version of [`Eigh::certificates`], for use where blocking is impossible.
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

impl<T: Field> RaggedEigh<T> {
    /// Returns where the call ran, and why.
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Starts copying the eigenvalues, eigenvectors and certificates to the host; does not wait.
    ///
    /// # Errors
    /// Device errors.
    pub fn read(self, ctx: &Context) -> Result<EighRead<T>> {
        Ok(EighRead {
            values: self.values.read(ctx)?,
            vectors: self.vectors.read(ctx)?,
            certificates: self.certificates.read(ctx)?,
            layout: self.layout,
        })
    }

    /// Copies the eigenvalues, eigenvectors and certificates to the host; waits for the device.
    ///
    /// # Errors
    /// Device errors.
    pub fn to_host(&self, ctx: &Context) -> Result<HostEigh<T>> {
        self.clone().read(ctx)?.wait()
    }

    /// The async version of [`RaggedEigh::to_host`], for use where blocking is impossible.
    ///
    /// # Errors
    /// Device errors.
    pub async fn to_host_async(&self, ctx: &Context) -> Result<HostEigh<T>> {
        self.clone().read(ctx)?.arrive().await
    }
}

/// A [`RaggedEigh`] on its way to the host.
#[derive(Debug)]
pub struct EighRead<T: Field> {
    layout: Arc<Layout>,
    values: Incoming<T::Real>,
    vectors: Incoming<T>,
    certificates: CertificatesRead,
}

impl<T: Field> EighRead<T> {
    /// The async version of [`EighRead::wait`], for use where blocking is impossible.
    ///
    /// # Errors
    /// Device errors.
    pub async fn arrive(self) -> Result<HostEigh<T>> {
        Ok(HostEigh {
            layout: self.layout,
            values: self.values.arrive().await?.shared(),
            vectors: self.vectors.arrive().await?.shared(),
            certificates: self.certificates.arrive().await?,
        })
    }

    /// Waits until everything is on the host.
    ///
    /// # Errors
    /// Device errors.
    pub fn wait(self) -> Result<HostEigh<T>> {
        Ok(HostEigh {
            layout: self.layout,
            values: self.values.wait()?.shared(),
            vectors: self.vectors.wait()?.shared(),
            certificates: self.certificates.wait()?,
        })
    }
}

fn square(operation: &'static str, shape: Shape) -> Result<Shape> {
    if shape.rows == shape.cols {
        return Ok(shape);
    }
    Err(Error::shape(operation, "square matrices", shape.to_string()))
}

/// The number of bytes stored for each matrix regardless of its order: its offset and its certificate.
const BOOKKEEPING: u64 = 64;

fn equal_layout(ctx: &Context, shape: Shape) -> Result<Layout> {
    // Elements are already in memory, so only matrices of order 0, which have no elements, can be too numerous.
    let needed = BOOKKEEPING.saturating_mul(shape.batch as u64);
    if shape.is_empty() && needed > ctx.memory_budget() {
        let what = "bytes for the certificates of empty matrices";
        return Err(Error::budget(what, needed, ctx.memory_budget()));
    }
    let order =
        u32::try_from(shape.rows).map_err(|_| Error::shape("eigh", "an order below 2^32", shape.to_string()))?;
    Ok(Layout::new(std::iter::repeat_n(order, shape.batch)))
}

/// Returns the request for the given columns of a ragged batch and for their certificate.
fn certified<'a>(ctx: &'a Context, columns: Columns<'a>) -> Request<'a> {
    Request { columns, certificate: true, whole: false, cancel: ctx.cancel() }
}

fn solve<T: Real>(ctx: &Context, layout: &Arc<Layout>, a: &Storage<T>, request: Request<'_>) -> Result<RaggedEigh<T>> {
    let resident = matches!(a, Storage::Device(_));
    let family = if request.columns.is_none() { Family::Eigvalsh } else { Family::Eigh };
    let task = Task::of::<T>(family, layout.orders(), resident);
    let on_cpu = || Ok(on_cpu(ctx, layout, &a.to_vec(ctx)?, request));
    let (Solved { values, vectors, certificates }, choice) =
        task.run(ctx, on_cpu, |gpu| batches::solve(ctx, gpu, layout, a, request))?;
    Ok(RaggedEigh { layout: Arc::clone(layout), values, vectors, certificates, choice })
}

fn on_cpu<T: Real>(ctx: &Context, layout: &Layout, a: &[T], request: Request<'_>) -> Solved<T> {
    let cpu::Found { mut values, mut vectors, certificates } = cpu::eigh(ctx, layout, a, request);
    (values, vectors) = kept(layout, values, vectors, request.columns);
    Solved {
        values: Storage::host(values),
        vectors: Storage::host_from(ctx, vectors),
        certificates: Certificates::Host(Arc::new(certificates)),
    }
}

/// Returns what is left of all eigenvalues and eigenvectors if columns of matrices of one order are wanted.
fn kept<R: Real, T: Field>(layout: &Layout, values: Vec<R>, vectors: Vec<T>, columns: Columns<'_>) -> (Vec<R>, Vec<T>) {
    let Columns::At(first, end) = columns else { return (values, vectors) };
    let n = layout.largest() as usize;
    (parts(&values, n, first..end), parts(&vectors, n * n, first * n..end * n))
}

/// Splits `all` into runs of `own` consecutive elements, and copies the elements in `range` of each run.
fn parts<T: Field>(all: &[T], own: usize, range: Range<usize>) -> Vec<T> {
    all.chunks_exact(own.max(1)).flat_map(|own| &own[range.clone()]).copied().collect()
}
