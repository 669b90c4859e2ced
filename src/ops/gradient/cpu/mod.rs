//! Gradients on the CPU: a few matrices at a time, whose intermediate results stay in the cache. Small matrices are
//! computed one per lane (`small`). Of larger ones, products fill the vectors, and so do the elements of a column when
//! they are divided (`large`).

pub(super) mod forward;
mod large;
mod small;
mod values;

use super::{GradientCertificate, Rule};
use crate::array::Real;
use crate::ops::matmul::on_slices;
use crate::parallel;
use crate::shape::Layout;
use large::{Divide, Scratch};
use std::ops::Range;

pub(super) use values::Values;

/// The number of elements of an intermediate result of the matrices that a thread processes together.
const TOGETHER: usize = 8192;

/// Writes the gradients `V G V'` of eigenpairs, and returns their certificates. The vectors are V and its cotangent,
/// which is empty if it is 0.
pub(super) fn eigh<T: Real>(values: &Values<'_, T>, [v, v_bar]: [&[T]; 2], out: &mut [T]) -> Vec<GradientCertificate> {
    let n = values.n;
    let small = small::takes(n, n, out.len() / (n * n).max(1));
    in_chunks(n, n, false, n * n, out, |scratch, matrices, out, certificates| {
        let own = matrices.start * n * n..matrices.end * n * n;
        let v_bar = if v_bar.is_empty() { v_bar } else { &v_bar[own.clone()] };
        eigh_together(&values.of(matrices), [&v[own], v_bar], small, scratch, out, certificates);
    })
}

/// Does the same for matrices of unequal orders, given their values with the cotangents, which are empty if they are 0,
/// and the rule of each order. Adjacent matrices of one order are computed together.
pub(super) fn eigh_ragged<T: Real>(
    layout: &Layout,
    [values, bar]: [&[T]; 2],
    [v, v_bar]: [&[T]; 2],
    rule: impl Fn(usize) -> Rule + Sync,
    out: &mut [T],
) -> Vec<GradientCertificate> {
    let mut certificates = vec![GradientCertificate { defined: true, ..Default::default() }; layout.batch()];
    let (mut chunks, mut begin) = (Vec::new(), 0);
    let (mut rest, mut others) = (out, &mut certificates[..]);
    while begin < layout.batch() {
        let matrices = layout.batch_from(begin, TOGETHER as u64);
        let len = layout.elements(matrices.end - 1).end - layout.elements(begin).start;
        let (out, own);
        (out, rest) = rest.split_at_mut(len);
        (own, others) = others.split_at_mut(matrices.len());
        begin = matrices.end;
        chunks.push((matrices, out, own));
    }
    let largest = layout.largest() as usize;
    let memory = || Scratch::new(largest, largest, TOGETHER.div_ceil((largest * largest).max(1)), false);
    let part = |all: &'_ [T], of: &Range<usize>| if all.is_empty() { 0..0 } else { of.clone() };
    parallel::for_each_with(chunks, memory, |scratch, _, (matrices, mut out, mut certificates)| {
        let mut first = matrices.start;
        for run in layout.orders()[matrices].chunk_by(|a, b| a == b) {
            let (n, end) = (run[0] as usize, first + run.len());
            let rows = layout.rows(first).start..layout.rows(end - 1).end;
            let elements = layout.elements(first).start..layout.elements(end - 1).end;
            let (here, own);
            (here, out) = out.split_at_mut(elements.len());
            (own, certificates) = certificates.split_at_mut(run.len());
            if n > 0 {
                let bar = &bar[part(bar, &rows)];
                let values =
                    Values { n, singular: false, rectangular: false, values: &values[rows], bar, rule: rule(n) };
                let v_bar = &v_bar[part(v_bar, &elements)];
                let small = small::takes(n, n, run.len());
                eigh_together(&values, [&v[elements], v_bar], small, scratch, here, own);
            }
            first = end;
        }
    });
    certificates
}

/// Does the same for matrices whose intermediate results stay in the cache, in lanes if they are `small`.
fn eigh_together<T: Real>(
    values: &Values<'_, T>,
    [v, v_bar]: [&[T]; 2],
    small: bool,
    scratch: &mut Scratch<T>,
    out: &mut [T],
    certificates: &mut [GradientCertificate],
) {
    if small {
        T::in_lanes(small::Eigh { values, vectors: [v, v_bar], out, certificates });
        return;
    }
    let (n, len, vectors) = (values.n, out.len(), !v_bar.is_empty());
    if vectors {
        on_slices((n, n, n), [true, false], [v, v_bar], &mut scratch.p[..len]);
    }
    T::in_lanes(Divide { values, scratch, vectors, outer: None, certificates });
    let Scratch { g, w, .. } = scratch;
    if vectors {
        on_slices((n, n, n), [false, false], [v, &g[..len]], &mut w[..len]);
    } else {
        // G is diagonal.
        let columns = w.chunks_exact_mut(n).zip(v.chunks_exact(n));
        columns.zip(values.bar).for_each(|((to, from), by)| {
            to.iter_mut().zip(from).for_each(|(to, x)| *to = *x * *by);
        });
    }
    on_slices((n, n, n), [false, true], [&w[..len], v], out);
}

