"""fiedler.networkx against networkx itself, as its backend and called by itself."""

from __future__ import annotations

import datetime
import inspect
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import fiedler
from conftest import script

nx = pytest.importorskip("networkx")
pytest.importorskip("scipy")

from fiedler import linalg  # noqa: E402
from fiedler import networkx as backend  # noqa: E402
from fiedler._networkx_info import FUNCTIONS, get_info  # noqa: E402

SEED = int(datetime.date.today().strftime("%Y%m%d"))
PAIRS = ("algebraic_connectivity", "fiedler_vector", "spectral_bisection", "spectral_ordering")
# An array of nodes that are tuples, which networkx refuses, and an eigenvector of an eigenvalue that is repeated.
UNLIKE = {("spectral_bisection", "grid"), ("eigenvector_centrality_numpy", "cut by zeros")}


@pytest.fixture(scope="module", autouse=True)
def quiet():
    """networkx warns when it takes a graph from its cache, as the graph may have been changed behind its back."""
    before = set(nx.config.warnings_to_ignore)
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore = before


def weighted(graph, low=0.25, high=4.0, name="weight", seed=SEED):
    rng = np.random.default_rng(seed)
    for *_, data in graph.edges(data=True):
        data[name] = float(rng.uniform(low, high))
    return graph


def cases():
    """Graphs of every kind, by name."""
    connected = nx.connected_watts_strogatz_graph(24, 4, 0.4, seed=SEED)
    made = {"random": connected, "weighted": weighted(connected.copy())}
    made["integers"] = nx.Graph([(u, v, {"weight": 1 + (u * v) % 3}) for u, v in connected.edges])
    made["some weights"] = nx.Graph([(u, v, {"weight": 2.5} if u % 3 else {}) for u, v in connected.edges])
    made["words"] = nx.relabel_nodes(made["weighted"], {i: f"node {-i}" for i in range(24)})
    made["loops"] = weighted(connected.copy(), 0.5, 2.0)
    made["loops"].add_edges_from([(3, 3, {"weight": 1.5}), (5, 5, {"weight": 0.5})])
    made["parallel"] = nx.MultiGraph(made["weighted"])
    made["parallel"].add_edges_from([(0, 1, {"weight": 0.5}), (1, 0, {"weight": 2.0}), (2, 2, {"weight": 3.0})])
    made["directed"] = weighted(nx.gnp_random_graph(18, 0.3, seed=SEED, directed=True))
    made["cycle of arcs"] = nx.DiGraph(nx.cycle_graph(9, create_using=nx.DiGraph))
    made["parallel arcs"] = nx.MultiDiGraph(made["directed"])
    made["parallel arcs"].add_edge(0, 1, weight=2.0)
    made["disconnected"] = nx.disjoint_union(made["weighted"], weighted(nx.lollipop_graph(4, 3)))
    made["isolated"] = made["weighted"].copy()
    made["isolated"].add_node("alone")
    made["negative"] = weighted(connected.copy(), -1.0, 1.0)
    made["zeros"] = made["weighted"].copy()
    made["zeros"].add_edges_from([(0, 12, {"weight": 0}), (3, 17, {"weight": 0.0})])
    made["cut by zeros"] = nx.barbell_graph(5, 0)
    made["cut by zeros"].add_edge(4, 5, weight=0)
    made["grid"], made["complete"] = nx.grid_2d_graph(4, 5), nx.complete_graph(6)
    made["star"], made["tree"] = nx.star_graph(6), weighted(nx.balanced_tree(2, 3))
    made["no edges"], made["one node"], made["a loop"] = nx.empty_graph(3), nx.path_graph(1), nx.Graph([(0, 0)])
    made["an edge"], made["empty"], made["no arcs"] = nx.path_graph(2), nx.Graph(), nx.DiGraph()
    made["NaN"], made["complex"] = nx.path_graph(4), nx.path_graph(4)
    made["NaN"].add_edge(0, 1, weight=math.nan)
    made["complex"].add_edge(0, 1, weight=1j)
    return made


