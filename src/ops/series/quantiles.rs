//! Quantiles, and distances between them.

use super::cpu::Group;
use super::named::named;
use super::parts::Known;
use crate::lanes::Vector;
use serde::{Deserialize, Serialize};

named! {
    /// How a quantile is taken between two numbers, with NumPy's names. The place of quantile q among n ascending
    /// numbers, counted from 0, is q (n - 1).
    QuantileRule {
        Linear: "linear", "interpolates between the numbers on both sides of the place";
        Lower: "lower", "the number below the place, as torch's median is";
        Higher: "higher", "the number above the place";
    }
}

/// Quantiles of the numbers of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quantiles {
    /// The quantiles, from 0 to 1.
    pub q: Vec<f64>,
    /// Differences between two quantiles, such as (0.25, 0.75) for the interquartile range.
    pub spreads: Vec<(f64, f64)>,
    /// Whether the last column is the median of the distances from the median, `median |x_i - median|`.
    pub mad: bool,
    /// How quantiles are taken between two numbers. The median absolute deviation is always interpolated.
    pub rule: QuantileRule,
}

impl Default for Quantiles {
    fn default() -> Self {
        let q = vec![0.05, 0.25, 0.5, 0.75, 0.95];
        Self { q, spreads: vec![(0.25, 0.75)], mad: true, rule: QuantileRule::Linear }
    }
}

impl Quantiles {
    /// Returns the names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        let quantiles = self.q.iter().map(|q| format!("q{q}"));
        let spreads = self.spreads.iter().map(|&(low, high)| match (low, high) {
            (0.25, 0.75) => "iqr".to_owned(),
            (low, high) => format!("q{low}_to_q{high}"),
        });
        quantiles.chain(spreads).chain(self.mad.then(|| "mad".to_owned())).collect()
    }

    /// Returns the quantiles that the columns need.
    fn all(&self) -> impl Iterator<Item = f64> {
        self.q.iter().copied().chain(self.spreads.iter().flat_map(|&(low, high)| [low, high]))
    }

    /// Returns the places in ascending order of the numbers that the columns need, two for each quantile.
    pub(super) fn places(&self, n: usize) -> impl Iterator<Item = usize> {
        self.all().flat_map(move |q| {
            let [below, above] = Place::of(n, q).around;
            match self.rule {
                QuantileRule::Linear => [below, above],
                QuantileRule::Lower => [below; 2],
                QuantileRule::Higher => [above; 2],
            }
        })
    }

    /// Takes the numbers at [`Quantiles::places`] and, last, the median absolute deviation.
    #[inline(always)]
    pub(super) fn parts<V: Vector<Scalar = f64>>(&self, group: &Group<'_, V>, out: &mut Vec<V>) {
        let (token, sorted) = (group.token, group.sorted);
        for place in self.places(sorted.len()) {
            out.push(sorted[place]);
        }
        if self.mad {
            let mut deviation = V::splat(token, 0.0);
            for lane in 0..V::LANES {
                deviation.as_mut_slice()[lane] = median_deviation(sorted.len(), |i| sorted[i].as_slice()[lane]);
            }
            out.push(deviation);
        }
    }

    #[inline(always)]
    pub(super) fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, parts: &[V], out: &mut Vec<V>) {
        let begin = out.len();
        let n = known.shape.len();
        for (q, pair) in self.all().zip(parts.as_chunks::<2>().0) {
            let fraction = V::splat(known.token, Place::of(n, q).fraction);
            out.push((pair[1] - pair[0]).mul_add(fraction, pair[0]));
        }
        // The quantiles of a spread are next to each other, and become one column.
        let spreads = begin + self.q.len();
        for spread in 0..self.spreads.len() {
            out[spreads + spread] = out[spreads + 2 * spread + 1] - out[spreads + 2 * spread];
        }
        out.truncate(spreads + self.spreads.len());
        if self.mad {
            out.extend(parts.last());
        }
    }
}

/// The place of a quantile among ascending numbers: those around it, and how far it is from the first to the second.
struct Place {
    around: [usize; 2],
    fraction: f64,
}

impl Place {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among the numbers")]
    fn of(n: usize, q: f64) -> Self {
        let last = n - 1;
        let place = q * last as f64;
        let around = [(place.floor() as usize).min(last), (place.ceil() as usize).min(last)];
        Self { around, fraction: place - place.floor() }
    }
}

/// Returns the median of the distances of ascending numbers from their median.
///
/// The distances to both sides of the median are two ascending lists. The number of elements that the smallest
/// distances take from the left list is found by bisection, so nothing is sorted again.
#[inline(always)]
fn median_deviation(n: usize, x: impl Fn(usize) -> f64) -> f64 {
    let median = if n.is_multiple_of(2) { x(n / 2 - 1) + (x(n / 2) - x(n / 2 - 1)) * 0.5 } else { x(n / 2) };
    let lefts = n / 2;
    let left = |i: usize| median - x(lefts - 1 - i);
    let right = |i: usize| x(lefts + i) - median;
    // The `count` smallest distances, of which the last one or two are averaged.
    let count = n / 2 + 1;
    let (mut fewest, mut most) = (count.saturating_sub(n - lefts), count.min(lefts));
    while fewest < most {
        let taken = usize::midpoint(fewest, most);
        if left(taken) < right(count - taken - 1) {
            fewest = taken + 1;
        } else {
            most = taken;
        }
    }
    let (lefts, rights) = (fewest, count - fewest);
    let largest = |lefts: usize, rights: usize| match (lefts, rights) {
        (0, rights) => right(rights - 1),
        (lefts, 0) => left(lefts - 1),
        (lefts, rights) => left(lefts - 1).max(right(rights - 1)),
    };
    let upper = largest(lefts, rights);
    if !n.is_multiple_of(2) {
        return upper;
    }
    let from_left = rights == 0 || lefts > 0 && left(lefts - 1) >= right(rights - 1);
    let lower = if from_left { largest(lefts - 1, rights) } else { largest(lefts, rights - 1) };
    lower + (upper - lower) * 0.5
}

#[cfg(test)]
mod tests {
    use super::median_deviation;

    #[test]
    fn the_median_deviation_is_that_of_sorted_distances() {
        let mut state = 1_u64;
        for n in 1..40 {
            for range in [2, 5, 1000] {
                let mut x: Vec<f64> = (0..n)
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        ((state >> 33) % range) as f64
                    })
                    .collect();
                x.sort_by(f64::total_cmp);
                let middle = |x: &[f64]| f64::midpoint(x[(x.len() - 1) / 2], x[x.len() / 2]);
                let median = middle(&x);
                let mut distances: Vec<f64> = x.iter().map(|x| (x - median).abs()).collect();
                distances.sort_by(f64::total_cmp);
                assert_eq!(median_deviation(n, |i| x[i]), middle(&distances), "{x:?}");
            }
        }
    }
}
