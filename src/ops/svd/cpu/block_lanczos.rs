//! Randomized block Lanczos, one matrix at a time, with faer's products and QR.

use super::super::{PROMISE, Problem, TruncatedOptions};
use super::dense::{Factors, certified, write};
use super::{Scaled, Working, not_finite};
use crate::array::Real;
use crate::cancel::Cancel;
use crate::ops::certificate::{Certificate, Status};
use crate::ops::columns::{departure, nan_max, normalize_columns, sum};
use crate::ops::random;
use crate::ops::reflectors::Reflectors;
use crate::parallel;
use crate::shape::to_u32;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// The leading singular triplets (left vector, singular value, right vector) of a batch, one matrix after the other.
pub(in super::super) struct Sampled<T> {
    pub(in super::super) u: Vec<T>,
    pub(in super::super) s: Vec<T>,
    pub(in super::super) vh: Vec<T>,
    pub(in super::super) residual: Vec<T>,
    pub(in super::super) certificates: Vec<Certificate>,
}

/// Computes the k leading singular triplets of every matrix of `a`.
pub(in super::super) fn truncated<T: Real>(
    problem: &Problem,
    a: &[T],
    k: usize,
    options: TruncatedOptions,
    cancel: &Cancel,
) -> Sampled<T> {
    if T::ON_DEVICE {
        in_f32(problem, bytemuck::cast_slice(a), k, options, cancel).cast()
    } else {
        in_f64(problem, bytemuck::cast_slice(a), k, options, cancel).cast()
    }
}

impl<F: Real> Sampled<F> {
    /// Casts from F to T. The caller must ensure that F and T are the same type.
    fn cast<T: Real>(self) -> Sampled<T> {
        let Self { u, s, vh, residual, certificates } = self;
        let [u, s, vh, residual] = [u, s, vh, residual].map(bytemuck::allocation::cast_vec);
        Sampled { u, s, vh, residual, certificates }
    }
}

/// Instantiates [`every`] for f32 in this crate, so that it is not compiled again in every crate that calls it.
fn in_f32(problem: &Problem, a: &[f32], k: usize, options: TruncatedOptions, cancel: &Cancel) -> Sampled<f32> {
    every(problem, a, k, options, cancel)
}

fn in_f64(problem: &Problem, a: &[f64], k: usize, options: TruncatedOptions, cancel: &Cancel) -> Sampled<f64> {
    every(problem, a, k, options, cancel)
}

