"""A study: maps of two kernels with several seeds, judged."""

import math
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isosne import TSNE, GaussianKernel, IsolationKernel, quality
from isosne.errors import DataError, ParameterError
from isosne.kernels.registry import KERNELS
from isosne.layout.schedules import Phase, Schedule
from isosne.plots.paint import Classes
from isosne.studies import Study, compare_maps, compared_models, judge, study
from isosne.studies.compared_models import other_kernel
from isosne.studies.readings import average_field, read_measures, read_verdict
from isosne.tables import gower_points
from tests.conftest import refuses
from tests.unit.tables.tables import N, as_pandas, mixed_columns

LABELS = ["tight"] * 30 + ["loose"] * 30
CLASSES = Classes(["tight", "loose"], np.repeat([0, 1], 30))
SHORT = Schedule((Phase(30, exaggeration=4), Phase(30)))
DEFAULT = signature(TSNE).parameters["kernel"].default


def test_a_study_judges_a_map_with_either_kernel(two_blobs):
    found = study(two_blobs, LABELS, model=TSNE("isolation"), title="Blobs", n_seeds=1)
    isolation, gaussian = found.maps
    assert [isolation.title, gaussian.title] == ["Isolation kernel", "Gaussian kernel"]
    np.testing.assert_array_equal(
        isolation.embedding, TSNE("isolation", random_state=0).fit_transform(two_blobs)
    )
    own = TSNE(GaussianKernel(59 / 3), random_state=0)
    np.testing.assert_array_equal(gaussian.embedding, own.fit_transform(two_blobs))
    for judged in found.maps:
        assert judged.report == quality.report(two_blobs, judged.embedding, LABELS)
        expected = quality.compare(two_blobs, judged.embedding).curve()
        np.testing.assert_array_equal(judged.curve.r, expected.r)
        expected = quality.compare(two_blobs, judged.embedding).trust()
        np.testing.assert_array_equal(judged.trust.agreement, expected.agreement)
        assert judged.fit_seconds > 0
        assert judged.measure_seconds > 0
    assert isolation.plan.startswith("points      60 to 2 dimensions\nkernel      Isolation")
    assert isolation.settings["psi"] == "48, 12, 3"
    assert isolation.settings["schedule"] == "'annealed'"
    assert "psi" not in gaussian.settings
    assert (found.title, found.random_state) == ("Blobs", "0")


def test_the_same_seed_gives_the_same_maps(two_blobs):
    model = TSNE(schedule=SHORT)
    found = [study(two_blobs, LABELS, model=model, random_state=seed) for seed in (3, 3, 4)]
    maps = [[judged.embedding for judged in each.maps] for each in found]
    scores = [[judged.scores for judged in each.maps] for each in found]
    np.testing.assert_array_equal(maps[0], maps[1])
    assert scores[0] == scores[1]
    assert not np.array_equal(maps[0][0], maps[2][0])
    assert [each.random_state for each in found] == ["3 to 7", "3 to 7", "4 to 8"]
    assert (
        scores[0][1][1] == scores[2][1][0]
    )  # the second seed of one study is the first of another


def test_the_seeds_of_a_generator_are_stated(two_blobs):
    model = TSNE("gaussian", schedule=SHORT)
    found = study(two_blobs, model=model, n_seeds=2, random_state=np.random.default_rng(0))
    first, second = map(int, found.random_state.split(", "))
    repeated = [study(two_blobs, model=model, n_seeds=1, random_state=s) for s in (first, second)]
    assert found.maps[0].scores == tuple(each.maps[0].scores[0] for each in repeated)


def test_standard_errors_are_those_of_the_repeated_maps(two_blobs):
    model = TSNE(IsolationKernel(8), schedule=SHORT)
    found = study(two_blobs, LABELS, model=model, n_seeds=3, random_state=2)
    maps = [
        TSNE(IsolationKernel(8), schedule=SHORT, random_state=seed).fit_transform(two_blobs)
        for seed in (2, 3, 4)
    ]
    np.testing.assert_array_equal(found.maps[0].embedding, maps[0])
    for field, values in {
        "auc_rnx": [quality.compare(two_blobs, Y).auc() for Y in maps],
        "auc_small": [quality.compare(two_blobs, Y).auc("small") for Y in maps],
        "neighbors_preserved": [
            quality.compare(two_blobs, Y).trust().agreement.mean() for Y in maps
        ],
        "davies_bouldin": [quality.davies_bouldin(Y, LABELS) for Y in maps],
    }.items():
        mean = sum(values) / 3
        variance = sum((value - mean) ** 2 for value in values) / 2
        average = average_field(found.maps, field)[0]
        np.testing.assert_allclose(average.value, mean, 1e-12)
        np.testing.assert_allclose(average.standard_error, math.sqrt(variance / 3), 1e-9)
        assert average.standard_error > 0


def test_identical_kernels_tie_in_every_measure(two_blobs, monkeypatch):
    monkeypatch.setattr(compared_models, "other_kernel", lambda kernel: kernel)
    found = study(two_blobs, LABELS, model=TSNE("gaussian", schedule=SHORT), n_seeds=3)
    readings = read_measures(found.maps, CLASSES)
    assert [reading.best for reading in readings] == [None] * 10
    assert "tie" in read_verdict(found.maps, readings)


def test_a_clearly_better_map_wins(two_blobs):
    rng = np.random.default_rng(0)
    maps = []
    for rows in (rng.permutation(60), np.arange(60)):  # points in wrong places, and in their own
        first, *others = (
            judge(two_blobs, two_blobs[rows, :2] + rng.normal(0, 0.01, (60, 2)), LABELS, title="a")
            for _ in range(3)
        )
        scores = [score for judged in others for score in judged.scores]
        maps.append(replace(first, repeats=tuple(scores)))
    assert [reading.best for reading in read_measures(maps, CLASSES)] == [1] * 10


