//! The kernels of sparse products.

use crate::device::{Budget, kernels, mirrors, uniform};

/// The number of elements in a block of the radix sort and of the prefix sums.
pub(super) const BLOCK: u32 = 1024;
/// The number of values that a digit of the radix sort can have.
pub(super) const VALUES: u32 = 16;

uniform! {
    /// The parameters of a step: the range of items (`first`, `end`), the index of the first coefficients, whether y is
    /// still undefined, the factor c, the block column at which the slab starts, and the end of the block's columns.
    pub(super) struct Steps {
        first: u32, end: u32, base: u32, fresh: u32, coupling: f32, column: u32, width: u32,
    }
}

uniform! {
    /// The range of items.
    pub(super) struct Items { first: u32, end: u32 }
}

uniform! {
    /// The first item of a dispatch.
    pub(super) struct First { first: u32 }
}

uniform! {
    /// The numbers of edges and nodes.
    pub(super) struct Edges { edges: u32, nodes: u32 }
}

uniform! {
    /// The first block, the numbers of blocks and entries, and the bit offset of the digit.
    pub(super) struct Digit { first: u32, blocks: u32, count: u32, shift: u32 }
}

uniform! {
    /// The first block, and the number of elements.
    pub(super) struct Blocks { first: u32, count: u32 }
}

uniform! {
    /// The number of elements.
    pub(super) struct Count { count: u32 }
}

uniform! {
    /// The numbers of entries and nodes.
    pub(super) struct Entries { count: u32, nodes: u32 }
}

uniform! {
    /// The number of nodes.
    pub(super) struct Nodes { nodes: u32 }
}

uniform! {
    /// The shape of a block (`rows`, `width`), a quarter of the number of columns of a slab (`lanes`), and the column
    /// of the block at which the slab starts (`first`).
    pub(super) struct Columns { rows: u32, width: u32, lanes: u32, first: u32 }
}

/// The maximum of `lanes`, a quarter of the number of columns of a slab.
pub(in crate::ops) const MOST_LANES: u32 = 8;

/// Returns the number of rows that a workgroup computes, with `lanes` invocations for each row. A workgroup then has
/// about 64 invocations.
pub(super) fn teams(lanes: u32) -> u32 {
    64 / lanes.max(1)
}

