"""Curves, by their lines and legends."""

import numpy as np
import pytest

from isosne.plots import plot_lines, plot_rnx, plot_similarity_from
from isosne.quality import compare
from tests.unit.plots.conftest import entries


def test_rnx_curves_have_log_k_and_their_area_in_the_legend(two_blobs):
    good, bad = two_blobs[:, :2], two_blobs[::-1, :1]
    curves = {"good": compare(two_blobs, good).curve(), "bad": compare(two_blobs, bad).curve()}
    ax = plot_rnx(curves)
    assert ax.get_xscale() == "log"
    areas = [compare(two_blobs, good).auc(), compare(two_blobs, bad).auc()]
    assert entries(ax.get_legend()) == [f"good  {areas[0]:.3f}", f"bad  {areas[1]:.3f}"]
    np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), curves["good"].k)
    np.testing.assert_array_equal(ax.get_lines()[1].get_ydata(), curves["bad"].r)


def test_the_legend_of_curves_lies_beside_the_axes():
    ax = plot_rnx({"a map with a long name": ([1, 2], [0.1, 0.2])})
    ax.figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert not legend.overlaps(ax.get_window_extent())
    assert legend.x1 <= ax.figure.bbox.x1


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
