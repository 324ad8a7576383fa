"""Maps over a grid: measured, kept as they come, continued after a kill."""

import json

import numpy as np
import pytest

from isosne import TSNE, IsolationKernel
from isosne.errors import DataError, ParameterError
from isosne.layout.schedules import Phase, Schedule
from isosne.quality import compare, davies_bouldin
from isosne.studies.parameter_sweep import paper_grid, sweep
from tests.conftest import refuses

SHORT = TSNE(schedule=Schedule((Phase(20, exaggeration=4),)), random_state=0)
GRID = [4, 8, 16, 30]


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    return rng.normal(size=(60, 4)) + 4 * rng.normal(size=(3, 4))[y], y


@pytest.fixture(scope="module")
def undisturbed(blobs):
    X, y = blobs
    return sweep(X, "isolation", GRID, labels=y, estimator=SHORT, n_jobs=1)


def assert_same(found, expected):
    """Compare all but the time.

    To the last digits of a float32 sum: earlier tests in this process may have had loops compiled
    for arrays of another layout, which a new process has not.
    """
    for row, other in zip(found.rows, expected.rows, strict=True):
        assert {**row, "seconds": 0} == pytest.approx({**other, "seconds": 0}, rel=1e-6)


def test_the_papers_grid_has_its_two_parts():
    # 1 is left out; 5, 9, ..., 97; and 0.01 n = 10, 0.05 n = 50, ..., 0.97 n = 970
    assert paper_grid(1000) == sorted({*range(5, 98, 4), *range(10, 971, 40)})


def test_rows_stand_in_the_order_of_the_grid_with_what_was_measured(blobs, undisturbed):
    X, y = blobs
    assert [row["psi"] for row in undisturbed.rows] == GRID
    model = TSNE(IsolationKernel(8), schedule=SHORT.schedule, random_state=0).fit(X)
    row = undisturbed.rows[1]
    assert row["auc_rnx"] == float(compare(X, model.embedding_).auc())
    assert row["auc_rnx_paper"] == float(compare(X, model.embedding_).auc("paper"))
    assert row["davies_bouldin"] == davies_bouldin(model.embedding_, y)
    assert row["kl_divergence"] == model.kl_divergence_


def test_isolated_points_are_counted_in_the_rows_and_not_warned_of(blobs):
    found = sweep(blobs[0], "isolation", [4, 60], estimator=SHORT, n_jobs=1)
    assert [row["n_isolated"] for row in found.rows] == [0, 60]  # one point a cell at psi = n


def test_the_best_row_is_picked_without_labels_unless_told_otherwise(undisturbed):
    assert undisturbed.best == max(undisturbed.rows, key=lambda row: row["auc_rnx"])
    best = undisturbed.best_by("davies_bouldin")
    assert best["davies_bouldin"] == min(row["davies_bouldin"] for row in undisturbed.rows)


@pytest.mark.slow
def test_processes_side_by_side_give_the_same_rows(blobs, undisturbed):
    X, y = blobs
    found = sweep(X, "isolation", GRID, labels=y, estimator=SHORT, n_jobs=2)
    assert_same(found, undisturbed)


def test_all_combinations_of_several_parameters_are_tried(blobs):
    grid = {"psi": [4, 8], "n_partitions": [10, "exact"]}
    found = sweep(blobs[0], "isolation", grid, estimator=SHORT, n_jobs=1)
    pairs = [(row["psi"], row["n_partitions"]) for row in found.rows]
    assert pairs == [(4, 10), (4, "exact"), (8, 10), (8, "exact")]
    assert "davies_bouldin" not in found.rows[0]


def test_a_line_that_was_cut_off_is_made_again(blobs, undisturbed, tmp_path):
    X, y = blobs
    path = tmp_path / "rows.jsonl"
    sweep(X, "isolation", GRID, labels=y, estimator=SHORT, results=path, n_jobs=1)
    path.write_bytes(path.read_bytes()[:-30])
    made = []
    how = {"labels": y, "estimator": SHORT, "results": path, "n_jobs": 1}
    found = sweep(X, "isolation", GRID, **how, callback=made.append)
    assert [row["psi"] for row in made] == [30]
    assert_same(found, undisturbed)
    assert [json.loads(line)["psi"] for line in path.read_text().splitlines()[1:]] == GRID


def test_a_file_that_is_not_of_this_sweep_is_left_alone(blobs, tmp_path):
    X, _ = blobs
    path = tmp_path / "rows.jsonl"
    sweep(X, "isolation", [4], estimator=SHORT, results=path, n_jobs=1)
    for content, reason in (
        (path.read_text(), "belongs to a sweep of other data or settings"),
        ("psi,auc\n4,0.5\n", "is not a results file of a sweep"),
    ):
        path.write_text(content)
        sentence = f"Cannot resume from {path}: it {reason}. Choose another file name."
        with refuses(DataError, sentence):
            sweep(X + 1, "isolation", [4], estimator=SHORT, results=path, n_jobs=1)
        assert path.read_text() == content


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            ("linear", [4]),
            "kernel must be one of 'isolation', 'owner', 'gaussian', 'adaptive', 'knn'; "
            "got kernel='linear'. Choose one of these names.",
        ),
        pytest.param(
            ("isolation", []),
            "grid must contain at least one value; got grid=[]. Pass, for example, [16, 64, 256].",
        ),
    ],
)
def test_what_cannot_be_swept_is_refused(blobs, arguments, sentence):
    with refuses(ParameterError, sentence):
        sweep(blobs[0], *arguments, estimator=SHORT, n_jobs=1)


def test_an_unknown_measure_is_refused_with_the_columns(undisturbed):
    sentence = (
        "measure must be a column of the sweep; got measure='silhouette'. Choose one of "
        f"{', '.join(undisturbed.rows[0])}."
    )
    with refuses(ParameterError, sentence):
        undisturbed.best_by("silhouette")
