//! Transforms of single lines: with rustfft in f32, and with zaft (and rustfft, where it has a faster kernel that is as
//! accurate), sums and convolutions over prime factors in f64.
//!
//! For most lengths, both are as fast. rustfft takes the sines of angles that were rounded, which an f32 does not show.
//! In f64, its error is 1.5 times that of pocketfft at the median of lengths drawn by chance, and up to 4.4 times; the
//! others have 1.1 times, and up to 1.8 (2026-11-30). For browsers, rustfft does what zaft does elsewhere.

use super::prime::{self, ByPrime, Method};
use crate::array::Real;
use num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::sync::Arc;

/// A plan for complex transforms of one length, without a factor.
pub(in crate::ops) trait LinePlan<F>: Send + Sync {
    fn len(&self) -> usize;
    /// Returns the number of elements of scratch memory.
    fn scratch_len(&self) -> usize;
    /// Transforms contiguous lines.
    fn run(&self, from: &[Complex<F>], to: &mut [Complex<F>], scratch: &mut [Complex<F>]);
}

/// A precision whose lines can be transformed.
pub(in crate::ops) trait Planned: Real + FftNum + bytemuck::Pod {
    /// Plans forward transforms of `n` elements, n > 0, or inverse ones.
    fn plan(n: usize, inverse: bool) -> Arc<dyn LinePlan<Self>>;
}

/// Returns the name of what transforms lines of `n` elements, in f32 or in f64.
pub(super) fn algorithm(n: usize, in_f32: bool) -> &'static str {
    match prime::taken(n) {
        Some((_, Method::Sums)) if !in_f32 => "sums over a prime factor",
        Some((_, Method::Chirp)) if !in_f32 => "convolutions over a prime factor",
        _ if !in_f32 && !by_rustfft_too(n) && cfg!(not(target_arch = "wasm32")) => "zaft",
        _ => "rustfft",
    }
}

/// Returns the forward transform of a line, for tables.
pub(in crate::ops::fft) fn transformed_in_f64(line: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let plan = f64::plan(line.len(), false);
    let mut made = line.to_vec();
    plan.run(line, &mut made, &mut vec![Complex::default(); plan.scratch_len()]);
    made
}

struct ByRustfft<F>(Arc<dyn Fft<F>>);

impl<F: FftNum> LinePlan<F> for ByRustfft<F> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn scratch_len(&self) -> usize {
        self.0.get_immutable_scratch_len()
    }

    fn run(&self, from: &[Complex<F>], to: &mut [Complex<F>], scratch: &mut [Complex<F>]) {
        self.0.process_immutable_with_scratch(from, to, scratch);
    }
}

fn by_rustfft<F: FftNum>(n: usize, inverse: bool) -> Arc<dyn LinePlan<F>> {
    let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
    Arc::new(ByRustfft(FftPlanner::new().plan_fft(n, direction)))
}

/// Returns whether rustfft transforms lines of `n` elements in f64, too: its kernels for them have the errors of
/// zaft's, and take half of the time (AVX-512, 2026-11-30).
fn by_rustfft_too(n: usize) -> bool {
    matches!(n, 8 | 16 | 32)
}

impl Planned for f32 {
    fn plan(n: usize, inverse: bool) -> Arc<dyn LinePlan<Self>> {
        by_rustfft(n, inverse)
    }
}

impl Planned for f64 {
    fn plan(n: usize, inverse: bool) -> Arc<dyn LinePlan<Self>> {
        match ByPrime::new(n, inverse, Self::plan) {
            Some(by_prime) => Arc::new(by_prime),
            None if by_rustfft_too(n) => by_rustfft(n, inverse),
            None => in_f64(n, inverse),
        }
    }
}

#[cfg(target_arch = "wasm32")]
use by_rustfft as in_f64;
#[cfg(not(target_arch = "wasm32"))]
use by_zaft::by_zaft as in_f64;

#[cfg(not(target_arch = "wasm32"))]
mod by_zaft {
    use super::{Arc, Complex, LinePlan};
    use zaft::{FftExecutor, Zaft};

    struct ByZaft(Arc<dyn FftExecutor<f64> + Send + Sync>);

    impl LinePlan<f64> for ByZaft {
        fn len(&self) -> usize {
            self.0.length()
        }

        fn scratch_len(&self) -> usize {
            self.0.out_of_place_scratch_length()
        }

        fn run(&self, from: &[Complex<f64>], to: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
            let done = self.0.execute_out_of_place_with_scratch(from, to, scratch);
            // Every slice has the length that the plan expects. If it failed, nothing would have been written.
            assert!(done.is_ok(), "{done:?}");
        }
    }

    pub(super) fn by_zaft(n: usize, inverse: bool) -> Arc<dyn LinePlan<f64>> {
        let plan = if inverse { Zaft::make_inverse_fft_f64(n) } else { Zaft::make_forward_fft_f64(n) };
        match plan {
            Ok(plan) => Arc::new(ByZaft(plan)),
            // It refuses no length but 0 and those whose tables fit no memory.
            Err(error) => panic!("a transform of {n} elements: {error:?}"),
        }
    }
}
