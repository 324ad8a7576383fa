"""Pictures as files: complete or not there, and the same bytes for the same picture."""

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from isosne._checks import check_number
from isosne._files import whole_file
from isosne.errors import ParameterError

NO_DATES: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def save_figure(
    drawn: Any, path: str | os.PathLike[str], *, dpi: float = 150.0, force: bool = True
) -> Path:
    """Write a picture as PNG, SVG or PDF, by the suffix of its name.

    Parameters
    ----------
    drawn : Axes, array of Axes or Figure
        What a function of this package returned, or a figure.
    path : str or path
        Where to write.
    dpi : float, default=150.0
        Pixels an inch, for PNG and for what is rasterized in the other two.
    force : bool, default=True
        Whether to replace a file of that name, once the new one is complete.

    Returns
    -------
    Path
        Where the picture is.

    Notes
    -----
    No dates and no random names are written: the same picture has the same bytes. Not in the paper.

    Examples
    --------
    >>> import tempfile
    >>> from isosne.plots import plot_map, save_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(plot_map([[0, 0], [1, 1]]), f"{folder}/map.png").name
    'map.png'
    """
    figure = _figure_of(drawn)
    check_number(dpi, "dpi", low=1, hint="150 is usual, 300 for print.")
    target = check_suffix(path, tuple(NO_DATES))
    suffix = target.suffix.lower()
    # Where nobody makes room for legends, the picture grows by what stands out.
    box = None if figure.get_layout_engine() is not None else "tight"
    settings: dict[Any, Any] = {"svg.hashsalt": "isosne", "pdf.fonttype": 42}
    with mpl.rc_context(settings), whole_file(target, force=force) as file:
        figure.savefig(file, format=suffix[1:], dpi=dpi, metadata=NO_DATES[suffix], bbox_inches=box)
    return target


def _figure_of(drawn: Any) -> Figure:
    if isinstance(drawn, np.ndarray) and drawn.size:
        drawn = drawn.flat[0]
    figure = drawn.get_figure(root=True) if isinstance(drawn, Axes) else drawn
    if not isinstance(figure, Figure):
        raise ParameterError(
            "The picture must be Axes, an array of Axes or a Figure; "
            f"got {type(drawn).__name__}. Pass what a function of isosne.plots returned."
        )
    return figure


def check_suffix(path: str | os.PathLike[str], suffixes: Sequence[str]) -> Path:
    """Return a path that ends in one of some suffixes."""
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        near = get_close_matches(target.suffix.lower(), suffixes, n=1, cutoff=0.5)
        hint = f"Did you mean {target.stem}{near[0]}?" if near else "Choose one of these."
        raise ParameterError(
            f"path must end in {' or '.join(suffixes)}; got {str(target)!r}. {hint}"
        )
    return target
