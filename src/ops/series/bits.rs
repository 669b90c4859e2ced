//! Bit strings: shares, transitions, runs, and pairs of positions.

use super::SampleShape;
use super::cpu::Group;
use super::named::{Named, named};
use super::parts::Known;
use crate::lanes::Vector;
use serde::{Deserialize, Serialize};

named! {
    /// A column, or several, of [`Bits`]. A sample is one string of n bits, or, as a matrix, a string in each of m
    /// rows. Samples with other numbers than 0 and 1 have no such columns.
    BitsColumn {
        Ones: "ones", "the share of ones among all bits";
        Positions: "positions", "the share of ones at each of n positions, over the strings";
        Transitions: "transitions", "the share of adjacent bits that differ";
        Runs: "runs", "the mean number of runs of equal bits in a string";
        LongestOnes: "longest_ones", "the length of the longest run of ones";
        LongestZeros: "longest_zeros", "the length of the longest run of zeros";
        Pairs: "pairs", "for each pair of positions i and j, row by row, the share of strings whose bits i and j are both 1";
    }
}

/// Columns of bit strings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bits {
    /// The columns, in order.
    pub columns: Vec<BitsColumn>,
    /// The number of bits of each string that count, from the first on; 0 for all.
    pub first: usize,
}

impl Default for Bits {
    fn default() -> Self {
        use BitsColumn::{LongestOnes, LongestZeros, Ones, Positions, Runs, Transitions};
        Self { columns: vec![Ones, Positions, Transitions, Runs, LongestOnes, LongestZeros], first: 0 }
    }
}

/// The strings of a sample, and the parts of [`Bits`].
pub(super) struct BitsParts {
    pub(super) strings: usize,
    /// The distance from one string to the next.
    pub(super) apart: usize,
    /// The number of bits of each string that count.
    pub(super) length: usize,
    /// The first part of positions and of pairs, if there are such columns.
    pub(super) positions_at: Option<usize>,
    pub(super) pairs_at: Option<usize>,
    pub(super) total: usize,
}

/// The number of parts before those of positions.
const COUNTS: usize = 5;

impl Bits {
    /// Returns whether there is a column.
    pub(super) fn has(&self, column: BitsColumn) -> bool {
        self.columns.contains(&column)
    }

    /// Returns the number of strings, the distance from one to the next, and the number of their bits that count.
    fn sides(&self, shape: SampleShape) -> (usize, usize, usize) {
        let (strings, stride) = match shape {
            SampleShape::Vector(n) => (1, n),
            SampleShape::Matrix { rows, columns } => (rows, columns),
        };
        (strings, stride, if self.first == 0 { stride } else { self.first.min(stride) })
    }

    /// Returns which parts there are for samples of a shape.
    pub(super) fn parts_of(&self, shape: SampleShape) -> BitsParts {
        let (strings, apart, length) = self.sides(shape);
        let mut total = COUNTS;
        let mut take = |wanted: bool, parts: usize| {
            let begin = total;
            total += if wanted { parts } else { 0 };
            wanted.then_some(begin)
        };
        let positions_at = take(self.has(BitsColumn::Positions), length);
        let pairs_at = take(self.has(BitsColumn::Pairs), length * length);
        BitsParts { strings, apart, length, positions_at, pairs_at, total }
    }

    /// Returns the names of the columns.
    pub(super) fn names(&self, shape: SampleShape) -> Vec<String> {
        let (_, _, n) = self.sides(shape);
        let names = self.columns.iter().flat_map(|column| match column {
            BitsColumn::Positions => (0..n).map(|i| format!("position_{i}")).collect(),
            BitsColumn::Pairs => (0..n * n).map(|pair| format!("pair_{}_{}", pair / n, pair % n)).collect(),
            one => vec![one.name().to_owned()],
        });
        names.collect()
    }

    /// Counts: whether there is another number than 0 and 1, ones, adjacent bits that differ, the longest runs of ones
    /// and of zeros, then the ones at each position and the strings with a pair of ones, as far as there are such
    /// columns.
    #[inline(always)]
    pub(super) fn parts<V: Vector<Scalar = f64>>(&self, group: &Group<'_, V>, out: &mut Vec<V>) {
        let token = group.token;
        let (zero, one) = (V::splat(token, 0.0), V::splat(token, 1.0));
        let (_, stride, n) = self.sides(group.shape);
        // Bits have x (x - 1) = 0.
        let mut other = zero;
        for &x in group.x {
            other += (x * (x - one)).abs();
        }
        let (mut ones, mut differ) = (zero, zero);
        let (mut longest_ones, mut longest_zeros) = (zero, zero);
        for string in group.x.chunks_exact(stride) {
            let (mut run, mut gap) = (zero, zero);
            for (i, &bit) in string[..n].iter().enumerate() {
                ones += bit;
                run = (run + one) * bit;
                gap = (gap + one) * (one - bit);
                longest_ones = longest_ones.max(run);
                longest_zeros = longest_zeros.max(gap);
                if i > 0 {
                    differ += (bit - string[i - 1]).abs();
                }
            }
        }
        out.extend_from_slice(&[V::select(zero.lt(other), one, zero), ones, differ, longest_ones, longest_zeros]);
        if self.has(BitsColumn::Positions) {
            for i in 0..n {
                let mut sum = zero;
                for string in group.x.chunks_exact(stride) {
                    sum += string[i];
                }
                out.push(sum);
            }
        }
        if self.has(BitsColumn::Pairs) {
            for i in 0..n {
                for j in 0..n {
                    let mut sum = zero;
                    for string in group.x.chunks_exact(stride) {
                        sum = string[i].mul_add(string[j], sum);
                    }
                    out.push(sum);
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, parts: &[V], out: &mut Vec<V>) {
        let token = known.token;
        let (zero, one) = (V::splat(token, 0.0), V::splat(token, 1.0));
        let (strings, _, n) = self.sides(known.shape);
        let each = V::splat(token, 1.0 / strings as f64);
        let all = V::splat(token, (strings * n) as f64);
        let (other, ones, differ, longest_ones, longest_zeros) = (parts[0], parts[1], parts[2], parts[3], parts[4]);
        let (positions, pairs) = parts[COUNTS..].split_at(if self.has(BitsColumn::Positions) { n } else { 0 });
        let defined = V::select(zero.lt(other), V::splat(token, f64::NAN), zero);
        for column in &self.columns {
            match column {
                BitsColumn::Ones => out.push(ones / all + defined),
                BitsColumn::Positions => {
                    for &sum in positions {
                        out.push(sum * each + defined);
                    }
                }
                BitsColumn::Transitions => {
                    out.push(differ / V::splat(token, (strings * (n - 1)) as f64) + defined);
                }
                BitsColumn::Runs => out.push(differ.mul_add(each, one) + defined),
                BitsColumn::LongestOnes => out.push(longest_ones + defined),
                BitsColumn::LongestZeros => out.push(longest_zeros + defined),
                BitsColumn::Pairs => {
                    for &sum in pairs {
                        out.push(sum * each + defined);
                    }
                }
            }
        }
    }
}
