"""The estimators of `fiedler.sklearn` that decompose tables: scikit-learn's own, with other decompositions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.decomposition as theirs
from sklearn.base import _fit_context
from sklearn.decomposition._pca import _infer_dimension
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot, svd_flip
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import validate_data

from . import _fiedler, linalg
from ._arrays import as_numpy
from ._context import _context
from ._errors import ShapeError, UncertifiedWarning, warn

Array = Any


def extended(kind: Any, **more: Any) -> Callable[..., None]:
    """Returns an ``__init__`` with the parameters that scikit-learn's class has in its installed version, and more."""
    own = inspect.signature(kind.__init__)
    further = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in more.items()]
    signature = own.replace(parameters=[*own.parameters.values(), *further])

    def __init__(self: Any, *args: Any, **words: Any) -> None:
        for name, value in more.items():
            setattr(self, name, words.pop(name, value))
        kind.__init__(self, *args, **words)

    setattr(__init__, "__signature__", signature)
    return __init__


def seed_of(random_state: Any) -> int:
    """Returns a seed. None is the seed 0."""
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31))


def warn_unless_certified(status: Any, what: str) -> None:
    """Warns of results that lack the status converged."""
    if np.any(status):
        warn(f"{what} lack the status converged", UncertifiedWarning)


def _samples(X: Array) -> int:
    """Returns the number of samples, which have variances if there are two or more."""
    if X.shape[0] < 2:
        raise ShapeError(f"X: expected at least 2 samples, found n_samples = {X.shape[0]}")
    return int(X.shape[0])


def _leading(X: Array, k: int, estimator: Any, iterations: int | None) -> tuple[Array, Array, Array]:
    """Returns k leading singular triplets of a matrix.

    A number of iterations that the caller chose is no reason for a warning.
    """
    seed, device = seed_of(estimator.random_state), estimator.device
    # With this many triplets, those of a dense matrix take less time.
    if scipy.sparse.issparse(X) and 4 * k <= min(X.shape):
        # The pairs of [0 X; X' 0] at its upper end are the singular values, and both vectors one above the other.
        both = scipy.sparse.block_array([[None, X], [X.T, None]], format="csr")
        pairs = linalg.eigsh(both, k, which="LA", seed=seed, device=device)
        warn_unless_certified(pairs.certificates.status, "the components")
        # Where the rank is less than k, the right halves are not independent. Those of the decomposition are.
        basis, _, turn = linalg.svd(pairs.eigenvectors[X.shape[0] :], full_matrices=False, device=device)
        u, s, vh = linalg.svd(X @ (basis @ turn), full_matrices=False, device=device)
        return u, s, vh @ (basis @ turn).T
    if scipy.sparse.issparse(X):
        X = X.toarray()
    passes = 100 if iterations is None else iterations + 1
    found = linalg.svd_truncated(X, k, oversample=estimator.n_oversamples, passes=passes, seed=seed, device=device)
    if iterations is None:
        warn_unless_certified(found.certificates.status, "the components")
    return found.U, found.S, found.Vh


# Up to these ratios of the smaller side to the sampled directions, all components take less time than an iteration that
# converges: of tall matrices by their covariances, of wide ones by their SVD
# (benches/results/2026-11-30-sweep-drop-in-epyc.md).
_ALL_OF_TALL, _ALL_OF_WIDE = 100, 10


