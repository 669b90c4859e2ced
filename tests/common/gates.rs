//! LAPACK's measures of an eigendecomposition A = V L V', computed in f64 on the host, and the bounds that the
//! design promises for them.
//!
//! Matrices are column-major. Eigenvalues and eigenvectors may be f32 or f64. Every check passes if a comparison
//! with `<=` is true, so a NaN fails.

use std::fmt;

use nalgebra::{DMatrix, DMatrixView};

/// f32's spacing at 1, which is LAPACK's ulp in single precision.
pub const EPS: f64 = f32::EPSILON as f64;

/// LAPACK's safe minimum in single precision. A smaller norm is replaced by it, so that the measures of a zero
/// matrix are defined too.
const SAFE_MINIMUM: f64 = f32::MIN_POSITIVE as f64;

/// The promised bound for `|A - V L V'| / (n eps |A|)` and `|I - V'V| / (n eps)`. LAPACK's threshold is 60 and does
/// not depend on size or precision. One-sided Jacobi in f32 stays below 1.5 on every family of matrices here.
pub const ALLOWED: f64 = 10.0;

/// Returns the promised bound for `max |l - l_ref| / (eps |A|)`, the measure of the eigenvalues. By Weyl's theorem
/// this measure is at most n times the measure of the residual. Backward stable methods stay well below n / 3.
/// Small matrices are allowed 30.
pub fn allowed_values(n: usize) -> f64 {
    (n as f64 / 3.0).max(30.0)
}

/// One measure: its worst value, and the column or index where that occurs.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    pub name: &'static str,
    pub index: usize,
    pub got: f64,
}

impl Measure {
    /// Returns the worst of several values, where a NaN is the worst of all. Without values, the worst is 0.
    fn worst(name: &'static str, all: impl IntoIterator<Item = f64>) -> Self {
        let mut worst = Self { name, index: 0, got: 0.0 };
        for (index, got) in all.into_iter().enumerate() {
            if got.is_nan() {
                return Self { name, index, got };
            }
            if got > worst.got {
                worst = Self { name, index, got };
            }
        }
        worst
    }

    /// Returns the measure itself if it is at most `allowed`.
    pub fn within(self, allowed: f64) -> Result<Self, String> {
        if self.got <= allowed { Ok(self) } else { Err(format!("{self}, allowed {allowed:.3e}")) }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: got {:.3e}", self.name, self.index, self.got)
    }
}

/// The three measures of a full decomposition that passed the checks.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    pub residual: Measure,
    pub orthogonality: Measure,
    pub values: Measure,
}

/// Computes the 1-norm of `a`.
pub fn norm(a: &[f64], n: usize) -> f64 {
    sums(a, n).fold(0.0, |m, s| if s.is_nan() || m.is_nan() { f64::NAN } else { s.max(m) })
}

/// Returns the sum of magnitudes of each column.
fn sums(a: &[f64], n: usize) -> impl Iterator<Item = f64> {
    a.chunks_exact(n.max(1)).map(|column| column.iter().map(|x| x.abs()).sum())
}

fn floored(norm: f64) -> f64 {
    if norm < SAFE_MINIMUM { SAFE_MINIMUM } else { norm }
}

