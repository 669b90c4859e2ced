"""Structural encodings of graphs: heat kernels, PageRank, resistances and what else the whole spectrum says."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import _fiedler
from ._arguments import flag, many, reals, text, whole, word
from ._context import Context, _context
from ._encode import _MOST, _bar
from ._errors import UncertifiedWarning, warn
from ._as_graphs import as_graphs

Array = np.ndarray[Any, Any]


class StructuralEncoding:
    """The structural encodings of a batch of graphs, in the arrays of the command's files. What was not asked for is None.

    Attributes
    ----------
    heat_kernel : array, (nodes, times)
        The diagonals of the heat kernels ``exp(-t L)``; HKdiagSE of GraphGPS with ``trivial='drop'``.
    wave_kernel : array, (nodes, wave_energies)
        The wave kernel signatures of Aubry, Schlickewei and Cremers 2011, at energies that are evenly spaced in the
        logarithms of the eigenvalues of each graph.
    pagerank : array, (nodes, restarts)
        The diagonals of ``a (I - (1 - a) D^-1 W)^-1`` for each restart probability a.
    electrostatic : array, (nodes, 10)
        ElstaticSE of GraphGPS.
    edge_index : array of int64, (2, entries)
        The nodes of both directions of each edge.
    resistance, commute_time : array, (entries,)
        The effective resistance between the nodes of each column of ``edge_index``, and the expected number of steps of
        a random walk from one to the other and back.
    pair_offsets : array of int64, (graphs + 1,)
        Where the pairs of each graph begin in ``resistance_matrix``.
    resistance_matrix : array, (pairs,)
        The effective resistances between all nodes of each graph, row after row; infinite between components.
    spectral_gap, kirchhoff_index, log_spanning_trees : array, (graphs,)
        The second smallest eigenvalue of ``D - W``, the sum of the resistances of all pairs of connected nodes, and the
        natural logarithm of the number of spanning trees.
    node_offsets : array of int64, (graphs + 1,)
        The first node of each graph, and the number of all nodes.
    components : array of int64, (graphs,)
        The number of connected components.
    residual, orthogonality : array of float32, (graphs,)
        What the eigenpairs are off by from which the numbers are computed.
    status : array of uint8, (graphs,)
        0 converged, 1 not converged, 3 not resolved: a number is too large for the precision.
    node_ids : array, list or None
        The ids that a file gives to the nodes.
    """

    heat_kernel: Array | None = None
    wave_kernel: Array | None = None
    pagerank: Array | None = None
    electrostatic: Array | None = None
    edge_index: Array | None = None
    resistance: Array | None = None
    commute_time: Array | None = None
    pair_offsets: Array | None = None
    resistance_matrix: Array | None = None
    spectral_gap: Array | None = None
    kirchhoff_index: Array | None = None
    log_spanning_trees: Array | None = None
    node_offsets: Array
    components: Array
    residual: Array
    orthogonality: Array
    status: Array

    def __init__(self, arrays: dict[str, Array], node_ids: Any = None) -> None:
        self._names = tuple(arrays)
        for name, array in arrays.items():
            setattr(self, name, array)
        self.node_ids = node_ids

    def __reduce__(self) -> tuple[Any, ...]:
        return StructuralEncoding, (self.arrays(), self.node_ids)

    def __repr__(self) -> str:
        bad = int(np.count_nonzero(self.status))
        of = f"{many(len(self), 'graph')}, {many(int(self.node_offsets[-1]), 'node')}"
        return f"fiedler.StructuralEncoding of {of}, {bad} not converged"

    def __len__(self) -> int:
        return len(self.status)

    def arrays(self) -> dict[str, Array]:
        """Returns the arrays by their names."""
        return {name: getattr(self, name) for name in self._names}

    def resistances(self, graph: int) -> Array:
        """Returns the effective resistances between all nodes of a graph, (n, n), if ``all_pairs`` were asked for."""
        if self.resistance_matrix is None or self.pair_offsets is None:
            raise ValueError("resistances: expected an encoding with all_pairs=True, found one without")
        graph = operator.index(graph)
        if not -len(self) <= graph < len(self):
            raise IndexError(f"expected a graph from 0 to {len(self) - 1}, found {graph}")
        graph %= len(self)
        n = int(self.node_offsets[graph + 1] - self.node_offsets[graph])
        return self.resistance_matrix[self.pair_offsets[graph] : self.pair_offsets[graph + 1]].reshape(n, n)


def structural(
    graphs: Any,
    *,
    heat_times: Iterable[float] = (),
    wave_energies: int = 0,
    pagerank: Iterable[float] = (),
    electrostatic: bool = False,
    resistances: bool = False,
    all_pairs: bool = False,
    invariants: bool = False,
    laplacian: str = "combinatorial",
    trivial: str = "keep",
    precision: str = "f32",
    preset: str | None = None,
    symmetrize: str | None = None,
    weight: str | None = "auto",
    num_nodes: int | None = None,
    batch: Any = None,
    progress: bool | Callable[[int, int], object] | None = None,
    on_uncertified: str = "warn",
    context: Context | None = None,
) -> StructuralEncoding:
    """Computes structural encodings of every graph, any subset of them from the same decompositions.

    Everything is computed in double precision on the CPU, from all eigenpairs of dense Laplacians, and rounded once.

    Parameters
    ----------
    graphs
        What `fiedler.encode` takes.
    heat_times : iterable of float
        The times of the heat kernels, at least 0.
    wave_energies : int
        The number of energies of the wave kernel signatures.
    pagerank : iterable of float
        The restart probabilities of personalized PageRank, above 0 and at most 1.
    electrostatic : bool
        Whether to compute the ten columns of ElstaticSE of GraphGPS.
    resistances : bool
        Whether to compute the effective resistance and the commute time of each edge.
    all_pairs : bool
        Whether to compute the effective resistances between all nodes of each graph.
    invariants : bool
        Whether to compute the spectral gap, the Kirchhoff index and the number of spanning trees of each graph.
    laplacian : {'combinatorial', 'symmetric', 'random-walk'}
        The Laplacian of heat kernels and wave kernels. The diagonals of the last two are the same.
    trivial : {'keep', 'drop'}
        Whether the null space is part of the heat kernels. GraphGPS drops it.
    precision : {'f32', 'f64'}
        The precision of the results.
    preset, symmetrize, weight, num_nodes, batch, progress, on_uncertified, context
        As in `fiedler.encode`.

    Examples
    --------
    >>> ring = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
    >>> found = fiedler.structural(ring, heat_times=[1.0], resistances=True, invariants=True)
    >>> found.resistance[:2], np.exp(found.log_spanning_trees).round(3)
    (array([0.75, 0.75], dtype=float32), array([4.], dtype=float32))
    """
    word(trivial, "trivial", "keep", "drop")
    word(precision, "precision", "f32", "f64")
    word(on_uncertified, "on_uncertified", "warn", "raise", "ignore")
    options = {
        "heat_times": reals(heat_times, "heat_times"),
        "wave_energies": whole(wave_energies, "wave_energies", _MOST),
        "pagerank": reals(pagerank, "pagerank"),
        "electrostatic": flag(electrostatic, "electrostatic"),
        "resistances": flag(resistances, "resistances"),
        "all_pairs": flag(all_pairs, "all_pairs"),
        "invariants": flag(invariants, "invariants"),
        "laplacian": text(laplacian, "laplacian"),
        "drop_trivial": trivial == "drop",
        "wide": precision == "f64",
    }
    listed = as_graphs(
        graphs, weight=weight, num_nodes=num_nodes, batch=batch, preset=preset, symmetrize=symmetrize
    )
    tell, close = _bar(progress, len(listed))
    try:
        arrays = _fiedler.structural(_context(context, None), listed._native, options, tell)
    finally:
        close()
    found = StructuralEncoding(arrays, listed.node_ids)
    bad = np.flatnonzero(found.status)
    if bad.size and on_uncertified != "ignore":
        what = f"{bad.size} of {len(found)} graphs lack the status converged; the first is graph {bad[0]}"
        if on_uncertified == "raise":
            from ._errors import UncertifiedError

            error = UncertifiedError(what)
            error.encoding = found
            raise error
        warn(what, UncertifiedWarning)
    return found
