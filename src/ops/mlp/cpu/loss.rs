//! Losses of a batch and their derivatives by the outputs of the network.

use super::super::spec::Loss;
use crate::ops::elementary::{Elementary, each_of};

/// The targets of a batch, in the order of its samples.
#[derive(Clone, Copy)]
pub(super) enum Targets<'a, T> {
    Labels(&'a [u32]),
    /// The given number of values for each sample.
    Values(&'a [T], usize),
}

/// A loss whose parameters are in the precision of the network.
#[derive(Clone, Debug)]
pub(super) enum Prepared<T> {
    /// The weight of each class, or none; the share of the label, and the share of every class.
    CrossEntropy(Vec<T>, T, T),
    Binary,
    /// e^-M and 1 - 2 e^-M.
    Bounded(T, T),
    MeanSquares,
    Tangent,
    Savage,
    WeightedBinary,
}

impl<T: Elementary> Prepared<T> {
    #[expect(clippy::cast_precision_loss, reason = "a number of classes")]
    pub(super) fn new(loss: &Loss, outputs: usize) -> Self {
        match loss {
            Loss::CrossEntropy { label_smoothing, class_weights } => {
                let weights = class_weights.iter().map(|&w| T::from_f64(w)).collect();
                let each = label_smoothing / outputs as f64;
                Self::CrossEntropy(weights, T::from_f64(1.0 - label_smoothing), T::from_f64(each))
            }
            Loss::BinaryCrossEntropy => Self::Binary,
            Loss::BoundedCrossEntropy(bound) => {
                let least = (-bound).exp();
                Self::Bounded(T::from_f64(least), T::from_f64(1.0 - 2.0 * least))
            }
            Loss::MeanSquares => Self::MeanSquares,
            Loss::Tangent => Self::Tangent,
            Loss::Savage => Self::Savage,
            Loss::WeightedBinary => Self::WeightedBinary,
        }
    }

    /// Replaces the outputs of each sample by the derivatives of the batch's loss, and returns the loss. Each row of
    /// `z` has `stride` elements, of which `outputs` count. `work` is memory for as many numbers as `z` has.
    #[inline(always)]
    pub(super) fn derivatives(
        &self,
        z: &mut [T],
        [outputs, stride]: [usize; 2],
        targets: Targets<'_, T>,
        work: &mut [T],
    ) -> T {
        let rows = z.len() / stride;
        let terms = if matches!(self, Self::Binary | Self::MeanSquares) { rows * outputs } else { rows };
        #[expect(clippy::cast_precision_loss, reason = "a number of terms")]
        let each = T::from_f64(1.0) / T::from_f64(terms as f64);
        if let (Self::CrossEntropy(weights, _, of_each), Targets::Labels(labels)) = (self, targets)
            && weights.is_empty()
            && *of_each == T::from_f64(0.0)
        {
            return plain_cross_entropy(z, [outputs, stride], labels, work, each);
        }
        let (mut loss, mut weight) = (T::from_f64(0.0), T::from_f64(0.0));
        for (sample, z) in z.chunks_exact_mut(stride).enumerate() {
            let (own, own_weight) = self.of_sample(&mut z[..outputs], targets, sample);
            loss += own;
            weight += own_weight;
        }
        let weighted = matches!(self, Self::CrossEntropy(weights, ..) if !weights.is_empty());
        let scale = if weighted { T::from_f64(1.0) / weight } else { each };
        for z in z.chunks_exact_mut(stride) {
            z[..outputs].iter_mut().for_each(|z| *z *= scale);
        }
        loss * scale
    }

    /// Replaces the outputs of a sample by the derivatives of its loss. Returns the loss and the weight of the sample.
    #[inline(always)]
    pub(super) fn of_sample(&self, z: &mut [T], targets: Targets<'_, T>, sample: usize) -> (T, T) {
        let (zero, one, two) = (T::from_f64(0.0), T::from_f64(1.0), T::from_f64(2.0));
        let label = || match targets {
            Targets::Labels(labels) => labels[sample] as usize,
            Targets::Values(..) => 0,
        };
        let value = |output: usize| match targets {
            Targets::Labels(labels) => {
                if labels[sample] == 0 {
                    zero
                } else {
                    one
                }
            }
            Targets::Values(values, each) => values[sample * each + output],
        };
        match self {
            Self::CrossEntropy(weights, of_label, of_each) => {
                let label = label();
                let sum = exponentials(z);
                let log_sum = sum.ln();
                let weight = |class: usize| weights.get(class).copied().unwrap_or(one);
                let share =
                    |class: usize| weight(class) * (if class == label { *of_label + *of_each } else { *of_each });
                // z holds z - max now. The loss is the sum of share (log sum - z).
                let (mut loss, mut shares) = (zero, zero);
                for (class, z) in z.iter().enumerate() {
                    if class == label || *of_each > zero {
                        loss += share(class) * (log_sum - *z);
                        shares += share(class);
                    }
                }
                let scale = shares / sum;
                for (class, z) in z.iter_mut().enumerate() {
                    *z = z.exp() * scale - share(class);
                }
                (loss, weight(label))
            }
            Self::Binary => {
                let mut loss = zero;
                for (output, z) in z.iter_mut().enumerate() {
                    let t = value(output);
                    loss += z.softplus() - t * *z;
                    *z = z.logistic() - t;
                }
                (loss, one)
            }
            Self::Bounded(least, width) => {
                if let [z] = z {
                    let sign = if label() == 0 { -one } else { one };
                    let v = sign * *z;
                    // p (1 - p) from both tails, without cancellation.
                    let (p, q) = (v.logistic(), (-v).logistic());
                    let inside = width.fused(p, *least);
                    *z = -sign * *width * p * q / inside;
                    return (-inside.ln(), one);
                }
                let label = label();
                let sum = exponentials(z);
                let inverse = one / sum;
                let p = z[label].exp() * inverse;
                let inside = width.fused(p, *least);
                let factor = *width * p / inside;
                for (class, z) in z.iter_mut().enumerate() {
                    let q = z.exp() * inverse;
                    *z = if class == label { -factor * (one - q) } else { factor * q };
                }
                (-inside.ln(), one)
            }
            Self::MeanSquares => {
                let mut loss = zero;
                for (output, z) in z.iter_mut().enumerate() {
                    let off = *z - value(output);
                    loss += off * off;
                    *z = two * off;
                }
                (loss, one)
            }
            Self::Tangent => {
                let sign = if label() == 0 { -one } else { one };
                let v = sign * z[0];
                let off = two * v.atan() - one;
                z[0] = sign * (two * two) * off / v.fused(v, one);
                (off * off, one)
            }
            Self::Savage => {
                let sign = if label() == 0 { -one } else { one };
                let v = two * sign * z[0];
                let (s, rest) = ((-v).logistic(), v.logistic());
                z[0] = -sign * (two * two) * s * s * rest;
                (s * s, one)
            }
            Self::WeightedBinary => {
                let (a, b) = (value(0), value(1));
                let loss = a * (-z[0]).softplus() + b * z[0].softplus();
                z[0] = b * z[0].logistic() - a * (-z[0]).logistic();
                (loss, one)
            }
        }
    }

    /// Returns the loss of a sample, without derivatives, and the weight of the sample. The outputs are overwritten.
    #[inline(always)]
    pub(super) fn value(&self, z: &mut [T], targets: Targets<'_, T>, sample: usize) -> (f64, f64) {
        #[expect(clippy::cast_precision_loss, reason = "a number of outputs")]
        let terms = if matches!(self, Self::Binary | Self::MeanSquares) { z.len() as f64 } else { 1.0 };
        let (loss, weight) = self.of_sample(z, targets, sample);
        (loss.to_f64() / terms, if matches!(self, Self::CrossEntropy(..)) { weight.to_f64() } else { 1.0 })
    }

    /// Replaces outputs by probabilities where the loss has them. With one output, this is the probability of label 1.
    #[inline(always)]
    pub(super) fn probabilities(&self, z: &mut [T]) {
        match self {
            Self::MeanSquares => {}
            Self::CrossEntropy(..) | Self::Bounded(..) if z.len() > 1 => {
                let sum = exponentials(z);
                z.iter_mut().for_each(|z| *z = z.exp() / sum);
            }
            // The tangent loss is minimized by v = tan(p - 1/2), the Savage loss by 2 v = log(p / (1 - p)).
            Self::Tangent => {
                let p = z[0].atan() + T::from_f64(0.5);
                let p = if p < T::from_f64(0.0) { T::from_f64(0.0) } else { p };
                z[0] = if p > T::from_f64(1.0) { T::from_f64(1.0) } else { p };
            }
            Self::Savage => z[0] = (T::from_f64(2.0) * z[0]).logistic(),
            _ => z.iter_mut().for_each(|z| *z = z.logistic()),
        }
    }
}

/// The cross entropy without weights and smoothing. The exponentials of all samples are computed in one loop, because
/// those of one sample rarely fill a SIMD vector.
#[inline(always)]
fn plain_cross_entropy<T: Elementary>(
    z: &mut [T],
    [outputs, stride]: [usize; 2],
    labels: &[u32],
    work: &mut [T],
    each: T,
) -> T {
    for z in z.chunks_exact_mut(stride) {
        let largest = largest(&z[..outputs]);
        z[..outputs].iter_mut().for_each(|z| *z -= largest);
    }
    let work = &mut work[..z.len()];
    work.copy_from_slice(z);
    each_of(work, T::exp);
    let mut loss = T::from_f64(0.0);
    for ((z, work), &label) in z.chunks_exact_mut(stride).zip(work.chunks_exact(stride)).zip(labels) {
        let (z, work) = (&mut z[..outputs], &work[..outputs]);
        let sum = work.iter().fold(T::from_f64(0.0), |sum, &x| sum + x);
        loss += sum.ln() - z[label as usize];
        let scale = each / sum;
        for (z, work) in z.iter_mut().zip(work) {
            *z = *work * scale;
        }
        z[label as usize] -= each;
    }
    loss * each
}

#[inline(always)]
fn largest<T: Elementary>(z: &[T]) -> T {
    z[1..].iter().fold(z[0], |largest, &z| if z > largest { z } else { largest })
}

/// Subtracts the largest element from all, and returns the sum of the exponentials.
#[inline(always)]
fn exponentials<T: Elementary>(z: &mut [T]) -> T {
    let largest = largest(z);
    let mut sum = T::from_f64(0.0);
    for z in z {
        *z -= largest;
        sum += z.exp();
    }
    sum
}

/// Returns the class that the outputs predict.
pub(super) fn predicted<T: Elementary>(z: &[T]) -> u32 {
    if let [z] = z {
        return u32::from(*z > T::from_f64(0.0));
    }
    let mut best = 0;
    for (class, &one) in z.iter().enumerate() {
        if one > z[best] {
            best = class;
        }
    }
    u32::try_from(best).unwrap_or(u32::MAX)
}

/// Returns whether the outputs predict `label`, as [`predicted`] does.
#[inline(always)]
pub(super) fn is_right<T: Elementary>(z: &[T], label: u32) -> bool {
    let label = label as usize;
    if z.len() == 1 {
        return (z[0] > T::from_f64(0.0)) == (label == 1);
    }
    let own = z[label];
    let before = z[..label].iter().fold(true, |right, &z| right & (z < own));
    z[label + 1..].iter().fold(before, |right, &z| right & (z <= own))
}
