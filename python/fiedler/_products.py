"""Products of matrices of `fiedler.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _fiedler
from ._arrays import as_numpy, count, differentiating, prepared, tracked_by
from ._context import Context, _context
from ._errors import ShapeError
from ._fourier import placed
from ._ties import place

Array = Any

_EXACT = 2**53
"""float64 has all integers up to this."""
_FEW = 2**15
"""Products of integers with at most this number of multiplications are left to NumPy's loop."""


def _matmul_tracked(a: Any, b: Any, device: str | None, context: Context | None) -> Any:
    """Computes `matmul` of arrays of which a library differentiates at least one."""
    library = differentiating(a, b)
    x, y = library.checked(a, "a"), library.checked(b, "b")
    if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != y.shape[-2 if y.ndim > 1 else -1]:
        what = f"{tuple(x.shape)} and {tuple(y.shape)}"
        raise ShapeError(f"matmul: expected as many columns in a as rows in b, found the shapes {what}")
    return library.matmul(x, y, place(device, context))


def matmul(
    a: Array, b: Array, out: Any = None, *, device: str | None = None, context: Context | None = None
) -> Array:
    """Computes products of matrices as ``numpy.matmul`` does: vectors are promoted, leading axes are broadcast.

    Products of float16 are summed in float32 and stay float16. Complex numbers are multiplied on the CPU. Integers and
    booleans have NumPy's results to the last bit, in NumPy's type: sums of integers wrap around, and a sum of booleans is
    whether one of them is true.

    Parameters
    ----------
    a, b : array, (..., m, k) and (..., k, n), or vectors (k,)
    out : numpy.ndarray, optional
        The array that receives the product. It has the shape of the product, and a type that holds it.

    Returns
    -------
    array, (..., m, n), without the axes of vectors

    Raises
    ------
    ShapeError
        If a shape does not fit.

    Examples
    --------
    >>> fiedler.linalg.matmul([[1.0, 2.0]], [[3.0], [4.0]])
    array([[11.]])
    >>> fiedler.linalg.matmul([2**53 + 1, 1], [1, 0])
    np.int64(9007199254740993)
    """
    if tracked_by(a) or tracked_by(b):
        if out is not None:
            raise TypeError("out: expected None for an array that is differentiated, whose results are new arrays")
        return _matmul_tracked(a, b, device, context)
    (x, wrap), (y, _) = as_numpy(a), as_numpy(b, "b")
    if x.ndim == 0 or y.ndim == 0:
        raise ShapeError(f"matmul: expected arrays with axes, found the shapes {x.shape} and {y.shape}")
    if x.dtype != y.dtype:
        dtype = np.result_type(x, y)
        x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    lengths = x.shape[-1], y.shape[-2 if y.ndim > 1 else -1]
    if lengths[0] != lengths[1]:
        what = f"{x.shape} and {y.shape}"
        raise ShapeError(f"matmul: expected as many columns in a as rows in b, found the shapes {what}")
    native = _context(context, device)
    made = _whole(native, x, y) if x.dtype.kind in "iub" else _product(native, x, y)
    return wrap(made) if out is None else placed(made, out)


def _whole(native: Any, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> Any:
    """Computes the product of integers or booleans of one type.

    float64 is exact if no sum can exceed 2^53, and much faster than NumPy's loop. Of booleans, it counts the terms.
    """
    _lead(x.shape[:-2], y.shape[:-2])
    terms, dtype = x.shape[-1], x.dtype
    if count(x.shape) * (y.shape[-1] if y.ndim > 1 else 1) <= _FEW:
        return np.matmul(x, y)
    largest = terms
    for part in (x, y):
        # The magnitude of the least integer of a type is no number of that type.
        largest *= 1 if dtype.kind == "b" else max(abs(int(part.min(initial=0))), int(part.max(initial=0)))
    if largest > _EXACT:
        return np.matmul(x, y)
    made = _product(native, x, y)
    if dtype.kind == "b":
        return made > 0
    # Sums wrap around in NumPy, as they do here from 64 bits to fewer.
    return made.astype(np.int64).astype(dtype)


def _lead(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the leading axes of a product."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        what = f"expected leading axes that can be broadcast, found {a} and {b}"
        raise ShapeError(f"matmul: {what}") from None


def _product(native: Any, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Computes the product of arrays of one type whose last lengths fit."""
    x, y = prepared(x, "a", half=True, complex_=True), prepared(y, "b", half=True, complex_=True)
    left, right = (x[None] if x.ndim == 1 else x), (y[:, None] if y.ndim == 1 else y)
    if left.ndim == right.ndim == 2:
        made = _fiedler.matmul(native, left[None], right[None])
        return made[0] if x.ndim == y.ndim == 2 else made.reshape(x.shape[:-1] + y.shape[1:])
    if left.ndim == right.ndim == 3 and left.shape[0] == right.shape[0]:
        return _fiedler.matmul(native, left, right)
    lead = _lead(left.shape[:-2], right.shape[:-2])
    flat = []
    for part in (left, right):
        # A single matrix is not repeated for the batch.
        if count(part.shape[:-2]) != 1 and part.shape[:-2] != lead:
            part = np.ascontiguousarray(np.broadcast_to(part, (*lead, *part.shape[-2:])))
        flat.append(part.reshape((count(part.shape[:-2]), *part.shape[-2:])))
    made = _fiedler.matmul(native, *flat)
    shape = (*lead, *([] if x.ndim == 1 else [left.shape[-2]]), *([] if y.ndim == 1 else [right.shape[-1]]))
    return made.reshape(shape)
