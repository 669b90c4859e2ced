//! Gradients of matrices of unequal orders, and of a few pairs of sparse matrices.

use common::gradients::{Matrix, batch, eigh_gradient, matrices, pairs, svd_gradient, triplets};
use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, suite};
use fiedler::array::{Array, Real};
use fiedler::ops::gradient::{
    Degeneracy, EigshGradient, GradientCertificate, eigh_jvp, eigh_ragged_vjp, eigsh_vjp, svd_jvp, turn_tie_groups,
};
use fiedler::ops::sparse::Operator;
use fiedler::ops::{EigshOptions, Which, eigsh};
use fiedler::{Context, ErrorKind, Layout, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "gradient of parts",
        vec![
            on_cpu("close eigenvalues against 60 digits", golden),
            on_cpu("unequal orders", ragged),
            on_cpu("a few pairs as all pairs", few),
            on_cpu("a tie group that is cut", cut),
            on_cpu("a large grid against finite differences", grid),
            on_cpu("directions of eigenpairs are adjoint to gradients in f64", directions::<f64>),
            on_each("directions of eigenpairs are adjoint to gradients", directions::<f32>),
            on_cpu("directions of singular triplets are adjoint to gradients in f64", rectangular_directions::<f64>),
            on_each("directions of singular triplets are adjoint to gradients", rectangular_directions::<f32>),
            on_cpu("bases that are turned", turned),
            on_cpu("shapes and options", refused),
        ],
    )
}

/// What two ways of the same sums differ by, relative to the largest element, if gaps are about 1.
const ROUNDING: f64 = 1e-12;

/// The gradients that `golden/gradients.py` wrote, from the eigenpairs as they are computed here. Both the vectors and
/// the quotients have errors of eps divided by the gap, which the certificate's sensitivity measures.
fn golden(ctx: &Context) -> Checked {
    let [x, y] = [[1.0, 2.0, 3.0, 4.0], [2.0, -1.0, 1.0, -2.0]].map(|of| Matrix::new(4, 1, |i| of[i] / 4.0));
    let mut lines = 0;
    for line in include_str!("golden/gradients.txt").lines() {
        let numbers = line.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let [a, wanted] = [1, 17].map(|first| Matrix { rows: 4, data: numbers[first..first + 16].to_vec() });
        let (values, vectors) = pairs::<f64>(ctx, &[a])?;
        let v = &vectors[0];
        let bar = Matrix::new(4, 4, |e| {
            let (own, by) = (v.column(e / 4), (e / 4 + 1) as f64);
            (y.dot(&own) * x.data[e % 4] + x.dot(&own) * y.data[e % 4]) / by
        });
        let c = Matrix::new(4, 1, |i| (i + 1) as f64);
        let bars = [Some(std::slice::from_ref(&c)), Some(std::slice::from_ref(&bar))];
        let (found, said) = eigh_gradient::<f64>(ctx, (&values, &vectors), bars, Degeneracy::Exact)?;
        let error = found[0].plus(&wanted, -1.0).largest() / wanted.largest();
        let allowed = 10.0 * 4.0 * f64::EPSILON * said[0].sensitivity;
        assert!(said[0].defined && error <= allowed, "gap {}: {error:e}, allowed {allowed:e}", numbers[0]);
        assert!((said[0].sensitivity * numbers[0] - 1.0).abs() < 0.2, "{:?}", said[0]);
        lines += 1;
    }
    assert_eq!(lines, 14);
    Ok(())
}

