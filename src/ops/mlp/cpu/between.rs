//! What a layer does between its linear map and the next layer, forward and backward: normalization, activation,
//! dropout. Features are in lanes; loops over slices compile to SIMD instructions.

use super::super::layout::STRIP;
use super::super::spec::Activation;
use super::elementary::{Elementary, each_of};
use super::product::total;
use crate::array::Real as _;
use crate::lanes::Vector;

/// What normalizations add to the variance, as in torch.
const EPSILON: f64 = 1e-5;
/// The share of a batch's statistics in the running statistics, as in torch.
const MOMENTUM: f64 = 0.1;

/// The gains and shifts of a normalization.
#[derive(Clone, Copy)]
pub(super) struct Scaling<'a, T> {
    pub(super) gain: &'a [T],
    pub(super) shift: &'a [T],
}

/// Applies an activation in place to rows of `len` elements and padding. If the derivative needs more than the result,
/// `saved` receives it.
pub(super) fn activate<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    activation: Activation,
    [len, stride]: [usize; 2],
    x: &mut [V::Scalar],
    saved: &mut [V::Scalar],
) {
    let zero = V::Scalar::from_f64(0.0);
    V::with_instructions(
        token,
        #[inline(always)]
        || match activation {
            Activation::Identity => {}
            Activation::Relu => {
                let zero = V::splat(token, zero);
                for x in x.chunks_exact_mut(V::LANES) {
                    // If an element is NaN, the second operand is the result.
                    zero.max(V::load(token, x)).store(x);
                }
            }
            Activation::LeakyRelu(slope) => {
                let (zero, slope) = (V::splat(token, zero), V::splat(token, V::Scalar::from_f64(slope)));
                let one = V::splat(token, V::Scalar::from_f64(1.0));
                for x in x.chunks_exact_mut(V::LANES) {
                    let old = V::load(token, x);
                    (V::select(zero.lt(old), one, slope) * old).store(x);
                }
            }
            Activation::Gelu => {
                for (x, saved) in strips_of(x).iter_mut().zip(strips_of(saved)) {
                    *saved = *x;
                    let below = below(*saved);
                    for i in 0..STRIP {
                        x[i] = saved[i] * below[i];
                    }
                }
            }
            Activation::Tanh => {
                each_of(x, V::Scalar::tanh);
                saved[..x.len()].copy_from_slice(x);
            }
            Activation::Sigmoid => {
                each_of(x, V::Scalar::logistic);
                saved[..x.len()].copy_from_slice(x);
                // The padding has to stay zero.
                x.chunks_exact_mut(stride).for_each(|row| row[len..].fill(zero));
            }
        },
    );
}

/// Returns the distribution function of the standard normal.
#[inline(always)]
fn below<T: Elementary>(x: [T; STRIP]) -> [T; STRIP] {
    let (half, scale) = (T::from_f64(0.5), T::from_f64(std::f64::consts::FRAC_1_SQRT_2));
    let mut scaled = x;
    scaled.iter_mut().for_each(|x| *x *= scale);
    let mut found = T::erf(scaled);
    found.iter_mut().for_each(|x| *x = half + half * *x);
    found
}

#[inline(always)]
fn strips_of<T>(x: &mut [T]) -> &mut [[T; STRIP]] {
    x.as_chunks_mut().0
}

/// Multiplies `d` by the derivative of an activation. `out` is its result, after dropout.
pub(super) fn activate_backward<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    activation: Activation,
    out: &[V::Scalar],
    saved: &[V::Scalar],
    d: &mut [V::Scalar],
) {
    let (zero, one) = (V::Scalar::from_f64(0.0), V::Scalar::from_f64(1.0));
    V::with_instructions(
        token,
        #[inline(always)]
        || match activation {
            Activation::Identity => {}
            // Dropout keeps signs and has already made the derivatives of dropped elements zero. The factors are
            // multiplied, because the compiler would make slow masked stores of a choice between the products.
            Activation::Relu => scale_by_sign::<V>(token, out, zero, d),
            Activation::LeakyRelu(slope) => scale_by_sign::<V>(token, out, V::Scalar::from_f64(slope), d),
            Activation::Gelu => {
                let density = V::Scalar::from_f64(0.398_942_280_401_432_7); // 1 / sqrt(2 pi)
                let half = V::Scalar::from_f64(-0.5);
                for (d, x) in strips_of(d).iter_mut().zip(saved.as_chunks::<STRIP>().0) {
                    let below = below(*x);
                    for i in 0..STRIP {
                        d[i] *= below[i] + x[i] * density * (half * x[i] * x[i]).exp();
                    }
                }
            }
            Activation::Tanh => {
                for (d, &y) in d.iter_mut().zip(saved) {
                    *d *= one - y * y;
                }
            }
            Activation::Sigmoid => {
                for (d, &y) in d.iter_mut().zip(saved) {
                    *d = *d * y * (one - y);
                }
            }
        },
    );
}

