//! Which lines are transformed in SIMD lanes: those for which rustfft and realfft took longer on one core (2026-11-29,
//! AVX-512 and AVX2).
//!
//! A call with fewer contiguous lines than lanes takes as long as if it filled them. So it is left to rustfft, and the
//! last bits of its results may differ from those of the same lines among others. Beyond that, the choice does not
//! depend on the number of lines.

use super::in_lanes::LANES;
use super::passes::{in_passes, largest_factor};
use crate::lanes::width;
use crate::ops::convert::tiny::Lines;
use std::ops::RangeInclusive;

/// The primes n that may become cyclic convolutions of length n - 1.
const PRIMES: RangeInclusive<usize> = 50..=1500;
/// The longest complex lines and real lines. With longer ones, the working memory does not fit in the second-level
/// cache.
const LONGEST: usize = 2048;
const LONGEST_REALS: usize = 2600;

/// The vectors of this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vectors {
    pub(super) in_f32: bool,
    pub(super) lanes: usize,
}

impl Vectors {
    pub(super) fn new(in_f32: bool) -> Self {
        Self { in_f32, lanes: if in_f32 { width::<f32>() } else { width::<f64>() } }
    }

    /// Returns whether lanes are worth the most: vectors of f32 that are at least as wide as those of rustfft.
    fn are_wide(self) -> bool {
        self.in_f32 && self.lanes >= 8
    }

    /// Returns whether a prime factor is small enough for one pass, whose work grows with the factor.
    fn take_factor(self, factor: usize) -> bool {
        factor <= 16 * self.lanes
    }
}

/// Returns whether complex transforms of lines of length `n` are computed in lanes.
///
/// Lines across rows are in lanes when they are loaded. With rows of 16 elements or more, columns that are turned for
/// rustfft take 1.1 to 1.9 times as long for smooth lengths, and 1.4 to 6.8 times for others (2026-11-28).
pub(super) fn takes(n: usize, lines: Lines, vectors: Vectors) -> bool {
    if !(2..=LONGEST).contains(&n) {
        return false;
    }
    if lines.inner > 1 {
        return in_passes(n) || is_rader(n);
    }
    if lines.outer < LANES || vectors.lanes < 4 {
        return false;
    }
    match largest_factor(n) {
        // rustfft takes 0.8 to 1.8 times as long in f32, and 0.5 to 1.2 times in f64. For multiples of 8 or 12, and for
        // products of 2 and 3, it takes 0.1 to 1.1 times as long.
        5 | 7 => vectors.are_wide() && n >= 10 && is_round(n),
        2 | 3 | 11 => false,
        // rustfft has no SIMD for these factors: it takes 1.1 to 5 times as long in f32, and 1.0 to 3.7 times in f64.
        factor => {
            let long_enough = match factor {
                _ if vectors.are_wide() => n >= 26,
                29.. if vectors.lanes < 8 => n >= 300,
                29.. => true,
                _ => vectors.lanes >= 8 && n >= 100,
            };
            is_rader(n) || in_passes(n) && long_enough && vectors.take_factor(factor)
        }
    }
}

/// Returns whether real transforms of lines of length `n` are computed in lanes. For odd lengths, which realfft
/// transforms as complex lines, it takes 1.2 to 6 times as long in f32, and 0.8 to 4.3 times in f64; for other lengths
/// that are accepted here, 0.9 to 5 and 1.0 to 3.2 times.
pub(super) fn takes_reals(n: usize, lines: Lines, vectors: Vectors) -> bool {
    if !(5..=LONGEST_REALS).contains(&n) || lines.inner > 1 || lines.outer < LANES || vectors.lanes < 4 {
        return false;
    }
    let points = if n.is_multiple_of(2) { n / 2 } else { n };
    let factor = largest_factor(points);
    if !in_passes(points) || !vectors.take_factor(factor) {
        return is_rader(n);
    }
    match factor {
        _ if !n.is_multiple_of(2) => true,
        13.. => vectors.are_wide() || n >= if vectors.lanes < 8 { 200 } else { 40 },
        _ if vectors.are_wide() => n <= 64 || is_round(points),
        5 | 7 => vectors.lanes >= 8 && n >= 20 && is_round(points),
        _ => false,
    }
}

/// Returns whether rustfft has no fast shuffles for a length without large prime factors.
fn is_round(n: usize) -> bool {
    !n.is_multiple_of(8) && !n.is_multiple_of(12)
}

/// Returns whether lines of length `n` become cyclic convolutions. For primes that could be a pass, that is faster only
/// if n - 1 has small factors.
pub(super) fn is_rader(n: usize) -> bool {
    PRIMES.contains(&n)
        && largest_factor(n) == n
        && if in_passes(n) { largest_factor(n - 1) <= 7 } else { largest_factor(n - 1) <= 109 }
}

#[cfg(test)]
mod tests {
    use super::{Vectors, takes, takes_reals};
    use crate::ops::convert::tiny::Lines;

    #[test]
    fn lengths_that_are_taken() {
        let (many, few) = (Lines { inner: 1, outer: 16 }, Lines { inner: 1, outer: 15 });
        let across = Lines { inner: 2, outer: 1 };
        let wide = Vectors { in_f32: true, lanes: 16 };
        for (n, complex, real, strided) in [
            (1, false, false, false),
            (20, true, true, true),
            (24, false, true, true),
            (957, true, true, true),
            (1000, false, true, true),
            (1009, true, true, true),
            (1013, true, true, true),
            (1024, false, false, true),
            (1283, false, false, false),
            (720, false, false, true),
            (2500, false, true, false),
        ] {
            assert_eq!((takes(n, many, wide), takes_reals(n, many, wide)), (complex, real), "{n}");
            assert_eq!((takes(n, across, wide), takes_reals(n, across, wide)), (strided, false), "columns of {n}");
            assert!(!takes(n, few, wide) && !takes_reals(n, few, wide), "a few lines of {n}");
        }
        let [avx_512, avx2, none] = [8, 4, 1].map(|lanes| Vectors { in_f32: false, lanes });
        for (n, complex, real) in
            [(20, [false; 2], [true, false]), (410, [true; 2], [true; 2]), (21, [false; 2], [true; 2])]
        {
            assert_eq!([avx_512, avx2].map(|vectors| takes(n, many, vectors)), complex, "{n} in f64");
            assert_eq!([avx_512, avx2].map(|vectors| takes_reals(n, many, vectors)), real, "{n} reals in f64");
            assert!(!takes(n, many, none) && !takes_reals(n, many, none));
        }
    }
}
