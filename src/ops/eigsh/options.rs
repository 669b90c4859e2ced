//! The options of `eigsh`.

use crate::array::Real;
use crate::error::{Error, Result};
use crate::ops::ITERATED;
use std::fmt;

/// The method that finds the pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EigshMethod {
    /// The method that is predicted to be fastest: dense for small orders, shift-invert if the Cholesky factor has
    /// few entries, otherwise Chebyshev-filtered subspace iteration.
    #[default]
    Auto,
    /// Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006): multiplies a block by a
    /// polynomial in A that is small on the unwanted part of the spectrum. Runs on the CPU and on devices.
    Chebyshev,
    /// Thick-restart Lanczos (Wu and Simon 2000), one vector at a time. Runs in f64 on the CPU.
    Lanczos,
    /// Thick-restart Lanczos on `(A + s I)^-1` for a tiny shift s, by a sparse Cholesky factorization. It finds the
    /// smallest pairs of Laplacians and of positive definite matrices. It is fast if the factor has few entries, as
    /// for meshes, roads and trees. With [`EigshOptions::sigma`] it works on `(A - sigma I)^-1`. Runs in f64 on the
    /// CPU.
    ShiftInvert,
    /// Block subspace iteration: `X <- orthonormal basis of (A - s I)^m X`, where s is the bound on the spectrum at
    /// the unwanted end and m is a fixed number of products. It is the basic version of the default method, for
    /// teaching and for well separated pairs.
    Subspace,
    /// Power iteration with deflation, one pair after the other: the simplest method. It multiplies by the same
    /// `A - s I` as [`EigshMethod::Subspace`]. In each product, the error shrinks by the ratio of two neighboring
    /// eigenvalues of that matrix.
    Power,
    /// Decomposition of the matrix as a dense matrix.
    Dense,
}

impl EigshMethod {
    /// Returns the name of the method in commands and reports.
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

/// The options of `eigsh`. The defaults suit encodings.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EigshOptions {
    /// The largest `|A v - l v|_2 / |A|_1` of a converged pair of an eigenvalue `l` and its eigenvector `v`; `None`
    /// stands for 2e-6 in f32 and 1e-10 in f64.
    pub tolerance: Option<f64>,
    /// The method.
    pub method: EigshMethod,
    /// The number sigma around which pairs are wanted, anywhere in the spectrum. If sigma is set, the pairs whose
    /// eigenvalues are nearest to sigma are found by a factorization of `A - sigma I`. Then `which` is ignored, and
    /// `method` must be [`EigshMethod::ShiftInvert`] or [`EigshMethod::Auto`].
    pub sigma: Option<f64>,
    /// The seed of the start vectors.
    pub seed: u64,
    /// The maximum number of products of A with each vector of the block.
    pub most_products: usize,
}

impl Default for EigshOptions {
    fn default() -> Self {
        Self { tolerance: None, method: EigshMethod::Auto, sigma: None, seed: 1, most_products: 30_000 }
    }
}

impl EigshOptions {
    /// Sets the largest residual, relative to `|A|_1`, of a converged pair.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Sets the method.
    #[must_use]
    pub fn method(mut self, method: EigshMethod) -> Self {
        self.method = method;
        self
    }

    /// Requests the pairs nearest to sigma instead of those at an end of the spectrum.
    #[must_use]
    pub fn sigma(mut self, sigma: f64) -> Self {
        self.sigma = Some(sigma);
        self
    }

    /// Sets the seed of the start vectors.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the maximum number of products of A with each vector of the block, after which the method gives up.
    #[must_use]
    pub fn most_products(mut self, products: usize) -> Self {
        self.most_products = products;
        self
    }

    /// Returns the tolerance that was set, or else the default for the precision `T`. The tolerance is relative to
    /// `|A|_1`.
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
