"""Operations of arrays that torch or JAX differentiates: Fourier transforms, power spectra and covariances.

Transforms are linear. The derivative of a linear map is the map itself, and its adjoint is one of the other transforms,
so each derivative is a call of the library, of any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arguments import flag, whole
from ._errors import DomainError, ShapeError


class Transforms:
    """Fourier transforms along axes, in the operations of a library.

    Parameters
    ----------
    xp : module
    fourier : callable
        The unscaled transform of the last axis of complex arrays, or its inverse: ``fourier(x, inverse, place)``.
    real : callable
        The unscaled frequencies of real arrays: ``real(x, place)``.
    inverse_real : callable
        The unscaled inverse: ``inverse_real(x, n, place)``.
    """

    def __init__(self, xp: Any, fourier: Callable[..., Any], real: Callable[..., Any], inverse_real: Any) -> None:
        self._xp, self._fourier, self._real, self._inverse_real = xp, fourier, real, inverse_real
        # torch vectorizes only these two of the four names.
        self._concatenated = getattr(xp, "cat", None) or xp.concatenate
        self._moved = getattr(xp, "movedim", None) or xp.moveaxis

    def resized(self, x: Any, n: int) -> Any:
        """Crops the last axis, or fills it up with zeros."""
        have = x.shape[-1]
        if n <= have:
            return x if n == have else x[..., :n]
        zeros = self._xp.zeros((*x.shape[:-1], n - have), dtype=x.dtype)
        return self._concatenated([x, zeros], -1)

    def adjoint_of_real(self, bar: Any, n: int, place: str) -> Any:
        return self._xp.real(self._fourier(self.resized(bar, n), True, place))

    def adjoint_of_inverse_real(self, bar: Any, place: str) -> Any:
        n = bar.shape[-1]
        made = self._real(bar, place)
        # All frequencies but the first, and half of an even length, stand for two.
        single = self._xp.arange(made.shape[-1]) * 2 % n == 0
        return self._xp.where(single, made, 2 * made)

    def _last(self, x: Any, axis: int) -> Any:
        if not -x.ndim <= axis < x.ndim:
            raise np.exceptions.AxisError(int(axis), x.ndim, "axis")
        return self._moved(x, int(axis), -1)

    def spectrum(
        self, x: Any, axis: int, weights: Callable[[int], Any], rate: float, edges: list[float], place: str
    ) -> tuple[Any, Any, Any, Any]:
        """Returns the fields of a `PowerSpectrum` along an axis, of which the window is weights(n)."""
        x, axis = self._last(x, axis), int(axis)
        n = x.shape[-1]
        if n < 1:
            raise DomainError(f"a: expected at least one element along axis {axis}, found the shape {tuple(x.shape)}")

        def like(values: Any) -> Any:
            return self._xp.asarray(np.asarray(values), dtype=x.dtype)

        window = weights(n)
        found = self._real(x * like(window / window.sum()), place)
        bins = np.arange(found.shape[-1])
        # All frequencies but the first, and half of an even length, stand for two.
        power = like(np.where(bins * 2 % n == 0, 1, 2)) * (found.real**2 + found.imag**2)
        frequencies = bins * rate / n
        total = power.sum(-1)
        silent = total == 0
        centroid = (power * like(frequencies)).sum(-1) / self._xp.where(silent, 1, total)
        bands = None
        if edges:
            # A band has its lower edge, and the last one its upper edge, too.
            ends = [*np.searchsorted(frequencies, edges[:-1]), np.searchsorted(frequencies, edges[-1], "right")]
            sums = [power[..., first:end].sum(-1) for first, end in zip(ends[:-1], ends[1:], strict=True)]
            bands = self._moved(self._xp.stack(sums, -1), -1, axis)
        return self._moved(power, -1, axis), frequencies, centroid, bands

    def one(self, kind: str, x: Any, n: int | None, axis: int, scale: Callable[[int], float], place: str) -> Any:
        """Returns the transform ``kind``, which is fft, ifft, rfft or irfft, along an axis, times scale(n)."""
        x = self._last(x, axis)
        whole_length = 2 * (x.shape[-1] - 1) if kind == "irfft" else x.shape[-1]
        length = whole_length if n is None else whole(n, "n")
        if length < 1:
            raise DomainError(f"n: expected at least one element along axis {axis}, found {length}")
        x = self.resized(x, length // 2 + 1 if kind == "irfft" else length)
        if kind == "rfft":
            made = self._real(x, place)
        elif kind == "irfft":
            made = self._inverse_real(x + 0j, length, place) * (1 / length)
        else:
            made = self._fourier(x + 0j, kind == "ifft", place)
            made = made * (1 / length) if kind == "ifft" else made
        factor = scale(length)
        return self._moved(made if factor == 1 else made * factor, -1, int(axis))


def covariance(xp: Any, x: Any, rowvar: bool, correlation: bool, product: Callable[[Any, Any], Any]) -> Any:
    """Returns the covariances or correlations of variables (..., variables, observations)."""
    if x.ndim == 0:
        raise ShapeError("m: expected at least one axis, found a number")
    if x.ndim == 1:
        x = x[None] if flag(rowvar, "rowvar") else x[:, None]
    x = x if flag(rowvar, "rowvar") else x.mT
    centered = x - x.mean(-1)[..., None]
    # One observation or none has NaN, as in NumPy.
    made = product(centered, centered.mT) / max(x.shape[-1] - 1, 0)
    if correlation:
        roots = xp.sqrt(xp.diagonal(made, 0, -2, -1))
        made = made / (roots[..., None] * roots[..., None, :])
    return made[0, 0] if made.shape == (1, 1) else made