fn wide<T: Copy + Into<f64>>(x: &[T]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

fn columns<T: Copy + Into<f64>>(v: &[T], n: usize) -> DMatrix<f64> {
    let m = v.len().checked_div(n).unwrap_or(0);
    assert_eq!(v.len(), n * m, "vectors of {n} entries");
    DMatrix::from_vec(n, m, wide(v))
}

/// Computes `|A - V L V'| / (n eps |A|)` for all n eigenpairs (LAPACK's DSYT21).
pub fn residual<T: Copy + Into<f64>>(a: &[f64], w: &[T], v: &[T]) -> Measure {
    let n = w.len();
    assert_eq!((a.len(), v.len()), (n * n, n * n), "a matrix, {n} values and as many vectors");
    let v = columns(v, n);
    let mut scaled = v.clone();
    scaled.column_iter_mut().zip(w).for_each(|(mut column, &l)| column *= l.into());
    let difference = DMatrixView::from_slice(a, n, n) - scaled * v.transpose();
    let unit = n as f64 * EPS * floored(norm(a, n));
    Measure::worst("residual |A - VLV'| / (n eps |A|)", sums(difference.as_slice(), n).map(|s| s / unit))
}

/// Computes `|A V - V L| / (n eps |A|)` for some eigenpairs of an n x n matrix. For all eigenpairs it equals
/// [`residual`], up to the departure of V from orthogonality.
pub fn residual_of_pairs<T: Copy + Into<f64>>(a: &[f64], n: usize, w: &[T], v: &[T]) -> Measure {
    assert_eq!((a.len(), v.len()), (n * n, n * w.len()), "a matrix, and a vector for each of {} values", w.len());
    let v = columns(v, n);
    let mut difference = DMatrixView::from_slice(a, n, n) * &v;
    for (j, &l) in w.iter().enumerate() {
        let l: f64 = l.into();
        difference.column_mut(j).zip_apply(&v.column(j), |x, y| *x -= l * y);
    }
    let unit = n as f64 * EPS * floored(norm(a, n));
    Measure::worst("residual |AV - VL| / (n eps |A|)", sums(difference.as_slice(), n).map(|s| s / unit))
}

/// Computes `|I - V'V| / (n eps)` for any number of columns of n entries.
pub fn orthogonality<T: Copy + Into<f64>>(v: &[T], n: usize) -> Measure {
    let v = columns(v, n);
    let m = v.ncols();
    let difference = v.transpose() * v - DMatrix::identity(m, m);
    let unit = n as f64 * EPS;
    Measure::worst("orthogonality |I - V'V| / (n eps)", sums(difference.as_slice(), m).map(|s| s / unit))
}

/// Computes `max |l - l_ref| / (eps |A|)`, where l are the eigenvalues `w` and l_ref is `reference`.
pub fn values<T: Copy + Into<f64>>(w: &[T], reference: &[f64], norm: f64) -> Measure {
    assert_eq!(w.len(), reference.len(), "a value for each reference value");
    let unit = EPS * floored(norm);
    Measure::worst("values |l - l_ref| / (eps |A|)", w.iter().zip(reference).map(|(&l, r)| (l.into() - r).abs() / unit))
}

/// Checks that the eigenvalues ascend and that none is NaN.
pub fn ascending<T: Copy + Into<f64>>(w: &[T]) -> Result<(), String> {
    let w = wide(w);
    if w.len() == 1 && w[0].is_nan() {
        return Err("value 0 is NaN".into());
    }
    let ascends = |pair: &[f64]| pair[0] <= pair[1];
    match w.windows(2).position(|pair| !ascends(pair)) {
        Some(i) => Err(format!("values do not ascend at {i}: {:e}, then {:e}", w[i], w[i + 1])),
        None => Ok(()),
    }
}

/// Checks the accuracy that the design promises for all eigenpairs of `a`. `reference` comes from
/// [`super::referee::eigenvalues`] or from a closed form.
pub fn eigh<T: Copy + Into<f64>>(a: &[f64], w: &[T], v: &[T], reference: &[f64]) -> Result<Measures, String> {
    let n = w.len();
    ascending(w)?;
    Ok(Measures {
        residual: residual(a, w, v).within(ALLOWED)?,
        orthogonality: orthogonality(v, n).within(ALLOWED)?,
        values: values(w, reference, norm(a, n)).within(allowed_values(n))?,
    })
}

/// Returns the largest sine of the principal angles between the spans of two sets of columns of n entries. Returns
/// NaN if the sets are not orthonormal bases of spaces of the same dimension, that is, if they are not finite or
/// are further than 1e-2 from orthonormal, which no rounding error explains.
pub fn largest_sine<T: Copy + Into<f64>, U: Copy + Into<f64>>(u: &[T], v: &[U], n: usize) -> f64 {
    let (u, v) = (columns(u, n), columns(v, n));
    let orthonormal = |x: &DMatrix<f64>| {
        let gram = x.transpose() * x - DMatrix::identity(x.ncols(), x.ncols());
        gram.iter().all(|x| x.abs() <= 1e-2)
    };
    if u.ncols() != v.ncols() || !orthonormal(&u) || !orthonormal(&v) {
        return f64::NAN;
    }
    if u.ncols() == 0 {
        return 0.0;
    }
    let (u, v) = (u.qr().q(), v.qr().q());
    let outside = &v - &u * (u.transpose() * &v);
    // The largest singular value is computed from the Gram matrix, because squaring does not reduce the relative
    // accuracy of the largest eigenvalue.
    let squares = (outside.transpose() * outside).symmetric_eigenvalues();
    squares.max().max(0.0).sqrt()
}

/// Compares the eigenvectors `v` with the reference eigenvectors `v_ref`, one cluster of eigenvalues at a time, as
/// the spaces that they span. The sine between a space and its reference has to stay within Davis & Kahan's bound,
/// |residual| / gap, with the residual that the promise allows and the gap between the cluster and its neighbors.
/// Eigenvalues are in one cluster if the gaps between them are so small that the bound, which is then above 0.1,
/// says little. Returns the number of spaces that were compared.
pub fn subspaces<T: Copy + Into<f64>>(a: &[f64], v: &[T], w_ref: &[f64], v_ref: &[f64]) -> Result<usize, String> {
    let n = w_ref.len();
    assert_eq!((a.len(), v.len(), v_ref.len()), (n * n, n * n, n * n), "matrices of {n} columns");
    // The factor of the square root of n turns the residuals of columns into the residual of a whole block.
    let error = ALLOWED * n as f64 * EPS * floored(norm(a, n)) * (n as f64).sqrt();
    let ends: Vec<usize> = (1..=n).filter(|&i| i == n || w_ref[i] - w_ref[i - 1] > 10.0 * error).collect();
    let mut start = 0;
    for &end in &ends {
        let below = if start > 0 { w_ref[start] - w_ref[start - 1] } else { f64::INFINITY };
        let above = if end < n { w_ref[end] - w_ref[end - 1] } else { f64::INFINITY };
        let sine = largest_sine(&v[n * start..n * end], &v_ref[n * start..n * end], n);
        // The second term covers the departure from orthogonality that the promise allows, and the case where a
        // cluster has all eigenvalues, so that no gap exists.
        let allowed = error / below.min(above) + ALLOWED * n as f64 * EPS;
        Measure { name: "sine between the spaces of the cluster", index: start, got: sine }.within(allowed)?;
        start = end;
    }
    Ok(ends.len())
}
