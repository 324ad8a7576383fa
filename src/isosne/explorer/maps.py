"""A map that is shown: complete, or computed in a thread and watched through copies of it.

The callback of a fit stores a copy of the map now and then. It never waits for those who look,
except that a paused fit waits in it until it is resumed.
"""

import copy
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import IsosneError
from isosne.explorer.data import Settings
from isosne.layout.descent import State
from isosne.layout.schedules import as_schedule
from isosne.tsne.estimator import TSNE

PREPARING, RUNNING, PAUSED = "preparing", "running", "paused"
STOPPED, FINISHED, FAILED = "stopped", "finished", "failed"
FRAME_SECONDS, LARGE_FRAME_SECONDS, LARGE_MAP = 0.3, 1.0, 8000
"""Shortest time between two frames, of small and of large maps, and the points of a large one;
drawing a frame takes about 35 ms of a core without a graphics card (`python -m benchmarks
explore`)."""


class Status(NamedTuple):
    """How far a run has come: ``state`` is "" without one, ``seconds_left`` None if unknown."""

    state: str = ""
    iteration: int = 0
    n_iter: int = 0
    seconds_left: float | None = None
    message: str = ""

    @property
    def is_active(self) -> bool:
        """Whether the run goes on, or can be resumed."""
        return self.state in (PREPARING, RUNNING, PAUSED)

    @property
    def has_model(self) -> bool:
        """Whether the run has ended with a fitted estimator."""
        return self.state in (STOPPED, FINISHED)

    def __str__(self) -> str:
        if self.state in ("", FAILED):
            return self.message
        if self.state == PREPARING:
            return "Computing similarities and neighbors"
        parts = [self.state.capitalize(), f"step {self.iteration:,} of {self.n_iter:,}"]
        if self.state == RUNNING and self.seconds_left is not None:
            parts.append(f"{self.seconds_left:.0f} s left")
        return ", ".join(parts)


class ShownMap:
    """A map of all rows or of some, whose run can be watched, paused, stopped and continued.

    ``settings``: None for a map of another program, and for a kernel that the page does not offer.
    ``rows``: those that are mapped, in ascending order; None for all. ``note``: what the settings
    do not tell. ``has_more``: whether it has more steps than its schedule. ``Y`` (n, 2): a position
    of each row of the table, NaN if it has none; replaced by each frame, and never changed.
    """

    def __init__(
        self,
        title: str,
        settings: Settings | None,
        Y: NDArray[np.float32],
        rows: Array | None = None,
        note: str = "",
    ) -> None:
        self.title, self.settings, self.Y, self.rows, self.note = title, settings, Y, rows, note
        self.model: TSNE | None = None
        self.has_more = False
        self.status = Status()
        self._lock = threading.Lock()
        self._may_go = threading.Event()
        self._is_stopped = False
        self._next_frame = self._began = 0.0
        self._first = 0
        self._thread: threading.Thread | None = None

    @property
    def n_points(self) -> int:
        """The number of rows that are mapped."""
        return len(self.Y if self.rows is None else self.rows)

    def fit(self, model: TSNE, X: Any) -> None:
        """Begin to fit an estimator, whose callback is replaced."""
        self.model = model.set_params(callback=self._see)
        self.status = Status(PREPARING, n_iter=as_schedule(model.schedule).n_iter)
        self._begin(self.model, lambda: model.fit(X))

    def take(self, model: TSNE) -> None:
        """Show the map of a fitted estimator, which stays as it is if the map is continued."""
        self.model = copy.copy(model).set_params(callback=self._see)
        self.has_more = model.n_iter_ > as_schedule(model.schedule).n_iter
        self._end(self.model, FINISHED)

    def more(self, n_iter: int) -> None:
        """Continue a run that has ended without an error, for further steps."""
        model = self.model
        if model is not None and self.status.has_model:
            self.has_more = True
            self._update(RUNNING, n_iter=self.status.iteration + n_iter)
            self._begin(model, lambda: model.continue_fit(n_iter))

    def switch(self) -> None:
        """Wait after the current step until the next `switch` or `stop`; or go on."""
        if self.status.state == RUNNING:
            self._may_go.clear()
            self._update(PAUSED)
        elif self.status.state == PAUSED:
            self._began = 0.0  # the time per step is measured anew: a pause is no part of it
            self._update(RUNNING)
            self._may_go.set()

    def stop(self) -> None:
        """End the run after the current step; the map so far is kept."""
        self._is_stopped = True
        self._may_go.set()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended or is interrupted; return whether it has."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _begin(self, model: TSNE, work: Callable[[], Any]) -> None:
        self._is_stopped, self._began = False, 0.0
        self._may_go.set()
        self._thread = threading.Thread(target=self._work, args=(model, work), daemon=True)
        self._thread.start()

    def _work(self, model: TSNE, work: Callable[[], Any]) -> None:
        """Do the work; an error becomes a message, because no one waits for the thread."""
        try:
            work()
        except Exception as error:
            self._update(FAILED, message=as_sentence(error))
            return
        has_ended = model.n_iter_ >= self.status.n_iter or not self._is_stopped
        self._end(model, FINISHED if has_ended else STOPPED)

    def _end(self, model: TSNE, state: str) -> None:
        n_iter = model.n_iter_ if state == FINISHED else max(self.status.n_iter, model.n_iter_)
        self._show(model.embedding_)
        self._update(state, iteration=model.n_iter_, n_iter=n_iter)

    def _see(self, state: State) -> bool:
        """Store what there is to see of a step; return whether to stop."""
        now = time.monotonic()
        if not self._began:
            self._began, self._first = now, state.iteration
        if now >= self._next_frame:
            is_large = self.n_points >= LARGE_MAP
            self._next_frame = now + (LARGE_FRAME_SECONDS if is_large else FRAME_SECONDS)
            self._store(state, now)
        if not self._may_go.is_set():
            self._store(state, now)
            self._may_go.wait()
        return self._is_stopped

    def _store(self, state: State, now: float) -> None:
        taken, left = state.iteration - self._first, None
        if taken > 0:
            left = (now - self._began) / taken * (self.status.n_iter - state.iteration)
        self._show(np.ascontiguousarray(state.Y.T))
        self._update(
            RUNNING if self._may_go.is_set() else PAUSED,
            iteration=state.iteration,
            seconds_left=left,
        )

    def _show(self, Y: NDArray[np.float32]) -> None:
        whole = Y
        if self.rows is not None:
            whole = np.full_like(self.Y, np.nan)
            whole[self.rows] = Y
        self.Y = whole

    def _update(self, state: str, **changes: Any) -> None:
        """Change the status, after the map: pages look for a new map when the status is new."""
        with self._lock:
            self.status = self.status._replace(state=state, **changes)


def as_sentence(error: Exception) -> str:
    """Return an error as a sentence for the page."""
    if isinstance(error, IsosneError):
        return str(error)
    if isinstance(error, MemoryError):
        return "Out of memory. Explore fewer rows, or choose another kernel."
    return f"Internal error: {type(error).__name__}: {error}. Please report it."
