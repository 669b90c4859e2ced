//! The order in which partial results are merged. The order depends only on the positions of the results in the stream,
//! so the division of a stream into chunks changes no bit.
//!
//! Leaves are counted from the beginning of the stream. Node i of level j + 1 consists of nodes 2i and 2i + 1 of level
//! j; a last node without a neighbor moves up unchanged. So a growing stream holds at most one node per level, as a
//! binary counter holds one digit per position.

use crate::parallel;
use std::ops::Range;

/// The complete subtrees of a growing stream, at most one per level.
#[derive(Clone, Debug)]
pub(super) struct Tree<N> {
    /// The node of each level, if the level has one.
    held: Vec<Option<N>>,
    leaves: u64,
}

impl<N> Default for Tree<N> {
    fn default() -> Self {
        Self { held: Vec::new(), leaves: 0 }
    }
}

impl<N> Tree<N> {
    /// Returns the number of leaves.
    pub(super) fn leaves(&self) -> u64 {
        self.leaves
    }

    /// Appends the next `2^level` leaves as one node. The number of leaves appended before has to be a multiple of
    /// `2^level`.
    pub(super) fn push<E>(
        &mut self,
        level: u32,
        mut node: N,
        mut merge: impl FnMut(N, N) -> Result<N, E>,
    ) -> Result<(), E> {
        let mut at = level as usize;
        self.leaves += 1 << level;
        loop {
            if self.held.len() <= at {
                self.held.resize_with(at + 1, || None);
            }
            match self.held[at].take() {
                None => break,
                Some(before) => node = merge(before, node)?,
            }
            at += 1;
        }
        self.held[at] = Some(node);
        Ok(())
    }

    /// Merges all leaves and then `last`, the node of a final incomplete leaf, into one node. Returns `None` if the
    /// stream is empty and `last` is `None`.
    pub(super) fn root<E>(&self, last: Option<N>, mut merge: impl FnMut(N, N) -> Result<N, E>) -> Result<Option<N>, E>
    where
        N: Clone,
    {
        let mut root = last;
        for node in self.held.iter().flatten() {
            root = Some(match root {
                None => node.clone(),
                Some(later) => merge(node.clone(), later)?,
            });
        }
        Ok(root)
    }
}

/// Splits the leaves in `range` into complete subtrees whose level is at most `most`. Yields the level and the first
/// leaf of each subtree, in order.
pub(super) fn subtrees(range: Range<u64>, most: u32) -> impl Iterator<Item = (u32, u64)> {
    let mut next = range.start;
    std::iter::from_fn(move || {
        let left = range.end.checked_sub(next).filter(|&left| left > 0)?;
        let level = next.trailing_zeros().min(left.ilog2()).min(most);
        let first = next;
        next += 1 << level;
        Some((level, first))
    })
}

/// Reduces the subtree of `2^level` leaves that starts at leaf `first`. The two halves run in parallel.
pub(super) fn reduce<N: Send>(
    level: u32,
    first: u64,
    leaf: &(impl Fn(u64) -> N + Sync),
    merge: &(impl Fn(N, N) -> N + Sync),
) -> N {
    if level == 0 {
        return leaf(first);
    }
    let half = 1 << (level - 1);
    let (a, b) =
        parallel::both(|| reduce(level - 1, first, leaf, merge), || reduce(level - 1, first + half, leaf, merge));
    merge(a, b)
}

#[cfg(test)]
mod tests {
    use super::{Tree, reduce, subtrees};
    use std::convert::Infallible;

    fn merge(a: String, b: String) -> String {
        format!("({a}{b})")
    }

    fn pushed(tree: &mut Tree<String>, range: std::ops::Range<u64>) {
        for (level, first) in subtrees(range, 40) {
            let node = reduce(level, first, &|i| format!("{i} "), &merge);
            tree.push(level, node, |a, b| Ok::<_, Infallible>(merge(a, b))).expect("no error");
        }
    }

    fn root(tree: &Tree<String>, last: Option<String>) -> Option<String> {
        tree.root(last, |a, b| Ok::<_, Infallible>(merge(a, b))).expect("no error")
    }

    #[test]
    fn the_tree_does_not_depend_upon_the_cut() {
        for leaves in 0..70_u64 {
            let mut whole = Tree::default();
            pushed(&mut whole, 0..leaves);
            assert_eq!(whole.leaves(), leaves);
            for step in [1, 2, 3, 7, 20] {
                let mut cut = Tree::default();
                for begin in (0..leaves).step_by(step) {
                    pushed(&mut cut, begin..(begin + step as u64).min(leaves));
                }
                assert_eq!(root(&cut, None), root(&whole, None), "{leaves} by {step}");
                assert_eq!(root(&cut, Some("z".into())), root(&whole, Some("z".into())), "{leaves} by {step}");
            }
        }
    }

    #[test]
    fn pairs_are_neighbors_and_the_last_one_rises() {
        let mut tree = Tree::default();
        assert_eq!(root(&tree, None), None);
        pushed(&mut tree, 0..5);
        assert_eq!(root(&tree, None).as_deref(), Some("(((0 1 )(2 3 ))4 )"));
        assert_eq!(root(&tree, Some("z".into())).as_deref(), Some("(((0 1 )(2 3 ))(4 z))"));
    }
}
