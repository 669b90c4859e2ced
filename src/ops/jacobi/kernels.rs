//! The kernels of one-sided Jacobi.

use crate::device::{kernels, mirrors, uniform};

/// The columns of a pair of blocks of a large matrix.
pub(super) const PAIR: u32 = 32;
/// The rows of a tile.
pub(super) const TILE: u32 = 64;
/// The rows of a chunk of inner products.
pub(super) const CHUNK: u32 = 256;

uniform! {
    /// The first matrix of the table, and the most sweeps that this dispatch makes.
    pub(super) struct Sweeps { first: u32, sweeps: u32 }
}

uniform! {
    /// The first matrix of the table, and the most sweeps.
    pub(super) struct Ringing { first: u32, sweeps: u32 }
}

uniform! {
    /// The parameters of one round of the blocked form (jacobi/blocked.wgsl).
    pub(super) struct Round { first: u32, round: u32, pairs: u32, chunks: u32, tiles: u32 }
}

uniform! {
    /// The first matrix of the table, the number of matrices, and the pairs of blocks for which each has room.
    pub(super) struct Tallied { first: u32, count: u32, pairs: u32 }
}

/// A size class of the kernel that holds a matrix in workgroup memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct SizeClass {
    /// The largest order.
    pub(super) capacity: u32,
    /// The invocations for each pair of columns.
    pub(super) lanes: u32,
}

const fn class(capacity: u32, lanes: u32) -> SizeClass {
    SizeClass { capacity, lanes }
}

/// The classes that ship, smallest first. The capacities of the larger ones are what 16, 32 and 48 KiB of workgroup
/// memory hold.
pub(super) const SIZE_CLASSES: [SizeClass; 8] =
    [class(8, 2), class(16, 4), class(32, 4), class(48, 4), class(60, 2), class(64, 4), class(84, 2), class(108, 2)];

impl SizeClass {
    /// Returns the number of pairs of columns.
    pub(super) fn pairs(self) -> u32 {
        self.capacity.div_ceil(2)
    }

    /// Returns the distance from one column to the next, in groups of four rows: odd, so that columns start in
    /// different banks.
    fn stride(self) -> u32 {
        self.capacity.div_ceil(4) | 1
    }

    /// Returns the bytes of workgroup memory: W, a vec4 for each invocation, four words.
    pub(super) fn workgroup_bytes(self) -> u32 {
        16 * (self.capacity * self.stride() + self.invocations()) + 16
    }

    /// Returns the invocations of a workgroup.
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

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

fn workgroup_variants() -> Vec<Vec<(&'static str, f64)>> {
    SIZE_CLASSES.iter().map(|class| class.overrides().to_vec()).collect()
}

kernels! {
    /// Makes sweeps over matrices in workgroup memory.
    Workgroup = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "shared/rotation.wgsl", "jacobi/workgroup.wgsl"
    ] variants workgroup_variants {
        uniform params: Sweeps,
        read table: [u32; 4],
        write w: f32,
        write state: [u32; 4],
    }
    /// Makes sweeps over matrices up to an order in the registers of a workgroup.
    Register = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "shared/rotation.wgsl", "shared/ring.wgsl",
        "jacobi/register.wgsl"
    ] each order in "generated/jacobi/register_" [16, 32, 48, 64, 80, 96, 112, 128] variants one_variant {
        uniform params: Ringing,
        read table: [u32; 4],
        write w: f32,
        write state: [u32; 4],
    }
    /// Computes the inner products of the columns of pairs of blocks.
    Gram = ["shared/ragged.wgsl", "shared/state.wgsl", "jacobi/blocked.wgsl", "jacobi/blocked_gram.wgsl"] variants one_variant {
        uniform params: Round,
        read table: [u32; 4],
        read w: f32,
        read state: [u32; 4],
        write grams: f32,
    }
    /// Makes a sweep of Jacobi on the inner products.
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
    /// Applies the rotations of that sweep to the blocks.
    Apply = ["shared/ragged.wgsl", "shared/state.wgsl", "jacobi/blocked.wgsl", "jacobi/blocked_apply.wgsl"] variants one_variant {
        uniform params: Round,
        read table: [u32; 4],
        read state: [u32; 4],
        read grams: f32,
        read marks: u32,
        write w: f32,
    }
    /// Ends a sweep of the blocked form.
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
