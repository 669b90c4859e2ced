"""Statistics along an axis of an array, covariances, divergences of histograms.

A NaN makes the statistics of its series NaN, unless ``nan='omit'``. See `fiedler.linalg` for the kinds of arrays.

>>> import numpy as np
>>> from fiedler import stats
>>> found = stats.describe(np.array([1.0, 2.0, 3.0, 4.0]))
>>> float(found.mean), float(found.variance)
(2.5, 1.6666666666666667)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import flag, real, text, whole, word, wrong
from ._arrays import along, as_numpy, differentiating, matrices, prepared, tracked_by
from ._context import Context, _context
from ._errors import DomainError, ShapeError
from ._linear import covariance
from ._ties import place

__all__ = ["Description", "Histogram", "corrcoef", "cov", "describe", "divergence", "histogram", "quantile"]

Array = Any


def _omits(nan: str) -> bool:
    return word(nan, "nan", "propagate", "omit") == "omit"


def _series(a: Array, axis: int | None) -> tuple[np.ndarray[Any, Any], tuple[int, ...], tuple[int, ...], Any]:
    """Returns the array as (before, length, after), the axes before and after, and the way back."""
    x, wrap = as_numpy(a)
    if axis is None or x.ndim == 0:
        return prepared(x.reshape((1, x.size, 1)), "a"), (), (), wrap
    three, axis = along(x, axis, "axis")
    return prepared(three, "a"), x.shape[:axis], x.shape[axis + 1 :], wrap


class Description(NamedTuple):
    """The result of `describe`, each array with the shape of the input without the axis."""

    count: Array
    mean: Array
    variance: Array
    min: Array
    max: Array
    skewness: Array
    kurtosis: Array


def describe(
    a: Array,
    axis: int | None = None,
    *,
    ddof: int = 1,
    nan: str = "propagate",
    device: str | None = None,
    context: Context | None = None,
) -> Description:
    """Computes count, mean, variance, extremes, skewness and excess kurtosis in one pass.

    Parameters
    ----------
    a : array
    axis : int, optional
        By default, all elements are one series.
    ddof : int
        The variance is the sum of squared deviations divided by count - ddof.
    nan : {'propagate', 'omit'}
    """
    x, before, after, wrap = _series(a, axis)
    found = _fiedler.describe(_context(context, device), x, whole(ddof, "ddof", 2**32 - 1), _omits(nan))
    return Description(*(wrap(found[name].reshape((*before, *after))) for name in Description._fields))


def quantile(
    a: Array,
    q: Any,
    axis: int | None = None,
    *,
    nan: str = "propagate",
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes quantiles by linear interpolation, as ``numpy.quantile`` does: the axes of ``q`` come first.

    >>> stats.quantile([1.0, 2.0, 3.0, 5.0], [0.5, 1.0])
    array([2.5, 5. ])
    """
    x, before, after, wrap = _series(a, axis)
    try:
        wanted = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong("q", "a number or an array of numbers", q) from None
    found = _fiedler.quantiles(_context(context, device), x, wanted.ravel().tolist(), _omits(nan))
    return wrap(np.moveaxis(found, 1, 0).reshape((*wanted.shape, *before, *after)))


class Histogram(NamedTuple):
    """The result of `histogram`."""

    counts: Array
    """The counts, (..., bins, ...), int64. Every bin includes its lower edge, the last one its upper edge too."""
    edges: np.ndarray[Any, Any]
    """The edges, (bins + 1,), which all series share."""
    below: Array
    """The number of elements below the first edge, (...)."""
    above: Array
    """The number of elements above the last edge, (...)."""
    nan: Array
    """The number of NaNs, (...)."""


def histogram(
    a: Array,
    bins: int = 10,
    range: tuple[float, float] | None = None,
    axis: int | None = None,
    *,
    device: str | None = None,
    context: Context | None = None,
) -> Histogram:
    """Counts the elements of each series in bins of equal width, by default from the least element to the greatest.

    >>> stats.histogram([0.0, 1.0, 1.0, 4.0], bins=2).counts
    array([3, 1])
    """
    x, before, after, wrap = _series(a, axis)
    bins = whole(bins, "bins")
    ends = None
    if range is not None:
        if not isinstance(range, Sequence) or isinstance(range, str) or len(range) != 2:
            raise wrong("range", "the first edge and the last one", range)
        ends = (real(range[0], "range"), real(range[1], "range"))
    found = _fiedler.histogram(_context(context, device), x, bins, ends)
    counts, edges, *apart = found
    below, above, nans = (wrap(part.reshape((*before, *after))) for part in apart)
    return Histogram(wrap(counts.reshape((*before, bins, *after))), edges, below, above, nans)


