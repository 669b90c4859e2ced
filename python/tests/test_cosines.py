"""Cosine and sine transforms beside SciPy and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft

import fiedler
from fiedler import fft
from gates import layouts

ONE = ["dct", "idct", "dst", "idst"]
LENGTHS = [1, 2, 3, 4, 5, 8, 9, 16, 31, 64, 97, 100, 1009, 1024]


def matrix(name, kind, n):
    """The matrix of a transform, from its definition. The angles are exact multiples of pi / 4n before they are rounded."""
    j, k = np.arange(n, dtype=np.int64), np.arange(n, dtype=np.int64)[:, None]
    cosine = name == "dct"
    if kind == 1:
        m = n - 1 if cosine else n + 1
        turns, period = (k * j if cosine else (k + 1) * (j + 1)), 2 * m
        weight = np.where((j == 0) | (j == n - 1), 1, 2) if cosine else np.full(n, 2)
    elif kind == 2:
        turns, period = (k if cosine else k + 1) * (2 * j + 1), 4 * n
        weight = np.full(n, 2)
    elif kind == 3:
        turns, period = (2 * k + 1) * (j if cosine else j + 1), 4 * n
        weight = np.where(j == (0 if cosine else n - 1), 1, 2)
    else:
        turns, period = (2 * k + 1) * (2 * j + 1), 8 * n
        weight = np.full(n, 2)
    angles = 2 * np.pi * (turns % period) / period
    return weight * (np.cos(angles) if cosine else np.sin(angles))


def near(found, truth, n, dtype):
    """The relative error in the 2-norm is at most 4 eps log2 2n, as `ops::fft::dct` promises.

    The truth itself, a sum of n products, has an error of sqrt(n) eps in f64.
    """
    allowed = 4 * np.finfo(dtype).eps * np.log2(2 * n) + np.sqrt(n) * 2**-52
    assert found.shape == truth.shape
    assert np.linalg.norm(found - truth) <= allowed * max(np.linalg.norm(truth), 1e-300)


@pytest.mark.parametrize("name", ["dct", "dst"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", LENGTHS)
def test_definitions(name, kind, dtype, n):
    # Few lines, and as many as are computed in lanes.
    for lines in (1, 40):
        x = np.random.default_rng(n).standard_normal((lines, n)).astype(dtype)
        if (name, kind, n) == ("dct", 1, 1):
            with pytest.raises(fiedler.DomainError, match="at least two elements"):
                fft.dct(x, 1)
            return
        truth = x.astype(np.float64) @ matrix(name, kind, n).T
        found = getattr(fft, name)(x, kind)
        assert found.dtype == dtype
        for ours, theirs in zip(found, truth):
            near(ours, theirs, n, dtype)
        near(getattr(fft, name)(x.T.copy(), kind, axis=0), truth.T, n, dtype)
        back = getattr(fft, f"i{name}")(found, kind)
        near(back, x, 4 * n**2, dtype)  # twice the bound


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("orthogonalize", [None, True, False])
@pytest.mark.parametrize("n", [None, 3, 8, 11])
def test_norms_and_lengths(name, kind, norm, orthogonalize, n):
    x = np.random.default_rng(1).standard_normal((3, 8, 2))
    more = {"type": kind, "n": n, "axis": 1, "norm": norm, "orthogonalize": orthogonalize}
    np.testing.assert_allclose(getattr(fft, name)(x, **more), getattr(scipy.fft, name)(x, **more), atol=1e-13)
    z = x + 1j * x[::-1]
    found = getattr(fft, name)(z.astype(np.complex64), **more)
    assert found.dtype == np.complex64
    # SciPy forgets `orthogonalize` for complex numbers.
    parts = [getattr(scipy.fft, name)(part, **more) for part in (z.real, z.imag)]
    np.testing.assert_allclose(found, parts[0] + 1j * parts[1], atol=2e-5)


@pytest.mark.parametrize("name", ["dctn", "idctn", "dstn", "idstn"])
@pytest.mark.parametrize("seed", range(16))
def test_several_axes_from_a_seed(name, seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 9, size=rng.integers(1, 5)))
    x = rng.standard_normal(shape)
    several = int(rng.integers(1, len(shape) + 1))
    axes = tuple(int(axis) for axis in rng.permutation(len(shape))[:several])
    more = {
        "type": int(rng.integers(1, 5)),
        "s": [None, tuple(int(n) for n in rng.integers(2, 10, size=several))][seed % 2],
        "axes": axes,
        "norm": [None, "ortho", "forward"][seed % 3],
        "orthogonalize": [None, True, False][int(rng.integers(3))],
    }
    np.testing.assert_allclose(getattr(fft, name)(x, **more), getattr(scipy.fft, name)(x, **more), atol=1e-12)
    np.testing.assert_allclose(getattr(fft, name)(x), getattr(scipy.fft, name)(x), atol=1e-10)
    np.testing.assert_array_equal(getattr(fft, name)(x, axes=()), x)
    np.testing.assert_allclose(
        getattr(fft, name)(x, s=4, axes=0), getattr(scipy.fft, name)(x, s=4, axes=0), atol=1e-12
    )


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("of", [fft.dct, fft.dst])
def test_every_layout_and_library(kind, of):
    x = np.random.default_rng(2).standard_normal((3, 4, 10))
    truth = of(x, kind, axis=1)
    for name, made in layouts(x).items():
        assert of(made, kind, axis=1).tobytes() == truth.tobytes(), name
    assert of(np.zeros((0, 5)), kind).shape == (0, 5)
    assert of(np.arange(6), kind).dtype == np.float64
    assert of(np.arange(6, dtype=np.float16), kind).dtype == np.float32
    torch = pytest.importorskip("torch")
    made = of(torch.from_numpy(x), kind, axis=1)
    assert isinstance(made, torch.Tensor) and made.numpy().tobytes() == truth.tobytes()
    with pytest.raises(TypeError, match="x: cannot use a tensor that requires grad"):
        of(torch.from_numpy(x).requires_grad_(), kind)
    jnp = pytest.importorskip("jax.numpy")
    made = of(jnp.asarray(x, dtype=jnp.float32), kind, axis=1)
    assert isinstance(made, jnp.ndarray)
    np.testing.assert_allclose(made, truth, atol=1e-4)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("of", [fft.dct, fft.dst])
def test_scales_and_lines_that_are_not_finite(kind, of):
    x = np.random.default_rng(3).standard_normal((20, 24))
    truth = of(x, kind)
    for power in (-1000, 900):
        np.testing.assert_array_equal(of(x * 2.0**power, kind), truth * 2.0**power)
    tiny = of((x * 2.0**-140).astype(np.float32), kind).astype(np.float64)
    # The smallest float32 is 2^-149, which rounds the input and the result.
    np.testing.assert_allclose(tiny, truth * 2.0**-140, atol=200 * 2.0**-149, rtol=1e-5)
    x[3, 5] = np.nan
    found = of(x, kind)
    assert np.all(np.isnan(found[3]))
    np.testing.assert_array_equal(np.delete(found, 3, 0), np.delete(truth, 3, 0))


@pytest.mark.parametrize("name", ["dct", "dst"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_a_device(name, kind, adapter):
    context = fiedler.Context(device="gpu", adapter=adapter)
    for n in (2, 15, 48):
        x = np.random.default_rng(n).standard_normal((7, n)).astype(np.float32)
        truth = x.astype(np.float64) @ matrix(name, kind, n).T
        found = getattr(fft, name)(x, kind, context=context)
        assert found.dtype == np.float32
        for ours, theirs in zip(found, truth):
            near(ours, theirs, n, np.float32)
        near(getattr(fft, name)(x.T.copy(), kind, axis=0, context=context), truth.T, n, np.float32)
        back = getattr(fft, f"i{name}")(found, kind, context=context)
        near(back, x, 4 * n**2, np.float32)  # twice the bound
        pairs = getattr(fft, name)(x + 1j * x[::-1], kind, context=context)
        near(pairs, truth + 1j * truth[::-1], n, np.float32)
    with pytest.raises(fiedler.DomainError, match="no device kernel computes in f64"):
        getattr(fft, name)(np.ones(4), kind, context=context)


def test_bad_calls():
    for call, error, words in [
        (lambda: fft.dct(np.ones(4), 5), fiedler.DomainError, "type: expected 1, 2, 3 or 4, found 5"),
        (lambda: fft.dct(np.ones(4), 2.0), TypeError, "type: expected an integer"),
        (lambda: fft.dst(np.ones(4), n=0), fiedler.DomainError, "n: expected at least one element"),
        (lambda: fft.dct(np.ones(4), axis=1), np.exceptions.AxisError, "axis"),
        (lambda: fft.dct(np.ones(4), norm="none"), ValueError, "norm: expected 'backward'"),
        (lambda: fft.dct(np.ones(4), orthogonalize=1), TypeError, "orthogonalize: expected True or False"),
        (lambda: fft.dct(np.array(["a"])), TypeError, "x: expected an array of"),
        (lambda: fft.dctn(np.ones((4, 4)), s=(2, 2, 2), axes=(0, 1)), fiedler.ShapeError, "s: expected a length"),
        (lambda: fft.dct(np.ones(4), device="gpu"), fiedler.Error, "CPU|adapter"),  # float64
    ]:
        with pytest.raises(error, match=words):
            call()
