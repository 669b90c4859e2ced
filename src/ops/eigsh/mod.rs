//! A few eigenpairs of large sparse symmetric matrices.
//!
//! What a matrix is here is an [`Operator`]: Laplacians that are never written out, and any sparse symmetric
//! matrix. Null vectors that are known in advance, one for each connected component of a Laplacian, are taken out exactly and
//! handed back as they are; everything else is iterated from a random start.

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
mod methods;
mod options;
mod ritz;
mod solve;
mod solved;
mod space;
mod subspace;
mod sums;

pub use options::{EigshMethod, EigshOptions};
pub use solve::choose_eigsh;
pub(crate) use solve::solve_each;
pub(crate) use solved::{Solved, Wanted};

use crate::array::Real;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::PARALLEL;
use crate::ops::eigen::Which;
use crate::ops::sparse::Operator;
use crate::ops::{Certificate, Status};
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
    /// `k` eigenvalues, ascending.
    pub values: Vec<T>,
    /// `(n, k)`: unit 2-norm columns.
    pub vectors: DMatrix<T>,
    /// Of each pair, `|A v - l v|_2 / |A|_1`, measured in f64 on what is given.
    pub residuals: Vec<f64>,
    /// Of each pair: NotConverged where its residual is beyond the tolerance, Unresolved where its residual or the working
    /// precision does not tell its value from 0 (a null vector that is known in advance is exactly that), else Converged.
    pub statuses: Vec<Status>,
    /// Of all pairs together: the worst of each.
    pub certificate: Certificate,
    /// Dimension of the null space that was known in advance: a Laplacian's connected components.
    pub null_space: usize,
    /// How it was found.
    pub method: EigshMethod,
    /// Products of A with the block.
    pub products: usize,
    /// Rayleigh-Ritz steps, or restarts.
    pub restarts: usize,
    /// Where it was computed, and why.
    pub choice: Choice,
}

/// The `k` smallest or largest eigenvalues (ascending) of a sparse symmetric matrix, and their vectors.
///
/// The default method is Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006), or whatever else is
/// predicted to be faster; see [`EigshMethod`]. It computes in `T`; f64 begins in f32 and ends in f64. With [`EigshOptions::sigma`] the
/// pairs are those nearest a number.
///
/// # Shapes
/// `a` has one problem of order n; values `k`, vectors `(n, k)`.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if there are not `k` pairs, or more than one problem; [`Domain`](crate::ErrorKind::Domain)
/// for a tolerance that is not positive, or a method that cannot do what is asked; [`Limit`](crate::ErrorKind::Limit) where the
/// block would not fit into the memory budget; device errors.
///
/// ```
/// use fiedler::{Context, graph::{Conventions, Graph}, ops::{EigshOptions, Normalization, Which, eigsh, sparse::Operator}};
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
    which: Which,
    options: &EigshOptions,
) -> Result<Eigsh<T>> {
    if a.problems() != 1 || k > a.rows() {
        let expected = format!("one matrix, and at most {} pairs", a.rows());
        return Err(Error::shape("eigsh", expected, format!("{} matrices, k = {k}", a.problems())));
    }
    options.check()?;
    let n = a.rows();
    let (Found { known, solved, pairs }, choice) = match options.sigma {
        Some(sigma) => (around(ctx, a, (sigma, k), options)?, solve::on_the_host(ctx, a, k)),
        None => at_an_end(ctx, a, k, which, options)?,
    };
    let values: Vec<T> = pairs.iter().map(|(value, _)| T::from_f64(*value)).collect();
    let vectors = DMatrix::from_iterator(n, k, pairs.iter().flat_map(|(_, v)| v.iter().map(|&x| T::from_f64(x))));
    let norm = if a.bounds(0).norm > 0.0 { a.bounds(0).norm } else { 1.0 };
    let residuals: Vec<f64> = a.residuals(&values, vectors.as_slice()).into_iter().map(|r| r / norm).collect();
    let allowed = options.tolerance_in::<T>();
    let floor = 16.0 * T::EPSILON;
    let statuses: Vec<Status> = (0..k)
        .map(|j| {
            let is_known = known.contains(&j);
            let value = values[j].to_f64();
            // Written so that NaN is not Converged.
            match residuals[j] <= allowed {
                false => Status::NotConverged,
                // A residual of nothing at all is an exact pair.
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
        null_space: a.null.len(),
        method: solved.method,
        products: solved.products,
        restarts: solved.restarts,
        choice: *choice,
    })
}

/// A pair in f64.
type Pair = (f64, Vec<f64>);

/// Pairs, ascending; where among them those of the known null space are, and how the others were found.
struct Found {
    known: Range<usize>,
    solved: Solved,
    pairs: Vec<Pair>,
}

/// The pairs at an end of the spectrum, and where they were computed.
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
        // The null space is the smallest end: of it is handed out what is left when everything else is.
        Which::Largest => k.saturating_sub(n - a.null.len()),
    };
    let wanted = Wanted { count: k - known, most: k, which, separate: false };
    let (mut solved, choice) = solve_each(ctx, a, &[wanted], options, &[])?;
    let solved = solved.remove(0);
    let mut pairs: Vec<Pair> = (0..known).map(|component| (0.0, a.null.vector(component))).collect();
    let found = solved.values.iter().zip(solved.vectors.chunks_exact(n.max(1)));
    pairs.extend(found.take(k - known).map(|(&value, vector)| (value, vector.to_vec())));
    // Ascending: the null space is the smallest end of a Laplacian, and pairs come from the wanted end inward.
    if which == Which::Largest {
        pairs[known..].reverse();
    }
    Ok((Found { known: 0..known, solved, pairs }, choice))
}

/// The pairs nearest a number, as [`at_an_end`]. On the CPU, in f64.
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
            format!("found {} of the {k} pairs nearest {sigma}; try another sigma, or --method dense", pairs.len());
        return Err(Error::domain("eigsh", what));
    }
    pairs.sort_by(|x, y| x.1.0.total_cmp(&y.1.0));
    let first = pairs.iter().position(|(known, _)| *known).unwrap_or(0);
    let known = first..first + pairs.iter().filter(|(known, _)| *known).count();
    let solved = Solved {
        values: Vec::new(),
        vectors: Vec::new(),
        residuals: Vec::new(),
        reached: true,
        next: None,
        method: EigshMethod::ShiftInvert,
        products: found.products,
        restarts: found.restarts,
    };
    Ok(Found { known, solved, pairs: pairs.into_iter().map(|(_, pair)| pair).collect() })
}

/// `max |V'V - I|`, in f64.
fn orthogonality<T: Real>(vectors: &DMatrix<T>) -> f64 {
    let (n, k) = vectors.shape();
    let wide = T::all_to_f64(vectors.as_slice());
    let wide = MatRef::from_column_major_slice(&wide, n, k);
    let mut gram = Mat::<f64>::zeros(k, k);
    matmul(gram.as_mut(), Accum::Replace, wide.transpose(), wide, 1.0, PARALLEL);
    let away = |(i, j): (usize, usize)| (gram[(i, j)] - f64::from(u8::from(i == j))).abs();
    (0..k)
        .flat_map(|j| (0..k).map(move |i| (i, j)))
        .map(away)
        .fold(0.0, |m: f64, x| if x.is_nan() || x > m { x } else { m })
}
