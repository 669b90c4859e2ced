"""The transforms beside what PyTorch Geometric computes: by formula on stand-ins, and by its own code where it is."""

from __future__ import annotations

import importlib.util
import pickle
import sys
import types

import numpy as np
import pytest

import fiedler
import standins
from conftest import laplacian, same
from fiedler import torch_geometric as door
from fiedler.torch_geometric import AddLaplacianEigenvectorPE, AddRandomWalkPE, encode_dataset
from gates import spans

NAME = "laplacian_eigenvector_pe"


@pytest.fixture
def torch(monkeypatch):
    made = standins.torch()
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


@pytest.mark.parametrize("k", [1, 3, 8])
def test_eigenvectors(edge_lists, k):
    for n, edges in edge_lists:
        graph = standins.data(n, edges)
        found = AddLaplacianEigenvectorPE(k)(graph)
        assert not hasattr(graph, NAME)
        rows = found.laplacian_eigenvector_pe
        assert (rows.shape, rows.dtype) == ((n, k), np.float32)
        values, vectors = np.linalg.eigh(laplacian(n, edges))
        count = min(k, n - 1)
        assert np.all(rows[:, count:] == 0)
        # Column 0 is left out, whatever it is: with it, they span what PyTorch Geometric's columns span with theirs.
        kept = fiedler.encode(graph, k + 1).eigenvectors
        np.testing.assert_array_equal(kept[:, 1:], rows)
        spans(kept[:, : count + 1], vectors, values, 1e-5)


def test_return_probabilities(edge_lists):
    for n, edges in edge_lists:
        walk = np.zeros((n, n))
        walk[edges[:, 0], edges[:, 1]] = walk[edges[:, 1], edges[:, 0]] = 1
        walk /= np.maximum(walk.sum(axis=1), 1)[:, None]
        truth = np.stack([np.diag(np.linalg.matrix_power(walk, step)) for step in range(1, 6)], axis=1)
        found = AddRandomWalkPE(5, preset="pyg")(standins.data(n, edges)).random_walk_pe
        assert (found.shape, found.dtype) == ((n, 5), np.float32)
        np.testing.assert_allclose(found, truth, atol=1e-6)


def test_weights_count():
    edges = np.array([[0, 1], [1, 2]])
    graph = standins.data(3, edges)
    graph.edge_weight = np.array([3.0, 3.0, 1.0, 1.0])
    found = AddRandomWalkPE(2)(graph).random_walk_pe
    np.testing.assert_allclose(found[:, 1], [0.75, 1.0, 0.25], atol=1e-6)
    plain = AddRandomWalkPE(2)(standins.data(3, edges)).random_walk_pe
    np.testing.assert_allclose(plain[:, 1], [0.5, 1.0, 0.5], atol=1e-6)


def test_attributes_and_x(edge_lists):
    n, edges = edge_lists[-1]
    rows = AddLaplacianEigenvectorPE(3)(standins.data(n, edges)).laplacian_eigenvector_pe
    named = AddLaplacianEigenvectorPE(3, "pe", True)(standins.data(n, edges))
    np.testing.assert_array_equal(named.pe, rows)
    np.testing.assert_array_equal(AddLaplacianEigenvectorPE(3, None)(standins.data(n, edges)).x, rows)
    for x in (np.ones(n), np.ones((n, 2))):
        joined = AddLaplacianEigenvectorPE(3, attr_name=None)(standins.data(n, edges, x=x)).x
        np.testing.assert_array_equal(joined[:, -3:], rows.astype(x.dtype))
        assert joined.shape == (n, 3 + (x.ndim == 1 or x.shape[1]))
        assert joined.dtype == x.dtype
    masked = AddLaplacianEigenvectorPE(n + 2, mask=True)(standins.data(n, edges))
    assert masked.laplacian_eigenvector_pe_mask.tolist() == [[1] * (n - 1) + [0] * 3]
    parts = AddLaplacianEigenvectorPE(2, trivial="components")(standins.data(5, np.array([[0, 1], [2, 3]])))
    assert parts.laplacian_eigenvector_pe.shape == (5, 2)


def test_tensors_stay_tensors_on_their_device(edge_lists, torch):
    n, edges = edge_lists[-1]
    graph = standins.data(n, edges, standins.Tensor, x=standins.Tensor(np.ones((n, 1), np.float32), "cuda:0"))
    graph.edge_index = graph.edge_index.to("cuda:0")
    plain = AddLaplacianEigenvectorPE(3)(standins.data(n, edges)).laplacian_eigenvector_pe
    found = AddLaplacianEigenvectorPE(3)(graph).laplacian_eigenvector_pe
    assert isinstance(found, standins.Tensor)
    assert found.device == "cuda:0"
    np.testing.assert_array_equal(found.array, plain)
    joined = AddLaplacianEigenvectorPE(3, attr_name=None)(graph).x
    assert (joined.device, joined.shape) == ("cuda:0", (n, 4))


