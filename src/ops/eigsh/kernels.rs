//! The kernels of blocks of vectors.

use crate::device::{kernels, mirrors, uniform};
use crate::ops::sparse::gpu::MOST_LANES;

/// A row that is a component by itself: what is orthogonal to its unit vector is 0 there.
pub(super) const ALONE: u32 = u32::MAX - 1;

uniform! {
    /// The first chunk of a dispatch, and the chunk whose sums come first in the buffer.
    pub(super) struct Tiles { first: u32, base: u32 }
}

uniform! {
    /// Outputs, elements of a slot, and the slot that comes first in the buffer.
    pub(super) struct Ranges { first: u32, outputs: u32, size: u32, base: u32 }
}

uniform! {
    /// Rows of a slab and their place in a panel, in vectors of four.
    pub(super) struct Placed { row: u32, rows: u32, lanes: u32, total: u32, offset: u32 }
}

uniform! {
    /// Chunks, the panel's first row, and the slab's place in it, in vectors of four.
    pub(super) struct Turned { first: u32, base: u32, row: u32, total: u32, offset: u32 }
}

uniform! {
    /// The first chunk, and who takes part: the coefficients, the slab's first column, the block's end.
    pub(super) struct Part { first: u32, base: u32, column: u32, width: u32 }
}

/// The overrides of [`Gram`].
pub(super) fn gram_variant(left: u32, right: u32) -> [(&'static str, f64); 2] {
    [("LEFT", left.into()), ("RIGHT", right.into())]
}

/// The overrides of [`Rotate`] and [`Deflate`].
pub(super) fn slab_variant(lanes: u32) -> [(&'static str, f64); 1] {
    [("LANES", lanes.into())]
}

/// Slabs of one block differ by one vector at most, and the wider ones come first.
fn gram_variants() -> Vec<Vec<(&'static str, f64)>> {
    (1..=MOST_LANES)
        .flat_map(|left| (left.max(2) - 1..=left).map(move |right| gram_variant(left, right).to_vec()))
        .collect()
}

fn slab_variants() -> Vec<Vec<(&'static str, f64)>> {
    (1..=MOST_LANES).map(|lanes| slab_variant(lanes).to_vec()).collect()
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

kernels! {
    /// Tiles of X'X and X'AX by chunks of rows.
    Gram = ["eigsh/gram.wgsl"] variants gram_variants {
        uniform params: Tiles,
        read chunks: [u32; 4],
        read left: [f32; 4],
        read right: [f32; 4],
        read image: [f32; 4],
        write sums: [f32; 4],
    }
    /// Sums over ranges of slots.
    Reduce = ["eigsh/reduce.wgsl"] variants one_variant {
        uniform params: Ranges,
        read ranges: [u32; 4],
        read sums: [f32; 4],
        write totals: [f32; 4],
    }
    /// Rows of a slab beside those of others.
    Panel = ["eigsh/panel.wgsl"] variants one_variant {
        uniform params: Placed,
        read slab: [f32; 4],
        write panel: [f32; 4],
    }
    /// X Q, and the squares of its residuals by chunks of rows.
    Rotate = ["eigsh/rotate.wgsl"] variants slab_variants {
        uniform params: Turned,
        read chunks: [u32; 4],
        read q: [f32; 4],
        read values: [f32; 4],
        read x: [f32; 4],
        read image: [f32; 4],
        write slab: [f32; 4],
        write squares: [f32; 4],
    }
    /// What is known of the null space taken out of a slab.
    Deflate = ["eigsh/deflate.wgsl"] variants slab_variants {
        uniform params: Part,
        read chunks: [u32; 4],
        read labels: u32,
        read values: f32,
        read coefficients: [f32; 4],
        read along: [f32; 4],
        write x: [f32; 4],
    }
}

mirrors! {
    NONE = crate::ops::sparse::NONE,
    ALONE = ALONE,
}
