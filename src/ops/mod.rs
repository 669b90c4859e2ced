//! The operations: mathematics on batches, each with a device and a CPU half and one choice between them.

pub(crate) mod certificate;
pub mod eigen;
pub mod eigsh;
mod jacobi;
pub mod laplacian;
pub mod pca;
mod random;
pub mod sparse;
pub mod stats;
pub mod svd;

pub use certificate::{Certificate, Status};
pub use eigen::{Eigh, Eigvalsh, RaggedEigh, Which, eigh, eigh_ragged, eigh_refined, eigh_subset, eigvalsh};
pub use eigsh::{Eigsh, EigshMethod, EigshOptions, eigsh};
pub use laplacian::{Normalization, laplacian};
pub use pca::{Pca, PcaOptions, pca, pca_of_stream};
pub use sparse::spmm;
pub use stats::{corr, cov, describe, histogram, quantiles};
pub use svd::{Svd, Svdvals, Vectors, svd, svd_truncated, svdvals};
