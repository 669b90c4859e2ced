"""Eigenvalues of weighted Laplacians relative to themselves, by mpmath with 60 digits:

    python3 tests/graphs/golden/relative.py > tests/graphs/golden/relative.txt

A line has the family, the number of nodes, the normalization, the nonzero eigenvalues in ascending order, and after `|` the
eigenvector of the first. tests/graphs/relative.rs makes the same graphs.
"""
import pathlib, sys
import mpmath as mp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
from random64 import SplitMix64

SIZES = [4, 5, 7, 10, 13, 17, 22, 29, 40, 60]
FAMILIES = ["bridges", "affinity", "path", "complete", "tree", "pieces"]


class Weights(SplitMix64):
    def weight(self, exponent):
        return mp.ldexp((1 << 23) + self.below(1 << 23), exponent - 23)


def edges(family, n):
    r = Weights(7 * n + 1)
    found = {}

    def add(i, j, exponent):
        found.setdefault((i, j), r.weight(exponent))

    if family == "affinity":
        points = [[r.below(9) for _ in range(3)] for _ in range(n)]
    for i in range(1, n):
        if family == "bridges":
            for j in range(i):
                add(j, i, 0 if i % 3 == j % 3 else -40)
        elif family == "affinity":
            for j in range(i):
                add(j, i, -min(sum((a - b) ** 2 for a, b in zip(points[i], points[j])), 100))
        elif family == "path":
            add(i - 1, i, -r.below(41))
        elif family == "complete":
            for j in range(i):
                add(j, i, -r.below(47))
        elif family == "tree":
            j = r.below(i)
            add(j, i, r.below(61) - 30)
        else:
            first = 0 if i < n // 2 else n // 2
            if i > first:
                j = first + r.below(i - first)
                add(j, i, r.below(67) - 33)
            for j in range(first, i):
                if r.below(4) == 0:
                    add(j, i, r.below(67) - 33)
    return found


def main():
    mp.mp.dps = 60
    for family in FAMILIES:
        for n in SIZES:
            w = mp.zeros(n)
            for (i, j), weight in edges(family, n).items():
                w[i, j] = w[j, i] = weight
            degrees = [mp.fsum(w[i, j] for j in range(n)) for i in range(n)]
            for normalization in ["Combinatorial", "Symmetric"]:
                scale = [1 / mp.sqrt(d) if normalization == "Symmetric" else mp.mpf(1) for d in degrees]
                matrix = mp.matrix(n, n)
                for i in range(n):
                    for j in range(n):
                        matrix[i, j] = ((degrees[i] if i == j else 0) - w[i, j]) * scale[i] * scale[j]
                values, vectors = mp.eigsy(matrix)
                order = sorted(range(n), key=lambda i: values[i])[2 if family == "pieces" else 1 :]
                shown = [mp.nstr(values[i], 20) for i in order]
                vector = [mp.nstr(vectors[i, order[0]], 20) for i in range(n)]
                print(family, n, normalization, *shown, "|", *vector)
                sys.stdout.flush()


main()
