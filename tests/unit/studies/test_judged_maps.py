"""A study: maps of two kernels with several seeds, judged."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE, GaussianKernel, IsolationKernel, quality
from isosne.errors import DataError, ParameterError
from isosne.kernels.registry import KERNELS
from isosne.studies import compare_maps, study
from isosne.studies.judged_maps import list_seeds, resolve_n_seeds
from isosne.studies.point_columns import as_column
from isosne.tables import gower_points
from tests.conftest import SHORT, refuses
from tests.unit.tables.tables import N, as_pandas, mixed_columns

LABELS = ["tight"] * 30 + ["loose"] * 30
DEFAULT = signature(TSNE).parameters["kernel"].default


def test_a_study_judges_a_map_with_either_kernel(two_blobs):
    model = TSNE("isolation", schedule=SHORT)
    found = study(two_blobs, LABELS, model=model, title="Blobs", n_seeds=1)
    isolation, gaussian = found.maps
    assert [isolation.title, gaussian.title] == ["Isolation kernel", "Gaussian kernel"]
    for judged, kernel in ((isolation, "isolation"), (gaussian, GaussianKernel(59 / 3))):
        own = TSNE(kernel, schedule=SHORT, random_state=0)
        np.testing.assert_array_equal(judged.embedding, own.fit_transform(two_blobs))
        assert judged.report == quality.report(two_blobs, judged.embedding, LABELS)
        comparison = quality.compare(two_blobs, judged.embedding)
        np.testing.assert_array_equal(judged.curve.r, comparison.curve().r)
        np.testing.assert_array_equal(judged.trust.agreement, comparison.trust().agreement)
        (scores,) = judged.scores
        assert scores["auc_small"] == comparison.auc("small")
        assert scores["neighbors_kept"] == judged.trust.agreement.mean()
        assert scores["coarse_kept"] == judged.trust.coarse.mean()
        assert scores["davies_bouldin"] == quality.davies_bouldin(judged.embedding, LABELS)
        assert judged.fit_seconds > 0
        assert judged.measure_seconds > 0
    assert isolation.plan.startswith("points      60 to 2 dimensions\nkernel      Isolation")
    assert isolation.settings["psi"] == "48, 12, 3"
    assert isolation.settings["start"] == "'auto'"
    assert "psi" not in gaussian.settings
    assert (found.title, found.random_state) == ("Blobs", "0")


def test_the_same_seed_gives_the_same_maps(two_blobs):
    model = TSNE(schedule=SHORT)
    found = [study(two_blobs, model=model, n_seeds=2, random_state=seed) for seed in (3, 3, 4)]
    maps = [[judged.embedding for judged in each.maps] for each in found]
    scores = [[judged.scores for judged in each.maps] for each in found]
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_equal(scores[0], scores[1])
    assert not np.array_equal(maps[0][0], maps[2][0])
    assert [each.random_state for each in found] == ["3, 4", "3, 4", "4, 5"]
    # The second seed of one study is the first of another.
    np.testing.assert_equal(scores[0][1][1], scores[2][1][0])


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


def test_few_points_have_small_neighborhoods(two_blobs):
    assert compare_maps(two_blobs[:7], {"": two_blobs[:7, :2]}).maps[0].report.k == 3
    assert len(study(two_blobs[:4], model=TSNE(schedule=SHORT), n_seeds=2).maps) == 2


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


@pytest.mark.parametrize(
    ("n_points", "n_seeds"), [(4, 5), (5_000, 5), (5_001, 3), (20_000, 3), (20_001, 1)]
)
def test_many_points_are_mapped_with_fewer_seeds(n_points, n_seeds):
    assert resolve_n_seeds(None, n_points) == n_seeds


def test_seeds_follow_the_first():
    assert list_seeds(7, 3) == [7, 8, 9]
    assert list_seeds(np.int32(7), 1) == [7]
    assert len(set(list_seeds(None, 4))) == 4
    assert len(set(list_seeds(np.random.default_rng(1), 3))) == 3
    with pytest.raises(ParameterError, match=r"\Arandom_state must be"):
        list_seeds(-1, 2)


@pytest.mark.parametrize(
    ("values", "data", "words"),
    [
        ([0.5, np.nan], [0.5, np.nan], None),
        (np.array([1, 2], np.float32), [1.0, 2.0], None),
        (np.array([3, -1], np.int64), [3, -1], None),
        ([2**40, 1], [1, 0], ["1", "1099511627776"]),
        ([True, False], [1, 0], ["False", "True"]),
        (np.array(["b", None], object), [1, 0], ["", "b"]),
        (np.array(["2020-01-02", "2020-01-01"], "M8[D]"), [1, 0], ["2020-01-01", "2020-01-02"]),
        (pd.Categorical(["b", "a"]), [1, 0], ["a", "b"]),
    ],
)
def test_numbers_of_a_column_stay_and_all_else_is_text(values, data, words):
    column = as_column("c", values, 2)
    np.testing.assert_array_equal(column.data, data)
    assert column.data.dtype == (np.float64 if np.array(data).dtype.kind == "f" else np.int32)
    assert column.words == words


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        pytest.param(
            lambda X: study(X, model="isolation"),
            ParameterError,
            "model must be a TSNE or None, not str. "
            "Pass, for example, TSNE(IsolationKernel(psi=64)).",
        ),
        pytest.param(
            lambda X: study(X, n_seeds=0),
            ParameterError,
            "n_seeds must be an integer from 1 up; got n_seeds=0. Pass the number of maps per "
            "kernel, or leave out n_seeds to choose it by the number of points.",
        ),
        pytest.param(
            lambda X: study(X[:3]),
            DataError,
            "X must have at least 4 row(s); got n_samples=3. Pass more points, one in each row.",
        ),
        pytest.param(
            lambda X: compare_maps("points.npy", {"of a file": X[:, :2]}),
            DataError,
            "X must be in memory; got str. Call isosne.quality.report, which samples rows, or "
            "pass a sample of your own.",
        ),
        pytest.param(
            lambda X: compare_maps(X, {}),
            ParameterError,
            "maps must contain at least one map. Pass a mapping from titles to maps.",
        ),
        pytest.param(
            lambda X: study(X, columns={"age": [1, 2, 3]}),
            DataError,
            "The column 'age' must have one entry per point; got shape (3,) for 60 points. "
            "Pass the values in the order of the rows of the map.",
        ),
        pytest.param(
            lambda X: study(X, columns=[[1, 2, 3]]),
            ParameterError,
            "columns must be a mapping from names to arrays or a data frame, not list. "
            "Pass, for example, {'age': ages}.",
        ),
    ],
)
def test_refusals(two_blobs, call, error, sentence):
    with refuses(error, sentence):
        call(two_blobs)
