"""Which points a measure is taken at, and what a sample of them says about all.

Measures of neighborhoods are means over points. Above `EXACT_LIMIT` points the mean is taken over
a sample, drawn without replacement, and comes with its standard error.
"""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count
from isosne._random import RandomState, as_generator
from isosne._types import Array

EXACT_LIMIT = 20_000
"""Points up to which every point is a query unless the caller says otherwise."""
SAMPLE_SIZE = 2_000


class Estimate(float):
    """A mean over points: a float that knows how far a sample may have led it astray.

    Parameters
    ----------
    value : float
        The mean.
    standard_error : float, default=0.0
        Standard deviation of the mean over samples; zero where every point was asked.
    n_queries : int, default=0
        Number of points that the mean was taken over.

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
        """Keep the value, and what is known of it."""
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
        """Standard deviation of the mean over samples; zero where every point was asked."""
        return self._standard_error

    @property
    def n_queries(self) -> int:
        """Number of points that the mean was taken over."""
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
    """Return the indices of the points to ask, in ascending order: all of them, or a sample."""
    generator = as_generator(random_state)
    if n_queries is None or (isinstance(n_queries, str) and n_queries == "auto"):
        n_queries = n if n <= EXACT_LIMIT else SAMPLE_SIZE
    hint = "None asks every point up to 20,000, and 2,000 of them beyond."
    size = check_count(n_queries, "n_queries", low=2, high=n, hint=hint)
    if size == n:
        return np.arange(n)
    return np.sort(generator.choice(n, size, replace=False))


def estimate_mean(values: Array, n: int, mean: float | None = None) -> Estimate:
    """Return the mean of the values at some of n points, with its standard error.

    ``mean`` may give the mean itself where a more accurate one is at hand.
    """
    q = len(values)
    left_out = 1 - q / n
    error = math.sqrt(left_out * float(np.var(values, ddof=1)) / q) if q < n else 0.0
    return Estimate(float(np.mean(values)) if mean is None else mean, error, q)
