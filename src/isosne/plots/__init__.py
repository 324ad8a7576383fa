"""Figures of maps, measures and kernels, by matplotlib; besides, only `explorer` imports it.

Every function draws on the given Axes, or on a new figure, and returns the Axes. No backend is
selected and pyplot is never imported, so no window opens and no figure stays in memory. Names are
imported on first use: `palette`, `paint` and `raster` do not need matplotlib.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isosne._extras import require

if TYPE_CHECKING:
    from isosne.plots.animation import animate
    from isosne.plots.curves import plot_lines, plot_rnx, plot_similarity_from
    from isosne.plots.figures import save_figure
    from isosne.plots.kernels import plot_cells, plot_contours
    from isosne.plots.maps import plot_map, plot_maps
    from isosne.plots.placed import plot_placed

__all__ = [
    "animate",
    "plot_cells",
    "plot_contours",
    "plot_lines",
    "plot_map",
    "plot_maps",
    "plot_placed",
    "plot_rnx",
    "plot_similarity_from",
    "save_figure",
]

_HOME = {
    "animate": "animation",
    **dict.fromkeys(["plot_lines", "plot_rnx", "plot_similarity_from"], "curves"),
    **dict.fromkeys(["plot_cells", "plot_contours"], "kernels"),
    **dict.fromkeys(["plot_map", "plot_maps"], "maps"),
    "plot_placed": "placed",
    "save_figure": "figures",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'isosne.plots' has no attribute {name!r}")
    require("matplotlib", "plot", f"isosne.plots.{name}")
    return getattr(import_module(f"isosne.plots.{_HOME[name]}"), name)
