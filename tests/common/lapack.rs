//! The errors of LAPACK's f32 drivers on the matrices of these tests, and the bounds on this library's errors that
//! follow from them.
//!
//! The errors were measured on 2026-11-22 with SciPy 1.17.1 (OpenBLAS 0.3.31) by `python3 benches/accuracy.py
//! --rust`, which makes the same matrices from the same seeds, 1 to 3. Each number is the worst error for the three
//! seeds, rounded up to a tenth, in units of eps times the largest magnitude of a true value.

use super::gates::EPS;

/// Returns the error that the design promises: twice LAPACK's error. An error of LAPACK below 1.5 eps, the error of
/// the sum of one row in f32, counts as 1.5 eps. It may be so small because all three draws were lucky, or because
/// the matrix is nearly diagonal, so that its reduction is nearly exact.
pub fn allowed(lapack: f64) -> f64 {
    2.0 * lapack.max(1.5)
}

/// Computes `max |x - truth| / (eps |truth|_max)`. If a value is NaN, so is the result.
pub fn off(values: &[f64], truth: &[f64]) -> f64 {
    assert_eq!(values.len(), truth.len());
    let worse = |most: f64, x: f64| if x.is_nan() || x > most { x } else { most };
    let largest = truth.iter().map(|x| x.abs()).fold(f64::from(f32::MIN_POSITIVE), worse);
    values.iter().zip(truth).map(|(x, y)| (x - y).abs()).fold(0.0, worse) / (EPS * largest)
}

/// Returns a complaint if values are further from the truth than `allowed`.
pub fn against(name: &str, found: impl IntoIterator<Item = f32>, truth: &[f64], allowed: f64) -> Option<String> {
    let found: Vec<f64> = found.into_iter().map(f64::from).collect();
    let got = off(&found, truth);
    let within = got <= allowed; // false for NaN
    (!within).then(|| format!("{name}: off by {got:.2} eps at most, allowed {allowed:.2}"))
}

/// Returns an error that lists all complaints, if there are any.
pub fn verdict(against: Vec<String>) -> Result<(), String> {
    if against.is_empty() { Ok(()) } else { Err(format!("{} cases:\n{}", against.len(), against.join("\n"))) }
}

/// Indices of families that differ only in their scale. The worst of LAPACK's errors in such a group counts for all
/// families of the group.
const SCALED: [&[usize]; 3] = [&[7, 10, 11], &[12, 13, 14], &[15, 18, 19]];
const SCALED_RECTANGLES: [&[usize]; 1] = [&[5, 7, 8]];

/// Returns the error of ssyevd on the family at that index in a row of [`SSYEVD_N`] or [`SSYEVD_V`].
pub fn of_type(row: &[f64; 21], place: usize) -> f64 {
    of_family(row, place, &SCALED)
}

/// Returns the error of sgesdd on the family at that index in a row of [`SGESDD`].
pub fn of_rectangle(row: &[f64; 17], place: usize) -> f64 {
    of_family(row, place, &SCALED_RECTANGLES)
}

fn of_family(row: &[f64], place: usize, scaled: &[&[usize]]) -> f64 {
    let own = [place];
    let family = scaled.iter().find(|family| family.contains(&place)).copied().unwrap_or(&own);
    family.iter().map(|&place| row[place]).fold(0.0, f64::max)
}

/// Returns a bound on the error of sgesdd's singular values on the worst of all these families, for shapes that are
/// not in [`SGESDD`]. The bound is above all errors in that table, and above the error of 28 at 520 x 513.
pub fn sgesdd(m: usize, n: usize) -> f64 {
    let n = m.max(n) as f64;
    (2.0 * n.sqrt()).min(12.0) + n / 30.0
}

