//! Singular values and products of complex matrices.

use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, suite};
use fiedler::array::{Array, Field, Real};
use fiedler::ops::matmul::{Activation, Bias, Multiplied};
use fiedler::ops::{Decomposed, Gemm, Status, Vectors, svd, svdvals};
use fiedler::{Backend, Context, ErrorKind, Shape};
use num_complex::Complex;

type C = Complex<f64>;

pub fn tests() -> Vec<Test> {
    suite(
        "complex",
        vec![
            on_cpu("known singular values in f32", known::<f32>),
            on_cpu("known singular values in f64", known::<f64>),
            on_cpu("half of the singular values are 0", half_zero),
            on_cpu("singular values that are not finite, or tiny", extreme),
            on_cpu("products in f32", products::<f32>),
            on_cpu("products in f64", products::<f64>),
            on_each("shapes and sides", refused),
        ],
    )
}

/// A matrix in column-major order.
struct Matrix {
    rows: usize,
    data: Vec<C>,
}

impl Matrix {
    fn new(rows: usize, cols: usize, mut of: impl FnMut(usize, usize) -> C) -> Self {
        Self { rows, data: (0..rows * cols).map(|e| of(e % rows, e / rows)).collect() }
    }

    fn random(rows: usize, cols: usize, random: &mut SplitMix64) -> Self {
        Self::new(rows, cols, |_, _| C::new(random.signed(), random.signed()))
    }

    /// Returns I - 2 v v^H / v^H v with a random vector v.
    fn reflector(n: usize, random: &mut SplitMix64) -> Self {
        let v = Self::random(n, 1, random).data;
        let square: f64 = v.iter().map(|x| x.norm_sqr()).sum();
        Self::new(n, n, |i, j| C::from(f64::from(u8::from(i == j))) - 2.0 / square * v[i] * v[j].conj())
    }

    /// Multiplies by I - 2 v v^H / v^H v from the left.
    fn reflect(&mut self, v: &[C]) {
        let by = 2.0 / v.iter().map(|x| x.norm_sqr()).sum::<f64>();
        for column in self.data.chunks_exact_mut(self.rows) {
            let inner: C = column.iter().zip(v).map(|(x, v)| v.conj() * x).sum();
            column.iter_mut().zip(v).for_each(|(x, v)| *x -= by * inner * v);
        }
    }

    fn cols(&self) -> usize {
        self.data.len() / self.rows.max(1)
    }

    fn at(&self, i: usize, j: usize) -> C {
        self.data[j * self.rows + i]
    }

