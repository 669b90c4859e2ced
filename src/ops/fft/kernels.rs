//! The kernels of the Fourier transforms.

use super::plan::Stages;
use crate::device::{Adapter, Budget, Overrides, kernels, mirrors, uniform};
use crate::forms::{FftForm, KernelForm};

/// Two passes need the n-th roots of unity, where n is the length of the line. Each of these roots is computed as a
/// product of two roots from a table: one of the first FINE roots, and one whose exponent is a multiple of FINE.
pub(super) const FINE: usize = 4096;

uniform! {
    /// The parameters of one pass: its layouts, and what is done to elements on input and output.
    #[derive(Default)]
    pub(super) struct Pass {
        first: u32, count: u32, length: u32, group: u32,
        radices: u32, stages: u32,
        digit_0: u32, digit_1: u32,
        in_0: u32, in_1: u32, in_2: u32, in_step: u32,
        out_0: u32, out_1: u32, out_2: u32, out_step: u32,
        in_place_step: u32, in_place_digit: u32, out_place_step: u32, out_place_digit: u32,
        given: u32, kept: u32, in_stride: u32, out_stride: u32,
        whole: u32,
        twiddles: u32, order: u32, chirp: u32, filtered: u32, roots: u32, folds: u32,
        scale: f32,
    }
}

uniform! {
    /// The number of elements of all spectra (`count`), the distance between adjacent elements of a spectrum (`inner`),
    /// the number of pairs in a transform (`h`), and the offset of the table of roots (`folds`).
    pub(super) struct Unfolding { count: u32, inner: u32, h: u32, folds: u32 }
}

uniform! {
    /// The number of elements of all spectra (`count`), the distance between adjacent elements of a spectrum (`inner`),
    /// the number of elements of a spectrum (`bins`), whether the signals have an even number of elements (`even`), and
    /// the scale.
    pub(super) struct PowerOf { count: u32, inner: u32, bins: u32, even: u32, scale: f32 }
}

uniform! {
    /// The first workgroup, the distance between adjacent elements of a line (`inner`), the number of elements of a
    /// line in the input (`bins`) and in the output (`bands`), whether the result is a centroid, and the distance
    /// between adjacent frequencies (`unit`).
    pub(super) struct BandsOf { first: u32, inner: u32, bins: u32, bands: u32, centroid: u32, unit: f32 }
}

uniform! {
    /// The number of elements of all lines of the result (`count`), the distance between adjacent elements of a line
    /// (`inner`), the numbers of elements of a line in the input (`given`) and in the result (`made`), whether the
    /// transform is one of sines, the factor of all elements, and that of those which the matrix has once.
    pub(super) struct Turning {
        count: u32, inner: u32, given: u32, made: u32, sine: u32, scale: f32, single: f32,
    }
}

/// Pairs (maximum number of bins in a band, number of invocations that sum the band). Longer bands have more
/// invocations, so that the loop of one invocation does not become too long.
pub(super) const BAND_WIDTHS: [(usize, u32); 2] = [(1 << 16, 64), (usize::MAX, 256)];

/// What a pass does in addition to transforming; fft/pass.wgsl describes each flag.
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
    pub(in super::super) const CONJUGATE_FIRST: u32 = 8192;
    pub(in super::super) const WINDOW: u32 = 16384;
    pub(in super::super) const PARTIAL_INPUT: u32 = 32768;
    pub(in super::super) const PARTIAL_OUTPUT: u32 = 65536;
}

/// The numbers of complex values that a workgroup holds: in the 16 KiB of workgroup memory that every adapter has, and
/// in 32 KiB.
const POINTS: [usize; 2] = [2048, 4096];

/// Returns the number of complex values that a workgroup of the adapter holds when it computes transforms of length
/// `n`.
pub(super) fn longest_pass(adapter: &Adapter, n: usize) -> usize {
    let room = adapter.limits.workgroup_storage as usize >= 8 * POINTS[1];
    POINTS[usize::from(room && adapter.prefers(KernelForm::Fft(FftForm::Long), n as f64))]
}

