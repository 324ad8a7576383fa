import numpy as np

from isosne.explorer.aggregate import PIXELS, draw_image, inside, rows_in_view

CORNERS = np.array([[-1.0, -1.0], [1.0, 1.0]])
RED, BLUE, GRAY = 0xFF0000FF, 0x0000FFFF, 0xBCC0C6FF


def pixels_of(Y, colors, **settings):
    image = draw_image(Y.astype(np.float32), colors.astype(np.uint32), CORNERS, **settings)
    return image.view(np.uint8).reshape(PIXELS, PIXELS, 4)


def test_a_crowd_is_drawn_where_it_is_in_its_color():
    rng = np.random.default_rng(0)
    Y = np.vstack([rng.uniform(-0.9, -0.5, (50_000, 2)), rng.uniform(0.5, 0.9, (50_000, 2))])
    image = pixels_of(Y, np.repeat([RED, BLUE], 50_000), is_faint=None)
    low, high = image[: PIXELS // 2, : PIXELS // 2], image[PIXELS // 2 :, PIXELS // 2 :]
    assert low[..., 0][low[..., 3] > 0].min() == 255
    assert high[..., 2][high[..., 3] > 0].min() == 255
    assert (image[: PIXELS // 2, PIXELS // 2 :, 3] == 0).all()


def test_faint_points_are_behind_the_others():
    Y = np.zeros((1000, 2))
    is_faint = np.ones(1000, bool)
    is_faint[0] = False
    colors = np.where(is_faint, GRAY, RED)
    image = pixels_of(Y, colors, is_faint=is_faint)
    red, green, _, _ = image[PIXELS // 2, PIXELS // 2].tolist()
    assert red - green > 50  # one red point of a thousand would be 0.3 redder than gray
    image = pixels_of(Y, colors, is_faint=None)
    red, green, _, _ = image[PIXELS // 2, PIXELS // 2].tolist()
    assert red - green <= 1


def test_rows_outside_the_view_and_without_a_position_are_not_drawn():
    Y = np.array([[0, 0], [3, 0], [np.nan, np.nan]], np.float32)
    assert rows_in_view(Y, CORNERS).tolist() == [0]
    assert (pixels_of(Y[1:], np.array([RED, RED]), is_faint=None)[..., 3] == 0).all()


def test_a_polygon_selects_the_points_inside():
    Y = np.array([[0, 0], [0.9, 0.9], [0.2, 0.1], [np.nan, 0]], np.float32)
    found = inside(Y, np.array([-0.5, 0.5, 0.5, -0.5]), np.array([-0.5, -0.5, 0.5, 0.5]))
    assert found.tolist() == [0, 2]