def outcome(call):
    """What a call returns, or the class of what it raises."""
    try:
        return call()
    except Exception as error:
        return type(error)


def same(name, found, truth, graph, weight):
    """Checks a result against networkx's, or the class of an exception."""
    if isinstance(truth, type):
        assert isinstance(found, type) and issubclass(found, truth)
    elif isinstance(truth, dict):
        assert type(found) is dict and found.keys() == truth.keys()
        for key, value in truth.items():
            same(name, found[key], value, graph, weight)
    elif name in PAIRS[1:]:
        ordered(name, found, truth, graph, weight)
    elif isinstance(truth, np.ndarray):
        assert (found.dtype, found.shape) == (truth.dtype, truth.shape)
        np.testing.assert_allclose(np.sort(found), np.sort(truth), rtol=1e-9, atol=1e-9)
    else:
        assert type(found) is type(truth) or truth == 0
        np.testing.assert_allclose(found, truth, rtol=1e-7, atol=1e-9)


def ordered(name, found, truth, graph, weight):
    """Checks Fiedler vectors and what reads off them. The value may be repeated, so that networkx's is another one."""
    assert type(found) is type(truth)
    own = fiedler_of(graph, weight)
    if name == "fiedler_vector":
        assert (found.dtype, found.shape) == (truth.dtype, truth.shape)
        value = nx.algebraic_connectivity(graph, weight=weight, method="tracemin_lu", seed=0, backend="networkx")
        np.testing.assert_allclose(own @ found, value * found, atol=1e-6)
        if np.abs(own @ truth - value * truth).max() < 1e-6 and simple(own):
            np.testing.assert_allclose(found, truth, atol=1e-4)
    elif name == "spectral_bisection":
        assert (found[0] | found[1], found[0] & found[1]) == (set(graph), set())
        if simple(own) and np.abs(np.linalg.eigh(own)[1][:, 1]).min() > 1e-4:
            assert found == truth
    else:
        assert sorted(found, key=str) == sorted(graph, key=str)
        if nx.is_connected(graph.to_undirected()) and simple(own):
            vector = dict(zip(graph, np.linalg.eigh(own)[1][:, 1], strict=True))
            steps = np.diff([vector[node] for node in found])
            assert np.all(steps > -1e-9) or np.all(steps < 1e-9)


def fiedler_of(graph, weight):
    """The Laplacian of the absolute weights, in both directions."""
    dense = nx.to_numpy_array(graph, multigraph_weight=lambda w: sum(map(abs, w)), weight=weight)
    dense = np.abs(dense + dense.T if graph.is_directed() else dense)
    np.fill_diagonal(dense, 0)
    return np.diag(dense.sum(axis=1)) - dense


def simple(laplacian):
    values = np.linalg.eigvalsh(laplacian)
    return len(values) > 2 and values[2] - values[1] > 1e-6 and values[1] > 1e-6


def test_the_table_names_the_functions():
    assert list(FUNCTIONS) == sorted(FUNCTIONS)
    assert get_info()["functions"].keys() == FUNCTIONS.keys()
    assert {name for name in nx.utils.backends._registered_algorithms if hasattr(backend, name)} == FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_have_what_networkx_has(name):
    theirs = inspect.signature(nx.utils.backends._registered_algorithms[name].__wrapped__.orig_func).parameters
    own = inspect.signature(getattr(backend, name)).parameters
    assert [*own][: len(theirs)] == [*theirs]
    for key, parameter in theirs.items():
        assert (own[key].kind, own[key].default) == (parameter.kind, parameter.default)


def left_to_networkx(name, case):
    """Whether a function refuses the weights or the loops of a case."""
    if case in ("NaN", "complex"):
        of_pattern = name.startswith(("communicability", "estrada", "subgraph"))
        return name != "modularity_spectrum" and (case == "complex" or not of_pattern)
    if case in ("loops", "a loop"):
        return name == "current_flow_betweenness_centrality"
    signs = ("current_flow", "effective", "second_order", "kemeny")
    return case in ("negative", "zeros", "cut by zeros") and name.startswith(signs)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("case", cases())
