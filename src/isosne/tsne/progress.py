"""What a fit tells of its progress: to the log, and with ``verbose=True`` to the user."""

import logging
import time

from isosne._progress import BAR_SECONDS, make_progress, print_line
from isosne.layout.descent import Progress, State
from isosne.layout.schedules import Schedule

logger = logging.getLogger("isosne")


def n_left(progress: Progress, schedule: Schedule) -> int:
    """Return the largest number of steps that remain; rules that stop a phase may leave fewer."""
    return sum(phase.n_iter for phase in schedule.phases[progress.phase :]) - progress.done


class Reporter:
    """Tells how far a fit has come.

    Messages go to the logger "isosne"; with ``verbose`` also to standard error. Steps are shown
    there as a bar, or as lines if standard error is not a terminal.
    """

    def __init__(self, verbose: object) -> None:
        self._is_shown = bool(verbose)
        self._bar = make_progress(print_line, quiet=not verbose)

    def say(self, message: str) -> None:
        """Tell the user a line."""
        logger.info(message)
        if self._is_shown:
            print_line(message)

    def begin(self, progress: Progress, schedule: Schedule) -> None:
        """Start the steps that remain."""
        self._began = self._next = time.perf_counter()
        self._first, self._n_phases = progress.iteration, len(schedule.phases)
        self._total = progress.iteration + n_left(progress, schedule)
        self._objective = ""
        self._bar.begin("step", self._total, first=self._first)

    def step(self, state: State, value: float | None) -> None:
        """Show a step, and the objective if it is known; most steps return at once."""
        now = time.perf_counter()
        if value is not None:
            self._objective = f"objective {value:.4f}"
            logger.info(
                f"step {state.iteration:5d}   {self._objective}   {now - self._began:.1f} s"
            )
        elif now < self._next and state.iteration < self._total:
            return
        self._next = now + BAR_SECONDS
        phase = f"phase {state.phase + 1} of {self._n_phases}" if self._n_phases > 1 else ""
        detail = ", ".join(part for part in (phase, self._objective) if part)
        self._bar.advance(state.iteration, detail)

    def end(self, iteration: int) -> None:
        """Close the bar, also if the run was interrupted, and tell the time of the steps."""
        self._bar.end()
        self.say(f"{iteration - self._first} steps in {time.perf_counter() - self._began:.1f} s")
