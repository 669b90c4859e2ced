//! Divergences on the CPU, in f64 whatever the precision of the histograms. The terms are those of
//! `shaders/divergence/term.wgsl`.

use super::{Divergence, DivergenceOptions};
use crate::array::Real;
use crate::parallel;
use crate::shape::Shape;
use bytemuck::allocation::cast_vec;
use bytemuck::cast_slice;
use std::f64::consts::LN_2;

/// The number of terms that are added to each other before their sum is added to the total. So the rounding error of a
/// sum of n terms grows with 64 + n / 64, and not with n.
const RUN: usize = 64;
/// The approximate number of terms that a thread adds up at a time.
const TASK: usize = 1 << 12;

/// Computes D(p_i, q_j) for all i, where j = i / share: `share` consecutive histograms of `p` share one histogram of
/// `q`.
pub(super) fn rows<T: Real>(
    kind: Divergence,
    p: &[T],
    q: &[T],
    bins: usize,
    share: usize,
    options: &DivergenceOptions,
) -> Vec<T> {
    let found = if T::ON_DEVICE {
        rows_f32(kind, (cast_slice(p), cast_slice(q)), bins, share, options)
    } else {
        rows_f64(kind, (cast_slice(p), cast_slice(q)), bins, share, options)
    };
    found.into_iter().map(T::from_f64).collect()
}

/// Instantiates [`of_rows`] here, once, instead of in every crate that calls it.
fn rows_f32(
    kind: Divergence,
    pq: (&[f32], &[f32]),
    bins: usize,
    share: usize,
    options: &DivergenceOptions,
) -> Vec<f64> {
    of_rows(kind, pq, bins, share, options)
}

fn rows_f64(
    kind: Divergence,
    pq: (&[f64], &[f64]),
    bins: usize,
    share: usize,
    options: &DivergenceOptions,
) -> Vec<f64> {
    of_rows(kind, pq, bins, share, options)
}

fn of_rows<T: Real>(
    kind: Divergence,
    (p, q): (&[T], &[T]),
    bins: usize,
    share: usize,
    options: &DivergenceOptions,
) -> Vec<f64> {
    let q: Vec<&[T]> = q.chunks_exact(bins.max(1)).collect();
    let one = |i: usize, p: &[T]| {
        let q = q[i / share];
        of_two(kind, p, q, total(p, options), total(q, options), options)
    };
    let p: Vec<&[T]> = p.chunks_exact(bins.max(1)).collect();
    parallel::map_runs(p.len(), run_of(bins), |i| one(i, p[i]))
}

/// Returns the number of divergences, with `terms` terms each, that a thread computes at a time.
fn run_of(terms: usize) -> usize {
    (TASK / terms.max(1)).max(1)
}

/// Computes D(p_i, p_j) for all pairs within an entry of the batch.
pub(super) fn matrix<T: Real>(kind: Divergence, p: &[T], shape: Shape, options: &DivergenceOptions) -> Vec<T> {
    if T::ON_DEVICE {
        cast_vec(matrix_f32(kind, cast_slice(p), shape, options))
    } else {
        cast_vec(matrix_f64(kind, cast_slice(p), shape, options))
    }
}

fn matrix_f32(kind: Divergence, p: &[f32], shape: Shape, options: &DivergenceOptions) -> Vec<f32> {
    of_pairs(kind, p, shape, options)
}

fn matrix_f64(kind: Divergence, p: &[f64], shape: Shape, options: &DivergenceOptions) -> Vec<f64> {
    of_pairs(kind, p, shape, options)
}

fn of_pairs<T: Real>(kind: Divergence, p: &[T], shape: Shape, options: &DivergenceOptions) -> Vec<T> {
    let (bins, n) = (shape.rows.max(1), shape.cols);
    if n == 0 {
        return Vec::new();
    }
    let p: Vec<&[T]> = p.chunks_exact(bins).collect();
    let totals: Vec<f64> = parallel::map_runs(p.len(), run_of(bins), |i| total(p[i], options));
    let mut out = vec![T::from_f64(0.0); shape.batch * n * n];
    // If the divergence is symmetric, only the upper triangle is computed. It is then mirrored, so the result is
    // symmetric to the last bit.
    let column = |column: usize, out: &mut [T]| {
        let (base, j) = (column / n * n, column % n);
        let end = if kind.is_symmetric() { j } else { n };
        for (i, out) in out.iter_mut().enumerate().take(end) {
            if i != j {
                let (i, j) = (base + i, base + j);
                *out = T::from_f64(of_two(kind, p[i], p[j], totals[i], totals[j], options));
            }
        }
    };
    let run = run_of(n * bins);
    parallel::for_each(out.chunks_mut(run * n), |i, out| {
        (i * run..).zip(out.chunks_mut(n)).for_each(|(j, out)| column(j, out));
    });
    if kind.is_symmetric() {
        for entry in out.chunks_mut(n * n) {
            for j in 0..n {
                for i in 0..j {
                    entry[j + i * n] = entry[i + j * n];
                }
            }
        }
    }
    out
}

