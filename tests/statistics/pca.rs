//! Principal components on every backend. The components of every solver are compared with the definition in f64.
//! Data is transformed, transformed back and whitened. Components of a stream are computed, and calls that cannot
//! be done give typed errors.

use common::random::SplitMix64;
use common::solve::{Checked, alike};
use common::{Test, on_cpu, on_each, on_gpus, suite};
use fiedler::array::{Array, Real};
use fiedler::ops::Status;
use fiedler::ops::pca::{Pca, PcaOptions, Solver, pca, pca_of_stream};
use fiedler::ops::stats::RunningCovariance;
use fiedler::ops::svd::TruncatedOptions;
use fiedler::{Backend, Context, ErrorKind, Shape};
use nalgebra::{DMatrix, SymmetricEigen};

pub fn tests() -> Vec<Test> {
    suite(
        "pca",
        vec![
            on_each("against the definition", against_the_definition::<f32>),
            on_cpu("against the definition in f64", against_the_definition::<f64>),
            on_each("transform and inverse", there_and_back),
            on_each("of a stream", of_a_stream),
            on_cpu("by iteration", by_iteration::<f32>),
            on_cpu("by iteration in f64", by_iteration::<f64>),
            on_each("equal rows, no components, values that are not finite", edges_of_the_domain),
            on_each("values of every scale", every_size),
            on_each("coordinates of every small scale", small_coordinates),
            on_each("directions without variance, whitened", without_variance),
            on_each("directions of little variance, whitened", little_variance),
            on_each("errors", errors),
            on_gpus("f64 stays on the CPU", f64_stays),
        ],
    )
}

const EPS: f64 = f32::EPSILON as f64;

/// Returns rows around a point far from 0. Their standard deviations along the directions of a random basis fall by
/// the factor `decay` from each direction to the next.
fn rows<T: Real>(rows: usize, cols: usize, decay: f64, seed: u64) -> (Vec<T>, DMatrix<f64>) {
    let mut random = SplitMix64::new(seed);
    let basis = DMatrix::from_fn(cols, cols, |_, _| random.normal()).qr().q();
    let spread = DMatrix::from_fn(rows, cols, |_, j| random.normal() * decay.powi(j as i32));
    let x = (spread * basis.transpose()).map(|x| T::from_f64(10.0 + x));
    let exact = x.map(|x| x.to_f64());
    (x.as_slice().to_vec(), exact)
}

/// Computes in f64 the variances in descending order, their directions as columns, and the total variance.
fn truth(x: &DMatrix<f64>) -> (Vec<f64>, DMatrix<f64>, f64) {
    let mean = x.row_mean();
    let centered = DMatrix::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] - mean[j]);
    let cov = centered.tr_mul(&centered) / (x.nrows() as f64 - 1.0);
    let total = cov.trace();
    let found = SymmetricEigen::new(cov);
    let mut order: Vec<usize> = (0..x.ncols()).collect();
    order.sort_by(|&i, &j| found.eigenvalues[j].total_cmp(&found.eigenvalues[i]));
    let vectors = DMatrix::from_fn(x.ncols(), x.ncols(), |i, j| found.eigenvectors[(i, order[j])]);
    (order.iter().map(|&j| found.eigenvalues[j].max(0.0)).collect(), vectors, total)
}

fn wide<T: Real>(ctx: &Context, x: &Array<T>) -> fiedler::Result<DMatrix<f64>> {
    let host = x.to_host(ctx)?;
    Ok(host.matrix(0).map(|x| x.to_f64()))
}

