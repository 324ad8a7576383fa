"""IsolationOutliers, the public estimator."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne import _checks as checks
from isosne._numba import threads
from isosne._random import RandomState
from isosne._types import Points
from isosne.errors import DataError, ParameterError
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.monte_carlo import cell_masses, mean_masses

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
    kernel_ : IsolationKernel
        The spheres: a fitted kernel with ``partition="spheres"``, of which the score is the
        `density`.

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
        self._refuse_stored_distances(points)
        kernel = IsolationKernel(
            min(self.psi, points.shape[0]),
            n_partitions=self.n_partitions,
            partition="spheres",
            metric=self.metric,
            p=self.p,
            random_state=self.random_state,
        )
        with threads(self.n_jobs):
            kernel.fit_checked(points)
            cells = kernel.cells()
        masses = cell_masses(cells, *kernel.psi_)
        scores, share = mean_masses(cells, masses), self.contamination
        if isinstance(share, str):
            self.offset_ = AUTO_SHARE * float(np.median(scores))
        else:
            self.offset_ = float(np.percentile(scores, 100 * share))
        self.kernel_, self._masses = kernel, masses
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
        with threads(self.n_jobs):
            return mean_masses(self.kernel_.cells(points), self._masses)

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

    def _refuse_stored_distances(self, points: Points) -> None:
        if self.metric == "precomputed" and isinstance(points, csr_array):
            raise DataError(
                "Precomputed distances must be dense, because samples are compared with all "
                "points; got a sparse matrix. Pass X.toarray() if it stores all of them."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
