"""What the results of a job show: rows counted by pixel and class, and quality on a sample."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isosne._types import Array
from isosne.errors import DataError
from isosne.place.parts import Part, PartReader, list_parts
from isosne.quality import compare
from isosne.quality.comparison import KS
from isosne.quality.inputs import estimate_mean
from isosne.rows.map_writer import AXES
from isosne.tsne.estimator import TSNE
from isosne.tsne.input import opened_rows

PIXELS = 800
"""Pixels along a side of the square that is counted: 5.6 inches at about 140 dpi."""
MARGIN = 0.02
"""Margin on each side of the square, relative to the longer side of the map; by eye."""
MOST_CLASSES = 60
"""Largest number of classes: there are as many colors."""
UNLABELED = ""
"""The class of rows without a label."""
N_SAMPLED, N_QUERIES, K = 20_000, 2_000, 10
"""Rows that are drawn from the whole; how many of them are evaluated; their neighbors. Chosen: as
for a map in memory of more than 20,000 points."""
SEED = 0


class RowCounts(NamedTuple):
    """The number of rows in each pixel of a map, by class.

    ``extent`` has left, right, bottom and top of the pixels; ``classes`` their counts, the lowest
    row of pixels first, in the order of the legend. Without a label, the only class is "".
    """

    extent: tuple[float, float, float, float]
    label: str | None
    classes: dict[str, NDArray[np.uint32]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(int(counts.sum()) for counts in self.classes.values())


def count_rows(folder: str | Path, label: str | None = None) -> RowCounts:
    """Count the rows of a folder of results by pixel, and by a column that they have.

    Reads the results twice, in blocks: for the extent, then for the counts.
    """
    parts = list_parts(Path(folder))
    lows, highs = [], []
    for Y, _ in _read_coordinates(parts, None):
        lows.append(Y.min(axis=0))
        highs.append(Y.max(axis=0))
    if not lows:
        raise DataError(f"The results must have at least one row; {folder} has none. Place rows.")
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    side = (1 + 2 * MARGIN) * (float((high - low).max()) or 1.0)  # all at the same place
    left, bottom = ((low + high - side) / 2).tolist()
    classes: dict[str, NDArray[np.uint32]] = {}
    for Y, column in _read_coordinates(parts, label):
        pixels = np.minimum((Y - (left, bottom)) * (PIXELS / side), PIXELS - 1).astype(np.int64)
        names, numbers = _distinct(column, len(Y))
        for c, name in enumerate(names):
            columns, rows = pixels[numbers == c].T
            counts = classes.setdefault(name, np.zeros((PIXELS, PIXELS), np.uint32))
            np.add.at(counts, (rows, columns), 1)
        if len(classes) > MOST_CLASSES:
            raise DataError(
                f"The label must have at most {MOST_CLASSES} classes; {label!r} has more. "
                "Choose another column, or merge rare classes."
            )
    extent = left, left + side, bottom, bottom + side
    return RowCounts(extent, label, {name: classes[name] for name in sorted(classes, key=_order)})


def _order(name: str) -> tuple[int, float, str]:
    """Return the key that sorts numbers by value, then other names, then rows without a label."""
    try:
        return 0, float(name), ""
    except ValueError:
        return (2 if name == UNLABELED else 1), 0.0, name


def _read_coordinates(
    parts: list[Part], label: str | None
) -> Iterator[tuple[NDArray[np.float64], Any]]:
    """Yield the first two coordinates of rows, and the column of their labels."""
    reader = PartReader(AXES[:2], () if label is None else (label,))
    for part in parts:
        for X, columns, _ in reader.blocks(part):
            if X.shape[0]:
                yield np.asarray(X[:, :2], np.float64), columns[0] if columns else None


def _distinct(column: Any, n_rows: int) -> tuple[list[str], Array]:
    """Return the distinct entries of a column as text, and for each row which of them it has."""
    if column is None:
        return [UNLABELED], np.zeros(n_rows, np.int64)
    if isinstance(column, np.ndarray):
        entries, numbers = np.unique(column, return_inverse=True)
        return [str(entry) for entry in entries.tolist()], numbers
    encoded = column.dictionary_encode("encode")  # null is an entry, too
    names = [UNLABELED if v is None or v != v else str(v) for v in encoded.dictionary.to_pylist()]
    return names, encoded.indices.to_numpy(zero_copy_only=False)


def measure_placed(
    model: TSNE, reader: PartReader, results: Sequence[tuple[Part, Path]]
) -> dict[str, Any]:
    """Return measures of neighborhood preservation with their standard errors.

    Neighbors are searched among the sampled rows. A neighborhood of k sampled rows stands for one
    of k n_rows / n_sampled rows. The standard errors are those of the mean over the evaluated rows.
    """
    X, Y, n_rows = _draw(model, reader, results)
    n_sampled = len(Y)
    k = min(K, (n_sampled - 1) // 2)
    how: dict[str, Any] = {
        "metric": model.kernel_.metric,
        "p": model.kernel_.p,
        "n_jobs": model.n_jobs,
    }
    ranks = compare(X, Y, k, **how, n_queries=min(N_QUERIES, n_sampled), random_state=SEED)
    trust = ranks.trust()
    rnx = ((n_sampled - 1) * trust.agreement - k) / (n_sampled - 1 - k)
    estimates = {
        "auc_rnx": estimate_mean(ranks.counts.areas[KS.index("all")], n_rows, ranks.auc().value),
        "rnx": estimate_mean(rnx, n_rows),
        "trustworthiness": estimate_mean(1 - trust.false_neighbors, n_rows),
        "continuity": estimate_mean(1 - trust.missing_neighbors, n_rows),
    }
    about = {"n_rows": n_rows, "n_sampled": n_sampled, "n_queries": len(trust.points), "k": k}
    errors = {f"{name}_standard_error": e.standard_error for name, e in estimates.items()}
    return about | {name: e.value for name, e in estimates.items()} | errors


def _draw(
    model: TSNE, reader: PartReader, results: Sequence[tuple[Part, Path]]
) -> tuple[Array, Array, int]:
    """Return rows drawn from all parts, in the scale of the map, their places, and how many."""
    placed = PartReader(AXES[: model.embedding_.shape[1]])
    opened = []
    for part, path in results:
        result = list_parts(path)[0]
        # An empty result cannot be opened.
        n = sum(block.X.shape[0] for block in placed.blocks(result))
        if n:
            opened.append((part, placed.open(result), n))
    ends = np.cumsum([n for _, _, n in opened])
    n_rows = int(ends[-1])
    drawn = np.random.default_rng(SEED).choice(n_rows, min(N_SAMPLED, n_rows), replace=False)
    chosen = np.sort(drawn)
    owners = np.searchsorted(ends, chosen, side="right")
    data, places = [], []
    for p in np.unique(owners).tolist():
        part, coordinates, n = opened[p]
        rows = chosen[owners == p] - (ends[p] - n)
        data.append(opened_rows(model, reader.open(part)).take(rows))
        places.append(coordinates.take(rows))
    return np.concatenate(data), np.concatenate(places).astype(np.float32), n_rows
