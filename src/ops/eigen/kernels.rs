//! The kernels of the symmetric eigendecomposition.

use super::small::Small;
use crate::device::{Adapter, Budget, Overrides, kernels, mirrors, uniform};
use crate::forms::JacobiForm;

/// The number of rows in a tile of a large matrix.
pub(super) const ROWS: u32 = 64;
/// The number of columns in a tile of a large matrix.
pub(super) const COLUMNS: u32 = 32;
/// The number of rows, and of columns, in a tile of V'V.
pub(super) const SIDE: u32 = 64;
/// The number of elements that workgroup memory holds while columns are sorted.
pub(super) const SLOTS: u32 = 4096;

uniform! {
    /// The table index of this dispatch's first matrix.
    pub(super) struct First { first: u32 }
}

uniform! {
    /// The parameters of a copy. An array consists of runs of `own` elements, and the `len` elements from index `begin`
    /// on are copied from each run. In total, `total` elements are copied.
    pub(super) struct Part { own: u32, begin: u32, len: u32, total: u32 }
}

uniform! {
    /// The table index of this dispatch's first matrix, the number of matrices that the dispatch solves, the maximum
    /// number of sweeps, and whether eigenvectors are wanted.
    pub(super) struct Few { first: u32, count: u32, sweeps: u32, vectors: u32 }
}

uniform! {
    /// The table index of this dispatch's first matrix, and whether eigenvectors are wanted.
    pub(super) struct Ending { first: u32, vectors: u32 }
}

uniform! {
    /// The table index of this dispatch's first matrix, and the number of workgroups per matrix. `capacity` and `tiles`
    /// are the room of the arrays per matrix, in columns and in tiles of rows (eigen/tiled.wgsl).
    pub(super) struct Tiles { first: u32, groups: u32, capacity: u32, tiles: u32 }
}

/// A size class of the kernel that finishes a matrix in workgroup memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FinishClass {
    /// The largest order of the matrices in the class.
    pub(super) capacity: u32,
    /// The number of invocations per column.
    pub(super) parts: u32,
}

const fn class(capacity: u32, parts: u32) -> FinishClass {
    FinishClass { capacity, parts }
}

/// The classes that ship, smallest first. Each has as many invocations per column, up to four, as fit in a workgroup of
/// 256 invocations and in 16, 32 or 48 KiB of workgroup memory. More invocations in the same memory hide its latency
/// better.
pub(super) const FINISH_CLASSES: [FinishClass; 8] =
    [class(8, 4), class(16, 4), class(32, 4), class(48, 4), class(60, 2), class(64, 4), class(84, 3), class(104, 2)];

impl FinishClass {
    /// Returns the distance from one column to the next, counted in groups of four rows. The distance is odd so that
    /// columns start in different memory banks.
    fn stride(self) -> u32 {
        self.capacity.div_ceil(4) | 1
    }

    /// Returns the number of invocations in a workgroup.
    pub(super) fn invocations(self) -> u32 {
        self.capacity * self.parts
    }

    /// Returns the number of bytes of workgroup memory, which holds the eigenvectors V, `parts` rows of A, two numbers
    /// for each invocation, the Rayleigh quotients, and three words. Each of these counts as a multiple of 16 bytes.
    pub(super) fn workgroup_bytes(self) -> u32 {
        let own = [16 * (self.capacity + self.parts) * self.stride(), 8 * self.invocations(), 4 * self.capacity];
        own.into_iter().map(|bytes| bytes.next_multiple_of(16)).sum::<u32>() + 3 * 16
    }