class PCA(theirs.PCA):
    """Principal components, as ``sklearn.decomposition.PCA`` has them, with all its parameters, methods and attributes.

    Parameters
    ----------
    n_components, copy, whiten, svd_solver, tol, iterated_power, n_oversamples, power_iteration_normalizer, random_state
        As in scikit-learn, apart from the following. The truncated SVD of 'randomized' is block Lanczos
        bidiagonalization, which ``random_state`` starts; None is the seed 0. With a number as ``iterated_power`` it
        ends after as many iterations as scikit-learn's, otherwise when it has converged; where all components take less
        time, they are computed instead. It needs no ``power_iteration_normalizer``, and ``copy=False`` overwrites
        nothing. 'arpack', which sparse X has by default, is ARPACK, as in scikit-learn.
    device : {'auto', 'gpu', 'cpu'}, optional

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, n_components_, n_samples_
    noise_variance_, n_features_in_, feature_names_in_
        As in scikit-learn. The entry of largest magnitude of each component is positive.

    Examples
    --------
    >>> points = np.array([[1.0, 1.0], [2.0, 2.5], [3.0, 3.0]])
    >>> PCA(n_components=0.9).fit(points).explained_variance_ratio_.round(3)
    array([0.98])
    """

    __init__ = extended(theirs.PCA, device=None)

    def _found(self, X: Array, k: int, solver: str, seed: int = 0) -> dict[str, Any]:
        """Returns k components with their variances, and the mean of what is left."""
        if not scipy.sparse.issparse(X):
            found = _fiedler.pca(_context(None, self.device), np.ascontiguousarray(X), k, solver, seed)
            warn_unless_certified(found["status"], "the components")
            return found
        samples = X.shape[0]
        mean = np.asarray(X.mean(axis=0)).ravel()
        covariances = ((X.T @ X).toarray() - samples * np.outer(mean, mean)) / (samples - 1)
        variances, vectors = linalg.eigh(covariances, device=self.device)
        variances = np.maximum(variances[::-1], 0)
        most = min(X.shape)
        rest = variances[k:most]
        return {
            "components": svd_flip(None, vectors.T[::-1], u_based_decision=False)[1][:k],
            "explained_variance": variances[:k],
            "explained_variance_ratio": (variances / variances.sum())[:k],
            "singular_values": np.sqrt(variances * (samples - 1))[:k],
            "mean": mean,
            "noise_variance": float(rest.mean()) if rest.size else 0.0,
        }

    def _kept(self, X: Array, xp: Any, found: dict[str, Any], k: int) -> tuple[Any, ...]:
        """Keeps the first k components, in the library of X, and returns what scikit-learn's methods expect."""
        for name in ("components", "explained_variance", "explained_variance_ratio", "singular_values", "mean"):
            made = found[name] if name == "mean" else np.ascontiguousarray(found[name][:k])
            if not (isinstance(X, np.ndarray) or scipy.sparse.issparse(X)):
                made = xp.asarray(made, device=X.device)
            setattr(self, f"{name}_", made)
        self.noise_variance_ = found["noise_variance"]
        self.n_components_, self.n_samples_ = k, X.shape[0]
        return None, self.singular_values_, self.components_, X, False, xp

    def _fit_full(self, X: Array, n_components: Any, xp: Any, _: bool) -> tuple[Any, ...]:
        """Computes all components, in place of scikit-learn's SVD and eigendecomposition."""
        samples, most = _samples(X), min(X.shape)
        if n_components == "mle":
            if samples < X.shape[1]:
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
        elif not 0 <= n_components <= most:
            limits = f"must be between 0 and min(n_samples, n_features)={most}"
            raise ValueError(f"n_components={n_components} {limits} with svd_solver={self._fit_svd_solver!r}")
        counted = n_components != "mle" and n_components >= 1
        k = int(n_components) if counted else most
        own = X if scipy.sparse.issparse(X) else as_numpy(X, "X")[0]
        found = self._found(own, k, "svd" if self._fit_svd_solver == "full" else "covariance")
        if not counted:
            variances = found["explained_variance"]
            if n_components == "mle":
                k = int(_infer_dimension(variances, samples))
            elif n_components > 0:
                shares = np.cumsum(found["explained_variance_ratio"])
                k = min(int(np.searchsorted(shares, n_components, side="right")) + 1, most)
            else:
                k = 0
            found["noise_variance"] = float(variances[k:].mean()) if k < most else 0.0
        if k < most and self._fit_svd_solver == "covariance_eigh":
            # The mean of all that is left of the covariance matrix, whose rank may be less than its order.
            found["noise_variance"] *= (most - k) / (X.shape[1] - k)
        return self._kept(X, xp, found, k)

    def _fit_truncated(self, X: Array, n_components: Any, xp: Any) -> tuple[Any, ...]:
        """Computes the leading components of dense X, in place of scikit-learn's randomized SVD."""
        most, solver = min(X.shape), self._fit_svd_solver
        if solver == "arpack" or isinstance(n_components, str) or not 1 <= n_components <= most:
            # Those who name ARPACK want its digits; and the errors are scikit-learn's.
            made: tuple[Any, ...] = super()._fit_truncated(X, n_components, xp)
            return made
        samples, own = _samples(X), as_numpy(X, "X")[0]
        k = int(n_components)
        ratio = _ALL_OF_TALL if X.shape[0] >= X.shape[1] else _ALL_OF_WIDE
        if self.iterated_power == "auto" and most <= ratio * (k + self.n_oversamples):
            return self._kept(X, xp, self._found(own, k, "auto", seed_of(self.random_state)), k)
        mean = own.mean(axis=0)
        total = own.var(axis=0, ddof=1).sum()
        iterations = None if self.iterated_power == "auto" else self.iterated_power
        _, s, vh = _leading(own - mean, n_components, self, iterations)
        variances = s**2 / (samples - 1)
        left = most - n_components
        found = {
            "components": svd_flip(None, vh, u_based_decision=False)[1],
            "explained_variance": variances,
            "explained_variance_ratio": variances / total,
            "singular_values": s,
            "mean": mean,
            "noise_variance": float(total - variances.sum()) / left if left else 0.0,
        }
        return self._kept(X, xp, found, n_components)