fn ragged(ctx: &Context) -> Checked {
    let random = &mut SplitMix64::new(5);
    // Runs, orders beyond a block of rows, and matrices that fill several chunks.
    let orders = [3, 0, 1, 5, 5, 5, 5, 5, 0, 2, 40, 40, 8, 120, 1, 33, 0];
    let given: Vec<Matrix> = orders.iter().map(|&n| Matrix::random(n, n, random).symmetric()).collect();
    for bars in [[true, true], [true, false], [false, true], [false, false]] {
        let (mut all, mut wanted, mut certificates) = ([const { Vec::new() }; 4], Vec::new(), Vec::new());
        for a in given.iter().filter(|a| a.rows > 0) {
            let (values, vectors) = pairs::<f64>(ctx, std::slice::from_ref(a))?;
            let bar = [Matrix::random(a.rows, 1, random), Matrix::random(a.rows, a.rows, random)];
            let one = std::array::from_fn(|i| bars[i].then(|| std::slice::from_ref(&bar[i])));
            let (gradient, certificate) = eigh_gradient::<f64>(ctx, (&values, &vectors), one, Degeneracy::Exact)?;
            wanted.extend(gradient.into_iter().map(|one| one.data));
            certificates.extend(certificate);
            let parts = [&values[0], &vectors[0], &bar[0], &bar[1]];
            all.iter_mut().zip(parts).for_each(|(all, part)| all.extend_from_slice(&part.data));
        }
        let layout = Layout::new(orders.map(|n| u32::try_from(n).unwrap()));
        let given = [bars[0].then_some(&all[2][..]), bars[1].then_some(&all[3][..])];
        let (gradient, seen) = eigh_ragged_vjp(ctx, &layout, [&all[0], &all[1]], given, Degeneracy::Exact)?;
        let mut own = wanted.iter().zip(&certificates);
        for (i, &n) in orders.iter().enumerate() {
            if n == 0 {
                assert!(seen[i].defined && seen[i].undefined == 0.0, "{bars:?} {i}: {:?}", seen[i]);
                continue;
            }
            let (wanted, certificate) = own.next().unwrap();
            let scale = wanted.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (x, wanted) in gradient[layout.elements(i)].iter().zip(wanted) {
                let allowed = ROUNDING * certificate.sensitivity.max(1.0) * scale;
                assert!((x - wanted).abs() <= allowed, "{bars:?} {i}: {x} {wanted}");
            }
            assert_eq!(seen[i].defined, certificate.defined, "{bars:?} {i}");
            assert!(
                (seen[i].sensitivity / certificate.sensitivity.max(f64::MIN_POSITIVE) - 1.0).abs() < 1e-6 || n == 1
            );
        }
    }
    Ok(())
}

/// Returns the sparse matrix with the elements of a dense one.
fn sparse(a: &Matrix) -> fiedler::Result<Operator<'static, f64>> {
    let n = a.rows;
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..n {
        for column in (0..n).filter(|column| a.data[column * n + row] != 0.0) {
            columns.push(u32::try_from(column).unwrap());
            values.push(a.data[column * n + row]);
        }
        offsets.push(columns.len());
    }
    Operator::from_csr(offsets, columns, values)
}

/// The first or the last k columns.
fn kept(a: &Matrix, k: usize, which: Which) -> Matrix {
    let n = a.cols();
    let first = if which == Which::Smallest { 0 } else { n - k };
    Matrix { rows: a.rows, data: a.data[first * a.rows..(first + k) * a.rows].to_vec() }
}

fn few(ctx: &Context) -> Checked {
    let random = &mut SplitMix64::new(9);
    for (n, k, which) in
        [(40, 1, Which::Smallest), (40, 5, Which::Largest), (60, 7, Which::Smallest), (9, 9, Which::Largest)]
    {
        // A band whose eigenvalues are about 1 apart.
        let a = Matrix::new(n, n, |e| {
            let (row, column) = (e % n, e / n);
            if row == column { row as f64 } else { 0.0 }
        });
        let band = Matrix::random(n, n, random).symmetric();
        let near = Matrix::new(n, n, |e| if (e % n).abs_diff(e / n) < 4 { band.data[e] } else { 0.0 });
        let a = a.plus(&near, 0.3);
        let (values, vectors) = pairs::<f64>(ctx, std::slice::from_ref(&a))?;
        let bars = [Matrix::random(k, 1, random), Matrix::random(n, k, random)];
        let first = if which == Which::Smallest { 0 } else { n - k };
        let inside = |j: usize| (first..first + k).contains(&j);
        let whole = [
            Matrix::new(n, 1, |j| if inside(j) { bars[0].data[j - first] } else { 0.0 }),
            Matrix::new(n, n, |e| if inside(e / n) { bars[1].data[e - first * n] } else { 0.0 }),
        ];
        let given = whole.each_ref().map(|bar| Some(std::slice::from_ref(bar)));
        let (wanted, _) = eigh_gradient::<f64>(ctx, (&values, &vectors), given, Degeneracy::Exact)?;
        let some = [&values[0].data[first..first + k], &kept(&vectors[0], k, which).data];
        let of = [Some(&bars[0].data[..]), Some(&bars[1].data[..])];
        let found = eigsh_vjp(ctx, &sparse(&a)?, which, some, of, Degeneracy::Exact)?;
        assert!(found.certificate.defined && found.residual <= 1e-12, "{found:?}");
        let scale = wanted[0].largest();
        for e in 0..n * n {
            let x = found.at(e % n, e / n);
            assert!((x - wanted[0].data[e]).abs() <= 1e-10 * scale, "{n} {k} {which:?} {e}: {x} {}", wanted[0].data[e]);
        }
        // Without cotangents of the vectors, it is a sum of projectors, and needs no products.
        let found = eigsh_vjp(ctx, &sparse(&a)?, which, some, [of[0], None], Degeneracy::Exact)?;
        assert_eq!((found.products, found.residual), (0, 0.0));
    }
    Ok(())
}

