//! Parts of an eigendecomposition on every backend: eigenvalues alone, k eigenpairs, and eigenpairs refined to f64.

use common::families::{Case, glued_wilkinson, lapack_types};
use common::graphs::{self, Kind};
use common::solve::Checked;
use common::{Test, gates, on_cpu, on_each, referee, suite};
use fiedler::array::{Array, Real};
use fiedler::ops::{Status, Which, eigh, eigh_refined, eigh_subset, eigvalsh};
use fiedler::{Context, ErrorKind, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "parts",
        vec![
            on_each("values alone", |ctx| values_alone::<f32>(ctx, &[1, 2, 3, 8, 20, 33, 60])),
            on_cpu("values alone, large", |ctx| values_alone::<f32>(ctx, &[127, 128, 129, 257, 511])),
            on_cpu("values alone in f64", |ctx| values_alone::<f64>(ctx, &[2, 20, 64, 128, 129, 257])),
            on_cpu("the trace and the 2-norm detect a wrong value", invariants),
            on_each("k pairs", |ctx| k_pairs::<f32>(ctx, &[1, 2, 5, 40])),
            on_cpu("k pairs, large", |ctx| k_pairs::<f32>(ctx, &[128, 129, 200, 300])),
            on_cpu("k pairs in f64", |ctx| k_pairs::<f64>(ctx, &[5, 33, 129, 300])),
            on_cpu("k pairs of large graphs full of ties", ties),
            on_each("input that is not finite", not_finite),
            on_each("k larger than n", beyond),
            on_each("refined to f64", refined),
        ],
    )
}

/// Returns difficult matrices: ill-conditioned, random, definite and graded ones. Each of them becomes a separate
/// batch.
fn cases(n: usize) -> Vec<Case> {
    let types = lapack_types(n, 11);
    let mut cases = [1, 7, 8, 12, 15, 20].map(|kind| types[kind].clone()).to_vec();
    if n > 2 {
        let a = graphs::laplacian(&graphs::path(n).graph, Kind::Combinatorial, 0.0);
        cases.push(Case { name: format!("path of {n}"), n, a });
    }
    cases
}

fn array<T: Real>(case: &Case, copies: usize) -> fiedler::Result<Array<T>> {
    let one: Vec<T> = case.a.iter().map(|&x| T::from_f64(x)).collect();
    Array::from_vec(Shape::new(case.n, case.n, copies), one.repeat(copies))
}

/// Returns the batch sizes. They are 1 and, up to order 128, also the size of a batch that fills the SIMD lanes,
/// because the CPU takes another path for such a batch.
fn copies(case: &Case) -> &'static [usize] {
    if case.n <= 128 { &[1, 9] } else { &[1] }
}

fn wide<T: Real>(x: &[T]) -> Vec<f64> {
    x.iter().map(|x| Real::to_f64(*x)).collect()
}

/// Checks the bound of design section 2: `max(30, n / 3) eps |A|`.
fn check_values<T: Real>(case: &Case, found: &[f64], truth: &[f64]) -> Checked {
    // In f64 the referee itself is off by up to 16 n eps |A| (its SLACK); in f32 that is negligible.
    let slack = if T::ON_DEVICE { 0.0 } else { 16.0 * case.n as f64 };
    let allowed = ((case.n as f64 / 3.0).max(30.0) + slack) * T::EPSILON * gates::norm(&case.a, case.n);
    assert_eq!(found.len(), truth.len(), "{}", case.name);
    assert!(found.is_sorted(), "{}: not ascending", case.name);
    let off = found.iter().zip(truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= allowed, "{}: a value is off by {off:.2e}, {allowed:.2e} allowed", case.name);
    Ok(())
}

fn values_alone<T: Real>(ctx: &Context, sizes: &[usize]) -> Checked {
    for case in sizes.iter().flat_map(|&n| cases(n)) {
        let truth = referee::eigenvalues(&case.a, case.n)?;
        for &copies in copies(&case) {
            let found = eigvalsh(ctx, &array::<T>(&case, copies)?)?;
            check_values::<T>(&case, &wide(&found.values.to_host(ctx)?.as_slice()[..case.n]), &truth)?;
            let certificate = found.certificates(ctx)?[0];
            assert_eq!(certificate.status, Status::Converged, "{}: {certificate:?}", case.name);
        }
    }
    Ok(())
}

