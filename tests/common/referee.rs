//! True eigenvalues in f64, computed by a library and verified by separate arithmetic.
//!
//! The CPU backend itself uses faer and nalgebra, so neither their results nor their agreement is proof. Therefore
//! faer's f64 eigenvalues are checked against Sturm counts, which need a Householder reduction to tridiagonal form
//! and Sylvester's law of inertia. Both are written here from the textbook (Golub & Van Loan 8.3.1 and 8.4.1) and
//! share no code and no iteration with either library. LAPACK's own tests do the same (DSTECH).

use faer::prelude::*;

/// The errors of faer's eigenvalues and of the Sturm counts are a few eps64 |A|. A slack of 16 n eps64 |A| is
/// enough for both, and is 1e-7 of the error that f32 results are allowed.
const SLACK: f64 = 16.0;

/// Returns the ascending eigenvalues of the symmetric matrix `a` (column-major, n x n), each confirmed by Sturm
/// counts.
pub fn eigenvalues(a: &[f64], n: usize) -> Result<Vec<f64>, String> {
    if n == 0 {
        return Ok(Vec::new());
    }
    let matrix = Mat::from_fn(n, n, |i, j| a[i + n * j]);
    let values = matrix.self_adjoint_eigenvalues(faer::Side::Lower).map_err(|e| format!("faer: {e:?}"))?;
    confirm(&values, a, n)?;
    Ok(values)
}

/// Returns all eigenpairs of `a`: the eigenvalues as in [`eigenvalues`], and the eigenvectors column-major. The
/// callers judge the eigenvectors (see `gates`).
pub fn eigenpairs(a: &[f64], n: usize) -> Result<(Vec<f64>, Vec<f64>), String> {
    if n == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let matrix = Mat::from_fn(n, n, |i, j| a[i + n * j]);
    let eigen = matrix.self_adjoint_eigen(faer::Side::Lower).map_err(|e| format!("faer: {e:?}"))?;
    let values: Vec<f64> = (0..n).map(|i| eigen.S()[i]).collect();
    confirm(&values, a, n)?;
    let vectors = (0..n * n).map(|i| eigen.U()[(i % n, i / n)]).collect();
    Ok((values, vectors))
}

/// Checks that `values` are the ascending eigenvalues of `a`, up to f64's rounding.
pub fn confirm(values: &[f64], a: &[f64], n: usize) -> Result<(), String> {
    if values.len() != n {
        return Err(format!("{} eigenvalues for n = {n}", values.len()));
    }
    let norm = super::gates::norm(a, n);
    if norm == 0.0 {
        // The slack is relative to the norm, which is 0 here, and a Sturm count at 0 would say nothing.
        return if values.iter().all(|&x| x == 0.0) { Ok(()) } else { Err(format!("zero matrix: {values:?}")) };
    }
    let (diagonal, below) = tridiagonal(a, n);
    let slack = SLACK * n as f64 * f64::EPSILON * norm;
    for (i, &value) in values.iter().enumerate() {
        let (under, over) = (count(&diagonal, &below, value - slack), count(&diagonal, &below, value + slack));
        // Eigenvalue i, counted from 0, has at most i eigenvalues below it. So at most i are below `value` -
        // slack, and at least i + 1 are below `value` + slack.
        if !value.is_finite() || under > i || over <= i {
            return Err(format!("eigenvalue {i} of {n}: {value:e} has {under} to {over} below it, slack {slack:e}"));
        }
    }
    Ok(())
}

/// Counts the eigenvalues of the tridiagonal matrix that are smaller than `x`. Their number is the number of
/// negative pivots of `T - x I`, where T is the matrix.
fn count(diagonal: &[f64], below: &[f64], x: f64) -> usize {
    let largest = below.iter().fold(0.0, |m: f64, b| m.max(b * b));
    let smallest_pivot = (f64::MIN_POSITIVE * largest).max(f64::MIN_POSITIVE); // as in LAPACK's DLAEBZ
    let mut pivot = 1.0;
    let mut negative = 0;
    for (i, d) in diagonal.iter().enumerate() {
        let square = if i == 0 { 0.0 } else { below[i - 1] * below[i - 1] };
        pivot = d - x - square / pivot;
        if pivot.abs() < smallest_pivot {
            pivot = -smallest_pivot;
        }
        negative += usize::from(pivot < 0.0);
    }
    negative
}

/// Returns the diagonal and the subdiagonal of a tridiagonal matrix similar to the symmetric `a`.
pub fn tridiagonal(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut a = a.to_vec();
    band(&mut a, n, 1);
    ((0..n).map(|i| a[i + n * i]).collect(), (1..n).map(|i| a[i + n * (i - 1)]).collect())
}

/// Transforms the symmetric `a` to a similar matrix of half-bandwidth `width` (at least 1), by Householder
/// reflections from both sides.
pub fn band(a: &mut [f64], n: usize, width: usize) {
    for column in 0..n.saturating_sub(width + 1) {
        let start = column + width;
        let mut v: Vec<f64> = (start..n).map(|i| a[i + n * column]).collect();
        let scale = v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        if scale == 0.0 || v[1..].iter().all(|&x| x == 0.0) {
            continue;
        }
        v.iter_mut().for_each(|x| *x /= scale); // keeps the squares in range
        v[0] += v[0].signum() * v.iter().map(|x| x * x).sum::<f64>().sqrt();
        // To the left of `column`, the rows from `start` on are already 0, and so are the columns from `start` on
        // above it.
        reflect(a, n, column, start, &v);
        for i in start + 1..n {
            a[i + n * column] = 0.0;
            a[column + n * i] = 0.0;
        }
    }
}

/// Replaces `a` by `H a H`, where `H = I - 2 v v' / v'v` in the rows and columns from `start` on.
pub fn reflect_both(a: &mut [f64], n: usize, start: usize, v: &[f64]) {
    reflect(a, n, 0, start, v);
}

/// Does the same as [`reflect_both`], but skips the rows and columns before `first`, which are known not to
/// change.
fn reflect(a: &mut [f64], n: usize, first: usize, start: usize, v: &[f64]) {
    let factor = 2.0 / v.iter().map(|x| x * x).sum::<f64>();
    for j in first..n {
        let column = &mut a[start + n * j..n * (j + 1)];
        let projection = factor * dot(column, v);
        column.iter_mut().zip(v).for_each(|(x, y)| *x -= projection * y);
    }
    let mut projections = vec![0.0; n - first];
    for (k, y) in v.iter().enumerate() {
        let column = &a[n * (start + k) + first..n * (start + k + 1)];
        projections.iter_mut().zip(column).for_each(|(p, x)| *p += factor * x * y);
    }
    for (k, y) in v.iter().enumerate() {
        let column = &mut a[n * (start + k) + first..n * (start + k + 1)];
        column.iter_mut().zip(&projections).for_each(|(x, p)| *x -= p * y);
    }
}

/// Computes a dot product in eight sums, which the compiler may keep in a vector.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (xs, x_rest) = x.as_chunks::<8>();
    let (ys, y_rest) = y[..x.len()].as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (x, y) in xs.iter().zip(ys) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}
