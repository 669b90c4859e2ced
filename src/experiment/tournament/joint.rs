//! Counts of strings with ones at two positions, by the numbers of ones in words, and the divergences of these counts.

use super::super::statistics::number;
use super::strings::{Columns, WORD};
use super::{HISTOGRAM, POSITIONS};
use crate::lanes::in_widest;

/// The number of scores: of the shares, of the joint shares, of the differences, the composite, of the histogram.
pub(super) const SCORES: usize = 5;
/// The weights of the first three scores in the composite.
const WEIGHTS: [f64; 3] = [0.2, 0.4, 0.4];
/// What is added to each number of a vector before it is normalized.
const EPSILON: f64 = 1e-10;
/// The number of pairs i <= j of positions.
const PAIRS: usize = POSITIONS * (POSITIONS + 1) / 2;

/// The strings of two groups, position by position. The strings of the second begin at a word of their own.
pub(super) struct Pool {
    words: usize,
    positions: Vec<u64>,
    bins: Vec<u64>,
    totals: Counts,
}

/// How many of the chosen strings have ones at two positions, and how many are in the bins of the histogram.
#[derive(Clone)]
pub(super) struct Counts {
    /// The pairs i <= j of positions, by i and then j.
    joint: Vec<u32>,
    bins: [u32; HISTOGRAM],
}

/// x = c / n + 1e-10 and log x, for all counts c of n strings.
pub(super) struct Logarithms {
    count: f64,
    of: Vec<[f64; 2]>,
}

/// Returns chosen strings of both groups, by their places in a list of the first group's and then the second's, as bits
/// of the words of a [`Pool`].
pub(super) fn joined(chosen: &[usize], [first, second]: [usize; 2]) -> Vec<u64> {
    let begin = first.div_ceil(WORD);
    let mut words = vec![0; begin + second.div_ceil(WORD)];
    for &string in chosen {
        let place = if string < first { string } else { begin * WORD + (string - first) };
        words[place / WORD] |= 1 << (place % WORD);
    }
    words
}

impl Pool {
    pub(super) fn new(first: &Columns, second: &Columns) -> Self {
        let words = first.words + second.words;
        let join = |first_own: &[u64], second_own: &[u64]| {
            let rows = first_own.chunks_exact(first.words).zip(second_own.chunks_exact(second.words));
            rows.flat_map(|(first, second)| first.iter().chain(second)).copied().collect::<Vec<u64>>()
        };
        let positions = join(&first.positions, &second.positions);
        let bins = join(&first.bins, &second.bins);
        let mut made = Self { words, positions, bins, totals: Counts::new() };
        let mut totals = Counts::new();
        made.count(&vec![u64::MAX; words], &mut Vec::new(), &mut totals);
        made.totals = totals;
        made
    }

    /// Returns the counts of all strings.
    pub(super) fn totals(&self) -> &Counts {
        &self.totals
    }

    /// Counts the strings that a mask chooses. `scratch` is memory that calls may share.
    pub(super) fn count(&self, mask: &[u64], scratch: &mut Vec<u64>, counts: &mut Counts) {
        // The widest vectors of a CPU come with an instruction that counts ones.
        in_widest(
            #[inline(always)]
            || self.count_inlined(mask, scratch, counts),
        );
    }

    #[inline(always)]
    fn count_inlined(&self, mask: &[u64], scratch: &mut Vec<u64>, counts: &mut Counts) {
        let words = self.words;
        scratch.clear();
        for row in self.positions.chunks_exact(words) {
            scratch.extend(row.iter().zip(mask).map(|(a, b)| a & b));
        }
        let mut joint = counts.joint.iter_mut();
        for first in 0..POSITIONS {
            let row = &scratch[first * words..][..words];
            let others = scratch[first * words..].chunks_exact(words);
            for (count, other) in joint.by_ref().take(POSITIONS - first).zip(others) {
                *count = common(row, other);
            }
        }
        for (count, row) in counts.bins.iter_mut().zip(self.bins.chunks_exact(words)) {
            *count = common(row, mask);
        }
    }
}

