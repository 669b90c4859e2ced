//! The eigendecomposition of complex Hermitian matrices, against the real matrices that they are similar to, closed
//! forms, and measures that are computed in f64.

use common::families::lapack_types;
use common::gates::{ALLOWED, allowed_values};
use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, referee, suite};
use fiedler::array::{Array, Field, Ragged, Real};
use fiedler::ops::{Certificate, Diagonalized, Status, Which, eigh, eigh_ragged, eigh_subset, eigvalsh};
use fiedler::{Backend, Context, ErrorKind, Layout, Shape};
use num_complex::Complex;
use std::f64::consts::TAU;

type C = Complex<f64>;

pub fn tests() -> Vec<Test> {
    suite(
        "hermitian",
        vec![
            on_cpu("LAPACK's types in f32", families::<f32>),
            on_cpu("LAPACK's types in f64", families::<f64>),
            on_cpu("directed cycles with a magnetic potential", cycles),
            on_cpu("real matrices", real),
            on_cpu("magnitudes", scales::<f32>),
            on_cpu("magnitudes in f64", scales::<f64>),
            on_cpu("bit-equal however a batch is cut", cuts::<f32>),
            on_cpu("some pairs, and values alone", parts),
            on_cpu("one triangle is read", triangle),
            on_cpu("a matrix that is not finite spoils only itself", not_finite),
            on_each("shapes and sides", refused),
        ],
    )
}

/// A Hermitian matrix in column-major order.
#[derive(Clone, Debug)]
struct Matrix {
    n: usize,
    data: Vec<C>,
}

impl Matrix {
    fn new(n: usize, of: impl Fn(usize, usize) -> C) -> Self {
        Self { n, data: (0..n * n).map(|e| of(e % n, e / n)).collect() }
    }

    fn random(n: usize, random: &mut SplitMix64) -> Self {
        let all: Vec<C> = (0..n * n).map(|_| C::new(random.signed(), random.signed())).collect();
        Self::new(n, |i, j| all[j * n + i] + all[i * n + j].conj())
    }

    /// Returns a matrix that is unitarily similar to a real symmetric one: its rows and columns are turned by phases,
    /// and perhaps reflected.
    fn similar(n: usize, a: &[f64], reflected: bool, random: &mut SplitMix64) -> Self {
        let phases: Vec<C> = (0..n).map(|_| C::from_polar(1.0, TAU * random.unit())).collect();
        let turned = Self::new(n, |i, j| phases[i] * a[j * n + i] * phases[j].conj());
        if !reflected || n == 0 {
            return turned;
        }
        let v: Vec<C> = (0..n).map(|_| C::new(random.signed(), random.signed())).collect();
        let square: f64 = v.iter().map(|x| x.norm_sqr()).sum();
        let reflector = Self::new(n, |i, j| C::from(f64::from(u8::from(i == j))) - 2.0 / square * v[i] * v[j].conj());
        let half = reflector.times(&turned);
        let whole = half.times(&reflector);
        Self::new(n, |i, j| (whole.data[j * n + i] + whole.data[i * n + j].conj()) / 2.0)
    }

    fn times(&self, other: &Self) -> Self {
        let n = self.n;
        Self::new(n, |i, j| (0..n).map(|k| self.data[k * n + i] * other.data[j * n + k]).sum())
    }

    fn norm(&self) -> f64 {
        self.data.chunks(self.n.max(1)).map(|column| column.iter().map(|x| x.norm()).sum::<f64>()).fold(0.0, f64::max)
    }

    fn rounded<T: Real>(&self) -> Vec<Complex<T>> {
        self.data.iter().map(|x| Complex::new(T::from_f64(x.re), T::from_f64(x.im))).collect()
    }
}

fn wide<T: Real>(x: Complex<T>) -> C {
    C::new(x.re.to_f64(), x.im.to_f64())
}