@pytest.mark.parametrize("kernel", ["gaussian", GaussianKernel(), "isolation", "owner", "knn"])
def test_a_kernel_is_compared_with_gaussian_and_gaussian_with_the_default(kernel):
    is_gaussian = kernel == "gaussian" or isinstance(kernel, GaussianKernel)
    assert other_kernel(kernel) == (DEFAULT if is_gaussian else "gaussian")


def test_the_model_gives_the_settings_and_stays_as_it_is(two_blobs):
    kernel = IsolationKernel(psi=8, metric="manhattan")
    model = TSNE(kernel, schedule=SHORT, random_state=5, n_components=1)
    found = study(two_blobs, model=model, n_seeds=1)
    isolation, gaussian = found.maps
    assert not hasattr(model, "embedding_")
    assert isolation.settings["psi"] == "8"
    assert isolation.report.metric == gaussian.report.metric == "manhattan"
    assert "metric='manhattan'" in gaussian.plan
    assert gaussian.embedding.shape == (60, 1)
    assert found.random_state == "5"


@pytest.mark.parametrize("kernel", ["gaussian", GaussianKernel(5.0)])
def test_a_gaussian_model_is_set_beside_the_default_kernel(two_blobs, kernel):
    found = study(two_blobs, model=TSNE(kernel, schedule=SHORT), n_seeds=1)
    default = KERNELS[DEFAULT].kind.__name__.replace("Kernel", " kernel")
    assert [judged.title for judged in found.maps] == ["Gaussian kernel", default]


def test_distances_can_be_studied(two_blobs):
    model = TSNE(IsolationKernel(psi=8, metric="precomputed"), schedule=SHORT)
    found = study(cdist(two_blobs, two_blobs), LABELS, model=model, n_seeds=1)
    assert found.maps[1].report.n_features is None


def test_maps_that_are_there_already_are_judged(two_blobs):
    judged = judge(
        two_blobs,
        two_blobs[:, :2],
        LABELS,
        title="two columns",
        plan="take two",
        settings={"columns": "0, 1"},
        fit_seconds=2.0,
    )
    assert judged.report == quality.report(two_blobs, two_blobs[:, :2], LABELS)
    assert (judged.title, judged.plan, judged.fit_seconds) == ("two columns", "take two", 2.0)
    assert Study((judged,), LABELS).maps == (judged,)


def test_few_points_have_small_neighborhoods(two_blobs):
    assert judge(two_blobs[:7], two_blobs[:7, :2], title="seven").report.k == 3
    assert len(study(two_blobs[:4], model=TSNE(schedule=SHORT), n_seeds=2).maps) == 2


def test_refusals(two_blobs):
    with refuses(
        ParameterError,
        "model must be a TSNE or None, not str. Pass, for example, TSNE(IsolationKernel(psi=64)).",
    ):
        study(two_blobs, model="isolation")
    with refuses(
        ParameterError,
        "n_seeds must be an integer from 1 up; got n_seeds=0. Pass the number of maps per kernel, "
        "or leave out n_seeds to choose it by the number of points.",
    ):
        study(two_blobs, n_seeds=0)
    with refuses(
        DataError,
        "X must have at least 4 row(s); got n_samples=3. Pass more points, one in each row.",
    ):
        study(two_blobs[:3])
    with refuses(
        DataError,
        "X must be in memory; got str. Call isosne.quality.report, which samples rows, or "
        "pass a sample of your own.",
    ):
        judge("points.npy", two_blobs[:, :2], title="of a file")
    with refuses(
        DataError,
        "embedding must have at least 4 rows; got 3. Pass more points.",
    ):
        judge(two_blobs[:3], two_blobs[:3, :2], title="three")
    with refuses(
        DataError,
        "The column 'age' must have one entry per point; got shape (3,) for 60 points. "
        "Pass the values in the order of the rows of the map.",
    ):
        study(two_blobs, columns={"age": [1, 2, 3]})
    with refuses(
        DataError,
        "color must have at most 120 classes; got 125. "
        "Merge rare classes, or pass numbers with kind='values'.",
    ):
        study(np.zeros((135, 2)), [f"class {i}" for i in range(125)] + ["class 0"] * 10)
    with refuses(
        ParameterError,
        "maps must contain at least one map; got maps=(). "
        "Pass the result of isosne.studies.judge for each map of the data.",
    ):
        Study(())
    maps = [judge(two_blobs[:n], two_blobs[:n, :2], title=str(n)) for n in (20, 30)]
    with refuses(
        ParameterError,
        "maps must all have the same number of points, not 20 and 30. "
        "Pass the result of isosne.studies.judge for each map of the data.",
    ):
        Study(tuple(maps))


def test_maps_of_mixed_tables_are_judged_by_gower():
    frame = as_pandas(mixed_columns())
    found = study(frame, model=TSNE(schedule=SHORT), n_seeds=1)
    assert [judged.title for judged in found.maps] == ["Owner kernel", "Gaussian kernel"]
    points = gower_points(frame)
    for judged in found.maps:
        assert "isolation trees" in judged.plan
        expected = quality.compare(points, judged.embedding, metric="gower").auc()
        assert judged.report.auc_rnx == expected
    again = compare_maps(frame, {"first": found.maps[0].embedding}, np.arange(N) % 3)
    assert again.maps[0].report.auc_rnx == found.maps[0].report.auc_rnx
