//! The kernels of the Fourier transforms.

use super::plan::{LONGEST_PASS, Stages};
use crate::device::{kernels, uniform};

uniform! {
    /// One pass of transforms: what lies where, and what is done with it on the way in and out.
    #[derive(Default)]
    pub(super) struct Pass {
        first: u32, count: u32, length: u32, group: u32,
        radices: u32, more_radices: u32, stages: u32,
        digit_0: u32, digit_1: u32,
        in_0: u32, in_1: u32, in_2: u32, in_step: u32,
        out_0: u32, out_1: u32, out_2: u32, out_step: u32,
        in_place_step: u32, in_place_digit: u32, out_place_step: u32, out_place_digit: u32,
        given: u32, kept: u32, in_stride: u32, out_stride: u32,
        whole: u32,
        twiddles: u32, chirp: u32, filtered: u32, roots: u32, folds: u32,
        flags: u32,
        scale: f32,
    }
}

uniform! {
    /// Elements of all spectra, what lies between two of one, pairs of a transform, and where the roots are.
    pub(super) struct Unfolding { count: u32, inner: u32, h: u32, folds: u32 }
}

uniform! {
    /// Elements of all spectra, what lies between two of one, elements of one, whether its reals were even in number, and the scale.
    pub(super) struct PowerOf { count: u32, inner: u32, bins: u32, even: u32, scale: f32 }
}

uniform! {
    /// The first workgroup, what lies between two elements, elements of a line before and after, and what is wanted of them.
    pub(super) struct BandsOf { first: u32, inner: u32, bins: u32, bands: u32, centroid: u32, unit: f32 }
}

/// Invocations that sum a band, by the most bins that they are for: the loop of each is bounded.
pub(super) const BAND_WIDTHS: [(usize, u32); 2] = [(1 << 16, 64), (usize::MAX, 256)];

/// What a pass does beside transforming; fft/pass.wgsl says more.
pub(super) mod flags {
    pub(in super::super) const CONJUGATE_IN: u32 = 1;
    pub(in super::super) const CONJUGATE_OUT: u32 = 2;
    pub(in super::super) const CHIRP_IN: u32 = 4;
    pub(in super::super) const CHIRP_OUT: u32 = 8;
    pub(in super::super) const FILTER: u32 = 16;
    pub(in super::super) const TURN: u32 = 32;
    pub(in super::super) const TWICE: u32 = 64;
    pub(in super::super) const FOLD: u32 = 128;
    pub(in super::super) const MIRROR: u32 = 256;
    pub(in super::super) const UNFOLD: u32 = 512;
    pub(in super::super) const PAIRS: u32 = 1024;
    pub(in super::super) const LOAD_ACROSS: u32 = 2048;
    pub(in super::super) const STORE_ACROSS: u32 = 4096;
    pub(in super::super) const SPLIT: u32 = 8192;
    pub(in super::super) const AFTER_TWO: u32 = 16384;
    pub(in super::super) const WINDOW: u32 = 32768;
}

/// Invocations of a workgroup.
pub(super) const WIDTH: usize = 256;
/// Points that an invocation may hold: up to 2048 a workgroup of powers of two, of any length, and up to 4096.
const SLOTS: [usize; 3] = [8, 16, 26];

/// The overrides of a pass of so many transforms a workgroup: how many points an invocation holds, and the radices where they are compiled
/// in. Both follow from the length alone, so that the same numbers go the same way however many there are.
pub(super) fn variant(stages: &Stages, group: usize) -> [(&'static str, f64); 2] {
    let points = stages.length() * group;
    let needed = stages.radices().iter().map(|radix| (points / radix).div_ceil(WIDTH) * radix).max().unwrap_or(1);
    let slots = SLOTS.into_iter().find(|&slots| slots >= needed).unwrap_or(SLOTS[2]);
    // A kernel for each power of two; one for all other lengths, which would be too many to compile.
    let compiled = stages.length().is_power_of_two() && stages.length() > 1;
    let radices = if compiled { digits(stages)[0] } else { 0 };
    [("SLOTS", count(slots)), ("RADICES", f64::from(radices))]
}

/// The radices as hexadecimal digits, eight a word.
pub(super) fn digits(stages: &Stages) -> [u32; 2] {
    let mut words = [0; 2];
    for (i, &radix) in stages.radices().iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, reason = "a radix is at most 13")]
        let digit = radix as u32;
        words[i / 8] |= digit << (4 * (i % 8));
    }
    words
}

#[expect(clippy::cast_precision_loss, reason = "at most 26")]
fn count(slots: usize) -> f64 {
    slots as f64
}

/// The most transforms that a workgroup takes: half of what it holds, or, where memory is read across transforms, four neighbours if
/// there is room.
pub(super) fn group(length: usize, across: bool, both_parts: bool) -> usize {
    let several = LONGEST_PASS / 2 / length;
    let room = if both_parts { several } else { LONGEST_PASS / length };
    several.max(if across { room.min(4) } else { 1 }).max(1)
}

#[cfg(test)]
fn pass_variants() -> Vec<Vec<(&'static str, f64)>> {
    use super::plan::{FftPlan, Method};
    let mut all = Vec::new();
    for length in (0..=12).map(|k| 1 << k).chain([3, 1000, 3000, 4095]) {
        let Ok(plan) = FftPlan::new(length) else { continue };
        let Method::OnePass(stages) = plan.method() else { continue };
        for across in [false, true] {
            let variant = variant(stages, group(length, across, false)).to_vec();
            if !all.contains(&variant) {
                all.push(variant);
            }
        }
    }
    all
}

#[cfg(test)]
fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

#[cfg(test)]
fn band_variants() -> Vec<Vec<(&'static str, f64)>> {
    BAND_WIDTHS.iter().map(|&(_, width)| vec![("WIDTH", f64::from(width))]).collect()
}

kernels! {
    /// Complex numbers to complex numbers.
    Transform = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/butterflies.wgsl", "fft/from_complex.wgsl", "fft/to_complex.wgsl"
    ] variants pass_variants {
        uniform params: Pass,
        read tables: [f32; 2],
        read input: [f32; 2],
        write output: [f32; 2],
    }
    /// Reals to complex numbers.
    FromReal = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/butterflies.wgsl", "fft/from_real.wgsl", "fft/to_complex.wgsl"
    ] variants pass_variants {
        uniform params: Pass,
        read tables: [f32; 2],
        read input: f32,
        read window: f32,
        write output: [f32; 2],
    }
    /// Complex numbers to reals.
    ToReal = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/butterflies.wgsl", "fft/from_complex.wgsl", "fft/to_real.wgsl"
    ] variants pass_variants {
        uniform params: Pass,
        read tables: [f32; 2],
        read input: [f32; 2],
        write output: f32,
    }
    /// Spectra of reals from transforms of their pairs.
    Unfold = ["fft/complex.wgsl", "fft/unfold.wgsl"] variants one_variant {
        uniform params: Unfolding,
        read tables: [f32; 2],
        read input: [f32; 2],
        write output: [f32; 2],
    }
    /// Power of spectra.
    Power = ["fft/power.wgsl"] variants one_variant {
        uniform params: PowerOf,
        read spectrum: [f32; 2],
        write power: f32,
    }
    /// Power by bands, and centroids.
    Bands = ["shared/real.wgsl", "fft/bands.wgsl"] variants band_variants {
        uniform params: BandsOf,
        read power: f32,
        read ranges: [u32; 2],
        write sums: f32,
    }
}
