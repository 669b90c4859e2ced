"""Fourier transforms with NumPy's names, shapes and conventions: unscaled forward, 1/n inverse, any length.

Real input of `fft` may be float32 or float64; the result is complex64 or complex128. float32 and complex64 are
transformed on the device where that is faster. See `fiedler.linalg` for the kinds of arrays.

>>> import numpy as np
>>> from fiedler import fft
>>> fft.fft(np.array([1.0, 2.0, 3.0, 4.0])).round(6)
array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import real, reals, text, whole, wrong
from ._arrays import along, as_numpy, count, differentiating, prepared, tracked_by
from ._context import Context, _context
from ._errors import DomainError, ShapeError
from ._ties import place

__all__ = ["PowerSpectrum", "fft", "fft2", "ifft", "ifft2", "irfft", "power_spectrum", "rfft", "rfftfreq"]

Array = Any


def _resized(x: np.ndarray[Any, Any], n: int | None, axis: int) -> np.ndarray[Any, Any]:
    """Crops the axis, or fills it up with zeros, to n elements."""
    n = x.shape[axis] if n is None else whole(n, "n")
    if n < 1:
        raise DomainError(f"n: expected at least one element along axis {axis}, found {n}")
    if n == x.shape[axis]:
        return x
    if n < x.shape[axis]:
        return x.take(range(n), axis)
    filling = [(0, 0)] * x.ndim
    filling[axis] = (0, n - x.shape[axis])
    return np.pad(x, filling)


def _scale(norm: str | None, n: int, *, inverse: bool) -> float:
    """Returns the factor by which the result is multiplied beyond the 1/n of inverse transforms."""
    if norm is None:
        return 1.0
    root = float(n) ** 0.5
    scales: dict[str, float] = {
        "backward": 1.0,
        "ortho": root if inverse else 1 / root,
        "forward": float(n) if inverse else 1 / n,
    }
    if not isinstance(norm, str):
        raise wrong("norm", "'backward', 'ortho', 'forward' or None", norm)
    if norm not in scales:
        raise ValueError(f"norm: expected 'backward', 'ortho' or 'forward', found {norm!r}")
    return scales[norm]


def _scaled(made: np.ndarray[Any, Any], scale: float) -> np.ndarray[Any, Any]:
    if scale != 1.0:
        made *= made.real.dtype.type(scale)
    return made


def _complex(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    x = prepared(x, "a", complex_=True)
    if x.dtype.kind == "c":
        return x
    return x.astype(np.complex64 if x.dtype == np.float32 else np.complex128)


def _tracked(
    a: Any, kind: str, n: int | None, axis: Any, norm: str | None, device: str | None, context: Context | None
) -> Any:
    """Returns the transform of an array that a library differentiates."""
    library = differentiating(a)
    x = library.wide(library.checked(a, "a", complex_=kind != "rfft"))
    if not isinstance(axis, (int, np.integer)):
        raise wrong("axis", "an integer", axis)
    inverse = kind[0] == "i"
    return library.transforms.one(
        kind, x, n, axis, lambda n: _scale(norm, n, inverse=inverse), place(device, context)
    )


def _tracked_several(
    a: Any, s: Any, axes: Any, norm: str | None, kind: str, device: str | None, context: Context | None
) -> Any:
    listed = _axes(a, s, axes)
    for axis, length in reversed(listed):
        a = _tracked(a, kind, length, axis, norm, device, context)
    return a if listed else a + 0j


def _one(a: Array, n: int | None, axis: int, norm: str | None, inverse: bool, native: Any) -> Array:
    x, wrap = as_numpy(a)
    three, axis = along(x, axis, "axis")
    three = _complex(_resized(three, n, 1))
    made = _fiedler.transform(native, three, "ifft" if inverse else "fft")
    length = three.shape[1]
    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    return wrap(_scaled(made, _scale(norm, length, inverse=inverse)).reshape(shape))


def fft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array, (..., m, ...)
    n : int, optional
        The length: the axis is cropped, or filled up with zeros.
    axis : int
    norm : {'backward', 'ortho', 'forward'}, optional
        Where the factor 1/n is; by default in the inverse.

    Returns
    -------
    array, (..., n, ...), complex
    """
    if tracked_by(a):
        return _tracked(a, "fft", n, axis, norm, device, context)
    return _one(a, n, axis, norm, False, _context(context, device))


