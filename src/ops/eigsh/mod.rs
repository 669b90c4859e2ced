//! A few eigenpairs of large sparse symmetric matrices.
//!
//! A matrix is given as an [`Operator`]: a Laplacian that is never formed, or any sparse symmetric matrix. Some
//! null vectors are known in advance: a Laplacian has one for each connected component of its graph. They are
//! projected out of every block and returned unchanged. All other pairs are computed from random start vectors.
//!
//! `solve` chooses the side. On the device it iterates all problems of a batch together. `methods` solves one problem
//! on the CPU by a given method. A matrix is decomposed densely (`dense`) if it is small, or if the block would have
//! more than a third as many columns as the matrix. Otherwise `auto` chooses between shift-invert and the Chebyshev
//! filter (`chebyshev`) by their predicted times, and falls back on the next method if the first fails. Shift-invert
//! (`cpu/shift_invert`) is `lanczos` with faer's sparse Cholesky factor, in f64. It is faster only if the factor has
//! few entries, which requires that the graph has small separators (`cpu/fill`). `cpu/nearest` finds the pairs nearest
//! to a given number.
//!
//! The block iterations (`chebyshev` and `subspace`) work on a `Space`, which holds the blocks of vectors of one
//! problem on the CPU (`cpu`) or of a batch of problems on the device (`gpu`). The problems of a batch share dispatches
//! and nothing else: each has its own polynomial, restarts (Rayleigh-Ritz steps) and deflations. The number of columns
//! of a block is computed from the number of wanted pairs. On the CPU, an f64 iteration begins in f32 and ends in f64.
//! A pair has converged if its residual is at most the tolerance, which is relative to the norm of the matrix. If a
//! thousandth of the last wanted eigenvalue is less than the tolerance, the residual must be smaller: at most a
//! thousandth of that eigenvalue or a tenth of the tolerance, whichever is larger. A pair is Unresolved if its residual
//! does not distinguish its eigenvalue from 0. For encodings (`Wanted::separate`), an f64 iteration continues until
//! each residual is also small compared with the distance to the next eigenvalue.

mod auto;
mod basis;
mod budget;
mod chebyshev;
mod cpu;
mod deflation;
mod dense;
mod gpu;
pub(super) mod kernels;
mod lanczos;
mod map;
mod methods;
mod options;
mod ritz;
mod selection;
mod solve;
mod solved;
mod space;
mod subspace;
mod sums;

pub use map::eigsh_map;
pub use options::{EigshMethod, EigshOptions};
pub use selection::Selection;
pub use solve::choose_eigsh;
pub(crate) use solve::solve_each;
pub(crate) use solved::{Solved, Wanted};

use crate::array::Real;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::eigen::Which;
use crate::ops::sparse::Operator;
use crate::ops::sparse::scale::times_power;
use crate::ops::{Certificate, Status};
use crate::parallel;
use crate::policy::Choice;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef};
use nalgebra::DMatrix;
use std::ops::Range;
use std::sync::Arc;

/// k eigenpairs of a sparse symmetric matrix, on the host.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Eigsh<T> {
    /// The `k` eigenvalues, ascending.
    pub values: Vec<T>,
    /// The eigenvectors, `(n, k)`. Each column has unit 2-norm.
    pub vectors: DMatrix<T>,
    /// `|A v - l v|_2 / |A|_1` of each eigenvalue `l` and its eigenvector `v`, measured in f64 on the returned
    /// pair.
    pub residuals: Vec<f64>,
    /// The status of each pair. It is NotConverged if the residual exceeds the tolerance. Otherwise, it is
    /// Unresolved if the residual or the working precision does not distinguish the eigenvalue from 0. All other
    /// pairs are Converged. The null vectors that are known in advance are never Unresolved, because their
    /// eigenvalue is exactly 0.
    pub statuses: Vec<Status>,
    /// The certificate of all pairs together: the first status that is not Converged (if any), the largest
    /// residual, and the largest departure from orthogonality.
    pub certificate: Certificate,
    /// The dimension of the null space that was known in advance: for a Laplacian, the number of connected
    /// components.
    pub null_space: usize,
    /// The method that found the pairs.
    pub method: EigshMethod,
    /// The number of products of A with the block. For Lanczos and shift-invert, it is the number of products of A,
    /// or of the inverse, with one vector.
    pub products: usize,
    /// The number of Rayleigh-Ritz steps, or of Lanczos restarts.
    pub restarts: usize,
    /// The side on which the pairs were computed, and why.
    pub choice: Choice,
}

