//! Difficult rectangular matrices, after LAPACK's DDRVBD and DCHKBD, and the judges of their singular value
//! decompositions.
//!
//! Every matrix is column-major and rounded to f32, so that the device receives the same matrix with which its
//! result is judged in f64.

use super::dump::dump;
use super::random::SplitMix64;
use super::{gates, lapack};
use faer::linalg::solvers::Svd as Referee;
use faer::{Mat, MatRef};
use fiedler::array::{Array, HostArray, Real};
use fiedler::ops::svd::{Svd, Vectors, svd};
use fiedler::ops::{Certificate, Status};
use fiedler::{Context, Shape};
use rayon::prelude::*;
use std::sync::Arc;

/// f32's ULP in LAPACK's sense. The condition number of most types is 1 / ULP.
const ULP: f64 = gates::EPS;

/// The design's bound for the residual and for both orthogonalities, in units of `max(m, n) eps`.
pub const ALLOWED: f64 = 15.0;

/// A matrix with a name for messages.
#[derive(Clone, Debug)]
pub struct Rectangle {
    pub name: String,
    pub m: usize,
    pub n: usize,
    pub a: Vec<f64>,
}

/// How singular values spread from 1 down to `ULP`: DLATM1's modes 1 to 5.
const MODES: [&str; 5] = ["one large", "one small", "geometric", "even", "log-random"];

fn spectrum(mode: usize, k: usize, random: &mut SplitMix64) -> Vec<f64> {
    let part = |i: usize| if k > 1 { i as f64 / (k - 1) as f64 } else { 0.0 };
    let value = |i: usize| match mode {
        0 => {
            if i == 0 {
                1.0
            } else {
                ULP
            }
        }
        1 => {
            if i + 1 < k {
                1.0
            } else {
                ULP
            }
        }
        2 => ULP.powf(part(i)),
        3 => 1.0 - part(i) * (1.0 - ULP),
        _ => ULP.powf(random.unit()),
    };
    (0..k).map(value).collect()
}

/// Returns `U diag(values) V'`, where U and V are products of random reflections and thus Haar distributed.
pub fn with_values(m: usize, n: usize, values: &[f64], random: &mut SplitMix64) -> Vec<f64> {
    let mut a = vec![0.0; m * n];
    values.iter().enumerate().for_each(|(i, x)| a[i + m * i] = *x);
    // The reflections of U are applied to the trailing rows. Then the reflections of V are applied to the rows of
    // the transpose.
    for start in (0..m.saturating_sub(1)).rev() {
        reflect(&mut a, m, start, random);
    }
    let mut t = transposed(&a, m, n);
    for start in (0..n.saturating_sub(1)).rev() {
        reflect(&mut t, n, start, random);
    }
    transposed(&t, n, m)
}

fn reflect(a: &mut [f64], m: usize, start: usize, random: &mut SplitMix64) {
    let v: Vec<f64> = (start..m).map(|_| random.normal()).collect();
    let factor = 2.0 / v.iter().map(|x| x * x).sum::<f64>();
    for column in a.chunks_exact_mut(m) {
        let tail = &mut column[start..];
        let projection = factor * tail.iter().zip(&v).map(|(x, y)| x * y).sum::<f64>();
        tail.iter_mut().zip(&v).for_each(|(x, y)| *x -= projection * y);
    }
}

fn transposed(a: &[f64], m: usize, n: usize) -> Vec<f64> {
    (0..m * n).map(|e| a[e / n + m * (e % n)]).collect()
}

impl Rectangle {
    pub fn new(name: impl Into<String>, m: usize, n: usize, a: Vec<f64>) -> Self {
        assert_eq!(a.len(), m * n);
        Self { name: name.into(), m, n, a: a.into_iter().map(|x| f64::from(x as f32)).collect() }
    }

    /// Returns the matrix times `factor`.
    pub fn scaled(&self, factor: f64) -> Self {
        let a = self.a.iter().map(|x| x * factor).collect();
        Self::new(format!("{factor:e} times {}", self.name), self.m, self.n, a)
    }
}

/// A scale near the square root of f32's overflow threshold. Its inverse is near the square root of the underflow
/// threshold. The squares of entries of this size leave f32's range.
const LARGE: f64 = (1_u64 << 63) as f64;

