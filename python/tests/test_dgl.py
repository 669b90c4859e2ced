"""fiedler.dgl on stand-ins of DGL's graphs."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import fiedler
import standins
from conftest import laplacian
from fiedler.dgl import LapPE, lap_pe
from gates import spans


def test_lap_pe(edge_lists):
    n, edges = edge_lists[-1]
    found, values = lap_pe(standins.dgl_graph([standins.data(n, edges)]), 4, return_eigval=True)
    truth, vectors = np.linalg.eigh(laplacian(n, edges))
    assert (found.shape, found.dtype, values.shape) == ((n, 4), np.float32, (4,))
    np.testing.assert_allclose(values, truth[1:5], atol=1e-5)
    full = fiedler.encode(edges.T, 5, num_nodes=n).eigenvectors
    np.testing.assert_array_equal(found, full[:, 1:])
    spans(full, vectors, truth, 1e-5)


def test_padding(edge_lists):
    n, edges = edge_lists[0]
    g = standins.dgl_graph([standins.data(n, edges)])
    with pytest.raises(fiedler.ShapeError, match=f"{n} nodes of the smallest graph.*found {n}"):
        lap_pe(g, n)
    found, values = lap_pe(g, n + 1, padding=True, return_eigval=True)
    assert np.all(found[:, n - 1 :] == 0)
    assert np.isnan(values).tolist() == [False] * (n - 1) + [True] * 2


def test_batched_graphs_are_encoded_one_by_one(edge_lists):
    graphs = [standins.data(n, edges) for n, edges in edge_lists]
    together, values = lap_pe(standins.dgl_graph(graphs), 3, padding=True, return_eigval=True)
    apart = [lap_pe(standins.dgl_graph([graph]), 3, padding=True) for graph in graphs]
    np.testing.assert_array_equal(together, np.concatenate(apart))
    assert values.shape == (len(graphs), 3)


def test_signs(edge_lists):
    g = standins.dgl_graph([standins.data(*edge_lists[-1])])
    np.random.seed(1)
    one = lap_pe(g, 6, sign="random")
    np.random.seed(1)
    np.testing.assert_array_equal(lap_pe(g, 6, sign="random"), one)
    np.testing.assert_array_equal(np.abs(one), np.abs(lap_pe(g, 6)))
    with pytest.raises(ValueError, match="sign"):
        lap_pe(g, 2, sign="minus")


def test_tensors_and_the_transform(edge_lists, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", standins.torch())
    graphs = [standins.data(n, edges) for n, edges in edge_lists[-2:]]
    g = standins.dgl_graph(graphs, lambda array: standins.Tensor(array, "cuda:0"))
    made = LapPE(3, eigval_name="values", padding=True)(g)
    assert made is g
    assert g.ndata["PE"].device == g.ndata["values"].device == "cuda:0"
    np.testing.assert_array_equal(g.ndata["PE"].array, lap_pe(standins.dgl_graph(graphs), 3))
    truth = np.linalg.eigvalsh(laplacian(*edge_lists[-1]))[1:4]
    np.testing.assert_allclose(g.ndata["values"].array[-1], truth, atol=1e-5)
    plain = LapPE(3, "pe")
    plain(g)
    assert "pe" in g.ndata
    assert repr(pickle.loads(pickle.dumps(plain))) == "LapPE(k=3, feat_name='pe')"
