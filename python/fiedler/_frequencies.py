"""The frequencies of transforms, and their order, for `fiedler.fft`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arguments import real, whole, wrong
from ._arrays import is_tensor, tracked_by
from ._fourier import sequence

Array = Any


def fftfreq(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None, xp: Any = None) -> Array:
    """Returns the frequencies of `fft` in cycles per unit of ``d``, the distance of samples.

    Parameters
    ----------
    n : int
        The number of samples, at least 1.
    d : float
        The distance of samples, not 0.
    device : optional
        Where the array is, in the terms of its library. NumPy has 'cpu' alone.
    dtype : optional
        A type of real floating-point numbers; by default that of the library, which is float64 for NumPy.
    xp : module, optional
        The library of the array, such as ``torch``; by default NumPy.

    Returns
    -------
    array, (n,)
        0, 1, ... up to half, then the negative frequencies, divided by n d.

    Raises
    ------
    DomainError
        If ``n`` is 0.

    Examples
    --------
    >>> fft.fftfreq(4, 0.5)
    array([ 0. ,  0.5, -1. , -0.5])
    """
    return _listed(np.fft.fftfreq, n, d, device, dtype, xp)


def rfftfreq(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None, xp: Any = None) -> Array:
    """Returns the n // 2 + 1 frequencies of `rfft`, as `fftfreq` does, without the negative ones.

    >>> fft.rfftfreq(4, 0.5)
    array([0. , 0.5, 1. ])
    """
    return _listed(np.fft.rfftfreq, n, d, device, dtype, xp)


def _listed(of: Callable[[int, float], Any], n: Any, d: Any, device: Any, dtype: Any, xp: Any) -> Any:
    found = of(whole(n, "n", least=1), real(d, "d"))
    if xp is None or xp is np or getattr(xp, "__name__", "") == "array_api_compat.numpy":
        if device not in (None, "cpu"):
            raise ValueError(f"device: expected 'cpu' or None for an array of NumPy, found {device!r}")
        kind = np.dtype(np.float64 if dtype is None else dtype)
        if kind.kind != "f":
            raise TypeError(f"dtype: expected real floating-point numbers, found {kind}")
        return found.astype(kind, copy=False)
    if dtype is None:
        dtype = xp.asarray(0.5).dtype
    elif "float" not in str(dtype):
        raise TypeError(f"dtype: expected real floating-point numbers, found {dtype}")
    return xp.asarray(found, dtype=dtype, **({} if device is None else {"device": device}))


def fftshift(x: Array, axes: Any = None) -> Array:
    """Moves frequency 0 to the middle of the axes, by default of all. The array may have any type, on any device.

    >>> fft.fftshift(fft.fftfreq(4))
    array([-0.5 , -0.25,  0.  ,  0.25])
    """
    return _rolled(x, axes, lambda length: length // 2)


def ifftshift(x: Array, axes: Any = None) -> Array:
    """Moves frequency 0 back to the start. It differs from `fftshift` along axes of odd lengths.

    >>> fft.ifftshift(fft.fftshift(fft.fftfreq(5)))
    array([ 0. ,  0.2,  0.4, -0.4, -0.2])
    """
    return _rolled(x, axes, lambda length: -(length // 2))


def _rolled(x: Any, axes: Any, by: Callable[[int], int]) -> Any:
    """Rolls the axes in the operations of the array's own library, as nothing is computed."""
    roll = np.roll
    if is_tensor(x):
        roll = sys.modules["torch"].roll
    elif tracked_by(x) or type(x).__module__.partition(".")[0] in ("jax", "jaxlib"):
        roll = sys.modules["jax.numpy"].roll
    else:
        x = np.asanyarray(x)
    if axes is None:
        places = list(range(x.ndim))
    else:
        places = sequence(axes, "axes")
    for axis in places:
        if not isinstance(axis, (int, np.integer)):
            raise wrong("axes", "integers", axis)
        if not -x.ndim <= axis < x.ndim:
            raise np.exceptions.AxisError(int(axis), x.ndim, "axes")
    shifts = tuple(by(x.shape[axis]) for axis in places)
    return roll(x, shifts, tuple(map(int, places))) if places else x
