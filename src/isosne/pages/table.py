"""The data source of all figures of a page, and the texts that belong to it.

The table contains only numbers. Texts (names of columns, classes and maps) are part of what the
methods return; the page embeds that as JSON, and its script inserts it as text. Names chosen by a
user are therefore never interpreted as HTML.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.pages.choices import Choice
from isosne.plots.paint import Classes, Paint
from isosne.plots.raster import drawing_order, position_points
from isosne.studies.point_columns import Column

AXES = ("x", "y", "z")
GRADIENT_STOPS = 9
"""Colors of the gradient of a legend, which the browser interpolates."""


class NamedMap(NamedTuple):
    """A map (n, 1), (n, 2) or (n, 3) and its title."""

    title: str
    Y: NDArray[np.float64]


class Table:
    """Fields of n rows, in drawing order."""

    def __init__(self, n: int, paint: Paint = None) -> None:
        self.order = drawing_order(paint, n)
        self.fields: dict[str, Array] = {}
        self.add("row", np.arange(n, dtype=np.int32))

    def add(self, field: str, values: Array) -> str:
        """Add a field; return its name."""
        self.fields[field] = values[self.order]
        return field

    def add_column(self, field: str, column: Column) -> dict[str, Any]:
        """Add a column that is shown on hover; return its description."""
        return {
            "name": column.name,
            "field": self.add(field, column.data),
            "words": column.words,
        }

    def add_map(self, m: int, named: NamedMap, paint: Paint, *, is_alone: bool) -> list[Any]:
        """Add the positions of the points of map m; return descriptions of its coordinates."""
        positions = position_points(named.Y, paint).astype(np.float32)
        fields = [self.add(coordinate_field(m, a), axis) for a, axis in enumerate(positions.T)]
        return [
            {"name": axis if is_alone else f"{named.title}, {axis}", "field": field, "words": None}
            for axis, field in zip(AXES[: named.Y.shape[1]], fields, strict=False)
        ]

    def add_choice(self, field: str, choice: Choice) -> dict[str, Any]:
        """Add the numbers that a choice colors by; return the description of its legend."""
        fields: list[str] = []
        for m, paint in enumerate(choice.paints):
            if m and paint is choice.paints[0]:
                fields.append(fields[0])
            elif isinstance(paint, Classes):
                fields.append(self.add(f"{field}_{m}", paint.of_point.astype(np.int32)))
            else:
                fields.append(self.add(f"{field}_{m}", paint.numbers.astype(np.float32)))
        described = {"title": choice.title, "fields": fields}
        first = choice.paints[0]
        if isinstance(first, Classes):
            counts = np.bincount(first.of_point, minlength=len(first.names)).tolist()
            entries = [
                {"name": name, "color": color, "count": count}
                for name, color, count in zip(first.names, first.colors, counts, strict=True)
            ]
            return described | {"kind": "classes", "classes": entries}
        kind = "trust" if first.is_trust else "values"
        scale = {
            "name": first.title or choice.title,
            "low": first.low,
            "high": first.high,
            "colors": first.sample_scale(GRADIENT_STOPS),
        }
        return described | {"kind": kind, **scale}


def coordinate_field(m: int, a: int) -> str:
    """Return the name of the field of coordinate a of map m."""
    return f"m{m}{AXES[a]}"
