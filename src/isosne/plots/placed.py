"""A figure of all rows of a folder of results: each pixel has the mean color of its rows."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from isosne.place.results import UNLABELED, count_rows
from isosne.plots.figures import SCREEN, add_titles, strip_axes
from isosne.plots.maps import add_explanation, make_axes
from isosne.plots.paint import NO_LABEL, Classes
from isosne.plots.palette import PLAIN, to_rgb
from isosne.plots.raster import find_limits, frame_corners, mix_classes, own_aspect, shade


def plot_placed(folder: str | Path, label: str | None = None, *, title: str | None = None) -> Axes:
    """Plot all rows of a folder of results, of any number.

    Parameters
    ----------
    folder : path
        Results of `isosne.place_files` or ``isosne place``.
    label : str or None, default=None
        Column of the results with the class of each row, which was kept when the rows were placed.
        None draws all rows in a single color.
    title : str or None, default=None
        Title of the figure.

    Returns
    -------
    Axes
        The axes of a new figure, which is ``ax.figure``.

    Notes
    -----
    Rows are counted in 800 x 800 pixels, in constant memory. A pixel has the mean color of its
    rows, and its opacity grows with the logarithm of their number. Of a map in three dimensions,
    the first two are drawn.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from isosne import TSNE, place_files
    >>> from isosne.plots import plot_placed
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     np.save(folder / "rows.npy", X)
    ...     TSNE(landmarks=40, random_state=0).fit(X).save(folder / "model.isosne")
    ...     job = place_files(folder / "model.isosne", folder / "rows.npy", folder / "placed")
    ...     ax = plot_placed(folder / "placed", title="60 rows")
    >>> ax.get_title()
    '60 rows'
    """
    counts = count_rows(folder, label)
    if label is None:
        paint, total = None, counts.classes[UNLABELED].astype(np.float64)
        picture = shade(total, to_rgb([PLAIN])[0])
    else:  # rows without a label are the last of the classes
        names = [name or NO_LABEL for name in counts.classes]
        paint = Classes(names, np.empty(0, np.int64), label, UNLABELED in counts.classes)
        picture = shade(*mix_classes(np.stack(list(counts.classes.values())), paint))
    opacity = picture[..., 3:]
    left, right, bottom, top = counts.extent
    rows = np.argwhere(opacity[..., 0])[:, ::-1] / opacity.shape[:2]
    corners = find_limits([left, bottom] + rows * [right - left, top - bottom])
    ax, side = make_axes(2, paint, SCREEN, own_aspect(corners))
    strip_axes(ax)
    # On white, not transparent: the image is resampled to the pixels of the figure.
    ax.imshow(picture[..., :3] * opacity + 1 - opacity, extent=counts.extent, origin="lower")
    (left, bottom), (right, top) = frame_corners(corners)
    ax.set(xlim=(left, right), ylim=(bottom, top))
    if title is not None:
        add_titles([ax], [title], side, is_new=True)
    add_explanation([ax], paint, 2)
    return ax
