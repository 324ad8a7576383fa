"""Tables in groups: one row per group, the mean of its rows, which are kept beside it."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isosne._types import Array, Points
from isosne.errors import DataError
from isosne.rows.arrays import ArrayRows
from isosne.rows.columns import is_text
from isosne.rows.rows import Rows, SourceFiles, blocks


class GroupMeans(ArrayRows):
    """The means of groups of rows. members: all rows; of_row: the number of the group of each."""

    def __init__(self, members: Rows, of_row: NDArray[np.int64]) -> None:
        self.members, self.of_row = members, of_row
        self.sizes = np.bincount(of_row)
        sums = np.zeros((len(self.sizes), members.shape[1]))
        for part in blocks(members):
            own = of_row[part]
            is_in = csr_array(
                (np.ones(len(own)), (own, np.arange(len(own)))), (len(sums), len(own))
            )
            sums += is_in @ members.read(part)
        means = sums / self.sizes[:, None]
        super().__init__(SourceFiles(members.describe()), means, column_names=members.column_names)

    def fingerprint(self) -> str:
        """Return that of the members."""
        return self.members.fingerprint()

    def split(self, rows: Rows) -> list[Points]:
        """Return the rows of each group; rows: the members, which may be scaled."""
        points: Any = rows.read(slice(None))[np.argsort(self.of_row, kind="stable")]
        return [points[start:stop] for start, stop in pairwise((0, *np.cumsum(self.sizes)))]


def group_rows(
    rows: Rows, values: Array, labels: Array | None, column: str
) -> tuple[GroupMeans, Array, Array | None, str]:
    """Return the groups, their names and labels, and a note; values: the group of each row.

    The label of a group is that of all its rows, or "" if these differ.
    """
    if is_text(values) and np.any(values == ""):
        raise DataError(
            f"Each row must have a group; column {column!r} is empty in "
            f"{int(np.sum(values == '')):,} of {len(values):,} rows. Leave out these rows."
        )
    names, of_row = np.unique(values, return_inverse=True)
    means = GroupMeans(rows, of_row)
    smallest, largest = means.sizes.min(), means.sizes.max()
    note = f"{len(values):,} rows in {len(names):,} groups of {smallest:,} to {largest:,} rows."
    if labels is None:
        return means, names, None, note
    words, of_label = np.unique(labels, return_inverse=True)
    low, high = np.full(len(names), len(words)), np.full(len(names), -1)
    np.minimum.at(low, of_row, of_label)
    np.maximum.at(high, of_row, of_label)
    n_mixed = int((low < high).sum())
    if n_mixed:
        note += f" {n_mixed:,} group(s) have rows with different labels; they get no label."
    found = np.where(low == high, words[low].astype(object), "")
    return means, names, found.astype(str) if n_mixed else words[low], note
