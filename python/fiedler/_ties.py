"""What the gradients of torch and of JAX share: where a call runs, what happens at ties, and their formulas.

The formulas are vector-Jacobian products in operations of the library that differentiates, for second derivatives. In
them, as in the library itself (`ops/gradient`), quotients within a tie group are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import numpy as np

from ._arguments import real, word
from ._context import Context, _context
from ._errors import DomainError, UndefinedGradientError, UndefinedGradientWarning, warn

Rule = tuple[str, float, str]

current: ContextVar[tuple[Rule, Any]] = ContextVar("gradients", default=(("exact", 0.0, "warn"), None))
"""What gradients do where values are tied, and what is called with each certificate."""

# Contexts stay here until the process ends, because a backward pass may come at any time.
_named: dict[str, Context] = {}


def place(device: str | None, context: Context | None) -> str:
    """Returns a name for where a call runs, because operators take no other objects."""
    if context is None:
        return device or "auto"
    _context(context, device)
    name = f"context {id(context)}"
    _named[name] = context
    return name


def native(place: str) -> Any:
    """Returns the native context of such a name."""
    return _context(_named[place], None) if place in _named else _context(None, place)


def judged(defined: np.ndarray[Any, Any], undefined: np.ndarray[Any, Any], on_undefined: str) -> None:
    """Warns or raises if the loss of some matrices has no gradient."""
    bad = np.flatnonzero(~defined)
    if not bad.size or on_undefined == "ignore":
        return
    share = float(np.ravel(undefined)[bad[0]])
    why = f"a share of {share:.1e} of the cotangents depends on the basis of tied vectors, or tells tied values apart"
    if np.isnan(share):
        why = "there is a NaN or an infinity"
    what = f"the loss of {bad.size} of {defined.size} matrices has no gradient; in the first, matrix {bad[0]}, {why}"
    if on_undefined == "raise":
        raise UndefinedGradientError(what)
    warn(what, UndefinedGradientWarning)


@lru_cache(maxsize=64)
def _orthogonal(n: int, seed: int) -> np.ndarray[Any, Any]:
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0])


def turned(values: np.ndarray[Any, Any], *sides: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Returns vectors, which are rows, with another basis for each tie group: one without any relation to the matrix.

    In the basis that a solver chooses, such as the unit vectors for a diagonal matrix, what a loss depends on may be 0
    by coincidence, and would not be reported. Of singular vectors, both sides are turned together, except those of 0.
    """
    n = values.shape[-1]
    allowed = 4 * n * np.finfo(values.dtype).eps * np.abs(values).max(-1, initial=0, keepdims=True)
    tied = np.abs(np.diff(values)) <= allowed
    if not tied.any():
        return list(sides)
    made = [np.array(side) for side in sides]
    for matrix in map(tuple, np.argwhere(tied.any(-1))):
        ends = [*(np.flatnonzero(~tied[matrix]) + 1), n]
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            if end - begin < 2:
                continue
            apart = len(sides) > 1 and values[matrix][end - 1] <= allowed[matrix][0]
            for number, side in enumerate(made):
                turn = _orthogonal(int(end - begin), number if apart else 0).astype(values.dtype)
                side[matrix][begin:end] = turn @ side[matrix][begin:end]
    return made


def ties_of(values: np.ndarray[Any, Any], orders: np.ndarray[Any, Any], rule: Rule) -> np.ndarray[Any, Any]:
    """Returns whether each value is tied to the one before it, of matrices of these orders, one after the other."""
    last = orders.cumsum() - 1
    kept = orders > 0
    norms = np.zeros(len(orders), values.dtype)
    norms[kept] = np.maximum(np.abs(values[(last - orders + 1)[kept]]), np.abs(values[last[kept]]))
    fine = 4 * orders * float(np.finfo(values.dtype).eps)
    allowed = (np.maximum(fine, rule[1]) if rule[0] == "group" else fine) * norms
    tied = np.zeros(len(values), bool)
    tied[1:] = np.diff(values) <= np.repeat(allowed, orders)[1:]
    tied[(last - orders + 1)[kept]] = False
    return tied


