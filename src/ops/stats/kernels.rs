//! The kernels of statistics.

use crate::device::{Budget, kernels, mirrors, uniform};

/// The number of series that a workgroup of [`Leaf`] reduces, which is also the number of columns that a workgroup of
/// [`Means`] reduces.
pub(super) const GROUPS: usize = 8;
/// The number of rows in a leaf of a covariance.
pub(super) const LEAF_ROWS: usize = 1024;
/// The exponent that marks a column whose elements all equal its shift, so that all distances are 0.
pub(super) const NONE: i32 = -127;
/// The number of elements of a series that one workgroup counts.
pub(super) const PART: usize = 16384;
/// The number of bins that are counted in one pass over the elements.
pub(super) const WINDOW: usize = 2048;
/// The number of ranks for which a workgroup of [`Digits`] counts in one pass over its elements.
pub(super) const RANKS: usize = 8;

uniform! {
    /// The number of series, the layout of the series, and the range of rows from which the sample is taken.
    pub(super) struct Sample { series: u32, len: u32, inner: u32, begin: u32, end: u32 }
}

uniform! {
    /// The index of the first workgroup of a dispatch, the number of series, the layout of the series, and the range of
    /// rows.
    pub(super) struct Rows { first: u32, series: u32, len: u32, inner: u32, begin: u32, end: u32 }
}

uniform! {
    /// The number of series, and the number of nodes in each series.
    pub(super) struct Nodes { series: u32, nodes: u32 }
}

uniform! {
    /// The number of series, the number that is subtracted from the count of elements in a variance, and the bits of
    /// NaN and infinity.
    pub(super) struct Ends { series: u32, ddof: u32, nan: u32, infinity: u32 }
}

uniform! {
    /// The number of series, the layout of the series, the range of rows to copy, the capacity of the tail for each
    /// series, and the number of elements that the tail already holds for each series.
    pub(super) struct Appending { series: u32, len: u32, inner: u32, begin: u32, count: u32, room: u32, held: u32 }
}

uniform! {
    /// The index of the first workgroup of a dispatch, the number of series, the layout of the series, the number of
    /// bins, and the first bin of a pass.
    pub(super) struct Binning { first: u32, series: u32, len: u32, inner: u32, bins: u32, window: u32 }
}

uniform! {
    /// The number of totals, and the number of parts that are added up for each total.
    pub(super) struct Sum { size: u32, parts: u32 }
}

uniform! {
    /// The index of the first workgroup of a dispatch, the number of series, the index of the first series, the layout
    /// of the series, the number of ranks for each series, and the position of the digit's lowest bit in a key.
    pub(super) struct Digiting {
        first: u32, series: u32, from_series: u32, len: u32, inner: u32, ranks: u32, shift: u32,
    }
}

uniform! {
    /// The number of ranks of all series, and the position of the digit's lowest bit in a key.
    pub(super) struct Chosen { ranks: u32, shift: u32 }
}

uniform! {
    /// The number of series, the index of the first series, the number of quantiles for each series, the layout of the
    /// series, and the bits of NaN.
    pub(super) struct Interpolated { series: u32, from_series: u32, quantiles: u32, inner: u32, nan: u32 }
}

uniform! {
    /// The index of the first workgroup of a dispatch, the number of columns, the number of matrices, the length of a
    /// column, and the range of rows.
    pub(super) struct Columns { first: u32, cols: u32, matrices: u32, len: u32, begin: u32, end: u32 }
}

uniform! {
    /// The numbers of columns, matrices and nodes, and the numbers of rows of the first and of the second of two
    /// neighbors.
    pub(super) struct Joining { cols: u32, matrices: u32, nodes: u32, rows: f32, others: f32 }
}

uniform! {
    /// The numbers of columns and matrices, the bits of NaN, the divisor of the sums of products, and an exponent e.
    /// Covariances are in units of 4^e.
    pub(super) struct Ending { cols: u32, matrices: u32, nan: u32, divisor: f32, exponent: i32 }
}

/// The available tile sizes, as the number of invocations along one dimension of a tile. A tile has four columns for
/// each of these invocations.
pub(super) const SIDES: [usize; 3] = [4, 8, 16];

