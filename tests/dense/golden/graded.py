"""Singular values and eigenvalues of graded matrices, by mpmath with 100 digits:

    python3 tests/dense/golden/graded.py > tests/dense/golden/graded.txt

A line has the family, the decades, the order, the condition number of B, and the values in descending order.
tests/dense/graded.rs makes the same matrices.
"""
import pathlib, sys
import mpmath as mp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
from random64 import SplitMix64

ORDERS = [2, 3, 5, 8, 13, 24, 40]
FAMILIES = ["BD", "DB", "DBE", "DCD"]


def matrices(family, decades, n):
    """Returns B, or C = B' = B, and the diagonals of the matrices before and after it."""
    r = SplitMix64(1000 * decades + n)
    rows = n if family == "DCD" else n + n % 3
    b = mp.zeros(rows, n)
    for i in range(rows):
        for j in range(n):
            if family == "DCD" and j > i:
                continue
            b[i, j] = (i == j) + mp.ldexp(r.below(1 << 20) - (1 << 19), -23)
            if family == "DCD":
                b[j, i] = b[i, j]
    binary = {12: 41, 30: 101}[decades]
    left = [mp.ldexp(1, -r.below(binary)) for _ in range(rows)]
    right = [mp.ldexp(1, -r.below(binary)) for _ in range(n)]
    one = mp.mpf(1)
    if family == "BD":
        left = [one] * rows
    if family == "DB":
        right = [one] * n
    if family == "DCD":
        right = left
    return b, left, right


def main():
    mp.mp.dps = 100
    for decades in [12, 30]:
        for family in FAMILIES:
            for n in ORDERS:
                b, left, right = matrices(family, decades, n)
                a = mp.matrix(b.rows, n)
                for i in range(b.rows):
                    for j in range(n):
                        a[i, j] = left[i] * b[i, j] * right[j]
                own = mp.svd_r(b, compute_uv=False)
                values = mp.eigsy(a, eigvals_only=True) if family == "DCD" else mp.svd_r(a, compute_uv=False)
                values = sorted(values, reverse=True)
                print(family, decades, n, mp.nstr(max(own) / min(own), 5), *[mp.nstr(x, 20) for x in values])
                sys.stdout.flush()


main()
