"""What the functions of `fiedler.fft` share: arguments, and transforms along one axis or several.

The functions take NumPy arrays, and arrays that torch or JAX differentiates, and return what they take.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import flag, whole, wrong
from ._arrays import READY, READY_COMPLEX, along, as_numpy, count, differentiating, prepared, tracked_by
from ._context import Context, _context
from ._errors import DomainError, ShapeError
from ._ties import place

Array = Any


class Where(NamedTuple):
    """Where a call runs."""

    device: str | None
    context: Context | None

    @property
    def native(self) -> Any:
        return _context(self.context, self.device)


def computed(a: Any, out: Any, compute: Callable[[Any], Any]) -> Any:
    """Returns what ``compute`` makes of an array, as an array of the library of ``a``, or in ``out``."""
    if tracked_by(a):
        if out is not None:
            raise TypeError("out: expected None for an array that is differentiated, whose results are new arrays")
        return compute(a)
    x, wrap = as_numpy(a)
    made = compute(x)
    return wrap(made) if out is None else placed(made, out)


def placed(made: np.ndarray[Any, Any], out: Any) -> np.ndarray[Any, Any]:
    """Writes a result to the array ``out``, and returns that."""
    if not isinstance(out, np.ndarray):
        raise wrong("out", "a NumPy array or None", out)
    if out.shape != made.shape:
        raise ShapeError(f"out: expected the shape {made.shape}, found {out.shape}")
    if not np.can_cast(made.dtype, out.dtype, "same_kind"):
        raise TypeError(f"out: expected an array that holds {made.dtype}, found {out.dtype}")
    np.copyto(out, made, casting="same_kind")
    return out


def check_scipy(overwrite_x: Any, workers: Any, plan: Any = None) -> None:
    """Checks the arguments that SciPy's functions have, of which none changes a result."""
    flag(overwrite_x, "overwrite_x")
    if plan is not None:
        raise NotImplementedError(f"plan: expected None, as plans are kept by the context, found {type(plan).__name__}")
    if workers is not None:
        cores = os.cpu_count() or 1
        if whole(workers, "workers", least=-cores) == 0:
            raise DomainError("workers: expected a positive number, or a negative one that counts from all cores, found 0")


def resized(x: np.ndarray[Any, Any], n: int | None, axis: int) -> np.ndarray[Any, Any]:
    """Crops the axis, or fills it up with zeros, to n elements."""
    n = x.shape[axis] if n is None else whole(n, "n")
    if n < 1:
        raise DomainError(f"n: expected at least one element along axis {axis}, found {n}")
    if n == x.shape[axis]:
        return x
    if n < x.shape[axis]:
        return x[(slice(None),) * (axis % x.ndim) + (slice(n),)]
    filling = [(0, 0)] * x.ndim
    filling[axis] = (0, n - x.shape[axis])
    return np.pad(x, filling)


def checked_norm(norm: Any) -> str:
    """Returns where the factor 1/n is: 'backward', 'ortho' or 'forward'."""
    if norm is None:
        return "backward"
    if not isinstance(norm, str):
        raise wrong("norm", "'backward', 'ortho', 'forward' or None", norm)
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f"norm: expected 'backward', 'ortho' or 'forward', found {norm!r}")
    return norm


def opposite(norm: Any) -> str:
    """Returns the norm of the transform in the other direction, for those that compute by it."""
    return {"backward": "forward", "ortho": "ortho", "forward": "backward"}[checked_norm(norm)]


def _scale(norm: str | None, n: int, *, inverse: bool) -> float:
    """Returns the factor by which the result is multiplied beyond the 1/n of inverse transforms."""
    norm = checked_norm(norm)
    if norm == "backward":
        return 1.0
    if norm == "ortho":
        return math.sqrt(n) if inverse else 1 / math.sqrt(n)
    return float(n) if inverse else 1 / n


def _scaled(made: np.ndarray[Any, Any], scale: float) -> np.ndarray[Any, Any]:
    if scale != 1.0:
        made *= made.real.dtype.type(scale)
    return made


