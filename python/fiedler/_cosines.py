"""Cosine and sine transforms of `fiedler.fft`, with SciPy's names, shapes and conventions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _fiedler
from ._arguments import flag, whole
from ._arrays import along, as_numpy, prepared
from ._context import Context
from ._errors import DomainError
from ._fourier import Where, axes_of, check_scipy, checked_norm, resized

Array = Any

_BACK = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type of the inverse of each type, up to a factor."""


def _one(
    x: np.ndarray[Any, Any], n: int | None, axis: int, options: tuple[bool, bool, int, str, bool], where: Where
) -> np.ndarray[Any, Any]:
    """Returns the transform of a real or complex array along an axis."""
    sine, inverse, kind, norm, orthogonal = options
    three, axis = along(x, axis, "axis")
    three = prepared(resized(three, n, 1), "x", complex_=True)
    before, length, after = three.shape
    if kind == 1 and not sine and length < 2:
        raise DomainError(f"n: expected at least two elements along axis {axis} for type 1, found {length}")
    # The number of elements of the Fourier transform that has the same values.
    period = 2 * (length + (1 if sine else -1) * (kind == 1))
    root = 1 / math.sqrt(period)
    scale = {"backward": 1 / period if inverse else 1.0, "ortho": root, "forward": 1.0 if inverse else 1 / period}
    reals = three.view(three.real.dtype)  # the parts of complex numbers are transformed alike
    made: np.ndarray[Any, Any] = _fiedler.trigonometric(where.native, reals, sine, kind, scale[norm], orthogonal)
    found: np.ndarray[Any, Any] = made.view(three.dtype)
    return found.reshape((*x.shape[:axis], length, *x.shape[axis + 1 :]))


def _options(sine: bool, inverse: bool, kind: Any, norm: Any, orthogonalize: Any) -> tuple[bool, bool, int, str, bool]:
    kind, norm = whole(kind, "type"), checked_norm(norm)
    if kind not in _BACK:
        raise DomainError(f"type: expected 1, 2, 3 or 4, found {kind}")
    orthogonal = norm == "ortho" if orthogonalize is None else flag(orthogonalize, "orthogonalize")
    return sine, inverse, _BACK[kind] if inverse else kind, norm, orthogonal


def _along(a: Any, n: int | None, axis: int, options: tuple[bool, bool, int, str, bool], where: Where) -> Any:
    x, wrap = as_numpy(a, "x")
    return wrap(_one(x, n, axis, options, where))


def _several(a: Any, s: Any, axes: Any, options: tuple[bool, bool, int, str, bool], where: Where) -> Any:
    x, wrap = as_numpy(a, "x")
    listed = axes_of(x, s, axes)
    for axis, length in reversed(listed):
        x = _one(x, length, axis, options, where)
    return wrap(x if listed else prepared(x, "x", complex_=True).copy())


