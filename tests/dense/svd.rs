//! The singular value decomposition on every backend: within the promised bounds on difficult matrices, with true
//! certificates, orthonormal for every rank, bit-equal however a batch is cut, and with a typed error for what
//! cannot be done.

use common::random::SplitMix64;
use common::rectangles::{
    ALLOWED, Host, Rectangle, Worst, array, check, judge, low_rank, reference, solve, types, with_values,
};
use common::solve::{Checked, alike, bits};
use common::{Test, lapack, on_cpu, on_each, on_gpus, sample, suite};
use faer::MatRef;
use fiedler::array::{Array, Real};
use fiedler::ops::svd::{
    Svd, TruncatedOptions, Vectors, choose_svd, choose_svd_truncated, svd, svd_truncated, svdvals,
};
use fiedler::ops::{Certificate, Status};
use fiedler::policy::{Reason, Side};
use fiedler::{Backend, Context, ErrorKind, Shape};
use rayon::prelude::*;

pub fn tests() -> Vec<Test> {
    suite(
        "svd",
        vec![
            on_cpu("large blocks of ones", blocks_of_ones),
            on_each("LAPACK's types", |ctx| lapack_types(ctx, &SMALL)),
            on_each("LAPACK's types, larger", larger),
            on_cpu("LAPACK's types, large", |ctx| lapack_types(ctx, &LARGE)),
            on_each("values compared with sgesdd's", beside_sgesdd),
            on_cpu("bases compared with sgesdd's", bases_beside_sgesdd),
            on_cpu("LAPACK's types in f64", in_f64),
            on_each("low ranks", low_ranks),
            on_each("scales", scales),
            on_each("full bases", full),
            on_each("a matrix that is not finite spoils only itself", not_finite),
            on_each("empty matrices and batches", edges_of_the_domain),
            on_gpus("limits of the kernels", beyond_the_kernels),
            on_each("bit-equal when repeated and cut", cuts),
            on_each("66,000 matrices", many),
            on_each("svdvals and ok", values_alone),
            on_each("a singular value beyond f32", overflow),
            on_cpu("truncated, compared with the exact one", truncated),
            on_gpus("truncated stays on the CPU and reports it", truncated_elsewhere),
        ],
    )
}

/// Shapes whose number of rows is 1, 2, 5, 16, 31, 33 or 64, with a larger, an equal and a smaller number of
/// columns.
const SMALL: [(usize, usize); 18] = [
    (1, 1),
    (1, 5),
    (2, 1),
    (2, 2),
    (5, 2),
    (5, 5),
    (2, 16),
    (16, 5),
    (16, 16),
    (16, 31),
    (31, 31),
    (33, 16),
    (33, 33),
    (31, 64),
    (64, 33),
    (64, 64),
    (100, 1),
    (1, 300),
];

const LARGE: [(usize, usize); 9] =
    [(100, 100), (100, 64), (33, 100), (300, 2), (5, 300), (300, 100), (64, 300), (300, 300), (520, 513)];

fn lapack_types(ctx: &Context, shapes: &[(usize, usize)]) -> Checked {
    let mut worst = Worst::default();
    for &(m, n) in shapes {
        let found = check::<f32>(ctx, &types(m, n, 1), Vectors::Thin)?;
        println!("{m} x {n}: {found:?}");
        worst = worst.with(found);
    }
    println!("{worst:?}");
    Ok(())
}

/// Shapes that take a software adapter seconds. Only a few types of matrices are solved for each shape.
fn larger(ctx: &Context) -> Checked {
    let all = [
        (100, 100, &[4, 9][..]),
        (300, 300, &[9]), // at a place that is not SwiftShader's, which takes a minute
        (300, 5, &[4, 6, 9, 12]),
        (33, 100, &[4, 6, 9, 12]),
        (300, 100, &[9]),
        (64, 300, &[12]),
    ];
    for (m, n, kinds) in sample(ctx, all) {
        let all = types(m, n, 2);
        let cases: Vec<Rectangle> = kinds.iter().map(|&kind| all[kind].clone()).collect();
        println!("{m} x {n}: {:?}", check::<f32>(ctx, &cases, Vectors::Thin)?);
    }
    Ok(())
}

