"""A few eigenpairs of large symmetric matrices, for `fiedler.linalg`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _fiedler
from ._arguments import flag, real, text, whole, word
from ._arrays import as_numpy, is_tensor, prepared
from ._context import Context, _context
from ._errors import DomainError, ShapeError
from ._results import EighResult
from ._ties import place

if TYPE_CHECKING:
    from ._graphs import GraphBatch

_ENDS = {"SA": "smallest", "LA": "largest", "smallest": "smallest", "largest": "largest"}
_SELECTIONS = {**_ENDS, "LM": "LM", "SM": "SM", "BE": "BE"}

_DENSE = 4096
"""Dense arrays of at most this order are decomposed as they are, which takes about ten seconds on two cores; larger ones
are taken as sparse. Operators of at most an eighth of it become arrays."""


def eigsh(
    a: Any,
    k: int = 6,
    M: None = None,
    sigma: float | None = None,
    which: str = "SA",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float | None = 0,
    return_eigenvectors: bool = True,
    Minv: None = None,
    OPinv: None = None,
    mode: str = "normal",
    rng: Any = None,
    *,
    laplacian: str | None = None,
    dtype: Any = None,
    seed: int = 0,
    device: str | None = None,
    context: Context | None = None,
) -> Any:
    """Computes k eigenpairs of a large symmetric matrix or graph: by default the smallest (SA), where SciPy has LM.

    The other parameters and their defaults are SciPy's.

    Parameters
    ----------
    a : matrix, (n, n)
        A matrix or array of scipy.sparse, a ``LinearOperator``, a dense array, a graph that `fiedler.encode` takes if
        there is a ``laplacian``, or a sparse tensor of torch. The pairs of a tensor are differentiable; they and their
        gradient are computed in float64. Matrices are real and symmetric.
    k : int
        At most n.
    sigma : float, optional
        Find the eigenvalues nearest to this number instead, wherever they are, by a factorization; ``which`` is then 'LM'
        or the default.
    which : {'SA', 'LA', 'SM', 'LM', 'BE'}
        The smallest or the largest eigenvalues, those of smallest or largest magnitude, or half from each end, with one
        more from the upper end if k is odd. 'SM' takes a factorization, too, unless the eigenvalues have one sign.
    tol : float or None
        The largest residual of a pair, relative to the 1-norm of the matrix, or to an estimate of the 2-norm for an
        operator. 0 stands for the precision of the machine, 64 eps in float64 and 2e-6 in float32; None stands for 1e-10
        in float64, which takes less time. After a factorization, 0 stands for 1e-10, too.
    return_eigenvectors : bool
        Otherwise, the result is the array of eigenvalues alone.
    v0, ncv, maxiter
        Checked, but without an effect: searches begin with random vectors, and choose the size of their basis.
    M, Minv, OPinv, mode
        None, and 'normal'. Generalized problems are not solved.
    rng : int or numpy.random.Generator, optional
        The source of the start vectors, in place of ``seed``.
    laplacian : {'symmetric', 'random-walk', 'combinatorial'}, optional
        Take ``a`` as a graph, and compute pairs of this Laplacian.
    dtype : {numpy.float32, numpy.float64}, optional
        The precision; by default that of the matrix, and float64 for a graph.
    seed : int
        The same seed gives the same bits.

    Returns
    -------
    EighResult
        ``eigenvalues`` (k,), ascending, ``eigenvectors`` (n, k), ``certificates`` with an element for each pair, and
        ``null_space``, the number of null vectors that were known in advance.

    Raises
    ------
    ShapeError
        If the matrix is not square, or ``k`` exceeds its order.
    DomainError
        If the matrix is not symmetric, an element is not finite, or the method does not find such pairs.

    Examples
    --------
    >>> a = np.diag([3.0, -5.0, 1.0, 0.0])
    >>> fiedler.linalg.eigsh(a, 2, which="LM").eigenvalues
    array([-5.,  3.])
    """
    for name, value in (("M", M), ("Minv", Minv), ("OPinv", OPinv)):
        if value is not None:
            raise DomainError(f"{name}: expected None, as generalized problems are not solved, found {value!r:.60}")
    word(mode, "mode", "normal")
    word(which, "which", *_SELECTIONS)
    if sigma is not None and which not in ("SA", "LM", "smallest"):
        raise DomainError(f"which: expected 'LM' or the default with sigma, found {which!r}")
    for name, hint in (("ncv", ncv), ("maxiter", maxiter)):
        if hint is not None:
            whole(hint, name, least=1)
    flag(return_eigenvectors, "return_eigenvectors")
    near, tolerance = None if sigma is None else real(sigma, "sigma"), None if tol is None else real(tol, "tol")
    if tolerance == 0 and (near is not None or which == "SM"):
        tolerance = None  # the pivots of an indefinite factorization grow, and the residuals with them
    seed = whole(seed, "seed", 2**64 - 1) if rng is None else int(np.random.default_rng(rng).integers(2**63))
    options = {"k": whole(k, "k"), "which": _SELECTIONS[which], "tolerance": tolerance, "sigma": near, "seed": seed}
    options["dense"] = False
    if laplacian is None and is_tensor(a) and (a.requires_grad or a.layout != sys.modules["torch"].strided):
        if which not in _ENDS:
            raise DomainError(f"which: expected 'SA' or 'LA' for a tensor, whose pairs are differentiable, found {which!r}")
        _start(v0, a.shape[0])
        result = _of_tensor(a, options, dtype, place(device, context))
        return result if return_eigenvectors else result.eigenvalues
    wrap: Any = lambda made: made  # noqa: E731
    if laplacian is None and not hasattr(a, "tocsr") and not hasattr(a, "matvec"):
        a, wrap = as_numpy(a)
    w, v, residual, orthogonality, status, null_space = _found(_context(context, device), a, laplacian, dtype, v0, options)
    if not return_eigenvectors:
        return wrap(w)
    result = EighResult(wrap(w), wrap(v.T))
    result._found = (residual, np.full(len(w), orthogonality), status)
    result.null_space = null_space  # type: ignore[attr-defined]
    return result


def _start(v0: Any, n: int) -> None:
    """Checks a start vector."""
    if v0 is not None:
        shape = np.shape(v0)
        if int(np.prod(shape)) != n:
            raise ShapeError(f"v0: expected {n} elements, found the shape {shape}")


def _found(native: Any, a: Any, laplacian: str | None, dtype: Any, v0: Any, options: dict[str, Any]) -> Any:
    """Returns what the native functions return for a graph, a matrix or an operator."""
    if laplacian is not None:
        from ._as_graphs import as_graphs

        graphs: GraphBatch = as_graphs(a)
        wide = np.dtype(np.float64 if dtype is None else dtype) == np.float64
        return _fiedler.eigsh_laplacian(native, graphs._native, text(laplacian, "laplacian"), wide, options)
    if hasattr(a, "tocsr"):
        shape, rows = a.shape, a.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        arrays = rows.indptr, rows.indices, rows.data
    elif hasattr(a, "matvec") and hasattr(a, "shape"):
        shape = a.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ShapeError(f"a: expected a square matrix, found the shape {tuple(shape)}")
        if shape[0] > _DENSE // 8:
            needs = options["which"] == "SM" or options["sigma"] is not None
            if not needs or shape[0] > _DENSE:
                _start(v0, shape[0])
                return _of_operator(native, a, dtype, options)
        made = np.asarray(a.matmat(np.eye(shape[1], dtype=_type(a, dtype))))
        arrays = _rows_of(_symmetric(made, "a"), options)
    else:
        shape = a.shape
        if a.ndim != 2:
            expected = "a matrix of scipy.sparse, a LinearOperator, an array with two axes, or laplacian= and a graph"
            raise TypeError(f"a: expected {expected}, found the shape {shape}")
        arrays = _rows_of(_symmetric(prepared(a, "a"), "a"), options)
    if shape[0] != shape[1]:
        raise ShapeError(f"a: expected a square matrix, found the shape {tuple(shape)}")
    _start(v0, shape[0])
    offsets, columns, data = arrays
    values = prepared(data if dtype is None else data.astype(dtype), "a")
    return _fiedler.eigsh(native, offsets.astype(np.int64), columns.astype(np.int64), values, options)


def _type(a: Any, dtype: Any) -> Any:
    """Returns the precision of an operator."""
    if dtype is not None:
        return np.dtype(dtype)
    kind = np.dtype(np.float64 if a.dtype is None else a.dtype)
    if kind.kind == "c":
        raise TypeError(f"a: expected an operator of real numbers, found {kind}")
    return np.dtype(np.float32) if kind in (np.float32, np.float16) else np.dtype(np.float64)


def _symmetric(x: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Returns a matrix that is symmetric to the last bit, of one that is so up to rounding errors."""
    if x.shape[0] != x.shape[1]:
        raise ShapeError(f"{name}: expected a square matrix, found the shape {x.shape}")
    apart = np.abs(x - x.T)
    # A matrix that is not finite is judged by the library.
    if np.any(apart > 64 * np.finfo(x.dtype).eps * np.abs(x).max(initial=0)):
        i, j = divmod(int(np.argmax(apart)), len(x))
        raise DomainError(f"{name}: expected a symmetric matrix, found {x[i, j]} at {(i, j)} and {x[j, i]} at {(j, i)}")
    return np.tril(x) + np.tril(x, -1).T


def _rows_of(x: np.ndarray[Any, Any], options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Returns the rows of a dense matrix in compressed form, and asks for a dense decomposition if that is feasible."""
    n = len(x)
    options["dense"] = n <= _DENSE and options["sigma"] is None and options["which"] != "SM"
    rows, columns = np.nonzero(x)
    return np.searchsorted(rows, np.arange(n + 1)), columns, x[rows, columns]


def _of_operator(native: Any, a: Any, dtype: Any, options: dict[str, Any]) -> Any:
    """Computes pairs by products with an operator."""
    n, kind = a.shape[0], _type(a, dtype)

    def product(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        made = np.asarray(a.matvec(x.astype(kind)))
        if made.size != n:
            raise ShapeError(f"a: expected products of {n} elements, found the shape {made.shape}")
        return np.require(made.reshape(n), np.float64, ["C", "A"])

    if options["tolerance"] is None:
        options["tolerance"] = 2e-6 if kind == np.float32 else 1e-10
    w, v, *found = _fiedler.eigsh_products(native, n, product, float(np.finfo(kind).eps), options)
    return w.astype(kind), v.astype(kind), *found


def _of_tensor(a: Any, options: dict[str, Any], dtype: Any, where: str) -> EighResult:
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
