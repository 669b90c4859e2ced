//! Rounding of the operands of products to the 16 bits of mixed precision.

use super::super::mixed::MixedPrecision;
use crate::lanes::Vector;
use crate::ops::elementary::{Elementary, Narrow as _};

/// Rounds numbers to 16 bits, ties to even, and returns whether all results are finite.
pub(super) fn narrow<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    mixed: MixedPrecision,
    x: &mut [V::Scalar],
) -> bool {
    V::with_instructions(
        token,
        #[inline(always)]
        || match mixed {
            MixedPrecision::Off => true,
            MixedPrecision::F16 => each(x, V::Scalar::to_f16),
            MixedPrecision::Bf16 => each(x, V::Scalar::to_bf16),
        },
    )
}

#[inline(always)]
fn each<T: Elementary>(x: &mut [T], round: impl Fn(T) -> T) -> bool {
    let mut finite = true;
    for x in x {
        *x = round(*x);
        // Zero times an infinite number is NaN.
        finite &= *x * T::from_f64(0.0) == T::from_f64(0.0);
    }
    finite
}
