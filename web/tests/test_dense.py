"""Dense operations of the browser against NumPy in float64, by the gates of docs/accuracy.md."""

from __future__ import annotations

import numpy as np
import pytest

from sameness import EPS


def symmetric(rng, count, n):
    a = rng.standard_normal((count, n, n)).astype(np.float32)
    return a + a.transpose(0, 2, 1)


def norms(a):
    """The 1-norms of matrices, or 1 for those of zeros."""
    found = np.abs(a).sum(axis=-2).max(axis=-1, initial=0)
    return np.where(found == 0, 1, found)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 16, 33, 64])
def test_eigh(either, n):
    rng = np.random.default_rng(n)
    # Random matrices, one whose eigenvalues all coincide, and one of zeros.
    a = np.concatenate([symmetric(rng, 5, n), np.eye(n, dtype=np.float32)[None], np.zeros((1, n, n), np.float32)])
    found = either.eigh(a.ravel(), n, {"backend": either.side})
    assert found["status"] == ["Converged"] * len(a) and found["choice"]["side"] == either.side
    w = found["values"].reshape(-1, n).astype(np.float64)
    v = found["vectors"].reshape(-1, n, n).astype(np.float64)
    a = a.astype(np.float64)
    residual = np.linalg.norm(a @ v - v * w[:, None, :], axis=1).max(axis=-1) / norms(a)
    orthogonality = np.abs(v.transpose(0, 2, 1) @ v - np.eye(n)).max(axis=(1, 2))
    assert (residual <= 10 * n * EPS).all() and (orthogonality <= 10 * n * EPS).all()
    assert (np.diff(w, axis=-1) >= 0).all()
    truth = np.linalg.eigvalsh(a)
    assert (np.abs(w - truth).max(axis=-1) <= max(30, n / 3) * EPS * norms(a)).all()
    for certificate in ("residual", "orthogonality"):
        assert (found[certificate] <= 10 * n * EPS).all() and len(found[certificate]) == len(a)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (4, 4), (9, 5), (5, 9), (33, 16), (64, 3)])
def test_svd(either, m, n):
    rng = np.random.default_rng(m * 100 + n)
    r = min(m, n)
    a = rng.standard_normal((4, m, n)).astype(np.float32)
    a[3] = np.outer(np.arange(1, m + 1), np.arange(1, n + 1)) / (m * n)  # of rank 1
    found = either.svd(a.ravel(), m, n, {"backend": either.side})
    assert found["status"] == ["Converged"] * 4 and found["choice"]["side"] == either.side
    s = found["s"].reshape(4, r).astype(np.float64)
    u = found["u"].reshape(4, m, -1).astype(np.float64)
    vt = found["vt"].reshape(4, -1, n).astype(np.float64)
    a = a.astype(np.float64)
    most = 15 * max(m, n) * EPS
    size = np.linalg.norm(a, axis=(1, 2))
    assert (np.abs((u[:, :, :r] * s[:, None]) @ vt[:, :r] - a).max(axis=(1, 2)) <= most * size).all()
    for basis in (u.transpose(0, 2, 1) @ u, vt @ vt.transpose(0, 2, 1)):
        assert np.abs(basis - np.eye(basis.shape[-1])).max() <= most
    assert (np.abs(s - np.linalg.svd(a, compute_uv=False)).max(axis=-1) <= most * size).all()
    assert (np.diff(s, axis=-1) <= 0).all()
    assert (found["residual"] <= most).all() and (found["orthogonality"] <= most).all()


@pytest.mark.parametrize("length", [1, 2, 8, 15, 64, 97, 1000, 4096])
@pytest.mark.parametrize("inverse", [False, True])
def test_fft(either, length, inverse):
    """Any length, the inverse scaled by 1 / length as in NumPy."""
    rng = np.random.default_rng(length)
    x = (rng.standard_normal((3, length)) + 1j * rng.standard_normal((3, length))).astype(np.complex64)
    found = either.fft(x.view(np.float32).ravel(), length, {"inverse": inverse, "backend": either.side})
    assert found["choice"]["side"] == either.side
    got = found["values"].view(np.complex64).reshape(3, length)
    truth = (np.fft.ifft if inverse else np.fft.fft)(x.astype(np.complex128))
    away = np.linalg.norm(got - truth, axis=-1) / np.linalg.norm(truth, axis=-1)
    assert (away <= 5 * EPS * (1 + np.log2(length))).all(), away
