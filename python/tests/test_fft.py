"""fiedler.fft beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

import fiedler
from fiedler import fft
from gates import layouts

LENGTHS = [1, 2, 3, 7, 12, 64, 97]


def near(found, truth, dtype):
    """Checks the relative error in the 2-norm, along with shape and type."""
    assert found.shape == truth.shape
    eps = np.finfo(dtype).eps
    norm = np.linalg.norm(truth)
    assert np.linalg.norm(found - truth) <= 4 * eps * max(np.log2(max(truth.size, 2)), 1) * max(norm, 1e-30)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7,), (3, 12), (2, 1, 5), (2, 3, 0, 4)])
def test_defaults_take_a_shorter_way_to_the_same_bits(name, dtype, shape):
    x = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    x = x if name == "rfft" else x + 1j * x[..., ::-1].astype(dtype)
    transform = getattr(fft, name)
    found, want = transform(x), transform(x, axis=x.ndim - 1)
    assert found.dtype == want.dtype and found.shape == want.shape and np.array_equal(found, want)
    x.flags.writeable = False
    assert np.array_equal(transform(x), want)
    with pytest.raises(TypeError, match="overwrite_x"):
        transform(x, overwrite_x=0)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize(("lead", "axis"), [((), 0), ((3,), -1), ((3,), 0), ((2, 3), 1), ((2, 3), -1), ((0,), -1)])
def test_transforms(name, dtype, n, lead, axis):
    rng = np.random.default_rng(n)
    shape = list(lead)
    shape.insert(axis % (len(lead) + 1), n)
    x = rng.standard_normal(shape).astype(dtype)
    if name != "rfft":
        x = x + (1j * rng.standard_normal(shape)).astype(np.result_type(dtype, np.complex64))
    if name == "irfft" and n == 1:
        with pytest.raises(fiedler.DomainError, match="at least one real number"):
            fft.irfft(x, axis=axis)
        return
    wide = x.astype(np.result_type(x, np.float64))
    found, truth = getattr(fft, name)(x, axis=axis), getattr(np.fft, name)(wide, axis=axis)
    near(found, truth, dtype)
    assert found.real.dtype == dtype


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 8, 20])
def test_norms_and_lengths(name, norm, n):
    x = np.random.default_rng(0).standard_normal((4, 8))
    near(getattr(fft, name)(x, n, norm=norm), getattr(np.fft, name)(x, n, norm=norm), np.float64)
    near(getattr(fft, name)(x, n, 0, norm), getattr(np.fft, name)(x, n, 0, norm), np.float64)


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (0,)])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_two_axes(lead, norm):
    x = np.random.default_rng(1).standard_normal((*lead, 6, 5))
    near(fft.fft2(x, norm=norm), np.fft.fft2(x, norm=norm), np.float64)
    near(fft.ifft2(x, norm=norm), np.fft.ifft2(x, norm=norm), np.float64)


@pytest.mark.parametrize("name", ["fft2", "ifft2"])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize(
    ("s", "axes"),
    [
        ((4, 9), (-2, -1)),
        ((9, 2), (0, 2)),
        ((7, 3), (2, 0)),
        (None, (1, 0)),
        (None, (-1, -3)),
        ((5, -1), (0, 1)),
        (np.array([6, 4]), np.array([1, 2])),
        (None, (1,)),
        ((3,), (0,)),
        (None, (0, 1, 2)),
        ((5, 6, 7), (0, 1, 2)),
        (None, (1, 1)),
        (None, ()),
    ],
)
def test_any_two_axes_with_their_lengths(name, norm, s, axes):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((5, 6, 7)) + 1j * rng.standard_normal((5, 6, 7))
    before = x.copy()
    near(getattr(fft, name)(x, s, axes, norm), getattr(np.fft, name)(x, s, axes, norm), np.float64)
    near(getattr(fft, name)(x[0].real, norm=norm), getattr(np.fft, name)(x[0].real, norm=norm), np.float64)
    np.testing.assert_array_equal(x, before)


def test_every_layout_gives_the_same_bits():
    x = np.random.default_rng(2).standard_normal((3, 4, 10))
    truth = fft.fft(x, axis=1)
    z = x + 1j * x[::-1]
    other = fft.ifft(z)
    for name, made in layouts(x).items():
        assert fft.fft(made, axis=1).tobytes() == truth.tobytes(), name
    for name, made in layouts(z).items():
        assert fft.ifft(made).tobytes() == other.tobytes(), name


def test_bad_calls():
    with pytest.raises(fiedler.DomainError, match="n: expected"):
        fft.fft(np.ones(4), 0)
    with pytest.raises(fiedler.DomainError, match="at least one element"):
        fft.fft(np.ones((3, 0)))
    with pytest.raises(np.exceptions.AxisError):
        fft.fft(np.ones(4), axis=1)
    with pytest.raises(ValueError, match="norm"):
        fft.fft(np.ones(4), norm="none")
    with pytest.raises(TypeError, match="float16, float32, float64"):
        fft.rfft(np.ones(4, np.complex128))
    with pytest.raises(fiedler.ShapeError, match="two axes"):
        fft.fft2(np.ones(4))
    with pytest.raises(fiedler.ShapeError, match="s: expected a length for each of 2 axes, found 3"):
        fft.fft2(np.ones((4, 4)), (2, 2, 2))
    with pytest.raises(np.exceptions.AxisError):
        fft.fft2(np.ones((4, 4)), axes=(0, 2))
    with pytest.raises(fiedler.DomainError, match="at least one element"):
        fft.ifft2(np.ones((4, 4)), (0, 2))
    for call, words in [
        (lambda: fft.fft2(np.ones((4, 4)), "ortho"), "s: expected a sequence of integers, found str"),
        (lambda: fft.fft2(np.ones((4, 4)), axes=(0, 1.0)), "axes: expected integers, found float"),
        (lambda: fft.fft2(np.ones((4, 4)), (2, 2.5)), "s: expected an integer, found float"),
    ]:
        with pytest.raises(TypeError, match=words):
            call()
    with pytest.raises(fiedler.DomainError, match="window"):
        fft.power_spectrum(np.ones(4), window="flat")


def test_halves_become_single():
    assert fft.fft(np.ones(4, np.float16)).dtype == np.complex64
    assert fft.rfft(np.arange(4)).dtype == np.complex128


@pytest.mark.parametrize("window", ["rectangular", "hann", "hamming", "blackman"])
@pytest.mark.parametrize(("shape", "axis"), [((64,), 0), ((3, 50), -1), ((50, 3), 0), ((2, 50, 3), 1)])
def test_power_spectrum(window, shape, axis):
    x = np.random.default_rng(3).standard_normal(shape)
    found = fft.power_spectrum(x, axis=axis, window=window, rate=100.0, bands=[0.0, 20.0, 50.0])
    n = shape[axis]
    name = "boxcar" if window == "rectangular" else window
    taper = scipy.signal.get_window(name, n, fftbins=True)
    frequencies, truth = scipy.signal.periodogram(
        x, 100.0, window=taper, detrend=False, scaling="spectrum", axis=axis
    )
    np.testing.assert_allclose(found.frequencies, frequencies)
    np.testing.assert_array_equal(fft.rfftfreq(n, 0.01), frequencies)
    # SciPy divides by the squared sum of the window; shares do not depend on such a factor.
    total = truth.sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(found.power / found.power.sum(axis=axis, keepdims=True), truth / total, rtol=1e-9)
    rows = np.moveaxis(truth / total, axis, -1)
    np.testing.assert_allclose(found.centroid, rows @ frequencies, rtol=1e-9)
    assert found.band_powers.shape[axis] == 2
