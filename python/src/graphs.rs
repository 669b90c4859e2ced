//! Batches of graphs, from arrays of edges or from files.

use crate::arrays::{Borrowed, Number, by_type, returned};
use crate::errors::{in_words, raised};
use crate::wait::alone;
use fiedler::arrow::{Columns, Kind, Shard, TableReader};
use fiedler::graph::{
    Conventions, EdgeList, GraphBatch, Isolated, Merged, Preset, Symmetrization, Weights, WeightsRef,
};
use fiedler::io::{DataSet, Format, NodeIds, ReadOptions};
use fiedler::{Cancel, Error, ErrorKind, Result};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::collections::HashMap;
use std::path::PathBuf;

/// The edges after which the building of graphs looks whether it is to end. Fewer edges are built at once.
const CHECKED: usize = 1 << 20;

/// Graphs of any sizes. Created by the functions of `fiedler.GraphBatch`.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub(crate) struct Graphs {
    pub(crate) batch: GraphBatch,
    /// The number by which messages call the first graph: a TUDataset counts from 1.
    pub(crate) first: usize,
    how: How,
    node_ids: Option<NodeIds>,
    notices: Vec<String>,
}

/// How edges become graphs, as `fiedler/_graphs.py` passes it: the names of a preset and of a symmetrization, and
/// whether weights may be negative and flows are kept.
#[derive(Clone, Debug, Default, FromPyObject, IntoPyObject)]
pub(crate) struct How(pub(crate) Option<String>, pub(crate) Option<String>, pub(crate) bool, pub(crate) bool);

impl How {
    /// Returns whether the caller has left to the library what becomes of directions and duplicates.
    fn is_default(&self) -> bool {
        self.0.is_none() && self.1.is_none()
    }

    /// Returns what is doubtful about the nodes and the edges of a list, but nothing that the caller has said.
    pub(crate) fn doubts(&self, isolated: Isolated, merged: Merged) -> impl Iterator<Item = String> {
        isolated.doubt().into_iter().chain(merged.doubts().filter(|_| self.is_default()))
    }
}

/// Returns the conventions of a preset, or the default ones, with a symmetrization if one is named.
pub(crate) fn conventions(How(preset, symmetrize, signed, flows): &How) -> Result<Conventions> {
    let preset = preset.as_deref().map(str::parse::<Preset>).transpose()?;
    let mut conventions = preset.map(Preset::conventions).unwrap_or_default();
    (conventions.signed, conventions.flows) = (*signed, *flows);
    if let Some(name) = symmetrize.as_deref() {
        conventions.symmetrization = match name {
            "keep" => Symmetrization::Keep,
            "sum" => Symmetrization::Sum,
            "mean" => Symmetrization::Mean,
            "max" => Symmetrization::Max,
            "error" => Symmetrization::Error,
            _ => {
                let what = format!("expected max, sum, mean, keep or error, found {name:?}");
                return Err(Error::domain("symmetrize", what));
            }
        };
    }
    Ok(conventions)
}

/// The memory, in bytes, that reading a table may take for a batch.
const DEFAULT_BUDGET: u64 = 2 << 30;

impl Graphs {
    fn of_data(data: DataSet, how: How) -> Self {
        let first = usize::from(data.format == Format::TuDataset);
        let mut notices: Vec<String> = data.notices.iter().map(|one| in_words(one)).collect();
        notices.extend(data.isolated().doubt().map(|doubt| format!("{}: {doubt}.", data.name)));
        notices.extend(data.doubts().filter(|_| how.is_default()));
        Self { batch: data.graphs, first, how, node_ids: data.node_ids, notices }
    }
}

