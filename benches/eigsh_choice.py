#!/usr/bin/env python3
"""Measures the method that `eigsh` chooses on graphs of many kinds, next to each method and to SciPy, in one run.

    pip install numpy scipy
    benches/eigsh_choice.py target/release/fiedler [--sizes 1000 10000] [--limit 60] > table.md

For every graph, the table has the milliseconds (medians of --time 3) of `run eigsh -k 16` with auto, chebyshev and
shift-invert, the time of auto divided by the shorter of the other two, and the time of SciPy's `eigsh(L, 16,
which='SA')` (one call, stopped after --limit seconds). Graphs come from `fiedler generate`; kinds that it does not have
are made here from a seed.
"""
import argparse
import json
import multiprocessing
import random
import subprocess
import tempfile
import time
from pathlib import Path


def generated(binary, folder, n):
    """Yields (name, file) for every kind of graph, with about n nodes."""
    side = round(n**0.5)

    def make(name, *words):
        path = folder / f"{name}-{n}.txt"
        subprocess.run([binary, "generate", *map(str, words), "-o", path], check=True, stdout=subprocess.DEVNULL)
        return name, path

    def write(name, edges):
        path = folder / f"{name}-{n}.txt"
        path.write_text("".join(f"{a} {b}\n" for a, b in edges))
        return name, path

    rng = random.Random(n)
    yield make("grid", "grid", "--rows", side, "--columns", side)
    yield make("torus", "torus", "--rows", side, "--columns", side + 1)
    yield make("path", "path", "--nodes", n)
    yield make("preferential-4", "preferential", "--nodes", n, "--links", 4)
    yield make("preferential-16", "preferential", "--nodes", n, "--links", 16)
    yield make("sparse-random", "uniform", "--nodes", n, "--edges", 8 * n)
    if n <= 4000:
        yield make("dense-random", "uniform", "--nodes", n, "--edges", n * n // 40)
        yield write("bipartite", ((a, n // 2 + b) for a in range(n // 2) for b in range(n // 2)))
    yield write("tree", ((rng.randrange(i), i) for i in range(1, n)))
    yield write("small-world", ((i, (i + d) % n) if rng.random() > 0.1 else (i, rng.randrange(n)) for i in range(n) for d in (1, 2, 3)))
    size = 50
    blocks = [(b + i, b + j) for b in range(0, n, size) for i in range(size) for j in range(i) if rng.random() < 0.2]
    bridges = [(rng.randrange(b, b + size), rng.randrange(n)) for b in range(0, n, size) for _ in range(2)]
    yield write("communities", blocks + [(a, b) for a, b in bridges if a != b])
    rings = [(6 * r + i, 6 * r + (i + 1) % 6) for r in range(n // 6) for i in range(6)]
    yield write("joined-rings", rings + [(6 * r + 3, 6 * rng.randrange(max(r - 9, 0), r)) for r in range(1, n // 6)])


def ours(binary, path, laplacian, method, limit):
    """Returns milliseconds, or None if the call failed or took too long."""
    call = [binary, "run", "eigsh", path, "-o", path.with_suffix(".npz"), "--overwrite", "-k", "16", "--laplacian", laplacian]
    call += ["--method", method, "--backend", "cpu", "--time", "3", "--quiet"]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=4 * limit)
        return json.loads(done.stdout.splitlines()[-1])["transfers_ms"] if done.returncode in (0, 3) else None
    except (subprocess.TimeoutExpired, IndexError):
        return None


def scipy_call(path, laplacian, queue):
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import laplacian as laplacian_of
    from scipy.sparse.linalg import eigsh

    edges = np.loadtxt(path, dtype=int, comments="#", usecols=(0, 1))
    n = edges.max() + 1
    w = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), (n, n)).tocsr()
    w = w.maximum(w.T)
    w.setdiag(0)
    matrix = laplacian_of(w, normed=laplacian == "symmetric").astype("f4")
    started = time.perf_counter()
    eigsh(matrix, 16, which="SA")
    queue.put(1e3 * (time.perf_counter() - started))


def theirs(path, laplacian, limit):
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=scipy_call, args=(path, laplacian, queue))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.terminate()
    return None if queue.empty() else queue.get()


def shown(ms):
    return "-" if ms is None else f"{ms:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=lambda p: str(Path(p).resolve()))
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--limit", type=float, default=60)
    args = parser.parse_args()
    print("| graph | n | Laplacian | auto | chebyshev | shift-invert | auto / better | SciPy | SciPy / auto |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for n in args.sizes:
            for name, path in generated(args.binary, Path(folder), n):
                for laplacian in ("combinatorial", "symmetric"):
                    auto, chebyshev, inverse = (
                        ours(args.binary, path, laplacian, method, args.limit) for method in ("auto", "chebyshev", "shift-invert")
                    )
                    better = min(x for x in (chebyshev, inverse, float("inf")) if x is not None)
                    scipy = theirs(path, laplacian, args.limit)
                    over = "-" if auto is None else f"{auto / better:.2f}"
                    ratio = f"> {1e3 * args.limit / auto:.0f}" if scipy is None else f"{scipy / auto:.2f}"
                    row = [name, n, laplacian, *map(shown, (auto, chebyshev, inverse)), over, shown(scipy), ratio]
                    print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
