//! Gradients of decompositions on every backend, against finite differences and against f64.

use common::gradients::{Matrix, Triplets, eigh_gradient, pairs, svd_gradient, triplets};
use common::random::SplitMix64;
use common::rectangles::with_values;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, suite};
use fiedler::array::Array;
use fiedler::ops::{Degeneracy, Gradient, eigh_vjp, svd_vjp};
use fiedler::{Backend, Context, ErrorKind, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "gradient",
        vec![
            on_cpu("eigenpairs against finite differences", eigenpairs_by_differences),
            on_cpu("singular triplets against finite differences", triplets_by_differences),
            on_each("f32 against f64", narrow),
            on_cpu("close eigenvalues", close),
            on_each("broadening and wider groups", broadened),
            on_each("numbers that are not finite", not_finite),
            on_each("shapes and options", refused),
        ],
    )
}

/// Returns the derivative of `loss` at `a` in a direction, by central differences of two steps that are extrapolated.
/// Their error is about `h^4`, and the rounding error is about `eps / h`.
fn derivative(
    a: &Matrix,
    direction: &Matrix,
    mut loss: impl FnMut(&Matrix) -> fiedler::Result<f64>,
) -> fiedler::Result<f64> {
    let mut by = |h: f64| -> fiedler::Result<f64> {
        Ok((loss(&a.plus(direction, h))? - loss(&a.plus(direction, -h))?) / (2.0 * h))
    };
    let h = 1e-3;
    Ok((4.0 * by(h / 2.0)? - by(h)?) / 3.0)
}

/// The bound of what finite differences may differ by, relative to the magnitudes of the terms.
const BY_DIFFERENCES: f64 = 1e-8;

/// Returns a symmetric matrix whose eigenvalues are about 1 apart.
fn separated(n: usize, random: &mut SplitMix64) -> Matrix {
    let values: Vec<f64> = (0..n).map(|i| i as f64 - n as f64 / 2.0 + 0.3 * random.signed()).collect();
    let q = Matrix { rows: n, data: with_values(n, n, &vec![1.0; n], random) };
    let scaled = Matrix::new(n, n, |e| q.data[e] * values[e / n]);
    scaled.times(&q.transposed()).symmetric()
}

/// A loss of eigenpairs that does not depend on the signs of the eigenvectors:
/// `sum_i c_i l_i + d_i (x'v_i) (y'v_i)`.
struct Loss {
    c: Matrix,
    d: Matrix,
    x: Matrix,
    y: Matrix,
}

impl Loss {
    /// A loss of `count` of the pairs of order n, which are the first or the last ones.
    fn new(n: usize, kept: std::ops::Range<usize>, random: &mut SplitMix64) -> Self {
        let mut weights = || Matrix::new(n, 1, |i| if kept.contains(&i) { random.signed() } else { 0.0 });
        let (c, d) = (weights(), weights());
        Self { c, d, x: Matrix::random(n, 1, random), y: Matrix::random(n, 1, random) }
    }

    fn of(&self, values: &Matrix, vectors: &Matrix) -> f64 {
        let term = |i: usize| {
            let v = vectors.column(i);
            self.c.data[i] * values.data[i] + self.d.data[i] * self.x.dot(&v) * self.y.dot(&v)
        };
        (0..values.rows).map(term).sum()
    }

    /// Returns the cotangents of the eigenvectors. Those of the eigenvalues are `c`.
    fn vectors_bar(&self, vectors: &Matrix) -> Matrix {
        let n = vectors.rows;
        Matrix::new(n, n, |e| {
            let (i, v) = (e % n, vectors.column(e / n));
            self.d.data[e / n] * (self.x.data[i] * self.y.dot(&v) + self.y.data[i] * self.x.dot(&v))
        })
    }
}

