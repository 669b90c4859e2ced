"""Batches of graphs, from the objects of other libraries, told apart without importing any of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _fiedler
from ._arrays import as_numpy, whole
from ._errors import DomainError, ShapeError

Array = Any

_KINDS = (
    "a path, graphs of PyTorch Geometric, DGL, NetworkX, SciPy, igraph or rustworkx, an edge_index (2, E) of integers, "
    "or a list of such graphs"
)


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

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"fiedler.GraphBatch of {len(self)} graphs, {self.num_nodes} nodes"

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
        """What other programs might read differently in the file, a sentence each."""
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
    ) -> GraphBatch:
        """Makes one graph from pairs (source, target), with a weight each if ``weight`` has them."""
        pairs = np.asarray(edges if isinstance(edges, np.ndarray) else list(edges))
        if pairs.size == 0:
            pairs = pairs.reshape((0, 2)).astype(np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ShapeError(f"edges: expected pairs, (E, 2), found the shape {pairs.shape}")
        return cls.from_edge_index(pairs.T, num_nodes, weight=weight, preset=preset, symmetrize=symmetrize)

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
        index, _ = as_numpy(edge_index, "edge_index")
        if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
            what = f"{index.dtype} with the shape {index.shape}"
            raise ShapeError(f"edge_index: expected integers with the shape (2, E), found {what}")
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
        return cls._of(index[0], index[1], weight, offsets, preset, symmetrize)

    @classmethod
    def _of(
        cls,
        source: Array,
        target: Array,
        weight: Array | None,
        offsets: Array,
        preset: str | None,
        symmetrize: str | None,
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
        return cls(_fiedler.Graphs.of_edges(source, target, weights, offsets, preset, symmetrize))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        preset: str | None = None,
        symmetrize: str | None = "max",
        edge_weight_column: int | None = None,
    ) -> GraphBatch:
        """Reads a data set, of any format that the command reads.

        Parameters
        ----------
        edge_weight_column : int, optional
            The column of a TUDataset's edge attributes that has the weights, counted from 1.
        """
        return cls(_fiedler.Graphs.read(os.fspath(path), preset, symmetrize, edge_weight_column))

    @classmethod
    def from_scipy_sparse(
        cls, matrix: Any, *, preset: str | None = None, symmetrize: str | None = None
    ) -> GraphBatch:
        """Makes one graph from a square adjacency matrix of scipy.sparse; its entries are the weights."""
        entries = matrix.tocoo()
        if entries.shape[0] != entries.shape[1]:
            raise ShapeError(f"matrix: expected a square adjacency matrix, found the shape {entries.shape}")
        data = entries.data
        weights = None if data.dtype.kind == "b" or np.all(data == 1) else data
        offsets = np.array([0, entries.shape[0]])
        return cls._of(entries.row, entries.col, weights, offsets, preset, symmetrize)

    @classmethod
    def from_networkx(
        cls,
        graphs: Any,
        weight: str | None = "weight",
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
    ) -> GraphBatch:
        """Makes graphs from one graph of NetworkX or several. Nodes are numbered in the order of the graph.

        Parameters
        ----------
        weight : str, optional
            The attribute of edges that has the weights; edges without it weigh 1. With None, every edge weighs 1.
        """
        listed = [graphs] if hasattr(graphs, "adjacency") else list(graphs)
        source: list[int] = []
        target: list[int] = []
        weights: list[float] = []
        offsets = [0]
        for graph in listed:
            first = offsets[-1]
            number = {node: first + i for i, node in enumerate(graph)}
            both = not graph.is_directed()
            for u, v, value in graph.edges(data=weight or "", default=1):
                a, b = number[u], number[v]
                source.append(a)
                target.append(b)
                weights.append(value if weight else 1)
                # Undirected edges are listed once, and stand for both directions.
                if both and a != b:
                    source.append(b)
                    target.append(a)
                    weights.append(value if weight else 1)
            offsets.append(first + len(number))
        numbers = np.asarray(weights, dtype=np.float64)
        kept = None if np.all(numbers == 1) else numbers
        return cls._of(np.asarray(source), np.asarray(target), kept, np.asarray(offsets), preset, symmetrize)

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        weight: str | None = "edge_weight",
        *,
        preset: str | None = None,
        symmetrize: str | None = None,
    ) -> GraphBatch:
        """Makes graphs from a ``Data``, a ``Batch``, a data set or a list of PyTorch Geometric.

        Parameters
        ----------
        weight : str, optional
            The attribute that has the weights of edges, where there is one.
        """
        source, target, weights, offsets = _collated(data, weight) or _listed(data, weight)
        return cls._of(source, target, weights, offsets, preset, symmetrize)

    @classmethod
    def from_dgl(
        cls, graphs: Any, weight: str | None = None, *, preset: str | None = None, symmetrize: str | None = None
    ) -> GraphBatch:
        """Makes graphs from a graph of DGL, batched or not, or from several. ``weight`` names a feature of edges."""
        listed = [graphs] if hasattr(graphs, "batch_num_nodes") else list(graphs)
        parts = []
        sizes: list[Any] = []
        first = 0
        for graph in listed:
            source, target = (as_numpy(part, "edges")[0] for part in graph.edges())
            weights = None if weight is None else as_numpy(graph.edata[weight], "weight")[0]
            counts, _ = as_numpy(graph.batch_num_nodes(), "batch_num_nodes")
            parts.append((source + first, target + first, weights))
            sizes.append(counts)
            first += int(counts.sum())
        return cls._of(*_joined(parts), _offsets(sizes), preset, symmetrize)

    @classmethod
    def from_igraph(
        cls, graphs: Any, weight: str | None = None, *, preset: str | None = None, symmetrize: str | None = None
    ) -> GraphBatch:
        """Makes graphs from a graph of igraph, or from several. ``weight`` names an attribute of edges."""
        listed = [graphs] if hasattr(graphs, "get_edgelist") else list(graphs)
        parts = []
        first = 0
        for graph in listed:
            pairs = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape((-1, 2)) + first
            weights = None if weight is None else np.asarray(graph.es[weight], dtype=np.float64)
            parts.append(_directions(pairs, weights, directed=graph.is_directed()))
            first += graph.vcount()
        return cls._of(*_joined(parts), _offsets([graph.vcount() for graph in listed]), preset, symmetrize)

    @classmethod
    def from_rustworkx(
        cls, graphs: Any, weight: Any = None, *, preset: str | None = None, symmetrize: str | None = None
    ) -> GraphBatch:
        """Makes graphs from a graph of rustworkx, or from several. ``weight`` is a function of the edge's data."""
        listed = [graphs] if hasattr(graphs, "weighted_edge_list") else list(graphs)
        parts = []
        first = 0
        for graph in listed:
            number = {node: first + i for i, node in enumerate(graph.node_indices())}
            triples = graph.weighted_edge_list()
            pairs = np.asarray([(number[u], number[v]) for u, v, _ in triples], dtype=np.int64).reshape((-1, 2))
            weights = None if weight is None else np.asarray([weight(data) for *_, data in triples], dtype=np.float64)
            directed = type(graph).__name__.endswith("DiGraph")
            parts.append(_directions(pairs, weights, directed=directed))
            first += len(number)
        return cls._of(*_joined(parts), _offsets([graph.num_nodes() for graph in listed]), preset, symmetrize)


