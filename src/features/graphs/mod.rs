//! Computes representations of graphs, each of which is a sample.

mod columns;

pub use columns::{Beyond, GraphColumn, Graphs};

use super::extract::{Extracted, Report, check_budget};
use super::part::Part;
use super::plan::{Column, describe};
use super::representation::Representation;
use super::wrong;
use crate::cache::Cache;
use crate::context::Context;
use crate::encode::{Encoding, Progress};
use crate::error::Result;
use crate::graph::GraphBatch;
use crate::ops::series::{SampleShape, Status};
use crate::policy::Backend;
use serde_json::Value;
use std::sync::Arc;

/// The name that stands for a layer in what describes the columns.
const LAYER: &str = "graph";

/// Computes representations of every graph of a batch on the CPU.
///
/// Eigenvalues and walks are those of [`SpectralEncoder`](crate::encode::SpectralEncoder), which also uses the caches.
/// It computes them in f64 and rounds them to f32. Eigenvalues of pairs that did not converge are NaN.
///
/// ```
/// use fiedler::features::{GraphExtractor, Representation};
/// use fiedler::graph::generate::path;
/// use fiedler::Context;
///
/// let representations = Representation::parse_list("graph(top=2, walks=2, laplacian='combinatorial')")?;
/// let found = GraphExtractor::new(representations)?.extract(&Context::cpu(), &path(3)?.into(), |_| ())?;
/// assert_eq!(found.names()[3..], ["graph.eigenvalue_1", "graph.eigenvalue_2", "graph.return_1", "graph.return_2"]);
/// assert_eq!(found.row(0)[..3], [3.0, 2.0, 1.0]);
/// assert!((found.row(0)[4] - 1.0).abs() < 1e-6 && (found.row(0)[6] - 2.0 / 3.0).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphExtractor {
    representations: Vec<Representation>,
    caches: Vec<Arc<Cache>>,
    first_graph: usize,
}

impl GraphExtractor {
    /// Makes an extractor of representations, whose columns are in this order.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a representation is not of graphs.
    pub fn new(representations: Vec<Representation>) -> Result<Self> {
        match representations.iter().find(|one| !one.is_of_graphs()) {
            Some(other) => {
                let name = other.name();
                Err(wrong(format!("expected representations of graphs, which are of the kind `graph`, found {name}")))
            }
            None => Ok(Self { representations, caches: Vec::new(), first_graph: 0 }),
        }
    }

    /// Adds a cache of encodings, which is searched after those that were added before.
    #[must_use]
    pub fn cache(mut self, cache: Arc<Cache>) -> Self {
        self.caches.push(cache);
        self
    }

    /// Sets the number by which error messages refer to the first graph. The default is 0.
    #[must_use]
    pub fn first_graph(mut self, number: usize) -> Self {
        self.first_graph = number;
        self
    }

