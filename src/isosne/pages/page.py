"""One map as a page."""

import os
from pathlib import Path
from typing import Any

from isosne._files import whole_file
from isosne.pages.choices import find_choice, offer_choices, paint_trust
from isosne.pages.html import as_html
from isosne.pages.scene import Scene
from isosne.pages.table import NamedMap
from isosne.plots.frames import check_embedding
from isosne.plots.paint import Classes, Paint
from isosne.plots.image_files import check_suffix
from isosne.studies.point_columns import Column, as_columns, paint_labels

SUFFIXES = (".html", ".htm")


def write_page(
    path: str | os.PathLike[str],
    embedding: Any,
    *,
    columns: Any = None,
    labels: Any = None,
    trust: Any = None,
    color: str | None = None,
    title: str | None = None,
    force: bool = False,
) -> Path:
    """Write a map as one HTML file that opens in any browser, without a network.

    Parameters
    ----------
    path : str or path
        Where to write; ends in .html.
    embedding : array or data frame of shape (n, 1), (n, 2) or (n, 3)
        The map. One dimension is drawn in lanes, three as the three faces of a box.
    columns : mapping from str to array, data frame or None, default=None
        What readers see of a point, may color by, and get of the points they select.
    labels : array, series or None, default=None
        The class of each point, or a number. Points without one (empty, None) are gray.
    trust : Trust, array or None, default=None
        What `isosne.quality.trust` returns for the map, or numbers from 0 to 1.
    color : str or None, default=None
        What the map is colored by at first: a column, "trust", or the name of the labels ("label"
        where they have none). None: by the first there is of labels, trust and columns.
    title : str or None, default=None
        Title of the page; None: "A map of n points".
    force : bool, default=False
        Whether to replace a file of that name.

    Returns
    -------
    Path
        Where the page is.

    Notes
    -----
    Readers can zoom, move, hover, color by label, trust or column, hide classes, and select points
    with a lasso and save their rows as CSV. The page takes 1.5 MB, and some 25 bytes a
    point with a few columns. Points are drawn by WebGL where the browser has it. Not in the paper.

    Examples
    --------
    >>> import tempfile
    >>> from isosne.pages import write_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_page(f"{folder}/map.html", [[0, 0], [1, 2]], labels=["a", "b"])
    ...     "<title>A map of 2 points</title>" in path.read_text()
    True
    """
    target = check_suffix(path, SUFFIXES)
    Y = check_embedding(embedding)
    n = len(Y)
    shown = as_columns(columns, n)
    paint, trusts = paint_labels(labels, n), paint_trust(trust, n)
    choices = offer_choices(paint, trusts, shown, 1)
    scene = Scene(
        [NamedMap("", Y)],
        [*label_column(paint), *(Column("trust", t.numbers) for t in trusts), *shown],
        choices,
        first=find_choice(choices, color),
        is_report=False,
    )
    title = title or f"A map of {n:,} points"
    with whole_file(target, force=force) as file:
        file.write(as_html("page.html", scene, title=title).encode())
    return target


def label_column(paint: Paint) -> list[Column]:
    """Return labels as a column that readers see, if there are any."""
    if paint is None:
        return []
    if isinstance(paint, Classes):
        words = [*paint.names[: paint.n_classes], *[""] * paint.has_rest]
        return [Column(paint.title or "label", paint.of_point.astype("int32"), words)]
    return [Column(paint.title or "label", paint.numbers)]
