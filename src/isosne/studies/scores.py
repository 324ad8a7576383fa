"""Measures of repeated maps: one set of scores per map, their means, and which map is better."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from scipy.special import stdtrit

from isosne.quality import Report, Trust
from isosne.quality.inputs import estimate_mean

LEVEL = 0.05
"""Level of the test: of two kernels with equal maps, one wins in this share of the rows."""
MIN_ERRORS = 2.0
"""Standard errors that a difference must exceed in any case.

They are not enough for few seeds, whose standard errors are uncertain themselves. Measured on wine,
with the Gaussian and the isolation kernel compared with themselves: with 2, 3 and 5 seeds, 17, 11
and 8 % of the rows had a winner. With Welch's t-test, 3 to 4 % have one.
"""


class Scores(NamedTuple):
    """The measures of one map, without its curve and its trust per point.

    A few numbers, so that repeated maps need no memory. Class measures are NaN without classes.
    """

    auc_rnx: float
    auc_small: float
    auc_medium: float
    auc_large: float
    neighbors_preserved: float
    trustworthiness: float
    continuity: float
    davies_bouldin: float
    calinski_harabasz: float
    knn_accuracy: float


def score(measured: Report, trust: Trust) -> Scores:
    """Return the scores of a map that was measured."""
    classes = measured.classes
    return Scores(
        auc_rnx=measured.auc_rnx,
        auc_small=measured.comparison.auc("small"),
        auc_medium=measured.comparison.auc("medium"),
        auc_large=measured.comparison.auc("large"),
        neighbors_preserved=estimate_mean(trust.agreement, measured.n_points),
        trustworthiness=measured.trustworthiness,
        continuity=measured.continuity,
        davies_bouldin=classes.davies_bouldin if classes else math.nan,
        calinski_harabasz=classes.calinski_harabasz if classes else math.nan,
        knn_accuracy=classes.knn_accuracy if classes else math.nan,
    )


class Mean(NamedTuple):
    """The mean of a measure over repeated maps, and the two parts of its standard error.

    ``seed_error``: from the variation between the maps, which falls with their number; 0 for one
    map. ``sampling_error``: from the sample of points, which is the same for all maps; 0 if all
    points were evaluated.
    """

    value: float
    seed_error: float = 0.0
    sampling_error: float = 0.0
    n_maps: int = 1

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return math.hypot(self.seed_error, self.sampling_error)


def average(values: Sequence[float]) -> Mean:
    """Return the mean of a measure over repeated maps; values may have a sampling error."""
    n = len(values)
    numbers = [float(value) for value in values]
    seed_error = statistics.stdev(numbers) / math.sqrt(n) if n > 1 else 0.0
    sampling = [getattr(value, "standard_error", 0.0) ** 2 for value in values]
    return Mean(statistics.mean(numbers), seed_error, math.sqrt(statistics.mean(sampling)), n)


def find_better(means: Sequence[Mean], *, is_lower_better: bool = False) -> int | None:
    """Return the index of the best mean; None for one map, or if the second best ties with it."""
    if len(means) == 1:
        return None
    sign = 1 if is_lower_better else -1
    order = sorted(range(len(means)), key=lambda m: sign * means[m].value)
    first, second = (means[m] for m in order[:2])
    return order[0] if _differ(first, second) else None


def _differ(first: Mean, second: Mean) -> bool:
    """Return whether two means differ clearly, by Welch's t-test.

    The sampling error counts as known. It is not reduced for maps that are evaluated at the same
    points, so the test is conservative there.
    """
    error = math.hypot(first.standard_error, second.standard_error)
    # Degrees of freedom after Welch and Satterthwaite: of the variances that were estimated.
    uncertain = [
        mean.seed_error**4 / (mean.n_maps - 1) for mean in (first, second) if mean.seed_error
    ]
    needed = MIN_ERRORS
    if uncertain:
        needed = max(needed, float(stdtrit(error**4 / math.fsum(uncertain), 1 - LEVEL / 2)))
    return abs(first.value - second.value) > needed * error
