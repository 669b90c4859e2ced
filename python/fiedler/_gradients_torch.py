"""Decompositions of tensors of torch that take part in its differentiation.

Each decomposition is an opaque operator, so that ``torch.compile`` does not look into it, and so is its vector-Jacobian
product, which the library computes with a certificate (`docs/gradients.md`). Forward mode and second derivatives are
formulas of torch's own operations, in which quotients within a tie group are 0 as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _fiedler
from ._ties import Formulas, Rule, current, judged, native, skew, turned
from ._transforms_torch import array, transforms

__all__ = ["checked", "eigh", "function", "matmul", "svd", "transforms", "wide", "xp"]

# A decomposition, its residual and departure from orthogonality, and its status.
_Eigh = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
_SVD = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


def _made(arrays: Any) -> Any:
    return tuple(torch.from_numpy(np.asarray(array)) for array in arrays)


def _measures(a: Tensor, lead: Any) -> tuple[Tensor, Tensor]:
    """Returns what the measures of certificates look like."""
    return a.new_empty(lead, dtype=torch.float64), a.new_empty(lead, dtype=torch.float64)


def _eigh_here(a: Tensor, upper: bool, device: str) -> _Eigh:
    w, rows, found = _fiedler.eigh(native(device), array(a), upper, None, "smallest", True)
    return _made((w, *turned(w, rows), *found))


_eigh = torch.library.custom_op("fiedler::eigh", _eigh_here, mutates_args=())


@_eigh.register_fake
def _(a: Tensor, upper: bool, device: str) -> _Eigh:
    lead = a.shape[:-2]
    rows = torch.empty_like(a, memory_format=torch.contiguous_format)
    return a.new_empty(a.shape[:-1]), rows, *_measures(a, lead), a.new_empty(lead, dtype=torch.uint8)


def _eigh_vjp_here(
    w: Tensor,
    rows: Tensor,
    w_bar: Tensor | None,
    rows_bar: Tensor | None,
    device: str,
    mode: str,
    number: float,
    undefined: str,
) -> tuple[Tensor, Tensor, Tensor]:
    made = _fiedler.eigh_vjp(native(device), array(w), array(rows), array(w_bar), array(rows_bar), (mode, number))
    judged(made[1], made[2], undefined)
    return _made((made[0], made[2], made[3]))


_eigh_vjp = torch.library.custom_op("fiedler::eigh_vjp", _eigh_vjp_here, mutates_args=())


@_eigh_vjp.register_fake
def _(w: Tensor, rows: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    return _gradient_like(rows, rows.shape)


def _svd_here(a: Tensor, device: str) -> _SVD:
    u, s, vh, found = _fiedler.svd(native(device), array(a), False, True)
    columns, vh = turned(s, u.swapaxes(-1, -2), vh)
    return _made((np.ascontiguousarray(columns.swapaxes(-1, -2)), s, vh, *found))


_svd = torch.library.custom_op("fiedler::svd", _svd_here, mutates_args=())


@_svd.register_fake
def _(a: Tensor, device: str) -> _SVD:
    *lead, m, n = a.shape
    k = min(m, n)
    factors = a.new_empty((*lead, m, k)), a.new_empty((*lead, k)), a.new_empty((*lead, k, n))
    return *factors, *_measures(a, lead), a.new_empty(lead, dtype=torch.uint8)


def _svd_vjp_here(
    u: Tensor,
    s: Tensor,
    vh: Tensor,
    u_bar: Tensor | None,
    s_bar: Tensor | None,
    vh_bar: Tensor | None,
    device: str,
    mode: str,
    number: float,
    undefined: str,
) -> tuple[Tensor, Tensor, Tensor]:
    bars = array(u_bar), array(s_bar), array(vh_bar)
    made = _fiedler.svd_vjp(native(device), array(u), array(s), array(vh), *bars, (mode, number))
    judged(made[1], made[2], undefined)
    return _made((made[0], made[2], made[3]))


_svd_vjp = torch.library.custom_op("fiedler::svd_vjp", _svd_vjp_here, mutates_args=())


@_svd_vjp.register_fake
def _(u: Tensor, s: Tensor, vh: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    return _gradient_like(u, (*u.shape[:-1], vh.shape[-1]))


def _gradient_like(x: Tensor, shape: Any) -> tuple[Tensor, Tensor, Tensor]:
    return x.new_empty(shape), *_measures(x, x.shape[:-2])


@torch.library.custom_op("fiedler::matmul", mutates_args=())
def _matmul(a: Tensor, b: Tensor, device: str) -> Tensor:
    return torch.from_numpy(_fiedler.matmul(native(device), array(a), array(b)))


@_matmul.register_fake
def _(a: Tensor, b: Tensor, device: str) -> Tensor:
    return a.new_empty((max(a.shape[0], b.shape[0]), a.shape[1], b.shape[2]))


def _leading(info: Any, in_dims: Any, arguments: Any) -> list[Any]:
    """Moves the axis of ``torch.vmap`` of every tensor to the front, where the batch is."""

    def moved(x: Any, dim: int | None) -> Any:
        if not isinstance(x, Tensor):
            return x
        return x.movedim(dim, 0) if dim is not None else x.expand(info.batch_size, *x.shape)

    return [moved(x, dim) for x, dim in zip(arguments, in_dims, strict=True)]


class _Batched(torch.autograd.Function):
    """A function whose leading axes are the batch, for ``torch.vmap``."""

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, *arguments: Any) -> Any:
        made = cls.apply(*_leading(info, in_dims, arguments))
        return made, (0,) * len(made)


def _register(op: Any, outputs: int) -> None:
    op.register_vmap(lambda info, in_dims, *arguments: (op(*_leading(info, in_dims, arguments)), (0,) * outputs))


_register(_eigh, 5)
_register(_svd, 6)
_register(_eigh_vjp, 3)
_register(_svd_vjp, 3)


xp = torch
formulas = Formulas(torch, Tensor.detach)


def _report(report: Any, certificate: Any) -> None:
    """Hands a certificate to the user, unless its numbers are within a transformation."""
    if report is not None and not torch._C._functorch.is_functorch_wrapped_tensor(certificate[0]):
        report(*certificate)


def _forward_once() -> None:
    """Refuses a forward mode within a forward mode, whose terms torch would leave out."""
    levels = torch._C._functorch.get_interpreter_stack() or []
    if sum(level.key() == torch._C._functorch.TransformType.Jvp for level in levels) > 1:
        raise NotImplementedError("expected at most one forward mode, found one within another; use torch.func.hessian")


class _Gradient(_Batched):
    """A vector-Jacobian product with its certificate. Its own derivatives are those of a formula."""

    operator: Any
    formula: Any

    @classmethod
    def forward(cls, *arguments: Any) -> Any:
        return cls.operator(*arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        *saved, _, mode, number, undefined = inputs
        ctx.rule = (mode, number, undefined)
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*saved)
        ctx.mark_non_differentiable(*output[1:])

    @classmethod
    def backward(cls, ctx: Any, bar: Any, *_: Any) -> Any:
        pull = torch.func.vjp(lambda *x: cls.formula(*x, ctx.rule), *ctx.saved_tensors)[1]
        return *pull(bar), None, None, None, None

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        saved = tuple(x.contiguous() for x in ctx.saved_tensors)
        dots = zip(saved, tangents, strict=False)
        given = tuple(torch.zeros_like(x) if dot is None else dot.contiguous() for x, dot in dots)
        return torch.func.jvp(lambda *x: cls.formula(*x, ctx.rule), saved, given)[1], None, None


class _EighGradient(_Gradient):
    operator = _eigh_vjp_here
    formula = formulas.eigh


class _SVDGradient(_Gradient):
    operator = _svd_vjp_here
    formula = formulas.svd


class _EighCompiled(_Batched):
    """Eigenvalues and eigenvectors, which are rows. ``torch.compile`` takes no function with a forward mode."""

    @staticmethod
    def forward(a: Any, upper: bool, device: str, *settings: Any) -> Any:
        return _eigh(a, upper, device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, _, ctx.device, *rule, ctx.report = inputs
        ctx.rule = tuple(rule)
        w, rows, *certificates = output
        ctx.save_for_backward(w, rows)
        ctx.save_for_forward(w, rows)
        ctx.mark_non_differentiable(*certificates)

    @staticmethod
    def backward(ctx: Any, w_bar: Any, rows_bar: Any, *_: Any) -> Any:
        w, rows = ctx.saved_tensors
        product = _eigh_vjp if torch.compiler.is_compiling() else _EighGradient.apply
        made, *certificate = product(w, rows, w_bar, rows_bar, ctx.device, *ctx.rule)
        _report(ctx.report, certificate)
        return made, None, None, None, None, None, None


class _EighOf(_EighCompiled):
    """Eigenvalues and eigenvectors, which are rows. Outside of compiled functions, an operator only takes time."""

    @staticmethod
    def forward(a: Any, upper: bool, device: str, *settings: Any) -> Any:
        return _eigh_here(a, upper, device)

    @staticmethod
    def jvp(ctx: Any, a_dot: Any, *_: Any) -> Any:
        _forward_once()
        w, rows = ctx.saved_tensors
        p = rows @ ((a_dot + a_dot.mT) / 2) @ rows.mT
        turned = (p * formulas.reciprocals(w, ctx.rule)).mT @ rows
        return p.diagonal(dim1=-2, dim2=-1), turned, None, None, None


class _SVDCompiled(_Batched):
    """The factors of thin singular value decompositions, without a forward mode."""

    @staticmethod
    def forward(a: Any, device: str, *settings: Any) -> Any:
        return _svd(a, device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, ctx.device, *rule, ctx.report = inputs
        ctx.rule = tuple(rule)
        u, s, vh, *certificates = output
        ctx.save_for_backward(u, s, vh)
        ctx.save_for_forward(u, s, vh)
        ctx.mark_non_differentiable(*certificates)

    @staticmethod
    def backward(ctx: Any, u_bar: Any, s_bar: Any, vh_bar: Any, *_: Any) -> Any:
        product = _svd_vjp if torch.compiler.is_compiling() else _SVDGradient.apply
        made, *certificate = product(*ctx.saved_tensors, u_bar, s_bar, vh_bar, ctx.device, *ctx.rule)
        _report(ctx.report, certificate)
        return made, None, None, None, None, None


class _SVDOf(_SVDCompiled):
    """The factors of thin singular value decompositions."""

    @staticmethod
    def forward(a: Any, device: str, *settings: Any) -> Any:
        return _svd_here(a, device)

    @staticmethod
    def jvp(ctx: Any, a_dot: Any, *_: Any) -> Any:
        _forward_once()
        u, s, vh = ctx.saved_tensors
        p = u.mT @ a_dot @ vh.mT
        first, second, own = formulas.quotients(s, ctx.rule)
        together, apart = (p + p.mT) / 2 * first, skew(p) * second
        u_dot, vh_dot = u @ (together + apart), (together - apart).mT @ vh
        if u.shape[-2] > vh.shape[-1]:
            u_dot = u_dot + (a_dot @ vh.mT - u @ p) * own[..., None, :]
        if u.shape[-2] < vh.shape[-1]:
            vh_dot = vh_dot + own[..., :, None] * (u.mT @ a_dot - p @ vh)
        return u_dot, p.diagonal(dim1=-2, dim2=-1), vh_dot, None, None, None


class _MatmulOf(torch.autograd.Function):
    """Products of a batch of matrices, (batch, m, k) by (batch, k, n)."""

    @staticmethod
    def forward(a: Any, b: Any, device: str) -> Any:
        return _matmul(a, b, device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        a, b, ctx.device = inputs
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx: Any, bar: Any) -> Any:
        a, b = ctx.saved_tensors
        return _MatmulOf.apply(bar, b.mT, ctx.device), _MatmulOf.apply(a.mT, bar, ctx.device), None

    @staticmethod
    def jvp(ctx: Any, a_dot: Any, b_dot: Any, *_: Any) -> Any:
        _forward_once()
        a, b = ctx.saved_tensors
        return _MatmulOf.apply(a_dot, b, ctx.device) + _MatmulOf.apply(a, b_dot, ctx.device)

    @staticmethod
    def vmap(info: Any, in_dims: Any, a: Tensor, b: Tensor, device: str) -> Any:
        first, second = (
            x.movedim(dim, 0) if dim is not None else x.expand(info.batch_size, *x.shape)
            for x, dim in zip((a, b), in_dims[:2], strict=True)
        )
        made = _MatmulOf.apply(first.flatten(0, 1), second.flatten(0, 1), device)
        return made.unflatten(0, first.shape[:2]), 0


def _settings() -> tuple[Any, ...]:
    rule, report = current.get()
    return *rule, report


def eigh(a: Tensor, upper: bool, place: str) -> _Eigh:
    """Returns eigenvalues, eigenvectors as rows, and the certificate."""
    function = _EighCompiled if torch.compiler.is_compiling() else _EighOf
    return function.apply(wide(a), upper, place, *_settings())


def svd(a: Tensor, place: str) -> _SVD:
    """Returns the factors of the thin decomposition, and the certificate."""
    function = _SVDCompiled if torch.compiler.is_compiling() else _SVDOf
    return function.apply(wide(a), place, *_settings())


def matmul(a: Tensor, b: Tensor, place: str) -> Tensor:
    """Computes products as ``torch.matmul`` does."""
    first, second = (x if x.ndim > 1 else x[None] if i == 0 else x[:, None] for i, x in enumerate(map(wide, (a, b))))
    if first.dtype != second.dtype:
        first, second = first.double(), second.double()
    lead = torch.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    flat = [x.expand(*lead, *x.shape[-2:]).reshape(lead.numel(), *x.shape[-2:]) for x in (first, second)]
    made = _MatmulOf.apply(*flat, place).reshape(*lead, first.shape[-2], second.shape[-1])
    made = made if a.ndim > 1 else made.squeeze(-2)
    return made if b.ndim > 1 else made.squeeze(-1)


class _FunctionOf(torch.autograd.Function):
    """``V diag(f) V'`` of a symmetric matrix, given f and its derivative at the eigenvalues."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, w: Tensor, rows: Tensor, f: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(w, rows, f, slope)
        return rows.mT @ (f[..., :, None] * rows)

    @staticmethod
    def backward(ctx: Any, bar: Tensor) -> Any:
        if torch.is_grad_enabled():
            raise NotImplementedError("matrix_function: expected a first derivative, found a second (create_graph=True)")
        w, rows, f, slope = ctx.saved_tensors
        inner = rows @ ((bar + bar.mT) / 2) @ rows.mT
        # The divided differences of f (Daleckii and Krein, 1965). Those of close eigenvalues are the mean of the slopes:
        # its error grows with the square of the gap, and that of the quotient with the reciprocal of the gap.
        gap = w[..., None, :] - w[..., :, None]
        near = gap.abs() <= torch.finfo(w.dtype).eps ** (1 / 3) * w.abs().amax(-1)[..., None, None]
        slopes = (slope[..., None, :] + slope[..., :, None]) / 2
        divided = torch.where(near, slopes, (f[..., None, :] - f[..., :, None]) / torch.where(near, 1.0, gap))
        return rows.mT @ (inner * divided) @ rows, None, None, inner.diagonal(dim1=-2, dim2=-1), None


