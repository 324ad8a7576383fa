"""A fit in a thread."""

import numpy as np
import pytest

from isosne import TSNE, Schedule
from isosne.explorer.maps import FAILED, FINISHED, PAUSED, RUNNING, STOPPED, ShownMap, Status
from tests.unit.explorer.conftest import DEADLINE, wait_for


def begin(X, model=None):
    """Begin a run; without a model, one that does not end by itself."""
    run = ShownMap("map", None, np.full((len(X), 2), np.nan, np.float32))
    run.fit(model or TSNE(schedule=Schedule.annealed(n_iter=100_000), random_state=0), X)
    return run


def test_a_watched_run_gives_the_map_of_the_same_fit_bit_by_bit(two_blobs):
    run = begin(two_blobs, TSNE(random_state=0))
    assert run.join(DEADLINE)
    assert run.status.state == FINISHED
    assert run.status.iteration == 500
    plain = TSNE(random_state=0).fit(two_blobs)
    np.testing.assert_array_equal(run.Y, plain.embedding_)


def test_frames_follow_each_other_and_are_copies(two_blobs):
    run = begin(two_blobs)
    wait_for(lambda: run.status.state == RUNNING)
    first = run.Y
    kept = first.copy()
    wait_for(lambda: run.Y is not first)
    np.testing.assert_array_equal(first, kept)
    assert not np.array_equal(run.Y, first)
    run.stop()
    assert run.join(DEADLINE)


def test_a_paused_run_does_not_move_until_it_is_resumed(two_blobs):
    run = begin(two_blobs)
    wait_for(lambda: run.status.state == RUNNING)
    run.switch()
    assert run.status.state == PAUSED
    Y, at = run.Y, run.status.iteration
    run.switch()
    wait_for(lambda: run.status.iteration > at)
    assert not np.array_equal(run.Y, Y)
    run.stop()
    assert run.join(DEADLINE)


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_stopped_run_keeps_its_map_and_can_go_on(two_blobs, is_paused):
    run = begin(two_blobs)
    wait_for(lambda: run.status.state == RUNNING)
    if is_paused:
        run.switch()
    run.stop()
    assert run.join(DEADLINE)
    status = run.status
    assert status.state == STOPPED
    assert 0 < status.iteration < 100_000
    before = run.Y
    run.more(25)
    assert run.join(DEADLINE)
    assert run.status.state == FINISHED
    assert run.status.iteration == status.iteration + 25
    assert not np.array_equal(run.Y, before)


def test_a_run_that_fails_says_why(two_blobs):
    run = begin(two_blobs, TSNE("gaussian", memory_limit=1))
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
        (Status("running", 1200, 5000, 12.4), "Running, step 1,200 of 5,000, 12 s left"),
        (Status("paused", 12, 500), "Paused, step 12 of 500"),
        (Status("finished", 500, 500, 0.0), "Finished, step 500 of 500"),
        (Status("failed", message="Too little memory."), "Too little memory."),
    ],
)
def test_a_status_reads_as_a_sentence(status, text):
    assert str(status) == text
