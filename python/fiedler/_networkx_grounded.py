"""The Laplacian of a connected graph without its first node, which is grounded, and what is known of its inverse.

The entries of the inverse, z, are potentials: those of all nodes when a unit of current flows from one node to the
ground. With positive weights, the matrix has a factor of Cholesky, which cancels no digits. Where the graph is narrow,
as a grid is, the factor is banded, and the diagonal of the inverse is computed by blocks, without the rest of it.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

Array = np.ndarray[Any, Any]

# The least rows of a block: for fewer, the calls of NumPy take longer than the arithmetic.
_BLOCK = 32


class Grounded:
    """A grounded Laplacian. Edges are given in both directions; parallel ones are added and loops have no effect."""

    def __init__(self, n: int, rows: Array, columns: Array, weights: Array) -> None:
        if not (weights > 0).all():
            raise NotImplementedError("expected positive weights")
        self._n, apart = n, rows != columns
        rows, columns, weights = rows[apart], columns[apart], weights[apart]
        inside = (rows > 0) & (columns > 0)
        i, j = rows[inside], columns[inside]
        # The first node comes last. If the others have an order in which neighbors are close, they are in that order.
        place = np.append(n - 1, np.arange(n - 1))
        self._banded = False
        if n > 4 * _BLOCK:
            pattern = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
            order = reverse_cuthill_mckee(pattern, symmetric_mode=True)
            close = np.empty_like(place)
            close[np.append(order[order > 0], 0)] = np.arange(n)
            self._banded = 4 * _width(close, i, j) < n
            place = close if self._banded else place
        self._place, self._diagonal = place, np.empty(n)
        self._diagonal[place] = np.bincount(rows, weights, n)
        self._diagonal = self._diagonal[:-1]
        self._rows, self._columns, self._weights, self._width = place[i], place[j], weights[inside], _width(place, i, j)

    @property
    def nbytes(self) -> int:
        return 8 * self._n * (4 * max(self._width, _BLOCK) if self._banded else 2 * self._n)

    def _spread(self, shape: tuple[int, ...], where: Any, weights: Array) -> Array:
        """Returns an array of zeros to which weights are added where they belong, less than 0."""
        lines, places = np.divmod(np.ravel_multi_index(where, shape), shape[-1])
        made = scipy.sparse.coo_array((-weights, (lines, places)), shape=(math.prod(shape[:-1]), shape[-1]))
        return made.toarray().reshape(shape)

    @cached_property
    def _factor(self) -> Array:
        """The factor of Cholesky, banded or dense and in the lower triangle."""
        m, i, j = self._n - 1, self._rows, self._columns
        if not self._banded:
            made = self._spread((m, m), (i, j), self._weights)
            made[np.diag_indices(m)] += self._diagonal
            factor, failed = scipy.linalg.lapack.dpotrf(made.T, lower=1, clean=1, overwrite_a=1)
            if failed:
                raise np.linalg.LinAlgError("Singular matrix")
            return factor
        below = i > j
        band = self._spread((self._width + 1, m), ((i - j)[below], j[below]), self._weights[below])
        band[0] = self._diagonal
        return scipy.linalg.cholesky_banded(band, overwrite_ab=True, lower=True, check_finite=False)

    def solve(self, currents: Array) -> Array:
        """Returns the potentials (n,) for currents (n,) into the nodes."""
        inside = np.empty(self._n)
        inside[self._place] = currents
        solve = scipy.linalg.cho_solve_banded if self._banded else scipy.linalg.cho_solve
        inside[:-1] = solve((self._factor, True), inside[:-1], check_finite=False) if self._n > 1 else 0.0
        inside[-1] = 0.0
        return inside[self._place]

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant."""
        pivots = self._factor[0] if self._banded else self._factor.diagonal()
        return float(2 * np.log(pivots).sum())

    @cached_property
    def inverse(self) -> Array:
        """The whole inverse (n, n), with zeros for the first node."""
        made = np.zeros((self._n, self._n))
        if self._n == 1:
            return made
        if self._banded:
            inner = scipy.linalg.cho_solve_banded((self._factor, True), np.eye(self._n - 1), check_finite=False)
        else:
            inner, _ = scipy.linalg.lapack.dpotri(self._factor, lower=1)
            inner = inner + inner.T
            inner[np.diag_indices_from(inner)] /= 2
        made[1:, 1:] = inner if not self._banded else inner[np.ix_(self._place[1:], self._place[1:])]
        return made

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of the inverse (n,)."""
        if not self._banded:
            factor, _ = scipy.linalg.lapack.dtrtri(self._factor, lower=1) if self._n > 1 else (self._factor, 0)
            return np.append(0.0, np.einsum("ij,ij->j", factor, factor))
        size, m = max(self._width, _BLOCK), self._n - 1
        count = -(-m // size)
        (block, row), (other, column) = np.divmod(self._rows, size), np.divmod(self._columns, size)
        within, below = block == other, block == other + 1
        shape = (count, size, size)
        own = self._spread(shape, (block[within], row[within], column[within]), self._weights[within])
        lower = self._spread(shape, (other[below], row[below], column[below]), self._weights[below])
        # Rows beyond the last node are those of the identity.
        diagonal = np.append(self._diagonal, np.ones(count * size - m)).reshape(-1, size)
        own[:, np.arange(size), np.arange(size)] += diagonal
        # The inverse of each Schur complement and its product with the block below it, then the inverse from the end.
        # See Erisman and Tinney, 1975 (https://doi.org/10.1145/360680.360704).
        steps: list[tuple[Array, Array]] = []
        schur = own[0]
        for k in range(count):
            inverse = np.linalg.inv(schur)
            steps.append((inverse, lower[k] @ inverse))
            if k + 1 < count:
                schur = own[k + 1] - steps[k][1] @ lower[k].T
        found = np.empty((count, size))
        last = np.zeros((size, size))
        for k in reversed(range(count)):
            inverse, step = steps[k]
            last = inverse + step.T @ last @ step
            found[k] = last.diagonal()
        made = np.append(found.ravel()[:m], 0.0)
        return made[self._place]


def _width(place: Array, rows: Array, columns: Array) -> int:
    return int(np.abs(place[rows] - place[columns]).max(initial=0))