fn eigenpairs_by_differences(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(1);
    for n in (1..=17).chain([24, 25, 32, 33, 40]) {
        let cases: Vec<Matrix> = (0..3).map(|_| separated(n, &mut random)).collect();
        let (values, vectors) = pairs::<f64>(ctx, &cases)?;
        for kept in [0..n, 0..n.div_ceil(3), n - n.div_ceil(3)..n] {
            let losses: Vec<Loss> = cases.iter().map(|_| Loss::new(n, kept.clone(), &mut random)).collect();
            let c: Vec<Matrix> = losses.iter().map(|loss| loss.c.clone()).collect();
            let bars: Vec<Matrix> = losses.iter().zip(&vectors).map(|(loss, v)| loss.vectors_bar(v)).collect();
            let given = [Some(&c[..]), Some(&bars[..])];
            let (found, said) = eigh_gradient::<f64>(ctx, (&values, &vectors), given, Degeneracy::Exact)?;
            for (((a, loss), found), said) in cases.iter().zip(&losses).zip(&found).zip(said) {
                assert!(said.defined && said.undefined == 0.0, "order {n}: {said:?}");
                let direction = Matrix::random(n, n, &mut random).symmetric();
                let wanted = derivative(a, &direction, |a| {
                    let (values, vectors) = pairs::<f64>(ctx, std::slice::from_ref(a))?;
                    Ok(loss.of(&values[0], &vectors[0]))
                })?;
                let (got, size) = (found.dot(&direction), found.absolute().dot(&direction.absolute()));
                let off = (got - wanted).abs();
                assert!(off <= BY_DIFFERENCES * size, "order {n}, pairs {kept:?}: {got}, not {wanted}");
            }
        }
    }
    Ok(())
}

/// A loss of singular triplets that does not depend on their common sign:
/// `sum_i c_i s_i + d_i (x'u_i) (y'v_i) + e_i (x'u_i)^2 + f_i (y'v_i)^2`.
struct TripletLoss {
    weights: [Vec<f64>; 4],
    x: Matrix,
    y: Matrix,
}

impl TripletLoss {
    fn new(m: usize, n: usize, random: &mut SplitMix64) -> Self {
        let weights = [(); 4].map(|()| (0..m.min(n)).map(|_| random.signed()).collect());
        Self { weights, x: Matrix::random(m, 1, random), y: Matrix::random(n, 1, random) }
    }

    /// Returns the loss, and the cotangents of U, s and V'.
    fn of(&self, [u, s, vh]: [&Matrix; 3]) -> (f64, [Matrix; 3]) {
        let ([c, d, e, f], v) = (&self.weights, vh.transposed());
        let k = s.rows;
        let xu: Vec<f64> = (0..k).map(|i| self.x.dot(&u.column(i))).collect();
        let yv: Vec<f64> = (0..k).map(|i| self.y.dot(&v.column(i))).collect();
        let term = |i: usize| c[i] * s.data[i] + d[i] * xu[i] * yv[i] + e[i] * xu[i] * xu[i] + f[i] * yv[i] * yv[i];
        let bar = |side: &Matrix, own: &[f64], other: &[f64], squares: &[f64]| {
            let of = |i: usize| d[i] * other[i] + 2.0 * squares[i] * own[i];
            Matrix::new(side.rows, k, |at| of(at / side.rows) * side.data[at % side.rows])
        };
        let u_bar = bar(&self.x, &xu, &yv, e);
        let vh_bar = bar(&self.y, &yv, &xu, f).transposed();
        ((0..k).map(term).sum(), [u_bar, Matrix { rows: k, data: c.clone() }, vh_bar])
    }
}

fn triplets_by_differences(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(2);
    let shapes =
        [(1, 1), (2, 2), (3, 1), (1, 4), (5, 3), (3, 7), (8, 8), (30, 6), (9, 25), (26, 26), (40, 31), (20, 40)];
    for (m, n) in shapes {
        let k = m.min(n);
        let cases: Vec<Matrix> = (0..3)
            .map(|_| {
                let values: Vec<f64> = (0..k).map(|i| (k - i) as f64 + 0.3 * random.signed()).collect();
                Matrix { rows: m, data: with_values(m, n, &values, &mut random) }
            })
            .collect();
        let found = triplets::<f64>(ctx, &cases)?;
        let losses: Vec<TripletLoss> = cases.iter().map(|_| TripletLoss::new(m, n, &mut random)).collect();
        let mut bars: Triplets = Default::default();
        for (i, loss) in losses.iter().enumerate() {
            let (_, of_loss) = loss.of([&found[0][i], &found[1][i], &found[2][i]]);
            bars.iter_mut().zip(of_loss).for_each(|(all, own)| all.push(own));
        }
        let (gradients, said) = svd_gradient::<f64>(ctx, &found, bars.each_ref().map(|bar| Some(&bar[..])))?;
        for (((a, loss), gradient), said) in cases.iter().zip(&losses).zip(&gradients).zip(said) {
            assert!(said.defined && said.undefined == 0.0, "{m} x {n}: {said:?}");
            let direction = Matrix::random(m, n, &mut random);
            let wanted = derivative(a, &direction, |a| {
                let [u, s, vh] = triplets::<f64>(ctx, std::slice::from_ref(a))?;
                Ok(loss.of([&u[0], &s[0], &vh[0]]).0)
            })?;
            let (got, size) = (gradient.dot(&direction), gradient.absolute().dot(&direction.absolute()));
            assert!((got - wanted).abs() <= BY_DIFFERENCES * size, "{m} x {n}: {got}, not {wanted}");
        }
    }
    Ok(())
}

