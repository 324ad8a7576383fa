"""The one table behind all figures of a page, and the words that belong to it.

The table holds numbers alone. Words (names of columns, classes, maps) go into what the methods
return; the page writes that as JSON, and its script shows it as text. So nothing that a user named
is ever read as HTML.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.pages.choices import Choice
from isosne.plots.figures import scale_of
from isosne.plots.frames import place
from isosne.plots.paint import Classes, Paint, Values
from isosne.plots.palette import FEW_CLASSES
from isosne.plots.points import DOTS, drawing_order
from isosne.studies.point_columns import Column

AXES = ("x", "y", "z")
MARKERS = {"o": "circle", "s": "square", "^": "triangle", "D": "diamond"}
STOPS = 9
"""Colors of a scale that a legend blends."""


class NamedMap(NamedTuple):
    """A map (n, 1), (n, 2) or (n, 3) and what it is called."""

    title: str
    Y: NDArray[np.float64]


class Table:
    """Fields of n rows, in the order in which points of some paint are drawn."""

    def __init__(self, n: int, paint: Paint = None) -> None:
        self.order = drawing_order(paint, n)
        self.fields: dict[str, Array] = {}
        self.add("row", np.arange(n, dtype=np.int32))

    def add(self, field: str, values: Array) -> str:
        """Add a field."""
        self.fields[field] = values[self.order]
        return field

    def add_column(self, field: str, column: Column) -> dict[str, Any]:
        """Add a column that readers see."""
        return {
            "name": column.name,
            "field": self.add(field, column.data),
            "words": column.words,
        }

    def add_map(self, m: int, named: NamedMap, paint: Paint, *, is_alone: bool) -> list[Any]:
        """Add the places of the points of map m; return its coordinates as columns."""
        places = place(named.Y, paint).astype(np.float32)
        fields = [self.add(place_field(m, a), places[:, a]) for a in range(places.shape[1])]
        return [
            {"name": axis if is_alone else f"{named.title}, {axis}", "field": field, "words": None}
            for axis, field in zip(AXES[: named.Y.shape[1]], fields, strict=False)
        ]

    def add_choice(self, field: str, choice: Choice) -> dict[str, Any]:
        """Add the numbers that a choice colors by; return what its legend says."""
        fields: list[str] = []
        for m, paint in enumerate(choice.paints):
            if m and paint is choice.paints[0]:
                fields.append(fields[0])
            elif isinstance(paint, Classes):
                fields.append(self.add(f"{field}_{m}", paint.of_point.astype(np.int32)))
            else:
                fields.append(self.add(f"{field}_{m}", paint.numbers.astype(np.float32)))
        told = {"title": choice.title, "fields": fields}
        first = choice.paints[0]
        if isinstance(first, Classes):
            return told | self._class_legend(field, first)
        kind = "trust" if first.is_trust else "values"
        scale = {
            "name": first.title or choice.title,
            "low": first.low,
            "high": first.high,
            "colors": shades(first, STOPS),
        }
        return told | {"kind": kind, **scale}

    def _class_legend(self, field: str, classes: Classes) -> dict[str, Any]:
        n = len(classes.names)
        shapes = ["circle"] * n
        shape_field = None
        if classes.n_classes > FEW_CLASSES and len(self.order) <= DOTS:
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


def place_field(m: int, a: int) -> str:
    """Return the field of coordinate a of map m."""
    return f"m{m}{AXES[a]}"


def shades(values: Values, n: int) -> list[str]:
    """Return n colors of the scale of values, from its lower to its upper end."""
    rgb = scale_of(values).to_rgba(np.linspace(values.low, values.high, n), bytes=True)
    return ["#" + bytes(color[:3]).hex() for color in np.asarray(rgb, np.uint8)]
