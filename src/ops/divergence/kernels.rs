//! The kernels that compare histograms.

use super::Divergence;
use crate::device::{kernels, mirrors, uniform};

uniform! {
    /// The number of bins, the range of bins of this dispatch (`begin` to `end`), the number of histograms, the index
    /// of the first workgroup, whether this range of bins is the first (`fresh`), whether it is the last (`last`), and
    /// whether histograms are normalized.
    pub(super) struct Sums {
        bins: u32, begin: u32, end: u32, count: u32, first: u32, fresh: u32, last: u32, normalize: u32,
    }
}

uniform! {
    /// The number of bins, the range of bins of this dispatch (`begin` to `end`), the number of pairs of histograms p
    /// and q, the index of the first workgroup, whether this range of bins is the first (`fresh`), whether it is the
    /// last (`last`), the number of consecutive pairs that share a q, and the parameters that turn a sum into a
    /// divergence.
    pub(super) struct Pairs {
        bins: u32, begin: u32, end: u32, count: u32, first: u32, fresh: u32, last: u32, share: u32, root: u32,
        factor: f32, smoothing: f32, spread: f32, unit: i32,
    }
}

uniform! {
    /// The number of bins, the range of bins of this dispatch (`begin` to `end`), the number of histograms, the number
    /// of tiles along one dimension, the index of the first workgroup, whether this range of bins is the first
    /// (`fresh`), whether it is the last (`last`), whether the divergence is symmetric, and the parameters that turn a
    /// sum into a divergence.
    pub(super) struct Tiles {
        bins: u32, begin: u32, end: u32, histograms: u32, tiles: u32, first: u32, fresh: u32, last: u32, symmetric: u32, root: u32,
        factor: f32, smoothing: f32, spread: f32, unit: i32,
    }
}

/// The values of KIND in term.wgsl: the terms that are summed.
const KULLBACK_LEIBLER: u32 = 0;
const JENSEN_SHANNON: u32 = 1;
const TOTAL_VARIATION: u32 = 2;
const CHI_SQUARE: u32 = 3;
const SYMMETRIC_CHI_SQUARE: u32 = 4;
const HELLINGER: u32 = 5;

/// The number of histograms along one dimension of a tile of [`Matrix`].
pub(super) const TILE: u32 = 16;
/// The number of invocations in a workgroup of [`Totals`] and [`Rows`].
pub(super) const WIDTH: u32 = 64;

/// Returns the number of invocations in the team that sums `bins` bins: one for every four bins, rounded up to a power
/// of two, but at most [`WIDTH`].
pub(super) fn team(bins: u32) -> u32 {
    bins.div_ceil(4).next_power_of_two().clamp(1, WIDTH)
}

/// Returns the overrides of [`Totals`].
pub(super) fn totals_variant(team: u32) -> [(&'static str, f64); 1] {
    [("TEAM", team.into())]
}

/// Returns the overrides of [`Rows`].
pub(super) fn rows_variant(kind: Divergence, team: u32) -> [(&'static str, f64); 2] {
    [("KIND", code(kind)), ("TEAM", team.into())]
}

/// Returns the overrides of [`Matrix`].
pub(super) fn matrix_variant(kind: Divergence) -> [(&'static str, f64); 1] {
    [("KIND", code(kind))]
}

/// Returns the value of KIND in term.wgsl.
fn code(kind: Divergence) -> f64 {
    f64::from(match kind {
        Divergence::KullbackLeibler => KULLBACK_LEIBLER,
        Divergence::JensenShannon | Divergence::JensenShannonDistance => JENSEN_SHANNON,
        Divergence::TotalVariation => TOTAL_VARIATION,
        Divergence::ChiSquare => CHI_SQUARE,
        Divergence::SymmetricChiSquare => SYMMETRIC_CHI_SQUARE,
        Divergence::Hellinger => HELLINGER,
    })
}

fn teams() -> impl Iterator<Item = u32> {
    (0..=WIDTH.ilog2()).map(|power| 1 << power)
}

fn totals_variants() -> Vec<Vec<(&'static str, f64)>> {
    teams().map(|team| totals_variant(team).to_vec()).collect()
}

/// Returns one divergence for each kind of sum. The Jensen-Shannon distance is left out, because it has the same sum as
/// the Jensen-Shannon divergence.
fn summed() -> impl Iterator<Item = Divergence> {
    Divergence::ALL.into_iter().filter(|&kind| kind != Divergence::JensenShannonDistance)
}

fn rows_variants() -> Vec<Vec<(&'static str, f64)>> {
    teams().flat_map(|team| summed().map(move |kind| rows_variant(kind, team).to_vec())).collect()
}

fn matrix_variants() -> Vec<Vec<(&'static str, f64)>> {
    summed().map(|kind| matrix_variant(kind).to_vec()).collect()
}

kernels! {
    /// The sums of histograms, and whether their entries are valid.
    Totals = ["divergence/scaled.wgsl", "divergence/totals.wgsl"] variants totals_variants {
        uniform params: Sums,
        read histograms: u32,
        write totals: [u32; 2],
    }
    /// The divergences of the histograms of one batch from the histograms of another batch. The order of the files
    /// matters: naga 30 requires that every named override precedes the first array whose length uses an override.
    Rows = ["divergence/scaled.wgsl", "divergence/term.wgsl", "divergence/result.wgsl", "divergence/rows.wgsl"] variants rows_variants {
        uniform params: Pairs,
        read p: u32,
        read q: u32,
        read p_totals: [u32; 2],
        read q_totals: [u32; 2],
        write divergences: u32,
    }
    /// The divergences of all pairs of histograms within an entry of a batch.
    Matrix = ["divergence/scaled.wgsl", "divergence/term.wgsl", "divergence/result.wgsl", "divergence/matrix.wgsl"] variants matrix_variants {
        uniform params: Tiles,
        read p: u32,
        read totals: [u32; 2],
        write divergences: u32,
    }
}

mirrors! {
    WIDTH = WIDTH,
    TILE = TILE,
    KULLBACK_LEIBLER = KULLBACK_LEIBLER,
    JENSEN_SHANNON = JENSEN_SHANNON,
    TOTAL_VARIATION = TOTAL_VARIATION,
    CHI_SQUARE = CHI_SQUARE,
    SYMMETRIC_CHI_SQUARE = SYMMETRIC_CHI_SQUARE,
    HELLINGER = HELLINGER,
}
