"""Maps in a series: rows are held near their places on a previous map, or join a fitted map."""

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from isosne._checks import check_number, check_points, is_one_of
from isosne._matching import as_ids, check_ids, match_ids
from isosne._types import Array, Points
from isosne.errors import DataError, FarRowsWarning, ParameterError, keyword
from isosne.kernels.base import MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.layout.anchors import Anchors
from isosne.layout.schedules import FALLING_MOMENTUM, Schedule
from isosne.neighbors.exact import Search

STRENGTH = 10.0
"""Default strength. From map to map, rows move by 6 to 8 % of the radius instead of 20 to 40 %, and
AUC_RNX falls by at most 1.5 % (docs/decisions/0017)."""
LARGEST_STRENGTH = 1e9
"""Largest strength; rows do not move any more from 1e5 on (chosen)."""
SMALLEST_SCALE, LARGEST_SCALE = 1e-6, 1e6


@dataclass(frozen=True, eq=False)
class Alignment:
    """Keep rows near their places on a previous map.

    Parameters
    ----------
    previous : TSNE, array or data frame of shape (n_previous, n_components)
        The previous map: a fitted estimator, or coordinates. The index of a pandas data frame
        identifies the rows, if the input of `fit` is a pandas data frame as well.
    strength : float, default=10.0
        Strength of the pull toward the previous places. A row follows its neighbors up to a
        distance of 4 / sqrt(strength) times the radius of the map, and stays near its place if they
        are farther away. 0 starts from the previous map without a pull; from 1e5 on, rows do not
        move.
    ids : array of shape (n_samples,) or None, default=None
        Unique identifier of each row of the input.
    previous_ids : array of shape (n_previous,) or None, default=None
        Unique identifier of each row of the previous map. Rows with the same identifier are
        matched. Without identifiers, rows are matched by position, and both must have equally many.
    scale : float or "auto", default="auto"
        Factor of the previous coordinates. "auto": sqrt(n_samples / n_previous), because the area
        of a map is proportional to its number of points. 1 keeps the coordinates as they are. For a
        map of another method, such as UMAP, pass the factor that gives it the width of a t-SNE map.

    Notes
    -----
    The objective is ``KL(P || Q) + strength / (2 n r^2) * sum_i |y_i - a_i|^2``, summed over the
    matched rows, where ``a_i`` is the previous place and ``r`` the root mean square distance of the
    places from their center. Not part of the paper; see docs/decisions/0017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne import TSNE, Alignment
    >>> X = load_iris().data
    >>> old = TSNE(random_state=0).fit(X[:120])
    >>> aligned = Alignment(old, ids=range(150), previous_ids=range(120))
    >>> new = TSNE(align_to=aligned, random_state=0).fit(X)
    >>> len(new.alignment_.rows)
    120
    """

    previous: Any
    strength: float = STRENGTH
    ids: Any = None
    previous_ids: Any = None
    scale: float | str = "auto"

    def __post_init__(self) -> None:
        hint = f"{STRENGTH:g} is the default; 0 only starts from the previous map."
        check_number(self.strength, "strength", low=0, high=LARGEST_STRENGTH, hint=hint)
        if not is_one_of(self.scale, ("auto",)):
            hint = "Pass 'auto', or 1 to keep the previous coordinates."
            low, high = SMALLEST_SCALE, LARGEST_SCALE
            check_number(self.scale, "scale", low=low, high=high, hint=hint)
        if (self.ids is None) != (self.previous_ids is None):
            missing = "ids" if self.ids is None else "previous_ids"
            hint = "Pass both, or neither to match rows by position."
            raise ParameterError(missing, "be given if the other identifiers are", None, hint)

    def as_arrays(self) -> dict[str, Any]:
        """Return the parameters, with the previous map and the identifiers as arrays.

        Returns
        -------
        dict
            Keywords of an equal `Alignment` that does not hold the previous estimator.
        """
        previous = np.asarray(getattr(self.previous, "embedding_", self.previous))
        ids = [None if ids is None else _storable(ids) for ids in (self.ids, self.previous_ids)]
        return {
            "previous": previous,
            "strength": self.strength,
            "ids": ids[0],
            "previous_ids": ids[1],
            "scale": self.scale,
        }

    def __repr__(self) -> str:
        shape = np.shape(getattr(self.previous, "embedding_", self.previous))
        n_rows = f"{shape[0]:,} points" if shape else type(self.previous).__name__
        matched = "position" if self.ids is None else "identifier"
        return f"Alignment({n_rows}, matched by {matched}, strength={self.strength:g})"


