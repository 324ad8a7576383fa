"""Pictures of the gallery: what the last line of a block of an example shows in a notebook.

The figures of `isosne.plots` are not known to pyplot, so that Sphinx-Gallery does not find them by
itself. A block that ends with such a figure, or with an `IPython.display.Image`, gets its picture.
"""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

DPI = 100
"""Resolution of a picture; a second one has twice as much, for screens with small pixels."""


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the picture that a block ends with; return the lines that show it."""
    shown = block_vars["example_globals"].get("___")  # Sphinx-Gallery's name of the last value
    is_figure = isinstance(shown, Figure)
    if not is_figure and type(shown).__module__ != "IPython.core.display":
        return ""
    path = Path(next(block_vars["image_path_iterator"]))
    sizes = _save_figure(shown, path) if is_figure else _save_image(shown, path)
    block_vars["example_globals"]["___"] = None  # the next block may show nothing
    return figure_rst([str(sizes[0])], gallery_conf["src_dir"], srcsetpaths=[sizes])


def _save_figure(figure: Figure, path: Path) -> dict[float, Path]:
    sizes = {0: path, 2.0: path.with_stem(f"{path.stem}_2_00x")}
    for scale, target in sizes.items():
        figure.savefig(target, dpi=DPI * (scale or 1), metadata={"Software": None})
    return sizes


def _save_image(image: Any, path: Path) -> dict[float, Path]:
    target = path.with_suffix(f".{image.format}")
    target.write_bytes(image.data)
    return {0: target}
