"""Decompositions and products of batches of matrices, with NumPy's names, shapes and conventions.

Every decomposition returns a tuple as NumPy's does, which also has ``certificates``: for each matrix the residual, the
departure from orthogonality and the status (0 is converged). float32 is computed in float32, on the device where that
is faster; float64, integers and booleans are computed in float64, on the CPU. Leading axes are the batch. All functions
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

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _fiedler
from ._arguments import flag, real, text, whole, word, wrong
from ._arrays import as_numpy, count, differentiating, is_tensor, matrices, prepared, tracked_by
from ._context import Context, _context
from ._errors import DomainError, ShapeError, UncertifiedError
from ._ties import gradients, place

if TYPE_CHECKING:
    from ._graphs import GraphBatch

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


class Certificates(NamedTuple):
    """What a decomposition says of itself, an element for each matrix."""

    residual: np.ndarray[Any, Any]
    """The largest residual of an eigenpair or triplet, relative to the norm of the matrix."""
    orthogonality: np.ndarray[Any, Any]
    """The largest departure of the vectors from orthonormality."""
    status: np.ndarray[Any, Any]
    """0 converged, 1 not converged, 2 the matrix has a NaN or an infinity, 3 not resolved by the working precision."""

    def raise_for_status(self) -> None:
        """Raises `UncertifiedError` unless every status is 0."""
        bad = np.flatnonzero(self.status)
        if bad.size:
            words = {1: "not converged", 2: "a NaN or an infinity in the matrix", 3: "not resolved by the precision"}
            status = words[int(np.ravel(self.status)[bad[0]])]
            what = f"{bad.size} of {np.size(self.status)} matrices lack the status converged"
            raise UncertifiedError(f"{what}; the first is matrix {bad[0]}: {status}")


class _Certified:
    """A result tuple with certificates. The tuple's fields are NumPy's."""

    _found: tuple[Any, Any, Any]

    @cached_property
    def certificates(self) -> Certificates:
        """What the decomposition says of itself, an element for each matrix."""
        return Certificates(*self._found)


class _Eigh(NamedTuple):
    eigenvalues: Array
    eigenvectors: Array


class EighResult(_Eigh, _Certified):
    """Eigenvalues, ascending, and eigenvectors, which are columns of unit 2-norm."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (EighResult, tuple(self), vars(self))


class _SVD(NamedTuple):
    U: Array
    S: Array
    Vh: Array


