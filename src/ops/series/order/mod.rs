//! Columns that depend on the order of the numbers: correlations with later numbers, changes, crossings, patterns.

mod passes;

use super::cpu::Group;
use super::histogram::entropy;
use super::named::{Named, named};
use super::parts::Known;
use crate::lanes::Vector;
use passes::{covariance, covariances, first_zero, in_one_pass, partial};
use serde::{Deserialize, Serialize};

named! {
    /// A column, or several, of [`Autocorrelation`]. The numbers of the sample are `x_1, ..., x_n`, with the mean m and
    /// the variance v (denominator n). The autocorrelation at lag k is `r_k = sum (x_i - m)(x_(i + k) - m) / (n v)`,
    /// with n - k instead of n if `adjusted`.
    OrderColumn {
        Lags: "lags", "r_k, for each lag of `lags`";
        Partial: "partial", "the partial autocorrelations of the lags 1 to the greatest of `lags` (Durbin and Levinson)";
        FirstZero: "first_zero", "the least lag k with r_k <= 0; n if there is none";
        PermutationEntropy: "permutation_entropy", "-sum p ln(p) / ln(order!) over the patterns of `order` numbers at distances of `delay`, ties in order of time (Bandt and Pompe 2002)";
        ZeroCrossings: "zero_crossings", "the number of i with (x_i > 0) != (x_(i + 1) > 0)";
        MeanCrossings: "mean_crossings", "the number of i with (x_i > m) != (x_(i + 1) > m)";
        MeanChange: "mean_change", "(x_n - x_1) / (n - 1)";
        MeanAbsChange: "mean_abs_change", "sum |x_(i + 1) - x_i| / (n - 1)";
        MeanSecondDerivative: "mean_second_derivative", "(x_n - x_(n - 1) - x_2 + x_1) / (2 (n - 2))";
        Complexity: "complexity", "sqrt(sum (x_(i + 1) - x_i)^2 / v) (the estimate of CID, Batista 2014); 0 if all numbers are equal";
        Peaks: "peaks", "the number of x_i that are greater than each of `support` numbers before and after them";
        LongestAboveMean: "longest_above_mean", "the greatest number of consecutive x_i > m";
        LongestBelowMean: "longest_below_mean", "the greatest number of consecutive x_i < m";
        TrendSlope: "trend_slope", "the slope of the line of least squares through (i, x_i)";
        TrendR2: "trend_r2", "the square of the correlation of i and x_i";
    }
}

/// Columns that depend on the order of the numbers of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Autocorrelation {
    /// The columns, in order.
    pub columns: Vec<OrderColumn>,
    /// The lags of the column `lags`, at least 1.
    pub lags: Vec<usize>,
    /// Whether the sums at lag k are divided by the number of their terms, n - k, as tsfresh does, rather than by n.
    pub adjusted: bool,
    /// The number of elements of a pattern, from 2 to 7.
    pub order: usize,
    /// The distance between the elements of a pattern.
    pub delay: usize,
    /// The number of elements on either side that a peak exceeds.
    pub support: usize,
}

/// The columns whose parts one pass over the numbers computes together.
const IN_ONE_PASS: [OrderColumn; 8] = [
    OrderColumn::ZeroCrossings,
    OrderColumn::MeanCrossings,
    OrderColumn::MeanAbsChange,
    OrderColumn::Complexity,
    OrderColumn::LongestAboveMean,
    OrderColumn::LongestBelowMean,
    OrderColumn::TrendSlope,
    OrderColumn::TrendR2,
];

/// The most patterns that are counted by comparisons: those of three elements.
const FEW: usize = 6;

impl Default for Autocorrelation {
    fn default() -> Self {
        let lags = vec![1, 2, 5, 10];
        Self { columns: OrderColumn::ALL.to_vec(), lags, adjusted: true, order: 3, delay: 1, support: 1 }
    }
}

