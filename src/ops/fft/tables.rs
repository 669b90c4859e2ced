//! The lookup tables of the kernels, computed in f64: twiddle factors, roots, chirps and the spectra of filters.

use super::cpu::transformed_in_f64;
use super::kernels::FINE;
use super::plan::{FftPlan, Method, Stages};
use num_complex::Complex;
use std::f64::consts::TAU;

/// The offset of each table, in complex values, in the single array that holds all tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offsets {
    pub(super) first: usize,
    pub(super) second: usize,
    /// The offsets of the digit-reversed input positions of the first pass and of the second.
    pub(super) order: [usize; 2],
    pub(super) roots: usize,
    pub(super) chirp: usize,
    pub(super) filter: usize,
    pub(super) folds: usize,
    pub(super) len: usize,
}

impl Offsets {
    pub(super) fn of(plan: &FftPlan) -> Self {
        let (first, second) = passes(plan);
        let mut len = 0;
        let mut next = |count: usize| {
            len += count;
            len - count
        };
        let mut found =
            Self { first: next(first.length()), second: next(second.map_or(0, Stages::length)), ..Self::default() };
        found.order = [next(order_len(first)), next(second.map_or(0, order_len))];
        found.roots = next(second.map_or(0, |second| FINE + (first.length() * second.length()).div_ceil(FINE)));
        found.chirp = next(if plan.padded().is_some() { plan.points() } else { 0 });
        found.filter = next(plan.padded().unwrap_or(0));
        found.folds = next(if plan.in_pairs() { plan.points() + 1 } else { 0 });
        found.len = len;
        found
    }
}

impl FftPlan {
    /// Returns the size of the plan's tables in bytes.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        8 * Offsets::of(self).len
    }
}

/// Returns the stages of the first pass, and of the second if there is one.
pub(super) fn passes(plan: &FftPlan) -> (&Stages, Option<&Stages>) {
    match plan.method() {
        Method::OnePass(stages) | Method::Chirp(stages) => (stages, None),
        Method::TwoPasses(first, second) | Method::LongChirp(first, second) => (first, Some(second)),
    }
}

/// Returns all tables of a plan.
pub(super) fn tables(plan: &FftPlan) -> Vec<[f32; 2]> {
    let offsets = Offsets::of(plan);
    let mut out = Vec::with_capacity(offsets.len);
    let (first, second) = passes(plan);
    twiddles(first, &mut out);
    if let Some(second) = second {
        twiddles(second, &mut out);
    }
    order(first, &mut out);
    if let Some(second) = second {
        order(second, &mut out);
        let whole = first.length() * second.length();
        out.extend((0..FINE).map(|p| narrow(root(p, whole))));
        out.extend((0..whole.div_ceil(FINE)).map(|p| narrow(root(p * FINE, whole))));
    }
    if let Some(padded) = plan.padded() {
        let chirp = chirp(plan.points());
        out.extend(chirp.iter().copied().map(narrow));
        let filter = filter(&chirp, padded);
        if second.is_some() {
            out.extend(filter.into_iter().map(narrow));
        } else {
            // Within a workgroup, the filter is applied between two transforms, where the elements are in
            // digit-reversed order.
            let mut there = vec![[0.0; 2]; padded];
            for (k, z) in filter.into_iter().enumerate() {
                there[reversed(k, first.length(), first.radices())] = narrow(z);
            }
            out.extend(there);
        }
    }
    if plan.in_pairs() {
        out.extend((0..=plan.points()).map(|k| narrow(root(k, plan.length()))));
    }
    debug_assert_eq!(out.len(), offsets.len);
    out
}

