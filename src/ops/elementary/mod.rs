//! Elementary functions. They consist of additions, multiplications, divisions and fused multiply-adds only, so they
//! have the same bits on every machine with fused multiply-add, and loops over them compile to SIMD instructions.

mod round;

pub(in crate::ops) use round::Narrow;

use crate::array::Real;

/// The length of the loops of [`each_of`].
const CHUNK: usize = 16;

/// The functions of one precision.
pub trait Elementary: Real + Narrow {
    /// Returns e^x.
    #[must_use]
    fn exp(self) -> Self;
    /// Returns the natural logarithm of a positive number; -inf for 0, and other numbers unchanged.
    #[must_use]
    fn ln(self) -> Self;
    /// Returns the inverse tangent.
    #[must_use]
    fn atan(self) -> Self;
    /// Returns the error function of several numbers.
    #[must_use]
    fn erf<const N: usize>(x: [Self; N]) -> [Self; N];
    /// Returns the square root.
    #[must_use]
    fn sqrt(self) -> Self;

    /// Returns 1 / (1 + e^-x).
    #[must_use]
    #[inline(always)]
    fn logistic(self) -> Self {
        // e^x of a number that is not positive cannot overflow.
        let (zero, one) = (Self::from_f64(0.0), Self::from_f64(1.0));
        let t = (if self < zero { self } else { -self }).exp();
        (if self < zero { t } else { one }) / (one + t)
    }

    /// Returns log(1 + e^x).
    #[must_use]
    #[inline(always)]
    fn softplus(self) -> Self {
        let (zero, one) = (Self::from_f64(0.0), Self::from_f64(1.0));
        let t = (if self < zero { self } else { -self }).exp();
        // log(1 + t) = 2 atanh(t / (2 + t)) would need more terms; the correction restores what 1 + t lost (Kahan).
        let u = one + t;
        let log = u.ln() + (t - (u - one)) / u;
        (if self > zero { self } else { zero }) + log
    }

    /// Returns the hyperbolic tangent.
    #[must_use]
    #[inline(always)]
    fn tanh(self) -> Self {
        let (zero, one, two) = (Self::from_f64(0.0), Self::from_f64(1.0), Self::from_f64(2.0));
        let size = if self < zero { -self } else { self };
        let t = (-two * size).exp();
        // Near 0, 1 - t loses digits; the series x - x^3 / 3 + ... is exact there to the last bit or two.
        let far = (one - t) / (one + t);
        let q = size * size;
        let c = |numerator: f64, denominator: f64| Self::from_f64(numerator / denominator);
        let series = [c(-1_382.0, 155_925.0), c(62.0, 2835.0), c(-17.0, 315.0), c(2.0, 15.0), c(-1.0, 3.0)];
        let near = size.fused(q * horner(q, &[c(21_844.0, 6_081_075.0)], &series), size);
        let found = if size < Self::from_f64(0.1) { near } else { far };
        if self < zero { -found } else { found }
    }
}

/// Replaces every element of a slice, whose length is a multiple of 16. The compiler turns loops of a known
/// length into SIMD instructions more readily than others.
#[inline(always)]
pub(in crate::ops) fn each_of<T: Elementary>(x: &mut [T], f: impl Fn(T) -> T) {
    for x in x.as_chunks_mut::<CHUNK>().0 {
        let old = *x;
        for i in 0..CHUNK {
            x[i] = f(old[i]);
        }
    }
}

/// Returns the polynomial whose coefficients are `first` and then `rest`, the highest power first.
#[inline(always)]
fn horner<T: Real>(x: T, first: &[T; 1], rest: &[T]) -> T {
    rest.iter().fold(first[0], |sum, &next| sum.fused(x, next))
}