/// Returns the overrides of a pass. `group` is the result of [`Tuning::group`], even if there are fewer transforms. So
/// the overrides, and the bits of a transform, do not depend on the number of transforms.
pub(super) fn variant(stages: &Stages, group: usize, flags: u32, tuning: Tuning) -> [(&'static str, f64); 7] {
    let together = tuning.together(stages.length());
    let points = POINTS[usize::from(stages.length() * group * together > POINTS[0])];
    let [first, middle, last] = if tuning.known && flags & flags::TWICE == 0 { known(stages, flags) } else { [0; 3] };
    // On a GPU, each invocation has one butterfly of radix 16. Software adapters suspend each of their SIMD vectors at
    // every barrier, so narrow workgroups are faster on them. For example, 256 transforms of length 1024 with 8
    // invocations per workgroup take 22 ms on SwiftShader and 5.5 ms on lavapipe. With 256 invocations per workgroup
    // they take 517 ms on SwiftShader and 10 ms on lavapipe (2026-11-22).
    let width = if tuning.narrow { 8 } else { points / 16 };
    [
        ("WIDTH", count(width)),
        ("POINTS", count(points / together)),
        ("FIRST", count(first)),
        ("MIDDLE", count(middle)),
        ("LAST", count(last)),
        ("SPREAD", f64::from(u8::from(!tuning.narrow))),
        ("FLAGS", flags.into()),
    ]
}

/// The settings of an adapter. Together with the length and the kind of a transform, they select the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Whether the radices may be compiled into the kernel.
    pub(super) known: bool,
    /// Whether workgroups are narrow, which suits software adapters.
    pub(super) narrow: bool,
    /// The number of complex values that a workgroup holds.
    pub(super) longest: usize,
}

impl Tuning {
    /// Returns the settings of an adapter for transforms of length `n`, from the forms that it prefers.
    pub(super) fn on(adapter: &Adapter, n: usize) -> Self {
        let prefers = |form| adapter.prefers(KernelForm::Fft(form), n as f64);
        Self {
            known: prefers(FftForm::Known) && adapter.compiles_long_kernels(),
            narrow: adapter.software && prefers(FftForm::Narrow),
            longest: longest_pass(adapter, n),
        }
    }

    /// Returns the names of the forms that affect transforms of length `n`.
    pub(super) fn name(self, n: usize) -> &'static str {
        match (self.known && n.is_power_of_two(), self.longest > POINTS[0] && n > POINTS[0], self.narrow) {
            (false, false, false) => "general",
            (false, false, true) => "general, narrow",
            (false, true, false) => "general, long",
            (false, true, true) => "general, long, narrow",
            (true, false, false) => "known",
            (true, false, true) => "known, narrow",
            (true, true, false) => "known, long",
            (true, true, true) => "known, long, narrow",
        }
    }

    /// Returns the number of transforms whose points are interleaved. It is two on software adapters if there is room,
    /// because these adapters process four f32 in the time of one.
    pub(super) fn together(self, length: usize) -> usize {
        if self.narrow && 2 * length <= self.longest { 2 } else { 1 }
    }

    /// Returns the maximum number of transforms (or pairs of transforms) in a workgroup. This is the number that fits
    /// 16 KiB, but at least one. If consecutive invocations access adjacent transforms (`across`), the number is at
    /// least four, unless the workgroup memory of the adapter holds fewer than four.
    pub(super) fn group(self, length: usize, across: bool) -> usize {
        let length = length * self.together(length);
        let several = POINTS[0] / length;
        several.max(if across { (self.longest / length).min(4) } else { 1 }).max(1)
    }
}

