"""What `fiedler.encode` takes as graphs: which kind of graphs it is, and the batch that it becomes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._edges import Edges, entries_of, index_of, is_data_set
from ._graphs import GraphBatch, _how

Array = Any

_KINDS = (
    "a path, graphs of PyTorch Geometric, DGL, NetworkX, SciPy, igraph or rustworkx, a table of Arrow, an edge_index "
    "(2, E) of integers, or a list of such graphs"
)


def _kind(x: Any) -> str | None:
    """Returns what kind of graph, or of graphs, this is, or None."""
    if isinstance(x, GraphBatch):
        return "a GraphBatch"
    if isinstance(x, (str, bytes, os.PathLike)):
        return "a path"
    if is_data_set(x) or hasattr(x, "edge_types"):
        return "HeteroData" if not is_data_set(x) else "a data set of PyTorch Geometric"
    if hasattr(x, "__arrow_c_stream__"):
        return "a table"
    for kind, attributes in _ATTRIBUTES.items():
        if all(hasattr(x, name) for name in attributes):
            return kind
    return "an edge_index" if _is_edge_index(x) else None


_ATTRIBUTES = {
    "a graph of DGL": ("batch_num_nodes",),
    "a graph of PyTorch Geometric": ("edge_index",),
    "a graph of NetworkX": ("adjacency", "is_directed"),
    "a graph of rustworkx": ("weighted_edge_list",),
    "a graph of igraph": ("get_edgelist",),
    "a sparse matrix": ("tocoo", "nnz"),
}


def _is_edge_index(x: Any) -> bool:
    shape = getattr(x, "shape", None)
    dtype = getattr(x, "dtype", None)
    if shape is None or dtype is None:
        return False
    whole = dtype.kind in "iu" if isinstance(dtype, np.dtype) else "int" in str(dtype)
    return len(shape) == 2 and shape[0] == 2 and whole


def _described(x: Any) -> str:
    shape, dtype = getattr(x, "shape", None), getattr(x, "dtype", None)
    what = type(x).__name__
    return f"{what} of {dtype} with the shape {tuple(shape)}" if shape is not None and dtype is not None else what


def _pair(graphs: Any) -> Array | None:
    """Returns the edge_index of two sequences of integers, sources and targets, or None."""
    if not isinstance(graphs, (list, tuple)) or len(graphs) != 2:
        return None
    # A list of tuples is a list of edges. A graph of NetworkX is a sequence too: of its nodes.
    if not all(isinstance(part, (list, tuple, range)) or hasattr(part, "dtype") for part in graphs):
        return None
    if isinstance(graphs, list) and any(isinstance(part, tuple) for part in graphs):
        return None
    try:
        ends = [np.asarray(part) for part in graphs]
    except (ValueError, TypeError):
        return None
    fits = all(end.ndim == 1 and (end.dtype.kind in "iu" or not end.size) for end in ends)
    return np.stack(ends).astype(np.int64) if fits and len(ends[0]) == len(ends[1]) else None


def as_graphs(
    graphs: Any,
    *,
    weight: Any = "auto",
    num_nodes: int | None = None,
    batch: Array | None = None,
    preset: str | None = None,
    symmetrize: str | None = None,
    signed: bool = False,
    flows: bool = False,
) -> GraphBatch:
    """Returns the batch of whatever `fiedler.encode` takes. ``weight='auto'`` is each library's own name."""
    how: dict[str, Any] = {"preset": preset, "symmetrize": symmetrize, "signed": signed, "flows": flows}
    pair = _pair(graphs)
    graphs = graphs if pair is None else pair
    kind, several = _kind(graphs), False
    if kind is None:
        graphs, kind, several = *_list_of(graphs), True
    if kind != "an edge_index" or several:
        if num_nodes is not None or batch is not None:
            raise ValueError(f"num_nodes, batch: expected none beside {kind or 'no graphs'}, which has its own nodes")
    if kind is None:
        return GraphBatch._of(*Edges().joined(), _how(**how))
    if kind in ("a GraphBatch", "a path", "a table", "an edge_index") and weight is not None and weight != "auto":
        raise ValueError(f"weight: expected none beside {kind}, whose own weights count, found {weight!r}")
    if kind in ("a GraphBatch", "a path", "a table") and weight is None:
        raise ValueError(f"weight: expected 'auto' beside {kind}, whose own weights count, found None")
    if kind == "a GraphBatch":
        if preset is not None or symmetrize is not None or signed:
            raise ValueError("preset, symmetrize, signed: expected none for a GraphBatch, which was made under its own")
        batch_: GraphBatch = graphs
        return batch_
    if kind == "a path":
        return GraphBatch.read(os.fsdecode(graphs), **how)
    if kind == "a table" and not several:
        return GraphBatch.from_arrow(graphs, **how)
    if kind == "HeteroData":
        raise TypeError("graphs: expected homogeneous graphs, found HeteroData; use to_homogeneous() first")
    if kind == "an edge_index" and not several:
        return GraphBatch.from_edge_index(graphs, num_nodes, batch=batch, **how)
    if kind in ("an edge_index", "a sparse matrix"):
        if weight is not None and weight != "auto":
            raise ValueError(f"weight: expected None or 'auto' beside {kind}, found {weight!r}")
        edges = Edges()
        for graph in graphs if several else [graphs]:
            if kind == "a sparse matrix":
                nodes, source, target, weights = entries_of(graph)
            else:
                (source, target), weights = index_of(graph), None
                nodes = max(int(source.max()), int(target.max())) + 1 if source.size else 0
            edges.add(source, target, None if weight is None else weights, nodes)
        return GraphBatch._of(*edges.joined(), _how(**how))
    named = how if weight == "auto" else {**how, "weight": weight}
    make = {
        "a graph of DGL": GraphBatch.from_dgl,
        "a graph of PyTorch Geometric": GraphBatch.from_pyg,
        "a data set of PyTorch Geometric": GraphBatch.from_pyg,
        "a graph of NetworkX": GraphBatch.from_networkx,
        "a graph of rustworkx": GraphBatch.from_rustworkx,
        "a graph of igraph": GraphBatch.from_igraph,
    }[kind]
    return make(graphs, **named)


def _list_of(graphs: Any) -> tuple[list[Any], str | None]:
    """Returns the graphs of an iterable, and their kind, which is None if there are none."""
    if isinstance(graphs, Mapping) or hasattr(graphs, "shape") or not hasattr(graphs, "__iter__"):
        how = ""
        shape: tuple[int, ...] = tuple(getattr(graphs, "shape", ()))
        if len(shape) == 2 and shape[0] == shape[1]:
            how = "; for an adjacency matrix, use scipy.sparse.coo_array(a)"
        elif len(shape) == 2 and shape[1] == 2:
            how = "; for pairs, use GraphBatch.from_edges(a)"
        raise TypeError(f"graphs: expected {_KINDS}, found {_described(graphs)}{how}")
    listed = list(graphs)
    kinds = [_kind(graph) for graph in listed]
    for place, kind in enumerate(kinds):
        if kind is None:
            how = "; for a list of edges, use GraphBatch.from_edges" if isinstance(listed[place], tuple) else ""
            raise TypeError(f"graphs: element {place}: expected a graph, found {_described(listed[place])}{how}")
        if kind != kinds[0]:
            raise TypeError(f"graphs: element {place}: expected {kinds[0]} like element 0, found {kind}")
        if kind in ("a GraphBatch", "a path", "a data set of PyTorch Geometric"):
            raise TypeError(f"graphs: element {place}: expected one graph, found {kind}; encode them one by one")
    return listed, kinds[0] if kinds else None
