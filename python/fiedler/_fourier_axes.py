"""Fourier transforms of `fiedler.fft` along several axes."""

from __future__ import annotations

from typing import Any

from ._context import Context
from ._fourier import (
    Where,
    axes_of,
    check_scipy,
    computed,
    inverse_real_several,
    opposite,
    real_several,
    several,
    transformed,
)

Array = Any


def fft2(
    a: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
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
    norm, out, overwrite_x, workers, plan
        As in `fft`.

    Returns
    -------
    array, complex

    Raises
    ------
    ShapeError
        If the array has fewer axes, or ``s`` another number of lengths than there are ``axes``.
    DomainError
        If a length is 0.

    Examples
    --------
    >>> fft.fft2(np.ones((2, 2))).real
    array([[4., 0.],
           [0., 0.]])
    """
    return transformed("fft2", a, s, axes, norm, out, overwrite_x, workers, plan, device, context)


def ifft2(
    a: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `fft2`. The parameters are the same."""
    return transformed("ifft2", a, s, axes, norm, out, overwrite_x, workers, plan, device, context)


def fftn(
    a: Array,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the discrete Fourier transform along several axes.

    The parameters are those of `fft2`. By default, all axes are transformed, or with ``s`` the last ``len(s)``.

    >>> fft.fftn(np.ones((2, 2, 2))).real.sum()
    np.float64(8.0)
    """
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, out, lambda x: several(x, axes_of(x, s, axes), norm, False, where))


def ifftn(
    a: Array,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `fftn`. The parameters are the same."""
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, out, lambda x: several(x, axes_of(x, s, axes), norm, True, where))


def rfftn(
    a: Array,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes half of the spectrum of a real array: `rfft` along the last axis of ``axes``, and `fft` along the others.

    The parameters are those of `fftn`; there must be an axis.

    >>> fft.rfftn(np.ones((4, 4))).shape
    (4, 3)
    """
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, out, lambda x: real_several(x, s, axes, norm, where))


def irfftn(
    a: Array,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `rfftn`. By default, m frequencies along the last axis become 2 (m - 1) real numbers.

    >>> fft.irfftn(fft.rfftn(np.ones((2, 3))), (2, 3)).round(6)
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, out, lambda x: inverse_real_several(x, s, axes, norm, where))


def rfft2(
    a: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes `rfftn` along two axes, by default the last ones."""
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, out, lambda x: real_several(x, s, axes, norm, where))


def irfft2(
    a: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: str | None = None,
    out: Any = None,
    *,
    overwrite_x: bool = False,
    workers: int | None = None,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `rfft2`, as `irfftn` does."""
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, out, lambda x: inverse_real_several(x, s, axes, norm, where))


def hfftn(
    a: Array,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the real `fftn` of a Hermitian signal, of which half is given along the last axis. See `hfft`."""
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, None, lambda x: inverse_real_several(x.conj(), s, axes, opposite(norm), where))


def ihfftn(
    a: Array,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `hfftn`: half of the Hermitian signal of a real spectrum."""
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, None, lambda x: real_several(x, s, axes, opposite(norm), where).conj())


def hfft2(
    a: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes `hfftn` along two axes, by default the last ones."""
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, None, lambda x: inverse_real_several(x.conj(), s, axes, opposite(norm), where))


def ihfft2(
    a: Array,
    s: Any = None,
    axes: Any = (-2, -1),
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the inverse of `hfft2`."""
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    return computed(a, None, lambda x: real_several(x, s, axes, opposite(norm), where).conj())