def dct(
    x: Array,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes a discrete cosine transform along an axis.

    For x of n elements, with SciPy's factors, y_k is

    - type 1: ``x_0 + (-1)^k x_(n-1) + 2 sum_(0 < j < n - 1) x_j cos(pi j k / (n - 1))``, for n of at least 2
    - type 2: ``2 sum_j x_j cos(pi (2 j + 1) k / (2 n))``
    - type 3: ``x_0 + 2 sum_(j > 0) x_j cos(pi j (2 k + 1) / (2 n))``
    - type 4: ``2 sum_j x_j cos(pi (2 j + 1) (2 k + 1) / (4 n))``

    Types 2 and 3 are computed by a real Fourier transform of n elements (Makhoul 1980), type 1 by one of 2 (n - 1), and
    type 4 by a complex one of n / 2, or of n if n is odd.

    Parameters
    ----------
    x : array, (..., m, ...)
        The parts of complex numbers are transformed apart.
    type : {1, 2, 3, 4}
    n : int, optional
        The length: the axis is cropped, or filled up with zeros.
    axis : int
    norm : {'backward', 'ortho', 'forward'}, optional
        Where the factor of a transform and its inverse is: 1 / (2 n), and 1 / (2 (n - 1)) for type 1. By default, it is
        in the inverse, and with 'ortho' its root is in both.
    overwrite_x, workers
        As in SciPy, for programs that pass them; they have no effect.
    orthogonalize : bool, optional
        Whether the terms that the matrix of a type has once are scaled so that its rows are orthogonal: x_0 in type 3,
        y_0 in type 2, and the first and last element of both in type 1; for sines the last ones in types 2 and 3. By
        default with 'ortho' alone.

    Returns
    -------
    array, (..., n, ...)

    Raises
    ------
    DomainError
        If ``type`` is another number, or ``n`` is 0, or 1 for type 1.

    Examples
    --------
    >>> fft.dct([1.0, 1.0, 1.0]).round(6)
    array([6., 0., 0.])
    """
    check_scipy(overwrite_x, workers)
    return _along(x, n, axis, _options(False, False, type, norm, orthogonalize), Where(device, context))


def idct(
    x: Array,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `dct` of the same type. The parameters are the same.

    >>> fft.idct(fft.dct([1.0, 2.0, 4.0], 4), 4).round(6)
    array([1., 2., 4.])
    """
    check_scipy(overwrite_x, workers)
    return _along(x, n, axis, _options(False, True, type, norm, orthogonalize), Where(device, context))


def dst(
    x: Array,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes a discrete sine transform along an axis.

    The parameters are those of `dct`; the factor of type 1 is 1 / (2 (n + 1)). For x of n elements, with SciPy's
    factors, y_k is

    - type 1: ``2 sum_j x_j sin(pi (j + 1) (k + 1) / (n + 1))``
    - type 2: ``2 sum_j x_j sin(pi (2 j + 1) (k + 1) / (2 n))``
    - type 3: ``(-1)^k x_(n-1) + 2 sum_(j < n - 1) x_j sin(pi (j + 1) (2 k + 1) / (2 n))``
    - type 4: ``2 sum_j x_j sin(pi (2 j + 1) (2 k + 1) / (4 n))``

    >>> fft.dst([1.0, 0.0, 0.0], 1).round(6)
    array([1.414214, 2.      , 1.414214])
    """
    check_scipy(overwrite_x, workers)
    return _along(x, n, axis, _options(True, False, type, norm, orthogonalize), Where(device, context))


def idst(
    x: Array,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `dst` of the same type. The parameters are the same.

    >>> fft.idst(fft.dst([1.0, 2.0, 4.0])).round(6)
    array([1., 2., 4.])
    """
    check_scipy(overwrite_x, workers)
    return _along(x, n, axis, _options(True, True, type, norm, orthogonalize), Where(device, context))


def dctn(
    x: Array,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes `dct` along several axes, by default along all, or with ``s`` along the last ``len(s)``.

    >>> fft.dctn(np.ones((2, 2)))
    array([[16.,  0.],
           [ 0.,  0.]])
    """
    check_scipy(overwrite_x, workers)
    return _several(x, s, axes, _options(False, False, type, norm, orthogonalize), Where(device, context))


def idctn(
    x: Array,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `dctn` of the same type."""
    check_scipy(overwrite_x, workers)
    return _several(x, s, axes, _options(False, True, type, norm, orthogonalize), Where(device, context))


def dstn(
    x: Array,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes `dst` along several axes, by default along all, or with ``s`` along the last ``len(s)``."""
    check_scipy(overwrite_x, workers)
    return _several(x, s, axes, _options(True, False, type, norm, orthogonalize), Where(device, context))


def idstn(
    x: Array,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `dstn` of the same type."""
    check_scipy(overwrite_x, workers)
    return _several(x, s, axes, _options(True, True, type, norm, orthogonalize), Where(device, context))
