"""Schedules of the optimization: number and length of steps, exaggeration, stop rules.

Gradients include the factor 4, as in the paper. Packages that omit it (FIt-SNE, openTSNE) use
learning rates four times as large for the same step.
"""

from dataclasses import dataclass, replace
from typing import Self, cast

from isosne._checks import check_count, check_number
from isosne._portable import power
from isosne.errors import ParameterError, suggest

LARGEST_SETTING = 1e9
"""Largest exaggeration and the like; larger ones leave no finite map (chosen)."""
NO_EXAGGERATION = "1 means no exaggeration."
FALLING_MOMENTUM, LATE_MOMENTUM = 0.9, 0.998
"""Momentum of the default schedule while exaggeration falls, and in the last phase: the same for
any number of points, because `descend` brakes (docs/decisions/0020)."""
REFINING, REFINING_STEPS = 2.0, 50
"""Exaggeration for new rows of a finished map, as a factor of their share, and steps in which it
falls (docs/decisions/0017)."""
MOST_STEPS = 500
"""Largest number of steps of the default schedule (docs/decisions/0020)."""


def _check_steps(wait: object, every: object) -> None:
    check_count(wait, "wait", low=0, hint="Pass the number of steps before the rule applies.")
    check_count(every, "every", low=1, hint="Pass the number of steps between two values.")


def _check_setting(value: object, name: str, low: float, hint: str) -> None:
    check_number(value, name, low=low, high=LARGEST_SETTING, hint=hint)


