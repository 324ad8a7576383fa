"""A fit in a thread of its own, watched through copies of its map.

The callback of the fit stores a copy of the map now and then. It never waits for those who look,
except that a paused fit waits in it until it is resumed.
"""

import copy
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isosne.errors import IsosneError
from isosne.layout.descent import State
from isosne.layout.schedules import as_schedule
from isosne.tsne.estimator import TSNE
from isosne.tsne.plan import useful_threads

PREPARING, RUNNING, PAUSED = "preparing", "running", "paused"
STOPPED, FINISHED, FAILED = "stopped", "finished", "failed"
FRAME_SECONDS, LARGE_FRAME_SECONDS = 0.3, 1.0
"""Shortest time between two frames, of small and of large maps. A browser without a graphics card
needs about 35 ms of a core to draw one (`python -m benchmarks explore` measures what it costs)."""
VALUE_EVERY = 100
"""Steps between two values of the objective; each costs about one step."""


class Status(NamedTuple):
    """How far a run has come: ``state`` is "" without one, ``seconds_left`` None if unknown."""

    state: str
    phase: int = 0
    n_phases: int = 1
    iteration: int = 0
    n_iter: int = 0
    objective: float | None = None
    seconds_left: float | None = None
    message: str = ""

    @property
    def is_active(self) -> bool:
        """Whether the run goes on, or can be resumed."""
        return self.state in (PREPARING, RUNNING, PAUSED)

    @property
    def share(self) -> float:
        """The share of the steps that are done, from 0 to 1."""
        return min(self.iteration / max(self.n_iter, 1), 1.0)

    def __str__(self) -> str:
        if self.state in ("", FAILED):
            return self.message
        if self.state == PREPARING:
            return "Computing similarities and neighbors"
        parts = [self.state.capitalize(), f"step {self.iteration:,} of {self.n_iter:,}"]
        if self.state == RUNNING:
            parts.append(f"phase {self.phase + 1} of {self.n_phases}")
        if self.objective is not None:
            parts.append(f"objective {self.objective:.4f}")
        if self.state == RUNNING and self.seconds_left is not None:
            parts.append(f"{self.seconds_left:.0f} s left")
        return ", ".join(parts)


class Run:
    """A fit that can be watched, paused, resumed, stopped and continued.

    The callback of the model is replaced.
    """

    def __init__(self, model: TSNE, X: Any) -> None:
        self.model = model.set_params(callback=self._see)
        self._X = X
        self._lock = threading.Lock()
        self._may_go = threading.Event()
        self._may_go.set()
        self._is_stopped = False
        schedule = as_schedule(model.schedule)
        self._status = Status(PREPARING, n_phases=len(schedule.phases), n_iter=schedule.n_iter)
        self._Y: NDArray[np.float32] | None = None
        self._n_frames = 0
        is_large = useful_threads(X.shape[0], "mesh") > 1  # no core is left for the browser
        self._interval = LARGE_FRAME_SECONDS if is_large else FRAME_SECONDS
        self._next_frame = self._began = 0.0
        self._first = 0
        self._objective: float | None = None
        self._thread: threading.Thread | None = None

    @classmethod
    def of_fitted(cls, model: TSNE, X: Any) -> Self:
        """Return an ended run of a fitted estimator, which stays as it is if the run goes on."""
        run = cls(copy.copy(model), X)
        run._objective = model.kl_divergence_
        run._end(FINISHED, model.n_iter_)
        return run

    @property
    def status(self) -> Status:
        """How far the run has come."""
        with self._lock:
            return self._status

    @property
    def frame(self) -> tuple[int, NDArray[np.float32] | None]:
        """The number of the latest frame, and its map (n, 2); None before the first step."""
        with self._lock:
            return self._n_frames, self._Y

    @property
    def n_points(self) -> int:
        """The number of points of the map."""
        return int(self._X.shape[0])

    def start(self) -> None:
        """Begin the fit."""
        self._begin(lambda: self.model.fit(self._X))

    def switch(self) -> None:
        """Wait after the current step until the next `switch` or `stop`; or go on."""
        if self.status.state == RUNNING:
            self._may_go.clear()
            self._update(state=PAUSED)
        elif self.status.state == PAUSED:
            self._began = 0.0  # the time per step is measured anew: a pause is no part of it
            self._update(state=RUNNING)
            self._may_go.set()

    def stop(self) -> None:
        """End the run after the current step; the map so far is kept."""
        self._is_stopped = True
        self._may_go.set()

    def more(self, n_iter: int) -> None:
        """Continue a run that has ended without an error, for further steps."""
        status = self.status
        if status.state not in (FINISHED, STOPPED):
            return
        self._update(state=RUNNING, n_iter=status.iteration + n_iter, phase=0, n_phases=1)
        self._begin(lambda: self.model.continue_fit(n_iter))

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended or is interrupted; return whether it has."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _begin(self, work: Callable[[], Any]) -> None:
        self._is_stopped, self._began = False, 0.0
        self._thread = threading.Thread(target=self._work, args=(work,), daemon=True)
        self._thread.start()

    def _work(self, work: Callable[[], Any]) -> None:
        """Do the work; an error becomes a message, because no one waits for the thread."""
        try:
            work()
        except Exception as error:
            self._update(state=FAILED, message=as_sentence(error))
            return
        has_ended = self.model.n_iter_ >= self.status.n_iter or not self._is_stopped
        n_iter = max(self.status.n_iter, self.model.n_iter_)
        self._end(FINISHED if has_ended else STOPPED, n_iter)

    def _end(self, state: str, n_iter: int) -> None:
        """Show the map and the objective of the fitted model."""
        model = self.model
        self._add_frame(model.embedding_)
        self._update(
            state=state, iteration=model.n_iter_, n_iter=n_iter, objective=model.kl_divergence_
        )

    def _add_frame(self, Y: NDArray[np.float32]) -> None:
        with self._lock:
            self._Y = Y
            self._n_frames += 1

    def _see(self, state: State) -> bool:
        """Store what there is to see of a step; return whether to stop."""
        now = time.monotonic()
        if not self._began:
            self._began, self._first = now, state.iteration
        if state.iteration % VALUE_EVERY == 0:
            self._objective = state.value()
        if now >= self._next_frame:
            self._next_frame = now + self._interval
            self._store(state, now)
        if not self._may_go.is_set():
            self._store(state, now)
            self._may_go.wait()
        return self._is_stopped

    def _store(self, state: State, now: float) -> None:
        taken, left = state.iteration - self._first, None
        if taken > 0:
            left = (now - self._began) / taken * (self.status.n_iter - state.iteration)
        self._add_frame(np.ascontiguousarray(state.Y.T))
        self._update(
            state=RUNNING if self._may_go.is_set() else PAUSED,
            phase=min(state.phase, self.status.n_phases - 1),
            iteration=state.iteration,
            objective=self._objective,
            seconds_left=left,
        )

    def _update(self, **changes: Any) -> None:
        with self._lock:
            self._status = self._status._replace(**changes)


def as_sentence(error: Exception) -> str:
    """Return an error as a sentence for the page."""
    if isinstance(error, IsosneError):
        return str(error)
    if isinstance(error, MemoryError):
        return "Out of memory. Explore fewer rows, or choose another kernel."
    return f"Internal error: {type(error).__name__}: {error}. Please report it."