macro_rules! elementary {
    ($float:ident, $signed:ident, $unsigned:ident, $mantissa:literal, $bias:literal, $sqrt_half:expr,
     exp: $exp_terms:expr, $lowest:literal, $highest:literal, $ln_2_high:literal, $ln_2_low:literal,
     ln: $ln_terms:expr, atan: $atan_terms:expr, erf: $erf_terms:literal, $erf_is_one:literal, subnormal: $raise:literal) => {
        impl Elementary for $float {
            #[inline(always)]
            #[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small whole numbers")]
            fn exp(self) -> Self {
                // x = n log 2 + r with |r| <= log(2) / 2, and e^r by Taylor's series.
                let x = if self < $lowest { $lowest } else { self };
                let x = if x > $highest { $highest } else { x };
                // Adding this number rounds to the nearest integer and leaves it in the lowest bits.
                let round: $float = 1.5 * (1_u64 << $mantissa) as $float;
                let rounded = x.mul_add(std::$float::consts::LOG2_E, round);
                let n = rounded - round;
                let whole = rounded.to_bits().wrapping_sub(round.to_bits()) as $signed;
                let r = n.mul_add(-$ln_2_low, n.mul_add(-$ln_2_high, x));
                let mut sum: $float = 1.0;
                for k in $exp_terms {
                    sum = (r * (1.0 / k)).mul_add(sum, 1.0);
                }
                // 2^n in two factors, because 2^n alone may be out of range where the result is not.
                let half = whole >> 1;
                let power = |n: $signed| $float::from_bits((n.wrapping_add($bias) << $mantissa) as $unsigned);
                let found = sum * power(half) * power(whole.wrapping_sub(half));
                let found = if self < $lowest { 0.0 } else { found };
                if self > $highest { $float::INFINITY } else { found }
            }

            #[inline(always)]
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_wrap, reason = "small whole numbers")]
            fn ln(self) -> Self {
                // x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s) with s = (m - 1) / (m + 1).
                let least: $unsigned = ($sqrt_half as $float).to_bits();
                let one: $unsigned = (1.0 as $float).to_bits();
                // Subnormal numbers are scaled first.
                let (x, shift) = if self < $float::MIN_POSITIVE { (self * $raise, 1.0) } else { (self, 0.0) };
                let shifted = x.to_bits().wrapping_add(one.wrapping_sub(least));
                let e = (shifted >> $mantissa) as $signed - $bias;
                let m = $float::from_bits((shifted & ((1 << $mantissa) - 1)) + least);
                let f = m - 1.0;
                let s = f / (2.0 + f);
                let q = s * s;
                let mut tail: $float = 0.0;
                for odd in $ln_terms {
                    tail = tail.mul_add(q, 2.0 / odd);
                }
                let log = s.mul_add(2.0, s * q * tail);
                let e = e as $float - shift * ($raise as $float).log2();
                let found = e.mul_add($ln_2_high, e.mul_add($ln_2_low, log));
                // NaN and infinity pass through, so that a step that went wrong is noticed.
                if self > 0.0 && self < $float::INFINITY {
                    found
                } else if self == 0.0 {
                    $float::NEG_INFINITY
                } else {
                    self
                }
            }

            #[inline(always)]
            fn atan(self) -> Self {
                // Two half-angle steps, atan x = 2 atan(x / (1 + sqrt(1 + x^2))), bring |x| below 0.2; then the series.
                let size = self.abs();
                let inverse = size > 1.0;
                let x = if inverse { 1.0 / size } else { size };
                let half = |x: $float| x / (1.0 + x.mul_add(x, 1.0).sqrt());
                let x = half(half(x));
                let q = x * x;
                let mut sum: $float = 0.0;
                for odd in $atan_terms {
                    sum = sum.mul_add(q, 1.0 / odd);
                }
                let angle = 4.0 * x.mul_add(q * sum, x);
                let angle = if inverse { std::$float::consts::FRAC_PI_2 - angle } else { angle };
                if self < 0.0 { -angle } else { angle }
            }

            #[inline(always)]
            fn erf<const N: usize>(x: [Self; N]) -> [Self; N] {
                // erf x = 2 / sqrt(pi) x e^(-x^2) sum of (2 x^2)^n / (1 3 5 .. (2 n + 1)); all terms are positive
                // (Abramowitz and Stegun 7.1.6).
                let (mut twice, mut sum) = ([0.0; N], [1.0; N]);
                for i in 0..N {
                    let size = x[i].abs().min($erf_is_one);
                    twice[i] = 2.0 * size * size;
                }
                for n in (1..=$erf_terms).rev() {
                    let inverse = 1.0 / (2 * n + 1) as $float;
                    for i in 0..N {
                        sum[i] = (twice[i] * inverse).mul_add(sum[i], 1.0);
                    }
                }
                let mut found = [0.0; N];
                for i in 0..N {
                    let size = x[i].abs().min($erf_is_one);
                    let bell = std::$float::consts::FRAC_2_SQRT_PI * Elementary::exp(-0.5 * twice[i]);
                    found[i] = (bell * size * sum[i]).min(1.0).copysign(x[i]);
                }
                found
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
        }
    };
}

// The numbers of terms are such that the first term left out is below half a unit of the last place. The terms are
// arrays, because the compiler turns loops over arrays into SIMD instructions.
elementary!(f32, i32, u32, 23, 127, std::f32::consts::FRAC_1_SQRT_2,
    exp: [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0_f32], -104.0, 88.722_84, 0.693_359_4, -2.121_944_4e-4,
    ln: [9.0, 7.0, 5.0, 3.0_f32], atan: [-11.0, 9.0, -7.0, 5.0, -3.0_f32], erf: 45, 3.92, subnormal: 8_388_608.0);
