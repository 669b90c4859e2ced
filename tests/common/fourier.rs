//! The reference for Fourier transforms: rustfft in f64, on signals that a failing test can name.

use super::dump::dump;
use super::random::SplitMix64;
use fiedler::Shape;
use fiedler::array::{Array, Scalar};
use num_complex::Complex;
use rustfft::FftPlanner;

pub type C32 = Complex<f32>;
pub type C64 = Complex<f64>;

/// Returns normally distributed complex values.
pub fn signal(len: usize, seed: u64) -> Vec<C32> {
    let mut random = SplitMix64::new(seed);
    (0..len).map(|_| C32::new(random.normal() as f32, random.normal() as f32)).collect()
}

/// Returns normally distributed real values.
pub fn reals(len: usize, seed: u64) -> Vec<f32> {
    let mut random = SplitMix64::new(seed);
    (0..len).map(|_| random.normal() as f32).collect()
}

pub fn wide(z: C32) -> C64 {
    C64::new(z.re.into(), z.im.into())
}

/// Splits `x` into lines of `n` elements and converts them to f64.
pub fn widened(x: &[C32], n: usize) -> impl Iterator<Item = Vec<C64>> + '_ {
    x.chunks(n).map(|line| line.iter().copied().map(wide).collect())
}

/// Returns an array whose columns are the consecutive lines of `n` elements of `data`.
pub fn lines<T: Scalar>(n: usize, data: Vec<T>) -> fiedler::Result<Array<T>> {
    Array::from_vec(Shape::new(n, data.len() / n, 1), data)
}

/// Computes the unscaled transform of a line, or its inverse transform divided by the length of the line, in f64.
pub fn truth(line: &[C64], inverse: bool) -> Vec<C64> {
    let mut planner = FftPlanner::new();
    let n = line.len();
    let mut out = line.to_vec();
    if inverse {
        planner.plan_fft_inverse(n).process(&mut out);
        out.iter_mut().for_each(|z| *z /= n as f64);
    } else {
        planner.plan_fft_forward(n).process(&mut out);
    }
    out
}

/// Computes the first half of the spectrum of a real line.
pub fn half_truth(line: &[f32]) -> Vec<C64> {
    let line: Vec<C64> = line.iter().map(|&x| C64::new(x.into(), 0.0)).collect();
    let mut all = truth(&line, false);
    all.truncate(line.len() / 2 + 1);
    all
}

/// Computes the real line of `n` elements whose spectrum has `half` as its first half. Imaginary parts that no real
/// signal has are ignored.
pub fn whole_truth(half: &[C32], n: usize) -> Vec<C64> {
    let mut all: Vec<C64> = half.iter().copied().map(wide).collect();
    all[0].im = 0.0;
    if n.is_multiple_of(2) {
        all[n / 2].im = 0.0;
    }
    for k in n / 2 + 1..n {
        all.push(all[n - k].conj());
    }
    truth(&all, true)
}

/// Checks the gate of the design: a relative error in the 2-norm of at most `4 eps log2 n`. (A transform of length 1 is
/// exact.) Returns the error divided by the allowed error.
pub fn judge(got: &[C64], want: &[C64], n: usize, eps: f64) -> Result<f64, String> {
    assert_eq!(got.len(), want.len());
    let square = |z: &C64| z.norm_sqr();
    let away: f64 = got.iter().zip(want).map(|(g, w)| square(&(g - w))).sum();
    let size: f64 = want.iter().map(square).sum();
    let (error, allowed) = ((away / size.max(f64::MIN_POSITIVE)).sqrt(), 4.0 * eps * (n as f64).log2());
    // The condition is not `error > allowed`, because a NaN must fail.
    if error <= allowed {
        return Ok(error / allowed.max(f64::MIN_POSITIVE));
    }
    let why = format!("n = {n}: relative error {error:.3e}, allowed {allowed:.3e}");
    let flat = |x: &[C64]| x.iter().flat_map(|z| [z.re, z.im]).collect::<Vec<f64>>();
    dump(&format!("fft {why}"), &[("got", &flat(got)), ("want", &flat(want))]);
    Err(why)
}
