"""Estimators of scikit-learn: `PCA`, `TruncatedSVD`, `SpectralEmbedding`, `SpectralClustering`, `MLPClassifier` and
`MLPRegressor` with its names, and `LaplacianEncoder` for lists of graphs.

>>> from fiedler.sklearn import PCA
>>> points = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
>>> PCA(n_components=1).fit_transform(points).round(4).ravel()
array([-1.4142,  0.    ,  1.4142])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from ._as_graphs import as_graphs
from ._decomposition import PCA, TruncatedSVD
from ._encode import encode
from ._estimators import MLPClassifier, MLPRegressor
from ._spectral import SpectralClustering, SpectralEmbedding

__all__ = [
    "PCA",
    "LaplacianEncoder",
    "MLPClassifier",
    "MLPRegressor",
    "SpectralClustering",
    "SpectralEmbedding",
    "TruncatedSVD",
]

Array = Any


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
