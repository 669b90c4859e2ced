"""How far results may be from the truth, relative to the matrices, and eigenvectors as subspaces."""

from __future__ import annotations

import numpy as np


def _norms(a):
    """The 1-norms of matrices, or 1 for those of zeros."""
    norms = np.abs(a).sum(axis=-2).max(axis=-1, initial=0.0)
    return np.where(norms == 0, 1.0, norms)


def check_pairs(a, w, v):
    """Checks all eigenpairs of symmetric matrices by LAPACK's measures, in float64."""
    eps = np.finfo(np.asarray(w).dtype).eps
    a, w, v = (np.asarray(x, dtype=np.float64) for x in (a, w, v))
    n = max(a.shape[-1], 1)
    norms = _norms(a)
    residual = np.abs(a @ v - v * w[..., None, :]).max(axis=(-2, -1), initial=0.0)
    assert np.all(residual <= 10 * n * eps * norms)
    gram = np.abs(v.swapaxes(-1, -2) @ v - np.eye(v.shape[-1])).max(axis=(-2, -1), initial=0.0)
    assert np.all(gram <= 10 * n * eps)
    check_values(a, w, eps)


def check_values(a, w, eps):
    """Checks all eigenvalues of symmetric matrices against LAPACK's in float64."""
    truth = np.linalg.eigvalsh(np.asarray(a, dtype=np.float64))
    n = max(a.shape[-1], 1)
    off = np.abs(np.asarray(w, dtype=np.float64) - truth).max(axis=-1, initial=0.0)
    assert np.all(off <= max(30, n / 3) * eps * _norms(a))


def check_factors(a, u, s, vh):
    """Checks a singular value decomposition by its residual, its orthogonality and LAPACK's singular values."""
    eps = np.finfo(np.asarray(s).dtype).eps
    a, u, s, vh = (np.asarray(x, dtype=np.float64) for x in (a, u, s, vh))
    n = max(*a.shape[-2:], 1)
    k = s.shape[-1]
    norms = np.linalg.norm(a, axis=(-2, -1))
    norms = np.where(norms == 0, 1, norms)
    rebuilt = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
    assert np.all(np.abs(rebuilt - a).max(axis=(-2, -1), initial=0.0) <= 15 * n * eps * norms)
    for basis in (u.swapaxes(-1, -2) @ u, vh @ vh.swapaxes(-1, -2)):
        assert np.abs(basis - np.eye(basis.shape[-1])).max(initial=0.0) <= 15 * n * eps
    truth = np.linalg.svd(a, compute_uv=False)
    assert np.all(np.abs(s - truth).max(axis=-1, initial=0.0) <= 15 * n * eps * norms)
    assert np.all(np.diff(s, axis=-1) <= 0)


def spans(found, truth, values, tolerance):
    """Checks that vectors span what the true ones span, group by group of equal values.

    ``truth`` may have more columns than ``found``: a group that ``found`` cuts has to be inside the true one.
    """
    found, truth = (np.asarray(x, dtype=np.float64) for x in (found, truth))
    first = 0
    while first < found.shape[1]:
        group = np.flatnonzero(np.abs(values - values[first]) < 1e-5)
        basis = truth[:, group]
        own = found[:, first : min(group[-1] + 1, found.shape[1])]
        assert np.abs(own - basis @ (basis.T @ own)).max(initial=0.0) < tolerance
        first = group[-1] + 1


def layouts(x):
    """The same numbers in C and Fortran order, strided, reversed, read-only, and with the other order of bytes."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    backward = np.ascontiguousarray(np.flip(x))
    fixed = x.copy()
    fixed.flags.writeable = False
    made = {
        "C": np.ascontiguousarray(x),
        "F": np.asfortranarray(x),
        "strided": wide[..., ::2],
        "reversed": np.flip(backward),
        "read-only": fixed,
        "swapped bytes": x.astype(x.dtype.newbyteorder()),
    }
    unaligned = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    made["unaligned"] = unaligned
    return made
