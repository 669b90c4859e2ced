"""Edges of several graphs, each of which numbers its own nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import as_numpy
from ._errors import DomainError, ShapeError

Array = np.ndarray[Any, Any]


class Edges:
    """The edges of a batch of graphs: those of one graph after another, with nodes numbered through the batch."""

    def __init__(self) -> None:
        self._parts: list[tuple[Array, Array, Array | None]] = []
        self._sizes: list[Array] = []
        self.nodes = 0

    def add(self, source: Any, target: Any, weights: Any, sizes: Any) -> None:
        """Adds the edges of a graph, or of a batch of graphs, with the number of nodes of each."""
        graph = len(self._parts)
        counts = np.ravel(np.asarray(sizes))
        nodes = int(counts.sum())
        ends = [whole_numbers(part, f"graph {graph}: edge_index") for part in (source, target)]
        for numbers in ends:
            outside = np.flatnonzero((numbers < 0) | (numbers >= nodes))
            if outside.size:
                edge = outside[0]
                what = f"edge {edge} with the node {numbers[edge]}"
                raise DomainError(f"graph {graph}: expected nodes from 0 to {nodes - 1}, found {what}")
        if weights is not None:
            weights = np.ravel(as_numpy(weights, "weight")[0])
            if len(weights) != len(ends[0]):
                what = f"a weight for each of {len(ends[0])} edges, found {len(weights)}"
                raise ShapeError(f"graph {graph}: expected {what}")
        self._parts.append((ends[0] + self.nodes, ends[1] + self.nodes, weights))
        self._sizes.append(counts)
        self.nodes += nodes

    def joined(self) -> tuple[Array, Array, Array | None, Array]:
        """Returns sources, targets, weights and the first node of each graph. Edges without weights weigh 1."""
        if not self._parts:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), None, np.zeros(1, np.int64)
        source, target = (np.concatenate([part[i] for part in self._parts]) for i in (0, 1))
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(self._sizes))])
        if all(weights is None for *_, weights in self._parts):
            return source, target, None, offsets
        ones = [np.ones(len(source)) if weights is None else weights for source, _, weights in self._parts]
        return source, target, np.concatenate(ones), offsets


def whole_numbers(x: Any, name: str) -> Array:
    """Returns integers as int64, and refuses other numbers."""
    array, _ = as_numpy(x, name)
    if array.dtype.kind not in "iu" and array.size:
        raise ShapeError(f"{name}: expected integers, found {array.dtype}")
    return array.astype(np.int64, copy=False)


def index_of(x: Any, name: str = "edge_index") -> Array:
    """Returns an edge_index, (2, E), of integers."""
    if x is None:
        raise TypeError(f"{name}: expected integers with the shape (2, E), found None")
    index, _ = as_numpy(x, name)
    if index.ndim != 2 or index.shape[0] != 2 or (index.dtype.kind not in "iu" and index.size):
        raise ShapeError(f"{name}: expected integers with the shape (2, E), found {index.dtype} {index.shape}")
    return index.astype(np.int64, copy=False)


def weights_of(values: list[Any]) -> Array | None:
    """Returns the weights of the edges of a graph, or None if all are 1."""
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        odd = next(value for value in values if not isinstance(value, (int, float, np.number, np.bool_)))
        raise TypeError(f"weight: expected a number of each edge, found {odd!r}") from None
    return None if np.all(weights == 1) else weights


def directions(
    pairs: Array, weights: Array | None, *, directed: bool, once: bool
) -> tuple[Array, Array, Array | None]:
    """Returns sources, targets and weights, with both directions of undirected edges.

    ``once`` says that both directions of an edge are going to be added up. An undirected edge then has one of them, the
    same for all parallel edges, and a self-loop, which is its own reverse, half of its weight.
    """
    if directed:
        return pairs[:, 0], pairs[:, 1], weights
    other = pairs[:, 0] != pairs[:, 1]
    if once:
        if not np.all(other):
            weights = np.where(other, 1.0, 0.5) * (1.0 if weights is None else weights)
        return pairs.min(axis=1), pairs.max(axis=1), weights
    both = np.concatenate([pairs, pairs[other][:, ::-1]])
    return both[:, 0], both[:, 1], None if weights is None else np.concatenate([weights, weights[other]])


def entries_of(matrix: Any) -> tuple[int, Array, Array, Array | None]:
    """Returns the order of an adjacency matrix of scipy.sparse, and its entries. Duplicates are summed, as SciPy does.

    There are no weights if every entry is 1 or true.
    """
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ShapeError(f"matrix: expected a square adjacency matrix, found the shape {matrix.shape}")
    entries = matrix.tocoo()
    if not entries.has_canonical_format:
        entries = entries.tocsr(copy=True)
        entries.sum_duplicates()
        entries = entries.tocoo()
    data = entries.data
    plain = data.dtype.kind == "b" or np.all(data == 1)
    return matrix.shape[0], entries.row, entries.col, None if plain else data


def is_data_set(data: Any) -> bool:
    """Returns whether this is an ``InMemoryDataset``. To ask it for an attribute of graphs would join all graphs."""
    return {"_data", "slices"} <= getattr(data, "__dict__", {}).keys()


def collated(data: Any, weight: str | None) -> tuple[Array, Array, Array | None, Array] | None:
    """Returns the edges of a data set of PyTorch Geometric that keeps its graphs in one storage."""
    if not is_data_set(data):
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
    index = index_of(store.edge_index)
    counts = np.diff(ends)
    outside = np.flatnonzero(np.any((index < 0) | (index >= np.repeat(sizes, counts)), axis=0))
    if outside.size:
        edge = outside[0]
        graph = int(np.searchsorted(ends, edge, side="right")) - 1
        what = f"edge {edge - ends[graph]} from {index[0, edge]} to {index[1, edge]}"
        raise DomainError(f"graph {graph}: expected nodes from 0 to {sizes[graph] - 1}, found {what}")
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    shift = np.repeat(offsets[:-1], counts)
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
