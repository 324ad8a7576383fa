"""The results table: what is picked, what is counted, what is said."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne.datasets import DataSet, load, record
from isosne.errors import DataError, ParameterError
from isosne.paper import results
from isosne.paper.evaluation import MeasuredSet, scale_points
from isosne.paper.results_tables import (
    MEASURES,
    Missing,
    best_row,
    chosen_row,
    measure_table,
    page_parts,
    parameter_table,
    unsearched_row,
    wins_table,
)
from isosne.paper.settings import Settings
from isosne.studies.parameter_sweep import Sweep
from tests.conftest import refuses


def row(name, value, auc, db, ch):
    return {
        name: value,
        "auc_rnx": auc,
        "auc_rnx_paper": auc - 0.1,
        "davies_bouldin": db,
        "calinski_harabasz": ch,
    }


@pytest.fixture
def wine():
    """Wine with invented measures: GK keeps more neighbors, IK has tighter classes."""
    data = DataSet("wine", np.zeros((178, 13)), np.zeros(178, int), np.array(["a", "b", "c"]))
    gaussian = (row("perplexity", 29, 0.5, 0.9, 300.0), row("perplexity", 49, 0.6, 0.8, 400.0))
    isolation = (row("psi", 9, 0.3, 0.4, 800.0), row("psi", 87, 0.57, 0.6, 300.0))
    scales = (row("psi", "auto", 0.61, 0.7, 350.0),)
    made = {"gaussian": gaussian, "isolation": isolation, "scales": scales}
    sweeps = {name: Sweep(rows, "auc_rnx") for name, rows in made.items()}
    return MeasuredSet(record("wine"), data, "thin", sweeps)


def test_the_papers_protocol_picks_for_each_measure(wine):
    assert best_row(wine, "isolation", "calinski_harabasz")["psi"] == 9
    assert best_row(wine, "isolation", "davies_bouldin")["psi"] == 9
    assert best_row(wine, "isolation", "auc_rnx")["psi"] == 87
    assert best_row(wine, "exact", "auc_rnx") is None


def test_the_choice_without_labels_is_one_for_all_measures(wine):
    assert chosen_row(wine, "isolation", "calinski_harabasz")["psi"] == 87


def test_without_a_search_there_is_one_map_or_none(wine):
    assert unsearched_row(wine, "gaussian", "auc_rnx")["perplexity"] == 29
    assert unsearched_row(wine, "scales", "auc_rnx")["psi"] == "auto"
    assert unsearched_row(wine, "isolation", "auc_rnx") is None


def test_a_table_shows_the_papers_figures_beside_ours_and_the_best_in_bold(wine):
    text = measure_table([wine], MEASURES[3], best_row)
    assert text.splitlines()[0] == (
        "| set | paper GK | paper IK | GK | IK | IK exact | IK 3 scales | IK 3 scales exact |"
    )
    assert text.splitlines()[2] == "| Wine | 625 | 853 | 400 | **800** |  | 350 |  |"
    text = measure_table([wine], MEASURES[2], chosen_row)
    assert text.splitlines()[2] == "| Wine | 0.52 | 0.43 | 0.80 | **0.60** |  | 0.70 |  |"


def test_chosen_parameters_come_with_their_share_of_the_points(wine):
    last = parameter_table([wine]).splitlines()[-1]
    assert last == "| Wine | 178 | thin | 49 (0.28 n) | 87 (0.49 n) |  |"


def test_wins_are_counted_against_the_gaussian_kernel(wine):
    lines = wins_table([wine]).splitlines()
    # printed: 0.67 / 0.65, 0.43 / 0.52, 853 / 625
    assert lines[2] == (
        "| printed in the paper | IK |  | 1 of 1, x 1.031 | 1 of 1, x 0.827 | 1 of 1, x 1.365 |"
    )
    # best: 0.57 / 0.6, 0.47 / 0.5, 0.4 / 0.8, 800 / 400
    assert lines[3] == (
        "| best for each measure | IK | 0 of 1, x 0.950 | 0 of 1, x 0.940 | 1 of 1, x 0.500 "
        "| 1 of 1, x 2.000 |"
    )
    assert any(line.startswith("| no search: perplexity 29 or automatic psi") for line in lines)


def test_a_page_names_what_is_missing_and_what_stands_in(wine):
    page = "\n".join(page_parts([wine], [Missing("human_activity", "It is away.")]))
    assert "human_activity: not available. It is away." in page
    other = DataSet("wine", np.zeros((10, 2)), np.zeros(10, int), np.array(["a"]), "Another.")
    page = "\n".join(page_parts([replace(wine, data=other)], []))
    assert "| Wine \\* |" in page
    assert "- Wine: Another." in page


def test_attributes_are_scaled_and_sparse_ones_stay_sparse():
    X = np.array([[0.0, 3, 7], [2, 6, 7], [4, 9, 7]])
    assert scale_points(X).tolist() == [[0, 0, 0], [0.5, 0.5, 0], [1, 1, 0]]
    scaled = scale_points(csr_array(np.array([[0.0, 2], [4, 0], [2, 1]])))
    assert isinstance(scaled, csr_array)
    assert scaled.toarray().tolist() == [[0, 1], [1, 0], [0.5, 0.5]]


def test_sets_come_in_the_order_of_their_size(tmp_path):
    assert results.chosen_sets(Settings(tmp_path, sets=("wdbc", "wine", "wdbc"))) == [
        "wine",
        "wdbc",
    ]
    assert results.chosen_sets(Settings(tmp_path, quick=True)) == ["wine", "dermatology", "wdbc"]
    assert len(results.chosen_sets(Settings(tmp_path))) == 21


def test_an_unknown_set_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(ParameterError, match=r"Did you mean 'wine'\?$"):
        results.chosen_sets(Settings(tmp_path, sets=("wines",)))


def test_an_unknown_grid_is_refused(tmp_path):
    sentence = (
        "grid must be one of paper, thin, least; got grid='fine'. "
        "Use grid=None to try fewer values on larger data sets."
    )
    with refuses(ParameterError, sentence):
        Settings(tmp_path, grid="fine")


def test_no_set_at_hand_is_an_error_that_gives_the_first_reason(settings):
    # coil20 has no copy on OpenML, so nothing is fetched
    with pytest.raises(DataError) as reason:
        load("coil20", folder=settings.data)
    sentence = f"At least one data set must be available; found none of 1. {reason.value}"
    with refuses(DataError, sentence):
        results.reproduce(replace(settings, sets=("coil20",)))


@pytest.mark.slow
def test_results_of_one_set_and_a_missing_one(settings):
    chosen = replace(settings, sets=("coil20", "wine"), grid="least")
    results.reproduce(chosen)
    page = (settings.out / "results.md").read_text()
    assert "coil20: not available." in page
    values = json.loads((settings.out / "results.json").read_text())["values"]
    methods = {"gaussian", "isolation", "exact", "scales", "scales-exact"}
    assert set(values["sets"]["wine"]["best"]) == methods
    files = {path.name for path in (settings.out / "sweeps").iterdir()}
    assert files == {f"wine-{method}.jsonl" for method in methods}
    before = (settings.out / "results.json").read_text()
    results.reproduce(chosen)  # all rows are there: nothing is mapped again
    assert (settings.out / "results.json").read_text() == before