def _covariance(
    m: Array, rowvar: bool, correlation: bool, device: str | None, context: Context | None
) -> Array:
    if tracked_by(m):
        library = differentiating(m)
        where = place(device, context)
        x = library.wide(library.checked(m, "m"))
        return covariance(library.xp, x, rowvar, correlation, lambda a, b: library.matmul(a, b, where))
    native = _context(context, device)
    x, wrap = as_numpy(m, "m")
    rowvar = flag(rowvar, "rowvar")
    if x.ndim == 1:
        x = x[None] if rowvar else x[:, None]
    made = _fiedler.cov(native, prepared(matrices(x, "m"), "m"), rowvar, correlation)
    return wrap(made[0, 0] if made.shape == (1, 1) else made)


def cov(m: Array, *, rowvar: bool = True, device: str | None = None, context: Context | None = None) -> Array:
    """Computes covariance matrices, divided by n - 1, as ``numpy.cov(m)`` does; leading axes are the batch.

    Parameters
    ----------
    m : array, (..., variables, observations)
    rowvar : bool
        False exchanges the last two axes.

    Examples
    --------
    >>> stats.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _covariance(m, rowvar, False, device, context)


def corrcoef(m: Array, *, rowvar: bool = True, device: str | None = None, context: Context | None = None) -> Array:
    """Computes correlation matrices. The parameters are those of `cov`."""
    return _covariance(m, rowvar, True, device, context)


def divergence(
    p: Array,
    q: Array | None = None,
    kind: str = "js",
    *,
    base: float = 2.718281828459045,
    normalize: bool = False,
    smoothing: float = 0.0,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes divergences of histograms.

    Parameters
    ----------
    p : array, (bins,) or (count, bins)
        Histograms, each of which sums to 1 unless ``normalize``.
    q : array, optional
        As many histograms, or one, or one for all of ``p``. Without it, all pairs of ``p`` are compared.
    kind : {'kl', 'js', 'js-distance', 'tv', 'chi-square', 'symmetric-chi-square', 'hellinger'}
        'js-distance' is SciPy's ``jensenshannon``.
    base : float
        The base of logarithms.
    normalize : bool
        Divide every histogram by its sum first.
    smoothing : float
        A number that is added to every bin first.

    Returns
    -------
    array
        (), (count,), or (count, count) of all pairs.

    Examples
    --------
    >>> round(float(stats.divergence([0.5, 0.5], [0.25, 0.75], "kl")), 6)
    0.143841
    """
    x, wrap = as_numpy(p, "p")
    if x.ndim not in (1, 2):
        raise ShapeError(f"p: expected (bins,) or (count, bins), found the shape {x.shape}")
    base, smoothing = real(base, "base"), real(smoothing, "smoothing")
    kind, normalize = text(kind, "kind"), flag(normalize, "normalize")
    if not (np.isfinite(base) and base > 1):
        raise DomainError(f"base: expected a number above 1, found {base}")
    x2 = prepared(x.reshape((1, -1, x.shape[-1])), "p")
    y2 = None
    if q is not None:
        y, _ = as_numpy(q, "q")
        if y.ndim not in (1, 2) or y.shape[-1] != x.shape[-1]:
            raise ShapeError(f"q: expected histograms of {x.shape[-1]} bins, found the shape {y.shape}")
        y2 = prepared(y.reshape((1, -1, y.shape[-1])).astype(x2.dtype, copy=False), "q")
        if y2.shape[1] not in (1, x2.shape[1]):
            raise ShapeError(f"q: expected one histogram or {x2.shape[1]}, found {y2.shape[1]}")
    elif x.ndim == 1:
        raise ShapeError(f"q: expected a second histogram, or several in p, found the shape {x.shape} alone")
    found = _fiedler.divergence(_context(context, device), x2, y2, kind, (base, normalize, smoothing))
    return wrap(found.reshape(()) if x.ndim == 1 else found)
