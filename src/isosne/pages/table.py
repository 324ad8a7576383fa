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
from isosne.plots.figures import make_color_scale
from isosne.plots.frames import position_points
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.palette import MAX_CIRCLE_CLASSES
from isosne.plots.points import MAX_SHAPES, drawing_order
from isosne.studies.point_columns import Column

AXES = ("x", "y", "z")
MARKERS = {"o": "circle", "s": "square"}
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
            return described | self._class_legend(field, first)
        kind = "trust" if first.is_trust else "values"
        scale = {
            "name": first.title or choice.title,
            "low": first.low,
            "high": first.high,
            "colors": sample_colors(first, GRADIENT_STOPS),
        }
        return described | {"kind": kind, **scale}

    def _class_legend(self, field: str, classes: Classes) -> dict[str, Any]:
        n = len(classes.names)
        shapes = ["circle"] * n
        shape_field = None
        if classes.n_classes > MAX_CIRCLE_CLASSES and len(self.order) <= MAX_SHAPES:
            shapes = [MARKERS[shape] for shape in classes.shapes]
            shape_field = self.add(f"{field}_shape", np.array(shapes)[classes.of_point])
        counts = np.bincount(classes.of_point, minlength=n).tolist()
        entries = [
            {"name": name, "color": color, "shape": shape, "count": count}
            for name, color, shape, count in zip(
                classes.names, classes.colors, shapes, counts, strict=True
            )
        ]
        return {"kind": "classes", "classes": entries, "shape_field": shape_field}


def coordinate_field(m: int, a: int) -> str:
    """Return the name of the field of coordinate a of map m."""
    return f"m{m}{AXES[a]}"


def sample_colors(values: Values, n: int) -> list[str]:
    """Return n evenly spaced colors of the scale of values."""
    rgb = make_color_scale(values).to_rgba(np.linspace(values.low, values.high, n), bytes=True)
    return ["#" + bytes(color[:3]).hex() for color in np.asarray(rgb, np.uint8)]
