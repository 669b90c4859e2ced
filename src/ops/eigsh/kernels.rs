//! The kernels that operate on blocks of vectors.

use crate::device::{Budget, kernels, mirrors, uniform};
use crate::ops::sparse::gpu::MOST_LANES;

/// The label of a row that is a connected component by itself. Its null vector is 0 in all other rows, so blocks
/// that are orthogonal to the null space are 0 in that row.
pub(super) const ALONE: u32 = u32::MAX - 1;

uniform! {
    /// The first chunk of a dispatch (`first`), and the chunk whose sums are at the start of the buffer (`base`).
    pub(super) struct Tiles { first: u32, base: u32 }
}

uniform! {
    /// The first output and the number of outputs, the number of vec4s in a slot (`size`), and the slot that is at
    /// the start of the buffer (`base`). A slot holds the sums of one chunk or of one range.
    pub(super) struct Ranges { first: u32, outputs: u32, size: u32, base: u32 }
}

uniform! {
    /// The first row and the number of rows that are copied, the number of vec4s in a row of the slab (`lanes`) and
    /// of the panel (`total`), and the offset of the slab's vec4s in a row of the panel.
    pub(super) struct Placed { row: u32, rows: u32, lanes: u32, total: u32, offset: u32 }
}

uniform! {
    /// The first chunk of a dispatch (`first`), the chunk whose sums are at the start of the buffer (`base`), the
    /// panel's first row (`row`), the number of vec4s in a row of the panel (`total`), and the offset of the slab's
    /// vec4s in that row.
    pub(super) struct Turned { first: u32, base: u32, row: u32, total: u32, offset: u32 }
}

uniform! {
    /// The first chunk of a dispatch, and the values that determine which columns are deflated: the index of the
    /// first coefficients (`base`), the slab's first column (`column`), and the end of the block's columns
    /// (`width`).
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

/// Returns the variants for two slabs of one block. The first slab is as wide as the second, or wider by one vec4,
/// which holds four columns.
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
        budget Budget {
            registers: 96,
            occupancy: 30,
            because: "up to 64 sums are in the registers of an invocation",
            ..Budget::USUAL
        };
        uniform params: Tiles,
        read chunks: [u32; 4],
        read left: [f32; 4],
        read right: [f32; 4],
        read image: [f32; 4],
        write sums: [f32; 4],
    }
    /// Adds the sums that the slots of each range hold.
    Reduce = ["eigsh/reduce.wgsl"] variants one_variant {
        uniform params: Ranges,
        read ranges: [u32; 4],
        read sums: [f32; 4],
        write totals: [f32; 4],
    }
    /// Copies rows of a slab into a panel, next to the rows of other slabs.
    Panel = ["eigsh/panel.wgsl"] variants one_variant {
        uniform params: Placed,
        read slab: [f32; 4],
        write panel: [f32; 4],
    }
    /// Computes X Q and the squared residuals of its columns, summed over chunks of rows.
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