/// Judges one decomposition: the residual, the orthogonality, the eigenvalues, the order, the phases, and whether the
/// certificate tells the truth.
fn judge<T: Real>(name: &str, a: &[Complex<T>], truth: &[f64], w: &[T], v: &[Complex<T>], said: Certificate) {
    let n = truth.len();
    let a = Matrix { n, data: a.iter().map(|&x| wide(x)).collect() };
    let (norm, unit) = (a.norm(), n as f64 * T::EPSILON);
    let positive = if norm == 0.0 { 1.0 } else { norm };
    let column = |j: usize| v[j * n..(j + 1) * n].iter().map(|&x| wide(x));
    let (mut residual, mut off) = (0.0_f64, 0.0_f64);
    for (j, value) in w.iter().enumerate() {
        let own: Vec<C> = column(j).collect();
        let rest = |i: usize| (0..n).map(|k| a.data[k * n + i] * own[k]).sum::<C>() - own[i] * value.to_f64();
        residual = residual.max((0..n).map(|i| rest(i).norm_sqr()).sum::<f64>().sqrt());
        for k in 0..=j {
            let product: C = column(k).zip(&own).map(|(x, y)| x.conj() * y).sum();
            off = off.max((product - f64::from(u8::from(j == k))).norm());
        }
        let largest = own.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let leads = |x: &C| x.im == 0.0 && x.re > 0.0 && x.re >= largest * (0.9995 - 4.0 * T::EPSILON);
        assert!(own.iter().any(leads), "{name}: vector {j} has no entry that is largest, real and positive");
    }
    assert!(residual / positive <= ALLOWED * unit, "{name}: residual {:.2} n eps", residual / positive / unit);
    assert!(off <= ALLOWED * unit, "{name}: orthogonality {:.2} n eps", off / unit);
    assert!(w.windows(2).all(|pair| pair[0] <= pair[1]), "{name}: {w:?}");
    let error = w.iter().zip(truth).map(|(x, y)| (x.to_f64() - y).abs()).fold(0.0, f64::max);
    // In f64, the truth has errors of the same kind.
    let as_many = if T::ON_DEVICE { 1.0 } else { 2.0 };
    assert!(
        error <= as_many * allowed_values(n) * T::EPSILON * norm,
        "{name}: values off by {:.1} eps",
        error / norm / T::EPSILON
    );
    assert!(said.status == Status::Converged, "{name}: {said:?}");
    // What is measured in f32 has errors of its own, of a few roundings of sums.
    let own = (n as f64).sqrt().max(4.0) * T::EPSILON;
    assert!((said.residual - residual / positive).abs() <= own, "{name}: {said:?}, found {}", residual / positive);
    assert!((said.orthogonality - off).abs() <= 2.0 * own, "{name}: {said:?}, found {off}");
}

fn array<T: Real>(n: usize, matrices: &[Matrix]) -> fiedler::Result<Array<Complex<T>>>
where
    Complex<T>: Field<Real = T>,
{
    Array::from_vec(Shape::new(n, n, matrices.len()), matrices.iter().flat_map(Matrix::rounded).collect())
}

/// LAPACK's 21 types of symmetric matrices, in a batch and one by one.
fn families<T: Real>(ctx: &Context) -> Checked
where
    Complex<T>: Diagonalized + Field<Real = T>,
{
    let random = &mut SplitMix64::new(50);
    for n in [0, 1, 2, 3, 4, 5, 8, 16, 17, 33, 64, 65, 129] {
        let cases = lapack_types(n, 3);
        let truth = cases.iter().map(|case| referee::eigenvalues(&case.a, n)).collect::<Result<Vec<_>, _>>()?;
        for reflected in [false, true] {
            let given: Vec<_> = cases.iter().map(|case| Matrix::similar(n, &case.a, reflected, random)).collect();
            let a = array::<T>(n, &given)?;
            let found = eigh(ctx, &a)?;
            let (w, v, said) = (found.values.to_host(ctx)?, found.vectors.to_host(ctx)?, found.certificates(ctx)?);
            for (i, case) in cases.iter().enumerate() {
                let (square, line) = (i * n * n..(i + 1) * n * n, i * n..(i + 1) * n);
                let name = format!("{}, reflected: {reflected}", case.name);
                let own = &given[i].rounded();
                judge(&name, own, &truth[i], &w.as_slice()[line], &v.as_slice()[square], said[i]);
                if i % 5 == 0 {
                    let alone = eigh(ctx, &array::<T>(n, &given[i..=i])?)?;
                    let (w, v) = (alone.values.to_host(ctx)?, alone.vectors.to_host(ctx)?);
                    let said = alone.certificates(ctx)?[0];
                    judge(&format!("{name}, alone"), own, &truth[i], w.as_slice(), v.as_slice(), said);
                }
            }
        }
    }
    Ok(())
}

