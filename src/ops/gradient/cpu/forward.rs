//! Derivatives of decompositions in a direction.
//!
//! With `P = V' Adot V`, the eigenvectors turn by `K_ij = P_ij / (l_j - l_i)`, which is what [`Divide`] computes,
//! except that it divides skew parts. So the skew matrix of the elements above the diagonal is divided, and the
//! symmetric quotient becomes skew.

use super::super::GradientCertificate;
use super::large::{Divide, Scratch};
use super::{TOGETHER, Values};
use crate::array::Real;
use crate::ops::matmul::on_slices;
use crate::parallel;

/// Makes skew matrices of the triangles of P, each times a factor: X of the elements above the diagonal, and, unless it
/// is empty, Y of those below it. X has the diagonal of P.
fn skew<T: Real>(n: usize, p: &[T], [above, below]: [f64; 2], x: &mut [T], y: &mut [T]) {
    let [above, below] = [above, below].map(T::from_f64);
    for j in 0..n {
        for i in 0..j {
            let (own, mirrored) = (above * p[j * n + i], below * p[i * n + j]);
            (x[j * n + i], x[i * n + j]) = (own, -own);
            if !y.is_empty() {
                (y[j * n + i], y[i * n + j]) = (mirrored, -mirrored);
            }
        }
        x[j * n + j] = p[j * n + j];
        if !y.is_empty() {
            y[j * n + j] = T::from_f64(0.0);
        }
    }
}

/// Writes the derivatives of eigenvalues and of eigenvectors V, and returns their certificates.
pub(in super::super) fn eigh<T: Real>(
    values: &Values<'_, T>,
    [v, a_dot]: [&[T]; 2],
    [values_dot, v_dot]: [&mut [T]; 2],
) -> Vec<GradientCertificate> {
    let n = values.n;
    if a_dot.is_empty() {
        return Vec::new();
    }
    let together = (TOGETHER / (n * n)).clamp(1, values.count().max(1));
    let mut certificates = vec![GradientCertificate::default(); values.count()];
    let outputs = values_dot.chunks_mut(together * n).zip(v_dot.chunks_mut(together * n * n));
    let chunks = outputs.zip(certificates.chunks_mut(together));
    let memory = || Scratch::new(n, n, together, false);
    parallel::for_each_with(chunks, memory, |scratch, i, ((values_dot, v_dot), certificates)| {
        let matrices = i * together..i * together + certificates.len();
        let own = matrices.start * n * n..matrices.end * n * n;
        let (v, len) = (&v[own.clone()], own.len());
        on_slices((n, n, n), [false, false], [&a_dot[own], v], &mut scratch.w[..len]);
        let Scratch { p, g, w, .. } = &mut *scratch;
        on_slices((n, n, n), [true, false], [v, &w[..len]], &mut g[..len]);
        for (values_dot, g) in values_dot.chunks_exact_mut(n).zip(g.chunks_exact(n * n)) {
            values_dot.iter_mut().enumerate().for_each(|(j, x)| *x = g[j * n + j]);
        }
        let each = |g: &[T], p: &mut [T]| {
            let matrices = g[..len].chunks_exact(n * n).zip(p[..len].chunks_exact_mut(n * n));
            matrices.for_each(|(g, p)| skew(n, g, [1.0; 2], p, &mut []));
        };
        each(g, p);
        let values = &values.of(matrices);
        T::in_lanes(Divide { values, scratch, vectors: true, outer: None, certificates });
        let Scratch { p, g, .. } = scratch;
        each(g, p);
        on_slices((n, n, n), [false, false], [v, &p[..len]], v_dot);
    });
    certificates
}

/// Writes the derivatives of thin singular value decompositions of matrices `(rows, cols)`, and returns their
/// certificates. U turns by `sym(P)_ij / (s_j - s_i) + skew(P)_ij / (s_j + s_i)` with `P = U' Adot V`, and V by the
/// difference of the two.
pub(in super::super) fn svd<T: Real>(
    values: &Values<'_, T>,
    (rows, cols): (usize, usize),
    [u, vh, a_dot]: [&[T]; 3],
    [u_dot, s_dot, vh_dot]: [&mut [T]; 3],
) -> Vec<GradientCertificate> {
    let n = values.n;
    if a_dot.is_empty() {
        return Vec::new();
    }
    let (tall, longer) = (rows >= cols, rows.max(cols));
    let mut certificates = vec![GradientCertificate::default(); values.count()];
    let outputs = u_dot.chunks_mut(rows * n).zip(s_dot.chunks_mut(n)).zip(vh_dot.chunks_mut(n * cols));
    let matrices = outputs.zip(certificates.chunks_mut(1));
    let memory = || Scratch::new(n, longer, 1, true);
    parallel::for_each_with(matrices, memory, |scratch, i, (((u_dot, s_dot), vh_dot), certificates)| {
        let part = |len: usize| i * len..(i + 1) * len;
        let (u, vh, a_dot) = (&u[part(rows * n)], &vh[part(n * cols)], &a_dot[part(rows * cols)]);
        let Scratch { p, q, g, w, outer, .. } = &mut *scratch;
        let (inner, long) = (..n * n, ..n * longer);
        // The longer side times Adot, in which what is outside of the computed vectors stays.
        if tall {
            on_slices((rows, n, cols), [false, true], [a_dot, vh], &mut outer[long]);
            on_slices((n, n, rows), [true, false], [u, &outer[long]], &mut g[inner]);
            on_slices((rows, n, n), [false, false], [u, &g[inner]], &mut w[long]);
        } else {
            on_slices((n, cols, rows), [true, false], [u, a_dot], &mut outer[long]);
            on_slices((n, n, cols), [false, true], [&outer[long], vh], &mut g[inner]);
            on_slices((n, cols, n), [false, false], [&g[inner], vh], &mut w[long]);
        }
        outer[long].iter_mut().zip(&w[long]).for_each(|(outer, inner)| *outer -= *inner);
        s_dot.iter_mut().enumerate().for_each(|(j, x)| *x = g[j * n + j]);
        // [`Divide`] adds and subtracts the skew parts of P and Q before it divides them.
        skew(n, &g[inner], [0.5; 2], &mut p[inner], &mut q[inner]);
        let outside = values.rectangular.then_some((n * longer, tall));
        T::in_lanes(Divide { values: &values.of(i..i + 1), scratch, vectors: true, outer: outside, certificates });
        // Its symmetric part is the first quotient without the signs, and its skew part the second.
        let Scratch { p, q, g, outer, .. } = scratch;
        skew(n, &g[inner], [1.0, -1.0], &mut p[inner], &mut q[inner]);
        on_slices((rows, n, n), [false, false], [u, &p[inner]], u_dot);
        on_slices((n, cols, n), [false, false], [&q[inner], vh], vh_dot);
        if values.rectangular {
            let long_dot = if tall { u_dot } else { vh_dot };
            long_dot.iter_mut().zip(&outer[long]).for_each(|(x, outer)| *x += *outer);
        }
    });
    certificates
}
