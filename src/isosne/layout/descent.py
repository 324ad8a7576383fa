"""Gradient descent with momentum and gains, as a generator of states.

Progress, early stop, snapshots and checkpoints are loops over it. The probabilities are never
changed: exaggeration is a number in a phase.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from isosne._numba import kernel
from isosne._types import Array
from isosne.errors import DivergedError
from isosne.layout.schedules import ChangeBelow, Phase, Schedule

SPREAD = 1e-4
"""Standard deviation of the widest axis that a map gets back when it has shrunk to nothing.

Exaggerated attraction shrinks a map of a broad kernel by a factor at every step. So near to a point
forces grow with distances, and scaling the map changes nothing but its size; left alone, the map
would be lost in rounding.
"""
SMALLEST_SPREAD = 1e-7


class Field(Protocol):
    """Forces on the points of a map, and the objective that they descend."""

    def prepare(self, iteration: int, Y: NDArray[np.float32]) -> None:
        """Make ready for the step after `iteration` steps, from the map Y (d, n)."""
        ...

    def gradient(self, Y: NDArray[np.float32], exaggeration: float) -> NDArray[np.float32]:
        """Return the gradient (d, n)."""
        ...

    def value(self, Y: NDArray[np.float32]) -> float:
        """Return the objective, not exaggerated."""
        ...

    def step_limit(self, exaggeration: float) -> float:
        """Return the longest step that keeps a map together."""
        ...

    def step_share(self, progress: float) -> float:
        """Return the share of a step to take: progress is the part of the last phase, 0 before."""
        ...

    def state(self) -> dict[str, Array]:
        """Return what the forces of the next steps depend on besides the map."""
        ...

    def restore(self, state: dict[str, Array]) -> None:
        """Go back to a state."""
        ...


class State(NamedTuple):
    """The map after a step. `Y` is the live array: copy it to keep it."""

    iteration: int
    phase: int
    Y: NDArray[np.float32]
    gradient_norm: float
    value: Callable[[], float]


@dataclass
class Progress:
    """How far a descent has come: with the state of the forces, all that is needed to go on.

    ``Y``, ``update`` and ``gains`` (d, n); ``done`` steps of a ``phase``; what its stop rule has
    seen.
    """

    Y: NDArray[np.float32]
    update: NDArray[np.float32]
    gains: NDArray[np.float32]
    iteration: int = 0
    phase: int = 0
    done: int = 0
    values: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    @classmethod
    def at(cls, Y: NDArray[np.float32], iteration: int = 0) -> Self:
        """Return a fresh start from a map, which is changed in place."""
        return cls(Y, np.zeros_like(Y), np.ones_like(Y), iteration)

    def end_phase(self) -> None:
        """Go over to the next phase."""
        self.phase, self.done, self.values, self.rates = self.phase + 1, 0, [], []


def descend(forces: Field, progress: Progress, schedule: Schedule) -> Iterator[State]:
    """Yield the map after each further step; it is changed in place and stays centered.

    At each yield, progress is all that is needed to go on from there.
    """
    Y, update, gains = progress.Y, progress.update, progress.gains

    def value() -> float:
        return forces.value(Y)

    while progress.phase < len(schedule.phases):
        phase = schedule.phases[progress.phase]
        is_last = progress.phase == len(schedule.phases) - 1
        longest = min(phase.step_for(Y.shape[1]), forces.step_limit(phase.exaggeration))
        if progress.done >= phase.n_iter:
            progress.end_phase()
            continue
        forces.prepare(progress.iteration, Y)
        step = longest * forces.step_share((progress.done + 1) / phase.n_iter if is_last else 0.0)
        gradient = forces.gradient(Y, phase.exaggeration)
        norm = float(np.sqrt(np.einsum("ij,ij->", gradient, gradient, dtype=np.float64)))
        if not np.isfinite(norm):
            raise DivergedError(
                f"The map must stay finite; it left all bounds at step {progress.iteration + 1} "
                f"with step length {step:g}. Choose a schedule with shorter steps."
            )
        spread = advance(Y, update, gains, gradient, (phase.momentum, step, schedule.min_gain))
        if 0 < spread < SMALLEST_SPREAD:
            Y *= np.float32(SPREAD / spread)
            update *= np.float32(SPREAD / spread)
        progress.iteration += 1
        progress.done += 1
        state = State(progress.iteration, progress.phase, Y, norm, value)
        if has_ended(phase, progress, value):
            progress.end_phase()
        yield state


def has_ended(phase: Phase, progress: Progress, value: Callable[[], float]) -> bool:
    """Tell the phase's stop rule of a step; return whether the phase should end."""
    rule, done = phase.stop, progress.done
    if rule is None or done < rule.wait or (done - rule.wait) % rule.every:
        return False
    values, rates = progress.values, progress.rates
    values.append(value())
    if len(values) < 2:
        return False
    change = values[-2] - values[-1]
    if isinstance(rule, ChangeBelow):
        return abs(change) / rule.every < values[-1] * rule.share
    rates.append(change / values[-2] if values[-2] else 0.0)
    recent = rates[-rule.delay - 1 :]
    falls = all(later < earlier for earlier, later in pairwise(recent))
    return falls and len(recent) > rule.delay


@kernel
def advance(
    Y: Array, update: Array, gains: Array, gradient: Array, settings: tuple[float, float, float]
) -> float:
    """Take one step in place, then center the map; return the widest standard deviation.

    A gain grows by 0.2 while the step goes against the gradient's sign, and shrinks by a fifth
    otherwise; settings: momentum, step, smallest gain.
    """
    momentum, step, min_gain = settings
    widest = 0.0
    for c in range(Y.shape[0]):
        total = 0.0
        for i in range(Y.shape[1]):
            same_sign = np.sign(gradient[c, i]) == np.sign(update[c, i])
            gain = gains[c, i] * 0.8 if same_sign else gains[c, i] + 0.2
            gain = max(gain, min_gain)
            gains[c, i] = gain
            update[c, i] = momentum * update[c, i] - step * gain * gradient[c, i]
            Y[c, i] += update[c, i]
            total += Y[c, i]
        center = total / Y.shape[1]
        squares = 0.0
        for i in range(Y.shape[1]):
            Y[c, i] -= center
            squares += np.float64(Y[c, i]) * np.float64(Y[c, i])
        widest = max(widest, squares)
    return float(np.sqrt(widest / Y.shape[1]))
