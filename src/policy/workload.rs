//! What an operation has to do.

use std::fmt;

/// Operations whose costs follow one curve.
///
/// Exhaustive: a new family is to fail to compile wherever its sizes and calls are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Family {
    /// Eigenvalues and eigenvectors of symmetric matrices; the size is their order.
    Eigh,
    /// Their eigenvalues alone.
    Eigvalsh,
    /// Singular values and vectors; the size is the shorter side.
    Svd,
    /// Complex Fourier transforms; the size is their length.
    Fft,
    /// Those of reals, and back.
    Rfft,
    /// Products of matrices; the size is the cube root of what a product multiplies.
    Matmul,
    /// Covariances and correlations; the size is the number of columns.
    Cov,
    /// Dense Laplacians; the size is the nodes of a graph.
    Laplacian,
    /// Sparse times dense; the size is the rows.
    Spmm,
    /// A few eigenpairs of sparse matrices; the size is the rows.
    Eigsh,
    /// Encodings of graphs, from the edges to the canonical vectors; the size is the nodes of a graph.
    Encode,
    /// Moments, smallest and largest; the size is the numbers of a series.
    Describe,
    /// Whatever has no curve of its own.
    #[default]
    Other,
}

impl Family {
    /// Those that are measured.
    pub const MEASURED: [Self; 12] = [
        Self::Eigh,
        Self::Eigvalsh,
        Self::Svd,
        Self::Fft,
        Self::Rfft,
        Self::Matmul,
        Self::Cov,
        Self::Laplacian,
        Self::Spmm,
        Self::Eigsh,
        Self::Describe,
        Self::Encode,
    ];

    /// Its name in workloads and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eigh => "eigh",
            Self::Eigvalsh => "eigvalsh",
            Self::Svd => "svd",
            Self::Fft => "fft",
            Self::Rfft => "rfft",
            Self::Matmul => "gemm",
            Self::Cov => "cov",
            Self::Laplacian => "laplacian",
            Self::Spmm => "spmm",
            Self::Eigsh => "eigsh",
            Self::Describe => "describe",
            Self::Encode => "encode",
            Self::Other => "other",
        }
    }

    /// The power of the size that its operations grow with, about.
    pub(super) fn power(self) -> i32 {
        match self {
            Self::Eigh | Self::Eigvalsh | Self::Svd | Self::Matmul | Self::Encode => 3,
            Self::Cov | Self::Laplacian => 2,
            Self::Fft | Self::Rfft | Self::Spmm | Self::Eigsh | Self::Describe | Self::Other => 1,
        }
    }

    /// The family of that name; products may be called `matmul` too, and moments `stats`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "matmul" => Some(Self::Matmul),
            "stats" => Some(Self::Describe),
            name => Self::MEASURED.into_iter().find(|family| family.name() == name),
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an operation has to do. Counts are of the algorithms' own; what they are worth on a machine, [`Rates`](super::Rates) say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Workload {
    /// Whose curve its costs follow.
    pub family: Family,
    /// Where on it: see [`Family`].
    pub size: f64,
    /// What may be done side by side: matrices, transforms, series. Below 1 it counts as 1.
    pub items: f64,
    /// Floating-point operations of the CPU's algorithm, of all items.
    pub cpu_flops: f64,
    /// Floating-point operations of the device's algorithm.
    pub gpu_flops: f64,
    /// Floating-point operations, or what takes as long, that the CPU does on either side beside the algorithm. Curves that were
    /// measured have them in their rates.
    pub host_flops: f64,
    /// Bytes that have to go to the device; what lies there already costs nothing.
    pub upload: f64,
    /// Bytes that come back.
    pub download: f64,
    /// Dispatches.
    pub dispatches: f64,
    /// The names of the CPU's algorithm and of the device's, or of the form of its kernels; empty where there is but one.
    pub algorithms: [&'static str; 2],
}
