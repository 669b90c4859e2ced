#!/usr/bin/env python3
"""Measures the error of the Fiedler vector of two groups of nodes that one edge joins, as the weight of this edge falls,
for `fiedler encode` and for NumPy, SciPy and PyTorch. The truth is mpmath's, with 80 digits.

    python3 benches/bridge.py target/release/fiedler [--adapter llvmpipe] > bridge.jsonl
    python3 docs/figures/draw.py bridge bridge.jsonl > docs/figures/bridge.svg

A line has the solver, the weight, and the 2-norm of the difference of the vectors, both of length 1 and of the same
sign. Needs numpy, SciPy and mpmath; uses torch if it is installed.
"""
import argparse, json, os, pathlib, subprocess, tempfile
import mpmath as mp
import numpy as np
import scipy.sparse, scipy.sparse.linalg

GROUP = 12
EXPONENTS = range(0, 31, 2)


def edges(weight):
    """Two complete graphs with weights between 0.5 and 1, which f32 holds, and the bridge."""
    rng = np.random.default_rng(7)
    inside = [(first + i, first + j, float(np.float32(0.5 + 0.5 * rng.random())))
              for first in (0, GROUP) for i in range(GROUP) for j in range(i)]
    return inside + [(0, GROUP, float(np.float32(weight)))]


def laplacian(edges, zeros):
    matrix = zeros(2 * GROUP)
    for i, j, weight in edges:
        weight = mp.mpf(weight) if isinstance(matrix, mp.matrix) else weight
        matrix[i, j] -= weight
        matrix[j, i] -= weight
        matrix[i, i] += weight
        matrix[j, j] += weight
    return matrix


def peers():
    yield "NumPy, f64", lambda a: np.linalg.eigh(a)[1][:, 1]

    def arpack(a):
        sparse = scipy.sparse.csr_matrix(a)
        values, vectors = scipy.sparse.linalg.eigsh(sparse, k=2, which="SA", v0=np.linspace(1, 2, len(a)))
        return vectors[:, np.argsort(values)[1]]

    yield "SciPy eigsh, f64", arpack
    try:
        import torch
    except ImportError:
        return
    yield "PyTorch, f64", lambda a: torch.linalg.eigh(torch.from_numpy(a))[1][:, 1].numpy()


def fiedler(program, edges, options):
    with tempfile.TemporaryDirectory() as folder:
        given, out = pathlib.Path(folder, "graph.txt"), pathlib.Path(folder, "out.npz")
        given.write_text("".join(f"{i} {j} {weight!r}\n" for i, j, weight in edges))
        command = [program, "encode", str(given), "-o", str(out), "-k", "2", "--laplacian", "combinatorial", "--method", "exact"]
        subprocess.run(command + options, check=True, capture_output=True, env={**os.environ, "FIEDLER_CACHE_BYTES": "0"})
        found = np.load(out)
        ids = found["node_ids"] if "node_ids" in found else np.arange(2 * GROUP)
        return found["eigenvectors"][np.argsort([int(one) for one in ids]), 1].astype(np.float64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fiedler")
    parser.add_argument("--adapter")
    o = parser.parse_args()
    mp.mp.dps = 80
    side = ["--backend", "gpu", "--adapter", o.adapter] if o.adapter else ["--backend", "cpu"]
    own = [("fiedler, f64", ["--precision", "f64", "--backend", "cpu"]), (f"fiedler, f32{' on ' + o.adapter if o.adapter else ''}", side)]
    for exponent in EXPONENTS:
        given = edges(10.0**-exponent)
        values, vectors = mp.eigsy(laplacian(given, mp.zeros))
        place = sorted(range(2 * GROUP), key=lambda i: values[i])[1]
        truth = np.array([float(vectors[i, place]) for i in range(2 * GROUP)])
        dense = laplacian(given, lambda n: np.zeros((n, n)))
        found = [(name, solve(dense)) for name, solve in peers()] + [(name, fiedler(o.fiedler, given, options)) for name, options in own]
        for name, vector in found:
            vector = vector * np.sign(vector @ truth)
            print(json.dumps({"solver": name, "weight": 10.0**-exponent, "error": float(np.linalg.norm(vector - truth))}), flush=True)


main()
