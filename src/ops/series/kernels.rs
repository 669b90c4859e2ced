//! The kernels that compute the parts of measures. A workgroup computes a sample.

use crate::device::{Budget, kernels, mirrors, uniform};

uniform! {
    /// The index of the first sample, the numbers in a sample, and whether the distances from the first number are
    /// written.
    pub(super) struct Digesting { first: u32, n: u32, apart: u32 }
}

uniform! {
    /// The index of the first sample, the numbers in a sample, the place of the parts in a row of all parts, the length
    /// of a row, the support of a peak, the number of lags, and whether the first lag without correlation is wanted.
    pub(super) struct Ordering { first: u32, n: u32, offset: u32, stride: u32, support: u32, lags: u32, first_zero: u32 }
}

uniform! {
    /// The index of the first sample, the numbers in a sample, the power of two that sorting needs, the place of the
    /// parts in a row of all parts, the length of a row, the number of places, and whether the median absolute
    /// deviation is wanted.
    pub(super) struct Ranking { first: u32, n: u32, size: u32, offset: u32, stride: u32, places: u32, deviation: u32 }
}

uniform! {
    /// The index of the first sample, the numbers in a sample, the place of the parts in a row of all parts, the length
    /// of a row, the number of codes, whether the edges are given, where patterns begin, and their numbers and
    /// distances.
    pub(super) struct Counting {
        first: u32, n: u32, offset: u32, stride: u32, codes: u32, given: u32, places: u32, order: u32, delay: u32,
    }
}

uniform! {
    /// The index of the first sample, the numbers in a sample, the place of the parts in a row of all parts, the length
    /// of a row, the frequencies of a transform and how many of them are not seen, the numbers of greatest powers and
    /// of bands, the places of these and of all powers among the parts (0 if they are not wanted), the number of
    /// frequencies that count, and the parameters of the measure.
    pub(super) struct Describing {
        first: u32, n: u32, offset: u32, stride: u32,
        bins: u32, skipped: u32, top: u32, top_at: u32, bands: u32, bands_at: u32, powers_at: u32,
        count: f32, epsilon: f32, rolloff: f32,
    }
}

uniform! {
    /// The index of the first sample, the rows and columns of a sample, the place of the parts in a row of all parts,
    /// and the length of a row.
    pub(super) struct Adding { first: u32, rows: u32, columns: u32, offset: u32, stride: u32 }
}

uniform! {
    /// The index of the first sample, the numbers in a sample, the place of the parts in a row of all parts, the length
    /// of a row, the strings in a sample, the distance from one to the next, the bits of each that count, and the
    /// places of positions and pairs among the parts (0 if they are not wanted).
    pub(super) struct Stringing {
        first: u32, n: u32, offset: u32, stride: u32,
        strings: u32, apart: u32, length: u32, positions_at: u32, pairs_at: u32,
    }
}

/// The values of a sample that [`Digest`] writes.
pub(super) const RECORD: usize = 12;
/// The most codes that [`Counts`] counts.
pub(super) const CODES: usize = 1024;
/// The invocations of a workgroup, and the most numbers of a sample. All arrays in workgroup memory together take at
/// most 13 KiB of the 16 KiB that every adapter has.
const SIZES: [(u32, usize); 2] = [(64, 512), (256, 2048)];

/// Returns the most numbers of a sample.
pub(super) fn longest() -> usize {
    SIZES[1].1
}

fn size(n: usize) -> (u32, usize) {
    SIZES[usize::from(n > SIZES[0].1)]
}

/// Returns the overrides of kernels that keep no sample in workgroup memory.
pub(super) fn width(n: usize) -> [(&'static str, f64); 1] {
    [("WIDTH", size(n).0.into())]
}

/// Returns the overrides of kernels that keep a sample of n numbers in workgroup memory.
pub(super) fn capacity(n: usize) -> [(&'static str, f64); 2] {
    let (width, capacity) = size(n);
    [("WIDTH", width.into()), ("CAPACITY", capacity as f64)]
}

/// Returns the overrides of [`Counts`], which counts patterns or bins.
pub(super) fn counts(n: usize, patterns: bool) -> [(&'static str, f64); 3] {
    let [width, capacity] = capacity(n);
    [width, capacity, ("PATTERNS", f64::from(u8::from(patterns)))]
}

fn lengths() -> impl Iterator<Item = usize> {
    SIZES.iter().map(|&(_, longest)| longest)
}

fn widths() -> Vec<Vec<(&'static str, f64)>> {
    lengths().map(|n| width(n).to_vec()).collect()
}

fn capacities() -> Vec<Vec<(&'static str, f64)>> {
    lengths().map(|n| capacity(n).to_vec()).collect()
}

fn countings() -> Vec<Vec<(&'static str, f64)>> {
    lengths().flat_map(|n| [false, true].map(|patterns| counts(n, patterns).to_vec())).collect()
}

kernels! {
    /// The scaled numbers of samples, and sums of them.
    Digest = ["shared/real.wgsl", "series/reduce.wgsl", "series/digest.wgsl"] variants widths {
        uniform params: Digesting,
        read bits: u32,
        write scaled: f32,
        write distances: f32,
        write records: f32,
    }
    /// What depends on the order of numbers.
    Order = ["series/reduce.wgsl", "series/load.wgsl", "series/order.wgsl"] variants capacities {
        budget Budget { instructions: 2_100, ..Budget::USUAL };
        uniform params: Ordering,
        read scaled: f32,
        read records: f32,
        read lags: u32,
        write parts: f32,
    }
    /// Numbers at places in ascending order.
    Ranks = ["series/load.wgsl", "series/ranks.wgsl"] variants capacities {
        uniform params: Ranking,
        read scaled: f32,
        read places: u32,
        write parts: f32,
    }
    /// Counts of bins or patterns.
    Counts = ["series/load.wgsl", "series/counts.wgsl"] variants countings {
        budget Budget { occupancy: 30, because: "numbers and counts fill workgroup memory", ..Budget::USUAL };
        uniform params: Counting,
        read numbers: f32,
        read edges: f32,
        write parts: f32,
    }
    /// What describes spectra.
    Spectra = ["series/reduce.wgsl", "series/load.wgsl", "series/spectrum.wgsl"] variants capacities {
        budget Budget { instructions: 1_900, ..Budget::USUAL };
        uniform params: Describing,
        read transformed: [f32; 2],
        read records: f32,
        read places: [f32; 4],
        write parts: f32,
    }
    /// The greatest sums of magnitudes over columns and rows.
    Lines = ["series/reduce.wgsl", "series/lines.wgsl"] variants widths {
        uniform params: Adding,
        read scaled: f32,
        write parts: f32,
    }
    /// Counts of strings of bits.
    Strings = ["series/reduce.wgsl", "series/load.wgsl", "series/strings.wgsl"] variants capacities {
        uniform params: Stringing,
        read numbers: u32,
        write parts: f32,
    }
}

mirrors! {
    RECORD = RECORD,
    CODES = CODES,
    ORDER_PARTS = crate::ops::series::order::PARTS,
}
