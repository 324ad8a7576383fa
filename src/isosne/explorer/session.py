"""What is explored: the rows, one or two maps, the selection, and names of selections.

A session belongs to the server; every tab of a browser shows the same one. It knows nothing about
pages: they look every so often at what it has, and at the maps.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.explorer.data import MIN_POINTS, Data, Settings
from isosne.explorer.maps import STOPPED, ShownMap
from isosne.neighbors.metric import Metric
from isosne.quality import Curve
from isosne.studies.point_columns import Column
from isosne.tsne.estimator import TSNE

NOTHING, TRUST, SELECTIONS = "nothing", "trust", "named selections"
CHECKS = CLUSTER, OUTLIERS, NULL_P = "cluster", "outlier score", "null test p-value"
"""What points can be colored by, besides their label and columns."""
SEEDS = "further maps"
MAX_NAME = 80  # letters of the name of a table in names of files; chosen
MAX_MAPS = 2  # maps that are shown side by side
MODEL = "the map shown is that of a model, which may have further settings"


class Measured(NamedTuple):
    """The quality of a map at positions ``Y``, estimated from ``n_queries`` of ``n_points`` points.

    ``curve`` and ``auc``: R_NX, and the area under it. ``trust``: of each row, NaN if unknown.
    """

    Y: NDArray[np.float32]
    curve: Curve
    auc: float
    trust: NDArray[np.float64]
    n_queries: int
    n_points: int


@dataclass(eq=False)
class Session:
    """Rows, maps and selections; ``color`` is what the points are colored by.

    ``measures`` of the maps, ``checks`` of the first map, ``inside`` and ``failure`` are written by
    the `Measurer`; ``wanted`` are the checks to do. Values are replaced and never changed in place,
    so that pages see by ``is`` what is new.
    """

    rows: Data
    maps: tuple[ShownMap, ...] = ()
    selection: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    asked: int | None = None
    names: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    color: str = field(init=False)
    measures: dict[ShownMap, Measured] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()
    checks: dict[str, Any] = field(default_factory=dict)
    inside: Any = None
    failure: str = ""

    def __post_init__(self) -> None:
        self.color = self.rows.label_name if self.rows.labels is not None else ""

    def metric_of(self, shown: ShownMap) -> Metric:
        """Return the distance between rows: Gower's of mixed columns, otherwise the kernel's."""
        if self.rows.mixed is not None:
            return Metric("gower")
        return (shown.settings or Settings()).metric

    def begin(self, m: int, settings: Settings) -> None:
        """Compute map m (0 or 1) with some settings."""
        self._compute(m, settings, self.maps[m].rows if m < len(self.maps) else None)

    def reembed(self) -> None:
        """Compute a second map of the selected rows only, with the settings of the first map."""
        if len(self.selection) < MIN_POINTS:
            raise DataError(
                f"A map of a selection needs at least {MIN_POINTS} rows; got "
                f"{len(self.selection)}. Select more rows with the lasso."
            )
        self._compute(1, self.maps[0].settings or Settings(), self.selection)

    def _compute(self, m: int, settings: Settings, rows: Array | None) -> None:
        model, X = settings.make_model(), self.rows.to_fit(rows)
        model.plan(X)  # raises an error about the settings before the present map is given up
        title = settings.title + ("" if rows is None else f", {len(rows):,} selected rows")
        shown = ShownMap(title, settings, self._nowhere(), rows)
        shown.fit(model, X)
        self._put(m, shown)

    def add_map(self, Y: Array, title: str) -> None:
        """Show a complete map of all rows, such as one of another program, as the second map."""
        Y = np.asarray(Y, np.float32)
        self._check_shape(Y)
        if not np.isfinite(Y).all():
            raise DataError("A map must have finite coordinates. Pass a map of the same table.")
        self._put(min(len(self.maps), 1), ShownMap(title, None, Y))

    def add_model(self, model: TSNE) -> None:
        """Show the map of a fitted estimator, which is not changed, as the first map."""
        self._check_shape(model.embedding_)
        settings = Settings.of(model)
        title = "Map of the model" if settings is None else settings.title
        shown = ShownMap(title, settings, self._nowhere(), note=MODEL)
        shown.take(model)
        self._put(0, shown)

    def _check_shape(self, Y: Array) -> None:
        n = self.rows.n_rows
        if Y.shape != (n, 2):
            raise DataError(
                f"A map must have two coordinates for each of the {n:,} rows; got an array of "
                f"shape {Y.shape}. Pass a map or a model of the same table."
            )

    def _nowhere(self) -> NDArray[np.float32]:
        return np.full((self.rows.n_rows, 2), np.nan, np.float32)

    def _put(self, m: int, shown: ShownMap) -> None:
        for before in self.maps[m : m + 1]:
            before.stop()
        if m == 0:
            self.wanted, self.checks = frozenset(), {}
        self.maps = (*self.maps[:m], shown, *self.maps[m + 1 :])

    def close_second(self) -> None:
        """Show one map only."""
        for shown in self.maps[1:]:
            shown.stop()
        self.maps = self.maps[:1]

    def close(self) -> None:
        """End all runs; their maps so far stay."""
        for shown in self.maps:
            shown.stop()

    def select(self, rows: Array) -> None:
        """Select some rows instead of those before."""
        rows = np.unique(np.asarray(rows, np.int64))
        if not np.array_equal(rows, self.selection):
            self.selection = rows

    def clear(self) -> None:
        """Select no row, and ask about none."""
        self.select(np.empty(0, np.int64))
        self.asked = None

    def check(self) -> None:
        """Find out whether the selection is a group: clusters, null test, and further maps."""
        self.wanted = frozenset({CLUSTER, SEEDS} | ({NULL_P} if self.rows.mixed is None else set()))

    def name_selection(self, name: str) -> None:
        """Name the selected rows; an earlier selection of that name is replaced."""
        name = name.strip()
        if not name:
            hint = "Type a name, then press the button again."
            raise ParameterError("name", "not be empty", hint=hint)
        self.names = {**self.names, name: self.selection}

    def names_column(self) -> Column | None:
        """Return the name of the selection of each row, the latest one; None without names."""
        if not self.names:
            return None
        of_row = np.zeros(self.rows.n_rows, np.int32)
        for code, rows in enumerate(self.names.values(), start=1):
            of_row[rows] = code
        return Column("selection", of_row, ["", *self.names])

    def file_name(self, what: str) -> str:
        """Return the name of a file to save, after the table, such as "wine-map.png"."""
        table = Path(self.rows.source).stem if self.rows.words else ""
        name = re.sub(r"[^\w.-]+", "_", table).lstrip(".")[:MAX_NAME]
        return f"{name}-{what}" if name else what

    def command(self, m: int) -> str:
        """Return the command that makes map m, and what it does not tell as a comment."""
        shown, words = self.maps[m], self.rows.words
        settings, status = shown.settings, shown.status
        if settings is None:
            other = "its kernel cannot be chosen on the command line"
            return f"# {shown.title}: {'read from a file' if shown.model is None else other}"
        notes = [] if words else ["the data were passed in Python"]
        if shown.rows is not None:
            notes.append(f"of the {len(shown.rows):,} selected rows, saved as a table")
        notes += [shown.note] if shown.note else []
        if status.state == STOPPED:
            notes.append(f"the map shown was stopped at step {status.iteration}")
        elif shown.has_more:
            notes.append(f"the map shown has {status.iteration} steps")
        output = "map2.parquet" if m else "map.parquet"
        line, others = settings.command(words or ("table.csv",), output)
        notes += [f"{others} can be set in Python only"] if others else []
        return f"{line}  # {'; '.join(notes)}" if notes else line
