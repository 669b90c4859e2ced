"""Cuts a mesh into eight parts by Fiedler vectors, and clusters points in rings, both at a size of your choice.

    pip install fiedler numpy scikit-learn
    python examples/mesh.py                      # a million nodes, 100,000 points
    python examples/mesh.py --nodes 20000 --points 5000 --image parts.png

docs/tutorials/mesh.md tells what it does and what it finds. The image needs matplotlib.
"""

import argparse
import time
import warnings

import fiedler
import numpy as np
from fiedler.sklearn import SpectralClustering
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score


def plate(nodes):
    """A triangulated plate with nine slits, alternately from above and from below, as in a heat exchanger: the places of
    its nodes (n, 2), and its edges (2, m).
    """
    height = round((nodes / 1.92) ** 0.5)  # the slits take 4 % of two squares
    y, x = np.mgrid[:height, : 2 * height] / height
    slit = np.rint(5 * x)
    in_slit = (np.abs(x - slit / 5) < 0.005) & (slit % 10 != 0) & np.where(slit % 2 == 1, y < 0.85, y > 0.15)
    kept = ~in_slit
    number = np.where(kept, np.cumsum(kept).reshape(kept.shape) - 1, -1)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:]), (number[:-1, :-1], number[1:, 1:])]
    edges = np.concatenate([np.stack([a, b]).reshape(2, -1) for a, b in pairs], axis=1)
    return np.stack([x[kept], y[kept]], axis=1), edges[:, (edges >= 0).all(axis=0)]


def halves(along):
    """The half of the nodes with the larger numbers; ties are cut by the order of the nodes."""
    upper = np.zeros(len(along), dtype=bool)
    upper[np.argsort(along, kind="stable")[len(along) // 2 :]] = True
    return upper


def by_fiedler_vector(places, edges):
    """Spectral bisection (Pothen, Simon and Liou 1990): the second eigenvector varies as little as it can along edges."""
    found = fiedler.encode(edges, k=2, laplacian="combinatorial", num_nodes=len(places), cache=False)
    return halves(found.eigenvectors[:, 1])


def by_coordinate(places, edges):
    """What one does without a solver: a straight cut across the longer side."""
    return halves(places[:, np.ptp(places, axis=0).argmax()])


def parts(places, edges, bisect, levels=3):
    """Cuts the nodes into 2^levels parts of the same size, each half by itself."""
    part = np.zeros(len(places), dtype=int)
    for _ in range(levels):
        whole, part = part, 2 * part
        for one in range(whole.max() + 1):
            own = np.flatnonzero(whole == one)
            number = np.full(len(places), -1)
            number[own] = np.arange(len(own))
            inside = number[edges]
            part[own] += bisect(places[own], inside[:, (inside >= 0).all(axis=0)])
    return part


def rings(points, seed=0):
    """Points on three rings around one center, and the ring of each."""
    random = np.random.default_rng(seed)
    ring = random.integers(3, size=points)
    angle, radius = random.uniform(0, 2 * np.pi, points), 1 + ring + random.normal(0, 0.1, points)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), ring


def rows(nodes, points):
    """For each way of cutting and of clustering, its name, its seconds and what it reached."""
    places, edges = plate(nodes)
    for bisect in (by_coordinate, by_fiedler_vector):
        start = time.perf_counter()
        part = parts(places, edges, bisect)
        seconds = time.perf_counter() - start
        cut = int((part[edges[0]] != part[edges[1]]).sum())
        yield bisect.__name__, seconds, f"{cut:,} of {edges.shape[1]:,} edges cut", (places, part)
    x, ring = rings(points)
    warnings.filterwarnings("ignore", "Graph is not fully connected")  # the rings are its components
    spectral = SpectralClustering(3, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=0)
    for name, estimator in (("KMeans", KMeans(3, n_init=3, random_state=0)), ("SpectralClustering", spectral)):
        start = time.perf_counter()
        labels = estimator.fit_predict(x)
        seconds = time.perf_counter() - start
        yield name, seconds, f"adjusted Rand index {adjusted_rand_score(ring, labels):.3f}", (x, labels)


def draw(found, path):
    """Draws both partitions side by side."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 2.6), layout="constrained")
    for axis, (name, _, reached, (places, part)) in zip(axes, found[:2], strict=True):
        row, column = np.rint(places.T[::-1] * (len(np.unique(places[:, 1])))).astype(int)
        picture = np.full((row.max() + 1, column.max() + 1), np.nan)
        picture[row, column] = part
        axis.imshow(picture, cmap="Set2", vmin=0, vmax=7, interpolation="nearest")
        axis.set_title(f"{name}: {reached}", fontsize=9)
        axis.axis("off")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--image", help="where to write an image of the partitions")
    options = parser.parse_args()
    found = []
    for row in rows(options.nodes, options.points):
        print(f"{row[0]:20} {row[1]:8.1f} s   {row[2]}", flush=True)
        found.append(row)
    if options.image:
        draw(found, options.image)