def test_random_signs_are_torchs(edge_lists, torch):
    n, edges = edge_lists[-1]
    graph = standins.data(n, edges, standins.Tensor)
    transform = AddLaplacianEigenvectorPE(8, sign="random")

    def draw(seed):
        torch.manual_seed(seed)
        return transform(graph).laplacian_eigenvector_pe.array

    plain = AddLaplacianEigenvectorPE(8)(graph).laplacian_eigenvector_pe.array
    np.testing.assert_array_equal(np.abs(draw(1)), np.abs(plain))
    np.testing.assert_array_equal(draw(1), draw(1))
    assert not np.array_equal(draw(1), draw(2))
    signs = np.sign((draw(3) * plain).sum(axis=0))
    torch.manual_seed(3)
    np.testing.assert_array_equal(signs, -1 + 2 * torch.randint(0, 2, (8,)).array)


def test_random_signs_without_torch(edge_lists, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    graph = standins.data(*edge_lists[-1])
    np.random.seed(5)
    one = AddLaplacianEigenvectorPE(8, sign="random")(graph).laplacian_eigenvector_pe
    np.random.seed(5)
    np.testing.assert_array_equal(AddLaplacianEigenvectorPE(8, sign="random")(graph).laplacian_eigenvector_pe, one)


def test_a_batch_is_encoded_graph_by_graph(edge_lists):
    graphs = [standins.data(n, edges) for n, edges in edge_lists]
    apart = [AddLaplacianEigenvectorPE(3)(graph).laplacian_eigenvector_pe for graph in graphs]
    together = AddLaplacianEigenvectorPE(3)(standins.joined(graphs)).laplacian_eigenvector_pe
    np.testing.assert_array_equal(np.concatenate(apart), together)


@pytest.mark.parametrize("with_x", [False, True])
@pytest.mark.parametrize("transform", [AddLaplacianEigenvectorPE(3, mask=True), AddRandomWalkPE(4)], ids=str)
def test_a_data_set_in_one_call(edge_lists, transform, with_x):
    graphs = [
        standins.data(n, edges, **({"x": np.full((n, 2), float(n))} if with_x else {})) for n, edges in edge_lists
    ]
    dataset = standins.DataSet(graphs)
    assert encode_dataset(dataset, transform) is dataset
    assert dataset._data_list is None
    listed = encode_dataset(graphs, transform)
    for graph, in_set, in_list in zip(graphs, dataset, listed, strict=True):
        alone = transform(graph)
        assert not hasattr(graph, transform.attr_name)
        for made in (in_set, in_list):
            for name in (transform.attr_name, f"{transform.attr_name}_mask"):
                assert hasattr(alone, name) == hasattr(made, name)
                if hasattr(alone, name):
                    assert getattr(made, name).dtype == getattr(alone, name).dtype
                    np.testing.assert_array_equal(getattr(made, name), getattr(alone, name))


def test_a_data_set_of_tensors_whose_x_grows(edge_lists, torch):
    graphs = [
        standins.data(n, edges, standins.Tensor, x=standins.Tensor(np.ones((n, 1), np.float32)))
        for n, edges in edge_lists
    ]
    dataset = encode_dataset(standins.DataSet(graphs, standins.Tensor), AddRandomWalkPE(2, attr_name=None))
    for graph, made in zip(graphs, dataset, strict=True):
        np.testing.assert_array_equal(made.x.array, AddRandomWalkPE(2, attr_name=None)(graph).x.array)
    assert isinstance(dataset.slices["x"], standins.Tensor)
    bare = [standins.data(n, edges, standins.Tensor) for n, edges in edge_lists]
    made = encode_dataset(standins.DataSet(bare, standins.Tensor), AddRandomWalkPE(2, attr_name=None))
    assert made[3].x.shape == (edge_lists[3][0], 2)


def test_a_list_with_batches(edge_lists):
    graphs = [standins.data(n, edges) for n, edges in edge_lists]
    listed = [graphs[0], standins.joined(graphs[1:4]), graphs[4]]
    made = encode_dataset(listed, AddLaplacianEigenvectorPE(2, mask=True))
    alone = AddLaplacianEigenvectorPE(2)(listed[1])
    np.testing.assert_array_equal(made[1].laplacian_eigenvector_pe, alone.laplacian_eigenvector_pe)
    masks = [one.laplacian_eigenvector_pe_mask for one in made]
    assert [mask.shape for mask in masks] == [(1, 2), (3, 2), (1, 2)]
    own = [AddLaplacianEigenvectorPE(2, mask=True)(graph).laplacian_eigenvector_pe_mask for graph in graphs[:5]]
    np.testing.assert_array_equal(np.concatenate(masks), np.concatenate(own))


def test_a_data_set_of_one_graph(edge_lists):
    graph = standins.data(*edge_lists[-1])
    alone = types.SimpleNamespace(_data=graph, slices=None, _indices=None, _data_list=[graph])
    encode_dataset(alone, AddRandomWalkPE(2))
    np.testing.assert_array_equal(alone._data.random_walk_pe, AddRandomWalkPE(2)(graph).random_walk_pe)


def test_bad_calls(edge_lists):
    graph = standins.data(*edge_lists[-1])
    for wrong in (types.SimpleNamespace(edge_index=None, num_nodes=3), object()):
        with pytest.raises(TypeError, match="edge_index"):
            AddLaplacianEigenvectorPE(2)(wrong)
    with pytest.raises(TypeError, match="to_homogeneous"):
        AddRandomWalkPE(2)(types.SimpleNamespace(edge_types=()))
    with pytest.raises(TypeError, match="transform"):
        encode_dataset([graph], lambda data: data)
    with pytest.raises(TypeError, match="InMemoryDataset"):
        encode_dataset(object(), AddRandomWalkPE(2))
    with pytest.raises(ValueError, match=r"copy\(\)"):
        encode_dataset(standins.DataSet([graph]).subset([0]), AddRandomWalkPE(2))
    with pytest.raises(ValueError, match="walk_length"):
        AddRandomWalkPE(0)
    with pytest.raises(ValueError, match="sign"):
        AddLaplacianEigenvectorPE(2, sign="both")
    with pytest.raises(ValueError, match="mask"):
        AddLaplacianEigenvectorPE(2, None, mask=True)
    with pytest.raises(TypeError, match="sigma"):
        AddLaplacianEigenvectorPE(2, sigma=1.0)


def test_options_of_arpack_are_ignored_with_one_warning():
    with pytest.warns(UserWarning, match="maxiter, tol, v0: ignored") as told:
        AddLaplacianEigenvectorPE(2, v0=None, tol=1e-3, maxiter=9)
    assert len(told) == 1


@pytest.mark.parametrize(
    "transform",
    [AddLaplacianEigenvectorPE(3, context=fiedler.Context(device="cpu", threads=1)), AddRandomWalkPE(4, "walk")],
    ids=str,
)
def test_pickles(edge_lists, transform):
    copied = pickle.loads(pickle.dumps(transform))
    assert repr(copied) == repr(transform)
    graph = standins.data(*edge_lists[-1])
    one, other = (getattr(made(graph), transform.attr_name) for made in (transform, copied))
    np.testing.assert_array_equal(one, other)


def test_the_transforms_are_those_of_a_base_that_is_there(monkeypatch, edge_lists):
    class BaseTransform:
        def __call__(self, data):
            return self.forward(data)

    package, transforms = types.ModuleType("torch_geometric"), types.ModuleType("torch_geometric.transforms")
    transforms.BaseTransform = BaseTransform
    monkeypatch.setitem(sys.modules, "torch_geometric", package)
    monkeypatch.setitem(sys.modules, "torch_geometric.transforms", transforms)
    for name in ("fiedler._pyg", "fiedler._pyg_structural"):  # which have the base
        monkeypatch.delitem(sys.modules, name)
    spec = importlib.util.spec_from_file_location("fiedler.torch_geometric_again", door.__file__)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    transform = again.AddRandomWalkPE(2)
    assert isinstance(transform, BaseTransform)
    assert not isinstance(AddRandomWalkPE(2), BaseTransform)
    n, edges = edge_lists[-1]
    assert transform(standins.data(n, edges)).random_walk_pe.shape == (n, 2)


def test_beside_pytorch_geometrics_own_transforms(molecules):
    pytest.importorskip("torch_geometric")
    import torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import AddLaplacianEigenvectorPE as Theirs
    from torch_geometric.transforms import AddRandomWalkPE as TheirWalk

    pairs = np.loadtxt(molecules / f"{molecules.name}_A.txt", dtype=np.int64, delimiter=",") - 1
    of = np.loadtxt(molecules / f"{molecules.name}_graph_indicator.txt", dtype=np.int64) - 1
    for graph in range(10):
        nodes = np.flatnonzero(of == graph)
        own = pairs[of[pairs[:, 0]] == graph] - nodes[0]
        data = Data(edge_index=torch.from_numpy(own.T.copy()), num_nodes=len(nodes))
        theirs = Theirs(k=4, is_undirected=True)(data).laplacian_eigenvector_pe.numpy()
        ours = AddLaplacianEigenvectorPE(k=4)(data).laplacian_eigenvector_pe.numpy()
        assert ours.shape == theirs.shape
        values, vectors = np.linalg.eigh(laplacian(len(nodes), own))
        same_span = [np.abs(values[i] - values[i + 1]) > 1e-4 for i in range(5)]
        for column in range(4):
            if same_span[column] and same_span[column + 1]:
                assert abs(abs(ours[:, column] @ theirs[:, column]) - 1) < 1e-4
        walk = TheirWalk(4)(data).random_walk_pe.numpy()
        np.testing.assert_allclose(AddRandomWalkPE(4, preset="pyg")(data).random_walk_pe.numpy(), walk, atol=1e-6)


def test_the_encoding_of_a_data_set_is_that_of_encode(edge_lists):
    graphs = [standins.data(n, edges) for n, edges in edge_lists]
    whole = fiedler.encode(standins.DataSet(graphs), 3, trivial="first")
    made = encode_dataset(standins.DataSet(graphs), AddLaplacianEigenvectorPE(3))
    np.testing.assert_array_equal(made._data.laplacian_eigenvector_pe, whole.eigenvectors)
    same(fiedler.encode(standins.DataSet(graphs), 3, trivial="first"), whole)
