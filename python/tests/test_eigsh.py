"""fiedler.linalg.eigsh beside SciPy's and dense decompositions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import fiedler
from fiedler import linalg


def symmetric(n, seed=0, density=0.05):
    rng = np.random.default_rng(seed)
    a = scipy.sparse.random_array((n, n), density=density, rng=rng, data_sampler=rng.standard_normal)
    return (a + a.T).tocsr()


@pytest.mark.parametrize("which", ["SA", "LA"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_eigsh(which, dtype):
    rng = np.random.default_rng(4)
    a = scipy.sparse.random_array((300, 300), density=0.02, rng=rng)
    a = (a + a.T + scipy.sparse.diags_array(np.arange(300.0))).tocsr().astype(dtype)
    truth = np.linalg.eigvalsh(a.toarray().astype(np.float64))
    w, v = found = linalg.eigsh(a, k=4, which=which)
    assert w.dtype == v.dtype == dtype
    scale = truth[-1] * (2e-6 if dtype == np.float32 else 1e-9)
    np.testing.assert_allclose(w, truth[:4] if which == "SA" else truth[-4:], atol=scale)
    assert np.abs(a @ v - v * w).max() < 3 * scale
    assert not np.any(found.certificates.status)
    assert found.null_space == 0


def test_eigsh_of_parts_in_any_format():
    rows, columns = [0, 0, 1, 1, 2], [0, 0, 1, 2, 1]
    a = scipy.sparse.coo_array((np.array([1.0, 2.0, 5.0, 1.0, 1.0]), (rows, columns)), shape=(40, 40))
    truth = np.linalg.eigvalsh(a.toarray())
    for made in (a, a.tocsc(), a.tocsr(), scipy.sparse.csr_matrix(a)):
        np.testing.assert_allclose(linalg.eigsh(made, k=2, which="LA").eigenvalues, truth[-2:], atol=1e-9)
    near = linalg.eigsh(scipy.sparse.diags_array(np.arange(50.0)).tocsr(), k=3, sigma=20.2)
    np.testing.assert_allclose(near.eigenvalues, [19, 20, 21], atol=1e-8)


def test_eigsh_of_a_graph():
    ring = np.array([np.arange(50), (np.arange(50) + 1) % 50])
    found = linalg.eigsh(ring, k=3, laplacian="combinatorial")
    truth = 2 - 2 * np.cos(2 * np.pi / 50)
    np.testing.assert_allclose(found.eigenvalues, [0, truth, truth], atol=1e-8)
    assert (found.null_space, found.eigenvectors.shape) == (1, (50, 3))
    with pytest.raises(fiedler.DomainError, match="one graph"):
        linalg.eigsh([ring, ring], laplacian="symmetric")
    with pytest.raises(TypeError, match=r"scipy\.sparse"):
        linalg.eigsh(np.ones(3))


def selected(values, k, which):
    """The k selected of all eigenvalues."""
    n = len(values)
    places = {
        "SA": np.arange(k),
        "LA": np.arange(n - k, n),
        "LM": np.argsort(-np.abs(values))[:k],
        "SM": np.argsort(np.abs(values))[:k],
        "BE": np.r_[: k // 2, n - (k - k // 2) : n],
    }
    return np.sort(values[places[which]])


def judge(a, found, truth, k, which, dtype=np.float64):
    """Values and residuals are within the tolerance, which is relative to the 1-norm, with a tenth more for rounding."""
    norm = np.abs(a).sum(0).max()
    tol = min(64 * np.finfo(dtype).eps, 2e-6) if which != "SM" else 1e-10
    w, v = found
    assert w.dtype == v.dtype == dtype and w.shape == (k,) and v.shape == (len(truth), k)
    np.testing.assert_allclose(w, selected(truth, k, which), rtol=0, atol=(1.1 * tol + 64 * np.finfo(dtype).eps) * norm)
    wide = v.astype(np.float64)
    assert np.linalg.norm(a @ wide - wide * w, axis=0).max(initial=0) <= 1.1 * tol * norm
    # As docs/accuracy.md promises; after a factorization, vectors of close values are less orthogonal.
    apart = 1e-5 if dtype == np.float32 else 1e-8 if which == "SM" else 1e-12
    np.testing.assert_allclose(wide.T @ wide, np.eye(k), atol=apart)
    assert not np.any(found.certificates.status == 1)


@pytest.mark.parametrize("which", ["SA", "LA", "SM", "LM", "BE"])
@pytest.mark.parametrize("kind", ["sparse", "dense", "operator"])
@pytest.mark.parametrize("n", [30, 600])
def test_which(which, kind, n):
    a = symmetric(n, seed=n)
    truth = np.linalg.eigvalsh(a.toarray())
    given = {"sparse": a, "dense": a.toarray(), "operator": scipy.sparse.linalg.aslinearoperator(a)}[kind]
    for k in (1, 6) if n < 100 else (5,):
        judge(a, linalg.eigsh(given, k, which=which), truth, k, which)
        if which != "SM" and (which, k) != ("BE", 1):  # slow, and refused by ARPACK
            theirs = scipy.sparse.linalg.eigsh(a, k, which=which)
            np.testing.assert_allclose(np.sort(theirs[0]), linalg.eigsh(given, k, which=which).eigenvalues, atol=1e-9)
        values = linalg.eigsh(given, k, which=which, return_eigenvectors=False)
        assert isinstance(values, np.ndarray)
        np.testing.assert_array_equal(values, linalg.eigsh(given, k, which=which).eigenvalues)


@pytest.mark.parametrize("kind", ["sparse", "dense", "operator"])
def test_single_precision(kind):
    a = symmetric(600, seed=1).astype(np.float32)
    given = {"sparse": a, "dense": a.toarray(), "operator": scipy.sparse.linalg.aslinearoperator(a)}[kind]
    truth = np.linalg.eigvalsh(a.toarray().astype(np.float64))
    judge(a.astype(np.float64), linalg.eigsh(given, 4, which="LM"), truth, 4, "LM", np.float32)


@pytest.mark.parametrize("factor", [1e-200, 1e-160, 1e200, 1e300])
@pytest.mark.parametrize("kind", ["sparse", "dense", "operator"])
def test_any_scale(factor, kind):
    a = symmetric(600, seed=2)
    truth = np.linalg.eigvalsh(a.toarray())
    b = a * factor
    given = {"sparse": b, "dense": b.toarray(), "operator": scipy.sparse.linalg.aslinearoperator(b)}[kind]
    for which in ("SA", "LM"):
        w, v = found = linalg.eigsh(given, 3, which=which)
        assert not np.any(found.certificates.status)
        np.testing.assert_allclose(w / factor, selected(truth, 3, which), atol=1e-12 * np.abs(truth).max())
        np.testing.assert_allclose(a @ v, v * (w / factor), atol=1e-11)


def test_tolerances():
    a = symmetric(600, seed=3)
    norm = np.abs(a).sum(0).max()
    exact, default, loose = (linalg.eigsh(a, 4, tol=tol) for tol in (0, None, 1e-4))
    of = lambda found: np.linalg.norm(a @ found.eigenvectors - found.eigenvectors * found.eigenvalues, axis=0).max() / norm  # noqa: E731
    assert of(exact) <= 70 * 2**-52 and of(default) <= 1e-10 and of(loose) <= 1e-4
    with pytest.raises(fiedler.DomainError, match="positive tolerance"):
        linalg.eigsh(a, 4, tol=-1.0)


def test_what_scipy_passes():
    a = symmetric(200, seed=4)
    truth = linalg.eigsh(a, 3)
    again = linalg.eigsh(a, 3, None, None, "SA", np.ones(200), 20, 100, 0, True, None, None, "normal")
    np.testing.assert_array_equal(again.eigenvectors, truth.eigenvectors)
    for rng in (7, np.random.default_rng(7)):
        np.testing.assert_allclose(linalg.eigsh(a, 3, rng=rng).eigenvalues, truth.eigenvalues, atol=1e-12)
    near = linalg.eigsh(a, 3, sigma=0.1, which="LM")
    np.testing.assert_allclose(near.eigenvalues, np.sort(scipy.sparse.linalg.eigsh(a, 3, sigma=0.1)[0]), atol=1e-10)
    for call, error, words in [
        ({"M": a}, fiedler.DomainError, "M: expected None, as generalized problems"),
        ({"OPinv": a}, fiedler.DomainError, "OPinv: expected None"),
        ({"mode": "buckling"}, ValueError, "mode"),
        ({"which": "XX"}, ValueError, "which: expected 'SA'"),
        ({"v0": np.ones(3)}, fiedler.ShapeError, "v0: expected 200 elements"),
        ({"ncv": 0}, fiedler.DomainError, "ncv: expected an integer from 1"),
        ({"maxiter": "many"}, TypeError, "maxiter: expected an integer"),
        ({"sigma": 0.0, "which": "BE"}, fiedler.DomainError, "which: expected 'LM' or the default with sigma"),
        ({"return_eigenvectors": 1}, TypeError, "return_eigenvectors: expected True or False"),
    ]:
        with pytest.raises(error, match=words):
            linalg.eigsh(a, 3, **call)


def test_operators_and_arrays_that_do_not_fit():
    operator = scipy.sparse.linalg.LinearOperator
    calls = []

    def product(x):
        calls.append(x.dtype)
        return np.arange(900.0) * x.ravel()

    found = linalg.eigsh(operator((900, 900), product, dtype=np.float64), 2, which="LA")
    np.testing.assert_allclose(found.eigenvalues, [898, 899], atol=1e-9)
    assert set(calls) == {np.dtype(np.float64)} and found.null_space == 0
    again = linalg.eigsh(operator((900, 900), product, dtype=np.float64), 2, which="LA")
    assert again.eigenvectors.tobytes() == found.eigenvectors.tobytes()
    np.testing.assert_allclose(linalg.eigsh(operator((900, 900), product), 2, which="SM").eigenvalues, [0, 1], atol=1e-9)

    def failing(x):
        raise RuntimeError("as asked")

    with pytest.raises(RuntimeError, match="as asked"):
        linalg.eigsh(operator((900, 900), failing, dtype=np.float64), 2)
    with pytest.raises(fiedler.ShapeError, match="square"):
        linalg.eigsh(operator((900, 901), product, dtype=np.float64), 2)
    with pytest.raises(TypeError, match="real numbers"):
        linalg.eigsh(operator((900, 900), product, dtype=np.complex128), 2)
    with pytest.raises(fiedler.DomainError, match=r"symmetric matrix, found 1.0 at \(0, 1\) and 0.0 at \(1, 0\)"):
        linalg.eigsh(np.array([[0.0, 1.0], [0.0, 0.0]]), 1)
    with pytest.raises(fiedler.ShapeError, match="square"):
        linalg.eigsh(np.ones((2, 3)), 1)
    with pytest.raises(fiedler.DomainError, match="not finite"):
        linalg.eigsh(np.full((3, 3), np.nan), 1)
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 50)))[0]
    rounded = q @ np.diag(np.arange(50.0)) @ q.T  # symmetric up to rounding
    np.testing.assert_allclose(linalg.eigsh(rounded, 2, which="LM").eigenvalues, [48, 49], atol=1e-11)


def test_tensors_that_are_dense():
    torch = pytest.importorskip("torch")
    a = torch.diag(torch.arange(20.0, dtype=torch.float64))
    found = linalg.eigsh(a, 2, which="LM")
    assert isinstance(found.eigenvalues, torch.Tensor) and found.eigenvectors.shape == (20, 2)
    torch.testing.assert_close(found.eigenvalues, torch.tensor([18.0, 19.0], dtype=torch.float64))
    with pytest.raises(fiedler.DomainError, match="which: expected 'SA' or 'LA' for a tensor"):
        linalg.eigsh(a.to_sparse(), 2, which="LM")
