"""Several views of the rows of one table, chosen by the names of their columns."""

from fnmatch import filter as matching
from typing import Any

from isosne.cli.files import PIPE
from isosne.cli.options import Args, refuse
from isosne.cli.tables import Options, open_unscaled, read_points
from isosne.errors import ParameterError, keyword


def find_views(args: Args, how: Options) -> dict[str, int]:
    """Return the number of columns of each view; set the columns in the options.

    A view is text such as "genes=g_*,total": a name, and columns or patterns of their names. The
    options are left without a scale, because rows that lack a view have no values to read.
    """
    view = keyword("view")
    refuse(f"with {view}", **args.pick("columns", "mixed", "categorical", "outliers"))
    if args.source == PIPE:
        raise ParameterError("source", f"be a file with {view}", PIPE, "Save the table to a file.")
    table = open_unscaled(args.source, how | {"text_columns": "leave_out"}, args.memory_limit)
    known, views = table.rows.column_names or (), {}
    chosen: list[str] = []
    for text in args.view:
        name, _, patterns = text.partition("=")
        found = [matching(known, pattern) for pattern in patterns.split(",")]
        own = list(dict.fromkeys(column for columns in found for column in columns))
        is_new = name and name not in views and not set(own) & set(chosen)
        if not is_new or not all(found):
            rule = "be a new name and numeric columns of no other view, such as genes=g_*,total"
            hint = f"The numeric columns are {', '.join(map(repr, known[:10])) or 'none'}"
            raise ParameterError("view", rule, text, f"{hint}{', ...' if known[10:] else '.'}")
        views[name] = len(own)
        chosen += own
    how["columns"] = chosen
    how.pop("scale", None)
    return views


def read_views(args: Args, how: Options, table: Any, views: dict[str, int]) -> tuple[Any, Any]:
    """Return the columns of each view, scaled, and what a model has to know of them.

    Rows that lack a view are NaN. The scale is added to the options.
    """
    import numpy as np

    from isosne.rows.scaled import Scale

    points = read_points(table, args.memory_limit, allow_missing=True)
    known: dict[str, Any] = {"feature_names_in_": np.array(how["columns"], object)}
    if args.scale not in (None, "none"):
        how["scale"] = args.scale
        values = np.ma.masked_invalid(points.astype(np.float64))
        shift = values.min(axis=0) if args.scale == "minmax" else values.mean(axis=0)
        width = values.max(axis=0) - shift if args.scale == "minmax" else values.std(axis=0)
        factor = 1 / np.ma.masked_equal(width, 0)
        known["input_scale_"] = Scale(shift.filled(0.0), factor.filled(0.0))
        points = known["input_scale_"].apply(points)
    parts = np.split(points, np.cumsum(list(views.values()))[:-1], axis=1)
    return dict(zip(views, parts, strict=True)), known
