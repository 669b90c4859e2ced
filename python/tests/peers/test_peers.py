"""The peers' own test suites, with functions and classes of fiedler in the place of theirs (see ``replaced.py``).

What is left out stands in ``left_out.txt`` with its reason: at most 3 % of the tests of all suites.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
OF_NETWORKX = [
    "networkx.linalg",
    "networkx.algorithms.tests.test_communicability",
    "networkx.algorithms.tests.test_distance_measures",
    "networkx.algorithms.tree.tests.test_mst",
    *(
        f"networkx.algorithms.centrality.tests.test_{name}"
        for name in (
            "current_flow_betweenness_centrality",
            "current_flow_closeness",
            "eigenvector_centrality",
            "second_order_centrality",
            "subgraph",
        )
    ),
]
OF_SKLEARN = [
    "sklearn.decomposition.tests.test_pca",
    "sklearn.decomposition.tests.test_truncated_svd",
    "sklearn.cluster.tests.test_spectral",
    "sklearn.manifold.tests.test_spectral_embedding",
]
# Installed packages lack these tests. They are in clones of the repositories, in this folder.
CLONES = Path(os.environ.get("FIEDLER_PEER_CLONES", HERE / "clones"))
# The modules of the tests, the longest first, and the least number of names that are replaced: fewer would test the peer
# itself.
SUITES = {
    "sklearn": (OF_SKLEARN, 4),
    "numpy.linalg": (["numpy.linalg"], 5),
    "numpy.fft": (["numpy.fft"], 6),
    "scipy.fft": (["scipy.fft"], 6),
    "networkx": (OF_NETWORKX, 0),
    "torch_geometric": ([CLONES / "pytorch_geometric/test/transforms/test_add_positional_encoding.py"], 2),
    "array_api": ([CLONES / f"array-api-tests/array_api_tests/test_{name}.py" for name in ("fft", "linalg")], 10),
}
SWITCHES = {
    # Its own tests call a backend, and networkx itself where the backend does not have a function.
    "networkx": {"NETWORKX_TEST_BACKEND": "fiedler", "NETWORKX_FALLBACK_TO_NX": "1"},
    # Its tests of arrays of other libraries.
    "sklearn": {"SCIPY_ARRAY_API": "1"},
    "array_api": {"ARRAY_API_TESTS_MODULE": "numpy"},
}


@pytest.fixture(scope="module")
def counts():
    """The numbers of tests that passed, and of those that are left out, of the suites so far."""
    return {"passed": 0, "left out": 0}


def run_suite(peer, folder):
    """Runs the tests of a peer. Returns what they counted, and their output."""
    modules, _ = SUITES[peer]
    package = {"array_api": "numpy"}.get(peer, peer.partition(".")[0])
    for needed in (package, *(["hypothesis"] if package == "numpy" else [])):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"there is no {needed}")
    root = Path(importlib.util.find_spec(package).origin).parents[1]
    if isinstance(modules[0], Path):
        root = modules[0].relative_to(CLONES).parts[0]
        if not modules[0].exists():
            pytest.skip(f"FIEDLER_PEER_CLONES: there is no clone {root}")
        root = CLONES / root
    call = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "replaced", "-p", "no:cacheprovider"]
    # Torch without a driver is no reason for some to be skipped.
    call += ["-k", "not cuda"]
    # From where names of tests have the names of their files.
    call += ["--rootdir", root, *([] if root.parent == CLONES else ["--pyargs"])]
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    told = folder / "counts.json"
    environment = {**os.environ, "PYTHONPATH": path, "PEER": peer, "PEER_COUNTS": str(told)}
    environment.pop("SCIPY_ARRAY_API", None)
    environment |= SWITCHES.get(peer, {})
    run = {"cwd": folder, "env": environment, "capture_output": True, "text": True, "timeout": 600, "check": False}
    done = subprocess.run([*call, *modules], **run)
    output = done.stdout + done.stderr
    assert told.exists(), output
    return json.loads(told.read_text()), output


@pytest.fixture(scope="module")
def suites(request, tmp_path_factory):
    """The suites that were selected, as many beside each other as there are cores."""
    selected = [item.callspec.params["peer"] for item in request.session.items if item.originalname == test_the_suite_of.__name__]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {peer: pool.submit(run_suite, peer, tmp_path_factory.mktemp("suite")) for peer in selected}


@pytest.mark.parametrize("peer", SUITES)
def test_the_suite_of(peer, suites, counts, figures):
    found, output = suites[peer].result()
    assert not found["failed"], output
    assert len(found["replaced"]) >= SUITES[peer][1]
    assert not found["left out, but passed"], "left_out.txt has tests that pass"
    counts["passed"] += found["passed"]
    counts["left out"] += len(found["left out"])
    left, passed = len(found["left out"]), found["passed"]
    figures.append(f"the tests of {peer}: {passed} passed, {left} left out, {len(found['replaced'])} names replaced")


def test_few_are_left_out(counts):
    if not counts["passed"]:
        pytest.skip("no suite has run")
    assert counts["left out"] <= 0.03 * (counts["passed"] + counts["left out"])
