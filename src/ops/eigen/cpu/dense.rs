//! Solves one matrix at a time. Each matrix is reduced to tridiagonal form by `householder`. In f32, `ops::twisted`
//! then computes all eigenvectors of the tridiagonal matrix if its eigenvalues are distinct enough. Otherwise, faer's
//! divide and conquer computes all eigenvectors, or inverse iteration computes a few eigenvectors, or the QL iteration
//! computes only the eigenvalues. `finish` transforms the eigenvectors back and measures them.

use super::finish::finish;
use super::householder::{Reduce, Reduction};
use super::inverse_iteration::eigenvectors;
use super::root_free;
use super::values_only::Values;
use super::{Columns, Matrix, Request, power_of_two_near};
use crate::array::Real;
use crate::lanes::SimdScalar;
use crate::ops::reflectors::Reflectors;
use crate::ops::twisted::{self, Tridiagonal};
use crate::parallel;
use faer::diag::{Diag, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{
    ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::{Auto, Mat, Par, Spec};
use std::borrow::Cow;
use std::ops::Range;

/// The minimum order at which all threads work together on one matrix.
const PARALLEL_FROM: usize = 512;
/// If at most one in `FEW` eigenvectors is wanted, inverse iteration is faster than divide and conquer.
const FEW: usize = 8;

/// The minimum order at which all eigenvectors in f32 are computed by twisted factorizations if possible. Divide and
/// conquer takes 1.05 times as long at n = 32, 2.7 times at n = 64, and 8 times at n = 256 (2026-11-24).
const TWISTED_FROM: usize = 32;

/// The largest number of tridiagonal matrices whose eigenvalues are computed one matrix at a time. A step of a sweep
/// takes 30 cycles for one matrix, and 80 for the matrices of all lanes (2026-11-29).
const APART: usize = 3;

/// The maximum number of elements, in total, of the matrices that are reduced together. The eigenvalues of these
/// matrices are then computed side by side.
const WAITING: usize = 1 << 23;

/// Solves each matrix separately. `matrices` must be sorted by order.
pub(super) fn eigh<T: Real>(matrices: &mut [Matrix<'_, T>], request: Request<'_>) {
    if matches!(request.columns, Columns::All) {
        parallel::for_each(matrices.iter_mut().rev(), |_, m| {
            if request.cancel.is_cancelled() {
                return;
            }
            let prepared = Prepared::new(m, true);
            let values = prepared.as_ref().and_then(|p| p.reduced.all(m.vectors, p.par));
            let pairs = values.map(|values| Pairs { columns: 0..values.len(), values });
            finish(m, prepared.as_ref(), pairs, request);
        });
        return;
    }
    let mut rest = matrices;
    while let Some(last) = rest.last() {
        if request.cancel.is_cancelled() {
            return;
        }
        let together = (WAITING / (last.order * last.order)).clamp(1, rest.len());
        let (before, now) = rest.split_at_mut(rest.len() - together);
        rest = before;
        let vectors = !request.columns.is_none();
        let prepared: Vec<Option<Prepared<T>>> = parallel::map(now.iter().rev(), |_, m| Prepared::new(m, vectors));
        // The eigenvalues are computed in f64 even if T is f32. In f32, the error of the QL iteration at n = 300 is 20
        // eps |A|, ten times the error of the reduction, and f32 saves only a tenth of the time (2026-11-22). Matrices
        // that are solved one per lane stay in f32, because their whole solution would take 2.3 to 2.6 times as long in
        // f64.
        let systems: Vec<_> = prepared.iter().flatten().map(|p| p.reduced.tridiagonal()).collect();
        let systems: Vec<_> =
            systems.iter().map(|(diagonal, off_diagonal)| (&diagonal[..], &off_diagonal[..])).collect();
        let values = if systems.len() <= APART {
            parallel::map(systems, |_, (diagonal, off_diagonal)| root_free::eigenvalues(diagonal, off_diagonal))
        } else {
            f64::in_lanes(Values(&systems))
        };
        let mut values = values.into_iter();
        let narrow = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect();
        let values: Vec<Option<Vec<T>>> =
            prepared.iter().map(|p| p.as_ref().and_then(|_| values.next().flatten()).map(narrow)).collect();
        let parts = now.iter_mut().rev().zip(&prepared).zip(values);
        parallel::for_each(parts, |_, ((m, prepared), values)| {
            let pairs = prepared.as_ref().zip(values).and_then(|(p, values)| p.pairs(m, values, request.columns));
            finish(m, prepared.as_ref(), pairs, request);
        });
    }
}

/// A finite matrix, scaled by a power of two so that squares neither overflow nor underflow, and its reduction to
/// tridiagonal form.
pub(super) struct Prepared<T> {
    pub(super) matrix: Mat<T>,
    pub(super) scale: f64,
    pub(super) reduced: Reduced<T>,
    pub(super) par: Par,
}

impl<T: Real> Prepared<T> {
    fn new(m: &Matrix<'_, T>, vectors: bool) -> Option<Self> {
        let n = m.order;
        // The bits of floating-point magnitudes have the same order as the magnitudes, with infinity and NaN above all
        // others.
        let lower = (0..n).flat_map(|j| &m.elements[j * n + j..(j + 1) * n]);
        let peak = f64::from_bits(lower.map(|x| x.to_f64().abs().to_bits()).max().unwrap_or(0));
        if !peak.is_finite() {
            return None;
        }
        let scale = power_of_two_near(peak).clamp(T::SMALLEST, 0.25 / T::SMALLEST);
        let inverse = T::from_f64(1.0 / scale);
        let matrix = mirrored(m.elements, n, inverse);
        let par = if n < PARALLEL_FROM { Par::Seq } else { parallel::in_eight() };
        let reduced = Reduced::new(&matrix, vectors, par);
        Some(Self { matrix, scale, reduced, par })
    }

    /// Computes the requested eigenvectors of T, given the eigenvalues, and writes them to `m`.
    fn pairs(&self, m: &mut Matrix<'_, T>, values: Vec<T>, columns: Columns<'_>) -> Option<Pairs<T>> {
        if columns.is_none() {
            return Some(Pairs { values, columns: 0..0 });
        }
        let columns = columns.of(m.index, values.iter().map(|x| x.to_f64()));
        let own = columns.start * m.order..columns.end * m.order;
        if columns.len() <= values.len() / FEW
            && self.reduced.subset(&values[columns.clone()], &mut m.vectors[own.clone()]).is_some()
        {
            return Some(Pairs { values, columns });
        }
        let values = self.reduced.all(m.vectors, self.par)?;
        m.vectors[..own.start].fill(T::from_f64(0.0));
        m.vectors[own.end..].fill(T::from_f64(0.0));
        Some(Pairs { values, columns })
    }
}

/// The eigenvalues in ascending order, and the range of the requested columns. The eigenvectors of T in these columns
/// are stored where those of A will be.
pub(super) struct Pairs<T> {
    pub(super) values: Vec<T>,
    pub(super) columns: Range<usize>,
}

/// The reduction `A = Q T Q'`, where T is tridiagonal and Q is a sequence of reflectors.
pub(super) struct Reduced<T> {
    pub(super) q: Reflectors<T>,
    diagonal: Vec<T>,
    off_diagonal: Vec<T>,
}

impl<T: Real> Reduced<T> {
    /// Reduces a matrix. Without `vectors`, Q is not prepared for products.
    fn new(matrix: &Mat<T>, vectors: bool, par: Par) -> Self {
        let Reduction { reflectors, tau, diagonal, off_diagonal } = T::in_lanes(Reduce(matrix.as_ref()));
        let count = if vectors { matrix.nrows() - 1 } else { 0 };
        Self { q: Reflectors::new(reflectors, &tau[..count], 1, par), diagonal, off_diagonal }
    }

    /// Returns the diagonal and the off-diagonal elements of T, in f64.
    fn tridiagonal(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        (T::all_to_f64(&self.diagonal), T::all_to_f64(&self.off_diagonal))
    }

    /// Computes all eigenpairs of T, and writes the vectors to `to`.
    fn all(&self, to: &mut [T], par: Par) -> Option<Vec<T>> {
        let t = self.tridiagonal();
        let t = Tridiagonal { diagonal: &t.0, off_diagonal: &t.1 };
        let n = t.diagonal.len();
        let twisted = T::EPSILON > f64::EPSILON && n >= TWISTED_FROM;
        let values = match twisted.then(|| twisted::eigenpairs(t, 0..n, to)).flatten() {
            Some(values) => values,
            None => divide_and_conquer(t, to, par)?,
        };
        Some(values.into_iter().map(T::from_f64).collect())
    }

    /// Computes the eigenvectors of T with the eigenvalues `values`, and writes them to `to`.
    fn subset(&self, values: &[T], to: &mut [T]) -> Option<()> {
        let t = self.tridiagonal();
        let t = Tridiagonal { diagonal: &t.0, off_diagonal: &t.1 };
        // The tolerance is a quarter of n eps, and at least 8 eps. It must be above the errors of the eigenvalues,
        // which are a few eps, and well below the promised limit of 10 n eps.
        #[expect(clippy::cast_precision_loss, reason = "an order")]
        let tolerance = T::EPSILON * (0.25 * t.diagonal.len() as f64).max(8.0);
        let found = eigenvectors(t, &T::all_to_f64(values), tolerance)?;
        to.iter_mut().zip(&found).for_each(|(to, x)| *to = T::from_f64(*x));
        Some(())
    }
}

/// Computes all eigenpairs of T by divide and conquer in f64, and writes the vectors to `to`. In f32, the residuals of
/// the eigenvectors would be 3 to 5 times those of LAPACK (n = 150 to 500, 2026-11-23).
fn divide_and_conquer<T: Real>(t: Tridiagonal<'_>, to: &mut [T], par: Par) -> Option<Vec<f64>> {
    let n = t.diagonal.len();
    let mut memory =
        MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, Default::default()));
    let mut values = Diag::zeros(n);
    let mut vectors = Mat::zeros(n, n);
    let params = Spec::new(<SelfAdjointEvdParams as Auto<f64>>::auto());
    let (diagonal, off_diagonal) = (DiagRef::from_slice(t.diagonal), DiagRef::from_slice(t.off_diagonal));
    let (into, stack) = (Some(vectors.as_mut()), MemStack::new(&mut memory));
    tridiagonal_self_adjoint_evd(diagonal, off_diagonal, values.as_mut(), into, par, stack, params).ok()?;
    for (to, from) in to.chunks_exact_mut(n).zip(vectors.col_iter()) {
        to.iter_mut().zip(from.iter()).for_each(|(to, x)| *to = T::from_f64(*x));
    }
    Some(values.column_vector().iter().copied().collect())
}

/// Returns the symmetric matrix with the given lower triangle, multiplied by `scale`, a power of two. Each element is
/// also written to its mirrored position in the upper triangle, where consecutive elements go to different columns. The
/// matrix is therefore copied tile by tile, so that the cache lines of a tile are reused.
fn mirrored<T: Real>(lower: &[T], n: usize, scale: T) -> Mat<T> {
    const TILE: usize = 32;
    let mut out = Mat::zeros(n, n);
    for left in (0..n).step_by(TILE) {
        for top in (left..n).step_by(TILE) {
            for j in left..(left + TILE).min(n) {
                for i in top.max(j)..(top + TILE).min(n) {
                    let x = lower[i + j * n] * scale;
                    (out[(i, j)], out[(j, i)]) = (x, x);
                }
            }
        }
    }
    out
}
