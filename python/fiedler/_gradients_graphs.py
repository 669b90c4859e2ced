"""Eigenpairs of many graphs, and of large ones, that take part in torch's differentiation.

Matrices of unequal orders, whose elements are one after the other, are decomposed in one call. Of a large sparse matrix,
k eigenpairs are iterated, and the part of the gradient outside of them is the solution of linear systems.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _fiedler
from ._errors import DomainError, UncertifiedWarning, warn
from ._gradients_torch import _forward_once, _made, _report, formulas
from ._ties import Rule, current, judged, native, ties_of, turned
from ._transforms_torch import array


def _batches(orders: list[int], values: list[Tensor], rows: list[Tensor]) -> Iterator[list[Tensor]]:
    """Returns adjacent matrices of one order as a batch: their values, (count, n), and rows, (count, n, n)."""
    first, begin = 0, 0
    for n, run in groupby(orders):
        count = len(list(run))
        own, elements = slice(first, first + count * n), slice(begin, begin + count * n * n)
        yield [x[own].view(count, n) for x in values] + [x[elements].view(count, n, n) for x in rows]
        first, begin = own.stop, elements.stop


def _places(orders: list[int], k: int) -> tuple[Tensor, ...]:
    """Returns where the first k pairs of each matrix are among all of them.

    The places in the values (matrices, k) and the vectors (rows, k), of those that exist, as places in a flat array,
    and the places in the values and elements of all pairs.
    """
    n, pairs = torch.tensor(orders, dtype=torch.long), torch.arange(k)
    first, begin = n.cumsum(0) - n, (n * n).cumsum(0) - n * n
    exists = pairs < n[:, None]
    row_of = n.repeat_interleave(n)
    local = torch.arange(len(row_of)) - first.repeat_interleave(n)
    there = exists.repeat_interleave(n, 0)
    elements = begin.repeat_interleave(n)[:, None] + pairs * row_of[:, None] + local[:, None]
    values = (first[:, None] + pairs)[exists]
    return exists.flatten().nonzero()[:, 0], values, there.flatten().nonzero()[:, 0], elements[there]


def _spread(w_bar: Tensor, rows_bar: Tensor, w: Tensor, rows: Tensor, orders: list[int]) -> tuple[Tensor, Tensor]:
    """Returns the cotangents of all pairs, given those of the first k."""
    in_values, values, in_vectors, elements = _places(orders, rows_bar.shape[1])
    all_values = torch.zeros_like(w).index_add(0, values, w_bar.flatten()[in_values])
    return all_values, torch.zeros_like(rows).index_add(0, elements, rows_bar.flatten()[in_vectors])


def _formula(w: Tensor, rows: Tensor, w_bar: Tensor, rows_bar: Tensor, orders: list[int], rule: Rule) -> Tensor:
    if rows_bar.ndim == 2:
        w_bar, rows_bar = _spread(w_bar, rows_bar, w, rows, orders)
    parts = _batches(orders, [w, w_bar], [rows, rows_bar])
    made = [formulas.eigh(w, v, w_bar, v_bar, rule).flatten() for w, w_bar, v, v_bar in parts]
    return torch.cat(made) if made else rows


class _RaggedGradient(torch.autograd.Function):
    """The vector-Jacobian product with its certificate. Its own derivatives are those of a formula."""

    @staticmethod
    def forward(ctx: Any, w: Tensor, rows: Tensor, w_bar: Tensor, rows_bar: Tensor, orders: list[int], *rest: Any) -> Any:
        device, mode, number, undefined, report = rest
        ctx.orders, ctx.rule = orders, (mode, number, undefined)
        ctx.save_for_backward(w, rows, w_bar, rows_bar)
        given = array(w), array(rows), orders, array(w_bar), array(rows_bar)
        made, defined, *certificate = _fiedler.eigh_ragged_vjp(native(device), *given, (mode, number))
        judged(defined, certificate[0], undefined)
        _report(report, _made(certificate))
        return torch.from_numpy(made)

    @staticmethod
    def backward(ctx: Any, bar: Tensor) -> Any:
        formula = partial(_formula, orders=ctx.orders, rule=ctx.rule)
        pull = torch.func.vjp(formula, *ctx.saved_tensors)[1]
        return *pull(bar), *[None] * 6


class _RaggedOf(torch.autograd.Function):
    """The first k eigenvalues and eigenvectors of matrices of these orders, and all of them, as rows."""

    @staticmethod
    def forward(elements: Tensor, orders: list[int], k: int, device: str, *settings: Any) -> Any:
        *made, _ = _fiedler.eigh_ragged(native(device), array(elements), orders, k)
        return tuple(map(torch.from_numpy, made))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, ctx.orders, ctx.k, ctx.device, *ctx.settings = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*output)
        ctx.save_for_forward(*output)

    @staticmethod
    def backward(ctx: Any, w_bar: Any, v_bar: Any, all_w_bar: Any, all_v_bar: Any) -> Any:
        first_w, first_v, w, rows = ctx.saved_tensors
        bars = [torch.zeros_like(x) if bar is None else bar for x, bar in ((first_w, w_bar), (first_v, v_bar))]
        if all_w_bar is not None or all_v_bar is not None:
            bars = list(_spread(bars[0], bars[1], w, rows, ctx.orders))
            bars = [x if bar is None else x + bar for x, bar in zip(bars, (all_w_bar, all_v_bar), strict=True)]
        made = _RaggedGradient.apply(w, rows, *bars, ctx.orders, ctx.device, *ctx.settings)
        return made, *[None] * 7

    @staticmethod
    def jvp(ctx: Any, a_dot: Any, *_: Any) -> Any:
        _forward_once()
        first_w, first_v, w, rows = ctx.saved_tensors
        rule, values, vectors = tuple(ctx.settings[:3]), [w.new_zeros(0)], [w.new_zeros(0)]
        for own, v, dot in _batches(ctx.orders, [w], [rows, a_dot]):
            p = v @ ((dot + dot.mT) / 2) @ v.mT
            values.append(p.diagonal(dim1=-2, dim2=-1).flatten())
            vectors.append(((p * formulas.reciprocals(own, rule)).mT @ v).flatten())
        w_dot, rows_dot = torch.cat(values), torch.cat(vectors)
        in_values, values_of, in_vectors, elements = _places(ctx.orders, ctx.k)
        w_first = w.new_zeros(first_w.numel()).index_add(0, in_values, w_dot[values_of]).view(first_w.shape)
        v_first = w.new_zeros(first_v.numel()).index_add(0, in_vectors, rows_dot[elements]).view(first_v.shape)
        return w_first, v_first, w_dot, rows_dot


def eigh_ragged(elements: Tensor, orders: list[int], k: int, place: str) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the first k eigenvalues (matrices, k) and eigenvectors (rows, k), filled up with 0, and all eigenvalues."""
    rule, report = current.get()
    values, vectors, w, _ = _RaggedOf.apply(elements, orders, k, place, *rule, report)
    return values, vectors, w


