"""scikit-learn's two moons: the Fiedler vector of their RBF affinities, for NumPy and for fiedler.

The larger gamma is, the weaker are the affinities between the moons, and the smaller is the second eigenvalue of the
normalized Laplacian, whose vector separates them. NumPy loses both below about 1e-15.

    pip install fiedler networkx scikit-learn
    python examples/moons.py
"""

import fiedler
import networkx as nx
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

GAMMAS = [1, 30, 100, 200, 300, 500, 1000]


def agreement(vector, moon):
    """The share of the points whose moon the sign of the vector tells."""
    share = np.mean((vector > 0) == moon)
    return max(share, 1 - share)


def rows():
    """For each gamma: the second eigenvalue and the agreement of its vector, by NumPy and by fiedler, both in f64."""
    points, moon = make_moons(200, noise=0.05, random_state=0)
    for gamma in GAMMAS:
        affinity = rbf_kernel(points, gamma=gamma)
        np.fill_diagonal(affinity, 0)
        scale = 1 / np.sqrt(affinity.sum(axis=1))
        values, vectors = np.linalg.eigh(np.eye(len(points)) - scale[:, None] * affinity * scale)
        found = fiedler.encode([nx.from_numpy_array(affinity)], k=2, method="exact", precision="f64")
        assert not found.status.any()
        yield (gamma, values[1], agreement(vectors[:, 1], moon),
               found.eigenvalues[0, 1], agreement(found.eigenvectors[:, 1], moon))


if __name__ == "__main__":
    print(f"{'gamma':>5} {'NumPy':>10} {'agrees':>7} {'fiedler':>10} {'agrees':>7}")
    for gamma, *found in rows():
        print("{:5} {:10.3e} {:6.1%} {:10.3e} {:7.1%}".format(gamma, *found))