/// Computes gradients in f32 from given factors, and compares them with those in f64 from the same factors. The rule is
/// that of products, `eps sqrt(k)` times the product of the magnitudes, three times in a row; a quotient has the errors
/// of its two operands, and in WGSL 2.5 ulp of its own.
fn narrow(ctx: &Context) -> Checked {
    let (mut random, cpu) = (SplitMix64::new(3), Context::cpu());
    let rounded = |matrix: &Matrix| Matrix::new(matrix.rows, matrix.cols(), |e| f64::from(matrix.data[e] as f32));
    let near = |found: &Matrix, wanted: &Matrix, sizes: &Matrix, k: usize, what: &str| {
        let allowed = 16.0 * f64::from(f32::EPSILON) * (k as f64).sqrt().max(2.0);
        for (e, (x, y)) in found.data.iter().zip(&wanted.data).enumerate() {
            assert!((x - y).abs() <= allowed * sizes.data[e], "{what}: element {e} is {x}, not {y}");
        }
    };
    for n in [1, 2, 5, 8, 31, 65] {
        let cases: Vec<Matrix> = (0..4).map(|_| separated(n, &mut random)).collect();
        let (values, vectors) = pairs::<f64>(&cpu, &cases)?;
        let (values, vectors): (Vec<_>, Vec<_>) =
            (values.iter().map(rounded).collect(), vectors.iter().map(rounded).collect());
        let c: Vec<_> = cases.iter().map(|_| rounded(&Matrix::random(n, 1, &mut random))).collect();
        let bars: Vec<_> = cases.iter().map(|_| rounded(&Matrix::random(n, n, &mut random))).collect();
        let given = [Some(&c[..]), Some(&bars[..])];
        let (found, _) = eigh_gradient::<f32>(ctx, (&values, &vectors), given, Degeneracy::Exact)?;
        let (wanted, _) = eigh_gradient::<f64>(&cpu, (&values, &vectors), given, Degeneracy::Exact)?;
        for i in 0..cases.len() {
            let v = vectors[i].absolute();
            let p = v.transposed().times(&bars[i].absolute());
            let g = Matrix::new(n, n, |e| match (e % n, e / n) {
                (row, col) if row == col => c[i].data[row].abs(),
                (row, col) => (p.data[e] + p.data[row * n + col]) / (values[i].data[row] - values[i].data[col]).abs(),
            });
            near(&found[i], &wanted[i], &v.times(&g).times(&v.transposed()), n, &format!("eigh, order {n}"));
        }
    }
    for (m, n) in [(1, 1), (6, 4), (4, 6), (9, 9), (70, 20), (20, 70), (33, 33)] {
        let k = m.min(n);
        let values: Vec<f64> = (0..k).map(|i| (k - i) as f64).collect();
        let cases: Vec<_> = (0..3).map(|_| Matrix { rows: m, data: with_values(m, n, &values, &mut random) }).collect();
        let found = triplets::<f64>(&cpu, &cases)?.map(|part| part.iter().map(rounded).collect::<Vec<_>>());
        let bars = found.each_ref().map(|part| {
            part.iter().map(|one| rounded(&Matrix::random(one.rows, one.cols(), &mut random))).collect::<Vec<_>>()
        });
        let given = bars.each_ref().map(|bar| Some(&bar[..]));
        let (got, _) = svd_gradient::<f32>(ctx, &found, given)?;
        let (wanted, _) = svd_gradient::<f64>(&cpu, &found, given)?;
        for i in 0..cases.len() {
            // Every quotient is at most its dividend, because values are 1 apart and at least 1. The sums that are
            // subtracted outside of the vectors have the magnitude of the products.
            let [u, vh] = [0, 2].map(|side| found[side][i].absolute());
            let [p, q] = [u.transposed().times(&bars[0][i].absolute()), vh.times(&bars[2][i].absolute().transposed())];
            let both = p.plus(&q, 1.0);
            let g = both.plus(&both.transposed(), 1.0).plus(&Matrix::new(k, k, |e| bars[1][i].data[e / k].abs()), 1.0);
            let left = u.times(&g).plus(&bars[0][i].absolute(), 1.0).plus(&u.times(&p), 1.0);
            let right = vh.plus(&bars[2][i].absolute(), 1.0).plus(&q.transposed().times(&vh), 1.0);
            let sizes = left.times(&vh).plus(&u.times(&right), 1.0);
            near(&got[i], &wanted[i], &sizes, k, &format!("svd, {m} x {n}"));
        }
    }
    Ok(())
}