/// Compares all results with the definition. The error of a variance may be `unit` times the largest variance. The
/// allowed error of a direction also depends on the gaps between its variance and the neighboring ones.
fn judge<T: Real>(ctx: &Context, found: &Pca<T>, x: &DMatrix<f64>, k: usize, unit: f64, what: &str) -> Checked {
    let (values, vectors, total) = truth(x);
    let (n, cols) = x.shape();
    assert_eq!(found.certificate.status, Status::Converged, "{what}: {:?}", found.certificate);
    assert_eq!((found.components.shape(), found.mean.shape()), (Shape::new(k, cols, 1), Shape::new(1, cols, 1)));
    let (components, variance) = (wide(ctx, &found.components)?, wide(ctx, &found.explained_variance)?);
    let (ratio, singular) = (wide(ctx, &found.explained_variance_ratio)?, wide(ctx, &found.singular_values)?);
    let mean = wide(ctx, &found.mean)?;
    for (got, want) in mean.iter().zip(x.row_mean().iter()) {
        assert!((got - want).abs() <= 4.0 * T::EPSILON.max(1e-15) * want.abs() + unit, "{what}: mean {got} for {want}");
    }
    for j in 0..k {
        let allowed = unit * values[0];
        assert!((variance[j] - values[j]).abs() <= allowed, "{what}: variance {j} {} for {}", variance[j], values[j]);
        assert!((ratio[j] - values[j] / total).abs() <= unit, "{what}: ratio {j}");
        let want = (variance[j] * (n as f64 - 1.0)).sqrt();
        assert!((singular[j] - want).abs() <= 4.0 * T::EPSILON * want, "{what}: singular value {j}");
        let own: Vec<f64> = components.row(j).iter().copied().collect();
        let length = own.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() <= 20.0 * cols as f64 * T::EPSILON, "{what}: length {length}");
        let peak = own.iter().copied().fold(0.0, |a: f64, x| if x.abs() > a.abs() { x } else { a });
        assert!(peak > 0.0, "{what}: component {j} is led by {peak}");
        let before = if j > 0 { values[j - 1] - values[j] } else { f64::INFINITY };
        let gap = before.min(values[j] - values.get(j + 1).copied().unwrap_or(0.0));
        let along = own.iter().zip(vectors.column(j).iter()).map(|(a, b)| a * b).sum::<f64>().abs();
        // By Davis and Kahan, the sine of the angle is below twice the error divided by the gap.
        let sine = (1.0 - (along / length).powi(2)).max(0.0).sqrt();
        assert!(
            sine <= 4.0 * (cols as f64).sqrt() * unit * values[0] / gap + 1e-7,
            "{what}: component {j} off by {sine:e}"
        );
    }
    let left = cols.min(n) - k;
    let rest = if left > 0 { values[k..].iter().sum::<f64>() / left as f64 } else { 0.0 };
    assert!(
        (found.noise_variance - rest).abs() <= 2.0 * unit * cols as f64 * values[0],
        "{what}: noise {}",
        found.noise_variance
    );
    assert_eq!(found.rows, n as u64);
    Ok(())
}

/// Returns the allowed error of the covariance and its decomposition, relative to the largest variance.
fn unit<T: Real>() -> f64 {
    if T::ON_DEVICE { 200.0 * EPS } else { 1e-11 }
}

fn against_the_definition<T: Real>(ctx: &Context) -> Checked {
    for (n, cols, k) in [(2, 2, 1), (50, 1, 1), (200, 5, 5), (1500, 20, 3), (30, 64, 4), (40, 40, 40)] {
        let (data, exact) = rows::<T>(n, cols, 0.8, 1);
        let x = Array::from_vec(Shape::new(n, cols, 1), data)?;
        for solver in [Solver::Auto, Solver::Covariance, Solver::Svd] {
            let what = format!("{n} x {cols}, k = {k}, {solver:?}");
            let found = pca(ctx, &x, k, PcaOptions { solver, ..PcaOptions::default() })?;
            judge(ctx, &found, &exact, k, unit::<T>(), &what)?;
        }
    }
    Ok(())
}

/// Returns the allowed relative error of the variance of a whitened coordinate. The absolute error of a small
/// variance is that of the largest variance.
fn whitened(largest: f64, variance: f64) -> f64 {
    500.0 * EPS * largest / variance
}

