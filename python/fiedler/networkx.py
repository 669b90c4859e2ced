"""A backend of networkx: spectra, Fiedler vectors, resistances and centralities that read off one decomposition.

networkx finds it where both packages are installed, and calls it for the functions below::

    import networkx as nx

    nx.config.backend_priority = ["fiedler"]  # or NETWORKX_BACKEND_PRIORITY=fiedler, or backend="fiedler" in a call
    nx.fiedler_vector(graph)

Signatures, results and errors are those of networkx. Arguments that stand for another algorithm, directed graphs whose
matrices are not symmetric, and weights that are not real numbers are left to networkx. A graph is converted once, until
it changes, and keeps its decompositions for the functions that come after.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csgraph
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from . import linalg
from ._networkx import DIRECTED, Graph, _graph, _nested, _symmetric, convert_from_nx
from ._networkx_grounded import Array
from ._networkx_info import FUNCTIONS
from ._networkx_resistances import (
    current_flow_betweenness_centrality,
    current_flow_closeness_centrality,
    effective_graph_resistance,
    kemeny_constant,
    number_of_spanning_trees,
    resistance_distance,
    second_order_centrality,
)

__all__ = ["Graph", "can_run", "convert_from_nx", "convert_to_nx", "should_run", *FUNCTIONS]


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Returns a graph of this backend as one of networkx, and any other result as it is."""
    return obj.to_nx() if isinstance(obj, Graph) else obj


_METHODS = ("tracemin_pcg", "tracemin", "tracemin_lu", "lanczos", "lobpcg")


def _method(method: str) -> None:
    if method not in _METHODS:
        raise nx.NetworkXError(f"unknown method {method!r}.")


def _undirected(G: Graph, weight: str | None) -> Any:
    """Returns the absolute weights between different nodes as a symmetric matrix, with no entry where they are 0."""
    made = G.matrix(np.where(G.rows == G.columns, 0.0, np.abs(G.weights(weight))))
    if G.is_directed():
        made = (made + made.T).tocsr()
    made.eliminate_zeros()
    return made


def _pair(matrix: Any, normalized: bool) -> tuple[float, Array]:
    """Returns the second smallest eigenvalue of the Laplacian of a connected graph, and its vector.

    As with networkx's default method, the first entry is negative.
    """
    kind = "symmetric" if normalized else "combinatorial"
    found = linalg.eigsh(matrix, 2, laplacian=kind, tol=1e-13)
    found.certificates.raise_for_status()
    vector = found.eigenvectors[:, 1]
    first = vector[np.argmax(np.abs(vector) > 1e-9)]
    return float(found.eigenvalues[1]), vector if first < 0 else -vector


def _fiedler(G: Graph, weight: str | None, normalized: bool, method: str) -> tuple[float, Array] | None:
    """Returns the pair of a graph of two nodes or more, or None if it is not connected."""
    if len(G) < 2:
        raise nx.NetworkXError("graph has less than two nodes.")

    def make() -> Any:
        matrix = _undirected(G, weight)
        if csgraph.connected_components(matrix, False, return_labels=False) > 1:
            return (None,)
        if len(G) == 2:
            return 2.0 if normalized else 2.0 * float(matrix[0, 1]), np.array([1.0, -1.0])
        return _pair(matrix, normalized)

    found = G.kept(("fiedler", weight, bool(normalized)), make)
    if found[0] is None:
        return None
    if len(G) > 2:  # networkx looks at the method only when it needs one
        _method(method)
    return found


