//! Moments: sums over the numbers of a sample, regardless of their order.

use super::named::{Named, named};
use super::parts::Known;
use crate::lanes::Vector;
use serde::{Deserialize, Serialize};

named! {
    /// A column of [`Moments`]. The numbers of the sample are `x_i`, and there are n; `m` is their mean and `m_k` the
    /// mean of `(x_i - m)^k`.
    Moment {
        Count: "count", "n";
        Sum: "sum", "sum x_i";
        Mean: "mean", "m = sum x_i / n";
        Variance: "variance", "sum (x_i - m)^2 / (n - ddof), if n > ddof";
        Sd: "sd", "sqrt(variance)";
        Variation: "variation", "sd / (|m| + epsilon)";
        Skewness: "skewness", "m_3 / (sd + epsilon)^3; without bias, times sqrt(n (n - 1)) / (n - 2)";
        Kurtosis: "kurtosis", "m_4 / (sd + epsilon)^4, minus 3 if excess; without bias, (n - 1) / ((n - 2) (n - 3)) ((n + 1) m_4 / m_2^2 - 3 (n - 1)), plus 3 unless excess";
        Min: "min", "the least x_i";
        Max: "max", "the greatest x_i";
        AbsMax: "abs_max", "the greatest |x_i|";
        Range: "range", "max - min";
        Rms: "rms", "sqrt(sum x_i^2 / n)";
        Norm: "norm", "sqrt(sum x_i^2)";
        Energy: "energy", "sum x_i^2";
        MeanDeviation: "mean_deviation", "sum |x_i - m| / n";
    }
}

/// Moments of the numbers of a sample, with the conventions of the formulas of [`Moment`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Moments {
    /// The columns, in order.
    pub columns: Vec<Moment>,
    /// What the variance's denominator is less than n: 0 for the population's, 1 for the sample's.
    pub ddof: u32,
    /// What is added to denominators. Where it is 0, a ratio with the denominator 0 is undefined.
    pub epsilon: f64,
    /// Whether skewness and kurtosis are the plain ratios of moments. Otherwise they are corrected for the bias of a
    /// normal sample, as scipy's and pandas' are, and neither `ddof` nor `epsilon` affects them.
    pub bias: bool,
    /// Whether the kurtosis of a normal distribution counts as 0 rather than 3.
    pub excess: bool,
}

impl Default for Moments {
    fn default() -> Self {
        Self { columns: Moment::ALL.to_vec(), ddof: 0, epsilon: 0.0, bias: true, excess: true }
    }
}

/// Sums over the numbers of the samples of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums<V> {
    pub(super) n: V,
    pub(super) sum: V,
    pub(super) mean: V,
    pub(super) energy: V,
    pub(super) min: V,
    pub(super) max: V,
    /// The sums of the second to fourth powers of the distances from the mean.
    pub(super) central: [V; 3],
    /// The sum of the distances from the mean.
    pub(super) distance: V,
}

/// The number of partial sums, which are added at the end.
const PARTS: usize = 4;

/// Calls a macro with every number and the place of its partial sum. A closure would not be compiled with SIMD
/// instructions.
macro_rules! in_parts {
    ($x:expr, $add:ident) => {
        let (chunks, rest) = $x.as_chunks::<PARTS>();
        for chunk in chunks {
            for (part, &x) in chunk.iter().enumerate() {
                $add!(part, x);
            }
        }
        for (part, &x) in rest.iter().enumerate() {
            $add!(part, x);
        }
    };
}

#[inline(always)]
fn all<V: Vector>(parts: [V; PARTS]) -> V {
    (parts[0] + parts[1]) + (parts[2] + parts[3])
}

impl<V: Vector<Scalar = f64>> Sums<V> {
    /// Adds up the numbers in two passes. The first adds the distances from the first number, so that the variance of
    /// equal numbers is exactly 0.
    #[inline(always)]
    pub(super) fn of(token: V::Token, x: &[V]) -> Self {
        let none = [V::splat(token, 0.0); PARTS];
        let n = V::splat(token, x.len() as f64);
        let first = x[0];
        let (mut shifted, mut energy) = (none, none);
        let (mut min, mut max) = ([first; PARTS], [first; PARTS]);
        macro_rules! add {
            ($part:expr, $x:expr) => {
                shifted[$part] += $x - first;
                energy[$part] = $x.mul_add($x, energy[$part]);
                min[$part] = min[$part].min($x);
                max[$part] = max[$part].max($x);
            };
        }
        in_parts!(x, add);
        let mean = first + all(shifted) / n;
        let (mut second, mut third, mut fourth, mut distance) = (none, none, none, none);
        macro_rules! add_central {
            ($part:expr, $x:expr) => {
                let d = $x - mean;
                let square = d * d;
                second[$part] += square;
                third[$part] = square.mul_add(d, third[$part]);
                fourth[$part] = square.mul_add(square, fourth[$part]);
                distance[$part] += d.abs();
            };
        }
        in_parts!(x, add_central);
        Self {
            n,
            sum: first.mul_add(n, all(shifted)),
            mean,
            energy: all(energy),
            min: min[0].min(min[1]).min(min[2].min(min[3])),
            max: max[0].max(max[1]).max(max[2].max(max[3])),
            central: [all(second), all(third), all(fourth)],
            distance: all(distance),
        }
    }

    /// Returns the variance with the denominator `n - ddof`, which is undefined unless that is positive.
    #[inline(always)]
    pub(super) fn variance(&self, token: V::Token, ddof: u32) -> V {
        let denominator = self.n - V::splat(token, f64::from(ddof));
        let defined = V::splat(token, 0.0).lt(denominator);
        V::select(defined, self.central[0] / denominator, V::splat(token, f64::NAN))
    }
}

impl Moments {
    #[inline(always)]
    pub(super) fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, out: &mut Vec<V>) {
        let (token, sums) = (known.token, known.sums);
        let (n, epsilon) = (sums.n, V::splat(token, self.epsilon));
        let sd = sums.variance(token, self.ddof).sqrt();
        let (square, third, fourth) = (sums.central[0] / n, sums.central[1] / n, sums.central[2] / n);
        let (one, two, three) = (V::splat(token, 1.0), V::splat(token, 2.0), V::splat(token, 3.0));
        for column in &self.columns {
            out.push(match column {
                Moment::Count => n,
                Moment::Sum => sums.sum,
                Moment::Mean => sums.mean,
                Moment::Variance => sums.variance(token, self.ddof),
                Moment::Sd => sd,
                Moment::Variation => sd / (sums.mean.abs() + epsilon),
                Moment::Skewness if self.bias => {
                    let scale = sd + epsilon;
                    third / (scale * scale * scale)
                }
                Moment::Skewness => third / (square * square.sqrt()) * ((n * (n - one)).sqrt() / (n - two)),
                Moment::Kurtosis => {
                    let excess = if self.bias {
                        let scale = (sd + epsilon) * (sd + epsilon);
                        fourth / (scale * scale) - three
                    } else {
                        let plain = (n + one) * (fourth / (square * square)) - three * (n - one);
                        (n - one) / ((n - two) * (n - three)) * plain
                    };
                    if self.excess { excess } else { excess + three }
                }
                Moment::Min => sums.min,
                Moment::Max => sums.max,
                Moment::AbsMax => sums.max.max(-sums.min),
                Moment::Range => sums.max - sums.min,
                Moment::Rms => (sums.energy / n).sqrt(),
                Moment::Norm => sums.energy.sqrt(),
                Moment::Energy => sums.energy,
                Moment::MeanDeviation => sums.distance / n,
            });
        }
    }
}
