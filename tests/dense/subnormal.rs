//! Matrices of subnormal numbers, which a device may flush to 0, and matrices that mix them with ones. A power of two
//! scales a decomposition and changes nothing else, so these are judged by the decompositions of the same matrices at
//! an ordinary scale.

use common::gates;
use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_each, referee, sample, suite};
use fiedler::array::Array;
use fiedler::ops::Status;
use fiedler::ops::eigen::{eigh, eigvalsh};
use fiedler::ops::svd::{Vectors, svd, svdvals};
use fiedler::{Context, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "subnormal",
        vec![
            on_each("eigh of multiples of the identity", identities),
            on_each("eigh from 2^-149 to 2^-60", eigenvalues),
            on_each("svd from 2^-149 to 2^-60", singular_values),
            on_each("blocks of subnormal numbers beside ones", beside_ones),
        ],
    )
}

/// The exponents of the scales. Elements are whole numbers up to 15, so that the least subnormal number, 2^-149, times
/// them is exact.
const EXPONENTS: [i32; 7] = [-149, -140, -130, -126, -100, -65, -60];

/// Orders of every form of the kernels (ops/jacobi).
const ORDERS: [usize; 8] = [1, 2, 3, 8, 20, 40, 110, 150];

/// Returns whole numbers from -15 to 15 in a symmetric matrix.
fn symmetric(n: usize, random: &mut SplitMix64) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            let x = random.below(31) as f64 - 15.0;
            (a[i + n * j], a[j + n * i]) = (x, x);
        }
    }
    a
}

fn narrow(a: &[f64], factor: f64) -> Vec<f32> {
    a.iter().map(|x| (x * factor) as f32).collect()
}

/// Checks values that ought to be `truth` times `factor`: within the promised bound, and half of the distance between
/// two subnormal numbers, to which a result is rounded.
fn near(what: &str, got: &[f32], truth: &[f64], factor: f64, promised: f64) {
    for (got, want) in got.iter().zip(truth) {
        let off = (f64::from(*got) - want * factor).abs();
        assert!(off <= promised * factor + 2_f64.powi(-150), "{what}: {got:e} for {:e}", want * factor);
    }
}

fn identities(ctx: &Context) -> Checked {
    for n in ORDERS {
        for x in [1e-40_f32, 1e-45, f32::MIN_POSITIVE, 1e-30] {
            let a: Vec<f32> = (0..n * n).map(|e| if e % n == e / n { x } else { 0.0 }).collect();
            let found = eigh(ctx, &Array::from_vec(Shape::new(n, n, 1), a)?)?;
            let certificate = found.certificates(ctx)?[0];
            assert_eq!(certificate.status, Status::Converged, "{x:e}, order {n}: {certificate:?}");
            // A Rayleigh quotient may be off in its last bits.
            let allowed = 4.0 * gates::EPS * f64::from(x) + 2_f64.powi(-150);
            let values = found.values.to_host(ctx)?;
            let off = |value: &&f32| (f64::from(**value) - f64::from(x)).abs() > allowed;
            assert_eq!(values.as_slice().iter().find(off), None, "{x:e}, order {n}");
        }
    }
    Ok(())
}

fn eigenvalues(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(44);
    for n in ORDERS {
        let a = symmetric(n, &mut random);
        let (truth, norm) = (referee::eigenvalues(&a, n)?, gates::norm(&a, n));
        let promised = gates::allowed_values(n) * gates::EPS * norm;
        for exponent in sample(ctx, EXPONENTS) {
            let (factor, what) = (2_f64.powi(exponent), format!("2^{exponent}, order {n}"));
            let given = Array::from_vec(Shape::new(n, n, 1), narrow(&a, factor))?;
            let found = eigh(ctx, &given)?;
            let certificate = found.certificates(ctx)?[0];
            assert_eq!(certificate.status, Status::Converged, "{what}: {certificate:?}");
            near(&what, found.values.to_host(ctx)?.as_slice(), &truth, factor, promised);
            near(&what, eigvalsh(ctx, &given)?.values.to_host(ctx)?.as_slice(), &truth, factor, promised);
            // The vectors are those of the matrix at an ordinary scale, with the Rayleigh quotients as values.
            let v = found.vectors.to_host(ctx)?;
            let quotients = quotients(&a, n, v.as_slice());
            gates::residual(&a, &quotients, &wide(v.as_slice()))
                .within(gates::ALLOWED)
                .map_err(|e| format!("{what}: {e}"))?;
            gates::orthogonality(v.as_slice(), n).within(gates::ALLOWED).map_err(|e| format!("{what}: {e}"))?;
        }
    }
    Ok(())
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| x.into()).collect()
}

