"""Schedules are data: their numbers, word for word."""

from dataclasses import replace
from itertools import pairwise

import pytest

from isosne.errors import ParameterError
from isosne.layout.schedules import (
    ChangeBelow,
    Phase,
    RateFalls,
    Schedule,
    as_schedule,
    lasting,
    plain,
    refining,
)
from tests.conftest import refuses

BUILT_IN = {
    "paper": (
        Phase(100, exaggeration=4, momentum=0.5, step=500),
        Phase(150, exaggeration=1, momentum=0.5, step=500),
        Phase(750, exaggeration=1, momentum=0.8, step=500),
    ),
    "standard": (
        Phase(250, exaggeration=12, momentum=0.5),
        Phase(500, exaggeration=1, momentum=0.8),
    ),
    "opt_sne": (
        Phase(500, exaggeration=12, momentum=0.5, shortest=0, stop=RateFalls(15, 3, delay=2)),
        Phase(2000, shortest=0, divisor=48, stop=ChangeBelow(15, every=5, share=1 / 5000)),
    ),
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_numbers_of_a_schedule(name):
    schedule = as_schedule(name)
    assert schedule == Schedule(BUILT_IN[name], gains=True, bounded=False)
    assert schedule == getattr(Schedule, name)()
    assert schedule.n_iter == {"paper": 1000, "standard": 750, "opt_sne": 2500}[name]


def test_the_annealed_exaggeration_falls_from_12_to_1_by_the_same_factor_at_every_step():
    schedule = as_schedule(Schedule.annealed())
    assert schedule == as_schedule("annealed")
    assert (schedule.n_iter, schedule.gains, schedule.bounded) == (500, False, True)
    first, falling, last = schedule.phases
    assert [phase.n_iter for phase in schedule.phases] == [50, 100, 350]
    assert [phase.momentum for phase in schedule.phases] == [0.8, 0.9, 0.998]
    values = [falling.exaggeration_at(done) for done in range(100)]
    ratios = [later / earlier for earlier, later in pairwise([first.exaggeration_at(49), *values])]
    assert ratios[1:] == pytest.approx([12**-0.01] * 99)
    assert ratios[0] == pytest.approx(12**-0.005)  # half a step, at either end
    assert values[-1] / last.exaggeration_at(0) == pytest.approx(12**0.005)
    # A step times the exaggeration is n all the time.
    for phase, done in ((first, 0), (falling, 0), (falling, 99), (last, 3)):
        assert phase.step_for(700, done) * phase.exaggeration_at(done) == pytest.approx(700)


def test_the_annealed_takes_a_length_and_an_exaggeration_that_stays():
    schedule = Schedule.annealed(n_iter=151, exaggeration=3)
    assert [phase.n_iter for phase in schedule.phases] == [50, 100, 1]
    assert schedule.phases[1].exaggeration_at(99) == pytest.approx(3 * 4**0.005)
    assert lasting(Schedule.annealed(), 3).phases[1] == schedule.phases[1]
    assert schedule.phases[2].step_for(600) == 200
    assert lasting(Schedule.annealed(), 1.0) == Schedule.annealed()
    assert lasting(Schedule.annealed(), 20).phases[1].exaggeration_at(50) == 20


@pytest.mark.parametrize(
    ("phase", "n_points", "step"),
    [
        (Phase(1), 100, 50),  # 25, and 50 at least
        (Phase(1), 4000, 1000),
        (Phase(1, exaggeration=12), 4800, 100),
        (Phase(1, exaggeration=12, step=3.5), 4800, 3.5),
        # Both phases of opt-SNE have the step of the first, as in the published program.
        (BUILT_IN["opt_sne"][0], 9600, 200),
        (BUILT_IN["opt_sne"][1], 9600, 200),
        (BUILT_IN["opt_sne"][1], 96, 2),  # no floor, as published
    ],
)
def test_a_step_is_given_or_goes_by_the_number_of_points(phase, n_points, step):
    assert phase.step_for(n_points) == step


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        pytest.param(
            lambda: Schedule.standard(n_iter=250),
            "n_iter must be an integer from 251 up; got n_iter=250. "
            "The first 250 steps are early exaggeration.",
        ),
        pytest.param(
            lambda: Schedule.standard(exaggeration=0.5),
            "exaggeration must be a number from 1 up; got exaggeration=0.5. "
            "1 means no exaggeration.",
        ),
    ],
)
def test_wrong_settings_are_refused(run, sentence):
    with refuses(ParameterError, sentence):
        run()


