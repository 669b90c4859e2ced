"""fiedler.encode: the truth of its numbers, its options, its arrays, and the bytes of the command."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fiedler
from conftest import ROOT, command, laplacian, same
from gates import spans


def batch(edge_lists):
    sizes = [n for n, _ in edge_lists]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    index = np.concatenate([edges + first for (_, edges), first in zip(edge_lists, offsets)]).T
    return fiedler.GraphBatch.from_edge_index(index, batch=np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize("kind", ["symmetric", "combinatorial"])
@pytest.mark.parametrize("which", ["smallest", "largest"])
@pytest.mark.parametrize("precision", ["f32", "f64"])
@pytest.mark.parametrize("method", ["auto", "exact"])
def test_pairs_are_right(edge_lists, kind, which, precision, method):
    k = 6
    found = fiedler.encode(
        batch(edge_lists), k, laplacian=kind, which=which, precision=precision, method=method, device="cpu"
    )
    assert found.eigenvalues.dtype == (np.float32 if precision == "f32" else np.float64)
    assert not np.any(found.status)
    eps = np.finfo(found.eigenvalues.dtype).eps
    for (n, edges), graph in zip(edge_lists, found):
        a = laplacian(n, edges, kind=kind)
        values, vectors = np.linalg.eigh(a)
        count = min(n, k)
        assert graph.mask.tolist() == [1] * count + [0] * (k - count)
        assert np.all(np.isnan(graph.eigenvalues[count:]))
        assert np.all(graph.eigenvectors[:, count:] == 0)
        if which == "largest":
            values, vectors = values[::-1], vectors[:, ::-1]
        own = graph.eigenvalues[:count]
        order = np.argsort(own, kind="stable") if which == "smallest" else np.argsort(-own, kind="stable")
        np.testing.assert_allclose(own[order], values[:count], atol=30 * eps * 8)
        spans(graph.eigenvectors[:, :count][:, order], vectors, values, 1e-5)
        assert graph.components == np.sum(np.abs(np.linalg.eigvalsh(laplacian(n, edges, kind="combinatorial"))) < 1e-9)


def test_random_walk_laplacian_and_return_probabilities(edge_lists):
    found = fiedler.encode(batch(edge_lists), 3, laplacian="random-walk", walk_steps=4)
    for (n, edges), graph in zip(edge_lists, found):
        w = -laplacian(n, edges, kind="combinatorial")
        np.fill_diagonal(w, 0)
        degrees = w.sum(axis=1)
        walk = w / np.where(degrees == 0, 1, degrees)[:, None]
        powers = [np.linalg.matrix_power(walk, step) for step in (1, 2, 3, 4)]
        isolated = degrees == 0
        truth = np.stack([np.diag(power) for power in powers], axis=1)
        np.testing.assert_allclose(graph.random_walk[~isolated], truth[~isolated], atol=1e-6)
        a = np.diag((degrees > 0).astype(float)) - walk
        count = min(n, 3)
        v, values = graph.eigenvectors[:, :count].astype(float), graph.eigenvalues[:count]
        np.testing.assert_allclose(a @ v, v * values, atol=1e-5)


def test_trivial_vectors(edge_lists):
    graphs = batch(edge_lists)
    kept = fiedler.encode(graphs, 5)
    first = fiedler.encode(graphs, 4, trivial="first")
    for name in ("eigenvalues", "eigenvectors", "mask", "tie_group"):
        np.testing.assert_array_equal(getattr(first, name), getattr(kept, name)[:, 1:])
    dropped = fiedler.encode(graphs, 4, trivial="components")
    for (n, _), graph in zip(edge_lists, dropped):
        assert graph.mask.sum() == min(max(n - graph.components, 0), 4)
        assert np.all(graph.eigenvalues[graph.mask.astype(bool)] > 1e-4)


def test_random_signs(edge_lists):
    graphs = batch(edge_lists)
    plain, one, again, other = (fiedler.encode(graphs, 5, sign=sign) for sign in ("canonical", 1, 1, 2))
    np.testing.assert_array_equal(np.abs(one.eigenvectors), np.abs(plain.eigenvectors))
    np.testing.assert_array_equal(one.eigenvectors, again.eigenvectors)
    assert not np.array_equal(one.eigenvectors, other.eigenvectors)
    for graph, truth in zip(one, plain):
        products = (graph.eigenvectors * truth.eigenvectors).sum(axis=0)
        np.testing.assert_allclose(np.abs(products), graph.mask, atol=1e-5)


def test_precision_method_side_and_threads_do_not_change_what_is_found(edge_lists):
    graphs = batch(edge_lists)
    one = fiedler.encode(graphs, 4, context=fiedler.Context(device="cpu", threads=1))
    for threads in (2, 3):
        same(fiedler.encode(graphs, 4, context=fiedler.Context(device="cpu", threads=threads)), one)


def test_nothing_to_encode():
    for graphs in ([], fiedler.GraphBatch.from_edge_index(np.zeros((2, 0), np.int64), batch=np.zeros(0, np.int64))):
        found = fiedler.encode(graphs, 3)
        assert (len(found), found.eigenvectors.shape, list(found)) == (0, (0, 3), [])
    empty = fiedler.encode(np.zeros((2, 0), np.int64), 2, num_nodes=3)
    assert empty.eigenvalues.tolist() == [[0.0, 0.0]]
    nothing = fiedler.encode(np.zeros((2, 0), np.int64), 2, num_nodes=0)
    assert (nothing.eigenvectors.shape, nothing.mask.tolist()) == ((0, 2), [[0, 0]])
    assert fiedler.encode(np.array([[0, 1], [1, 0]]), 0).eigenvectors.shape == (2, 0)


def test_an_encoding_is_a_sequence(edge_lists):
    found = fiedler.encode(batch(edge_lists), 3)
    assert len(list(found)) == len(found) == len(edge_lists)
    np.testing.assert_array_equal(found[-1].eigenvectors, found[len(found) - 1].eigenvectors)
    np.testing.assert_array_equal(np.concatenate([graph.eigenvectors for graph in found]), found.eigenvectors)
    for wrong in (len(found), -len(found) - 1):
        with pytest.raises(IndexError, match="expected a graph from 0"):
            found[wrong]
    assert "8 graphs" in repr(found)


def arrays(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def check_file(found, path, ids):
    """Checks that a file of the command has the bytes of an encoding."""
    own = found.arrays() | ({"node_ids": np.asarray(found.node_ids)} if ids else {})
    theirs = arrays(path)
    assert own.keys() == theirs.keys()
    for name, array in own.items():
        assert array.dtype == theirs[name].dtype, name
        assert array.tobytes() == theirs[name].tobytes(), name


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--laplacian", "combinatorial", "--walk-steps", "3"], {"laplacian": "combinatorial", "walk_steps": 3}),
        (["--drop-trivial", "--method", "exact"], {"trivial": "components", "method": "exact"}),
        (["--preset", "pyg", "--which", "largest"], {"preset": "pyg", "which": "largest"}),
        (["--precision", "f64"], {"precision": "f64"}),
    ],
)
@pytest.mark.parametrize("which", ["karate", "molecules"])
def test_the_command_gives_the_same_bytes(request, tmp_path, which, words, options):
    path = request.getfixturevalue(which)
    out = tmp_path / "out.npz"
    done = command("encode", path, "-o", out, "-k", 5, *words)
    assert done.returncode == 0, done.stderr
    found = fiedler.encode(path, 5, **options)
    check_file(found, out, found.node_ids is not None)
    found.save(tmp_path / "own.npz")
    check_file(found, tmp_path / "own.npz", found.node_ids is not None)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.npz", "own.npz"]


def test_the_commands_main_is_the_script(tmp_path):
    assert command("--version").stdout.split() == ["fiedler", fiedler.__version__]
    assert command("encode", tmp_path / "absent", "-o", tmp_path / "out.npz").returncode == 1
    assert command("encode").returncode == 2


def test_save_wants_npz(tmp_path):
    found = fiedler.encode(np.array([[0], [1]]), 2)
    with pytest.raises(ValueError, match=r"\.npz"):
        found.save(tmp_path / "out.csv")
    with pytest.raises(FileNotFoundError):
        found.save(tmp_path / "absent" / "out.npz")


def test_a_cache_and_a_journal(tmp_path, edge_lists, monkeypatch):
    monkeypatch.delenv("FIEDLER_CACHE_BYTES", raising=False)
    context = fiedler.Context(device="cpu", cache_dir=tmp_path / "cache")
    graphs = batch(edge_lists)
    first = fiedler.encode(graphs, 4, context=context)
    again = fiedler.encode(graphs, 4, context=context)
    assert (first.report["stored"], again.report["stored"]) == (0, len(edge_lists))
    same(first, again)
    assert fiedler.encode(graphs, 4, context=context, cache=False).report["stored"] == 0
    resumed = fiedler.encode(graphs, 4, cache=False, resume=tmp_path / "journal", device="cpu")
    same(resumed, first)
    assert not list((tmp_path / "journal").glob("**/*.*"))


def test_pickles(edge_lists, karate):
    graphs = batch(edge_lists)
    found = fiedler.encode(graphs, 4, walk_steps=2)
    copied = pickle.loads(pickle.dumps(found))
    same(copied, found)
    assert copied.report == found.report
    same(fiedler.encode(pickle.loads(pickle.dumps(graphs)), 4, walk_steps=2), found)
    read = fiedler.GraphBatch.read(karate)
    again = pickle.loads(pickle.dumps(read))
    np.testing.assert_array_equal(again.node_ids, read.node_ids)
    assert again.notices == read.notices
    weighted = fiedler.GraphBatch.from_edges([(0, 1), (1, 2)], weight=[0.5, 2.0], preset="networkx", symmetrize="sum")
    same(fiedler.encode(pickle.loads(pickle.dumps(weighted)), 2), fiedler.encode(weighted, 2))
    wide = fiedler.GraphBatch.from_edges([(0, 1), (1, 2)], weight=[0.1, 1e200])
    copied = pickle.loads(pickle.dumps(wide))
    found = [fiedler.encode(graphs, 2, laplacian="combinatorial", precision="f64") for graphs in (copied, wide)]
    same(*found)


@pytest.mark.parametrize("kind", ["combinatorial", "symmetric"])
def test_weights_are_float64(kind):
    """Eigenvalues of weights that float32 rounds, from every door, against LAPACK on the matrix in float64."""
    networkx, sparse = pytest.importorskip("networkx"), pytest.importorskip("scipy.sparse")
    n = 24
    pairs = np.array([(i, (i + step) % n) for i in range(n) for step in (1, 5)])
    weights = 0.1 + np.random.default_rng(5).random(len(pairs))
    matrix = laplacian(n, pairs, weights, kind)
    matrix = (matrix + matrix.T) / 2  # rounding has left the factors of a normalized one in two orders
    want = np.linalg.eigvalsh(matrix)[:6]
    tolerance = n * np.finfo(float).eps * np.linalg.norm(matrix, 2)
    w = np.zeros((n, n))
    w[pairs[:, 0], pairs[:, 1]] = w[pairs[:, 1], pairs[:, 0]] = weights
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from([(a, b, float(x)) for (a, b), x in zip(pairs.tolist(), weights)])
    doors = [
        fiedler.GraphBatch.from_edges(pairs, n, weight=weights),
        fiedler.GraphBatch.from_edge_index(pairs.T, n, weight=weights[:, None]),
        graph,
        sparse.csr_array(w),
        sparse.coo_matrix(w),
    ]
    for door in doors:
        found = fiedler.encode(door, 6, laplacian=kind, precision="f64", cache=False).eigenvalues
        np.testing.assert_allclose(found[0], want, rtol=0, atol=tolerance)
        pairs_of = fiedler.linalg.eigsh(door, 6, laplacian=kind)
        np.testing.assert_allclose(pairs_of.eigenvalues, want, rtol=0, atol=tolerance)
    values = fiedler.linalg.eigsh(sparse.csr_array(matrix), 6).eigenvalues
    np.testing.assert_allclose(values, want, rtol=0, atol=tolerance)


def test_weights_that_float32_does_not_hold():
    graph = fiedler.GraphBatch.from_edges([(0, 1), (1, 2)], weight=[1e150, 2e150])
    with pytest.raises(fiedler.DomainError, match="graph 0: its largest weight is 2e150"):
        fiedler.encode(graph, 3, laplacian="combinatorial")
    found = fiedler.encode(graph, 3, laplacian="combinatorial", precision="f64").eigenvalues[0]
    np.testing.assert_allclose(found, 1e150 * np.array([0, 3 - np.sqrt(3), 3 + np.sqrt(3)]), rtol=1e-14)
    values = fiedler.encode(graph, 3, laplacian="symmetric").eigenvalues[0]
    np.testing.assert_allclose(values, [0, 1, 2], atol=1e-6)


def test_bad_options():
    ring = np.array([[0, 1, 2], [1, 2, 0]])
    for options in (
        {"trivial": "none"},
        {"on_uncertified": "stop"},
        {"precision": "f16"},
        {"sign": "random"},
        {"k": -1},
        {"walk_steps": -1},
        {"laplacian": "unsigned"},
        {"which": "both"},
        {"method": "slow"},
        {"preset": "matlab"},
        {"symmetrize": "min"},
        {"device": "tpu"},
        {"device": "cpu", "context": fiedler.Context()},
    ):
        with pytest.raises(ValueError, match="expected"):
            fiedler.encode(ring, **options)
    with pytest.raises(TypeError, match="context"):
        fiedler.encode(ring, context="cpu")


def test_symmetrize(karate):
    arrow = np.array([[0, 1, 0], [1, 2, 1]])
    weight = np.array([1.0, 2.0, 3.0])
    for how, truth in {"max": 3.0, "sum": 4.0}.items():
        graphs = fiedler.GraphBatch.from_edge_index(arrow, weight=weight, symmetrize=how)
        found = fiedler.encode(graphs, 3, laplacian="combinatorial")
        a = np.array([[truth, -truth, 0], [-truth, truth + 2, -2], [0, -2, 2]])
        if how == "max":
            np.testing.assert_allclose(found.eigenvalues[0], np.linalg.eigvalsh(a), atol=1e-5)
    with pytest.raises(fiedler.DomainError):
        fiedler.GraphBatch.from_edge_index(arrow[:, :2], symmetrize="error")
    assert ROOT in karate.parents


def test_one_graph_is_no_graphs_in_words() -> None:
    graph = batch([(2, np.array([[0, 1], [1, 0]]))])
    assert repr(graph) == "fiedler.GraphBatch of 1 graph, 2 nodes"
    assert repr(fiedler.encode(graph, 1)) == "fiedler.Encoding of 1 graph, 2 nodes, 1 pair, 0 not converged"