/// Returns the radices of the first, middle and last stage if they are compiled into the kernel, which is possible if
/// the length is a power of two. Otherwise returns zeros. Lengths that are not powers of two share one kernel, because
/// there are too many of them to compile a kernel for each.
fn known(stages: &Stages, flags: u32) -> [usize; 3] {
    match stages.radices() {
        _ if !stages.length().is_power_of_two() || stages.length() == 1 || flags & flags::UNFOLD != 0 => [0; 3],
        [first] => [*first, 0, 0],
        [first, last] => [*first, 0, *last],
        [first, middle, last] => [*first, *middle, *last],
        _ => [0; 3],
    }
}

/// Returns the radices as hexadecimal digits.
pub(super) fn digits(stages: &Stages) -> u32 {
    // Radix 16 is encoded as 15.
    #[expect(clippy::cast_possible_truncation, reason = "a radix is at most 16")]
    let digit = |radix: usize| radix.min(15) as u32;
    stages.radices().iter().rev().fold(0, |word, &radix| word << 4 | digit(radix))
}

#[expect(clippy::cast_precision_loss, reason = "at most 4096")]
fn count(x: usize) -> f64 {
    x as f64
}

/// Returns the overrides of every shipped combination of length, flags and number of transforms per workgroup.
/// `together` is the number of transforms whose points are interleaved.
fn pass_variants(flag_sets: &[u32], together: usize) -> Vec<Vec<(&'static str, f64)>> {
    use super::plan::{FftPlan, Method};
    let mut all = Vec::new();
    for length in (0..=12).map(|k| 1 << k).chain([3, 1000, 3000, 4095]) {
        let Ok(plan) = FftPlan::new(length) else { continue };
        let Method::OnePass(stages) = plan.method() else { continue };
        for across in [0, flags::LOAD_ACROSS, flags::LOAD_ACROSS | flags::STORE_ACROSS] {
            for doing in flag_sets {
                let tunings = [(true, true), (true, false), (false, true), (false, false)]
                    .map(|(known, narrow)| Tuning { known, narrow, longest: POINTS[1] });
                for tuning in tunings.into_iter().filter(|tuning| tuning.together(length) == together) {
                    let most = tuning.group(length, across != 0);
                    let variant = variant(stages, most, doing | across, tuning).to_vec();
                    if !all.contains(&variant) {
                        all.push(variant);
                    }
                }
            }
        }
    }
    all
}

/// The combinations of flags that passes use.
mod flag_sets {
    use super::flags::{
        CHIRP_IN, CHIRP_OUT, CONJUGATE_FIRST, CONJUGATE_IN, CONJUGATE_OUT, FILTER, FOLD, MIRROR, PAIRS, PARTIAL_INPUT,
        PARTIAL_OUTPUT, TURN, TWICE, UNFOLD, WINDOW,
    };

    const CHIRP: u32 = TWICE | CHIRP_IN | CHIRP_OUT | CONJUGATE_FIRST | PARTIAL_INPUT | PARTIAL_OUTPUT;
    const BACK: u32 = CONJUGATE_IN | CONJUGATE_OUT;
    pub(super) const COMPLEX: [u32; 6] =
        [0, BACK, TURN, CHIRP, CHIRP_IN | TURN | PARTIAL_INPUT, FILTER | CONJUGATE_OUT];
    pub(super) const FROM_REAL: [u32; 5] =
        [0, WINDOW | PARTIAL_OUTPUT, PAIRS | UNFOLD, PAIRS | TURN | WINDOW, PAIRS | CHIRP];
    pub(super) const TO_REAL: [u32; 4] = [BACK | FOLD | PAIRS, BACK | MIRROR, PAIRS | CONJUGATE_OUT, MIRROR | CHIRP];
}

/// Defines the variants of a kernel that computes one transform at a time, and of its counterpart that computes two.
macro_rules! variants {
    ($($one:ident, $two:ident: $flag_sets:ident;)+) => {
        $(fn $one() -> Vec<Vec<(&'static str, f64)>> {
            pass_variants(&flag_sets::$flag_sets, 1)
        }

        fn $two() -> Vec<Vec<(&'static str, f64)>> {
            pass_variants(&flag_sets::$flag_sets, 2)
        })+
    };
}

