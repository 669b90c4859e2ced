"""Every road to a graph ends at the same bytes; what is no graph is refused in words."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse

import fiedler
import standins
from conftest import same
from fiedler import GraphBatch

K = 5


def truth(edge_lists, **options):
    """The encoding of the graphs from one edge_index with both directions of every edge."""
    graphs = [standins.data(n, edges) for n, edges in edge_lists]
    whole = standins.joined(graphs)
    return fiedler.encode(GraphBatch.from_edge_index(whole.edge_index, batch=whole.batch), K, **options)


@pytest.fixture
def connected(edge_lists):
    """Graphs whose last node has an edge, so that an edge_index alone tells the number of nodes."""
    return [(n, edges) for n, edges in edge_lists if edges.size and edges.max() == n - 1]


def test_edge_index_in_any_shape_of_integers(edge_lists):
    n, edges = edge_lists[-1]
    one = [(n, edges)]
    same(fiedler.encode(edges.T, K, num_nodes=n), truth(one))
    for dtype in (np.int32, np.uint8, np.uint64, ">i8"):
        same(fiedler.encode(edges.T.astype(dtype), K, num_nodes=n), truth(one))
    same(fiedler.encode(np.asfortranarray(edges.T), K, num_nodes=n), truth(one))
    same(fiedler.encode(edges.T.tolist(), K, num_nodes=n), truth(one))
    same(fiedler.encode(GraphBatch.from_edges(map(tuple, edges.tolist()), n), K), truth(one))
    same(fiedler.encode(GraphBatch.from_edges(edges, n), K), truth(one))


def test_lists_of_edge_indices(connected):
    same(fiedler.encode([edges.T for _, edges in connected], K), truth(connected))
    same(fiedler.encode([np.concatenate([e, e[:, ::-1]]).T for _, e in connected], K), truth(connected))


def test_scipy(edge_lists):
    matrices = []
    for n, edges in edge_lists:
        both = np.concatenate([edges, edges[:, ::-1]])
        matrices.append(scipy.sparse.coo_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n)).tocsr())
    same(fiedler.encode(matrices, K), truth(edge_lists))
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array, scipy.sparse.lil_array):
        same(fiedler.encode(kind(matrices[-1]), K), truth(edge_lists[-1:]))
    same(fiedler.encode(matrices[-1].astype(bool), K), truth(edge_lists[-1:]))
    for wrong in (scipy.sparse.csr_array((2, 3)), [scipy.sparse.csr_array((2, 3))]):
        with pytest.raises(fiedler.ShapeError, match="square"):
            fiedler.encode(wrong)


def test_networkx(edge_lists):
    networkx = pytest.importorskip("networkx")
    graphs = []
    for n, edges in edge_lists:
        graph = networkx.Graph()
        graph.add_nodes_from(f"node {i}" for i in range(n))
        graph.add_edges_from((f"node {a}", f"node {b}") for a, b in edges)
        graphs.append(graph)
    same(fiedler.encode(graphs, K), truth(edge_lists))
    same(fiedler.encode(iter(graphs), K), truth(edge_lists))
    same(fiedler.encode(graphs[-1], K), truth(edge_lists[-1:]))
    # Two graphs whose nodes are 0, 1, 2 are two sequences of integers too.
    path = networkx.path_graph(3)
    same(fiedler.encode([path, path], K), truth([(3, np.array([[0, 1], [1, 2]]))] * 2))
    same(fiedler.encode(networkx.DiGraph(graphs[-1]), K), truth(edge_lists[-1:]))
    same(fiedler.encode(networkx.MultiGraph(graphs[-1]), K), truth(edge_lists[-1:]))


def test_weights_of_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", 0.5)], weight="strength")
    graph.add_edge("c", "d")
    edges, weight = np.array([[0, 1], [1, 2], [2, 3]]), np.array([2.0, 0.5, 1.0])
    weighted = fiedler.encode(GraphBatch.from_edges(edges, weight=weight), 4)
    plain = fiedler.encode(GraphBatch.from_edges(edges), 4)
    same(fiedler.encode(graph, 4, weight="strength"), weighted)
    same(fiedler.encode(graph, 4), plain)
    same(fiedler.encode(graph, 4, weight=None), plain)
    assert not np.array_equal(weighted.eigenvalues, plain.eigenvalues)


def test_igraph(edge_lists):
    igraph = pytest.importorskip("igraph")
    graphs = [igraph.Graph(n=n, edges=edges.tolist()) for n, edges in edge_lists]
    same(fiedler.encode(graphs, K), truth(edge_lists))
    same(fiedler.encode(graphs[-1], K), truth(edge_lists[-1:]))
    graphs[-1].es["strength"] = np.arange(1.0, len(edge_lists[-1][1]) + 1)
    weighted = GraphBatch.from_edges(edge_lists[-1][1], edge_lists[-1][0], weight=graphs[-1].es["strength"])
    same(fiedler.encode(graphs[-1], K, weight="strength"), fiedler.encode(weighted, K))


def test_rustworkx(edge_lists):
    rustworkx = pytest.importorskip("rustworkx")
    graphs = []
    for n, edges in edge_lists:
        graph = rustworkx.PyGraph()
        graph.add_nodes_from(range(n + 1))
        graph.add_edges_from([(a + 1, b + 1, 1.5) for a, b in edges.tolist()])
        graph.remove_node(0)  # the indices of the others stay what they are
        graphs.append(graph)
    same(fiedler.encode(graphs, K), truth(edge_lists))
    same(fiedler.encode(graphs[-1], K), truth(edge_lists[-1:]))
    n, edges = edge_lists[-1]
    weighted = GraphBatch.from_edges(edges, n, weight=np.full(len(edges), 1.5))
    same(fiedler.encode(graphs[-1], K, weight=float), fiedler.encode(weighted, K))


@pytest.mark.parametrize("torch", [False, True], ids=["numpy", "torch"])
def test_pytorch_geometric(edge_lists, torch, monkeypatch):
    wrap = np.asarray
    if torch:
        monkeypatch.setitem(sys.modules, "torch", standins.torch())
        wrap = standins.Tensor
    graphs = [standins.data(n, edges, wrap) for n, edges in edge_lists]
    expected = truth(edge_lists)
    same(fiedler.encode(graphs, K), expected)
    same(fiedler.encode(standins.joined(graphs, wrap), K), expected)
    same(fiedler.encode(graphs[-1], K), truth(edge_lists[-1:]))
    dataset = standins.DataSet(graphs, wrap)
    same(fiedler.encode(dataset, K), expected)
    same(fiedler.encode(dataset.subset([2, 7]), K), truth([edge_lists[2], edge_lists[7]]))
    featured = [standins.data(n, edges, wrap, x=wrap(np.zeros((n, 1)))) for n, edges in edge_lists]
    same(fiedler.encode(standins.DataSet(featured, wrap), K), expected)


def test_weights_of_pytorch_geometric(edge_lists):
    n, edges = edge_lists[-1]
    graph = standins.data(n, edges)
    strength = np.arange(len(edges)) + 1.0
    lookup = {tuple(edge): weight for edge, weight in zip(edges.tolist(), strength)}
    graph.edge_weight = np.array([lookup[tuple(sorted(pair))] for pair in graph.edge_index.T.tolist()])
    weighted = fiedler.encode(GraphBatch.from_edges(edges, n, weight=strength), K)
    same(fiedler.encode(graph, K), weighted)
    same(fiedler.encode(graph, K, weight=None), truth(edge_lists[-1:]))
    graph.edge_attr = graph.edge_weight[:, None]
    same(fiedler.encode(graph, K, weight="edge_attr"), weighted)


def test_dgl(edge_lists):
    graphs = [standins.data(n, edges) for n, edges in edge_lists]
    same(fiedler.encode(standins.dgl_graph(graphs), K), truth(edge_lists))
    same(fiedler.encode([standins.dgl_graph([graph]) for graph in graphs], K), truth(edge_lists))


def test_undirected_edges_have_both_directions_where_directions_count(edge_lists):
    networkx, igraph, rustworkx = map(pytest.importorskip, ("networkx", "igraph", "rustworkx"))
    n, edges = edge_lists[-1]
    expected = truth(edge_lists[-1:], laplacian="combinatorial")
    one = networkx.Graph()
    one.add_nodes_from(range(n))
    one.add_edges_from(edges.tolist())
    other = igraph.Graph(n=n, edges=edges.tolist())
    third = rustworkx.PyGraph()
    third.add_nodes_from(range(n))
    third.add_edges_from_no_data([tuple(edge) for edge in edges.tolist()])
    for graph in (one, other, third):
        same(fiedler.encode(graph, K, laplacian="combinatorial", symmetrize="keep"), expected)
    for graph in (networkx.DiGraph(edges.tolist()), igraph.Graph(n=n, edges=edges.tolist(), directed=True)):
        with pytest.raises(fiedler.DomainError, match="directed"):
            fiedler.encode(graph, K, symmetrize="keep")


def test_an_undirected_edge_counts_once_where_directions_are_added_up(tmp_path) -> None:
    networkx, igraph, rustworkx = map(pytest.importorskip, ("networkx", "igraph", "rustworkx"))
    pairs, weights = [(0, 1), (1, 2), (2, 2)], [2.0, 0.5, 3.0]
    one = networkx.Graph()
    one.add_weighted_edges_from([(*pair, weight) for pair, weight in zip(pairs, weights)])
    other = igraph.Graph(n=3, edges=pairs)
    other.es["weight"] = weights
    third = rustworkx.PyGraph()
    third.add_nodes_from(range(3))
    third.add_edges_from([(*pair, weight) for pair, weight in zip(pairs, weights)])
    # The Laplacian of the undirected path 0 - 1 - 2 with these weights; a loop changes no combinatorial Laplacian.
    matrix = np.array([[2.0, -2, 0], [-2, 2.5, -0.5], [0, -0.5, 0.5]])
    truth = np.linalg.eigvalsh(matrix)
    how = {"k": 3, "laplacian": "combinatorial", "symmetrize": "sum", "cache": False}
    for graph, weight in ((one, "weight"), (other, "weight"), (third, float)):
        for graphs in (graph, [graph, graph]):
            found = fiedler.encode(graphs, weight=weight, **how)
            np.testing.assert_allclose(found.eigenvalues[-1], truth, atol=1e-5)
    # Where loops are kept, one counts as in the adjacency matrix of the graph.
    adjacency = networkx.to_scipy_sparse_array(one)
    kept = {"k": 3, "laplacian": "symmetric", "preset": "networkx", "cache": False}
    truth = fiedler.encode(adjacency, **kept).eigenvalues
    np.testing.assert_allclose(fiedler.encode(one, symmetrize="sum", **kept).eigenvalues, truth, atol=1e-6)
    # Directed edges are added up, each with its reverse.
    both = networkx.DiGraph([(0, 1), (1, 0)])
    assert fiedler.encode(both, **{**how, "k": 2}).eigenvalues.tolist() == [[0, 4]]
    for graph in (networkx.Graph([(0, 1)]), networkx.MultiGraph([(0, 1), (1, 0)]), igraph.Graph(2, [(0, 1), (1, 0)])):
        assert fiedler.encode(graph, **{**how, "k": 2}).eigenvalues.tolist() == [[0, 2]]
    # A file says the same as the graph that was written to it.
    for write, name in ((networkx.write_graphml, "g.graphml"), (networkx.write_gexf, "g.gexf")):
        write(one, tmp_path / name)
        same(fiedler.encode(tmp_path / name, **how), fiedler.encode(one, **how))


def test_weights_that_are_no_numbers() -> None:
    networkx, rustworkx = map(pytest.importorskip, ("networkx", "rustworkx"))
    graph = networkx.Graph([(0, 1, {"weight": 1.0}), (1, 2, {"weight": "heavy"})])
    with pytest.raises(TypeError, match="weight: expected a number of each edge, found 'heavy'"):
        fiedler.encode(graph)
    with pytest.raises(TypeError, match="weight: expected a function of the data of an edge, or None, found str"):
        fiedler.encode(rustworkx.generators.path_graph(3), weight="weight")


def test_paths(karate, molecules, tmp_path, edge_lists):
    for path in (str(karate), bytes(karate)):
        same(fiedler.encode(path, K), fiedler.encode(karate, K))
    edges = np.loadtxt(karate, dtype=np.int64, comments=["#", "%"])[:, :2]
    nodes, index = np.unique(edges, return_inverse=True)
    found = fiedler.encode(karate, K)
    if np.array_equal(found.node_ids, nodes):
        same(fiedler.encode(index.reshape(edges.shape).T, K), found)
    read = GraphBatch.read(molecules)
    assert (len(read), read.num_nodes) == (50, len(fiedler.encode(molecules, 1).eigenvectors))
    n, edges = edge_lists[-1]
    np.savetxt(tmp_path / "edges.txt", edges, "%d")
    own = fiedler.encode(tmp_path / "edges.txt", K)
    order = np.arange(n) if own.node_ids is None else np.asarray(own.node_ids)
    place = np.full(n, -1)
    place[order] = np.arange(len(order))
    same(own, fiedler.encode(place[edges].T, K))


def test_batch_and_num_nodes():
    index = np.array([[0, 2], [1, 3]])
    two = GraphBatch.from_edge_index(index, batch=[0, 0, 1, 1, 1])
    assert (len(two), two.num_nodes) == (2, 5)
    same(fiedler.encode(index, 2, batch=np.array([0, 0, 1, 1, 1])), fiedler.encode(two, 2))
    gap = GraphBatch.from_edge_index(index, batch=[0, 0, 2, 2])
    assert len(gap) == 3
    for wrong in ([1, 0, 0, 0], [[0, 0, 0, 0]], [-1, 0, 0, 0], [0.0, 0.0, 0.0, 0.0]):
        with pytest.raises(fiedler.DomainError, match="batch"):
            GraphBatch.from_edge_index(index, batch=wrong)
    with pytest.raises(fiedler.ShapeError, match="batch"):
        GraphBatch.from_edge_index(index, 3, batch=[0, 0, 0, 0])
    for wrong in (np.array([[0], [5]]), np.array([[-1], [0]]), np.array([[0], [2**40]])):
        with pytest.raises(fiedler.DomainError, match="edge 0 has the node"):
            GraphBatch.from_edge_index(wrong, 2)
    with pytest.raises(fiedler.Error):
        GraphBatch.from_edge_index(np.array([[1], [2]]), batch=[0, 0, 1])
    with pytest.raises(fiedler.ShapeError, match="weight"):
        GraphBatch.from_edge_index(index, weight=[1.0])
    with pytest.raises(fiedler.ShapeError, match="edge_index"):
        GraphBatch.from_edge_index(index.T[:1].T[:1])
    with pytest.raises(fiedler.ShapeError, match="edges"):
        GraphBatch.from_edges([(0, 1, 2)])
    for bad in (np.nan, np.inf):
        with pytest.raises(fiedler.DomainError):
            GraphBatch.from_edge_index(index, weight=[1.0, bad])


class HeteroData:
    edge_types = ()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (7, "found int"),
        (None, "found NoneType"),
        (np.zeros((2, 2)), "float64 with the shape .2, 2.; for an adjacency matrix"),
        (np.zeros((4, 4), np.int64), "for an adjacency matrix"),
        (np.zeros((2, 5)), "edge_index|found"),
        (object(), "found object"),
        ([object()], "element 0: expected a graph, found object"),
        (HeteroData(), "to_homogeneous"),
        ([HeteroData()], "to_homogeneous"),
        (["one.txt", "two.txt"], "one by one"),
        ({"a": 1}, "found"),
    ],
)
def test_what_is_no_graph_is_refused(wrong, words):
    with pytest.raises((TypeError, fiedler.ShapeError), match=words):
        fiedler.encode(wrong)


def test_a_graph_on_a_device_or_with_a_gradient_is_refused():
    on_device = standins.Data(standins.Tensor(np.array([[0], [1]]), "cuda:0"), 2)
    with pytest.raises(TypeError, match=r"\.cpu\(\)"):
        fiedler.encode(on_device)
    weight = standins.Tensor(np.ones(1), requires_grad=True)
    with pytest.raises(TypeError, match=r"\.detach\(\)"):
        fiedler.encode(standins.Data(np.array([[0], [1]]), 2, edge_weight=weight))


def test_an_edge_belongs_to_its_own_graph() -> None:
    first, second = np.array([[0, 1], [1, 2]]), np.array([[0, -1], [1, 0]])
    with pytest.raises(fiedler.DomainError, match="graph 1: expected nodes from 0 to 1, found edge 1 with the node -1"):
        fiedler.encode([first, second], k=2)
    with pytest.raises(TypeError, match="element 1: expected a graph, found ndarray of float64"):
        fiedler.encode([first, first + 0.5], k=2)


def test_kinds_are_not_mixed_and_nothing_is_ignored() -> None:
    networkx = pytest.importorskip("networkx")
    matrix = scipy.sparse.coo_array(([5.0], ([0], [1])), shape=(2, 2))
    graph = networkx.path_graph(2)
    for call, words in [
        (lambda: fiedler.encode([graph, matrix]), "element 1: expected a graph of NetworkX"),
        (lambda: fiedler.encode([graph, None]), "element 1: expected a graph, found NoneType"),
        (lambda: fiedler.encode([(0, 1), (1, 2)]), "from_edges"),
        (lambda: fiedler.encode(graph, num_nodes=9), "num_nodes"),
        (lambda: fiedler.encode(np.array([[0], [1]]), weight="w"), "weight"),
        (lambda: fiedler.encode(matrix, weight="w"), "weight"),
        (lambda: fiedler.encode(graph, k=10**11), "bytes"),
        (lambda: fiedler.encode(graph, sign=-1), "sign"),
    ]:
        with pytest.raises((fiedler.Error, TypeError, ValueError), match=words):
            call()
    for one in (matrix, matrix.tolil(), matrix.todok()):
        weighted = fiedler.encode(one, k=2, laplacian="combinatorial", cache=False)
        listed = fiedler.encode([one], k=2, laplacian="combinatorial", cache=False)
        plain = fiedler.encode(one, k=2, laplacian="combinatorial", weight=None, cache=False)
        assert weighted.eigenvalues.tolist() == listed.eigenvalues.tolist() == [[0, 10]]
        assert plain.eigenvalues.tolist() == [[0, 2]]


def test_entries_at_one_place_are_summed() -> None:
    twice = scipy.sparse.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2))
    of_coo = fiedler.encode(twice, k=2, laplacian="combinatorial", cache=False)
    of_csr = fiedler.encode(twice.tocsr(), k=2, laplacian="combinatorial", cache=False)
    assert of_coo.eigenvalues.tolist() == of_csr.eigenvalues.tolist() == [[0, 4]]
