//! The kernels of blocks of vectors.

use crate::device::{kernels, mirrors, uniform};
use crate::ops::sparse::gpu::MOST_LANES;

/// The label of a row that is a component by itself: vectors orthogonal to its unit vector are 0 there.
pub(super) const ALONE: u32 = u32::MAX - 1;

uniform! {
    /// The first chunk of a dispatch, and the chunk whose sums start the buffer.
    pub(super) struct Tiles { first: u32, base: u32 }
}

uniform! {
    /// The outputs, the elements of a slot, and the slot that starts the buffer.
    pub(super) struct Ranges { first: u32, outputs: u32, size: u32, base: u32 }
}

uniform! {
    /// The rows of a slab and their position in a panel, in vectors of four.
    pub(super) struct Placed { row: u32, rows: u32, lanes: u32, total: u32, offset: u32 }
}

uniform! {
    /// The chunks, the panel's first row, and the slab's position in it, in vectors of four.
    pub(super) struct Turned { first: u32, base: u32, row: u32, total: u32, offset: u32 }
}

uniform! {
    /// The first chunk, and which columns take part: the coefficients, the slab's first column, the block's end.
    pub(super) struct Part { first: u32, base: u32, column: u32, width: u32 }
}

/// Returns the overrides of [`Gram`].
pub(super) fn gram_variant(left: u32, right: u32) -> [(&'static str, f64); 2] {
    [("LEFT", left.into()), ("RIGHT", right.into())]
}

/// Returns the overrides of [`Rotate`] and [`Deflate`].
pub(super) fn slab_variant(lanes: u32) -> [(&'static str, f64); 1] {
    [("LANES", lanes.into())]
}

/// Returns the variants for two slabs of one block: they differ by at most one vector, and the wider ones come
/// first.
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
    /// Computes tiles of X'X and X'AX, summed over chunks of rows.
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
    /// Copies rows of a slab into a panel, next to those of other slabs.
    Panel = ["eigsh/panel.wgsl"] variants one_variant {
        uniform params: Placed,
        read slab: [f32; 4],
        write panel: [f32; 4],
    }
    /// Computes X Q, and the squares of its residuals summed over chunks of rows.
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
    /// Projects the known null space out of a slab.
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
