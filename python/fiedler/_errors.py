"""The exceptions of this package. Each says what was expected and what was found."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import TYPE_CHECKING, Any

from numpy.linalg import LinAlgError

if TYPE_CHECKING:
    from ._encode import Encoding
    from ._structural import StructuralEncoding

__all__ = [
    "DeviceError",
    "DeviceLostError",
    "DomainError",
    "Error",
    "InternalError",
    "LimitError",
    "NoAdapterError",
    "OutOfMemoryError",
    "ParseError",
    "ShapeError",
    "UncertifiedError",
    "UncertifiedWarning",
    "UndefinedGradientError",
    "UndefinedGradientWarning",
]


class Error(Exception):
    """The base of all exceptions of this package, except ``OSError`` where the system refuses a file."""


class ShapeError(Error, ValueError):
    """The shapes of the operands do not fit together."""


class DomainError(Error, ValueError):
    """A value is outside the domain of an operation."""


class ParseError(Error, ValueError):
    """The content of a file is not as expected.

    ``path`` is the file, and ``line`` its line, counted from 1, or None.
    """

    path: Any = None
    line: int | None = None


class LimitError(Error, ValueError):
    """The call needs more than the device, the memory budget or the method allows."""


class OutOfMemoryError(Error, MemoryError):
    """The device or the memory budget has no room for an allocation."""


class DeviceError(Error, RuntimeError):
    """The device reported an error."""


class DeviceLostError(DeviceError):
    """The device was lost, or belongs to the process that this one was forked from. A new ``Context`` works again."""


class NoAdapterError(DeviceError):
    """No adapter matches the request."""


class InternalError(Error, RuntimeError):
    """A bug of this package. The message has the place and the backtrace."""


class UncertifiedError(Error, LinAlgError):
    """Some results lack the status converged. ``encoding`` has all results, these included."""

    encoding: Encoding | StructuralEncoding | None = None


class UncertifiedWarning(RuntimeWarning):
    """Some results lack the status converged; the others are as promised."""


class Notice(UserWarning):
    """What a file or an array was taken for, where another program might read it differently, such as ids from 1."""


class UndefinedGradientError(Error, ArithmeticError):
    """A loss has no gradient, because it depends on the basis of tied vectors, or tells tied values apart."""


class UndefinedGradientWarning(RuntimeWarning):
    """A loss has no gradient. What was returned lacks the part that depends on the basis of tied vectors."""


def warn_of(notices: list[str]) -> None:
    """Warns once of what another program might read differently, if there is anything."""
    if notices:
        warn(" ".join(notices), Notice)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line that called this package, through however many functions of it, of torch and of JAX."""
    level, inner = 1, (__package__, "torch", "jax", "jaxlib")
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in inner:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