/// Returns the weights in an array.
fn weights_of<T: Number>(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Weights>
where
    Weights: From<Vec<T>>,
{
    Ok(Borrowed::of(array)?.as_ref().to_vec().into())
}

#[pymethods]
impl Graphs {
    /// Builds graphs from the sources and targets of edges, which number the nodes through all graphs. Graph g has the
    /// nodes `node_offsets[g]` to `node_offsets[g + 1]`. `numbered` says that nodes are known by the edges alone.
    #[staticmethod]
    fn of_edges(
        py: Python<'_>,
        source: &Bound<'_, PyArrayDyn<i64>>,
        target: &Bound<'_, PyArrayDyn<i64>>,
        weights: Option<&Bound<'_, PyArrayDyn<f64>>>,
        node_offsets: &Bound<'_, PyArrayDyn<i64>>,
        how: How,
        numbered: bool,
    ) -> PyResult<Self> {
        let (source, target) = (Borrowed::of(source)?, Borrowed::of(target)?);
        let (weights, offsets) = (weights.map(Borrowed::of).transpose()?, Borrowed::of(node_offsets)?);
        let (count, named) = (source.as_ref().len(), how.clone());
        let made = move |cancel: &Cancel| -> Result<((GraphBatch, Merged), Vec<usize>)> {
            let conventions = conventions(&named)?;
            let (source, target) = (source.as_ref(), target.as_ref());
            let offsets: Vec<usize> =
                offsets.as_ref().iter().map(|&offset| usize::try_from(offset).unwrap_or(usize::MAX)).collect();
            let mut edges = EdgeList::batch(offsets)?;
            edges.reserve(source.len());
            let nodes = edges.nodes();
            let node = |edge: usize, number: i64| {
                u32::try_from(number).ok().filter(|&node| (node as usize) < nodes).ok_or_else(|| {
                    let what = format!("edge {edge} has the node {number}; expected 0 to {} nodes", nodes);
                    Error::domain("graph", what)
                })
            };
            for (edge, (&from, &to)) in source.iter().zip(target).enumerate() {
                if edge.is_multiple_of(CHECKED) && cancel.is_cancelled() {
                    return Err(ErrorKind::Cancelled.into());
                }
                let (from, to) = (node(edge, from)?, node(edge, to)?);
                match &weights {
                    None => edges.push(from, to),
                    Some(weights) => edges.push_weighted(from, to, weights.as_ref()[edge]),
                }
            }
            let without_first = if numbered { edges.without_first() } else { Vec::new() };
            Ok((GraphBatch::from_edge_list_counted(edges, &conventions, cancel)?, without_first))
        };
        let ((batch, merged), without_first) = match count < CHECKED {
            true => py.detach(|| made(&Cancel::new())).map_err(|error| raised(py, &error))?,
            false => alone(py, made)?,
        };
        let isolated = if numbered { batch.isolated(&without_first) } else { Isolated::default() };
        let notices = how.doubts(isolated, merged).map(|doubt| format!("edge_index: {doubt}.")).collect();
        Ok(Self { batch, first: 0, how, node_ids: None, notices })
    }

    /// Reads the data set at a path.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, how: How, weight_column: Option<usize>) -> PyResult<Self> {
        let named = how.clone();
        let read = move |cancel: &Cancel| {
            let mut options = ReadOptions::default().cancel(cancel);
            options.edge_weight_column = weight_column;
            let conventions = conventions(&named)?;
            if Kind::of_file(&path).is_some() && weight_column.is_none() {
                let table = TableReader::open(&path, Shard::WHOLE, DEFAULT_BUDGET)?;
                return fiedler::arrow::read(&path, &table.schema(), table, &Columns::default(), &conventions);
            }
            fiedler::io::read_with(&path, &conventions, &options)
        };
        let data = alone(py, read)?;
        Ok(Self::of_data(data, how))
    }

    /// Reads the graphs of a table, which is a capsule with a stream of Arrow's. `columns` names columns by their
    /// roles.
    #[staticmethod]
    fn of_table(table: &Bound<'_, PyCapsule>, columns: HashMap<String, String>, how: How) -> PyResult<Self> {
        let conventions = conventions(&how);
        let conventions = conventions.map_err(|error| raised(table.py(), &error))?;
        let data = crate::tables::graphs(table, &columns, &conventions)?;
        Ok(Self::of_data(data, how))
    }

    /// The number of graphs.
    fn __len__(&self) -> usize {
        self.batch.len()
    }

    /// The number of nodes of all graphs.
    #[getter]
    fn nodes(&self) -> usize {
        self.batch.nodes()
    }

    /// The ids that a file gives to the nodes, or None if they are 0, 1, 2 and so on.
    #[getter]
    fn node_ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match &self.node_ids {
            None => None,
            Some(NodeIds::Integers(ids)) => Some(returned(py, ids.clone(), [ids.len()])?),
            Some(NodeIds::Text(ids)) => Some(ids.into_pyobject(py)?),
        })
    }

    /// What another program might read differently.
    #[getter]
    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    /// Restores a batch that was pickled.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the fields of the batch, as pickle keeps them")]
    fn restored(
        py: Python<'_>,
        node_offsets: &Bound<'_, PyArrayDyn<i64>>,
        row_offsets: &Bound<'_, PyArrayDyn<i64>>,
        columns: &Bound<'_, PyArrayDyn<u32>>,
        weights: Option<&Bound<'_, PyAny>>,
        flows: Option<&Bound<'_, PyArrayDyn<f64>>>,
        first: usize,
        how: How,
    ) -> PyResult<Self> {
        let offsets = |array| -> PyResult<Vec<usize>> {
            let numbers = Borrowed::<i64>::of(array)?;
            Ok(numbers.as_ref().iter().map(|&offset| usize::try_from(offset).unwrap_or(usize::MAX)).collect())
        };
        let weights = weights.map(|weights| by_type!(weights, [f32, f64], weights_of())).transpose()?;
        let flows = flows.map(|flows| Ok::<_, PyErr>(Borrowed::of(flows)?.as_ref().to_vec())).transpose()?;
        let (nodes, rows) = (offsets(node_offsets)?, offsets(row_offsets)?);
        let columns = Borrowed::of(columns)?.as_ref().to_vec();
        let made = || {
            let batch = GraphBatch::from_csr(nodes, rows, columns, weights, conventions(&how)?)?;
            flows.map_or(Ok(batch.clone()), |flows| batch.with_flows(flows))
        };
        let batch = made().map_err(|error| raised(py, &error))?;
        Ok(Self { batch, first, how, node_ids: None, notices: Vec::new() })
    }

    /// What [`Graphs::restored`] takes: the compressed sparse rows of the adjacency matrices, and the settings.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, graphs) = (slf.py(), slf.get());
        let array = |offsets: &[usize]| {
            let signed: Vec<i64> = offsets.iter().map(|&offset| i64::try_from(offset).unwrap_or(i64::MAX)).collect();
            returned(py, signed, [offsets.len()])
        };
        let Self { batch, first, how, .. } = graphs;
        let columns = returned(py, batch.columns().to_vec(), [batch.columns().len()])?;
        let weights = match batch.weights() {
            None => None,
            Some(WeightsRef::F32(all)) => Some(returned(py, all.to_vec(), [all.len()])?),
            Some(WeightsRef::F64(all)) => Some(returned(py, all.to_vec(), [all.len()])?),
        };
        let flows = batch.flows().map(|all| returned(py, all.to_vec(), [all.len()])).transpose()?;
        let (nodes, rows) = (array(batch.node_offsets())?, array(batch.row_offsets())?);
        let state = (nodes, rows, columns, weights, flows, *first, how.clone()).into_pyobject(py)?;
        Ok((slf.get_type().getattr("restored")?, state))
    }
}
