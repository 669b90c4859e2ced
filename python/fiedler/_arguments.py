"""Arguments that are no arrays: each check names the argument, what it may be, and what was found."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._errors import DomainError


def many(count: int, what: str) -> str:
    """Returns a number of things in words, such as '1 graph' or '2 graphs'."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def wrong(name: str, expected: str, found: Any) -> TypeError:
    """Returns the error for an argument of a wrong type."""
    return TypeError(f"{name}: expected {expected}, found {type(found).__name__}")


def whole(value: Any, name: str, most: int = 2**63 - 1, least: int = 0) -> int:
    """Returns an integer from ``least`` to ``most``, or raises `DomainError`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise wrong(name, "an integer", value) from None
    if not least <= number <= most:
        raise DomainError(f"{name}: expected an integer from {least} to {most}, found {number}")
    return number


def real(value: Any, name: str) -> float:
    """Returns a number."""
    if isinstance(value, (str, bytes)) or np.ndim(value) != 0:
        raise wrong(name, "a number", value)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise wrong(name, "a number", value) from None


def reals(value: Any, name: str) -> list[float]:
    """Returns a list of numbers."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise wrong(name, "a sequence of numbers", value)
    return [real(one, name) for one in value]


def wholes(value: Any, name: str) -> list[int]:
    """Returns a list of integers."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise wrong(name, "a sequence of integers", value)
    return [whole(one, name) for one in value]


def flag(value: Any, name: str) -> bool:
    """Returns True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise wrong(name, "True or False", value)
    return bool(value)


def text(value: Any, name: str) -> str:
    """Returns a text."""
    if not isinstance(value, str):
        raise wrong(name, "a text", value)
    return value


def text_or_none(value: Any, name: str) -> str | None:
    """Returns a text or None."""
    if value is not None and not isinstance(value, str):
        raise wrong(name, "a text or None", value)
    return value


def word(value: Any, name: str, *known: str) -> str:
    """Returns one of the words that an option has."""
    expected = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
    if not isinstance(value, str):
        raise wrong(name, expected, value)
    if value not in known:
        raise ValueError(f"{name}: expected {expected}, found {value!r}")
    return value


def path(value: Any, name: str = "path") -> str:
    """Returns a path as a text."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise wrong(name, "a path", value)
    return os.fsdecode(value)


def seconds(value: Any, name: str) -> float:
    """Returns a time of 0 seconds or more."""
    number = real(value, name)
    if not 0 <= number < math.inf:
        raise DomainError(f"{name}: expected seconds of 0 or more, found {number}")
    return number
