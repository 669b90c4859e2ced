"""When two encodings are the same: the rules of tests/graphs/sameness.rs, and the gates of docs/accuracy.md."""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float32).eps)
STATUS = ["Converged", "NotConverged", "NonFinite", "Unresolved"]


def laplacian(n, edges, kind="symmetric"):
    """The Laplacian of an undirected graph without weights, in float64."""
    w = np.zeros((n, n))
    w[edges[:, 0], edges[:, 1]] = w[edges[:, 1], edges[:, 0]] = 1
    degrees = w.sum(axis=1)
    if kind == "combinatorial":
        return np.diag(degrees) - w
    inverse = np.divide(1, degrees, out=np.zeros(n), where=degrees > 0)
    if kind == "random-walk":
        return np.diag((degrees > 0).astype(float)) - inverse[:, None] * w
    roots = np.sqrt(inverse)
    return np.diag((degrees > 0).astype(float)) - roots[:, None] * w * roots


def spectrum(n, edges, kind):
    """The true eigenvalues. The random-walk Laplacian is similar to the symmetric one."""
    return np.linalg.eigvalsh(laplacian(n, edges, "symmetric" if kind == "random-walk" else kind))


def arrays(encoding):
    """An encoding of the browser, with the names, types and shapes of the command's .npz."""
    graphs, k, nodes = encoding["graphs"], encoding["k"], encoding["nodes"]
    return {
        "eigenvalues": encoding["eigenvalues"].reshape(graphs, k),
        "eigenvectors": encoding["eigenvectors"].reshape(nodes, k),
        "node_offsets": encoding["nodeOffsets"].astype(np.int64),
        "residual": encoding["residual"],
        "orthogonality": encoding["orthogonality"],
        "status": np.asarray([STATUS.index(word) for word in encoding["status"]], np.uint8),
        "components": encoding["components"].astype(np.int64),
        "tie_group": encoding["tieGroup"].astype(np.int64).reshape(graphs, k),
        "mask": encoding["mask"].reshape(graphs, k),
        "tie_cut": encoding["tieCut"],
    }


def allowed(truth, value):
    """How far two entries of eigenvectors of `value` may be apart: 1e-4, or 1e-6 divided by the gap to the next
    distinct eigenvalue. The solver's error, about 1e-7 |L|, turns an eigenvector by this error divided by the gap.
    """
    resolution = 16 * EPS * abs(truth[-1])
    first = last = int(np.argmin(np.abs(truth - value)))
    while first > 0 and truth[first] - truth[first - 1] <= resolution:
        first -= 1
    while last + 1 < len(truth) and truth[last + 1] - truth[last] <= resolution:
        last += 1
    below = truth[first] - truth[first - 1] if first > 0 else np.inf
    above = truth[last + 1] - truth[last] if last + 1 < len(truth) else np.inf
    return max(1e-6 / min(below, above), 1e-4)


def gates(n, k):
    """What residual and departure from orthogonality may be: of iterations on sparse matrices, and of `eigh`."""
    iterated = n >= max(300 + 5 * k, 8 * k)
    return (2e-6, 1e-5) if iterated else (10 * max(n, 1) * EPS, 10 * max(n, 1) * EPS)


def compare(graphs, kind, got, want):
    """Compares two encodings, as the arrays of the .npz, graph by graph."""
    assert np.array_equal(got["node_offsets"], want["node_offsets"])
    assert len(got["status"]) == len(graphs)
    for name in ("components", "mask", "tie_group", "tie_cut"):
        differ = [g for g in range(len(graphs)) if not np.array_equal(got[name][g], want[name][g])]
        assert not differ, f"{name} differs in the graphs {differ}"
    assert not got["status"].any() and not want["status"].any(), (got["status"], want["status"])
    for g, (n, edges) in enumerate(graphs):
        rows = slice(got["node_offsets"][g], got["node_offsets"][g + 1])
        assert rows.stop - rows.start == n
        mask = want["mask"][g] == 1
        where = f"graph {g} of {n} nodes, {kind}"
        a, b = got["eigenvectors"][rows], want["eigenvectors"][rows]
        assert not a[:, ~mask].any() and np.isnan(got["eigenvalues"][g, ~mask]).all(), where
        if not mask.any():
            continue
        truth = spectrum(n, edges, kind)
        x, y = (one["eigenvalues"][g, mask].astype(np.float64) for one in (got, want))
        # Each eigenvalue is off by at most 30 eps |L|, and |L|_1 is at most twice the largest eigenvalue.
        assert (np.abs(x - y) <= 60 * EPS * 2 * abs(truth[-1])).all(), f"{where}: {x} and {y}"
        for j, value in zip(np.flatnonzero(mask), y):
            away = np.abs(a[:, j] - b[:, j]).max()
            assert away <= allowed(truth, value), f"{where}: vector {j} (value {value:.6f}) is {away:.1e} away"


def certified(graphs, kind, got):
    """Checks certificates: below their gates, and true of the eigenpairs that they come with."""
    k = got["eigenvalues"].shape[1]
    for g, (n, edges) in enumerate(graphs):
        where = f"graph {g} of {n} nodes, {kind}"
        residual, orthogonality = float(got["residual"][g]), float(got["orthogonality"][g])
        most = gates(n, k)
        assert residual <= most[0] and orthogonality <= most[1], f"{where}: {residual:.1e}, {orthogonality:.1e}"
        mask = got["mask"][g] == 1
        matrix = laplacian(n, edges, kind)
        rows = slice(got["node_offsets"][g], got["node_offsets"][g + 1])
        v = got["eigenvectors"][rows][:, mask].astype(np.float64)
        w = got["eigenvalues"][g, mask].astype(np.float64)
        norm = np.abs(matrix).sum(axis=0).max(initial=0.0) or 1.0
        worst = np.linalg.norm(matrix @ v - v * w, axis=0).max(initial=0.0) / norm
        # Both compute it in f64 from the same f32 pairs; the certificate is stored in f32.
        assert abs(residual - worst) <= 1e-6 * worst + 1e-12, f"{where}: {residual:e} certified, in truth {worst:e}"
        if kind != "random-walk":  # there, the vectors of the similar symmetric matrix are orthogonal
            worst = np.abs(v.T @ v - np.eye(v.shape[1])).max(initial=0.0)
            assert abs(orthogonality - worst) <= 1e-6 * worst + 1e-12, f"{where}: {orthogonality:e}, {worst:e}"


def same_bits(one, other):
    """Checks that two encodings have the same bytes."""
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert (array.dtype, array.shape) == (other[name].dtype, other[name].shape), name
        assert array.tobytes() == other[name].tobytes(), name
