//! A borrowed view of one graph, which is stored alone or in a batch.

use super::{Components, Conventions, DegreeDirection, Symmetrization, WeightsRef};

/// The adjacency matrix W of one graph in compressed sparse row form, borrowed from a [`Graph`](super::Graph) or a
/// [`GraphBatch`](super::GraphBatch).
#[derive(Clone, Copy, Debug)]
pub struct GraphRef<'a> {
    pub(super) row_offsets: &'a [usize],
    pub(super) columns: &'a [u32],
    pub(super) weights: Option<WeightsRef<'a>>,
    pub(super) flows: Option<&'a [f64]>,
    pub(super) conventions: Conventions,
}

impl<'a> GraphRef<'a> {
    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.row_offsets.len() - 1
    }

    /// Returns the number of entries of W. An undirected edge has two entries, a self-loop one.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Returns whether any edge has a weight other than 1.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some_and(|weights| !weights.are_ones())
    }

    /// Returns the columns of the entries in a row of W, in ascending order. These are the targets of the node's edges.
    ///
    /// # Panics
    /// If `row` is not less than [`GraphRef::nodes`].
    #[must_use]
    pub fn neighbors(&self, row: usize) -> &'a [u32] {
        &self.columns[self.span(row)]
    }

    /// Returns the weights of the entries in a row of W, parallel to [`GraphRef::neighbors`]. Returns `None` if every
    /// weight in the batch that contains the graph is 1.
    ///
    /// # Panics
    /// If `row` is not less than [`GraphRef::nodes`].
    #[must_use]
    pub fn weights(&self, row: usize) -> Option<WeightsRef<'a>> {
        self.weights.map(|weights| weights.range(self.span(row)))
    }

    /// Iterates over the entries `(column, weight)` of a row of W in ascending order of the columns.
    ///
    /// # Panics
    /// If `row` is not less than [`GraphRef::nodes`].
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let weights = self.weights(row);
        let weight = move |position: usize| weights.map_or(1.0, |weights| weights.at(position));
        self.neighbors(row).iter().enumerate().map(move |(position, &column)| (column as usize, weight(position)))
    }

    /// Iterates over the entries `(column, weight, flow)` of a row of W in ascending order of the columns. The flow is
    /// `W(row, column) - W(column, row)` before W was made symmetric, or 0 if the conventions do not keep flows.
    ///
    /// # Panics
    /// If `row` is not less than [`GraphRef::nodes`].
    pub fn row_with_flows(&self, row: usize) -> impl Iterator<Item = (usize, f64, f64)> + use<'a> {
        let flows = self.flows.map(|flows| &flows[self.span(row)]);
        let flow = move |position: usize| flows.map_or(0.0, |flows| flows[position]);
        self.row(row).enumerate().map(move |(position, (column, weight))| (column, weight, flow(position)))
    }

    /// Returns the net flows of all entries, parallel to [`GraphRef::columns`], or `None` if each is 0 or the
    /// conventions do not keep flows.
    #[must_use]
    pub fn all_flows(&self) -> Option<&'a [f64]> {
        self.flows.filter(|flows| flows.iter().any(|&flow| flow != 0.0))
    }

    /// Returns the offset of each row's first entry, followed by the offset of the end; (nodes + 1) values. The offsets
    /// refer to the whole batch: the first is the offset at which [`GraphRef::columns`] begins in the columns of the
    /// batch.
    #[must_use]
    pub fn row_offsets(&self) -> &'a [usize] {
        self.row_offsets
    }

    /// Returns the columns of all entries of this graph, row after row.
    #[must_use]
    pub fn columns(&self) -> &'a [u32] {
        self.columns
    }

    /// Returns the weights, parallel to [`GraphRef::columns`]. Returns `None` if every weight in the batch that
    /// contains the graph is 1.
    #[must_use]
    pub fn all_weights(&self) -> Option<WeightsRef<'a>> {
        self.weights
    }

    /// Returns the conventions under which the graph was built and under which its Laplacian is built.
    #[must_use]
    pub fn conventions(&self) -> Conventions {
        self.conventions
    }

    /// Returns the degrees, which are row sums or column sums of the magnitudes of W depending on the conventions. A
    /// self-loop counts once.
    #[must_use]
    pub fn degrees(&self) -> Vec<f64> {
        match self.conventions.degree {
            DegreeDirection::Out => {
                (0..self.nodes()).map(|row| self.row(row).map(|(_, weight)| weight.abs()).sum()).collect()
            }
            DegreeDirection::In => {
                let mut degrees = vec![0.0; self.nodes()];
                for row in 0..self.nodes() {
                    for (column, weight) in self.row(row) {
                        degrees[column] += weight.abs();
                    }
                }
                degrees
            }
        }
    }

    /// Returns W(row, column), which is zero if there is no edge.
    ///
    /// # Panics
    /// If `row` is not less than [`GraphRef::nodes`].
    #[must_use]
    pub fn weight(&self, row: usize, column: usize) -> f64 {
        let found = self.neighbors(row).binary_search_by(|&c| (c as usize).cmp(&column));
        found.map_or(0.0, |position| self.weights(row).map_or(1.0, |weights| weights.at(position)))
    }

    /// Returns whether W equals its transpose exactly. If the conventions guarantee this, the entries are not compared.
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
