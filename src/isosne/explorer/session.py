"""What is explored: the rows, one or two maps, the selection, and names of selections.

A session belongs to the server; every tab of a browser shows the same one. It knows nothing about
pages: they look every so often at what it has, and at the frames of the maps. It can be kept in a
file, without the rows.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from isosne._archive import RefusedError, read_archive, reading_archive, write_archive
from isosne._types import Array
from isosne.errors import DataError, ParameterError
from isosne.explorer.data import CHOICES, MIN_POINTS, Data, Settings
from isosne.explorer.run import FINISHED, PREPARING, RUNNING, STOPPED, Run, Status
from isosne.neighbors.metric import Metric
from isosne.quality import Curve
from isosne.studies.point_columns import Column
from isosne.tsne.estimator import TSNE

NOTHING, TRUST, DENSITY, SELECTIONS = "nothing", "trust", "density", "named selections"
"""What points can be colored by, besides their label and columns."""
MAX_MAPS = 2
"""Maps that are shown side by side."""
OTHER_KERNEL = "its kernel cannot be chosen on the command line"
WARM = "the map shown started from the map before"
MODEL = "the map shown is that of a model, which may have further settings"
"""What a command does not tell of a map."""
COMPLETE = Status("")
"""The status of a map without a run."""


class Measured(NamedTuple):
    """The quality of a map at a frame, estimated from ``n_queries`` of ``n_points`` points.

    ``curve`` and ``auc``: R_NX, and the area under it. ``trust``: of each row, NaN if unknown.
    """

    frame: int
    curve: Curve
    auc: float
    trust: NDArray[np.float64]
    n_queries: int
    n_points: int


@dataclass(eq=False)
class ShownMap:
    """A map of all rows or of some: one that is being computed, or one that is complete.

    ``settings`` is None for a map from another program, and for a model with a kernel of its own.
    ``rows`` is None for a map of all rows. ``fixed`` holds the positions of a map without a run.
    ``note`` says what the settings do not tell. ``n_steps`` is the number of steps of a map that
    was restored.
    """

    title: str
    settings: Settings | None
    rows: NDArray[np.int64] | None = None
    run: Run | None = None
    fixed: NDArray[np.float32] | None = None
    note: str = ""
    n_steps: int | None = None
    measured: Measured | None = None

    @property
    def status(self) -> Status:
        """How far the run has come; without a run, it is complete."""
        return COMPLETE if self.run is None else self.run.status

    @property
    def is_active(self) -> bool:
        """Whether positions may still change."""
        return self.status.is_active

    @property
    def n_moving(self) -> int:
        """The number of points that a run moves just now: none if it is paused or has ended."""
        is_moving = self.run is not None and self.status.state in (PREPARING, RUNNING)
        return self.run.n_points if self.run is not None and is_moving else 0

    def frame(self, n_rows: int) -> tuple[int, NDArray[np.float32]]:
        """Return the number of the latest frame, and a position (n, 2) for each row, or NaN."""
        number, Y = (0, None) if self.run is None else self.run.frame
        Y = self.fixed if Y is None else Y  # which may be positions from before the run
        if Y is not None and self.rows is None:
            return number, Y
        whole = np.full((n_rows, 2), np.nan, np.float32)
        if Y is not None:
            whole[self.rows] = Y
        return number, whole

    def count_steps(self) -> int | None:
        """Return the number of steps of a map that is complete, if it is known."""
        if self.run is None:
            return self.n_steps
        return None if self.is_active else self.status.iteration or None

    def fitted(self) -> TSNE | None:
        """Return the fitted estimator, if there is one and its run has ended."""
        has_ended = self.status.state in (FINISHED, STOPPED)
        return self.run.model if self.run is not None and has_ended else None


@dataclass(eq=False)
class Session:
    """Rows, maps and selections.

    ``notes`` are shown when the page opens. ``is_uploaded``: the rows were sent by the browser.
    ``density`` of the rows, ``n_measured`` and ``failure`` are written by the `Measurer`. Facts are
    replaced and never changed in place, so that pages see by ``is`` what is new.
    """

    data: Data | None = None
    maps: tuple[ShownMap, ...] = ()
    selection: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    asked: int | None = None
    names: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    color: str = ""
    notes: str = ""
    is_uploaded: bool = False
    density: NDArray[np.float64] | None = None
    n_measured: int = 0
    failure: str = ""

    def facts(self) -> dict[str, Any]:
        """Return what pages show, by name."""
        names = ("data", "maps", "selection", "asked", "names", "color")
        return {name: getattr(self, name) for name in names}

    @property
    def progress(self) -> tuple[Any, ...]:
        """How far all runs and measurements have come."""
        runs = [shown.run and (shown.run.frame[0], shown.run.status) for shown in self.maps]
        return (self.n_measured, *runs)

    @property
    def rows(self) -> Data:
        """The rows, which must have been opened."""
        if self.data is None:
            raise DataError("No table is open. Open a table first.")
        return self.data

    def forget(self) -> None:
        """End all runs, and give up the rows, so that the page asks for a table again."""
        self.close()
        self.data, self.maps, self.is_uploaded = None, (), False

    def metric_of(self, shown: ShownMap) -> Metric:
        """Return the distance between rows: Gower's of mixed columns, otherwise the kernel's."""
        if self.rows.mixed is not None:
            return Metric("gower")
        settings = shown.settings or Settings()
        return Metric(settings.metric, settings.p)

    def open(self, data: Data, notes: str = "") -> None:
        """Show other rows, and notes on them; maps and selections from before are given up."""
        self.close()
        self.notes, self.density = notes, None
        self.data, self.maps, self.names = data, (), {}
        self.selection, self.asked = np.empty(0, np.int64), None
        self.color = data.label_name if data.labels is not None else ""

    def begin(self, m: int, settings: Settings, *, is_warm: bool = False) -> None:
        """Compute map m (0 or 1) with some settings.

        A warm start begins at the present positions of the map, or for a new second map at those
        of the first one.
        """
        before = self.maps[m] if m < len(self.maps) else None
        rows = None if before is None else before.rows
        start = self._present(before or self.maps[0]) if is_warm else None
        model = settings.make_model(start)
        X = self.rows.to_fit(rows)
        model.plan(X)  # raises an error about the settings before the present map is given up
        note = "" if start is None else WARM
        self._put(m, ShownMap(settings.title, settings, rows, Run(model, X), start, note))

    def reembed(self) -> None:
        """Compute a second map of the selected rows only, with the settings of the first map."""
        rows = np.sort(self.selection)
        if len(rows) < MIN_POINTS:
            raise DataError(
                f"A map of a selection needs at least {MIN_POINTS} rows; got {len(rows)}. "
                "Select more rows with the lasso."
            )
        settings = self.maps[0].settings or Settings()
        title = f"{settings.title}, {len(rows):,} selected rows"
        run = Run(settings.make_model(), self.rows.to_fit(rows))
        self._put(1, ShownMap(title, settings, rows, run))

    def add_map(self, Y: Array, title: str) -> None:
        """Show a complete map of all rows, such as one of another program, as the second map."""
        n = self.rows.n_rows
        Y = np.asarray(Y, np.float32)
        if Y.shape != (n, 2) or not np.isfinite(Y).all():
            raise DataError(
                f"A map must have two finite coordinates for each of the {n:,} rows; got an array "
                f"of shape {Y.shape}. Pass a map of the same table."
            )
        self._put(min(len(self.maps), 1), ShownMap(title, None, fixed=Y))

    def add_model(self, model: TSNE) -> None:
        """Show the map of a fitted estimator, which is not changed, as the first map."""
        settings = Settings.of(model)
        title = "Map of the model" if settings is None else settings.title
        run = Run.of_fitted(model, self.rows.to_fit(None))
        self._put(0, ShownMap(title, settings, run=run, note=MODEL))

    def close_second(self) -> None:
        """Show one map only."""
        if len(self.maps) == MAX_MAPS:
            _end(self.maps[1])
            self.maps = self.maps[:1]

    def select(self, rows: Array) -> None:
        """Select some rows instead of those before."""
        rows = np.unique(np.asarray(rows, np.int64))
        if not np.array_equal(rows, self.selection):
            self.selection = rows

    def clear(self) -> None:
        """Select no row, and ask about none."""
        self.select(np.empty(0, np.int64))
        self.asked = None

    def name_selection(self, name: str) -> None:
        """Name the selected rows; an earlier selection of that name is replaced."""
        name = name.strip()
        if not name:
            hint = "Type a name, then press the button again."
            raise ParameterError("name", "not be empty", hint=hint)
        if not len(self.selection):
            raise DataError("No row is selected. Select rows with the lasso first.")
        self.names = {**self.names, name: self.selection}

    def names_column(self) -> Column | None:
        """Return the name of the selection of each row, the latest one; None without names."""
        if not self.names:
            return None
        words = ["", *self.names]
        of_row = np.zeros(self.rows.n_rows, np.int32)
        for code, rows in enumerate(self.names.values(), start=1):
            of_row[rows] = code
        return Column("selection", of_row, words)

    def command(self, m: int) -> str:
        """Return the command that makes map m, and what it does not tell as a comment."""
        shown, data = self.maps[m], self.rows
        if shown.settings is None:
            made = "read from a file" if shown.run is None else OTHER_KERNEL
            return f"# {shown.title}: {made}"
        notes = []
        if not data.words:
            notes.append("the data were passed in Python")
        if shown.rows is not None:
            notes.append(f"of the {len(shown.rows):,} selected rows, saved as a table")
        notes += [shown.note] if shown.note else []
        n_steps = shown.count_steps()
        if n_steps is not None and n_steps < shown.settings.n_iter:
            notes.append(f"the map shown was stopped at step {n_steps}")
        elif n_steps is not None and n_steps > shown.settings.n_iter:
            notes.append(f"the map shown has {n_steps} steps")
        words = data.words or ("table.csv",)
        line = shown.settings.command(words, "map2.parquet" if m else "map.parquet")
        return f"{line}  # {'; '.join(notes)}" if notes else line

    def close(self) -> None:
        """End all runs; their maps so far stay."""
        for shown in self.maps:
            _end(shown)

    def _present(self, shown: ShownMap) -> NDArray[np.float32] | None:
        """Return the positions of a map, if it has one for every row that it maps."""
        Y = shown.frame(self.rows.n_rows)[1][... if shown.rows is None else shown.rows]
        return None if np.isnan(Y).any() else np.array(Y, np.float32)

    def _put(self, m: int, shown: ShownMap) -> None:
        for before in self.maps[m : m + 1]:
            _end(before)
        self.maps = (*self.maps[:m], shown, *self.maps[m + 1 :])
        if shown.run is not None and shown.is_active:
            shown.run.start()


def _end(shown: ShownMap) -> None:
    if shown.run is not None:
        shown.run.stop()


KIND = "session"


def save_session(session: Session, path: Path) -> None:
    """Write a session; an existing file is replaced."""
    data = session.rows
    arrays: dict[str, Array] = {"selection": session.selection}
    maps: list[dict[str, Any]] = []
    for shown in session.maps:
        _, Y = shown.frame(data.n_rows)
        if np.isnan(Y).all():
            continue  # a run before its first step
        m = len(maps)
        arrays[f"map{m}"] = Y if shown.rows is None else Y[shown.rows]
        if shown.rows is not None:
            arrays[f"rows{m}"] = shown.rows
        settings = None if shown.settings is None else asdict(shown.settings)
        about = {"title": shown.title, "settings": settings, "note": shown.note}
        maps.append(about | {"n_steps": shown.count_steps()})
    arrays |= {f"name{i}": rows for i, rows in enumerate(session.names.values())}
    header = {
        "fingerprint": data.fingerprint,
        "source": data.source,
        "n_rows": data.n_rows,
        "maps": maps,
        "names": list(session.names),
        "asked": session.asked,
        "color": session.color,
    }
    write_archive(path, KIND, header, arrays)


def restore_session(session: Session, path: Path) -> None:
    """Restore maps, selections and names of the same rows from a file.

    A file may come from elsewhere, so that its values are checked before any is used.
    """
    data = session.rows
    header, arrays = read_archive(path, KIND)
    with reading_archive(path, KIND):
        if header["fingerprint"] != data.fingerprint or header["n_rows"] != data.n_rows:
            raise RefusedError(
                f"The session {path} belongs to other rows: it was saved for {header['source']}, "
                f"with {header['n_rows']:,} rows, and {data.source} or the options that read it, "
                "such as --scale, differ. Open the table in the same way, or choose another "
                "session file."
            )
        maps = tuple(
            _read_map(m, about, arrays, data.n_rows) for m, about in enumerate(header["maps"])
        )
        names = [str(name) for name in header["names"]]
        selections = [_check_rows(arrays[f"name{i}"], data.n_rows) for i in range(len(names))]
        selection = _check_rows(arrays["selection"], data.n_rows)
        asked = None if header["asked"] is None else int(header["asked"])
        if len(maps) > MAX_MAPS or (asked is not None and not 0 <= asked < data.n_rows):
            raise ValueError("its values do not fit together")
    session.close()
    session.maps, session.selection, session.asked = maps, selection, asked
    session.names = dict(zip(names, selections, strict=True))
    session.color = str(header["color"])


def _read_map(m: int, about: Any, arrays: dict[str, Array], n_rows: int) -> ShownMap:
    rows = _check_rows(arrays[f"rows{m}"], n_rows) if f"rows{m}" in arrays else None
    Y = arrays[f"map{m}"]
    n_mapped = n_rows if rows is None else len(rows)
    if Y.shape != (n_mapped, 2) or Y.dtype != np.float32 or not np.isfinite(Y).all():
        raise ValueError("the positions of a map do not fit the rows")
    return ShownMap(
        str(about["title"]),
        _read_settings(about["settings"]),
        rows,
        fixed=Y,
        note=str(about["note"]),
        n_steps=None if about["n_steps"] is None else int(about["n_steps"]),
    )


def _read_settings(given: dict[str, Any] | None) -> Settings | None:
    if given is None:
        return None
    kinds = get_type_hints(Settings)
    has_types = all(isinstance(value, kinds[name]) for name, value in given.items())
    if not has_types or given["kernel"] not in CHOICES:
        raise ValueError("the settings of a map are unknown")
    return Settings(**given)


def _check_rows(rows: Array, n_rows: int) -> Array:
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not np.isin(rows, np.arange(n_rows)).all():
        raise ValueError("a selection is not a list of rows")
    return rows.astype(np.int64)