/// The gradient of `sum_j c_j (x'v_j)^2` of the first k pairs of a ring.
fn of_ring(ctx: &Context, n: usize, c: &[f64]) -> fiedler::Result<EigshGradient> {
    let next = |i: usize, j: usize| (i + 1) % n == j || (j + 1) % n == i;
    let ring = Matrix::new(n, n, |e| match (e % n, e / n) {
        (i, j) if i == j => 2.0,
        (i, j) if next(i, j) => -1.0,
        _ => 0.0,
    });
    let (values, vectors) = pairs::<f64>(ctx, std::slice::from_ref(&ring))?;
    let k = c.len();
    let x = Matrix::random(n, 1, &mut SplitMix64::new(3));
    let v = kept(&vectors[0], k, Which::Smallest);
    let bar = Matrix::new(n, k, |e| 2.0 * c[e / n] * x.dot(&v.column(e / n)) * x.data[e % n]);
    let pairs = [&values[0].data[..k], &v.data[..]];
    eigsh_vjp(ctx, &sparse(&ring)?, Which::Smallest, pairs, [None, Some(&bar.data)], Degeneracy::Exact)
}

fn cut(ctx: &Context) -> Checked {
    // The eigenvalues of a ring are 0 and pairs, of which 2 and 4 have one half.
    for (c, defined) in [
        (&[1.0, 2.0, 2.0][..], true),
        (&[1.0, 2.0, 3.0][..], false),
        (&[1.0, 2.0][..], false),
        (&[1.0, 2.0, 2.0, 1.0][..], false),
        (&[1.0, 2.0, 2.0, 1.0, 1.0][..], true),
        (&[1.0, 2.0, 2.0, 0.0][..], true),
    ] {
        let found = of_ring(ctx, 50, c)?;
        assert_eq!(found.certificate.defined, defined, "{c:?}: {:?} {}", found.certificate, found.residual);
        let [y, _] = &found.factors;
        assert!(y.iter().all(|x| x.is_finite()), "{c:?}");
        if !defined {
            assert!(found.certificate.undefined > 1e-3, "{c:?}: {:?}", found.certificate);
        }
    }
    Ok(())
}

/// The Laplacian of a grid with these weights of its edges, to the right and down.
fn laplacian(side: usize, weights: &[f64]) -> fiedler::Result<Operator<'static, f64>> {
    let n = side * side;
    let mut rows = vec![std::collections::BTreeMap::new(); n];
    for (edge, &(u, v)) in edges(side).iter().enumerate() {
        for (from, to) in [(u, v), (v, u)] {
            *rows[from].entry(from).or_insert(0.0) += weights[edge];
            rows[from].insert(to, -weights[edge]);
        }
    }
    let mut offsets = vec![0];
    offsets.extend(rows.iter().scan(0, |sum, row| {
        *sum += row.len();
        Some(*sum)
    }));
    let columns = rows.iter().flat_map(|row| row.keys()).map(|&column| u32::try_from(column).unwrap()).collect();
    Operator::from_csr(offsets, columns, rows.iter().flat_map(|row| row.values()).copied().collect())
}

fn edges(side: usize) -> Vec<(usize, usize)> {
    let right = (0..side * side).filter(|i| i % side + 1 < side).map(|i| (i, i + 1));
    right.chain((0..side * (side - 1)).map(|i| (i, i + side))).collect()
}

