//! The kernels of sparse products.

use crate::device::{kernels, uniform};

uniform! {
    /// Items, the step's coefficients, whether y holds nothing yet, c, and the columns that take part.
    pub(super) struct Steps {
        first: u32, end: u32, base: u32, fresh: u32, coupling: f32, begins: u32, ends: u32,
    }
}

uniform! {
    /// Items.
    pub(super) struct Items { first: u32, end: u32 }
}

uniform! {
    /// The first item of a dispatch.
    pub(super) struct First { first: u32 }
}

/// The most vectors of four columns in a row of a slab.
pub(in crate::ops) const MOST_LANES: u32 = 8;

/// Rows that a workgroup takes, so that it has about 64 invocations.
pub(super) fn teams(lanes: u32) -> u32 {
    64 / lanes.max(1)
}

/// The overrides of [`Sums`].
pub(super) fn row_variant(lanes: u32, weighted: bool, scaled: bool) -> [(&'static str, f64); 4] {
    let flag = |is: bool| f64::from(u8::from(is));
    [("LANES", lanes.into()), ("TEAMS", teams(lanes).into()), ("WEIGHTED", flag(weighted)), ("SCALED", flag(scaled))]
}

/// The overrides of [`Finish`].
pub(super) fn finish_variant(lanes: u32, scaled: bool) -> [(&'static str, f64); 2] {
    [("LANES", lanes.into()), ("SCALED", f64::from(u8::from(scaled)))]
}

/// The overrides of [`Combine`].
pub(super) fn combine_variant(lanes: u32) -> [(&'static str, f64); 1] {
    [("LANES", lanes.into())]
}

#[cfg(test)]
fn row_variants() -> Vec<Vec<(&'static str, f64)>> {
    let of = |lanes| (0..4).map(move |bits| row_variant(lanes, bits & 1 != 0, bits & 2 != 0).to_vec());
    (1..=MOST_LANES).flat_map(of).collect()
}

#[cfg(test)]
fn finish_variants() -> Vec<Vec<(&'static str, f64)>> {
    (1..=MOST_LANES).flat_map(|lanes| [false, true].map(|scaled| finish_variant(lanes, scaled).to_vec())).collect()
}

#[cfg(test)]
fn combine_variants() -> Vec<Vec<(&'static str, f64)>> {
    (1..=MOST_LANES).map(|lanes| combine_variant(lanes).to_vec()).collect()
}

kernels! {
    /// A step of a recurrence at short rows.
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
    /// Sums over rows, or over segments of long ones.
    Sums = ["sparse/rows.wgsl", "sparse/sums.wgsl"] variants row_variants {
        uniform params: Items,
        read items: [u32; 4],
        read columns: u32,
        read weights: f32,
        read scale: f32,
        read x: [f32; 4],
        write sums: [f32; 4],
    }
    /// A step of a recurrence at long rows. (naga 30 wants every named override before the first array whose length has one.)
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
    /// Sums over long rows.
    Combine = ["sparse/shares.wgsl", "sparse/combine.wgsl"] variants combine_variants {
        uniform params: First,
        read items: [u32; 4],
        read sums: [f32; 4],
        write y: [f32; 4],
    }
}