/// Two eigenvalues at a distance from 1e-1 to 1e-14: the gradient of a loss of one vector is known in closed form, and
/// its error is at most `10 n eps` times the sensitivity that is reported.
fn close(ctx: &Context) -> Checked {
    // The eigenvectors are q_i = e_i - 2 u_i u for u = (1, 1, 1, 1) / 2, all of whose elements are exact.
    let q = Matrix::new(4, 4, |e| f64::from(u8::from(e % 4 == e / 4)) - 0.5);
    let x = Matrix { rows: 4, data: vec![1.0, 0.5, -0.25, 2.0] };
    for gap in (1..=14).map(|digits| 10.0_f64.powi(-digits)) {
        // The gap that the sums of f64 keep is a power of two.
        let gap = 2.0_f64.powf(gap.log2().round());
        let exact = [-1.0, 0.5, 0.5 + gap, 1.0];
        let a = Matrix::new(4, 4, |e| (0..4).map(|k| exact[k] * q.data[k * 4 + e % 4] * q.data[k * 4 + e / 4]).sum());
        let (values, vectors) = pairs::<f64>(ctx, std::slice::from_ref(&a))?;
        let bar = Matrix::new(4, 4, |e| {
            let v = vectors[0].column(1);
            if e / 4 == 1 { 2.0 * x.dot(&v) * x.data[e % 4] } else { 0.0 }
        });
        let given = [None, Some(std::slice::from_ref(&bar))];
        let (found, said) = eigh_gradient::<f64>(ctx, (&values, &vectors), given, Degeneracy::Exact)?;
        // The gradient of (x'q)^2 is the sum over the others r of (x'q) (x'r) (q r' + r q') / (l - l_r).
        let mut wanted = a.scaled(0.0);
        let own = q.column(1);
        for other in [0, 2, 3] {
            let r = q.column(other);
            let part = own.times(&r.transposed()).symmetric();
            wanted = wanted.plus(&part, 2.0 * x.dot(&own) * x.dot(&r) / (exact[1] - exact[other]));
        }
        let off = found[0].plus(&wanted, -1.0).largest() / wanted.largest();
        assert!(said[0].defined, "gap {gap:.0e}: {:?}", said[0]);
        assert!((said[0].sensitivity * gap - 1.0).abs() < 0.2, "gap {gap:.0e}: {:?}", said[0]);
        let allowed = 40.0 * f64::EPSILON * said[0].sensitivity;
        assert!(off <= allowed, "gap {gap:.0e}: off by {off:.1e}, {allowed:.1e} allowed");
    }
    Ok(())
}

/// Broadening bounds quotients, by its formula; a wider group drops them.
fn broadened(ctx: &Context) -> Checked {
    let values = [Matrix { rows: 2, data: vec![0.75, 1.0] }];
    let vectors = [Matrix::new(2, 2, |e| f64::from(u8::from(e % 2 == e / 2)))];
    let bar = [Matrix { rows: 2, data: vec![0.0, 1.0, -1.0, 0.0] }];
    let at = |degeneracy| eigh_gradient::<f32>(ctx, (&values, &vectors), [None, Some(&bar)], degeneracy);
    // The skew part of the cotangents is 1, so that G is the reciprocal of the gap of 1 / 4.
    for (degeneracy, wanted, defined) in [
        (Degeneracy::Exact, -4.0, true),
        (Degeneracy::Lorentzian(0.0), -4.0, true),
        (Degeneracy::Lorentzian(0.25), -2.0, true),
        (Degeneracy::Lorentzian(0.75), -0.4, true),
        (Degeneracy::Group(0.2), -4.0, true),
        (Degeneracy::Group(0.3), 0.0, false),
    ] {
        let (found, said) = at(degeneracy)?;
        assert!((found[0].data[2] - wanted).abs() < 1e-5, "{degeneracy:?}: {:?}", found[0]);
        assert_eq!(said[0].defined, defined, "{degeneracy:?}");
    }
    Ok(())
}