def ifft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `fft`.

    >>> fft.ifft(fft.fft([1.0, 2.0, 4.0])).real.round(6)
    array([1., 2., 4.])
    """
    if tracked_by(a):
        return _tracked(a, "ifft", n, axis, norm, device, context)
    return _one(a, n, axis, norm, True, _context(context, device))


def rfft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the n // 2 + 1 frequencies from 0 to half of a real array. The parameters are those of `fft`.

    >>> fft.rfft([1.0, 0.0, 0.0, 0.0]).real
    array([1., 1., 1.])
    """
    if tracked_by(a):
        return _tracked(a, "rfft", n, axis, norm, device, context)
    x, wrap = as_numpy(a)
    three, axis = along(x, axis, "axis")
    three = prepared(_resized(three, n, 1), "a")
    length = three.shape[1]
    made = _fiedler.real(_context(context, device), three)
    shape = (*x.shape[:axis], length // 2 + 1, *x.shape[axis + 1 :])
    return wrap(_scaled(made, _scale(norm, length, inverse=False)).reshape(shape))


def irfft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `rfft`: n real numbers, by default 2 (m - 1) of m frequencies.

    >>> fft.irfft(fft.rfft([1.0, 2.0, 3.0, 5.0])).round(6)
    array([1., 2., 3., 5.])
    """
    if tracked_by(a):
        return _tracked(a, "irfft", n, axis, norm, device, context)
    x, wrap = as_numpy(a)
    three, axis = along(x, axis, "axis")
    length = 2 * (three.shape[1] - 1) if n is None else whole(n, "n")
    if length < 1:
        raise DomainError(f"n: expected at least one real number, found {length}")
    three = _complex(_resized(three, length // 2 + 1, 1))
    made = _fiedler.inverse_real(_context(context, device), three, length)
    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    return wrap(_scaled(made, _scale(norm, length, inverse=True)).reshape(shape))


def _several(a: Array, s: Any, axes: Any, norm: str | None, inverse: bool, native: Any) -> Array:
    x, wrap = as_numpy(a)
    listed = _axes(x, s, axes)
    lengths = dict(listed)
    if len(lengths) < len(listed) or len(listed) != 2:
        # The last axis is transformed first, as NumPy does, and an axis that is listed twice twice.
        for axis, length in reversed(listed):
            x = _one(x, length, axis, norm, inverse, native)
        return wrap(_complex(x))
    for axis, length in listed:
        x = _resized(x, length, axis)
    own, last = tuple(lengths), (x.ndim - 2, x.ndim - 1)
    turned = x if own == last else np.moveaxis(x, own, last)
    rows, columns = turned.shape[-2:]
    batch = _complex(turned).reshape((count(turned.shape[:-2]), rows, columns))
    made = _fiedler.transform(native, batch, "ifft2" if inverse else "fft2").reshape(turned.shape)
    made = _scaled(made, _scale(norm, rows * columns, inverse=inverse))
    return wrap(made if own == last else np.moveaxis(made, last, own))


def _axes(x: np.ndarray[Any, Any], s: Any, axes: Any) -> list[tuple[int, int | None]]:
    """Returns the axes, counted from 0, with the length of each, or None for that of the array."""
    if s is None and isinstance(axes, tuple) and axes == (-2, -1) and x.ndim > 1:
        return [(x.ndim - 2, None), (x.ndim - 1, None)]
    if axes is None:
        several = x.ndim if s is None else len(_sequence(s, "s"))
        axes = range(-several, 0)
    places = _sequence(axes, "axes")
    for axis in places:
        if not isinstance(axis, (int, np.integer)):
            raise wrong("axes", "integers", axis)
        if not -x.ndim <= axis < x.ndim:
            if x.ndim < 2 and places == [-2, -1]:
                raise ShapeError(f"a: expected at least two axes, found the shape {x.shape}")
            raise np.exceptions.AxisError(int(axis), x.ndim, "axes")
    lengths = [None] * len(places) if s is None else _sequence(s, "s")
    if len(lengths) != len(places):
        raise ShapeError(f"s: expected a length for each of {len(places)} axes, found {len(lengths)}")
    kept = [None if length is None or length == -1 else whole(length, "s") for length in lengths]
    return [(int(axis) % x.ndim, length) for axis, length in zip(places, kept)]


def _sequence(value: Any, name: str) -> list[Any]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise wrong(name, "a sequence of integers", value)
    return list(value)


def fft2(
    a: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: str | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the discrete Fourier transform along two axes, by default the last ones.

    Parameters
    ----------
    a : array
    s : sequence of int, optional
        The length of each axis, which is cropped, or filled up with zeros. -1 keeps the length.
    axes : sequence of int
        The axes; one may be listed twice. There may be fewer than two, or more.
    norm : {'backward', 'ortho', 'forward'}, optional
        As in `fft`.

    Examples
    --------
    >>> fft.fft2(np.ones((2, 2))).real
    array([[4., 0.],
           [0., 0.]])
    """
    if tracked_by(a):
        return _tracked_several(a, s, axes, norm, "fft", device, context)
    return _several(a, s, axes, norm, False, _context(context, device))


def ifft2(
    a: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: str | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `fft2`. The parameters are the same."""
    if tracked_by(a):
        return _tracked_several(a, s, axes, norm, "ifft", device, context)
    return _several(a, s, axes, norm, True, _context(context, device))


def rfftfreq(n: int, d: float = 1.0) -> np.ndarray[Any, Any]:
    """Returns the frequencies of `rfft` in cycles per unit of ``d``, the distance of samples.

    >>> fft.rfftfreq(4, 0.5)
    array([0. , 0.5, 1. ])
    """
    return np.fft.rfftfreq(n, d)


_WINDOWS = {"rectangular": (1.0,), "hann": (0.5, -0.5), "hamming": (0.54, -0.46), "blackman": (0.42, -0.5, 0.08)}
"""The coefficients of cos(2 pi i j / n) in element j of each window."""


class PowerSpectrum(NamedTuple):
    """The result of `power_spectrum`."""

    power: Array
    """The power of each frequency, (..., n // 2 + 1, ...)."""
    frequencies: np.ndarray[Any, Any]
    """The frequencies in Hz, (n // 2 + 1,)."""
    centroid: Array
    """The mean frequency, weighted by power, (...)."""
    band_powers: Array | None
    """The power in each band, (..., bands, ...), or None."""


def _tracked_spectrum(
    a: Any, axis: Any, window: Any, rate: float, edges: list[float], device: str | None, context: Context | None
) -> PowerSpectrum:
    """Returns the power spectrum of an array that a library differentiates."""
    if not isinstance(axis, (int, np.integer)):
        raise wrong("axis", "an integer", axis)
    coefficients = _WINDOWS.get(text(window, "window"))
    if coefficients is None:
        raise DomainError(f"window: expected {', '.join(_WINDOWS)}, found {window!r}")

    def weights(n: int) -> Any:
        angles = 2 * np.pi * np.arange(n) / n
        return sum(c * np.cos(i * angles) for i, c in enumerate(coefficients)) if n > 1 else np.ones(1)

    if not rate > 0 or np.isinf(rate):
        raise DomainError(f"rate: expected a finite and positive number, found {rate}")
    if edges and (len(edges) == 1 or edges[0] < 0 or np.isinf(edges[-1]) or not np.all(np.diff(edges) > 0)):
        raise DomainError(f"bands: expected at least two finite edges, ascending and not negative, found {edges}")
    library = differentiating(a)
    x = library.wide(library.checked(a, "a"))
    return PowerSpectrum(*library.transforms.spectrum(x, axis, weights, rate, edges, place(device, context)))


def power_spectrum(
    a: Array,
    *,
    axis: int = -1,
    window: str = "rectangular",
    rate: float = 1.0,
    bands: Any = (),
    device: str | None = None,
    context: Context | None = None,
) -> PowerSpectrum:
    """Computes the one-sided power spectrum of real signals.

    Parameters
    ----------
    a : array, (..., n, ...)
    axis : int
    window : {'rectangular', 'hann', 'hamming', 'blackman'}
        Periodic, as in SciPy's ``get_window``.
    rate : float
        The number of samples per second.
    bands : sequence of float
        The ascending edges of bands in Hz.

    Examples
    --------
    >>> spectrum = fft.power_spectrum(np.cos(2 * np.pi * np.arange(8) / 4), rate=8.0)
    >>> float(spectrum.frequencies[spectrum.power.argmax()]), round(float(spectrum.centroid), 6)
    (2.0, 2.0)
    """
    edges = reals(bands, "bands")
    if tracked_by(a):
        return _tracked_spectrum(a, axis, window, real(rate, "rate"), list(edges), device, context)
    x, wrap = as_numpy(a)
    three, axis = along(x, axis, "axis")
    three = prepared(three, "a")
    if three.shape[1] == 0:
        raise DomainError(f"a: expected at least one element along axis {axis}, found the shape {x.shape}")
    native = _context(context, device)
    found = _fiedler.power_spectrum(native, three, text(window, "window"), real(rate, "rate"), edges)
    power, frequencies, centroid, band_powers = found
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    shaped = None if band_powers is None else wrap(band_powers.reshape((*before, len(edges) - 1, *after)))
    power = wrap(power.reshape((*before, len(frequencies), *after)))
    return PowerSpectrum(power, frequencies, wrap(centroid.reshape((*before, *after))), shaped)
