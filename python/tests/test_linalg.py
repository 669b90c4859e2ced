"""fiedler.linalg beside NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest

import fiedler
from fiedler import linalg
from gates import check_factors, check_pairs, check_values, layouts

LEADS = [(), (1,), (3,), (2, 3), (0,), (2, 0)]


def symmetric(lead, n, dtype, seed=0):
    a = np.random.default_rng(seed).standard_normal((*lead, n, n))
    return (a + a.swapaxes(-1, -2)).astype(dtype)


def hermitian(lead, n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((*lead, n, n)) + 1j * rng.standard_normal((*lead, n, n))
    a = a + a.conj().swapaxes(-1, -2)
    return (a if np.dtype(dtype).kind == "c" else a.real).astype(dtype)


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


@pytest.mark.parametrize("size", [3, 60])
def test_matmul_of_integers_is_numpys(size):
    # Small products are NumPy's own; larger ones are computed in float64, where that is exact.
    rng = np.random.default_rng(size)
    shapes = [((size, size), (size, size)), ((2, size, size), (size,)), ((size,), (size, 3)), ((size, 0), (0, size))]
    for kind in "?bBhHiIlL":
        info = np.iinfo(kind) if kind != "?" else None
        for part in (1, 1000, 2**28):
            for shape_a, shape_b in shapes:
                low, high = (0, 2) if info is None else (info.min // part, info.max // part + 1)
                draw = lambda shape, low=low, high=high: rng.integers(low, max(high, 2), shape, dtype="uint64" if kind == "L" else "int64")  # noqa: E731
                a, b = draw(shape_a).astype(kind), draw(shape_b).astype(kind)
                found, truth = linalg.matmul(a, b), np.matmul(a, b)
                assert found.dtype == truth.dtype
                np.testing.assert_array_equal(found, truth)
    a, b = np.full((size, size), 2**53 + 1), np.eye(size, dtype=np.int64)
    np.testing.assert_array_equal(linalg.matmul(a, b), a)
    a = np.full((size, 2), np.iinfo(np.int64).min)
    np.testing.assert_array_equal(linalg.matmul(a, a.T), np.matmul(a, a.T))
    mixed = linalg.matmul(np.ones((size, size), np.int8), np.ones((size, size), np.uint16))
    assert mixed.dtype == np.int32 and np.all(mixed == size)
    with pytest.raises(fiedler.ShapeError, match="broadcast"):
        linalg.matmul(np.ones((2, size, size), int), np.ones((3, size, size), int))


def test_out_of_matmul():
    a, b = np.random.default_rng(0).standard_normal((2, 3, 3))
    out = np.empty((3, 3))
    assert linalg.matmul(a, b, out) is out
    np.testing.assert_array_equal(out, linalg.matmul(a, b))
    assert linalg.matmul(np.eye(3, dtype=int), np.eye(3, dtype=int), out=out) is out and np.array_equal(out, np.eye(3))
    with pytest.raises(fiedler.ShapeError, match=r"out: expected the shape \(3, 3\), found \(3,\)"):
        linalg.matmul(a, b, out=np.empty(3))
    with pytest.raises(TypeError, match="out: expected an array that holds float64, found int64"):
        linalg.matmul(a, b, out=np.empty((3, 3), np.int64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("lead", [(), (3,), (0,)])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 33])
def test_svd_of_hermitian_matrices(dtype, lead, n):
    a = hermitian(lead, n, dtype)
    if n > 2:
        a[..., 0, :] = a[..., :, 0] = 0  # a singular value of 0
    eps = np.finfo(dtype).eps
    u, s, vh = found = linalg.svd(np.tril(a), hermitian=True)
    theirs = np.linalg.svd(a.astype(np.complex128), hermitian=True)
    assert (u.shape, s.shape, vh.shape) == tuple(x.shape for x in theirs)
    assert (u.dtype, s.dtype, vh.dtype) == (dtype, np.finfo(dtype).dtype, dtype)
    norm = np.abs(a).sum(-1).max(-1, initial=1)[..., None]
    unit = 10 * max(n, 1) * eps
    assert np.all(np.abs(s - theirs.S) <= unit * norm) and np.all(np.diff(s, axis=-1) <= 0)
    wide = (u.astype(np.complex128), vh.astype(np.complex128))
    assert np.all(np.abs((wide[0] * s[..., None, :]) @ wide[1] - a) <= unit * norm[..., None])
    for q in wide:
        assert np.all(np.abs(q.conj().swapaxes(-1, -2) @ q - np.eye(n)) <= unit)
    np.testing.assert_array_equal(linalg.svd(np.tril(a), compute_uv=False, hermitian=True), linalg.svd(a, True, False, True))
    assert found.certificates.status.shape == lead and not np.any(found.certificates.status)
    with pytest.raises(fiedler.ShapeError, match="square"):
        linalg.svd(np.ones((2, 3)), hermitian=True)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_double_precision_has_numpys_digits(dtype):
    a = hermitian((2,), 40, dtype)
    w, v = found = linalg.eigh(a, precision="f64")
    theirs = np.linalg.eigh(a)
    assert w.dtype == theirs.eigenvalues.dtype and v.dtype == dtype
    # Both round results that are right to about n eps of float64, so that they differ by one rounding at most.
    ulp = np.spacing(np.abs(theirs.eigenvalues))
    assert np.all(np.abs(w - theirs.eigenvalues) <= ulp)
    assert found.certificates.residual.max() < 1e-13 < linalg.eigh(a).certificates.residual.max()
    np.testing.assert_array_less(np.abs(linalg.eigvalsh(a, precision="f64") - theirs.eigenvalues), 1.001 * ulp)
    b = a[:, :30]
    u, s, vh = linalg.svd(b, precision="f64")
    truth = np.linalg.svd(b.astype(np.complex128), compute_uv=False)
    assert (u.dtype, vh.dtype, s.dtype) == (dtype, dtype, w.dtype)
    assert np.all(np.abs(s - truth) <= np.spacing(s)) and np.all(np.abs(linalg.svdvals(b, precision="f64") - truth) <= np.spacing(s))
    wide = a.astype(np.complex128 if dtype == np.complex64 else np.float64)
    np.testing.assert_array_equal(linalg.eigh(wide, precision="f64").eigenvalues, linalg.eigh(wide).eigenvalues)
    with pytest.raises(ValueError, match="precision: expected 'f64' or None, found 'double'"):
        linalg.eigh(a, precision="double")
    with pytest.raises(TypeError, match="precision: expected a text"):
        linalg.svd(a, precision=64)


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
    assert linalg.matmul(np.ones((2, 2), np.int64), np.ones((2, 2), np.float32)).dtype == np.float64
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


def test_results_unpack_as_numpys_do():
    w, v = linalg.eigh(np.eye(2))
    u, s, vh = linalg.svd(np.eye(2))
    assert linalg.eigh(np.eye(2))._fields == np.linalg.eigh(np.eye(2))._fields
    assert linalg.svd(np.eye(2))._fields == np.linalg.svd(np.eye(2))._fields
    assert all(isinstance(part, np.ndarray) for part in (w, v, u, s, vh))
