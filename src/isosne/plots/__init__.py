"""Figures of maps, measures and kernels: the only package that imports matplotlib.

Every function draws on the given Axes, or on a new figure, and returns the Axes. No backend is
selected and pyplot is never imported, so no window opens and no figure stays in memory.
"""

from isosne._extras import require

require("matplotlib", "plot", "isosne.plots")  # before the imports below need it

from isosne.plots.animation import animate
from isosne.plots.curves import plot_lines, plot_rnx, plot_similarity_from
from isosne.plots.embeddings import plot_map, plot_maps
from isosne.plots.image_files import save_figure
from isosne.plots.kernels import plot_cells, plot_contours
from isosne.plots.tiles import plot_tiles
from isosne.plots.transitions import animate_between
from isosne.plots.widgets import MapWidget, compare_widget, widget

__all__ = [
    "MapWidget",
    "animate",
    "animate_between",
    "compare_widget",
    "plot_cells",
    "plot_contours",
    "plot_lines",
    "plot_map",
    "plot_maps",
    "plot_rnx",
    "plot_similarity_from",
    "plot_tiles",
    "save_figure",
    "widget",
]
