//! Cuts the rows of a sparse matrix into the items that the kernels sum: whole rows, and segments of long rows. The cut
//! is made once for all products. The cut changes no bit of a result, because the entries of a row are always summed in
//! the same order, wherever they are stored.

use crate::shape::to_u32;
use std::cmp::Reverse;
use std::ops::Range;

/// The maximum number of entries of a row that are summed in one go. A longer row is cut into segments, so that a node
/// with many neighbors does not delay the whole product.
pub(super) const SEGMENT: usize = 256;

/// The largest length of each class of rows. The rows that are not cut are divided into classes by their lengths. All
/// rows of a dispatch belong to one class, because the work of the dispatch is estimated from the mean length of its
/// rows.
const CLASSES: [usize; 3] = [16, 64, SEGMENT];

/// All rows of a matrix. The long rows are cut into segments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) row_blocks: Vec<RowBlock>,
    /// The rows that are cut into segments: (row, first slot, end of the row's slots, problem). Each segment has one
    /// slot for its sum.
    pub(super) long: Vec<[u32; 4]>,
    /// The number of slots, one for each segment of a long row.
    pub(super) slots: u32,
}

/// Rows whose entries are in one array on the device.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RowBlock {
    /// The range of the block's entries among the entries of the whole matrix.
    pub(super) entries: Range<usize>,
    /// The rows that are not cut, the longest first: (row, first entry, end of the row's entries, problem). Entry
    /// indices are relative to the block's first entry.
    pub(super) rows: Vec<[u32; 4]>,
    /// The ranges of `rows` whose rows belong to the same class.
    pub(super) runs: Vec<Run>,
    /// The segments of long rows: (slot, first entry, end of the segment's entries, problem).
    pub(super) segments: Vec<[u32; 4]>,
}

/// Adjacent rows, or segments, of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) rows: Range<u32>,
    /// The total number of entries of the rows.
    pub(super) entries: usize,
}

/// Cuts rows into blocks of at most `most_entries` entries (raised to [`SEGMENT`] if it is smaller) and `most_rows`
/// rows. `row_offsets` delimits the entries of each row; problem p has the rows `node_offsets[p]..node_offsets[p + 1]`.
pub(super) fn cut(row_offsets: &[usize], node_offsets: &[usize], most_entries: usize, most_rows: usize) -> Cut {
    let most_entries = most_entries.max(SEGMENT);
    let first = row_offsets.first().copied().unwrap_or(0);
    let mut cut = Cut::default();
    let mut open = RowBlock::default();
    for (problem, rows) in node_offsets.windows(2).enumerate() {
        let problem = to_u32(problem);
        for row in rows[0]..rows[1] {
            let (begin, end) = (row_offsets[row] - first, row_offsets[row + 1] - first);
            let first_slot = cut.slots;
            let mut from = begin;
            loop {
                let to = end.min(from + SEGMENT);
                if to - open.entries.start > most_entries || open.rows.len().max(open.segments.len()) >= most_rows {
                    cut.row_blocks.push(
                        std::mem::replace(&mut open, RowBlock { entries: from..from, ..RowBlock::default() }).sorted(),
                    );
                }
                let places = [to_u32(from - open.entries.start), to_u32(to - open.entries.start)];
                if end - begin > SEGMENT {
                    open.segments.push([cut.slots, places[0], places[1], problem]);
                    cut.slots += 1;
                } else {
                    open.rows.push([to_u32(row), places[0], places[1], problem]);
                }
                open.entries.end = to;
                from = to;
                if from >= end {
                    break;
                }
            }
            if cut.slots > first_slot {
                cut.long.push([to_u32(row), first_slot, cut.slots, problem]);
            }
        }
    }
    if !open.rows.is_empty() || !open.segments.is_empty() {
        cut.row_blocks.push(open.sorted());
    }
    cut
}

