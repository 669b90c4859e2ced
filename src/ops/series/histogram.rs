//! Histograms and their entropies.

use super::cpu::Group;
use super::named::{Named, named};
use super::parts::Known;
use crate::lanes::Vector;
use crate::ops::elementary::{Elementary, each_of};
use serde::{Deserialize, Serialize};

named! {
    /// A column, or several, of [`Histograms`]. The share of bin j is `p_j`.
    HistogramColumn {
        Counts: "counts", "the number of x_i in each bin";
        Shares: "shares", "p_j = counts / n, for each bin";
        Entropy: "entropy", "-sum p_j ln(p_j + epsilon)";
        NormalizedEntropy: "normalized_entropy", "entropy / ln(bins); 0 for one bin";
    }
}

/// A histogram with bins of equal width. Each bin includes its lower edge, and the last bin also its upper edge, as in
/// NumPy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Histograms {
    /// The columns, in order.
    pub columns: Vec<HistogramColumn>,
    /// The number of bins.
    pub bins: usize,
    /// The lower and the upper edge. Without it, every sample has its own: its least and its greatest number, or
    /// 0.5 to either side if all numbers are equal. Numbers beyond are in no bin.
    pub range: Option<(f64, f64)>,
    /// What is added to shares before the logarithm. Where it is 0, empty bins add nothing.
    pub epsilon: f64,
}

impl Default for Histograms {
    fn default() -> Self {
        use HistogramColumn::{Entropy, NormalizedEntropy, Shares};
        Self { columns: vec![Shares, Entropy, NormalizedEntropy], bins: 10, range: None, epsilon: 0.0 }
    }
}

/// Adding this number to one that is neither negative nor large rounds it to a whole number.
const ROUND: f64 = 4_503_599_627_370_496.0;

impl Histograms {
    /// Returns the names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.columns.iter().flat_map(|column| match column {
            HistogramColumn::Counts => (0..self.bins).map(|bin| format!("count_{bin}")).collect(),
            HistogramColumn::Shares => (0..self.bins).map(|bin| format!("share_{bin}")).collect(),
            one => vec![one.name().to_owned()],
        });
        names.collect()
    }

    #[inline(always)]
    pub(super) fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, counts: &[V], out: &mut Vec<V>) {
        let (token, sums) = (known.token, known.sums);
        let mut shares = counts.to_vec();
        for share in &mut shares {
            *share = *share / sums.n;
        }
        let entropy = entropy(token, &shares, self.epsilon);
        for column in &self.columns {
            match column {
                HistogramColumn::Counts => out.extend_from_slice(counts),
                HistogramColumn::Shares => out.extend_from_slice(&shares),
                HistogramColumn::Entropy => out.push(entropy),
                HistogramColumn::NormalizedEntropy => {
                    let most = if self.bins > 1 { (self.bins as f64).ln() } else { 1.0 };
                    out.push(entropy / V::splat(token, most));
                }
            }
        }
    }

    /// Returns the edges for numbers in f32, if they are given: the least number of each bin, and the greatest one of
    /// the last bin.
    pub(super) fn edges(&self) -> Option<Vec<f32>> {
        let mut edges = vec![0.0; self.bins + 1];
        write_edges(self.range?, 1.0, &mut edges);
        Some(edges)
    }

    /// Writes the edges of a sample's own range, for its numbers after they were scaled as on the device (`parts.rs`).
    pub(super) fn edges_of(&self, sample: &[f32], edges: &mut [f32]) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in sample.iter().map(|&x| f64::from(x) + 0.0) {
            (low, high) = (low.min(x), high.max(x));
        }
        let greatest = high.max(-low);
        // The sample's columns are NaN in any case if a number is not finite.
        let scale = if greatest > 0.0 && greatest.is_finite() { (-greatest.log2().floor()).exp2() } else { 1.0 };
        if high <= low {
            (low, high) = (low - 0.5, high + 0.5);
        }
        write_edges((low, high), scale, edges);
    }

    /// Counts the numbers of each sample in each bin.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a bin")]
    pub(super) fn parts<V: Vector<Scalar = f64>>(&self, group: &Group<'_, V>, out: &mut Vec<V>) {
        let token = group.token;
        let (zero, half, one) = (V::splat(token, 0.0), V::splat(token, 0.5), V::splat(token, 1.0));
        let round = V::splat(token, ROUND);
        let (low, high) = match self.range {
            Some((low, high)) => (V::splat(token, low), V::splat(token, high)),
            None => {
                let (low, high) = (group.sums.min, group.sums.max);
                let equal = high.le(low);
                (V::select(equal, low - half, low), V::select(equal, high + half, high))
            }
        };
        let bins = V::splat(token, self.bins as f64);
        let (width, scale) = ((high - low) / bins, bins / (high - low));
        let (last, outside) = (bins - one, bins);
        // A row for each lane, with one more bin for numbers beyond the edges.
        let stride = self.bins + 1;
        let mut counts = vec![0_u32; V::LANES * stride];
        for &x in group.x {
            // The nearest edge, and from it the bin whose edges enclose the number. The edges are rounded as NumPy's.
            let nearest = ((x - low) * scale + round) - round;
            let bin = V::select(x.lt(nearest * width + low), nearest - one, nearest);
            let bin = V::select(((bin + one) * width + low).le(x), bin + one, bin);
            let bin = zero.max(bin).min(last);
            let bin = V::select(x.lt(low), outside, bin);
            let bin = V::select(high.lt(x), outside, bin);
            for (lane, &bin) in bin.as_slice().iter().enumerate() {
                counts[lane * stride + bin as usize] += 1;
            }
        }
        for bin in 0..self.bins {
            let mut made = zero;
            for (lane, made) in made.as_mut_slice().iter_mut().enumerate() {
                *made = f64::from(counts[lane * stride + bin]);
            }
            out.push(made);
        }
    }
}

