"""Numeric sets of the paper, cells removed and columns binned: what is kept of the full data."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import minmax_scale

from benchmarks.mixed.methods import METHODS
from benchmarks.mixed.tables import remove_cells, show_measure
from benchmarks.paper.data import load
from isosne.quality import compare

SETS = ("wine", "wdbc", "control", "dermatology", "parkinson", "forest_type")
"""Sets with at most 600 rows."""
N_BINS = 5
STATES = ("a third removed", "half of the columns binned", "both")


def damage(X: np.ndarray, state: str, seed: int) -> pd.DataFrame:
    """Return the data as a table in one of the states."""
    frame = pd.DataFrame(X, columns=[f"c{c}" for c in range(X.shape[1])])
    if state != "a third removed":
        for name in frame.columns[::2]:
            bins = pd.cut(frame[name], N_BINS, labels=[f"bin {b}" for b in range(N_BINS)])
            frame[name] = bins.astype(str)
    return remove_cells(frame, seed) if state != "half of the columns binned" else frame


def measure(seeds: Sequence[int], quick: bool) -> list[dict[str, Any]]:
    """Return AUC_RNX against the full data of each set, state, method and seed."""
    found = []
    for name in SETS[:2] if quick else SETS:
        X = minmax_scale(np.asarray(load(name).X))
        for state in STATES:
            for seed in seeds:
                frame = damage(X, state, seed)
                for method, draw in METHODS.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        Y = draw(frame, seed)
                    auc = float(compare(X, Y).auc())
                    where = {"set": name, "n": len(X), "state": state}
                    found.append({**where, "method": method, "seed": seed, "auc": auc})
        print(name, "done", flush=True)
    return found


def show(found: list[dict[str, Any]]) -> str:
    """Return the figures, as means over seeds."""
    return show_measure(found, "AUC_RNX against the full data", "auc")
