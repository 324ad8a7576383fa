"""Rows that join a fitted map: schedule, points, kernel of all rows, and rows that are far away."""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from isosne._random import as_generator
from isosne._types import Points
from isosne.errors import FarRowsWarning, ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.isolation import IsolationKernel
from isosne.kernels.monte_carlo import Partitions
from isosne.kernels.precomputed import PrecomputedKernel
from isosne.kernels.reservoir import grow_samples
from isosne.kernels.voronoi import VoronoiPartitions
from isosne.layout.schedules import STEADY_MOMENTUM, Schedule
from isosne.neighbors.search import Search

FAR_QUANTILE = 0.99
"""A row is far if its nearest fitted row is farther away than this share of the fitted rows have
their nearest neighbor. About 1 % of the rows of the same distribution are far by chance; of classes
that were left out, 20 to 75 % (docs/decisions/0017)."""

GATHERING = 4.0
"""Exaggeration at the start of an extension, relative to that of the last phase. Without it, new
rows push the map apart, and every extension makes it wider: of 3,000 digits after ten extensions
without a pull, AUC_RNX is 0.15 instead of 0.47. With 12, fitted rows move farther, and quality is
no better (docs/decisions/0017)."""


def gathering(n_iter: int, schedule: Schedule) -> Schedule:
    """Return the schedule of an extension in `n_iter` steps, without stop rules.

    In the first two fifths of the steps, exaggeration falls to that of the last phase of a fit, so
    that new rows find their neighbors; the others are like this last phase.
    """
    last = replace(schedule.phases[-1], n_iter=n_iter - 2 * n_iter // 5, stop=None)
    final = last.exaggeration if last.last_exaggeration is None else last.last_exaggeration
    first = replace(
        last,
        n_iter=n_iter - last.n_iter,
        exaggeration=GATHERING * final,
        last_exaggeration=final,
        momentum=STEADY_MOMENTUM if last.momentum is None else last.momentum,
    )
    last = replace(last, exaggeration=final, last_exaggeration=None)
    return replace(schedule, phases=(first, last))


def check_growing(kernel: MetricKernel, n_rows: int | None) -> None:
    """Raise an error if no rows can be added to a map: n_rows is that of landmarks' input."""
    if n_rows is not None:
        raise ParameterError(
            "landmarks",
            "be None to extend a map",
            hint="Rows are placed among landmarks with place; fit again to draw new landmarks.",
        )
    if kernel.metric == "precomputed" or isinstance(kernel, PrecomputedKernel):
        raise ParameterError(
            "kernel",
            "compare points; this one was fitted on precomputed distances or affinities",
            hint="Fit again with those of all points.",
        )


def joined(fitted: Points, added: Points) -> Points:
    """Return the fitted points, followed by those that are added."""
    if isinstance(fitted, csr_array) or isinstance(added, csr_array):
        whole = csr_array(vstack([csr_array(fitted), csr_array(added)], format="csr"))
        whole.sort_indices()
        return whole
    return np.concatenate([fitted, added])


def growth_rng(random_state: Any, n_before: int) -> np.random.Generator:
    """Return the generator of an extension, from the seed of the fit and the number of points.

    A seed that is not a number, which a model file does not hold, counts as 0.
    """
    seed = random_state if isinstance(random_state, int | np.integer) else 0
    return np.random.default_rng([int(seed), n_before])


def grown_kernel(kernel: MetricKernel, earlier: MetricKernel, points: Points) -> MetricKernel:
    """Return a kernel fitted to all points; drawn Voronoi samples of the earlier fit are kept.

    Samples stay uniform. Other kernels are fitted anew: closed forms sample nothing, and trees
    cannot be grown.
    """
    if not _keeps_samples(kernel, earlier):
        return kernel._fit_checked(points)
    assert isinstance(kernel, IsolationKernel)
    assert isinstance(earlier, IsolationKernel)
    kernel._check_comparable(points)
    rng, metric = as_generator(kernel.random_state), kernel._fit_metric(points)
    n, n_before = points.shape[0], earlier.X_fit_.shape[0]
    psis = np.atleast_1d(kernel.psi).tolist()  # the plan has resolved them
    partitions: list[Partitions] = []
    for psi, part in zip(psis, earlier.partitions_, strict=True):
        samples = grow_samples(part.samples, n_before, n, psi, rng)
        partitions.append(VoronoiPartitions(samples, points, metric))
    return kernel._restore(points, points, partitions)


def _keeps_samples(kernel: MetricKernel, earlier: MetricKernel) -> bool:
    if not isinstance(kernel, IsolationKernel) or not isinstance(earlier, IsolationKernel):
        return False
    parts, n_scales = earlier.partitions_, len(np.atleast_1d(kernel.psi))
    is_same = len(parts) == n_scales and len(parts[0].samples) == kernel.n_partitions
    return kernel.partition == "voronoi" and bool(parts) and is_same


def find_far_rows(search: Search, points: Points) -> NDArray[np.int64]:
    """Return the indices of points that are far from every point of the search."""
    own = search.neighbors(1).distances[:, 0]
    _, distances = search.nearest(points, 1)
    return np.flatnonzero(distances[:, 0] > np.quantile(own, FAR_QUANTILE))


def are_many_far(n_far: int, n_rows: int, n_fitted: int) -> bool:
    """Return whether more rows are far than chance explains.

    Three standard deviations are allowed for the quantile, which n_fitted rows estimate, and for
    the number of rows beyond it.
    """
    share = 1 - FAR_QUANTILE
    most = n_rows * (share + 3 * math.sqrt(share / n_fitted))
    return n_far > most + 3 * math.sqrt(most) + 1


def describe_far(n_far: int, n_rows: int) -> str:
    """Return the number of far rows and what it means, as the beginning of a sentence."""
    return (
        f"{n_far:,} of {n_rows:,} new rows are farther from every fitted row than "
        f"{100 * FAR_QUANTILE:g} % of the fitted rows are from their nearest neighbor; about "
        f"{(1 - FAR_QUANTILE) * n_rows:,.0f} are expected. Their places on the map may be arbitrary"
    )


def warn_of_far_rows(n_far: int, n_rows: int, n_fitted: int) -> None:
    """Warn if more rows are far than chance explains."""
    if are_many_far(n_far, n_rows, n_fitted):
        sentence = f"{describe_far(n_far, n_rows)}; far_ has their indices."
        warnings.warn(sentence, FarRowsWarning, stacklevel=3)