    pub(super) fn overrides(self) -> [(&'static str, f64); 3] {
        [("CAPACITY", self.capacity.into()), ("STRIDE", self.stride().into()), ("PARTS", self.parts.into())]
    }
}

/// Returns whether decompositions on the adapter use this variant.
pub(in super::super) fn is_given(adapter: &Adapter, kernel: &str, _: Overrides<'_>) -> bool {
    [("Tiny", JacobiForm::Tiny), ("Lane", JacobiForm::Lane)].into_iter().all(|(name, form)| {
        let order = kernel.strip_prefix(name).and_then(|order| order.parse().ok());
        order.is_none_or(|order| Small::of(adapter, order, &|other| other == form).is_some())
    })
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

fn finish_variants() -> Vec<Vec<(&'static str, f64)>> {
    FINISH_CLASSES.iter().map(|class| class.overrides().to_vec()).collect()
}

kernels! {
    /// Scales and shifts every matrix so that it is safely positive definite.
    Prepare = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/prepare.wgsl"] variants one_variant {
        uniform params: First,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write state: [u32; 4],
    }
    /// Computes the eigenvectors, the eigenvalues, the ascending order of the eigenvalues, and the certificate from the
    /// orthogonal columns of W.
    Finish = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/keys.wgsl", "shared/state.wgsl", "shared/certificate.wgsl", "eigen/promise.wgsl", "eigen/finish.wgsl"] variants finish_variants {
        budget Budget {
            registers: 256,
            instructions: 1600,
            occupancy: 10,
            because: "the eigenvectors fill workgroup memory, and compilers use the registers that this leaves",
        };
        uniform params: Ending,
        read table: [u32; 4],
        read a: f32,
        read state: [u32; 4],
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
    /// Decomposes matrices up to a certain order, with one invocation per matrix. Smaller matrices are padded to that
    /// order, which costs arithmetic. Matrices of orders 5 and 7 are rare, so there are no kernels for these two
    /// orders.
    Tiny = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/keys.wgsl", "shared/rotation.wgsl", "shared/certificate.wgsl", "eigen/promise.wgsl",
        "eigen/small.wgsl"
    ] each order in "generated/eigen/tiny_" [2, 3, 4, 6, 8] variants one_variant {
        budget Budget {
            registers: 168,
            instructions: 10_300,
            occupancy: 20,
            because: "a matrix is in the registers of an invocation; a sweep at order 8 has 3,107 instructions on RDNA3",
        };
        uniform params: Few,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
    /// Decomposes matrices up to a certain order, with one lane for each pair of columns.
    Lane = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/keys.wgsl", "shared/rotation.wgsl", "shared/ring.wgsl", "shared/certificate.wgsl",
        "eigen/promise.wgsl", "eigen/small.wgsl", "eigen/lane.wgsl"
    ] each order in "generated/eigen/lane_" [8, 16, 32] variants one_variant {
        budget Budget {
            registers: 256,
            instructions: 9700,
            occupancy: 10,
            because: "a pair of columns is in the registers of an invocation; a sweep at order 32 has 1,205 instructions on RDNA3",
        };
        uniform params: Few,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
    /// Computes the largest magnitude in each tile of large matrices.
    Peak = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_peak.wgsl"] variants one_variant {
        uniform params: Tiles,
        read table: [u32; 4],
        read a: f32,
        write peaks: u32,
    }
    /// Computes the bounds on the eigenvalues of large matrices from Gershgorin's circles.
    Norm = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_norm.wgsl"] variants one_variant {
        uniform params: Tiles,
        read table: [u32; 4],
        read a: f32,
        read peaks: u32,
        write circles: u32,
    }
    /// Scales and shifts large matrices.
    Shift = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_shift.wgsl"] variants one_variant {
        uniform params: Tiles,
        read table: [u32; 4],
        read a: f32,
        read peaks: u32,
        read circles: u32,
        write w: f32,
        write state: [u32; 4],
    }
    /// Computes, from orthogonal columns, the eigenvectors of large matrices and first approximations of their
    /// eigenvalues.
    Normalize = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_normalize.wgsl"] variants one_variant {
        uniform params: Tiles,
        read table: [u32; 4],
        read state: [u32; 4],
        write w: f32,
        write guesses: f32,
    }
    /// Computes, tile by tile, the sums from which the residuals of large matrices are computed.
    Residual = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_residual.wgsl"] variants one_variant {
        budget Budget {
            registers: 72,
            instructions: 2600,
            occupancy: 30,
            because: "12 KiB of workgroup memory for 128 invocations",
        };
        uniform params: Tiles,
        read table: [u32; 4],
        read a: f32,
        read w: f32,
        read state: [u32; 4],
        read guesses: f32,
        write sums: f32,
    }
    /// Computes the Rayleigh quotients and residuals of large matrices.
    Quotient = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_quotient.wgsl"] variants one_variant {
        uniform params: Tiles,
        read table: [u32; 4],
        read state: [u32; 4],
        read sums: f32,
        write guesses: f32,
        write residuals: u32,
    }
    /// Computes the largest magnitude in each tile of V'V - I, where V are the eigenvectors of a large matrix.
    Departure = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_departure.wgsl"] variants one_variant {
        budget Budget {
            registers: 96,
            instructions: 1800,
            occupancy: 30,
            because: "14 KiB of workgroup memory and 16 sums in registers for each of 256 invocations",
        };
        uniform params: Tiles,
        read table: [u32; 4],
        read w: f32,
        read state: [u32; 4],
        write departures: u32,
    }
    /// Computes the rank of each eigenvalue of large matrices, and stores the eigenvalues in ascending order.
    Rank = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/keys.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_rank.wgsl"] variants one_variant {
        uniform params: Tiles,
        read table: [u32; 4],
        read state: [u32; 4],
        read guesses: f32,
        write values: f32,
        write ranks: u32,
    }
    /// Computes the certificates of large matrices.
    Certify = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "shared/certificate.wgsl", "eigen/promise.wgsl", "eigen/tiled.wgsl", "eigen/tiled_certify.wgsl"] variants one_variant {
        uniform params: Tiles,
        read table: [u32; 4],
        read state: [u32; 4],
        read residuals: u32,
        read departures: u32,
        write certificates: [f32; 4],
    }
    /// Sorts the eigenvectors of large matrices.
    Sort = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/tiled.wgsl", "eigen/tiled_sort.wgsl"] variants one_variant {
        budget Budget {
            instructions: 1300,
            occupancy: 40,
            because: "16 KiB of workgroup memory for 256 invocations",
            ..Budget::USUAL
        };
        uniform params: Tiles,
        read table: [u32; 4],
        read state: [u32; 4],
        read ranks: u32,
        write w: f32,
    }
    /// Copies a range of the elements of every matrix.
    Select = ["eigen/select.wgsl"] variants one_variant {
        uniform params: Part,
        read whole: f32,
        write part: f32,
    }
}

mirrors! {
    PROMISE = crate::ops::certificate::PROMISE,
    EPSILON = f32::EPSILON,
    CONVERGED = crate::ops::Status::Converged as u8,
    NOT_CONVERGED = crate::ops::Status::NotConverged as u8,
    NON_FINITE = crate::ops::Status::NonFinite as u8,
    ROWS = ROWS,
    COLUMNS = COLUMNS,
    SIDE = SIDE,
    SLOTS = SLOTS,
}
