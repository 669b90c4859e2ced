//! Plans sums over the rows of each problem in a fixed order. The device sums chunks of rows, and then adds those
//! sums sixteen at a time, in several levels. The host adds the last few sums in f64.

use crate::shape::to_u32;
use std::ops::Range;

/// The number of rows in a chunk.
pub(super) const CHUNK: usize = 512;
/// The number of sums that are added at a time, and the maximum number of sums per problem that are left to the
/// host.
const TOGETHER: usize = 16;

/// A plan of sums over rows. It depends only on the orders of the problems.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sums {
    /// The chunks, each (first row, end row, problem, 0).
    pub(super) chunks: Vec<[u32; 4]>,
    /// For each level, the ranges of sums that it adds, each (begin, end, problem, 0). The first level always
    /// exists and adds ranges of chunks; each later level adds ranges of the previous level's sums.
    pub(super) levels: Vec<Vec<[u32; 4]>>,
    /// For each problem, the range of its sums in the last level.
    pub(super) parts: Vec<Range<usize>>,
}

impl Sums {
    /// Plans the sums of problems whose ranges of rows are `spans`.
    pub(super) fn new(spans: &[Range<usize>]) -> Self {
        let mut chunks = Vec::new();
        for (problem, span) in (0..).zip(spans) {
            let begins = span.clone().step_by(CHUNK);
            chunks.extend(begins.map(|begin| [to_u32(begin), to_u32(span.end.min(begin + CHUNK)), problem, 0]));
        }
        let mut levels = vec![level(&chunks, 0)];
        while let Some(last) = levels.last()
            && longest(last) > TOGETHER
        {
            levels.push(level(last, TOGETHER));
        }
        let mut parts = vec![0..0; spans.len()];
        for (place, range) in levels.iter().last().into_iter().flatten().enumerate() {
            let part = &mut parts[range[2] as usize];
            *part = if part.start == part.end { place..place + 1 } else { part.start..place + 1 };
        }
        Self { chunks, levels, parts }
    }

    /// Splits the chunks into groups of at most `most` chunks, or of at most [`TOGETHER`] if `most` is smaller.
    /// Each range of the first level is within one group, so the sums of the chunks need memory for only one group
    /// at a time. Returns, for each group, the range of its outputs in the first level and the range of its chunks.
    pub(super) fn chunk_groups(&self, most: usize) -> Vec<(Range<u32>, Range<u32>)> {
        let most = to_u32(most.max(TOGETHER));
        let mut chunk_groups: Vec<(Range<u32>, Range<u32>)> = Vec::new();
        for (output, range) in (0..).zip(&self.levels[0]) {
            match chunk_groups.last_mut() {
                Some((outputs, chunks)) if range[1] - chunks.start <= most => {
                    (outputs.end, chunks.end) = (output + 1, range[1]);
                }
                _ => chunk_groups.push((output..output + 1, range[0]..range[1])),
            }
        }
        chunk_groups
    }
}

/// Returns the ranges of the level after `below`. Adjacent sums of one problem form a range. If a problem has at
/// most `enough` sums, each of its ranges has only one sum. For this problem the level then adds nothing, and the
/// host adds the sums. So a problem's result does not depend on how many rows other problems have.
fn level(below: &[[u32; 4]], enough: usize) -> Vec<[u32; 4]> {
    let mut first = 0;
    let mut ranges = Vec::new();
    for problem in below.chunk_by(|a, b| a[2] == b[2]) {
        for few in problem.chunks(if problem.len() <= enough { 1 } else { TOGETHER }) {
            ranges.push([first, first + to_u32(few.len()), few[0][2], 0]);
            first += to_u32(few.len());
        }
    }
    ranges
}

/// Returns the largest number of entries of `level` that belong to one problem.
fn longest(level: &[[u32; 4]]) -> usize {
    level.chunk_by(|a, b| a[2] == b[2]).map(<[_]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Sums, TOGETHER};
    use std::ops::Range;

    /// Every row of every problem is summed once and in order, and few sums are left for the host.
    #[test]
    fn every_row_is_summed_once() {
        for sizes in [vec![], vec![0], vec![1], vec![512, 513, 0, 1], vec![1_000_000], vec![5_000_000, 3, 200_000]] {
            let mut spans: Vec<Range<usize>> = Vec::new();
            for size in sizes {
                let begin = spans.last().map_or(0, |span| span.end);
                spans.push(begin..begin + size);
            }
            let sums = Sums::new(&spans);
            let mut below: Vec<Range<u32>> = sums.chunks.iter().map(|c| c[0]..c[1]).collect();
            assert!(below.iter().all(|rows| rows.len() <= CHUNK));
            for level in &sums.levels {
                let join = |range: &[u32; 4]| {
                    let parts = &below[range[0] as usize..range[1] as usize];
                    assert!(parts.len() <= TOGETHER && parts.windows(2).all(|pair| pair[0].end == pair[1].start));
                    parts[0].start..parts[parts.len() - 1].end
                };
                below = level.iter().map(join).collect();
            }
            for (span, part) in spans.iter().zip(&sums.parts) {
                assert!(part.len() <= TOGETHER && part.is_empty() == span.is_empty());
                // The host receives as many sums as if the problem were alone.
                assert_eq!(part.len(), Sums::new(std::slice::from_ref(&(0..span.len()))).parts[0].len());
                let mut at = span.start;
                for rows in &below[part.clone()] {
                    assert_eq!(rows.start as usize, at);
                    at = rows.end as usize;
                }
                assert_eq!(at, span.end);
            }
            for most in [1, 16, 100, 1 << 20] {
                let (mut output, mut chunk) = (0, 0);
                for (outputs, chunks) in sums.chunk_groups(most) {
                    assert_eq!((outputs.start, chunks.start), (output, chunk));
                    assert!(chunks.len() <= most.max(TOGETHER));
                    (output, chunk) = (outputs.end, chunks.end);
                }
                assert_eq!((output as usize, chunk as usize), (sums.levels[0].len(), sums.chunks.len()));
            }
        }
    }
}
