//! The order of samples. A permutation of 0..n is computed from a key, element by element and without memory, so that
//! any position of any epoch costs the same and resuming replays nothing.
//!
//! The permutation is a Feistel network on the bits of the numbers below a power of two, restricted to the numbers
//! below n by walking along the cycle until one of them is met (Mitchell, Stokes, Frank and Holmes, Bandwidth-optimal
//! random shuffling for GPUs, arXiv 2106.06161). It uses integers of 32 bits only, so a device computes the same.

/// The number of half rounds. Half of them change the upper bits, the other half the lower bits.
pub(super) const ROUNDS: usize = 12;
/// The smallest power of two that is permuted, as a number of bits. Permutations of fewer bits would not be random
/// enough, because a round changes only half of the bits.
const FEWEST_BITS: u32 = 6;

/// A permutation of 0..n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    n: u32,
    /// The number of the lower bits, and of the upper bits.
    bits: [u32; 2],
    keys: [u32; ROUNDS],
}

impl Order {
    /// Creates the permutation of 0..n with the given random keys.
    pub(super) fn new(n: u32, keys: [u32; ROUNDS]) -> Self {
        let bits = (u32::BITS - n.saturating_sub(1).leading_zeros()).max(FEWEST_BITS);
        Self { n, bits: [bits / 2, bits - bits / 2], keys }
    }

    /// Returns the number at `position`, which is below n.
    pub(super) fn at(&self, position: u32) -> u32 {
        let mut x = self.round_trip(position);
        while x >= self.n {
            x = self.round_trip(x);
        }
        x
    }

    /// Writes the numbers at consecutive positions from `first` on. Several are computed together, so that the compiler
    /// can vectorize the computation.
    #[inline(always)]
    pub(super) fn fill(&self, mut first: u32, out: &mut [u32]) {
        const ABREAST: u32 = 8;
        for out in out.chunks_mut(ABREAST as usize) {
            let mut x = [0; ABREAST as usize];
            for (i, x) in (0..).zip(&mut x) {
                // Positions beyond the end, of which no result is used, count as the first.
                let position = first.wrapping_add(i);
                *x = if position < self.n { position } else { 0 };
            }
            let mut outside = true;
            let mut done = [0; ABREAST as usize];
            while outside {
                let mut next = [0; ABREAST as usize];
                outside = false;
                for i in 0..ABREAST as usize {
                    next[i] = self.round_trip(x[i]);
                }
                for i in 0..ABREAST as usize {
                    x[i] = if done[i] == 1 { x[i] } else { next[i] };
                    done[i] = u32::from(x[i] < self.n);
                    outside |= x[i] >= self.n;
                }
            }
            out.copy_from_slice(&x[..out.len()]);
            first = first.wrapping_add(ABREAST);
        }
    }

    #[inline(always)]
    fn round_trip(&self, x: u32) -> u32 {
        let [low, high] = self.bits;
        let (low_mask, high_mask) = ((1_u32 << low) - 1, u32::MAX >> (32 - high));
        let (mut a, mut b) = (x & low_mask, x >> low);
        for keys in self.keys.as_chunks::<2>().0 {
            // Additions: with exclusive or, every round would be an even permutation.
            a = a.wrapping_add(mix(b.wrapping_add(keys[0]))) & low_mask;
            b = b.wrapping_add(mix(a.wrapping_add(keys[1]))) & high_mask;
        }
        b << low | a
    }
}

/// Mixes all bits of a word into its lower bits (the first half of Murmur3's finalizer).
#[inline(always)]
fn mix(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::{Order, ROUNDS};
    use crate::ops::random::philox;

    fn order(n: u32, seed: u32) -> Order {
        let words = |part| philox([part, 0, 0, 0], [seed, 1]);
        let keys = [words(0), words(1), words(2)].concat();
        Order::new(n, keys.try_into().expect("twelve words"))
    }

    #[test]
    fn every_number_once() {
        assert_eq!(ROUNDS, 12);
        for n in [1, 2, 3, 7, 50, 63, 64, 65, 1000, 1797, 4800] {
            let mut met = vec![false; n as usize];
            let (order, mut filled) = (order(n, n), vec![0; n as usize]);
            order.fill(0, &mut filled);
            for position in 0..n {
                let at = order.at(position);
                assert_eq!(at, filled[position as usize], "n = {n}, position {position}");
                assert!(!std::mem::replace(&mut met[at as usize], true), "n = {n}: {at} twice");
            }
        }
        // The largest sizes still answer.
        for n in [u32::MAX, 1 << 31] {
            assert!(order(n, 3).at(n - 1) < n);
        }
    }

    /// Counts of statistics over many permutations against their distribution for uniform permutations. The bound on
    /// chi-square is its mean plus 6 standard deviations, which a right generator exceeds with a probability below
    /// 1e-6. The keys are fixed.
    #[test]
    fn permutations_are_uniform() {
        const TRIALS: u32 = 20_000;
        for n in [2_u32, 3, 4, 5, 8, 16, 33, 64] {
            let mut first = vec![0_u32; (n * n) as usize]; // where each position goes
            let (mut adjacent, mut fixed, mut odd) = (0_u32, 0_u32, 0_u32);
            for seed in 0..TRIALS {
                let order = order(n, seed);
                let all: Vec<u32> = (0..n).map(|i| order.at(i)).collect();
                for (i, &x) in all.iter().enumerate() {
                    first[i * n as usize + x as usize] += 1;
                    fixed += u32::from(i as u32 == x);
                }
                adjacent += all.windows(2).filter(|pair| pair[1] == pair[0] + 1).count() as u32;
                let inversions: usize = (0..all.len()).map(|i| all[i..].iter().filter(|&&x| x < all[i]).count()).sum();
                odd += (inversions % 2) as u32;
            }
            let expected = f64::from(TRIALS) / f64::from(n);
            let chi: f64 = first.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
            let freedom = f64::from((n - 1) * (n - 1));
            assert!(chi < freedom + 6.0 * (2.0 * freedom).sqrt() + 10.0, "n = {n}: chi-square {chi} of {freedom}");
            // Fixed points and successions: means 1 and (n - 1) / n, variances of 1 at most.
            let bound = 6.0 * f64::from(TRIALS).sqrt();
            for (what, count, mean) in
                [("fixed points", fixed, 1.0), ("successions", adjacent, f64::from(n - 1) / f64::from(n))]
            {
                let off = (f64::from(count) - mean * f64::from(TRIALS)).abs();
                assert!(off < bound, "n = {n}: {count} {what}");
            }
            let off = (f64::from(odd) - f64::from(TRIALS) / 2.0).abs();
            assert!(off < bound / 2.0, "n = {n}: {odd} odd permutations");
        }
    }
}