/// Returns the number by which a histogram has to be divided: its sum if histograms are normalized, otherwise 1. The
/// number is NaN if the histogram is invalid, which is possible because histograms from the device were not checked.
fn total<T: Real>(histogram: &[T], options: &DivergenceOptions) -> f64 {
    let (mut sum, mut good) = (0.0, true);
    for run in histogram.chunks(RUN) {
        sum += run.iter().map(|x| x.to_f64()).sum::<f64>();
        good &= run.iter().all(|x| x.to_f64() >= 0.0 && x.to_f64().is_finite());
    }
    match (good, options.normalize) {
        (true, false) => 1.0,
        (true, true) if sum > 0.0 => sum,
        _ => f64::NAN,
    }
}

/// Returns the power of two that scales a positive number to between 1 and 2, or as close to this range as f64 allows.
fn unit(total: f64) -> f64 {
    let exponent = (total.to_bits() >> 52).clamp(1, 2045);
    f64::from_bits((2046 - exponent) << 52)
}

#[expect(clippy::float_cmp, reason = "equal totals need no factor")]
#[expect(clippy::cast_precision_loss, reason = "a count of bins")]
fn of_two<T: Real>(kind: Divergence, p: &[T], q: &[T], of_p: f64, of_q: f64, options: &DivergenceOptions) -> f64 {
    if of_p.is_nan() || of_q.is_nan() {
        return f64::NAN;
    }
    // Totals are scaled to about 1, so neither the quotient of two totals nor an entry divided by its total exceeds the
    // range of f64.
    let (unit_p, unit_q) = (unit(of_p), unit(of_q));
    let (of_p, of_q) = (of_p * unit_p, of_q * unit_q);
    let factor = if of_p == of_q { 1.0 } else { of_p / of_q };
    let smoothing = options.smoothing * of_p;
    let term = match kind {
        Divergence::KullbackLeibler => kullback_leibler,
        Divergence::JensenShannon | Divergence::JensenShannonDistance => jensen_shannon,
        Divergence::TotalVariation => |p: f64, q: f64| 0.5 * (p - q).abs(),
        Divergence::ChiSquare => chi_square,
        Divergence::SymmetricChiSquare => symmetric_chi_square,
        Divergence::Hellinger => hellinger,
    };
    let mut sum = 0.0;
    for (p, q) in p.chunks(RUN).zip(q.chunks(RUN)) {
        let terms = p
            .iter()
            .zip(q)
            .map(|(p, q)| term(p.to_f64() * unit_p + smoothing, q.to_f64() * unit_q * factor + smoothing));
        sum += terms.sum::<f64>();
    }
    let spread = 1.0 + p.len() as f64 * options.smoothing;
    let value = sum * options.scale(kind) / (of_p * spread);
    if kind.is_root() { value.sqrt() } else { value }
}

/// Returns p log(p / q) - p + q.
fn kullback_leibler(p: f64, q: f64) -> f64 {
    if p <= 0.0 {
        return q;
    }
    if q <= 0.0 {
        return f64::INFINITY;
    }
    let d = q - p;
    if d.abs() <= 0.1 * (p + q) {
        // log(q / p) = 2 artanh(s) = 2 (s + s^3 tail), where d = q - p and s = d / (p + q). The part of the term that
        // is linear in s is simplified to avoid cancellation: d - 2 p s = d s.
        let s = d / (p + q);
        let t = s * s;
        // The series is accurate to 2^-57 for s^2 <= 0.01.
        let tail = [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0].iter().fold(0.0, |sum, k| sum * t + 1.0 / k);
        s * (d - 2.0 * p * t * tail)
    } else if q <= 2.0 * p && p <= 2.0 * q {
        d - p * (d / p).ln_1p()
    } else {
        // If p and q are far apart, their quotient may not be a normal number. Then the difference of their logarithms
        // is used.
        let ratio = q / p;
        d - p * if ratio.is_normal() { ratio.ln() } else { q.ln() - p.ln() }
    }
}