/// Returns the Rayleigh quotients of vectors.
fn quotients(a: &[f64], n: usize, v: &[f32]) -> Vec<f64> {
    let quotient = |v: &[f32]| {
        let v = wide(v);
        let product: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i + n * j] * v[j]).sum()).collect();
        referee::dot(&v, &product) / referee::dot(&v, &v)
    };
    v.chunks_exact(n).map(quotient).collect()
}

fn singular_values(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(45);
    for (m, n) in [(1, 1), (2, 2), (5, 3), (3, 16), (20, 20), (33, 70), (110, 100)] {
        let a: Vec<f64> = (0..m * n).map(|_| random.below(31) as f64 - 15.0).collect();
        let truth = faer::MatRef::from_column_major_slice(&a, m, n).singular_values();
        let truth = truth.map_err(|_| "no singular values")?;
        // The 2-norm is at most the 1-norm of A'A under the root; twice what LAPACK's bound allows of it.
        let promised = 2.0 * (m.max(n) as f64 / 3.0).max(30.0) * gates::EPS * truth[0];
        for exponent in sample(ctx, EXPONENTS) {
            let (factor, what) = (2_f64.powi(exponent), format!("2^{exponent}, {m} x {n}"));
            let given = Array::from_vec(Shape::new(m, n, 1), narrow(&a, factor))?;
            let found = svd(ctx, &given, Vectors::Thin)?;
            let certificate = found.certificates(ctx)?[0];
            assert_eq!(certificate.status, Status::Converged, "{what}: {certificate:?}");
            let (u, vh) = (found.u.to_host(ctx)?, found.vh.to_host(ctx)?);
            near(&what, found.s.to_host(ctx)?.as_slice(), &truth, factor, promised);
            near(&what, svdvals(ctx, &given)?.s.to_host(ctx)?.as_slice(), &truth, factor, promised);
            // U'A V is diagonal, with the singular values.
            let (u, vh) = (u.matrix(0).map(f64::from), vh.matrix(0).map(f64::from));
            let middle = u.transpose() * nalgebra::DMatrix::from_column_slice(m, n, &a) * vh.transpose();
            for (at, x) in middle.iter().enumerate() {
                let (i, j) = (at % middle.nrows(), at / middle.nrows());
                let want = if i == j { truth[i] } else { 0.0 };
                assert!((x - want).abs() <= promised, "{what}: {x:e} at {i}, {j} of U'AV, for {want:e}");
            }
        }
    }
    Ok(())
}

/// In a block diagonal matrix of ones and of subnormal numbers, the latter are rounding errors of the former. Next to
/// it in the batch, the same numbers alone are a matrix of their own.
fn beside_ones(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(46);
    for n in [4, 12, 40] {
        let own = symmetric(n, &mut random);
        let small = narrow(&own, 2_f64.powi(-145));
        let mixed: Vec<f32> = (0..n * n).map(|e| if e == 0 { 1.0 } else { small[e] }).collect();
        let found = eigh(ctx, &Array::from_vec(Shape::new(n, n, 3), [&mixed[..], &small, &mixed].concat())?)?;
        let certificates = found.certificates(ctx)?;
        assert!(certificates.iter().all(|found| found.status == Status::Converged), "order {n}: {certificates:?}");
        let values = found.values.to_host(ctx)?;
        let promised = gates::allowed_values(n) * gates::EPS;
        let mut truth = vec![0.0; n];
        truth[n - 1] = 1.0;
        near("mixed", &values.as_slice()[..n], &truth, 1.0, promised);
        let norm = gates::norm(&own, n);
        near("alone", &values.as_slice()[n..2 * n], &referee::eigenvalues(&own, n)?, 2_f64.powi(-145), promised * norm);
        assert_eq!(values.matrix(0), values.matrix(2), "order {n}");
    }
    Ok(())
}
