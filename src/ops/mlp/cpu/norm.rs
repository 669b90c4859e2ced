//! Normalizations, forward and backward, and sums over samples. Features are in lanes; loops over slices compile to
//! SIMD instructions.

use super::super::layout::STRIP;
use super::product::total;
use crate::array::Real as _;
use crate::lanes::Vector;
use crate::ops::elementary::Elementary;

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

/// The vectors of a row that are worked on together where columns are summed, so that adjacent cache lines are read.
const GROUP: usize = 4;

/// Returns the places of groups of vectors in rows of `stride` elements, and whether a group has [`GROUP`] vectors.
/// Other groups have one.
#[inline(always)]
fn groups<V: Vector>(stride: usize) -> impl Iterator<Item = (usize, bool)> {
    let wide = GROUP * V::LANES;
    let end = stride - stride % wide;
    (0..end).step_by(wide).map(|at| (at, true)).chain((end..stride).step_by(V::LANES).map(|at| (at, false)))
}

#[inline(always)]
fn loaded<V: Vector, const N: usize>(token: V::Token, from: &[V::Scalar], at: usize) -> [V; N] {
    let from = &from[at..][..N * V::LANES];
    std::array::from_fn(|n| V::load(token, &from[n * V::LANES..]))
}

#[inline(always)]
fn store<V: Vector, const N: usize>(vectors: [V; N], to: &mut [V::Scalar], at: usize) {
    let to = &mut to[at..][..N * V::LANES];
    for (n, vector) in vectors.into_iter().enumerate() {
        vector.store(&mut to[n * V::LANES..]);
    }
}

/// Adds the rows of `d` up, in order.
pub(super) fn column_sums<V: Vector<Scalar: Elementary>>(token: V::Token, d: &[V::Scalar], out: &mut [V::Scalar]) {
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            for (at, grouped) in groups::<V>(out.len()) {
                if grouped {
                    some_sums::<V, GROUP>(token, d, at, out);
                } else {
                    some_sums::<V, 1>(token, d, at, out);
                }
            }
        },
    );
}

#[inline(always)]
fn some_sums<V: Vector<Scalar: Elementary>, const N: usize>(
    token: V::Token,
    d: &[V::Scalar],
    at: usize,
    out: &mut [V::Scalar],
) {
    let mut sums = [V::splat(token, V::Scalar::from_f64(0.0)); N];
    for row in d.chunks_exact(out.len()) {
        let row: [V; N] = loaded(token, row, at);
        for n in 0..N {
            sums[n] += row[n];
        }
    }
    store(sums, out, at);
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
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            for (at, grouped) in groups::<V>(stride) {
                if grouped {
                    some_norms::<V, GROUP>(token, at, x, scaling, hat, inverse, running);
                } else {
                    some_norms::<V, 1>(token, at, x, scaling, hat, inverse, running);
                }
            }
        },
    );
}

#[inline(always)]
fn some_norms<V: Vector<Scalar: Elementary>, const N: usize>(
    token: V::Token,
    at: usize,
    x: &mut [V::Scalar],
    scaling: Scaling<'_, V::Scalar>,
    hat: &mut [V::Scalar],
    inverse: &mut [V::Scalar],
    running: &mut [V::Scalar],
) {
    let stride = scaling.gain.len();
    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
    let count = (x.len() / stride) as f64;
    let splat = |x: f64| V::splat(token, V::Scalar::from_f64(x));
    let (zero, one, each) = (splat(0.0), splat(1.0), splat(1.0 / count));
    let mut mean = [zero; N];
    for row in x.chunks_exact(stride) {
        let row: [V; N] = loaded(token, row, at);
        for n in 0..N {
            mean[n] += row[n];
        }
    }
    let mean = mean.map(|sum| sum * each);
    let mut variance = [zero; N];
    for row in x.chunks_exact(stride) {
        let row: [V; N] = loaded(token, row, at);
        for n in 0..N {
            let off = row[n] - mean[n];
            variance[n] = off.mul_add(off, variance[n]);
        }
    }
    let variance = variance.map(|sum| sum * each);
    let scale = variance.map(|variance| one / (variance + splat(EPSILON)).sqrt());
    store(scale, inverse, at);
    let (gain, shift): ([V; N], [V; N]) = (loaded(token, scaling.gain, at), loaded(token, scaling.shift, at));
    for (row, hat) in x.chunks_exact_mut(stride).zip(hat.chunks_exact_mut(stride)) {
        let old: [V; N] = loaded(token, row, at);
        let normal: [V; N] = std::array::from_fn(|n| (old[n] - mean[n]) * scale[n]);
        store(normal, hat, at);
        store::<V, N>(std::array::from_fn(|n| gain[n].mul_add(normal[n], shift[n])), row, at);
    }
    let (old, new, correction) = (splat(1.0 - MOMENTUM), splat(MOMENTUM), splat(count / (count - 1.0).max(1.0)));
    let (means, variances) = running.split_at_mut(stride);
    for n in 0..N {
        let at = at + n * V::LANES;
        let unbiased = variance[n] * correction;
        old.mul_add(V::load(token, &means[at..]), new * mean[n]).store(&mut means[at..]);
        old.mul_add(V::load(token, &variances[at..]), new * unbiased).store(&mut variances[at..]);
    }
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
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            for (at, grouped) in groups::<V>(gain.len()) {
                if grouped {
                    some_slopes::<V, GROUP>(token, at, d, gain, hat, inverse, of_gain, of_shift);
                } else {
                    some_slopes::<V, 1>(token, at, d, gain, hat, inverse, of_gain, of_shift);
                }
            }
        },
    );
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the derivatives, what the forward pass kept, and two results")]
fn some_slopes<V: Vector<Scalar: Elementary>, const N: usize>(
    token: V::Token,
    at: usize,
    d: &mut [V::Scalar],
    gain: &[V::Scalar],
    hat: &[V::Scalar],
    inverse: &[V::Scalar],
    of_gain: &mut [V::Scalar],
    of_shift: &mut [V::Scalar],
) {
    let stride = gain.len();
    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
    let per_row = V::splat(token, V::Scalar::from_f64(1.0 / (d.len() / stride) as f64));
    let zero = V::splat(token, V::Scalar::from_f64(0.0));
    let (mut sum, mut product) = ([zero; N], [zero; N]);
    for (d, hat) in d.chunks_exact(stride).zip(hat.chunks_exact(stride)) {
        let (d, hat): ([V; N], [V; N]) = (loaded(token, d, at), loaded(token, hat, at));
        for n in 0..N {
            sum[n] += d[n];
            product[n] = d[n].mul_add(hat[n], product[n]);
        }
    }
    store(sum, of_shift, at);
    store(product, of_gain, at);
    let (gain, inverse): ([V; N], [V; N]) = (loaded(token, gain, at), loaded(token, inverse, at));
    let scale: [V; N] = std::array::from_fn(|n| gain[n] * inverse[n]);
    let (sum, product) = (sum.map(|sum| sum * per_row), product.map(|product| product * per_row));
    for (d, hat) in d.chunks_exact_mut(stride).zip(hat.chunks_exact(stride)) {
        let (old, hat): ([V; N], [V; N]) = (loaded(token, d, at), loaded(token, hat, at));
        let new = std::array::from_fn(|n| scale[n] * (old[n] - sum[n] - hat[n] * product[n]));
        store::<V, N>(new, d, at);
    }
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
            for ((row, hat), inverse) in rows.zip(&mut *inverse) {
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
