"""The measurement of a plan ends in time, also if the source or the machine is slow."""

import numpy as np
import pytest

from isosne import TSNE
from isosne.jobs import estimate
from isosne.jobs.estimate import SECONDS, plan_placing
from isosne.sources import MixtureRows

ROWS = MixtureRows(20_000, 4)


class Clock:
    """Tells the time that the work takes by its size, not by the machine."""

    def __init__(self, monkeypatch, *, read=0.0, fit=0.0, place=0.0):
        self.seconds, self.fits = 0.0, []
        make, place_rows = estimate._unfinished_map, TSNE.place
        read_rows = MixtureRows.read

        def timed_read(rows, block):
            self.seconds += read * (block.stop - block.start)
            return read_rows(rows, block)

        def timed_fit(estimator, points, n):
            self.seconds += fit * n
            self.fits.append(n)
            return make(estimator, points, min(n, 60))  # as large as it need be here

        def timed_place(model, points):
            self.seconds += place * len(points)
            return place_rows(model, points)

        monkeypatch.setattr(estimate, "now", lambda: self.seconds)
        monkeypatch.setattr(estimate, "_unfinished_map", timed_fit)
        monkeypatch.setattr(TSNE, "place", timed_place)
        monkeypatch.setattr(MixtureRows, "read", timed_read)


def plan():
    return plan_placing(TSNE(landmarks=15_000), ROWS, 10**9, 4, stored_bytes=10**6)


@pytest.mark.parametrize(
    "costs",
    [
        {"read": 1e-4, "fit": 1e-5, "place": 1e-3},
        {"read": 1e-3, "fit": 1e-4, "place": 1e-4},
        {"read": 1e-6, "fit": 8e-4, "place": 2e-4},
        {"read": 1e-6, "fit": 1e-6, "place": 5e-4},
    ],
)
def test_it_takes_ten_seconds_at_most(monkeypatch, costs):
    clock = Clock(monkeypatch, **costs)
    found = plan()
    assert clock.seconds <= SECONDS
    assert found.read_seconds == pytest.approx(costs["read"])
    assert found.place_seconds == pytest.approx(costs["place"])
    assert found.n_landmarks == clock.fits[-1]


def test_a_fast_machine_measures_with_all_landmarks(monkeypatch):
    clock = Clock(monkeypatch, read=1e-7, fit=1e-5, place=2e-4)
    assert plan().n_landmarks == 15_000
    assert clock.fits == [300, 2_500, 5_000, 10_000, 15_000]


def test_a_slow_machine_measures_with_fewer(monkeypatch):
    clock = Clock(monkeypatch, read=1e-7, fit=5e-4, place=2e-4)
    # 2,500 landmarks take 1.25 s, 5,000 take 2.5 s; 10,000 might take 7.5 s more.
    found = plan()
    assert found.n_landmarks == 5_000
    assert ", 5,000 landmarks)" in str(found)
    assert clock.fits[:3] == [300, 2_500, 5_000]


def test_a_slow_source_is_read_for_two_seconds(monkeypatch):
    Clock(monkeypatch, read=1e-3, place=1e-3)
    found = plan()
    assert found.n_landmarks <= 2_000
    assert found.n_measured <= 2_000
    assert np.isfinite(found.seconds)
