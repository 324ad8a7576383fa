"""Rows that are computed from their number: a mixture of clusters of any size, without storage.

Every value is a function of the seed, the number of the row and the column. It is computed with
integers, so it is the same on every machine, and does not depend on which rows are read together.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._checks import check_count, check_number
from isosne._types import Array
from isosne.errors import ParameterError
from isosne.rows.rows import Indices, Rows, SourceFiles

LABEL = "label"
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""Constants of SplitMix64 (Steele, Lea and Flood 2014)."""
ROWS, CENTERS, CHOICE = 1, 2, 3
"""Streams of numbers: values of rows, centers of clusters, the cluster of each row."""
CHUNK = 65_536
"""Values that are computed at a time; chosen: they fit in the cache."""
HALF = 2**15
STD = np.sqrt((2**32 - 1) / 3)
"""Standard deviation of the sum of four integers of 16 bits, each uniform."""


class MixtureRows(Rows):
    """Rows of a simulated mixture of clusters, for trying out pipelines at any scale.

    Row i is computed from the number i whenever it is read. Nothing is stored, so 10^9 rows take no
    space, and every machine computes the same rows.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_features : int, default=20
        Number of columns.
    n_clusters : int, default=20
        Number of clusters. Cluster c has a share of the rows proportional to 1 / (c + 3): the
        largest of 20 has a share of 0.15, the smallest of 0.02.
    spread : float, default=4.0
        Standard deviation of the centers of the clusters. Each cluster has standard deviation 1.
    random_state : int, default=0
        Seed.
    first : int, default=0
        Number of the first row. Parts of the same mixture have different first rows.

    Attributes
    ----------
    side : dict
        ``side["label"]()`` returns the cluster of each row.

    Notes
    -----
    The values of a cluster are sums of four uniform numbers: nearly Gaussian, with tails that end
    at 3.46 standard deviations. Cost: tens of nanoseconds per value.

    Examples
    --------
    >>> from benchmarks.mixture import MixtureRows
    >>> rows = MixtureRows(10**9, n_features=3)
    >>> rows.take([10**9 - 1]).shape
    (1, 3)
    >>> parts = rows.split(10**6)
    >>> len(parts), list(parts)[-1]
    (1000, 'part-00999.parquet')
    """

    def __init__(
        self,
        n_rows: int,
        n_features: int = 20,
        n_clusters: int = 20,
        *,
        spread: float = 4.0,
        random_state: int = 0,
        first: int = 0,
    ) -> None:
        hint = "Pass an integer."
        check_count(n_rows, "n_rows", low=1, high=2**53, hint=hint)
        check_count(n_features, "n_features", low=1, high=2**16, hint=hint)
        check_count(n_clusters, "n_clusters", low=1, high=2**16, hint=hint)
        check_number(spread, "spread", low=0, hint="4 separates the clusters.")
        check_count(random_state, "random_state", low=0, high=2**32 - 1, hint=hint)
        check_count(first, "first", low=0, high=2**53 - n_rows, hint=hint)
        names = tuple(f"x{c}" for c in range(n_features))
        super().__init__(
            SourceFiles("the mixture"), (n_rows, n_features), np.float32, column_names=names
        )
        self.n_clusters, self.spread = n_clusters, float(spread)
        self.random_state, self.first = random_state, first
        self.side = {LABEL: self._labels}
        grid = np.arange(n_clusters * n_features, dtype=np.uint64)
        centers = self.spread * _normal(self._hash(CENTERS, grid))
        self._centers = centers.reshape(n_clusters, n_features)
        shares = 1 / (np.arange(n_clusters) + 3.0)
        self._ends = np.floor(2**32 * np.cumsum(shares) / shares.sum()).astype(np.uint64)

    def split(self, n_rows: int, extension: str = ".parquet") -> "dict[str, MixtureRows]":
        """Return parts of this many rows by the names of output files, for `isosne.place_files`.

        Parameters
        ----------
        n_rows : int
            Number of rows per part; the last part may have fewer.
        extension : str, default=".parquet"
            Extension of the names: the format of the output.

        Returns
        -------
        dict from str to MixtureRows
            The parts, in order.
        """
        check_count(n_rows, "n_rows", low=1, hint="Pass the number of rows per part.")
        if not extension.startswith("."):
            hint = "Write for example '.parquet'."
            raise ParameterError("extension", "start with a dot", extension, hint)
        firsts = range(0, self.shape[0], n_rows)
        digits = max(5, len(str(len(firsts) - 1)))
        return {
            f"part-{p:0{digits}d}{extension}": self._part(f, min(n_rows, self.shape[0] - f))
            for p, f in enumerate(firsts)
        }

    def _part(self, first: int, n_rows: int) -> "MixtureRows":
        return MixtureRows(
            n_rows,
            self.shape[1],
            self.n_clusters,
            spread=self.spread,
            random_state=self.random_state,
            first=self.first + first,
        )

    def _read(self, start: int, stop: int) -> Array:
        return self._make(np.arange(start, stop, dtype=np.int64))

    def _take(self, indices: Indices) -> Array:
        return self._make(indices)

    def _make(self, rows: Indices) -> NDArray[np.float32]:
        """Return the values of rows."""
        n_features = self.shape[1]
        found = np.empty((len(rows), n_features), np.float32)
        columns = np.arange(n_features, dtype=np.uint64)
        step = max(1, CHUNK // n_features)
        for s in range(0, len(rows), step):
            some = rows[s : s + step]
            numbers = self._numbers(some)[:, None] * np.uint64(2**16) + columns
            noise = _normal(self._hash(ROWS, numbers))
            found[s : s + step] = self._centers[self._clusters(some)] + noise
        return found

    def _clusters(self, rows: Indices) -> NDArray[np.int64]:
        """Return the cluster of each row."""
        draws = self._hash(CHOICE, self._numbers(rows)) >> np.uint64(32)
        return np.searchsorted(self._ends[:-1], draws, side="right")

    def _labels(self) -> Array:
        return self._clusters(np.arange(self.shape[0], dtype=np.int64))

    def _numbers(self, rows: Indices) -> NDArray[np.uint64]:
        return (rows + self.first).astype(np.uint64)

    def _hash(self, stream: int, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return 64 random bits for each number of a stream."""
        key = splitmix(np.array([self.random_state * 4 + stream], np.uint64))
        return splitmix(numbers ^ key)

    def _digest(self, digest: Any) -> None:
        about = (self.n_clusters, self.spread, self.random_state, self.first)
        digest.update(repr(about).encode())

    def __repr__(self) -> str:
        return f"MixtureRows({self.shape[0]:,} x {self.shape[1]}, first={self.first:,})"


def splitmix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the output of SplitMix64 for each state."""
    bits = (numbers + np.uint64(1)) * GOLDEN
    for shift, factor in MIX:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _normal(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return numbers of mean 0 and variance 1: the sum of four uniform integers of 16 bits."""
    mask = np.uint64(2**16 - 1)
    total = sum(((bits >> np.uint64(shift)) & mask).astype(np.int64) for shift in (0, 16, 32, 48))
    normal: NDArray[np.float64] = (np.asarray(total) - (4 * HALF - 2)) / STD
    return normal
