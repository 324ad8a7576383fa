"""Is the structure real? Comparison with data of the same columns, but without joint structure.

A random walk on the joint probabilities P is back at its first point after N_STEPS steps with a
probability that is high where groups of points are closed to the others, and low where the walk
spreads over all of the data. The sum over all points is the number of groups, if they are closed,
and 1 if there are none. Null data are drawn from the sampled rows, and go through the same steps:
kernel, P, walk. A map is not computed, so its randomness plays no part.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.special import ndtri
from scipy.stats import rankdata

from isosne._blocks import single_threaded_blas
from isosne._checks import check_count, check_points, is_one_of
from isosne._html import pairs_table
from isosne._numba import threads
from isosne._random import RandomState, as_generator
from isosne._types import Array, Points
from isosne.affinities.sparse import as_sparse
from isosne.errors import ParameterError, keyword, suggest
from isosne.kernels.base import MetricKernel
from isosne.kernels.registry import as_kernel
from isosne.neighbors.distances import search_set
from isosne.neighbors.exact import nearest
from isosne.tsne.estimator import TSNE
from isosne.tsne.fit import joint_probabilities

N_STEPS = 64
"""Steps of the random walk, a power of two (decision 18: fewer miss large clusters)."""
LEVEL = 0.05
"""Level of the test, and of the p-values of points."""
MOST_DRAWS = 100_000
"""Largest number of draws; the smallest p-value is then 1e-5 (chosen)."""
DECIMALS = 9
"""Decimals of the figures that are compared; rounding errors of a walk are below 1e-11."""
KEEPS = ("auto", "columns", "correlations")
SHARED = {
    "columns": "the same columns, but independent of each other",
    "correlations": "the same columns and correlations, but no other structure",
}
"""What null data have in common with the data, in a sentence."""
Draw = Callable[[np.random.Generator], Points]
"""Returns null data."""


class Walk(NamedTuple):
    """The sum of the return probabilities, and these divided by the share of each point in P."""

    n_groups: float
    lifts: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NullTest:
    """Result of `null_test`.

    ``p_value``: share of draws, with the data among them, whose statistic is at least that of the
    data. ``statistic``: sum of the return probabilities of the data, from 1 if there are no
    groups of points that a random walk does not leave, to the number of such groups;
    ``null_statistics`` (n_draws,): the same for each draw. ``point_p_values`` (n_samples,): for
    each point, the share of null points with a region at least as closed; low values mark
    regions that null data do not have. ``point_share``: share of the sampled points with a
    p-value of at most 0.05; about 0.05 for null data. ``n_rows``: number of rows that were
    sampled. ``keep``: "columns" or "correlations".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from isosne.structure import null_test
    >>> null_test(scale(load_wine().data), n_draws=19, random_state=0).is_real
    True
    """

    p_value: float
    statistic: float
    null_statistics: NDArray[np.float64]
    point_p_values: NDArray[np.float64]
    point_share: float
    n_rows: int
    keep: str

    @property
    def is_real(self) -> bool:
        """Whether the p-value is at most 0.05."""
        return self.p_value <= LEVEL

    def _repr_html_(self) -> str:
        rows = {"p-value": self.p_value, "statistic": self.statistic}
        rows |= {"null data, median": np.median(self.null_statistics), "rows": self.n_rows}
        found = [(name, f"{value:.4g}") for name, value in rows.items()]
        return pairs_table([*found, ("null data have", SHARED[self.keep]), ("result", str(self))])

    def __repr__(self) -> str:
        n_as_high = int(np.sum(self.null_statistics >= self.statistic))
        found = "More clustered than by chance" if self.is_real else "No evidence of clusters"
        are = "are" if n_as_high > 1 else "is"
        return (
            f"{found} (p = {self.p_value:.2g}): of {len(self.null_statistics)} random data sets "
            f"with {SHARED[self.keep]}, {n_as_high or 'none'} {are} as clustered as the data. "
            f"{self.point_share:.0%} of the points lie in regions that are more self-contained "
            "than those of 95% of the points in the random data sets."
        )


def null_test(
    X: Any,
    kernel: Any = "owner",
    *,
    n_draws: int = 19,
    keep: str = "auto",
    n_rows: int = 1000,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> NullTest:
    """Test whether data are more clustered than data without joint structure.

    Parameters
    ----------
    X : array, CSR or data frame of shape (n_samples, n_features)
        The points, scaled as for the map.
    kernel : str, kernel or TSNE, default="owner"
        Kernel of the map, or its settings.
    n_draws : int, default=19
        Number of draws of null data. The smallest p-value is ``1 / (n_draws + 1)``.
    keep : {"auto", "columns", "correlations"}, default="auto"
        What null data have in common with the data. "columns": the values of each column, permuted
        independently of the other columns. "correlations": the same, ordered so that the rank
        correlations of the columns are those of the data; needs dense points. "auto":
        "correlations", or "columns" for CSR.
    n_rows : int, default=1000
        Largest number of rows to compare; more rows are sampled.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample, the null data and the kernels.
    n_jobs : int or None, default=None
        Number of threads; None: Numba's number. The result does not depend on it.

    Returns
    -------
    NullTest
        The p-value, and a p-value per point; ``print`` shows a summary.

    Notes
    -----
    With "columns", any dependence between columns counts as structure, also that of a single
    correlated Gaussian; the test is exact. With "correlations", null data are a Gaussian
    copula; the test is approximate (docs/structure.md has its false positive rates), and
    clusters that are visible in a single column alone do not count.

    The p-values of points are not corrected for their number. Rows that were not sampled have the
    p-value of the nearest sampled row.

    Cost: ``n_draws + 1`` times steps 1 and 2 of `TSNE` and O(n^3) time, for n = n_rows, and
    memory for three n x n matrices: less than 1 s each for 1000 rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne.structure import null_test
    >>> null_test(load_iris().data).is_real
    True
    """
    if isinstance(kernel, TSNE):
        kernel = kernel.kernel
    points = check_points(X, min_rows=4)
    hint = "19 draws suffice for a test at the 5 % level."
    check_count(n_draws, "n_draws", low=1, high=MOST_DRAWS, hint=hint)
    check_count(n_rows, "n_rows", low=4, hint="1000 rows are usual.")
    keep = _resolve_keep(keep, points)
    rng = as_generator(random_state)
    own = as_kernel(kernel, min(n_rows, points.shape[0]), rng)
    _check_columns(own)
    sampled = np.arange(points.shape[0])
    if len(sampled) > n_rows:
        sampled = np.sort(rng.choice(len(sampled), n_rows, replace=False))
    rows = points[sampled]
    draw = _correlated(rows) if keep == "correlations" else _permuted(rows)
    with threads(n_jobs):
        found = _walk(rows, kernel, int(rng.integers(2**31)))
        null = [_walk(draw(rng), kernel, int(rng.integers(2**31))) for _ in range(n_draws)]
        of_row: Any = ...
        if len(sampled) < points.shape[0]:
            of_row = nearest(points, search_set(rows, own.fit_metric(rows)), 1)[0][:, 0]
    null_statistics = np.array([walk.n_groups for walk in null])
    p_values = _upper_share(found.lifts, np.concatenate([walk.lifts for walk in null]))
    return NullTest(
        p_value=float(_upper_share(np.array(found.n_groups), null_statistics)),
        statistic=found.n_groups,
        null_statistics=null_statistics,
        point_p_values=p_values[of_row],
        point_share=float(np.mean(p_values <= LEVEL)),
        n_rows=len(sampled),
        keep=keep,
    )


def _resolve_keep(keep: str, points: Points) -> str:
    if not is_one_of(keep, KEEPS):
        rule = f"be one of {', '.join(map(repr, KEEPS))}"
        hint = suggest(keep, KEEPS, "'columns' permutes each column.")
        raise ParameterError("keep", rule, keep, hint)
    is_sparse = isinstance(points, csr_array)
    if keep == "correlations" and is_sparse:
        rule = "be 'columns' for a sparse matrix"
        raise ParameterError("keep", rule, keep, f"Pass {keyword('keep', 'columns')}.")
    if keep == "auto":
        return "columns" if is_sparse else "correlations"
    return keep


def _check_columns(kernel: MetricKernel) -> None:
    if "precomputed" in (kernel.metric, type(kernel).__name__.removesuffix("Kernel").lower()):
        rule = "compare points by their columns, which are permuted"
        hint = "Pass points instead of distances or affinities."
        raise ParameterError("kernel", rule, kernel, hint)


def _permuted(rows: Points) -> Draw:
    """Return draws of the columns, each permuted independently."""
    if not isinstance(rows, csr_array):
        return lambda rng: rng.permuted(rows, axis=0)
    columns = rows.tocsc()
    n, sizes = rows.shape[0], np.diff(columns.indptr)

    def draw(rng: np.random.Generator) -> csr_array:
        places = [rng.choice(n, size, replace=False) for size in sizes]
        shuffled = np.concatenate([*places, np.empty(0, np.int64)])
        found = csr_array(csc_array((columns.data, shuffled, columns.indptr), shape=rows.shape))
        found.sort_indices()
        return found

    return draw


def _correlated(rows: Array) -> Draw:
    """Return draws of the columns, ordered as normal variables with the correlations of the data.

    A product of the normal scores with independent normal numbers has their covariance, without
    a decomposition.
    """
    n = len(rows)
    scores = ndtri((rankdata(rows, axis=0) - 0.5) / n)
    scores -= scores.mean(axis=0)
    ordered = np.sort(rows, axis=0)

    def draw(rng: np.random.Generator) -> Array:
        with single_threaded_blas():
            latent = rng.standard_normal((n, n)) @ scores
        ranks = np.argsort(np.argsort(latent, axis=0, kind="stable"), axis=0, kind="stable")
        found: Array = np.take_along_axis(ordered, ranks, axis=0)
        return found

    return draw


def _walk(points: Points, kernel: Any, seed: int) -> Walk:
    """Return the number of closed groups, and for each point how closed its region is.

    The powers of the balanced matrix W, p_ij / sqrt(p_i p_j), have the return probabilities on
    their diagonals. W is symmetric, so the diagonal of W^64 has the sums of squares of the rows of
    W^32. A walk that has forgotten its first point i is there with probability p_i.
    """
    joint = as_sparse(joint_probabilities(points, kernel, random_state=seed).joint)
    n = points.shape[0]
    P = csr_array((joint.data.astype(np.float64), joint.indices, joint.indptr), shape=(n, n))
    W = P.toarray()
    sums = W.sum(axis=1)
    sums = np.where(sums > 0, sums, 1)  # a point without affinities is a group of its own
    W /= np.sqrt(sums)[:, None]
    W /= np.sqrt(sums)
    with single_threaded_blas():  # the result does not depend on the number of threads
        for _ in range(int(math.log2(N_STEPS)) - 1):
            W = W @ W
    chances = np.einsum("ij,ij->i", W, W)
    return Walk(round(math.fsum(chances), DECIMALS), (chances / sums).round(DECIMALS))


def _upper_share(values: Array, null: Array) -> NDArray[np.float64]:
    """Return the share of null values, with the value among them, at least as large as each."""
    n_below = np.searchsorted(np.sort(null), values, side="left")
    return (1 + len(null) - n_below) / (1 + len(null))