/// The errors of sgesdd's singular values in units of eps times the largest singular value, by shape, for each of
/// the families of `rectangles::types` in their order.
pub const SGESDD: [(usize, usize, [f64; 17]); 17] = [
    (2, 2, [0.0, 0.0, 1.5, 1.0, 1.3, 1.1, 1.1, 2.3, 2.3, 1.1, 0.4, 0.3, 0.6, 0.5, 0.0, 0.4, 0.7]),
    (5, 5, [0.0, 0.0, 0.6, 0.9, 1.0, 1.9, 2.4, 2.2, 2.2, 1.4, 1.2, 2.6, 0.9, 0.3, 0.9, 0.1, 1.6]),
    (16, 5, [0.0, 0.0, 0.2, 1.0, 0.6, 1.1, 1.8, 1.9, 1.9, 1.4, 1.0, 1.9, 0.4, 1.7, 0.8, 1.5, 1.5]),
    (16, 16, [0.0, 0.0, 0.7, 1.8, 1.6, 5.1, 1.3, 3.9, 3.9, 6.0, 3.1, 5.3, 1.6, 2.1, 0.1, 0.7, 2.0]),
    (2, 16, [0.0, 0.0, 0.6, 1.8, 2.1, 0.7, 1.4, 6.1, 6.1, 1.0, 1.1, 1.3, 0.9, 1.4, 0.5, 0.3, 0.6]),
    (16, 31, [0.0, 0.0, 0.9, 1.9, 1.5, 4.4, 1.0, 5.1, 5.1, 5.9, 4.6, 4.0, 1.8, 0.9, 0.7, 0.4, 1.4]),
    (32, 32, [0.0, 0.0, 1.7, 1.8, 2.5, 8.9, 2.6, 8.8, 8.8, 3.8, 3.2, 4.7, 2.0, 1.7, 1.0, 1.3, 2.5]),
    (33, 33, [0.0, 0.0, 1.8, 2.8, 3.3, 5.4, 3.6, 11.7, 11.7, 4.1, 3.4, 4.8, 1.3, 0.7, 0.5, 0.9, 1.8]),
    (64, 33, [0.0, 0.0, 1.8, 3.8, 2.2, 7.1, 4.7, 5.4, 5.4, 4.5, 7.0, 4.6, 1.7, 1.2, 0.8, 0.9, 1.7]),
    (64, 64, [0.0, 0.0, 1.3, 2.8, 2.9, 2.6, 3.3, 10.8, 10.8, 4.1, 4.9, 4.0, 1.7, 3.1, 0.5, 0.5, 1.7]),
    (100, 64, [0.0, 0.0, 1.5, 2.8, 4.4, 13.3, 4.0, 4.1, 4.1, 3.8, 6.4, 5.1, 1.1, 3.7, 0.9, 0.4, 1.4]),
    (33, 100, [0.0, 0.0, 0.4, 2.9, 2.6, 4.1, 2.1, 7.0, 7.0, 4.6, 4.5, 5.8, 3.0, 0.9, 0.6, 0.7, 1.6]),
    (100, 100, [0.0, 0.0, 0.9, 3.8, 8.9, 5.3, 3.6, 6.5, 6.5, 4.4, 4.0, 9.0, 2.4, 3.5, 0.7, 1.1, 2.5]),
    (5, 300, [0.0, 0.0, 5.6, 5.8, 0.9, 2.9, 2.2, 6.4, 6.4, 3.0, 2.9, 1.3, 1.8, 0.9, 3.7, 0.8, 1.2]),
    (300, 100, [0.0, 0.0, 1.5, 5.3, 7.3, 12.0, 4.5, 5.2, 5.2, 4.5, 5.5, 7.3, 3.5, 3.1, 1.4, 0.9, 1.6]),
    (64, 300, [0.0, 0.0, 1.1, 4.3, 7.0, 9.5, 3.3, 9.8, 9.8, 4.1, 3.9, 5.8, 3.5, 1.0, 5.2, 0.6, 2.3]),
    (300, 300, [0.0, 0.0, 0.5, 6.8, 8.3, 8.8, 3.4, 7.3, 7.3, 3.4, 4.3, 7.6, 4.8, 5.2, 13.4, 1.4, 2.9]),
];

/// For each row of [`SGESDD`], the largest residual `|A - U S Vh| / (n eps |A|)` of sgesdd over all families, and its
/// largest departure from orthonormality, `|I - U'U| / (n eps)` or `|I - Vh Vh'| / (n eps)`. The norm is the 1-norm,
/// and n is the larger dimension. Measured on 2026-11-23 and rounded up to a hundredth.
pub const SGESDD_BASES: [(f64, f64); 17] = [
    (2.11, 2.34),
    (1.05, 1.81),
    (0.46, 0.74),
    (0.76, 1.71),
    (0.37, 0.35),
    (0.53, 1.02),
    (0.40, 1.23),
    (0.58, 1.25),
    (0.26, 0.72),
    (0.36, 1.08),
    (0.29, 1.14),
    (0.17, 0.40),
    (0.36, 1.22),
    (0.08, 0.34),
    (0.14, 0.31),
    (0.08, 0.58),
    (0.21, 3.92),
];

