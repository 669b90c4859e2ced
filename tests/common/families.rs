//! Difficult matrices: LAPACK's 21 symmetric test types (DCHKST), its banded test types (DDRVST), and glued
//! Wilkinson matrices.
//!
//! Every matrix is column-major, exactly symmetric, and **rounded to f32**: the device receives the same matrix
//! that the f64 referee judges, so no allowance is made for the conversion.

use super::random::SplitMix64;
use super::referee;

/// f32's spacing at 1, which is LAPACK's ULP in single precision. The condition number of most types is 1 / ULP.
const ULP: f64 = f32::EPSILON as f64;

/// `LARGE` and `SMALL` are the square roots of f32's overflow and underflow thresholds (2^126 and 2^-126, because
/// LAPACK's OVFL is 1 / UNFL). The squares of entries of this size leave f32's range, while the entries and their
/// norms are finite. LAPACK keeps its own types a factor of `n / ULP` away from these limits, because it tests
/// routines that do not scale. The routines tested here do scale, so these types are harsher. The smallest entries
/// that a type sets on purpose, ULP 2^-63 = 2^-86, are normal numbers, and the largest column sums, n 2^63, are
/// finite, so all of them cast to f32 without loss.
const LARGE: f64 = (1_u64 << 63) as f64;
const SMALL: f64 = 1.0 / LARGE;

/// A matrix with a name for messages.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub n: usize,
    pub a: Vec<f64>,
}

/// How eigenvalues spread from 1 down to 1 / condition: modes 1, 3 and 4 of LAPACK's DLATM1.
#[derive(Clone, Copy, Debug)]
enum Spread {
    Clustered,
    Geometric,
    Even,
}

/// Returns all 21 types at size `n`, named after type, size and seed.
pub fn lapack_types(n: usize, seed: u64) -> Vec<Case> {
    let case = |kind| Case {
        name: format!("LAPACK type {kind}, n = {n}, seed {seed}"),
        n,
        a: lapack_type(kind, n, &mut SplitMix64::new(seed + u64::from(kind))),
    };
    (1..=21).map(case).collect()
}

/// Returns LAPACK's symmetric test matrix type `kind`, 1 to 21, in the order of DCHKST's table. Where the text and
/// the table of DCHKST differ, this function follows the table. (For types 6 and 7 the text says geometric, and
/// the table says evenly spaced.)
pub fn lapack_type(kind: u32, n: usize, random: &mut SplitMix64) -> Vec<f64> {
    use Spread::{Clustered, Even, Geometric};
    let ill = 1.0 / ULP;
    let milder = 0.1 / (ULP * n.max(1) as f64); // DCHKST's condition number from type 16 on: the matrix stays definite when it is rounded
    let a = match kind {
        1 => vec![0.0; n * n],
        2 => diagonal(&vec![1.0; n]),
        3 => diagonal(&signed(Even, n, ill, random)),
        4 => diagonal(&signed(Geometric, n, ill, random)),
        5 => diagonal(&signed(Clustered, n, ill, random)),
        6 => times(diagonal(&signed(Even, n, ill, random)), LARGE),
        7 => times(diagonal(&signed(Even, n, ill, random)), SMALL),
        8 => similar(&signed(Even, n, ill, random), random),
        9 => similar(&signed(Geometric, n, ill, random), random),
        10 => similar(&signed(Clustered, n, ill, random), random),
        11 => times(similar(&signed(Even, n, ill, random), random), LARGE),
        12 => times(similar(&signed(Even, n, ill, random), random), SMALL),
        13 => uniform(n, random),
        14 => times(uniform(n, random), LARGE),
        15 => times(uniform(n, random), SMALL),
        16 => similar(&spread(Even, n, milder), random),
        17 => similar(&spread(Geometric, n, milder), random),
        18 => similar(&spread(Clustered, n, milder), random),
        19 => times(similar(&spread(Even, n, milder), random), LARGE),
        20 => times(similar(&spread(Even, n, milder), random), SMALL),
        21 => dominant(&spread(Geometric, n, milder), random),
        _ => panic!("LAPACK has symmetric types 1 to 21, not {kind}"),
    };
    rounded(a, n)
}

/// Returns DDRVST's banded types: a random half-bandwidth, and eigenvalues with random signs that are evenly
/// spaced, geometric or clustered.
pub fn banded_types(n: usize, seed: u64) -> Vec<Case> {
    let mut random = SplitMix64::new(seed);
    [Spread::Even, Spread::Geometric, Spread::Clustered]
        .map(|how| {
            let mut a = similar(&signed(how, n, 1.0 / ULP, &mut random), &mut random);
            let width = 1 + random.below(n.saturating_sub(1));
            referee::band(&mut a, n, width);
            let name = format!("DDRVST band, {how:?}, half-bandwidth {width}, n = {n}, seed {seed}");
            Case { name, n, a: rounded(a, n) }
        })
        .into()
}