def test_plain_repeats_the_last_phase_without_its_rule():
    more = plain(70, Schedule.opt_sne())
    assert more.phases == (Phase(70, shortest=0, divisor=48),)
    assert plain(5, Schedule.standard(exaggeration=3)).phases == (
        Phase(5, exaggeration=3, momentum=0.8),
    )
    assert plain(5, Schedule.paper()).phases == (Phase(5, momentum=0.8, step=500),)
    assert not plain(5, Schedule.annealed()).gains
    assert plain(5, Schedule.annealed()).phases[0].stop is None


def test_the_default_ends_by_itself_unless_it_is_given_a_length():
    assert Schedule.annealed().phases[-1].stop == ChangeBelow(wait=0, every=50, share=3e-5)
    assert Schedule.annealed(n_iter=500).phases[-1].stop is None


@pytest.mark.parametrize(
    ("schedule", "fewest"),
    [
        (Schedule.annealed(), 250),
        (Schedule.annealed(n_iter=300), 300),
        (Schedule.standard(), 750),
        (Schedule.opt_sne(), 24 + 20),
        (Schedule((Phase(40, stop=ChangeBelow(every=30)),)), 40),
    ],
)
def test_the_fewest_steps_of_a_schedule(schedule, fewest):
    assert schedule.fewest == fewest


def test_a_finished_map_is_refined_with_little_exaggeration_in_as_many_steps():
    falling, last = refining(Schedule.annealed(), 0.25).phases
    assert (falling.n_iter, falling.exaggeration, falling.last_exaggeration) == (50, 1.5, 1)
    assert last == replace(Schedule.annealed().phases[-1], n_iter=450)
    assert refining(Schedule.annealed(), 0).phases[0].exaggeration_at(0) == 1
    assert refining(Schedule.annealed(n_iter=300), 0.5).n_iter == 300
    assert refining(Schedule.annealed(exaggeration=3), 0.5).phases[0].exaggeration == 6
    short = Schedule((Phase(9, exaggeration=12, last_exaggeration=1), Phase(4)))
    assert [phase.n_iter for phase in refining(short, 0).phases] == [9, 4]
    for schedule in (*map(as_schedule, BUILT_IN), plain(5, Schedule.annealed())):
        assert refining(schedule, 0.5) == schedule


def test_lasting_exaggeration_ends_a_schedule_and_is_the_least_before():
    schedule = lasting(Schedule.standard(n_iter=300), 3.0)
    assert [phase.exaggeration for phase in schedule.phases] == [12, 3]
    assert [phase.n_iter for phase in schedule.phases] == [250, 50]
    stronger = lasting(Schedule.standard(), 20.0)
    assert [phase.exaggeration for phase in stronger.phases] == [20, 20]
    # The middle phase of the paper has none: it is raised, the first stays.
    assert [phase.exaggeration for phase in lasting(Schedule.paper(), 2.0).phases] == [4, 2, 2]
    weaker = lasting(Schedule.standard(exaggeration=4), 1.5)
    assert [phase.exaggeration for phase in weaker.phases] == [12, 1.5]


def test_lasting_exaggeration_changes_nothing_else():
    schedule = lasting(Schedule.opt_sne(), 2.0)
    for phase, before in zip(schedule.phases, Schedule.opt_sne().phases, strict=True):
        unchanged = replace(phase, exaggeration=before.exaggeration, shortest=before.shortest)
        assert unchanged == before
    assert lasting(Schedule.standard(), 2.0).phases[-1].shortest == 25
    assert lasting(Schedule.standard(), 1.0) == Schedule.standard()
