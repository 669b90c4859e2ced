//! The kernels of gradients.

use crate::device::{kernels, mirrors, uniform};

/// Invocations of a workgroup.
pub(super) const WIDTH: u32 = 64;

uniform! {
    /// The first value of a dispatch, the number of values of a matrix and of all matrices, whether they are singular
    /// values, and the tolerance relative to the norm.
    pub(super) struct Grouping { first: u32, n: u32, len: u32, singular: u32, tolerance: f32 }
}

uniform! {
    /// The first column of a dispatch, the number of columns of a matrix, whether there are cotangents of vectors,
    /// whether the matrices are not square, and the Lorentzian width relative to the norm.
    pub(super) struct Columns { first: u32, n: u32, vectors: u32, rectangular: u32, width: f32 }
}

uniform! {
    /// The first vector of a dispatch, the number of vectors of a matrix, the number of elements of a vector, and the
    /// distance between two of them.
    pub(super) struct Sides { first: u32, n: u32, len: u32, step: u32 }
}

uniform! {
    /// The first element of a dispatch, the order of a matrix, the number of all elements, and the factors of the
    /// elements above and below the diagonal.
    pub(super) struct Triangles { first: u32, n: u32, len: u32, above: f32, below: f32 }
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

/// Returns the overrides of [`Core`] and [`Skew`].
pub(super) fn variant_of(singular: bool) -> [(&'static str, f64); 1] {
    [("SINGULAR", f64::from(u8::from(singular)))]
}

fn variants() -> Vec<Vec<(&'static str, f64)>> {
    [false, true].iter().map(|&singular| variant_of(singular).to_vec()).collect()
}

kernels! {
    /// Finds the tie groups of eigenvalues or singular values.
    Groups = ["gradient/groups.wgsl"] variants one_variant {
        uniform params: Grouping,
        read values: f32,
        write groups: u32,
    }
    /// Divides by the differences of eigenvalues or singular values.
    Core = ["shared/real.wgsl", "gradient/core.wgsl"] variants variants {
        uniform params: Columns,
        read values: f32,
        read values_bar: f32,
        read groups: u32,
        read p: f32,
        read q: f32,
        write g: f32,
        write reports: [u32; 4],
    }
    /// Divides the part outside of the computed vectors by the singular values.
    Outer = ["shared/real.wgsl", "gradient/outer.wgsl"] variants one_variant {
        uniform params: Sides,
        read values: f32,
        read groups: u32,
        read outer: f32,
        write divided: f32,
        write reports: [u32; 2],
    }
    /// Makes skew matrices of triangles.
    Skew = ["gradient/skew.wgsl"] variants variants {
        uniform params: Triangles,
        read p: f32,
        write x: f32,
        write y: f32,
        write diagonal: f32,
    }
}

mirrors! {
    WIDTH = WIDTH,
}