def _restored(native: _fiedler.Graphs, node_ids: Any, notices: list[str]) -> GraphBatch:
    """Returns a batch that was pickled. Its arrays do not have the ids and the notices of the file."""
    made = GraphBatch(native)
    made._node_ids, made._notices = node_ids, notices
    return made


Parts = tuple[Any, Any, Any]


def _directions(pairs: np.ndarray[Any, Any], weights: Any, *, directed: bool) -> Parts:
    """Returns sources, targets and weights, with both directions of undirected edges."""
    if directed:
        return pairs[:, 0], pairs[:, 1], weights
    other = pairs[:, 0] != pairs[:, 1]
    both = np.concatenate([pairs, pairs[other][:, ::-1]])
    return both[:, 0], both[:, 1], None if weights is None else np.concatenate([weights, weights[other]])


def _joined(parts: Sequence[Parts]) -> Parts:
    """Joins the edges of several graphs. Edges of graphs without weights weigh 1."""
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), None
    source, target = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    if all(part[2] is None for part in parts):
        return source, target, None
    ones = (np.ones(len(part[0])) if part[2] is None else np.ravel(part[2]) for part in parts)
    return source, target, np.concatenate(list(ones))


def _offsets(sizes: Sequence[Any]) -> np.ndarray[Any, Any]:
    counts = [np.ravel(size) for size in sizes]
    return np.concatenate([[0], np.cumsum(np.concatenate(counts))]) if counts else np.zeros(1, np.int64)