/// Multiplies `d` by `slope` where `out` is not positive.
#[inline(always)]
fn scale_by_sign<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    out: &[V::Scalar],
    slope: V::Scalar,
    d: &mut [V::Scalar],
) {
    let splat = |x: f64| V::splat(token, V::Scalar::from_f64(x));
    let (zero, one, slope) = (splat(0.0), splat(1.0), V::splat(token, slope));
    for (d, out) in d.chunks_exact_mut(V::LANES).zip(out.chunks_exact(V::LANES)) {
        let factor = V::select(zero.lt(V::load(token, out)), one, slope);
        (factor * V::load(token, d)).store(d);
    }
}

/// Multiplies `x` by `by`, element by element.
pub(super) fn multiply<V: Vector<Scalar: Elementary>>(token: V::Token, x: &mut [V::Scalar], by: &[V::Scalar]) {
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            for (x, by) in x.chunks_exact_mut(V::LANES).zip(by.chunks_exact(V::LANES)) {
                (V::load(token, x) * V::load(token, by)).store(x);
            }
        },
    );
}

/// Adds the rows of `d` up, in order.
pub(super) fn column_sums<V: Vector<Scalar: Elementary>>(token: V::Token, d: &[V::Scalar], out: &mut [V::Scalar]) {
    let stride = out.len();
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            for (at, out) in (0..stride).step_by(V::LANES).zip(out.chunks_exact_mut(V::LANES)) {
                let mut sum = V::splat(token, V::Scalar::from_f64(0.0));
                for row in d.chunks_exact(stride) {
                    sum += V::load(token, &row[at..]);
                }
                sum.store(out);
            }
        },
    );
}

/// Normalizes the features of a batch in place, by the batch's statistics. `hat` receives the normalized elements
/// before they are scaled, and `inverse` 1 / sqrt(variance + epsilon) of each feature. The running statistics are
/// updated.
pub(super) fn batch_norm<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    x: &mut [V::Scalar],
    scaling: Scaling<'_, V::Scalar>,
    hat: &mut [V::Scalar],
    inverse: &mut [V::Scalar],
    running: &mut [V::Scalar],
) {
    let stride = scaling.gain.len();
    let rows = x.len() / stride;
    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
    let n = rows as f64;
    let splat = |x: f64| V::splat(token, V::Scalar::from_f64(x));
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            let (means, variances) = running.split_at_mut(stride);
            for at in (0..stride).step_by(V::LANES) {
                let mut mean = splat(0.0);
                for row in x.chunks_exact(stride) {
                    mean += V::load(token, &row[at..]);
                }
                let mean = mean * splat(1.0 / n);
                let mut variance = splat(0.0);
                for row in x.chunks_exact(stride) {
                    let off = V::load(token, &row[at..]) - mean;
                    variance = off.mul_add(off, variance);
                }
                let variance = variance * splat(1.0 / n);
                let scale = splat(1.0) / (variance + splat(EPSILON)).sqrt();
                scale.store(&mut inverse[at..]);
                let (gain, shift) = (V::load(token, &scaling.gain[at..]), V::load(token, &scaling.shift[at..]));
                for (row, hat) in x.chunks_exact_mut(stride).zip(hat.chunks_exact_mut(stride)) {
                    let normal = (V::load(token, &row[at..]) - mean) * scale;
                    normal.store(&mut hat[at..]);
                    gain.mul_add(normal, shift).store(&mut row[at..]);
                }
                let (old, new) = (splat(1.0 - MOMENTUM), splat(MOMENTUM));
                let unbiased = variance * splat(n / (n - 1.0).max(1.0));
                old.mul_add(V::load(token, &means[at..]), new * mean).store(&mut means[at..]);
                old.mul_add(V::load(token, &variances[at..]), new * unbiased).store(&mut variances[at..]);
            }
        },
    );
}

/// Normalizes the features of samples in place by running statistics.
pub(super) fn batch_norm_fixed<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    x: &mut [V::Scalar],
    scaling: Scaling<'_, V::Scalar>,
    running: &[V::Scalar],
) {
    let stride = scaling.gain.len();
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            let epsilon = V::Scalar::from_f64(EPSILON);
            for row in x.chunks_exact_mut(stride) {
                for (i, x) in row.iter_mut().enumerate() {
                    let normal = (*x - running[i]) / (running[stride + i] + epsilon).sqrt();
                    *x = scaling.gain[i].fused(normal, scaling.shift[i]);
                }
            }
        },
    );
}

