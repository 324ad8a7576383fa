"""What is shown of a large table before the first step of its map."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isosne import TSNE
from isosne.explorer import run as run_module
from isosne.explorer.preview import N_SAMPLE, preview_map
from isosne.explorer.run import PREPARING, Run, Status
from isosne.explorer.session import PREVIEW, ShownMap


@pytest.fixture
def points():
    """More points than the sample, wide along two directions."""
    rng = np.random.default_rng(0)
    scales = np.array([10.0, 5.0, 0.1, 0.1, 0.1])
    return (rng.normal(size=(3 * N_SAMPLE, 5)) * scales).astype(np.float32)


def test_distances_in_the_preview_are_those_along_the_principal_axes(points):
    Y = preview_map(points)
    assert Y.shape == (len(points), 2)
    assert Y.dtype == np.float32
    apart = np.linalg.norm(points[:100, None] - points[None, :100], axis=2)
    shown = np.linalg.norm(Y[:100, None] - Y[None, :100], axis=2)
    np.testing.assert_allclose(shown, apart, atol=1.0)  # the other directions are 0.1 wide
    assert Y[:, 0].std() > Y[:, 1].std()


def test_sparse_and_dense_points_have_the_same_preview(points):
    centered = points - points.mean(axis=0)
    dense, sparse = preview_map(centered), preview_map(csr_array(centered))
    for axis in range(2):
        assert abs(np.corrcoef(dense[:, axis], sparse[:, axis])[0, 1]) > 0.999


def test_equal_points_have_a_finite_preview():
    assert np.isfinite(preview_map(np.ones((50, 3), np.float32))).all()


@pytest.mark.parametrize("rows", [None, np.arange(20, 50)])
def test_a_preview_is_shown_until_there_is_a_frame_but_never_saved(two_blobs, monkeypatch, rows):
    monkeypatch.setattr(run_module, "MIN_POINTS", 30)
    X = two_blobs if rows is None else two_blobs[rows]
    run = Run(TSNE(random_state=0), X)
    shown = ShownMap("map", None, rows, run)
    assert np.isnan(shown.view(60)[1]).all()
    run.model.callback = lambda state: True  # the fit is not watched: it gives no frames
    run._fit()
    number, Y = shown.view(60)
    assert number == PREVIEW
    assert np.isfinite(Y).all(axis=1).sum() == len(X)
    assert np.isnan(shown.frame(60)[1]).all()


def test_the_page_tells_what_the_preview_is(two_blobs, monkeypatch):
    monkeypatch.setattr(run_module, "MIN_POINTS", 30)
    seen = []
    run = Run(TSNE(random_state=0), two_blobs)
    monkeypatch.setattr(run.model, "fit", lambda X: seen.append(str(run.status)))
    run._fit()
    words = "Computing similarities and neighbors; the points are shown on two principal axes"
    assert seen == [words]
    assert str(Status(PREPARING)) == "Computing similarities and neighbors"


def test_a_warm_start_has_no_preview(two_blobs, monkeypatch):
    monkeypatch.setattr(run_module, "MIN_POINTS", 30)
    run = Run(TSNE(start=np.zeros((60, 2)), random_state=0), two_blobs)
    monkeypatch.setattr(run.model, "fit", lambda X: None)
    run._fit()
    assert run.preview is None
