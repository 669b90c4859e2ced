"""Estimators of scikit-learn: `PCA`, `SpectralEmbedding`, `MLPClassifier` and `MLPRegressor` with its names, and
`LaplacianEncoder` for lists of graphs.

>>> from fiedler.sklearn import PCA
>>> points = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
>>> PCA(n_components=1).fit_transform(points).round(4).ravel()
array([-1.4142,  0.    ,  1.4142])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _fiedler, linalg
from ._context import _context
from ._encode import encode
from ._errors import UncertifiedWarning, warn
from ._estimators import MLPClassifier, MLPRegressor
from ._as_graphs import as_graphs
from ._graphs import GraphBatch

__all__ = ["PCA", "LaplacianEncoder", "MLPClassifier", "MLPRegressor", "SpectralEmbedding"]

Array = Any

_SOLVERS = {
    "auto": "auto",
    "full": "svd",
    "covariance_eigh": "covariance",
    "arpack": "truncated",
    "randomized": "truncated",
}
_TYPES = [np.float64, np.float32]


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components, as ``sklearn.decomposition.PCA`` has them.

    Parameters
    ----------
    n_components : int or float, optional
        The number of components, or the share of the variance that they have to explain. By default, all.
    whiten : bool
        Whether the transformed features have unit variance.
    svd_solver : {'auto', 'full', 'covariance_eigh', 'randomized', 'arpack'}
        An SVD, an eigendecomposition of the covariances, or ('randomized' and 'arpack') a truncated SVD.
    random_state : int, RandomState or None
        The start of the truncated SVD, without effect on the other solvers. None is the seed 0.
    device : {'auto', 'gpu', 'cpu'}, optional

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, n_components_, n_samples_
    noise_variance_, n_features_in_, feature_names_in_
        As in scikit-learn. The entry of largest magnitude of each component is positive.
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        whiten: bool = False,
        svd_solver: str = "auto",
        random_state: Any = None,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.random_state = random_state
        self.device = device

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Array, y: Any = None) -> PCA:
        """Computes the components of X, (samples, features)."""
        X = validate_data(self, X, dtype=_TYPES, order="C", ensure_min_samples=2)
        most = min(X.shape)
        wanted = self.n_components
        share = float(wanted) if isinstance(wanted, (float, np.floating)) and 0 < wanted < 1 else None
        if wanted is None or share is not None:
            k = most
        elif isinstance(wanted, (int, np.integer)) and 1 <= wanted <= most:
            k = int(wanted)
        else:
            expected = f"1 to {most} components, a share of the variance between 0 and 1, or None"
            raise ValueError(f"n_components: expected {expected}, found {wanted!r}")
        if self.svd_solver not in _SOLVERS:
            raise ValueError(f"svd_solver: expected one of {sorted(_SOLVERS)}, found {self.svd_solver!r}")
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        found = _fiedler.pca(_context(None, self.device), X, k, _SOLVERS[self.svd_solver], seed)
        if found["status"]:
            warn("the components lack the status converged", UncertifiedWarning)
        ratio = found["explained_variance_ratio"]
        noise = found["noise_variance"]
        if share is not None:
            k = min(int(np.searchsorted(np.cumsum(ratio, dtype=np.float64), share, side="right")) + 1, most)
            rest = found["explained_variance"][k:]
            noise = float(rest.mean()) if rest.size else 0.0
        self.components_ = found["components"][:k]
        self.explained_variance_ = found["explained_variance"][:k]
        self.explained_variance_ratio_ = ratio[:k]
        self.singular_values_ = found["singular_values"][:k]
        self.mean_ = found["mean"]
        self.noise_variance_ = noise
        self.n_components_ = k
        self.n_samples_ = X.shape[0]
        return self

    def _scales(self) -> Array:
        """Returns the standard deviations by which whitening divides."""
        scales = np.sqrt(self.explained_variance_)
        return np.maximum(scales, np.finfo(scales.dtype).eps)

    def transform(self, X: Array) -> Array:
        """Returns the coordinates of X in the components, (samples, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=_TYPES, reset=False)
        made = linalg.matmul(X - self.mean_, self.components_.T, device=self.device)
        return made / self._scales() if self.whiten else made

    def inverse_transform(self, X: Array) -> Array:
        """Returns the points (samples, features) whose coordinates are X."""
        check_is_fitted(self)
        X = np.asarray(X)
        scaled = X * self._scales() if self.whiten else X
        return linalg.matmul(scaled, self.components_, device=self.device) + self.mean_

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