class SVDResult(_SVD, _Certified):
    """The factors of A = U diag(S) Vh; S descends."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (SVDResult, tuple(self), vars(self))


def _restored(kind: Any, fields: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """Returns a result that was pickled, with the certificates and whatever else it has beside its fields."""
    made = kind(*fields)
    vars(made).update(more)
    return made


def _square(x: Any, name: str) -> Any:
    if matrices(x, name).shape[-1] != x.shape[-2]:
        raise ShapeError(f"{name}: expected square matrices, found the shape {x.shape}")
    return x


def _triangle(uplo: str) -> bool:
    if not isinstance(uplo, str):
        raise wrong("UPLO", "'L' or 'U'", uplo)
    if uplo.upper() not in ("L", "U"):
        raise ValueError(f"UPLO: expected 'L' or 'U', found {uplo!r}")
    return uplo.upper() == "U"


def eigh(
    a: Array,
    UPLO: str = "L",
    *,
    k: int | None = None,
    which: str = "smallest",
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
        return _eigh_tracked(a, _triangle(UPLO), k, which, device, context)
    x, wrap = as_numpy(a)
    x = _square(prepared(x, "a", complex_=True), "a")
    wanted = None if k is None else whole(k, "k")
    w, v, found = _fiedler.eigh(_context(context, device), x, _triangle(UPLO), wanted, text(which, "which"), True)
    result = EighResult(wrap(w), wrap(v.swapaxes(-1, -2)))
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


def _matmul_tracked(a: Any, b: Any, device: str | None, context: Context | None) -> Any:
    """Computes `matmul` of arrays of which a library differentiates at least one."""
    library = differentiating(a, b)
    x, y = library.checked(a, "a"), library.checked(b, "b")
    if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != y.shape[-2 if y.ndim > 1 else -1]:
        what = f"{tuple(x.shape)} and {tuple(y.shape)}"
        raise ShapeError(f"matmul: expected as many columns in a as rows in b, found the shapes {what}")
    return library.matmul(x, y, place(device, context))


def eigvalsh(a: Array, UPLO: str = "L", *, device: str | None = None, context: Context | None = None) -> Array:
    """Computes the eigenvalues (..., n) of symmetric or Hermitian matrices (..., n, n), ascending. See `eigh`.

    >>> fiedler.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]])
    array([1., 3.])
    """
    if tracked_by(a):
        return _eigh_tracked(a, _triangle(UPLO), None, "smallest", device, context).eigenvalues
    x, wrap = as_numpy(a)
    x = _square(prepared(x, "a", complex_=True), "a")
    return wrap(_fiedler.eigh(_context(context, device), x, _triangle(UPLO), None, "smallest", False)[0])


def svd(
    a: Array,
    full_matrices: bool = True,
    compute_uv: bool = True,
    *,
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
    if tracked_by(a):
        return _svd_tracked(a, full_matrices, compute_uv, device, context)
    x, wrap = as_numpy(a)
    x = matrices(prepared(x, "a", complex_=True), "a")
    full_matrices, compute_uv = flag(full_matrices, "full_matrices"), flag(compute_uv, "compute_uv")
    u, s, vh, found = _fiedler.svd(_context(context, device), x, full_matrices, compute_uv)
    if not compute_uv:
        return wrap(s)
    result = SVDResult(wrap(u), wrap(s), wrap(vh))
    result._found = found
    return result


def svdvals(a: Array, *, device: str | None = None, context: Context | None = None) -> Array:
    """Computes the singular values (..., min(m, n)) of matrices (..., m, n), descending. See `svd`.

    >>> fiedler.linalg.svdvals([[0.0, 2.0], [1.0, 0.0]])
    array([2., 1.])
    """
    return svd(a, compute_uv=False, device=device, context=context)


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


def matmul(a: Array, b: Array, *, device: str | None = None, context: Context | None = None) -> Array:
    """Computes products of matrices as ``numpy.matmul`` does: vectors are promoted, leading axes are broadcast.

    Products of float16 are summed in float32 and stay float16. Complex numbers are multiplied on the CPU.

    >>> fiedler.linalg.matmul([[1.0, 2.0]], [[3.0], [4.0]])
    array([[11.]])
    """
    if tracked_by(a) or tracked_by(b):
        return _matmul_tracked(a, b, device, context)
    (x, wrap), (y, _) = as_numpy(a), as_numpy(b, "b")
    if x.ndim == 0 or y.ndim == 0:
        raise ShapeError(f"matmul: expected arrays with axes, found the shapes {x.shape} and {y.shape}")
    if x.dtype != y.dtype:
        dtype = np.result_type(x, y)
        x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    x, y = prepared(x, "a", half=True, complex_=True), prepared(y, "b", half=True, complex_=True)
    left, right = (x[None] if x.ndim == 1 else x), (y[:, None] if y.ndim == 1 else y)
    if left.shape[-1] != right.shape[-2]:
        what = f"{x.shape} and {y.shape}"
        raise ShapeError(f"matmul: expected as many columns in a as rows in b, found the shapes {what}")
    if left.ndim == right.ndim == 2:
        made = _fiedler.matmul(_context(context, device), left[None], right[None])
        return wrap(made[0] if x.ndim == y.ndim == 2 else made.reshape(x.shape[:-1] + y.shape[1:]))
    if left.ndim == right.ndim == 3 and left.shape[0] == right.shape[0]:
        return wrap(_fiedler.matmul(_context(context, device), left, right))
    try:
        lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        what = f"{x.shape} and {y.shape}"
        raise ShapeError(f"matmul: expected leading axes that can be broadcast, found the shapes {what}") from None
    batch = count(lead)
    flat = []
    for part in (left, right):
        # A single matrix is not repeated for the batch.
        if count(part.shape[:-2]) != 1 and part.shape[:-2] != lead:
            part = np.ascontiguousarray(np.broadcast_to(part, (*lead, *part.shape[-2:])))
        flat.append(part.reshape((count(part.shape[:-2]), *part.shape[-2:])))
    made = _fiedler.matmul(_context(context, device), *flat)
    shape = (*lead, *([] if x.ndim == 1 else [left.shape[-2]]), *([] if y.ndim == 1 else [right.shape[-1]]))
    return wrap(made.reshape(shape))


def _eigsh_tracked(a: Any, options: dict[str, Any], dtype: Any, where: str) -> EighResult:
    """Computes `eigsh` of a sparse tensor of torch."""
    from . import _gradients_torch
    from ._gradients_graphs import eigsh

    torch = _gradients_torch.xp
    if a.layout not in (torch.sparse_csr, torch.sparse_coo):
        raise TypeError(f"a: expected a sparse tensor in CSR or COO, found {a.layout} and the shape {tuple(a.shape)}")
    if options["sigma"] is not None:
        raise DomainError("sigma: expected None for a tensor, whose gradients are known at the ends of the spectrum")
    if a.ndim != 2 or a.shape[0] != a.shape[1] or (a.layout == torch.sparse_coo and a.sparse_dim() != 2):
        raise ShapeError(f"a: expected a square sparse matrix, found the shape {tuple(a.shape)}")
    if options["k"] > a.shape[0]:
        raise ShapeError(f"k: expected at most {a.shape[0]} pairs, found {options['k']}")
    _gradients_torch.checked(a, "a")
    if a.layout == torch.sparse_csr:
        offsets, columns = a.crow_indices().numpy(), a.col_indices().numpy()
    else:
        a = a.coalesce()
        rows, columns = a.indices().numpy()
        offsets = np.searchsorted(rows, np.arange(a.shape[0] + 1))
    entries = _gradients_torch.wide(a.values())
    if dtype is not None:
        entries = entries.to(torch.float64 if np.dtype(dtype) == np.float64 else torch.float32)
    pattern = offsets.astype(np.int64), np.ascontiguousarray(columns, np.int64)
    w, v, residual, orthogonality, status, null_space = eigsh(entries, pattern, options, where)
    result = EighResult(w, v.mT)
    result._found = (residual, orthogonality.expand(len(w)), status)
    result.null_space = int(null_space)  # type: ignore[attr-defined]
    return result


def eigsh(
    a: Any,
    k: int = 6,
    which: str = "SA",
    *,
    sigma: float | None = None,
    tol: float = 0,
    laplacian: str | None = None,
    dtype: Any = None,
    seed: int = 0,
    device: str | None = None,
    context: Context | None = None,
) -> EighResult:
    """Computes k eigenpairs of a large sparse symmetric matrix, or of the Laplacian of a graph.

    Parameters
    ----------
    a : scipy.sparse matrix (n, n), or a graph that `fiedler.encode` takes, or a sparse tensor of torch (n, n)
        The pairs of a tensor are differentiable; they and their gradient are computed in float64.
    k : int
    which : {'SA', 'LA'}
        The smallest or the largest eigenvalues.
    sigma : float, optional
        Find the eigenvalues nearest to this number instead.
    tol : float
        The largest residual relative to the 1-norm of the matrix; 0 stands for the default of the precision.
    laplacian : {'symmetric', 'random-walk', 'combinatorial'}, optional
        Take ``a`` as a graph, and compute pairs of this Laplacian.
    dtype : {numpy.float32, numpy.float64}, optional
        The precision; by default that of the matrix, and float64 for a graph.

    Returns
    -------
    EighResult
        ``eigenvalues`` (k,), ascending, ``eigenvectors`` (n, k), ``certificates`` with an element for each pair, and
        ``null_space``, the number of null vectors that were known in advance.
    """
    ends = {"SA": "smallest", "LA": "largest", "smallest": "smallest", "largest": "largest"}
    word(which, "which", *ends)
    k, seed = whole(k, "k"), whole(seed, "seed", 2**64 - 1)
    near, tolerance = None if sigma is None else real(sigma, "sigma"), real(tol, "tol")
    options = {"k": k, "which": ends[which], "tolerance": tolerance or None, "sigma": near, "seed": seed}
    if laplacian is None and is_tensor(a):
        return _eigsh_tracked(a, options, dtype, place(device, context))
    native = _context(context, device)
    if laplacian is not None:
        from ._as_graphs import as_graphs

        graphs: GraphBatch = as_graphs(a)
        wide = np.dtype(np.float64 if dtype is None else dtype) == np.float64
        found = _fiedler.eigsh_laplacian(native, graphs._native, text(laplacian, "laplacian"), wide, options)
    else:
        if not hasattr(a, "tocsr"):
            raise TypeError(f"a: expected a scipy.sparse matrix, or laplacian= and a graph, found {type(a).__name__}")
        rows = a.tocsr()
        if rows.shape[0] != rows.shape[1]:
            raise ShapeError(f"a: expected a square matrix, found the shape {rows.shape}")
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        values = prepared(rows.data if dtype is None else rows.data.astype(dtype), "a")
        found = _fiedler.eigsh(native, rows.indptr.astype(np.int64), rows.indices.astype(np.int64), values, options)
    w, v, residual, orthogonality, status, null_space = found
    result = EighResult(w, v.T)
    result._found = (residual, np.full(k, orthogonality), status)
    result.null_space = null_space  # type: ignore[attr-defined]
    return result
