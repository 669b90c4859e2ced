"""Decompositions and products of batches of matrices, with NumPy's names, shapes and conventions.

Every decomposition returns a tuple as NumPy's does, which also has ``certificates``: for each matrix the residual, the
departure from orthogonality and the status (0 is converged). float32 is computed in float32, on the device where that
is faster; float64, integers and booleans are computed in float64, on the CPU. Leading axes are the batch. NumPy computes
`eigh` and `svd` of float32 in double precision and rounds the results: so do these with ``precision="f64"``. All functions
take ``device`` ('auto', 'gpu', 'cpu') or a `fiedler.Context`, release the GIL, and accept NumPy arrays, tensors of
torch and JAX on the CPU, and whatever ``numpy.asarray`` takes; results are of the library of the input. Where torch or
JAX differentiates, so do `eigh`, `eigvalsh`, `svd`, `svdvals` and `matmul`, also where values are tied (`gradients`).

>>> import numpy as np
>>> from fiedler import linalg
>>> w, v = linalg.eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
>>> w
array([1., 3.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _fiedler
from ._arguments import flag, text, whole, word, wrong
from ._arrays import as_numpy, differentiating, matrices, prepared, tracked_by
from ._context import Context, _context
from ._eigsh import eigsh
from ._errors import DomainError, ShapeError
from ._products import matmul
from ._results import EighResult, SVDResult
from ._ties import gradients, place

__all__ = [
    "EighResult",
    "SVDResult",
    "eigh",
    "eigsh",
    "eigvalsh",
    "gradients",
    "matmul",
    "svd",
    "svd_truncated",
    "svdvals",
]

Array = Any


def _square(x: Any, name: str) -> Any:
    if matrices(x, name).shape[-1] != x.shape[-2]:
        raise ShapeError(f"{name}: expected square matrices, found the shape {x.shape}")
    return x


def _triangle(uplo: str) -> bool:
    if not isinstance(uplo, str):
        raise wrong("UPLO", "'L' or 'U'", uplo)
    if uplo not in ("L", "U", "l", "u"):
        raise ValueError(f"UPLO: expected 'L' or 'U', found {uplo!r}")
    return uplo in ("U", "u")


_WIDE = {np.dtype(np.float32): np.float64, np.dtype(np.complex64): np.complex128}


def _widened(x: np.ndarray[Any, Any], precision: str | None) -> tuple[np.ndarray[Any, Any], Callable[..., Any]]:
    """Returns matrices in the precision of the computation, and a function that rounds results to that of the matrices."""
    x = prepared(x, "a", complex_=True)
    if precision is None:
        return x, lambda made: made
    if text(precision, "precision") != "f64":
        raise ValueError(f"precision: expected 'f64' or None, found {precision!r}")
    if x.dtype not in _WIDE:
        return x, lambda made: made
    narrow = {np.dtype(wide): dtype for dtype, wide in _WIDE.items()}
    return x.astype(_WIDE[x.dtype]), lambda made: made.astype(narrow[made.dtype])


def _without_precision(precision: Any) -> None:
    if precision is not None:
        what = "expected None for an array that is differentiated, which may be converted to float64 instead"
        raise DomainError(f"precision: {what}, found {precision!r}")


def eigh(
    a: Array,
    UPLO: str = "L",
    *,
    k: int | None = None,
    which: str = "smallest",
    precision: str | None = None,
    device: str | None = None,
    context: Context | None = None,
) -> EighResult:
    """Computes eigenvalues and eigenvectors of symmetric or complex Hermitian matrices.

    Parameters
    ----------
    a : array, (..., n, n)
        Real symmetric matrices, of which one triangle is read, or complex Hermitian ones, of whose diagonals the real
        parts are read. Complex matrices are solved on the CPU.
    UPLO : {'L', 'U'}
        The triangle that is read.
    k : int, optional
        Only the k smallest pairs, or the k largest.
    which : {'smallest', 'largest'}
        The end of the spectrum from which ``k`` counts.
    precision : {'f64'}, optional
        Compute float32 and complex64 matrices in double precision, on the CPU, and round the results, as NumPy does. By
        default, they are computed in their own precision.

    Returns
    -------
    EighResult
        ``eigenvalues`` (..., k), real and ascending, ``eigenvectors`` (..., n, k), columns of unit 2-norm, and
        ``certificates``. The entry of largest magnitude of a complex vector is real and positive; of those within 1 in
        2,000 of it, the first.
        A matrix with a NaN or an infinity has NaN eigenvalues and the status 2, and does not affect the others.

    Examples
    --------
    >>> import numpy as np, fiedler
    >>> found = fiedler.linalg.eigh(np.array([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32))
    >>> found.eigenvalues.round(5), int(found.certificates.status)
    (array([-1.,  1.], dtype=float32), 0)
    """
    if tracked_by(a):
        _without_precision(precision)
        return _eigh_tracked(a, _triangle(UPLO), k, which, device, context)
    x, wrap = as_numpy(a)
    x, rounded = _widened(_square(x, "a"), precision)
    wanted = None if k is None else whole(k, "k")
    w, v, found = _fiedler.eigh(_context(context, device), x, _triangle(UPLO), wanted, text(which, "which"), True)
    result = EighResult(wrap(rounded(w)), wrap(rounded(v).swapaxes(-1, -2)))
    result._found = found
    return result


def _eigh_tracked(
    a: Any, upper: bool, k: int | None, which: str, device: str | None, context: Context | None
) -> EighResult:
    """Computes `eigh` of an array that a library differentiates."""
    library = differentiating(a)
    word(which, "which", "smallest", "largest")
    a = library.checked(a, "a")
    w, rows, *found = library.eigh(_square(a, "a"), upper, place(device, context))
    if k is not None:
        n, k = w.shape[-1], whole(k, "k")
        if k > n:
            raise ShapeError(f"k: expected at most {n} pairs, found {k}")
        kept = slice(0, k) if which == "smallest" else slice(n - k, n)
        w, rows = w[..., kept], rows[..., kept, :]
    result = EighResult(w, rows.mT)
    result._found = tuple(found)
    return result


def _svd_tracked(a: Any, full_matrices: bool, compute_uv: bool, device: str | None, context: Context | None) -> Any:
    """Computes `svd` of an array that a library differentiates."""
    library = differentiating(a)
    a = matrices(library.checked(a, "a"), "a")
    if flag(compute_uv, "compute_uv") and flag(full_matrices, "full_matrices") and a.shape[-1] != a.shape[-2]:
        what = f"full_matrices: expected False where gradients are wanted, found True and the shape {tuple(a.shape)}"
        raise DomainError(f"{what}; vectors without a singular value have no derivative")
    u, s, vh, *found = library.svd(a, place(device, context))
    if not compute_uv:
        return s
    result = SVDResult(u, s, vh)
    result._found = tuple(found)
    return result


def eigvalsh(
    a: Array,
    UPLO: str = "L",
    *,
    precision: str | None = None,
    device: str | None = None,
    context: Context | None = None,
) -> Array:
    """Computes the eigenvalues (..., n) of symmetric or Hermitian matrices (..., n, n), ascending. See `eigh`.

    >>> fiedler.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]])
    array([1., 3.])
    """
    if tracked_by(a):
        _without_precision(precision)
        return _eigh_tracked(a, _triangle(UPLO), None, "smallest", device, context).eigenvalues
    x, wrap = as_numpy(a)
    x, rounded = _widened(_square(x, "a"), precision)
    return wrap(rounded(_fiedler.eigh(_context(context, device), x, _triangle(UPLO), None, "smallest", False)[0]))


def svd(
    a: Array,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    *,
    precision: str | None = None,
    device: str | None = None,
    context: Context | None = None,
) -> Any:
    """Computes the singular value decomposition A = U diag(S) Vh of real or complex matrices.

    Parameters
    ----------
    a : array, (..., m, n)
        Complex matrices are decomposed on the CPU, and the entry of largest magnitude of each right singular vector is real
        and positive.
    full_matrices : bool
        Whether U is (m, m) and Vh is (n, n). Otherwise they have min(m, n) columns and rows.
    compute_uv : bool
        Whether to compute U and Vh. Otherwise the result is S alone.
    hermitian : bool
        Whether the matrices are symmetric or Hermitian. They are then decomposed by `eigh`, which reads the lower triangle
        and takes less time. Its signs are in Vh, also where a singular value is 0.
    precision : {'f64'}, optional
        As in `eigh`.

    Returns
    -------
    SVDResult
        ``U``, ``S`` (descending), ``Vh`` and ``certificates``.

    Examples
    --------
    >>> u, s, vh = fiedler.linalg.svd([[3.0, 0.0], [0.0, -4.0]])
    >>> s
    array([4., 3.])
    """
    full_matrices, compute_uv = flag(full_matrices, "full_matrices"), flag(compute_uv, "compute_uv")
    hermitian = flag(hermitian, "hermitian")
    if tracked_by(a):
        _without_precision(precision)
        # The gradient with respect to both triangles is that of the general decomposition.
        return _svd_tracked(a, full_matrices, compute_uv, device, context)
    x, wrap = as_numpy(a)
    x, rounded = _widened(_square(x, "a") if hermitian else matrices(x, "a"), precision)
    native = _context(context, device)
    if hermitian:
        u, s, vh, found = _by_eigh(native, x, compute_uv)
    else:
        u, s, vh, found = _fiedler.svd(native, x, full_matrices, compute_uv)
    if not compute_uv:
        return wrap(rounded(s))
    result = SVDResult(wrap(rounded(u)), wrap(rounded(s)), wrap(rounded(vh)))
    result._found = found
    return result


def _by_eigh(native: Any, x: np.ndarray[Any, Any], compute_uv: bool) -> tuple[Any, Any, Any, Any]:
    """Returns what ``_fiedler.svd`` returns, by the eigenvalues of Hermitian matrices, of which S has the magnitudes."""
    w, rows, found = _fiedler.eigh(native, x, False, None, "smallest", compute_uv)
    order = np.argsort(-np.abs(w), axis=-1, kind="stable")
    w = np.take_along_axis(w, order, -1)
    if not compute_uv:
        return None, np.abs(w), None, found
    rows = np.take_along_axis(rows, order[..., None], -2)
    signs = np.where(w < 0, -1, 1).astype(w.dtype)
    return rows.swapaxes(-1, -2), np.abs(w), rows.conj() * signs[..., None], found


def svdvals(
    a: Array, *, precision: str | None = None, device: str | None = None, context: Context | None = None
) -> Array:
    """Computes the singular values (..., min(m, n)) of matrices (..., m, n), descending. See `svd`.

    >>> fiedler.linalg.svdvals([[0.0, 2.0], [1.0, 0.0]])
    array([2., 1.])
    """
    return svd(a, compute_uv=False, precision=precision, device=device, context=context)


def svd_truncated(
    a: Array,
    k: int,
    *,
    oversample: int = 10,
    passes: int = 100,
    seed: int = 0,
    device: str | None = None,
    context: Context | None = None,
) -> SVDResult:
    """Computes the k leading singular triplets of matrices by block Lanczos bidiagonalization, on the CPU.

    Parameters
    ----------
    a : array, (..., m, n)
    k : int
        At most min(m, n).
    oversample : int
        The number of directions that are sampled in addition to k.
    passes : int
        The most products with the matrix and with its transpose.
    seed : int
        The same seed gives the same bits.

    Returns
    -------
    SVDResult
        ``U`` (..., m, k), ``S`` (..., k), ``Vh`` (..., k, n), ``certificates``, and ``missed`` (...), the share
        ``|A - U S Vh| / |A|`` of each matrix in the Frobenius norm.

    Examples
    --------
    >>> fiedler.linalg.svd_truncated(np.outer(np.ones(9), np.ones(4)), 1).S.round(6)
    array([6.])
    """
    x, wrap = as_numpy(a)
    x = matrices(prepared(x, "a"), "a")
    native = _context(context, device)
    k, seed = whole(k, "k"), whole(seed, "seed", 2**64 - 1)
    more = (whole(oversample, "oversample"), whole(passes, "passes"))
    u, s, vh, missed, found = _fiedler.svd_truncated(native, x, k, *more, seed)
    result = SVDResult(wrap(u), wrap(s), wrap(vh))
    result._found = found
    result.missed = wrap(missed)  # type: ignore[attr-defined]
    return result