/// Returns the number of ones that both have.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 strings")]
fn common(a: &[u64], b: &[u64]) -> u32 {
    // Without a check of overflow in builds that have one, which would keep the loop from being vectorized.
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).fold(0, u64::wrapping_add) as u32
}

impl Counts {
    pub(super) fn new() -> Self {
        Self { joint: vec![0; PAIRS], bins: [0; HISTOGRAM] }
    }

    pub(super) fn bins(&self) -> &[u32; HISTOGRAM] {
        &self.bins
    }

    /// Returns the numbers of strings with a one at each position.
    fn ones(&self) -> [u32; POSITIONS] {
        let mut first = 0;
        std::array::from_fn(|i| {
            let count = self.joint[first];
            first += POSITIONS - i;
            count
        })
    }

    /// Returns the scores of the chosen strings against all others.
    pub(super) fn scores(&self, totals: &Self, [of_first, of_second]: [&Logarithms; 2]) -> [f64; SCORES] {
        let [mut shares, mut joint, mut differences] = [Divergence::default(); 3];
        let own = self.ones();
        let all = totals.ones();
        let others: [u32; POSITIONS] = std::array::from_fn(|i| all[i] - own[i]);
        let mut pairs = self.joint.iter().zip(&totals.joint);
        for i in 0..POSITIONS {
            let mut row = pairs.by_ref().take(POSITIONS - i);
            if let Some((&count, &total)) = row.next() {
                let (x, y) = (of_first.at(count), of_second.at(total - count));
                shares.add(1.0, x, y);
                joint.add(1.0, x, y);
                differences.add(1.0, of_first.at(0), of_second.at(0));
            }
            for (j, (&count, &total)) in (i + 1..POSITIONS).zip(row) {
                joint.add(2.0, of_first.at(count), of_second.at(total - count));
                let apart = [own, others].map(|ones| ones[i].abs_diff(ones[j]));
                differences.add(2.0, of_first.at(apart[0]), of_second.at(apart[1]));
            }
        }
        let mut histogram = Divergence::default();
        for (&count, &total) in self.bins.iter().zip(&totals.bins) {
            histogram.add(1.0, of_first.density(count), of_second.density(total - count));
        }
        let [shares, joint, differences] = [shares, joint, differences].map(Divergence::value);
        let composite = WEIGHTS[0] * shares + WEIGHTS[1] * joint + WEIGHTS[2] * differences;
        [shares, joint, differences, composite, histogram.value()]
    }
}

impl Logarithms {
    pub(super) fn new(count: usize) -> Self {
        let n = number(count as u64);
        let of = |ones: usize| {
            let x = number(ones as u64) / n + EPSILON;
            [x, x.ln()]
        };
        Self { count: n, of: (0..=count).map(of).collect() }
    }

    fn at(&self, count: u32) -> [f64; 2] {
        self.of[count as usize]
    }

    /// Returns the same for the density of a bin with `count` strings.
    fn density(&self, count: u32) -> [f64; 2] {
        let x = f64::from(count) * number(HISTOGRAM as u64) / self.count + EPSILON;
        [x, x.ln()]
    }
}

/// The mean of KL(p || q) and KL(q || p) of vectors x and y, which are p and q without their normalization.
///
/// With S the sum of a vector, KL(p || q) = sum x (log x - log y) / S_x - log(S_x / S_y), and the last term is the
/// opposite of that of KL(q || p). So one pass is enough.
#[derive(Clone, Copy, Default)]
struct Divergence {
    sums: [f64; 2],
    products: [f64; 2],
}

impl Divergence {
    /// Adds a number of each vector, with its logarithm, `times` times.
    #[inline(always)]
    fn add(&mut self, times: f64, [x, log_x]: [f64; 2], [y, log_y]: [f64; 2]) {
        let (x, y, apart) = (times * x, times * y, log_x - log_y);
        self.sums[0] += x;
        self.sums[1] += y;
        self.products[0] += x * apart;
        self.products[1] += y * apart;
    }

    fn value(self) -> f64 {
        0.5 * (self.products[0] / self.sums[0] - self.products[1] / self.sums[1])
    }
}
