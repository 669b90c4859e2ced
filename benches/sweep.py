#!/usr/bin/env python3
"""Measures the Python package beside the fastest of NumPy, SciPy, PyTorch and scikit-learn, on shapes that are drawn by
chance, so that no shape can be tuned.

    python benches/sweep.py --seed 20261128 [--rows 165] [--only matmul,cov] [--json ROWS.jsonl] [--svg PICTURE.svg]

A row is one call on arrays in memory, in float32 or float64. Orders, lengths and batches are drawn from log-uniform
distributions, and a third of the rows are single calls. Before a row is timed, its result is compared with the first
peer's: a row that differs, or is refused, is an error. Medians are compared. The last line has the number of rows that
are slower than the best peer, the number below 0.8 of its speed, the 5 % quantile and the median of the ratios. Needs a
release build of the package, numpy, scipy, torch and scikit-learn.
"""
import argparse
import json
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.fft
import scipy.sparse.linalg
import sklearn.decomposition
import torch

import fiedler.sklearn
from fiedler import fft, linalg, stats

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
LARGEST = 4e6  # elements of an operand
TOLERANCE = {np.dtype(np.float32): 2e-4, np.dtype(np.float64): 1e-9}


class Draw:
    """Draws shapes and arrays of one precision."""

    def __init__(self, rng, dtype):
        self.rng, self.dtype = rng, np.dtype(dtype)

    def size(self, low, high):
        return int(round(np.exp(self.rng.uniform(np.log(low), np.log(high)))))

    def batch(self, elements, most=LARGEST):
        """Returns the leading axes: none for a third of the rows."""
        if self.rng.random() < 1 / 3 or most < 2 * elements:
            return ()
        return (self.size(1, most / elements),)

    def real(self, *shape):
        return self.rng.standard_normal(shape).astype(self.dtype)

    def complex(self, *shape):
        parts = self.rng.standard_normal((*shape, 2)).astype(self.dtype)
        return parts.view(np.result_type(self.dtype, np.complex64))[..., 0]

    def length(self):
        """Returns a length of a transform: a power of two, a round number, a smooth number, a prime, or any."""
        n = self.size(4, 300_000)
        match self.rng.integers(5):
            case 0:
                return 1 << (n.bit_length() - 1)
            case 1:
                return max(5, round(n, 1 - len(str(n))))
            case 2:
                return scipy.fft.next_fast_len(n)
            case 3:
                while any(n % d == 0 for d in range(2, int(n**0.5) + 1)):
                    n += 1
        return n

    def symmetric(self):
        n = self.size(2, 1200)
        a = self.real(*self.batch(n * n), n, n)
        return a + a.swapaxes(-1, -2)

    def table(self, columns, most=LARGEST):
        return self.real(self.size(10, max(11, most / columns)), columns)


# Each family returns what describes the row, our call, the calls of the peers, and what of a result is compared.


def eigh(draw):
    a = draw.symmetric()
    x = torch.from_numpy(a)
    return a.shape, lambda: linalg.eigh(a), [lambda: np.linalg.eigh(a), lambda: torch.linalg.eigh(x)], lambda w: w[0]


def eigvalsh(draw):
    a = draw.symmetric()
    x = torch.from_numpy(a)
    return a.shape, lambda: linalg.eigvalsh(a), [lambda: np.linalg.eigvalsh(a), lambda: torch.linalg.eigvalsh(x)], np.asarray


def svd(draw):
    m, n = draw.size(2, 3000), draw.size(2, 600)
    if draw.rng.random() < 0.4:
        m, n = n, m
    a = draw.real(*draw.batch(m * n, 1e6), m, n)
    x = torch.from_numpy(a)
    thin = {"full_matrices": False}
    peers = [lambda: np.linalg.svd(a, **thin), lambda: torch.linalg.svd(x, **thin)]
    return a.shape, lambda: linalg.svd(a, **thin), peers, lambda usv: usv[1]


def matmul(draw):
    m, k, n = (draw.size(1, 3000) for _ in range(3))
    lead = () if m * k * n > 3e7 else draw.batch(max(m * k, k * n, m * n))
    a, b = draw.real(*lead, m, k), draw.real(*lead, k, n)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    return f"{a.shape} @ {b.shape}", lambda: linalg.matmul(a, b), [lambda: a @ b, lambda: x @ y], np.asarray


def transform(draw, name, make, *lengths, most=LARGEST):
    a = make(*draw.batch(int(np.prod(lengths)), most), *lengths)
    x = torch.from_numpy(a)
    peer, other = getattr(scipy.fft, name), getattr(torch.fft, name)
    own = getattr(fft, name)
    return a.shape, lambda: own(a), [lambda: peer(a, workers=THREADS), lambda: other(x)], np.asarray


