"""Batches of graphs, from the objects of other libraries, told apart without importing any of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _fiedler
from ._arguments import flag, many, path as _path, text_or_none, whole, wrong
from ._arrays import as_numpy
from ._edges import Edges, collated, directions, entries_of, index_of, is_data_set, weights_of
from ._errors import DomainError, ShapeError, warn_of

Array = Any

# How edges become graphs: the preset, the symmetrization, and whether weights may be negative and flows are kept.
How = tuple[str | None, str | None, bool, bool]


def _how(preset: Any, symmetrize: Any, signed: Any, flows: Any) -> How:
    named = text_or_none(preset, "preset"), text_or_none(symmetrize, "symmetrize")
    return *named, flag(signed, "signed"), flag(flows, "flows")

class GraphBatch:
    """Graphs of any sizes, ready to be encoded. Create one with the functions ``from_...`` or `read`.

    By default, graphs become undirected and simple: an edge counts once however often and in whichever direction it is
    listed, with the largest of its weights, and self-loops are dropped. ``preset`` ('scipy', 'networkx', 'pyg', 'dgl')
    treats edges as that library does, and ``symmetrize`` ('max', 'sum', 'mean', 'keep', 'error') says what happens to
    edges that are listed in one direction.

    >>> graphs = fiedler.GraphBatch.from_edges([(0, 1), (1, 2)])
    >>> len(graphs), graphs.num_nodes
    (1, 3)
    """

    def __init__(self, native: _fiedler.Graphs) -> None:
        self._native = native
        self._node_ids: Any = native.node_ids
        self._notices = native.notices
        warn_of(self._notices)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"fiedler.GraphBatch of {many(len(self), 'graph')}, {many(self.num_nodes, 'node')}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._native, self._node_ids, self._notices)

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all graphs together."""
        return int(self._native.nodes)

    @property
    def node_ids(self) -> Any:
        """The ids that a file gives to the nodes: an array or a list, or None if they are 0, 1, 2 and so on."""
        return self._node_ids

    @property
    def notices(self) -> list[str]:
        """What other programs might read differently in the file, a sentence each. `read` warns of them."""
        return list(self._notices)

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        num_nodes: int | None = None,
        *,
        weight: Any = None,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes one graph from pairs (source, target), with a weight each if ``weight`` has them.

        Nodes are numbered as in an edge_index: from 0 to the largest, or to ``num_nodes``.
        """
        if isinstance(edges, np.ndarray):
            pairs, _ = as_numpy(edges, "edges")
        elif hasattr(edges, "__iter__"):
            pairs = np.asarray(list(edges))
        else:
            raise wrong("edges", "pairs of nodes", edges)
        if pairs.size == 0:
            pairs = pairs.reshape((0, 2)).astype(np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ShapeError(f"edges: expected pairs, (E, 2), found the shape {pairs.shape}")
        how: dict[str, Any] = {"preset": preset, "symmetrize": symmetrize, "signed": signed, "flows": flows}
        return cls.from_edge_index(pairs.T, num_nodes, weight=weight, **how)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Array,
        num_nodes: int | None = None,
        *,
        weight: Array | None = None,
        batch: Array | None = None,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes graphs from an edge_index as PyTorch Geometric has it.

        Parameters
        ----------
        edge_index : array of integers, (2, E)
        num_nodes : int, optional
            By default, one more than the largest node, or the length of ``batch``.
        weight : array, (E,) or (E, 1), optional
        batch : array of integers, (num_nodes,), optional
            The graph of each node, ascending from 0.
        """
        index = index_of(edge_index)
        numbered = num_nodes is None and batch is None
        if batch is not None:
            of, _ = as_numpy(batch, "batch")
            if of.ndim != 1 or of.dtype.kind not in "iu" or (of.size and (of[0] < 0 or np.any(of[1:] < of[:-1]))):
                raise DomainError("batch: expected the graph of each node, ascending from 0")
            num_nodes = of.size if num_nodes is None else whole(num_nodes, "num_nodes")
            if num_nodes != of.size:
                raise ShapeError(f"batch: expected {num_nodes} nodes, found {of.size}")
            counts = np.bincount(of) if of.size else np.zeros(0, np.int64)
            offsets = np.concatenate(([0], np.cumsum(counts)))
        else:
            if num_nodes is None:
                num_nodes = int(index.max()) + 1 if index.size else 0
            offsets = np.array([0, whole(num_nodes, "num_nodes")])
        return cls._of(index[0], index[1], weight, offsets, _how(preset, symmetrize, signed, flows), numbered)

    @classmethod
    def _of(
        cls,
        source: Array,
        target: Array,
        weight: Array | None,
        offsets: Array,
        how: How,
        numbered: bool = False,
    ) -> GraphBatch:
        source, target = (np.require(part, np.int64, ["C", "A"]) for part in (source, target))
        weights = None
        if weight is not None:
            weights, _ = as_numpy(weight, "weight")
            if weights.shape not in ((len(source),), (len(source), 1)) or weights.dtype.kind not in "fiub":
                what = f"{weights.dtype} with the shape {weights.shape}"
                raise ShapeError(f"weight: expected a number for each of {len(source)} edges, found {what}")
            weights = np.require(weights.ravel(), np.float64, ["C", "A"])
        offsets = np.require(offsets, np.int64, ["C", "A"])
        return cls(_fiedler.Graphs.of_edges(source, target, weights, offsets, how, numbered))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
        edge_weight_column: int | None = None,
    ) -> GraphBatch:
        """Reads a data set, of any format that the command reads.

        Parameters
        ----------
        path : str or os.PathLike
            A file, a folder, or a pattern for the names of files, such as ``runs/*.gml``.
        symmetrize : str, optional
            'max' by default, with any preset; what was merged is told unless this is given.
        edge_weight_column : int, optional
            The column of a TUDataset's edge attributes that has the weights, counted from 1.
        """
        column = None if edge_weight_column is None else whole(edge_weight_column, "edge_weight_column")
        if preset is not None and symmetrize is None:
            symmetrize = "max"  # a file lists an undirected edge once
        return cls(_fiedler.Graphs.read(_path(path), _how(preset, symmetrize, signed, flows), column))

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        columns: Mapping[str, str] | None = None,
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes graphs from a table of pyarrow, polars, DuckDB or pandas.

        It has a graph in each row or an edge, as for `fiedler.arrow.Encoder`, whose ``columns`` these are, too. In a
        table of edges, ids are integers or text of any kind, and `node_ids` has them. A row that is no graph is an
        error.
        """
        from .arrow import _capsule, _columns

        return cls(_fiedler.Graphs.of_table(_capsule(table), _columns(columns), _how(preset, symmetrize, signed, flows)))

    @classmethod
    def from_scipy_sparse(
        cls,
        matrix: Any,
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes one graph from a square adjacency matrix of scipy.sparse; its entries are the weights."""
        nodes, source, target, weights = entries_of(matrix)
        return cls._of(source, target, weights, np.array([0, nodes]), _how(preset, symmetrize, signed, flows))

    @classmethod
    def from_networkx(
        cls,
        graphs: Any,
        weight: str | None = "weight",
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes graphs from one graph of NetworkX or several. Nodes are numbered in the order of the graph.

        Parameters
        ----------
        weight : str, optional
            The attribute of edges that has the weights; edges without it weigh 1. With None, every edge weighs 1.
        """
        listed = [graphs] if hasattr(graphs, "adjacency") else list(graphs)
        edges = Edges()
        for graph in listed:
            number = {node: i for i, node in enumerate(graph)}
            triples = list(graph.edges(data=text_or_none(weight, "weight") or "", default=1))
            pairs = np.asarray([(number[u], number[v]) for u, v, _ in triples], dtype=np.int64).reshape((-1, 2))
            weights = None if weight is None else weights_of([value for *_, value in triples])
            edges.add(*directions(pairs, weights, directed=graph.is_directed(), once=symmetrize == "sum"), len(number))
        return cls._of(*edges.joined(), _how(preset, symmetrize, signed, flows))

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        weight: str | None = "edge_weight",
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes graphs from a ``Data``, a ``Batch``, a data set or a list of PyTorch Geometric.

        Parameters
        ----------
        weight : str, optional
            The attribute that has the weights of edges, where there is one.
        """
        found = collated(data, weight)
        if found is None:
            edges = Edges()
            for graph in data if is_data_set(data) or not hasattr(data, "edge_index") else [data]:
                if not hasattr(graph, "edge_index"):
                    what = type(graph).__name__
                    how = "; use to_homogeneous() first" if hasattr(graph, "edge_types") else ""
                    raise TypeError(f"graphs: expected graphs of PyTorch Geometric with edge_index, found {what}{how}")
                index = index_of(graph.edge_index)
                ptr = getattr(graph, "ptr", None)
                sizes = [int(graph.num_nodes)] if ptr is None else np.diff(as_numpy(ptr, "ptr")[0])
                edges.add(index[0], index[1], getattr(graph, weight, None) if weight else None, sizes)
            found = edges.joined()
        return cls._of(*found, _how(preset, symmetrize, signed, flows))

    @classmethod
    def from_dgl(
        cls,
        graphs: Any,
        weight: str | None = None,
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes graphs from a graph of DGL, batched or not, or from several. ``weight`` names a feature of edges."""
        listed = [graphs] if hasattr(graphs, "batch_num_nodes") else list(graphs)
        edges = Edges()
        for graph in listed:
            if not getattr(graph, "is_homogeneous", True):
                what = "one of several types of nodes or edges; use dgl.to_homogeneous() first"
                raise TypeError(f"graphs: expected homogeneous graphs of DGL, found {what}")
            weights = None if weight is None else graph.edata[weight]
            source, target = graph.edges()
            edges.add(source, target, weights, as_numpy(graph.batch_num_nodes(), "batch_num_nodes")[0])
        return cls._of(*edges.joined(), _how(preset, symmetrize, signed, flows))

    @classmethod
    def from_igraph(
        cls,
        graphs: Any,
        weight: str | None = "weight",
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes graphs from a graph of igraph, or from several.

        Parameters
        ----------
        weight : str, optional
            The attribute of edges that has the weights, where there is one.
        """
        listed = [graphs] if hasattr(graphs, "get_edgelist") else list(graphs)
        edges = Edges()
        for graph in listed:
            pairs = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape((-1, 2))
            weights = weights_of(graph.es[weight]) if weight in graph.es.attributes() else None
            sides = directions(pairs, weights, directed=graph.is_directed(), once=symmetrize == "sum")
            edges.add(*sides, graph.vcount())
        return cls._of(*edges.joined(), _how(preset, symmetrize, signed, flows))

    @classmethod
    def from_rustworkx(
        cls,
        graphs: Any,
        weight: Any = None,
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
        signed: bool = False,
        flows: bool = False,
    ) -> GraphBatch:
        """Makes graphs from a graph of rustworkx, or from several. ``weight`` is a function of the edge's data."""
        if weight is not None and not callable(weight):
            raise wrong("weight", "a function of the data of an edge, or None", weight)
        listed = [graphs] if hasattr(graphs, "weighted_edge_list") else list(graphs)
        edges = Edges()
        for graph in listed:
            number = {node: i for i, node in enumerate(graph.node_indices())}
            triples = graph.weighted_edge_list()
            pairs = np.asarray([(number[u], number[v]) for u, v, _ in triples], dtype=np.int64).reshape((-1, 2))
            weights = None if weight is None else weights_of([weight(data) for *_, data in triples])
            directed = type(graph).__name__.endswith("DiGraph")
            edges.add(*directions(pairs, weights, directed=directed, once=symmetrize == "sum"), len(number))
        return cls._of(*edges.joined(), _how(preset, symmetrize, signed, flows))


def _restored(native: _fiedler.Graphs, node_ids: Any, notices: list[str]) -> GraphBatch:
    """Returns a batch that was pickled. Its arrays do not have the ids and the notices of the file."""
    made = GraphBatch(native)
    made._node_ids, made._notices = node_ids, notices
    return made
