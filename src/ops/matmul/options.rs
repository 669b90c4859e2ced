//! The options of a product.

use super::Multiplied;
use super::kernels::{GELU, IDENTITY, RELU, SIGMOID, TANH};
use crate::array::Array;

/// A batched product `act(alpha op(A) op(B) + beta C + bias)`, where op(A) is A or its transpose, op(B) is B or its
/// transpose, and act is an activation. See [`matmul`](super::matmul) for shapes, precision and errors.
///
/// As in the BLAS, an operand that is multiplied by 0 is not read: a NaN in A or B has no effect if alpha is 0, and a
/// NaN in C has no effect if beta is 0. An activation is computed in the precision of the sums. On a device, the error
/// of tanh, sigmoid and GELU at x is at most 32 eps (1 + |x|), where eps is 2^-23.
///
/// ```
/// use fiedler::{Context, Shape, array::Array, ops::matmul::{Activation, Bias, Gemm}};
/// let ctx = Context::cpu();
/// let of = |rows, cols, x: Vec<f32>| Array::from_vec(Shape::new(rows, cols, 1), x);
/// let (w, x) = (of(2, 1, vec![1.0, -1.0])?, of(2, 2, vec![1.0, 2.0, 3.0, 4.0])?);
/// let layer = Gemm::new().transpose_a(true).bias(Bias::Rows(of(1, 1, vec![0.5])?)).activation(Activation::Relu);
/// assert_eq!(layer.run(&ctx, &w, &x)?.to_host(&ctx)?.as_slice(), [0.0, 0.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gemm<T: Multiplied = f32> {
    pub(super) transpose_a: bool,
    pub(super) transpose_b: bool,
    pub(super) alpha: f64,
    pub(super) added: Option<(f64, Array<T>)>,
    pub(super) bias: Option<Bias<T>>,
    pub(super) activation: Activation,
    pub(super) precision: Precision,
}

/// A bias, which is added to whole rows or to whole columns of every result. A bias with a batch of 1 is shared by all
/// results.
#[derive(Clone, Debug)]
pub enum Bias<T: Multiplied = f32> {
    /// `(m, 1)`: one value for each row of a result.
    Rows(Array<T>),
    /// `(1, n)`: one value for each column of a result.
    Columns(Array<T>),
}

/// The function that is finally applied to every element of a result. NaN stays NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// No activation.
    #[default]
    None,
    /// `max(x, 0)`.
    Relu,
    /// GELU in its tanh form (Hendrycks and Gimpel 2016): `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.
    Gelu,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

/// The precision in which products are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// The precision of the elements, except that sums of f16 are in f32.
    #[default]
    Own,
    /// Each f32 is scaled by a power of two and split into the sum of two f16. There is one power of two for each row
    /// of op(A) and for each column of op(B). Three products of f16, with sums in f32, then replace the product of f32.
    /// In this way, matrix units of f16 compute products of f32. Adapters without matrix units and the CPU use the same
    /// arithmetic.
    ///
    /// The error of an element of the result is at most the sum of two terms. The first is `4 eps sqrt(k) + 2^-20`
    /// times the same element of `|op(A)| |op(B)|`, where eps is 2^-23 and k is the number of columns of op(A). The
    /// second is `k 2^-38` times the product of two magnitudes: the largest in the element's row of op(A), and the
    /// largest in its column of op(B). A non-finite element of op(A) spoils its whole row of the result, and a
    /// non-finite element of op(B) spoils its whole column. This precision takes three products instead of one, and
    /// twice as much memory for the factors. So without matrix units, f32 with [`Precision::Own`] takes a third of the
    /// time. Whole rows of op(A) and whole columns of op(B) have to fit the device.
    SplitF16,
}

impl<T: Multiplied> Default for Gemm<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Multiplied> Gemm<T> {
    /// Returns the product `C = A B`.
    #[must_use]
    pub fn new() -> Self {
        Self {
            transpose_a: false,
            transpose_b: false,
            alpha: 1.0,
            added: None,
            bias: None,
            activation: Activation::None,
            precision: Precision::Own,
        }
    }

    /// Sets whether op(A) is the transpose A': `a` is then `(k, m)`.
    #[must_use]
    pub fn transpose_a(mut self, yes: bool) -> Self {
        self.transpose_a = yes;
        self
    }

    /// Sets whether op(B) is the transpose B': `b` is then `(n, k)`.
    #[must_use]
    pub fn transpose_b(mut self, yes: bool) -> Self {
        self.transpose_b = yes;
        self
    }

    /// Sets the factor by which the product is multiplied; 1 by default. It is rounded to the precision of the sums.
    #[must_use]
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// Adds `beta` times `c`. The matrices of `c` are `(m, n)`. There is one matrix for each result, or a single matrix
    /// that is shared by all results. `c` is not changed, because the result is a new array.
    #[must_use]
    pub fn add(mut self, beta: f64, c: &Array<T>) -> Self {
        self.added = Some((beta, c.clone()));
        self
    }

    /// Adds a bias.
    #[must_use]
    pub fn bias(mut self, bias: Bias<T>) -> Self {
        self.bias = Some(bias);
        self
    }

    /// Sets the function that is finally applied to every element.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Sets the precision of the computation.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }
}

impl<T: Multiplied> Bias<T> {
    pub(super) fn array(&self) -> &Array<T> {
        match self {
            Self::Rows(array) | Self::Columns(array) => array,
        }
    }
}

impl Activation {
    /// Returns the number by which the kernels know the activation.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::None => IDENTITY,
            Self::Relu => RELU,
            Self::Gelu => GELU,
            Self::Tanh => TANH,
            Self::Sigmoid => SIGMOID,
        }
    }
}
