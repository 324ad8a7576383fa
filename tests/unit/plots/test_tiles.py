"""Figures of tiles: colors, opacities, legends."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from isosne.errors import ParameterError
from isosne.plots import plot_map, plot_tiles
from isosne.plots.figures import make_color_scale
from isosne.plots.palette import COLORS, FAINT, PLAIN
from isosne.plots.tiles import Shading
from tests.unit.tiles.examples import build, make_rows


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    return build(tmp_path_factory.mktemp("tiles") / "t", make_rows())


def image_of(ax):
    (image,) = ax.get_images()
    return np.asarray(image.get_array())


def test_a_pixel_has_the_mean_color_of_its_labeled_rows(tiles):
    picture = Shading(tiles, "kind").picture(2)
    by_class = tiles.class_counts(2)
    a, b = np.array([to_rgb(COLORS[0]), to_rgb(COLORS[1])])
    labeled = by_class[..., 1:].sum(axis=2)
    expected = (by_class[..., 1:2] * a + by_class[..., 2:] * b) / labeled[..., None].clip(1)
    expected[(labeled == 0) & (by_class[..., 0] > 0)] = to_rgb(FAINT)
    np.testing.assert_allclose(picture[..., :3], expected, atol=1e-12)
    assert (by_class > 0).all(axis=(0, 1)).shape == (3,)


def test_opacity_grows_with_the_number_of_rows_and_empty_pixels_are_clear(tiles):
    opacity, counts = Shading(tiles, "count").picture(0)[..., 3], tiles.counts(0)
    assert (opacity[counts == 0] == 0).all()
    assert opacity[counts == 1].min() == opacity[counts == 1].max() < opacity[counts == 2].min()


def test_a_single_color_shows_the_number_of_rows(tiles):
    picture = Shading(tiles, "count").picture(1)
    filled = picture[..., 3] > 0
    np.testing.assert_allclose(picture[filled][:, :3], [to_rgb(PLAIN)] * filled.sum())


def test_means_have_the_colors_of_a_scale_and_gaps_those_around_them(tiles):
    shading = Shading(tiles, "v")
    picture, means = shading.picture(2), tiles.means(2, "v")
    known = np.isfinite(means)
    colors = make_color_scale(shading.paint).to_rgba(means[known])[:, :3]
    np.testing.assert_allclose(picture[known][:, :3], colors)
    gaps = (tiles.counts(2) > 0) & ~known
    assert gaps.any()
    assert np.isfinite(picture[gaps]).all()
    assert shading.paint.title == "mean of v"
    assert np.nanmin(means) <= shading.paint.low < shading.paint.high <= np.nanmax(means)


def test_trust_has_the_scale_of_trust(tmp_path):
    rows = make_rows()
    tiles = build(tmp_path / "t", (*rows[:2], np.abs(rows[2]) % 1), value="trust")
    paint = Shading(tiles, "trust").paint
    assert (paint.low, paint.high, paint.is_trust) == (0.0, 1.0, True)


def test_a_figure_has_the_extent_the_title_and_a_legend(tiles):
    ax = plot_tiles(tiles, title="600 rows")
    assert ax.get_title() == "600 rows"
    assert ax.get_xlim() + ax.get_ylim() == tiles.extent
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert entries == ["a", "b", "no label"]
    assert image_of(ax).shape == (1024, 1024, 3)


def test_the_background_is_white_and_isolated_pixels_are_enlarged(tiles):
    image = image_of(plot_tiles(tiles, "count", level=2, legend=False))
    assert image[0, 0].tolist() == [1, 1, 1]
    assert (image < 1).any(axis=2).sum() > (tiles.counts(2) > 0).sum()


def test_a_figure_may_be_part_of_another(tiles):
    ax = plot_map(np.eye(3)[:, :2])
    assert plot_tiles(tiles, "v", ax=ax, level=0) is ax


def test_a_color_that_is_not_there_is_refused(tiles):
    with pytest.raises(ParameterError) as caught:
        plot_tiles(tiles, "w")
    assert str(caught.value) == (
        f"color must be one of 'kind', 'v', 'count', which the tiles of {tiles.folder} have; "
        "got color='w'. Make tiles with the label or the values that you want to see."
    )


def test_tiles_without_a_label_show_the_number_of_rows(tmp_path):
    Y, classes, values = make_rows()
    tiles = build(tmp_path / "t", (Y, 0 * classes, values), label=None, classes=())
    assert Shading(tiles, None).color == "count"
    assert plot_tiles(tiles).get_legend() is None
