"""
The plan: choices and memory before a run
=========================================

``plan`` makes all automatic choices of a run and estimates its memory, without
computing anything. It needs only the size of the data.
"""

from textwrap import fill

import numpy as np

from isosne import TSNE, plots
from isosne.errors import ParameterError

X = np.zeros((70_000, 50), dtype=np.float32)
TSNE().plan(X)

# %%
# Above 10,000 points, memory grows in proportion to the number of points. A kernel
# that compares all pairs needs memory for the square of the number of points.

sizes = np.array([1000, 2000, 5000, 10_000, 20_000, 50_000])
settings = {
    "default": TSNE(),
    "Gaussian kernel": TSNE("gaussian"),
    "Gaussian kernel, all pairs": TSNE(
        "gaussian", affinities="dense", memory_limit="1TB"
    ),
}
memory = {
    name: (sizes, [model.plan(X[:n]).bytes_needed / 1e6 for n in sizes])
    for name, model in settings.items()
}
plots.plot_lines(
    memory, x_label="points", y_label="memory of the run, MB", log=True
).figure

# %%
# A run that would exceed a limit is refused before it starts, and the error says
# what would fit.

try:
    TSNE("gaussian", affinities="dense", memory_limit="1GB").plan(X)
except ParameterError as error:
    print(fill(str(error), 80))