/// Computes the `k` smallest or largest eigenvalues (ascending) of a sparse symmetric matrix, or others that a
/// [`Selection`] names, and their eigenvectors.
///
/// The default method is Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006). If another
/// method is predicted to be faster, that method is used; see [`EigshMethod`]. The precision is that of `T`; if
/// `T` is f64, an iteration begins in f32 and ends in f64. If [`EigshOptions::sigma`] is set, the function ignores
/// `which` and finds the pairs whose eigenvalues are nearest to that number.
///
/// A matrix whose norm is not from 2^-32 to 2^32 is divided by a power of two, which changes no digit of the results.
///
/// # Shapes
/// `a` has one problem of order n. The result has `k` eigenvalues, and eigenvectors of shape `(n, k)`.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the order of `a` is less than `k`, or `a` has more than one problem;
/// [`Domain`](crate::ErrorKind::Domain) for a tolerance that is not positive, or a method that does not support
/// the request; [`Limit`](crate::ErrorKind::Limit) if the block does not fit into the memory budget; device
/// errors.
///
/// ```
/// use fiedler::graph::{Conventions, Graph};
/// use fiedler::ops::sparse::Operator;
/// use fiedler::ops::{EigshOptions, Normalization, Which, eigsh};
/// use fiedler::Context;
///
/// let ring: Vec<(u32, u32)> = (0..1000).map(|i| (i, (i + 1) % 1000)).collect();
/// let ring = Graph::from_edges(1000, &ring, &Conventions::default())?;
/// let laplacian = Operator::<f64>::laplacian(ring.view(), Normalization::Combinatorial)?;
/// let found = eigsh(&Context::cpu(), &laplacian, 3, Which::Smallest, &EigshOptions::default())?;
/// let second = 2.0 - 2.0 * (std::f64::consts::TAU / 1000.0).cos();
/// assert!(found.values[0] == 0.0 && (found.values[1] - second).abs() < 1e-9);
/// # Ok::<(), fiedler::Error>(())
/// ```
pub fn eigsh<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    k: usize,
    which: impl Into<Selection>,
    options: &EigshOptions,
) -> Result<Eigsh<T>> {
    if a.problems() != 1 || k > a.rows() {
        let expected = format!("one matrix, and at most {} pairs", a.rows());
        return Err(Error::shape("eigsh", expected, format!("{} matrices, k = {k}", a.problems())));
    }
    options.check()?;
    match a.level() {
        0 => scaled(ctx, a, k, which.into(), options),
        level => {
            let sigma = options.sigma.map(|sigma| times_power(sigma, -level).clamp(-f64::MAX, f64::MAX));
            let mut found = scaled(ctx, &a.divided(level), k, which.into(), &EigshOptions { sigma, ..*options })?;
            found.values.iter_mut().for_each(|value| *value = T::from_f64(times_power(value.to_f64(), level)));
            Ok(found)
        }
    }
}

/// Computes pairs of a matrix whose norm is not far from 1.
fn scaled<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    k: usize,
    selection: Selection,
    options: &EigshOptions,
) -> Result<Eigsh<T>> {
    let (bounds, allowed) = (a.bounds(0), options.tolerance_in::<T>());
    let mut choice = None;
    let mut at = |which, k| {
        let (found, chosen) = at_an_end(ctx, a, k, which, options)?;
        choice = Some(chosen);
        Ok(found)
    };
    let found = match (options.sigma, selection.within(bounds)) {
        (Some(sigma), _) => around(ctx, a, (sigma, k), options)?,
        (None, Selection::SmallestMagnitude) => around(ctx, a, (0.0, k), options)?,
        (None, selection) => selection.of((a.rows(), k), allowed * bounds.norm, &mut at)?,
    };
    let choice = choice.unwrap_or_else(|| solve::on_the_host(ctx, a, k));
    certified(found, (a.rows(), bounds.norm, allowed), a.null.len(), &choice, |values: &[T], vectors: &[T]| {
        Ok(a.residuals(values, vectors))
    })
}

/// Returns the result with the certificates of its pairs. `residuals` measures `|A v - l v|_2` of eigenvalues and
/// column-major eigenvectors. The matrix has the order `n` and the norm `norm`; `allowed` is the tolerance.
fn certified<T: Real>(
    Found { known, solved, pairs }: Found,
    (n, norm, allowed): (usize, f64, f64),
    null_space: usize,
    choice: &Choice,
    residuals: impl Fn(&[T], &[T]) -> Result<Vec<f64>>,
) -> Result<Eigsh<T>> {
    let k = pairs.len();
    let values: Vec<T> = pairs.iter().map(|(value, _)| T::from_f64(*value)).collect();
    let vectors = DMatrix::from_iterator(n, k, pairs.iter().flat_map(|(_, v)| v.iter().map(|&x| T::from_f64(x))));
    let norm = if norm > 0.0 { norm } else { 1.0 };
    let residuals: Vec<f64> = residuals(&values, vectors.as_slice())?.into_iter().map(|r| r / norm).collect();
    let floor = 16.0 * T::EPSILON;
    // Searches that ran out of products may have missed a pair, so that those behind it are not the wanted ones.
    let searched = matches!(solved.method, EigshMethod::Lanczos | EigshMethod::ShiftInvert);
    let complete = solved.reached || !searched;
    let statuses: Vec<Status> = (0..k)
        .map(|j| {
            let is_known = known.contains(&j);
            let value = values[j].to_f64();
            // If the residual is NaN, this comparison is false and the pair is NotConverged.
            match residuals[j] <= allowed && (complete || is_known) {
                false => Status::NotConverged,
                // A pair with a residual of exactly 0 is exact, so it is never Unresolved.
                true if !is_known && residuals[j] > 0.0 && value.abs() <= (floor * norm).max(residuals[j] * norm) => {
                    Status::Unresolved
                }
                true => Status::Converged,
            }
        })
        .collect();
    let worst = |x: &[f64]| x.iter().fold(0.0, |m: f64, &x| if x.is_nan() || x > m { x } else { m });
    let status = statuses.iter().copied().find(|&s| s != Status::Converged).unwrap_or_default();
    let certificate =
        Certificate { status, sweeps: 0, residual: worst(&residuals), orthogonality: orthogonality(&vectors) };
    Ok(Eigsh {
        values,
        vectors,
        residuals,
        statuses,
        certificate,
        null_space,
        method: solved.method,
        products: solved.products,
        restarts: solved.restarts,
        choice: *choice,
    })
}

