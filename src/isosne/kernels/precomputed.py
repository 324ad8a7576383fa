"""Precomputed affinities, such as the connectivities of a neighbor graph, instead of step 1."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._checks import check_points
from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError
from isosne.kernels.base import MatrixRows, MetricKernel
from isosne.kernels.costs import KernelCosts


class PrecomputedKernel(MetricKernel):
    """Use precomputed affinities of all pairs of points.

    ``TSNE(kernel="precomputed").fit(P)`` symmetrizes P and scales it to sum to 1; rows are not
    normalized. `transform` takes rows of affinities to the fitted points.

    Attributes
    ----------
    X_fit_ : array or CSR of shape (n_samples, n_samples)
        The affinities (not a copy).

    Notes
    -----
    Not in the paper. Cost: none beyond the memory of the affinities.

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

    def __init__(self) -> None:
        """There are no parameters."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the affinities.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_samples)
            Affinities of all pairs: finite, not negative, larger for more similar points. The
            diagonal is ignored.
        y : None
            Ignored.

        Returns
        -------
        PrecomputedKernel
            The fitted kernel.
        """
        return self._fit_points(check_points(X, min_rows=2))._remember_names(X)

    def _fit_points(self, points: Points) -> Self:
        n_rows, n_columns = points.shape
        if n_rows != n_columns:
            raise DataError(
                "Precomputed affinities must be a square matrix; "
                f"got shape ({n_rows}, {n_columns}). Pass the affinities of all pairs of points."
            )
        _check_not_negative(points)
        return self._remember(points)

    def _check_comparable(self, points: Points) -> None:
        """Do nothing: there are no distances to check."""

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the affinities, or those of new points to the fitted points, unchanged.

        Parameters
        ----------
        A : array or CSR of shape (n, n_samples), default=None
            Affinities of new points to the fitted points; None is the fitted points.
        B : None
            Must be None: affinities between two sets of new points are unknown.

        Returns
        -------
        array of float32, shape (n, n_samples)
            The affinities.
        """
        if B is not None:
            raise ParameterError(
                "B",
                "be None: affinities between two sets of new points are unknown",
                B,
                "Leave it out.",
            )
        points = self._check_query(A)
        _check_not_negative(points)
        full: Array = points.toarray() if isinstance(points, csr_array) else points
        largest = np.finfo(np.float32).max
        if full.size and full.max() > largest:
            raise DataError(
                f"Precomputed affinities must be at most {largest:.2g}, the limit of float32; got "
                f"{full.max():g}. Divide all of them by the largest."
            )
        return np.asarray(full, np.float32)

    def _layers(self, points: Points) -> NDArray[np.float32]:
        K = self.similarity(points)
        n_empty = int((~K.any(axis=1)).sum())
        if n_empty:
            raise DataError(
                "Each row must have a positive affinity to at least one fitted point; "
                f"got {n_empty} row(s) of zeros. Remove them."
            )
        return K[None]

    def _find_copies(self, points: Points) -> NDArray[np.int32]:
        """Return -1 for each point: without coordinates, copies cannot be detected."""
        return np.full(points.shape[0], -1, np.int32)

    def nearest_others(self, ids: Array) -> Array:
        """Return the first other point: without coordinates, no point is nearer than another."""
        return np.where(np.asarray(ids) == 0, 1, 0)

    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        """Return the costs of a float32 copy; the plan adds the number of stored entries.

        Parameters
        ----------
        n_points, n_features : int
            Number of points.

        Returns
        -------
        KernelCosts
            List lengths of zero.
        """
        return KernelCosts(n_relevant=0, n_partners=0)

    def rows(self) -> MatrixRows:
        """Return the affinities of the fitted points, in blocks of rows."""
        return MatrixRows(self.similarity())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        return tags


def _check_not_negative(affinities: Points) -> None:
    values = affinities.data if isinstance(affinities, csr_array) else affinities
    if values.size and values.min() < 0:
        raise DataError(
            "Negative values in data: precomputed affinities must be positive or zero; got "
            f"{values.min():g}. "
            "Pass similarities, not distances."
        )