/// Returns `blocks` copies of Wilkinson's W+ of size `2 half + 1` along the diagonal, joined by off-diagonal
/// entries `glue`. Each eigenvalue of W+ becomes a cluster of `blocks` eigenvalues, which is about `glue` wide and
/// is the hardest case for inverse iteration and for MRRR.
pub fn glued_wilkinson(blocks: usize, half: usize, glue: f64) -> Case {
    let size = 2 * half + 1;
    let n = blocks * size;
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        a[i + n * i] = (i % size).abs_diff(half) as f64;
        if i > 0 {
            let off = if i % size == 0 { glue } else { 1.0 };
            a[i + n * (i - 1)] = off;
            a[i - 1 + n * i] = off;
        }
    }
    Case { name: format!("{blocks} Wilkinson matrices of {size}, glue {glue:e}"), n, a: rounded(a, n) }
}

impl Case {
    /// Returns the matrix times `factor`, for scales from 1e-30 to 1e30. f32 allows magnitudes up to 3e38. A
    /// device may flush entries below 1e-38 to zero, but these are at most 1e-8 times the norm, which is less than
    /// one eps of it.
    pub fn scaled(&self, factor: f64) -> Self {
        let a = rounded(times(self.a.clone(), factor), self.n);
        Self { name: format!("{factor:e} times {}", self.name), n: self.n, a }
    }

    /// Returns the matrix in f32 for a device. This is exact because every entry is an f32 already.
    pub fn as_f32(&self) -> Vec<f32> {
        self.a.iter().map(|&x| x as f32).collect()
    }
}

fn spread(how: Spread, n: usize, condition: f64) -> Vec<f64> {
    let part = |i: usize| if n > 1 { i as f64 / (n - 1) as f64 } else { 0.0 };
    (0..n)
        .map(|i| match how {
            Spread::Clustered if i > 0 => 1.0 / condition,
            Spread::Clustered => 1.0,
            Spread::Geometric => condition.powf(-part(i)),
            Spread::Even => 1.0 - part(i) * (1.0 - 1.0 / condition),
        })
        .collect()
}

fn signed(how: Spread, n: usize, condition: f64, random: &mut SplitMix64) -> Vec<f64> {
    spread(how, n, condition).into_iter().map(|x| x * random.sign()).collect()
}

fn diagonal(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    (0..n * n).map(|i| if i % n == i / n { values[i % n] } else { 0.0 }).collect()
}

fn times(a: Vec<f64>, factor: f64) -> Vec<f64> {
    a.into_iter().map(|x| x * factor).collect()
}

fn uniform(n: usize, random: &mut SplitMix64) -> Vec<f64> {
    (0..n * n).map(|_| random.signed()).collect()
}

/// Returns `Q' D Q`, where D is the diagonal matrix of `values` and Q is Haar distributed. Q is a product of
/// reflections, one by a normally distributed vector for each trailing block (as in LAPACK's DLAGSY).
fn similar(values: &[f64], random: &mut SplitMix64) -> Vec<f64> {
    let n = values.len();
    let mut a = diagonal(values);
    for start in (0..n.saturating_sub(1)).rev() {
        let v: Vec<f64> = (start..n).map(|_| random.normal()).collect();
        referee::reflect_both(&mut a, n, start, &v);
    }
    a
}

/// Returns a positive definite tridiagonal matrix whose off-diagonal entries are cut to half the geometric mean of
/// their neighbors, as in DCHKST.
fn dominant(values: &[f64], random: &mut SplitMix64) -> Vec<f64> {
    let n = values.len();
    let (d, below) = referee::tridiagonal(&similar(values, random), n);
    let mut a = diagonal(&d);
    for i in 1..n {
        let most = 0.5 * (d[i - 1] * d[i]).abs().sqrt();
        let off = below[i - 1].clamp(-most, most);
        a[i + n * (i - 1)] = off;
    }
    a
}

/// Rounds each entry to f32 and mirrors the lower triangle to the upper.
fn rounded(a: Vec<f64>, n: usize) -> Vec<f64> {
    (0..n * n).map(|i| f64::from(a[(i % n).max(i / n) + n * (i % n).min(i / n)] as f32)).collect()
}
