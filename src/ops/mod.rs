//! The mathematical operations on batches. Each operation has one implementation for the device and one for the CPU,
//! and chooses between the two for each call.

pub(crate) mod certificate;
mod columns;
mod complex;
mod convert;
pub mod divergence;
pub mod eigen;
pub mod eigsh;
mod elementary;
pub mod fft;
pub mod gradient;
mod jacobi;
pub mod laplacian;
pub mod matmul;
#[cfg(feature = "learning")]
pub mod mlp;
mod operation;
pub(crate) mod orthogonalize;
pub mod pca;
pub mod random;
mod reflectors;
pub mod roofline;
#[cfg(feature = "learning")]
pub mod series;
pub mod sparse;
pub mod stats;
pub mod svd;
pub(crate) mod ties;
mod twisted;
pub mod variants;

use crate::device::{Adapter, Overrides, Shipped};

pub(crate) use certificate::ITERATED;
pub use certificate::{Certificate, Status, all_converged};
pub use eigen::{
    Diagonalized, Eigh, Eigvalsh, RaggedEigh, Which, eigh, eigh_async, eigh_ragged, eigh_refined, eigh_subset, eigvalsh,
};
pub use eigsh::{Eigsh, EigshMethod, EigshOptions, eigsh};
pub use fft::{fft, fft_async, fft2, ifft, ifft2, irfft, power_spectrum, rfft};
pub use gradient::{Degeneracy, Gradient, GradientCertificate, eigh_ragged_vjp, eigh_vjp, eigsh_vjp, svd_vjp};
pub use laplacian::{MagneticLaplacian, Normalization, laplacian};
pub use matmul::{Gemm, matmul, matmul_async};
pub use pca::{Pca, PcaOptions, pca, pca_of_stream};
pub use sparse::spmm;
pub use stats::{corr, cov, describe, histogram, quantiles};
pub use svd::{Decomposed, Svd, Svdvals, Vectors, svd, svd_async, svd_truncated, svdvals};

/// A family of operations: its name, its kernels, and a function that returns whether an adapter may use a given
/// variant of a kernel. The adapter's limits are checked separately.
type Family = (&'static str, &'static [Shipped], fn(&Adapter, &'static str, Overrides<'_>) -> bool);

/// Every family that has kernels.
const FAMILIES: &[Family] = &[
    ("roofline", roofline::kernels::KERNELS, |_, _, _| true),
    ("convert", convert::kernels::KERNELS, |_, _, _| true),
    ("divergence", divergence::kernels::KERNELS, |_, _, _| true),
    ("eigen", eigen::kernels::KERNELS, eigen::kernels::is_given),
    ("eigsh", eigsh::kernels::KERNELS, |_, _, _| true),
    ("fft", fft::kernels::KERNELS, fft::kernels::is_given),
    ("gradient", gradient::kernels::KERNELS, |_, _, _| true),
    ("jacobi", jacobi::kernels::KERNELS, jacobi::kernels::is_given),
    ("laplacian", laplacian::kernels::KERNELS, |_, _, _| true),
    ("matmul", matmul::kernels::KERNELS, matmul::kernels::is_given),
    #[cfg(feature = "learning")]
    ("mlp", mlp::kernels::KERNELS, mlp::kernels::is_given),
    #[cfg(feature = "learning")]
    ("mlp", mlp::layered_kernels::KERNELS, mlp::kernels::is_given),
    ("pca", pca::kernels::KERNELS, |_, _, _| true),
    ("random", random::kernels::KERNELS, |_, _, _| true),
    #[cfg(feature = "learning")]
    ("series", series::kernels::KERNELS, |_, _, _| true),
    ("sparse", sparse::kernels::KERNELS, |_, _, _| true),
    ("stats", stats::kernels::KERNELS, |_, _, _| true),
    ("svd", svd::kernels::KERNELS, |_, _, _| true),
];
