"""fiedler.linalg beside NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import fiedler
from fiedler import linalg
from gates import check_factors, check_pairs, check_values, layouts

LEADS = [(), (1,), (3,), (2, 3), (0,), (2, 0)]


def symmetric(lead, n, dtype, seed=0):
    a = np.random.default_rng(seed).standard_normal((*lead, n, n))
    return (a + a.swapaxes(-1, -2)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 33])
def test_eigh(dtype, lead, n):
    a = symmetric(lead, n, dtype)
    w, v = found = linalg.eigh(a)
    assert (w.shape, v.shape) == ((*lead, n), (*lead, n, n))
    assert w.dtype == v.dtype == dtype
    check_pairs(a, w, v)
    assert np.all(np.diff(w, axis=-1) >= 0)
    assert all(part.shape == lead for part in found.certificates)
    assert not np.any(found.certificates.status)
    check_values(a, linalg.eigvalsh(a), np.finfo(dtype).eps)
    assert linalg.eigvalsh(a).shape == (*lead, n)


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigh_reads_one_triangle(uplo):
    a = symmetric((3,), 7, np.float64)
    half = np.tril(a) if uplo == "L" else np.triu(a)
    other = np.triu(np.full((7, 7), 1e3), 1) if uplo == "L" else np.tril(np.full((7, 7), 1e3), -1)
    w, v = linalg.eigh(half + other, uplo)
    check_pairs(a, w, v)
    np.testing.assert_allclose(w, np.linalg.eigh(half + other, uplo).eigenvalues, atol=1e-12)
    check_values(a, linalg.eigvalsh(half + other, uplo), 2**-52)


@pytest.mark.parametrize("which", ["smallest", "largest"])
def test_eigh_subset(which):
    a = symmetric((2,), 12, np.float64)
    w, v = linalg.eigh(a, k=3, which=which)
    truth = np.linalg.eigvalsh(a)
    np.testing.assert_allclose(w, truth[:, :3] if which == "smallest" else truth[:, -3:], atol=1e-12)
    np.testing.assert_allclose(a @ v, v * w[:, None], atol=1e-12)
    assert v.shape == (2, 12, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (1, 4), (4, 1), (6, 6), (9, 4), (4, 9)])
def test_svd(dtype, lead, shape):
    a = np.random.default_rng(1).standard_normal((*lead, *shape)).astype(dtype)
    for full in (True, False):
        truth = np.linalg.svd(a, full_matrices=full)
        u, s, vh = linalg.svd(a, full_matrices=full)
        assert (u.shape, s.shape, vh.shape) == tuple(part.shape for part in truth)
        assert u.dtype == s.dtype == vh.dtype == dtype
        check_factors(a, u, s, vh)
    np.testing.assert_allclose(linalg.svdvals(a), np.linalg.svd(a, compute_uv=False), atol=40 * np.finfo(dtype).eps)
    assert linalg.svd(a, compute_uv=False).shape == truth[1].shape


def test_svd_truncated():
    rng = np.random.default_rng(2)
    a = rng.standard_normal((2, 60, 3)) @ rng.standard_normal((2, 3, 40))
    found = linalg.svd_truncated(a, 3)
    np.testing.assert_allclose(found.U * found.S[:, None] @ found.Vh, a, atol=1e-10)
    np.testing.assert_allclose(found.S, np.linalg.svd(a, compute_uv=False)[:, :3], rtol=1e-10)
    assert found.missed.shape == (2,)
    assert np.all(found.missed < 1e-7)
    again = linalg.svd_truncated(a, 3)
    assert all(np.array_equal(x, y) for x, y in zip(found, again))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4, 5)),
        ((4,), (4,)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((2, 3, 4), (2, 4, 1)),
        ((2, 3, 0), (2, 0, 5)),
        ((0, 3, 4), (4, 5)),
        ((0, 4), (4, 0)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 5)),
    ],
)
def test_matmul(dtype, shapes):
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    found, truth = linalg.matmul(a, b), np.matmul(a.astype(np.float64), b.astype(np.float64))
    assert found.shape == truth.shape
    assert found.dtype == dtype
    bound = np.matmul(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
    terms = shapes[0][-1]
    assert np.all(np.abs(found - truth) <= 4 * np.finfo(dtype).eps * np.sqrt(max(terms, 1)) * bound)


def test_large_results_keep_their_memory_and_give_it_back():
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((700, 3)), rng.standard_normal((3, 700))
    kept = linalg.matmul(a, b)
    part, place = kept[5:9], kept.ctypes.data
    assert kept.flags.writeable and kept.flags.c_contiguous and kept.nbytes > 1 << 20
    del kept
    again = [linalg.matmul(2 * a, b) for _ in range(3)]
    assert np.allclose(part, a[5:9] @ b) and all(np.allclose(one, 2 * a @ b) for one in again)
    assert place not in [one.ctypes.data for one in again]
    again[0][:] = 7
    assert np.allclose(again[1], 2 * a @ b)
    places = {one.ctypes.data for one in again}
    del again, part
    assert linalg.matmul(a, b).ctypes.data in places | {place}


def test_matmul_of_different_types():
    assert linalg.matmul(np.ones((2, 2), np.float32), np.ones((2, 2), np.float64)).dtype == np.float64
    assert linalg.matmul(np.ones((2, 2), np.int64), np.ones((2, 2), bool)).dtype == np.float64
    with pytest.raises(fiedler.ShapeError, match="as many columns"):
        linalg.matmul(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(fiedler.ShapeError, match="broadcast"):
        linalg.matmul(np.ones((2, 3, 3)), np.ones((4, 3, 3)))
    with pytest.raises(fiedler.ShapeError, match="axes"):
        linalg.matmul(np.ones((2, 2)), 3.0)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_layout_gives_the_same_bits(lead, dtype):
    a, b = symmetric(lead, 6, dtype), symmetric(lead, 6, dtype, seed=5)
    w, v = linalg.eigh(a)
    u, s, vh = linalg.svd(b)
    product = linalg.matmul(a, b)
    for name, x in layouts(a).items():
        before = x.tobytes()
        y = layouts(b)[name]
        again = linalg.eigh(x)
        assert again.eigenvalues.tobytes() == w.tobytes(), name
        assert again.eigenvectors.tobytes() == v.tobytes(), name
        assert all(one.tobytes() == other.tobytes() for one, other in zip(linalg.svd(y), (u, s, vh))), name
        assert linalg.matmul(x, y).tobytes() == product.tobytes(), name
        assert x.tobytes() == before, name


def test_integers_booleans_halves_and_lists():
    exact = linalg.eigh([[2, 1], [1, 2]])
    assert exact.eigenvalues.dtype == np.float64
    for dtype in (np.int8, np.uint16, np.int64):
        np.testing.assert_array_equal(linalg.eigh(np.array([[2, 1], [1, 2]], dtype)).eigenvalues, exact.eigenvalues)
    assert linalg.eigvalsh(np.array([[True, False], [False, True]])).dtype == np.float64
    assert linalg.eigvalsh(np.eye(2, dtype=np.float16)).dtype == np.float32
    for wrong in (np.eye(2, dtype=np.clongdouble), np.array([["a"]]), np.array([[None]]), np.eye(2, dtype=np.longdouble)):
        what = "a: expected an array of float16, float32, float64, complex64, complex128, integers or booleans"
        with pytest.raises(TypeError, match=what):
            linalg.eigh(wrong)


def hermitian(lead, n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((*lead, n, n)) + 1j * rng.standard_normal((*lead, n, n))
    return (a + a.conj().swapaxes(-1, -2)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 33])
def test_complex(dtype, lead, n):
    eps = np.finfo(dtype).eps
    a = hermitian(lead, n, dtype)
    w, v = found = linalg.eigh(a)
    assert (w.shape, v.shape) == ((*lead, n), (*lead, n, n))
    assert (w.dtype, v.dtype) == (np.finfo(dtype).dtype, dtype)
    assert not np.any(found.certificates.status)
    unit = 10 * max(n, 1) * eps
    norm = np.abs(a).sum(-1).max(-1, initial=0)[..., None, None]
    wide = v.astype(np.complex128)
    assert np.all(np.abs(a @ wide - wide * w[..., None, :]) <= unit * norm)
    assert np.all(np.abs(wide.conj().swapaxes(-1, -2) @ wide - np.eye(n)) <= unit)
    truth = np.linalg.eigvalsh(a.astype(np.complex128))
    assert np.all(np.abs(w - truth) <= unit * norm[..., 0])
    assert np.all(np.abs(linalg.eigvalsh(a) - truth) <= unit * norm[..., 0])
    # Either triangle; the imaginary part of the diagonal is not read.
    for uplo, half in (("L", np.tril(a)), ("U", np.triu(a))):
        other = linalg.eigh((half + 1j * np.eye(n)).astype(dtype), uplo)
        assert np.all(np.abs(other.eigenvalues - w) <= unit * norm[..., 0])
        vectors = other.eigenvectors.astype(np.complex128)
        assert np.all(np.abs(a @ vectors - vectors * other.eigenvalues[..., None, :]) <= 2 * unit * norm)
    if n > 1:
        some = linalg.eigh(a, k=2, which="largest")
        assert np.array_equal(some.eigenvalues, w[..., -2:]) and np.array_equal(some.eigenvectors, v[..., -2:])
    # An entry of largest magnitude, up to 1 in 2000, is real and positive.
    if w.size:
        large = np.abs(v) >= np.abs(v).max(-2, keepdims=True) * (1 - 5e-4 - eps)
        assert np.all(np.any(large & (v.real > 0) & (v.imag == 0), axis=-2))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 4), (6, 6), (9, 4), (2, 4, 9)])
def test_complex_svd_and_products(dtype, shape):
    rng, eps = np.random.default_rng(1), np.finfo(dtype).eps
    a = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    for full in (False, True):
        u, s, vh = linalg.svd(a, full_matrices=full)
        theirs = np.linalg.svd(a, full_matrices=full)
        assert [x.shape for x in (u, s, vh)] == [x.shape for x in theirs] and u.dtype == dtype
        k = s.shape[-1]
        np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, atol=200 * eps)
        np.testing.assert_allclose(s, theirs.S, atol=200 * eps)
        np.testing.assert_allclose(linalg.svdvals(a), s, atol=200 * eps)
    b = (rng.standard_normal((*shape[:-2], shape[-1], 3)) + 0j).astype(dtype)
    for left, right in ((a, b), (a, b.real), (a.real, b), (a, b[..., 0, :, 0] if a.ndim > 2 else b[:, 0])):
        made = linalg.matmul(left, right)
        np.testing.assert_allclose(made, left @ right, atol=200 * eps)
        assert made.dtype == (left @ right).dtype


def test_bad_shapes_and_words():
    with pytest.raises(fiedler.ShapeError, match="square"):
        linalg.eigh(np.ones((2, 3)))
    with pytest.raises(fiedler.ShapeError, match="two axes"):
        linalg.svd(np.ones(3))
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(np.eye(2), "X")
    with pytest.raises(fiedler.DomainError, match="smallest or largest"):
        linalg.eigh(np.eye(2), k=1, which="middle")
    with pytest.raises(fiedler.Error, match="3"):
        linalg.eigh(np.eye(2), k=3)
    with pytest.raises(ValueError, match="which"):
        linalg.eigsh(scipy.sparse.eye_array(4).tocsr(), which="LM")


def test_one_bad_matrix_does_not_affect_the_others():
    a = symmetric((3,), 4, np.float64)
    truth = linalg.eigh(a)
    a[1, 2, 0] = np.nan
    found = linalg.eigh(a)
    assert found.certificates.status.tolist() == [0, 2, 0]
    assert np.all(np.isnan(found.eigenvalues[1]))
    for i in (0, 2):
        assert np.array_equal(found.eigenvectors[i], truth.eigenvectors[i])
    with pytest.raises(fiedler.UncertifiedError, match="1 of 3 matrices.*matrix 1: a NaN or an infinity"):
        found.certificates.raise_for_status()
    truth.certificates.raise_for_status()


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
        linalg.eigsh(np.eye(3))


def test_results_unpack_as_numpys_do():
    w, v = linalg.eigh(np.eye(2))
    u, s, vh = linalg.svd(np.eye(2))
    assert linalg.eigh(np.eye(2))._fields == np.linalg.eigh(np.eye(2))._fields
    assert linalg.svd(np.eye(2))._fields == np.linalg.svd(np.eye(2))._fields
    assert all(isinstance(part, np.ndarray) for part in (w, v, u, s, vh))