def _is_data_set(data: Any) -> bool:
    """Returns whether this is an ``InMemoryDataset``. To ask it for an attribute of graphs would join all graphs."""
    return {"_data", "slices"} <= getattr(data, "__dict__", {}).keys()


def _collated(data: Any, weight: str | None) -> tuple[Any, ...] | None:
    """Returns the edges of a data set of PyTorch Geometric that keeps its graphs in one storage."""
    if not _is_data_set(data):
        return None
    store, slices = data._data, data.slices
    if slices is None or "edge_index" not in slices:
        return None
    if getattr(data, "_indices", None) is not None:
        return None  # a subset, whose graphs are read one by one
    ends, _ = as_numpy(slices["edge_index"], "edge_index")
    sizes = _sizes(store, slices, len(ends) - 1)
    if sizes is None:
        return None
    index, _ = as_numpy(store.edge_index, "edge_index")
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    shift = np.repeat(offsets[:-1], np.diff(ends))
    weights = None
    if weight and getattr(store, weight, None) is not None:
        weights, _ = as_numpy(getattr(store, weight), weight)
    return index[0] + shift, index[1] + shift, weights, offsets


def _sizes(store: Any, slices: Any, graphs: int) -> Any:
    """Returns the nodes of each graph of a collated data set, if they can be told without reading the graphs."""
    counts = getattr(store, "_num_nodes", None) or store.__dict__.get("_num_nodes")
    if counts is None and "num_nodes" in slices:
        counts = getattr(store, "num_nodes", None)
    if isinstance(counts, (list, tuple)) and len(counts) == graphs:
        return np.asarray(counts, dtype=np.int64)
    for name in ("x", "pos", "z"):
        if name in slices and len(slices[name]) == graphs + 1:
            return np.diff(as_numpy(slices[name], name)[0])
    return None


def _listed(data: Any, weight: str | None) -> tuple[Any, ...]:
    listed: Iterable[Any] = data if _is_data_set(data) or not hasattr(data, "edge_index") else [data]
    parts = []
    sizes: list[Any] = []
    first = 0
    for graph in listed:
        if not hasattr(graph, "edge_index"):
            what = type(graph).__name__
            how = "; use to_homogeneous() first" if hasattr(graph, "edge_types") else ""
            raise TypeError(f"graphs: expected graphs of PyTorch Geometric with an edge_index, found {what}{how}")
        index, _ = as_numpy(graph.edge_index, "edge_index")
        ptr = getattr(graph, "ptr", None)
        counts = [int(graph.num_nodes)] if ptr is None else np.diff(as_numpy(ptr, "ptr")[0])
        weights = getattr(graph, weight, None) if weight else None
        parts.append((index[0] + first, index[1] + first, None if weights is None else as_numpy(weights, "weight")[0]))
        sizes.append(counts)
        first += int(np.sum(counts))
    return *_joined(parts), _offsets(sizes)


