"""Schedules of step 3 as data: how many steps, how long, how much exaggeration, when to stop.

Gradients carry their factor 4 here, as in the paper. Packages that leave it out (FIt-SNE, openTSNE)
call the same step four times as large.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from isosne._checks import check_count, check_number
from isosne.errors import ParameterError


@dataclass(frozen=True)
class RateFalls:
    """Stop when the relative decrease of KL has passed its peak (opt-SNE, exaggerated phase).

    After `wait` steps KL is polled every `every` steps; the phase ends once the rate has fallen
    for `delay` polls in a row.
    """

    wait: int = 15
    every: int = 3
    delay: int = 2


@dataclass(frozen=True)
class ChangeBelow:
    """Stop when KL changes by less than a share of itself a step (opt-SNE, end of the run)."""

    wait: int = 15
    every: int = 5
    share: float = 1 / 5000


@dataclass(frozen=True)
class Phase:
    """A run of steps with constant settings."""

    n_iter: int
    exaggeration: float = 1.0
    momentum: float = 0.8
    step: float | None = None
    """Length of a step; None: n / (4 exaggeration), at least `shortest` (Belkina et al. 2019)."""
    shortest: float = 50.0
    stop: RateFalls | ChangeBelow | None = None

    def step_for(self, n_points: int) -> float:
        """Return the length of a step for a map of n points."""
        if self.step is not None:
            return self.step
        return max(n_points / (4 * self.exaggeration), self.shortest)


@dataclass(frozen=True)
class Schedule:
    """The phases of the optimization, one after the other.

    Parameters
    ----------
    phases : tuple of Phase
        The phases.
    min_gain : float, default=0.01
        Lower bound of the gain of a coordinate (van der Maaten and Hinton 2008).

    Examples
    --------
    >>> from isosne import Phase, Schedule
    >>> Schedule((Phase(100, exaggeration=4, momentum=0.5), Phase(400))).n_iter
    500
    """

    phases: tuple[Phase, ...]
    min_gain: float = 0.01

    @property
    def n_iter(self) -> int:
        """The largest number of steps that the schedule takes."""
        return sum(phase.n_iter for phase in self.phases)

    @classmethod
    def standard(cls, *, n_iter: int = 750, exaggeration: float = 1.0) -> Self:
        """Return the usual schedule: exaggeration 12 for 250 steps, then `exaggeration`.

        Parameters
        ----------
        n_iter : int, default=750
            Number of steps in all, more than 250.
        exaggeration : float, default=1.0
            Exaggeration that is kept to the end; 2 to 4 gives tighter clusters.

        Returns
        -------
        Schedule
            Two phases.
        """
        check_count(
            n_iter, "n_iter", low=251, hint="The first 250 steps are exaggerated; allow some more."
        )
        hint = "1 leaves the probabilities as they are."
        check_number(exaggeration, "exaggeration", low=1, hint=hint)
        return cls(
            (
                Phase(250, exaggeration=12, momentum=0.5),
                Phase(int(n_iter) - 250, exaggeration=float(exaggeration), momentum=0.8),
            )
        )

    @classmethod
    def paper(cls) -> Self:
        """Return the schedule of the paper's authors: 1000 steps of 500, exaggeration 4 for 100.

        Returns
        -------
        Schedule
            Three phases.
        """
        return cls(
            (
                Phase(100, exaggeration=4, momentum=0.5, step=500),
                Phase(150, momentum=0.5, step=500),
                Phase(750, momentum=0.8, step=500),
            )
        )

    @classmethod
    def opt_sne(cls) -> Self:
        """Return opt-SNE's schedule: both phases end by themselves (Belkina et al. 2019).

        Returns
        -------
        Schedule
            Two phases with stopping rules.
        """
        return cls(
            (
                Phase(500, exaggeration=12, momentum=0.5, stop=RateFalls()),
                Phase(2000, momentum=0.8, stop=ChangeBelow()),
            )
        )


def plain(n_iter: int, schedule: Schedule) -> Schedule:
    """Return `n_iter` more steps in the manner of a schedule's last phase, without a stop rule."""
    return replace(schedule, phases=(replace(schedule.phases[-1], n_iter=n_iter, stop=None),))


def lasting(schedule: Schedule, exaggeration: float) -> Schedule:
    """Return a schedule in which no phase exaggerates less than that, and the last just so.

    The shortest step of the last phase is divided by it: small maps could not settle otherwise.
    """
    *others, last = schedule.phases
    raised = [replace(p, exaggeration=max(p.exaggeration, exaggeration)) for p in others]
    return replace(
        schedule,
        phases=(
            *raised,
            replace(last, exaggeration=exaggeration, shortest=last.shortest / exaggeration),
        ),
    )


NAMES: dict[str, Callable[[], Schedule]] = {
    "standard": Schedule.standard,
    "paper": Schedule.paper,
    "opt_sne": Schedule.opt_sne,
}


def as_schedule(schedule: object) -> Schedule:
    """Return the schedule that a name stands for; objects pass."""
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, str) and schedule in NAMES:
        return NAMES[schedule]()
    raise ParameterError(
        "schedule",
        f"be one of {', '.join(map(repr, NAMES))}, or a Schedule",
        schedule,
        "Build one of your own as Schedule((Phase(...), ...)).",
    )