/// Returns `exp(-2 pi i power / order)`, computed from an angle of at most an eighth of a turn, so that the roots have
/// the exact symmetry of the circle.
pub(super) fn root(power: usize, order: usize) -> Complex<f64> {
    let eighth = 8 * (power % order);
    let (octant, rest) = (eighth / order, eighth % order);
    let angle = |eighths: usize| TAU * eighths as f64 / (8.0 * order as f64);
    // Angles in odd octants are measured from the octant's end.
    let (sin, cos) = if octant % 2 == 0 { angle(rest).sin_cos() } else { angle(order - rest).sin_cos() };
    let (re, im) = match octant {
        0 => (cos, sin),
        1 => (sin, cos),
        2 => (-sin, cos),
        3 => (-cos, sin),
        4 => (-cos, -sin),
        5 => (-sin, -cos),
        6 => (sin, -cos),
        _ => (cos, -sin),
    };
    Complex::new(re, -im)
}

/// Appends the twiddle factors `exp(-2 pi i q j / (N R))` of every stage, where R is the radix of the stage and N the
/// product of the radices before it. Within a stage, they are ordered first by q (from 1 to R - 1), then by j (from 0
/// to N - 1). A final 1 makes the table as long as the transform.
fn twiddles(stages: &Stages, out: &mut Vec<[f32; 2]>) {
    let mut before = 1;
    for &radix in stages.radices() {
        for q in 1..radix {
            out.extend((0..before).map(|j| narrow(root(q * j, before * radix))));
        }
        before *= radix;
    }
    out.push([1.0, 0.0]);
}

/// Returns the index of an element after its digits in these radices are reversed.
fn reversed(mut element: usize, mut length: usize, radices: &[usize]) -> usize {
    let (mut place, mut weight) = (0, 1);
    for radix in radices {
        length /= radix;
        place += element / length * weight;
        element %= length;
        weight *= radix;
    }
    place
}

fn order_len(stages: &Stages) -> usize {
    stages.length() / stages.radices()[0]
}

/// Appends one number for each butterfly of the first stage: the position of the butterfly's first point, divided by
/// the radix of the stage.
#[expect(clippy::cast_precision_loss, reason = "below 4096")]
fn order(stages: &Stages, out: &mut Vec<[f32; 2]>) {
    let each = order_len(stages);
    out.extend((0..each).map(|b| [reversed(b, each, &stages.radices()[1..]) as f32, 0.0]));
}

/// Returns `exp(-i pi j^2 / n)` for each j.
fn chirp(n: usize) -> Vec<Complex<f64>> {
    // The square is taken modulo 2 n; it does not overflow because lengths here are below 2^24.
    (0..n).map(|j| root(j * j % (2 * n), 2 * n)).collect()
}

/// Returns the spectrum of the filter with which the convolution is computed. The filter's elements at j and at -j
/// modulo the padded length are both the conjugate of chirp element j, divided by the padded length. All other elements
/// are 0.
fn filter(chirp: &[Complex<f64>], padded: usize) -> Vec<Complex<f64>> {
    let mut filter = vec![Complex::new(0.0, 0.0); padded];
    for (j, c) in chirp.iter().enumerate() {
        filter[j] = c.conj() / padded as f64;
        filter[(padded - j) % padded] = filter[j];
    }
    transformed_in_f64(&filter)
}

#[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
fn narrow(z: Complex<f64>) -> [f32; 2] {
    [z.re as f32, z.im as f32]
}

#[cfg(test)]
mod tests {
    use super::{Complex, FftPlan, Offsets, TAU, root, tables};

    #[test]
    fn roots_are_roots() {
        for order in [1, 2, 3, 4, 5, 8, 12, 16, 1009, 4096] {
            for power in 0..2 * order {
                let want = Complex::from_polar(1.0, -TAU * power as f64 / order as f64);
                assert!((root(power, order) - want).norm() < 1e-14 * (1.0 + power as f64), "{power} of {order}");
            }
        }
        assert_eq!(root(1, 4), Complex::new(0.0, -1.0));
    }

    #[test]
    fn tables_are_as_long_as_they_are_said_to_be() {
        for n in [1, 2, 7, 17, 1000, 1009, 4099, 8192, 65_537] {
            for plan in [FftPlan::new(n), FftPlan::real(n)].into_iter().flatten() {
                let found = tables(&plan);
                assert_eq!(found.len(), Offsets::of(&plan).len, "{plan}");
                assert!(found.iter().flatten().all(|x| x.is_finite()), "{plan}");
            }
        }
    }
}