fn there_and_back(ctx: &Context) -> Checked {
    let (n, cols) = (700, 12);
    let (data, exact) = rows::<f32>(n, cols, 0.7, 2);
    let x = Array::from_vec(Shape::new(n, cols, 1), data)?;
    let x = if ctx.adapter().is_some() { x.to_device(ctx)? } else { x };
    for (k, whiten) in [(cols, false), (cols, true), (4, false), (4, true)] {
        let found = pca(ctx, &x, k, PcaOptions::default())?.ok()?;
        let turned = found.transform(ctx, &x, whiten)?;
        assert_eq!((turned.shape(), turned.is_resident()), (Shape::new(n, k, 1), ctx.adapter().is_some()));
        let y = wide(ctx, &turned)?;
        let variances = wide(ctx, &found.explained_variance)?;
        // The covariance of the coordinates is diagonal. The diagonal has the variances, or ones if the coordinates
        // are whitened.
        let covariance = y.tr_mul(&y) / (n as f64 - 1.0);
        for i in 0..k {
            for j in 0..k {
                let unit = if whiten { 1.0 } else { (variances[i] * variances[j]).sqrt() };
                let want = if i == j { unit } else { 0.0 };
                let allowed = whitened(variances[0], variances[i].min(variances[j]));
                let got = covariance[(i, j)];
                assert!((got - want).abs() <= allowed * unit, "k = {k}, {whiten}: ({i}, {j}) {got} for {want}");
            }
        }
        let back = wide(ctx, &found.inverse_transform(ctx, &turned, whiten)?)?;
        let away = (&back - &exact).norm_squared() / (n as f64 - 1.0);
        let left: f64 = truth(&exact).0[k..].iter().sum();
        // The mean square error is the variance of the omitted directions. The second term covers the rounding of
        // values near 10.
        assert!((away - left).abs() <= 1e-4 * left + 1e-8, "k = {k}: {away} is left of {left}");
    }
    // Transforms a batch of rows other than those of the fit.
    let found = pca(ctx, &x, 3, PcaOptions::default())?;
    let (data, exact) = rows::<f32>(40, cols, 0.7, 3);
    let batch = Array::from_vec(Shape::new(20, cols, 2), {
        let of = |half: usize| (0..cols).flat_map(move |j| (0..20).map(move |r| j * 40 + half * 20 + r));
        of(0).chain(of(1)).map(|e| data[e]).collect()
    })?;
    let turned = found.transform(ctx, &batch, false)?.to_host(ctx)?;
    let (components, mean) = (wide(ctx, &found.components)?, wide(ctx, &found.mean)?);
    for (half, row, j) in (0..2).flat_map(|h| (0..20).flat_map(move |r| (0..3).map(move |j| (h, r, j)))) {
        let away = |c: usize| exact[(half * 20 + row, c)] - mean[c];
        let want: f64 = (0..cols).map(|c| away(c) * components[(j, c)]).sum();
        let got = f64::from(turned.matrix(half)[(row, j)]);
        // The allowed error of a product, 4 eps sqrt(k) |A||B|, where a component has norm 1.
        let length = (0..cols).map(|c| away(c).powi(2)).sum::<f64>().sqrt();
        let allowed = 4.0 * EPS * (cols as f64).sqrt() * length;
        assert!((got - want).abs() <= allowed, "half {half}, row {row}, {j}: {got} for {want}");
    }
    Ok(())
}

fn of_a_stream(ctx: &Context) -> Checked {
    let (n, cols, k) = (5000, 10, 3);
    let (data, exact) = rows::<f32>(n, cols, 0.8, 4);
    let mut stream = RunningCovariance::new(cols);
    for begin in (0..n).step_by(700) {
        let some = begin..(begin + 700).min(n);
        let own = data.chunks_exact(n).flat_map(|column| &column[some.clone()]).copied().collect();
        stream.push(ctx, &Array::from_vec(Shape::new(some.len(), cols, 1), own)?)?;
    }
    let found = pca_of_stream(ctx, &stream, k)?;
    judge(ctx, &found, &exact, k, unit::<f32>(), "a stream")?;
    let whole = pca(ctx, &Array::from_vec(Shape::new(n, cols, 1), data)?, k, PcaOptions::default())?;
    assert_eq!(wide(ctx, &found.components)?, wide(ctx, &whole.components)?);
    assert_eq!(wide(ctx, &found.explained_variance)?, wide(ctx, &whole.explained_variance)?);
    Ok(())
}

