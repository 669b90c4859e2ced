//! The discrete Fourier transform of a sample, and columns that describe it.

mod seen;

use super::cpu::Group;
use super::histogram::exp;
use super::named::{Named, named};
use super::parts::Known;
use super::{SampleShape, Transform};
use crate::lanes::Vector;
use seen::{Seen, weighted_sum};
use serde::{Deserialize, Serialize};

named! {
    /// A column, or several, of [`Spectrum`]. `X_k` is the discrete Fourier transform of the sample without scaling, of
    /// a matrix in both dimensions. The frequency `f_k` is k/n cycles per element, of a matrix the length of the vector
    /// of both. `P_k = |X_k|^2`, and `p_k` is the share `P_k / sum P_k`. All columns see the same frequencies
    /// ([`Spectrum::zero`], [`Spectrum::both_sides`]), of which there are B; K is `top`.
    SpectrumColumn {
        Power: "power", "P_k, for each frequency of one side";
        Magnitudes: "magnitudes", "|X_k|, for each frequency of one side";
        Bands: "bands", "the sum of p_k over each of `bands` bands that divide the frequencies from 0 to 1/2 evenly";
        Top: "top", "the K greatest |X_k|, in descending order";
        Mean: "mean", "sum |X_k| / B";
        Sd: "sd", "the standard deviation of |X_k|, with the denominator B";
        Max: "max", "the greatest |X_k|";
        EnergyShare: "energy_share", "(the sum of the K greatest P_k) / (sum P_k + epsilon)";
        Centroid: "centroid", "c = sum f_k p_k";
        Spread: "spread", "sqrt(sum (f_k - c)^2 p_k)";
        Rolloff: "rolloff", "the least f such that p_k sums to `rolloff` or more over f_k <= f";
        Flatness: "flatness", "exp(sum ln P_k / B) / (sum P_k / B)";
        Entropy: "entropy", "-sum p_k ln(p_k + epsilon)";
        NormalizedEntropy: "normalized_entropy", "entropy / ln(B); 0 if B is 1";
        Dominant: "dominant", "f_k of the greatest P_k, the least such f_k";
    }
}

/// Columns of the spectrum of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spectrum {
    /// The columns, in order.
    pub columns: Vec<SpectrumColumn>,
    /// K, the number of frequencies of the columns `top` and `energy_share`.
    pub top: usize,
    /// The number of bands of the column `bands`.
    pub bands: usize,
    /// The share of the column `rolloff`.
    pub rolloff: f64,
    /// Whether frequency 0, which is the sum of the sample, belongs to the spectrum.
    pub zero: bool,
    /// Whether every frequency counts that a transform has. The spectrum of real numbers is symmetric, so otherwise
    /// those with a counterpart count once.
    pub both_sides: bool,
    /// What is added to the denominator of `energy_share` and, in the entropy, to shares.
    pub epsilon: f64,
}

impl Default for Spectrum {
    fn default() -> Self {
        use SpectrumColumn::{
            Bands, Centroid, Dominant, EnergyShare, Flatness, NormalizedEntropy, Rolloff, Spread, Top,
        };
        let columns = vec![Bands, Top, EnergyShare, Centroid, Spread, Rolloff, Flatness, NormalizedEntropy, Dominant];
        Self { columns, top: 5, bands: 8, rolloff: 0.85, zero: false, both_sides: false, epsilon: 0.0 }
    }
}

impl Spectrum {
    /// Returns the names of the columns.
    pub(super) fn names(&self, shape: SampleShape) -> Vec<String> {
        let first = self.skipped();
        let frequencies = |what: &str| (first..Transform::frequencies(shape)).map(|k| format!("{what}_{k}")).collect();
        let names = self.columns.iter().flat_map(|column| match column {
            SpectrumColumn::Power => frequencies("power"),
            SpectrumColumn::Magnitudes => frequencies("magnitude"),
            SpectrumColumn::Bands => (0..self.bands).map(|band| format!("band_{band}")).collect(),
            SpectrumColumn::Top => (1..=self.top).map(|j| format!("top_{j}")).collect(),
            one => vec![one.name().to_owned()],
        });
        names.collect()
    }

