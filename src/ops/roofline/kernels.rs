//! The kernels that only move data or only compute.

use crate::device::{kernels, mirrors, uniform};

/// The number of invocations in a workgroup.
pub(super) const WIDTH: u32 = 256;

uniform! {
    /// The index of the first workgroup of this dispatch, and the number of vectors of four numbers to copy.
    pub(super) struct Span { first: u32, count: u32 }
}

uniform! {
    /// The number of iterations of x = a x + b, and the coefficients a and b.
    pub(super) struct Chain { turns: u32, a: f32, b: f32 }
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

kernels! {
    /// Copies an array of vectors of four numbers.
    Copy = ["roofline/copy.wgsl"] variants one_variant {
        uniform params: Span,
        read given: [f32; 4],
        write made: [f32; 4],
    }
    /// Computes chains of multiply-adds in registers.
    Fma = ["roofline/fma.wgsl"] variants one_variant {
        uniform params: Chain,
        write made: [f32; 4],
    }
}

mirrors! {
    WIDTH = WIDTH,
}
