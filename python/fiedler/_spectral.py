"""The estimators of `fiedler.sklearn` that embed points by a graph: scikit-learn's own, with other eigenvectors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.cluster
import sklearn.manifold
from sklearn.base import _fit_context
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.utils import check_random_state, check_symmetric
from sklearn.utils.validation import validate_data

from . import linalg
from ._decomposition import extended, warn_unless_certified
from ._encode import encode
from ._graphs import GraphBatch

Array = Any


def _pairs_of_signs(edges: Any, k: int, device: str | None) -> Array:
    """Returns k eigenvectors of the symmetric Laplacian of weights of which some are negative, which are no graph's."""
    roots = np.sqrt(np.asarray(edges.sum(axis=1)).ravel())
    roots[roots == 0] = 1
    scaled = edges.toarray() / roots[:, None] / roots
    found = linalg.eigh(np.eye(len(roots), dtype=scaled.dtype) - scaled, k=k, device=device)
    warn_unless_certified(found.certificates.status, "the eigenvectors")
    return found.eigenvectors


def _embedding(affinities: Array, k: int, dtype: Any, device: str | None) -> Array:
    """Returns k eigenvectors of the symmetric Laplacian, divided by the square roots of the degrees, (samples, k)."""
    edges = scipy.sparse.coo_array(check_symmetric(affinities), dtype=dtype)
    edges.setdiag(0)
    edges.eliminate_zeros()
    degrees = np.asarray(edges.sum(axis=1)).ravel()
    if edges.nnz and edges.data.min() < 0 and degrees.min() >= 0:
        vectors = _pairs_of_signs(edges, k, device)
        components = scipy.sparse.csgraph.connected_components(edges, directed=False, return_labels=False)
    else:
        precision = "f32" if dtype == np.float32 else "f64"
        found = encode(GraphBatch.from_scipy_sparse(edges, symmetrize="max"), k, precision=precision, device=device, cache=False)
        vectors, components = found.eigenvectors, found.components[0]
    if components > 1:
        warnings.warn("Graph is not fully connected, spectral embedding may not work as expected.", stacklevel=4)
    degrees[degrees == 0] = 1
    vectors = vectors / np.sqrt(degrees)[:, None]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[largest, np.arange(k)] < 0, -1, 1).astype(vectors.dtype)
    return vectors


class SpectralEmbedding(sklearn.manifold.SpectralEmbedding):
    """Laplacian eigenmaps, as ``sklearn.manifold.SpectralEmbedding`` has them, with all its parameters.

    Parameters
    ----------
    n_components, affinity, gamma, n_neighbors, n_jobs
        As in scikit-learn.
    eigen_solver, eigen_tol, random_state
        Without effect: the method is chosen by its predicted time and computes until it has converged, and nothing is
        random.
    drop_first : bool
        Whether to leave out the first eigenvector, which is constant if the graph is connected.
    device : {'auto', 'gpu', 'cpu'}, optional

    Attributes
    ----------
    embedding_ : array, (samples, n_components)
        Eigenvectors of the symmetric Laplacian, divided by the square roots of the degrees. The entry of largest
        magnitude of each is positive.
    affinity_matrix_, n_features_in_, feature_names_in_, n_neighbors_, gamma_
        As in scikit-learn.

    Examples
    --------
    >>> line = np.arange(8.0)[:, None]
    >>> found = SpectralEmbedding(n_components=1, n_neighbors=3).fit_transform(line)
    >>> bool(np.all(np.diff(found[:, 0]) > 0) or np.all(np.diff(found[:, 0]) < 0))
    True
    """

    __init__ = extended(sklearn.manifold.SpectralEmbedding, drop_first=True, device=None)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: Any = None) -> SpectralEmbedding:
        """Computes the embedding of X: (samples, features), or (samples, samples) if it is precomputed."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
        most = X.shape[0] - bool(self.drop_first)
        if self.n_components > most:
            found = f"{X.shape[0]} samples, found {self.n_components}"
            raise ValueError(f"n_components: expected 1 to {most} for {found}")
        self._get_affinity_matrix(X)
        made = _embedding(self.affinity_matrix_, self.n_components + bool(self.drop_first), X.dtype, self.device)
        self.embedding_ = np.ascontiguousarray(made[:, bool(self.drop_first) :])
        return self


class SpectralClustering(sklearn.cluster.SpectralClustering):
    """Clusters of a graph of affinities, as ``sklearn.cluster.SpectralClustering`` has them, with all its parameters.

    The embedding is that of `SpectralEmbedding` with its first eigenvector. Affinities and labels are computed by
    scikit-learn's functions.

    Parameters
    ----------
    n_clusters, n_components, random_state, n_init, gamma, affinity, n_neighbors, assign_labels, degree, coef0
    kernel_params, n_jobs, verbose
        As in scikit-learn.
    eigen_solver, eigen_tol
        Without effect, as in `SpectralEmbedding`.
    device : {'auto', 'gpu', 'cpu'}, optional

    Attributes
    ----------
    affinity_matrix_ : array or sparse matrix, (samples, samples)
    labels_ : array, (samples,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> points = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]])
    >>> labels = SpectralClustering(2, gamma=0.1, random_state=0).fit_predict(points)
    >>> bool(labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5])
    True
    """

    __init__ = extended(sklearn.cluster.SpectralClustering, device=None)

    def _affinities(self, X: Array) -> Array:
        """Returns the matrix of affinities, dense or sparse."""
        if self.affinity == "precomputed":
            return X
        if self.affinity in ("nearest_neighbors", "precomputed_nearest_neighbors"):
            if self.affinity == "nearest_neighbors":
                near = kneighbors_graph(X, self.n_neighbors, include_self=True, n_jobs=self.n_jobs)
            else:
                found = NearestNeighbors(n_neighbors=self.n_neighbors, n_jobs=self.n_jobs, metric="precomputed").fit(X)
                near = found.kneighbors_graph(X)
            return 0.5 * (near + near.T)
        if X.shape[0] == X.shape[1]:
            warnings.warn("X: a square table of features; affinities need affinity='precomputed'", stacklevel=4)
        words = dict(self.kernel_params or {})
        if not callable(self.affinity):
            words |= {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, metric=self.affinity, filter_params=True, **words)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: Any = None) -> SpectralClustering:
        """Computes the labels of X: (samples, features), or (samples, samples) if it is precomputed."""
        formats = ["csr", "csc", "coo"]
        X = validate_data(self, X, accept_sparse=formats, dtype=np.float64, ensure_min_samples=2)
        self.affinity_matrix_ = self._affinities(X)
        random = check_random_state(self.random_state)
        k = self.n_clusters if self.n_components is None else self.n_components
        maps = _embedding(self.affinity_matrix_, min(k, X.shape[0]), X.dtype, self.device)
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")
        if self.assign_labels == "kmeans":
            words = {"random_state": random, "n_init": self.n_init, "verbose": self.verbose}
            self.labels_ = sklearn.cluster.k_means(maps, self.n_clusters, **words)[1]
        elif self.assign_labels == "cluster_qr":
            self.labels_ = cluster_qr(maps)
        else:
            self.labels_ = discretize(maps, random_state=random)
        return self