variants! {
    complex, two_complex: COMPLEX;
    from_real, two_from_real: FROM_REAL;
    to_real, two_to_real: TO_REAL;
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

/// The types of cosine and sine transforms that each of their kernels serves, where 5 is type 4 of an odd length.
fn kinds(kinds: &[u32]) -> Vec<Vec<(&'static str, f64)>> {
    kinds.iter().map(|&kind| vec![("KIND", f64::from(kind))]).collect()
}

fn reordered() -> Vec<Vec<(&'static str, f64)>> {
    kinds(&[1, 2, 3])
}

fn turned_in() -> Vec<Vec<(&'static str, f64)>> {
    kinds(&[3, 4, 5])
}

fn turned_out() -> Vec<Vec<(&'static str, f64)>> {
    kinds(&[1, 2, 4, 5])
}

fn band_variants() -> Vec<Vec<(&'static str, f64)>> {
    BAND_WIDTHS.iter().map(|&(_, width)| vec![("WIDTH", f64::from(width))]).collect()
}

/// Returns whether transforms on the adapter use this variant.
pub(in super::super) fn is_given(adapter: &Adapter, _: &str, overrides: Overrides<'_>) -> bool {
    let of = |name: &str| overrides.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    let known = of("FIRST").is_some_and(|radix| radix > 0.0);
    let narrow = of("SPREAD") == Some(0.0);
    (adapter.compiles_long_kernels() || !known) && (adapter.software || !narrow)
}

kernels! {
    /// Transforms complex values to complex values.
    Transform = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/point_single.wgsl", "generated/fft/butterflies.wgsl", "fft/from_complex.wgsl", "fft/to_complex.wgsl"
    ] variants complex {
        budget Budget {
            registers: 192,
            instructions: 6300,
            occupancy: 20,
            because: "16 KiB of workgroup memory for 128 invocations, each of which has 16 loads in flight",
        };
        uniform params: Pass,
        read tables: [f32; 2],
        read input: [f32; 2],
        write output: [f32; 2],
    }
    /// Transforms complex values to complex values, two transforms at a time.
    TwoTransforms = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/point_pair.wgsl", "generated/fft/butterflies.wgsl", "fft/from_complex.wgsl", "fft/to_complex.wgsl"
    ] variants two_complex {
        uniform params: Pass,
        read tables: [f32; 2],
        read input: [f32; 2],
        write output: [f32; 2],
    }
    /// Transforms reals to complex values.
    FromReal = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/point_single.wgsl", "generated/fft/butterflies.wgsl", "fft/from_real.wgsl", "fft/to_complex.wgsl"
    ] variants from_real {
        budget Budget {
            registers: 192,
            instructions: 6300,
            occupancy: 20,
            because: "16 KiB of workgroup memory for 128 invocations, each of which has 16 loads in flight",
        };
        uniform params: Pass,
        read tables: [f32; 2],
        read input: f32,
        read window: f32,
        write output: [f32; 2],
    }
    /// Transforms reals to complex values, two transforms at a time.
    TwoFromReal = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/point_pair.wgsl", "generated/fft/butterflies.wgsl", "fft/from_real.wgsl", "fft/to_complex.wgsl"
    ] variants two_from_real {
        uniform params: Pass,
        read tables: [f32; 2],
        read input: f32,
        read window: f32,
        write output: [f32; 2],
    }
    /// Transforms complex values to reals.
    ToReal = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/point_single.wgsl", "generated/fft/butterflies.wgsl", "fft/from_complex.wgsl", "fft/to_real.wgsl"
    ] variants to_real {
        budget Budget {
            registers: 192,
            instructions: 6300,
            occupancy: 20,
            because: "16 KiB of workgroup memory for 128 invocations, each of which has 16 loads in flight",
        };
        uniform params: Pass,
        read tables: [f32; 2],
        read input: [f32; 2],
        write output: f32,
    }
    /// Transforms complex values to reals, two transforms at a time.
    TwoToReal = [
        "fft/pass.wgsl", "fft/complex.wgsl", "fft/point_pair.wgsl", "generated/fft/butterflies.wgsl", "fft/from_complex.wgsl", "fft/to_real.wgsl"
    ] variants two_to_real {
        uniform params: Pass,
        read tables: [f32; 2],
        read input: [f32; 2],
        write output: f32,
    }
    /// Unfolds transforms into the spectra of reals. Each pair of adjacent reals was transformed as one complex number.
    Unfold = ["fft/complex.wgsl", "fft/unfold.wgsl"] variants one_variant {
        uniform params: Unfolding,
        read tables: [f32; 2],
        read input: [f32; 2],
        write output: [f32; 2],
    }
    /// Reorders lines before and after the Fourier transforms of cosine and sine transforms.
    Reorder = ["fft/reorder.wgsl"] variants reordered {
        uniform params: Turning,
        read input: f32,
        write output: f32,
    }
    /// Turns lines of cosine and sine transforms into those of their Fourier transforms.
    TurnIn = ["fft/complex.wgsl", "fft/turn_in.wgsl"] variants turned_in {
        uniform params: Turning,
        read roots: [f32; 2],
        read input: f32,
        write output: [f32; 2],
    }
    /// Turns spectra into the results of cosine and sine transforms.
    TurnOut = ["fft/complex.wgsl", "fft/turn_out.wgsl"] variants turned_out {
        uniform params: Turning,
        read roots: [f32; 2],
        read input: [f32; 2],
        write output: f32,
    }
    /// Computes the power of spectra.
    Power = ["fft/power.wgsl"] variants one_variant {
        uniform params: PowerOf,
        read spectrum: [f32; 2],
        write power: f32,
    }
    /// Computes band powers and centroids.
    Bands = ["shared/real.wgsl", "fft/bands.wgsl"] variants band_variants {
        uniform params: BandsOf,
        read power: f32,
        read ranges: [u32; 2],
        write sums: f32,
    }
}

