"""
Dask arrays
===========

``fit`` and ``place`` accept Dask arrays and data frames. Blocks of rows are
computed by Dask, on this machine or on a cluster. Only samples of the rows, the
landmarks and the coordinates are transferred.
"""

import dask
import dask.array as da

from isosne import TSNE, plots

CHUNK = 5000
random = da.random.default_rng(0)
centers = random.normal(scale=6, size=(8, 30), chunks=(8, 30)).compute()
y = random.integers(8, size=40_000, chunks=CHUNK)
noise = random.normal(size=(40_000, 30), chunks=(CHUNK, 30))
X = noise + da.map_blocks(
    lambda own: centers[own], y, new_axis=1, chunks=((CHUNK,) * 8, (30,))
)
X

# %%
with dask.config.set(scheduler="threads"):
    model = TSNE(landmarks=2000, random_state=0).fit(X)
    Y = model.place(X)
    cluster = y.compute()

plots.plot_map(
    Y, cluster, kind="labels", title="40,000 rows of a Dask array"
).figure
