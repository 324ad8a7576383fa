"""Curves, by their lines, labels and legends."""

import numpy as np
import pytest

from isosne.plots import plot_lines, plot_rnx, plot_similarity_from
from isosne.plots.raster import spread_apart
from isosne.quality import compare
from tests.unit.plots.conftest import entries


def test_rnx_curves_have_log_k_and_their_area_in_their_labels(two_blobs):
    good, bad = two_blobs[:, :2], two_blobs[::-1, :1]
    curves = {"good": compare(two_blobs, good).curve(), "bad": compare(two_blobs, bad).curve()}
    ax = plot_rnx(curves)
    assert ax.get_xscale() == "log"
    areas = [compare(two_blobs, good).auc(), compare(two_blobs, bad).auc()]
    labels = [text.get_text() for text in ax.texts]
    assert labels == [f"good, AUC {areas[0]:.3f}", f"bad, AUC {areas[1]:.3f}"]
    ax.figure.draw_without_rendering()
    shown = [label.get_text() for label in ax.get_xticklabels() if label.get_text()]
    assert {"1", "10"} <= set(shown)  # beyond the limits, labels depend on the version
    np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), curves["good"].k)
    np.testing.assert_array_equal(ax.get_lines()[1].get_ydata(), curves["bad"].r)


def test_the_labels_of_curves_lie_beside_the_axes_one_above_the_other():
    ax = plot_rnx({f"a map with a long name {i}": ([1, 2], [0.1, 0.001 * i]) for i in range(3)})
    ax.figure.draw_without_rendering()
    first, second, third = (text.get_window_extent() for text in ax.texts)
    assert ax.get_window_extent().y0 <= first.y0
    assert first.y1 < second.y0 < second.y1 < third.y0
    assert ax.get_window_extent().x1 < first.x0 < first.x1 <= ax.figure.bbox.x1


def test_labels_that_are_too_near_share_the_excess():
    # 0.1 and 0.1 move by half a gap each, the first upwards; 0.0 is half a gap above the bottom.
    np.testing.assert_allclose(spread_apart([0.5, 0.5, 0.9], 0.2, 0.0), [0.6, 0.4, 0.9])
    np.testing.assert_allclose(spread_apart([0.0, 0.0], 0.2, 0.0), [0.3, 0.1])


@pytest.mark.parametrize("log", [False, True])
def test_lines_have_labels_and_scales_and_differ_in_color_and_dashes(log):
    series = {name: ([1, 10, 100], [2, 20, 200]) for name in "abcd"}
    ax = plot_lines(series, x_label="points", y_label="seconds", log=log)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("points", "seconds")
    assert ax.get_xscale() == ax.get_yscale() == ("log" if log else "linear")
    assert entries(ax.get_legend()) == list("abcd")
    lines = ax.get_lines()
    assert len({line.get_color() for line in lines}) == 4
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in lines}) == 4


def test_similarities_are_sorted_within_each_class():
    K = {"Gaussian": [1.0, 0.1, 0.9, 0.3], "isolation": [1.0, 0.5, 0.2, 0.4]}
    axes = plot_similarity_from(K, ["a", "b", "a", "b"])
    assert [ax.get_title() for ax in axes] == list(K)
    drawn = [[line.get_ydata().tolist() for line in ax.get_lines()] for ax in axes]
    assert drawn == [[[1.0, 0.9], [0.3, 0.1]], [[1.0, 0.2], [0.5, 0.4]]]
    assert axes[0].get_lines()[0].get_xdata().tolist() == [1, 2]
    assert entries(axes[0].figure.legends[0]) == ["a", "b"]