/// An eigenvalue and its eigenvector, in f64.
type Pair = (f64, Vec<f64>);

/// The pairs in ascending order, the indices of the known null vectors among them (`known`), and how the other
/// pairs were found (`solved`).
struct Found {
    known: Range<usize>,
    solved: Solved,
    pairs: Vec<Pair>,
}

/// Computes the smallest or largest pairs. Also returns the choice of side.
fn at_an_end<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    k: usize,
    which: Which,
    options: &EigshOptions,
) -> Result<(Found, Arc<Choice>)> {
    let n = a.rows();
    let known = match which {
        Which::Smallest => a.null.len().min(k),
        // The null vectors have the smallest eigenvalues, so they are returned only if `k` exceeds the number of
        // all other pairs.
        Which::Largest => k.saturating_sub(n - a.null.len()),
    };
    let wanted = Wanted { count: k - known, most: k, which, separate: false };
    let (mut solved, choice) = solve_each(ctx, a, &[wanted], options, &[])?;
    let solved = solved.remove(0);
    let mut pairs: Vec<Pair> = (0..known).map(|component| (0.0, a.null.vector(component))).collect();
    let found = solved.values.iter().zip(solved.vectors.chunks_exact(n.max(1)));
    pairs.extend(found.take(k - known).map(|(&value, vector)| (value, vector.to_vec())));
    // The result must be ascending. The null vectors already come first, because they have the smallest
    // eigenvalues. The other pairs are ordered from the wanted end of the spectrum. If the largest are wanted, they
    // are therefore descending.
    if which == Which::Largest {
        pairs[known..].reverse();
    }
    Ok((Found { known: 0..known, solved, pairs }, choice))
}

/// Computes the pairs nearest to sigma on the CPU, in f64.
fn around<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    (sigma, k): (f64, usize),
    options: &EigshOptions,
) -> Result<Found> {
    let wide = a.widened();
    let (n, null) = (a.rows(), a.null.len());
    let target = (options.tolerance_in::<T>(), options.seed);
    let (found, vectors) = cpu::nearest::nearest(ctx, &wide, (sigma, k.min(n - null)), target)?;
    let own = found.values.iter().copied().zip(vectors.chunks_exact(n.max(1)).map(<[f64]>::to_vec));
    let mut pairs: Vec<(bool, Pair)> = own.map(|pair| (false, pair)).collect();
    pairs.extend((0..null.min(k)).map(|component| (true, (0.0, wide.null.vector(component)))));
    pairs.sort_by(|x, y| (x.1.0 - sigma).abs().total_cmp(&(y.1.0 - sigma).abs()));
    pairs.truncate(k);
    if pairs.len() < k {
        let what =
            format!("found {} of the {k} pairs nearest to sigma; try another sigma, or --method dense", pairs.len());
        return Err(Error::domain("eigsh", what));
    }
    pairs.sort_by(|x, y| x.1.0.total_cmp(&y.1.0));
    let first = pairs.iter().position(|(known, _)| *known).unwrap_or(0);
    let known = first..first + pairs.iter().filter(|(known, _)| *known).count();
    let solved = Solved {
        values: Vec::new(),
        vectors: Vec::new(),
        residuals: Vec::new(),
        reached: found.apart,
        next: None,
        method: EigshMethod::ShiftInvert,
        products: found.products,
        restarts: found.restarts,
    };
    Ok(Found { known, solved, pairs: pairs.into_iter().map(|(_, pair)| pair).collect() })
}

/// Computes `max |V'V - I|` in f64, where V has the given columns.
fn orthogonality<T: Real>(vectors: &DMatrix<T>) -> f64 {
    let (n, k) = vectors.shape();
    let wide = T::all_to_f64(vectors.as_slice());
    let wide = MatRef::from_column_major_slice(&wide, n, k);
    let mut gram = Mat::<f64>::zeros(k, k);
    matmul(gram.as_mut(), Accum::Replace, wide.transpose(), wide, 1.0, parallel::in_eight());
    let away = |(i, j): (usize, usize)| (gram[(i, j)] - f64::from(u8::from(i == j))).abs();
    (0..k)
        .flat_map(|j| (0..k).map(move |i| (i, j)))
        .map(away)
        .fold(0.0, |m: f64, x| if x.is_nan() || x > m { x } else { m })
}