/// Returns the overrides of [`Step`] and [`Sums`].
pub(super) fn row_variant(lanes: u32, weighted: bool, scaled: bool) -> [(&'static str, f64); 4] {
    let flag = |is: bool| f64::from(u8::from(is));
    [("LANES", lanes.into()), ("TEAMS", teams(lanes).into()), ("WEIGHTED", flag(weighted)), ("SCALED", flag(scaled))]
}

/// Returns the overrides of [`Finish`].
pub(super) fn finish_variant(lanes: u32, scaled: bool) -> [(&'static str, f64); 2] {
    [("LANES", lanes.into()), ("SCALED", f64::from(u8::from(scaled)))]
}

/// Returns the overrides of [`Combine`].
pub(super) fn combine_variant(lanes: u32) -> [(&'static str, f64); 1] {
    [("LANES", lanes.into())]
}

/// Returns the overrides of [`Expand`] and [`Compact`].
pub(super) fn edge_variant(weighted: bool) -> [(&'static str, f64); 1] {
    [("WEIGHTED", f64::from(u8::from(weighted)))]
}

/// Returns the overrides of [`Scatter`].
pub(super) fn scatter_variant(three: bool) -> [(&'static str, f64); 1] {
    [("THREE", f64::from(u8::from(three)))]
}

/// Returns the overrides of [`Scales`].
pub(super) fn scales_variant(weighted: bool, normalized: bool, isolated: bool) -> [(&'static str, f64); 3] {
    let flag = |is: bool| f64::from(u8::from(is));
    [("WEIGHTED", flag(weighted)), ("NORMALIZED", flag(normalized)), ("ISOLATED", flag(isolated))]
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

fn edge_variants() -> Vec<Vec<(&'static str, f64)>> {
    [false, true].map(|weighted| edge_variant(weighted).to_vec()).into()
}

fn scatter_variants() -> Vec<Vec<(&'static str, f64)>> {
    [false, true].map(|three| scatter_variant(three).to_vec()).into()
}

fn scales_variants() -> Vec<Vec<(&'static str, f64)>> {
    (0..8).map(|bits| scales_variant(bits & 1 != 0, bits & 2 != 0, bits & 4 != 0).to_vec()).collect()
}

fn row_variants() -> Vec<Vec<(&'static str, f64)>> {
    let of = |lanes| (0..4).map(move |bits| row_variant(lanes, bits & 1 != 0, bits & 2 != 0).to_vec());
    (1..=MOST_LANES).flat_map(of).collect()
}

fn finish_variants() -> Vec<Vec<(&'static str, f64)>> {
    (1..=MOST_LANES).flat_map(|lanes| [false, true].map(|scaled| finish_variant(lanes, scaled).to_vec())).collect()
}

fn combine_variants() -> Vec<Vec<(&'static str, f64)>> {
    (1..=MOST_LANES).map(|lanes| combine_variant(lanes).to_vec()).collect()
}

kernels! {
    /// Computes a step of a recurrence for the rows that are not cut.
    Step = ["sparse/rows.wgsl", "sparse/advance.wgsl", "sparse/step.wgsl"] variants row_variants {
        uniform params: Steps,
        read items: [u32; 4],
        read columns: u32,
        read weights: f32,
        read diagonal: f32,
        read scale: f32,
        read coefficients: [f32; 4],
        read x: [f32; 4],
        write y: [f32; 4],
    }
    /// Sums over rows, or over segments of long rows.
    Sums = ["sparse/rows.wgsl", "sparse/sums.wgsl"] variants row_variants {
        uniform params: Items,
        read items: [u32; 4],
        read columns: u32,
        read weights: f32,
        read scale: f32,
        read x: [f32; 4],
        write sums: [f32; 4],
    }
    /// Computes a step of a recurrence for the long rows. (naga 30 requires that all named overrides precede the first
    /// array whose length depends on an override.)
    Finish = ["sparse/finish.wgsl", "sparse/advance.wgsl", "sparse/shares.wgsl"] variants finish_variants {
        uniform params: Steps,
        read items: [u32; 4],
        read sums: [f32; 4],
        read diagonal: f32,
        read scale: f32,
        read coefficients: [f32; 4],
        read x: [f32; 4],
        write y: [f32; 4],
    }
    /// Adds the segment sums of long rows.
    Combine = ["sparse/shares.wgsl", "sparse/combine.wgsl"] variants combine_variants {
        uniform params: First,
        read items: [u32; 4],
        read sums: [f32; 4],
        write y: [f32; 4],
    }
    /// Copies columns of a block into a slab.
    Pack = ["sparse/pack.wgsl"] variants one_variant {
        uniform params: Columns,
        read block: f32,
        write slab: [f32; 4],
    }
    /// Copies a slab into columns of a block.
    Unpack = ["sparse/unpack.wgsl"] variants one_variant {
        uniform params: Columns,
        read slab: [f32; 4],
        write block: f32,
    }
    /// Writes both entries of every edge.
    Expand = ["sparse/expand.wgsl"] variants edge_variants {
        uniform params: Edges,
        read sources: u32,
        read targets: u32,
        read given: f32,
        write rows: u32,
        write columns: u32,
        write weights: u32,
    }
    /// Counts how often each value of a digit occurs in each block.
    Histogram = ["sparse/blocks.wgsl", "sparse/digits.wgsl", "sparse/histogram.wgsl"] variants one_variant {
        budget Budget {
            registers: 72,
            occupancy: 40,
            because: "the counts of a block are in workgroup memory",
            ..Budget::USUAL
        };
        uniform params: Digit,
        read keys: u32,
        write counts: u32,
    }
    /// Moves every entry to its position in the order of one digit.
    Scatter = ["sparse/blocks.wgsl", "sparse/digits.wgsl", "sparse/scatter.wgsl"] variants scatter_variants {
        budget Budget { occupancy: 40, because: "the counts of a block are in workgroup memory", ..Budget::USUAL };
        uniform params: Digit,
        read starts: u32,
        read keys: u32,
        read others: u32,
        read thirds: u32,
        write to_keys: u32,
        write to_others: u32,
        write to_thirds: u32,
    }
    /// Computes prefix sums within blocks.
    Scan = ["sparse/blocks.wgsl", "sparse/scan.wgsl"] variants one_variant {
        uniform params: Blocks,
        write values: u32,
        write totals: u32,
    }
    /// Adds the sum of all earlier blocks to each element.
    Raise = ["sparse/blocks.wgsl", "sparse/raise.wgsl"] variants one_variant {
        uniform params: Count,
        read totals: u32,
        write values: u32,
    }
    /// Marks the first of all entries that share both their row and their column.
    Mark = ["sparse/mark.wgsl"] variants one_variant {
        uniform params: Entries,
        read rows: u32,
        read columns: u32,
        write places: u32,
    }
    /// Moves the marked entries together.
    Compact = ["sparse/compact.wgsl"] variants edge_variants {
        uniform params: Count,
        read columns: u32,
        read weights: u32,
        read places: u32,
        write to_columns: u32,
        write to_weights: f32,
    }
    /// Finds the first entry of each row.
    Bounds = ["sparse/bounds.wgsl"] variants one_variant {
        uniform params: Entries,
        read rows: u32,
        read places: u32,
        write offsets: u32,
    }
    /// Computes the diagonals d and S of a Laplacian.
    Scales = ["shared/real.wgsl", "sparse/scales.wgsl"] variants scales_variants {
        uniform params: Nodes,
        read offsets: u32,
        read degrees: [f32; 4],
        write diagonal: f32,
        write scale: f32,
    }
}

mirrors! {
    BLOCK = BLOCK,
    VALUES = VALUES,
}
