"""Animations of a run."""

import numpy as np
import pytest
from PIL import Image

from isosne.plots import animate
from isosne.plots.animation import smooth_limits


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
        animate(run(map_of, n_dims), tmp_path / name, ["a", "b"] * 15, frames_per_second=2)
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
