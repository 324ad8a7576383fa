"""
A file larger than memory: landmarks
====================================

``TSNE(landmarks=m)`` maps m rows of a file, the landmarks. ``place`` then places
all other rows on that map. The file is never read into memory as a whole, so it
may be larger than memory.

The file of this example has 30,000 digits: deformed copies of the digits of
scikit-learn.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_digits

from isosne import TSNE, plots

images, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
copied = rng.integers(len(images), size=30_000)
rows = images[copied] + rng.normal(scale=1.0, size=(30_000, 64))
y = digit[copied]

folder = TemporaryDirectory()
path = Path(folder.name) / "digits.npy"
np.save(path, rows.astype(np.float32))
print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")

# %%
model = TSNE(landmarks=3000, random_state=0).fit(path)
Y = model.place(path)

landmarks = model.landmark_indices_
placed = {"3,000 landmarks": model.embedding_, "all 30,000 rows": Y}
axes = plots.plot_maps(
    placed, {"3,000 landmarks": y[landmarks], "all 30,000 rows": y}
)
axes[0].figure

# %%
folder.cleanup()

# %%
# ``fit`` and ``place`` also read Parquet, CSV, zarr and AnnData files.
# :doc:`/large-data` gives the time and memory for files of up to a billion rows.
