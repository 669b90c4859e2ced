//! What became of edges that are listed more than once.

use super::{Conventions, Duplicates, Symmetrization};

/// How the edges of a list were merged into undirected ones, counted while graphs are built
/// ([`GraphBatch::from_edge_list_counted`](super::GraphBatch::from_edge_list_counted)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The number of pairs of nodes whose edge is listed in both directions.
    pub both_ways: usize,
    /// The number of pairs of nodes whose edge is listed in one direction and was taken for both.
    pub one_way: usize,
    /// How often one of different weights was used, because its magnitude is the largest: of the weights that are
    /// listed for one direction of an edge, and of those of both directions. Weights that differ by the rounding of f32
    /// alone are not different.
    pub outweighed: usize,
}

impl Merged {
    /// Adds the edges of other graphs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            both_ways: self.both_ways + other.both_ways,
            one_way: self.one_way + other.one_way,
            outweighed: self.outweighed + other.outweighed,
        }
    }

    /// Counts an edge of these weights in its own and in the other direction, which is 0 if that is not listed.
    pub(super) fn count(&mut self, [own, other]: [f64; 2], conventions: &Conventions) {
        if conventions.symmetrization == Symmetrization::Keep || conventions.flows {
            // Directions stay what they are, in the matrix or beside it.
        } else if other == 0.0 {
            self.one_way += 1;
        } else {
            self.both_ways += 1;
            self.outweighed += usize::from(differ(own, other) && conventions.symmetrization == Symmetrization::Max);
        }
    }

    /// Counts the weights of an edge that is listed several times in one direction.
    pub(super) fn count_duplicates(&mut self, mut weights: impl Iterator<Item = f64>, rule: Duplicates) {
        let first = weights.next().unwrap_or(0.0);
        self.outweighed += usize::from(rule == Duplicates::Max && weights.any(|weight| differ(weight, first)));
    }

    /// Returns what is doubtful, in a sentence each: directions that were added although the list seems to know both,
    /// and weights that were not used.
    pub fn doubts(self) -> impl Iterator<Item = String> {
        let Self { both_ways, one_way, outweighed } = self;
        let directed = (both_ways > 0 && one_way > 0).then(|| {
            let (all, are) = (both_ways + one_way, if one_way == 1 { "is" } else { "are" });
            format!(
                "{one_way} of {all} edges {are} listed in one direction, the others in both; each was taken for undirected"
            )
        });
        let weights = (outweighed > 0).then(|| {
            "some edges are listed with different weights, of which the one of largest magnitude was used".to_owned()
        });
        [directed, weights].into_iter().flatten()
    }
}

/// Returns whether two weights differ by more than rounding. An affinity that a program computed in f32, once for each
/// direction, differs by some units in the last place, which are 6e-8 of it.
fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() > 1e-6 * one.abs().max(other.abs())
}
