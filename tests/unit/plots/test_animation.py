"""The course of a run as a moving picture."""

import shutil

import numpy as np
import pytest
from matplotlib.animation import FFMpegWriter
from PIL import Image

from isosne import TSNE
from isosne.errors import DataError, MissingPackageError, OutputError, ParameterError
from isosne.layout.schedules import Phase, Schedule
from isosne.plots import animate
from isosne.plots.film import smooth_limits
from tests.conftest import refuses

FEW_FRAMES = {"frames_per_second": 2}
"""The last frame is repeated for a second: few frames are written."""
NO_FFMPEG = (
    "Writing {} needs the program ffmpeg, which is not installed. "
    "Install ffmpeg, or write run.gif instead."
)


def run(map_of, n_dims=2):
    return [(10 * i, map_of(30, n_dims) * 2.0**i) for i in range(3)]


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_a_gif_has_a_picture_for_each_snapshot_and_rests_at_the_end(tmp_path, map_of, n_dims):
    path = animate(run(map_of, n_dims), tmp_path / "run.gif", ["a", "b"] * 15, **FEW_FRAMES)
    durations = []
    with Image.open(path) as film:
        for i in range(film.n_frames):
            film.seek(i)
            durations.append(film.info["duration"])
    assert sum(durations) == 500 * 3 + 1000
    assert len(durations) >= 3
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_run_has_the_same_bytes(tmp_path, map_of):
    paths = [animate(run(map_of), tmp_path / f"{i}.gif", **FEW_FRAMES) for i in range(2)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_callback_collects_a_run(tmp_path, two_blobs):
    seen = []

    def keep(state):
        seen.append((state.iteration, state.Y.T.copy()))

    schedule = Schedule((Phase(4, exaggeration=4),))
    TSNE(schedule=schedule, random_state=0, callback=keep).fit(two_blobs)
    assert animate(seen, tmp_path / "run.gif", **FEW_FRAMES).exists()


def test_an_mp4_is_written_where_ffmpeg_is_and_refused_where_it_is_not(tmp_path, map_of):
    path = tmp_path / "run.mp4"
    if shutil.which("ffmpeg"):
        assert b"ftyp" in animate(run(map_of), path, **FEW_FRAMES).read_bytes()[:16]
        return
    with refuses(MissingPackageError, NO_FFMPEG.format(path)):
        animate(run(map_of), path)
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg_one_sentence_says_what_to_do(tmp_path, map_of, monkeypatch):
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    path = tmp_path / "run.mp4"
    with refuses(MissingPackageError, NO_FFMPEG.format(path)):
        animate(run(map_of), path)


def test_a_film_replaces_another_unless_told_otherwise(tmp_path, map_of):
    path = tmp_path / "run.gif"
    path.write_bytes(b"old")
    with refuses(
        OutputError,
        f"Cannot write {path}: the file already exists. "
        "Choose another name, or pass force=True to replace it.",
    ):
        animate(run(map_of), path, force=False)
    assert path.read_bytes() == b"old"
    assert animate(run(map_of), path, **FEW_FRAMES).read_bytes().startswith(b"GIF8")
    assert list(tmp_path.iterdir()) == [path]


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


def test_refusals_of_animate(tmp_path, map_of):
    with refuses(
        ParameterError,
        f"path must end in .gif or .mp4; got path={str(tmp_path / 'run.git')!r}. "
        "Did you mean run.gif?",
    ):
        animate(run(map_of), tmp_path / "run.git")
    with refuses(
        DataError,
        "snapshots must contain at least one map, all of the same shape; got no map. "
        "Collect copies of the map in a callback of TSNE.",
    ):
        animate([], tmp_path / "run.gif")
    with refuses(
        DataError,
        "snapshots must contain at least one map, all of the same shape; "
        "got shapes (5, 2) and (6, 2). Collect copies of the map in a callback of TSNE.",
    ):
        animate([(0, map_of(5)), (1, map_of(6))], tmp_path / "run.gif")
    with refuses(
        ParameterError,
        "frames_per_second must be a number from 0.1 to 50; got frames_per_second=0. Try 20.",
    ):
        animate(run(map_of), tmp_path / "run.gif", frames_per_second=0)
    assert list(tmp_path.iterdir()) == []
