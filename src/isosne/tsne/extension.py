"""Extension of a map: new rows join the fitted rows, and rows that are far from all are found."""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from isosne._checks import is_integer
from isosne._types import Points
from isosne.errors import FarRowsWarning, ParameterError
from isosne.kernels.base import MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.kernels.labels import unknown_labels
from isosne.layout.anchors import Anchors
from isosne.layout.schedules import FALLING_MOMENTUM, Schedule
from isosne.neighbors.search import Search
from isosne.tsne.fit import Job
from isosne.tsne.input import Input
from isosne.tsne.place import fitted_search
from isosne.tsne.plan import schedule_of

N_ITER, EXTEND_STRENGTH = 250, 30.0
"""Steps of an extension, and strength of the pull on the fitted rows: of 3, 10 and 30, it keeps the
most quality over many extensions, because it also holds the width of the map
(docs/decisions/0017)."""
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
        momentum=min(last.momentum, FALLING_MOMENTUM),
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


def extension_job(model: Any, added: Points, n_iter: int, strength: float) -> Job:
    """Return the job that adds points to the map of a model, which is enlarged for them.

    Random numbers follow from the seed of the fit and the number of points; a seed that is not a
    number, which a model file does not hold, counts as 0.
    """
    kernel, n = model.kernel_, len(model.embedding_)
    scale = math.sqrt(1 + added.shape[0] / n)
    places = np.asarray(scale * model.embedding_, np.float32)
    seed = model.plan_.parameters["random_state"]
    schedule = gathering(n_iter, schedule_of(model.schedule, model.exaggeration))
    own = {"schedule": schedule, "exaggeration": None, "start": "auto", "random_state": seed}
    labels = getattr(kernel, "labels_", None)
    if labels is not None:
        labels = np.r_[labels, unknown_labels(labels, added.shape[0])]
    weights = getattr(kernel, "weights_", None)
    if weights is not None:
        weights = np.r_[weights, np.ones(added.shape[0])]
    return Job(
        Input(_joined(kernel.X_fit_, added), kernel),
        model.get_params(deep=False) | own,
        np.random.default_rng([seed if is_integer(seed) else 0, n]),
        Anchors(np.arange(n), places, strength, scale),
        n + find_far_rows(fitted_search(model), added),
        labels,
        weights,
    )


def _joined(fitted: Points, added: Points) -> Points:
    """Return the fitted points, followed by those that are added."""
    if isinstance(fitted, csr_array) or isinstance(added, csr_array):
        whole = csr_array(vstack([csr_array(fitted), csr_array(added)], format="csr"))
        whole.sort_indices()
        return whole
    return np.concatenate([fitted, added])


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
        f"{n_far:,} of {n_rows:,} new rows are farther from their nearest fitted row than "
        f"{100 * FAR_QUANTILE:g} % of the fitted rows are from theirs; about "
        f"{(1 - FAR_QUANTILE) * n_rows:,.0f} are expected. Their positions may be arbitrary"
    )


def warn_of_far_rows(n_far: int, n_rows: int, n_fitted: int) -> None:
    """Warn if more rows are far than chance explains."""
    if are_many_far(n_far, n_rows, n_fitted):
        sentence = f"{describe_far(n_far, n_rows)}; far_ has their indices."
        warnings.warn(sentence, FarRowsWarning, stacklevel=3)
