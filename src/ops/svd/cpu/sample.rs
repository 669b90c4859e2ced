//! Randomised projection (Halko, Martinsson and Tropp 2011), one matrix at a time, by faer's products and QR.

use super::super::{PROMISE, Problem, TruncatedOptions};
use super::dense::{Factors, certified, departure, nan_max, write};
use super::{Scaled, Working, not_finite};
use crate::array::Real;
use crate::ops::certificate::{Certificate, Status};
use crate::ops::random;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

/// The leading triplets of a batch, one matrix after the other.
pub(in super::super) struct Sampled<T> {
    pub(in super::super) u: Vec<T>,
    pub(in super::super) s: Vec<T>,
    pub(in super::super) vh: Vec<T>,
    pub(in super::super) residual: Vec<T>,
    pub(in super::super) certificates: Vec<Certificate>,
}

/// The k leading triplets of every matrix of `a`.
pub(in super::super) fn truncated<T: Real>(
    problem: &Problem,
    a: &[T],
    k: usize,
    options: TruncatedOptions,
) -> Sampled<T> {
    if T::ON_DEVICE {
        in_precision::<f32, T>(problem, a, k, options)
    } else {
        in_precision::<f64, T>(problem, a, k, options)
    }
}

/// T is F: the only two precisions there are.
fn in_precision<F: Working, T: Real>(problem: &Problem, a: &[T], k: usize, options: TruncatedOptions) -> Sampled<T> {
    let a: &[F] = bytemuck::cast_slice(a);
    let size = problem.rows * problem.cols;
    let zero = F::from_f64(0.0);
    let one = |i: usize| {
        let (mut u, mut s, mut vh) = (vec![zero; problem.rows * k], vec![zero; k], vec![zero; k * problem.cols]);
        let scaled = Scaled::of(problem, &a[i * size..(i + 1) * size]);
        let (residual, certificate) = match scaled.finite.then(|| project(&scaled.b, k, options)).flatten() {
            Some((factors, residual, certificate)) => {
                write(problem, &factors, scaled.scale, &mut u, &mut s, &mut vh);
                (residual, certificate)
            }
            None => {
                let certificate = not_finite(&mut u, &mut s, &mut vh);
                let status = if scaled.finite { Status::NotConverged } else { certificate.status };
                (f64::NAN, Certificate { status, ..certificate })
            }
        };
        (u, s, vh, F::from_f64(residual), certificate)
    };
    let found: Vec<_> = (0..problem.batch).into_par_iter().map(one).collect();
    let mut all = Sampled { u: vec![], s: vec![], vh: vec![], residual: vec![], certificates: vec![] };
    for (u, s, vh, residual, certificate) in found {
        all.u.extend_from_slice(bytemuck::cast_slice(&u));
        all.s.extend_from_slice(bytemuck::cast_slice(&s));
        all.vh.extend_from_slice(bytemuck::cast_slice(&vh));
        all.residual.extend_from_slice(bytemuck::cast_slice(&[residual]));
        all.certificates.push(certificate);
    }
    all
}

/// k triplets of the tall matrix B, `|B - P S Q'|_F / |B|_F`, and the certificate.
fn project<F: Working>(b: &Mat<F>, k: usize, options: TruncatedOptions) -> Option<(Factors<F>, f64, Certificate)> {
    let (long, short) = b.shape();
    let par = Par::rayon(0);
    let product = |left: MatRef<'_, F>, right: MatRef<'_, F>| {
        let mut out = Mat::zeros(left.nrows(), right.ncols());
        matmul(out.as_mut(), Accum::Replace, left, right, F::from_f64(1.0), par);
        out
    };
    let orthonormal = |x: Mat<F>| x.qr().compute_thin_Q();
    let directions = k.saturating_add(options.oversample).min(short);
    let place = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
    let sample =
        Mat::from_fn(short, directions, |i, j| F::from_f64(random::normal_at(place(i), place(j), options.seed)));
    let mut basis = orthonormal(product(b.as_ref(), sample.as_ref()));
    for _ in 0..options.power_iterations {
        let other = orthonormal(product(b.transpose(), basis.as_ref()));
        basis = orthonormal(product(b.as_ref(), other.as_ref()));
    }
    // B is near basis (basis' B): the small factor's transpose is tall.
    let small = product(b.transpose(), basis.as_ref());
    let (_, found) = certified(&small, directions, par)?;
    let p = product(basis.as_ref(), found.q.subcols(0, k));
    let factors = Factors { p, s: found.s[..k].to_vec(), q: found.p.subcols(0, k).to_owned() };

    let Factors { p, s, q } = &factors;
    let scaled = Mat::from_fn(long, k, |i, j| p[(i, j)] * s[j]);
    let near = product(scaled.as_ref(), q.transpose());
    let frobenius = |entry: &dyn Fn(usize, usize) -> F| {
        let square = |(i, j)| entry(i, j).to_f64().powi(2);
        (0..short).flat_map(|j| (0..long).map(move |i| (i, j))).map(square).sum::<f64>().sqrt()
    };
    let size = frobenius(&|i, j| b[(i, j)]);
    let residual = if size == 0.0 { 0.0 } else { frobenius(&|i, j| b[(i, j)] - near[(i, j)]) / size };

    let images = product(b.transpose(), p.as_ref());
    let away = |j: usize| (0..short).map(|i| (images[(i, j)] - s[j] * q[(i, j)]).to_f64().powi(2)).sum::<f64>().sqrt();
    let norm = b.row_iter().map(|row| row.iter().map(|x| x.to_f64().abs()).sum::<f64>()).fold(0.0, f64::max);
    let certificate = Certificate {
        status: Status::Converged,
        sweeps: 0,
        residual: (0..k).map(away).fold(0.0, nan_max) / if norm == 0.0 { 1.0 } else { norm },
        orthogonality: nan_max(departure(p.as_ref(), par), departure(q.as_ref(), par)),
    };
    Some((factors, residual, certificate.judged_by(PROMISE, long, F::EPSILON)))
}