    fn has(&self, columns: &[SpectrumColumn]) -> bool {
        columns.iter().any(|column| self.columns.contains(column))
    }

    /// Returns which of the parts after [`PARTS`] there are: the K greatest powers, the sums of bands, and all powers.
    pub(super) fn further(&self) -> [bool; 3] {
        use SpectrumColumn::{Bands, EnergyShare, Magnitudes, Power, Top};
        [self.has(&[Top, EnergyShare]), self.has(&[Bands]), self.has(&[Power, Magnitudes])]
    }

    /// Computes those parts that columns need: [`PARTS`] numbers, then those of [`Spectrum::further`].
    #[inline(always)]
    pub(super) fn parts<V: Vector<Scalar = f64>>(&self, group: &Group<'_, V>, out: &mut Vec<V>) {
        use SpectrumColumn as Column;
        let Some(transform) = group.transform else { return };
        let first = self.skipped();
        let seen = Seen {
            token: group.token,
            power: &group.power[first..],
            weights: &transform.weights[first..],
            both_sides: self.both_sides,
            frequencies: &transform.frequencies[first..],
            order: &transform.order[first..],
            first,
        };
        let token = seen.token;
        let zero = V::splat(token, 0.0);
        let total = seen.total();
        let mut parts = [zero; PARTS];
        parts[TOTAL] = total;
        parts[SCALED_TOTAL] = total;
        if self.has(&[Column::Centroid, Column::Spread]) {
            parts[MOMENT] = weighted_sum!(seen, |f, p| f * p);
        }
        if self.has(&[Column::Spread]) {
            let centroid = parts[MOMENT] / total;
            parts[SPREAD] = weighted_sum!(seen, |f, p| (f - centroid) * (f - centroid) * p);
        }
        if self.has(&[Column::Mean, Column::Sd]) {
            parts[MAGNITUDE] = weighted_sum!(seen, |_f, p| p.sqrt());
        }
        if self.has(&[Column::Sd]) {
            let mean = parts[MAGNITUDE] / V::splat(token, seen.bins());
            parts[DEVIATION] = weighted_sum!(seen, |_f, p| (p.sqrt() - mean) * (p.sqrt() - mean));
        }
        if self.has(&[Column::Max]) {
            for &power in seen.power {
                parts[MAX] = parts[MAX].max(power);
            }
        }
        if self.has(&[Column::Entropy, Column::NormalizedEntropy]) {
            parts[ENTROPY] = seen.entropy(total, self.epsilon);
        }
        if self.has(&[Column::Rolloff]) {
            parts[ROLLOFF] = seen.rolloff(total * V::splat(token, self.rolloff));
        }
        if self.has(&[Column::Flatness]) {
            parts[LOGARITHMS] = seen.sum_of_logarithms();
        }
        if self.has(&[Column::Dominant]) {
            parts[DOMINANT] = seen.dominant();
        }
        out.extend_from_slice(&parts);
        let [top, bands, powers] = self.further();
        if top {
            seen.greatest(self.top, out);
        }
        if bands {
            let begin = out.len();
            out.resize(begin + self.bands, zero);
            for (k, &power) in seen.power.iter().enumerate() {
                let band = begin + band(seen.frequencies[k], self.bands);
                out[band] = power.mul_add(V::splat(token, seen.weight(k)), out[band]);
            }
        }
        if powers {
            out.extend_from_slice(seen.power);
        }
    }

