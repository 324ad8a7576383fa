"""Runs that are interrupted and go on; files that are none of theirs."""

import re

import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_array

import isosne.layout.attraction
from isosne import (
    KL,
    Alignment,
    GaussianKernel,
    IsolationKernel,
    Landmarks,
    Mesh,
    Phase,
    Schedule,
    Sparse,
)
from isosne.errors import DataError, OutputError, ParameterError
from isosne.layout.schedules import ChangeBelow, RateFalls
from isosne.tsne.memory import size
from tests.unit.tsne.conftest import ROUTES, Interruption, interrupted, make, other_run, refuses

N = 80
SELF_ENDING = Schedule(
    (
        Phase(300, exaggeration=12, momentum=0.5, stop=RateFalls()),
        Phase(300, momentum=0.8, stop=ChangeBelow(share=1 / 500)),
    )
)
RUNS = ROUTES | {
    "one dimension": {"affinities": Sparse("approximate"), "forces": Mesh(0.05), "n_components": 1},
    "ends by itself": {"schedule": SELF_ENDING},
    "landmarks": {"landmarks": Landmarks(50, choice="spread"), "start": "random"},
    "no seed": {"random_state": None},
    "aligned, exact, new rows": {
        "align_to": Alignment(
            np.random.default_rng(9).normal(scale=9, size=(50, 2)),
            ids=np.arange(N),
            previous_ids=np.arange(50),
        ),
        "affinities": "sparse",
        "forces": "exact",
    },
}


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 5)) + 4 * rng.integers(0, 2, (N, 1))


def assert_same(found, expected):
    assert found.embedding_.tobytes() == expected.embedding_.tobytes()
    assert found.trace_.tobytes() == expected.trace_.tobytes()
    assert found.n_iter_ == expected.n_iter_
    assert found.kl_divergence_ == expected.kl_divergence_


@pytest.fixture
def arranged_often(monkeypatch):
    """Put the points in a new order every few steps, which takes hundreds otherwise; use meshes."""
    monkeypatch.setattr("isosne.tsne.plan.FEWEST_FOR_MESH", 50)
    monkeypatch.setattr(isosne.layout.attraction, "ARRANGE_FROM", 5)
    monkeypatch.setattr(isosne.layout.attraction, "ARRANGE_EVERY", 4)


@pytest.mark.parametrize("route", RUNS)
def test_an_interrupted_run_ends_as_one_that_nobody_disturbed(
    points, tmp_path, route, arranged_often
):
    settings, path = RUNS[route], tmp_path / "run.isosne"
    if route == "no seed":  # the random numbers are in the file alone
        whole = make(**settings, callback=lambda state: state.iteration == 2)
        whole.fit(points, checkpoint=tmp_path / "whole.isosne")
        path.write_bytes((tmp_path / "whole.isosne").read_bytes())
        whole = make(**settings).fit(points, checkpoint=tmp_path / "whole.isosne")
    else:
        whole = make(**settings).fit(points)
    for step in (5, 11, 18):  # soon after the first state, and in two phases
        with pytest.raises(Interruption):
            make(**settings, callback=interrupted(step)).fit(points, checkpoint=path, every=4)
    model = make(**settings).fit(points, checkpoint=path)
    assert_same(model, whole)
    assert [left.name for left in tmp_path.iterdir() if left.suffix == ".part"] == []
    assert_same(make(**settings).fit(points, checkpoint=path), whole)  # it is at its end


def test_a_run_that_goes_on_starts_from_the_last_state(points, tmp_path):
    path, steps = tmp_path / "run.isosne", []
    with pytest.raises(Interruption):
        make(callback=interrupted(13)).fit(points, checkpoint=path, every=5)
    make(callback=lambda state: steps.append(state.iteration)).fit(points, checkpoint=path)
    assert steps == list(range(11, 21))


