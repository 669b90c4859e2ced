"""Decompositions of arrays of JAX that take part in its transformations.

The library is called back from the compiled program (``jax.pure_callback``), for a decomposition and for its
vector-Jacobian product, whose certificate decides whether to warn or to raise. Derivatives of the product are those of
a formula. Forward mode does not exist, because JAX allows a function only one of the two.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _fiedler
from ._linear import Transforms
from ._ties import Formulas, Rule, current, judged, native, turned

xp = jnp
formulas = Formulas(jnp, jax.lax.stop_gradient)


def _host(*arrays: Any) -> list[np.ndarray[Any, Any]]:
    return [np.require(np.asarray(x), requirements=["C", "A"]) for x in arrays]


def _shapes(*arrays: tuple[Any, Any]) -> tuple[Any, ...]:
    return tuple(jax.ShapeDtypeStruct(tuple(shape), dtype) for shape, dtype in arrays)


def _certified(lead: Any, dtype: Any) -> list[tuple[Any, Any]]:
    """The shapes and types of certificates, which are in the precision of the matrices."""
    return [(lead, dtype), (lead, dtype), (lead, np.uint8)]


def _certificates(found: Any, dtype: Any) -> tuple[Any, ...]:
    residual, orthogonality, status = map(np.asarray, found)
    return residual.astype(dtype), orthogonality.astype(dtype), status


def _call_eigh(upper: bool, place: str, a: Any) -> Any:
    (a,) = _host(a)
    w, rows, found = _fiedler.eigh(native(place), a, upper, None, "smallest", True)
    return w, *turned(w, rows), *_certificates(found, a.dtype)


def _call_svd(place: str, a: Any) -> Any:
    (a,) = _host(a)
    u, s, vh, found = _fiedler.svd(native(place), a, False, True)
    columns, vh = turned(s, u.swapaxes(-1, -2), vh)
    return np.ascontiguousarray(columns.swapaxes(-1, -2)), s, vh, *_certificates(found, a.dtype)


def _call_eigh_vjp(place: str, rule: Rule, *arrays: Any) -> Any:
    mode, number, undefined = rule
    w, rows, w_bar, rows_bar = _host(*arrays)
    made = _fiedler.eigh_vjp(native(place), w, rows, w_bar, rows_bar, (mode, number))
    judged(made[1], made[2], undefined)
    return made[0]


def _call_svd_vjp(place: str, rule: Rule, *arrays: Any) -> Any:
    mode, number, undefined = rule
    u, s, vh, u_bar, s_bar, vh_bar = _host(*arrays)
    made = _fiedler.svd_vjp(native(place), u, s, vh, u_bar, s_bar, vh_bar, (mode, number))
    judged(made[1], made[2], undefined)
    return made[0]


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _eigh_gradient(place: str, rule: Rule, w: Any, rows: Any, w_bar: Any, rows_bar: Any) -> Any:
    (shape,) = _shapes((rows.shape, rows.dtype))
    call = partial(_call_eigh_vjp, place, rule)
    return jax.pure_callback(call, shape, w, rows, w_bar, rows_bar, vmap_method="broadcast_all")


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _svd_gradient(place: str, rule: Rule, u: Any, s: Any, vh: Any, *bars: Any) -> Any:
    (shape,) = _shapes(((*u.shape[:-1], vh.shape[-1]), u.dtype))
    return jax.pure_callback(partial(_call_svd_vjp, place, rule), shape, u, s, vh, *bars, vmap_method="broadcast_all")


for _gradient, _formula in ((_eigh_gradient, formulas.eigh), (_svd_gradient, formulas.svd)):
    _gradient.defvjp(
        lambda place, rule, *given, of=_gradient: (of(place, rule, *given), given),
        lambda place, rule, given, bar, of=_formula: jax.vjp(lambda *x: of(*x, rule), *given)[1](bar),
    )


@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _eigh(upper: bool, place: str, rule: Rule, a: Any) -> Any:
    lead, dtype = a.shape[:-2], a.dtype
    shapes = _shapes((a.shape[:-1], dtype), (a.shape, dtype), *_certified(lead, dtype))
    return jax.pure_callback(partial(_call_eigh, upper, place), shapes, a, vmap_method="expand_dims")


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _svd(place: str, rule: Rule, a: Any) -> Any:
    *lead, m, n = a.shape
    k, dtype = min(m, n), a.dtype
    factors = ((*lead, m, k), dtype), ((*lead, k), dtype), ((*lead, k, n), dtype)
    shapes = _shapes(*factors, *_certified(lead, dtype))
    return jax.pure_callback(partial(_call_svd, place), shapes, a, vmap_method="expand_dims")


def _eigh_forward(upper: bool, place: str, rule: Rule, a: Any) -> Any:
    made = _eigh(upper, place, rule, a)
    return made, made[:2]


def _svd_forward(place: str, rule: Rule, a: Any) -> Any:
    made = _svd(place, rule, a)
    return made, made[:3]


_eigh.defvjp(
    _eigh_forward, lambda _, place, rule, saved, bars: (_eigh_gradient(place, rule, *saved, *bars[:2]),)
)
_svd.defvjp(_svd_forward, lambda place, rule, saved, bars: (_svd_gradient(place, rule, *saved, *bars[:3]),))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _matmul(place: str, a: Any, b: Any) -> Any:
    """Products of a batch of matrices, (..., m, k) by (..., k, n), with equal leading axes."""

    def call(a: Any, b: Any) -> Any:
        a, b = _host(a, b)
        flat = (x.reshape((-1, *x.shape[-2:])) for x in (a, b))
        return _fiedler.matmul(native(place), *flat).reshape((*a.shape[:-1], b.shape[-1]))

    (shape,) = _shapes(((*a.shape[:-1], b.shape[-1]), a.dtype))
    return jax.pure_callback(call, shape, a, b, vmap_method="broadcast_all")


_matmul.defvjp(
    lambda place, a, b: (_matmul(place, a, b), (a, b)),
    lambda place, saved, bar: (_matmul(place, bar, saved[1].mT), _matmul(place, saved[0].mT, bar)),
)


def _linear(call: Any, shaped: Any, adjoint: Any) -> Any:
    """Returns a linear map of the last axis that has derivatives.

    ``call`` computes it for arrays (count, n, 1), ``shaped`` returns the length and the type of its result, and
    ``adjoint`` is the conjugate transpose. JAX's cotangents are the conjugates of torch's.
    """

    @partial(jax.custom_vjp, nondiff_argnums=(1,))
    def of(x: Any, options: Any) -> Any:
        length, dtype = shaped(x, *options)

        def host(x: Any) -> Any:
            (x,) = _host(x)
            return call(x.reshape((-1, x.shape[-1], 1)), *options).reshape((*x.shape[:-1], length))

        (shape,) = _shapes(((*x.shape[:-1], length), dtype))
        return jax.pure_callback(host, shape, x, vmap_method="expand_dims")

    of.defvjp(
        lambda x, options: (of(x, options), x.shape[-1]),
        lambda options, length, bar: (jnp.conj(adjoint(jnp.conj(bar), length, *options)),),
    )
    return lambda x, *options: of(x, options)


def _call_fourier(x: Any, inverse: bool, place: str) -> Any:
    return _fiedler.transform(native(place), x, "ifft" if inverse else "fft") * (x.shape[1] if inverse else 1)


transforms: Transforms = Transforms(
    jnp,
    _linear(
        _call_fourier,
        lambda x, *_: (x.shape[-1], x.dtype),
        lambda bar, _, inverse, place: transforms._fourier(bar, not inverse, place),
    ),
    _linear(
        lambda x, place: _fiedler.real(native(place), x),
        lambda x, _: (x.shape[-1] // 2 + 1, jnp.promote_types(x.dtype, jnp.complex64)),
        lambda bar, length, place: transforms.adjoint_of_real(bar, length, place),
    ),
    _linear(
        lambda x, n, place: _fiedler.inverse_real(native(place), x, n) * n,
        lambda x, n, _: (n, jnp.finfo(x.dtype).dtype),
        lambda bar, _, n, place: transforms.adjoint_of_inverse_real(bar, place),
    ),
)


def eigh(a: Any, upper: bool, place: str) -> Any:
    """Returns eigenvalues, eigenvectors as rows, and the certificate."""
    return _eigh(upper, place, current.get()[0], a)


def svd(a: Any, place: str) -> Any:
    """Returns the factors of the thin decomposition, and the certificate."""
    return _svd(place, current.get()[0], a)


def matmul(a: Any, b: Any, place: str) -> Any:
    """Computes products as ``jax.numpy.matmul`` does."""
    dtype = jnp.promote_types(a.dtype, b.dtype)
    first = (a if a.ndim > 1 else a[None]).astype(dtype)
    second = (b if b.ndim > 1 else b[:, None]).astype(dtype)
    lead = jnp.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    flat = (jnp.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (first, second))
    made = _matmul(place, *flat)
    made = made if a.ndim > 1 else made[..., 0, :]
    return made if b.ndim > 1 else made[..., 0]


def wide(x: Any) -> Any:
    """Returns the array, whose type is one that is computed in."""
    return x


def checked(x: Any, name: str, *, complex_: bool = False) -> Any:
    """Returns an array of real numbers, or of complex ones if they are allowed, in a type that is computed in.

    float16 and bfloat16 become float32.
    """
    x = jnp.asarray(x)
    if jnp.iscomplexobj(x):
        if complex_:
            return x
        raise TypeError(f"{name}: expected an array of real numbers, found {x.dtype}")
    if x.dtype in (jnp.float32, jnp.float64):
        return x
    return x.astype(jnp.float32 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.result_type(float))
