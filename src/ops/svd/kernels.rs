//! The kernels of the singular value decomposition.

use crate::device::{Budget, kernels, mirrors, uniform};

uniform! {
    /// The index of the dispatch's first workgroup, counted over all dispatches of the same step, and the shape of the
    /// matrices that are solved.
    pub(super) struct Given { first: u32, long: u32, short: u32, wide: u32 }
}

uniform! {
    /// The index of the first workgroup as in `Given`, and the shape of the columns.
    pub(super) struct Tall { first: u32, long: u32, short: u32 }
}

uniform! {
    /// The index of the first workgroup as in `Given`, and the order of the square matrices.
    pub(super) struct Square { first: u32, short: u32 }
}

uniform! {
    /// The index of the first workgroup as in `Given`, the shape, the range of reflections, and whether only matrices
    /// with missing columns are processed.
    pub(super) struct Reflections { first: u32, long: u32, short: u32, begins: u32, ends: u32, optional: u32 }
}

uniform! {
    /// The fields of `Reflections`, the number of columns to form, and whether these reflections are the first to be
    /// applied.
    pub(super) struct Forming {
        first: u32, long: u32, short: u32, left: u32, begins: u32, ends: u32, begin: u32, optional: u32,
    }
}

uniform! {
    /// The index of the first workgroup as in `Given`, and the shape of a basis.
    pub(super) struct Basis { first: u32, long: u32, left: u32 }
}

uniform! {
    /// The index of the first workgroup as in `Given`, the shape, and the number of columns of P.
    pub(super) struct Residuals { first: u32, long: u32, short: u32, left: u32 }
}

uniform! {
    /// The index of the first matrix, the shape, and the numbers of tiles of the two Gram matrices.
    pub(super) struct Parts { first: u32, long: u32, short: u32, of_p: u32, of_v: u32 }
}

/// How kernels that work by columns use a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// The number of invocations per column.
    pub(super) lanes: u32,
    /// The number of columns per workgroup.
    pub(super) groups: u32,
}

/// The variants that ship, each with the maximum number of rows that it is used for. A variant is fastest if its number
/// of lanes is about the square root of the number of rows.
pub(super) const COLUMNS: [(u32, Columns); 3] = [
    (32, Columns { lanes: 4, groups: 8 }),
    (256, Columns { lanes: 16, groups: 8 }),
    (u32::MAX, Columns { lanes: 64, groups: 4 }),
];

impl Columns {
    /// Returns the variant for columns of `rows` rows.
    pub(super) fn of(rows: u32) -> Self {
        COLUMNS.into_iter().find(|(most, _)| rows <= *most).map_or(COLUMNS[2].1, |(_, columns)| columns)
    }