fn every<F: Working>(problem: &Problem, a: &[F], k: usize, options: TruncatedOptions, cancel: &Cancel) -> Sampled<F> {
    let size = problem.rows * problem.cols;
    let zero = F::from_f64(0.0);
    let one = |i: usize| {
        let (mut u, mut s, mut vh) = (vec![zero; problem.rows * k], vec![zero; k], vec![zero; k * problem.cols]);
        let scaled = Scaled::of(problem, &a[i * size..(i + 1) * size]);
        let (residual, certificate) = match scaled.finite.then(|| project(&scaled.b, k, options, cancel)).flatten() {
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
    let found = parallel::map(0..problem.batch, |_, i| one(i));
    let mut all = Sampled { u: vec![], s: vec![], vh: vec![], residual: vec![], certificates: vec![] };
    for (u, s, vh, residual, certificate) in found {
        all.u.extend(u);
        all.s.extend(s);
        all.vh.extend(vh);
        all.residual.push(residual);
        all.certificates.push(certificate);
    }
    all
}

/// The largest residual of a converged triplet, relative to its singular value. If r is the residual and g is the gap
/// between the singular value and those that are not wanted, then the error of the singular value is r^2 / g, and the
/// error of its vectors is r / g.
const RESIDUAL: f64 = 1e-8;

/// The maximum number of blocks in a basis. Before a basis grows beyond this number, it is compressed to one block.
const BLOCKS: usize = 5;

/// Computes the k leading singular triplets P, S and Q of the tall matrix B, the relative residual
/// `|B - P S Q'|_F / |B|_F`, and the certificate. Returns `None` if the call is cancelled, if the decomposition of the
/// small matrix fails, or if there is not enough memory.
///
/// Block Lanczos bidiagonalization (Golub, Luk and Overton 1981) starts from a random block and orthogonalizes every
/// block against all earlier blocks. When the basis is full, it is compressed to its leading singular vectors (Baglama
/// and Reichel 2006).
fn project<F: Working>(
    b: &Mat<F>,
    k: usize,
    options: TruncatedOptions,
    cancel: &Cancel,
) -> Option<(Factors<F>, f64, Certificate)> {
    let (long, short) = b.shape();
    let norm = frobenius(b.as_ref());
    // Returns the absolute residual that rounding alone leaves if products with B are computed in the working
    // precision. The argument is the largest singular value.
    let rounding = |largest: f64| F::EPSILON * (8.0 * norm + super::super::as_f64(long).sqrt() * largest);
    let width = k.saturating_add(options.oversample).min(short);
    let mut random = Random { seed: options.seed, next: 0 };
    let mut right = orthonormal_complement(Mat::zeros(short, 0).as_ref(), random.block(short, width), &mut random)?;
    let images = product(b.as_ref(), right.as_ref());
    let mut left = orthonormal_complement(Mat::zeros(long, 0).as_ref(), images.clone(), &mut random)?;
    // Invariant: `B right = left small`. The last `newest` columns of `left` are the newest block.
    let mut small = product(left.transpose(), images.as_ref());
    let mut newest = width;
    let mut passes = 1;
    let (mut p, mut q) = loop {
        cancel.check().ok()?;
        let size = right.ncols();
        let wide = Mat::from_fn(size, size, |i, j| small[(i, j)].to_f64());
        let (_, found) = certified(&wide, size, Par::Seq)?;
        let narrow = |x: &Mat<f64>, count: usize| Mat::from_fn(size, count, |i, j| F::from_f64(x[(i, j)]));
        let z = product(b.transpose(), left.subcols(size - newest, newest));
        let room = short - size;
        let block = if room < newest { random.block(short, room) } else { z.clone() };
        let next = orthonormal_complement(right.as_ref(), block, &mut random)?;
        // `z` is B' times the newest columns of `left`. For these columns, `B' left = right small' + next (next' z)`.
        // The last term is what the triplets miss.
        let missed = product(next.transpose(), z.as_ref());
        let largest = found.s.first().copied().unwrap_or(0.0);
        let misses = |j: usize| {
            let row =
                |i: usize| (0..newest).map(|t| missed[(i, t)].to_f64() * found.p[(size - newest + t, j)]).sum::<f64>();
            (0..missed.nrows()).map(|i| row(i).powi(2)).sum::<f64>().sqrt()
        };
        // The iteration stops at half of the residual that the certificate allows.
        let found_all = (0..k).all(|j| 2.0 * misses(j) <= (RESIDUAL * found.s[j]).max(rounding(largest)));
        if found_all || room == 0 || passes >= options.passes {
            let (p, q) = (
                product(left.as_ref(), narrow(&found.p, k).as_ref()),
                product(right.as_ref(), narrow(&found.q, k).as_ref()),
            );
            break (p, q);
        }
        if size + next.ncols() > BLOCKS * width {
            right = product(right.as_ref(), narrow(&found.q, width).as_ref());
            left = product(left.as_ref(), narrow(&found.p, width).as_ref());
            small = Mat::from_fn(width, width, |i, j| F::from_f64(if i == j { found.s[i] } else { 0.0 }));
        }
        let images = product(b.as_ref(), next.as_ref());
        let more = orthonormal_complement(left.as_ref(), images.clone(), &mut random)?;
        (right, left) = (joined(&right, &next), joined(&left, &more));
        let column = product(left.transpose(), images.as_ref());
        let before = small.ncols();
        small = Mat::from_fn(left.ncols(), right.ncols(), |i, j| match (i < before, j < before) {
            (_, false) => column[(i, j - before)],
            (true, true) => small[(i, j)],
            (false, true) => F::from_f64(0.0),
        });
        newest = next.ncols();
        passes += 1;
    };

    // The products above have changed the lengths of the columns. Each singular value is computed as `p . B q`, whose
    // error is the product of the errors of the vectors p and q. Singular values that rounding cannot separate may be
    // out of order, so each one is replaced by the smallest of itself and those before it.
    normalize_columns(&mut p);
    normalize_columns(&mut q);
    // The residuals of both `B' p` and `B q` are measured. The residual of `B q` contains only rounding errors, because
    // `B right = left small`. Only the residual of `B' p` shows what the basis misses.
    let (back, forth) = (product(b.transpose(), p.as_ref()), product(b.as_ref(), q.as_ref()));
    let mut least = f64::INFINITY;
    let mut value = |j: usize| {
        least = least.min(sum(forth.col_as_slice(j), p.col_as_slice(j), |y, p| y * p).max(0.0));
        F::from_f64(least)
    };
    let s: Vec<F> = (0..k).map(&mut value).collect();

    let par = parallel::in_eight();
    let scaled = Mat::from_fn(long, k, |i, j| p[(i, j)] * s[j]);
    let near = product(scaled.as_ref(), q.transpose());
    let away = frobenius(Mat::from_fn(long, short, |i, j| b[(i, j)] - near[(i, j)]).as_ref());
    let residual = if norm == 0.0 { 0.0 } else { away / norm };

    let apart = |x: &Mat<F>, y: &Mat<F>, j: usize| {
        (0..x.nrows()).map(|i| (x[(i, j)] - s[j] * y[(i, j)]).to_f64().powi(2)).sum::<f64>().sqrt()
    };
    let missed = |j: usize| nan_max(apart(&back, &q, j), apart(&forth, &p, j));
    let largest = s.first().map_or(0.0, |s| s.to_f64());
    let orthogonality = nan_max(departure(p.as_ref(), par), departure(q.as_ref(), par));
    let kept = (0..k).all(|j| missed(j) <= (RESIDUAL * s[j].to_f64()).max(rounding(largest)))
        && orthogonality <= PROMISE * F::EPSILON * super::super::as_f64(long);
    let certificate = Certificate {
        status: if kept { Status::Converged } else { Status::NotConverged },
        sweeps: to_u32(passes),
        residual: (0..k).map(missed).fold(0.0, nan_max) / if largest == 0.0 { 1.0 } else { largest },
        orthogonality,
    };
    Some((Factors { p, s, q }, residual, certificate))
}

fn product<F: Working>(left: MatRef<'_, F>, right: MatRef<'_, F>) -> Mat<F> {
    let mut out = Mat::zeros(left.nrows(), right.ncols());
    matmul(out.as_mut(), Accum::Replace, left, right, F::from_f64(1.0), parallel::in_eight());
    out
}

fn joined<F: Working>(left: &Mat<F>, right: &Mat<F>) -> Mat<F> {
    let count = left.ncols();
    let entry = |i: usize, j: usize| if j < count { left[(i, j)] } else { right[(i, j - count)] };
    Mat::from_fn(left.nrows(), count + right.ncols(), entry)
}

fn frobenius<F: Working>(x: MatRef<'_, F>) -> f64 {
    x.col_iter().map(|column| column.iter().map(|x| x.to_f64().powi(2)).sum::<f64>()).sum::<f64>().sqrt()
}

/// The source of random blocks. `next` is the index of the next random column.
struct Random {
    seed: u64,
    next: usize,
}

impl Random {
    fn block<F: Working>(&mut self, rows: usize, cols: usize) -> Mat<F> {
        let first = self.next;
        self.next += cols;
        Mat::from_fn(rows, cols, |i, j| F::from_f64(random::normal_at(to_u32(i), to_u32(first + j), self.seed)))
    }
}

/// Returns an orthonormal basis of the part of `block` that is orthogonal to `basis`. If only rounding errors remain of
/// a column, the column is replaced by a random direction that is orthogonal to `basis`. Returns `None` if there is not
/// enough memory.
fn orthonormal_complement<F: Working>(basis: MatRef<'_, F>, block: Mat<F>, random: &mut Random) -> Option<Mat<F>> {
    let (rows, cols) = block.shape();
    if cols == 0 {
        return Some(block);
    }
    let length = |x: &Mat<F>, j: usize| x.col(j).iter().map(|x| x.to_f64().powi(2)).sum::<f64>().sqrt();
    let largest = (0..cols).map(|j| length(&block, j)).fold(0.0, f64::max);
    let taken_off = |mut x: Mat<F>| {
        // Orthogonalizing twice is enough (Kahan and Parlett).
        for _ in 0..2 {
            let along = product(basis.transpose(), x.as_ref());
            matmul(x.as_mut(), Accum::Add, basis, along.as_ref(), F::from_f64(-1.0), parallel::in_eight());
        }
        x
    };
    // faer's own `qr` splits sums by the number of threads.
    let par = parallel::in_eight();
    let (reflectors, r) = Reflectors::of_columns(taken_off(block), par)?;
    let mut q = reflectors.columns(par);
    let least = 100.0 * F::EPSILON * largest;
    let lost: Vec<usize> = (0..cols).filter(|&j| r[(j, j)].to_f64().abs() <= least).collect();
    if !lost.is_empty() {
        let fresh = random.block::<F>(rows, lost.len());
        let unit = F::from_f64(1.0 / super::super::as_f64(rows).sqrt());
        for (from, &j) in lost.iter().enumerate() {
            for i in 0..rows {
                q[(i, j)] = fresh[(i, from)] * unit;
            }
        }
        q = Reflectors::of_columns(taken_off(q), par)?.0.columns(par);
    }
    // QR has scaled the columns to length 1. If only a small part of a column was orthogonal to the basis, this scaling
    // has also enlarged the rounding errors along the basis, so they are removed once more.
    Some(Reflectors::of_columns(taken_off(q), par)?.0.columns(par))
}