/// Writes the edges of bins, times a power of two, as those numbers in f32 that are in the bins: the least one of each,
/// and the greatest one of the last.
#[expect(clippy::cast_possible_truncation, reason = "the nearest number, or one of its neighbors")]
fn write_edges((low, high): (f64, f64), scale: f64, edges: &mut [f32]) {
    let Some((last, least)) = edges.split_last_mut() else { return };
    let width = (high - low) / least.len() as f64;
    for (bin, to) in least.iter_mut().enumerate() {
        let edge = (bin as f64 * width + low) * scale;
        *to = if f64::from(edge as f32) < edge { (edge as f32).next_up() } else { edge as f32 };
    }
    let high = high * scale;
    *last = if f64::from(high as f32) > high { (high as f32).next_down() } else { high as f32 };
}

/// Returns `-sum p ln(p + epsilon)`, where a share of 0 adds nothing.
#[inline(always)]
pub(super) fn entropy<V: Vector<Scalar = f64>>(token: V::Token, shares: &[V], epsilon: f64) -> V {
    let (zero, epsilon) = (V::splat(token, 0.0), V::splat(token, epsilon));
    let mut with_epsilon = shares.to_vec();
    for share in &mut with_epsilon {
        *share += epsilon;
    }
    let logs = logarithms(&with_epsilon);
    let mut sum = zero;
    for (&share, log) in shares.iter().zip(logs.chunks_exact(V::LANES)) {
        sum += V::select(zero.lt(share), share * V::load(token, log), zero);
    }
    zero - sum
}

/// Returns the natural logarithms, vector after vector. They are computed in a list, because the compiler turns only
/// long loops into SIMD instructions.
#[inline(always)]
pub(super) fn logarithms<V: Vector<Scalar = f64>>(x: &[V]) -> Vec<f64> {
    let mut logs = Vec::with_capacity((x.len() * V::LANES).next_multiple_of(16));
    for x in x {
        logs.extend_from_slice(x.as_slice());
    }
    logs.resize(logs.len().next_multiple_of(16), 1.0);
    each_of(&mut logs, Elementary::ln);
    logs
}

/// Returns e^x.
#[inline(always)]
pub(super) fn exp<V: Vector<Scalar = f64>>(mut x: V) -> V {
    for x in x.as_mut_slice() {
        *x = Elementary::exp(*x);
    }
    x
}
