//! Permutation tests.

use crate::ops::random::Stream;
use serde::Serialize;

/// The number of random arrangements of a permutation test.
pub(super) const DRAWS: u64 = 10_000;

/// A two-sided p value from arrangements of the data that are equally probable under the null hypothesis.
///
/// It is the share of arrangements whose statistic is at least as large as that of the data, in absolute value. If all
/// arrangements were tried, it is exact. Otherwise, 10,000 of them were drawn, and it is (1 + count) / (1 + 10,000),
/// which keeps the level (Phipson and Smyth, *Permutation p-values should never be zero*, 2010).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Permutation {
    /// The p value.
    pub p: f64,
    /// The number of arrangements that were tried.
    pub arrangements: u64,
    /// Whether these are all arrangements.
    pub exact: bool,
}

impl Permutation {
    /// Returns the result of trying all arrangements, of which `count` are as extreme as the data.
    pub(super) fn all(count: u64, arrangements: u64) -> Self {
        Self { p: super::checks::number(count) / super::checks::number(arrangements), arrangements, exact: true }
    }

    /// Returns the smallest p value that is possible with as many arrangements, of which `alike` are the data's own.
    pub(in crate::experiment) fn smallest(&self, alike: u64) -> f64 {
        let number = super::checks::number;
        if self.exact { number(alike) / number(self.arrangements) } else { 1.0 / number(1 + self.arrangements) }
    }

    /// Returns the result of [`DRAWS`] random arrangements, of which `count` are as extreme as the data.
    pub(super) fn drawn(count: u64) -> Self {
        let p = super::checks::number(1 + count) / super::checks::number(1 + DRAWS);
        Self { p, arrangements: DRAWS, exact: false }
    }
}

/// Random words of a stream, one after the other.
pub(in crate::experiment) struct Words {
    stream: Stream,
    block: [u32; 4],
    used: usize,
}

impl Words {
    /// Creates the words of a seed and a purpose.
    pub(in crate::experiment) fn new(seed: u64, purpose: &str) -> Self {
        Self { stream: Stream::new(seed, purpose), block: [0; 4], used: 4 }
    }

    /// Returns the next word.
    pub(in crate::experiment) fn next(&mut self) -> u32 {
        if self.used == 4 {
            (self.block, self.used) = (self.stream.next_block(), 0);
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// Returns a number below `n`, by multiplication: its probability differs from 1 / n by at most 2^-32.
    pub(in crate::experiment) fn below(&mut self, n: usize) -> usize {
        ((u64::from(self.next()) * n as u64) >> 32) as usize
    }

    /// Brings the values into a random order (Fisher and Yates, 1938; Durstenfeld, 1964).
    pub(in crate::experiment) fn shuffle<T>(&mut self, values: &mut [T]) {
        for i in (1..values.len()).rev() {
            let other = self.below(i + 1);
            values.swap(i, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    /// Each of the 24 orders of four values is expected 1000 times, with a standard deviation of 31; five of them are
    /// allowed.
    #[test]
    fn orders_are_equally_frequent() {
        let mut words = Words::new(1, "orders");
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut order = [0, 1, 2, 3];
            words.shuffle(&mut order);
            *counts.entry(order).or_insert(0_i32) += 1;
        }
        assert!(counts.len() == 24 && counts.values().all(|count| (count - 1000).abs() < 155), "{counts:?}");
    }

    /// The words of blocks follow one another, and every seed and purpose has its own.
    #[test]
    fn words_are_those_of_the_stream() {
        let mut words = Words::new(5, "a");
        let first: Vec<u32> = (0..8).map(|_| words.next()).collect();
        let mut stream = crate::ops::random::Stream::new(5, "a");
        assert_eq!(first, [stream.next_block(), stream.next_block()].concat());
        assert!(Words::new(5, "b").next() != first[0] && Words::new(6, "a").next() != first[0]);
    }
}
