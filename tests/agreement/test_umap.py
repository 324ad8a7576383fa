"""A map of the real umap-learn, saved as its users save it, judged from the terminal."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from tests.unit.cli.conftest import run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The first 300 digits in digits.csv, and their UMAP map in umap.csv and umap.npy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import umap

        data = load_digits(as_frame=True).frame[:300]
        Y = umap.UMAP(random_state=0, n_jobs=1).fit_transform(data.drop(columns="target"))
    folder = tmp_path_factory.mktemp("umap")
    data.to_csv(folder / "digits.csv", index=False)
    pd.DataFrame(Y, columns=["UMAP1", "UMAP2"]).to_csv(folder / "umap.csv")
    np.save(folder / "umap.npy", Y)
    return folder


def test_a_map_of_umap_is_measured_and_compared(folder, monkeypatch):
    monkeypatch.chdir(folder)
    label = ("--label", "target", "-q")
    first, second = (
        json.loads(run("measure", "digits.csv", name, *label, "--json").stdout)
        for name in ("umap.csv", "umap.npy")
    )
    assert first == pytest.approx(second)
    assert 0.3 < first["auc_rnx"] < 0.8
    assert first["knn_accuracy"] > 0.9
    run("embed", "digits.csv", *label, "-o", "map.parquet")
    run("plot", "umap.csv", "-o", "umap.png", "-q")
    own = json.loads(run("measure", "digits.csv", "map.parquet", "-q", "--json").stdout)
    assert own["auc_rnx"] > first["auc_rnx"]
    maps = ("--map", "map.parquet", "--map", "umap.csv")
    run("report", "digits.csv", *label, *maps, "-o", "report.html")
    page = (folder / "report.html").read_text()
    assert "map map.parquet preserves neighborhoods" in page
