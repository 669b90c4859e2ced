//! A view of one graph, alone or in a batch.

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
    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.row_offsets.len() - 1
    }

    /// Returns the number of entries of W: an undirected edge counts twice, a self-loop once.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Returns whether any edge has a weight other than 1.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some_and(|weights| weights.iter().any(|&weight| weight != 1.0))
    }

    /// Returns the columns of W's row: the nodes that its edges lead to, ascending.
    ///
    /// # Panics
    /// If `row` is not below [`GraphRef::nodes`], as indexing does.
    #[must_use]
    pub fn neighbors(&self, row: usize) -> &'a [u32] {
        &self.columns[self.span(row)]
    }

    /// Returns the weights of W's row, parallel to [`GraphRef::neighbors`]; `None` if every weight of the graph's
    /// batch is 1.
    ///
    /// # Panics
    /// If `row` is not below [`GraphRef::nodes`], as indexing does.
    #[must_use]
    pub fn weights(&self, row: usize) -> Option<&'a [f32]> {
        self.weights.map(|weights| &weights[self.span(row)])
    }

    /// Iterates over the entries of W's row, `(column, weight)`, by ascending column.
    ///
    /// # Panics
    /// If `row` is not below [`GraphRef::nodes`], as indexing does.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let weights = self.weights(row);
        let weight = move |position: usize| weights.map_or(1.0, |weights| f64::from(weights[position]));
        self.neighbors(row).iter().enumerate().map(move |(position, &column)| (column as usize, weight(position)))
    }

    /// Returns the offset of each row's first entry and of the end, (nodes + 1) numbers, counted through the whole
    /// batch: the first is the offset of [`GraphRef::columns`].
    #[must_use]
    pub fn row_offsets(&self) -> &'a [usize] {
        self.row_offsets
    }

    /// Returns this graph's columns, row after row.
    #[must_use]
    pub fn columns(&self) -> &'a [u32] {
        self.columns
    }

    /// Returns the weights, parallel to [`GraphRef::columns`]; `None` if every weight of the graph's batch is 1.
    #[must_use]
    pub fn all_weights(&self) -> Option<&'a [f32]> {
        self.weights
    }

    /// Returns the conventions that made the graph and will make its Laplacian.
    #[must_use]
    pub fn conventions(&self) -> Conventions {
        self.conventions
    }

    /// Returns the sums of W's rows or columns, as the conventions say. A self-loop that was kept counts once.
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

    /// Returns W(row, column), which is zero if there is no edge.
    ///
    /// # Panics
    /// If `row` is not below [`GraphRef::nodes`], as indexing does.
    #[must_use]
    pub fn weight(&self, row: usize, column: usize) -> f64 {
        let found = self.neighbors(row).binary_search_by(|&c| (c as usize).cmp(&column));
        found.map_or(0.0, |position| self.weights(row).map_or(1.0, |weights| f64::from(weights[position])))
    }

    /// Returns whether W equals its transpose, exactly. If the conventions make it so, the entries are not compared.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "symmetry is exact")]
    pub fn is_symmetric(&self) -> bool {
        self.conventions.symmetrization != Symmetrization::Keep
            || (0..self.nodes()).all(|row| self.row(row).all(|(column, weight)| self.weight(column, row) == weight))
    }

    /// Returns the connected components, ignoring the direction of edges.
    #[must_use]
    pub fn components(&self) -> Components {
        Components::of(*self)
    }

    fn span(&self, row: usize) -> std::ops::Range<usize> {
        let first = self.row_offsets[0];
        self.row_offsets[row] - first..self.row_offsets[row + 1] - first
    }
}