def complex_fft(draw):
    return transform(draw, "fft", draw.complex, draw.length())


def rfft(draw):
    return transform(draw, "rfft", draw.real, draw.length())


def fft2(draw):
    return transform(draw, "fft2", draw.complex, draw.size(4, 2048), draw.size(4, 2048), most=2e6)


def irfft(draw):
    n = draw.length()
    a = np.fft.rfft(draw.real(*draw.batch(n), n)).astype(np.result_type(draw.dtype, np.complex64))
    x = torch.from_numpy(a)
    peers = [lambda: scipy.fft.irfft(a, n, workers=THREADS), lambda: torch.fft.irfft(x, n)]
    return f"{a.shape}, n = {n}", lambda: fft.irfft(a, n), peers, np.asarray


def cosine(draw):
    n, name, kind = draw.length(), str(draw.rng.choice(["dct", "dst", "idct", "idst"])), int(draw.rng.integers(1, 5))
    a = draw.real(*draw.batch(n), n)
    own, peer = getattr(fft, name), getattr(scipy.fft, name)
    return f"{name} {kind} {a.shape}", lambda: own(a, kind), [lambda: peer(a, kind, workers=THREADS)], np.asarray


def fftn(draw):
    return transform(draw, "fftn", draw.complex, *(draw.size(2, 128) for _ in range(3)), most=2e6)


def hermitian(draw):
    n = draw.size(2, 600)
    a = draw.complex(*draw.batch(n * n, 1e6), n, n)
    a = a + a.swapaxes(-1, -2).conj()
    x = torch.from_numpy(a)
    return a.shape, lambda: linalg.eigh(a), [lambda: np.linalg.eigh(a), lambda: torch.linalg.eigh(x)], lambda w: w[0]


def eigsh(draw):
    n, k = draw.size(50, 50_000), draw.size(1, 20)
    a = scipy.sparse.random(n, n, draw.size(2, 20) / n, "csr", draw.dtype, draw.rng)
    a, which = a + a.T, str(draw.rng.choice(["LA", "SA", "LM"]))
    peer = scipy.sparse.linalg.eigsh
    label = f"{a.shape}, {a.nnz} entries, k = {k}, {which}"
    return label, lambda: linalg.eigsh(a, k, which=which), [lambda: peer(a, k, which=which)], lambda found: np.sort(found[0])


def cov(draw):
    a = draw.table(draw.size(2, 3000))
    x = torch.from_numpy(a)
    peers = [lambda: np.cov(a, rowvar=False, dtype=a.dtype), lambda: torch.cov(x.T)]
    return a.shape, lambda: stats.cov(a, rowvar=False), peers, np.asarray


def pca(draw):
    columns = draw.size(3, 2000)
    a = draw.table(columns) * np.linspace(3, 1, columns, dtype=draw.dtype)
    k = int(draw.rng.integers(1, max(2, min(*a.shape, 64))))
    own, peer = fiedler.sklearn.PCA(k), sklearn.decomposition.PCA(k, random_state=0)
    # scikit-learn may choose a randomized solver, whose values are estimates.
    return f"{a.shape}, k = {k}", lambda: own.fit(a).explained_variance_, [lambda: peer.fit(a).explained_variance_], None


def describe(draw):
    a = draw.table(draw.size(1, 1000))
    x = torch.from_numpy(a)
    peers = [
        lambda: (a.mean(0), a.var(0), a.min(0), a.max(0)),
        lambda: (x.mean(0), x.var(0), x.amin(0), x.amax(0)),
    ]
    return a.shape, lambda: stats.describe(a, axis=0), peers, None


def quantile(draw):
    a, q = draw.table(draw.size(1, 1000), 2e6), [0.1, 0.5, 0.9]
    return a.shape, lambda: stats.quantile(a, q, axis=0), [lambda: np.quantile(a, q, axis=0)], np.asarray


FAMILIES = {
    "eigh": eigh,
    "eigvalsh": eigvalsh,
    "svd": svd,
    "matmul": matmul,
    "fft": complex_fft,
    "rfft": rfft,
    "irfft": irfft,
    "cosine": cosine,
    "fft2": fft2,
    "fftn": fftn,
    "hermitian": hermitian,
    "eigsh": eigsh,
    "cov": cov,
    "pca": pca,
    "describe": describe,
    "quantile": quantile,
}


def difference(mine, theirs):
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    if mine.shape != theirs.shape:
        return float("inf")
    return float(np.abs(mine - theirs).max(initial=0) / max(np.abs(theirs).max(initial=0), 1e-30))