class SpectralEmbedding(BaseEstimator):
    """Laplacian eigenmaps, as ``sklearn.manifold.SpectralEmbedding`` has them.

    Parameters
    ----------
    n_components : int
        The number of coordinates.
    affinity : {'nearest_neighbors', 'rbf', 'precomputed', 'precomputed_nearest_neighbors'} or callable
        How the graph is made of X. A callable gets X and returns a matrix (samples, samples).
    gamma : float, optional
        The coefficient of 'rbf'; by default 1 / features.
    random_state
        Accepted for the sake of the signature: nothing is random.
    n_neighbors : int, optional
        By default max(samples / 10, 1).
    drop_first : bool
        Whether to leave out the first eigenvector, which is constant if the graph is connected.
    device : {'auto', 'gpu', 'cpu'}, optional

    Attributes
    ----------
    embedding_ : array, (samples, n_components)
        Eigenvectors of the symmetric Laplacian, divided by the square roots of the degrees.
    affinity_matrix_, n_features_in_, feature_names_in_, n_neighbors_, gamma_
        As in scikit-learn.

    Examples
    --------
    >>> line = np.arange(8.0)[:, None]
    >>> found = SpectralEmbedding(n_components=1, n_neighbors=3).fit_transform(line)
    >>> bool(np.all(np.diff(found[:, 0]) > 0) or np.all(np.diff(found[:, 0]) < 0))
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str | Callable[[Array], Array] = "nearest_neighbors",
        gamma: float | None = None,
        random_state: Any = None,
        n_neighbors: int | None = None,
        drop_first: bool = True,
        device: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.drop_first = drop_first
        self.device = device

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity in ("precomputed", "precomputed_nearest_neighbors")
        tags.transformer_tags = None
        return tags

    def _affinities(self, X: Array) -> Array:
        """Returns the matrix of affinities, dense or sparse."""
        samples = X.shape[0]
        if callable(self.affinity):
            return self.affinity(X)
        if self.affinity == "rbf":
            self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
            return rbf_kernel(X, gamma=self.gamma_)
        if self.affinity == "precomputed":
            return X
        if self.affinity not in ("nearest_neighbors", "precomputed_nearest_neighbors"):
            known = "'nearest_neighbors', 'rbf', 'precomputed', 'precomputed_nearest_neighbors' or a callable"
            raise ValueError(f"affinity: expected {known}, found {self.affinity!r}")
        self.n_neighbors_ = max(samples // 10, 1) if self.n_neighbors is None else self.n_neighbors
        if self.affinity == "nearest_neighbors":
            near = kneighbors_graph(X, self.n_neighbors_, include_self=True)
        else:
            near = NearestNeighbors(n_neighbors=self.n_neighbors_, metric="precomputed").fit(X).kneighbors_graph(X)
        return 0.5 * (near + near.T)

    def fit(self, X: Array, y: Any = None) -> SpectralEmbedding:
        """Computes the embedding of X: (samples, features), or (samples, samples) if it is precomputed."""
        X = validate_data(self, X, accept_sparse="csr", dtype=_TYPES, ensure_min_samples=2)
        samples, k = X.shape[0], self.n_components + bool(self.drop_first)
        if not 1 <= self.n_components <= samples - bool(self.drop_first):
            most = samples - bool(self.drop_first)
            raise ValueError(f"n_components: expected 1 to {most} for {samples} samples, found {self.n_components}")
        self.affinity_matrix_ = self._affinities(X)
        edges = scipy.sparse.coo_array(self.affinity_matrix_)
        edges.setdiag(0)
        precision = "f32" if X.dtype == np.float32 else "f64"
        graph = GraphBatch.from_scipy_sparse(edges)
        found = encode(graph, k, precision=precision, device=self.device, cache=False)
        roots = np.sqrt(np.asarray(edges.sum(axis=1)).ravel())
        roots[roots == 0] = 1
        vectors = found.eigenvectors / roots[:, None].astype(found.eigenvectors.dtype)
        largest = np.abs(vectors).argmax(axis=0)
        vectors *= np.where(vectors[largest, np.arange(k)] < 0, -1, 1).astype(vectors.dtype)
        self.embedding_ = np.ascontiguousarray(vectors[:, k - self.n_components :])
        return self

    def fit_transform(self, X: Array, y: Any = None) -> Array:
        """Returns the embedding of X, (samples, n_components)."""
        return self.fit(X).embedding_


class LaplacianEncoder(TransformerMixin, BaseEstimator):
    """Turns graphs into Laplacian encodings: one array a graph, or one row a graph for other estimators.

    X is whatever `fiedler.encode` takes, such as a list of graphs of NetworkX.

    Parameters
    ----------
    k : int
        The number of eigenpairs.
    laplacian, which, trivial, walk_steps, method, weight, symmetrize, device
        As in `fiedler.encode`.
    pooling : {'none', 'moments', 'heat'}
        'none': a list of arrays (n, k + walk_steps), the eigenvectors and the return probabilities of a graph's nodes.
        'moments': the means of the first four powers of a graph's eigenvalues. 'heat': the sum of exp(-t w) over the
        eigenvalues w, for each t of ``times``. After both, the mean of each return probability follows. Pooled rows do
        not depend on the order of nodes.
    times : sequence of float
        The times of 'heat'.

    Examples
    --------
    >>> ring = np.array([[0, 1, 2], [1, 2, 0]])
    >>> LaplacianEncoder(k=3, pooling="moments").fit_transform([ring, ring]).shape
    (2, 4)
    """

    def __init__(
        self,
        k: int = 8,
        *,
        laplacian: str = "symmetric",
        which: str = "smallest",
        trivial: str = "keep",
        walk_steps: int = 0,
        method: str = "auto",
        weight: str | None = "auto",
        symmetrize: str | None = None,
        pooling: str = "none",
        times: Sequence[float] = (0.1, 1.0, 10.0),
        device: str | None = None,
    ) -> None:
        self.k = k
        self.laplacian = laplacian
        self.which = which
        self.trivial = trivial
        self.walk_steps = walk_steps
        self.method = method
        self.weight = weight
        self.symmetrize = symmetrize
        self.pooling = pooling
        self.times = times
        self.device = device

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        tags.requires_fit = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any = None, y: Any = None) -> LaplacianEncoder:
        """Checks the parameters. Nothing is learned."""
        if self.pooling not in ("none", "moments", "heat"):
            raise ValueError(f"pooling: expected 'none', 'moments' or 'heat', found {self.pooling!r}")
        return self

    def transform(self, X: Any) -> Any:
        """Encodes graphs.

        Returns
        -------
        list of arrays, or array (graphs, features)
        """
        self.fit()
        found = encode(
            as_graphs(X, weight=self.weight, symmetrize=self.symmetrize),
            self.k,
            laplacian=self.laplacian,
            which=self.which,
            trivial=self.trivial,
            walk_steps=self.walk_steps,
            method=self.method,
            device=self.device,
        )
        walk = found.random_walk
        if self.pooling == "none":
            rows = found.eigenvectors if walk is None else np.concatenate([found.eigenvectors, walk], axis=1)
            return np.split(rows, found.node_offsets[1:-1])[: len(found)]
        exists = found.mask.astype(bool)
        values = np.where(exists, found.eigenvalues, 0)
        if self.pooling == "moments":
            counts = np.maximum(exists.sum(axis=1), 1)
            columns = [(values**power).sum(axis=1) / counts for power in (1, 2, 3, 4)]
        else:
            columns = [np.where(exists, np.exp(-time * values), 0).sum(axis=1) for time in self.times]
        pooled = np.stack(columns, axis=1) if columns else np.zeros((len(found), 0))
        if walk is not None:
            offsets = found.node_offsets
            sums = np.concatenate([np.zeros((1, walk.shape[1])), np.cumsum(walk, axis=0, dtype=np.float64)])
            totals = sums[offsets[1:]] - sums[offsets[:-1]]
            pooled = np.concatenate([pooled, totals / np.maximum(np.diff(offsets), 1)[:, None]], axis=1)
        return pooled.astype(np.float32)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Returns the names of the columns of pooled rows."""
        if self.pooling == "none":
            raise ValueError("pooling: expected 'moments' or 'heat', whose columns have names, found 'none'")
        moments = [f"moment{power}" for power in (1, 2, 3, 4)]
        own = moments if self.pooling == "moments" else [f"heat{time:g}" for time in self.times]
        return np.asarray([*own, *(f"return{step + 1}" for step in range(self.walk_steps))], dtype=object)
