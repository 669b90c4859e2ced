//! How far a graph is across: what tells meshes, whose factors are thin, from graphs in which everything is near.

use crate::array::Real;
use crate::ops::sparse::Operator;

/// Levels of a breadth-first search of an operator's only problem, from a node that another search reached last; of the component of
/// the first row with the most entries. A graph of so many levels is cut in two by n over their number nodes at most, which is
/// what nested dissection lives on (George 1973).
pub(super) fn levels<T: Real>(a: &Operator<'_, T>) -> usize {
    let entries = |row: &usize| a.entries_of(*row).len();
    let Some(hub) = (0..a.rows()).max_by_key(entries) else { return 0 };
    let (_, far) = search(a, hub);
    search(a, far).0
}

/// How many levels there are, and a row of the last one.
fn search<T: Real>(a: &Operator<'_, T>, start: usize) -> (usize, usize) {
    let mut seen = vec![false; a.rows()];
    seen[start] = true;
    let (mut level, mut next) = (vec![start], Vec::new());
    let mut levels = 0;
    let mut last = start;
    while let Some(&row) = level.first() {
        levels += 1;
        last = row;
        for &row in &level {
            for &column in &a.columns[a.entries_of(row)] {
                let column = column as usize;
                if !std::mem::replace(&mut seen[column], true) {
                    next.push(column);
                }
            }
        }
        std::mem::swap(&mut level, &mut next);
        next.clear();
    }
    (levels, last)
}

#[cfg(test)]
mod tests {
    use super::levels;
    use crate::graph::{Conventions, Graph};
    use crate::ops::Normalization;
    use crate::ops::sparse::Operator;

    #[test]
    fn of_paths_rings_stars_and_nothing() {
        let of = |nodes: usize, edges: &[(u32, u32)]| {
            let graph = Graph::from_edges(nodes, edges, &Conventions::default()).unwrap();
            levels(&Operator::<f64>::laplacian(graph.view(), Normalization::Combinatorial).unwrap())
        };
        let path: Vec<(u32, u32)> = (0..9).map(|i| (i, i + 1)).collect();
        let ring: Vec<(u32, u32)> = (0..10).map(|i| (i, (i + 1) % 10)).collect();
        let star: Vec<(u32, u32)> = (1..10).map(|i| (0, i)).collect();
        assert_eq!(
            [of(10, &path), of(10, &ring), of(10, &star), of(12, &star), of(3, &[]), of(0, &[])],
            [10, 6, 3, 3, 1, 0]
        );
    }
}
