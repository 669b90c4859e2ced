//! The singular value decomposition on the CPU, in the precision of the input. Small matrices are solved one per SIMD
//! lane, and larger matrices one at a time.
//!
//! Batches of matrices whose smaller dimension is at most 64 are solved in lanes by QR and one-sided Jacobi;
//! `group::takes` has the exact conditions. Other narrow matrices, and matrices whose rows or columns differ greatly in
//! size, are solved by `jacobi`, the latter for the sake of their small singular values. The rest is solved in f32 by
//! `golub_kahan` if the singular values are distinct, and by faer's divide and conquer and `refine` otherwise. If the
//! result in f32 is not accurate enough, faer solves the matrix in f64. Complex matrices are solved by `complex`.

mod bidiagonal;
mod block_lanczos;
pub(super) mod complex;
mod dense;
mod golub_kahan;
mod group;
mod jacobi;
mod refine;
mod reflect;

pub(super) use block_lanczos::truncated;
pub(crate) use group::LANES_FOR;

use super::{Parts, Problem};
use crate::array::{Real, Storage};
use crate::cancel::Cancel;
use crate::context::Context;
use crate::ops::certificate::{Certificate, Certificates, Status};
use crate::parallel;
use faer::Mat;
use std::sync::Arc;

/// A precision, with the traits that the algorithms here need.
trait Working: Real + faer::traits::RealField {}
impl Working for f32 {}
impl Working for f64 {}

/// Returns the name of the algorithm for a problem.
pub(super) fn algorithm(problem: &Problem) -> &'static str {
    if group::takes(problem) { "one matrix per SIMD lane" } else { "one matrix at a time" }
}

/// Returns the indices of the matrices of `a` whose rows or columns differ greatly in size.
pub(super) fn graded_of<T: Real>(problem: &Problem, a: &[T]) -> Vec<usize> {
    let matrices = a.chunks_exact((problem.rows * problem.cols).max(1)).enumerate();
    let found = parallel::map(matrices, |_, (i, a)| jacobi::is_graded(problem.rows, a).then_some(i));
    found.into_iter().flatten().collect()
}

/// Decomposes all matrices of `a`; computes U and Vh only if `vectors` is true. If the call is cancelled, results that
/// were not computed stay 0.
pub(super) fn svd<T: Real>(ctx: &Context, problem: &Problem, a: &[T], vectors: bool) -> Parts<T> {
    let [u, s, vh] = problem.shapes().map(|shape| shape.len());
    let kept = |len| if vectors { len } else { 0 };
    let (mut u, mut vh) = (ctx.zeroed_room(kept(u)), ctx.zeroed_room(kept(vh)));
    let mut s = vec![T::from_f64(0.0); s];
    let mut certificates = vec![Certificate::default(); problem.batch];
    let matrices = Matrices { problem, u: &mut u, s: &mut s, vh: &mut vh, certificates: &mut certificates };
    if T::ON_DEVICE {
        in_f32(bytemuck::cast_slice(a), matrices.cast(), ctx.cancel());
    } else {
        in_f64(bytemuck::cast_slice(a), matrices.cast(), ctx.cancel());
    }
    Parts {
        u: Storage::host_from(ctx, u),
        s: Storage::host(s),
        vh: Storage::host_from(ctx, vh),
        certificates: Certificates::Host(Arc::new(certificates)),
    }
}

/// The results of a batch, or of a part of it.
struct Matrices<'a, T> {
    problem: &'a Problem,
    u: &'a mut [T],
    s: &'a mut [T],
    vh: &'a mut [T],
    certificates: &'a mut [Certificate],
}

impl<'a, T: Real> Matrices<'a, T> {
    /// Casts from T to F. The caller must ensure that T and F are the same type.
    fn cast<F: Working>(self) -> Matrices<'a, F> {
        let Self { problem, u, s, vh, certificates } = self;
        let (u, s) = (bytemuck::cast_slice_mut(u), bytemuck::cast_slice_mut(s));
        Matrices { problem, u, s, vh: bytemuck::cast_slice_mut(vh), certificates }
    }
}

/// Instantiates [`batch`] for f32 in this crate, so that it is not compiled again in every crate that calls it.
fn in_f32(a: &[f32], out: Matrices<'_, f32>, cancel: &Cancel) {
    batch(a, out, cancel);
}

fn in_f64(a: &[f64], out: Matrices<'_, f64>, cancel: &Cancel) {
    batch(a, out, cancel);
}

/// The number of matrices that a thread solves together in lanes, which is the number of lanes of the widest vectors.
const GROUP: usize = 16;

