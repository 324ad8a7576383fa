"""Affinities made elsewhere, such as the connectivities of a neighbor graph, in place of step 1."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._checks import check_points
from isosne._types import Array, Neighbors, NeighborSimilarity, Points, SimilarityRows
from isosne.errors import DataError, ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.costs import KernelCosts


class PrecomputedKernel(MetricKernel):
    """Take affinities of all pairs that were made elsewhere.

    ``TSNE(kernel="precomputed").fit(P)`` symmetrizes P, scales it to sum one and uses it as it is:
    rows are not normalized. `transform` takes rows of affinities to the fitted points.

    Attributes
    ----------
    X_fit_ : array or CSR of shape (n_samples, n_samples)
        The affinities (not a copy).

    Notes
    -----
    Not in the paper.

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
        """Nothing is to be set."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the affinities.

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
        """Do nothing: there is no distance."""

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Return the affinities, or those of new points to the fitted ones, as they were passed.

        Parameters
        ----------
        A : array or CSR of shape (n, n_samples), default=None
            Affinities of new points to the fitted ones; None stands for the fitted points.
        B : None
            Affinities to other points than the fitted ones are not known.

        Returns
        -------
        array of float32, shape (n, n_samples)
            The affinities.
        """
        if B is not None:
            raise ParameterError(
                "B",
                "be None: affinities between two sets of new points are not known",
                B,
                "Leave it out.",
            )
        points = self._check_query(A)
        _check_not_negative(points)
        full: Array = points.toarray() if isinstance(points, csr_array) else points
        return np.asarray(full, np.float32)

    def _layers(self, points: Points) -> NDArray[np.float32]:
        K = self.similarity(points)
        n_empty = int((~K.any(axis=1)).sum())
        if n_empty:
            raise DataError(
                "Each row must have an affinity above zero to some fitted point; "
                f"got {n_empty} row(s) of zeros. Leave them out."
            )
        return K[None]

    def _find_copies(self, points: Points) -> NDArray[np.int32]:
        """Return -1 for each: without points there are no copies."""
        return np.full(points.shape[0], -1, np.int32)

    def nearest_others(self, ids: Array) -> Array:
        """Return the first other point: without points none is nearer than another."""
        return np.where(np.asarray(ids) == 0, 1, 0)

    def costs(self, n_points: int, n_features: int) -> KernelCosts:
        """Return the costs of a copy in float32; the lists are those of the affinities.

        Parameters
        ----------
        n_points, n_features : int
            Number of points.

        Returns
        -------
        KernelCosts
            The plan chooses by whether the affinities are sparse.
        """
        return KernelCosts(n_relevant=0, n_partners=0)

    def rows(self) -> SimilarityRows:
        """Refuse: step 2 takes the affinities as they are."""
        raise NotImplementedError("Step 2 takes precomputed affinities as they are.")

    def neighbor_similarity(
        self, neighbors: Neighbors, n_partners: int | None = None
    ) -> NDArray[np.float32]:
        """Refuse: step 2 takes the affinities as they are."""
        raise NotImplementedError("Step 2 takes precomputed affinities as they are.")

    def toward_neighbors(self, neighbors: Neighbors) -> NeighborSimilarity:
        """Refuse: step 2 takes the affinities as they are."""
        raise NotImplementedError("Step 2 takes precomputed affinities as they are.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        return tags


def _check_not_negative(affinities: Points) -> None:
    values = affinities.data if isinstance(affinities, csr_array) else affinities
    if values.size and values.min() < 0:
        raise DataError(
            f"Precomputed affinities must not be negative; got {values.min():g}. "
            "Pass similarities, not distances."
        )