fn grid(ctx: &Context) -> Checked {
    let (side, k) = (50, 4);
    let random = &mut SplitMix64::new(17);
    let weights: Vec<f64> = edges(side).iter().map(|_| 1.0 + 0.5 * random.signed()).collect();
    let direction: Vec<f64> = edges(side).iter().map(|_| random.signed()).collect();
    let x = Matrix::random(side * side, 1, random);
    let options = EigshOptions::default().tolerance(1e-14);
    // The sum of (j + 1) (l_j + (x'v_j)^2).
    let loss = |step: f64| -> fiedler::Result<f64> {
        let moved: Vec<f64> = weights.iter().zip(&direction).map(|(weight, by)| weight + step * by).collect();
        let found = eigsh(ctx, &laplacian(side, &moved)?, k, Which::Smallest, &options)?;
        let term = |j: usize| {
            let inner: f64 = found.vectors.column(j).iter().zip(&x.data).map(|(v, x)| v * x).sum();
            (j + 1) as f64 * (found.values[j] + inner * inner)
        };
        Ok((0..k).map(term).sum())
    };
    let a = laplacian(side, &weights)?;
    let found = eigsh(ctx, &a, k, Which::Smallest, &options)?;
    let values_bar: Vec<f64> = (0..k).map(|j| (j + 1) as f64).collect();
    let inner = |j: usize| found.vectors.column(j).iter().zip(&x.data).map(|(v, x)| v * x).sum::<f64>();
    let bar = Matrix::new(side * side, k, |e| {
        let j = e / (side * side);
        2.0 * (j + 1) as f64 * inner(j) * x.data[e % (side * side)]
    });
    let pairs = [&found.values[..], found.vectors.as_slice()];
    let bars = [Some(&values_bar[..]), Some(&bar.data[..])];
    let gradient = eigsh_vjp(ctx, &a, Which::Smallest, pairs, bars, Degeneracy::Exact)?;
    assert!(gradient.certificate.defined && gradient.residual <= 1e-12, "{gradient:?}");
    let of_edge = |(u, v): (usize, usize)| gradient.at(u, u) + gradient.at(v, v) - 2.0 * gradient.at(u, v);
    let made: f64 = edges(side).into_iter().zip(&direction).map(|(edge, by)| of_edge(edge) * by).sum();
    let by = |h: f64| -> fiedler::Result<f64> { Ok((loss(h)? - loss(-h)?) / (2.0 * h)) };
    let wanted = (4.0 * by(5e-4)? - by(1e-3)?) / 3.0;
    // The residuals of 1e-14, divided by gaps of about 4e-3 and by the step.
    assert!((made - wanted).abs() <= 1e-7 * wanted.abs(), "{made} {wanted}");
    Ok(())
}

/// What an inner product of derivatives may be off, relative to the sum of its terms' magnitudes, for each unit of the
/// sensitivity: the rule of `GradientCertificate::sensitivity`.
fn allowed<T: Real>(n: usize, terms: f64, said: GradientCertificate) -> f64 {
    10.0 * n as f64 * T::EPSILON * terms * said.sensitivity.max(1.0)
}

/// `<bar, J dot> = <J' bar, dot>`, also where values are tied. The last matrix changes in its own direction.
fn directions<T: Real>(ctx: &Context) -> Checked {
    let random = &mut SplitMix64::new(21);
    for n in [1, 2, 5, 16, 17, 40, 70] {
        let mut noise: Vec<Matrix> = (0..6).map(|_| Matrix::random(n, n, random).symmetric()).collect();
        let mut given = noise.clone();
        // A triangle in every graph: pairs that are tied.
        given[0] = Matrix::new(n, n, |e| if e % (n + 1) == 0 { n as f64 - 1.0 } else { -1.0 });
        given[5] = given[0].clone();
        noise[5] = given[0].clone();
        let (values, vectors) = pairs::<T>(ctx, &given)?;
        let bars = [1, n].map(|cols| (0..6).map(|_| Matrix::random(n, cols, random)).collect::<Vec<_>>());
        let of = [Some(&bars[0][..]), Some(&bars[1][..])];
        let (gradient, _) = eigh_gradient::<T>(ctx, (&values, &vectors), of, Degeneracy::Exact)?;
        let decomposition = (batch::<T>(&values)?, batch::<T>(&vectors)?);
        let decomposition = [&decomposition.0, &decomposition.1];
        let found = eigh_jvp(ctx, decomposition, &batch(&noise)?, Degeneracy::Exact)?;
        assert_eq!(found.parts.each_ref().map(Array::is_resident), [ctx.adapter().is_some(); 2]);
        let dots = [matrices(ctx, &found.parts[0])?, matrices(ctx, &found.parts[1])?];
        for (i, said) in found.certificates(ctx)?.into_iter().enumerate() {
            let here = bars[0][i].dot(&dots[0][i]) + bars[1][i].dot(&dots[1][i]);
            let terms = gradient[i].absolute().dot(&noise[i].absolute());
            assert!((here - gradient[i].dot(&noise[i])).abs() <= allowed::<T>(n, terms, said), "{n} {i}: {here}");
            assert_eq!(said.defined, i > 0 || n < 3, "{n} {i}: {said:?}");
        }
        let norm = values[5].largest();
        let rounding = 10.0 * n as f64 * T::EPSILON;
        assert!(
            dots[0][5].plus(&values[5], -1.0).largest() <= rounding * norm.max(1.0) && dots[1][5].largest() <= rounding
        );
    }
    Ok(())
}

