"""Times calls of the Python package beside the same work in the library, NumPy and SciPy, in one run.

    python benches/python_door.py --data PROTEINS_FOLDER --command fiedler

The library's times are those that the command reports of itself, without reading and writing files. Every pair of calls
alternates, and medians are shown. Put the result into benches/results/ with the machine and the date.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import fiedler
import numpy as np


def seconds(call, repeat):
    """Returns the median time of a call, after one that is not counted."""
    call()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def of_command(command, *arguments):
    """Returns what the command prints in its last line."""
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def line(what, python, library, peers):
    ratios = ", ".join(f"{name} {time / python:.1f}x as long" for name, time in peers.items())
    own = f"Python {python * 1e3:.2f} ms, library {library * 1e3:.2f} ms, ratio {python / library:.2f}"
    print(f"{what}: {own}; {ratios}")


def scipy_encoding(adjacencies, k):
    from scipy.sparse.csgraph import laplacian

    for matrix in adjacencies:
        np.linalg.eigh(laplacian(matrix, normed=True).toarray())[1][:, :k]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="a TUDataset folder, such as PROTEINS")
    parser.add_argument("--command", default="fiedler")
    parser.add_argument("--repeat", type=int, default=15)
    call = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        random = np.random.default_rng(0)
        a = random.normal(size=(10_000, 8, 8)).astype(np.float32)
        a += a.swapaxes(1, 2).copy()
        np.save(f"{folder}/a.npy", a)
        told = of_command(
            call.command, "run", "eigh", f"{folder}/a.npy", "-o", f"{folder}/w.npz", "--overwrite", "--time", str(call.repeat)
        )
        library = told["transfers_ms"] / 1e3
        line(
            "eigh (10000, 8, 8) float32",
            seconds(lambda: fiedler.linalg.eigh(a), call.repeat),
            library,
            {"NumPy": seconds(lambda: np.linalg.eigh(a), 3)},
        )

        graphs = fiedler.GraphBatch.read(call.data)
        arguments = ("encode", call.data, "-o", f"{folder}/e.npz", "--overwrite", "-k", "8", "--no-cache", "--json")
        told = (of_command(call.command, *arguments) for _ in range(call.repeat))
        library = statistics.median(one["seconds"]["encode"] for one in told)
        python = seconds(lambda: fiedler.encode(graphs, k=8, cache=False), call.repeat)
        peers = {}
        try:
            import scipy.sparse

            _, _, source, *rest = graphs._native.__reduce__()[1]
            nodes, rows = graphs._native.__reduce__()[1][:2]
            listed = []
            for begin, end in zip(nodes, nodes[1:]):
                entries = slice(rows[begin], rows[end])
                n = end - begin
                offsets = rows[begin : end + 1] - rows[begin]
                ones = np.ones(offsets[-1])
                listed.append(scipy.sparse.csr_array((ones, source[entries], offsets), shape=(n, n)))
            peers["SciPy"] = seconds(lambda: scipy_encoding(listed, 8), 1)
        except ImportError:
            pass
        line(f"encode {Path(call.data).name}, k = 8, in memory", python, library, peers)


if __name__ == "__main__":
    main()
