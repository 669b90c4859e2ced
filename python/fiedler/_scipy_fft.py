"""What `fiedler.fft` answers as a backend of ``scipy.fft``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ._arrays import is_tensor
from ._errors import DomainError

_TYPES = frozenset("bhilqpBHILQPefdFD?")
"""The characters of the types of NumPy that are computed in, or converted to one that is."""


@cache
def _signature(method: Any) -> inspect.Signature:
    return inspect.signature(method)


def answer(own: Callable[..., Any] | None, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the result of ``own`` for a call of SciPy's ``method``, or NotImplemented for what it does not take.

    The arguments are named by SciPy's signature, whose order differs from NumPy's. SciPy calls its own function, or the
    next backend, if this returns NotImplemented.
    """
    if own is None or kwargs.get("plan") is not None:
        return NotImplemented
    try:
        given = _signature(method).bind(*args, **kwargs).arguments
    except TypeError:
        return NotImplemented  # SciPy says what is wrong with the call
    (first, *_), (x, *options) = given, given.values()
    if not _is_taken(x):
        return NotImplemented
    named = dict(zip([name for name in given if name != first], options, strict=True))
    try:
        return own(x, **named)
    except DomainError:
        return NotImplemented  # SciPy says what is wrong, or knows what it means: its irfftn takes a single frequency


def _is_taken(x: Any) -> bool:
    """Returns whether the array has numbers that are computed in, in memory of the CPU."""
    if is_tensor(x):
        return bool(x.device.type == "cpu")
    dtype = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    try:
        return np.dtype(dtype).char in _TYPES
    except TypeError:
        return False
