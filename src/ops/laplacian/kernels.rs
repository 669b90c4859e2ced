//! The kernels that build Laplacians.

use crate::device::{kernels, mirrors, uniform};

/// These constants are the values of the override `KIND`, which selects the kind of Laplacian.
pub(super) const COMBINATORIAL: u8 = 0;
pub(super) const SYMMETRIC: u8 = 1;
pub(super) const RANDOM_WALK: u8 = 2;

uniform! {
    /// The number of nodes in the batch.
    pub(super) struct Nodes { nodes: u32 }
}

uniform! {
    /// The table index of this dispatch's first graph.
    pub(super) struct First { first: u32 }
}

/// Returns the overrides of [`Degree`].
pub(super) fn degree_variant(weighted: bool) -> [(&'static str, f64); 1] {
    [("WEIGHTED", f64::from(u8::from(weighted)))]
}

/// Returns the overrides of [`Assemble`].
pub(super) fn assemble_variant(kind: u8, weighted: bool, isolated: u8, unscaled: u8) -> [(&'static str, f64); 4] {
    [
        ("KIND", kind.into()),
        ("WEIGHTED", f64::from(u8::from(weighted))),
        ("ISOLATED", isolated.into()),
        ("UNSCALED", unscaled.into()),
    ]
}

fn degree_variants() -> Vec<Vec<(&'static str, f64)>> {
    [false, true].iter().map(|&weighted| degree_variant(weighted).to_vec()).collect()
}

fn assemble_variants() -> Vec<Vec<(&'static str, f64)>> {
    let mut all = Vec::new();
    for kind in [COMBINATORIAL, SYMMETRIC, RANDOM_WALK] {
        for bits in 0..8_u8 {
            all.push(assemble_variant(kind, bits & 1 != 0, bits >> 1 & 1, bits >> 2).to_vec());
        }
    }
    all
}

kernels! {
    /// Computes the degree of each node, which is the sum of the magnitudes of the weights in its row.
    Degree = ["laplacian/degree.wgsl"] variants degree_variants {
        uniform params: Nodes,
        read row_offsets: u32,
        read weights: f32,
        write degree: f32,
    }
    /// Builds dense Laplacians from the edges and the degrees.
    Assemble = ["shared/ragged.wgsl", "shared/real.wgsl", "laplacian/assemble.wgsl"] variants assemble_variants {
        uniform params: First,
        read table: [u32; 4],
        read row_offsets: u32,
        read columns: u32,
        read weights: f32,
        read degree: f32,
        write laplacian: f32,
    }
}

mirrors! {
    COMBINATORIAL = COMBINATORIAL,
    SYMMETRIC = SYMMETRIC,
    RANDOM_WALK = RANDOM_WALK,
}
