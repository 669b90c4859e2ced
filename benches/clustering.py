"""Times spectral clustering beside scikit-learn, embedding and labels apart, both sides in turn in one process.

    python benches/clustering.py [--samples 20000 200000] [--repeat 3]

The graph of nearest neighbors is the same code on both sides, and is timed once. Shown are medians, how many times as
long scikit-learn takes, and how far the labels agree. Put the result into benches/results/ with the machine and the
date.
"""

import argparse
import statistics
import time
import warnings

import numpy as np
import sklearn.cluster
from sklearn.datasets import make_blobs
from sklearn.manifold import spectral_embedding
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

import fiedler.sklearn
from fiedler._spectral import _embedding


def seconds(call):
    began = time.perf_counter()
    found = call()
    return time.perf_counter() - began, found


def in_turn(repeat, *calls):
    """Returns the median time of each call, and its last result."""
    times, found = [[] for _ in calls], [None for _ in calls]
    for _ in range(repeat):
        for place, call in enumerate(calls):
            took, found[place] = seconds(call)
            times[place].append(took)
    return [statistics.median(one) for one in times], found


def line(what, ours, theirs, more=""):
    print(f"  {what}: fiedler {ours:.2f} s, scikit-learn {theirs:.2f} s, {theirs / ours:.2f}x as long{more}", flush=True)


def compare(samples, clusters, neighbors, repeat):
    # Blobs that overlap, so that the graph is connected.
    points, _ = make_blobs(samples, 3, centers=clusters, cluster_std=2.5, random_state=0)
    took, near = seconds(lambda: kneighbors_graph(points, neighbors, include_self=True))
    graph = 0.5 * (near + near.T)
    print(f"{samples} points, {graph.nnz} affinities, {clusters} clusters; neighbors {took:.2f} s")
    words = {"n_components": clusters, "drop_first": False, "random_state": 0}
    (ours, theirs), (one, other) = in_turn(
        repeat, lambda: _embedding(graph, clusters, np.float64, None), lambda: spectral_embedding(graph, **words)
    )
    left, right = (np.linalg.qr(x)[0] for x in (one, other))
    angle = np.linalg.norm(left - right @ (right.T @ left), 2)
    line("embedding", ours, theirs, f"; the largest angle between them {angle:.1e}")
    words = {"n_clusters": clusters, "affinity": "precomputed", "random_state": 0}
    for labels in ("kmeans", "cluster_qr"):
        kinds = (fiedler.sklearn.SpectralClustering, sklearn.cluster.SpectralClustering)
        calls = [lambda kind=kind: kind(assign_labels=labels, **words).fit(graph).labels_ for kind in kinds]
        (whole, their_whole), found = in_turn(repeat, *calls)
        line(f"with labels by {labels}", whole, their_whole, f"; rand score {adjusted_rand_score(*found):.3f}")
        line("  labels alone", max(whole - ours, 1e-9), max(their_whole - theirs, 1e-9))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--neighbors", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    call = parser.parse_args()
    # A graph that is not connected is told once by either side.
    warnings.filterwarnings("once", message="Graph is not fully connected")
    for samples in call.samples:
        compare(samples, call.clusters, call.neighbors, call.repeat)


if __name__ == "__main__":
    main()