def test_generators_are_refused_because_a_file_does_not_hold_them(points, tmp_path):
    rng = np.random.default_rng(1)
    sentence = (
        "random_state must be an integer or None for a run with a checkpoint. "
        "Pass a seed instead of a generator."
    )
    for model in (make(random_state=rng), make(IsolationKernel(8, random_state=rng))):
        with refuses(ParameterError, sentence):
            model.fit(points, checkpoint=tmp_path / "run.isosne")


def test_threads_words_and_limits_do_not_matter(points, tmp_path):
    path = tmp_path / "run.isosne"
    with pytest.raises(Interruption):
        make(callback=interrupted(13)).fit(points, checkpoint=path, every=10)
    model = make(n_jobs=2, memory_limit="1GB").fit(points, checkpoint=path)
    assert_same(model, make().fit(points))


def test_a_run_keeps_its_route_when_less_memory_is_free(points, tmp_path):
    # Several scales, so that all pairs take more memory than lists, even of few points.
    path, kernel = tmp_path / "run.isosne", GaussianKernel([2, 3, 4, 5])
    whole = make(kernel=kernel).fit(points)
    assert whole.plan_.affinities == "dense"
    with pytest.raises(Interruption):
        make(kernel=kernel, callback=interrupted(13)).fit(points, checkpoint=path, every=10)
    limit = int(1.1 * whole.plan_.bytes_needed)  # a new run would leave a fifth of it free
    assert make(kernel=kernel, memory_limit=limit).plan(points).affinities == "sparse"
    assert_same(make(kernel=kernel, memory_limit=limit).fit(points, checkpoint=path), whole)
    before = path.read_bytes()
    needed = size(whole.plan_.bytes_needed)
    sentence = rf"dense affinities of 80 points need {needed}; got affinities='dense'\."
    with pytest.raises(ParameterError, match=sentence):
        make(kernel=kernel, memory_limit=limit // 2).fit(points, checkpoint=path)
    assert path.read_bytes() == before


# --- what is refused


@pytest.fixture
def kept(points, tmp_path):
    """The checkpoint of a run of which twenty steps are done."""
    path = tmp_path / "run.isosne"
    with pytest.raises(Interruption):
        make(callback=interrupted(11)).fit(points, checkpoint=path, every=10)
    return path


def assert_refused(path, what, points, **more):
    before = path.read_bytes()
    with other_run(path, what):
        make(**more).fit(points, checkpoint=path)
    assert path.read_bytes() == before
    assert [left for left in path.parent.iterdir() if left.suffix == ".part"] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", GaussianKernel(12)),
        ("kernel", IsolationKernel(8, random_state=1)),
        ("random_state", 1),
        ("objective", KL(dof=np.inf)),
        ("landmarks", 50),
        ("align_to", np.zeros((N, 2))),
        ("forces", Mesh(accuracy=0.02)),
    ],
)
def test_a_run_with_another_parameter_is_refused(points, kept, name, value):
    assert_refused(kept, f"parameter {name}", points, **{name: value})


def test_a_start_is_told_by_its_values(points, tmp_path):
    path, start = tmp_path / "run.isosne", np.random.default_rng(0).normal(size=(N, 2))
    make(start=start).fit(points, checkpoint=path)
    make(start=start.copy()).fit(points, checkpoint=path)
    start[3, 1] += 1e-9
    assert_refused(path, "parameter start", points, start=start)


def test_other_points_are_refused(points, kept):
    other = points.copy()
    other[61, 3] += 1e-12
    for changed in (other, points[:-1], points.astype(np.float32), csr_array(points)):
        assert_refused(kept, "the input", changed)


SOURCES = {
    "csr": (None, lambda path: csr_array(np.load(path))),
    "path": (None, lambda path: path),
    "memmap": (50, lambda path: np.load(path, mmap_mode="r")),
    "dask": (50, lambda path: da.from_array(np.load(path, mmap_mode="r"), chunks=40)),
}


