#!/usr/bin/env python3
"""Writes tournament.json: scores of pairs of groups of bit strings, as published, with numpy 2.4 and scipy 1.17.

    python3 tournament.py > tournament.json

The bits come from a linear congruential generator, so that the file has results alone. `pairs` has, for each pair, the
divergences of the shares of ones, of the joint shares, of the differences, the composite, that of the histogram, and
the bins of the histogram that are not empty. `targets` has, for each pair, entries of the distribution on the grid, at
every 97th place, and its divergence from the uniform distribution.
"""
import json

import numpy as np
from scipy.stats import entropy

LENGTH, POSITIONS = 70, 64
COUNTS, ONES = [40, 50, 37], [0.5, 0.55, 0.6]


def strings():
    """Returns the bits of each group. A later position has more ones."""
    state, groups = 1, []
    for count, ones in zip(COUNTS, ONES):
        group = np.zeros((count, LENGTH), dtype=int)
        for s in range(count):
            for i in range(LENGTH):
                state = (1664525 * state + 1013904223) % 2**32
                group[s, i] = (state >> 8) / 2**24 < ones + i / 1000
        groups.append(group)
    return groups


def divergence(x, y):
    x, y = np.abs(x) + 1e-10, np.abs(y) + 1e-10
    p, q = x / x.sum(), y / y.sum()
    return (entropy(p, q) + entropy(q, p)) / 2


def vectors(group):
    own = group[:, :POSITIONS]
    f = own.mean(axis=0)
    joint = (own.T @ own) / len(own)
    return f, joint.ravel(), np.abs(f[:, None] - f[None, :]).ravel()


def histogram(group):
    return np.histogram(group.mean(axis=1), bins=20, range=(0, 1), density=True)[0]


def target(f1, f2):
    grid = f2[None, :] - f1[:, None]
    grid = grid - grid.min()
    return (grid / grid.sum()).ravel()


groups = strings()
found = {"pairs": [], "targets": []}
for a in range(len(groups)):
    for b in range(a + 1, len(groups)):
        scores = [divergence(x, y) for x, y in zip(vectors(groups[a]), vectors(groups[b]))]
        scores.append(0.2 * scores[0] + 0.4 * scores[1] + 0.4 * scores[2])
        bins = [histogram(groups[a]), histogram(groups[b])]
        scores.append(divergence(*bins))
        found["pairs"].append([float(s) for s in scores] + [int(((bins[0] + bins[1]) > 0).sum())])
        p = target(vectors(groups[a])[0], vectors(groups[b])[0])
        uniform = np.full(len(p), 1 / len(p))
        found["targets"].append({"entries": p[::97].tolist(), "divergence": float(entropy(p, uniform))})
print(json.dumps(found))