    fn times(&self, other: &Self) -> Self {
        Self::new(self.rows, other.cols(), |i, j| (0..other.rows).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    fn adjoint(&self) -> Self {
        Self::new(self.cols(), self.rows, |i, j| self.at(j, i).conj())
    }

    fn largest(&self) -> f64 {
        self.data.iter().map(|x| x.norm()).fold(0.0, f64::max)
    }

    fn minus(&self, other: &Self) -> Self {
        Self::new(self.rows, self.cols(), |i, j| self.at(i, j) - other.at(i, j))
    }
}

fn array<T: Real>(matrices: &[Matrix], cols: usize) -> fiedler::Result<Array<Complex<T>>>
where
    Complex<T>: Field<Real = T>,
{
    let rounded = |x: &C| Complex::new(T::from_f64(x.re), T::from_f64(x.im));
    let shape = Shape::new(matrices[0].rows, cols, matrices.len());
    Array::from_vec(shape, matrices.iter().flat_map(|one| &one.data).map(rounded).collect())
}

fn matrices<T: Real>(ctx: &Context, array: &Array<Complex<T>>) -> fiedler::Result<Vec<Matrix>>
where
    Complex<T>: Field<Real = T>,
{
    let (host, Shape { rows, cols, batch }) = (array.to_host(ctx)?, array.shape());
    let all: Vec<C> = host.as_slice().iter().map(|x| C::new(x.re.to_f64(), x.im.to_f64())).collect();
    let of = |i: usize| Matrix { rows, data: all[i * rows * cols..(i + 1) * rows * cols].to_vec() };
    Ok((0..batch).map(of).collect())
}

/// Matrices with singular values from 1 down to eps, tied ones, and zeros.
fn known<T: Real>(ctx: &Context) -> Checked
where
    Complex<T>: Decomposed + Field<Real = T>,
{
    let random = &mut SplitMix64::new(60);
    for (rows, cols) in [(1, 1), (1, 6), (5, 1), (3, 3), (5, 2), (2, 7), (20, 8), (8, 21), (33, 33), (70, 64), (9, 200)]
    {
        let (short, long) = (rows.min(cols), rows.max(cols));
        let spread = |kind: usize, i: usize| match kind {
            0 => T::EPSILON.powf(i as f64 / short as f64),
            1 => 1.0 / (1 + i / 2) as f64,
            _ => f64::from(u8::from(i < short / 2)),
        };
        let (mut given, mut truth) = (Vec::new(), Vec::new());
        for kind in 0..3 {
            let s: Vec<f64> = (0..short).map(|i| spread(kind, i)).collect();
            let middle = Matrix::new(rows, cols, |i, j| C::from(if i == j { s[i] } else { 0.0 }));
            given.push(Matrix::reflector(rows, random).times(&middle).times(&Matrix::reflector(cols, random)));
            truth.push(s);
        }
        let a = array::<T>(&given, cols)?;
        let rounded = matrices(ctx, &a)?;
        let unit = long as f64 * T::EPSILON;
        for wanted in [Vectors::Thin, Vectors::Full] {
            let found = svd(ctx, &a, wanted)?.ok(ctx)?;
            let (u, s, vh) = (matrices(ctx, &found.u)?, found.s.to_host(ctx)?, matrices(ctx, &found.vh)?);
            let alone = svdvals(ctx, &a)?;
            for (i, a) in rounded.iter().enumerate() {
                let name = format!("{rows} x {cols}, {wanted:?}, {i}");
                let own = &s.as_slice()[i * short..(i + 1) * short];
                let error = own.iter().zip(&truth[i]).map(|(x, y)| (x.to_f64() - y).abs()).fold(0.0, f64::max);
                assert!(error <= 15.0 * unit && own.windows(2).all(|x| x[0] >= x[1]), "{name}: {error:e} {own:?}");
                let [width, height] = if wanted == Vectors::Thin { [short; 2] } else { [rows, cols] };
                assert_eq!((u[i].cols(), vh[i].rows), (width, height), "{name}");
                let middle = Matrix::new(width, height, |i, j| C::from(if i == j { own[i].to_f64() } else { 0.0 }));
                let rest = u[i].times(&middle).times(&vh[i]).minus(a).largest();
                assert!(rest <= 15.0 * unit, "{name}: {rest:e}");
                for product in [u[i].adjoint().times(&u[i]), vh[i].times(&vh[i].adjoint())] {
                    let n = product.rows;
                    let one = Matrix::new(n, n, |i, j| C::from(f64::from(u8::from(i == j))));
                    assert!(product.minus(&one).largest() <= 15.0 * unit, "{name}");
                }
                // The first entry whose square is within 1 in 1,000 of the largest is real and positive.
                for j in 0..short {
                    let row: Vec<C> = (0..cols).map(|k| vh[i].at(j, k)).collect();
                    let most = row.iter().map(|x| x.norm()).fold(0.0, f64::max);
                    let leads = |x: &C| x.norm() >= most * (0.9995 - 4.0 * T::EPSILON) && x.re > 0.0 && x.im == 0.0;
                    assert!(row.iter().any(leads), "{name}: {j}");
                }
                let values = alone.s.to_host(ctx)?;
                let off = |(x, y): (&T, &T)| (x.to_f64() - y.to_f64()).abs();
                let values = &values.as_slice()[i * short..(i + 1) * short];
                assert!(values.iter().zip(own).map(off).all(|off| off <= 15.0 * unit), "{name}");
            }
            assert!(alone.certificates(ctx)?.iter().all(|one| one.status == Status::Converged));
        }
    }
    Ok(())
}

/// Matrices for which the divide and conquer of faer 0.24.4 fails, real and complex.
fn half_zero(ctx: &Context) -> Checked {
    for (n, seed) in [(128, 1), (128, 2), (140, 3), (140, 4), (200, 5)] {
        let random = &mut SplitMix64::new(seed);
        let mut s: Vec<f64> = (0..n).map(|i| if i < n / 2 { random.unit() } else { 0.0 }).collect();
        for is_real in [true, false] {
            let mut a = Matrix::new(n, n, |i, j| C::from(if i == j { s[i] } else { 0.0 }));
            for _ in 0..n {
                let v = Matrix::random(n, 1, random).data;
                let v: Vec<C> = v.into_iter().map(|x| if is_real { C::from(x.re) } else { x }).collect();
                a.reflect(&v);
                a = a.adjoint();
                a.reflect(&v.iter().rev().copied().collect::<Vec<_>>());
                a = a.adjoint();
            }
            let reals: Vec<f64> = a.data.iter().map(|x| x.re).collect();
            let found = svd(ctx, &array::<f64>(std::slice::from_ref(&a), n)?, Vectors::Thin)?.ok(ctx)?;
            let alone = svdvals(ctx, &array::<f64>(std::slice::from_ref(&a), n)?)?;
            let mut all = vec![found.s.to_host(ctx)?, alone.s.to_host(ctx)?];
            let narrow = svd(ctx, &array::<f32>(std::slice::from_ref(&a), n)?, Vectors::Thin)?.ok(ctx)?;
            assert!(narrow.certificates(ctx)?[0].residual <= 2.0 * f64::from(f32::EPSILON));
            if is_real {
                let real = Array::from_vec(Shape::new(n, n, 1), reals)?;
                all.extend([
                    svd(ctx, &real, Vectors::Full)?.ok(ctx)?.s.to_host(ctx)?,
                    svdvals(ctx, &real)?.s.to_host(ctx)?,
                ]);
            }
            s.sort_by(|x, y| y.total_cmp(x));
            for values in all {
                let error = values.as_slice().iter().zip(&s).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(error <= 15.0 * n as f64 * f64::EPSILON, "{n}, {seed}, real: {is_real}: {error:e}");
            }
        }
    }
    Ok(())
}

fn extreme(ctx: &Context) -> Checked {
    let random = &mut SplitMix64::new(61);
    let mut given: Vec<Matrix> = (0..4).map(|_| Matrix::random(4, 3, random)).collect();
    given[1].data[5].im = f64::NAN;
    given[2].data.iter_mut().for_each(|x| *x *= 2.0_f64.powi(-1000));
    given[3].data.iter_mut().for_each(|x| *x *= 2.0_f64.powi(1000));
    let all = svd(ctx, &array::<f64>(&given, 3)?, Vectors::Thin)?;
    let (said, s) = (all.certificates(ctx)?, all.s.to_host(ctx)?);
    assert_eq!(said.iter().map(|one| one.status as u8).collect::<Vec<_>>(), [0, 2, 0, 0]);
    assert!(
        s.as_slice()[3..6].iter().all(|x| x.is_nan()) && all.u.to_host(ctx)?.as_slice()[12..24] == [C::default(); 12]
    );
    for (i, by) in [(2, 2.0_f64.powi(1000)), (3, 2.0_f64.powi(-1000))] {
        given[i].data.iter_mut().for_each(|x| *x *= by);
        let plain = svdvals(ctx, &array::<f64>(&given[i..=i], 3)?)?.s.to_host(ctx)?;
        for (x, y) in s.as_slice()[3 * i..].iter().zip(plain.as_slice()) {
            assert!((x * by - y).abs() <= 60.0 * f64::EPSILON, "{x} {y}");
        }
    }
    Ok(())
}

/// Every element is within `4 eps sqrt(4 k)` of the sum of its terms' magnitudes, as for 4 k real terms.
fn products<T: Real>(ctx: &Context) -> Checked
where
    Complex<T>: Multiplied + Field<Real = T>,
{
    let random = &mut SplitMix64::new(62);
    for (m, n, k) in [(1, 1, 1), (3, 5, 2), (8, 8, 8), (1, 70, 40), (50, 1, 30), (64, 33, 100), (4, 3, 0)] {
        for [turn_a, turn_b] in [[false, false], [true, false], [false, true], [true, true]] {
            for (of_a, of_b) in [(3, 3), (1, 3), (3, 1)] {
                let mut given = |rows, cols, count, turned: bool| {
                    let (rows, cols) = if turned { (cols, rows) } else { (rows, cols) };
                    let all: Vec<_> = (0..count).map(|_| Matrix::random(rows, cols, random)).collect();
                    array::<T>(&all, cols)
                };
                let (a, b) = (given(m, k, of_a, turn_a)?, given(k, n, of_b, turn_b)?);
                let (c, bias) = (given(m, n, 3, false)?, given(m, 1, 1, false)?);
                let gemm = Gemm::new()
                    .transpose_a(turn_a)
                    .transpose_b(turn_b)
                    .alpha(-0.5)
                    .add(2.0, &c)
                    .bias(Bias::Rows(bias.clone()));
                let made = matrices(ctx, &gemm.run(ctx, &a, &b)?)?;
                let [a, b, c, bias] = [&a, &b, &c, &bias].map(|x| matrices(ctx, x));
                let (a, b, c, bias) = (a?, b?, c?, bias?);
                for (i, made) in made.iter().enumerate() {
                    let (a, b) = (&a[i % of_a], &b[i % of_b]);
                    let of_a = |i: usize, t: usize| if turn_a { a.at(t, i) } else { a.at(i, t) };
                    let of_b = |t: usize, j: usize| if turn_b { b.at(j, t) } else { b.at(t, j) };
                    for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                        let terms = (0..k).map(|t| -0.5 * of_a(row, t) * of_b(t, column));
                        let others = [2.0 * c[i].at(row, column), bias[0].at(row, 0)];
                        let wanted: C = terms.clone().chain(others).sum();
                        let size: f64 = terms.chain(others).map(|x| x.norm()).sum();
                        let error = (made.at(row, column) - wanted).norm();
                        let allowed = 4.0 * T::EPSILON * (4.0 * (k + 2) as f64).sqrt() * size;
                        assert!(error <= allowed, "{m} x {n} x {k}, {turn_a} {turn_b}: {error:e} above {allowed:e}");
                    }
                }
            }
        }
    }
    // As in the BLAS, factors are not read if alpha is 0.
    let bad = array::<T>(&[Matrix::new(2, 2, |_, _| C::from(f64::NAN))], 2)?;
    assert_eq!(matrices(ctx, &Gemm::new().alpha(0.0).run(ctx, &bad, &bad)?)?[0].largest(), 0.0);
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let zero = Complex::<f32>::default();
    let a = Array::from_vec(Shape::new(2, 2, 1), vec![zero; 4])?;
    let error = Gemm::new().activation(Activation::Relu).run(ctx, &a, &a).unwrap_err().to_string();
    assert!(error.contains("no activation of complex numbers"), "{error}");
    for shape in [Shape::new(0, 3, 2), Shape::new(3, 0, 2), Shape::new(2, 2, 0)] {
        let found = svd(ctx, &Array::from_vec(shape, vec![zero; shape.len()])?, Vectors::Full);
        if ctx.adapter().is_none() {
            assert_eq!(found?.certificates(ctx)?.len(), shape.batch);
        }
    }
    // No kernel has complex numbers: the CPU computes unless the device is required.
    let auto = ctx.with_backend(Backend::Auto);
    assert_eq!(svdvals(&auto, &a)?.s.to_host(ctx)?.as_slice(), [0.0; 2]);
    assert_eq!(Gemm::new().run(&auto, &a, &a)?.to_host(ctx)?.as_slice(), [zero; 4]);
    if ctx.adapter().is_some() {
        let gpu = ctx.with_backend(Backend::Gpu);
        for error in [svdvals(&gpu, &a).unwrap_err(), Gemm::new().run(&gpu, &a, &a).unwrap_err()] {
            assert!(
                matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("use the CPU"),
                "{error}"
            );
        }
    }
    Ok(())
}
