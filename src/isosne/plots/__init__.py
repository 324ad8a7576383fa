"""Pictures of maps, measures and kernels: the one door to matplotlib.

Every function draws on the Axes it is given, or on a figure of its own, and returns the Axes. No
backend is chosen and pyplot is never imported, so nothing opens a window or stays in memory.
"""

from isosne._extras import require

require("matplotlib", "plot", "isosne.plots")  # before any module of this package needs it

from isosne.plots.animation import animate
from isosne.plots.curves import plot_lines, plot_rnx, plot_similarity_from
from isosne.plots.kernels import plot_cells, plot_contours
from isosne.plots.embeddings import plot_map, plot_maps
from isosne.plots.image_files import save_figure

__all__ = [
    "animate",
    "plot_cells",
    "plot_contours",
    "plot_lines",
    "plot_map",
    "plot_maps",
    "plot_rnx",
    "plot_similarity_from",
    "save_figure",
]
