//! The kernels of the symmetric eigendecomposition.

use crate::device::{kernels, uniform};

uniform! {
    /// The first matrix of the table that this dispatch takes.
    pub(super) struct First { first: u32 }
}

uniform! {
    /// The first matrix of the table, and the most sweeps that this dispatch makes.
    pub(super) struct Sweeps { first: u32, sweeps: u32 }
}

/// A size class of the kernels that hold a matrix in workgroup memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeClass {
    /// The largest order.
    pub(super) capacity: u32,
    /// Invocations for each pair of columns.
    pub(super) lanes: u32,
}

/// The classes that ship, smallest first. The capacities of the larger ones are what 16, 32 and 48 KiB of workgroup memory hold.
pub(super) const SIZE_CLASSES: [SizeClass; 8] = [
    SizeClass { capacity: 8, lanes: 2 },
    SizeClass { capacity: 16, lanes: 4 },
    SizeClass { capacity: 32, lanes: 4 },
    SizeClass { capacity: 48, lanes: 4 },
    SizeClass { capacity: 60, lanes: 2 },
    SizeClass { capacity: 64, lanes: 4 },
    SizeClass { capacity: 84, lanes: 2 },
    SizeClass { capacity: 108, lanes: 2 },
];

impl SizeClass {
    /// Columns in pairs.
    pub(super) fn pairs(self) -> u32 {
        self.capacity.div_ceil(2)
    }

    /// Groups of four rows from one column to the next: odd, so that columns begin in different banks.
    fn stride(self) -> u32 {
        self.capacity.div_ceil(4) | 1
    }

    /// Bytes of workgroup memory of [`Jacobi`], the hungriest of the kernels: W, a vec4 for each invocation, five words.
    pub(super) fn workgroup_bytes(self) -> u32 {
        16 * (self.capacity * self.stride() + self.pairs() * self.lanes) + 20
    }

    /// Invocations of the largest workgroup.
    pub(super) fn invocations(self) -> u32 {
        (self.pairs() * self.lanes).max(self.capacity)
    }

    pub(super) fn jacobi(self) -> [(&'static str, f64); 4] {
        let Self { capacity, lanes } = self;
        [
            ("CAPACITY", capacity.into()),
            ("LANES", lanes.into()),
            ("PAIRS", self.pairs().into()),
            ("STRIDE", self.stride().into()),
        ]
    }

    pub(super) fn finish(self) -> [(&'static str, f64); 3] {
        let capacity = self.capacity.into();
        [("CAPACITY", capacity), ("STRIDE", self.stride().into()), ("WIDTH", capacity)]
    }
}

#[cfg(test)]
fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

#[cfg(test)]
fn jacobi_variants() -> Vec<Vec<(&'static str, f64)>> {
    SIZE_CLASSES.iter().map(|class| class.jacobi().to_vec()).collect()
}

#[cfg(test)]
fn finish_variants() -> Vec<Vec<(&'static str, f64)>> {
    SIZE_CLASSES.iter().map(|class| class.finish().to_vec()).collect()
}

kernels! {
    /// Scales and shifts every matrix so that it is safely positive definite.
    Prepare = ["shared/ragged.wgsl", "shared/real.wgsl", "eigen/state.wgsl", "eigen/prepare.wgsl"] variants one_variant {
        uniform params: First,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write state: [u32; 4],
    }
    /// Sweeps of one-sided Jacobi over matrices in workgroup memory.
    Jacobi = ["shared/ragged.wgsl", "shared/real.wgsl", "eigen/state.wgsl", "eigen/jacobi.wgsl"] variants jacobi_variants {
        uniform params: Sweeps,
        read table: [u32; 4],
        write w: f32,
        write state: [u32; 4],
    }
    /// Eigenvectors, eigenvalues, order and certificate out of orthogonal columns.
    Finish = ["shared/ragged.wgsl", "shared/real.wgsl", "eigen/state.wgsl", "eigen/finish.wgsl"] variants finish_variants {
        uniform params: First,
        read table: [u32; 4],
        read a: f32,
        read state: [u32; 4],
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
}
