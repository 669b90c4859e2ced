"""Signed graphs and magnetic Laplacians: dense truth by formula, arrays, pickles, tables, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fiedler


def directed(n, seed, signed=False):
    """Returns a random directed graph: edge_index, weights, and the dense A."""
    random = np.random.default_rng(seed)
    a = np.where(random.random((n, n)) < 3 / n, random.random((n, n)) + 0.2, 0)
    np.fill_diagonal(a, 0)
    if signed:
        a *= random.choice([-1, 1], (n, n))
    index = np.array(np.nonzero(a))
    return index, a[tuple(index)], a


def formula(w, h, kind):
    """Returns the Laplacian of W, whose entries have the phases of H."""
    d = np.abs(w).sum(axis=1)
    if kind == "combinatorial":
        return np.diag(d) - h
    root = np.sqrt(np.where(d > 0, d, 1))
    left, right = (root, root) if kind == "symmetric" else (root * root, np.ones_like(d))
    return np.diag((d > 0).astype(float)) - h / np.outer(left, right)


@pytest.mark.parametrize("kind", ["combinatorial", "symmetric", "random-walk"])
@pytest.mark.parametrize("precision", ["f32", "f64"])
@pytest.mark.parametrize("symmetrize", ["max", "mean"])
def test_magnetic_pairs(kind, precision, symmetrize):
    for n in (1, 2, 7, 30):
        index, weights, a = directed(n, n)
        w = np.maximum(a, a.T) if symmetrize == "max" else (a + a.T) / 2
        h = w * np.exp(2j * np.pi * 0.15 * (a - a.T))
        found = fiedler.encode(
            index, 5, num_nodes=n, edge_weight=weights, laplacian=kind, charge=0.15, symmetrize=symmetrize,
            precision=precision,
        )
        assert found.eigenvectors.dtype == (np.complex64 if precision == "f32" else np.complex128)
        assert not np.any(found.status)
        eps = np.finfo(found.eigenvalues.dtype).eps
        count = min(n, 5)
        values, vectors = found[0].eigenvalues[:count], found[0].eigenvectors[:, :count]
        l = formula(w, h, kind)
        norm = max(np.abs(l).sum(axis=0).max(), 1e-300)
        want = np.linalg.eigvalsh(formula(w, h, "symmetric" if kind == "random-walk" else kind))[:count]
        # LAPACK's bound on values for both, and the promise for residuals.
        np.testing.assert_allclose(values, want, rtol=0, atol=60 * eps * norm)
        assert np.linalg.norm(l @ vectors - vectors * values, axis=0).max() <= 10 * n * eps * norm
        assert np.all(np.abs(np.linalg.norm(vectors, axis=0) - 1) <= 4 * n * eps)


def test_signed_pairs():
    for n in (2, 7, 30):
        index, weights, a = directed(n, 50 + n, signed=True)
        w = np.where(np.abs(a) > np.abs(a.T), a, a.T)
        for kind in ("combinatorial", "symmetric"):
            how = {"signed": True, "symmetrize": "max", "laplacian": kind, "precision": "f64"}
            found = fiedler.encode(index, n, num_nodes=n, edge_weight=weights, **how)
            l = formula(w, w, kind)
            norm = np.abs(l).sum(axis=0).max()
            np.testing.assert_allclose(found.eigenvalues[0], np.linalg.eigvalsh(l), rtol=0, atol=60 * 2e-16 * norm)
            assert not np.any(found.status)


def test_charge_0_and_undirected_graphs_are_real():
    index, weights, _ = directed(20, 3)
    real = fiedler.encode(index, 4, edge_weight=weights, symmetrize="max")
    charged = fiedler.encode(index, 4, edge_weight=weights, charge=0.0)
    np.testing.assert_array_equal(charged.eigenvectors, real.eigenvectors.astype(np.complex64))
    both = np.concatenate([index, index[::-1]], axis=1)
    np.testing.assert_array_equal(
        fiedler.encode(both, 4, charge=0.3).eigenvectors, fiedler.encode(both, 4).eigenvectors.astype(np.complex64)
    )


def test_graph_batches_keep_signs_and_flows():
    index, weights, _ = directed(12, 5, signed=True)
    graphs = fiedler.GraphBatch.from_edge_index(index, 12, weight=weights, signed=True, flows=True)
    again = pickle.loads(pickle.dumps(graphs))
    one, other = (fiedler.encode(batch, 4, charge=0.2, trivial="components") for batch in (graphs, again))
    np.testing.assert_array_equal(one.eigenvectors, other.eigenvectors)
    assert np.abs(one.eigenvectors.imag).max() > 0.01
    with pytest.raises(ValueError, match="expected none for a GraphBatch"):
        fiedler.encode(graphs, 4, signed=True)


def test_networkx_directions():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0)])
    found = fiedler.encode(graph, 4, laplacian="combinatorial", charge=0.125)
    want = np.sort(2 - 2 * np.cos(2 * np.pi * (np.arange(4) / 4 + 0.125)))
    np.testing.assert_allclose(found.eigenvalues[0], want, atol=1e-6)  # 4 eps of f32 times the norm, 4
    undirected = fiedler.encode(graph.to_undirected(), 4, laplacian="combinatorial", charge=0.125)
    assert np.all(undirected.eigenvectors.imag == 0)


def test_tables():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"src": [[0, 1, 2], [0]], "dst": [[1, 2, 0], [1]], "weight": [[1.0, 1.0, -1.0], [2.0]]})
    encoder = fiedler.arrow.Encoder(k=2, charge=0.1, signed=True)
    found = pickle.loads(pickle.dumps(encoder))(table)
    direct = fiedler.encode(np.array([[0, 1, 2], [1, 2, 0]]), 2, edge_weight=np.array([1.0, 1, -1]), charge=0.1, signed=True)
    parts = [np.array(found[name][0].as_py()) for name in ("eigenvectors", "eigenvectors_imaginary")]
    np.testing.assert_array_equal(parts[0] + 1j * parts[1], direct.eigenvectors)
    assert found["status"].to_pylist() == ["converged", "converged"]


def test_bad_input():
    index, weights, _ = directed(6, 1, signed=True)
    with pytest.raises(fiedler.DomainError, match="expected a charge from 0 to 0.5, found 0.6"):
        fiedler.encode(index, charge=0.6)
    with pytest.raises(TypeError, match="charge: expected a number"):
        fiedler.encode(index, charge="q")
    with pytest.raises(fiedler.DomainError, match="not negative"):
        fiedler.encode(index, edge_weight=weights)
    with pytest.raises(TypeError, match="signed: expected True or False"):
        fiedler.encode(index, signed=1)
    with pytest.raises(fiedler.DomainError, match="needs the flows of edges"):
        fiedler.encode(fiedler.GraphBatch.from_edge_index(index, symmetrize="max"), charge=0.1)
    with pytest.raises(fiedler.DomainError, match="expected the symmetrization max, mean or error"):
        fiedler.encode(index, charge=0.1, symmetrize="sum")
