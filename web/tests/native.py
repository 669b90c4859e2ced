"""The native command, whose answers the browser's have to equal, and the graphs that both get."""

from __future__ import annotations

import functools
import io
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("FIEDLER_COMMAND", ROOT / "target" / "debug" / "fiedler"))
FLAGS = {"k": "-k", "laplacian": "--laplacian", "which": "--which", "walkSteps": "--walk-steps"}


def run(*arguments):
    """Runs the command. Its cache is off, since what an earlier run stored proves nothing."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FIEDLER_")}
    environment["FIEDLER_CACHE_BYTES"] = "0"
    call = [str(COMMAND), *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, f"{' '.join(call)}\n{done.stderr}"
    return done.stdout


@functools.cache
def _encode(name, data, options):
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, name), Path(folder, "out.npz")
        path.write_bytes(data)
        arguments = []
        for option, value in options:
            if option == "dropTrivial":
                arguments += ["--drop-trivial"] if value else []
            else:
                arguments += [FLAGS[option], value]
        run("encode", path, "-o", out, "--overwrite", "--backend", "cpu", *arguments)
        return out.read_bytes()


def encode(source, **options):
    """The arrays of `fiedler encode` for the bytes of a file."""
    options.pop("backend", None)
    return npz(_encode(source.name, source.data, tuple(sorted(options.items()))))


def npz(data):
    with np.load(io.BytesIO(data)) as arrays:
        return {name: arrays[name] for name in arrays}


class Source:
    """A file with graphs, and what is in it: for each graph, its number of nodes and its edges (E, 2)."""

    def __init__(self, name, data, graphs):
        self.name, self.data = name, data
        self.graphs = [(n, np.asarray(edges, dtype=np.int64).reshape(-1, 2)) for n, edges in graphs]

    def __repr__(self):
        return self.name


def tu_dataset(name, graphs):
    """Graphs as a zipped TUDataset, which counts nodes from 1 and lists each edge in both directions."""
    entries, indicator, first = [], [], 1
    for number, (n, edges) in enumerate(graphs, 1):
        indicator += [f"{number}\n"] * n
        entries += [f"{first + a}, {first + b}\n{first + b}, {first + a}\n" for a, b in np.asarray(edges).tolist()]
        first += n
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/{name}_A.txt", "".join(entries))
        archive.writestr(f"{name}/{name}_graph_indicator.txt", "".join(indicator))
    return Source(f"{name}.zip", packed.getvalue(), graphs)


@functools.cache
def karate():
    data = (ROOT / "examples" / "data" / "karate.txt").read_bytes()
    edges = np.loadtxt(io.BytesIO(data), dtype=np.int64) - 1
    return Source("karate.txt", data, [(34, edges)])


@functools.cache
def molecules(count=100):
    """Molecules that the command makes, in one file."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "molecules")
        run("generate", "molecules", "--graphs", count, "--seed", 7, "-o", made)
        entries = np.loadtxt(made / "molecules_A.txt", delimiter=",", dtype=np.int64) - 1
        indicator = np.loadtxt(made / "molecules_graph_indicator.txt", dtype=np.int64) - 1
    first = np.searchsorted(indicator, np.arange(count + 1))
    entries = entries[entries[:, 0] < entries[:, 1]]
    owner = indicator[entries[:, 0]]
    return tu_dataset("molecules", [(first[g + 1] - first[g], entries[owner == g] - first[g]) for g in range(count)])


def generated(kind, *arguments):
    """One graph that the command makes, as an edge list whose edges are not looked at here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{kind}.txt")
        run("generate", kind, *arguments, "-o", path)
        return Source(path.name, path.read_bytes(), [])


def cycle(n):
    return n, [(i, (i + 1) % n) for i in range(n)]


def path(n):
    return n, [(i, i + 1) for i in range(n - 1)]


def complete(n):
    return n, [(i, j) for i in range(n) for j in range(i)]


def star(n):
    return n, [(0, i) for i in range(1, n)]


def hypercube(d):
    return 1 << d, [(i, i ^ 1 << bit) for i in range(1 << d) for bit in range(d) if not i >> bit & 1]


def grid(rows, columns):
    index = np.arange(rows * columns).reshape(rows, columns)
    pairs = [np.stack([index[:, :-1], index[:, 1:]], -1), np.stack([index[:-1], index[1:]], -1)]
    return rows * columns, np.concatenate([part.reshape(-1, 2) for part in pairs])


def union(*graphs):
    """One graph of several components."""
    edges, first = [], 0
    for n, own in graphs:
        edges += [(first + a, first + b) for a, b in np.asarray(own).reshape(-1, 2).tolist()]
        first += n
    return first, edges


@functools.cache
def tied():
    """40 graphs whose eigenvalues repeat, some in several components, and the smallest ones."""
    graphs = [cycle(n) for n in (3, 4, 5, 6, 8, 12, 17, 30, 48)]
    graphs += [complete(n) for n in (2, 3, 4, 7, 9, 20, 31)]
    graphs += [star(n) for n in (4, 5, 10, 33)]
    graphs += [hypercube(d) for d in (1, 2, 3, 4, 5)]
    graphs += [grid(n, n) for n in (2, 3, 5, 7)]
    graphs += [path(1), path(2), path(3), path(20), grid(4, 5), (5, [])]
    graphs += [union(cycle(3), cycle(3)), union(cycle(6), path(1)), union(star(5), star(5), star(5))]
    graphs += [union(complete(4), path(2), path(1)), union(cycle(12), cycle(12))]
    assert len(graphs) == 40
    return tu_dataset("tied", graphs)