def complexes(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the array in complex numbers that are computed in."""
    x = prepared(x, "a", complex_=True)
    if x.dtype.kind == "c":
        return x
    return x.astype(np.complex64 if x.dtype == np.float32 else np.complex128)


def _tracked(kind: str, a: Any, n: int | None, axis: Any, norm: str | None, where: Where) -> Any:
    """Returns the transform of an array that a library differentiates."""
    library = differentiating(a)
    x = library.wide(library.checked(a, "a", complex_=kind != "rfft"))
    if not isinstance(axis, (int, np.integer)):
        raise wrong("axis", "an integer", axis)
    inverse = kind[0] == "i"
    return library.transforms.one(kind, x, n, axis, lambda n: _scale(norm, n, inverse=inverse), place(*where))


def one(kind: str, x: Any, n: int | None, axis: int, norm: str | None, where: Where) -> Any:
    """Returns the transform ``kind``, which is fft, ifft, rfft or irfft, along an axis."""
    if tracked_by(x):
        return _tracked(kind, x, n, axis, norm, where)
    three, axis = along(x, axis, "axis")
    inverse = kind[0] == "i"
    if kind == "irfft":
        length = 2 * (three.shape[1] - 1) if n is None else whole(n, "n")
        if length < 1:
            raise DomainError(f"n: expected at least one real number, found {length}")
        three = complexes(resized(three, length // 2 + 1, 1))
        made = _fiedler.inverse_real(where.native, three, length)
    elif kind == "rfft":
        three = prepared(resized(three, n, 1), "a")
        length = three.shape[1]
        made = _fiedler.real(where.native, three)
    else:
        three = complexes(resized(three, n, 1))
        length = three.shape[1]
        made = _fiedler.transform(where.native, three, kind)
    made = _scaled(made, _scale(norm, length, inverse=inverse))
    return made.reshape((*x.shape[:axis], made.shape[1], *x.shape[axis + 1 :]))


def transformed(
    kind: str, a: Any, n: Any, axis: Any, norm: Any, out: Any, overwrite_x: Any, workers: Any, plan: Any,
    device: Any, context: Any,
) -> Any:  # fmt: skip
    """Returns the transform ``kind``, as `one` has it, or fft2 or ifft2 with lengths and axes, of any array."""
    if overwrite_x is False and norm is out is workers is plan is device is context is None:
        made = _at_once(kind, a, n, axis)
        if made is not None:
            return made
    check_scipy(overwrite_x, workers, plan)
    where = Where(device, context)
    if kind[-1] == "2":
        return computed(a, out, lambda x: several(x, axes_of(x, n, axis), norm, kind == "ifft2", where))
    return computed(a, out, lambda x: one(kind, x, n, axis, norm, where))


def _at_once(kind: str, a: Any, n: Any, axis: Any) -> np.ndarray[Any, Any] | None:
    """Returns the transform of an array that needs no preparation; None for others.

    A short transform takes less time than all checks of arguments.
    """
    if type(a) is not np.ndarray or not a.ndim or not a.size:
        return None
    if a.dtype not in (READY if kind == "rfft" else READY_COMPLEX) or not a.flags.carray:
        return None
    shape, native = a.shape, _context(None, None)
    if kind[-1] == "2":
        if n is not None or type(axis) is not tuple or axis != (-2, -1) or a.ndim < 2:
            return None
        return _fiedler.transform(native, a.reshape((-1, *shape[-2:])), kind).reshape(shape)
    if type(axis) is not int:
        return None
    three, axis = (a.reshape((-1, shape[-1], 1)), a.ndim - 1) if axis == -1 else along(a, axis, "axis")
    if kind == "irfft":
        length = 2 * (shape[axis] - 1) if n is None else n
        if type(length) is not int or length < 1 or length // 2 + 1 != shape[axis]:
            return None
        made = _fiedler.inverse_real(native, three, length)
    elif n is not None and (type(n) is not int or n != shape[axis]):
        return None
    elif kind == "rfft":
        made = _fiedler.real(native, three)
    else:
        return _fiedler.transform(native, three, kind).reshape(shape)
    return made.reshape((*shape[:axis], made.shape[1], *shape[axis + 1 :]))


def several(x: Any, listed: list[tuple[int, int | None]], norm: str | None, inverse: bool, where: Where) -> Any:
    """Returns the complex transform along axes, whose lengths are listed with them."""
    kind = "ifft" if inverse else "fft"
    lengths = dict(listed)
    if tracked_by(x):
        for axis, length in reversed(listed):
            x = one(kind, x, length, axis, norm, where)
        return x if listed else x + 0j
    if len(lengths) < len(listed) or len(listed) != 2:
        # The last axis is transformed first, as NumPy does, and an axis that is listed twice twice.
        for axis, length in reversed(listed):
            x = one(kind, x, length, axis, norm, where)
        return complexes(x)
    for axis, length in listed:
        x = resized(x, length, axis)
    own, last = tuple(lengths), (x.ndim - 2, x.ndim - 1)
    turned = x if own == last else np.moveaxis(x, own, last)
    rows, columns = turned.shape[-2:]
    batch = complexes(turned).reshape((count(turned.shape[:-2]), rows, columns))
    made = _fiedler.transform(where.native, batch, f"{kind}2").reshape(turned.shape)
    made = _scaled(made, _scale(norm, rows * columns, inverse=inverse))
    return made if own == last else np.moveaxis(made, last, own)


def real_several(x: Any, s: Any, axes: Any, norm: str | None, where: Where) -> Any:
    """Returns half of the spectrum of reals: `rfft` along the last of the axes, and `fft` along the others."""
    *others, (last, length) = _some(axes_of(x, s, axes))
    half = one("rfft", x, length, last, norm, where)
    return several(half, others, norm, False, where) if others else half


def inverse_real_several(x: Any, s: Any, axes: Any, norm: str | None, where: Where) -> Any:
    """Returns the inverse of `real_several`."""
    *others, (last, length) = _some(axes_of(x, s, axes))
    half = several(x, others, norm, True, where) if others else x
    return one("irfft", half, length, last, norm, where)


def _some(listed: list[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    if not listed:
        raise ShapeError("axes: expected at least one axis, found none")
    return listed


def axes_of(x: Any, s: Any, axes: Any) -> list[tuple[int, int | None]]:
    """Returns the axes, counted from 0, with the length of each, or None for that of the array."""
    if s is None and isinstance(axes, tuple) and axes == (-2, -1) and x.ndim > 1:
        return [(x.ndim - 2, None), (x.ndim - 1, None)]
    if axes is None:
        several = x.ndim if s is None else len(sequence(s, "s"))
        axes = range(-several, 0)
    places = sequence(axes, "axes")
    for axis in places:
        if not isinstance(axis, (int, np.integer)):
            raise wrong("axes", "integers", axis)
        if not -x.ndim <= axis < x.ndim:
            if x.ndim < 2 and places == [-2, -1]:
                raise ShapeError(f"a: expected at least two axes, found the shape {tuple(x.shape)}")
            raise np.exceptions.AxisError(int(axis), x.ndim, "axes")
    lengths = [None] * len(places) if s is None else sequence(s, "s")
    if len(lengths) != len(places):
        raise ShapeError(f"s: expected a length for each of {len(places)} axes, found {len(lengths)}")
    kept = [None if length is None or length == -1 else whole(length, "s") for length in lengths]
    return [(int(axis) % x.ndim, length) for axis, length in zip(places, kept)]


def sequence(value: Any, name: str) -> list[Any]:
    """Returns the elements of a sequence, or a number alone, as SciPy takes it."""
    if isinstance(value, (int, np.integer)):
        return [value]
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise wrong(name, "a sequence of integers", value)
    return list(value)
