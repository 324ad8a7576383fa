"""IsolationOutliers, the public estimator."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne import _checks as checks
from isosne._blocks import for_each_block
from isosne._numba import kernel, threads
from isosne._random import RandomState, as_generator
from isosne._types import Array, Points
from isosne.errors import DataError, ParameterError
from isosne.kernels.monte_carlo import distinct
from isosne.neighbors.distances import exact_set
from isosne.neighbors.metric import Metric

AUTO_SHARE = 0.25
"""Score of an outlier with ``contamination="auto"``, relative to the median score (chosen)."""


class IsolationOutliers(OutlierMixin, BaseEstimator):
    """Outlier detection with the isolation distributional kernel.

    The score of a point is its similarity to the data set as a whole: the fraction of the data that
    lies in the same random sphere, on average over many partitionings. Spheres are small where the
    data are dense. Outliers have low scores.

    Parameters
    ----------
    psi : int, default=12
        Number of points per sample, at least 2. A larger psi gives smaller spheres and a more local
        score. At most n_samples are drawn.
    n_partitions : int, default=100
        Number of random samples.
    contamination : "auto" or float, default="auto"
        Fraction of the fitted points that are outliers, above 0 and up to 0.5. It sets the
        threshold ``offset_``. "auto": a quarter of the median score.
    metric : str, default="euclidean"
        As for `IsolationKernel`.
    p : float, default=2.0
        Power of the Minkowski distance.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the samples.
    n_jobs : int or None, default=None
        Number of threads; None: Numba's number. The scores do not depend on it.

    Attributes
    ----------
    offset_ : float
        Score below which a point is an outlier.
    samples_ : array of int64, shape (n_partitions, psi)
        Indices of the sampled points.
    masses_ : array of float64, shape (n_partitions, psi)
        Fraction of the fitted points in each sphere.

    Notes
    -----
    The score is that of Ting, Xu, Washio and Zhou, "Isolation distributional kernel" (KDD 2020):
    the inner product of the feature map of the point with the mean feature map of the data, divided
    by the number of partitionings.

    Cost: O(n m d) time for m distinct sampled points, at most psi * n_partitions, and 2 bytes per
    point and partitioning.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne import IsolationOutliers
    >>> X = np.r_[np.random.default_rng(0).normal(size=(99, 2)), [[9.0, 9.0]]]
    >>> found = IsolationOutliers(random_state=0).fit(X)
    >>> int(found.score_samples(X).argmin()), int(found.predict([[9.0, 9.0]])[0])
    (99, -1)
    """

    def __init__(
        self,
        psi: int = 12,
        *,
        n_partitions: int = 100,
        contamination: float | str = "auto",
        metric: str = "euclidean",
        p: float = 2.0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.psi = psi
        self.n_partitions = n_partitions
        self.contamination = contamination
        self.metric = metric
        self.p = p
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the samples and measure their spheres.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points; with ``metric="precomputed"``, their distances.
        y : None
            Ignored.

        Returns
        -------
        IsolationOutliers
            The fitted estimator.
        """
        self._check_parameters()
        points = checks.check_points(X, min_rows=2)
        self._check_comparable(points)
        n, psi = points.shape[0], min(self.psi, points.shape[0])
        rng = as_generator(self.random_state)
        draws = [rng.choice(n, psi, replace=False, shuffle=False) for _ in range(self.n_partitions)]
        self.samples_ = np.sort(draws, axis=1)
        with threads(self.n_jobs):
            metric = Metric(self.metric, self.p).fitted(points)
            self._spheres = Spheres(self.samples_, points, metric)
            spheres = self._spheres.find(points)
        counts = [np.bincount(found[found >= 0], minlength=psi) for found in spheres.T]
        self.masses_ = np.stack(counts) / n
        scores, share = mean_masses(spheres, self.masses_), self.contamination
        if isinstance(share, str):
            self.offset_ = AUTO_SHARE * float(np.median(scores))
        else:
            self.offset_ = float(np.percentile(scores, 100 * share))
        validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of points, which may be new.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n, n_features)
            The points; with ``metric="precomputed"``, their distances to the fitted points.

        Returns
        -------
        array of float64, shape (n,)
            Values from 0 to 1; the lower, the more abnormal.
        """
        check_is_fitted(self)
        points = checks.check_points(X)
        checks.check_width(points, self.n_features_in_, type(self).__name__)
        validate_data(self, X, reset=False, skip_check_array=True)
        checks.check_for_metric(points, self.metric)
        with threads(self.n_jobs):
            return mean_masses(self._spheres.find(points), self.masses_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of points less the threshold ``offset_``: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return for each point whether it is an outlier: -1 for outliers, 1 for the others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _check_parameters(self) -> None:
        checks.check_metric(self.metric, self.p)
        hint = "Samples of 4 to 32 points are usual."
        checks.check_count(self.psi, "psi", low=2, hint=hint)
        hint = "100 partitionings give scores that vary little with the seed."
        checks.check_count(self.n_partitions, "n_partitions", low=1, high=100_000, hint=hint)
        share = self.contamination
        is_share = checks.is_number(share) and 0 < share <= 0.5  # type: ignore[operator]
        if not is_share and not checks.is_one_of(share, ("auto",)):
            rule = "be 'auto' or a fraction above 0 and up to 0.5"
            raise ParameterError("contamination", rule, share, "0.05 marks 5 % of the points.")

    def _check_comparable(self, points: Points) -> None:
        checks.check_for_metric(points, self.metric)
        if self.metric != "precomputed":
            return
        if isinstance(points, csr_array):
            raise DataError(
                "Precomputed distances must be dense, because samples are compared with all "
                "points; got a sparse matrix. Pass X.toarray() if it stores all of them."
            )
        checks.check_square_distances(points)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


BLOCK_ROWS = 256
"""Points that are compared with all sampled points at a time (chosen)."""
OUTSIDE = -1
"""In place of a sphere: the point lies in none."""


class Spheres:
    """The spheres of samples (t, psi) of the fitted points X, of which only these are stored.

    The indices of a sample ascend, so that ties go to the lower index.
    """

    def __init__(self, samples: NDArray[np.int64], X: Points, metric: Metric) -> None:
        sampled, self._members = distinct(samples, X.shape[0])
        self._search = exact_set(X, metric, sampled)
        self._radii = np.empty(samples.shape)
        for sample, members, radii in zip(samples, self._members, self._radii, strict=True):
            search = self._search.subset(members)
            keys = search.keys(search.query(X[sample], slice(None)), slice(None)).copy()
            np.fill_diagonal(keys, np.inf)  # the point itself
            radii[:] = keys.min(axis=1)

    def find(self, X: Points) -> NDArray[np.signedinteger]:
        """Return the sphere (n, n_partitions) of each point in each partitioning, or OUTSIDE."""
        n_partitions, psi = self._members.shape
        dtype = np.int16 if psi < 2**15 else np.int32
        spheres = np.empty((X.shape[0], n_partitions), dtype)

        def work(rows: slice) -> None:
            search = self._search
            keys = search.keys(search.query(X, rows), slice(0, search.n_points))
            nearest_spheres(keys, self._members, self._radii, spheres[rows])

        for_each_block(len(spheres), BLOCK_ROWS, work)
        return spheres


@kernel
def nearest_spheres(keys: Array, members: Array, radii: Array, spheres: Array) -> None:
    """Fill spheres[i, p] with the member c of sample p nearest to point i, or OUTSIDE.

    Shapes: keys (n, m), members (t, psi) columns of keys, radii (t, psi), spheres (n, t),
    overwritten. O(n t psi) time.
    """
    for i in range(keys.shape[0]):
        for p in range(members.shape[0]):
            nearest, best = 0, keys[i, members[p, 0]]
            for c in range(1, members.shape[1]):
                key = keys[i, members[p, c]]
                if key < best:
                    nearest, best = c, key
            spheres[i, p] = nearest if best <= radii[p, nearest] else OUTSIDE


def mean_masses(spheres: Array, masses: Array) -> NDArray[np.float64]:
    """Return the mean mass (t, psi) of the spheres (n, t) of each point; OUTSIDE has none."""
    means = np.zeros(len(spheres))
    for found, mass in zip(spheres.T, masses, strict=True):
        means += np.where(found == OUTSIDE, 0.0, mass[found])
    return means / len(masses)
