"""The trust of placed rows, relative to the landmarks of a map."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._checks import check_points
from isosne._numba import threads
from isosne._types import Array
from isosne.neighbors.metric import Metric
from isosne.neighbors.search import has_approximate_search, make_search
from isosne.sources.row_source import RowSource
from isosne.tsne.estimator import TSNE

EVERY = 16
"""One row of this many is evaluated. Chosen: an evaluation takes about as long as placing a row."""
MOST_EXACT = 4_000
"""Largest number of landmarks for an exact search, as in placing (decision 14)."""
N_NEIGHBORS = 10
"""Number of landmarks that are compared, as in `isosne.quality.trust`."""


class LandmarkTrust:
    """Trust of every 16th row, relative to the landmarks of a model.

    The trust of a row is the fraction of its ten nearest landmarks in the data that are among its
    ten nearest landmarks on the map. It needs no other rows, so its cost per row is constant.
    """

    def __init__(self, model: TSNE) -> None:
        points, metric = model.kernel_.X_fit_, model.kernel_.metric_
        can = has_approximate_search(metric.name, is_sparse=isinstance(points, csr_array))
        is_large = points.shape[0] > MOST_EXACT
        self._model = model
        self._k = min(N_NEIGHBORS, points.shape[0])
        self._in_data = make_search(points, metric, "approximate" if can and is_large else "exact")
        on_map = "approximate" if is_large else "exact"
        self._on_map = make_search(model.embedding_, Metric("euclidean"), on_map)

    def of_rows(self, rows: RowSource, first: int, Y: Array) -> NDArray[np.float64]:
        """Return the trust of the rows from `first` on, placed at Y; NaN for most of them."""
        trust = np.full(len(Y), np.nan)
        chosen = np.arange(-first % EVERY, len(Y), EVERY)
        if len(chosen) == 0:
            return trust
        points = check_points(self._model._open_new(rows).take(first + chosen))
        with threads(self._model.n_jobs):
            in_data, _ = self._in_data.nearest(points, self._k)
            on_map, _ = self._on_map.nearest(np.ascontiguousarray(Y[chosen]), self._k)
        shared = (in_data[:, :, None] == on_map[:, None, :]).any(axis=2)
        trust[chosen] = shared.mean(axis=1)
        return trust
