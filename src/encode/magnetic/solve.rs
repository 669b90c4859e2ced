//! The eigenpairs of magnetic Laplacians, by a dense decomposition or by an iteration.
//!
//! All matrices are those after a change of gauge (`ops::sparse::magnetic`), in which the known null space is real.

use super::Found;
use crate::ops::Status;
use crate::ops::eigen::Which;
use crate::ops::eigsh::Solved;
use crate::ops::sparse::Gauged;
use crate::order::ascending;
use nalgebra::DMatrix;
use num_complex::Complex;

type C = Complex<f64>;

/// Small eigenvalues, relative to the bound of the spectrum, up to which the pairs of a decomposition are separated
/// from the null space and from each other. An error of a few eps is at most 1e-9 of the distance of any other
/// eigenvalue from 0, and its square is below rounding.
const SMALL: f64 = 1e-6;

/// Returns all pairs but those of the null space from a decomposition, whose eigenvalues ascend.
pub(super) fn of_dense(gauged: &Gauged<'_>, values: &[f64], vectors: &[C], status: Status) -> Found {
    let (n, null) = (gauged.order(), gauged.null.len());
    let limit = SMALL * gauged.bounds.upper;
    let mixed = null + values[null..].iter().take_while(|&&value| value <= limit).count();
    let (small, others) = vectors.split_at(mixed * n);
    let mut small: Vec<Vec<C>> = small.chunks_exact(n.max(1)).map(<[C]>::to_vec).collect();
    small.iter_mut().for_each(|column| deflate(gauged, column));
    let (own, mut rotated) = ritz(gauged, &basis(gauged, small, mixed - null));
    let mut others = others.to_vec();
    for column in others.chunks_exact_mut(n.max(1)) {
        deflate(gauged, column);
        normalize(column);
    }
    rotated.append(&mut others);
    let values = own.into_iter().chain(values[mixed..].iter().copied()).collect();
    Found { values, vectors: rotated, first: 0, apart: true, status, iterated: false }
}

/// Returns the pairs that an iteration on the real operator of twice the order found. Its vectors (x, y) span the
/// complex vectors x + i y, of which each occurs twice.
pub(super) fn of_doubled(gauged: &Gauged<'_>, which: Which, found: &Solved) -> Found {
    let n = gauged.order();
    let complex = |pair: &[f64]| {
        let (x, y) = pair.split_at(n);
        let mut column: Vec<C> = x.iter().zip(y).map(|(&x, &y)| C::new(x, y)).collect();
        deflate(gauged, &mut column);
        column
    };
    let columns: Vec<Vec<C>> = found.vectors.chunks_exact(2 * n.max(1)).map(complex).collect();
    let count = found.values.len().div_ceil(2);
    let (values, vectors) = ritz(gauged, &basis(gauged, columns, count));
    let (rest, apart) = (n - gauged.null.len(), found.reached);
    let first = if which == Which::Smallest { 0 } else { rest - values.len() };
    Found { values, vectors, first, apart, status: Status::Converged, iterated: true }
}

/// Projects a column onto the orthogonal complement of the null space.
fn deflate(gauged: &Gauged<'_>, column: &mut [C]) {
    let [mut re, mut im]: [Vec<f64>; 2] =
        [column.iter().map(|x| x.re).collect(), column.iter().map(|x| x.im).collect()];
    gauged.null.deflate(&mut re);
    gauged.null.deflate(&mut im);
    column.iter_mut().zip(re.into_iter().zip(im)).for_each(|(x, (re, im))| *x = C::new(re, im));
}

fn normalize(column: &mut [C]) {
    let norm = column.iter().map(C::norm_sqr).sum::<f64>().sqrt();
    if norm > 0.0 {
        column.iter_mut().for_each(|x| *x /= norm);
    }
}

/// Returns an orthonormal basis of at most `count` vectors of the space that columns span: Gram and Schmidt's, with the
/// longest remaining column first.
fn basis(gauged: &Gauged<'_>, mut left: Vec<Vec<C>>, count: usize) -> Vec<C> {
    let n = gauged.order().max(1);
    let square = |x: &Vec<C>| x.iter().map(C::norm_sqr).sum::<f64>();
    let mut out: Vec<C> = Vec::with_capacity(count * n);
    for _ in 0..count {
        let longest = (0..left.len()).max_by(|&i, &j| square(&left[i]).total_cmp(&square(&left[j])).then(j.cmp(&i)));
        // What is left of a space that the basis spans is its error.
        let Some(longest) = longest.filter(|&i| square(&left[i]) > 1e-6) else { break };
        let mut chosen = left.swap_remove(longest);
        for _ in 0..2 {
            deflate(gauged, &mut chosen);
            out.chunks_exact(n).for_each(|other| take_out(&mut chosen, other));
            normalize(&mut chosen);
        }
        left.iter_mut().for_each(|column| take_out(column, &chosen));
        out.append(&mut chosen);
    }
    out
}

fn take_out(column: &mut [C], other: &[C]) {
    let along: C = column.iter().zip(other).map(|(x, y)| y.conj() * x).sum();
    column.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
}

/// Returns the Ritz pairs of the Laplacian in the space of orthonormal columns, in ascending order of their values.
fn ritz(gauged: &Gauged<'_>, columns: &[C]) -> (Vec<f64>, Vec<C>) {
    let n = gauged.order();
    let m = columns.len() / n.max(1);
    if m == 0 {
        return (Vec::new(), Vec::new());
    }
    let found = gauged.form(columns).symmetric_eigen();
    let order = ascending(found.eigenvalues.iter().copied());
    let rotated = DMatrix::from_column_slice(n, m, columns) * found.eigenvectors.select_columns(&order);
    (order.iter().map(|&i| found.eigenvalues[i]).collect(), rotated.as_slice().to_vec())
}
