"""`isosne sweep`: one row per map, saved as they come."""

import csv
import json
from pathlib import Path

import pytest

from isosne._files import only_user
from tests.unit.cli.conftest import COLUMNS, SHORT

LINE = ("sweep", "wine.csv", *COLUMNS, *SHORT, "--n-jobs", 1)


@pytest.fixture
def read_rows(wine):
    return lambda path: list(csv.DictReader(Path(path).read_text().splitlines()))


def test_the_everyday_line(read_rows, isosne):
    found = isosne(*LINE, "--cell-size", "4,8,16,32", "-o", "sweep.csv")
    rows = read_rows("sweep.csv")
    assert [row["cell_size"] for row in rows] == ["4", "8", "16", "32"]
    best = max(rows, key=lambda row: float(row["auc_rnx"]))
    assert found.stdout.endswith(f"best by auc_rnx: cell_size {best['cell_size']}\n")
    assert found.stdout.splitlines()[0].split()[:2] == ["cell_size", "auc_rnx"]
    assert "\ncell_size 32  auc_rnx 0." in found.stderr
    assert sorted(path.name for path in Path().iterdir()) == ["sweep.csv", "wine.csv"]


def test_one_object_for_machines(read_rows, isosne_json):
    line = (*LINE, "--kernel", "gaussian", "--perplexity", "5,30", "--metric", "manhattan")
    found = isosne_json(*line, "--measure", "knn_accuracy", "-o", "sweep.csv")
    assert [row["perplexity"] for row in found["rows"]] == [5, 30]
    assert found["best"]["metric"] == "manhattan"
    assert found["best"]["knn_accuracy"] == max(row["knn_accuracy"] for row in found["rows"])


def test_a_sweep_goes_on_where_it_stopped(read_rows, isosne, monkeypatch):
    from isosne.studies import parameter_sweep as library

    measure = library.measure_map

    def stop_at_the_third(points, labels, kernel, template, task, n_jobs):
        if task["cell_size"] == 16:
            raise KeyboardInterrupt
        return measure(points, labels, kernel, template, task, n_jobs)

    line = (*LINE, "--cell-size", "4,8,16,32", "-o", "sweep.csv")
    with monkeypatch.context() as patch:
        patch.setattr(library, "measure_map", stop_at_the_third)
        found = isosne(*line, "-q", code=130)
    assert found.stderr == (
        "Interrupted; the results so far are in sweep.csv.jsonl. "
        "Run the same command again to resume.\n"
    )
    assert not Path("sweep.csv").exists()
    kept = Path("sweep.csv.jsonl").read_text().splitlines()
    assert len(kept) == 3
    again = isosne(*line)
    assert again.stderr.count("cell_size 16") == 1
    assert "cell_size 4 " not in again.stderr
    assert float(read_rows("sweep.csv")[0]["seconds"]) == json.loads(kept[1])["seconds"]
    assert not Path("sweep.csv.jsonl").exists()


def test_two_sweeps_do_not_share_their_results(read_rows, isosne):
    line = (*LINE, "--cell-size", "4", "-o", "sweep.csv", "-q")
    with only_user(Path("sweep.csv.jsonl")):
        found = isosne(*line, code=1)
        assert found.stderr == (
            "Error: Cannot write sweep.csv.jsonl: another run uses it. "
            "Wait until that run ends, or choose another name.\n"
        )
    assert not Path("sweep.csv.jsonl").exists()
    isosne(*line)
    assert len(read_rows("sweep.csv")) == 1