/// Components by iteration are as accurate as those of the other solvers: for singular values that fall slowly, for
/// noise, and for tall and wide matrices. An iteration that is stopped before it converges reports this.
fn by_iteration<T: Real>(ctx: &Context) -> Checked {
    let truncated = |passes| PcaOptions {
        solver: Solver::Truncated,
        truncated: TruncatedOptions { passes, ..TruncatedOptions::default() },
    };
    for (n, cols, k, decay) in [
        (90, 130, 5, 0.6),
        (1200, 64, 8, 0.96),
        (60, 900, 8, 0.98),
        (300, 250, 6, 1.0),
        (40, 40, 39, 0.9),
        (7, 3, 2, 0.5),
    ] {
        let (data, exact) = rows::<T>(n, cols, decay, 5);
        let x = Array::from_vec(Shape::new(n, cols, 1), data)?;
        let what = format!("{n} x {cols}, k = {k}, {decay}");
        let found = pca(ctx, &x, k, truncated(100))?;
        // The error of the directions is about the residual, 1e-8 in f64. The relative error of the variances is
        // about its square.
        let unit = if T::ON_DEVICE { 200.0 * EPS } else { 1e-8 };
        judge(ctx, &found, &exact, k, unit, &what)?;
        let (values, ..) = truth(&exact);
        for (got, want) in wide(ctx, &found.explained_variance)?.iter().zip(&values) {
            let allowed = if T::ON_DEVICE { 1e-5 } else { 1e-11 };
            // Small singular values have the rounding error of the largest one.
            let rounding = T::EPSILON * values[0];
            assert!((got - want).abs() <= allowed * want + rounding, "{what}: variance {got} for {want}");
        }
        if decay > 0.95 {
            let early = pca(ctx, &x, k, truncated(2))?;
            assert_eq!(early.certificate.status, Status::NotConverged, "{what}: {:?}", early.certificate);
            assert!(early.certificate.residual > 10.0 * found.certificate.residual && early.certificate.residual < 1.0);
        }
    }
    Ok(())
}

fn edges_of_the_domain(ctx: &Context) -> Checked {
    // If all rows are equal, the variances are 0, there are no ratios of variances, and every coordinate is 0.
    let x = Array::from_vec(Shape::new(5, 3, 1), vec![2.0_f32; 15])?;
    let found = pca(ctx, &x, 2, PcaOptions::default())?;
    assert!(wide(ctx, &found.explained_variance)?.iter().all(|&x| x == 0.0));
    assert!(wide(ctx, &found.explained_variance_ratio)?.iter().all(|x| x.is_nan()));
    for whiten in [false, true] {
        let turned = found.transform(ctx, &x, whiten)?;
        assert!(wide(ctx, &turned)?.iter().all(|&x| x == 0.0));
        assert!(wide(ctx, &found.inverse_transform(ctx, &turned, whiten)?)?.iter().all(|&x| x == 2.0));
    }
    // A call for 0 components.
    let none = pca(ctx, &x, 0, PcaOptions::default())?;
    assert_eq!(none.components.shape(), Shape::new(0, 3, 1));
    assert_eq!(none.transform(ctx, &x, false)?.shape(), Shape::new(5, 0, 1));
    assert!(
        wide(ctx, &none.inverse_transform(ctx, &none.transform(ctx, &x, false)?, false)?)?.iter().all(|&x| x == 2.0)
    );
    // Input that is not finite is reported.
    for solver in [Solver::Covariance, Solver::Svd] {
        let mut data: Vec<f32> = (0..60).map(|k| (k * k % 17) as f32).collect();
        data[7] = f32::NAN;
        let x = Array::from_vec(Shape::new(20, 3, 1), data)?;
        let found = pca(ctx, &x, 2, PcaOptions { solver, ..PcaOptions::default() })?;
        assert_eq!(found.certificate.status, Status::NonFinite, "{solver:?}");
        assert!(!found.converged() && matches!(found.ok().expect_err("NaN").kind(), ErrorKind::Uncertified { .. }));
    }
    Ok(())
}