def _storable(ids: Any) -> Array:
    """Return identifiers as an array that a file can hold: objects become text."""
    array = as_ids(ids)
    return array.astype(str) if array.dtype == object else array


def as_alignment(align_to: object) -> Alignment | None:
    """Return the alignment for a previous map; None and Alignment are returned unchanged."""
    if align_to is None or isinstance(align_to, Alignment):
        return align_to
    return Alignment(align_to)


def find_anchors(
    align_to: object, X: Any, n_rows: int, n_mapped: int, n_components: int
) -> Anchors | None:
    """Return the places of the matched rows of an input, or None without an alignment.

    n_mapped: number of points of the map, which differs from n_rows if there are landmarks.
    """
    alignment = as_alignment(align_to)
    if alignment is None:
        return None
    places = _previous_places(alignment.previous, n_components)
    rows, found = _matched(alignment, X, n_rows, len(places))
    if not len(rows):
        raise DataError(
            f"{keyword('align_to')} must have rows in common with the input; none of {n_rows:,} "
            f"identifiers is among the {len(places):,} of the previous map. Pass identifiers of "
            "the same kind for both."
        )
    scale = alignment.scale
    factor = math.sqrt(n_mapped / len(places)) if isinstance(scale, str) else float(scale)
    scaled = np.asarray(factor * places[found], np.float32)
    return Anchors(rows, scaled, float(alignment.strength), factor)


def _previous_places(previous: Any, n_components: int) -> NDArray[np.float64]:
    if hasattr(previous, "fit") and not hasattr(previous, "embedding_"):
        raise ParameterError(
            "align_to",
            "be a fitted TSNE, coordinates, or an Alignment; this estimator is not fitted",
            hint="Fit it first. sklearn.base.clone returns estimators that are not fitted: pass "
            "Alignment(model), which it copies.",
        )
    places = check_points(getattr(previous, "embedding_", previous), name="align_to")
    if not isinstance(places, np.ndarray) or places.shape[1] != n_components:
        raise DataError(
            f"{keyword('align_to')} must be a map of {n_components} dimension(s); got shape "
            f"{places.shape}. Pass a map with as many columns as {keyword('n_components')}."
        )
    return places.astype(np.float64)


def _matched(alignment: Alignment, X: Any, n_rows: int, n_previous: int) -> tuple[Array, Array]:
    """Return the rows that both maps have, and their rows on the previous map."""
    ids, others = alignment.ids, alignment.previous_ids
    if ids is None and hasattr(X, "iloc") and hasattr(alignment.previous, "iloc"):
        ids, others = X.index, alignment.previous.index
    if ids is not None:
        own = check_ids(ids, n_rows, "ids")
        return match_ids(own, check_ids(others, n_previous, "previous_ids"))
    if n_rows != n_previous:
        raise DataError(
            "Without identifiers, the previous map must have one point for each row of the input; "
            f"it has {n_previous:,}, and the input has {n_rows:,} rows. Pass "
            "Alignment(previous, ids=..., previous_ids=...)."
        )
    return np.arange(n_rows), np.arange(n_rows)


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


def joined(fitted: Points, added: Points) -> Points:
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
        f"{n_far:,} of {n_rows:,} new rows are farther from every fitted row than "
        f"{100 * FAR_QUANTILE:g} % of the fitted rows are from their nearest neighbor; about "
        f"{(1 - FAR_QUANTILE) * n_rows:,.0f} are expected. Their places on the map may be arbitrary"
    )


def warn_of_far_rows(n_far: int, n_rows: int, n_fitted: int) -> None:
    """Warn if more rows are far than chance explains."""
    if are_many_far(n_far, n_rows, n_fitted):
        sentence = f"{describe_far(n_far, n_rows)}; far_ has their indices."
        warnings.warn(sentence, FarRowsWarning, stacklevel=3)