fn batch<F: Working>(a: &[F], out: Matrices<'_, F>, cancel: &Cancel) {
    let Matrices { problem, u, s, vh, certificates } = out;
    let in_lanes = group::takes(problem);
    let at_once = if in_lanes { GROUP } else { 1 };
    let [u_len, s_len, vh_len] = problem.shapes().map(|shape| shape.matrix_len() * at_once);
    let chunks = certificates.len().div_ceil(at_once);
    let outputs = (cut(u, u_len, chunks), cut(s, s_len, chunks), cut(vh, vh_len, chunks));
    let outputs = outputs.0.into_iter().zip(outputs.1).zip(outputs.2).zip(certificates.chunks_mut(at_once));
    let size = problem.rows * problem.cols;
    parallel::for_each(outputs, |chunk, (((u, s), vh), certificates)| {
        if cancel.is_cancelled() {
            return;
        }
        let first = chunk * at_once;
        let a = &a[first * size..(first + certificates.len()) * size];
        if !in_lanes {
            return dense::solve(a, Matrices { problem, u, s, vh, certificates });
        }
        group::solve(a, Matrices { problem, u: &mut *u, s: &mut *s, vh: &mut *vh, certificates: &mut *certificates });
        for (i, certificate) in certificates.iter_mut().enumerate() {
            let a = &a[i * size..(i + 1) * size];
            if jacobi::is_graded(problem.rows, a) {
                let [u, vh] = [(&mut *u, u_len), (&mut *vh, vh_len)].map(|(all, len)| own(all, i, len / GROUP));
                *certificate = dense::solve_one(problem, a, u, own(s, i, s_len / GROUP), vh);
            }
        }
    });
}

/// Returns the elements of matrix i, which has `len` of them; none if there are none.
fn own<F>(all: &mut [F], i: usize, len: usize) -> &mut [F] {
    if all.is_empty() { all } else { &mut all[i * len..(i + 1) * len] }
}

/// Splits `all` into `count` slices of `len` elements. The last slice may be shorter, and all slices are empty if `all`
/// is empty.
fn cut<F>(mut all: &mut [F], len: usize, count: usize) -> Vec<&mut [F]> {
    let mut parts = Vec::with_capacity(count);
    for _ in 0..count {
        let (own, rest) = all.split_at_mut(len.min(all.len()));
        parts.push(own);
        all = rest;
    }
    parts
}

/// A matrix of the batch as the solvers see it: tall, and scaled by a power of two so that its largest magnitude is in
/// [1, 2).
struct Scaled<F> {
    /// The matrix, `(long, short)`.
    b: Mat<F>,
    scale: f64,
    finite: bool,
}

impl<F: Working> Scaled<F> {
    fn of(problem: &Problem, a: &[F]) -> Self {
        let scale = Scale::of(a.iter().copied());
        if !scale.finite {
            return Self { b: Mat::new(), scale: scale.by, finite: false };
        }
        let by = F::from_f64(1.0 / scale.by);
        let mut b = Mat::zeros(problem.long(), problem.short());
        for j in 0..problem.short() {
            let column = b.col_as_slice_mut(j).iter_mut();
            if problem.wide() {
                column.zip(a[j..].iter().step_by(problem.rows)).for_each(|(b, a)| *b = *a * by);
            } else {
                column.zip(&a[j * problem.rows..]).for_each(|(b, a)| *b = *a * by);
            }
        }
        Self { b, scale: scale.by, finite: true }
    }
}

/// The largest power of two that is at most the largest magnitude (1 for a zero matrix), and whether all elements are
/// finite.
struct Scale {
    by: f64,
    finite: bool,
}

impl Scale {
    fn of<F: Working>(numbers: impl Iterator<Item = F>) -> Self {
        // The bits of floating-point magnitudes have the same order as the magnitudes, with infinity and NaN above all
        // others.
        let largest = f64::from_bits(numbers.map(|x| x.to_f64().abs().to_bits()).max().unwrap_or(0));
        if !largest.is_finite() {
            return Self { by: 1.0, finite: false };
        }
        // Only the exponent is kept. A subnormal counts as the smallest normal number, so that the reciprocal is
        // finite.
        let by = f64::from_bits(largest.max(F::SMALLEST).to_bits() & 0x7ff0_0000_0000_0000);
        Self { by: if largest == 0.0 { 1.0 } else { by }, finite: true }
    }
}

/// Fills the results of a matrix that is not finite, and returns its certificate.
fn not_finite<F: Working>(u: &mut [F], s: &mut [F], vh: &mut [F]) -> Certificate {
    s.fill(F::from_f64(f64::NAN));
    u.fill(F::from_f64(0.0));
    vh.fill(F::from_f64(0.0));
    Certificate { status: Status::NonFinite, sweeps: 0, residual: f64::NAN, orthogonality: f64::NAN }
}