fn rectangular_directions<T: Real>(ctx: &Context) -> Checked {
    let random = &mut SplitMix64::new(23);
    for (rows, cols) in [(1, 1), (4, 4), (7, 3), (3, 8), (30, 20), (18, 40), (70, 66)] {
        let mut random_matrices = |rows, cols| (0..5).map(|_| Matrix::random(rows, cols, random)).collect::<Vec<_>>();
        let n = rows.min(cols);
        let (mut given, mut noise) = (random_matrices(rows, cols), random_matrices(rows, cols));
        // Singular values of 1, a matrix of rank 1, and a change of the former by itself.
        given[0] = Matrix::new(rows, cols, |e| f64::from(u8::from(e % rows == e / rows)));
        given[1] = Matrix::new(rows, cols, |_| 1.0);
        given[4] = given[0].clone();
        noise[4] = given[0].clone();
        let all = triplets::<T>(ctx, &given)?;
        let bars = [random_matrices(rows, n), random_matrices(n, 1), random_matrices(n, cols)];
        let (gradient, _) = svd_gradient::<T>(ctx, &all, bars.each_ref().map(|bar| Some(&bar[..])))?;
        let [u, s, vh] = all.each_ref().map(|part| batch::<T>(part));
        let found = svd_jvp(ctx, [&u?, &s?, &vh?], &batch(&noise)?, Degeneracy::Exact)?;
        assert_eq!(found.parts.each_ref().map(Array::is_resident), [ctx.adapter().is_some(); 3]);
        let dots = found.parts.iter().map(|part| matrices(ctx, part)).collect::<Result<Vec<_>, _>>()?;
        let said = found.certificates(ctx)?;
        for i in 0..5 {
            // Of singular values of 0, the gradient leaves the cotangent out.
            let tolerance = 4.0 * n as f64 * T::EPSILON * all[1][i].data[0];
            let own = |j: usize| {
                if all[1][i].data[j] <= tolerance { 0.0 } else { bars[1][i].data[j] * dots[1][i].data[j] }
            };
            let here = bars[0][i].dot(&dots[0][i]) + (0..n).map(own).sum::<f64>() + bars[2][i].dot(&dots[2][i]);
            let terms = gradient[i].absolute().dot(&noise[i].absolute()).max(here.abs());
            let wanted = gradient[i].dot(&noise[i]);
            let allowed = allowed::<T>(rows.max(cols), terms, said[i]);
            assert!((here - wanted).abs() <= allowed, "{rows} x {cols}, {i}: {here} {wanted}");
        }
        assert!(said[4].defined && dots[0][4].largest().max(dots[2][4].largest()) <= 10.0 * n as f64 * T::EPSILON);
        assert!(dots[1][4].data.iter().all(|x| (x - 1.0).abs() <= 10.0 * n as f64 * T::EPSILON));
        assert_eq!(said[0].defined, rows.max(cols) == 1 || rows != cols && n == 1, "{rows} x {cols}: {:?}", said[0]);
    }
    Ok(())
}

