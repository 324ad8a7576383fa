"""Images of very many points, by hand and against counting in loops."""

import subprocess
import sys

import numpy as np

from isosne.plots.paint import Classes, Values
from isosne.plots.palette import FAINT, PLAIN, to_rgb
from isosne.plots.raster import (
    MIN_OPACITY,
    Canvas,
    enlarge_isolated,
    mix_classes,
    opacity_of,
    rasterize,
)

CANVAS = Canvas((0, 0), (2, 1), 1, 2)  # two pixels: x below 1, and above
THREE = np.array([[0.5, 0.5], [1.5, 0.5], [1.6, 0.2]])


def test_paint_raster_and_studies_do_not_import_matplotlib():
    code = (
        "import sys, isosne.plots.raster, isosne.studies.judged_maps, isosne.studies.readings\n"
        "assert not {'matplotlib', 'bokeh'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_point_between_the_corners_is_in_the_pixel_that_a_loop_finds():
    Y = np.random.default_rng(0).uniform(-1, 3, size=(500, 2))
    canvas = Canvas((0, 0), (2, 2), 4, 8)
    expected = np.zeros((4, 8))
    for x, y in Y:
        if 0 <= x <= 2 and 0 <= y <= 2:
            expected[int(y / 0.5), int(x / 0.25)] += 1
    np.testing.assert_array_equal(canvas.count(canvas.locate(Y)), expected)


def test_a_pixel_has_the_mean_color_of_its_points():
    classes = Classes(["a", "b"], np.array([0, 0, 1]))
    first, second = to_rgb(classes.colors)
    picture = rasterize(THREE, classes, CANVAS)
    np.testing.assert_allclose(picture[0, :, :3], [first, (first + second) / 2])
    np.testing.assert_allclose(picture[0, :, 3], [MIN_OPACITY, 1])


def test_values_have_the_color_of_their_mean_and_unknown_points_are_faint():
    values = Values(np.array([np.nan, 0.0, 1.0]), 0.0, 1.0)
    picture = rasterize(THREE, values, CANVAS)
    np.testing.assert_allclose(picture[0, 0, :3], to_rgb([FAINT])[0])
    np.testing.assert_allclose(picture[0, 1, :3], values.colors_of(np.array(0.5)))
    np.testing.assert_allclose(rasterize(THREE, None, CANVAS)[0, 0, :3], to_rgb([PLAIN])[0])


def test_unlabeled_points_show_only_where_there_are_no_labeled_ones():
    classes = Classes(["a", "no label"], np.array([1, 0, 1]), has_rest=True)
    picture = rasterize(THREE, classes, CANVAS)
    np.testing.assert_allclose(picture[0, :, :3], to_rgb(classes.colors)[::-1])
    by_class = np.array([[[0, 1]], [[1, 1]]])
    counts, colors = mix_classes(by_class, classes)
    assert counts.tolist() == [[1, 1]]
    np.testing.assert_allclose(colors[0], to_rgb(classes.colors)[::-1])


def test_opacity_grows_with_the_number_of_points():
    opacity = opacity_of(np.array([[0.0, 1.0, 2.0, 8.0, 8.0]]))[0]
    assert opacity[0] == 0
    assert opacity[1] == MIN_OPACITY
    assert opacity[1] < opacity[2] < opacity[3] == 1


def test_only_isolated_pixels_are_enlarged():
    picture = np.zeros((60, 60, 4))
    picture[30, 30] = 1
    assert (enlarge_isolated(picture)[..., 3] > 0).sum() == 9
    picture[::2, ::2] = 1
    np.testing.assert_array_equal(enlarge_isolated(picture), picture)