/// Compares each family with sgesdd. The matrices are solved in a batch and one by one, because small matrices take
/// another path in a batch. Adapters run the small shapes only.
fn beside_sgesdd(ctx: &Context) -> Checked {
    let on_cpu = ctx.adapter().is_none();
    let mut against = Vec::new();
    for (m, n, figures) in lapack::SGESDD.into_iter().filter(|&(m, n, _)| on_cpu || m.max(n) <= 64) {
        let cases: Vec<Rectangle> = (1..=3).flat_map(|seed| types(m, n, seed)).collect();
        let truth = cases.par_iter().map(|case| reference(MatRef::from_column_major_slice(&case.a, m, n)));
        let truth: Vec<Vec<f64>> = truth.collect::<Result<_, _>>()?;
        let values = |cases: &[Rectangle]| svdvals(ctx, &array::<f32>(cases))?.s.to_host(ctx);
        let together = values(&cases)?;
        let allowed = |i: usize| lapack::allowed(lapack::of_rectangle(&figures, i % figures.len()));
        for (i, case) in cases.iter().enumerate() {
            against.extend(lapack::against(&case.name, together.matrix(i).iter().copied(), &truth[i], allowed(i)));
        }
        for (i, case) in sample(ctx, cases.iter().enumerate()) {
            let (name, alone) = (format!("{}, alone", case.name), values(&cases[i..=i])?);
            against.extend(lapack::against(&name, alone.matrix(0).iter().copied(), &truth[i], allowed(i)));
        }
    }
    lapack::verdict(against)?;
    Ok(())
}

/// Compares the bases with the worst that sgesdd makes of any family of the same shape, in a batch and one by one, and
/// allows twice that. Bidiagonal matrices have the promised bound only: sgesdd has nothing to reduce there, and Jacobi
/// rotates as always.
fn bases_beside_sgesdd(ctx: &Context) -> Checked {
    let mut against = Vec::new();
    for ((m, n, _), (residual, orthogonality)) in lapack::SGESDD.into_iter().zip(lapack::SGESDD_BASES) {
        let mut cases: Vec<Rectangle> = (1..=3).flat_map(|seed| types(m, n, seed)).collect();
        cases.retain(|case| !case.name.contains("bidiagonal"));
        let mut judged = |how: &str, cases: &[Rectangle]| -> Checked {
            let worst = check::<f32>(ctx, cases, Vectors::Thin)?;
            for (what, got, lapack) in
                [("residual", worst.residual, residual), ("orthogonality", worst.orthogonality, orthogonality)]
            {
                let (got, allowed) = (got * ALLOWED, 2.0 * lapack);
                let within = got <= allowed; // false for NaN
                against.extend((!within).then(|| format!("{m} x {n}, {how}: {what} {got:.2}, allowed {allowed:.2}")));
            }
            Ok(())
        };
        judged("in a batch", &cases)?;
        // Each type with one of the seeds.
        for (i, case) in cases.iter().enumerate().filter(|(i, _)| i / (cases.len() / 3) == i % 3) {
            judged(&format!("{}, alone", case.name), &cases[i..=i])?;
        }
    }
    lapack::verdict(against)?;
    Ok(())
}

fn in_f64(ctx: &Context) -> Checked {
    for (m, n) in SMALL.into_iter().chain([(100, 100), (300, 64), (100, 300)]) {
        println!("{m} x {n}: {:?}", check::<f64>(ctx, &types(m, n, 3), Vectors::Thin)?);
    }
    check::<f64>(ctx, &types(33, 16, 3), Vectors::Full)?;
    Ok(())
}

