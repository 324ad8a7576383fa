"""The results of a job: their rows counted by pixel."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isosne import place_files
from isosne.errors import DataError
from isosne.place import results
from isosne.place.results import PIXELS, count_rows
from isosne.plots import plot_placed


@pytest.fixture
def job(model_file, new_rows, tmp_path):
    (tmp_path / "in").mkdir()
    kinds = np.array(["b", "a", None, "b", "c"] * 14, object)
    for k, rows in enumerate(np.split(np.arange(70), [3, 40])):
        columns = dict(zip("abc", new_rows[rows].T, strict=True))
        table = pa.table({"kind": kinds[rows], "number": 9.0 + rows % 2, **columns})
        pq.write_table(table, tmp_path / "in" / f"p{k}.parquet")

    def run(**settings):
        return place_files(model_file, tmp_path / "in", tmp_path / "out", **settings)

    return run


def test_each_row_is_counted_once_in_its_pixel_and_class(job, expected, tmp_path):
    job(keep=["kind", "number"])
    counts = count_rows(tmp_path / "out", "kind")
    sizes = [(name, int(n.sum())) for name, n in counts.classes.items()]
    assert sizes == [("a", 14), ("b", 28), ("c", 14), ("", 14)]
    left, right, bottom, top = counts.extent
    assert right - left == pytest.approx(top - bottom)
    edges = np.linspace(left, right, PIXELS + 1), np.linspace(bottom, top, PIXELS + 1)
    total, _, _ = np.histogram2d(*expected.astype(np.float64).T, edges)
    np.testing.assert_array_equal(sum(counts.classes.values()), total.T)
    assert list(count_rows(tmp_path / "out", "number").classes) == ["9.0", "10.0"]
    assert count_rows(tmp_path / "out").n_rows == 70


def test_too_many_classes_are_refused(job, tmp_path, monkeypatch):
    job(keep=["kind"])
    monkeypatch.setattr(results, "MOST_CLASSES", 3)
    with pytest.raises(DataError, match=r"at most 3 classes; 'kind' has more\. Choose another"):
        count_rows(tmp_path / "out", "kind")


def test_a_folder_without_rows_is_refused(tmp_path):
    pq.write_table(pa.table({"x": np.empty(0), "y": np.empty(0)}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"^The results must have at least one row; "):
        count_rows(tmp_path)


def test_the_picture_has_a_color_per_class_and_a_legend(job, tmp_path):
    job(keep=["kind"])
    ax = plot_placed(tmp_path / "out", "kind", title="70 rows")
    assert ax.get_title() == "70 rows"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c", "no label"]
    image = ax.images[0].get_array()
    assert image.shape == (PIXELS, PIXELS, 3)
    assert (image < 1).any(axis=2).sum() >= 50
    assert plot_placed(tmp_path / "out").get_legend() is None