/// The errors of ssyevd's eigenvalues when it computes no eigenvectors, in units of eps times the largest magnitude
/// of an eigenvalue, by order, for LAPACK's types 1 to 21.
pub const SSYEVD_N: [(usize, [f64; 21]); 12] = [
    (2, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.2, 0.2, 0.2, 0.3, 1.2, 0.7, 1.3, 1.3, 0.1, 0.1, 0.1, 0.1, 1.1, 0.2]),
    (3, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 1.9, 0.9, 1.5, 2.2, 1.4, 1.7, 4.1, 4.1, 1.8, 1.1, 2.1, 1.5, 2.0, 0.6]),
    (5, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 2.4, 1.0, 0.7, 1.5, 1.0, 2.0, 1.7, 1.2, 1.2, 1.4, 1.9, 2.0, 3.0, 0.8]),
    (16, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 5.1, 1.2, 0.2, 3.4, 6.1, 3.5, 2.2, 5.0, 3.5, 2.2, 1.0, 3.3, 3.3, 1.2]),
    (20, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 5.1, 1.0, 0.3, 5.7, 6.1, 3.4, 3.0, 2.7, 4.1, 1.2, 0.8, 3.8, 4.2, 2.4]),
    (33, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 9.5, 4.4, 0.2, 11.0, 4.5, 4.1, 6.3, 7.5, 3.9, 2.1, 0.7, 4.6, 5.1, 5.2]),
    (64, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 21.0, 2.9, 0.2, 10.5, 16.8, 5.9, 6.7, 9.4, 4.9, 7.6, 0.3, 6.2, 7.3, 3.3]),
    (
        100,
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 18.9, 6.3, 0.3, 9.5, 11.4, 15.2, 12.2, 7.8, 6.5, 6.6, 0.2, 8.4, 7.8, 5.5],
    ),
    (
        128,
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 24.9, 5.8, 0.3, 11.6, 19.9, 11.4, 8.5, 17.4, 9.4, 5.1, 0.1, 13.4, 8.4, 6.8],
    ),
    (
        129,
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 18.2, 3.9, 0.2, 16.4, 10.5, 10.0, 7.4, 7.2, 7.0, 7.8, 0.2, 9.5, 8.3, 5.8],
    ),
    (
        200,
        [
            0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 17.2, 12.9, 0.3, 20.1, 18.6, 20.7, 9.5, 14.1, 8.5, 12.0, 0.2, 16.0,
            10.8, 9.7,
        ],
    ),
    (
        300,
        [
            0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 30.6, 17.1, 0.3, 28.6, 23.7, 14.7, 13.3, 26.2, 11.7, 14.0, 0.3, 12.7,
            11.7, 17.1,
        ],
    ),
];

/// The errors of the eigenvalues that ssyevd computes together with eigenvectors, in the same order and unit.
pub const SSYEVD_V: [(usize, [f64; 21]); 12] = [
    (2, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.2, 0.2, 0.2, 0.3, 1.2, 0.7, 1.3, 1.3, 0.1, 0.1, 0.1, 0.1, 1.1, 0.2]),
    (3, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 1.6, 1.9, 1.5, 1.2, 1.7, 1.0, 3.0, 4.1, 1.0, 0.6, 1.1, 1.5, 1.5, 0.5]),
    (5, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 2.9, 2.0, 1.0, 2.0, 1.9, 1.9, 1.4, 1.9, 1.1, 0.9, 2.9, 1.7, 2.0, 0.9]),
    (16, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 2.0, 0.7, 0.2, 5.2, 3.5, 3.7, 3.2, 2.7, 2.6, 0.7, 1.3, 3.1, 2.8, 0.9]),
    (20, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 2.4, 1.1, 0.3, 3.2, 5.7, 3.5, 4.4, 2.9, 2.9, 1.8, 1.0, 3.5, 3.4, 1.5]),
    (33, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 2.9, 1.9, 2.0, 2.7, 2.8, 2.5, 3.2, 2.4, 2.1, 2.1, 0.8, 4.7, 2.1, 2.6]),
    (64, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 6.9, 2.2, 1.2, 3.8, 3.3, 3.1, 2.7, 2.9, 3.8, 2.2, 0.3, 3.4, 4.0, 1.6]),
    (100, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 3.7, 2.8, 1.4, 3.6, 2.8, 2.5, 2.4, 2.7, 3.0, 2.6, 0.6, 2.9, 2.9, 1.3]),
    (128, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 3.4, 3.9, 1.8, 3.5, 3.5, 3.6, 4.2, 2.5, 2.6, 4.5, 0.2, 3.4, 3.4, 1.4]),
    (129, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 2.6, 3.4, 1.8, 4.1, 4.1, 2.9, 3.5, 3.5, 3.5, 5.3, 0.7, 3.2, 3.2, 2.1]),
    (200, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 3.9, 3.8, 1.2, 6.2, 6.2, 2.6, 3.6, 3.4, 3.3, 5.0, 0.4, 4.9, 4.9, 2.7]),
    (300, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 4.2, 5.5, 2.0, 5.6, 4.0, 3.3, 2.4, 2.4, 4.8, 4.5, 0.8, 4.4, 4.4, 1.7]),
];