@pytest.mark.parametrize(("landmarks", "read"), SOURCES.values(), ids=SOURCES)
def test_rows_of_other_sources_are_taken_up(points, tmp_path, landmarks, read):
    path, table = tmp_path / "run.isosne", tmp_path / "x.npy"
    np.save(table, points)
    stopped = make(landmarks=landmarks, callback=interrupted(13))
    with pytest.raises(Interruption):
        stopped.fit(read(table), checkpoint=path, every=10)
    model = make(landmarks=landmarks).fit(read(table), checkpoint=path)
    assert_same(model, make(landmarks=landmarks).fit(read(table)))


def test_a_file_of_points_that_was_written_again_is_refused(points, tmp_path):
    path, table = tmp_path / "run.isosne", tmp_path / "x.npy"
    np.save(table, points)
    with pytest.raises(Interruption):
        make(callback=interrupted(11)).fit(table, checkpoint=path, every=10)
    np.save(table, points[::-1])
    assert_refused(path, "the input", table)


def state_of(path, points):
    """Return the map after the last step, or the sentence of a refusal."""
    try:
        model = make(callback=lambda state: True).fit(points, checkpoint=path)
    except DataError as error:
        return str(error)
    return model.embedding_.tobytes()


@pytest.mark.slow
def test_a_byte_flipped_anywhere_is_refused_or_harmless(points, kept):
    content = kept.read_bytes()
    whole = state_of(kept, points)
    rng = np.random.default_rng(0)
    # The ends, where the zip keeps its lists, and a sample of the rest.
    lists = rng.choice(range(len(content) - 900, len(content)), 150, replace=False)
    places = {*range(0, 80, 2), *lists, *rng.integers(0, len(content), 80)}
    n_refused = 0
    for place in sorted(map(int, places)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        kept.write_bytes(flipped)
        found = state_of(kept, points)
        if isinstance(found, str):
            n_refused += 1
            assert re.match(r"Cannot read the checkpoint |.* must contain a |.* uses file ", found)
            assert "\n" not in found
            assert kept.read_bytes() == bytes(flipped)
        else:
            assert found == whole, f"byte {place}"
    assert n_refused > len(places) / 2


def test_steps_between_two_states_are_counted(points, tmp_path):
    sentence = (
        "every must be an integer from 1 up; got every=2.5. "
        "Pass the number of steps between two checkpoints."
    )
    with refuses(ParameterError, sentence):
        make().fit(points, checkpoint=tmp_path / "run.isosne", every=2.5)


def test_a_place_that_cannot_be_written_is_refused_before_the_first_step(points, tmp_path):
    steps = []
    model = make(callback=lambda state: steps.append(state))
    missing = tmp_path / "there" / "run.isosne"
    sentence = (
        f"Cannot write {missing}: the folder {missing.parent} does not exist. "
        "Create the folder first."
    )
    with refuses(OutputError, sentence):
        model.fit(points, checkpoint=missing)
    assert steps == []
    assert list(tmp_path.iterdir()) == []


# --- what is left behind


def test_a_run_that_was_stopped_ends_with_the_trace_and_the_plan_of_a_whole_one(points, tmp_path):
    whole = make().fit(points)
    make(callback=lambda state: state.iteration == 13).fit(points, checkpoint=tmp_path / "run")
    resumed = make().fit(points, checkpoint=tmp_path / "run")
    assert resumed.trace_.tobytes() == whole.trace_.tobytes()
    assert resumed.plan_.reasons == whole.plan_.reasons != ()


def test_a_second_run_with_the_same_checkpoint_is_refused_and_the_first_goes_on(points, tmp_path):
    path = tmp_path / "run.isosne"
    sentence = (
        f"Cannot write {path}: another run uses it. "
        "Wait until that run ends, or choose another name."
    )

    def begin_another(state):
        if state.iteration == 13:
            with refuses(OutputError, sentence):
                make().fit(points, checkpoint=path)

    make(callback=begin_another).fit(points, checkpoint=path)
    assert [part.name for part in tmp_path.iterdir()] == ["run.isosne"]