/// The unit of the data changes only the scale of the results. Results in f32's range have to be correct even if
/// the squares of the deviations are beyond it, both in one call and in a stream.
fn every_size(ctx: &Context) -> Checked {
    let (n, cols, k) = (2500, 4, 2);
    let (data, _) = rows::<f32>(n, cols, 0.6, 9);
    for scale in [1.0_f32, 1e-8, 1e-16, 1e-19, 1e-20, 1e-22, 1e-25, 1e-30, 1e8, 1e16, 1e19, 1e25, 1e37] {
        // Rows in another unit come first, so that the scale cannot be found from the first rows.
        for first in [1.0_f32, 0.0, 1e-6] {
            let scaled: Vec<f32> = data
                .iter()
                .enumerate()
                .map(|(e, x)| (x - 10.0) * scale * if e % n < 100 { first } else { 1.0 })
                .collect();
            let exact = DMatrix::from_iterator(n, cols, scaled.iter().map(|&x| f64::from(x)));
            let (values, vectors, total) = truth(&(&exact / f64::from(scale)));
            let unit = f64::from(scale);
            let mut stream = RunningCovariance::new(cols);
            for begin in (0..n).step_by(900) {
                let some = begin..(begin + 900).min(n);
                let own = scaled.chunks_exact(n).flat_map(|column| &column[some.clone()]).copied().collect();
                stream.push(ctx, &Array::from_vec(Shape::new(some.len(), cols, 1), own)?)?;
            }
            let x = Array::from_vec(Shape::new(n, cols, 1), scaled)?;
            let whole = pca(ctx, &x, k, PcaOptions::default())?;
            for (how, found) in [("at once", &whole), ("a stream", &pca_of_stream(ctx, &stream, k)?)] {
                let what = format!("{how}, {scale:e}, {first:e}");
                assert_eq!(found.certificate.status, Status::Converged, "{what}");
                let (ratio, singular) =
                    (wide(ctx, &found.explained_variance_ratio)?, wide(ctx, &found.singular_values)?);
                let (variance, components) = (wide(ctx, &found.explained_variance)?, wide(ctx, &found.components)?);
                for j in 0..k {
                    assert!(
                        (ratio[j] - values[j] / total).abs() < 1e-5,
                        "{what}: ratio {} for {}",
                        ratio[j],
                        values[j] / total
                    );
                    let want = (values[j] * (n as f64 - 1.0)).sqrt() * unit;
                    let held = if want > f32::MAX.into() { f64::INFINITY } else { want };
                    let well = singular[j] == held || (singular[j] - want).abs() <= 1e-5 * want;
                    assert!(well, "{what}: singular value {} for {want:e}", singular[j]);
                    let want = values[j] * unit * unit;
                    let well = match want {
                        _ if want > f32::MAX.into() => variance[j] == f64::INFINITY,
                        _ => (variance[j] - want).abs() <= 1e-5 * want + 2e-38,
                    };
                    assert!(well, "{what}: variance {:e} for {want:e}", variance[j]);
                    let along: f64 = (0..cols).map(|c| components[(j, c)] * vectors[(c, j)]).sum();
                    assert!(1.0 - along.abs() < 1e-6, "{what}: component {j} off by {:e}", 1.0 - along.abs());
                }
                let want = values[k..].iter().sum::<f64>() / (cols - k) as f64 * unit * unit;
                assert!(
                    (found.noise_variance - want).abs() <= 1e-4 * want,
                    "{what}: {} for {want}",
                    found.noise_variance
                );
            }
            let y = wide(ctx, &whole.transform(ctx, &x, true)?)?;
            // If the largest singular value exceeds f32's range, it is infinite, and all directions count as within
            // rounding of it.
            let held = wide(ctx, &whole.singular_values)?[0].is_finite();
            for j in 0..k {
                let spread = y.column(j).norm_squared() / (n as f64 - 1.0);
                let well = if held { (spread - 1.0).abs() <= whitened(values[0], values[j]) } else { spread == 0.0 };
                assert!(well, "{scale:e}: whitened to {spread}");
            }
        }
    }
    // A device may lose digits of subnormal deviations of what is on it already, and reports this. Equal rows have no
    // digits to lose.
    let (data, _) = rows::<f32>(50, 4, 0.6, 9);
    let tiny: Vec<f32> = data.iter().map(|x| (x - 10.0) * 1e-36).collect();
    let tiny = Array::from_vec(Shape::new(50, 4, 1), tiny)?;
    assert!(pca(ctx, &tiny, 2, PcaOptions::default())?.converged());
    if ctx.adapter().is_some() {
        let found = pca(ctx, &tiny.to_device(ctx)?, 2, PcaOptions::default())?;
        assert_eq!(found.certificate.status, Status::Unresolved);
    }
    for equal in [0.0_f32, 1.5, 1e-30, 1e30, 1e-42] {
        let x = Array::from_vec(Shape::new(50, 4, 1), vec![equal; 200])?;
        let found = pca(ctx, &x, 2, PcaOptions::default())?;
        assert!(found.converged(), "{equal:e}: {:?}", found.certificate);
        assert!(wide(ctx, &found.singular_values)?.iter().all(|&s| s == 0.0), "{equal:e}");
    }
    Ok(())
}

