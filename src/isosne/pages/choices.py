"""The choices of a page: what its maps can be colored by."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isosne._types import Array
from isosne.errors import ParameterError, suggest
from isosne.plots.paint import MAX_INTEGER_LABELS, NO_LABEL, Classes, Paint, Values, as_paint
from isosne.plots.palette import MAX_CLASSES
from isosne.quality import Trust
from isosne.studies.point_columns import Column, as_column


class Choice(NamedTuple):
    """A choice of coloring: its title, and the paint of each map."""

    title: str
    paints: tuple[Classes | Values, ...]


def paint_trust(trust: Any, n: int) -> list[Values]:
    """Return the paint of trust in a list, which is empty without trust."""
    if trust is None:
        return []
    if not isinstance(trust, Trust):
        as_column("trust", trust, n)
    paint = as_paint(trust, n, kind="trust")
    assert isinstance(paint, Values)  # because of kind="trust"
    return [paint]


def offer_choices(
    labels: Paint, trusts: Sequence[Values], columns: Sequence[Column], n_maps: int
) -> list[Choice]:
    """Return the choices for maps of the same points: labels, trust, then columns."""
    choices = []
    if labels is not None:
        choices.append(Choice(labels.title or "label", (labels,) * n_maps))
    if trusts:
        choices.append(Choice("trust", tuple(trusts)))
    for column in columns:
        paint = paint_column(column)
        if paint is not None:
            choices.append(Choice(column.name, (paint,) * n_maps))
    return choices


def find_choice(choices: Sequence[Choice], color: str | None) -> int:
    """Return the index of the choice with this title; 0 for None."""
    if color is None:
        return 0
    titles = [choice.title for choice in choices]
    if color not in titles:
        rule = f"be one of {', '.join(titles)}" if titles else "be None for a page without colors"
        hint = "Constant columns, and text that differs in almost every row, cannot be used."
        raise ParameterError("color", rule, color, suggest(color, titles, hint))
    return titles.index(color)


def paint_column(column: Column) -> Classes | Values | None:
    """Return the paint of a column; None if it is constant or has too many classes."""
    if column.words is not None:
        is_usable = 2 <= len(column.words) <= MAX_CLASSES
        return _classes_of_words(column.words, column.data.astype(np.int64)) if is_usable else None
    numbers = column.data.astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    known = np.unique(numbers[~np.isnan(numbers)])
    if len(known) < 2:
        return None
    if column.data.dtype.kind == "i" and len(known) <= MAX_INTEGER_LABELS:
        names = [f"{number:.0f}" for number in known.tolist()]
        return Classes(names, np.searchsorted(known, numbers).astype(np.int64))
    return Values(numbers, float(known[0]), float(known[-1]))


def _classes_of_words(words: list[str], of_row: Array) -> Classes:
    """Return the classes of sorted words; an empty word, which sorts first, means no label."""
    if words[0]:
        return Classes(words, of_row)
    return Classes([*words[1:], NO_LABEL], (of_row - 1) % len(words), has_rest=True)
