"""Similarities that the user provides: precomputed affinities, or an object with `similarity`."""

from copy import deepcopy
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone

from isosne._types import Array, Points, SimilarityRows
from isosne.errors import DataError, ParameterError
from isosne.kernels.base import KernelCosts, MetricKernel


class PrecomputedKernel(MetricKernel):
    """Use precomputed affinities of all pairs of points.

    Affinities are finite and not negative, larger for more similar points; the diagonal is ignored.
    ``TSNE(kernel="precomputed").fit(P)`` symmetrizes P and scales it to sum to 1; rows are not
    normalized. `transform` takes rows of affinities to the fitted points.

    Attributes
    ----------
    X_fit_ : array or CSR of shape (n_samples, n_samples)
        The affinities (not a copy).

    Notes
    -----
    Cost: none beyond the memory of the affinities.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import PrecomputedKernel
    >>> PrecomputedKernel().fit(np.array([[0.0, 2.0], [1.0, 0.0]])).similarity()
    array([[0., 2.],
           [1., 0.]], dtype=float32)
    """

    metric = "euclidean"
    p = 2.0

    def _fit_points(self, points: Points) -> Self:
        n_rows, n_columns = points.shape
        if n_rows != n_columns:
            raise DataError(
                "Precomputed affinities must be a square matrix; "
                f"got shape ({n_rows}, {n_columns}). Pass the affinities of all pairs of points."
            )
        _check_not_negative(points)
        return self._remember(points)

    def check_comparable(self, points: Points) -> None:
        pass  # there are no distances

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the affinities, or those of new points to the fitted points, unchanged.

        A (n, n_samples) holds affinities to the fitted points. B must be None: those between two
        sets of new points are unknown.
        """
        if B is not None:
            rule = "be None: affinities between two sets of new points are unknown"
            raise ParameterError("B", rule, B, "Leave it out.")
        points = self._check_query(A)
        _check_not_negative(points)
        full: Array = points.toarray() if isinstance(points, csr_array) else points
        return np.asarray(full, np.float32)

    def _rows_of(self, new: Points | None) -> SimilarityRows:
        K = self.similarity(new)
        n_empty = 0 if new is None else int((~K.any(axis=1)).sum())
        if n_empty:
            raise DataError(
                "Each row must have a positive affinity to at least one fitted point; "
                f"got {n_empty} row(s) of zeros. Remove them."
            )
        return matrix_rows(K)

    def find_copies(self, points: Points) -> NDArray[np.int32]:
        return np.full(points.shape[0], -1, np.int32)  # without coordinates, none are known

    def nearest_others(self, ids: Array) -> Array:
        return np.where(np.asarray(ids) == 0, 1, 0)  # without coordinates, none is nearer

    def costs(self, n_points: int) -> KernelCosts:
        return KernelCosts(0, 0)  # a float32 copy; the plan adds the number of stored entries

    @property
    def takes_pairs(self) -> bool:
        return True


def _check_not_negative(affinities: Points) -> None:
    values = affinities.data if isinstance(affinities, csr_array) else affinities
    if values.size and values.min() < 0:
        raise DataError(
            "Negative values in data: precomputed affinities must be positive or zero; got "
            f"{values.min():g}. Pass similarities, not distances."
        )


@runtime_checkable
class UserKernel(Protocol):
    """Methods that a user-defined kernel must have (docs/extending.md)."""

    def fit(self, X: Any) -> object: ...

    def similarity(self, A: Any = None, B: Any = None) -> Any: ...


class CustomKernel(MetricKernel):
    """Adapter from an object with ``fit(X)`` and ``similarity(A=None, B=None)`` to a kernel."""

    # Used for the PCA start, to detect copies, and to tie isolated points to a neighbor.
    metric = "euclidean"
    p = 2.0

    def __init__(self, kernel: UserKernel) -> None:
        self.kernel = kernel

    def _fit_points(self, points: Points) -> Self:
        own = clone(self.kernel) if hasattr(self.kernel, "get_params") else deepcopy(self.kernel)
        own.fit(points)
        return self._remember(points, kernel_=own)

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        K = np.asarray(self.kernel_.similarity(A, B), np.float32)
        n_rows = self.X_fit_.shape[0] if A is None else np.shape(A)[0]
        n_columns = self.X_fit_.shape[0] if B is None else np.shape(B)[0]
        if K.shape != (n_rows, n_columns) or not np.isfinite(K).all() or K.min() < 0:
            raise DataError(
                f"The similarity of a kernel must be finite and not negative, with shape "
                f"({n_rows}, {n_columns}); got shape {K.shape} from {self.kernel_!r}. "
                "Correct its method similarity."
            )
        return K

    def _rows_of(self, new: Points | None) -> SimilarityRows:
        return matrix_rows(self.similarity(new))

    def costs(self, n_points: int) -> KernelCosts:
        # The user's matrix, and a float32 copy. What its computation takes is not known.
        return KernelCosts(0, 0, pair_bytes=12)


def matrix_rows(K: NDArray[np.float32]) -> SimilarityRows:
    """Return the rows of a similarity matrix; copies, because step 2 overwrites them."""
    return SimilarityRows(len(K), 1, lambda rows: K[None, rows].copy())
