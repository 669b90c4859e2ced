//! Standard normals by the inverse of the normal distribution function. In f32, a number is computed from one 32-bit
//! word in integers only, so that every machine and every adapter makes the same bits.
//!
//! The highest bit of a word w is the sign of the number. The lower 31 bits of w give t = 2 (w mod 2^31) + 1 and
//! v = t / 2^33, the probability of the tail beyond the magnitude x of the number. So the distribution of the numbers
//! is symmetric, and the largest number is 6.338, at v = 2^-33. The range of v is cut at powers of two, and the range
//! between two powers of two is cut into 32 intervals. On each interval x(v) is approximated by a cubic polynomial that
//! interpolates x at the Chebyshev points. The polynomial is evaluated in fixed point. Its error is at most 0.4 units
//! of 2^-29 in exact arithmetic, and at most 2 units with the rounding of fixed point. Finally, x is rounded to the 24
//! bits of an f32.

/// The number of intervals between two powers of two.
const INTERVALS: usize = 32;
/// The number of binary places of x after the point.
const PLACES: u32 = 29;
/// The number of additional binary places of every polynomial coefficient except the first.
const GUARD: u32 = 4;

/// The coefficients `[a, b, c, d]` of x(v) = a - r (b - r (c - r d)) on each interval, where r is in [0, 1). The first
/// coefficient has the unit 2^-29, and the other coefficients have the unit 2^-33.
pub(super) static TABLE: [[u32; 4]; 32 * INTERVALS] = table();

/// Returns the standard normal that is made from a word.
#[inline(always)]
pub(super) fn normal_of(word: u32) -> f32 {
    let t = (word << 1) | 1;
    let e = t.leading_zeros();
    let m = t << e;
    let [a, b, c, d] = TABLE[(e * 32 + ((m >> 26) & 31)) as usize];
    // The remaining bits of m, as a fraction of 2^32.
    let r = m << 6;
    let x = a.wrapping_sub(high(r, b - high(r, c - high(r, d))).wrapping_add(8) >> GUARD);
    // x is rounded to the 24 bits of an f32 here, so that no later step rounds.
    let cut = 8_u32.saturating_sub(x.leading_zeros());
    let n = (x + ((1 << cut) >> 1)) >> cut;
    #[expect(clippy::cast_precision_loss, reason = "24 bits")]
    let size = n as f32 * f32::from_bits((127 + cut - PLACES) << 23);
    let sign = if n == 0 { 0 } else { word & 0x8000_0000 };
    f32::from_bits(size.to_bits() | sign)
}

/// Returns the standard normal that is made from 64 bits, in f64. The largest is 9.155, at a tail probability of 2^-65.
pub(super) fn normal_of_two(low: u32, high: u32) -> f64 {
    let word = u64::from(high) << 32 | u64::from(low);
    #[expect(clippy::cast_precision_loss, reason = "rounded relative to the distance from 0")]
    let tail = (((word << 1) | 1) as f64) * (1.0 / (1_u128 << 65) as f64);
    let x = quantile(tail);
    if word >> 63 == 1 { -x } else { x }
}

/// Returns the upper half of a product.
#[inline(always)]
fn high(a: u32, b: u32) -> u32 {
    ((a as u64 * b as u64) >> 32) as u32
}

const fn table() -> [[u32; 4]; 32 * INTERVALS] {
    let mut table = [[0; 4]; 32 * INTERVALS];
    let mut i = 0;
    while i < table.len() {
        table[i] = interval(i);
        i += 1;
    }
    table
}

/// The four Chebyshev points of [0, 1], ascending: (1 - cos((2 i + 1) pi / 8)) / 2.
const POINTS: [f64; 4] =
    [0.038_060_233_744_356_62, 0.308_658_283_817_455_1, 0.691_341_716_182_544_9, 0.961_939_766_255_643_4];

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "all are positive and below 2^32: tested")]
const fn interval(i: usize) -> [u32; 4] {
    // v is 2^-(e + 2) (1 + (j + r) / 32), where e = i / 32 is the power of two, j = i mod 32 is the interval, and r in
    // [0, 1) is the position in the interval.
    let power = f64::from_bits((1023 - 2 - (i / INTERVALS) as u64) << 52);
    let mut values = [0.0; 4];
    let mut k = 0;
    while k < 4 {
        values[k] = quantile(power * (1.0 + ((i % INTERVALS) as f64 + POINTS[k]) / INTERVALS as f64));
        k += 1;
    }
    // Newton's divided differences are computed first, then the coefficients of the powers of r.
    let mut order = 1;
    while order < 4 {
        let mut k = 3;
        while k >= order {
            values[k] = (values[k] - values[k - 1]) / (POINTS[k] - POINTS[k - order]);
            k -= 1;
        }
        order += 1;
    }
    let [p, q, s, t] = values;
    let [x, y, z, _] = POINTS;
    let coefficients =
        [p - x * (q - y * (s - z * t)), -(q - s * (x + y) + t * (x * y + x * z + y * z)), s - t * (x + y + z), -t];
    let mut fixed = [0; 4];
    let mut k = 0;
    while k < 4 {
        let places = if k == 0 { PLACES } else { PLACES + GUARD };
        fixed[k] = (coefficients[k] * (1_u64 << places) as f64 + 0.5) as u32;
        k += 1;
    }
    fixed
}