elementary!(f64, i64, u64, 52, 1023, std::f64::consts::FRAC_1_SQRT_2,
    exp: [13.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0_f64],
    -745.2, 709.782_712_893_384, 0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10,
    ln: [23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0_f64],
    atan: [25.0, -23.0, 21.0, -19.0, 17.0, -15.0, 13.0, -11.0, 9.0, -7.0, 5.0, -3.0_f64],
    erf: 110, 5.93, subnormal: 4_503_599_627_370_496.0);

#[cfg(test)]
mod tests {
    use super::Elementary;

    /// Returns the largest error in units of the last place of the exact result, over numbers of both precisions.
    #[track_caller]
    fn check(what: &str, ulps: [f64; 2], from: f64, to: f64, ours: [fn(f64) -> f64; 2], exact: fn(f64) -> f64) {
        for (precision, (found, most)) in ours.iter().zip(ulps).enumerate() {
            let mut worst = (0.0, 0.0);
            for i in 0..20_000 {
                let x = from + (to - from) * (f64::from(i) + 0.5) / 20_000.0;
                let x = if precision == 0 { f64::from(x as f32) } else { x };
                let wanted = exact(x);
                let unit = if precision == 0 {
                    f64::from((wanted.abs() as f32).max(f32::MIN_POSITIVE)) * f64::from(f32::EPSILON)
                } else {
                    wanted.abs().max(f64::MIN_POSITIVE) * f64::EPSILON
                };
                let off = (found(x) - wanted).abs() / unit;
                if off > worst.0 || off.is_nan() {
                    worst = (off, x);
                }
            }
            assert!(worst.0 <= most, "{what} in {}: {} units at {}", ["f32", "f64"][precision], worst.0, worst.1);
        }
    }

    macro_rules! both {
        ($function:ident) => {
            [|x| f64::from(Elementary::$function(x as f32)), Elementary::$function]
        };
    }

    #[test]
    fn close_to_the_standard_library() {
        check("exp", [2.0, 2.0], -87.0, 88.7, both!(exp), f64::exp);
        check("exp", [2.0, 2.0], -1.0, 1.0, both!(exp), f64::exp);
        check("ln", [2.0, 2.0], 1e-3, 3.0, both!(ln), f64::ln);
        check("ln", [2.0, 2.0], 1.0, 1e30, both!(ln), f64::ln);
        check("atan", [4.0, 4.0], -40.0, 40.0, both!(atan), f64::atan);
        check("tanh", [8.0, 8.0], -6.0, 6.0, both!(tanh), f64::tanh);
        check("tanh", [4.0, 4.0], -0.2, 0.2, both!(tanh), f64::tanh);
        let logistic = |x: f64| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
        check("logistic", [4.0, 4.0], -80.0, 40.0, both!(logistic), logistic);
        let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
        check("softplus", [4.0, 4.0], -80.0, 40.0, both!(softplus), softplus);
        assert_eq!((Elementary::exp(-200.0_f32), Elementary::exp(200.0_f32)), (0.0, f32::INFINITY));
        assert!(Elementary::ln(f32::NAN).is_nan() && Elementary::ln(f64::NAN).is_nan());
        assert_eq!((Elementary::ln(0.0_f64), Elementary::ln(f32::INFINITY)), (f64::NEG_INFINITY, f32::INFINITY));
        assert!(Elementary::exp(f32::NAN).is_nan() && Elementary::exp(f64::NAN).is_nan());
        assert!((Elementary::ln(1e-40_f32) - 1e-40_f64.ln() as f32).abs() < 1e-4);
    }

    /// Values of the error function from Abramowitz and Stegun, table 7.1, and their digits beyond by its series.
    #[test]
    fn error_function() {
        for (x, wanted) in [
            (0.1, 0.112_462_916_018_284_9),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.0, 0.999_977_909_503_001_4),
            (6.0, 1.0),
        ] {
            for x in [x, -x] {
                let wanted: f64 = if x < 0.0 { -wanted } else { wanted };
                let [found, ..] = Elementary::erf([x; 16]);
                assert!((found - wanted).abs() <= 4.0 * f64::EPSILON, "{x}: {found}");
                let found = f64::from(Elementary::erf([x as f32; 16])[0]);
                assert!((found - wanted).abs() <= 4.0 * f64::from(f32::EPSILON), "{x}: {found}");
            }
        }
    }
}
