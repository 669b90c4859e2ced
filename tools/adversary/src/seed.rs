//! Reproducible draws. Each draw depends only on the seed and on what is drawn for, so that calls that come in another
//! order do not change the others' draws.

/// A seed from which numbers are drawn without state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    /// Derives the seed for one purpose or for one event.
    pub(crate) fn fork(self, key: u64) -> Self {
        // One round of SplitMix64 for each key.
        let mut z = self.0.wrapping_add(key.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(z ^ (z >> 31))
    }

    /// Draws an integer below `bound`, or 0 if `bound` is 0.
    pub(crate) fn below(self, key: u64, bound: u64) -> u64 {
        self.fork(key).0.checked_rem(bound).unwrap_or(0)
    }

    /// Draws a number of at least 0 and less than 1.
    pub(crate) fn fraction(self, key: u64) -> f64 {
        const BITS: u32 = f64::MANTISSA_DIGITS;
        (self.fork(key).0 >> (64 - BITS)) as f64 / (1_u64 << BITS) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Seed;

    #[test]
    fn draws_are_reproducible_and_spread() {
        let seed = Seed(7);
        assert_eq!(seed.fork(3), seed.fork(3));
        assert_ne!(seed.fork(3), seed.fork(4));
        let mean = (0..1000).map(|i| seed.fraction(i)).sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
        assert!((0..100).all(|i| seed.below(i, 3) < 3));
        assert_eq!(seed.below(1, 0), 0);
    }
}
