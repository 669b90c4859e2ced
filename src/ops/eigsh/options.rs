//! What `eigsh` can be asked.

use crate::array::Real;
use crate::error::{Error, Result};
use crate::ops::ITERATED;
use std::fmt;

/// How the pairs are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EigshMethod {
    /// Whichever of these is predicted to be fastest: the dense one for small orders, shift-invert where the factor is thin, else
    /// Chebyshev-filtered subspace iteration.
    #[default]
    Auto,
    /// Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006): a block, multiplied by a polynomial in A that is
    /// small on what is not wanted. On the CPU and on devices.
    Chebyshev,
    /// Thick-restart Lanczos (Wu and Simon 2000), one vector at a time, in f64, on the CPU.
    Lanczos,
    /// Thick-restart Lanczos on `(A + s I)^-1`, by a sparse Cholesky factorization: the smallest pairs of Laplacians and of positive definite
    /// matrices whose factor is thin, such as those of meshes, roads and trees. With [`EigshOptions::sigma`] on `(A - sigma I)^-1`. In
    /// f64, on the CPU.
    ShiftInvert,
    /// Block subspace iteration: `X <- orthonormal basis of (A - s I)^m X`. The plain form of the default, for teaching and for well
    /// separated pairs. For the smallest pairs it works on `upper bound - A`.
    Subspace,
    /// Power iteration with deflation, one pair after the other: the plainest of all. Its rate is the ratio of neighbouring eigenvalues.
    Power,
    /// The dense decomposition.
    Dense,
}

impl EigshMethod {
    /// The name in commands and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Chebyshev => "chebyshev",
            Self::Lanczos => "lanczos",
            Self::ShiftInvert => "shift-invert",
            Self::Subspace => "subspace",
            Self::Power => "power",
            Self::Dense => "dense",
        }
    }
}

impl fmt::Display for EigshMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How `eigsh` goes about it. The default is right for encodings.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EigshOptions {
    /// The largest `|A v - l v|_2 / |A|_1` of a pair that counts as converged; none for 2e-6 in f32 and 1e-10 in f64.
    pub tolerance: Option<f64>,
    /// How.
    pub method: EigshMethod,
    /// The pairs whose values are nearest this number are found, wherever it lies in the spectrum, by a factorization of A - sigma:
    /// `which` does not count, `method` is [`EigshMethod::ShiftInvert`] or [`EigshMethod::Auto`].
    pub sigma: Option<f64>,
    /// The start vectors' seed.
    pub seed: u64,
    /// The most products of A with a vector of the block.
    pub most_products: usize,
}

impl Default for EigshOptions {
    fn default() -> Self {
        Self { tolerance: None, method: EigshMethod::Auto, sigma: None, seed: 1, most_products: 30_000 }
    }
}

impl EigshOptions {
    /// The largest residual, relative to `|A|_1`, of a converged pair.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// The method.
    #[must_use]
    pub fn method(mut self, method: EigshMethod) -> Self {
        self.method = method;
        self
    }

    /// The pairs nearest a number, instead of those at an end.
    #[must_use]
    pub fn sigma(mut self, sigma: f64) -> Self {
        self.sigma = Some(sigma);
        self
    }

    /// The start vectors' seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The most products of A with a vector of the block before it gives up.
    #[must_use]
    pub fn most_products(mut self, products: usize) -> Self {
        self.most_products = products;
        self
    }

    /// Returns the tolerance that was set, or else the default of precision `T`; it is relative to the norm.
    #[must_use]
    pub fn tolerance_in<T: Real>(&self) -> f64 {
        self.tolerance.unwrap_or(ITERATED.residual::<T>())
    }

    pub(super) fn check(&self) -> Result<()> {
        match self.sigma {
            Some(sigma) if !sigma.is_finite() => {
                return Err(Error::domain("eigsh", format!("expected a finite sigma, found {sigma}")));
            }
            Some(_) if !matches!(self.method, EigshMethod::Auto | EigshMethod::ShiftInvert) => {
                let what = format!("sigma goes with the methods auto and shift-invert, found {}", self.method);
                return Err(Error::domain("eigsh", what));
            }
            _ => {}
        }
        match self.tolerance {
            Some(t) if !(t.is_finite() && t > 0.0) => {
                Err(Error::domain("eigsh", format!("expected a positive tolerance, found {t}")))
            }
            _ => Ok(()),
        }
    }
}
