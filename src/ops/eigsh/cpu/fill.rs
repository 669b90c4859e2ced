//! Detects graphs for which a factorization would be too expensive, in the time of a few products. A quick test is
//! needed because for such a graph, ordering the rows alone takes longer than solving the problem by an iteration.

use crate::ops::sparse::Operator;
use crate::shape::to_u32;

/// Estimates the number of rows in the largest separator of any component. The estimate for a component is the size
/// of the smallest middle level of a breadth-first search. Trees that are attached to a component are removed
/// first, because they cause no fill. The estimate is too large: a real separator is smaller than the levels of a
/// search by a small factor. If one node is joined to all others, the estimate is far too large.
pub(in crate::ops::eigsh) fn separator(operator: &Operator<'_, f64>) -> usize {
    let n = operator.rows();
    let neighbors =
        |row: u32| operator.columns[operator.entries_of(row as usize)].iter().copied().filter(move |&c| c != row);
    let rows = 0..to_u32(n);
    let mut degrees: Vec<u32> = rows.clone().map(|row| neighbors(row).fold(0, |count, _| count + 1)).collect();
    let mut leaves: Vec<u32> = rows.clone().filter(|&row| degrees[row as usize] == 1).collect();
    while let Some(leaf) = leaves.pop() {
        degrees[leaf as usize] = 0;
        for row in neighbors(leaf) {
            let degree = &mut degrees[row as usize];
            *degree = degree.saturating_sub(1);
            // A node whose degree drops from 1 to 0 is the last node of a tree, so it is not added.
            if *degree == 1 {
                leaves.push(row);
            }
        }
    }
    let mut seen = vec![0_u8; n];
    let mut queue = Vec::new();
    let mut search = |start: u32, round: u8, seen: &mut [u8]| {
        queue.clear();
        queue.push(start);
        seen[start as usize] = round;
        let mut levels = vec![0];
        while levels.last() != Some(&queue.len()) {
            let begin = levels[levels.len() - 1];
            levels.push(queue.len());
            for i in begin..queue.len() {
                for row in neighbors(queue[i]) {
                    if degrees[row as usize] > 0 && seen[row as usize] < round {
                        seen[row as usize] = round;
                        queue.push(row);
                    }
                }
            }
        }
        (queue[queue.len() - 1], levels)
    };
    let mut widest = 0;
    for row in rows {
        if degrees[row as usize] > 0 && seen[row as usize] == 0 {
            // The last node of the first search is a better start for the second.
            let (last, _) = search(row, 1, &mut seen);
            let (_, levels) = search(last, 2, &mut seen);
            let count = levels[levels.len() - 1];
            // Only levels that reach into the middle half of the rows count, because they separate two large
            // parts.
            let middle = levels.windows(2).filter(|level| level[1] > count / 4 && level[0] < count - count / 4);
            widest = widest.max(middle.map(|level| level[1] - level[0]).min().unwrap_or(0));
        }
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::separator;
    use crate::graph::generate;
    use crate::ops::Normalization;
    use crate::ops::sparse::Operator;

    /// The levels of a search from a corner of a grid are the diagonals of the grid. Trees have no levels, because
    /// they are removed before the search. A graph without small separators has wide levels.
    #[test]
    fn separators() {
        let of = |graph: crate::Result<crate::graph::Graph>| {
            let graph = graph.unwrap();
            separator(&Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap())
        };
        assert_eq!(of(generate::path(1000)), 0);
        assert_eq!(of(generate::star(1000)), 0);
        assert_eq!(of(generate::cycle(1000)), 2);
        let grid = of(generate::grid(20, 200));
        assert!((15..=20).contains(&grid), "{grid}");
        assert_eq!(of(generate::complete(50)), 49);
        let attached = of(generate::preferential_attachment(3000, 5, 1));
        assert!(attached > 1000, "{attached}");
    }
}
