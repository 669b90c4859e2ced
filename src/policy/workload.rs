//! What an operation has to do.

use std::fmt;

/// Declares the families that are measured: what the size is, the name in workloads and files, and the power of the size that the
/// operations grow with, about.
macro_rules! families {
    ($($(#[$doc:meta])+ $family:ident = $name:literal ^ $power:literal,)+) => {
        /// Operations whose costs follow one curve.
        ///
        /// Exhaustive: a new family is to fail to compile wherever its workloads are wanted.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Family {
            $($(#[$doc])+ $family,)+
            /// Whatever has no curve of its own.
            #[default]
            Other,
        }

        impl Family {
            /// Those that are measured.
            pub const MEASURED: [Self; [$($name),+].len()] = [$(Self::$family),+];

            /// Its name in workloads and files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$family => $name,)+
                    Self::Other => "other",
                }
            }

            /// The power of the size that its operations grow with, about.
            pub(super) fn power(self) -> i32 {
                match self {
                    $(Self::$family => $power,)+
                    Self::Other => 1,
                }
            }
        }
    };
}

families! {
    /// Eigenvalues and eigenvectors of symmetric matrices; the size is their order.
    Eigh = "eigh" ^ 3,
    /// Their eigenvalues alone.
    Eigvalsh = "eigvalsh" ^ 3,
    /// Singular values and vectors; the size is the shorter side.
    Svd = "svd" ^ 3,
    /// Complex Fourier transforms; the size is their length.
    Fft = "fft" ^ 1,
    /// Those of reals, and back.
    Rfft = "rfft" ^ 1,
    /// Products of matrices; the size is the cube root of what a product multiplies.
    Matmul = "gemm" ^ 3,
    /// Covariances and correlations; the size is the number of columns.
    Cov = "cov" ^ 2,
    /// Dense Laplacians; the size is the nodes of a graph.
    Laplacian = "laplacian" ^ 2,
    /// Sparse times dense; the size is the rows.
    Spmm = "spmm" ^ 1,
    /// A few eigenpairs of sparse matrices; the size is the rows.
    Eigsh = "eigsh" ^ 1,
    /// Moments, smallest and largest; the size is the numbers of a series.
    Describe = "describe" ^ 1,
    /// Encodings of graphs, from the edges to the canonical vectors; the size is the nodes of a graph.
    Encode = "encode" ^ 3,
}

impl Family {
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
    /// Bytes that have to go to the device.
    pub upload: f64,
    /// Bytes that come back from it.
    pub download: f64,
    /// Bytes of the results, which the CPU writes where it makes them.
    pub made: f64,
    /// Dispatches.
    pub dispatches: f64,
    /// The names of the CPU's algorithm and of the device's, or of the form of its kernels; empty where there is but one.
    pub algorithms: [&'static str; 2],
}

impl Workload {
    /// The workload with the transfers of what is given and of what is made, in bytes. `resident` means the same in every family:
    /// what is given lies on the device, and what a device makes of it stays there, so neither is transferred.
    pub(crate) fn transferring(self, resident: bool, given: f64, made: f64) -> Self {
        let (upload, download) = if resident { (0.0, 0.0) } else { (given, made) };
        Self { upload: self.upload + upload, download, made, ..self }
    }
}