/// The random matrices of rank 1 to 3 on which nalgebra's `svd` fails one time in six.
fn low_ranks(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(1172);
    let mut worst = Worst::default();
    for (m, n) in [(4, 4), (8, 8), (10, 6), (5, 9), (16, 16), (33, 20), (40, 40), (70, 70)] {
        let count = if m < 20 { 300 } else { 10 };
        let cases: Vec<Rectangle> = (0..count).map(|i| low_rank(m, n, 1 + i % 3, &mut random)).collect();
        worst = worst.with(check::<f32>(ctx, &cases, Vectors::Thin)?);
        worst = worst.with(check::<f32>(ctx, &cases[..6], Vectors::Full)?);
        if ctx.adapter().is_none() {
            check::<f64>(ctx, &cases, Vectors::Thin)?;
        }
    }
    println!("{worst:?}");
    Ok(())
}

fn scales(ctx: &Context) -> Checked {
    for (m, n) in [(1, 1), (2, 2), (5, 16), (33, 31)] {
        let all = types(m, n, 4);
        for factor in [1e-30, 1e-6, 1.0, 1e6, 1e30] {
            let cases: Vec<Rectangle> = [1, 3, 5, 9].map(|kind| all[kind].scaled(factor)).into();
            check::<f32>(ctx, &cases, Vectors::Thin)?;
        }
    }
    Ok(())
}

fn full(ctx: &Context) -> Checked {
    for (m, n) in [(1, 1), (1, 5), (5, 1), (5, 2), (2, 16), (31, 33), (33, 5), (16, 16), (64, 100), (70, 3)] {
        check::<f32>(ctx, &types(m, n, 5), Vectors::Full)?;
    }
    Ok(())
}

/// Returns `count` random matrices, one after the other.
fn random_batch(m: usize, n: usize, count: usize, seed: u64) -> Vec<f32> {
    let mut random = SplitMix64::new(seed);
    (0..m * n * count).map(|_| random.signed() as f32).collect()
}

fn of_shape(m: usize, n: usize, data: Vec<f32>) -> fiedler::Result<Array> {
    let batch = data.len().checked_div(m * n).unwrap_or(0);
    Array::from_vec(Shape::new(m, n, batch), data)
}

/// U, S, Vh and certificates, as bits.
type Bits = (Vec<u32>, Vec<u32>, Vec<u32>, Vec<[u64; 4]>);

fn all_bits(found: &Host<f32>) -> Bits {
    let certificates = found.certificates.iter().map(certificate_bits).collect();
    (bits(found.u.as_slice()), bits(found.s.as_slice()), bits(found.vh.as_slice()), certificates)
}

fn bits_of(ctx: &Context, found: &Svd) -> fiedler::Result<Bits> {
    Ok(all_bits(&Host::of(ctx, found)?))
}

fn certificate_bits(c: &Certificate) -> [u64; 4] {
    [c.status as u64, c.sweeps.into(), c.residual.to_bits(), c.orthogonality.to_bits()]
}

fn not_finite(ctx: &Context) -> Checked {
    const BAD: [(usize, f32); 4] = [(0, f32::NEG_INFINITY), (37, f32::NAN), (50, f32::INFINITY), (99, -f32::NAN)];
    for (m, n) in [(1, 1), (4, 3), (9, 20), (70, 66)] {
        let batch = if m < 64 { 100 } else { 2 };
        let clean = random_batch(m, n, batch, 5);
        let mut spoiled = clean.clone();
        for (k, (matrix, x)) in BAD.into_iter().enumerate().filter(|(_, (matrix, _))| *matrix < batch) {
            spoiled[matrix * m * n + [0, m * n - 1, m * n / 2, m - 1][k]] = x;
        }
        let want = bits_of(ctx, &svd(ctx, &of_shape(m, n, clean)?, Vectors::Thin)?)?;
        let found = svd(ctx, &of_shape(m, n, spoiled)?, Vectors::Thin)?;
        let (u, s, vh, c) = bits_of(ctx, &found)?;
        let k = m.min(n);
        for i in 0..batch {
            let part = |x: &[u32], len: usize| x[i * len..(i + 1) * len].to_vec();
            if BAD.iter().any(|&(matrix, _)| matrix == i) {
                let status = found.certificates(ctx)?[i];
                assert_eq!(status.status, Status::NonFinite, "{m} x {n}, matrix {i}");
                assert!(status.residual.is_nan() && status.orthogonality.is_nan());
                assert!(part(&s, k).iter().all(|&x| f32::from_bits(x).is_nan()), "{m} x {n}, matrix {i}: values");
                assert!(
                    part(&u, m * k).iter().chain(&part(&vh, k * n)).all(|&x| x == 0),
                    "{m} x {n}, matrix {i}: vectors"
                );
            } else {
                assert_eq!(part(&s, k), part(&want.1, k), "{m} x {n}, matrix {i}: values");
                assert_eq!(part(&u, m * k), part(&want.0, m * k), "{m} x {n}, matrix {i}: U");
                assert_eq!(part(&vh, k * n), part(&want.2, k * n), "{m} x {n}, matrix {i}: Vh");
                assert_eq!(c[i], want.3[i], "{m} x {n}, matrix {i}");
            }
        }
        let error = found.ok(ctx).map(drop).expect_err("some are not converged");
        assert!(matches!(*error.kind(), ErrorKind::Uncertified { first: 0, .. }), "{error}");
    }
    Ok(())
}

