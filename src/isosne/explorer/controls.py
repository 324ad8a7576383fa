"""What is done with maps: settings, runs, the second map, and command lines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn

from isosne._html import Markup, fill
from isosne.errors import DataError
from isosne.explorer.assets import text_pane, write
from isosne.explorer.data import CHOICES, Settings
from isosne.explorer.files import upload_map
from isosne.explorer.maps import PAUSED, RUNNING, ShownMap, Status, as_sentence
from isosne.explorer.session import Session
from isosne.rows.maps import READABLE

MORE_STEPS = 100


class Messages:
    """A line above the maps, for errors and notes, that can be closed."""

    def __init__(self) -> None:
        self._text = text_pane()
        close = pn.widgets.Button(label="Close", margin=(4, 8))
        self.view = pn.Row(self._text, close, visible=False, sizing_mode="stretch_width")
        close.on_click(lambda event: self.view.param.update(visible=False))

    def tell(self, sentence: str, kind: str = "info") -> None:
        """Show a sentence."""
        write(self._text, sentence)
        self._text.css_classes = ["message", kind]
        self.view.visible = True

    def warn(self, error: Exception) -> None:
        """Show an error."""
        self.tell(as_sentence(error), "warning")

    def guard(self, callback: Callable[..., None]) -> Callable[..., None]:
        """Return a callback whose errors are shown."""

        def call(*arguments: Any) -> None:
            self.view.visible = False
            try:
                callback(*arguments)
            except Exception as error:
                self.warn(error)

        return call


class MapControls:
    """Settings of one map, and buttons for its run."""

    def __init__(self, session: Session, m: int, messages: Messages) -> None:
        self._session, self._m = session, m
        wide = {"sizing_mode": "stretch_width"}
        kernel = "gaussian" if m else "owner"
        self.kernel = pn.widgets.Select(label="Kernel", options=list(CHOICES), value=kernel, **wide)
        self._size = pn.widgets.TextInput(placeholder="default", **wide)
        self._exaggeration = pn.widgets.FloatInput(
            label="Exaggeration", value=1.0, start=1.0, end=100.0, step=0.5, **wide
        )
        self._seed = pn.widgets.IntInput(label="Seed", value=0, start=0, step=1, **wide)
        self._n_iter = pn.widgets.IntInput(
            label="Steps", value=None, placeholder="default", start=151, step=50, **wide
        )
        actions = {
            "Compute": lambda event: session.begin(m, self.settings()),
            "Pause": self._steer(ShownMap.switch),
            "Stop": self._steer(ShownMap.stop),
            f"{MORE_STEPS} more steps": self._steer(lambda shown: shown.more(MORE_STEPS)),
        }
        buttons = [pn.widgets.Button(label=label) for label in actions]
        for button, action in zip(buttons, actions.values(), strict=True):
            button.on_click(messages.guard(action))
        begin, self._pause, self._stop, self._more = buttons
        begin.color = "primary"
        self.kernel.param.watch(lambda event: self._name_size(), "value")
        self._name_size()
        self.view = pn.Column(
            pn.Row(self.kernel, self._size),
            pn.Row(self._exaggeration, self._seed, self._n_iter),
            pn.FlexBox(*buttons),
            sizing_mode="stretch_width",
        )

    def settings(self) -> Settings:
        """Return the settings that the controls show; the distance is that of the first map."""
        if None in (self._exaggeration.value, self._seed.value):
            raise DataError("Exaggeration and seed must be numbers. Type a number in each.")
        exaggeration = float(self._exaggeration.value)
        known = [shown.settings for shown in self._session.maps if shown.settings is not None]
        return Settings(
            self.kernel.value,
            self._size.value.strip(),
            None if exaggeration == 1.0 else exaggeration,
            int(self._seed.value),
            self._n_iter.value,
            (known[0] if known else Settings()).metric,
        )

    def show(self, settings: Settings) -> None:
        """Set the controls to some settings."""
        self.kernel.value = settings.kernel
        self._size.value = settings.size
        self._exaggeration.value = settings.exaggeration or 1.0
        self._seed.value, self._n_iter.value = settings.seed, settings.n_iter

    def tick(self) -> None:
        """Enable the buttons that have an effect; Panel sends only what differs."""
        maps = self._session.maps
        status = maps[self._m].status if self._m < len(maps) else Status()
        self._pause.label = "Resume" if status.state == PAUSED else "Pause"
        self._pause.disabled = status.state not in (RUNNING, PAUSED)
        self._stop.disabled = not status.is_active
        self._more.disabled = not status.has_model

    def _name_size(self) -> None:
        """Name the main parameter of the kernel; the value of another parameter is given up."""
        name = Settings(self.kernel.value).parameter.replace("_", " ").capitalize()
        if name != self._size.label:
            self._size.param.update(label=name, value="")

    def _steer(self, work: Callable[[ShownMap], None]) -> Callable[[Any], None]:
        """Return a callback that does something with the run of the map."""
        return lambda event: work(self._session.maps[self._m])


class SecondMap:
    """Opens and closes the second map: another kernel, or a map of another program."""

    def __init__(self, session: Session, second: MapControls, messages: Messages) -> None:
        self._session, self._second, self._tell = session, second, messages.tell
        self._compare = pn.widgets.Button(label="Compare with a second map")
        self._close = pn.widgets.Button(label="Close the second map")
        self._file = pn.widgets.FileInput(accept=",".join(READABLE), multiple=False)
        self._compare.on_click(messages.guard(self._begin))
        self._close.on_click(messages.guard(lambda event: session.close_second()))
        self._file.param.watch(messages.guard(self._upload), "value")
        self._hint = text_pane(
            "Or load a map made by isosne, UMAP or another program: a table with columns id, x and "
            "y, or an array in row order.",
            soft=True,
        )
        self._title = text_pane(Markup("<h2>Second map</h2>"))
        self.buttons = pn.Row(self._compare, self._close)
        self.view = pn.Column(
            self._title,
            second.view,
            self._hint,
            self._file,
            sizing_mode="stretch_width",
        )

    def tick(self) -> None:
        """Show what can be done."""
        has_second = len(self._session.maps) > 1
        for part in (self._compare, self._hint, self._file):
            part.visible = not has_second
        for part in (self._title, self._second.view, self._close):
            part.visible = has_second

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
                self._tell(notes)


class CommandPane:
    """One line for each map."""

    def __init__(self, session: Session) -> None:
        self._session, self.view = session, text_pane()

    def tick(self) -> None:
        """Show the commands of the maps as they are now."""
        lines = [self._session.command(m) for m in range(len(self._session.maps))]
        each = '<pre>{}</pre><button class="link" data-copy="{}">Copy</button>'
        words = [[fill("<span>{}</span> ", word) for word in line.split(" ")] for line in lines]
        write(self.view, fill("{}", [fill(each, *one) for one in zip(words, lines, strict=True)]))