    pub(super) fn overrides(self) -> [(&'static str, f64); 2] {
        [("LANES", self.lanes.into()), ("GROUPS", self.groups.into())]
    }
}

/// The numbers of rows and columns of the square tiles that ship.
pub(super) const TILES: [u32; 2] = [4, 16];

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

fn column_variants() -> Vec<Vec<(&'static str, f64)>> {
    COLUMNS.iter().map(|(_, columns)| columns.overrides().to_vec()).collect()
}

fn tile_variants() -> Vec<Vec<(&'static str, f64)>> {
    TILES.iter().map(|&tile| vec![("TILE", f64::from(tile))]).collect()
}

kernels! {
    /// Computes the largest magnitudes of columns.
    Peaks = ["shared/real.wgsl", "svd/columns.wgsl", "svd/state.wgsl", "svd/peaks.wgsl"] variants column_variants {
        uniform params: Given,
        read a: f32,
        write peaks: u32,
    }
    /// Computes the scale of every matrix.
    Scale = ["shared/real.wgsl", "shared/state.wgsl", "svd/scale.wgsl"] variants one_variant {
        uniform params: Square,
        read peaks: u32,
        write state: [u32; 4],
    }
    /// Scales matrices, and transposes them if they are wide.
    Load = [
        "shared/real.wgsl", "shared/state.wgsl", "svd/columns.wgsl", "svd/state.wgsl", "svd/load.wgsl"
    ] variants column_variants {
        uniform params: Given,
        read a: f32,
        read state: [u32; 4],
        write b: f32,
        write sums: f32,
    }
    /// Computes the Householder QR of some columns.
    Panel = ["shared/real.wgsl", "svd/columns.wgsl", "svd/state.wgsl", "svd/panel.wgsl"] variants column_variants {
        uniform params: Reflections,
        read state: [u32; 4],
        write x: f32,
        write betas: f32,
        write taus: f32,
    }
    /// Applies the reflections of a panel to the columns after it.
    Update = ["svd/columns.wgsl", "svd/update.wgsl"] variants column_variants {
        uniform params: Reflections,
        read state: [u32; 4],
        read taus: f32,
        write x: f32,
    }
    /// Forms Q from reflections.
    FormQ = ["shared/real.wgsl", "shared/state.wgsl", "svd/columns.wgsl", "svd/form_q.wgsl"] variants column_variants {
        uniform params: Forming,
        read state: [u32; 4],
        read x: f32,
        read betas: f32,
        read taus: f32,
        write q: f32,
    }
    /// Copies the rows of R to columns.
    Triangle = ["svd/columns.wgsl", "svd/triangle.wgsl"] variants column_variants {
        uniform params: Tall,
        read x: f32,
        read betas: f32,
        write w: f32,
    }
    /// Computes the squared lengths of columns.
    Lengths = ["svd/columns.wgsl", "svd/lengths.wgsl"] variants column_variants {
        uniform params: Square,
        read w: f32,
        write lengths: f32,
    }
    /// Sorts columns and scales them to length 1.
    Order = ["shared/real.wgsl", "svd/columns.wgsl", "svd/state.wgsl", "svd/order.wgsl"] variants column_variants {
        uniform params: Square,
        read w: f32,
        read lengths: f32,
        write x: f32,
        write state: [u32; 4],
    }
    /// Computes B V.
    Multiply = ["shared/real.wgsl", "shared/state.wgsl", "svd/state.wgsl", "svd/multiply.wgsl"] variants tile_variants {
        uniform params: Given,
        read a: f32,
        read state: [u32; 4],
        read v: f32,
        write y: f32,
    }
    /// Computes departures from orthonormality.
    Gram = ["shared/real.wgsl", "svd/gram.wgsl"] variants tile_variants {
        budget Budget { registers: 96, ..Budget::USUAL };
        uniform params: Basis,
        read q: f32,
        write departures: f32,
    }
    /// Computes singular values and residuals.
    Residual = ["shared/real.wgsl", "shared/state.wgsl", "svd/columns.wgsl", "svd/residual.wgsl"] variants column_variants {
        uniform params: Residuals,
        read state: [u32; 4],
        read y: f32,
        read p: f32,
        read betas: f32,
        write values: f32,
        write residuals: f32,
    }
    /// Computes certificates.
    Finish = ["shared/real.wgsl", "shared/state.wgsl", "shared/certificate.wgsl", "svd/finish.wgsl"] variants one_variant {
        uniform params: Parts,
        read state: [u32; 4],
        read sums: f32,
        read residuals: f32,
        read departures_of_p: f32,
        read departures_of_v: f32,
        write certificates: [f32; 4],
    }
    /// Transposes matrices.
    Transpose = ["svd/transpose.wgsl"] variants tile_variants {
        uniform params: Basis,
        read q: f32,
        write out: f32,
    }
}

mirrors! {
    PROMISE = crate::ops::svd::PROMISE,
    EPSILON = f32::EPSILON,
    CONVERGED = crate::ops::Status::Converged as u8,
    NOT_CONVERGED = crate::ops::Status::NotConverged as u8,
    NON_FINITE = crate::ops::Status::NonFinite as u8,
}