def as_graphs(
    graphs: Any,
    *,
    weight: str | None = "auto",
    num_nodes: int | None = None,
    batch: Array | None = None,
    preset: str | None = None,
    symmetrize: str | None = None,
) -> GraphBatch:
    """Returns the batch of whatever `fiedler.encode` takes. ``weight='auto'`` is each library's own name."""
    how: dict[str, Any] = {"preset": preset, "symmetrize": symmetrize}
    named: dict[str, Any] = how if weight == "auto" else {**how, "weight": weight}
    if isinstance(graphs, GraphBatch):
        if preset is not None or symmetrize is not None:
            raise ValueError("preset, symmetrize: expected none for a GraphBatch, which was made under its own")
        return graphs
    if isinstance(graphs, (str, bytes, os.PathLike)):
        return GraphBatch.read(os.fsdecode(graphs), preset=preset, symmetrize=symmetrize or "max")
    first = graphs
    if isinstance(graphs, (list, tuple)):
        if not graphs:
            return GraphBatch._of([], [], None, [0], preset, symmetrize)
        first = graphs[0]
        if isinstance(first, (str, os.PathLike)) or hasattr(first, "indptr") or _is_edge_index(first):
            if len(graphs) == 2 and np.ndim(first) == 1:
                first = graphs = np.asarray(graphs)  # a pair of lists, source and target
            else:
                return _many(graphs, weight, how)
    if _is_data_set(first):
        return GraphBatch.from_pyg(graphs, **named)
    if hasattr(first, "batch_num_nodes"):
        return GraphBatch.from_dgl(graphs, **named)
    if hasattr(first, "edge_types"):
        what = type(first).__name__
        raise TypeError(f"graphs: expected homogeneous graphs, found {what}; use to_homogeneous() first")
    if hasattr(first, "edge_index"):
        return GraphBatch.from_pyg(graphs, **named)
    if hasattr(first, "adjacency") and hasattr(first, "is_directed"):
        return GraphBatch.from_networkx(graphs, **named)
    if hasattr(first, "weighted_edge_list"):
        return GraphBatch.from_rustworkx(graphs, **named)
    if hasattr(first, "get_edgelist"):
        return GraphBatch.from_igraph(graphs, **named)
    if hasattr(graphs, "tocoo") and hasattr(graphs, "nnz"):
        return GraphBatch.from_scipy_sparse(graphs, **how)
    if _is_edge_index(graphs):
        return GraphBatch.from_edge_index(graphs, num_nodes, batch=batch, **how)
    if hasattr(graphs, "shape") and len(graphs.shape) == 2 and graphs.shape[0] == graphs.shape[1]:
        what = "a dense matrix; use GraphBatch.from_scipy_sparse(scipy.sparse.coo_array(a)) for an adjacency matrix"
        raise TypeError(f"graphs: expected {_KINDS}, found {what}")
    if hasattr(graphs, "__getitem__") and hasattr(graphs, "__len__") and len(graphs) and graphs is not first:
        raise TypeError(f"graphs: expected {_KINDS}, found a list of {type(first).__name__}")
    if hasattr(graphs, "__iter__") and not hasattr(graphs, "shape"):
        return as_graphs(list(graphs), weight=weight, preset=preset, symmetrize=symmetrize)
    raise TypeError(f"graphs: expected {_KINDS}, found {type(graphs).__name__}")


def _is_edge_index(x: Any) -> bool:
    shape = getattr(x, "shape", None)
    if shape is None:
        return isinstance(x, (list, tuple)) and bool(x) and isinstance(x[0], (int, np.integer))
    dtype = getattr(x, "dtype", None)
    whole = dtype.kind in "iu" if isinstance(dtype, np.dtype) else "int" in str(dtype)
    return len(shape) == 2 and shape[0] == 2 and whole


def _many(graphs: Sequence[Any], weight: str | None, how: dict[str, Any]) -> GraphBatch:
    """Joins graphs whose kinds make one graph each: matrices and edge indices."""
    parts = []
    sizes = []
    first = 0
    for graph in graphs:
        if isinstance(graph, (str, os.PathLike)):
            raise TypeError("graphs: expected one path, of a file or a folder, found several; encode them one by one")
        if hasattr(graph, "tocoo"):
            entries = graph.tocoo()
            if entries.shape[0] != entries.shape[1]:
                raise ShapeError(f"graphs: expected square adjacency matrices, found the shape {entries.shape}")
            nodes, source, target, weights = entries.shape[0], entries.row, entries.col, entries.data
        else:
            index, _ = as_numpy(graph, "edge_index")
            if index.ndim != 2 or index.shape[0] != 2:
                raise ShapeError(f"graphs: expected edge indices with the shape (2, E), found {index.shape}")
            nodes, (source, target), weights = (int(index.max()) + 1 if index.size else 0), index, None
        parts.append((source.astype(np.int64) + first, target.astype(np.int64) + first, weights if weight else None))
        sizes.append(nodes)
        first += nodes
    return GraphBatch._of(*_joined(parts), _offsets(sizes), how["preset"], how["symmetrize"])
