"""Graphs of networkx as arrays, and the matrices, factors and decompositions that functions of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from . import linalg
from ._arguments import wrong
from ._errors import DomainError
from ._networkx_grounded import Array, Grounded

DIRECTED = "directed graphs have matrices that are not symmetric"

# A graph keeps what it has computed up to this size, as its communicabilities alone are several times as large.
_KEPT = 1 << 26


class Graph:
    """A graph of networkx as arrays, made by `fiedler.networkx.convert_from_nx`. It does not change.

    It has the edges in the order of ``adjacency()``, in both directions if it is undirected, with the attributes that
    were asked for, and with ``weight``, which networkx reads in some functions without declaring it. What is computed
    of it is kept, such as its Laplacian spectrum. networkx caches the graph itself, and drops it when the original is
    changed by a method.
    """

    __networkx_backend__ = "fiedler"

    def __init__(self, graph: Any, attributes: dict[str, Any]) -> None:
        self._directed, self._multigraph = graph.is_directed(), graph.is_multigraph()
        self.graph = dict(graph.graph)
        self._nodes = list(graph)
        rows = [neighbors for _, neighbors in graph.adjacency()]
        edges: Any = chain.from_iterable(neighbors.values() for neighbors in rows)
        columns: Any = chain.from_iterable(rows)
        counts = [len(neighbors) for neighbors in rows]
        self._keys: list[Any] | None = None
        if self._multigraph:
            rows = [[(v, key) for v, keys in neighbors.items() for key in keys] for neighbors in rows]
            edges = chain.from_iterable(keys.values() for keys in edges)
            columns = (v for v, _ in chain.from_iterable(rows))
            counts = [len(row) for row in rows]
            self._keys = [key for row in rows for _, key in row]
        number = {node: i for i, node in enumerate(self._nodes)}
        self._indptr = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        self.columns = np.fromiter(map(number.__getitem__, columns), np.int64, int(self._indptr[-1]))
        data = list(edges)
        some = any(data)
        # By attribute: its values, 1 or the default of the function where it is absent, and where it is present.
        self._values: dict[str, tuple[list[Any], list[bool]] | None] = {
            name: ([own.get(name, default) for own in data], [name in own for own in data]) if some else None
            for name, default in attributes.items()
        }
        self._made: dict[Any, Any] = {}
        self.__networkx_cache__: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.number
        except TypeError:
            return False

    def __repr__(self) -> str:
        kind = f"{'directed ' if self._directed else ''}{'multigraph' if self._multigraph else 'graph'}"
        return f"fiedler.networkx.Graph of a {kind} with {len(self)} nodes"

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return self._multigraph

    @cached_property
    def number(self) -> dict[Any, int]:
        """The position of each node."""
        return {node: i for i, node in enumerate(self._nodes)}

    @cached_property
    def rows(self) -> Array:
        """The position of the first node of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self._indptr))

    @cached_property
    def loops(self) -> bool:
        """Whether an edge joins a node to itself."""
        return bool(np.any(self.rows == self.columns))

    def to_nx(self) -> nx.Graph:
        """Returns the graph of networkx, with the attributes that this one has."""
        kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph}
        kinds |= {(False, True): nx.MultiGraph, (True, True): nx.MultiDiGraph}
        made = kinds[self._directed, self._multigraph]()
        made.graph.update(self.graph)
        made.add_nodes_from(self._nodes)
        kept = {name: found for name, found in self._values.items() if found is not None}
        for edge, (i, j) in enumerate(zip(self.rows.tolist(), self.columns.tolist(), strict=True)):
            key = [] if self._keys is None else [self._keys[edge]]
            data = {name: values[edge] for name, (values, there) in kept.items() if there[edge]}
            made.add_edge(self._nodes[i], self._nodes[j], *key, **data)
        return made

    def weights(self, name: str | None, finite: bool = True) -> Array:
        """Returns the weight of each entry."""
        found = None if name is None else self._attribute(name)
        if found is None:
            return np.ones(len(self.columns))
        values = np.asarray(found[0])
        if values.dtype.kind not in "fiu" or values.ndim != 1:
            raise NotImplementedError(f"{name}: expected real numbers, found {values.dtype}")
        if finite and not np.isfinite(values).all():
            raise NotImplementedError(f"{name}: expected finite numbers, found a NaN or an infinity")
        return values.astype(np.float64)

    def _attribute(self, name: str) -> tuple[list[Any], list[bool]] | None:
        if name not in self._values:
            what = f"{name!r}, but {', '.join(map(repr, self._values))}"
            raise nx.NetworkXError(f"weight: expected an attribute that the graph was converted with, found {what}")
        return self._values[name]

    def inverse_weights(self, name: str) -> Array:
        """Returns 1 over the weight of each entry. As in networkx, each edge needs a weight, which is not 0."""
        found = self._attribute(name)
        if len(self.columns) and (found is None or not all(found[1])):
            raise KeyError(name)
        weights = self.weights(name)
        if not weights.all():
            raise ZeroDivisionError("division by zero")
        return np.reciprocal(weights)

    def matrix(self, weights: Array) -> Any:
        """Returns the adjacency matrix, in which parallel edges are added."""
        shape = (len(self), len(self))
        # A copy, as SciPy sorts, adds and removes entries in place.
        made = scipy.sparse.csr_array((weights, self.columns, self._indptr), shape=shape, copy=True)
        if self._multigraph:
            made.sum_duplicates()
        return made

    def dense(self, weights: Array) -> Array:
        """Returns the adjacency matrix as an array, as networkx does of a graph with nodes."""
        if not len(self):
            raise nx.NetworkXError("Graph has no nodes or edges")
        made: Array = self.matrix(weights).toarray()
        return made

    @cached_property
    def connected(self) -> bool:
        """Whether it is connected, whatever the weights."""
        if not len(self):
            raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
        return int(connected_components(self.matrix(np.ones(len(self.columns))), False, return_labels=False)) == 1

    def kept(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Returns what was made under this key, or makes it and keeps it unless it is large."""
        if key in self._made:
            return self._made[key]
        made = make()
        size = sum(getattr(part, "nbytes", 0) for part in (made if isinstance(made, tuple) else (made,)))
        if size <= _KEPT:
            self._made[key] = made
        return made

    def spectrum(self, key: tuple[Any, ...], make: Callable[[], Array]) -> Array:
        """Returns the eigenvalues of a symmetric matrix, ascending, in an array of the caller."""
        found: Array = self.kept(("spectrum", *key), lambda: linalg.eigvalsh(_checked(make())))
        return found.copy()

    def pattern(self) -> Array:
        """Returns the matrix of the edges whose weight is not 0, with entries 0 and 1."""
        made: Array = (self.matrix(self.weights("weight", finite=False)).toarray() != 0).astype(np.float64)
        return made

    def pattern_pairs(self) -> tuple[Array, Array]:
        """Returns the eigenpairs of `pattern`."""
        found: tuple[Array, Array] = self.kept(("pattern",), lambda: tuple(linalg.eigh(self.pattern())))
        return found

    def laplacian(self, weights: Array) -> Array:
        """Returns the combinatorial Laplacian as an array."""
        made = -self.dense(weights)
        made[np.diag_indices_from(made)] -= made.sum(axis=1)
        return made

    def grounded(self, weights: Array, key: tuple[Any, ...]) -> Grounded:
        """Returns the Laplacian of a connected graph without its first node. All weights have to be positive."""
        found: Grounded = self.kept(("grounded", *key), lambda: Grounded(len(self), self.rows, self.columns, weights))
        return found


def _checked(matrix: Array) -> Array:
    """Returns a matrix without a NaN or an infinity, which SciPy refuses as well."""
    if not np.isfinite(matrix).all():
        raise DomainError("matrix: expected finite entries, found a NaN or an infinity")
    return matrix


def convert_from_nx(
    graph: Any,
    edge_attrs: dict[str, Any] | None = None,
    node_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Graph:
    """Returns a graph of networkx as arrays, with the attributes of edges that are asked for and their defaults.

    The other parameters are those that networkx passes to every backend. Attributes of nodes are not kept, nor all
    attributes of edges, which no function of this backend reads.
    """
    if isinstance(graph, Graph):
        return graph
    if not hasattr(graph, "adjacency"):
        raise wrong("graph", "a graph of networkx", graph)
    if preserve_edge_attrs or preserve_node_attrs or node_attrs:
        raise NotImplementedError(f"{name}: expected no more than the names of attributes of edges to keep")
    return Graph(graph, {"weight": 1, **(edge_attrs or {})})


def _graph(G: Any, weight: str | None = None, *refused: str) -> Graph:
    """Returns the arrays of a graph, unless it is of a kind that networkx refuses as well."""
    made = convert_from_nx(G, None if weight is None else {weight: 1})
    for kind, found in (("directed", made.is_directed()), ("multigraph", made.is_multigraph())):
        if found and kind in refused:
            raise nx.NetworkXNotImplemented(f"not implemented for {kind} type")
    return made


def _symmetric(G: Any, weight: str | None, *refused: str) -> Graph:
    """Returns the arrays of a graph whose matrices are symmetric."""
    made = _graph(G, weight, *refused)
    if made.is_directed():
        raise NotImplementedError(DIRECTED)
    return made


def _nested(G: Graph, matrix: Array) -> dict[Any, dict[Any, float]]:
    """Returns the rows of a matrix as dictionaries."""
    return {node: dict(zip(G, row.tolist(), strict=True)) for node, row in zip(G, matrix, strict=True)}
