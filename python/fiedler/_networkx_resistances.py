"""Functions of networkx that read off one factorization of the Laplacian: resistances, walks, trees and currents.

With the inverse z of the grounded Laplacian (`Grounded`), the resistance between two nodes is
z[i, i] + z[j, j] - 2 z[i, j]. The other results are sums of resistances.
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
    ends = [G.number[node] for node in (nodeA, nodeB) if node is not None]
    if not ends or not (weights > 0).all():
        found = _all_resistances(G, weights, key)
        if len(ends) == 2:
            return float(found[ends[0], ends[1]])
        return dict(zip(G, found[ends[0]].tolist(), strict=True)) if ends else _nested(G, found)
    grounded, current = G.grounded(weights, key), np.zeros(len(G))
    current[ends[0]] = 1.0
    if len(ends) == 2:
        current[ends[1]] -= 1.0
        potentials = grounded.solve(current)
        return float(potentials[ends[0]] - potentials[ends[1]])
    potentials = grounded.solve(current)
    return dict(zip(G, (potentials[ends[0]] + grounded.diagonal - 2 * potentials).tolist(), strict=True))


def _all_resistances(G: Graph, weights: Array, key: tuple[Any, ...]) -> Array:
    """Returns the resistances between all nodes. networkx defines them by the pseudoinverse, whatever the weights."""
    if (weights > 0).all():
        inverse = G.grounded(weights, key).inverse
    else:
        inverse = G.kept(("pseudoinverse", *key), lambda: np.linalg.pinv(G.laplacian(weights), hermitian=True))
    own = inverse.diagonal()
    made: Array = own[:, None] - 2 * inverse
    made += own
    return made


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
    G = _graph(G, weight, "directed")
    if len(G) == 0:
        raise nx.NetworkXException("Empty graph.")
    if not G.connected:
        raise nx.NetworkXException("Non connected graph.")
    weights = G.weights(weight)
    if (weights < 0).any():
        raise nx.NetworkXException("Graph has negative edge weights.")
    if weight != "weight" or G.is_multigraph():
        raise NotImplementedError("expected a simple graph and weight='weight', which networkx itself reads")
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
    G, found = _currents(G, weight)
    if G.loops or G.is_multigraph():
        raise NotImplementedError("expected no loops and no parallel edges, whose currents are networkx's")
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


def _currents(G: Any, weight: str | None) -> tuple[Graph, Grounded]:
    G = _graph(G, weight, "directed")
    if not G.connected:
        raise nx.NetworkXError("Graph not connected.")
    return G, G.grounded(G.weights(weight), (weight, False))


