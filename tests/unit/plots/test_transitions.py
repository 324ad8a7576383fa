"""Animations from map to map."""

import numpy as np
import pytest
from PIL import Image

from isosne.errors import DataError, OutputError, ParameterError
from isosne.plots import animate_between, film, transitions
from isosne.plots.transitions import _find_stops, _interpolate
from tests.conftest import refuses

FEW_FRAMES = {"frames_per_second": 2}


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_a_gif_rests_at_each_map_and_moves_between_them(tmp_path, map_of, n_dims):
    maps = [map_of(30, n_dims), 2 * map_of(30, n_dims)]
    path = animate_between(maps, tmp_path / "change.gif", ["a", "b"] * 15, **FEW_FRAMES)
    durations = []
    with Image.open(path) as found:
        for i in range(found.n_frames):
            found.seek(i)
            durations.append(found.info["duration"])
    n_frames = 2 * round(2 * transitions.REST_SECONDS) + round(2 * transitions.MOVE_SECONDS) - 1
    assert sum(durations) == 500 * n_frames + 1000 * film.REST_SECONDS
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_maps_have_the_same_bytes(tmp_path, map_of):
    maps = [map_of(20), map_of(20)[::-1]]
    paths = [animate_between(maps, tmp_path / f"{i}.gif", **FEW_FRAMES) for i in range(2)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_maps_are_laid_onto_the_next_one(map_of):
    last = map_of(20)
    first, second = _find_stops([3 * last[:, ::-1] - 4, last], None, ["a", "b"])
    np.testing.assert_allclose(first.places, second.places, atol=1e-5)
    assert [first.title, second.title] == ["a", "b"]


def test_points_move_in_straight_lines_and_slowly_at_the_ends():
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    stops = [
        transitions._Stop("a", np.arange(3), places),
        transitions._Stop("b", np.arange(3), places + np.array([8.0, 4.0])),
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


def test_maps_that_do_not_fit_are_refused(tmp_path, map_of):
    path = tmp_path / "change.gif"
    sentence = (
        "maps must contain at least two maps with the same number of dimensions; got 1 map(s). "
        "Pass the maps in order."
    )
    with refuses(DataError, sentence):
        animate_between([map_of(5)], path)
    sentence = (
        "ids must be given for maps with different numbers of points; got ids=None. Pass the "
        "identifiers of the rows of each map."
    )
    with refuses(ParameterError, sentence):
        animate_between([map_of(5), map_of(6)], path)
    sentence = "titles must have 2 entries, one for each map. Pass one for each map."
    with refuses(ParameterError, sentence):
        animate_between([map_of(5), map_of(5)], path, titles=["one"])
    sentence = (
        "Maps that follow each other must have at least 2 rows in common; 'map 1' and 'map 2' have "
        "0. Pass maps of the same rows."
    )
    with refuses(DataError, sentence):
        animate_between([map_of(2), map_of(2)], path, ids=[[1, 2], [3, 4]])
    path.write_text("mine")
    with pytest.raises(OutputError):
        animate_between([map_of(5), map_of(5)], path, force=False, **FEW_FRAMES)
    assert path.read_text() == "mine"
