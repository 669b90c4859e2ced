#!/usr/bin/env python3
"""Measures how accurate small singular values and eigenvalues of graded matrices are, relative to themselves: `fiedler
run` beside LAPACK's drivers, on matrices D B, B D, D B E and D C D with B and C well conditioned and with diagonal
matrices D and E that span decades. The truth is mpmath's, with 100 digits (values of orders up to 40).

    python3 benches/graded.py target/release/fiedler [--orders 8,24,40] [--seed 1] [-- --backend gpu --adapter NAME]

Prints a table in Markdown with the largest error of a value, divided by the value. PyTorch's svd and eigh call sgesdd and
ssyevd (dgesdd, dsyevd in f64); NumPy's call dgesdd and dsyevd. The arguments after `--` are passed to `fiedler run`, which
runs on the CPU by default. Needs numpy, SciPy and mpmath.
"""
import argparse, pathlib, subprocess, sys, tempfile
import mpmath as mp
import numpy as np
from scipy.linalg import lapack


def made(family, decades, n, rng):
    """Returns a matrix whose elements are numbers of f32 if that has their range, and its values in descending order."""
    b = np.eye(n) + rng.integers(-(1 << 19), 1 << 19, (n, n)) / 2.0**23
    if family == "D C D":
        b = np.tril(b) + np.tril(b, -1).T
    left, right = (2.0 ** -rng.integers(0, round(decades / np.log10(2)) + 1, n) for _ in range(2))
    if family == "B D":
        left[:] = 1
    elif family == "D B":
        right[:] = 1
    elif family == "D C D":
        right = left
    a = left[:, None] * b * right
    exact = mp.matrix(a.tolist())
    values = mp.eigsy(exact, eigvals_only=True) if family == "D C D" else mp.svd_r(exact, compute_uv=False)
    return a, sorted(values, reverse=True)


def worst(found, truth):
    return max(float(abs(mp.mpf(float(got)) - want) / want) for got, want in zip(sorted(found, reverse=True), truth))


def own(program, operation, a, options):
    with tempfile.TemporaryDirectory() as folder:
        given, out = pathlib.Path(folder, "a.npy"), pathlib.Path(folder, "out.npz")
        np.save(given, a)
        done = subprocess.run([program, "run", operation, str(given), "-o", str(out), *(options or ["--backend", "cpu"])], capture_output=True, text=True)
        assert done.returncode in (0, 3), done.stderr
        found = np.load(out)
        return found["s" if operation == "svdvals" else "w"].ravel()


def main():
    arguments, _, options = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser()
    parser.add_argument("fiedler")
    parser.add_argument("--orders", default="8,24,40")
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args(arguments.split())
    mp.mp.dps = 100
    rng = np.random.default_rng(o.seed)
    print("| matrix | decades | n | f64: fiedler | dgejsv | dgesdd, dsyevd | f32: fiedler | sgejsv | sgesdd, ssyevd |")
    print("|---|---|---|---|---|---|---|---|---|")
    for family in ("B D", "D B", "D B E", "D C D"):
        for decades in (12, 30):
            for n in map(int, o.orders.split(",")):
                a, truth = made(family, decades, n, rng)
                definite = family == "D C D"
                cells = []
                for kind, gejsv, gesdd, syevd in ((np.float64, lapack.dgejsv, lapack.dgesdd, lapack.dsyevd), (np.float32, lapack.sgejsv, lapack.sgesdd, lapack.ssyevd)):
                    if kind == np.float32 and decades > 12:
                        cells += ["", "", ""]
                        continue
                    narrow = np.asfortranarray(a.astype(kind))
                    found = own(o.fiedler, "eigvalsh" if definite else "svdvals", narrow, options.split() if kind == np.float32 else [])
                    # joba 2: both factors of size are allowed; jobr 0 keeps values below the norm times eps.
                    sva, _, _, work, *_ = gejsv(narrow, joba=2, jobu=3, jobv=3, jobr=0)
                    jacobi = sva * (work[0] / work[1])
                    usual = syevd(narrow, compute_v=0)[0] if definite else gesdd(narrow, compute_uv=0)[1]
                    cells += [f"{worst(x, truth):.0e}" for x in (found, jacobi, usual)]
                print("|", " | ".join([family, str(decades), str(n), *cells]), "|", flush=True)


main()