@dataclass(frozen=True)
class RateFalls:
    """Stop after the relative decrease of KL has peaked (opt-SNE, early exaggeration).

    KL of the exaggerated probabilities is computed every `every` steps. After `wait` steps, the
    phase ends when its relative decrease has been smaller than the one before more than `delay`
    times. Defaults and rule: the program of Belkina et al. 2019.
    """

    wait: int = 15
    every: int = 3
    delay: int = 2

    def __post_init__(self) -> None:
        _check_steps(self.wait, self.every)
        check_count(self.delay, "delay", low=0, hint="2 is usual.")

    @property
    def fewest(self) -> int:
        """Smallest number of steps after which a phase can end."""
        return self.every * (max(0, self.wait // self.every - 2) + self.delay + 3)


@dataclass(frozen=True)
class ChangeBelow:
    """Stop when KL changes by less than the fraction `share` per step (opt-SNE, last phase).

    KL is computed every `every` steps, and after `wait` steps compared with the value before.
    Defaults: Belkina et al. 2019.
    """

    wait: int = 15
    every: int = 5
    share: float = 1 / 5000

    def __post_init__(self) -> None:
        _check_steps(self.wait, self.every)
        check_number(self.share, "share", low=0, high=1, hint="1 / 5000 is usual.")

    @property
    def fewest(self) -> int:
        """Smallest number of steps after which a phase can end."""
        return self.every * max(2, self.wait // self.every + 1)


SETTLED = ChangeBelow(wait=0, every=50, share=0.0015 / 50)
"""End of the default schedule: 50 steps lower the objective by less than 0.15 %."""


@dataclass(frozen=True)
class Phase:
    """A phase of the optimization, with constant settings.

    Parameters
    ----------
    n_iter : int
        Number of steps.
    exaggeration : float, default=1.0
        Factor of the attraction.
    momentum : float, default=0.8
        Fraction of the last update that is added to a step (van der Maaten and Hinton 2008). With
        gains, more than about 0.94 may raise the objective in a long run (docs/decisions/0020).
    step : float or None, default=None
        Step length (learning rate). None: n / (divisor exaggeration), at least `shortest`
        (Belkina et al. 2019).
    shortest : float, default=50.0
        Smallest automatic step length, as in scikit-learn.
    divisor : float, default=4.0
        Divisor of the automatic step length.
    stop : RateFalls, ChangeBelow or None, default=None
        Rule that ends the phase early.
    last_exaggeration : float or None, default=None
        Exaggeration at the end of the phase, approached geometrically. None: constant.

    Examples
    --------
    >>> from isosne import Phase
    >>> Phase(250, exaggeration=12, momentum=0.5).step_for(70_000)
    1458.3333333333333
    """

    n_iter: int
    exaggeration: float = 1.0
    momentum: float = 0.8
    step: float | None = None
    shortest: float = 50.0
    divisor: float = 4.0
    stop: RateFalls | ChangeBelow | None = None
    last_exaggeration: float | None = None

    def __post_init__(self) -> None:
        check_count(self.n_iter, "n_iter", low=0, hint="Pass the number of steps.")
        _check_setting(self.exaggeration, "exaggeration", 1 / LARGEST_SETTING, NO_EXAGGERATION)
        check_number(self.momentum, "momentum", low=0, high=1, hint="0.5 and 0.8 are usual.")
        _check_setting(self.shortest, "shortest", 0, "50 is usual.")
        if self.step is not None:
            check_number(self.step, "step", low=0, hint="None chooses by the number of points.")
        _check_setting(self.divisor, "divisor", 1 / LARGEST_SETTING, "4 is usual.")
        if self.last_exaggeration is not None:
            hint = "None keeps the exaggeration of the phase."
            _check_setting(self.last_exaggeration, "last_exaggeration", 1 / LARGEST_SETTING, hint)
        if not isinstance(self.stop, RateFalls | ChangeBelow | None):
            hint = "None takes all steps of the phase."
            raise ParameterError(
                "stop", "be RateFalls(...), ChangeBelow(...) or None", self.stop, hint
            )

    def exaggeration_at(self, done: int) -> float:
        """Return the exaggeration of the next step, after ``done`` steps of the phase."""
        if self.last_exaggeration is None:
            return self.exaggeration
        ratio = self.last_exaggeration / self.exaggeration
        return float(self.exaggeration * power(ratio, (done + 0.5) / self.n_iter))

    def step_for(self, n_points: int, done: int = 0) -> float:
        """Return the step length for a map of n points, after ``done`` steps of the phase."""
        if self.step is not None:
            return self.step
        longest = max(n_points / (self.divisor * self.exaggeration), self.shortest)
        if self.last_exaggeration is None:
            return longest
        return longest * self.exaggeration / self.exaggeration_at(done)


@dataclass(frozen=True)
class Schedule:
    """The phases of the optimization, one after the other.

    Parameters
    ----------
    phases : tuple of Phase
        The phases.
    gains : bool, default=True
        Whether each coordinate has a factor of the step length that adapts to the signs of its
        gradients (van der Maaten and Hinton 2008). False: the momentum is at most 0.9 at steps
        that would lead uphill, so that it can be higher at others (docs/decisions/0020).
    bounded : bool, default=False
        Whether steps are bounded by the affinities: divided by the largest eigenvalue of the
        Laplacian of n P, and for a point i by n p_i, the sum of its row, if this exceeds 1.
        Otherwise points with much affinity, or with few partners, may be thrown out of the map.

    Examples
    --------
    >>> from isosne import Phase, Schedule
    >>> Schedule((Phase(100, exaggeration=4, momentum=0.5), Phase(400))).n_iter
    500
    """

    phases: tuple[Phase, ...]
    gains: bool = True
    bounded: bool = False

    def __post_init__(self) -> None:
        is_sequence = isinstance(self.phases, tuple | list)
        if not is_sequence or not self.phases or not all(isinstance(p, Phase) for p in self.phases):
            raise ParameterError(
                "phases",
                "be a tuple of at least one Phase",
                self.phases,
                "Pass for example (Phase(250, exaggeration=12), Phase(500)).",
            )
        object.__setattr__(self, "phases", tuple(self.phases))  # frozen
        for name in ("gains", "bounded"):
            if not isinstance(getattr(self, name), bool):
                hint = f"Schedule.annealed() has {name}={name == 'bounded'}."
                raise ParameterError(name, "be True or False", getattr(self, name), hint)

    @property
    def n_iter(self) -> int:
        """Largest number of steps."""
        return sum(phase.n_iter for phase in self.phases)

    @property
    def fewest(self) -> int:
        """Smallest number of steps, if every rule ends its phase as early as it can."""
        return sum(
            phase.n_iter if phase.stop is None else min(phase.n_iter, phase.stop.fewest)
            for phase in self.phases
        )

    @classmethod
    def annealed(cls, *, n_iter: int | None = None, exaggeration: float = 1.0) -> Self:
        """Return the default schedule, whose exaggeration falls from 12 step by step.

        50 steps of exaggeration 12, 100 in which it falls, and long steps with momentum 0.998,
        without gains (docs/decisions/0012 and 0020).

        Parameters
        ----------
        n_iter : int or None, default=None
            Total number of steps, more than 150. None: 250 to 500 steps, until 50 of them lower
            the objective by less than 0.15 %.
        exaggeration : float, default=1.0
            Exaggeration of the last phase; 2 to 4 gives tighter clusters.
        """
        stop = SETTLED if n_iter is None else None
        n_iter = MOST_STEPS if n_iter is None else n_iter
        check_count(
            n_iter,
            "n_iter",
            low=151,
            hint="The schedule needs 150 steps to lower the exaggeration.",
        )
        check_number(exaggeration, "exaggeration", low=1, high=12, hint=NO_EXAGGERATION)
        end = float(exaggeration)
        first = Phase(50, 12, shortest=0, divisor=1)
        falling = replace(first, n_iter=100, momentum=FALLING_MOMENTUM, last_exaggeration=end)
        last = Phase(int(n_iter) - 150, end, LATE_MOMENTUM, shortest=0, divisor=1, stop=stop)
        return cls((first, falling, last), gains=False, bounded=True)

    @classmethod
    def standard(cls, *, n_iter: int = 750, exaggeration: float = 1.0) -> Self:
        """Return the schedule of other packages: exaggeration 12, then `exaggeration`.

        Early exaggeration, 250 steps, and momentum follow van der Maaten (2014); 750 steps in all
        is the default of openTSNE.

        Parameters
        ----------
        n_iter : int, default=750
            Total number of steps, more than 250.
        exaggeration : float, default=1.0
            Exaggeration of the second phase; 2 to 4 gives tighter clusters.
        """
        check_count(n_iter, "n_iter", low=251, hint="The first 250 steps are early exaggeration.")
        check_number(exaggeration, "exaggeration", low=1, hint=NO_EXAGGERATION)
        last = Phase(int(n_iter) - 250, exaggeration=float(exaggeration), momentum=0.8)
        return cls((Phase(250, exaggeration=12, momentum=0.5), last))

    @classmethod
    def paper(cls) -> Self:
        """Return the schedule of the paper's authors: 1000 steps of length 500.

        Exaggeration is 4 for the first 100, momentum 0.5, and 0.8 from step 250 on.
        """
        # The authors' MATLAB demo; the paper itself does not state a schedule.
        first = Phase(100, exaggeration=4, momentum=0.5, step=500)
        return cls((first, Phase(150, momentum=0.5, step=500), Phase(750, step=500)))

    @classmethod
    def opt_sne(cls) -> Self:
        """Return the schedule of opt-SNE, whose two phases end automatically (Belkina et al. 2019).

        At most 2500 steps (chosen).
        """
        first = Phase(500, exaggeration=12, momentum=0.5, shortest=0, stop=RateFalls())
        last = Phase(2000, shortest=0, divisor=48, stop=ChangeBelow())  # n / (4 * 12)
        return cls((first, last))


def plain(n_iter: int, schedule: Schedule) -> Schedule:
    """Return a schedule of `n_iter` steps like the last phase, without its stop rule."""
    return replace(schedule, phases=(replace(schedule.phases[-1], n_iter=n_iter, stop=None),))


def lasting(schedule: Schedule, exaggeration: float) -> Schedule:
    """Return a schedule with at least this exaggeration, and exactly this in the last phase.

    The shortest step of the last phase is divided by it; otherwise maps would not converge.
    """
    *phases, last = schedule.phases
    for i, phase in enumerate(phases):
        raised, end = max(phase.exaggeration, exaggeration), phase.last_exaggeration
        end = None if end is None else max(end, exaggeration)
        phases[i] = replace(phase, exaggeration=raised, last_exaggeration=end)
    shortest = last.shortest / exaggeration
    last = replace(last, exaggeration=exaggeration, last_exaggeration=None, shortest=shortest)
    return replace(schedule, phases=(*phases, last))


def refining(schedule: Schedule, share: float) -> Schedule:
    """Return a schedule for a start that is a finished map but for a share of new rows.

    Where exaggeration falls, it falls from little more than its end, without the phases before: a
    strong one would fold the map anew. Other schedules stay as they are.
    """
    *_, falling, last = (schedule.phases[0], *schedule.phases)
    if falling.last_exaggeration is None:
        return schedule
    raised = (1 + REFINING * share) * falling.last_exaggeration
    n_falling = min(REFINING_STEPS, falling.n_iter)
    falling = replace(falling, n_iter=n_falling, exaggeration=raised)
    last = replace(last, n_iter=schedule.n_iter - n_falling)
    return replace(schedule, phases=(falling, last))


NAMES = ("annealed", "standard", "paper", "opt_sne")


def as_schedule(schedule: object) -> Schedule:
    """Return the schedule for a name or an object."""
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, str) and schedule in NAMES:
        return cast(Schedule, getattr(Schedule, schedule)())
    raise ParameterError(
        "schedule",
        f"be one of {', '.join(map(repr, NAMES))}, or a Schedule",
        schedule,
        suggest(schedule, NAMES, "Pass your own as Schedule((Phase(...), ...))."),
    )