def medians(calls, seconds):
    """Returns the median time of each call. Between two of them is a rest, because the threads of some libraries go on
    spinning for a while after a call."""
    found = []
    for call in calls:
        time.sleep(0.02)
        call()
        times, began = [], time.perf_counter()
        while len(times) < 5 or (len(times) < 200 and time.perf_counter() - began < seconds):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
            if len(times) >= 3 and time.perf_counter() - began > 4 * seconds:
                break
        found.append(statistics.median(times))
    return found


def measured(name, draw, seconds):
    label, ours, peers, values = FAMILIES[name](draw)
    row = {"family": name, "dtype": draw.dtype.name, "shape": str(label)}
    try:
        found = ours()
        off = 0.0 if values is None else difference(values(found), values(peers[0]()))
        if not off <= TOLERANCE[draw.dtype]:
            return row | {"error": f"differs by {off:.1e}"}
    except Exception as error:  # whatever a user would see
        return row | {"error": f"{type(error).__name__}: {error}"}
    own, *others = medians([ours, *peers], seconds)
    return row | {"seconds": own, "peer": min(others), "ratio": min(others) / own}


def summary(rows):
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    wrong = len(rows) - len(ratios)
    if not ratios:
        return f"{len(rows)} rows, {wrong} wrong or refused"
    below = [sum(ratio < least for ratio in ratios) for least in (1, 0.8)]
    low, middle = np.quantile(ratios, [0.05, 0.5])
    figures = f"slower {below[0]}, below 0.8 {below[1]}, 5 % quantile {low:.2f}, median {middle:.2f}, lowest {min(ratios):.2f}"
    return f"{len(rows)} rows, {wrong} wrong or refused: {figures}"


def picture(rows, file):
    """Draws the ratios over the time of the best peer, a dot a row."""
    rows = [row for row in rows if "ratio" in row]
    names = list(dict.fromkeys(row["family"] for row in rows))
    hue = {name: 360 * i // len(names) for i, name in enumerate(names)}

    def x(row):
        return 60 + 100 * (np.log10(row["peer"]) + 7)

    def y(ratio):
        return 260 - 100 * np.log10(min(max(ratio, 0.05), 100))

    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 420" font-family="sans-serif" font-size="12">']
    lines.append('<rect width="900" height="420" fill="white"/>')
    for ratio in (0.1, 1, 10, 100):
        color = "#444" if ratio == 1 else "#ddd"
        lines.append(f'<path d="M60 {y(ratio):.0f}H790" stroke="{color}"/><text x="8" y="{y(ratio) + 4:.0f}">{ratio}x</text>')
    for power, name in enumerate(("100 ns", "1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s")):
        lines.append(f'<text x="{60 + 100 * power}" y="410" text-anchor="middle">{name}</text>')
    for row in rows:
        place = f'cx="{x(row):.0f}" cy="{y(row["ratio"]):.0f}" r="4" fill="hsl({hue[row["family"]]} 70% 45%)"'
        told = f'{row["family"]} {row["dtype"]} {row["shape"]}: {row["ratio"]:.2f}'
        lines.append(f"<circle {place} fill-opacity='0.7'><title>{told}</title></circle>")
    for i, name in enumerate(names):
        lines.append(f'<circle cx="806" cy="{40 + 20 * i}" r="4" fill="hsl({hue[name]} 70% 45%)"/>')
        lines.append(f'<text x="816" y="{44 + 20 * i}">{name}</text>')
    lines.append('<text x="60" y="16">times as fast as the best peer, over the time of the best peer</text></svg>')
    Path(file).write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rows", type=int, default=165)
    parser.add_argument("--only", default=",".join(FAMILIES), help="families, separated by commas")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each call of a row")
    parser.add_argument("--json", help="a file to which rows are appended")
    parser.add_argument("--svg", help="a picture of the rows")
    call = parser.parse_args()

    warnings.simplefilter("ignore")
    torch.set_num_threads(THREADS)
    rng, names, rows = np.random.default_rng(call.seed), call.only.split(","), []
    for i in range(call.rows):
        dtype = (np.float32, np.float64)[i // len(names) % 2]
        row = measured(names[i % len(names)], Draw(rng, dtype), call.seconds)
        rows.append(row | {"seed": call.seed})
        if "error" in row:
            print(f"ERROR {row['family']} {row['dtype']} {row['shape']}: {row['error']}", flush=True)
        if call.json:
            with open(call.json, "a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    for row in sorted((row for row in rows if "ratio" in row), key=lambda row: row["ratio"]):
        label = f"{row['family']} {row['dtype']} {row['shape']}"
        print(f"{row['ratio']:7.2f}  {label:56}  {row['seconds'] * 1e3:10.4f} ms  best peer {row['peer'] * 1e3:10.4f} ms")
    if call.svg:
        picture(rows, call.svg)
    print(summary(rows))
    sys.exit(any("error" in row for row in rows))


if __name__ == "__main__":
    main()