    #[inline(always)]
    pub(super) fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, parts: &[V], out: &mut Vec<V>) {
        use SpectrumColumn as Column;
        let Some(transform) = known.transform else { return };
        let (token, zero) = (known.token, V::splat(known.token, 0.0));
        let bins = self.bins(transform);
        let (count, total) = (V::splat(token, bins), parts[TOTAL]);
        // Without power, shares are undefined.
        let undefined = V::select(zero.lt(total), zero, V::splat(token, f64::NAN));
        let [has_top, has_bands, _] = self.further();
        let (top, rest) = parts[PARTS..].split_at(if has_top { self.top } else { 0 });
        let (bands, powers) = rest.split_at(if has_bands { self.bands } else { 0 });
        let entropy = undefined + parts[ENTROPY];
        for column in &self.columns {
            match column {
                Column::Power => out.extend_from_slice(powers),
                Column::Magnitudes => {
                    for power in powers {
                        out.push(power.sqrt());
                    }
                }
                Column::Bands => {
                    for &sum in bands {
                        out.push(sum / total);
                    }
                }
                Column::Top => {
                    for power in top {
                        out.push(power.sqrt());
                    }
                }
                Column::Mean => out.push(parts[MAGNITUDE] / count),
                Column::Sd => out.push((parts[DEVIATION] / count).sqrt()),
                Column::Max => {
                    // Without frequencies, there is no greatest one.
                    out.push((parts[MAX] + V::splat(token, if bins > 0.0 { 0.0 } else { f64::NAN })).sqrt());
                }
                Column::EnergyShare => {
                    let mut sum = zero;
                    for &power in top {
                        sum += power;
                    }
                    out.push(sum / (total + V::splat(token, self.epsilon)));
                }
                Column::Centroid => out.push(parts[MOMENT] / total),
                Column::Spread => out.push((parts[SPREAD] / total).sqrt()),
                Column::Rolloff => out.push(undefined + parts[ROLLOFF]),
                Column::Flatness => out.push(exp(parts[LOGARITHMS] / count) / (parts[SCALED_TOTAL] / count)),
                Column::Entropy => out.push(entropy),
                Column::NormalizedEntropy => {
                    // One frequency has all the power.
                    let most = if bins > 1.0 { bins.ln() } else { 1.0 };
                    out.push(entropy / V::splat(token, most));
                }
                Column::Dominant => out.push(undefined + parts[DOMINANT]),
            }
        }
    }

    /// Returns the number of frequencies that the columns do not see.
    pub(super) fn skipped(&self) -> usize {
        usize::from(!self.zero)
    }

    /// Returns the table of a kernel: for each result of a transform its frequency, how often it counts, the result
    /// with the next greater frequency in this place, and its band.
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    pub(super) fn table(&self, transform: &Transform) -> Vec<[f32; 4]> {
        let row = |k: usize| {
            let weight = if self.both_sides { transform.weights[k] } else { 1.0 };
            let (frequency, next) = (transform.frequencies[k], transform.order[k] as f32);
            [frequency as f32, weight as f32, next, band(frequency, self.bands) as f32]
        };
        (0..transform.weights.len()).map(row).collect()
    }

    /// Returns the number of frequencies that the columns see.
    pub(super) fn bins(&self, transform: &Transform) -> f64 {
        let weights = &transform.weights[self.skipped()..];
        if self.both_sides { weights.iter().sum() } else { weights.len() as f64 }
    }
}

/// The number of parts that every spectrum has, and their places: the total power, twice; sum f P; sum (f - c)^2 P;
/// sum |X|; sum (|X| - mean)^2; the greatest power; the entropy; the frequencies of the columns `rolloff` and
/// `dominant`; sum ln P.
pub(super) const PARTS: usize = 11;
const TOTAL: usize = 0;
const MOMENT: usize = 1;
const SPREAD: usize = 2;
const MAGNITUDE: usize = 3;
const DEVIATION: usize = 4;
const MAX: usize = 5;
const ENTROPY: usize = 6;
const ROLLOFF: usize = 7;
const DOMINANT: usize = 8;
const LOGARITHMS: usize = 9;
/// The total power in the unit of the logarithms, which on the device is that of scaled numbers.
const SCALED_TOTAL: usize = 10;
/// The units of these parts (`parts.rs`).
pub(super) const UNITS: [usize; PARTS] = [2, 2, 2, 1, 2, 2, 0, 0, 0, 0, 0];

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a band")]
fn band(frequency: f64, bands: usize) -> usize {
    ((2.0 * frequency * bands as f64) as usize).min(bands - 1)
}
