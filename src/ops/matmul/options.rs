//! What a product can be told.

use super::Multiplied;
use super::kernels::{GELU, IDENTITY, RELU, SIGMOID, TANH};
use crate::array::Array;

/// `C = act(alpha op(A) op(B) + beta C + bias)`, batched. See [`matmul`](super::matmul) for shapes, precision and errors.
///
/// As in the BLAS, what is multiplied by 0 is not looked at: a NaN in A or B where alpha is 0, in C where beta is 0. An activation
/// is computed in the precision of the sums; on a device tanh, sigmoid and GELU are within 32 eps (1 + |x|) of the true function of
/// their argument.
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

/// What is added to whole rows, or to whole columns, of every result; a batch of 1 serves all.
#[derive(Clone, Debug)]
pub enum Bias<T: Multiplied = f32> {
    /// `(m, 1)`: a number for each row of a result.
    Rows(Array<T>),
    /// `(1, n)`: a number for each column.
    Columns(Array<T>),
}

/// What is done to every number of a result at last. NaN stays NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// Nothing.
    #[default]
    None,
    /// `max(x, 0)`.
    Relu,
    /// Its form by tanh (Hendrycks and Gimpel 2016): `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.
    Gelu,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

/// In which precision products are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// That of the numbers; f16 with sums in f32.
    #[default]
    Own,
    /// f32 as the sum of two f16, scaled by powers of two for each row of op(A) and each column of op(B), in three products whose
    /// sums are f32: what matrix units of f16 make of f32, on every adapter and on the CPU. A number is off by
    /// `(4 eps sqrt(k) + 2^-20) (|A| |B|)` at most, eps = 2^-23, and by `k 2^-38` times the largest magnitudes of its row and its
    /// column. What is not finite spoils its row or column. Three products and twice the memory of the factors: where there are
    /// no matrix units, f32 as it is takes a third of the time. Rows of op(A) and columns of op(B) have to fit the device whole.
    SplitF16,
}

impl<T: Multiplied> Default for Gemm<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Multiplied> Gemm<T> {
    /// `C = A B`.
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

    /// op(A) is A', its transpose: `a` is `(k, m)`.
    #[must_use]
    pub fn transpose_a(mut self, yes: bool) -> Self {
        self.transpose_a = yes;
        self
    }

    /// op(B) is B', its transpose: `b` is `(n, k)`.
    #[must_use]
    pub fn transpose_b(mut self, yes: bool) -> Self {
        self.transpose_b = yes;
        self
    }

    /// What the product is multiplied by, rounded to the precision of the sums; 1 if nothing is said.
    #[must_use]
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// Adds `beta` times `c`, `(m, n)`, one for all or one for each. It is not changed: the result is an array of its own.
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

    /// What is done to every number at last.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// In which precision.
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
    /// Its number in the kernels.
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
