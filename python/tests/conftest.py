"""What the tests share: the samples of the repository, and graphs of every library."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import fiedler

# Shells start background programs with SIGINT ignored. A test whose stream is ended by SIGINT alone would never end.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What an earlier run stored proves nothing.
os.environ["FIEDLER_CACHE_BYTES"] = "0"
# A check of scikit-learn asks for it.
os.environ["SCIPY_ARRAY_API"] = "1"
for name in ("FIEDLER_BACKEND", "FIEDLER_ADAPTER", "FIEDLER_THREADS", "FIEDLER_MEMORY_BUDGET", "RAYON_NUM_THREADS"):
    os.environ.pop(name, None)

ROOT = Path(__file__).resolve().parents[2]



def entry_points(folder):
    """Writes the entry points of pyproject.toml as an installed package has them: networkx finds its backend there."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")  # pytest needs it as well
    project = toml.loads((ROOT / "python" / "pyproject.toml").read_text())["project"]
    place = Path(folder) / f"fiedler-{fiedler.__version__}.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fiedler\nVersion: {fiedler.__version__}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {at}" for name, at in points.items())]
    (place / "entry_points.txt").write_text("\n".join(lines))
    return str(folder)


# Processes of the tests import the package from where these tests do.
HOME = [str(Path(fiedler.__file__).resolve().parents[1])]
try:
    importlib.metadata.distribution("fiedler")
except importlib.metadata.PackageNotFoundError:
    INSTALLED = tempfile.TemporaryDirectory(prefix="fiedler-entry-points-")
    HOME.append(entry_points(INSTALLED.name))
    sys.path.append(HOME[1])
os.environ["PYTHONPATH"] = os.pathsep.join([*HOME, *filter(None, [os.environ.get("PYTHONPATH")])])


def command(*arguments, **options):
    """Runs the command, as the wheel's script does."""
    call = [sys.executable, "-m", "fiedler", *map(str, arguments)]
    return subprocess.run(call, capture_output=True, text=True, timeout=60, check=False, **options)


def script(text, *arguments, timeout=60, **variables):
    """Runs a program of Python in a process of its own and returns what it prints."""
    call = [sys.executable, "-c", text, *map(str, arguments)]
    environment = {**os.environ, **variables}
    done = subprocess.run(call, capture_output=True, text=True, timeout=timeout, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


FIGURES = pytest.StashKey()


def pytest_configure(config):
    config.stash[FIGURES] = []


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash[FIGURES]:
        terminalreporter.write_line(line)


@pytest.fixture
def figures(pytestconfig):
    """Lines that are shown after the tests: times, which depend on the machine and are never asserted."""
    return pytestconfig.stash[FIGURES]


@pytest.fixture(scope="session")
def karate():
    return ROOT / "examples" / "data" / "karate.txt"


@pytest.fixture(scope="session")
def molecules(tmp_path_factory):
    """A TUDataset of 50 graphs."""
    folder = tmp_path_factory.mktemp("data") / "molecules"
    done = command("generate", "molecules", "--graphs", 50, "-o", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def edge_lists():
    """Graphs as numbers of nodes and edges (E, 2) in one direction: ties, isolated nodes, components, a single node."""
    rng = np.random.default_rng(7)
    lists = [(6, [(i, (i + 1) % 6) for i in range(6)]), (1, []), (3, []), (5, [(0, 1), (2, 3)]), (2, [(0, 1)])]
    for n in (9, 17, 40):
        pairs = {tuple(sorted(pair)) for pair in rng.integers(0, n, (2 * n, 2)).tolist() if pair[0] != pair[1]}
        lists.append((n, sorted(pairs)))
    return [(n, np.asarray(pairs, dtype=np.int64).reshape(-1, 2)) for n, pairs in lists]


@pytest.fixture(scope="session")
def adapter():
    """A part of the name of an adapter of this machine."""
    names = [one["name"] for one in fiedler.doctor()["adapters"]]
    if not names:
        pytest.skip("no Vulkan driver is installed (Debian: mesa-vulkan-drivers)")
    return names[0]


def laplacian(n, edges, weights=None, kind="symmetric"):
    """The Laplacian of an undirected graph without repeated edges, in float64."""
    w = np.zeros((n, n))
    values = np.ones(len(edges)) if weights is None else weights
    w[edges[:, 0], edges[:, 1]] = w[edges[:, 1], edges[:, 0]] = values
    degrees = w.sum(axis=1)
    if kind == "combinatorial":
        return np.diag(degrees) - w
    roots = np.sqrt(np.where(degrees == 0, 1, degrees))
    return np.diag((degrees > 0).astype(float)) - w / roots[:, None] / roots


def same(one, other):
    """Checks that two encodings have the same bytes."""
    assert one.arrays().keys() == other.arrays().keys()
    for name, array in one.arrays().items():
        assert array.dtype == getattr(other, name).dtype, name
        assert array.shape == getattr(other, name).shape, name
        assert array.tobytes() == getattr(other, name).tobytes(), name