/// Coordinates, and rows made of them, are as accurate as at an ordinary scale. They are compared with the products of
/// the means and the components that were found.
fn small_coordinates(ctx: &Context) -> Checked {
    let (n, cols) = (50, 6);
    let mut random = SplitMix64::new(14);
    let base: Vec<f64> = (0..n * cols).map(|_| random.normal()).collect();
    for scale in [1.0, 1e-20, 1e-30, 1e-38, 1e-40, 1e-44] {
        let x = Array::from_vec(Shape::new(n, cols, 1), base.iter().map(|x| (x * scale) as f32).collect())?;
        let found = pca(ctx, &x, cols, PcaOptions::default())?;
        assert!(found.converged(), "{scale:e}: {:?}", found.certificate);
        let (mean, components) = (wide(ctx, &found.mean)?, wide(ctx, &found.components)?);
        let (rows, singular) = (wide(ctx, &x)?, wide(ctx, &found.singular_values)?);
        for whiten in [false, true] {
            let what = format!("{scale:e}, whitened: {whiten}");
            let deviation = |j: usize| if whiten { singular[j] / (n as f64 - 1.0).sqrt() } else { 1.0 };
            let centered = DMatrix::from_fn(n, cols, |i, j| rows[(i, j)] - mean[j]);
            let product = &centered * components.transpose();
            let want = DMatrix::from_fn(n, cols, |i, j| product[(i, j)] / deviation(j));
            let unit = if whiten { 1.0 } else { scale };
            // On a device, tiny numbers have to come from the host.
            let y = Array::from(found.transform(ctx, &x, whiten)?.to_host(ctx)?);
            let got = wide(ctx, &y)?;
            near(&got, &want, 1e-5 * unit, &what);
            let stretched = DMatrix::from_fn(n, cols, |i, j| got[(i, j)] * deviation(j)) * &components;
            let want = DMatrix::from_fn(n, cols, |i, j| stretched[(i, j)] + mean[j]);
            near(&wide(ctx, &found.inverse_transform(ctx, &y, whiten)?)?, &want, 1e-5 * scale, &what);
        }
    }
    Ok(())
}

/// Checks numbers that are rounded to f32, of which subnormal ones are 2^-149 apart.
fn near(got: &DMatrix<f64>, want: &DMatrix<f64>, allowed: f64, what: &str) {
    let off = (got - want).amax();
    assert!(off <= allowed + 2_f64.powi(-150), "{what}: off by {off:e}");
}

/// Rows that vary in only two directions of ten columns, and fewer rows than columns. Directions whose variance is
/// only rounding error are whitened to exactly 0, and contribute nothing to the inverse transform.
fn without_variance(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(10);
    let two = DMatrix::from_fn(200, 2, |_, j| random.normal() * [3.0, 1.0][j]);
    let turn = DMatrix::from_fn(2, 10, |_, _| random.normal());
    let flat = two * turn;
    let few = DMatrix::from_fn(20, 60, |_, _| random.normal());
    for (x, k, rank) in [(flat, 6, 2), (few, 20, 19)] {
        let data: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let array = Array::from_vec(Shape::new(x.nrows(), x.ncols(), 1), data)?;
        for solver in [Solver::Covariance, Solver::Svd, Solver::Truncated] {
            if solver == Solver::Truncated && ctx.adapter().is_some() {
                continue;
            }
            let found = pca(ctx, &array, k, PcaOptions { solver, ..PcaOptions::default() })?;
            let y = found.transform(ctx, &array, true)?;
            let coordinates = wide(ctx, &y)?;
            let variances = wide(ctx, &found.explained_variance)?;
            for j in 0..k {
                let own = coordinates.column(j);
                let spread = own.norm_squared() / (x.nrows() as f64 - 1.0);
                if j < rank {
                    let allowed = whitened(variances[0], variances[j]);
                    assert!((spread - 1.0).abs() <= allowed, "{solver:?}: direction {j} of {rank} has {spread}");
                } else {
                    assert!(own.iter().all(|&x| x == 0.0), "{solver:?}: {j} of {rank} has {spread:e}");
                }
            }
            let back = wide(ctx, &found.inverse_transform(ctx, &y, true)?)?;
            assert!((&back - &x).amax() < 1e-4 * x.amax(), "{solver:?}: {}", (&back - &x).amax());
        }
    }
    Ok(())
}