/// Checks the certificate of eigenvalues without eigenvectors. Its two measures compare the trace and the 2-norm of
/// the matrix with those of the eigenvalues, because any error in one eigenvalue changes one of them. This test
/// computes both measures independently.
fn invariants(ctx: &Context) -> Checked {
    let case = &lapack_types(40, 12)[12];
    let found = eigvalsh(ctx, &array::<f32>(case, 9)?)?;
    let (values, n, norm) = (wide(&found.values.to_host(ctx)?.as_slice()[..40]), 40.0, gates::norm(&case.a, 40));
    let trace: f64 = (0..40).map(|i| case.a[i * 41]).sum();
    let frobenius = case.a.iter().map(|x| x * x).sum::<f64>().sqrt();
    let measure = |w: &[f64]| {
        let by_trace = (w.iter().sum::<f64>() - trace).abs() / n;
        by_trace.max((w.iter().map(|x| x * x).sum::<f64>().sqrt() - frobenius).abs() / f64::sqrt(n)) / norm
    };
    let reported = found.certificates(ctx)?[0].residual;
    // The rounding errors of two sums in f32, which have about n and n^2 terms.
    let rounding = n * f64::from(f32::EPSILON);
    assert!((reported - measure(&values)).abs() <= rounding, "{reported:e} for {:e}", measure(&values));
    let promise = 10.0 * n * f64::from(f32::EPSILON);
    for i in 0..40 {
        let mut wrong = values.clone();
        wrong[i] += 2.0 * n * promise * norm;
        assert!(measure(&wrong) > promise, "value {i}");
    }
    Ok(())
}

/// Checks the k eigenpairs at one end of the spectrum: their eigenvalues, residuals and orthogonality, computed in
/// f64, have to be within the promised bounds.
fn check_pairs<T: Real>(ctx: &Context, case: &Case, which: Which, k: usize) -> Checked {
    copies(case).iter().try_for_each(|&copies| check_copies::<T>(ctx, case, which, k, copies))
}

fn check_copies<T: Real>(ctx: &Context, case: &Case, which: Which, k: usize, copies: usize) -> Checked {
    let n = case.n;
    let found = eigh_subset(ctx, &array::<T>(case, copies)?, which, k)?.ok(ctx)?;
    assert_eq!(found.values.shape(), Shape::new(k, 1, copies));
    assert_eq!(found.vectors.shape(), Shape::new(n, k, copies));
    let truth = referee::eigenvalues(&case.a, n)?;
    let truth = if which == Which::Smallest { &truth[..k] } else { &truth[n - k..] };
    let (w, v) = (found.values.to_host(ctx)?, found.vectors.to_host(ctx)?);
    let (w, v) = (wide(&w.as_slice()[..k]), wide(&v.as_slice()[..n * k]));
    check_values::<T>(case, &w, truth)?;
    // LAPACK's measures of these eigenpairs, in units of n eps as for a full decomposition.
    let unit = 10.0 * n as f64 * T::EPSILON;
    let norm = gates::norm(&case.a, n);
    for (j, x) in v.chunks_exact(n).enumerate() {
        let row = |i: usize| (0..n).map(|c| case.a[i + c * n] * x[c]).sum::<f64>() - w[j] * x[i];
        let residual = (0..n).map(|i| row(i).powi(2)).sum::<f64>().sqrt();
        assert!(residual <= unit * norm, "{}: pair {j} of {k} {which:?}: residual {residual:.2e}", case.name);
        for (other, y) in v.chunks_exact(n).enumerate().take(j + 1) {
            let product: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
            let away = (product - f64::from(u8::from(other == j))).abs();
            assert!(away <= unit, "{}: columns {other} and {j} of {k} {which:?}: {away:.2e}", case.name);
        }
    }
    Ok(())
}

