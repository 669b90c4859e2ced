"""Arrays of any library as NumPy arrays, without a copy where it can be, and results in the library of the input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arguments import wrong
from ._errors import DomainError, ShapeError

Wrap = Callable[[Any], Any]

_CPU = 1  # kDLCPU


def _same(result: Any) -> Any:
    return result


def _of_torch(result: Any) -> Any:
    return sys.modules["torch"].from_numpy(np.asarray(result))


def _of_jax(result: Any) -> Any:
    return sys.modules["jax.numpy"].asarray(result)


def is_tensor(x: Any) -> bool:
    """Returns whether this is a tensor of torch."""
    torch = sys.modules.get("torch")
    # Another module of that name may lack tensors.
    return torch is not None and isinstance(x, getattr(torch, "Tensor", ()))


def tracked_by(x: Any) -> str | None:
    """Returns the library, torch or jax, that differentiates, vectorizes or compiles what is computed of an array."""
    if type(x) is np.ndarray:
        return None
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(x, jax.core.Tracer):
        return "jax"
    torch = sys.modules.get("torch")
    # Another module of that name may have tensors without derivatives.
    if torch is None or not hasattr(torch, "autograd") or not isinstance(x, torch.Tensor):
        return None
    if x.requires_grad and torch.is_grad_enabled() or torch.autograd.forward_ad._current_level >= 0:
        return "torch"
    if torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(x):
        return "torch"
    return None


def differentiating(*arrays: Any) -> Any:
    """Returns the module for the library that differentiates one of the arrays."""
    if "jax" in map(tracked_by, arrays):
        from . import _gradients_jax

        return _gradients_jax
    from . import _gradients_torch

    return _gradients_torch


def as_numpy(x: Any, name: str = "a") -> tuple[np.ndarray[Any, Any], Wrap]:
    """Returns the array, and a function that turns NumPy arrays into arrays of the library of ``x``."""
    if type(x) is np.ndarray:
        return x, _same
    if isinstance(x, np.ndarray):
        masked = np.count_nonzero(x.mask) if isinstance(x, np.ma.MaskedArray) else 0
        if masked:
            how = "use numpy.ma.filled(), or leave them out"
            raise DomainError(f"{name}: expected an array without masked elements, found {masked} of them; {how}")
        return np.asarray(x), _same
    if getattr(x, "requires_grad", False):
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(x, torch.Tensor) and not torch.is_grad_enabled():
            return as_numpy(x.detach(), name)
        raise TypeError(f"{name}: cannot use a tensor that requires grad; use tensor.detach() instead")
    place = getattr(x, "__dlpack_device__", None)
    if place is not None:
        x = _unwrapped(x, name)
        try:
            device = place()[0]
        except (BufferError, TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"{name}: expected an array in memory, found {type(x).__name__}: {error}") from None
        if device != _CPU:
            raise TypeError(f"{name}: expected an array on the CPU, found one on a device; use .cpu() first")
        library = type(x).__module__.partition(".")[0]
        if hasattr(x, "resolve_conj"):
            # Tensors that are to be conjugated or negated when they are read, which DLPack refuses, or reads as they are.
            x = x.resolve_conj().resolve_neg()
        wrap = {"torch": _of_torch, "jax": _of_jax, "jaxlib": _of_jax}.get(library, _same)
        try:
            return np.from_dlpack(x), wrap
        except (BufferError, TypeError, RuntimeError):
            pass  # a type that DLPack does not know, or read-only memory under an old NumPy
        try:
            return np.asarray(x), wrap
        except (TypeError, RuntimeError) as error:
            what = f"{type(x).__name__} of {getattr(x, 'dtype', 'another type')}"
            raise TypeError(f"{name}: expected an array that NumPy can read, found {what}: {error}") from None
    return np.asarray(x), _same


def _unwrapped(x: Any, name: str) -> Any:
    """Returns the tensor within a tensor of another class, such as an ``EdgeIndex`` of PyTorch Geometric.

    Such a wrapper has no memory of its own. DLPack would not refuse it, but read elsewhere.
    """
    if not hasattr(x, "__tensor_flatten__"):
        return x
    if not hasattr(x, "as_tensor"):
        raise TypeError(f"{name}: expected a tensor with its own memory, found {type(x).__name__}")
    return x.as_tensor()


READY = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
READY_COMPLEX = frozenset((np.dtype(np.complex64), np.dtype(np.complex128)))
_READY_OR_COMPLEX = READY | READY_COMPLEX
_KEPT = {"f4": np.float32, "f8": np.float64, "c8": np.complex64, "c16": np.complex128}


def prepared(x: np.ndarray[Any, Any], name: str, *, half: bool = False, complex_: bool = False) -> np.ndarray[Any, Any]:
    """Returns the array in C order and in a type that is computed in.

    float32 and float64 stay what they are. float16 becomes float32, unless ``half``. Integers and booleans become
    float64. Complex numbers are accepted if ``complex_``.
    """
    flags = x.flags
    if x.dtype in (_READY_OR_COMPLEX if complex_ else READY) and flags.c_contiguous and flags.aligned:
        return x
    kind = f"{x.dtype.kind}{x.dtype.itemsize}"
    if kind == "f2":
        dtype: Any = np.float16 if half else np.float32
    elif kind in _KEPT and (complex_ or x.dtype.kind == "f"):
        dtype = _KEPT[kind]
    elif x.dtype.kind in "iub":
        dtype = np.float64
    else:
        wanted = "float16, float32, float64, complex64, complex128" if complex_ else "float16, float32, float64"
        raise TypeError(f"{name}: expected an array of {wanted}, integers or booleans, found {x.dtype}")
    return np.require(x, dtype, ["C", "A"])


def matrices(x: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Returns an array of matrices as it is, or raises `ShapeError`."""
    if x.ndim < 2:
        raise ShapeError(f"{name}: expected at least two axes, found the shape {x.shape}")
    return x


def count(shape: tuple[int, ...]) -> int:
    """Returns the number of elements of a shape."""
    product = 1
    for length in shape:
        product *= length
    return product


def along(x: np.ndarray[Any, Any], axis: int, name: str) -> tuple[np.ndarray[Any, Any], int]:
    """Returns the array as (before, length, after), and the axis counted from 0."""
    if not isinstance(axis, (int, np.integer)):
        raise wrong(name, "an integer", axis)
    if not -x.ndim <= axis < x.ndim:
        raise np.exceptions.AxisError(axis, x.ndim, name)
    axis %= x.ndim
    shape = x.shape
    return x.reshape((count(shape[:axis]), shape[axis], count(shape[axis + 1 :]))), axis


def on_cpu(x: Any) -> Any:
    """Returns a tensor in the memory of the CPU and apart from gradients, and any other array as it is."""
    torch = sys.modules.get("torch")
    return x.detach().cpu() if torch is not None and isinstance(x, torch.Tensor) else x


def like(result: np.ndarray[Any, Any], x: Any) -> Any:
    """Returns the array as a tensor on the device of ``x`` if that is a tensor of torch, else as it is."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return result
    return torch.from_numpy(result).to(x.device)