/// Returns all types of one shape, in the order of [`super::lapack::SGESDD`]'s columns.
pub fn types(m: usize, n: usize, seed: u64) -> Vec<Rectangle> {
    let mut random = SplitMix64::new(seed ^ ((m as u64) << 32) ^ n as u64);
    let k = m.min(n);
    let mut all = Vec::new();
    let mut push =
        |name: &str, a: Vec<f64>| all.push(Rectangle::new(format!("{name}, {m} x {n}, seed {seed}"), m, n, a));
    push("zero", vec![0.0; m * n]);
    push("identity", (0..m * n).map(|e| if e % m == e / m { 1.0 } else { 0.0 }).collect());
    for (mode, name) in MODES.iter().enumerate() {
        let values = spectrum(mode, k, &mut random);
        push(name, with_values(m, n, &values, &mut random));
    }
    let even = with_values(m, n, &spectrum(3, k, &mut random), &mut random);
    push("even, large", even.iter().map(|x| x * LARGE).collect());
    push("even, small", even.iter().map(|x| x / LARGE).collect());
    push("uniform", (0..m * n).map(|_| random.signed()).collect());
    // DCHKBD's type 16: the logarithms of the entries are uniform, here between `ULP^2` and 1.
    push("log-random entries", (0..m * n).map(|_| random.sign() * ULP.powf(2.0 * random.unit())).collect());
    push(
        "bidiagonal",
        (0..m * n).map(|e| if e / m == e % m || e / m == e % m + 1 { random.signed() } else { 0.0 }).collect(),
    );
    push(
        "columns graded",
        (0..m * n).map(|e| random.signed() * 10.0_f64.powf(-20.0 * (e / m) as f64 / n as f64)).collect(),
    );
    push(
        "rows graded upward",
        (0..m * n).map(|e| random.signed() * 10.0_f64.powf(-20.0 + 20.0 * (e % m) as f64 / m as f64)).collect(),
    );
    push("all ones", vec![1.0; m * n]);
    push("Hilbert", (0..m * n).map(|e| 1.0 / ((e / m + e % m) as f64 + 1.0)).collect());
    push("rank 3", {
        let mut a = vec![0.0; m * n];
        for _ in 0..3 {
            let left: Vec<f64> = (0..m).map(|_| random.signed()).collect();
            let right: Vec<f64> = (0..n).map(|_| random.signed()).collect();
            a.iter_mut().enumerate().for_each(|(e, x)| *x += left[e % m] * right[e / m]);
        }
        a
    });
    all
}

/// Returns a random matrix of rank `rank`, drawn in the same way as the matrices on which nalgebra's `svd` fails
/// one time in six (nalgebra#1172).
pub fn low_rank(m: usize, n: usize, rank: usize, random: &mut SplitMix64) -> Rectangle {
    let left: Vec<f64> = (0..m * rank).map(|_| random.signed()).collect();
    let right: Vec<f64> = (0..n * rank).map(|_| random.signed()).collect();
    let entry = |i: usize, j: usize| (0..rank).map(|r| left[i + m * r] * right[j + n * r]).sum::<f64>();
    Rectangle::new(format!("rank {rank}, {m} x {n}"), m, n, (0..m * n).map(|e| entry(e % m, e / m)).collect())
}

/// Returns the cases, all of one shape, as one batch.
pub fn array<T: Real>(cases: &[Rectangle]) -> Array<T> {
    let (m, n) = cases.first().map_or((0, 0), |case| (case.m, case.n));
    assert!(cases.iter().all(|case| (case.m, case.n) == (m, n)), "one shape");
    let data = cases.iter().flat_map(|case| case.a.iter().map(|&x| T::from_f64(x))).collect();
    Array::from_vec(Shape::new(m, n, cases.len()), data).expect("as many numbers as the shape says")
}

/// A decomposition on the host.
#[derive(Clone, Debug)]
pub struct Host<T> {
    pub u: HostArray<T>,
    pub s: HostArray<T>,
    pub vh: HostArray<T>,
    pub certificates: Arc<Vec<Certificate>>,
}

impl<T: Real> Host<T> {
    pub fn of(ctx: &Context, found: &Svd<T>) -> fiedler::Result<Self> {
        let certificates = found.certificates(ctx)?;
        Ok(Self { u: found.u.to_host(ctx)?, s: found.s.to_host(ctx)?, vh: found.vh.to_host(ctx)?, certificates })
    }
}

pub fn solve<T: Real>(ctx: &Context, cases: &[Rectangle], vectors: Vectors) -> fiedler::Result<Host<T>> {
    Host::of(ctx, &svd(ctx, &array::<T>(cases), vectors)?)
}

/// The worst of every measure over a batch, divided by its allowed bound, and the largest number of sweeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worst {
    pub residual: f64,
    pub orthogonality: f64,
    pub values: f64,
    pub sweeps: u32,
}

