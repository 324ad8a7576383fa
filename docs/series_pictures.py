"""Make the pictures of docs/series.md: python docs/series_pictures.py.

Digits that arrive in four batches, one class in the last two: maps that are made for themselves,
and maps that are aligned to the one before.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from isosne import TSNE, Alignment
from isosne.plots import plot_maps, save_figure

DOCS = Path(__file__).parent
LATE = 7
"""Digit that arrives late."""
SIZES = (500, 800, 1100, 1400)


def batches(y: np.ndarray) -> list[np.ndarray]:
    """Return the rows of four growing batches; the late class is in the last two only."""
    order = np.random.default_rng(0).permutation(len(y))
    early, late = order[y[order] != LATE], order[y[order] == LATE]
    rows = [early[:n] for n in SIZES]
    return [*rows[:2], np.r_[rows[2], late[: len(late) // 2]], np.r_[rows[3], late]]


def main() -> None:
    """Draw both series, one below the other."""
    X, y = load_digits(return_X_y=True)
    maps: dict[str, np.ndarray] = {}
    colors: dict[str, np.ndarray] = {}
    aligned: list[np.ndarray] = []
    stages = batches(y)
    for k, rows in enumerate(stages):
        title = f"batch {k + 1}, separate"
        maps[title], colors[title] = TSNE(random_state=k).fit(X[rows]).embedding_, y[rows]
    for k, rows in enumerate(stages):
        align_to = None
        if aligned:
            align_to = Alignment(aligned[-1], ids=rows, previous_ids=stages[k - 1])
        aligned.append(TSNE(align_to=align_to, random_state=k).fit(X[rows]).embedding_)
        title = f"batch {k + 1}, aligned"
        maps[title], colors[title] = aligned[-1], y[rows]
    axes = plot_maps(maps, colors, kind="labels", columns=len(stages), style="paper")
    save_figure(axes[0], DOCS / "series.png", dpi=180)


if __name__ == "__main__":
    main()
