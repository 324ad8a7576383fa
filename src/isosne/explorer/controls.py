"""The controls of the maps: settings, pause, resume, stop, more steps, and the second map."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn

from isosne.errors import DataError
from isosne.explorer.assets import text_pane
from isosne.explorer.run import PAUSED, RUNNING
from isosne.explorer.session import Session
from isosne.explorer.settings import CHOICES, DEFAULT_STEPS, Settings
from isosne.explorer.uploads import MAPS, upload_map

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
        self.pause.on_click(guard(self._pause))
        self.stop.on_click(guard(self._stop))
        self.more.on_click(guard(self._more))
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
        before = self._session.maps[self._m].settings if self._m < len(self._session.maps) else None
        first = self._session.maps[0].settings if self._session.maps else None
        distance = before or first or Settings()
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

    def tick(self) -> None:
        """Enable the buttons that have an effect."""
        shown = self._session.maps[self._m] if self._m < len(self._session.maps) else None
        status = None if shown is None else shown.status
        state = "" if status is None else status.state
        has_ended = status is not None and state in ("finished", "stopped")
        _set(self.pause, label="Resume" if state == PAUSED else "Pause")
        _set(self.pause, disabled=state not in (RUNNING, PAUSED))
        _set(self.stop, disabled=status is None or not status.is_active)
        _set(self.more, disabled=not has_ended)
        _set(self.warm, disabled=shown is None)

    def _name_size(self) -> None:
        """Name the main parameter of the kernel; the value of another parameter is given up."""
        name = Settings(self.kernel.value).parameter.replace("_", " ").capitalize()
        if name != self.size.label:
            self.size.param.update(label=name, value="")

    def _begin(self, event: Any) -> None:
        is_warm = bool(self.warm.value)
        self._session.begin(self._m, self.settings(), is_warm=is_warm)
        started = self._session.maps[self._m]
        if started.is_warm:
            self._say("The run starts from the present map, and keeps its overall arrangement.")
        elif is_warm:
            self._say("The run starts from the beginning: there is no map of these rows yet.")

    def _pause(self, event: Any) -> None:
        run = self._session.maps[self._m].run
        if run is not None and run.status.state == PAUSED:
            run.resume()
        elif run is not None:
            run.pause()

    def _stop(self, event: Any) -> None:
        run = self._session.maps[self._m].run
        if run is not None:
            run.stop()

    def _more(self, event: Any) -> None:
        run = self._session.maps[self._m].run
        if run is not None:
            run.more(MORE_STEPS)


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
        _set(self._compare, visible=n_maps == 1)
        for part in (self._hint, self._file):
            _set(part, visible=n_maps == 1)
        _set(self._close, visible=n_maps > 1)

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


def _set(widget: Any, **values: Any) -> None:
    """Set parameters that differ, so that nothing is sent in vain."""
    changed = {name: v for name, v in values.items() if getattr(widget, name) != v}
    if changed:
        widget.param.update(**changed)