fn edges_of_the_domain(ctx: &Context) -> Checked {
    for (m, n, batch) in [(5, 3, 0), (0, 0, 3), (0, 4, 2), (4, 0, 2), (0, 0, 0)] {
        for vectors in [Vectors::Thin, Vectors::Full] {
            let found = svd(ctx, &Array::<f32>::from_vec(Shape::new(m, n, batch), vec![])?, vectors)?;
            let found = Host::of(ctx, &found.ok(ctx)?)?;
            assert_eq!(found.certificates.len(), batch);
            assert_eq!(found.s.shape(), Shape::new(m.min(n), 1, batch));
            let (u, vh) = if vectors == Vectors::Full { (m, n) } else { (m.min(n), m.min(n)) };
            assert_eq!((found.u.shape(), found.vh.shape()), (Shape::new(m, u, batch), Shape::new(vh, n, batch)));
            for x in (0..batch).flat_map(|i| [found.u.matrix(i), found.vh.matrix(i)]) {
                assert!(x.is_identity(0.0), "{m} x {n}: {x}");
            }
        }
    }
    // A 1 x 1 matrix is its own decomposition, up to the rounding of a division.
    let ones = vec![3.5, 0.0, -1e30, 1e-30, f32::MAX];
    let found =
        Host::of(ctx, &svd(ctx, &Array::from_vec(Shape::new(1, 1, 5), ones.clone())?, Vectors::Thin)?.ok(ctx)?)?;
    let near = |(got, want): (&f32, &f32)| (got - want.abs()).abs() <= 2.0 * f32::EPSILON * want.abs();
    assert!(found.s.as_slice().iter().zip(&ones).all(near), "{:?}", found.s.as_slice());
    // Results of matrices without elements can still need more memory than there is.
    let error = svd(ctx, &Array::<f32>::from_vec(Shape::new(1 << 20, 0, 1), vec![])?, Vectors::Full).map(drop);
    let error = error.expect_err("a basis of 2^40 numbers");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    Ok(())
}

fn beyond_the_kernels(ctx: &Context) -> Checked {
    // f64 is never narrowed silently.
    let cases = &types(4, 3, 8)[9..10];
    let error = solve::<f64>(ctx, cases, Vectors::Thin).map(drop).expect_err("f64 on the device");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("f64"), "{error}");
    // A matrix that one binding cannot hold.
    let small = alike(ctx).memory_budget(1 << 20).build()?;
    let error = svd(&small, &of_shape(400, 400, random_batch(400, 400, 1, 3))?, Vectors::Thin).map(drop);
    let error = error.expect_err("640 kB and what is made of it in a budget of a MiB");
    assert!(error.is_out_of_memory() || matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    // Under the `Auto` policy, f64 runs on the CPU.
    let auto = ctx.with_backend(Backend::Auto);
    check::<f64>(&auto, cases, Vectors::Thin)?;
    assert_eq!(choose_svd::<f64>(&auto, Shape::new(4, 3, 1), Vectors::Thin, false).side, Side::Cpu);
    assert_eq!(choose_svd::<f32>(ctx, Shape::new(4, 3, 1), Vectors::Thin, false).side, Side::Gpu);
    Ok(())
}