impl Worst {
    #[must_use]
    pub fn with(self, b: Self) -> Self {
        Self {
            residual: self.residual.max(b.residual),
            orthogonality: self.orthogonality.max(b.orthogonality),
            values: self.values.max(b.values),
            sweeps: self.sweeps.max(b.sweeps),
        }
    }
}

/// Solves and judges cases of one shape.
pub fn check<T: Real + Into<f64>>(ctx: &Context, cases: &[Rectangle], vectors: Vectors) -> Result<Worst, String> {
    let found = solve::<T>(ctx, cases, vectors).map_err(|e| e.to_string())?;
    judge(cases, &found, vectors)
}

/// Checks every decomposition against the promised bounds and its certificate against a recomputation in f64.
pub fn judge<T: Real + Into<f64>>(cases: &[Rectangle], found: &Host<T>, vectors: Vectors) -> Result<Worst, String> {
    let one = |(i, case): (usize, &Rectangle)| {
        let wide = |x: &HostArray<T>| {
            let x = x.matrix(i);
            Mat::from_fn(x.nrows(), x.ncols(), |r, c| -> f64 { x[(r, c)].into() })
        };
        let s: Vec<f64> = wide(&found.s).col_as_slice(0).to_vec();
        let (u, vh) = (wide(&found.u), wide(&found.vh));
        judge_one(case, &u, &s, &vh, vectors, &found.certificates[i], T::EPSILON).map_err(|e| {
            let why = format!("matrix {i}, {} x {}, {}: {e}", case.m, case.n, case.name);
            let flat = |x: &Mat<f64>| x.col_iter().flat_map(|column| column.iter().copied()).collect::<Vec<f64>>();
            dump(&format!("svd {why}"), &[("a", &case.a), ("u", &flat(&u)), ("s", &s), ("vh", &flat(&vh))]);
            why
        })
    };
    assert_eq!(found.certificates.len(), cases.len());
    cases.par_iter().enumerate().map(one).try_reduce(Worst::default, |a, b| Ok(a.with(b)))
}

fn judge_one(
    case: &Rectangle,
    u: &Mat<f64>,
    s: &[f64],
    vh: &Mat<f64>,
    vectors: Vectors,
    certificate: &Certificate,
    epsilon: f64,
) -> Result<Worst, String> {
    let (m, n, k) = (case.m, case.n, case.m.min(case.n));
    let (left, right) = if vectors == Vectors::Full { (m, n) } else { (k, k) };
    if (u.shape(), s.len(), vh.shape()) != ((m, left), k, (right, n)) {
        return Err(format!("shapes {:?}, {}, {:?}", u.shape(), s.len(), vh.shape()));
    }
    if !s.windows(2).all(|pair| pair[0] >= pair[1]) || !s.iter().all(|&x| x >= 0.0) {
        return Err(format!("values do not descend to 0 at least: {s:?}"));
    }
    let a = MatRef::from_column_major_slice(&case.a, m, n);
    // The norm of the matrix, or of its transpose if the matrix is wide, because the tall one of the two is
    // solved.
    let norm = one_norm(if m < n { a.transpose() } else { a }).max(f64::from(f32::MIN_POSITIVE));
    let unit = m.max(n) as f64 * epsilon;
    let scaled = Mat::from_fn(m, k, |i, j| u[(i, j)] * s[j]);
    let difference = a - &scaled * vh.subrows(0, k);
    let within = |what: &str, got: f64, allowed: f64| {
        if got <= allowed { Ok(got / allowed) } else { Err(format!("{what}: got {got:.3e}, allowed {allowed:.3e}")) }
    };
    let residual = one_norm(if m < n { difference.transpose() } else { difference.as_ref() });
    let (departure_u, departure_v) = (departure(u.as_ref()), departure(vh.transpose()));
    let truth = reference(a)?;
    // In f64 the referee is no better than the result that it judges, and its error in units of f64's eps is
    // larger than the error of LAPACK's f32 drivers in units of f32's eps.
    let (off, values) = match epsilon < ULP {
        false => (lapack::off(s, &truth), lapack::allowed(lapack::sgesdd(m, n))),
        true => {
            let off = s.iter().zip(&truth).map(|(x, y)| (x - y).abs()).fold(0.0, nan_max);
            (off / (epsilon * norm), 2.0 * (m.max(n) as f64 / 3.0).max(30.0))
        }
    };
    let worst = Worst {
        residual: within("|A - U S Vh| / (n eps |A|)", residual / (unit * norm), ALLOWED)?,
        orthogonality: within("|I - U'U| / (n eps)", one_norm(departure_u.as_ref()) / unit, ALLOWED)?.max(within(
            "|I - Vh Vh'| / (n eps)",
            one_norm(departure_v.as_ref()) / unit,
            ALLOWED,
        )?),
        values: within("values, in eps", off, values)?,
        sweeps: certificate.sweeps,
    };
    if certificate.status != Status::Converged {
        return Err(format!("{certificate:?}"));
    }
    // The values of the certificate, from their definitions.
    let (b, p, q) = if m < n { (a.transpose(), vh.transpose(), u.as_ref()) } else { (a, u.as_ref(), vh.transpose()) };
    let product = b * q.subcols(0, k);
    let column =
        |j: usize| (0..b.nrows()).map(|i| ((product[(i, j)] - s[j] * p[(i, j)]) / norm).powi(2)).sum::<f64>().sqrt();
    let residual = (0..k).map(column).fold(0.0, nan_max);
    let largest = |x: &Mat<f64>| x.col_iter().flat_map(|c| c.iter()).map(|x| x.abs()).fold(0.0, nan_max);
    let orthogonality = largest(&departure_u).max(largest(&departure_v));
    // For f64 results, the recomputation in f64 has as much rounding error as the result that it judges.
    let (residual, orthogonality) = if epsilon < ULP {
        (residual.min(certificate.residual), orthogonality.min(certificate.orthogonality))
    } else {
        (residual, orthogonality)
    };
    agrees("residual", certificate.residual, residual, m.max(n), epsilon)?;
    agrees("orthogonality", certificate.orthogonality, orthogonality, m.max(n), epsilon)?;
    Ok(worst)
}