class gradients:
    """Says what gradients do at ties, for the decompositions that are called within a ``with`` statement.

    Parameters
    ----------
    mode : {'exact', 'group', 'lorentzian'}
        'exact': values that the precision cannot separate are tied. 'group': so are neighbors that differ by at most
        ``number`` times the norm; the gradient then omits how they rotate into one another. 'lorentzian': 1 / d becomes
        d / (d^2 + w^2), where w is ``number`` times the norm, so that each quotient is too small by the factor
        d^2 / (d^2 + w^2).
    number : float
        The tolerance or the width.
    undefined : {'warn', 'raise', 'ignore'}
        What happens if the loss has no gradient: `fiedler.UndefinedGradientWarning`,
        `fiedler.UndefinedGradientError` in the backward pass, or nothing.

    Attributes
    ----------
    certificates : list of (undefined, sensitivity)
        A pair of arrays for each backward pass of torch: the share of the cotangents that has no gradient, and the norm
        divided by the smallest gap, by which rounding errors of the gradient grow.

    See `docs/gradients.md` for examples.
    """

    def __init__(self, mode: str = "exact", number: float = 0.0, *, undefined: str = "warn") -> None:
        word(mode, "mode", "exact", "group", "lorentzian")
        word(undefined, "undefined", "warn", "raise", "ignore")
        number = real(number, "number")
        if not 0 <= number < float("inf"):
            raise DomainError(f"number: expected a finite number that is not negative, found {number}")
        self._rule = (mode, number, undefined)
        self._before: list[Any] = []
        self.certificates: list[tuple[Any, Any]] = []

    def __enter__(self) -> gradients:
        self._before.append(current.set((self._rule, lambda *found: self.certificates.append(found))))
        return self

    def __exit__(self, *_: Any) -> None:
        current.reset(self._before.pop())


class Formulas:
    """Vector-Jacobian products in the operations of a library, given its module and what stops its gradients."""

    def __init__(self, xp: Any, detach: Callable[[Any], Any]) -> None:
        self._xp, self._detach = xp, detach

    def groups(self, values: Any, rule: Rule) -> tuple[Any, Any, Any]:
        """Returns the norm, the number of each value's tie group, and how far apart values are tied."""
        xp, n, values = self._xp, values.shape[-1], self._detach(values)
        norm = xp.abs(values[..., :1])
        if n:
            norm = xp.where(norm < xp.abs(values[..., -1:]), xp.abs(values[..., -1:]), norm)
        fine = 4 * n * float(xp.finfo(values.dtype).eps)
        allowed = (max(fine, rule[1]) if rule[0] == "group" else fine) * norm
        apart = xp.abs(values[..., 1:] - values[..., :-1]) > allowed
        groups = xp.cumsum(xp.concatenate([xp.zeros_like(norm, dtype=bool), apart], -1), -1)
        return norm, groups, allowed

    def reciprocals(self, values: Any, rule: Rule) -> Any:
        """Returns 1 / (l_j - l_i), or its Lorentzian approximation, and 0 within a tie group."""
        xp = self._xp
        norm, groups, _ = self.groups(values, rule)
        tied = groups[..., None, :] == groups[..., :, None]
        gap = xp.where(tied, 1.0, values[..., None, :] - values[..., :, None])
        if rule[0] == "lorentzian":
            # The width is not 0 where a value is not tied, except if it is asked for.
            width = xp.where(tied | (rule[1] == 0), 1.0, rule[1] * norm[..., None])
            ratio = gap / width
            return xp.where(tied, 0.0, 1 / gap if rule[1] == 0 else ratio / ((ratio * ratio + 1) * width))
        return xp.where(tied, 0.0, 1 / gap)

    def diagonal(self, x: Any) -> Any:
        """Returns diagonal matrices."""
        return x[..., None] * self._xp.eye(x.shape[-1], dtype=x.dtype)

    def eigh(self, w: Any, rows: Any, w_bar: Any, rows_bar: Any, rule: Rule) -> Any:
        inner = skew(rows @ rows_bar.mT) * self.reciprocals(w, rule) + self.diagonal(w_bar)
        return rows.mT @ inner @ rows

    def quotients(self, s: Any, rule: Rule) -> tuple[Any, Any, Any]:
        """Returns 1 / (s_j - s_i), 1 / (s_j + s_i) and 1 / s, with 0 where the gradient has 0."""
        xp = self._xp
        zero = self._detach(s) <= self.groups(s, rule)[2]
        both = zero[..., None, :] & zero[..., :, None]
        total = xp.where(both, 1.0, s[..., None, :] + s[..., :, None])
        own = xp.where(zero, 0.0, 1 / xp.where(zero, 1.0, s))
        return xp.where(both, 0.0, self.reciprocals(s, rule)), xp.where(both, 0.0, 1 / total), own

    def svd(self, u: Any, s: Any, vh: Any, u_bar: Any, s_bar: Any, vh_bar: Any, rule: Rule) -> Any:
        p, q = u.mT @ u_bar, vh @ vh_bar.mT
        first, second, own = self.quotients(s, rule)
        a, b = skew(p), skew(q)
        inner = (a + b) * first + (a - b) * second + self.diagonal(self._xp.where(own == 0, 0.0, s_bar))
        made = u @ inner @ vh
        if u.shape[-2] > vh.shape[-1]:
            made = made + ((u_bar - u @ p) * own[..., None, :]) @ vh
        if u.shape[-2] < vh.shape[-1]:
            made = made + u @ (own[..., :, None] * (vh_bar - q.mT @ vh))
        return made


def skew(x: Any) -> Any:
    """Returns the skew part of matrices."""
    return (x - x.mT) / 2
