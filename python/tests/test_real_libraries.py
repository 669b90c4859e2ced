"""torch, PyTorch Geometric, DGL and OGB themselves, where they are installed. The other tests use stand-ins."""

from __future__ import annotations

import gzip
import pickle
import shutil

import numpy as np
import pytest

import fiedler
from conftest import laplacian, same, script
from fiedler import fft, linalg, stats
from fiedler.torch_geometric import AddLaplacianEigenvectorPE, AddRandomWalkPE, encode_dataset

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.randn(5, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x = x + x.mT
    w, v = linalg.eigh(x)
    assert isinstance(w, torch.Tensor) and isinstance(v, torch.Tensor)
    torch.testing.assert_close(w, torch.linalg.eigvalsh(x))
    torch.testing.assert_close(v @ torch.diag_embed(w) @ v.mT, x)
    torch.testing.assert_close(fft.fft2(x, (6, 3), (0, 2)), torch.fft.fft2(x, (6, 3), (0, 2)))
    torch.testing.assert_close(linalg.matmul(x, x[0]), x @ x[0])
    torch.testing.assert_close(stats.describe(x[:, 1], 0).mean, x[:, 1].mean(0))
    torch.testing.assert_close(linalg.eigvalsh(torch.nn.Parameter(x).detach()), w)
    assert fiedler.features.extract(x[0], "stats").values.shape[0] == 4
    z = torch.complex(x[0], x[1])
    torch.testing.assert_close(linalg.matmul(z.mH, z), z.mH @ z)
    torch.testing.assert_close(linalg.matmul(z.conj().imag, x[0]), -x[1] @ x[0])
    torch.testing.assert_close(fft.fft(z.conj()), torch.fft.fft(z.conj()))
    torch.testing.assert_close(stats.cov(x[0, 0]), torch.cov(x[0, 0]))
    with pytest.raises(TypeError, match=r"cannot use a tensor that requires grad; use tensor\.detach\(\)"):
        stats.describe(x[:, 1].clone().requires_grad_())
    for wrong, words in [
        (torch.empty(3, 3, device="meta"), "a: expected an array in memory, found Tensor"),
        (torch.eye(3).to_sparse(), "a: expected an array that NumPy can read, found Tensor of torch.float32"),
        (torch.eye(3).bfloat16(), "a: expected an array that NumPy can read, found Tensor of torch.bfloat16"),
    ]:
        with pytest.raises(TypeError, match=words):
            linalg.eigvalsh(wrong)


@pytest.fixture
def molecule_set(molecules, tmp_path):
    """Returns what makes a ``TUDataset`` of the molecules."""
    datasets = pytest.importorskip("torch_geometric.datasets")
    raw = tmp_path / molecules.name / "raw"
    shutil.copytree(molecules, raw)
    return lambda **options: datasets.TUDataset(str(tmp_path), molecules.name, **options)


def test_every_collection_of_pytorch_geometric_has_the_same_bytes(molecules, molecule_set):
    from torch_geometric.data import Batch

    dataset = molecule_set()
    expected = fiedler.encode(molecules, 5)
    for graphs in (dataset, list(dataset), Batch.from_data_list(list(dataset)), tuple(dataset), iter(dataset)):
        same(fiedler.encode(graphs, 5), expected)
    same(fiedler.encode(dataset[[3, 5, 40]], 5), fiedler.encode([dataset[3], dataset[5], dataset[40]], 5))
    assert len(fiedler.encode(dataset.shuffle(), 2)) == 50
    with pytest.raises(ValueError, match="found a subset"):
        encode_dataset(dataset[[0, 1]], AddRandomWalkPE(2))


def test_an_edge_index_of_its_own_class_is_read_where_it_is():
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric")
    from torch_geometric.data import Data

    plain = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    own = geometric.EdgeIndex(plain, sparse_size=(3, 3), is_undirected=True)
    expected = fiedler.encode(plain, 3)
    for graphs in (own, [own], Data(edge_index=own, num_nodes=3)):
        same(fiedler.encode(graphs, 3), expected)
    added = AddLaplacianEigenvectorPE(2)(Data(edge_index=own, num_nodes=3)).laplacian_eigenvector_pe
    torch.testing.assert_close(added, AddLaplacianEigenvectorPE(2)(Data(edge_index=plain)).laplacian_eigenvector_pe)
    two = fiedler.encode(plain, 2, batch=geometric.Index([0, 0, 0, 1], dim_size=2))
    assert two.node_offsets.tolist() == [0, 3, 4]


def test_graphs_of_several_types_are_refused():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    graph = data.HeteroData()
    graph["a"].x = torch.zeros(3, 1)
    graph["a", "to", "a"].edge_index = torch.tensor([[0, 1], [1, 2]])
    for call in (
        lambda: fiedler.encode(graph),
        lambda: fiedler.encode([graph, graph]),
        lambda: fiedler.encode(data.Batch.from_data_list([graph, graph])),
        lambda: AddRandomWalkPE(2)(graph),
        lambda: encode_dataset([graph], AddLaplacianEigenvectorPE(2)),
    ):
        with pytest.raises(TypeError, match=r"found HeteroData; use to_homogeneous\(\) first"):
            call()
    with pytest.raises(TypeError, match="edge_index: expected integers"):
        fiedler.encode(data.Data(x=torch.zeros(3, 1)))
    same(fiedler.encode(graph.to_homogeneous(), 3), fiedler.encode(np.array([[0, 1], [1, 2]]), 3))


def test_transforms_beside_their_own(molecule_set):
    transforms = pytest.importorskip("torch_geometric.transforms")
    for data in molecule_set()[:25]:
        ours = AddLaplacianEigenvectorPE(3)(data).laplacian_eigenvector_pe
        theirs = transforms.AddLaplacianEigenvectorPE(3, is_undirected=True)(data).laplacian_eigenvector_pe
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        values = np.linalg.eigvalsh(laplacian(data.num_nodes, data.edge_index.T.numpy()))
        apart = np.minimum(np.diff(values)[:3], np.diff(values)[1:4]) > 1e-4
        dots = np.abs((ours * theirs).sum(0).numpy())
        np.testing.assert_allclose(dots[apart], 1, atol=1e-4)
        walk, own = AddRandomWalkPE(6)(data).random_walk_pe, transforms.AddRandomWalkPE(6)(data).random_walk_pe
        assert walk.dtype == own.dtype
        np.testing.assert_allclose(walk, own, atol=1e-6)


def test_data_sets_with_transforms(molecule_set, tmp_path):
    torch = pytest.importorskip("torch")
    from torch_geometric.loader import DataLoader
    from torch_geometric.transforms import Compose

    dataset = molecule_set()
    for transform in (
        AddLaplacianEigenvectorPE(3),
        AddLaplacianEigenvectorPE(2, attr_name=None),
        AddLaplacianEigenvectorPE(2, mask=True),
        AddRandomWalkPE(4),
    ):
        whole = pickle.loads(pickle.dumps(encode_dataset(molecule_set(), transform)))
        for i in (0, 7, 49):
            one, other = transform(dataset[i]), whole[i]
            assert set(one.keys()) == set(other.keys())
            assert all(torch.equal(*map(torch.as_tensor, (one[name], other[name]))) for name in one.keys())
        assert sum(batch.num_graphs for batch in DataLoader(whole, batch_size=16)) == 50
    shutil.rmtree(tmp_path / dataset.name / "processed")
    before = molecule_set(pre_transform=Compose([AddLaplacianEigenvectorPE(3), AddRandomWalkPE(2)]))
    whole = encode_dataset(dataset, AddLaplacianEigenvectorPE(3))
    assert torch.equal(before._data.laplacian_eigenvector_pe, whole._data.laplacian_eigenvector_pe)
    assert before._data.random_walk_pe.shape == (dataset._data.num_nodes, 2)


LOADED = """
import sys
import torch
import torch_geometric.transforms
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader
from fiedler.torch_geometric import AddLaplacianEigenvectorPE, encode_dataset

root, name, method = sys.argv[1:]
transform = AddLaplacianEigenvectorPE(3)
assert isinstance(transform, torch_geometric.transforms.BaseTransform)
whole = encode_dataset(TUDataset(root, name), transform)
loader = DataLoader(TUDataset(root, name, transform=transform), 8, num_workers=2, multiprocessing_context=method)
loaded = torch.cat([batch.laplacian_eigenvector_pe for batch in loader])
print(torch.equal(loaded, whole._data.laplacian_eigenvector_pe))
"""


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_of_a_loader(molecules, molecule_set, tmp_path, method):
    molecule_set()
    assert script(LOADED, tmp_path, molecules.name, method, timeout=300).splitlines()[-1] == "True"


@pytest.fixture
def dgl():
    try:
        import dgl
    except Exception as error:  # an installation that does not fit to its torch
        pytest.skip(f"could not import 'dgl': {error}")
    return dgl


def test_graphs_of_dgl(dgl, edge_lists):
    import torch

    from fiedler.dgl import LapPE, lap_pe

    graphs = []
    for n, edges in edge_lists:
        both = np.concatenate([edges, edges[:, ::-1]]).T
        graphs.append(dgl.graph((torch.from_numpy(both[0].copy()), torch.from_numpy(both[1].copy())), num_nodes=n))
    expected = fiedler.encode(fiedler.GraphBatch.from_dgl(graphs), 4)
    same(fiedler.encode(dgl.batch(graphs), 4), expected)
    same(fiedler.encode([graph.int() for graph in graphs], 4), expected)
    n, edges = edge_lists[-1]
    truth = np.linalg.eigvalsh(laplacian(n, edges))[1:5]
    vectors, values = lap_pe(graphs[-1], 4, return_eigval=True)
    theirs, own = dgl.lap_pe(graphs[-1], 4, return_eigval=True)
    assert (vectors.dtype, vectors.shape, values.dtype, values.shape) == (
        theirs.dtype, theirs.shape, own.dtype, own.shape
    )
    np.testing.assert_allclose(values, truth, atol=1e-5)
    ring = dgl.graph(([0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]))
    (one, values), (other, own) = lap_pe(ring, 5, True, True), dgl.lap_pe(ring, 5, True, True)
    assert one.shape == other.shape
    np.testing.assert_allclose(values, own, atol=1e-5)
    ours = LapPE(4, eigval_name="EV")(graphs[-1].clone()).ndata
    theirs = dgl.transforms.LapPE(4, eigval_name="EV")(graphs[-1].clone()).ndata
    assert {name: (x.shape, x.dtype) for name, x in ours.items()} == {
        name: (x.shape, x.dtype) for name, x in theirs.items()
    }
    several = dgl.heterograph({("a", "x", "b"): ([0], [1]), ("b", "y", "a"): ([0], [0])})
    for call in (
        lambda: fiedler.encode(several),
        lambda: fiedler.encode([graphs[0], several]),
        lambda: lap_pe(several, 1),
    ):
        with pytest.raises(TypeError, match=r"dgl\.to_homogeneous\(\)"):
            call()


def test_a_folder_of_ogb_beside_its_own_reader(tmp_path):
    reading = pytest.importorskip("ogb.io.read_graph_raw")
    rng = np.random.default_rng(1)
    sizes = rng.integers(2, 20, 30)
    lists = [rng.integers(0, n, (2 * n, 2)) for n in sizes]
    raw = tmp_path / "ogbg_toy" / "raw"
    raw.mkdir(parents=True)
    for name, rows in [
        ("edge", np.concatenate(lists)),
        ("num-node-list", sizes[:, None]),
        ("num-edge-list", [[len(edges)] for edges in lists]),
    ]:
        with gzip.open(raw / f"{name}.csv.gz", "wt") as file:
            file.writelines(",".join(map(str, row)) + "\n" for row in rows)
    found = fiedler.encode(tmp_path / "ogbg_toy", 4)
    for inverse in (False, True):
        theirs = reading.read_csv_graph_raw(str(raw), add_inverse_edge=inverse)
        batch = np.repeat(np.arange(len(theirs)), [graph["num_nodes"] for graph in theirs])
        index = [graph["edge_index"] + found.node_offsets[place] for place, graph in enumerate(theirs)]
        same(found, fiedler.encode(np.concatenate(index, axis=1), 4, batch=batch))
