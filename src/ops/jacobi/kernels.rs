//! The kernels of one-sided Jacobi.

use super::register;
use crate::device::{Adapter, Budget, Overrides, kernels, mirrors, uniform};

/// The number of columns in a pair of blocks of a large matrix.
pub(super) const PAIR: u32 = 32;
/// The number of rows in a tile, which is the part of a column that workgroup memory holds at a time.
pub(super) const TILE: u32 = 64;
/// The number of rows in a chunk. The inner products of columns are summed over one chunk at a time.
pub(super) const CHUNK: u32 = 256;

uniform! {
    /// The table index of this dispatch's first matrix, and the maximum number of sweeps that the dispatch makes.
    pub(super) struct Sweeps { first: u32, sweeps: u32 }
}

uniform! {
    /// The table index of this dispatch's first matrix, and the maximum number of sweeps.
    pub(super) struct Ringing { first: u32, sweeps: u32 }
}

uniform! {
    /// The parameters of one round of the blocked form (jacobi/blocked.wgsl).
    pub(super) struct Round { first: u32, round: u32, pairs: u32, chunks: u32, tiles: u32 }
}

uniform! {
    /// The table index of this dispatch's first matrix, the number of matrices, and the number of elements of `marks`
    /// for each matrix, one for each pair of blocks.
    pub(super) struct Tallied { first: u32, count: u32, pairs: u32 }
}

/// A size class of the kernel that holds a matrix in workgroup memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct SizeClass {
    /// The largest order of the matrices in the class.
    pub(super) capacity: u32,
    /// The number of invocations for each pair of columns.
    pub(super) lanes: u32,
}

const fn class(capacity: u32, lanes: u32) -> SizeClass {
    SizeClass { capacity, lanes }
}

/// The classes that ship, smallest first. The capacities 60, 84 and 104 are orders that fit in 16, 32 and 48 KiB of
/// workgroup memory.
pub(super) const SIZE_CLASSES: [SizeClass; 8] =
    [class(8, 2), class(16, 4), class(32, 4), class(48, 4), class(60, 4), class(64, 4), class(84, 4), class(104, 4)];

impl SizeClass {
    /// Returns the number of pairs of columns in a round of a sweep.
    pub(super) fn pairs(self) -> u32 {
        self.capacity.div_ceil(2)
    }

    /// Returns the distance from one column to the next, counted in groups of four rows. The distance is odd so that
    /// columns start in different memory banks.
    fn stride(self) -> u32 {
        self.capacity.div_ceil(4) | 1
    }

    /// Returns the number of bytes of workgroup memory, which holds the matrix W, a vec4 for each invocation, and four
    /// words, each of which counts as 16 bytes.
    pub(super) fn workgroup_bytes(self) -> u32 {
        16 * (self.capacity * self.stride() + self.invocations() + 4)
    }

    /// Returns the number of invocations in a workgroup.
    pub(super) fn invocations(self) -> u32 {
        self.pairs() * self.lanes
    }

    pub(super) fn overrides(self) -> [(&'static str, f64); 4] {
        [
            ("CAPACITY", self.capacity.into()),
            ("LANES", self.lanes.into()),
            ("PAIRS", self.pairs().into()),
            ("STRIDE", self.stride().into()),
        ]
    }
}

/// Returns whether decompositions on the adapter use this variant.
pub(in super::super) fn is_given(adapter: &Adapter, kernel: &str, _: Overrides<'_>) -> bool {
    match kernel.strip_prefix("Register").and_then(|order| order.parse().ok()) {
        Some(order) => register::Register::of(adapter, order).is_some(),
        None => true,
    }
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

fn workgroup_variants() -> Vec<Vec<(&'static str, f64)>> {
    SIZE_CLASSES.iter().map(|class| class.overrides().to_vec()).collect()
}

kernels! {
    /// Makes sweeps over matrices that are held in workgroup memory.
    Workgroup = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "shared/rotation.wgsl", "jacobi/workgroup.wgsl"
    ] variants workgroup_variants {
        budget Budget { occupancy: 10, because: "the matrix fills workgroup memory", ..Budget::USUAL };
        uniform params: Sweeps,
        read table: [u32; 4],
        write w: f32,
        write state: [u32; 4],
    }
    /// Makes sweeps over matrices of up to a certain order that are held in the registers of a workgroup.
    Register = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "shared/rotation.wgsl", "shared/ring.wgsl",
        "jacobi/register.wgsl"
    ] each order in "generated/jacobi/register_" [16, 32, 48, 64, 80, 96, 112, 128] variants one_variant {
        budget Budget {
            registers: 128,
            instructions: 3200,
            occupancy: 20,
            because: "the matrix is in the registers of a workgroup",
        };
        uniform params: Ringing,
        read table: [u32; 4],
        write w: f32,
        write state: [u32; 4],
    }
    /// Computes the inner products of the columns in each pair of blocks.
    Gram = ["shared/ragged.wgsl", "shared/state.wgsl", "jacobi/blocked.wgsl", "jacobi/blocked_gram.wgsl"] variants one_variant {
        budget Budget {
            registers: 108,
            instructions: 2200,
            occupancy: 20,
            because: "9 KiB of workgroup memory for 64 invocations",
        };
        uniform params: Round,
        read table: [u32; 4],
        read w: f32,
        read state: [u32; 4],
        write grams: f32,
    }
    /// Makes one Jacobi sweep on the inner products of each pair of blocks, and collects the rotations.
    Solve = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "shared/rotation.wgsl", "jacobi/blocked.wgsl",
        "jacobi/blocked_solve.wgsl"
    ] variants one_variant {
        uniform params: Round,
        read table: [u32; 4],
        read state: [u32; 4],
        write grams: f32,
        write marks: u32,
    }
    /// Multiplies the blocks by the rotations that `Solve` found.
    Apply = ["shared/ragged.wgsl", "shared/state.wgsl", "jacobi/blocked.wgsl", "jacobi/blocked_apply.wgsl"] variants one_variant {
        budget Budget {
            instructions: 1600,
            occupancy: 25,
            because: "13 KiB of workgroup memory for 128 invocations",
            ..Budget::USUAL
        };
        uniform params: Round,
        read table: [u32; 4],
        read state: [u32; 4],
        read grams: f32,
        read marks: u32,
        write w: f32,
    }
    /// Ends a sweep of the blocked form: counts the sweep, and marks the matrices whose columns are orthogonal.
    Tally = ["shared/ragged.wgsl", "shared/state.wgsl", "jacobi/blocked.wgsl", "jacobi/blocked_tally.wgsl"] variants one_variant {
        uniform params: Tallied,
        read table: [u32; 4],
        read marks: u32,
        write state: [u32; 4],
    }
}

mirrors! {
    PAIR = PAIR,
    TILE = TILE,
    CHUNK = CHUNK,
}
