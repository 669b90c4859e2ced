"""Streams of random numbers that are functions of a seed, a name and a position: Philox4x32-10 (Salmon et al. 2011).

The same call gives the same bits on any number of threads.

>>> from fiedler import random
>>> random.Stream(7, "noise").uniform((2,)) == random.Stream(7, "noise").uniform((2,))
array([ True,  True])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _fiedler
from ._arguments import real, text, whole, wrong
from ._context import Context, _context

__all__ = ["Stream"]

Array = np.ndarray[Any, Any]


def _wide(dtype: Any) -> bool:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype: expected float32 or float64, found {dtype!r}") from None
    if kind not in (np.float32, np.float64):
        raise TypeError(f"dtype: expected float32 or float64, found {kind}")
    return bool(kind == np.float64)


class Stream:
    """A stream of random numbers, which every draw moves on.

    Parameters
    ----------
    seed : int
        From 0 to 2^64 - 1.
    name : str
        What the numbers are for. Streams of different names are independent.
    device, context
        Where to draw.
    """

    def __init__(
        self, seed: int = 0, name: str = "", *, device: str | None = None, context: Context | None = None
    ) -> None:
        self._seed, self._name = whole(seed, "seed", 2**64 - 1), text(name, "name")
        self._numbers: tuple[int, ...] = ()
        self._native = _fiedler.Stream(self._seed, name)
        self._place = (context, device)
        _context(context, device)

    def __repr__(self) -> str:
        name = "/".join([self._name, *map(str, self._numbers)])
        return f"fiedler.random.Stream({self._seed}, {name!r}), position {self.position}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._seed, self._name, self._numbers, self.position, *self._place)

    @property
    def position(self) -> int:
        """The number of 32-bit words that were drawn or skipped."""
        return self._native.position

    def skip(self, words: int) -> None:
        """Skips words, as if they had been drawn."""
        self._native.skip(whole(words, "words", 2**128 - 1))

    def substream(self, number: int) -> Stream:
        """Returns an independent stream, a function of the seed, the name and the number."""
        number = whole(number, "number", 2**64 - 1)
        context, device = self._place
        made = Stream(self._seed, self._name, device=device, context=context)
        made._native, made._numbers = self._native.substream(number), (*self._numbers, number)
        return made

    def _draw(self, law: str, a: float, b: float, shape: int | Sequence[int], dtype: Any = np.float32) -> Array:
        if isinstance(shape, (str, bytes)):
            raise wrong("shape", "an integer or a sequence of integers", shape)
        listed = list(shape) if isinstance(shape, Iterable) else [shape]
        lengths = [whole(length, "shape") for length in listed]
        return self._native.draw(_context(*self._place), law, (a, b), lengths, _wide(dtype))

    def uniform(
        self, shape: int | Sequence[int], low: float = 0.0, high: float = 1.0, dtype: Any = np.float32
    ) -> Array:
        """Draws numbers that are uniform in [low, high)."""
        return self._draw("uniform", real(low, "low"), real(high, "high"), shape, dtype)

    def normal(
        self, shape: int | Sequence[int], mean: float = 0.0, std: float = 1.0, dtype: Any = np.float32
    ) -> Array:
        """Draws normal numbers."""
        return self._draw("normal", real(mean, "mean"), real(std, "std"), shape, dtype)

    def bernoulli(self, shape: int | Sequence[int], p: float = 0.5, dtype: Any = np.float32) -> Array:
        """Draws ones with probability p, and zeros."""
        return self._draw("bernoulli", real(p, "p"), 0.0, shape, dtype)

    def words(self, shape: int | Sequence[int]) -> Array:
        """Draws uint32 words."""
        return self._draw("words", 0.0, 0.0, shape)


def _restored(
    seed: int, name: str, numbers: tuple[int, ...], position: int, context: Context | None, device: str | None
) -> Stream:
    """Returns a stream that was pickled, where it was."""
    made = Stream(seed, name, device=device, context=context)
    for number in numbers:
        made = made.substream(number)
    made.skip(position)
    return made
