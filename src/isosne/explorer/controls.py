"""What is done with maps: settings, runs, the second map, another table, and command lines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn
from markupsafe import Markup

from isosne.errors import DataError
from isosne.explorer.assets import text_pane, write
from isosne.explorer.data import CHOICES, DEFAULT_STEPS, Settings
from isosne.explorer.files import MAPS, TABLES, Reading, upload_map, upload_table
from isosne.explorer.run import FINISHED, PAUSED, RUNNING, STOPPED, Run
from isosne.explorer.session import MAX_MAPS, WARM, Session, ShownMap
from isosne.rows.scaled import KINDS

MORE_STEPS = 100
Say = Callable[[str], None]
Guard = Callable[[Callable[..., None]], Callable[..., None]]
"""Returns a callback whose errors are shown in the page."""


class MapControls:
    """Settings of one map, and buttons for its run."""

    def __init__(self, session: Session, m: int, guard: Guard, say: Say) -> None:
        self._session, self._m, self._say = session, m, say
        self.kernel = pn.widgets.Select(
            label="Kernel", options=list(CHOICES), value="gaussian" if m else "owner"
        )
        self.size = pn.widgets.TextInput(placeholder="default")
        self.exaggeration = pn.widgets.FloatInput(
            label="Exaggeration", value=1.0, start=1.0, end=100.0, step=0.5
        )
        self.seed = pn.widgets.IntInput(label="Seed", value=0, start=0, step=1)
        self.n_iter = pn.widgets.IntInput(label="Steps", value=DEFAULT_STEPS, start=151, step=50)
        self.warm = pn.widgets.Checkbox(label="Start from the present map", value=False)
        self.begin = pn.widgets.Button(label="Compute", color="primary")
        self.pause = pn.widgets.Button(label="Pause")
        self.stop = pn.widgets.Button(label="Stop")
        self.more = pn.widgets.Button(label=f"{MORE_STEPS} more steps")
        self.begin.on_click(guard(self._begin))
        self.pause.on_click(guard(self._steer(Run.switch)))
        self.stop.on_click(guard(self._steer(Run.stop)))
        self.more.on_click(guard(self._steer(lambda run: run.more(MORE_STEPS))))
        self.kernel.param.watch(lambda event: self._name_size(), "value")
        self._name_size()
        for widget in (self.kernel, self.size, self.exaggeration, self.seed, self.n_iter):
            widget.sizing_mode = "stretch_width"
        self.view = pn.Column(
            pn.Row(self.kernel, self.size),
            pn.Row(self.exaggeration, self.seed, self.n_iter),
            self.warm,
            pn.FlexBox(self.begin, self.pause, self.stop, self.more),
            sizing_mode="stretch_width",
        )

    def settings(self) -> Settings:
        """Return the settings that the controls show."""
        if None in (self.exaggeration.value, self.seed.value, self.n_iter.value):
            raise DataError("Exaggeration, seed and steps must be numbers. Type a number in each.")
        exaggeration = float(self.exaggeration.value)
        maps = [shown for shown in (self._shown(), *self._session.maps[:1]) if shown is not None]
        known = [shown.settings for shown in maps if shown.settings is not None]
        distance = known[0] if known else Settings()
        return Settings(
            self.kernel.value,
            self.size.value.strip(),
            None if exaggeration == 1.0 else exaggeration,
            int(self.seed.value),
            int(self.n_iter.value),
            distance.metric,
            distance.p,
        )

    def show(self, settings: Settings) -> None:
        """Set the controls to some settings."""
        self.kernel.value = settings.kernel
        self.size.value = settings.size
        self.exaggeration.value = settings.exaggeration or 1.0
        self.seed.value, self.n_iter.value = settings.seed, settings.n_iter

    def _shown(self) -> ShownMap | None:
        """Return the map that is controlled, if there is one."""
        maps = self._session.maps
        return maps[self._m] if self._m < len(maps) else None

    def tick(self) -> None:
        """Enable the buttons that have an effect; Panel sends only what differs."""
        shown = self._shown()
        state = "" if shown is None else shown.status.state
        self.pause.label = "Resume" if state == PAUSED else "Pause"
        self.pause.disabled = state not in (RUNNING, PAUSED)
        self.stop.disabled = shown is None or not shown.is_active
        self.more.disabled = state not in (FINISHED, STOPPED)
        self.warm.disabled = shown is None

    def _name_size(self) -> None:
        """Name the main parameter of the kernel; the value of another parameter is given up."""
        name = Settings(self.kernel.value).parameter.replace("_", " ").capitalize()
        if name != self.size.label:
            self.size.param.update(label=name, value="")

    def _begin(self, event: Any) -> None:
        is_warm = bool(self.warm.value)
        self._session.begin(self._m, self.settings(), is_warm=is_warm)
        started = self._session.maps[self._m]
        if started.note == WARM:
            self._say("The run starts from the present map, and keeps its overall arrangement.")
        elif is_warm:
            self._say("The run starts from the beginning: there is no map of these rows yet.")

    def _steer(self, work: Callable[[Run], None]) -> Callable[[Any], None]:
        """Return a callback that does something with the run of the map, if there is one."""

        def call(event: Any) -> None:
            run = self._session.maps[self._m].run
            if run is not None:
                work(run)

        return call


class SecondMap:
    """Opens and closes the second map: another kernel, or a map of another program."""

    def __init__(self, session: Session, second: MapControls, guard: Guard, say: Say) -> None:
        self._session, self._second, self._say = session, second, say
        self._compare = pn.widgets.Button(label="Compare with a second map")
        self._close = pn.widgets.Button(label="Close the second map")
        self._file = pn.widgets.FileInput(accept=",".join(MAPS), multiple=False)
        self._compare.on_click(guard(self._begin))
        self._close.on_click(guard(lambda event: self._session.close_second()))
        self._file.param.watch(guard(self._upload), "value")
        self._hint = text_pane(
            "Or show a map from a file, also of another program: a table with the columns id, x "
            "and y, or an array in the order of the rows.",
            soft=True,
        )
        self.view = pn.Column(
            pn.FlexBox(self._compare, self._close),
            self._hint,
            self._file,
            sizing_mode="stretch_width",
        )

    def tick(self) -> None:
        """Show what can be done."""
        n_maps = len(self._session.maps)
        self._compare.visible = self._hint.visible = self._file.visible = n_maps == 1
        self._close.visible = n_maps > 1

    def _begin(self, event: Any) -> None:
        first = self._session.maps[0].settings
        is_gaussian = first is not None and first.kernel == "gaussian"
        self._second.kernel.value = "owner" if is_gaussian else "gaussian"
        self._session.begin(1, self._second.settings())

    def _upload(self, event: Any) -> None:
        if self._file.value:
            name = Path(str(self._file.filename)).name
            Y, notes = upload_map(self._file.value, name, self._session.rows)
            self._session.add_map(Y, name)
            if notes:
                self._say(notes)


INTRODUCTION = Markup(
    "<h2>Open a table</h2><p>Text columns are not used for the map unless you tick the box. "
    "Scale columns that have different units.</p>"
)


class OpenForm:
    """A file to choose, and the columns with identifiers and labels."""

    def __init__(self, session: Session, guard: Guard) -> None:
        self._session = session
        self._file = pn.widgets.FileInput(accept=",".join(TABLES), multiple=False)
        self._label = pn.widgets.TextInput(label="Column with the class of each row (optional)")
        self._id = pn.widgets.TextInput(label="Column with a unique row identifier (optional)")
        self._scale = pn.widgets.Select(label="Scale columns", options=list(KINDS), value="none")
        self._mixed = pn.widgets.Checkbox(
            label="Use text, categories, dates and missing values (columns are not scaled)"
        )
        self._button = pn.widgets.Button(label="Open", color="primary")
        self._button.on_click(guard(self._open))
        self.view = pn.Column(
            text_pane(INTRODUCTION),
            self._file,
            self._label,
            self._id,
            self._scale,
            self._mixed,
            self._button,
        )

    def _open(self, event: Any) -> None:
        if not self._file.value:
            raise DataError("No file is chosen. Choose a file first.")
        how = Reading(
            self._label.value.strip() or None,
            self._id.value.strip() or None,
            "none" if self._mixed.value else str(self._scale.value),
            bool(self._mixed.value),
        )
        name = Path(str(self._file.filename)).name
        data, notes = upload_table(self._file.value, name, how)
        self._session.open(data, notes)
        self._session.is_uploaded = True
        self._session.begin(0, Settings())
        reload_page()


def reload_page() -> None:
    """Load the page of this tab again: figures belong to a page that begins with rows."""
    if pn.state.location is not None:
        pn.state.location.reload = True


COPY = "navigator.clipboard?.writeText(line.tags[0])"
"""The tag of a pane is its command; a page from another machine may have no clipboard."""


class CommandPane:
    """One line for each map."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lines = [text_pane() for _ in range(MAX_MAPS)]
        self._rows = []
        for line in self._lines:
            copy = pn.widgets.Button(label="Copy", margin=(4, 8))
            copy.js_on_click(args={"line": line}, code=COPY)
            self._rows.append(pn.Row(line, copy, visible=False, sizing_mode="stretch_width"))
        self.view: Any = pn.Column(*self._rows, sizing_mode="stretch_width")

    def tick(self) -> None:
        """Show the commands of the maps as they are now."""
        session = self._session
        n_maps = 0 if session.data is None else len(session.maps)
        for m, (line, row) in enumerate(zip(self._lines, self._rows, strict=True)):
            text = session.command(m) if m < n_maps else ""
            if line.tags != [text]:
                words = [Markup("<span>{}</span>").format(word) for word in text.split(" ")]
                line.tags = [text]
                write(line, Markup("<pre>{}</pre>").format(Markup(" ").join(words)))
            row.visible = m < n_maps
