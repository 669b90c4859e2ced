"""Power spectra of `fiedler.fft`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import real, reals, text, wrong
from ._arrays import along, as_numpy, differentiating, prepared, tracked_by
from ._context import Context, _context
from ._errors import DomainError
from ._ties import place

Array = Any

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