/// Large matrices of rank 1 and 2. Their nonzero singular values have to come first.
fn blocks_of_ones(ctx: &Context) -> Checked {
    for n in [65, 128, 130, 150] {
        for blocks in [1, 2] {
            let part = n / blocks;
            let a = (0..n * n).map(|e| if e % n / part == e / n / part { 1.0 } else { 0.0 }).collect();
            let case = [Rectangle::new("blocks of ones", n, n, a)];
            for vectors in [Vectors::Thin, Vectors::Full] {
                let found = solve::<f32>(ctx, &case, vectors)?;
                assert!(found.s.as_slice().is_sorted_by(|a, b| a >= b), "n = {n}, {blocks} blocks: {:?}", found.s);
                judge(&case, &found, vectors)?;
            }
        }
    }
    Ok(())
}

fn cuts(ctx: &Context) -> Checked {
    for (m, n, batch) in [(20, 12, 70), (9, 31, 30), (70, 66, 5)] {
        let cases: Vec<Rectangle> = (0..batch).map(|i| types(m, n, i)[[9, 4, 12][i as usize % 3]].clone()).collect();
        let whole = solve::<f32>(ctx, &cases, Vectors::Thin)?;
        judge(&cases, &whole, Vectors::Thin)?;
        let whole = all_bits(&whole);
        assert_eq!(all_bits(&solve(ctx, &cases, Vectors::Thin)?), whole, "twice");
        for budget in [1 << 30, 512 << 10] {
            let small = alike(ctx).memory_budget(budget).build()?;
            let found =
                solve::<f32>(&small, &cases, Vectors::Thin).map_err(|e| format!("under a budget of {budget}: {e}"))?;
            assert_eq!(all_bits(&found), whole, "under a budget of {budget} bytes");
            assert!(small.pool().peak <= budget, "{:?}", small.pool());
        }
        let k = m.min(n);
        // The CPU takes another path for fewer than six small matrices, because SIMD lanes would stay empty.
        let few = if ctx.adapter().is_none() && k <= 64 { 6 } else { 1 };
        for i in (0..=cases.len() - few).rev().step_by(7) {
            let own = i..i + few;
            let cut = solve::<f32>(ctx, &cases[own.clone()], Vectors::Thin)?;
            judge(&cases[own.clone()], &cut, Vectors::Thin)?;
            let (u, s, vh, c) = all_bits(&cut);
            let of = |size: usize| own.start * size..own.end * size;
            assert_eq!(u, whole.0[of(m * k)], "{} and the next {few}", cases[i].name);
            assert_eq!(s, whole.1[of(k)], "{} and the next {few}", cases[i].name);
            assert_eq!(vh, whole.2[of(k * n)], "{} and the next {few}", cases[i].name);
            assert_eq!(c, whole.3[own], "{} and the next {few}", cases[i].name);
        }
        for one in cases.chunks(1).step_by(7) {
            judge(one, &solve::<f32>(ctx, one, Vectors::Thin)?, Vectors::Thin)?;
        }
    }
    Ok(())
}

/// A batch of more than 65,535 matrices, which is the largest number of workgroups of a dispatch.
fn many(ctx: &Context) -> Checked {
    for count in sample(ctx, [4000, 66_000]) {
        let (m, n) = (3, 2);
        let data = random_batch(m, n, count, 9);
        let found = Host::of(ctx, &svd(ctx, &of_shape(m, n, data.clone())?, Vectors::Thin)?.ok(ctx)?)?;
        let cases: Vec<Rectangle> = data
            .chunks_exact(m * n)
            .map(|a| Rectangle::new("random", m, n, a.iter().map(|&x| x.into()).collect()))
            .collect();
        judge(&cases, &found, Vectors::Thin)?;
    }
    Ok(())
}

/// The elements are in f32's range, but a singular value is beyond it, so the result must not be certified.
fn overflow(ctx: &Context) -> Checked {
    let a = Array::from_vec(Shape::new(4, 3, 1), vec![3e38_f32; 12])?;
    let found = svd(ctx, &a, Vectors::Thin)?;
    assert_eq!(found.certificates(ctx)?[0].status, Status::NotConverged);
    Ok(())
}