/// Returns the point above which the standard normal distribution has the probability v, for v in (0, 1/2]. The method
/// is Wichura's PPND16 (Algorithm AS 241, Applied Statistics 37, 1988), which is accurate to 16 digits. It uses only
/// additions, subtractions, multiplications and divisions: the logarithm and the square root below are made of these.
/// So every machine computes the same number.
pub(super) const fn quantile(v: f64) -> f64 {
    let q = 0.5 - v;
    if q <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(
            r,
            [
                3.387_132_872_796_366_5,
                133.141_667_891_784_38,
                1_971.590_950_306_551_3,
                13_731.693_765_509_46,
                45_921.953_931_549_87,
                67_265.770_927_008_7,
                33_430.575_583_588_13,
                2_509.080_928_730_122_7,
            ],
            [
                1.0,
                42.313_330_701_600_91,
                687.187_007_492_057_9,
                5_394.196_021_424_751,
                21_213.794_301_586_597,
                39_307.895_800_092_71,
                28_729.085_735_721_943,
                5_226.495_278_852_854,
            ],
        );
    }
    let r = root(-logarithm(v));
    if r <= 5.0 {
        return ratio(
            r - 1.6,
            [
                1.423_437_110_749_683_5,
                4.630_337_846_156_546,
                5.769_497_221_460_691,
                3.647_848_324_763_204_5,
                1.270_458_252_452_368_4,
                0.241_780_725_177_450_6,
                0.022_723_844_989_269_184,
                0.000_774_545_014_278_341_4,
            ],
            [
                1.0,
                2.053_191_626_637_759,
                1.676_384_830_183_803_8,
                0.689_767_334_985_1,
                0.148_103_976_427_480_07,
                0.015_198_666_563_616_457,
                0.000_547_593_808_499_534_5,
                1.050_750_071_644_416_9e-9,
            ],
        );
    }
    ratio(
        r - 5.0,
        [
            6.657_904_643_501_103,
            5.463_784_911_164_114,
            1.784_826_539_917_291_3,
            0.296_560_571_828_504_87,
            0.026_532_189_526_576_124,
            0.001_242_660_947_388_078_4,
            2.711_555_568_743_487_6e-5,
            2.010_334_399_292_288e-7,
        ],
        [
            1.0,
            0.599_832_206_555_888,
            0.136_929_880_922_735_8,
            0.014_875_361_290_850_615,
            0.000_786_869_131_145_613_3,
            1.846_318_317_510_054_8e-5,
            1.421_511_758_316_446e-7,
            2.044_263_103_389_939_8e-15,
        ],
    )
}

/// Returns the quotient of two polynomials, whose coefficients start with the lowest power.
const fn ratio(r: f64, above: [f64; 8], below: [f64; 8]) -> f64 {
    let (mut a, mut b) = (0.0, 0.0);
    let mut k = 8;
    while k > 0 {
        k -= 1;
        a = a * r + above[k];
        b = b * r + below[k];
    }
    a / b
}

/// Returns ln v for a positive normal f64. With v = 2^e m and m in [sqrt(1/2), sqrt(2)), this is
/// e ln 2 + 2 artanh((m - 1) / (m + 1)).
const fn logarithm(v: f64) -> f64 {
    let bits = v.to_bits();
    let mut e = (bits >> 52) as f64 - 1023.0;
    let mut m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if m > std::f64::consts::SQRT_2 {
        m /= 2.0;
        e += 1.0;
    }
    let s = (m - 1.0) / (m + 1.0);
    // Because |s| < 0.172, the first omitted term of the series is below 2^-60 times the first term.
    let (square, mut sum, mut k) = (s * s, 0.0, 23.0);
    while k > 0.0 {
        sum = sum * square + 1.0 / k;
        k -= 2.0;
    }
    e * std::f64::consts::LN_2 + 2.0 * s * sum
}