impl Autocorrelation {
    /// Returns the names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.columns.iter().flat_map(|column| match column {
            OrderColumn::Lags => self.lags.iter().map(|lag| format!("lag_{lag}")).collect(),
            OrderColumn::Partial => (1..=self.longest()).map(|lag| format!("partial_{lag}")).collect(),
            one => vec![one.name().to_owned()],
        });
        names.collect()
    }

    fn longest(&self) -> usize {
        self.lags.iter().copied().max().unwrap_or(0)
    }

    fn has(&self, column: OrderColumn) -> bool {
        self.columns.contains(&column)
    }

    pub(super) fn wants_first_zero(&self) -> bool {
        self.has(OrderColumn::FirstZero)
    }

    /// Returns the lags whose sums are parts: those of the partial autocorrelations, then those of the column `lags`.
    pub(super) fn known_lags(&self) -> impl Iterator<Item = usize> {
        let partial = if self.has(OrderColumn::Partial) { self.longest() } else { 0 };
        let lags: &[usize] = if self.has(OrderColumn::Lags) { &self.lags } else { &[] };
        (1..=partial).chain(lags.iter().copied())
    }

    /// Returns the number of patterns that are counted.
    pub(super) fn patterns(&self) -> usize {
        if self.has(OrderColumn::PermutationEntropy) { (1..=self.order).product() } else { 0 }
    }

    /// Returns the number of places in a sample where a pattern begins.
    pub(super) fn places(&self, n: usize) -> usize {
        n.saturating_sub((self.order - 1) * self.delay)
    }

    /// Computes those parts that columns need: [`PARTS`] numbers, the covariance at every lag of
    /// [`Autocorrelation::known_lags`] (0 beyond the sample), and the counts of patterns.
    #[inline(always)]
    pub(super) fn parts<V: Vector<Scalar = f64>>(&self, group: &Group<'_, V>, out: &mut Vec<V>) {
        let (token, sums, x) = (group.token, group.sums, group.x);
        let (zero, one) = (V::splat(token, 0.0), V::splat(token, 1.0));
        let (n, mean) = (x.len(), sums.mean);
        let mut parts = [zero; PARTS];
        if self.has(OrderColumn::FirstZero) {
            parts[FIRST_ZERO] = first_zero(token, x, mean);
        }
        if self.has(OrderColumn::Peaks) {
            parts[PEAKS] = self.peaks(zero, one, x);
        }
        if self.columns.iter().any(|column| IN_ONE_PASS.contains(column)) {
            in_one_pass(token, x, mean, &mut parts);
        }
        parts[ENDS] = x[0];
        parts[ENDS + 1] = x[1.min(n - 1)];
        parts[ENDS + 2] = x[n.saturating_sub(2)];
        parts[ENDS + 3] = x[n - 1];
        out.extend_from_slice(&parts);
        let lags: Vec<usize> = self.known_lags().collect();
        let (fours, rest) = lags.as_chunks::<4>();
        for &four in fours {
            out.extend_from_slice(&covariances(token, x, mean, four));
        }
        for &lag in rest {
            out.push(covariance(token, x, mean, lag));
        }
        if self.has(OrderColumn::PermutationEntropy) {
            self.count_patterns(group, out);
        }
    }

    #[inline(always)]
    pub(super) fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, parts: &[V], out: &mut Vec<V>) {
        let (token, sums, n) = (known.token, known.sums, known.shape.len());
        let (zero, one) = (V::splat(token, 0.0), V::splat(token, 1.0));
        let undefined = V::splat(token, f64::NAN);
        let count = sums.n;
        let variance = sums.central[0] / count;
        let lags = self.known_lags().count();
        let (covariances, patterns) = parts[PARTS..].split_at(lags);
        let (partials, of_lags) = covariances.split_at(if self.has(OrderColumn::Partial) { self.longest() } else { 0 });
        for column in &self.columns {
            let begin = out.len();
            let mut least = 1;
            match column {
                OrderColumn::Lags => {
                    for (&lag, &covariance) in self.lags.iter().zip(of_lags) {
                        out.push(self.correlation(token, covariance, lag, n, variance));
                    }
                }
                OrderColumn::Partial => {
                    for (lag, &covariance) in (1..).zip(partials) {
                        out.push(self.correlation(token, covariance, lag, n, variance));
                    }
                    partial(one, &mut out[begin..]);
                }
                // Equal numbers have no correlations.
                OrderColumn::FirstZero => out.push(V::select(zero.lt(variance), parts[FIRST_ZERO], undefined)),
                OrderColumn::PermutationEntropy => out.push(self.permutation_entropy(token, patterns, n)),
                OrderColumn::ZeroCrossings => out.push(parts[ZERO_CROSSINGS]),
                OrderColumn::MeanCrossings => out.push(parts[MEAN_CROSSINGS]),
                OrderColumn::MeanChange => {
                    least = 2;
                    out.push((parts[ENDS + 3] - parts[ENDS]) / (count - one));
                }
                OrderColumn::MeanAbsChange => {
                    least = 2;
                    out.push(parts[CHANGES] / (count - one));
                }
                OrderColumn::MeanSecondDerivative => {
                    least = 3;
                    let twice = V::splat(token, 2.0 * (n as f64 - 2.0));
                    out.push((parts[ENDS + 3] - parts[ENDS + 2] - parts[ENDS + 1] + parts[ENDS]) / twice);
                }
                OrderColumn::Complexity => {
                    least = 2;
                    let sum = parts[SQUARES];
                    // Equal numbers have no changes, in whatever unit.
                    out.push(V::select(zero.lt(sum), (sum / variance).sqrt(), zero));
                }
                OrderColumn::Peaks => out.push(parts[PEAKS]),
                OrderColumn::LongestAboveMean => out.push(parts[ABOVE]),
                OrderColumn::LongestBelowMean => out.push(parts[BELOW]),
                OrderColumn::TrendSlope | OrderColumn::TrendR2 => {
                    least = 2;
                    let sum = parts[TREND];
                    let squares = V::splat(token, n as f64 * (n as f64 * n as f64 - 1.0) / 12.0);
                    out.push(match column {
                        OrderColumn::TrendSlope => sum / squares,
                        _ => (sum / squares) * (sum / sums.central[0]),
                    });
                }
            }
            if n < least {
                out[begin..].fill(undefined);
            }
        }
    }

    /// Returns the autocorrelation at a lag.
    #[inline(always)]
    fn correlation<V: Vector<Scalar = f64>>(
        &self,
        token: V::Token,
        covariance: V,
        lag: usize,
        n: usize,
        variance: V,
    ) -> V {
        if lag >= n {
            return V::splat(token, f64::NAN);
        }
        let terms = if self.adjusted { n - lag } else { n };
        covariance / (V::splat(token, terms as f64) * variance)
    }

    #[inline(always)]
    fn peaks<V: Vector<Scalar = f64>>(&self, zero: V, one: V, x: &[V]) -> V {
        let (n, support) = (x.len(), self.support);
        let mut sum = zero;
        for i in support..n.saturating_sub(support) {
            let mut others = x[i - 1].max(x[i + 1]);
            for distance in 2..=support {
                others = others.max(x[i - distance]).max(x[i + distance]);
            }
            sum += V::select(others.lt(x[i]), one, zero);
        }
        sum
    }

    /// Appends how often each pattern occurs.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a pattern")]
    fn count_patterns<V: Vector<Scalar = f64>>(&self, group: &Group<'_, V>, out: &mut Vec<V>) {
        let (token, x) = (group.token, group.x);
        let (zero, one) = (V::splat(token, 0.0), V::splat(token, 1.0));
        let patterns = self.patterns();
        // The number of a pattern in the factorial system: how many later elements are less than each one.
        let mut weights = [zero; 8];
        let mut weight = 1;
        for (later, to) in weights[..self.order].iter_mut().rev().enumerate() {
            weight *= later.max(1);
            *to = V::splat(token, weight as f64);
        }
        let mut counts = vec![0_u32; V::LANES * patterns];
        // A few patterns are counted by comparisons, in all lanes together: how many codes are less than each one or
        // equal to it.
        let few = patterns <= FEW;
        let (mut up_to, numbers) = ([zero; FEW], numbers_from_0::<V>(token));
        for i in 0..self.places(x.len()) {
            let mut code = zero;
            for a in 0..self.order - 1 {
                let element = x[i + a * self.delay];
                for b in a + 1..self.order {
                    code += V::select(x[i + b * self.delay].lt(element), weights[a], zero);
                }
            }
            if few {
                for (count, number) in up_to.iter_mut().zip(numbers) {
                    *count += V::select(code.le(number), one, zero);
                }
            } else {
                for (lane, &code) in code.as_slice().iter().enumerate() {
                    counts[lane * patterns + code as usize] += 1;
                }
            }
        }
        for pattern in 0..patterns {
            let mut made = zero;
            if few {
                made = if pattern > 0 { up_to[pattern] - up_to[pattern - 1] } else { up_to[0] };
            } else {
                for (lane, count) in made.as_mut_slice().iter_mut().enumerate() {
                    *count = f64::from(counts[lane * patterns + pattern]);
                }
            }
            out.push(made);
        }
    }

    #[inline(always)]
    fn permutation_entropy<V: Vector<Scalar = f64>>(&self, token: V::Token, counts: &[V], n: usize) -> V {
        let places = self.places(n);
        if places == 0 {
            return V::splat(token, f64::NAN);
        }
        let all = V::splat(token, places as f64);
        let mut shares = counts.to_vec();
        for share in &mut shares {
            *share = *share / all;
        }
        entropy(token, &shares, 0.0) / V::splat(token, (counts.len() as f64).ln())
    }
}

/// The number of parts that do not depend on the parameters, and their places: counts, sums of the magnitudes and of
/// the squares of changes, the longest runs, the sum of `(x_i - m)(i - middle)`, and the first two and last two
/// numbers.
pub(super) const PARTS: usize = 13;
const FIRST_ZERO: usize = 0;
const ZERO_CROSSINGS: usize = 1;
const MEAN_CROSSINGS: usize = 2;
const CHANGES: usize = 3;
const SQUARES: usize = 4;
const PEAKS: usize = 5;
const ABOVE: usize = 6;
const BELOW: usize = 7;
const TREND: usize = 8;
const ENDS: usize = 9;
/// The units of these parts (`parts.rs`).
pub(super) const UNITS: [usize; PARTS] = [0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 1, 1, 1];

#[inline(always)]
fn numbers_from_0<V: Vector<Scalar = f64>>(token: V::Token) -> [V; FEW] {
    let mut numbers = [V::splat(token, 0.0); FEW];
    for (number, of) in numbers.iter_mut().enumerate() {
        *of = V::splat(token, number as f64);
    }
    numbers
}
