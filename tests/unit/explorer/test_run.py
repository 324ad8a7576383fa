"""A fit in a thread."""

import numpy as np
import pytest

from isosne import TSNE, Schedule
from isosne.explorer.run import FAILED, FINISHED, PAUSED, RUNNING, STOPPED, Run, Status
from tests.unit.explorer.conftest import DEADLINE, wait_for


def long_run(X, **settings):
    return Run(TSNE(schedule=Schedule.annealed(n_iter=100_000), random_state=0, **settings), X)


def test_a_watched_run_gives_the_map_of_the_same_fit_bit_by_bit(two_blobs):
    run = Run(TSNE(random_state=0), two_blobs)
    run.start()
    assert run.join(DEADLINE)
    assert run.status.state == FINISHED
    assert run.status.iteration == 500
    plain = TSNE(random_state=0).fit(two_blobs)
    np.testing.assert_array_equal(run.frame[1], plain.embedding_)
    assert run.status.objective == plain.kl_divergence_


def test_frames_follow_each_other_and_are_copies(two_blobs):
    run = long_run(two_blobs)
    run.start()
    wait_for(lambda: run.frame[0] >= 1)
    number, first = run.frame
    kept = first.copy()
    wait_for(lambda: run.frame[0] > number)
    np.testing.assert_array_equal(first, kept)
    assert not np.array_equal(run.frame[1], first)
    run.stop()
    assert run.join(DEADLINE)


def test_a_paused_run_does_not_move_until_it_is_resumed(two_blobs):
    run = long_run(two_blobs)
    run.start()
    wait_for(lambda: run.status.state == RUNNING)
    run.switch()
    assert run.status.state == PAUSED
    _, Y = run.frame
    at = run.status.iteration
    run.switch()
    wait_for(lambda: run.status.iteration > at)
    assert not np.array_equal(run.frame[1], Y)
    run.stop()
    assert run.join(DEADLINE)


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_stopped_run_keeps_its_map_and_can_go_on(two_blobs, is_paused):
    run = long_run(two_blobs)
    run.start()
    wait_for(lambda: run.status.state == RUNNING)
    if is_paused:
        run.switch()
    run.stop()
    assert run.join(DEADLINE)
    status = run.status
    assert status.state == STOPPED
    assert 0 < status.iteration < 100_000
    before = run.frame[1]
    run.more(25)
    assert run.join(DEADLINE)
    assert run.status.state == FINISHED
    assert run.status.iteration == status.iteration + 25
    assert not np.array_equal(run.frame[1], before)


def test_a_run_that_fails_says_why(two_blobs):
    run = Run(TSNE("gaussian", memory_limit=1), two_blobs)
    run.start()
    assert run.join(DEADLINE)
    assert run.status.state == FAILED
    assert "memory" in str(run.status)
    assert not run.status.is_active
    run.more(10)  # nothing to continue
    assert run.status.state == FAILED


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status("preparing"), "Computing similarities and neighbors"),
        (
            Status("running", 1, 3, 1200, 5000, 1.23456, 12.4),
            "Running, step 1,200 of 5,000, phase 2 of 3, objective 1.2346, 12 s left",
        ),
        (Status("paused", 1, 3, 12, 500), "Paused, step 12 of 500"),
        (
            Status("finished", 2, 3, 500, 500, 0.5, 0.0),
            "Finished, step 500 of 500, objective 0.5000",
        ),
        (Status("failed", message="Too little memory."), "Too little memory."),
    ],
)
def test_a_status_reads_as_a_sentence(status, text):
    assert str(status) == text
