//! Products of matrices: cases with every option of a product, and their truth in f64.

use fiedler::array::{Array, Scalar};
use fiedler::ops::matmul::{Activation, Bias, Gemm, Multiplied};
use fiedler::{Context, Shape};
use half::f16;
use rayon::prelude::*;
use std::error::Error;

use super::random::SplitMix64;

/// An element of an array, with conversions to and from f64.
pub trait Number: Multiplied {
    /// The machine epsilon of the sums of products of this type.
    const EPS: f64;
    fn of(x: f64) -> Self;
    fn value(self) -> f64;
    /// Returns a bound on the distance from x to the nearest value of this type.
    fn rounding(x: f64) -> f64;
}

impl Number for f32 {
    const EPS: f64 = f32::EPSILON as f64;
    fn of(x: f64) -> Self {
        x as Self
    }
    fn value(self) -> f64 {
        self.into()
    }
    /// The rounding of a result is already counted with the rounding of its sum.
    fn rounding(_: f64) -> f64 {
        0.0
    }
}

impl Number for f64 {
    const EPS: f64 = f64::EPSILON;
    fn of(x: f64) -> Self {
        x
    }
    fn value(self) -> f64 {
        self
    }
    fn rounding(_: f64) -> f64 {
        0.0
    }
}

impl Number for f16 {
    const EPS: f64 = f32::EPSILON as f64;
    fn of(x: f64) -> Self {
        Self::from_f64(x)
    }
    fn value(self) -> f64 {
        self.to_f64()
    }
    /// Half a unit in the last place. Below 2^-14, the unit in the last place is 2^-24.
    fn rounding(x: f64) -> f64 {
        (x.abs() / 2048.0).max(2.0_f64.powi(-25))
    }
}

/// Whether each of the two factors is transposed, in all combinations.
pub const TURNS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

/// A product. C or the bias is absent if its batch count is 0.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// The batch counts of A and of B.
    pub batches: (usize, usize),
    pub transposed: (bool, bool),
    pub alpha: f64,
    pub beta: f64,
    pub c: usize,
    /// The batch count of the bias, and whether it has an element per row instead of per column.
    pub bias: (usize, bool),
    pub activation: Activation,
    pub seed: u64,
}

impl Product {
    pub fn new(m: usize, n: usize, k: usize) -> Self {
        let seed = (m * 31 + n) as u64 * 31 + k as u64;
        Self {
            m,
            n,
            k,
            batches: (1, 1),
            transposed: (false, false),
            alpha: 1.0,
            beta: 0.0,
            c: 0,
            bias: (0, true),
            activation: Activation::None,
            seed,
        }
    }

    pub fn batch(self, a: usize, b: usize) -> Self {
        Self { batches: (a, b), ..self }
    }

    pub fn transposed(self, a: bool, b: bool) -> Self {
        Self { transposed: (a, b), ..self }
    }

    /// The number of result matrices.
    pub fn count(&self) -> usize {
        if self.batches.0 == 1 { self.batches.1 } else { self.batches.0 }
    }
}

/// The operands of a case.
#[derive(Clone, Debug)]
pub struct Operands<T: Number> {
    pub product: Product,
    pub a: Vec<T>,
    pub b: Vec<T>,
    pub c: Vec<T>,
    pub bias: Vec<T>,
}

impl<T: Number> Operands<T> {
    /// Draws operands uniformly from [-1, 1), exact in T.
    pub fn random(product: Product) -> Self {
        let mut random = SplitMix64::new(product.seed);
        let mut numbers = |len: usize| (0..len).map(|_| T::of(random.signed())).collect::<Vec<T>>();
        let Product { m, n, k, batches, c, bias, .. } = product;
        Self {
            product,
            a: numbers(m * k * batches.0),
            b: numbers(k * n * batches.1),
            c: numbers(m * n * c),
            bias: numbers(if bias.1 { m } else { n } * bias.0),
        }
    }

    pub fn gemm(&self) -> fiedler::Result<Gemm<T>> {
        let Product { m, n, transposed, alpha, beta, c, bias, activation, .. } = self.product;
        let mut gemm = Gemm::new().transpose_a(transposed.0).transpose_b(transposed.1).alpha(alpha);
        gemm = gemm.activation(activation);
        if c > 0 {
            gemm = gemm.add(beta, &Array::from_vec(Shape::new(m, n, c), self.c.clone())?);
        }
        if bias.0 > 0 {
            let shape = if bias.1 { Shape::new(m, 1, bias.0) } else { Shape::new(1, n, bias.0) };
            let numbers = Array::from_vec(shape, self.bias.clone())?;
            gemm = gemm.bias(if bias.1 { Bias::Rows(numbers) } else { Bias::Columns(numbers) });
        }
        Ok(gemm)
    }

    pub fn arrays(&self) -> fiedler::Result<(Array<T>, Array<T>)> {
        let Product { m, n, k, batches, transposed, .. } = self.product;
        let shape = |rows, cols, turned, batch| {
            if turned { Shape::new(cols, rows, batch) } else { Shape::new(rows, cols, batch) }
        };
        let a = Array::from_vec(shape(m, k, transposed.0, batches.0), self.a.clone())?;
        Ok((a, Array::from_vec(shape(k, n, transposed.1, batches.1), self.b.clone())?))
    }