/// Returns (p log(2 p / (p + q)) + q log(2 q / (p + q))) / 2.
fn jensen_shannon(p: f64, q: f64) -> f64 {
    let t = p + q;
    if t <= 0.0 {
        return 0.0;
    }
    let s = (q - p) / t;
    if s.abs() <= 0.25 {
        // (1 + s) log(1 + s) + (1 - s) log(1 - s) is the sum of s^(2 k) / (k (2 k - 1)) for k from 1 on. The sum below
        // is accurate to 2^-55 for s^2 <= 1/16.
        let x = s * s;
        let h = [276.0, 231.0, 190.0, 153.0, 120.0, 91.0, 66.0, 45.0, 28.0, 15.0, 6.0, 1.0]
            .iter()
            .fold(0.0, |sum, k| sum * x + 1.0 / k);
        return 0.25 * t * x * h;
    }
    let (small, large) = (p.min(q), p.max(q));
    if small <= 0.0 {
        return 0.5 * large * LN_2;
    }
    let y = small / t;
    let log = if y.is_normal() { y.ln() } else { small.ln() - t.ln() };
    0.5 * (t * LN_2 + small * log + large * (-y).ln_1p())
}

fn chi_square(p: f64, q: f64) -> f64 {
    let d = p - q;
    match (p > 0.0, q > 0.0) {
        (_, true) => d * (d / q),
        (true, false) => f64::INFINITY,
        (false, false) => 0.0,
    }
}

fn symmetric_chi_square(p: f64, q: f64) -> f64 {
    let d = p - q;
    if p + q > 0.0 { 0.5 * d * (d / (p + q)) } else { 0.0 }
}

fn hellinger(p: f64, q: f64) -> f64 {
    let roots = p.sqrt() + q.sqrt();
    if roots > 0.0 { 0.5 * ((p - q) / roots).powi(2) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{jensen_shannon, kullback_leibler};

    /// Compares with terms from 40-digit arithmetic, for p and q that are close together, far apart, or near a boundary
    /// between two formulas. The terms agree within 20 units of rounding.
    #[test]
    fn terms_keep_their_digits() {
        for (p, q, kl, js) in [
            (0.5, 0.5, 0.0, 0.0),
            (0.5, 0.500_000_953_674_316_4, 9.094_935_452_922_652e-13, 2.273_734_586_030_388_1e-13),
            (0.5, 0.499_999_999_999_090_5, 8.271_806_125_540_307e-25, 2.067_951_531_384_45e-25),
            (0.312_5, 0.25, 0.007_232_359_785_690_549, 0.001_739_701_114_487_427_7),
            (0.25, 0.312_5, 0.006_714_112_171_447_561, 0.001_739_701_114_487_427_7),
            (0.093_75, 0.117_187_5, 0.002_517_792_064_292_835_4, 0.000_652_387_917_932_785_4),
            (0.5, 0.75, 0.047_267_445_945_917_81, 0.012_584_695_969_180_546),
            (0.5, 0.843_75, 0.082_125_928_117_726_08, 0.022_230_292_612_622_64),
            (0.25, 0.5, 0.076_713_204_860_013_68, 0.021_237_379_599_424_684),
            (0.25, 0.531_25, 0.092_807_049_405_904_96, 0.025_889_735_541_999_605),
            (0.5, 0.25, 0.096_573_590_279_972_66, 0.021_237_379_599_424_684),
            (0.531_25, 0.25, 0.119_191_270_012_451_96, 0.025_889_735_541_999_605),
            (9.313_225_746_154_785e-10, 0.5, 0.499_999_980_347_912_54, 0.173_286_785_636_714_4),
            (0.5, 9.313_225_746_154_785e-10, 9.550_634_119_050_53, 0.173_286_785_636_714_4),
        ] {
            for (name, got, want) in
                [("KL", kullback_leibler(p, q), kl), ("JS", jensen_shannon(p, q), js), ("JS", jensen_shannon(q, p), js)]
            {
                assert!(
                    (got - want).abs() <= 20.0 * f64::EPSILON * want,
                    "{name}({p}, {q}): {got:e}, in truth {want:e}"
                );
            }
        }
    }
}