fn values_alone(ctx: &Context) -> Checked {
    for (m, n) in [(20, 30), (80, 70)] {
        let a = of_shape(m, n, random_batch(m, n, 3, 10))?;
        let alone = svdvals(ctx, &a)?;
        let both = svd(ctx, &a, Vectors::Thin)?.ok(ctx)?;
        assert_eq!(bits(alone.s.to_host(ctx)?.as_slice()), bits(both.s.to_host(ctx)?.as_slice()));
        assert_eq!(alone.certificates(ctx)?, both.certificates(ctx)?);
        // A matrix that is on the device already gives the same result.
        if ctx.adapter().is_some() {
            let resident = a.to_device(ctx)?;
            assert_eq!(bits_of(ctx, &svd(ctx, &resident, Vectors::Thin)?)?, bits_of(ctx, &both)?);
            svd(&ctx.with_backend(Backend::Auto), &resident, Vectors::Thin)?.ok(ctx)?;
        }
    }
    // A batch consists of many matrices of one shape.
    assert_eq!(array::<f32>(&types(3, 3, 1)).shape().batch, types(3, 3, 1).len());
    Ok(())
}

/// Compares the residual with the smallest residual that any k singular triplets can have, and the singular values
/// with the true ones. The same seed has to give the same bits.
fn truncated(ctx: &Context) -> Checked {
    leading::<f32>(ctx)?;
    leading::<f64>(ctx)
}

