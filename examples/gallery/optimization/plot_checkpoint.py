"""
Interrupt a run and resume it
=============================

With a checkpoint, a run that was interrupted resumes where it stopped. The map is
bit-identical to that of an uninterrupted run.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_digits

from isosne import TSNE, plots

X, y = load_digits(return_X_y=True)
X, y = X[:1000], y[:1000]


class PowerFailureError(Exception):
    """Ends the run in the middle."""


def fail(state):
    """Fail after 180 steps."""
    if state.iteration == 180:
        interrupted.append(state.Y.T.copy())
        raise PowerFailureError


# %%
# The state is written every 50 steps, so the second run begins at step 150.

interrupted = []
with TemporaryDirectory() as folder:
    checkpoint = Path(folder) / "run.isosne"
    try:
        TSNE(random_state=0, callback=fail).fit(X, checkpoint=checkpoint)
    except PowerFailureError:
        print(f"The checkpoint has {checkpoint.stat().st_size / 1e3:.0f} kB.")
    resumed = TSNE(random_state=0).fit(X, checkpoint=checkpoint)

uninterrupted = TSNE(random_state=0).fit(X)
print("same map:", np.array_equal(resumed.embedding_, uninterrupted.embedding_))

# %%
maps = {
    "when interrupted, step 180": interrupted[0],
    "resumed, step 500": resumed.embedding_,
}
axes = plots.plot_maps(maps, y)
axes[0].figure
