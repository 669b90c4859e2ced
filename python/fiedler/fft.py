"""Fourier, cosine and sine transforms with the names, shapes and conventions of NumPy and SciPy, for any length.

Forward transforms are unscaled, inverse ones have the factor 1/n. float32 and complex64 are computed in their own
precision, on the device where that is faster; the results of `fft` are complex64 or complex128. See `fiedler.linalg`
for the kinds of arrays. All functions take ``device`` ('auto', 'gpu', 'cpu') or a `fiedler.Context`.

The module is a backend of SciPy, which calls its functions in place of those of ``scipy.fft`` after
``scipy.fft.set_backend(fiedler.fft)``. SciPy computes by itself what these do not take, such as long doubles.

>>> import numpy as np
>>> from fiedler import fft
>>> fft.fft(np.array([1.0, 2.0, 3.0, 4.0])).round(6)
array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
"""

from __future__ import annotations

from typing import Any

from ._context import Context
from ._cosines import dct, dctn, dst, dstn, idct, idctn, idst, idstn
from ._fourier import Where, check_scipy, computed, one, opposite, transformed
from ._fourier_axes import (
    fft2,
    fftn,
    hfft2,
    hfftn,
    ifft2,
    ifftn,
    ihfft2,
    ihfftn,
    irfft2,
    irfftn,
    rfft2,
    rfftn,
)
from ._frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from ._scipy_fft import answer
from ._spectra import PowerSpectrum, power_spectrum

__all__ = [
    "PowerSpectrum",
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "power_spectrum",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Array = Any

__ua_domain__ = "numpy.scipy.fft"
"""The functions for which SciPy may ask this module, in the protocol of uarray."""


def __ua_function__(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answers a call of a function of ``scipy.fft``, or returns NotImplemented."""
    return answer(globals().get(method.__name__), method, args, kwargs)


def fft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the discrete Fourier transform along an axis: ``sum_j a_j exp(-2 pi i j k / n)`` for k = 0 to n - 1.

    Parameters
    ----------
    a : array, (..., m, ...)
    n : int, optional
        The length: the axis is cropped, or filled up with zeros.
    axis : int
    norm : {'backward', 'ortho', 'forward'}, optional
        Where the factor 1/n is; by default in the inverse, and with 'ortho' its root in both.
    out : numpy.ndarray, optional
        The array that receives the result, as in NumPy.
    overwrite_x, workers, plan
        As in SciPy, for programs that pass them; they have no effect. ``a`` is never written to, the threads are those
        of the context, and ``plan`` is None.

    Returns
    -------
    array, (..., n, ...), complex

    Raises
    ------
    DomainError
        If ``n`` is 0, or the axis has no element.
    numpy.exceptions.AxisError
        If the array has no such axis.
    """
    return transformed("fft", a, n, axis, norm, out, overwrite_x, workers, plan, device, context)


def ifft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `fft`.

    >>> fft.ifft(fft.fft([1.0, 2.0, 4.0])).real.round(6)
    array([1., 2., 4.])
    """
    return transformed("ifft", a, n, axis, norm, out, overwrite_x, workers, plan, device, context)


def rfft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the n // 2 + 1 frequencies from 0 to half of a real array. The parameters are those of `fft`.

    >>> fft.rfft([1.0, 0.0, 0.0, 0.0]).real
    array([1., 1., 1.])
    """
    return transformed("rfft", a, n, axis, norm, out, overwrite_x, workers, plan, device, context)


def irfft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `rfft`: n real numbers, by default 2 (m - 1) of m frequencies.

    >>> fft.irfft(fft.rfft([1.0, 2.0, 3.0, 5.0])).round(6)
    array([1., 2., 3., 5.])
    """
    return transformed("irfft", a, n, axis, norm, out, overwrite_x, workers, plan, device, context)


def hfft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the real `fft` of a Hermitian signal, of which the first half is given: n numbers, by default 2 (m - 1).

    It is `irfft` of the conjugate in the other direction, so that the factor 1/n is where `fft` has it.

    >>> fft.hfft([1.0, 2.0, 3.0]).round(6)
    array([ 8., -2.,  0., -2.])
    """
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, out, lambda x: one("irfft", x.conj(), n, axis, opposite(norm), where))


def ihfft(
    a: Array,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `hfft`: the first n // 2 + 1 elements of the Hermitian signal of a real spectrum.

    >>> fft.ihfft([8.0, -2.0, 0.0, -2.0]).real.round(6)
    array([1., 2., 3.])
    """
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, out, lambda x: one("rfft", x, n, axis, opposite(norm), where).conj())
