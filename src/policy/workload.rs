//! The description of an operation's work for the cost model.

use crate::memory::MOST;
use std::fmt;

/// Declares the measured families. For each family it states the meaning of the size, the name in workloads and files,
/// and the approximate exponent `p` such that the number of operations grows as `size^p`.
macro_rules! families {
    ($($(#[$doc:meta])+ $family:ident = $name:literal ^ $power:literal,)+) => {
        /// A family of operations whose costs follow one curve.
        ///
        /// The enum is exhaustive, so that a new family causes a compile error wherever its workloads must be defined.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Family {
            $($(#[$doc])+ $family,)+
            /// Operations that have no curve.
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

            /// Returns the approximate exponent `p` such that the number of operations grows as `size^p`.
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
    /// Eigenvalues and eigenvectors of symmetric matrices. The size is the order of a matrix.
    Eigh = "eigh" ^ 3,
    /// Eigenvalues of symmetric matrices, without eigenvectors. The size is the order of a matrix.
    Eigvalsh = "eigvalsh" ^ 3,
    /// Singular values and vectors. The size is the smaller dimension of a matrix.
    Svd = "svd" ^ 3,
    /// Complex Fourier transforms. The size is the length of a transform.
    Fft = "fft" ^ 1,
    /// Fourier transforms of real data, and their inverses. The size is the length of a transform.
    Rfft = "rfft" ^ 1,
    /// Products of dense matrices. The size is the cube root of the number of multiplications in one product.
    Matmul = "gemm" ^ 3,
    /// Covariances and correlations. The size is the number of columns.
    Cov = "cov" ^ 2,
    /// Dense Laplacians. The size is the number of nodes in a graph.
    Laplacian = "laplacian" ^ 2,
    /// Products of a sparse and a dense matrix. The size is the number of rows of the sparse matrix.
    Spmm = "spmm" ^ 1,
    /// A few eigenpairs of sparse matrices. The size is the number of rows of a matrix.
    Eigsh = "eigsh" ^ 1,
    /// Moments, minimum and maximum. The size is the number of elements in a series.
    Describe = "describe" ^ 1,
    /// Encodings of graphs, from the edges to the canonical vectors. The size is the number of nodes in a graph.
    Encode = "encode" ^ 3,
    /// Trainings of many small networks. An item is a run with all its steps. The size is the number of operations of
    /// one step of one run, counted as in [`Workload::cpu_flops`], so that a training of twice as many steps takes
    /// twice as long at every size.
    Train = "train" ^ 1,
}

impl Family {
    /// Returns the family with the given name, if there is one. `matmul` is an additional name of [`Family::Matmul`],
    /// and `stats` is an additional name of [`Family::Describe`].
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "matmul" => Some(Self::Matmul),
            "stats" => Some(Self::Describe),
            name => Self::MEASURED.into_iter().find(|family| family.name() == name),
        }
    }
}

impl Family {
    /// Returns whether `auto` chooses a device for this family only if a curve of the family was measured on it. No GPU
    /// has run the kernels of training yet, so nothing supports what the static model predicts of them. A wrong choice
    /// would cost the time of a whole training.
    pub(super) fn needs_curve(self) -> bool {
        self == Self::Train
    }

    /// Returns whether the CPU writes results of `bytes` bytes to the memory of earlier results
    /// (`Context::room`).
    pub(super) fn uses_memory_again(self, bytes: f64) -> bool {
        matches!(self, Self::Fft | Self::Rfft | Self::Matmul | Self::Eigh | Self::Svd) && bytes <= MOST as f64
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The number of operations below which other threads are not worth waking. A call goes to a thread of the pool and
/// back in 10 to 46 us, and two tasks of 20 us each then take 50 us (two cores of an EPYC, 2026-11-29).
const BRIEF: f64 = 5e5;

/// The work of an operation. The counts depend only on the algorithms. [`Rates`](super::Rates) state the costs on a
/// machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Workload {
    /// The family whose curve the costs follow.
    pub family: Family,
    /// The size of one item, whose meaning [`Family`] states.
    pub size: f64,
    /// The number of items, such as matrices, transforms or series, that may be processed in parallel. A value below 1
    /// counts as 1.
    pub items: f64,
    /// The number of floating-point operations of the CPU's algorithm for all items. Operations that run faster or
    /// slower than those of dense decompositions are weighted accordingly.
    pub cpu_flops: f64,
    /// The number of floating-point operations of the device's algorithm for all items.
    pub gpu_flops: f64,
    /// The additional work that the CPU does regardless of the chosen side, expressed as the number of floating-point
    /// operations that take the same time. The rates of a measured curve already include this work.
    pub host_flops: f64,
    /// The part of `cpu_flops` that the CPU does even if the device is chosen, and that is not proportional to the
    /// rest. Measured curves of the device do not include it.
    pub kept_flops: f64,
    /// The number of bytes that are transferred to the device.
    pub upload: f64,
    /// The number of bytes that are transferred from the device.
    pub download: f64,
    /// The number of bytes of the results, which the CPU writes to memory if it computes them.
    pub made: f64,
    /// The number of dispatches.
    pub dispatches: f64,
    /// The number of times that the host waits for the device before it goes on, except for the last. Each takes a
    /// round trip, which measured curves do not include.
    pub waits: f64,
    /// The name of the CPU's algorithm, and the name of the device's algorithm or kernel form. A name is empty if the
    /// side has only one algorithm.
    pub algorithms: [&'static str; 2],
}

impl Workload {
    /// Returns whether the CPU does the work in less time than it takes to wake another thread. This must depend only
    /// on the workload: faer splits sums by the parallelism that it is given, and those of so little work are not
    /// split.
    pub(crate) fn is_brief(&self) -> bool {
        // These families are made of several operations, or give faer several threads in any case.
        let alone = !matches!(self.family, Family::Eigsh | Family::Encode | Family::Train);
        alone && self.cpu_flops + self.host_flops < BRIEF
    }

    /// Returns the workload with the transfers of an input of `given` bytes and of results of `made` bytes. If
    /// `resident` is true, the input is already on the device and the results stay on the device, so neither is
    /// transferred. The workloads of all families follow this rule.
    pub(crate) fn transferring(self, resident: bool, given: f64, made: f64) -> Self {
        let (upload, download) = if resident { (0.0, 0.0) } else { (given, made) };
        Self { upload: self.upload + upload, download, made, ..self }
    }
}
