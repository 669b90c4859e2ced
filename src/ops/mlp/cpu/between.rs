//! What a layer does between its linear map and the next layer, forward and backward, apart from normalization:
//! activation and dropout. Features are in lanes; loops over slices compile to SIMD instructions.

use super::super::layout::STRIP;
use super::super::spec::Activation;
use crate::array::Real as _;
use crate::lanes::Vector;
use crate::ops::elementary::{Elementary, each_of};

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
