"""Structural encodings beside their definitions in NumPy, which are those of GraphGPS where it has them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fiedler
import standins
from fiedler.torch_geometric import (
    AddEffectiveResistance,
    AddElectrostaticPE,
    AddHeatKernelPE,
    AddLaplacianEigenvectorPE,
    AddPageRankPE,
    AddRandomWalkPE,
    AddSpectralInvariants,
    AddWaveKernelPE,
    encode_dataset,
)

TIMES = [0.5, 1.0, 3.0]


def matrices(n, edges):
    """Returns W and D - W of an undirected graph, each edge of which is listed once."""
    w = np.zeros((n, n))
    w[edges[:, 0], edges[:, 1]] = w[edges[:, 1], edges[:, 0]] = 1
    return w, np.diag(w.sum(axis=1)) - w


def heat_kernels(n, edges):
    """get_heat_kernels_diag of GraphGPS: the eigenvalues below 1e-8 are left out."""
    values, vectors = np.linalg.eigh(matrices(n, edges)[1])
    kept = values >= 1e-8
    return np.stack([(np.exp(-t * values[kept]) * vectors[:, kept] ** 2).sum(axis=1) for t in TIMES], axis=1)


def electrostatics(n, edges):
    """get_electrostatic_function_encoding of GraphGPS, with 0 where it divides by a degree of 0."""
    w, laplacian = matrices(n, edges)
    inverse = np.linalg.pinv(laplacian, rcond=1e-10, hermitian=True)
    e = inverse - np.diag(inverse)
    share = np.divide(w, w.sum(axis=1, keepdims=True), out=np.zeros_like(w), where=w.sum(axis=1, keepdims=True) > 0)
    of = [e.min(axis=0), e.max(axis=0), e.mean(axis=0), e.std(axis=0, ddof=1)]
    of += [e.min(axis=1), e.max(axis=0), e.mean(axis=1), e.std(axis=1, ddof=1)]
    return np.stack([*of, (share * e).sum(axis=0), (share * e).sum(axis=1)], axis=1)


def test_graphgps(edge_lists):
    for n, edges in edge_lists:
        graph = standins.data(n, edges)
        found = AddHeatKernelPE(TIMES)(graph).heat_kernel_pe
        assert (found.shape, found.dtype) == ((n, 3), np.float32)
        # Numbers of at most 1, rounded to f32.
        np.testing.assert_allclose(found, heat_kernels(n, edges), atol=1e-6)
        if n > 1:
            # The potentials are at most the longest path.
            np.testing.assert_allclose(AddElectrostaticPE()(graph).electrostatic_pe, electrostatics(n, edges), atol=1e-6 * n)


def test_edges(edge_lists):
    for n, edges in edge_lists:
        inverse = np.linalg.pinv(matrices(n, edges)[1], rcond=1e-10, hermitian=True)
        graph = standins.data(n, edges)
        found = AddEffectiveResistance()(graph).resistance
        u, v = np.asarray(graph.edge_index)
        want = inverse[u, u] + inverse[v, v] - 2 * inverse[u, v]
        assert found.shape == (len(u), 1)
        np.testing.assert_allclose(found[:, 0], want, atol=1e-6 * n)


def test_invariants_and_pairs():
    ring = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
    found = fiedler.structural([ring, np.array([[0], [1]])], all_pairs=True, invariants=True, precision="f64")
    away = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    # eps times the condition of the ring, some 5.
    np.testing.assert_allclose(found.resistances(0), away * (5 - away) / 5, atol=1e-14)
    np.testing.assert_allclose(found.resistances(-1), [[0, 1], [1, 0]], atol=1e-14)
    np.testing.assert_allclose(found.log_spanning_trees, [np.log(5), 0], atol=1e-14)
    np.testing.assert_allclose(found.kirchhoff_index, [10, 1], atol=1e-13)
    assert found.heat_kernel is None and found.spectral_gap.dtype == np.float64
    again = pickle.loads(pickle.dumps(found))
    assert all(np.array_equal(x, y) for x, y in zip(found.arrays().values(), again.arrays().values(), strict=True))
    assert repr(again) == "fiedler.StructuralEncoding of 2 graphs, 7 nodes, 0 not converged"
    with pytest.raises(IndexError):
        found.resistances(2)


ALL = [
    AddHeatKernelPE(TIMES),
    AddHeatKernelPE([2.0], "later", laplacian="symmetric", trivial="keep"),
    AddWaveKernelPE(4),
    AddPageRankPE([0.2]),
    AddElectrostaticPE(None),
    AddEffectiveResistance("commutes", commute_time=True),
    AddSpectralInvariants(),
    AddRandomWalkPE(3),
    AddLaplacianEigenvectorPE(2, mask=True),
]
NAMES = ["heat_kernel_pe", "later", "wave_kernel_pe", "pagerank_pe", "x", "commutes", "spectral_invariants"]


def test_several_at_once(edge_lists):
    graphs = [standins.data(n, edges) for n, edges in edge_lists]
    together = encode_dataset(graphs, ALL)
    for graph, found in zip(graphs, together, strict=True):
        alone = graph
        for transform in ALL:
            alone = transform(alone)
        for name in [*NAMES, "random_walk_pe", "laplacian_eigenvector_pe", "laplacian_eigenvector_pe_mask"]:
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name), name)


def test_structural_ones_share_a_call(edge_lists, monkeypatch):
    import fiedler.torch_geometric as door

    calls = []
    monkeypatch.setattr(door, "structural", lambda *args, **how: calls.append(how) or fiedler.structural(*args, **how))
    encode_dataset([standins.data(n, edges) for n, edges in edge_lists], ALL)
    assert len(calls) == 2  # the heat kernels have other times
    assert calls[0]["electrostatic"] and calls[0]["resistances"] and calls[0]["wave_energies"] == 4


@pytest.mark.parametrize(
    "options, error",
    [
        ({"heat_times": [-1.0]}, fiedler.DomainError),
        ({"heat_times": "1"}, TypeError),
        ({"pagerank": [0.0]}, fiedler.DomainError),
        ({"wave_energies": -1}, fiedler.DomainError),
        ({"laplacian": "normalized"}, fiedler.DomainError),
        ({"trivial": "first"}, ValueError),
        ({"electrostatic": 1}, TypeError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error, match=next(iter(options)) if error is TypeError else "expected"):
        fiedler.structural(np.array([[0], [1]]), **options)


def test_no_resistances_without_pairs():
    found = fiedler.structural(np.array([[0], [1]]), resistances=True)
    np.testing.assert_array_equal(found.edge_index, [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="all_pairs"):
        found.resistances(0)
    with pytest.raises(TypeError, match="transforms"):
        encode_dataset([], [object()])
    with pytest.warns(fiedler.UncertifiedWarning):
        weak = fiedler.GraphBatch.from_edge_index(np.array([[0], [1]]), weight=np.array([1e-60]))
        fiedler.structural(weak, resistances=True)  # 1e60, which f32 does not hold