    pub fn run(&self, ctx: &Context) -> fiedler::Result<Vec<T>> {
        let (a, b) = self.arrays()?;
        let found = self.gemm()?.run(ctx, &a, &b)?.to_host(ctx)?;
        assert_eq!(found.shape(), Shape::new(self.product.m, self.product.n, self.product.count()));
        Ok(found.as_slice().to_vec())
    }

    /// Returns the true value and the allowed error of every element. The allowed error is a sum of several errors:
    /// `4 eps sqrt(k) |A||B|` for the sum of products, whose rounding errors add up as a random walk; 2 eps for
    /// each step after this sum; both multiplied by the slope of the activation, which is at most 1.13 (GELU); 32
    /// eps (1 + |x|) for the activation itself; the rounding of the result; and `more` in units of |A||B|.
    pub fn truth(&self, more: f64) -> Vec<(f64, f64)> {
        let Product { m, n, k, batches, transposed, alpha, beta, c, bias, activation, .. } = self.product;
        let one = |at: usize| {
            let (matrix, i, j) = (at / (m * n), at % m, at / m % n);
            let (first_a, first_b) =
                (if batches.0 == 1 { 0 } else { matrix * m * k }, if batches.1 == 1 { 0 } else { matrix * k * n });
            let (mut sum, mut size) = (0.0, 0.0);
            for p in 0..k {
                let x = self.a[first_a + if transposed.0 { i * k + p } else { p * m + i }].value();
                let y = self.b[first_b + if transposed.1 { p * n + j } else { j * k + p }].value();
                sum += x * y;
                size += (x * y).abs();
            }
            let added = if c > 0 && beta != 0.0 { beta * self.c[at % (m * n * c)].value() } else { 0.0 };
            let along = match bias {
                (0, _) => 0.0,
                (count, true) => self.bias[if count == 1 { i } else { matrix * m + i }].value(),
                (count, false) => self.bias[if count == 1 { j } else { matrix * n + j }].value(),
            };
            let before = alpha * sum + added + along;
            let of_sum = (4.0 * T::EPS * (k as f64).sqrt() + more) * size * alpha.abs();
            let of_steps = 2.0 * T::EPS * ((alpha * sum).abs() + added.abs() + along.abs());
            let of_scalars = if alpha == 1.0 && beta.abs() <= 1.0 { 0.0 } else { of_steps };
            let of_end = if activation == Activation::None { 0.0 } else { 32.0 * T::EPS * (1.0 + before.abs()) };
            let after = activated(activation, before);
            let steps = if self.product.c + bias.0 > 0 || alpha != 1.0 { of_steps + of_scalars } else { 0.0 };
            (after, 1.13 * (of_sum + steps) + of_end + T::rounding(after))
        };
        (0..m * n * self.product.count()).into_par_iter().map(one).collect()
    }

    /// Runs the product and judges every element.
    pub fn check(&self, ctx: &Context) -> Result<f64, String> {
        let found = self.run(ctx).map_err(|e| format!("{:?}: {e}", self.product))?;
        self.judge(&found, 0.0)
    }

    pub fn judge(&self, found: &[T], more: f64) -> Result<f64, String> {
        let mut worst = 0.0_f64;
        for (at, (&got, (want, allowed))) in found.iter().zip(self.truth(more)).enumerate() {
            let off = (got.value() - want).abs();
            let near = off <= allowed; // false for a NaN
            if !near {
                let Product { m, n, .. } = self.product;
                let place = (at / (m * n), at % m, at / m % n);
                let got = got.value();
                return Err(format!(
                    "{:?}: (matrix, row, column) {place:?} is {got:e}, in truth {want:e} to {allowed:e}",
                    self.product
                ));
            }
            if allowed > 0.0 {
                worst = worst.max(off / allowed);
            }
        }
        Ok(worst)
    }
}

/// Checks that an element of A that is not finite spoils only its own row of its own matrix and changes no bit of
/// any other element. Also checks that neither factor is read if alpha is 0.
pub fn judge_not_finite(
    (m, n, k): (usize, usize, usize),
    run: impl Fn(&Operands<f32>) -> fiedler::Result<Vec<f32>>,
) -> Result<(), Box<dyn Error>> {
    let clean = Operands::<f32>::random(Product::new(m, n, k).batch(3, 3));
    let want = run(&clean)?;
    for bad in [f32::NAN, f32::INFINITY] {
        let mut spoiled = clean.clone();
        // Row 2 of the middle matrix of A.
        spoiled.a[m * k + 3 * m + 2] = bad;
        for (at, (got, want)) in run(&spoiled)?.iter().zip(&want).enumerate() {
            if at / (m * n) == 1 && at % m == 2 {
                assert!(!got.is_finite(), "{m} x {n} x {k}, {bad}: {at} is {got}");
            } else {
                assert_eq!(got.to_bits(), want.to_bits(), "{m} x {n} x {k}, {bad}: {at}");
            }
        }
    }
    let known = Operands::<f32>::random(Product { alpha: 0.0, c: 3, beta: 0.5, ..Product::new(m, n, k).batch(3, 3) });
    let mut hidden = known.clone();
    (hidden.a[0], hidden.b[k * n * 3 - 1]) = (f32::NAN, f32::INFINITY);
    known.judge(&run(&hidden)?, 0.0)?;
    Ok(())
}

pub fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Activation::Gelu => x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh()),
        _ => x,
    }
}

/// Returns the bits of the elements, which distinguish NaNs and the sign of 0.
pub fn bits<T: Scalar>(numbers: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(numbers).to_vec()
}
