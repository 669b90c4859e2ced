//! The kernels of the symmetric eigendecomposition.

use crate::device::{kernels, uniform};

uniform! {
    /// The first matrix of the table that this dispatch takes.
    pub(super) struct First { first: u32 }
}

uniform! {
    /// The first matrix of the table that this dispatch takes, how many it takes, and the most sweeps.
    pub(super) struct Few { first: u32, count: u32, sweeps: u32 }
}

/// A size class of the kernel that ends the decomposition of a matrix in workgroup memory: the largest order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FinishClass(pub(super) u32);

/// The classes that ship, smallest first.
pub(super) const FINISH_CLASSES: [FinishClass; 8] = [
    FinishClass(8),
    FinishClass(16),
    FinishClass(32),
    FinishClass(48),
    FinishClass(60),
    FinishClass(64),
    FinishClass(84),
    FinishClass(108),
];

impl FinishClass {
    pub(super) fn overrides(self) -> [(&'static str, f64); 3] {
        // Groups of four rows from one column to the next: odd, so that columns begin in different banks.
        let stride = self.0.div_ceil(4) | 1;
        [("CAPACITY", self.0.into()), ("STRIDE", stride.into()), ("WIDTH", self.0.into())]
    }
}

#[cfg(test)]
fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

#[cfg(test)]
fn finish_variants() -> Vec<Vec<(&'static str, f64)>> {
    FINISH_CLASSES.iter().map(|class| class.overrides().to_vec()).collect()
}

#[cfg(test)]
fn tiny_variants() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![], vec![("VECTORS", 0.0)]]
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
    /// Eigenvectors, eigenvalues, order and certificate out of orthogonal columns.
    Finish = ["shared/ragged.wgsl", "shared/real.wgsl", "shared/state.wgsl", "eigen/finish.wgsl"] variants finish_variants {
        uniform params: First,
        read table: [u32; 4],
        read a: f32,
        read state: [u32; 4],
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
    /// The whole decomposition of orders to 2, an invocation a matrix.
    Tiny2 = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/rotation.wgsl", "eigen/tiny.wgsl", "eigen/tiny_2.wgsl"
    ] variants tiny_variants {
        uniform params: Few,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
    /// The whole decomposition of orders to 3, an invocation a matrix.
    Tiny3 = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/rotation.wgsl", "eigen/tiny.wgsl", "eigen/tiny_3.wgsl"
    ] variants tiny_variants {
        uniform params: Few,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
    /// The whole decomposition of orders to 4, an invocation a matrix.
    Tiny4 = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/rotation.wgsl", "eigen/tiny.wgsl", "eigen/tiny_4.wgsl"
    ] variants tiny_variants {
        uniform params: Few,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
    /// The whole decomposition of orders to 6, an invocation a matrix.
    Tiny6 = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/rotation.wgsl", "eigen/tiny.wgsl", "eigen/tiny_6.wgsl"
    ] variants tiny_variants {
        uniform params: Few,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
    /// The whole decomposition of orders to 8, an invocation a matrix.
    Tiny8 = [
        "shared/ragged.wgsl", "shared/real.wgsl", "shared/rotation.wgsl", "eigen/tiny.wgsl", "eigen/tiny_8.wgsl"
    ] variants tiny_variants {
        uniform params: Few,
        read table: [u32; 4],
        read a: f32,
        write w: f32,
        write values: f32,
        write certificates: [f32; 4],
    }
}