    /// Returns the names of the columns.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let name = |Column { representation, column, .. }: Column| format!("{representation}.{column}");
        self.columns().into_iter().map(name).collect()
    }

    /// Returns a description of all columns and of the representations, as `features.json` has it.
    #[must_use]
    pub fn description(&self) -> Value {
        describe(&self.columns(), &self.names(), &self.representations)
    }

    fn columns(&self) -> Vec<Column> {
        let of = |one: &Representation| {
            let column = |column| Column { representation: one.name().to_owned(), layer: LAYER.to_owned(), column };
            // Graphs have no shape that changes the columns.
            one.names(SampleShape::Vector(1)).into_iter().map(column).collect::<Vec<_>>()
        };
        self.representations.iter().flat_map(of).collect()
    }

    /// Computes the columns of all graphs. `progress` is told of the graphs that were encoded, for each part of the
    /// representations that has eigenvalues or walks.
    ///
    /// # Errors
    /// Those of [`SpectralEncoder::encode`](crate::encode::SpectralEncoder::encode), and
    /// [`Limit`](crate::ErrorKind::Limit) if the columns exceed the memory budget.
    pub fn extract(&self, ctx: &Context, graphs: &GraphBatch, mut progress: impl FnMut(Progress)) -> Result<Extracted> {
        let (columns, names) = (self.columns(), self.names());
        check_budget(ctx, columns.len(), graphs.len())?;
        let mut rows = vec![Vec::with_capacity(columns.len()); graphs.len()];
        let mut uncertified = vec![false; graphs.len()];
        let mut report = Report::default();
        for part in self.representations.iter().flat_map(Representation::parts) {
            let Part::Graph(part) = part else { continue };
            let encoding = self.encoded(ctx, part, graphs, &mut progress, &mut report)?;
            ctx.on_host(|| {
                for (i, (graph, row)) in graphs.iter().zip(&mut rows).enumerate() {
                    part.row(graph, i, encoding.as_ref(), row);
                }
                Ok(())
            })?;
            let statuses = encoding.iter().flat_map(|encoding| &encoding.status);
            statuses.zip(&mut uncertified).for_each(|(&status, failed)| *failed |= status != 0);
        }
        let status: Vec<Status> = rows.iter().map(|row| Status::Ok.of_columns(row)).collect();
        status.iter().for_each(|&status| report.status[status as usize] += 1);
        report.uncertified = uncertified.into_iter().filter(|&failed| failed).count();
        Ok(Extracted { names, columns, values: rows.concat(), status, report })
    }

    /// Returns the encodings that a part needs, if any.
    fn encoded(
        &self,
        ctx: &Context,
        part: &Graphs,
        graphs: &GraphBatch,
        progress: &mut dyn FnMut(Progress),
        report: &mut Report,
    ) -> Result<Option<Encoding>> {
        let Some(encoder) = part.encoder() else { return Ok(None) };
        let encoder = self.caches.iter().fold(encoder, |encoder, cache| encoder.cache(Arc::clone(cache)));
        let (encoding, found) =
            encoder.first_graph(self.first_graph).encode_with(&ctx.with_backend(Backend::Cpu), graphs, progress)?;
        report.units[0] += found.stored;
        report.units[1] += graphs.len() - found.stored;
        Ok(Some(encoding))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{complete, path};
    use crate::graph::{Graph, GraphBatch};

    #[test]
    fn eigenvalues_of_pairs_that_did_not_converge_are_undefined() {
        let graphs = GraphBatch::from_graphs(&[path(4).unwrap(), path(5).unwrap()]).unwrap();
        let part = Graphs { top: 6, walks: 1, ..Graphs::default() };
        let (mut encoding, _) = part.encoder().unwrap().encode_with(&Context::cpu(), &graphs, |_| ()).unwrap();
        encoding.status[1] = 1;
        for (i, graph) in graphs.iter().enumerate() {
            let mut row = Vec::new();
            part.row(graph, i, Some(&encoding), &mut row);
            assert_eq!(row.len(), part.names().len());
            assert_eq!(row[3..9].iter().all(|x| x.is_nan()), i == 1, "{row:?}");
            assert_eq!((row[0], row[9]), (4.0 + i as f32, 0.0));
        }
    }

    #[test]
    fn eigenvalues_come_from_the_chosen_end_and_are_filled_up() {
        let ctx = Context::cpu();
        let graphs = GraphBatch::from_graphs(&[complete(3).unwrap(), complete(6).unwrap()]).unwrap();
        let of = |parameters: &str| {
            let list = format!("graph(columns=['eigenvalues'], laplacian='combinatorial', top=4, {parameters})");
            let extractor = GraphExtractor::new(Representation::parse_list(&list).unwrap()).unwrap();
            let found = extractor.extract(&ctx, &graphs, |_| ()).unwrap();
            let rounded = |row: &[f32]| row.iter().map(|x| (x * 1e4).round() / 1e4).collect::<Vec<_>>();
            (rounded(found.row(0)), rounded(found.row(1)), found.status().to_vec())
        };
        let ok = vec![Status::Ok; 2];
        assert_eq!(of("which='smallest'"), (vec![0.0, 3.0, 3.0, 0.0], vec![0.0, 6.0, 6.0, 6.0], ok.clone()));
        assert_eq!(of("which='largest'"), (vec![3.0, 3.0, 0.0, 0.0], vec![6.0; 4], ok.clone()));
        assert_eq!(of("drop_trivial=true"), (vec![3.0, 3.0, 0.0, 0.0], vec![6.0; 4], ok));
        let (small, large, status) = of("beyond='undefined'");
        assert!(small[..3] == [0.0, 3.0, 3.0] && small[3].is_nan() && large[3] == 6.0, "{small:?} {large:?}");
        assert_eq!(status, [Status::Undefined, Status::Ok]);
    }

    #[test]
    fn graphs_without_nodes_or_edges() {
        let edgeless = |n| Graph::from_edges(n, &[], &crate::graph::Conventions::default()).unwrap();
        let graphs = GraphBatch::from_graphs(&[edgeless(0), edgeless(3)]).unwrap();
        let list = Representation::parse_list("graph(top=2, walks=1)").unwrap();
        let found = GraphExtractor::new(list).unwrap().extract(&Context::cpu(), &graphs, |_| ()).unwrap();
        assert_eq!(found.row(1), [3.0, 0.0, 3.0, 0.0, 0.0, 0.0]);
        assert!(found.row(0)[..5] == [0.0; 5] && found.row(0)[5].is_nan(), "{:?}", found.row(0));
        assert_eq!(found.status(), [Status::Undefined, Status::Ok]);
    }
}
