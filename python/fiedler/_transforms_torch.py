"""Fourier transforms of tensors that take part in torch's differentiation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _fiedler
from ._linear import Transforms
from ._ties import native


def array(x: Tensor | None) -> Any:
    return None if x is None else x.detach().contiguous().numpy()


@torch.library.custom_op("fiedler::fourier", mutates_args=())
def _fourier(x: Tensor, inverse: bool, device: str) -> Tensor:
    n = x.shape[-1]
    made = _fiedler.transform(native(device), array(x).reshape((-1, n, 1)), "ifft" if inverse else "fft")
    return torch.from_numpy(made).view(x.shape) * (n if inverse else 1)


@_fourier.register_fake
def _(x: Tensor, inverse: bool, device: str) -> Tensor:
    return x.new_empty(x.shape)


@torch.library.custom_op("fiedler::real_fourier", mutates_args=())
def _real_fourier(x: Tensor, device: str) -> Tensor:
    n = x.shape[-1]
    made = _fiedler.real(native(device), array(x).reshape((-1, n, 1)))
    return torch.from_numpy(made).view((*x.shape[:-1], n // 2 + 1))


@_real_fourier.register_fake
def _(x: Tensor, device: str) -> Tensor:
    return x.new_empty((*x.shape[:-1], x.shape[-1] // 2 + 1), dtype=x.dtype.to_complex())


@torch.library.custom_op("fiedler::inverse_real_fourier", mutates_args=())
def _inverse_real_fourier(x: Tensor, n: int, device: str) -> Tensor:
    made = _fiedler.inverse_real(native(device), array(x).reshape((-1, x.shape[-1], 1)), n)
    return torch.from_numpy(made).view((*x.shape[:-1], n)) * n


@_inverse_real_fourier.register_fake
def _(x: Tensor, n: int, device: str) -> Tensor:
    return x.new_empty((*x.shape[:-1], n), dtype=x.dtype.to_real())


class _Linear(torch.autograd.Function):
    """A linear map of the last axis, which is its own derivative, and its adjoint."""

    operator: Any

    @classmethod
    def forward(cls, *arguments: Any) -> Any:
        return cls.operator(*arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, *ctx.options = inputs
        ctx.length = x.shape[-1]

    @classmethod
    def backward(cls, ctx: Any, bar: Any) -> Any:
        return cls.adjoint(bar, ctx.length, *ctx.options), *[None] * len(ctx.options)

    @classmethod
    def jvp(cls, ctx: Any, dot: Any, *_: Any) -> Any:
        return cls.apply(dot.contiguous(), *ctx.options)

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, x: Tensor, *options: Any) -> Any:
        return cls.apply(x.movedim(in_dims[0], 0), *options), 0

    @staticmethod
    def adjoint(bar: Tensor, length: int, *options: Any) -> Any:
        raise NotImplementedError


class _FourierOf(_Linear):
    operator = _fourier

    @staticmethod
    def adjoint(bar: Tensor, length: int, *options: Any) -> Any:
        inverse, device = options
        return transforms._fourier(bar, not inverse, device)


class _RealOf(_Linear):
    operator = _real_fourier

    @staticmethod
    def adjoint(bar: Tensor, length: int, *options: Any) -> Any:
        return transforms.adjoint_of_real(bar, length, *options)


class _InverseRealOf(_Linear):
    operator = _inverse_real_fourier

    @staticmethod
    def adjoint(bar: Tensor, length: int, *options: Any) -> Any:
        return transforms.adjoint_of_inverse_real(bar, options[-1])


def _differentiable(function: Any) -> Any:
    """``torch.compile`` takes no function with a forward mode, but an operator that has derivatives registered."""
    operator = function.operator

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        function.setup_context(ctx, inputs, output)

    operator.register_autograd(lambda ctx, bar: function.backward(ctx, bar), setup_context=setup_context)
    return lambda *arguments: (operator if torch.compiler.is_compiling() else function.apply)(*arguments)


transforms = Transforms(torch, *map(_differentiable, (_FourierOf, _RealOf, _InverseRealOf)))
