//! Batches of graphs from compressed sparse rows.

use super::{Conventions, GraphBatch, Weights, WeightsRef};
use crate::error::{Error, Result};

impl GraphBatch {
    /// Restores a batch from the arrays that [`GraphBatch::node_offsets`], [`GraphBatch::row_offsets`],
    /// [`GraphBatch::columns`] and [`GraphBatch::weights`] returned, and its conventions.
    ///
    /// ```
    /// use fiedler::graph::{GraphBatch, generate::path};
    /// let graphs = GraphBatch::from(path(3)?);
    /// let (nodes, rows) = (graphs.node_offsets().to_vec(), graphs.row_offsets().to_vec());
    /// let again = GraphBatch::from_csr(nodes, rows, graphs.columns().to_vec(), None, graphs.conventions())?;
    /// assert_eq!(again, graphs);
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if offsets descend, arrays do not fit together, the columns of a row do not
    /// ascend or name a node outside its graph, or a weight is not finite, or negative without
    /// [`Conventions::signed`].
    pub fn from_csr(
        node_offsets: Vec<usize>,
        row_offsets: Vec<usize>,
        columns: Vec<u32>,
        weights: Option<Weights>,
        conventions: Conventions,
    ) -> Result<Self> {
        let wrong = |what: String| Error::domain("graph", what);
        let ends = |offsets: &[usize], end: usize| {
            offsets.first() == Some(&0) && offsets.last() == Some(&end) && offsets.is_sorted()
        };
        let rows = row_offsets.len().saturating_sub(1);
        if !ends(&node_offsets, rows) || u32::try_from(rows).is_err() {
            return Err(wrong(format!("expected node offsets that ascend from 0 to the number of rows, {rows}")));
        }
        if !ends(&row_offsets, columns.len()) {
            let found = columns.len();
            return Err(wrong(format!("expected row offsets that ascend from 0 to the number of columns, {found}")));
        }
        let view = weights.as_ref().map(Weights::view);
        if let Some(weights) = view.filter(|weights| weights.len() != columns.len()) {
            return Err(wrong(format!(
                "expected a weight for each of {} entries, found {}",
                columns.len(),
                weights.len()
            )));
        }
        let is_wrong = |weight: &f64| !weight.is_finite() || *weight < 0.0 && !conventions.signed;
        if let Some(weight) = view.and_then(|weights: WeightsRef<'_>| weights.iter().find(is_wrong)) {
            let but = if conventions.signed { "" } else { " and not negative" };
            return Err(wrong(format!("expected weights that are finite{but}, found {weight}")));
        }
        for nodes in node_offsets.windows(2) {
            for row in nodes[0]..nodes[1] {
                let columns = &columns[row_offsets[row]..row_offsets[row + 1]];
                let inside = columns.last().is_none_or(|&last| (last as usize) < nodes[1] - nodes[0]);
                if !inside || !columns.is_sorted_by(|a, b| a < b) {
                    return Err(wrong(format!("expected ascending columns within the graph in row {row}")));
                }
            }
        }
        let weights = weights.map(Weights::narrowed);
        Ok(Self { node_offsets, row_offsets, columns, weights, flows: None, conventions })
    }

    /// Returns the batch with the flows that [`GraphBatch::flows`] returned.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if there is not one flow for each entry; [`Domain`](crate::ErrorKind::Domain)
    /// if the conventions do not keep flows, a flow is not finite, or it is not the negative of that of the reverse.
    pub fn with_flows(mut self, flows: Vec<f64>) -> Result<Self> {
        if flows.len() != self.entries() {
            let expected = format!("a flow for each of {} entries", self.entries());
            return Err(Error::shape("graph", expected, flows.len().to_string()));
        }
        if !self.conventions.flows {
            return Err(Error::domain("graph", "expected conventions that keep flows, found others"));
        }
        self.flows = Some(flows);
        for graph in self.iter() {
            let flow_of = |row: usize, other: usize| {
                let place = graph.neighbors(row).binary_search_by(|&column| (column as usize).cmp(&other));
                place.ok().and_then(|place| graph.row_with_flows(row).nth(place)).map_or(f64::NAN, |(.., flow)| flow)
            };
            for row in 0..graph.nodes() {
                let is_wrong = |&(column, _, flow): &(usize, f64, f64)| !(flow + flow_of(column, row) == 0.0);
                if let Some((column, _, flow)) = graph.row_with_flows(row).find(is_wrong) {
                    let what = format!("the flow {flow} from {row} to {column}, whose reverse has another");
                    return Err(Error::domain("graph", format!("expected flows that are antisymmetric, found {what}")));
                }
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{Conventions, GraphBatch};

    #[test]
    fn arrays_that_are_no_graphs_are_refused() {
        let made = |nodes: &[usize], rows: &[usize], columns: &[u32], weights: Option<&[f32]>| {
            let (nodes, rows, columns) = (nodes.to_vec(), rows.to_vec(), columns.to_vec());
            GraphBatch::from_csr(
                nodes,
                rows,
                columns,
                weights.map(|weights| weights.to_vec().into()),
                Conventions::default(),
            )
        };
        assert!(made(&[0, 2, 3], &[0, 1, 2, 2], &[1, 0], Some(&[1.0, 1.0])).is_ok());
        assert!(made(&[0], &[0], &[], None).is_ok());
        for (nodes, rows, columns, weights) in [
            (&[0, 2][..], &[0, 1, 2, 2][..], &[1, 0][..], None),
            (&[1, 3], &[0, 1, 2, 2], &[1, 0], None),
            (&[0, 3, 2, 3], &[0, 1, 2, 2], &[1, 0], None),
            (&[0, 3], &[0, 1, 2, 3], &[1, 0], None),
            (&[0, 3], &[0, 2, 1, 2], &[1, 0], None),
            (&[0, 2, 3], &[0, 1, 2, 2], &[2, 0], None),
            (&[0, 3], &[0, 2, 2, 2], &[1, 0], None),
            (&[0, 3], &[0, 2, 2, 2], &[1, 1], None),
            (&[0, 2], &[0, 1, 2], &[1, 0], Some(&[1.0][..])),
            (&[0, 2], &[0, 1, 2], &[1, 0], Some(&[1.0, f32::NAN])),
            (&[0, 2], &[0, 1, 2], &[1, 0], Some(&[1.0, -1.0])),
            (&[], &[], &[], None),
        ] {
            assert!(made(nodes, rows, columns, weights).is_err(), "{nodes:?} {rows:?} {columns:?} {weights:?}");
        }
    }
}
