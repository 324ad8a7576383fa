"""The quality of all placed rows, from a sample of them."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from isosne import TSNE, place_files
from isosne.jobs import whole_quality as whole_quality_module
from isosne.quality import compare
from tests.unit.jobs.conftest import FEW, rows_of
from tests.unit.jobs.test_place_files import contents, table_of


@pytest.fixture
def job(model_file, new_rows, tmp_path):
    (tmp_path / "in").mkdir()
    for k, rows in enumerate(np.split(new_rows, [3, 40])):
        pq.write_table(table_of(rows), tmp_path / "in" / f"p{k}.parquet")

    def run(**settings):
        return place_files(model_file, tmp_path / "in", tmp_path / "out", **settings)

    return run


def test_all_rows_of_a_small_job_are_measured(job, new_rows, expected):
    found = job(quality=True).quality
    ranks = compare(new_rows, expected, 10)
    about = {"n_rows": 70, "n_sampled": 70, "n_queries": 70, "k": 10}
    assert {key: found[key] for key in about} == about
    assert found["auc_rnx"] == pytest.approx(ranks.auc().value)
    assert found["rnx"] == pytest.approx(ranks.curve().r[9])
    assert found["trustworthiness"] == pytest.approx(ranks.trustworthiness().value)
    assert found["continuity"] == pytest.approx(ranks.continuity().value)
    assert all(found[name] == 0 for name in found if name.endswith("standard_error"))


def test_a_sample_gives_an_estimate_with_its_error(job, monkeypatch):
    whole = job(quality=True).quality
    monkeypatch.setattr(whole_quality_module, "N_SAMPLED", 50)
    monkeypatch.setattr(whole_quality_module, "N_QUERIES", 30)
    job_folder_manifest = job().output / "_isosne" / "manifest.json"
    job_folder_manifest.unlink()
    found = job(quality=True).quality
    assert (found["n_rows"], found["n_sampled"], found["n_queries"]) == (70, 50, 30)
    for name in ("auc_rnx", "rnx", "trustworthiness", "continuity"):
        error = found[f"{name}_standard_error"]
        assert 0 < error < 0.1
        assert abs(found[name] - whole[name]) < 5 * error + 0.1  # neighbors are sampled, too


def test_the_manifest_keeps_the_quality_of_the_same_results(job, tmp_path, monkeypatch):
    found = job(quality=True).quality
    before = contents(tmp_path / "out")
    assert job().quality is None
    assert contents(tmp_path / "out") == before
    monkeypatch.setattr(whole_quality_module, "N_SAMPLED", 20)  # not measured again
    assert job(quality=True).quality == found
    pq.write_table(table_of(rows_of(8)), tmp_path / "in" / "more.parquet")
    job()
    manifest = json.loads((tmp_path / "out" / "_isosne" / "manifest.json").read_text())
    assert "quality" not in manifest
    assert job(quality=True).quality["n_rows"] == 78


def test_the_metric_and_the_scale_are_those_of_the_map(tmp_path):
    from isosne import OwnerKernel

    X = np.abs(rows_of(60)) + 1
    model = TSNE(kernel=OwnerKernel(metric="cosine"), random_state=0, schedule=FEW).fit(X)
    model.save(tmp_path / "m.isosne")
    np.save(tmp_path / "x.npy", X)
    done = place_files(tmp_path / "m.isosne", tmp_path / "x.npy", tmp_path / "out", quality=True)
    ranks = compare(X, model.place(X), 10, metric="cosine")
    assert done.quality["auc_rnx"] == pytest.approx(ranks.auc().value)
