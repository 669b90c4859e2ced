"""Functions of networkx that read off one factorization of the Laplacian: resistances, walks, trees and currents.

A graph is grounded at its first node: the Laplacian loses that node's row and column, and what is left has an inverse,
whose entries z are potentials. With positive weights it has a factor of Cholesky, which cancels no digits. The
resistance between two nodes is z[i, i] + z[j, j] - 2 z[i, j], and the others are sums of resistances.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from ._networkx import Graph, _graph, _nested, _symmetric
from ._networkx_grounded import Array, Grounded


def _conductances(G: Graph, weight: str | None, invert_weight: bool) -> tuple[Array, tuple[Any, ...]]:
    """Returns weights, and the key under which what is made of them is kept."""
    if invert_weight and weight is not None:
        return G.inverse_weights(weight), (weight, True)
    return G.weights(weight), (weight, False)


def resistance_distance(
    G: Any, nodeA: Any = None, nodeB: Any = None, weight: str | None = None, invert_weight: bool = True
) -> Any:
    """Returns the resistance between two nodes, from one node to all, or between all nodes."""
    G = _graph(G, weight, "directed")
    _with_nodes(G)
    if not G.connected:
        raise nx.NetworkXError("Graph G must be strongly connected.")
    for node, name in ((nodeA, "A"), (nodeB, "B")):
        if node is not None and node not in G:
            raise nx.NetworkXError(f"Node {name} is not in graph G.")
    weights, key = _conductances(G, weight, invert_weight)
    if not (weights > 0).all():
        return _of_pseudoinverse(G, G.kept(("pinv", *key), lambda: _pinv(G.laplacian(weights))), nodeA, nodeB)
    found = G.grounded(weights, key)
    if nodeA is None and nodeB is None:
        return _nested(G, _between(found.inverse))
    i = G.number[nodeB if nodeA is None else nodeA]
    current = np.zeros(len(G))
    current[i] = 1.0
    if nodeA is not None and nodeB is not None:
        j = G.number[nodeB]
        current[j] -= 1.0
        potentials = found.solve(current)
        return float(potentials[i] - potentials[j])
    potentials = found.solve(current)
    return dict(zip(G, (potentials[i] + found.diagonal - 2 * potentials).tolist(), strict=True))


def _between(inverse: Array) -> Array:
    """Returns the resistances between all nodes."""
    own = inverse.diagonal()
    made = own[:, None] - 2 * inverse
    made += own
    return made


def _pinv(matrix: Array) -> Array:
    return np.linalg.pinv(matrix, hermitian=True)


def _of_pseudoinverse(G: Graph, inverse: Array, nodeA: Any, nodeB: Any) -> Any:
    """Returns resistances as networkx defines them where weights are not positive."""
    found = _between(inverse)
    if nodeA is not None and nodeB is not None:
        return float(found[G.number[nodeA], G.number[nodeB]])
    if nodeA is None and nodeB is None:
        return _nested(G, found)
    return dict(zip(G, found[G.number[nodeB if nodeA is None else nodeA]].tolist(), strict=True))


def _with_nodes(G: Graph, error: type[Exception] = nx.NetworkXError) -> None:
    if len(G) == 0:
        raise error("Graph G must contain at least one node.")


def effective_graph_resistance(G: Any, weight: str | None = None, invert_weight: bool = True) -> float:
    """Returns the sum of the resistances between all pairs of nodes, which is infinite if they are not connected."""
    G = _graph(G, weight, "directed")
    _with_nodes(G)
    if not G.connected:
        return float("inf")
    found = G.grounded(*_conductances(G, weight, invert_weight))
    return float(len(G) * found.diagonal.sum() - found.solve(np.ones(len(G))).sum())


def kemeny_constant(G: Any, *, weight: str | None = None) -> float:
    """Returns the expected number of steps from any node to one that the stationary distribution draws."""
    G = _graph(G, weight, "directed")
    _with_nodes(G)
    if not G.connected:
        raise nx.NetworkXError("Graph G must be connected.")
    weights = G.weights(weight)
    if (weights < 0).any():
        raise nx.NetworkXError("The weights of graph G must be nonnegative.")
    if len(G) == 1:
        return 0.0
    found, degrees = G.grounded(weights, (weight, False)), G.matrix(weights).sum(axis=1)
    return float(degrees @ found.diagonal - degrees @ found.solve(degrees) / degrees.sum())


def number_of_spanning_trees(G: Any, *, root: Any = None, weight: str | None = None) -> float:
    """Returns the number of spanning trees, or the sum of the products of their weights."""
    G = _symmetric(G, weight)
    _with_nodes(G, nx.NetworkXPointlessConcept)
    if not G.connected:
        return 0
    weights = G.weights(weight)
    if (weights > 0).all():
        return float(np.exp(G.grounded(weights, (weight, False)).log_determinant))
    return float(np.linalg.det(G.laplacian(weights)[1:, 1:]))


def second_order_centrality(G: Any, weight: str | None = "weight") -> dict[Any, float]:
    """Returns the standard deviations of the return times to the nodes, of a walk that visits all equally often."""
    G = _graph(G, weight, "directed", "multigraph")
    if len(G) == 0:
        raise nx.NetworkXException("Empty graph.")
    if not G.connected:
        raise nx.NetworkXException("Non connected graph.")
    weights = G.weights(weight)
    if (weights < 0).any():
        raise nx.NetworkXException("Graph has negative edge weights.")
    if weight != "weight":
        raise NotImplementedError("expected weight='weight', which networkx itself reads")
    if len(G) == 1:
        return dict.fromkeys(G, 0.0)
    matrix = G.matrix(weights)
    # networkx balances the walk by loops, in place of those that are there, except at nodes of the largest degree.
    sums, largest = matrix.sum(axis=1), matrix.sum(axis=1).max()
    degrees = np.where(sums < largest, largest - matrix.diagonal(), sums)
    found, volume = G.grounded(weights, (weight, False)), degrees.sum()
    own = found.diagonal
    to_all = _to_all(found)
    to_drawn = volume * own + degrees @ own - 2 * found.solve(degrees)
    times = (volume * to_all + len(G) * to_drawn - degrees @ to_all) / 2 + volume / degrees
    variances = 2 * times - len(G) * (len(G) + 1)
    return dict(zip(G, np.sqrt(np.maximum(variances, 0)).tolist(), strict=True))


def current_flow_closeness_centrality(
    G: Any, weight: str | None = None, dtype: Any = float, solver: str = "lu"
) -> dict[Any, float]:
    """Returns 1 over the sum of the resistances to all nodes."""
    G, found = _currents(G, weight)
    return {node: 1 / value for node, value in zip(G, _to_all(found).tolist(), strict=True)}


def current_flow_betweenness_centrality(
    G: Any, normalized: bool = True, weight: str | None = None, dtype: Any = float, solver: str = "full"
) -> dict[Any, float]:
    """Returns the currents through the nodes, over all pairs of a source and a sink."""
    G, found = _currents(G, weight, "multigraph")
    if G.loops:
        raise NotImplementedError("expected a graph without loops, whose currents networkx does not leave out")
    n, inverse = len(G), found.inverse
    once = G.rows < G.columns
    first, second, weights = G.rows[once], G.columns[once], G.weights(weight)[once]
    ranks, through = 2.0 * np.arange(n) - (n - 1), np.zeros(n)
    for part in range(0, len(first), step := max(1, (1 << 21) // n)):
        s, t = first[part : part + step], second[part : part + step]
        # The sum of the differences between the currents of all pairs, which their order gives.
        flows = np.sort((inverse[s] - inverse[t]) * weights[part : part + step, None], axis=1) @ ranks
        through += np.bincount(s, flows, n) + np.bincount(t, flows, n)
    scale = (n - 1.0) * (n - 2.0) if normalized else 2.0
    return {node: (value - (n - 1)) / scale for node, value in zip(G, through.tolist(), strict=True)}


def _to_all(found: Grounded) -> Array:
    """Returns the sums of the resistances from each node to all."""
    own = found.diagonal
    return len(own) * own + own.sum() - 2 * found.solve(np.ones(len(own)))


def _currents(G: Any, weight: str | None, *refused: str) -> tuple[Graph, Grounded]:
    G = _graph(G, weight, "directed", *refused)
    if not G.connected:
        raise nx.NetworkXError("Graph not connected.")
    return G, G.grounded(G.weights(weight), (weight, False))


