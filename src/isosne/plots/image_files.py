"""Image files: written atomically and reproducible byte by byte."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imsave
from numpy.typing import NDArray

from isosne._checks import check_number
from isosne._files import whole_file
from isosne.errors import ParameterError, find_similar

REPRODUCIBLE: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""Metadata that removes dates and version numbers."""


def save_figure(
    drawn: Any, path: str | os.PathLike[str], *, dpi: float = 150.0, force: bool = True
) -> Path:
    """Write a figure as PNG, SVG or PDF, depending on the file suffix.

    Parameters
    ----------
    drawn : Axes, array of Axes or Figure
        A result of a function of `isosne.plots`, or a figure.
    path : str or path
        Output file.
    dpi : float, default=150.0
        Resolution of PNG files, and of the rasterized parts of SVG and PDF files.
    force : bool, default=True
        Whether to overwrite an existing file, once the new one is complete.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    No dates and no random identifiers are written, so the same figure gives the same bytes. Not in
    the paper.

    Examples
    --------
    >>> import tempfile
    >>> from isosne.plots import plot_map, save_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(plot_map([[0, 0], [1, 1]]), f"{folder}/map.png").name
    'map.png'
    """
    figure = _figure_of(drawn)
    check_number(dpi, "dpi", low=1, hint="Try 150, or 300 for print.")
    target = check_suffix(path, tuple(REPRODUCIBLE))
    suffix = target.suffix.lower()
    # Without a layout engine, enlarge the image by what lies outside of the figure.
    box = None if figure.get_layout_engine() is not None else "tight"
    settings: dict[Any, Any] = {"svg.hashsalt": "isosne", "pdf.fonttype": 42}
    with mpl.rc_context(settings), whole_file(target, force=force) as file:
        picture = io.BytesIO()  # matplotlib hides the error of a full disk behind others
        figure.savefig(
            picture, format=suffix[1:], dpi=dpi, metadata=REPRODUCIBLE[suffix], bbox_inches=box
        )
        file.write(picture.getbuffer())
    return target


def encode_png(pixels: NDArray[np.float64]) -> bytes:
    """Return an image (h, w, 4), values from 0 to 1, as the content of a PNG file."""
    content = io.BytesIO()
    # Few distinct values compress better; a step of 1/51 is not seen.
    imsave(content, np.rint(51 * pixels) / 51, format="png", metadata=REPRODUCIBLE[".png"])
    return content.getvalue()


def _figure_of(drawn: Any) -> Figure:
    if isinstance(drawn, np.ndarray) and drawn.size:
        drawn = drawn.flat[0]
    figure = drawn.get_figure(root=True) if isinstance(drawn, Axes) else drawn
    if not isinstance(figure, Figure):
        raise ParameterError(
            "drawn",
            f"be Axes, an array of Axes or a Figure, not {type(drawn).__name__}",
            hint="Pass the result of a function of isosne.plots.",
        )
    return figure


def check_suffix(path: str | os.PathLike[str], suffixes: Sequence[str]) -> Path:
    """Return the path if it ends in one of the suffixes."""
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        near = find_similar(target.suffix, suffixes)
        hint = f"Did you mean {target.stem}{near}?" if near else "Use one of these suffixes."
        raise ParameterError("path", f"end in {' or '.join(suffixes)}", str(target), hint)
    return target