def algebraic_connectivity(
    G: Any,
    weight: str = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> float:
    """Returns the second smallest eigenvalue of the Laplacian, or 0 of a graph that is not connected."""
    found = _fiedler(_graph(G, weight, "directed"), weight, normalized, method)
    return 0.0 if found is None else found[0]


def fiedler_vector(
    G: Any,
    weight: str = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> Array:
    """Returns the eigenvector of the algebraic connectivity."""
    found = _fiedler(_graph(G, weight, "directed"), weight, normalized, method)
    if found is None:
        raise nx.NetworkXError("graph is not connected.")
    return found[1].copy()


def spectral_bisection(
    G: Any,
    weight: str = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> tuple[set[Any], set[Any]]:
    """Returns the nodes where the Fiedler vector is negative, and the others."""
    G = _graph(G, weight, "directed")
    below = fiedler_vector(G, weight, normalized, tol, method, seed) < 0
    sides = [{node for node, side in zip(G, below.tolist(), strict=True) if side is wanted} for wanted in (True, False)]
    return sides[0], sides[1]


def spectral_ordering(
    G: Any,
    weight: str = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> list[Any]:
    """Returns the nodes, component by component, in the order of the entries of their Fiedler vectors."""
    G = _graph(G, weight)
    if len(G) == 0:
        raise nx.NetworkXError("graph is empty.")
    _method(method)
    matrix, nodes = _undirected(G, weight), list(G)
    count, labels = csgraph.connected_components(matrix, False)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=count))[:-1])
    order: list[Any] = []
    for inside in members:
        if len(inside) > 2:
            if count == 1:
                vector = G.kept(("fiedler", weight, bool(normalized)), lambda: _pair(matrix, normalized))[1]
            else:
                vector = _pair(matrix[inside][:, inside], normalized)[1]
            inside = inside[np.argsort(vector, kind="stable")]
        order.extend(nodes[i] for i in inside)
    return order


def laplacian_spectrum(G: Any, weight: str | None = "weight") -> Array:
    """Returns the eigenvalues of the Laplacian, ascending."""
    G = _symmetric(G, weight)
    return G.spectrum(("laplacian", weight), lambda: G.laplacian(G.weights(weight)))


def normalized_laplacian_spectrum(G: Any, weight: str | None = "weight") -> Array:
    """Returns the eigenvalues of the normalized Laplacian, ascending. Isolated nodes have a row of zeros."""
    G = _symmetric(G, weight)

    def make() -> Array:
        made, roots = G.laplacian(G.weights(weight)), _roots(G, weight)
        made *= roots
        made *= roots[:, None]
        return made

    return G.spectrum(("normalized", weight), make)


def _roots(G: Graph, weight: str | None) -> Array:
    """Returns 1 over the square roots of the degrees, and 0 where they are 0."""
    degrees = G.matrix(G.weights(weight)).sum(axis=1)
    with np.errstate(divide="ignore"):
        roots = 1.0 / np.sqrt(degrees)
    return np.where(np.isinf(roots), 0.0, roots)


def adjacency_spectrum(G: Any, weight: str | None = "weight") -> Array:
    """Returns the eigenvalues of the adjacency matrix, ascending, in complex numbers as in networkx."""
    G = _symmetric(G, weight)
    return G.spectrum(("adjacency", weight), lambda: G.dense(G.weights(weight))).astype(np.complex128)


def modularity_spectrum(G: Any) -> Array:
    """Returns the eigenvalues of the modularity matrix, ascending, in complex numbers as in networkx."""
    G = _symmetric(G, None, "multigraph")

    def make() -> Array:
        made = G.dense(G.weights(None))
        degrees = made.sum(axis=1)
        return made - np.outer(degrees, degrees) / degrees.sum()

    return G.spectrum(("modularity",), make).astype(np.complex128)


def bethe_hessian_spectrum(G: Any, r: float | None = None) -> Array:
    """Returns the eigenvalues of the Bethe Hessian, ascending."""
    G = _graph(G, None, "directed", "multigraph")
    if r is None:
        # The degrees count edges, and loops twice, as networkx does; the matrix has weights, and loops once.
        degrees = np.bincount(G.rows, minlength=len(G)) + np.bincount(G.rows[G.rows == G.columns], minlength=len(G))
        r = sum(d**2 for d in degrees.tolist()) / sum(degrees.tolist()) - 1

    def make() -> Array:
        made = G.dense(G.weights("weight"))
        diagonal = made.sum(axis=1) + (r**2 - 1)
        made *= -r
        made[np.diag_indices_from(made)] += diagonal
        return made

    return G.spectrum(("bethe", r), make)


def eigenvector_centrality_numpy(
    G: Any, weight: str | None = None, max_iter: int = 50, tol: float = 0
) -> dict[Any, float]:
    """Returns the entries of the eigenvector of the largest eigenvalue of the adjacency matrix."""
    G = _symmetric(G, weight)
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if not G.connected:
        what = "`eigenvector_centrality_numpy` does not give consistent results for disconnected graphs"
        raise nx.AmbiguousSolution(what)

    def make() -> Array:
        matrix = G.matrix(G.weights(weight))
        start = np.random.default_rng(0).uniform(0.5, 1.5, len(G))
        try:
            # A few restarts of ARPACK take the least time, where they are enough. On a path, they are not.
            vector: Array = eigsh(matrix, 1, which="LA", v0=start, maxiter=100)[1][:, 0]
        except ArpackNoConvergence:
            found = linalg.eigsh(matrix, 1, which="LA", tol=1e-13)
            found.certificates.raise_for_status()
            vector = found.eigenvectors[:, 0]
        return vector / (np.sign(vector.sum()) * np.linalg.norm(vector))

    return dict(zip(G, G.kept(("eigenvector", weight), make).tolist(), strict=True))


def _exponential(G: Any) -> tuple[Graph, Array, Array]:
    """Returns a graph, and the eigenpairs of its edges as a matrix of 0 and 1."""
    G = _graph(G, None, "directed", "multigraph")
    return G, *G.pattern_pairs()


def subgraph_centrality(G: Any, *, normalized: bool = False) -> dict[Any, float]:
    """Returns the diagonal of the exponential of the adjacency matrix."""
    G, values, vectors = _exponential(G)
    powers = np.exp(values - values.max() if normalized else values)
    return dict(zip(G, (vectors**2 @ powers).tolist(), strict=True))


def subgraph_centrality_exp(G: Any, *, normalized: bool = False) -> dict[Any, float]:
    """Returns `subgraph_centrality`, here with a largest value of 1 if ``normalized``, where networkx fails."""
    G, values, vectors = _exponential(G)
    found = vectors**2 @ np.exp(values - values[-1:])
    return dict(zip(G, (found / found.max() if normalized else found * np.exp(values[-1:])).tolist(), strict=True))


def estrada_index(G: Any) -> float:
    """Returns the sum of the subgraph centralities."""
    G = _graph(G, None, "directed", "multigraph")
    return float(np.exp(G.spectrum(("pattern",), G.pattern)).sum())


def communicability(G: Any) -> dict[Any, dict[Any, float]]:
    """Returns the entries of the exponential of the adjacency matrix."""
    G, values, vectors = _exponential(G)
    halves = vectors * np.exp(values / 2)
    return _nested(G, G.kept(("exponential",), lambda: linalg.matmul(halves, halves.T)))


def communicability_exp(G: Any) -> dict[Any, dict[Any, float]]:
    """Returns `communicability`, which networkx computes from the exponential of the matrix here."""
    return communicability(G)


_BALANCED = "expected a simple graph and weight='weight', which networkx itself reads"


def _of_networkx(method: str, **_: Any) -> str | None:
    return f"the algorithm {method} is networkx's" if method in _METHODS[2:] else None


def _directed(G: Any, **_: Any) -> str | None:
    return DIRECTED if G.is_directed() else None


def _arpack(G: Any, max_iter: int, **_: Any) -> str | None:
    if max_iter != 50:
        return "max_iter counts iterations of ARPACK"
    return "ARPACK takes three nodes or more" if 0 < len(G) < 3 else _directed(G)


def _solver(G: Any, dtype: Any, solver: str, normalized: bool | None = None, **_: Any) -> str | None:
    if dtype not in (float, np.float64, "float64") or solver not in ("full", "lu", "cg"):
        return "dtype and solver are expected to be float, and 'full', 'lu' or 'cg'"
    return "parallel edges have no currents in networkx" if normalized is not None and G.is_multigraph() else None


def _balanced(G: Any, weight: str | None, **_: Any) -> str | None:
    return _BALANCED if weight != "weight" or G.is_multigraph() else None


_REASONS: dict[str, Callable[..., str | None]] = {
    "algebraic_connectivity": _of_networkx,
    "fiedler_vector": _of_networkx,
    "spectral_bisection": _of_networkx,
    "spectral_ordering": _of_networkx,
    "adjacency_spectrum": _directed,
    "laplacian_spectrum": _directed,
    "modularity_spectrum": _directed,
    "normalized_laplacian_spectrum": _directed,
    "number_of_spanning_trees": _directed,
    "eigenvector_centrality_numpy": _arpack,
    "current_flow_betweenness_centrality": _solver,
    "current_flow_closeness_centrality": _solver,
    "second_order_centrality": _balanced,
}


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Says whether this backend computes a call, or the reason why it is left to networkx."""
    if name not in FUNCTIONS:
        return "fiedler does not have it"
    if name not in _REASONS:
        return True
    try:
        bound = inspect.signature(globals()[name]).bind(*args, **kwargs)
    except TypeError:
        return True  # the function itself says what is wrong
    bound.apply_defaults()
    return _REASONS[name](**bound.arguments) or True


# Below these numbers of nodes, networkx takes less time than the conversion: a few 10 us (2026-11-29).
_FEWEST = {
    "communicability": 6,
    "communicability_exp": 6,
    "estrada_index": 20,
    "second_order_centrality": 10,
    "subgraph_centrality": 20,
}


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Says whether a call is worth a conversion, or the reason why not."""
    nodes = len(args[0] if args else kwargs["G"])
    return True if nodes >= _FEWEST.get(name, 0) else f"a graph of {nodes} nodes is done before it is converted"
