//! The view of one graph, be it alone or in a batch.

use super::{Components, Conventions, DegreeDirection, Symmetrization};

/// One graph's adjacency matrix W in compressed sparse row form, borrowed from a [`Graph`](super::Graph) or a
/// [`GraphBatch`](super::GraphBatch).
#[derive(Clone, Copy, Debug)]
pub struct GraphRef<'a> {
    pub(super) row_offsets: &'a [usize],
    pub(super) columns: &'a [u32],
    pub(super) weights: Option<&'a [f32]>,
    pub(super) conventions: Conventions,
}

impl<'a> GraphRef<'a> {
    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.row_offsets.len() - 1
    }

    /// How many entries W has: an undirected edge counts twice, a self-loop once.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Whether an edge has another weight than 1.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some_and(|weights| weights.iter().any(|&weight| weight != 1.0))
    }

    /// The columns of W's row: the nodes that edges lead to, ascending.
    ///
    /// # Panics
    /// Where `row` is not below [`GraphRef::nodes`], as a slice does.
    #[must_use]
    pub fn neighbors(&self, row: usize) -> &'a [u32] {
        &self.columns[self.span(row)]
    }

    /// The weights beside [`GraphRef::neighbors`]; none where every weight of the graph's batch is 1.
    ///
    /// # Panics
    /// Where `row` is not below [`GraphRef::nodes`], as a slice does.
    #[must_use]
    pub fn weights(&self, row: usize) -> Option<&'a [f32]> {
        self.weights.map(|weights| &weights[self.span(row)])
    }

    /// The entries of W's row, `(column, weight)`, by ascending column.
    ///
    /// # Panics
    /// Where `row` is not below [`GraphRef::nodes`], as a slice does.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let weights = self.weights(row);
        let weight = move |position: usize| weights.map_or(1.0, |weights| f64::from(weights[position]));
        self.neighbors(row).iter().enumerate().map(move |(position, &column)| (column as usize, weight(position)))
    }

    /// Where each row begins, (nodes + 1) numbers, counted through the whole batch: the first is where
    /// [`GraphRef::columns`] begins.
    #[must_use]
    pub fn row_offsets(&self) -> &'a [usize] {
        self.row_offsets
    }

    /// This graph's columns, row after row.
    #[must_use]
    pub fn columns(&self) -> &'a [u32] {
        self.columns
    }

    /// The weights beside [`GraphRef::columns`]; none where every weight of the graph's batch is 1.
    #[must_use]
    pub fn all_weights(&self) -> Option<&'a [f32]> {
        self.weights
    }

    /// The conventions that made the graph and will make its Laplacian.
    #[must_use]
    pub fn conventions(&self) -> Conventions {
        self.conventions
    }

    /// The sums of W's rows or columns, as the conventions have it; self-loops that were kept count once.
    #[must_use]
    pub fn degrees(&self) -> Vec<f64> {
        match self.conventions.degree {
            DegreeDirection::Out => {
                (0..self.nodes()).map(|row| self.row(row).map(|(_, weight)| weight).sum()).collect()
            }
            DegreeDirection::In => {
                let mut degrees = vec![0.0; self.nodes()];
                for row in 0..self.nodes() {
                    for (column, weight) in self.row(row) {
                        degrees[column] += weight;
                    }
                }
                degrees
            }
        }
    }

    /// W(row, column); zero where there is no edge.
    ///
    /// # Panics
    /// Where `row` is not below [`GraphRef::nodes`], as a slice does.
    #[must_use]
    pub fn weight(&self, row: usize, column: usize) -> f64 {
        let found = self.neighbors(row).binary_search_by(|&c| (c as usize).cmp(&column));
        found.map_or(0.0, |position| self.weights(row).map_or(1.0, |weights| f64::from(weights[position])))
    }

    /// Whether W equals its transpose, exactly. It is read off the conventions where they make it so.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "symmetry is exact")]
    pub fn is_symmetric(&self) -> bool {
        self.conventions.symmetrization != Symmetrization::Keep
            || (0..self.nodes()).all(|row| self.row(row).all(|(column, weight)| self.weight(column, row) == weight))
    }

    /// The connected components, edges taken without their direction.
    #[must_use]
    pub fn components(&self) -> Components {
        Components::of(*self)
    }

    fn span(&self, row: usize) -> std::ops::Range<usize> {
        let first = self.row_offsets[0];
        self.row_offsets[row] - first..self.row_offsets[row + 1] - first
    }
}
