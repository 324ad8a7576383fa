"""Pages without barriers: no violation of WCAG 2.1, levels A and AA, in light and in dark."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from isosne import quality
from isosne.pages import write_page, write_report
from isosne.studies import compare_maps
from tests.browser.axe import violations
from tests.browser.conftest import NO_GPU

pytestmark = pytest.mark.browser


def write_map(path):
    """Write the page of a map that is colored by labels and by trust."""
    X, y = load_iris(return_X_y=True)
    trust = quality.compare(X, X[:, :2]).trust()
    return write_page(path, X[:, :2], labels=y, trust=trust, columns={"width": X[:, 3]})


def write_comparison(path):
    """Write a report with a note, labels and two maps."""
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    maps = {"first columns": X[:, :2], "last columns": X[:, 2:]}
    return write_report(path, compare_maps(X, maps, labels, notes=["A column is constant."]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 900), (390, 800)])
@pytest.mark.parametrize("write", [write_map, write_comparison])
def test_axe_finds_no_violation(open_page, prefer, tmp_path, write, size, scheme):
    prefer(scheme)
    reader = open_page(write(tmp_path / "page.html"), size=size)
    assert violations(reader.browser) == []


def test_axe_finds_an_image_without_a_text(prepare, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<html lang=en><title>page</title><img src='data:,'>")
    browser = prepare(NO_GPU, (390, 800), {None})
    browser.get(page.as_uri())
    assert [found.split(" at ")[0] for found in violations(browser)] == ["image-alt"]
