"""User-defined kernels: any object with the methods `fit` and `similarity`.

Such a kernel compares all pairs; it supports neither neighbor lists nor cells.
"""

from copy import deepcopy
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from isosne._types import Points
from isosne.errors import DataError
from isosne.kernels.base import MatrixRows, MetricKernel
from isosne.kernels.costs import KernelCosts


@runtime_checkable
class UserKernel(Protocol):
    """Methods that a user-defined kernel must have."""

    def fit(self, X: Any) -> object:
        """Fit the kernel to the points."""
        ...

    def similarity(self, A: Any = None, B: Any = None) -> Any:
        """Return the similarity (n, m) of each row of A to each row of B.

        None is the fitted points. Values must not be negative; larger is more similar.
        """
        ...


class CustomKernel(MetricKernel):
    """Adapter from a user-defined kernel to the interface of this package.

    Parameters
    ----------
    kernel : object
        An object with the methods ``fit(X)`` and ``similarity(A=None, B=None)``.
    """

    # Used for the PCA start, to detect copies, and to tie isolated points to a neighbor.
    metric = "euclidean"
    p = 2.0

    def __init__(self, kernel: UserKernel) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a copy of the user-defined kernel."""
        return self._fit_points(self._check_fit(X))._remember_names(X)

    def _fit_points(self, points: Points) -> Self:
        own = clone(self.kernel) if hasattr(self.kernel, "get_params") else deepcopy(self.kernel)
        own.fit(points)
        return self._remember(points, kernel_=own)

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the similarity of each row of A to each row of B; None is the fitted points."""
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

    def _layers(self, points: Points) -> NDArray[np.float32]:
        return self.similarity(points)[None].copy()  # step 2 overwrites it

    def rows(self) -> MatrixRows:
        """Return the similarity among the fitted points, computed in blocks of rows."""
        return MatrixRows(self.similarity())

    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        """Return the costs: no lists; per pair 8 bytes of the user's matrix, and 4 of a copy.

        The affinities replace the matrix. The memory that its computation takes is not known.
        """
        return KernelCosts(0, 0, pair_bytes=12)