def function(a: Tensor, f: Any, place: str) -> Tensor:
    """Returns a function of symmetric matrices."""
    a = wide(a)
    found = _fiedler.eigh(native(place), array(a), False, None, "smallest", True)
    w, rows = torch.from_numpy(found[0]), torch.from_numpy(found[1])
    if not torch.is_grad_enabled() or a.shape[-1] == 0:
        return rows.mT @ (f(w)[..., :, None] * rows)
    at = w.clone().requires_grad_()
    made = f(at)
    slope = None
    if made.requires_grad:
        slope = torch.autograd.grad(made.sum(), at, retain_graph=True, allow_unused=True)[0]
    return _FunctionOf.apply(a, w, rows, made, torch.zeros_like(w) if slope is None else slope)


def checked(x: Any, name: str, *, complex_: bool = False) -> Tensor:
    """Returns a tensor of real numbers, or of complex ones if they are allowed, in the memory of the CPU."""
    x = torch.as_tensor(x)
    if x.device.type not in ("cpu", "meta"):
        raise TypeError(f"{name}: expected an array on the CPU, found one on a device; use .cpu() first")
    if x.is_complex() and not complex_:
        how = "; matrices of complex numbers have no gradients here, use tensor.detach()" if x.is_complex() else ""
        raise TypeError(f"{name}: expected a tensor of real numbers, found {x.dtype}{how}")
    return x


def wide(x: Tensor) -> Tensor:
    """Returns a tensor in a type that is computed in: float16 and bfloat16 become float32, integers float64."""
    if x.dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        return x
    if x.is_complex():
        return x.to(torch.complex64)
    return x.float() if x.is_floating_point() else x.double()