/// Returns the overrides of [`Join`]. The first override is also the override of [`JoinMeans`].
pub(super) fn join_variant(pair: bool, side: usize) -> [(&'static str, f64); 2] {
    [("PAIR", f64::from(u8::from(pair))), ("SIDE", super::count(side))]
}

fn side_variants() -> Vec<Vec<(&'static str, f64)>> {
    SIDES.map(|side| vec![("SIDE", super::count(side))]).into()
}

fn join_variants() -> Vec<Vec<(&'static str, f64)>> {
    SIDES.iter().flat_map(|&side| [false, true].map(|pair| join_variant(pair, side).to_vec())).collect()
}

fn covariance_variants() -> Vec<Vec<(&'static str, f64)>> {
    let both = |side| [0.0, 1.0].map(|on| vec![("CORRELATION", on), ("SIDE", super::count(side))]);
    SIDES.into_iter().flat_map(both).collect()
}

/// Returns the overrides of [`Leaf`].
pub(super) fn leaf_variant(across: bool, omit: bool) -> [(&'static str, f64); 2] {
    [("ACROSS", f64::from(u8::from(across))), ("OMIT", f64::from(u8::from(omit)))]
}

/// Returns the overrides of [`Merge`].
pub(super) fn merge_variant(pair: bool) -> [(&'static str, f64); 1] {
    [("PAIR", f64::from(u8::from(pair)))]
}

/// Returns the overrides of [`Interpolate`].
pub(super) fn interpolate_variant(guarded: bool) -> [(&'static str, f64); 1] {
    [("GUARDED", f64::from(u8::from(guarded)))]
}

fn interpolate_variants() -> Vec<Vec<(&'static str, f64)>> {
    [false, true].map(|guarded| interpolate_variant(guarded).to_vec()).into()
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

fn leaf_variants() -> Vec<Vec<(&'static str, f64)>> {
    (0..4).map(|bits| leaf_variant(bits & 1 != 0, bits & 2 != 0).to_vec()).collect()
}

fn merge_variants() -> Vec<Vec<(&'static str, f64)>> {
    [false, true].map(|pair| merge_variant(pair).to_vec()).into()
}

kernels! {
    /// For every series, a value near its elements.
    Shift = ["shared/real.wgsl", "stats/shift.wgsl"] variants one_variant {
        uniform params: Sample,
        read x: f32,
        write shifts: f32,
    }
    /// The moments of leaves.
    Leaf = ["shared/real.wgsl", "stats/node.wgsl", "stats/leaf.wgsl"] variants leaf_variants {
        uniform params: Rows,
        read x: f32,
        read shifts: f32,
        write nodes: [u32; 4],
    }
    /// The pairwise merge of nodes.
    Merge = ["shared/real.wgsl", "stats/node.wgsl", "stats/merge.wgsl"] variants merge_variants {
        uniform params: Nodes,
        read left: [u32; 4],
        read right: [u32; 4],
        write out: [u32; 4],
    }
    /// The statistics that are computed from moments.
    Finish = ["shared/real.wgsl", "stats/node.wgsl", "stats/finish.wgsl"] variants one_variant {
        uniform params: Ends,
        read nodes: [u32; 4],
        write mean: f32,
        write variance: f32,
        write least: f32,
        write most: f32,
        write skewness: f32,
        write kurtosis: f32,
        write counts: u32,
    }
    /// The copy of rows to the tail of a stream.
    Append = ["stats/append.wgsl"] variants one_variant {
        uniform params: Appending,
        read x: f32,
        write tail: f32,
    }
    /// The number of elements in each bin.
    Bins = ["shared/real.wgsl", "shared/keys.wgsl", "stats/bins.wgsl"] variants one_variant {
        uniform params: Binning,
        read x: f32,
        read ends: u32,
        write counts: u32,
    }
    /// The sums of the counts of all parts.
    Totals = ["stats/totals.wgsl"] variants one_variant {
        uniform params: Sum,
        read counts: u32,
        write totals: u32,
    }
    /// The number of elements for each value of a digit.
    Digits = ["shared/real.wgsl", "shared/keys.wgsl", "stats/digits.wgsl"] variants one_variant {
        uniform params: Digiting,
        read x: f32,
        read sought: [u32; 4],
        write counts: u32,
    }
    /// The digit of the key at each rank.
    RadixSelect = ["stats/radix_select.wgsl"] variants one_variant {
        uniform params: Chosen,
        read totals: u32,
        write sought: [u32; 4],
    }
    /// The interpolation of quantiles between neighboring elements.
    Interpolate = ["shared/real.wgsl", "shared/keys.wgsl", "stats/interpolate.wgsl"] variants interpolate_variants {
        uniform params: Interpolated,
        read sought: [u32; 4],
        write out: f32,
    }
    /// The means of leaves.
    Means = ["shared/real.wgsl", "stats/distance.wgsl", "stats/means.wgsl"] variants one_variant {
        uniform params: Columns,
        read x: f32,
        read shifts: f32,
        write means: f32,
    }
    /// For every leaf and every pair of columns, the sum of the products of the distances from the leaf's means.
    Gram = ["shared/real.wgsl", "stats/tiles.wgsl", "stats/distance.wgsl", "stats/gram.wgsl"] variants side_variants {
        budget Budget {
            registers: 72,
            instructions: 2100,
            occupancy: 40,
            because: "the sums are in the registers of an invocation, and the rows in workgroup memory",
        };
        uniform params: Columns,
        read x: f32,
        read shifts: f32,
        read means: f32,
        write products: [f32; 4],
    }
    /// The pairwise merge of sums of products.
    Join = ["shared/real.wgsl", "stats/tiles.wgsl", "stats/join.wgsl"] variants join_variants {
        uniform params: Joining,
        read left: [f32; 4],
        read right: [f32; 4],
        read left_means: f32,
        read right_means: f32,
        write out: [f32; 4],
    }
    /// The pairwise merge of the means of the nodes whose sums of products [`Join`] merges.
    JoinMeans = ["shared/real.wgsl", "stats/join_means.wgsl"] variants merge_variants {
        uniform params: Joining,
        read left: f32,
        read right: f32,
        write out: f32,
    }
    /// The covariances or correlations.
    Covariance = ["shared/real.wgsl", "stats/covariance.wgsl"] variants covariance_variants {
        uniform params: Ending,
        read products: f32,
        read means: f32,
        write out: f32,
    }
    /// The means of columns.
    ColumnMeans = ["shared/real.wgsl", "stats/column_means.wgsl"] variants one_variant {
        uniform params: Ending,
        read means: f32,
        read shifts: f32,
        write out: f32,
    }
}

mirrors! {
    LEAF = crate::ops::stats::LEAF,
    LEAF_ROWS = LEAF_ROWS,
    GROUPS = GROUPS,
    NONE = NONE,
    PART = PART,
    WINDOW = WINDOW,
    RANKS = RANKS,
}

#[cfg(test)]
mod tests {
    use super::SIDES;

    /// lavapipe silently ends the loops of an invocation after 65,535 iterations in total. The iterations are counted
    /// here as in the headers of the kernels.
    #[test]
    fn the_loops_of_every_kernel_fit_lavapipe() {
        const BUDGET: u64 = 65_535;
        // A binding of 128 MiB bounds the number of elements in an array. 65,535 workgroups of 64 invocations share the
        // elements.
        const NUMBERS: u64 = 1 << 25;
        let strided = |items: u64, each: u64| items.div_ceil(65_535 * 64) * (1 + each);
        let mut all = vec![
            ("shift", strided(NUMBERS, 64)),
            ("leaf", 2 * (8 + 8 * 16 + 5)),
            ("means", 2 * (32 + 5)),
            ("merge, finish, append, column_means, covariance, join_means", strided(NUMBERS, 0)),
            ("join", strided(NUMBERS / 4, 4)),
            ("radix_select", strided(NUMBERS / 4, 256)),
            ("interpolate", strided(NUMBERS, 0)),
            // A bin is found by bisection in at most 25 steps, because a binding holds at most 2^25 edges in f32.
            ("bins", 9 + 64 * (1 + 25) + 9),
            ("digits", 8 + 64 * (1 + 8) + 8),
        ];
        all.extend(SIDES.map(|side| ("gram", 64 * (1 + 16 + 64 / side as u64))));
        // All counts are in one array, and the number of parts of a series is at most half of the loop budget.
        all.extend([1, 2, 8, 100, BUDGET / 2].map(|parts| ("totals", strided(NUMBERS / parts, parts))));
        for (kernel, loops) in all {
            assert!(loops <= BUDGET, "{kernel}: {loops}");
        }
    }
}