/// The rows determine small variances that the rounded covariance does not. Each solver reports which directions it
/// leaves out.
fn little_variance(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(12);
    let x = DMatrix::from_fn(500, 4, |_, j| random.normal() * [1.0, 0.1, 0.01, 0.001][j]);
    let data = x.iter().map(|&x| x as f32).collect();
    let array = Array::from_vec(Shape::new(500, 4, 1), data)?;
    // The smallest variance is 1e-6 of the largest, which is below the limit of 10 * 4 eps for the covariance.
    for (solver, left_out) in [(Solver::Covariance, 1), (Solver::Svd, 0)] {
        let found = pca(ctx, &array, 4, PcaOptions { solver, ..PcaOptions::default() })?;
        assert_eq!(found.within_rounding(ctx)?, left_out, "{solver:?}");
        let coordinates = wide(ctx, &found.transform(ctx, &array, true)?)?;
        let values = wide(ctx, &found.singular_values)?;
        for j in 0..4 {
            let spread = coordinates.column(j).norm_squared() / 499.0;
            // Singular values are accurate to a few eps of the largest one. If they are computed as square roots of
            // variances, the variances are accurate to a few eps of the largest variance.
            let eps = if solver == Solver::Svd { EPS } else { EPS * values[0] / values[j] };
            let allowed = 100.0 * eps * values[0] / values[j];
            let well = if j < 4 - left_out { (spread - 1.0).abs() <= allowed } else { spread == 0.0 };
            assert!(well, "{solver:?}: direction {j} has {spread}");
        }
    }
    Ok(())
}

fn errors(ctx: &Context) -> Checked {
    let of = |shape: Shape| Array::from_vec(shape, vec![1.0_f32; shape.len()]);
    for shape in [Shape::new(1, 3, 1), Shape::new(0, 3, 1), Shape::new(4, 3, 2)] {
        let error = pca(ctx, &of(shape)?, 1, PcaOptions::default()).map(drop).expect_err("one matrix");
        assert!(matches!(error.kind(), ErrorKind::Shape { operation: "pca", .. }), "{error}");
    }
    for (shape, k) in [(Shape::new(4, 3, 1), 4), (Shape::new(3, 4, 1), 4)] {
        let error = pca(ctx, &of(shape)?, k, PcaOptions::default()).map(drop).expect_err("too many");
        assert!(matches!(error.kind(), ErrorKind::Domain { operation: "pca", .. }), "{error}");
    }
    let found = pca(ctx, &of(Shape::new(4, 3, 1))?, 2, PcaOptions::default())?;
    let error = found.transform(ctx, &of(Shape::new(4, 2, 1))?, false).map(drop).expect_err("2 columns");
    assert!(matches!(error.kind(), ErrorKind::Shape { .. }) && error.to_string().contains('3'), "{error}");
    let error = found.inverse_transform(ctx, &of(Shape::new(4, 3, 1))?, false).map(drop).expect_err("3 columns");
    assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
    let error = pca_of_stream(ctx, &RunningCovariance::<f32>::new(3), 1).map(drop).expect_err("no rows");
    assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
    Ok(())
}

fn f64_stays(ctx: &Context) -> Checked {
    let x = Array::from_vec(Shape::new(4, 3, 1), (0..12).map(f64::from).collect())?;
    for solver in [Solver::Covariance, Solver::Svd] {
        let error = pca(ctx, &x, 2, PcaOptions { solver, ..PcaOptions::default() }).map(drop).expect_err("f64");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    }
    // Under the `Auto` policy, this call runs on the CPU.
    let auto = alike(ctx).backend(Backend::Auto).software_as_gpu(true).build()?;
    assert!(pca(&auto, &x, 2, PcaOptions::default())?.converged());
    Ok(())
}
