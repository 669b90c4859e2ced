//! The work of an operation, as the cost model knows it.

use std::fmt;

/// Declares the measured families: what the size is, the name in workloads and files, and the
/// approximate power of the size with which the operations grow.
macro_rules! families {
    ($($(#[$doc:meta])+ $family:ident = $name:literal ^ $power:literal,)+) => {
        /// Operations whose costs follow one curve.
        ///
        /// The enum is exhaustive, so that a new family fails to compile wherever its workloads are needed.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Family {
            $($(#[$doc])+ $family,)+
            /// Operations without their own curve.
            #[default]
            Other,
        }

        impl Family {
            /// The families that are measured.
            pub const MEASURED: [Self; [$($name),+].len()] = [$(Self::$family),+];

            /// Returns the family's name in workloads and files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$family => $name,)+
                    Self::Other => "other",
                }
            }

            /// Returns the approximate power of the size with which the operations grow.
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
    /// Eigenvalues alone of symmetric matrices; the size is their order.
    Eigvalsh = "eigvalsh" ^ 3,
    /// Singular values and vectors; the size is the shorter side.
    Svd = "svd" ^ 3,
    /// Complex Fourier transforms; the size is their length.
    Fft = "fft" ^ 1,
    /// Fourier transforms of reals and their inverses; the size is their length.
    Rfft = "rfft" ^ 1,
    /// Products of matrices; the size is the cube root of a product's number of multiplications.
    Matmul = "gemm" ^ 3,
    /// Covariances and correlations; the size is the number of columns.
    Cov = "cov" ^ 2,
    /// Dense Laplacians; the size is the number of nodes of a graph.
    Laplacian = "laplacian" ^ 2,
    /// Products of sparse and dense matrices; the size is the number of rows.
    Spmm = "spmm" ^ 1,
    /// A few eigenpairs of sparse matrices; the size is the number of rows.
    Eigsh = "eigsh" ^ 1,
    /// Moments, minimum and maximum; the size is the number of elements of a series.
    Describe = "describe" ^ 1,
    /// Encodings of graphs, from the edges to the canonical vectors; the size is the number of nodes of a graph.
    Encode = "encode" ^ 3,
}

impl Family {
    /// Returns the family of that name. `matmul` also names products, and `stats` moments.
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

/// The work of an operation. The counts are those of the algorithms; [`Rates`](super::Rates) say
/// what they cost on a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Workload {
    /// The family whose curve the costs follow.
    pub family: Family,
    /// The position on that curve: see [`Family`].
    pub size: f64,
    /// The number of items that may be processed in parallel: matrices, transforms, series. A value
    /// below 1 counts as 1.
    pub items: f64,
    /// The floating-point operations of the CPU's algorithm for all items.
    pub cpu_flops: f64,
    /// The floating-point operations of the device's algorithm for all items.
    pub gpu_flops: f64,
    /// The floating-point operations, or work that takes as long, that the CPU does on either side in addition to the
    /// algorithm. Measured curves include them in their rates.
    pub host_flops: f64,
    /// The bytes that have to go to the device.
    pub upload: f64,
    /// The bytes that come back from it.
    pub download: f64,
    /// The bytes of the results, which the CPU writes where it makes them.
    pub made: f64,
    /// The number of dispatches.
    pub dispatches: f64,
    /// The names of the CPU's algorithm and of the device's algorithm or kernel form; empty if there is only one.
    pub algorithms: [&'static str; 2],
}

impl Workload {
    /// Returns the workload with the transfers of the input (`given`) and of the results (`made`),
    /// in bytes. `resident` means the same in every family: the input is on the device, and what the
    /// device makes of it stays there, so neither is transferred.
    pub(crate) fn transferring(self, resident: bool, given: f64, made: f64) -> Self {
        let (upload, download) = if resident { (0.0, 0.0) } else { (given, made) };
        Self { upload: self.upload + upload, download, made, ..self }
    }
}
