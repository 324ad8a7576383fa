"""Files of every format version are read; tests/contract/file_formats.py wrote them."""

import json
import shutil

import numpy as np
import pytest

from isosne import TSNE
from isosne._archive import FORMAT_VERSION
from isosne.rows import read_map
from isosne.rows.map_writer import FORMAT_VERSION as MAP_VERSION
from tests.contract.digests import digest
from tests.contract.file_formats import FOLDER, MAPS, MODELS, N_STEPS, X, make

VERSIONS = sorted(path.name for path in FOLDER.iterdir())


def held(version):
    return json.loads((FOLDER / version / "held.json").read_text())


def test_there_are_files_of_every_version():
    assert [str(k) for k in range(1, FORMAT_VERSION + 1)] == VERSIONS
    assert MAP_VERSION == FORMAT_VERSION  # they count together: one folder holds both


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_its_map_and_places_new_rows(version, name):
    model = TSNE.load(FOLDER / version / f"{name}.isosne")
    assert digest(model.embedding_) == held(version)[name]
    placed = model.transform(MODELS[name][1])
    assert placed.shape == (4, 2)
    assert np.isfinite(placed).all()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_run_resumes_from_a_checkpoint(version, tmp_path):
    path, seen = tmp_path / "checkpoint.isosne", []
    shutil.copy(FOLDER / version / path.name, path)
    model = make("owner", callback=lambda state: seen.append(state.iteration))
    Y = model.fit(X, checkpoint=path).embedding_
    assert seen[0] == N_STEPS + 1
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", MAPS)
def test_a_map_has_ids_labels_columns_and_provenance(version, name):
    found = read_map(FOLDER / version / name)
    np.testing.assert_array_equal(found.embedding, read_map(FOLDER / version / MAPS[0]).embedding)
    assert list(found.ids) == [f"r{i}" for i in range(len(X))]
    assert list(found.labels) == ["uv"[i % 2] for i in range(len(X))]
    assert list(found.columns) == ["outlier_score"]
    assert found.provenance["version"].startswith("1.")
