"""A page with one interactive map."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isosne._checks import check_suffix
from isosne._files import whole_file
from isosne.pages.scene import NamedMap, Scene
from isosne.pages.sprites import make_sprites
from isosne.plots.paint import Values, as_paint, check_embedding, spread_colors
from isosne.quality import Trust
from isosne.studies import point_columns as about

SUFFIXES = (".html", ".htm")


def write_page(
    path: str | os.PathLike[str],
    embedding: Any,
    *,
    columns: Any = None,
    labels: Any = None,
    trust: Any = None,
    color: str | None = None,
    hover: Sequence[str] | None = None,
    images: Any = None,
    title: str | None = None,
    force: bool = False,
) -> Path:
    """Write an interactive map as a single HTML file.

    Parameters
    ----------
    path : str or path
        Output file; ends in .html.
    embedding : array or data frame of shape (n, 1), (n, 2) or (n, 3)
        The map. A one-dimensional map is drawn in lanes, a three-dimensional one as three
        projections.
    columns : mapping from str to array, data frame or None, default=None
        Additional data about the points: shown on hover, offered for coloring, and exported with
        selected points.
    labels : array, series or None, default=None
        The class or a number for each point. Points without a label (empty or None) are gray.
    trust : Trust, array or None, default=None
        The result of `isosne.quality.compare(...).trust()` for the map, or numbers from 0 to 1.
    color : str or None, default=None
        Initial coloring: the name of a column, "trust", or the name of the labels ("label" if they
        have none). None uses the first available of labels, trust and columns.
    hover : sequence of str or None, default=None
        Names of the columns to show on hover; None: all. "trust" and the name of the labels can be
        among them.
    images : array of shape (n, height, width) or (n, height, width, 3), or None, default=None
        Images of the points, gray or red, green and blue, shown on hover. 8-bit images are shown as
        they are, others from black for the lowest value to white for the highest.
    title : str or None, default=None
        Title of the page; None: "Map of n points".
    force : bool, default=False
        Whether to overwrite an existing file.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    Readers can zoom, pan and hover; color by label, trust or column; hide classes; select points
    with a lasso and save their rows as CSV. The page opens in any browser without a network. Its
    size is 1.5 MB plus about 25 bytes per point with a few columns, and the images, which are
    reduced to 64 pixels along the longer side, or less above about 8,000.

    Examples
    --------
    >>> import tempfile
    >>> from isosne.pages import write_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_page(f"{folder}/map.html", [[0, 0], [1, 2]], labels=["a", "b"])
    ...     "<title>Map of 2 points</title>" in path.read_text()
    True
    """
    target = check_suffix(path, SUFFIXES)
    Y = check_embedding(embedding)
    n = len(Y)
    if trust is not None and not isinstance(trust, Trust):
        about.as_column("trust", trust, n)  # raise with this name
    paint = as_paint(trust, n, kind="auto" if trust is None else "trust")
    shown = [paint] if isinstance(paint, Values) else []
    of_trust = [about.Column("trust", one.numbers) for one in shown]
    scene = Scene(
        [NamedMap("", Y)],
        spread_colors(about.paint_labels(labels, n), Y),
        shown,
        about.as_columns(columns, n),
        trust_columns=about.trust_columns(trust) if isinstance(trust, Trust) else of_trust,
        color=color,
        hover=hover,
        images=None if images is None else make_sprites(images, n),
    )
    document = scene.render("page.html", title=title or f"Map of {n:,} points")
    with whole_file(target, force=force) as file:
        file.write(document.encode())
    return target
