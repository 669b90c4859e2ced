"""What the decompositions of `fiedler.linalg` return."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ._errors import UncertifiedError

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
