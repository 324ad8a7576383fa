"""Groups of rows as points: the mean feature map of the isolation kernel over each group."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._checks import check_points, check_width
from isosne._random import RandomState
from isosne._types import Points
from isosne.errors import DataError, ParameterError
from isosne.kernels.isolation import IsolationKernel

PSI, CELL_ROWS, PARTITIONS = 64, 8, 100
"""Cells per partitioning, rows per cell at least, and partitionings (measured: docs/groups.md)."""


class GroupFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn groups of rows into one vector per group, for maps of patients, documents or images.

    The vector of a group holds the share of its rows in each cell of an isolation kernel, scaled to
    length 1. The inner product of two vectors is the similarity of the two groups by the isolation
    distributional kernel: groups are similar if their rows have similar distributions, not only
    similar means. ``make_pipeline(GroupFeatures(), TSNE())`` maps groups, and places new ones.

    Parameters
    ----------
    kernel : IsolationKernel or None, default=None
        Kernel between rows, with drawn cells. None: ``IsolationKernel(64, n_partitions=100)``, with
        fewer cells if there are fewer than 512 rows in all.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the cells, unless the kernel has one.

    Attributes
    ----------
    kernel_ : IsolationKernel
        The kernel, fitted to the rows of all groups.

    Notes
    -----
    Isolation distributional kernel of Ting, Xu, Washio and Zhou (KDD 2020): K(S, T) is the inner
    product of the mean feature maps of S and T, divided here by sqrt(K(S, S) K(T, T)). Departures:
    none. Groups of one row have the similarity of `IsolationKernel`. Not in the paper of this
    package.

    Cost: that of the cells of all rows, and 4 bytes per group, partitioning and cell.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import GroupFeatures
    >>> rng = np.random.default_rng(0)
    >>> groups = [spread * rng.normal(size=(50, 2)) for spread in (1, 1, 4)]  # equal means
    >>> vectors = GroupFeatures(random_state=0).fit_transform(groups)
    >>> (vectors @ vectors.T).round(1)
    array([[1. , 0.9, 0.2],
           [0.9, 1. , 0.3],
           [0.2, 0.3, 1. ]], dtype=float32)
    """

    def __init__(
        self, kernel: IsolationKernel | None = None, *, random_state: RandomState = None
    ) -> None:
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the cells.

        Parameters
        ----------
        X : sequence of arrays, CSR matrices or data frames of shape (n_rows, n_features)
            The groups, which may differ in their numbers of rows. Each row of a matrix instead of a
            sequence is a group of its own.
        y : None
            Ignored.

        Returns
        -------
        GroupFeatures
            The fitted estimator.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float32]:
        """Draw the cells and return the vectors of the groups, as from `transform`."""
        return self._vectors(*self._fit(X))

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the vectors of groups, which may be new.

        Parameters
        ----------
        X : sequence of arrays, CSR matrices or data frames of shape (n_rows, n_features)
            The groups, as for `fit`.

        Returns
        -------
        array of float32, shape (n_groups, n_partitions * sum of psi)
            Vectors of length 1; of length 0 if no row of a group is in any cell, which is possible
            with spheres.
        """
        check_is_fitted(self)
        points, sizes = stack_groups(X)
        check_width(points, self.n_features_in_, type(self).__name__)
        validate_data(self, _named(X, points), reset=False, skip_check_array=True)
        return self._vectors(points, sizes)

    def _fit(self, X: Any) -> tuple[Points, NDArray[np.int64]]:
        points, sizes = stack_groups(X)
        psi = max(2, min(PSI, points.shape[0] // CELL_ROWS))
        kernel = self.kernel or IsolationKernel(psi, n_partitions=PARTITIONS)
        if not isinstance(kernel, IsolationKernel) or kernel.metric == "precomputed":
            hint = "Pass for example IsolationKernel(psi=64)."
            raise ParameterError("kernel", "be an IsolationKernel of points", kernel, hint)
        kernel = clone(kernel)
        if kernel.random_state is None:
            kernel.set_params(random_state=self.random_state)
        kernel._has_cells()
        self.kernel_: IsolationKernel = kernel.fit(points)
        validate_data(self, _named(X, points), reset=True, skip_check_array=True)
        return points, sizes

    def _vectors(self, points: Points, sizes: NDArray[np.int64]) -> NDArray[np.float32]:
        n_groups, first = len(sizes), 0
        counts = np.empty((n_groups, self._n_features_out), np.float32)
        of_row = np.repeat(np.arange(n_groups), sizes)
        for cells, psi in zip(self.kernel_.cells_at_scales(points), self.kernel_.psi_, strict=True):
            for found in cells.T:  # psi: in no cell
                each = np.bincount(of_row * (psi + 1) + found, minlength=n_groups * (psi + 1))
                counts[:, first : first + psi] = each.reshape(n_groups, psi + 1)[:, :psi]
                first += psi
        # The length of the counts is also that of the mean, times the number of rows.
        lengths = np.sqrt(np.einsum("ij,ij->i", counts, counts, dtype=np.float64))
        counts /= np.where(lengths > 0, lengths, 1)[:, None]
        return counts

    @property
    def _n_features_out(self) -> int:
        return self.kernel_._n_features_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def stack_groups(groups: Any) -> tuple[Points, NDArray[np.int64]]:
    """Return the rows of all groups, validated, and the number of rows of each group."""
    if not isinstance(groups, list | tuple) and not _is_list(groups):
        points = check_points(groups)
        return points, np.ones(points.shape[0], np.int64)
    if not len(groups):
        raise DataError("X must have at least one group; got an empty list. Pass a list of groups.")
    parts = [_rows_of(group, number) for number, group in enumerate(groups)]
    columns = [(part.shape[1], *_columns(own)) for part, own in zip(parts, groups, strict=True)]
    for number, own in enumerate(columns):
        if own != columns[0]:
            raise DataError(
                "All groups must have the same columns in the same order; those of group "
                f"{number} (counting from 0) are not those of group 0. Pass the same columns."
            )
    stacked = csr_array(vstack(parts)) if any(map(issparse, parts)) else np.vstack(parts)
    return stacked, np.array([part.shape[0] for part in parts])


def _is_list(array: Any) -> bool:
    """Return whether an array holds groups: one with three dimensions, or a list of objects."""
    is_object = getattr(array, "dtype", None) == np.dtype(object)
    return isinstance(array, np.ndarray) and (array.ndim == 3 or (array.ndim == 1 and is_object))


def _columns(group: Any) -> list[str]:
    return list(map(str, getattr(group, "columns", ())))


def _rows_of(group: Any, number: int) -> Points:
    is_row = not hasattr(group, "columns") and np.ndim(group) == 1
    return check_points(np.atleast_2d(group) if is_row else group, name=f"Group {number}")


def _named(groups: Any, points: Points) -> Any:
    """Return what has the column names of groups: the groups, the first one, or just points."""
    if hasattr(groups, "columns"):
        return groups
    return groups[0] if isinstance(groups, list) and hasattr(groups[0], "columns") else points
