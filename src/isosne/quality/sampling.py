"""Sampling of query points, and the standard error of a mean over a sample.

Neighborhood measures are means over points. Above `EXACT_LIMIT` points the mean is estimated from
a sample drawn without replacement.
"""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._random import RandomState, as_generator
from isosne._types import Array
from isosne.errors import keyword

EXACT_LIMIT = 20_000
"""Largest number of points that are all evaluated by default; chosen, not measured."""
SAMPLE_SIZE = 2_000
"""Default sample above the limit; measured: standard error 0.0011 (docs/benchmarks.md)."""


class Estimate(float):
    """A mean over points: a float with a standard error.

    Parameters
    ----------
    value : float
        The mean.
    standard_error : float, default=0.0
        Standard error of the mean; zero if all points were evaluated.
    n_queries : int, default=0
        Number of evaluated points.

    Examples
    --------
    >>> from isosne.quality import Estimate
    >>> accuracy = Estimate(0.9712, 0.0031, 2000)
    >>> accuracy > 0.95
    True
    >>> print(accuracy)
    0.9712 +- 0.0031
    """

    __slots__ = ("_n_queries", "_standard_error")
    _n_queries: int
    _standard_error: float

    def __new__(cls, value: float, standard_error: float = 0.0, n_queries: int = 0) -> Self:
        """Store the value, its standard error and the number of evaluated points."""
        self = super().__new__(cls, value)
        self._standard_error = float(standard_error)
        self._n_queries = int(n_queries)
        return self

    @property
    def value(self) -> float:
        """The mean as a plain float."""
        return float(self)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; zero if all points were evaluated."""
        return self._standard_error

    @property
    def n_queries(self) -> int:
        """Number of evaluated points."""
        return self._n_queries

    def __getnewargs__(self) -> tuple[float, float, int]:  # type: ignore[override]
        return self.value, self.standard_error, self.n_queries

    def __repr__(self) -> str:
        return (
            f"Estimate({self.value!r}, standard_error={self.standard_error!r}, "
            f"n_queries={self.n_queries})"
        )

    def __str__(self) -> str:
        error = f" +- {self.standard_error:.2g}" if self.standard_error else ""
        return f"{self.value:.4f}{error}"


def choose_queries(n: int, n_queries: Any, random_state: RandomState) -> NDArray[np.int64]:
    """Return the indices of the points to evaluate, in ascending order: all, or a sample."""
    generator = as_generator(random_state)
    if n_queries is None or (isinstance(n_queries, str) and n_queries == "auto"):
        n_queries = n if n <= EXACT_LIMIT else SAMPLE_SIZE
    hint = (
        f"Use {keyword('n_queries', None)} for all points up to {EXACT_LIMIT:,}, and a sample of "
        f"{SAMPLE_SIZE:,} otherwise."
    )
    size = check_count(n_queries, "n_queries", low=2, high=n, hint=hint)
    if size == n:
        return np.arange(n)
    return np.sort(generator.choice(n, size, replace=False))


def estimate_mean(values: Array, n: int, mean: float | None = None) -> Estimate:
    """Estimate the mean over n points from the values at q of them.

    ``mean`` replaces the mean of the values if a more accurate one is known. The standard error
    includes the finite population correction 1 - q / n.
    """
    q = len(values)
    correction = 1 - q / n
    error = math.sqrt(correction * float(np.var(values, ddof=1)) / q) if q < n else 0.0
    return Estimate(float(np.mean(values)) if mean is None else mean, error, q)