/// Returns the square root of a number from 1/2 to 64, by seven steps of Newton's method. The first iterate is within a
/// factor of 2.8 of the root.
const fn root(x: f64) -> f64 {
    let mut y = if x > 8.0 { 5.0 } else { 1.8 };
    let mut k = 0;
    while k < 7 {
        y = 0.5 * (y + x / y);
        k += 1;
    }
    y
}

#[cfg(test)]
mod tests {
    use super::{TABLE, high, normal_of, normal_of_two, quantile};

    /// The expected values are from 40-digit arithmetic, for probabilities that are exact in f64.
    #[test]
    fn the_quantile_is_right() {
        for (v, want) in [
            (0.4375, 0.157_310_684_610_170_7),
            (0.25, 0.674_489_750_196_081_7),
            (0.125, 1.150_349_380_376_008),
            (0.078_125, 1.417_797_137_996_267_3),
            (0.0625, 1.534_120_544_352_546_3),
            (2_f64.powi(-10), 3.097_269_078_198_784_5),
            (2_f64.powi(-20), 4.763_001_034_267_814),
            (2_f64.powi(-33), 6.337_957_754_553_789),
            (2_f64.powi(-36), 6.651_035_379_893_011),
            (2_f64.powi(-37), 6.752_300_431_407_015),
            (2_f64.powi(-50), 7.956_038_125_481_531),
            (2_f64.powi(-65), 9.155_293_772_686_073),
        ] {
            let got = quantile(v);
            assert!((got - want).abs() <= 4.0 * f64::EPSILON * want, "{v:e}: {got:e}, in truth {want:e}");
        }
    }

    #[test]
    fn all_coefficients_are_positive_numbers_of_32_bits() {
        for (i, interval) in TABLE.iter().enumerate() {
            assert!(interval.iter().all(|&a| a > 0 && a < u32::MAX), "{i}: {interval:?}");
            assert!(interval[1] > interval[2] && interval[2] > interval[3], "{i}: {interval:?}");
            // The quantile subtracts from `a` a number that grows with r. It must not exceed `a` even at the largest r.
            let [a, b, c, d] = *interval;
            let r = u32::MAX - 63;
            let taken = (high(r, b - high(r, c - high(r, d))) + 8) >> 4;
            assert!(taken <= a, "{i}: {taken} of {a}");
        }
    }

    /// Compares normal numbers with the quantile in f64. The words are those at both ends and in the middle of every
    /// interval, the word before each of these, and some random words. The error is at most 2.5 units of 2^-29 plus
    /// half an ulp of f32.
    #[test]
    fn normals_follow_the_quantile() {
        let mut words: Vec<u32> = (0..31).flat_map(|e| (0..64).map(move |j| ((64 + j) << 25 | 1 << 24) >> e)).collect();
        words.extend((0..31).flat_map(|e| (0..64_u32).map(move |j| ((64 + j) << 25) >> e)));
        words.extend((0..2000).map(|i: u32| i.wrapping_mul(0x9e37_79b9)));
        words.extend([0, 1, 2, 3, u32::MAX, u32::MAX - 1, 0x7fff_ffff, 0x8000_0000, 0x7fff_fffe]);
        words.extend(words.clone().iter().map(|w| w.wrapping_sub(1)));
        for word in words {
            let v = (f64::from(word & 0x7fff_ffff) + 0.5) / 2_f64.powi(32);
            let want = quantile(v);
            let got = f64::from(normal_of(word));
            let ulp = f64::from(f32::EPSILON) * want.log2().floor().exp2();
            let allowed = 2.5 / 2_f64.powi(29) + 0.5 * ulp;
            assert!((got.abs() - want).abs() <= allowed, "{word:#x}: {got:e}, in truth {want:e} to {allowed:e}");
            assert!(got == 0.0 || got.is_sign_negative() == (word >> 31 == 1), "{word:#x}: {got}");
        }
    }

    /// Checks the numbers of largest magnitude, and the numbers next to 0.
    #[test]
    fn the_ends() {
        assert!((normal_of(0) - 6.337_958).abs() < 1e-6, "{}", normal_of(0));
        assert_eq!(normal_of(0x8000_0000), -normal_of(0));
        assert_eq!(normal_of(0x7fff_ffff).to_bits(), 0);
        assert_eq!(normal_of(u32::MAX).to_bits(), 0);
        assert!((normal_of_two(0, 0) - 9.155_293_772_686_073).abs() < 1e-14, "{}", normal_of_two(0, 0));
        assert_eq!(normal_of_two(0, 1 << 31), -normal_of_two(0, 0));
    }
}
