//! The operations: mathematics on batches, each with a device and a CPU half and one choice between them.

pub mod ceiling;
pub(crate) mod certificate;
mod columns;
mod convert;
pub mod divergence;
pub mod eigen;
pub mod eigsh;
pub mod fft;
mod jacobi;
pub mod laplacian;
pub mod matmul;
mod operation;
pub mod pca;
pub mod random;
pub mod sparse;
pub mod stats;
pub mod svd;
pub(crate) mod ties;
pub mod variants;

use crate::device::Shipped;
use faer::Par;
use std::num::NonZeroUsize;

pub(crate) use certificate::ITERATED;
pub use certificate::{Certificate, Status, all_converged};
pub use eigen::{Eigh, Eigvalsh, RaggedEigh, Which, eigh, eigh_ragged, eigh_refined, eigh_subset, eigvalsh};
pub use eigsh::{Eigsh, EigshMethod, EigshOptions, eigsh};
pub use fft::{fft, fft2, ifft, ifft2, irfft, power_spectrum, rfft};
pub use laplacian::{Normalization, laplacian};
pub use matmul::{Gemm, matmul};
pub use pca::{Pca, PcaOptions, pca, pca_of_stream};
pub use sparse::spmm;
pub use stats::{corr, cov, describe, histogram, quantiles};
pub use svd::{Svd, Svdvals, Vectors, svd, svd_truncated, svdvals};

/// The parallelism that faer's routines are given. They cut sums by it, so it is a constant: bits must not depend on the number of
/// threads. Fewer threads take the parts in turn.
const PARALLEL: Par = Par::Rayon(NonZeroUsize::new(8).unwrap());

/// The kernels of every family.
const KERNELS: [(&str, &[Shipped]); 14] = [
    ("ceiling", ceiling::kernels::KERNELS),
    ("convert", convert::kernels::KERNELS),
    ("divergence", divergence::kernels::KERNELS),
    ("eigen", eigen::kernels::KERNELS),
    ("eigsh", eigsh::kernels::KERNELS),
    ("fft", fft::kernels::KERNELS),
    ("jacobi", jacobi::kernels::KERNELS),
    ("laplacian", laplacian::kernels::KERNELS),
    ("matmul", matmul::kernels::KERNELS),
    ("pca", pca::kernels::KERNELS),
    ("random", random::kernels::KERNELS),
    ("sparse", sparse::kernels::KERNELS),
    ("stats", stats::kernels::KERNELS),
    ("svd", svd::kernels::KERNELS),
];