/// Turns the derivatives by a batch normalization's results into those by its inputs, in place, and writes those by its
/// gains and shifts.
pub(super) fn batch_norm_backward<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    d: &mut [V::Scalar],
    gain: &[V::Scalar],
    hat: &[V::Scalar],
    inverse: &[V::Scalar],
    of_gain: &mut [V::Scalar],
    of_shift: &mut [V::Scalar],
) {
    let stride = gain.len();
    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
    let per_row = 1.0 / (d.len() / stride) as f64;
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            let per_row = V::splat(token, V::Scalar::from_f64(per_row));
            for at in (0..stride).step_by(V::LANES) {
                let zero = V::splat(token, V::Scalar::from_f64(0.0));
                let (mut sum, mut product) = (zero, zero);
                for (d, hat) in d.chunks_exact(stride).zip(hat.chunks_exact(stride)) {
                    let d = V::load(token, &d[at..]);
                    sum += d;
                    product = d.mul_add(V::load(token, &hat[at..]), product);
                }
                sum.store(&mut of_shift[at..]);
                product.store(&mut of_gain[at..]);
                let scale = V::load(token, &gain[at..]) * V::load(token, &inverse[at..]);
                let (sum, product) = (sum * per_row, product * per_row);
                for (d, hat) in d.chunks_exact_mut(stride).zip(hat.chunks_exact(stride)) {
                    let off = V::load(token, &d[at..]) - sum - V::load(token, &hat[at..]) * product;
                    (scale * off).store(&mut d[at..]);
                }
            }
        },
    );
}

/// Returns the sum of `term(i)` over the first `len` elements, in vectors, as [`STRIP`] partial sums. Elements beyond
/// `len` count as zero.
#[inline(always)]
fn strips<V: Vector<Scalar: Elementary>>(token: V::Token, len: usize, term: impl Fn(usize) -> V::Scalar) -> V::Scalar {
    let mut sums = [V::Scalar::from_f64(0.0); STRIP];
    for i in 0..len {
        sums[i % STRIP] += term(i);
    }
    let mut vectors = [V::splat(token, V::Scalar::from_f64(0.0)); STRIP];
    for (vector, sums) in vectors.iter_mut().zip(sums.chunks_exact(V::LANES)) {
        *vector = V::load(token, sums);
    }
    total(&vectors)
}

/// Normalizes each sample over its first `len` features, in place. `hat` receives the normalized elements before they
/// are scaled, and `inverse` 1 / sqrt(variance + epsilon) of each sample.
pub(super) fn layer_norm<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    len: usize,
    x: &mut [V::Scalar],
    scaling: Scaling<'_, V::Scalar>,
    hat: &mut [V::Scalar],
    inverse: &mut [V::Scalar],
) {
    let stride = scaling.gain.len();
    #[expect(clippy::cast_precision_loss, reason = "a number of features")]
    let each = V::Scalar::from_f64(1.0 / len as f64);
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            let rows = x.chunks_exact_mut(stride).zip(hat.chunks_exact_mut(stride));
            for ((row, hat), inverse) in rows.zip(inverse) {
                let mean = strips::<V>(token, len, |i| row[i]) * each;
                let variance = strips::<V>(token, len, |i| (row[i] - mean) * (row[i] - mean)) * each;
                let scale = V::Scalar::from_f64(1.0) / (variance + V::Scalar::from_f64(EPSILON)).sqrt();
                *inverse = scale;
                for i in 0..len {
                    hat[i] = (row[i] - mean) * scale;
                    row[i] = scaling.gain[i].fused(hat[i], scaling.shift[i]);
                }
            }
        },
    );
}

/// Does the same for layer normalization as [`batch_norm_backward`].
#[expect(clippy::too_many_arguments, reason = "the derivatives, what the forward pass kept, and two results")]
pub(super) fn layer_norm_backward<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    len: usize,
    d: &mut [V::Scalar],
    gain: &[V::Scalar],
    hat: &[V::Scalar],
    inverse: &[V::Scalar],
    of_gain: &mut [V::Scalar],
    of_shift: &mut [V::Scalar],
) {
    let stride = gain.len();
    #[expect(clippy::cast_precision_loss, reason = "a number of features")]
    let each = V::Scalar::from_f64(1.0 / len as f64);
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            let zero = V::Scalar::from_f64(0.0);
            of_gain.fill(zero);
            of_shift.fill(zero);
            let rows = d.chunks_exact_mut(stride).zip(hat.chunks_exact(stride));
            for ((d, hat), &inverse) in rows.zip(inverse) {
                for i in 0..len {
                    of_shift[i] += d[i];
                    of_gain[i] = d[i].fused(hat[i], of_gain[i]);
                    d[i] *= gain[i];
                }
                let sum = strips::<V>(token, len, |i| d[i]) * each;
                let product = strips::<V>(token, len, |i| d[i] * hat[i]) * each;
                for i in 0..len {
                    d[i] = inverse * (d[i] - sum - hat[i] * product);
                }
            }
        },
    );
}