def ties(values: Tensor, orders: list[int]) -> np.ndarray[Any, Any]:
    """Returns whether each value is tied to the one before it, by the rule of the present gradients."""
    return ties_of(values.detach().numpy(), np.asarray(orders, np.int64), current.get()[0])


class _EigshOf(torch.autograd.Function):
    """k eigenvalues at an end of the spectrum and their eigenvectors, which are rows, of a sparse symmetric matrix.

    One more pair is computed, which tells whether the k pairs are only a part of a tie group.
    """

    @staticmethod
    def forward(ctx: Any, entries: Tensor, pattern: Any, options: dict[str, Any], device: str, *settings: Any) -> Any:
        ctx.pattern, ctx.end, ctx.device, ctx.settings = pattern, options["which"], device, settings
        offsets, columns = pattern
        k, n = options["k"], len(offsets) - 1
        more = {**options, "k": min(k + 1, n) if k else 0}
        wide = entries.detach().double()
        found = _fiedler.eigsh(native(device), offsets, columns, array(wide), more)
        w, rows, residual, orthogonality, status, null_space = found
        ctx.kept = kept = slice(0, k) if ctx.end == "smallest" else slice(len(w) - k, len(w))
        # An eigenvalue of a Laplacian that is not resolved (3) is 0.
        bad = np.flatnonzero((status[kept] == 1) | (status[kept] == 2))
        if bad.size:
            warn(f"{bad.size} of {k} pairs have not converged; the first is pair {bad[0]}", UncertifiedWarning)
        (rows,) = turned(w, rows)
        rows = rows * np.where(-rows.min(-1, initial=0) > rows.max(-1, initial=0), -1, 1)[:, None]
        made = torch.from_numpy(w), torch.from_numpy(rows)
        ctx.save_for_backward(wide, *made)
        ctx.dtype = entries.dtype
        measured = tuple(torch.as_tensor(x) for x in (residual[kept], orthogonality, status[kept], null_space))
        ctx.mark_non_differentiable(*measured)
        return made[0][kept].to(entries.dtype), made[1][kept].to(entries.dtype), *measured

    @staticmethod
    def backward(ctx: Any, w_bar: Tensor, rows_bar: Tensor, *_: Any) -> Any:
        if torch.is_grad_enabled():
            raise NotImplementedError("expected a first derivative of iterated pairs, found a second (create_graph=True)")
        entries, w, rows = ctx.saved_tensors
        mode, number, undefined, report = ctx.settings
        bars = [torch.zeros_like(x) for x in (w, rows)]
        for bar, given in zip(bars, (w_bar, rows_bar), strict=True):
            bar[ctx.kept] = given.double()
        matrix = (*ctx.pattern, array(entries))
        pairs = array(w), array(rows)
        # Elements in float32 tell no closer values apart, and so do vectors that were rounded to it.
        eps = torch.finfo(ctx.dtype).eps
        rule = (mode, number) if ctx.dtype == torch.float64 else ("group", max(number, eps))
        found, _residual = _fiedler.eigsh_vjp(
            native(ctx.device), matrix, ctx.end, pairs, (array(bars[0]), array(bars[1])), rule
        )
        made, defined, *certificate = found
        judged(defined | (certificate[0] <= eps ** (2 / 3)), certificate[0], undefined)
        _report(report, _made(certificate))
        return torch.from_numpy(made).to(ctx.dtype), *[None] * 7

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise NotImplementedError("expected the backward mode for iterated pairs, found the forward mode")


def eigsh(entries: Tensor, pattern: Any, options: dict[str, Any], place: str) -> Any:
    """Returns k eigenpairs of the matrix with these entries and (row offsets, columns), and their measures."""
    rule, report = current.get()
    if rule[0] == "lorentzian":
        raise DomainError("gradients: expected 'exact' or 'group' for iterated pairs, found 'lorentzian'")
    return _EigshOf.apply(entries, pattern, options, place, *rule, report)