fn not_finite(ctx: &Context) -> Checked {
    let values = vec![Matrix { rows: 2, data: vec![0.0, 1.0] }; 3];
    let vectors = vec![Matrix::new(2, 2, |e| f64::from(u8::from(e % 2 == e / 2))); 3];
    for bad in [f64::NAN, f64::INFINITY] {
        let mut bars = vec![Matrix::new(2, 2, |e| e as f64); 3];
        bars[1].data[2] = bad;
        let (found, said) = eigh_gradient::<f32>(ctx, (&values, &vectors), [None, Some(&bars)], Degeneracy::Exact)?;
        assert!(!said[1].defined && said[1].undefined.is_nan(), "{bad}: {:?}", said[1]);
        for other in [0, 2] {
            assert!(said[other].defined && found[other].data.iter().all(|x| x.is_finite()), "{bad}");
        }
    }
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let array = |rows: usize, cols: usize, batch: usize| {
        let shape = Shape::new(rows, cols, batch);
        Array::from_vec(shape, vec![0.0_f32; shape.len()])
    };
    let (values, vectors) = (array(3, 1, 2)?, array(3, 3, 2)?);
    let shape = |found: fiedler::Result<Gradient>| {
        let error = found.expect_err("a shape that does not match");
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
    };
    shape(eigh_vjp(ctx, [&values, &array(3, 2, 2)?], [None, None], Degeneracy::Exact));
    shape(eigh_vjp(ctx, [&array(2, 1, 2)?, &vectors], [None, None], Degeneracy::Exact));
    shape(eigh_vjp(ctx, [&values, &vectors], [Some(&array(3, 1, 1)?), None], Degeneracy::Exact));
    shape(eigh_vjp(ctx, [&values, &vectors], [None, Some(&array(3, 2, 2)?)], Degeneracy::Exact));
    let (u, s, vh) = (array(4, 2, 1)?, array(2, 1, 1)?, array(2, 2, 1)?);
    shape(svd_vjp(ctx, [&u, &s, &array(4, 2, 1)?], [None; 3], Degeneracy::Exact));
    shape(svd_vjp(ctx, [&u, &s, &vh], [Some(&vh), None, None], Degeneracy::Exact));
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        for degeneracy in [Degeneracy::Group(bad), Degeneracy::Lorentzian(bad)] {
            let error = eigh_vjp(ctx, [&values, &vectors], [None, None], degeneracy).expect_err("a bad number");
            assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
        }
    }
    // Without matrices, or without elements, there is nothing to divide.
    let none = eigh_vjp(ctx, [&array(3, 1, 0)?, &array(3, 3, 0)?], [None, None], Degeneracy::Exact)?;
    assert!(none.certificates(ctx)?.is_empty() && none.array.shape() == Shape::new(3, 3, 0));
    let empty = svd_vjp(ctx, [&array(0, 0, 2)?, &array(0, 1, 2)?, &array(0, 5, 2)?], [None; 3], Degeneracy::Exact)?;
    assert!(empty.certificates(ctx)?.iter().all(|one| one.defined) && empty.array.shape() == Shape::new(0, 5, 2));
    // An error names the first matrix whose loss has no gradient.
    let (values, bar) = (array(3, 1, 2)?, Array::from_vec(Shape::new(3, 1, 2), vec![1.0, 1.0, 1.0, 1.0, 2.0, 1.0])?);
    let error = eigh_vjp(ctx, [&values, &vectors], [Some(&bar), None], Degeneracy::Exact)?.ok(ctx);
    let error = error.expect_err("a loss that tells tied eigenvalues apart").to_string();
    assert!(error.contains("1 of 2") && error.contains("matrix 1"), "{error}");
    if ctx.adapter().is_some() {
        let wide = Array::from_vec(Shape::new(1, 1, 1), vec![1.0])?;
        let found = eigh_vjp(&ctx.with_backend(Backend::Gpu), [&wide, &wide], [None, None], Degeneracy::Exact);
        assert!(matches!(found.expect_err("f64").kind(), ErrorKind::Domain { .. }));
    }
    Ok(())
}