fn turned(ctx: &Context) -> Checked {
    let layout = Layout::new([3, 0, 2, 12]);
    let ring = |e: usize| match (e % 12, e / 12) {
        (i, j) if i == j => 2.0,
        (i, j) if (i + 1) % 12 == j || (j + 1) % 12 == i => -1.0,
        _ => 0.0,
    };
    let given = [
        Matrix::new(3, 3, |e| f64::from(u8::from(e % 4 == 0))),
        Matrix::new(2, 2, |e| e as f64),
        Matrix::new(12, 12, ring),
    ];
    let (mut values, mut vectors) = (Vec::new(), Vec::new());
    for a in &given {
        let (l, v) = pairs::<f64>(ctx, &[a.symmetric()])?;
        values.extend_from_slice(&l[0].data);
        vectors.extend_from_slice(&v[0].data);
    }
    let before = vectors.clone();
    turn_tie_groups(&layout, &values, &mut vectors)?;
    for (i, a) in [0, 2, 3].into_iter().zip(&given) {
        let (n, l) = (a.rows, &values[layout.rows(i)]);
        let [v, old] = [&vectors, &before].map(|all| Matrix { rows: n, data: all[layout.elements(i)].to_vec() });
        let identity =
            v.transposed().times(&v).plus(&Matrix::new(n, n, |e| f64::from(u8::from(e % (n + 1) == 0))), -1.0);
        let scaled = Matrix::new(n, n, |e| v.data[e] * l[e / n]);
        assert!(identity.largest() < 1e-14 && a.symmetric().times(&v).plus(&scaled, -1.0).largest() < 1e-14, "{i}");
        for j in 0..n {
            let tied = [j.checked_sub(1), Some(j + 1)];
            let tied = tied.into_iter().flatten().any(|k| l.get(k).is_some_and(|x| (x - l[j]).abs() < 1e-12));
            let moved = v.column(j).plus(&old.column(j), -1.0).largest();
            assert_eq!(moved > 1e-3, tied, "{i} {j}: {moved}");
        }
    }
    let error = turn_tie_groups(&layout, &values[1..], &mut vectors).unwrap_err().to_string();
    assert!(error.contains("17 eigenvalues and 157 elements"), "{error}");
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let layout = Layout::new([2, 1]);
    let ragged = |values: &[f64], bar: Option<&[f64]>, rule| {
        eigh_ragged_vjp(ctx, &layout, [values, &[1.0; 5]], [bar, None], rule).unwrap_err().to_string()
    };
    assert!(ragged(&[1.0; 2], None, Degeneracy::Exact).contains("3 eigenvalues of 2 matrices"));
    assert!(ragged(&[1.0; 3], Some(&[1.0]), Degeneracy::Exact).contains("3 cotangents of the eigenvalues"));
    assert!(ragged(&[1.0; 3], None, Degeneracy::Group(f64::NAN)).contains("tolerance"));
    let a = sparse(&Matrix::new(2, 2, |e| f64::from(u8::from(e % 3 == 0))))?;
    let of = |values: &[f64], vectors: &[f64], rule| {
        eigsh_vjp(ctx, &a, Which::Smallest, [values, vectors], [None, None], rule).unwrap_err()
    };
    assert!(of(&[1.0; 3], &[1.0; 6], Degeneracy::Exact).to_string().contains("at most 2 pairs"));
    assert!(of(&[1.0], &[1.0], Degeneracy::Exact).to_string().contains("2 elements of eigenvectors"));
    let (w, v, d) = (
        batch::<f64>(&[Matrix::new(2, 1, |_| 1.0)])?,
        batch(&[Matrix::new(2, 2, |_| 1.0)])?,
        batch(&[Matrix::new(3, 2, |_| 1.0)])?,
    );
    let narrow = eigh_jvp(ctx, [&w, &v], &d, Degeneracy::Exact).unwrap_err().to_string();
    assert!(narrow.contains("direction of shape (2, 2)"), "{narrow}");
    assert!(svd_jvp(ctx, [&v, &w, &v], &d, Degeneracy::Exact).is_err());
    assert!(eigh_jvp(ctx, [&w, &v], &v, Degeneracy::Group(-1.0)).is_err());
    let (w, v) = (Array::from_vec(Shape::new(0, 1, 2), vec![])?, Array::from_vec(Shape::new(0, 0, 2), vec![0.0; 0])?);
    let nothing = eigh_jvp(ctx, [&w, &v], &v, Degeneracy::Exact)?.certificates(ctx)?;
    assert!(nothing.len() == 2 && nothing.iter().all(|one| one.defined));
    let (u, wide) = (Array::from_vec(Shape::new(3, 0, 2), vec![])?, Array::from_vec(Shape::new(0, 0, 2), vec![])?);
    assert_eq!(svd_jvp(ctx, [&u, &w, &wide], &u, Degeneracy::Exact)?.certificates(ctx)?, nothing);
    let lorentzian = of(&[1.0], &[1.0, 0.0], Degeneracy::Lorentzian(0.1));
    assert!(matches!(lorentzian.kind(), ErrorKind::Domain { .. }) && lorentzian.to_string().contains("Lorentzian"));
    Ok(())
}
