"""
An animation of a run
=====================

A callback receives the state of the run after each step. Here it keeps the map
every few steps, and :func:`~isosne.plots.animate` writes the maps as a GIF.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from IPython.display import Image
from sklearn.datasets import load_digits

from isosne import TSNE, plots

X, y = load_digits(return_X_y=True)
X, y = X[:800], y[:800]
snapshots = []


def keep(state):
    """Keep every eighth map, and copy it: the next step overwrites it."""
    if state.iteration % 8 == 0:
        snapshots.append((state.iteration, state.Y.T.copy()))


TSNE(random_state=0, callback=keep).fit(X)

stages = {f"step {i}": Y for i, Y in snapshots if i in (48, 104, 152, 496)}
axes = plots.plot_maps(stages, y)
axes[0].figure

# %%
# Until step 50, the attractive forces are multiplied by 12. The factor falls to 1
# until step 150, and the clusters expand.

with TemporaryDirectory() as folder:
    movie = plots.animate(
        snapshots, Path(folder) / "run.gif", y, frames_per_second=15
    )
    image = Image(movie.read_bytes(), format="gif")
image
