"""Gradient descent with momentum, as a generator of states.

The caller loops over the states and adds progress output, early stopping, snapshots and
checkpoints. The probabilities are never modified: exaggeration is a factor of the attraction.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from isosne._numba import kernel
from isosne._portable import log
from isosne._types import Array, Scalar
from isosne.errors import DivergedError
from isosne.layout.anchors import Pull
from isosne.layout.forces import Forces
from isosne.layout.schedules import ChangeBelow, Phase, Schedule

SPREAD = 1e-4
"""Standard deviation of the widest axis at the start (van der Maaten and Hinton 2008; the paper's
random start has it too), and after a collapsed map was rescaled.

Exaggerated attraction of a broad kernel shrinks the map by a factor per step. In a map that small
forces are linear in the distances, so rescaling changes only its size; without it, coordinates
would be lost in rounding (docs/decisions/0006).
"""
LARGEST_SPREAD = 1e12
"""Standard deviation above which a map has diverged; maps are 10 to 10,000 wide, and float32 ends
at 1e38, the square of 1e19 (chosen)."""
SMALLEST_SPREAD = 1e-7
"""Standard deviation of the widest axis below which a map is rescaled (docs/decisions/0006)."""
GAIN_UP, GAIN_DOWN, MIN_GAIN = 0.2, 0.8, 0.01
"""Increment, factor and floor of the gains (Jacobs 1988; van der Maaten and Hinton 2008)."""
BRAKE = 0.9
"""Largest momentum at a step that leads uphill, without gains (docs/decisions/0020)."""
N_POWER_STEPS, STRONG = 20, 1000.0
"""Steps of the power method, and an exaggeration beside which repulsion is negligible."""
SPRING = 64
"""Degrees of freedom from which the step limit is that of a Gaussian (chosen)."""


class State(NamedTuple):
    """The state of the optimization after a step, passed to the callback of `TSNE`.

    Attributes
    ----------
    iteration : int
        Number of steps taken.
    phase : int
        Index of the phase.
    Y : array of float32, shape (n_components, n_samples)
        The map. It is modified in place by the next step; copy it to keep it.
    gradient_norm : float
        Euclidean norm of the gradient.
    value : callable
        Returns the objective, without the pull of an alignment; takes about as long as a step if
        it was not computed at this step before.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isosne import TSNE
    >>> def stop(state):
    ...     return state.iteration == 20
    >>> TSNE(callback=stop, random_state=0).fit(load_iris().data).n_iter_
    20
    """

    iteration: int
    phase: int
    Y: NDArray[np.float32]
    gradient_norm: float
    value: Callable[[], float]


@dataclass
class Progress:
    """The resumable state of a descent: ``done`` steps of a phase, and what its rule recorded.

    ``Y``, ``update`` and ``gains`` (d, n); ``sharpness`` is 0 before it was computed.
    """

    Y: NDArray[np.float32]
    update: NDArray[np.float32]
    gains: NDArray[np.float32]
    iteration: int = 0
    phase: int = 0
    done: int = 0
    values: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    sharpness: float = 0.0

    @classmethod
    def at(cls, Y: NDArray[np.float32], iteration: int = 0) -> Self:
        """Return the initial progress from a map, which is modified in place."""
        return cls(Y, np.zeros_like(Y), np.ones_like(Y), iteration)

    def end_phase(self) -> None:
        """Start the next phase."""
        self.phase, self.done, self.values, self.rates = self.phase + 1, 0, [], []


def descend(
    forces: Forces, progress: Progress, schedule: Schedule, pull: Pull | None = None
) -> Iterator[State]:
    """Yield the state after each remaining step; the map is modified in place.

    It stays centered, unless a pull holds points at their places. At each yield, `progress` is
    complete: a descent can resume from it.
    """
    Y, update, gains = progress.Y, progress.update, progress.gains
    shares = np.ones(Y.shape[1], np.float32)
    if schedule.bounded:
        shares /= np.maximum(forces.loads(), 1)
        progress.sharpness = progress.sharpness or sharpness(forces, shares, Y.shape[0])
    limits = shares, np.zeros_like(shares) if pull is None else pull.stiffness

    value_at = lru_cache(1)(lambda iteration: forces.value(Y))  # computed once per step

    def value() -> float:
        return value_at(progress.iteration)

    def objective() -> float:
        return value() if pull is None else value() + pull.value(Y)

    while progress.phase < len(schedule.phases):
        phase = schedule.phases[progress.phase]
        is_last = progress.phase == len(schedule.phases) - 1
        if progress.done >= phase.n_iter:
            progress.end_phase()
            continue
        exaggeration = phase.exaggeration_at(progress.done)
        limit = step_limit(Y.shape[1], forces.dof, exaggeration)
        longest = min(phase.step_for(Y.shape[1], progress.done), limit)
        if schedule.bounded:
            longest /= progress.sharpness
        forces.prepare(progress.iteration, Y)
        # Sampled attraction shortens the steps of the last phase; other forces return 1.
        step = longest * forces.step_share((progress.done + 1) / phase.n_iter if is_last else 0.0)
        gradient = forces.gradient(Y, exaggeration)
        if pull is not None:
            pull.add(Y, gradient)
        # In float64: the norm also detects NaN and infinity in any entry.
        norm = float(np.sqrt(np.square(gradient, dtype=np.float64).sum()))
        spread = np.nan
        if np.isfinite(norm):
            momentum = phase.momentum
            moved = update * forces.masses[0] if forces.masses else update
            if not schedule.gains and product(gradient, moved) > 0:
                momentum = min(momentum, BRAKE)
            settings = momentum, step, schedule.gains
            spread = advance(Y, update, gains, gradient, limits, settings, pull is None)
        if not spread <= LARGEST_SPREAD:  # also NaN
            raise DivergedError(
                f"The optimization diverged at step {progress.iteration + 1} "
                f"with step length {step:g}. Choose a schedule with shorter steps."
            )
        if pull is None and 0 < spread < SMALLEST_SPREAD:  # collapsed: see SPREAD
            Y *= np.float32(SPREAD / spread)
            update *= np.float32(SPREAD / spread)
        progress.iteration += 1
        progress.done += 1
        state = State(progress.iteration, progress.phase, Y, norm, value)
        # Before the yield, so that a checkpoint taken there already has the next phase. If steps
        # become shorter toward the end of the last phase, all of them are taken.
        is_shortened = is_last and forces.step_share(1.0) < 1
        if not is_shortened and has_ended(phase, progress, objective):
            progress.end_phase()
        yield state


def sharpness(forces: Forces, shares: NDArray[np.float32], n_components: int) -> float:
    """Return the largest eigenvalue of the Laplacian of n P, with rows times shares; at least 1.

    By the power method: forces on a tiny map are linear, and with much exaggeration they are 4
    times the Laplacian of P times its coordinates. 1.2 to 1.6 for usual data, 2 for pairs.
    """
    n = len(shares)
    Y = np.random.default_rng(0).random((n_components, n), np.float32) - np.float32(0.5)
    eigenvalue = 1.0
    for _ in range(N_POWER_STEPS):
        Y *= np.float32(SPREAD / math.sqrt(product(Y, Y)))
        gradient = forces.gradient(Y, STRONG)
        Y = shares * gradient * np.float32(n / (4 * STRONG))
        eigenvalue = math.sqrt(product(Y, Y)) / SPREAD
        if not eigenvalue:  # no forces
            break
    return max(eigenvalue, 1.0)


def step_limit(n_points: int, dof: Scalar, exaggeration: float) -> float:
    """Return the longest step at which the optimization does not diverge.

    With a Gaussian, attraction grows like that of a spring: its Hessian, 4 exaggeration times the
    Laplacian of P, has eigenvalues up to about 8 exaggeration / n, with Student's t smaller ones.
    """
    if dof <= 2:
        return np.inf
    return n_points / (8 * exaggeration) * max(1.0, SPRING / float(dof))


def has_ended(phase: Phase, progress: Progress, value: Callable[[], float]) -> bool:
    """Update the stop rule of the phase; return whether the phase should end."""
    rule, done = phase.stop, progress.done
    if rule is None or done % rule.every:
        return False
    values, rates = progress.values, progress.rates
    # KL of the exaggerated probabilities, divided by the exaggeration.
    values.append(value() + log(phase.exaggeration_at(done - 1)))
    if len(values) < 2:
        return False
    change = values[-2] - values[-1]
    if isinstance(rule, ChangeBelow):
        return done > rule.wait and abs(change) / rule.every < values[-1] * rule.share
    rates.append(change / values[-2] if values[-2] else 0.0)
    # The first rate that is compared with the one before it is the first after `wait` steps.
    counted = rates[max(0, rule.wait // rule.every - 2) :]
    n_falls = sum(later < earlier for earlier, later in pairwise(counted))
    return n_falls > rule.delay


@kernel
def product(a: Array, b: Array) -> float:
    """Return the sum of the products of two arrays (d, n), in their order."""
    found = 0.0
    for c in range(a.shape[0]):
        for i in range(a.shape[1]):
            found += np.float64(a[c, i]) * np.float64(b[c, i])
    return found


@kernel
def advance(
    Y: Array,
    update: Array,
    gains: Array,
    gradient: Array,
    limits: tuple[Array, Array],
    settings: tuple[float, float, bool],
    is_free: bool,
) -> float:
    """Take one step in place; return the largest standard deviation of an axis.

    The map is centered if it is free: then the objective does not depend on the center.

    A gain grows by GAIN_UP if gradient and last update differ in sign, that is, if the point keeps
    its direction, and shrinks otherwise. limits: factors of the step length (n,), and the stiffness
    of the pull (n,), in which the step is implicit, so that no stiffness is too much; settings:
    momentum, step length, whether there are gains.
    """
    shares, stiffness = limits
    momentum, step, has_gains = settings
    widest = 0.0
    for c in range(Y.shape[0]):
        total = 0.0
        for i in range(Y.shape[1]):
            gain: float = np.float64(gains[c, i])
            if has_gains:
                same_sign = np.sign(gradient[c, i]) == np.sign(update[c, i])
                gain = max(gain * GAIN_DOWN if same_sign else gain + GAIN_UP, MIN_GAIN)
                gains[c, i] = gain
            length = step * shares[i] * gain
            target = momentum * update[c, i] - length * gradient[c, i]
            update[c, i] = target / (1.0 + length * stiffness[i])
            Y[c, i] += update[c, i]
            total += Y[c, i]
        center = total / Y.shape[1]
        shift = center if is_free else 0.0
        squares = 0.0
        for i in range(Y.shape[1]):
            Y[c, i] -= shift
            offset = np.float64(Y[c, i]) - (center - shift)
            squares += offset * offset
        widest = max(widest, squares)
    return float(np.sqrt(widest / Y.shape[1]))
