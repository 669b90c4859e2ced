//! The kernel of principal components.

use crate::device::{kernels, mirrors, uniform};

/// The number of rows, and of columns, in a tile of [`Affine`].
pub(super) const TILE: usize = 16;

uniform! {
    /// The index of the first workgroup of a dispatch, and the dimensions of the matrices.
    pub(super) struct Sizes { first: u32, rows: u32, inner: u32, cols: u32 }
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

kernels! {
    /// The map `(X - before) W + after`.
    Affine = ["pca/affine.wgsl"] variants one_variant {
        uniform params: Sizes,
        read x: f32,
        read before: f32,
        read w: f32,
        read after: f32,
        write out: f32,
    }
}

mirrors! {
    TILE = TILE,
}