def test_results_are_those_of_networkx(case, name):
    graph, function = cases()[case], getattr(nx, name)
    for weight in ("weight", None) if "weight" in inspect.signature(function).parameters else ("",):
        options = {} if weight == "" else {"weight": weight}
        if name in PAIRS:
            options["seed"] = np.random.RandomState(0)
        reason = backend.can_run(name, (graph,), options)
        if reason is not True:
            assert len(reason) > 20
            assert graph.is_directed() or graph.is_multigraph() or len(graph) < 3 or weight is None
            continue
        found = outcome(lambda: function(graph, **options, backend="fiedler"))
        truth = outcome(lambda: function(graph, **options, backend="networkx"))
        if found is NotImplementedError:
            assert left_to_networkx(name, case)
        elif (name, case) not in UNLIKE:
            same(name, found, truth, graph, weight)


@pytest.mark.parametrize("n", [3, 4, 9, 12])
def test_closed_forms(n):
    path, cycle, complete = nx.path_graph(n), nx.cycle_graph(n), nx.complete_graph(n)
    assert backend.algebraic_connectivity(path) == pytest.approx(2 - 2 * math.cos(math.pi / n), rel=1e-12)
    assert backend.algebraic_connectivity(complete) == pytest.approx(n, rel=1e-12)
    np.testing.assert_allclose(backend.laplacian_spectrum(complete), [0] + [n] * (n - 1), atol=1e-12)
    angles = 2 * np.pi * np.arange(n) / n
    np.testing.assert_allclose(backend.adjacency_spectrum(cycle), np.sort(2 * np.cos(angles)), atol=1e-12)
    np.testing.assert_allclose(backend.normalized_laplacian_spectrum(cycle), np.sort(1 - np.cos(angles)), atol=1e-12)
    np.testing.assert_allclose(backend.modularity_spectrum(complete), [-1] * (n - 1) + [0], atol=1e-12)
    vector = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    np.testing.assert_allclose(backend.fiedler_vector(path), -vector / np.linalg.norm(vector), atol=1e-10)
    assert backend.spectral_ordering(path) == [*range(n)]
    below, above = backend.spectral_bisection(path)
    assert below >= {*range(n // 2)} and above >= {*range(n - n // 2, n)}
    assert backend.number_of_spanning_trees(complete) == pytest.approx(n ** (n - 2), rel=1e-12)
    assert backend.number_of_spanning_trees(cycle) == pytest.approx(n, rel=1e-12)
    assert backend.resistance_distance(path, 0, n - 1) == pytest.approx(n - 1, rel=1e-12)
    assert backend.resistance_distance(cycle, 0)[n // 2] == pytest.approx((n // 2) * (n - n // 2) / n, rel=1e-12)
    assert backend.effective_graph_resistance(complete) == pytest.approx(n - 1, rel=1e-12)
    assert backend.kemeny_constant(complete) == pytest.approx((n - 1) ** 2 / n, rel=1e-12)
    assert backend.estrada_index(complete) == pytest.approx(math.exp(n - 1) + (n - 1) / math.e, rel=1e-12)
    ends = backend.communicability(complete)[0]
    assert ends[0] - ends[1] == pytest.approx(1 / math.e, rel=1e-9)
    largest = backend.eigenvector_centrality_numpy(cycle)
    np.testing.assert_allclose([*largest.values()], n**-0.5, rtol=1e-10)
    betweenness = backend.current_flow_betweenness_centrality(path)
    np.testing.assert_allclose(betweenness[n // 2], 2 * (n // 2) * (n - 1 - n // 2) / ((n - 1) * (n - 2)), rtol=1e-12)


@pytest.mark.parametrize("kind", ["grid", "path", "tree", "small world", "random", "ring of cliques"])
def test_narrow_and_wide_graphs(kind):
    """A banded factor and blocks, or dense ones, against the inverse of the whole matrix."""
    made = {
        "grid": lambda: nx.grid_2d_graph(7, 40),
        "path": lambda: nx.path_graph(300),
        "tree": lambda: nx.random_labeled_tree(200, seed=SEED),
        "small world": lambda: nx.connected_watts_strogatz_graph(200, 6, 0.01, seed=SEED),
        "random": lambda: nx.connected_watts_strogatz_graph(200, 6, 0.9, seed=SEED),
        "ring of cliques": lambda: nx.ring_of_cliques(40, 5),
    }[kind]()
    graph = weighted(made)
    own = backend.convert_from_nx(graph)
    found = own.grounded(own.weights("weight"), ("weight", False))
    assert found._banded == (kind in ("grid", "path", "ring of cliques")) or kind in ("tree", "small world")
    inner = nx.laplacian_matrix(graph).toarray()[1:, 1:]
    truth = np.zeros((len(graph), len(graph)))
    truth[1:, 1:] = np.linalg.inv(inner)
    scale = np.abs(truth).max()
    np.testing.assert_allclose(found.diagonal, truth.diagonal(), rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(found.inverse, truth, rtol=1e-9, atol=1e-10 * scale)
    currents = np.random.default_rng(SEED).standard_normal(len(graph))
    np.testing.assert_allclose(found.solve(currents), truth @ currents, rtol=1e-8, atol=1e-10 * scale)
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(inner)[1], rel=1e-10)


def test_eigenvector_centrality_of_a_long_path():
    n = 1000
    found = backend.eigenvector_centrality_numpy(nx.path_graph(n))
    truth = np.sqrt(2 / (n + 1)) * np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    np.testing.assert_allclose([*found.values()], truth, atol=1e-7)


def test_normalized_exponentials():
    graph = cases()["random"]
    shares, plain = backend.subgraph_centrality_exp(graph, normalized=True), backend.subgraph_centrality_exp(graph)
    assert max(shares.values()) == 1.0
    largest = max(plain.values())
    np.testing.assert_allclose([*shares.values()], [value / largest for value in plain.values()], rtol=1e-12)
    theirs = nx.subgraph_centrality(graph, normalized=True, backend="networkx")
    assert backend.subgraph_centrality(graph, normalized=True) == pytest.approx(theirs, rel=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("normalized", [False, True])
def test_other_arguments(normalized):
    graph = cases()["weighted"]
    for name in PAIRS:
        given = {"normalized": normalized, "seed": np.random.RandomState(1), "tol": 1e-11}
        truth = getattr(nx, name)(graph, **given, backend="networkx")
        found = getattr(nx, name)(graph, **given, backend="fiedler")
        np.testing.assert_allclose(found, truth, atol=1e-6) if not isinstance(truth, (list, tuple)) else None
        assert not isinstance(truth, (list, tuple)) or found == truth
    for weight in ("weight", None):
        for invert in (True, False):
            for name, given in (("resistance_distance", {"nodeA": 2, "nodeB": 9}), ("effective_graph_resistance", {})):
                one, two = (
                    getattr(nx, name)(graph, **given, weight=weight, invert_weight=invert, backend=where)
                    for where in ("fiedler", "networkx")
                )
                assert one == pytest.approx(two, rel=1e-9)
    for given in ({"nodeA": 3}, {"nodeB": 4}):
        one, two = (nx.resistance_distance(graph, **given, backend=where) for where in ("fiedler", "networkx"))
        assert one == pytest.approx(two, rel=1e-9, abs=1e-12)
    for name in ("current_flow_betweenness_centrality", "second_order_centrality"):
        with pytest.raises(NotImplementedError, match="networkx"):
            getattr(backend, name)(nx.MultiGraph(graph))
    one, two = (
        nx.current_flow_betweenness_centrality(graph, normalized=normalized, weight="weight", backend=where)
        for where in ("fiedler", "networkx")
    )
    assert one == pytest.approx(two, rel=1e-9)
    signs = cases()["negative"]
    for given in ({"nodeA": 3}, {"nodeB": 4}, {"nodeA": 1, "nodeB": 8}):
        given |= {"weight": "weight", "invert_weight": False}
        one, two = (nx.resistance_distance(signs, **given, backend=where) for where in ("fiedler", "networkx"))
        assert one == pytest.approx(two, rel=1e-7, abs=1e-9)
    truth = nx.bethe_hessian_spectrum(graph, r=-1.5, backend="networkx")
    np.testing.assert_allclose(nx.bethe_hessian_spectrum(graph, r=-1.5, backend="fiedler"), truth, atol=1e-11)


def test_errors():
    path, apart, arcs = nx.path_graph(4), nx.empty_graph(3), nx.DiGraph([(0, 1)])
    bare = nx.Graph([(0, 1, {"weight": 2}), (1, 2)])
    zero = nx.Graph([(0, 1, {"weight": 0}), (1, 2, {"weight": 1})])
    assert nx.algebraic_connectivity(apart, method="chol", backend="fiedler") == 0.0
    with pytest.raises(TypeError, match="graph: expected a graph of networkx, found list"):
        backend.laplacian_spectrum([1, 2])
    for name, graph, options, error in [
        ("algebraic_connectivity", nx.path_graph(1), {}, nx.NetworkXError),
        ("algebraic_connectivity", path, {"method": "chol"}, nx.NetworkXError),
        ("algebraic_connectivity", arcs, {}, nx.NetworkXNotImplemented),
        ("fiedler_vector", apart, {}, nx.NetworkXError),
        ("fiedler_vector", path, {"method": "chol"}, nx.NetworkXError),
        ("spectral_bisection", arcs, {}, nx.NetworkXNotImplemented),
        ("spectral_ordering", nx.Graph(), {}, nx.NetworkXError),
        ("spectral_ordering", nx.path_graph(2), {"method": "chol"}, nx.NetworkXError),
        ("laplacian_spectrum", nx.Graph(), {}, nx.NetworkXError),
        ("modularity_spectrum", nx.MultiGraph([(0, 1)]), {}, nx.NetworkXNotImplemented),
        ("modularity_spectrum", apart, {}, ValueError),
        ("bethe_hessian_spectrum", apart, {}, ZeroDivisionError),
        ("bethe_hessian_spectrum", arcs, {}, nx.NetworkXNotImplemented),
        ("resistance_distance", nx.Graph(), {}, nx.NetworkXError),
        ("resistance_distance", apart, {}, nx.NetworkXError),
        ("resistance_distance", path, {"nodeA": 9}, nx.NetworkXError),
        ("resistance_distance", path, {"nodeB": [0]}, nx.NetworkXError),
        ("resistance_distance", bare, {"weight": "weight"}, KeyError),
        ("resistance_distance", zero, {"weight": "weight"}, ZeroDivisionError),
        ("effective_graph_resistance", bare, {"weight": "weight"}, KeyError),
        ("effective_graph_resistance", nx.Graph(), {}, nx.NetworkXError),
        ("kemeny_constant", apart, {}, nx.NetworkXError),
        ("kemeny_constant", cases()["negative"], {"weight": "weight"}, nx.NetworkXError),
        ("number_of_spanning_trees", nx.Graph(), {}, nx.NetworkXPointlessConcept),
        ("second_order_centrality", apart, {}, nx.NetworkXException),
        ("second_order_centrality", cases()["negative"], {}, nx.NetworkXException),
        ("current_flow_closeness_centrality", apart, {}, nx.NetworkXError),
        ("current_flow_closeness_centrality", nx.Graph(), {}, nx.NetworkXPointlessConcept),
        ("current_flow_betweenness_centrality", nx.path_graph(2), {}, ZeroDivisionError),
        ("eigenvector_centrality_numpy", nx.Graph(), {}, nx.NetworkXPointlessConcept),
        ("eigenvector_centrality_numpy", apart, {}, nx.AmbiguousSolution),
        ("communicability", nx.MultiGraph(), {}, nx.NetworkXNotImplemented),
        ("kemeny_constant", path, {"heavy": 1}, TypeError),
    ]:
        for call in (getattr(backend, name), getattr(nx, name)):
            with pytest.raises(error), np.errstate(invalid="ignore"):
                call(graph, **options, **({} if call is getattr(backend, name) else {"backend": "fiedler"}))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore:Exited")
def test_other_methods_are_left_to_networkx(name):
    graph = cases()["weighted"]
    for method in ("tracemin_lu", "lanczos", "lobpcg"):
        assert method in backend.can_run(name, (graph, "weight", False, 1e-8, method), {})
        with pytest.raises(NotImplementedError, match="not implemented by 'fiedler'"):
            getattr(nx, name)(graph, method=method, backend="fiedler")
        with nx.config(backend_priority=["fiedler"]):
            assert getattr(nx, name)(graph, method=method, seed=1) is not None
    assert backend.can_run(name, (), {"G": graph, "method": "tracemin"}) is True


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("adjacency_spectrum", {"G": nx.DiGraph()}, "directed"),
        ("eigenvector_centrality_numpy", {"max_iter": 3}, "iterations"),
        ("eigenvector_centrality_numpy", {"G": nx.path_graph(2)}, "three nodes"),
        ("current_flow_closeness_centrality", {"dtype": np.float32}, "dtype"),
        ("current_flow_betweenness_centrality", {"solver": "qr"}, "solver"),
        ("current_flow_betweenness_centrality", {"G": nx.MultiGraph()}, "parallel"),
        ("second_order_centrality", {"weight": "length"}, "weight"),
        ("pagerank", {}, "does not have"),
    ],
)
def test_reasons(name, options, words):
    assert words in backend.can_run(name, (), {"G": nx.path_graph(5), **options})


def test_priority_and_size(monkeypatch):
    for name in ("laplacian_spectrum", "subgraph_centrality"):
        monkeypatch.setattr(backend, name, lambda G, weight=None, *, normalized=None: "of the backend")
    small, large = nx.path_graph(4), nx.path_graph(40)
    assert isinstance(nx.laplacian_spectrum(small), np.ndarray)
    with nx.config(backend_priority=["fiedler"]):
        assert nx.laplacian_spectrum(small) == nx.subgraph_centrality(large) == "of the backend"
        assert isinstance(nx.subgraph_centrality(small), dict)
        assert nx.pagerank(small)[0] > 0
    assert backend.should_run("subgraph_centrality", (), {"G": large}) is True
    assert "4 nodes" in backend.should_run("subgraph_centrality", (small,), {})


def test_conversions_are_cached_until_the_graph_changes(monkeypatch):
    made = []
    convert = backend.convert_from_nx
    monkeypatch.setattr(backend, "convert_from_nx", lambda *a, **k: made.append(convert(*a, **k)) or made[-1])
    graph = cases()["weighted"]
    graph.add_edge(0, 2, cost=3.0)

    def both():
        own = nx.laplacian_spectrum(graph, backend="fiedler")
        np.testing.assert_allclose(own, nx.laplacian_spectrum(graph, backend="networkx"), atol=1e-10)
        return own

    first = both()
    first[:] = 0  # a result is the caller's
    both(), nx.algebraic_connectivity(graph, backend="fiedler"), nx.communicability(graph, backend="fiedler")
    assert len(made) == 1
    assert made[0] in graph.__networkx_cache__["backends"]["fiedler"].values()
    nx.laplacian_spectrum(graph, weight="cost", backend="fiedler")
    assert len(made) == 2
    for change in (
        lambda: graph.add_edge(0, 5, weight=9.0),
        lambda: graph.add_edge(0, 5, weight=2.0),
        lambda: graph.remove_edge(0, 5),
        lambda: graph.add_node("new"),
        lambda: graph.remove_node("new"),
        lambda: nx.set_edge_attributes(graph, 1.5, "weight"),
    ):
        before = len(made)
        change()
        graph.__networkx_cache__.clear() if "set_edge" in inspect.getsource(change) else None
        both()
        assert len(made) == before + 1
    with nx.config(cache_converted_graphs=False):
        both(), both()
    assert len(made) == before + 3


def test_functions_share_a_decomposition(monkeypatch):
    calls = []
    eigh = linalg.eigh
    monkeypatch.setattr(linalg, "eigh", lambda *a, **k: calls.append(1) or eigh(*a, **k))
    graph = cases()["random"]
    for name in ("communicability", "communicability_exp", "subgraph_centrality", "subgraph_centrality_exp"):
        getattr(nx, name)(graph, backend="fiedler")
    assert len(calls) == 1
    monkeypatch.setattr(fiedler._networkx, "_KEPT", 8)
    for _ in range(2):
        nx.communicability(graph.copy(), backend="fiedler")
    large = backend.convert_from_nx(graph)
    backend.communicability(large), backend.communicability(large)
    assert len(calls) == 5


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_conversion_there_and_back(kind):
    graph = kind([("a", "b", {"weight": 2, "cost": 0.5}), ("b", "c", {"cost": 1}), ("c", "c", {"color": "red"})])
    graph.add_edge("b", "a", weight=7)
    graph.add_node("alone")
    graph.graph["name"] = "example"
    own = pickle.loads(pickle.dumps(backend.convert_from_nx(graph, {"cost": 1})))
    assert (len(own), list(own), "alone" in own, [] in own) == (4, ["a", "b", "c", "alone"], True, False)
    assert repr(own).endswith("with 4 nodes") and own.__networkx_backend__ == "fiedler"
    back = backend.convert_to_nx(own)
    for *_, data in graph.edges(data=True):
        data.pop("color", None)
    assert type(back) is kind and back.graph == graph.graph
    assert nx.utils.graphs_equal(back, graph)
    assert backend.convert_from_nx(own) is own and backend.convert_to_nx(3.0) == 3.0
    with nx.config(fallback_to_nx=True):
        assert nx.pagerank(own) == nx.pagerank(graph)
    with pytest.raises(nx.NetworkXError, match="weight: expected an attribute .* found 'length'"):
        backend.spectral_ordering(own, weight="length")
    for wanted in ({"preserve_edge_attrs": True}, {"preserve_node_attrs": True}, {"node_attrs": {"x": None}}):
        with pytest.raises(NotImplementedError, match="to keep"):
            backend.convert_from_nx(graph, **wanted)


def test_a_view_and_a_callable_weight():
    view = cases()["weighted"].subgraph(range(3, 20))
    np.testing.assert_allclose(backend.laplacian_spectrum(view), nx.laplacian_spectrum(view), atol=1e-10)
    with nx.config(backend_priority=["fiedler"]):
        assert len(nx.laplacian_spectrum(view, weight=lambda u, v, d: 1)) == 17


def test_the_entry_points_of_an_installed_package():
    program = """
import sys
import networkx as nx
assert not {"numpy", "scipy", "fiedler.networkx", "fiedler.linalg"} & sys.modules.keys()
nx.config.warnings_to_ignore.add("cache")
assert "fiedler : Spectra" in nx.kemeny_constant.__doc__
graph = nx.path_graph(30)
print(nx.algebraic_connectivity(graph), "fiedler" in graph.__networkx_cache__["backends"])
"""
    value, used = script(program, NETWORKX_BACKEND_PRIORITY="fiedler").split()
    assert (float(value), used) == (pytest.approx(2 - 2 * math.cos(math.pi / 30)), "True")