/// Writes the gradients of singular value decompositions of matrices `(rows, cols)`, and returns their certificates.
/// The vectors are U and V', each with its cotangent, which is empty if it is 0.
pub(super) fn svd<T: Real>(
    values: &Values<'_, T>,
    (rows, cols): (usize, usize),
    [u, u_bar]: [&[T]; 2],
    [vh, vh_bar]: [&[T]; 2],
    out: &mut [T],
) -> Vec<GradientCertificate> {
    let n = values.n;
    // The part of a cotangent outside of the computed vectors counts on the longer side.
    let (tall, longer) = (rows >= cols, rows.max(cols));
    let long_bar = if tall { u_bar } else { vh_bar };
    let has_outer = values.rectangular && !long_bar.is_empty();
    let small = small::takes(n, longer, out.len() / (rows * cols).max(1));
    in_chunks(n, longer, true, rows * cols, out, |scratch, matrices, out, certificates| {
        let part = |all: &[T], len: usize| {
            if all.is_empty() { 0..0 } else { matrices.start * n * len..matrices.end * n * len }
        };
        let (own_u, own_vh) = (&u[part(u, rows)], &vh[part(vh, cols)]);
        if small {
            let u = [own_u, &u_bar[part(u_bar, rows)]];
            let vh = [own_vh, &vh_bar[part(vh_bar, cols)]];
            T::in_lanes(small::Svd { values: &values.of(matrices), rows, cols, u, vh, out, certificates });
            return;
        }
        let (inner, long) = (..matrices.len() * n * n, ..matrices.len() * n * longer);
        if !u_bar.is_empty() {
            let factors = [own_u, &u_bar[part(u_bar, rows)]];
            on_slices((n, n, rows), [true, false], factors, &mut scratch.p[inner]);
        }
        if !vh_bar.is_empty() {
            let factors = [own_vh, &vh_bar[part(vh_bar, cols)]];
            on_slices((n, n, cols), [false, true], factors, &mut scratch.q[inner]);
        }
        if has_outer {
            let Scratch { p, q, w, outer, .. } = &mut *scratch;
            let (sizes, transposed, factors) = if tall {
                ((rows, n, n), [false, false], [own_u, &p[inner]])
            } else {
                ((n, cols, n), [true, false], [&q[inner], own_vh])
            };
            on_slices(sizes, transposed, factors, &mut w[long]);
            let given = &long_bar[part(long_bar, longer)];
            outer.iter_mut().zip(given).zip(&*w).for_each(|((x, given), inner)| *x = *given - *inner);
        }
        let outer = has_outer.then_some((n * longer, tall));
        T::in_lanes(Divide { values: &values.of(matrices.clone()), scratch, vectors: true, outer, certificates });
        let Scratch { g, w, outer, .. } = scratch;
        let (sizes, factors) =
            if tall { ((rows, n, n), [own_u, &g[inner]]) } else { ((n, cols, n), [&g[inner], own_vh]) };
        on_slices(sizes, [false, false], factors, &mut w[long]);
        if has_outer {
            w[long].iter_mut().zip(&*outer).for_each(|(x, outer)| *x += *outer);
        }
        let factors = if tall { [&w[long], own_vh] } else { [own_u, &w[long]] };
        on_slices((rows, cols, n), [false, false], factors, out);
    })
}

/// Calls `work` for a few matrices at a time, in parallel, with their parts of `out` and of the certificates, which are
/// returned. The matrices have n values, the longer side `longer`, and gradients of `size` elements.
fn in_chunks<T: Real>(
    n: usize,
    longer: usize,
    singular: bool,
    size: usize,
    out: &mut [T],
    work: impl Fn(&mut Scratch<T>, Range<usize>, &mut [T], &mut [GradientCertificate]) + Sync,
) -> Vec<GradientCertificate> {
    if out.is_empty() {
        return Vec::new();
    }
    let count = out.len() / size;
    let together = (TOGETHER / (n * longer)).clamp(1, count);
    let mut certificates = vec![GradientCertificate::default(); count];
    let chunks = out.chunks_mut(together * size).zip(certificates.chunks_mut(together));
    let memory = || Scratch::new(n, longer, together, singular);
    parallel::for_each_with(chunks, memory, |scratch, i, (out, certificates)| {
        let first = i * together;
        work(scratch, first..first + certificates.len(), out, certificates);
    });
    certificates
}
