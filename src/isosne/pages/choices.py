"""What a reader of a page can color its maps by."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isosne._types import Array
from isosne.errors import ParameterError
from isosne.plots.paint import MOST_WHOLE_NUMBERS, NO_LABEL, Classes, Paint, Values, as_paint
from isosne.plots.palette import MOST_CLASSES
from isosne.quality import Trust
from isosne.studies.point_columns import Column, as_column


class Choice(NamedTuple):
    """A way to color: its title, and the paint of each map."""

    title: str
    paints: tuple[Classes | Values, ...]


def paint_trust(trust: Any, n: int) -> list[Values]:
    """Return trust as a paint, if there is any."""
    if trust is None:
        return []
    if not isinstance(trust, Trust):
        as_column("trust", trust, n)
    paint = as_paint(trust, n, kind="trust")
    assert isinstance(paint, Values)  # by its kind
    return [paint]


def offer_choices(
    labels: Paint, trusts: Sequence[Values], columns: Sequence[Column], n_maps: int
) -> list[Choice]:
    """Return the ways to color some maps of the same points: labels, trust, then columns."""
    choices = []
    if labels is not None:
        choices.append(Choice(labels.title or "label", (labels,) * n_maps))
    if trusts:
        choices.append(Choice("trust", tuple(trusts)))
    for column in columns:
        paint = _paint_of(column)
        if paint is not None:
            choices.append(Choice(column.name, (paint,) * n_maps))
    return choices


def find_choice(choices: Sequence[Choice], color: str | None) -> int:
    """Return the place of the way to color that has a title; the first, if none is asked for."""
    if color is None:
        return 0
    titles = [choice.title for choice in choices]
    if color not in titles:
        raise ParameterError(
            f"color must be a way to color the page: {', '.join(titles) or 'there is none'}; "
            f"got {color!r}. Columns that are the same, or of another text, in every row tell "
            "nothing by color; pass one of the others."
        )
    return titles.index(color)


def _paint_of(column: Column) -> Classes | Values | None:
    """Return the paint of a column; None where it would tell nothing apart, or too much."""
    if column.words is not None:
        is_fit = 2 <= len(column.words) <= MOST_CLASSES
        return _classes_of_words(column.words, column.data.astype(np.int64)) if is_fit else None
    numbers = column.data.astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    known = np.unique(numbers[~np.isnan(numbers)])
    if len(known) < 2:
        return None
    if column.data.dtype.kind == "i" and len(known) <= MOST_WHOLE_NUMBERS:
        return _classes_of(known, numbers)
    return Values(numbers, float(known[0]), float(known[-1]))


def _classes_of_words(words: list[str], of_row: Array) -> Classes:
    """Return the classes of sorted words, of which the empty one is first, if there."""
    if words[0]:
        return Classes(words, of_row)
    return Classes([*words[1:], NO_LABEL], (of_row - 1) % len(words), has_rest=True)


def _classes_of(known: Array, numbers: Array) -> Classes:
    names = [f"{number:.0f}" for number in known.tolist()]
    return Classes(names, np.searchsorted(known, numbers).astype(np.int64))