/// The magnetic Laplacian of a directed cycle has the eigenvalues `2 - 2 cos(2 pi (k + q n) / n)`.
fn cycles(ctx: &Context) -> Checked {
    for n in [3, 4, 7, 30, 90] {
        for q in [0.0, 0.1, 0.25, 0.5] {
            let step = C::from_polar(1.0, TAU * q);
            let of = |i: usize, j: usize| match (i, j) {
                _ if i == j => C::from(2.0),
                _ if (i + 1) % n == j => -step,
                _ if (j + 1) % n == i => -step.conj(),
                _ => C::default(),
            };
            let a = Matrix::new(n, of);
            let mut truth: Vec<f64> = (0..n).map(|k| 2.0 - 2.0 * (TAU * (k as f64 / n as f64 + q)).cos()).collect();
            truth.sort_by(f64::total_cmp);
            let found = eigh(ctx, &array::<f64>(n, std::slice::from_ref(&a))?)?;
            let (w, v) = (found.values.to_host(ctx)?, found.vectors.to_host(ctx)?);
            let said = found.certificates(ctx)?[0];
            judge(&format!("cycle of {n}, q = {q}"), &a.data, &truth, w.as_slice(), v.as_slice(), said);
        }
    }
    Ok(())
}

/// A real matrix has the eigenvalues that the real solver computes, and real vectors.
fn real(ctx: &Context) -> Checked {
    let random = &mut SplitMix64::new(51);
    for n in [2, 6, 40, 150] {
        let a = Matrix::random(n, random);
        let a = Matrix::new(n, |i, j| C::from(a.data[j * n + i].re));
        let alone = Array::from_vec(Shape::new(n, n, 1), a.data.iter().map(|x| x.re).collect())?;
        let truth = eigvalsh(ctx, &alone)?.values.to_host(ctx)?;
        let found = eigh(ctx, &array::<f64>(n, std::slice::from_ref(&a))?)?;
        let (w, v) = (found.values.to_host(ctx)?, found.vectors.to_host(ctx)?);
        assert!(v.as_slice().iter().all(|x| x.im == 0.0));
        judge("real", &a.data, truth.as_slice(), w.as_slice(), v.as_slice(), found.certificates(ctx)?[0]);
    }
    Ok(())
}

fn scales<T: Real>(ctx: &Context) -> Checked
where
    Complex<T>: Diagonalized + Field<Real = T>,
{
    let exponents = if T::ON_DEVICE { [-100, -60, 60, 120] } else { [-1000, -500, 500, 1000] };
    for n in [3, 20, 140] {
        let a = Matrix::random(n, &mut SplitMix64::new(52));
        let plain = eigh(ctx, &array::<T>(n, std::slice::from_ref(&a))?)?;
        for exponent in exponents {
            let by = 2.0_f64.powi(exponent);
            let scaled = Matrix::new(n, |i, j| a.data[j * n + i] * by);
            let found = eigh(ctx, &array::<T>(n, &[scaled])?)?;
            let values = [&found.values, &plain.values].map(|values| values.to_host(ctx));
            let [found_values, plain_values] = values;
            for (x, y) in found_values?.as_slice().iter().zip(plain_values?.as_slice()) {
                assert_eq!(x.to_f64(), y.to_f64() * by, "2^{exponent}");
            }
            assert_eq!(found.vectors.to_host(ctx)?.as_slice(), plain.vectors.to_host(ctx)?.as_slice());
        }
    }
    Ok(())
}

/// Matrices of unequal orders have the same bits as in a batch of their own.
fn cuts<T: Real>(ctx: &Context) -> Checked
where
    Complex<T>: Diagonalized + Field<Real = T>,
{
    let random = &mut SplitMix64::new(53);
    let orders = [5, 0, 1, 12, 12, 7, 31, 3, 40, 39, 2, 128, 130];
    let given: Vec<Matrix> = orders.iter().map(|&n| Matrix::random(n, random)).collect();
    let solved = |matrices: &[Matrix]| {
        let layout = Layout::new(matrices.iter().map(|a| a.n as u32));
        let data = matrices.iter().flat_map(Matrix::rounded::<T>).collect();
        eigh_ragged(ctx, &Ragged::from_vec(layout, data)?)?.to_host(ctx)
    };
    let all = solved(&given)?;
    for (i, own) in given.iter().enumerate() {
        let alone = solved(std::slice::from_ref(own))?;
        assert_eq!(alone.values[..], all.values[all.layout.rows(i)], "{i}");
        assert_eq!(alone.vectors[..], all.vectors[all.layout.elements(i)], "{i}");
        assert_eq!(alone.certificates[0], all.certificates[i]);
    }
    Ok(())
}

