"""What networkx is told of the backend when it is imported. Nothing else of this package is, nor NumPy."""

from __future__ import annotations

from typing import Any

_FIEDLER = "The method is fiedler's own, which needs no tol and no seed; method is 'tracemin_pcg' or 'tracemin'."
_SIGN = "Where the eigenvalue is simple, the vector is networkx's, whose first entry is negative."
_ONE = "It reads off one factorization of the Laplacian, which resistances, hitting times and currents share."
_EXP = "It reads off one decomposition of the adjacency matrix, which communicabilities and the spectrum share."

FUNCTIONS: dict[str, str] = {
    "adjacency_spectrum": "Undirected graphs only. The eigenvalues ascend.",
    "algebraic_connectivity": _FIEDLER,
    "bethe_hessian_spectrum": "",
    "communicability": _EXP,
    "communicability_exp": _EXP,
    "current_flow_betweenness_centrality": _ONE,
    "current_flow_closeness_centrality": _ONE,
    "effective_graph_resistance": _ONE,
    "eigenvector_centrality_numpy": "Undirected graphs of three nodes or more, with the default max_iter.",
    "estrada_index": _EXP,
    "fiedler_vector": f"{_FIEDLER} {_SIGN}",
    "kemeny_constant": _ONE,
    "laplacian_spectrum": "Undirected graphs only.",
    "modularity_spectrum": "Undirected graphs only. The eigenvalues ascend.",
    "normalized_laplacian_spectrum": "Undirected graphs only.",
    "number_of_spanning_trees": "Undirected graphs only.",
    "resistance_distance": _ONE,
    "second_order_centrality": f"{_ONE} Simple graphs, with weight='weight'.",
    "spectral_bisection": f"{_FIEDLER} Nodes may be of any kind, such as tuples.",
    "spectral_ordering": f"{_FIEDLER} Nodes with equal entries are in the order of the graph.",
    "subgraph_centrality": _EXP,
    "subgraph_centrality_exp": _EXP,
}
"""The functions of the backend, each with what differs from networkx."""


def get_info() -> dict[str, Any]:
    """Returns what the entry point ``networkx.backend_info`` promises."""
    return {
        "backend_name": "fiedler",
        "project": "fiedler",
        "package": "fiedler",
        "short_summary": "Spectra, Fiedler vectors, resistances and centralities that read off one decomposition.",
        "functions": {name: {"additional_docs": text} if text else {} for name, text in FUNCTIONS.items()},
    }
