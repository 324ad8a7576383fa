"""Alignment to a previous map: rows that are held near their places on it."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_number, check_points
from isosne._matching import as_ids, check_ids, match_ids
from isosne._types import Array
from isosne.errors import DataError, ParameterError, keyword
from isosne.layout.anchors import Anchors

STRENGTH = 10.0
"""Default strength. From map to map, rows move by 6 to 8 % of the radius instead of 20 to 40 %, and
AUC_RNX falls by at most 1.5 % (docs/decisions/0017)."""
LARGEST_STRENGTH = 1e9
"""Largest strength; rows do not move any more from 1e5 on (chosen)."""


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

    Notes
    -----
    The objective is ``KL(P || Q) + strength / (2 n r^2) * sum_i |y_i - a_i|^2``, summed over the
    matched rows, where ``a_i`` is the previous place and ``r`` the root mean square distance of the
    places from their center. Previous coordinates are multiplied by ``sqrt(n_samples /
    n_previous)``, because the area of a map is proportional to its number of points. Not part of
    the paper; see docs/decisions/0017.

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

    previous: Any = field(repr=False)
    strength: float = STRENGTH
    ids: Any = field(default=None, repr=False)
    previous_ids: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        hint = f"{STRENGTH:g} is the default; 0 only starts from the previous map."
        check_number(self.strength, "strength", low=0, high=LARGEST_STRENGTH, hint=hint)
        if (self.ids is None) != (self.previous_ids is None):
            missing = "ids" if self.ids is None else "previous_ids"
            hint = "Pass both, or neither to match rows by position."
            raise ParameterError(missing, "be given if the other identifiers are", None, hint)


def as_alignment(align_to: object) -> Alignment | None:
    """Return the alignment for a previous map; None and Alignment are returned unchanged."""
    if align_to is None or isinstance(align_to, Alignment):
        return align_to
    return Alignment(align_to)


def stored_parts(alignment: Alignment) -> dict[str, Any]:
    """Return the parameters of an equal alignment that a file can hold: arrays, and ids as text."""
    ids = {name: getattr(alignment, name) for name in ("ids", "previous_ids")}
    for name, given in ids.items():
        if given is not None:
            array = as_ids(given)
            ids[name] = array.astype(str) if array.dtype == object else array
    previous = np.asarray(getattr(alignment.previous, "embedding_", alignment.previous))
    return {"previous": previous, "strength": alignment.strength, **ids}


def find_anchors(
    align_to: object, X: Any, n_rows: int, n_mapped: int, n_components: int
) -> Anchors | None:
    """Return the places of the matched rows of an input, or None without an alignment."""
    alignment = as_alignment(align_to)
    if alignment is None:
        return None
    places = _previous_places(alignment.previous, n_components)
    _check_features(alignment.previous, X)
    rows, found = _matched(alignment, X, n_rows, len(places))
    if not len(rows):
        raise DataError(
            f"{keyword('align_to')} must have rows in common with the input; none of {n_rows:,} "
            f"identifiers is among the {len(places):,} of the previous map. Pass identifiers of "
            "the same kind for both."
        )
    scale = math.sqrt(n_mapped / len(places))
    scaled = np.asarray(scale * places[found], np.float32)
    return Anchors(rows, scaled, float(alignment.strength), scale)


def _check_features(previous: Any, X: Any) -> None:
    """Raise an error if a fitted estimator has mapped another number of columns: other data."""
    n_before = getattr(previous, "n_features_in_", None)
    is_given = getattr(getattr(previous, "kernel_", None), "metric", "") == "precomputed"
    n_features = getattr(X, "shape", (0, n_before))[-1]
    if n_before is not None and not is_given and n_features != n_before:
        raise DataError(
            f"{keyword('align_to')} must be a map of the same kind of data; it was fitted on "
            f"{n_before:,} columns, and X has {n_features:,}. Pass its embedding_ to align to it "
            "all the same."
        )


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
