"""fiedler.fft as a backend of scipy.fft."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import fiedler
from fiedler import fft

KINDS = {"rfft": float, "rfft2": float, "rfftn": float, "ihfft": float, "ihfft2": float, "ihfftn": float}
NAMES = [
    *("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn"),
    *("hfft", "ihfft", "hfft2", "ihfft2", "hfftn", "ihfftn"),
    *("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn"),
]


@pytest.fixture
def calls(monkeypatch):
    """The names of the functions that SciPy calls here."""
    seen = []
    for name in NAMES:

        def counted(*args, _own=getattr(fft, name), _name=name, **kwargs):
            seen.append(_name)
            return _own(*args, **kwargs)

        monkeypatch.setattr(fft, name, counted)
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_scipy(name, calls):
    x = np.random.default_rng(0).standard_normal((4, 6)).astype(KINDS.get(name, complex))
    of = getattr(scipy.fft, name)
    truth = of(x)
    with scipy.fft.set_backend(fft):
        found = of(x)
        again = of(x, norm="ortho", workers=2)
    assert calls == [name, name]
    np.testing.assert_allclose(found, truth, atol=1e-13)
    np.testing.assert_allclose(again, of(x, norm="ortho"), atol=1e-13)


def test_arguments_in_scipys_order(calls):
    x = np.random.default_rng(1).standard_normal((4, 6))
    truth = scipy.fft.fft(x, 5, 0, "ortho", False, 1), scipy.fft.dct(x, 3, 5, 0, "ortho", False, 1, False)
    with scipy.fft.set_backend(fft):
        found = scipy.fft.fft(x, 5, 0, "ortho", False, 1), scipy.fft.dct(x, 3, 5, 0, "ortho", False, 1, False)
    assert calls == ["fft", "dct"]
    for ours, theirs in zip(found, truth):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)


def test_what_is_not_taken_falls_through(calls):
    wide = np.arange(6, dtype=np.longdouble)
    with scipy.fft.set_backend(fft):
        assert scipy.fft.fft(wide).dtype == np.clongdouble
        with pytest.raises(TypeError, match="missing"):
            scipy.fft.fft()
        with pytest.raises(NotImplementedError):
            scipy.fft.fft(np.ones(3), plan=1)
    assert calls == []
    with scipy.fft.set_backend(fft), pytest.raises(ValueError, match="data points"):
        scipy.fft.fft(np.ones(3), 0)
    # Of a single frequency, SciPy makes one number, and NumPy none.
    want = scipy.fft.irfftn(np.ones((3, 1)))
    with scipy.fft.set_backend(fft):
        np.testing.assert_array_equal(scipy.fft.irfftn(np.ones((3, 1))), want)
    assert calls == ["fft", "irfftn"]


def test_what_scipy_computes_by_it(calls):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal(200), rng.standard_normal(150)
    with scipy.fft.set_backend(fft):
        assert scipy.fft.fht(np.ones(8), 0.1, 0.5).shape == (8,)
    assert calls == ["rfft", "irfft"]
    with scipy.fft.set_backend(fft, only=True):
        found = scipy.signal.fftconvolve(a, b)
    assert "rfftn" in calls and "irfftn" in calls
    np.testing.assert_allclose(found, np.convolve(a, b), atol=1e-11)


def test_the_protocol():
    assert fft.__ua_domain__ == "numpy.scipy.fft"
    assert fft.__ua_function__(scipy.fft.fft, (), {}) is NotImplemented
    assert fiedler.fft is fft