fn parts(ctx: &Context) -> Checked {
    let random = &mut SplitMix64::new(54);
    for n in [4, 30, 140] {
        let given: Vec<Matrix> = (0..9).map(|_| Matrix::random(n, random)).collect();
        let a = array::<f64>(n, &given)?;
        let all = eigh(ctx, &a)?;
        let (w, v) = (all.values.to_host(ctx)?, all.vectors.to_host(ctx)?);
        for (which, first) in [(Which::Smallest, 0), (Which::Largest, n - 3)] {
            let some = eigh_subset(ctx, &a, which, 3)?;
            let (values, vectors) = (some.values.to_host(ctx)?, some.vectors.to_host(ctx)?);
            for i in 0..9 {
                assert_eq!(values.as_slice()[i * 3..][..3], w.as_slice()[i * n + first..][..3]);
                assert_eq!(vectors.as_slice()[i * 3 * n..][..3 * n], v.as_slice()[(i * n + first) * n..][..3 * n]);
            }
        }
        let alone = eigvalsh(ctx, &a)?;
        let norms = given.iter().flat_map(|a| std::iter::repeat_n(a.norm(), n));
        for ((x, y), norm) in alone.values.to_host(ctx)?.as_slice().iter().zip(w.as_slice()).zip(norms) {
            assert!((x - y).abs() <= allowed_values(n) * f64::EPSILON * norm, "{x} {y}");
        }
        let certain = |one: &Certificate| one.status == Status::Converged && one.residual <= 1e-14 * n as f64;
        assert!(alone.certificates(ctx)?.iter().all(certain));
        assert!(eigh_subset(ctx, &a, Which::Smallest, n + 1).is_err());
    }
    Ok(())
}

/// Neither the upper triangle nor the imaginary part of the diagonal is read.
fn triangle(ctx: &Context) -> Checked {
    for n in [1, 6, 20, 140] {
        let a = Matrix::random(n, &mut SplitMix64::new(55));
        let spoiled = Matrix::new(n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => C::new(f64::NAN, 7.0),
            std::cmp::Ordering::Equal => C::new(a.data[j * n + i].re, f64::INFINITY),
            std::cmp::Ordering::Greater => a.data[j * n + i],
        });
        let [found, wanted] = [&spoiled, &a].map(|a| eigh(ctx, &array::<f64>(n, std::slice::from_ref(a))?));
        let (found, wanted) = (found?, wanted?);
        assert_eq!(found.values.to_host(ctx)?.as_slice(), wanted.values.to_host(ctx)?.as_slice());
        assert_eq!(found.vectors.to_host(ctx)?.as_slice(), wanted.vectors.to_host(ctx)?.as_slice());
    }
    Ok(())
}

fn not_finite(ctx: &Context) -> Checked {
    for (n, bad) in [(5, f64::NAN), (5, f64::INFINITY), (140, f64::NAN), (140, f64::NEG_INFINITY)] {
        let random = &mut SplitMix64::new(56);
        let mut given: Vec<Matrix> = (0..9).map(|_| Matrix::random(n, random)).collect();
        let before = eigh(ctx, &array::<f64>(n, &given)?)?.values.to_host(ctx)?;
        given[4].data[n - 1].im = bad;
        let found = eigh(ctx, &array::<f64>(n, &given)?)?;
        let (values, said) = (found.values.to_host(ctx)?, found.certificates(ctx)?);
        for i in 0..9 {
            let own = &values.as_slice()[i * n..(i + 1) * n];
            if i == 4 {
                assert!(said[i].status == Status::NonFinite && own.iter().all(|x| x.is_nan()));
            } else {
                assert!(said[i].status == Status::Converged && own == &before.as_slice()[i * n..(i + 1) * n]);
            }
        }
    }
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let zero = Complex::<f32>::default();
    let a = Array::from_vec(Shape::new(2, 3, 1), vec![zero; 6])?;
    assert!(matches!(eigh(ctx, &a).unwrap_err().kind(), ErrorKind::Shape { .. }));
    for shape in [Shape::new(0, 0, 3), Shape::new(2, 2, 0)] {
        let found = eigh(&ctx.with_backend(Backend::Cpu), &Array::from_vec(shape, vec![zero; shape.len()])?)?;
        assert_eq!((found.values.to_host(ctx)?.as_slice().len(), found.certificates(ctx)?.len()), (0, shape.batch));
    }
    // No kernel has complex numbers: the CPU computes unless the device is required.
    let a = Array::from_vec(Shape::new(2, 2, 1), vec![zero; 4])?;
    assert_eq!(eigh(&ctx.with_backend(Backend::Auto), &a)?.values.to_host(ctx)?.as_slice(), [0.0; 2]);
    if ctx.adapter().is_some() {
        let error = eigh(&ctx.with_backend(Backend::Gpu), &a).unwrap_err();
        assert!(error.to_string().contains("no device kernel computes in complex f32: use the CPU"), "{error}");
    }
    Ok(())
}