fn k_pairs<T: Real>(ctx: &Context, sizes: &[usize]) -> Checked {
    for case in sizes.iter().flat_map(|&n| cases(n)) {
        // A few eigenpairs of a large matrix are computed by inverse iteration, and many eigenpairs from the whole
        // decomposition.
        for k in [0, 1, (case.n / 10).max(1), case.n / 2, case.n] {
            check_pairs::<T>(ctx, &case, Which::Smallest, k)?;
            check_pairs::<T>(ctx, &case, Which::Largest, k)?;
        }
    }
    Ok(())
}

/// Inverse iteration has to find a basis of eigenspaces of many dimensions, whose eigenvalues agree to all digits.
fn ties(ctx: &Context) -> Checked {
    let forms =
        [graphs::star(200), graphs::complete(150), graphs::cycle(201), graphs::hypercube(8), graphs::grid(12, 12)];
    let graphs = forms.map(|form| form.graph);
    let mut cases: Vec<Case> = Vec::new();
    for graph in &graphs {
        for kind in [Kind::Combinatorial, Kind::Symmetric] {
            let a = graphs::laplacian(graph, kind, 0.0).into_iter().map(|x| f64::from(x as f32)).collect();
            cases.push(Case { name: format!("{kind:?} Laplacian of {}", graph.name), n: graph.n, a });
        }
    }
    cases.extend([glued_wilkinson(15, 10, 1e-3), glued_wilkinson(15, 10, gates::EPS)]);
    cases.push(lapack_types(150, 13)[1].clone());
    for case in &cases {
        for k in [1, 5, 16] {
            check_pairs::<f32>(ctx, case, Which::Smallest, k)?;
            check_pairs::<f32>(ctx, case, Which::Largest, k)?;
            check_pairs::<f64>(ctx, case, Which::Smallest, k)?;
        }
    }
    Ok(())
}

fn not_finite(ctx: &Context) -> Checked {
    let n = if ctx.adapter().is_some() { 12 } else { 150 };
    let mut data: Vec<f32> =
        [12, 15, 7].iter().flat_map(|&kind| lapack_types(n, 14)[kind].a.clone()).map(|x| x as f32).collect();
    data[n * n + n - 1] = f32::NAN;
    let a = Array::from_vec(Shape::new(n, n, 3), data)?;
    let (pairs, values) = (eigh_subset(ctx, &a, Which::Smallest, 2)?, eigvalsh(ctx, &a)?);
    for (certificates, w, k) in [
        (pairs.certificates(ctx)?, pairs.values.to_host(ctx)?, 2),
        (values.certificates(ctx)?, values.values.to_host(ctx)?, n),
    ] {
        let status: Vec<Status> = certificates.iter().map(|c| c.status).collect();
        assert_eq!(status, [Status::Converged, Status::NonFinite, Status::Converged]);
        assert!(w.as_slice().iter().enumerate().all(|(i, x)| x.is_nan() == (i / k == 1)), "{w:?}");
    }
    Ok(())
}

fn beyond(ctx: &Context) -> Checked {
    let a = Array::from_vec(Shape::new(3, 3, 2), vec![0.0_f32; 18])?;
    let error = eigh_subset(ctx, &a, Which::Largest, 4).expect_err("4 of 3");
    assert!(matches!(error.kind(), ErrorKind::Shape { operation: "eigh_subset", .. }), "{error}");
    assert!(error.to_string().contains('4') && error.to_string().contains('3'), "{error}");
    Ok(())
}

/// The required accuracy is 1e-12 for orders up to 512.
fn refined(ctx: &Context) -> Checked {
    for n in [2, 33, 64, 129, 512] {
        for kind in [7, 12] {
            let case = &lapack_types(n, 15)[kind];
            let a = array::<f32>(case, 1)?;
            let found = eigh_refined(ctx, &a)?.ok(ctx)?;
            let worst = found.certificates(ctx)?[0];
            assert!(worst.residual <= 1e-12 && worst.orthogonality <= 1e-12, "n = {n}: {worst:?}");
            let coarse = eigh(&ctx.with_backend(fiedler::Backend::Cpu), &a)?.certificates(ctx)?[0];
            assert!(n < 33 || coarse.residual > 1e-9, "f32 alone: {coarse:?}");
        }
    }
    Ok(())
}