/// Checks a number of a certificate. The certificate is computed in the working precision, in which the rounding
/// error of a sum of n products is about sqrt(n) eps, and at most a tenth of the promised bound. The number is
/// wrong if it exceeds twice the true number by more than n eps, or if it is less than half of the true number
/// minus 2 eps (as for `eigh` in common/solve.rs).
fn agrees(what: &str, certified: f64, truth: f64, n: usize, epsilon: f64) -> Result<(), String> {
    let (least, most) = (truth / 2.0 - 2.0 * epsilon, 2.0 * truth + (n as f64).max(4.0) * epsilon);
    if certified >= least && certified <= most {
        return Ok(());
    }
    Err(format!("certified {what} {certified:.3e}, in truth {truth:.3e}"))
}

fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Computes `X'X - I`.
fn departure(x: MatRef<'_, f64>) -> Mat<f64> {
    x.transpose() * x - Mat::<f64>::identity(x.ncols(), x.ncols())
}

pub fn one_norm(a: MatRef<'_, f64>) -> f64 {
    a.col_iter().map(|column| column.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, nan_max)
}

/// Returns faer's singular values in f64. Before that, it checks that faer's decomposition reproduces the matrix
/// and that its singular vectors are orthonormal.
pub fn reference(a: MatRef<'_, f64>) -> Result<Vec<f64>, String> {
    if a.nrows() == 0 || a.ncols() == 0 {
        return Ok(Vec::new());
    }
    // The matrix is scaled to a largest element of 1. The squares of f32 numbers do not leave f64's range, but
    // the bounds below are easier to state at this scale.
    let size = a.col_iter().flat_map(|c| c.iter()).map(|x| x.abs()).fold(0.0, nan_max);
    let size = if size == 0.0 { 1.0 } else { size };
    let unit = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] / size);
    let found = Referee::new_thin(unit.as_ref()).map_err(|e| format!("the referee: {e:?}"))?;
    let mut s: Vec<f64> = (0..a.nrows().min(a.ncols())).map(|i| found.S()[i]).collect();
    let scaled = Mat::from_fn(a.nrows(), s.len(), |i, j| found.U()[(i, j)] * s[j]);
    let residual = one_norm((&unit - scaled * found.V().transpose()).as_ref());
    let away = one_norm(departure(found.U()).as_ref()).max(one_norm(departure(found.V()).as_ref()));
    // An error of a thousandth of the error that is allowed in f32 would be small enough. LAPACK's threshold of
    // 60 n eps64 is a millionth of the error allowed in f32.
    let allowed = 60.0 * a.nrows().max(a.ncols()) as f64 * f64::EPSILON;
    if residual <= allowed * one_norm(unit.as_ref()).max(1.0) && away <= allowed {
        // faer does not sort the singular values of rank-deficient matrices.
        s.sort_by(|a, b| b.total_cmp(a));
        return Ok(s.into_iter().map(|x| x * size).collect());
    }
    Err(format!("the referee is off: residual {residual:.3e}, orthogonality {away:.3e}, allowed {allowed:.3e}"))
}
