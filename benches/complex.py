"""Complex decompositions and products of fiedler beside those of NumPy and torch.

    PYTHONPATH=python python benches/complex.py

The three libraries take turns for each shape. A time is the median of the calls, in microseconds per matrix.
"""

import statistics
import time

import numpy as np
import torch
from fiedler import linalg

DECOMPOSED = [(8, 4096), (16, 2048), (32, 512), (64, 128), (100, 16), (3, 1), (20, 1), (100, 1), (400, 1)]
RECTANGULAR = [(8, 8, 1000), (32, 32, 100), (100, 100, 1), (200, 50, 4)]


def median(call):
    call()
    times, begun = [], time.perf_counter()
    while len(times) < 7 or time.perf_counter() - begun < 0.2:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def compare(name, dtype, shape, count, *calls):
    ours, *theirs = (median(call) / count * 1e6 for call in calls)
    print(f"| {name} {dtype.__name__}, {shape} | " + " | ".join(f"{x:.2f}" for x in (*theirs, ours)), end="")
    print(f" | {min(theirs) / ours:.2f} |", flush=True)


print("| microseconds per matrix | NumPy | torch | fiedler | best peer by fiedler |\n|---|---|---|---|---|")
rng = np.random.default_rng(0)
for dtype in (np.complex64, np.complex128):
    for n, count in DECOMPOSED:
        a = (rng.standard_normal((count, n, n)) + 1j * rng.standard_normal((count, n, n))).astype(dtype)
        a += a.conj().swapaxes(1, 2)
        x = torch.from_numpy(a)
        calls = [lambda: linalg.eigh(a), lambda: np.linalg.eigh(a), lambda: torch.linalg.eigh(x)]
        compare("eigh", dtype, f"{count} of {n} x {n}", count, *calls)
    for m, n, count in RECTANGULAR:
        a = (rng.standard_normal((count, m, n)) + 1j * rng.standard_normal((count, m, n))).astype(dtype)
        b = a.conj().swapaxes(1, 2).copy()
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        thin = {"full_matrices": False}
        calls = [lambda: linalg.svd(a, **thin), lambda: np.linalg.svd(a, **thin), lambda: torch.linalg.svd(x, **thin)]
        compare("svd", dtype, f"{count} of {m} x {n}", count, *calls)
        calls = [lambda: linalg.matmul(a, b), lambda: a @ b, lambda: x @ y]
        compare("matmul", dtype, f"{count} of {m} x {n} x {m}", count, *calls)