mirrors! {
    FINE = FINE,
}

#[cfg(test)]
mod flag_tests {
    use super::flags;
    use crate::device::constants;

    /// Checks that each flag sets the override of the same name, and no override of another flag.
    #[test]
    fn flags_are_those_of_the_wgsl() {
        let all = [
            ("CONJUGATE_IN", flags::CONJUGATE_IN),
            ("CONJUGATE_OUT", flags::CONJUGATE_OUT),
            ("CHIRP_IN", flags::CHIRP_IN),
            ("CHIRP_OUT", flags::CHIRP_OUT),
            ("FILTER", flags::FILTER),
            ("TURN", flags::TURN),
            ("TWICE", flags::TWICE),
            ("FOLD", flags::FOLD),
            ("MIRROR", flags::MIRROR),
            ("UNFOLD", flags::UNFOLD),
            ("PAIRS", flags::PAIRS),
            ("LOAD_ACROSS", flags::LOAD_ACROSS),
            ("STORE_ACROSS", flags::STORE_ACROSS),
            ("CONJUGATE_FIRST", flags::CONJUGATE_FIRST),
            ("WINDOW", flags::WINDOW),
            ("PARTIAL_INPUT", flags::PARTIAL_INPUT),
            ("PARTIAL_OUTPUT", flags::PARTIAL_OUTPUT),
        ];
        let all_kernels = super::KERNELS.iter().flat_map(|kernel| kernel.declarations);
        let passes: Vec<_> = all_kernels.filter(|kernel| kernel.shader.source().contains("FLAGS")).collect();
        for (name, flag) in all {
            let mut known = false;
            for pass in &passes {
                let settled = constants(pass, &[("FLAGS", flag.into())]);
                let set: Vec<_> =
                    all.map(|(name, _)| name).into_iter().filter(|n| settled.get(*n) == Some(&1.0)).collect();
                assert!(set.iter().all(|other| *other == name), "{name}: {set:?} in {}", pass.shader.name);
                known |= !set.is_empty();
            }
            assert!(known, "no kernel asks for {name}");
        }
    }
}