class TruncatedSVD(theirs.TruncatedSVD):
    """The leading singular vectors, as ``sklearn.decomposition.TruncatedSVD`` has them, of dense and sparse matrices.

    Parameters
    ----------
    n_components, algorithm, n_iter, n_oversamples, power_iteration_normalizer, random_state, tol
        As in scikit-learn, apart from the following. 'randomized' ends after ``n_iter`` iterations of block Lanczos
        bidiagonalization, whose results are nearer to the truth than those of as many power iterations. Sparse matrices
        are decomposed by `fiedler.linalg.eigsh` until it has converged. ``random_state=None`` is the seed 0. 'arpack'
        is ARPACK, as in scikit-learn.
    device : {'auto', 'gpu', 'cpu'}, optional

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, n_features_in_, feature_names_in_
        As in scikit-learn. The entry of largest magnitude of each component is positive.

    Examples
    --------
    >>> import scipy.sparse
    >>> TruncatedSVD(1).fit(scipy.sparse.diags_array([1.0, 2.0, 5.0, 3.0, 1.0])).singular_values_.round(6)
    array([5.])
    """

    __init__ = extended(theirs.TruncatedSVD, device=None)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Array, y: Any = None) -> Array:
        """Computes the components of X, (samples, features), and returns its coordinates, (samples, n_components)."""
        if self.algorithm == "arpack":
            return super().fit_transform(X, y)
        X = validate_data(self, X, accept_sparse=["csr", "csc"], ensure_min_features=2)
        if self.n_components > X.shape[1]:
            raise ValueError(f"n_components({self.n_components}) must be <= n_features({X.shape[1]}).")
        _, self.singular_values_, vh = _leading(X, min(self.n_components, *X.shape), self, self.n_iter)
        self.components_ = svd_flip(None, vh, u_based_decision=False)[1]
        made = safe_sparse_dot(X, self.components_.T)
        sparse = scipy.sparse.issparse(X)
        total = (mean_variance_axis(X, axis=0)[1] if sparse else np.var(X, axis=0)).sum()
        self.explained_variance_ = np.var(made, axis=0)
        self.explained_variance_ratio_ = self.explained_variance_ / total
        return made