impl RowBlock {
    /// Sorts the rows by descending length, so that adjacent rows have similar lengths and the rows that finish last
    /// are short.
    fn sorted(mut self) -> Self {
        let length = |row: &[u32; 4]| (row[2] - row[1]) as usize;
        self.rows.sort_by_key(|row| Reverse(length(row).next_power_of_two()));
        let class = |row: &[u32; 4]| CLASSES.iter().position(|&most| length(row).next_power_of_two() <= most);
        let mut first = 0;
        for run in self.rows.chunk_by(|a, b| class(a) == class(b)) {
            let rows = to_u32(first)..to_u32(first + run.len());
            first += run.len();
            self.runs.push(Run { rows, entries: run.iter().map(length).sum() });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, SEGMENT, cut};

    /// Checks that every entry of every row occurs exactly once, and that the segments of a cut row are in order.
    fn check(lengths: &[usize], problems: &[usize], most_entries: usize, most_rows: usize) -> Cut {
        // These are the offsets of a matrix that is a part of a larger one, so they do not begin with 0.
        let mut offsets = vec![7];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let cut = cut(&offsets, problems, most_entries, most_rows);
        let mut seen: Vec<Vec<(usize, usize)>> = vec![Vec::new(); lengths.len()];
        let mut slots = vec![(0, 0); cut.slots as usize];
        for row_block in &cut.row_blocks {
            assert!(row_block.entries.len() <= most_entries.max(SEGMENT), "{row_block:?}");
            assert!(row_block.rows.len() <= most_rows && row_block.segments.len() <= most_rows);
            let place = |x: u32| x as usize + row_block.entries.start;
            for &[row, from, to, problem] in &row_block.rows {
                assert!((to - from) as usize <= SEGMENT && place(to) <= row_block.entries.end);
                assert!((problems[problem as usize]..problems[problem as usize + 1]).contains(&(row as usize)));
                seen[row as usize].push((place(from), place(to)));
            }
            for &[slot, from, to, _] in &row_block.segments {
                assert!((to - from) as usize <= SEGMENT && place(to) <= row_block.entries.end);
                slots[slot as usize] = (place(from), place(to));
            }
            let rows: u32 = row_block.runs.iter().map(|run| run.rows.end - run.rows.start).sum();
            assert_eq!(rows as usize, row_block.rows.len());
            let entries: usize = row_block.runs.iter().map(|run| run.entries).sum();
            let segments: u32 = row_block.segments.iter().map(|s| s[2] - s[1]).sum();
            assert_eq!(entries + segments as usize, row_block.entries.len());
        }
        for &[row, first, end, _] in &cut.long {
            seen[row as usize].extend_from_slice(&slots[first as usize..end as usize]);
        }
        for (row, parts) in seen.iter().enumerate() {
            let (begin, end) = (offsets[row] - 7, offsets[row + 1] - 7);
            assert!(parts.len() == 1 || lengths[row] > SEGMENT, "row {row}: {parts:?}");
            assert_eq!((parts[0].0, parts[parts.len() - 1].1), (begin, end), "row {row}");
            assert!(parts.windows(2).all(|pair| pair[0].1 == pair[1].0 && (pair[0].1 - begin) % SEGMENT == 0));
        }
        cut
    }

    #[test]
    fn every_entry_is_somewhere_once() {
        let lengths = [3, 0, 256, 257, 1, 5000, 16, 17, 64, 65, 300, 2];
        for most_entries in [256, 300, 1000, 1 << 20] {
            for most_rows in [1, 2, 5, 1000] {
                let cut = check(&lengths, &[0, 4, 4, 12], most_entries, most_rows);
                assert_eq!(cut.long.iter().map(|row| row[0]).collect::<Vec<_>>(), [3, 5, 10]);
                assert_eq!(cut.slots, 2 + 20 + 2);
            }
        }
        check(&[0], &[0, 1], 256, 10);
        assert_eq!(cut(&[0], &[0], 256, 10), Cut::default());
    }

    /// A long row has the same segments wherever the blocks end, so its sum is the same too.
    #[test]
    fn long_rows_are_cut_by_their_own_entries() {
        let slots = |most| {
            let cut = check(&[10, 1000, 3], &[0, 3], most, 100);
            cut.row_blocks.iter().flat_map(|p| p.segments.iter().map(|s| s[2] - s[1])).collect::<Vec<_>>()
        };
        assert_eq!(slots(256), [256, 256, 256, 232]);
        assert_eq!(slots(1 << 20), slots(256));
    }
}