fn leading<T: Real + Into<f64>>(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(11);
    for (m, n, k) in [(120, 80, 10), (40, 200, 7), (30, 30, 30), (50, 20, 0), (1, 1, 1), (200, 3, 2)] {
        let short = m.min(n);
        let values: Vec<f64> = (0..short).map(|i| 0.7_f64.powi(i as i32)).collect();
        let mut cases: Vec<Rectangle> =
            (0..3).map(|_| Rectangle::new("decaying", m, n, with_values(m, n, &values, &mut random))).collect();
        cases.push(Rectangle::new("zero", m, n, vec![0.0; m * n]));
        cases.push(Rectangle::new("large", m, n, cases[0].a.iter().map(|x| x * 1e30).collect()));
        cases.push(low_rank(m, n, 1, &mut random));
        let a = array::<T>(&cases);
        let found = svd_truncated(ctx, &a, k, TruncatedOptions::default())?;
        let (u, s, vh) = (found.u.to_host(ctx)?, found.s.to_host(ctx)?, found.vh.to_host(ctx)?);
        let residual = found.residual.to_host(ctx)?;
        assert_eq!((u.shape(), vh.shape()), (Shape::new(m, k, cases.len()), Shape::new(k, n, cases.len())));
        let unit = m.max(n) as f64 * T::EPSILON;
        for (i, case) in cases.iter().enumerate() {
            let wide = |x: nalgebra::DMatrixView<'_, T>| x.map(Into::into);
            let (u, s, vh) = (wide(u.matrix(i)), wide(s.matrix(i)), wide(vh.matrix(i)));
            let what = format!("{}, {m} x {n}, k = {k}", case.name);
            assert_eq!(found.certificates()[i].status, Status::Converged, "{what}: {:?}", found.certificates()[i]);
            for gram in [u.tr_mul(&u), &vh * vh.transpose()] {
                assert!((gram - nalgebra::DMatrix::identity(k, k)).amax() <= 15.0 * unit, "{what}");
            }
            // The reported residual is the true one.
            let given = nalgebra::DMatrix::from_column_slice(m, n, &case.a);
            let away = &given - &u * nalgebra::DMatrix::from_diagonal(&s.column(0).into_owned()) * &vh;
            let norm = given.norm();
            let truth = if norm == 0.0 { 0.0 } else { away.norm() / norm };
            let reported: f64 = residual.as_slice()[i].into();
            assert!((reported - truth).abs() <= 15.0 * unit + 0.01 * truth, "{what}: {reported:e}, in truth {truth:e}");
            if case.name == "decaying" {
                // Each singular value is 0.7 times the one before it. So with ten additional directions and two
                // passes, the error depends very little on the random sample.
                let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
                let least = (square(&values[k..]) / square(&values)).sqrt();
                // The error that comes from rounding the matrix to f32.
                let rounding = 15.0 * m.max(n) as f64 * f64::from(f32::EPSILON);
                assert!(truth <= 1.001 * least + rounding, "{what}: left {truth:e}, at best {least:e}");
                for (got, want) in s.iter().zip(&values) {
                    assert!((got - want).abs() <= 1e-4 * want + rounding, "{what}: {got} for {want}");
                }
            }
        }
        // The same seed gives the same bits, alone or in a batch, on any number of threads. Another seed gives
        // another sample.
        let bits = |x: &Array<T>| -> fiedler::Result<Vec<u64>> {
            Ok(x.to_host(ctx)?.as_slice().iter().map(|&x| Into::<f64>::into(x).to_bits()).collect())
        };
        let alone = svd_truncated(ctx, &array::<T>(&cases[..1]), k, TruncatedOptions::default())?;
        assert_eq!(bits(&alone.u)?, bits(&found.u)?[..m * k]);
        let other = svd_truncated(ctx, &a, k, TruncatedOptions { seed: 1, ..TruncatedOptions::default() })?;
        assert!(k < 7 || bits(&other.u)? != bits(&found.u)?);
    }
    // Threads divide the sums of a large matrix.
    let elements = random_batch(3000, 100, 1, 5).into_iter().map(f64::from).collect();
    let large = array::<T>(&[Rectangle::new("large", 3000, 100, elements)]);
    let on = |threads: usize| -> fiedler::Result<Vec<u64>> {
        let ctx = alike(ctx).threads(threads).build()?;
        let u = svd_truncated(&ctx, &large, 20, TruncatedOptions::default())?.u.to_host(&ctx)?;
        Ok(u.as_slice().iter().map(|&x| Into::<f64>::into(x).to_bits()).collect())
    };
    assert_eq!(on(1)?, on(3)?);
    // A matrix that is not finite spoils only its own result. A request for more triplets than the matrix has is an
    // error.
    let found = svd_truncated(
        ctx,
        &of_shape(2, 2, vec![1.0, f32::NAN, 0.0, 1.0, 3.0, 0.0, 0.0, 2.0])?,
        1,
        TruncatedOptions::default(),
    )?;
    let statuses: Vec<Status> = found.certificates().iter().map(|c| c.status).collect();
    assert_eq!(statuses, [Status::NonFinite, Status::Converged]);
    assert!(found.residual.to_host(ctx)?.as_slice()[0].is_nan());
    let error = svd_truncated(ctx, &of_shape(2, 3, vec![0.0; 6])?, 3, TruncatedOptions::default()).map(drop);
    assert!(matches!(error.expect_err("3 of 2").kind(), ErrorKind::Domain { .. }));
    Ok(())
}

fn truncated_elsewhere(ctx: &Context) -> Checked {
    let a = of_shape(12, 9, random_batch(12, 9, 1, 3))?.to_device(ctx)?;
    let options = TruncatedOptions::default();
    let error = svd_truncated(ctx, &a, 2, options).map(drop).expect_err("there are no kernels for it");
    assert!(matches!(error.kind(), ErrorKind::Domain { operation: "svd_truncated", .. }), "{error}");
    // Under the `Auto` policy, the call reports the reason for its choice and runs on the side that supports it.
    let auto = alike(ctx).backend(Backend::Auto).software_as_gpu(true).build()?;
    let choice = choose_svd_truncated(&auto, a.shape(), 2, options);
    assert_eq!((choice.side, choice.reason), (Side::Cpu, Reason::BeyondKernels));
    let a = of_shape(12, 9, random_batch(12, 9, 1, 3))?.to_device(&auto)?;
    assert_eq!(svd_truncated(&auto, &a, 2, options)?.certificates()[0].status, Status::Converged);
    Ok(())
}
