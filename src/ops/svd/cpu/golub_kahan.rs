//! Decomposes a tall f32 matrix whose singular values are distinct.
//!
//! The matrix is reduced to a bidiagonal matrix. The Golub-Kahan form of that matrix is a symmetric tridiagonal matrix
//! with zeros on its diagonal, whose positive eigenvalues are the singular values. The elements of its eigenvectors are
//! in turn those of the right and of the left singular vectors (Golub and Kahan, Calculating the singular values and
//! pseudo-inverse of a matrix, SIAM J. Numer. Anal. 2, 1965).

use super::Working;
use super::bidiagonal::{Bidiagonal, Bidiagonalize};
use super::dense::{Factors, certificate, order};
use crate::ops::certificate::Certificate;
use crate::ops::columns::{nan_max, normalize, product, sum};
use crate::ops::reflectors::Reflectors;
use crate::ops::twisted::{self, Tridiagonal};
use crate::parallel;
use faer::{Mat, MatMut, Par};
use std::borrow::Cow;

/// The minimum order at which this method is used. At n = 23, divide and conquer with refinement takes 83 us, and at
/// n = 24, this method takes 92 us (2026-11-24).
pub(super) const FROM: usize = 24;
/// The number of columns that one thread transforms and measures at a time.
const PANEL: usize = 64;
/// A matrix that has more rows for each column than this is first reduced to a triangle, because its reduction to
/// bidiagonal form would take more operations than that of the triangle (LAPACK's xGESDD: 11 / 6).
const TALL: [usize; 2] = [11, 6];

/// Decomposes B, with as many columns of P as of Q, and certifies the result. Returns `None` if the singular values are
/// not distinct enough, or if the smallest is not large enough compared with f32's rounding error.
pub(super) fn decompose<F: Working>(b: &Mat<F>, par: Par) -> Option<(Certificate, Factors<F>)> {
    let (long, short) = b.shape();
    let triangle = (long * TALL[1] > short * TALL[0]).then(|| Reflectors::of_columns(b.clone(), par));
    let triangle = match triangle {
        Some(decomposed) => Some(decomposed?),
        None => None,
    };
    let reduced = triangle.as_ref().map_or(b.as_ref(), |(_, triangle)| triangle.as_ref());
    let reduced = F::in_lanes(Bidiagonalize(reduced));
    let z = golub_kahan(&reduced)?;
    let Bidiagonal { left, left_tau, right, right_tau, .. } = reduced;
    let of_p = Reflectors::new(left, &left_tau, 0, par);
    let of_q = Reflectors::new(right, &right_tau, 1, par);

    let mut factors =
        Factors { p: Mat::zeros(long, short), s: vec![F::from_f64(0.0); short], q: Mat::zeros(short, short) };
    let Factors { p, s, q } = &mut factors;
    let panels = panels(p).into_iter().zip(panels(q)).zip(s.chunks_mut(PANEL));
    let residuals = parallel::map(panels, |i, ((mut p, mut q), s)| {
        // The eigenvalues ascend, and the singular values descend.
        for (j, z) in z.chunks_exact(2 * short).rev().skip(i * PANEL).take(s.len()).enumerate() {
            for ((z, p), q) in z.chunks_exact(2).zip(column(&mut p, j)).zip(column(&mut q, j)) {
                (*q, *p) = (z[0], z[1]);
            }
        }
        match &triangle {
            Some((of_b, _)) => {
                of_p.apply(p.as_mut().subrows_mut(0, short), Par::Seq);
                of_b.apply(p.as_mut(), Par::Seq);
            }
            None => of_p.apply(p.as_mut(), Par::Seq),
        }
        of_q.apply(q.as_mut(), Par::Seq);
        measured(b, p, s, q)
    });
    let residual = residuals.into_iter().fold(0.0, nan_max);
    if let Some(from) = order(&factors.s) {
        factors = factors.taken(&from);
    }
    Some((certificate(b, &factors, residual, par), factors))
}

/// Returns the eigenvectors of the Golub-Kahan form of a bidiagonal matrix, in ascending order of the singular values.
fn golub_kahan<F: Working>(of: &Bidiagonal<F>) -> Option<Vec<F>> {
    let n = of.diagonal.len();
    let (diagonal, above): (Cow<'_, [f64]>, _) = (F::all_to_f64(&of.diagonal), F::all_to_f64(&of.above));
    let off_diagonal: Vec<f64> =
        diagonal.iter().zip(above.iter().chain([&0.0])).flat_map(|(d, above)| [*d, *above]).collect();
    let zeros = vec![0.0; 2 * n];
    let t = Tridiagonal { diagonal: &zeros, off_diagonal: &off_diagonal };
    // The largest singular value is at least the largest element.
    let largest = off_diagonal.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if t.count_below(F::EPSILON * largest) > n {
        return None;
    }
    let mut z = vec![F::from_f64(0.0); 2 * n * n];
    let values = twisted::eigenpairs(t, n..2 * n, &mut z)?;
    // The negative eigenvalue of the same magnitude must be as distinct as all others.
    (values[0] > F::EPSILON * values[n - 1]).then_some(z)
}

/// Returns the panels of a matrix.
fn panels<F>(x: &mut Mat<F>) -> Vec<MatMut<'_, F>> {
    let mut panels = Vec::new();
    let mut rest = x.as_mut();
    while rest.ncols() > 0 {
        let width = PANEL.min(rest.ncols());
        let (panel, others) = rest.split_at_col_mut(width);
        panels.push(panel);
        rest = others;
    }
    panels
}

/// Returns a column of a panel, whose elements are adjacent.
fn column<'a, F>(panel: &'a mut MatMut<'_, F>, j: usize) -> &'a mut [F] {
    panel.as_mut().col_mut(j).try_as_col_major_mut().map(|column| column.as_slice_mut()).unwrap_or_default()
}

/// Scales the columns of P and Q to length 1, writes `p . B q` to the singular values, and returns the largest
/// `|B q - s p|_2`.
fn measured<'a, F: Working>(b: &Mat<F>, mut p: MatMut<'a, F>, s: &mut [F], mut q: MatMut<'a, F>) -> f64 {
    for x in [&mut p, &mut q] {
        (0..x.ncols()).for_each(|j| normalize(column(x, j)));
    }
    let images = product(b.as_ref(), q.as_ref(), Par::Seq);
    let mut worst = 0.0;
    for (j, s) in s.iter_mut().enumerate() {
        let (p, image) = (column(&mut p, j), images.col_as_slice(j));
        let own = sum(image, p, |y, p| y * p);
        if own < 0.0 {
            // A negative singular value consists only of rounding errors, so the sign of its vector is arbitrary.
            p.iter_mut().for_each(|x| *x = -*x);
        }
        *s = F::from_f64(own.abs());
        let own = s.to_f64();
        worst = nan_max(sum(image, p, |y, p| (y - own * p) * (y - own * p)).sqrt(), worst);
    }
    worst
}
