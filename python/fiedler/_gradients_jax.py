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
from ._ties import Formulas, Rule, current, judged, native, turned

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


def checked(x: Any, name: str) -> Any:
    """Returns an array of real numbers in a type that is computed in: float16 and bfloat16 become float32."""
    x = jnp.asarray(x)
    if jnp.iscomplexobj(x):
        raise TypeError(f"{name}: expected an array of real numbers, found {x.dtype}")
    if x.dtype in (jnp.float32, jnp.float64):
        return x
    return x.astype(jnp.float32 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.promote_types(float, jnp.float32))
