"""Animations of a run, and from map to map."""

import numpy as np
import pytest
from PIL import Image

from isosne.plots import animate, animate_between, animation
from isosne.plots.animation import _find_stops, _interpolate, smooth_limits

FEW_FRAMES = {"frames_per_second": 2}
"""The last frame is repeated for a second: few frames are written."""


def run(map_of, n_dims=2):
    return [(10 * i, map_of(30, n_dims) * 2.0**i) for i in range(3)]


def durations(path):
    with Image.open(path) as film:
        for i in range(film.n_frames):
            film.seek(i)
            yield film.info["duration"]


@pytest.mark.parametrize("n_dims", [1, 3])
def test_a_gif_has_a_picture_for_each_snapshot_and_rests_at_the_end(tmp_path, map_of, n_dims):
    film, again = (
        animate(run(map_of, n_dims), tmp_path / name, ["a", "b"] * 15, **FEW_FRAMES)
        for name in ("run.gif", "again.gif")
    )
    shown = list(durations(film))
    assert sum(shown) == 500 * 3 + 1000
    assert len(shown) >= 3
    assert film.read_bytes() == again.read_bytes()
    assert sorted(tmp_path.iterdir()) == [again, film]


def test_limits_hold_all_points_and_change_smoothly():
    rng = np.random.default_rng(0)
    sizes = np.concatenate([np.linspace(1, 30, 40), [80.0], np.full(40, 30.0)])
    positions = [size * rng.normal(size=(50, 2)) for size in sizes]
    corners = smooth_limits(positions, 6)
    assert len(corners) == len(positions)
    for (low, high), Y in zip(corners, positions, strict=True):
        assert (low < Y.min(axis=0)).all()
        assert (high > Y.max(axis=0)).all()
    widths = np.array([high[0] - low[0] for low, high in corners])
    raw = np.array([np.ptp(Y[:, 0]) for Y in positions])
    assert np.abs(np.diff(widths)).max() < 0.35 * np.abs(np.diff(raw)).max()


def test_a_gif_rests_at_each_map_and_moves_between_them(tmp_path, map_of):
    maps = [map_of(30), 2 * map_of(30)]
    path = animate_between(maps, tmp_path / "change.gif", ["a", "b"] * 15, **FEW_FRAMES)
    n_frames = 2 * round(2 * animation.REST_SECONDS) + round(2 * animation.MOVE_SECONDS) - 1
    assert sum(durations(path)) == 500 * n_frames + 1000 * animation.LAST_SECONDS
    assert list(tmp_path.iterdir()) == [path]


def test_maps_are_laid_onto_the_next_one(map_of):
    last = map_of(20)
    first, second = _find_stops([3 * last[:, ::-1] - 4, last], None, ["a", "b"])
    np.testing.assert_allclose(first.places, second.places, atol=1e-5)
    assert [first.title, second.title] == ["a", "b"]


def test_points_move_in_straight_lines_and_slowly_at_the_ends():
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    stops = [
        animation._Stop("a", np.arange(3), places),
        animation._Stop("b", np.arange(3), places + np.array([8.0, 4.0])),
    ]
    shown = _interpolate(stops, 20)
    path = np.array([stop.places[0] for stop in shown])
    np.testing.assert_allclose(path[:, 0], 2 * path[:, 1])
    steps = np.diff(path[:, 0])
    assert (steps >= 0).all()
    moving = steps[steps > 0]
    assert moving[0] < 0.2 * moving.max()
    assert moving[-1] < 0.2 * moving.max()


def test_rows_appear_with_the_first_map_that_has_them():
    rng = np.random.default_rng(0)
    ids = [["a", "b", "c", "gone"], ["c", "b", "a", "new"]]
    stops = _find_stops([rng.normal(size=(4, 2)), rng.normal(size=(4, 2))], ids, None)
    assert [stop.rows.tolist() for stop in stops] == [[0, 1, 2], [0, 1, 2, 3]]
    assert [stop.title for stop in stops] == ["map 1", "map 2"]
    shown = _interpolate(stops, 10)
    assert {len(stop.rows) for stop in shown if stop.title == "map 1"} == {3}
    assert [len(stop.rows) for stop in shown].index(4) == len(shown) - 8  # 0.8 seconds of rest
