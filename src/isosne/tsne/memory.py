"""Memory of a fit: an upper bound for each form of the affinities, and the limit.

The bound is a sum of sizes times constants: a n k for pairs of points, b n d for copies of the
coordinates, c m for the points that cells are drawn around, and what each point and each thread
takes. The constants were fitted to the peaks of the cases in tests/contract/memory_host.py: the
peak is never above the bound, and from 5,000 points on the bound is at most 1.5 times the peak.
Compiled code, libraries, and points that were in memory before are not counted.
"""

import math
import os
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from isosne._machine import CONTAINER, Limit, free_memory
from isosne._numba import most_threads
from isosne.errors import ParameterError, keyword
from isosne.kernels.base import KernelCosts, MetricKernel
from isosne.kernels.given import PrecomputedKernel
from isosne.layout.forces import Mesh, Method

LIMIT_VARIABLE = "ISOSNE_MEMORY_LIMIT"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def memory_available(limit: Any = None) -> Limit:
    """Return the number of bytes that may be used: free memory, or the limit if it is lower."""
    source = "memory_limit"
    if limit is None:
        limit, source = os.environ.get(LIMIT_VARIABLE) or None, LIMIT_VARIABLE
    if limit is None:
        return free_memory()
    text = str(limit).strip().lower()
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\+?\d+)?)\s*([kmgt]?)i?b?", text)
    if isinstance(limit, bool) or match is None or not 0 < float(match[1]) < math.inf:
        rule = "be a number of bytes or a size such as '1.5GB'"
        raise ParameterError(source, rule, limit, "Leave it out to use the memory that is free.")
    return min(free_memory(), Limit(int(float(match[1]) * UNITS[match[2]]), source))


def size(n_bytes: int) -> str:
    """Return a number of bytes as text with three digits and a unit."""
    value = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


PAIR = {"dense": 1.05, "sparse": 42}
"""Dense: copies of a value per pair. Sparse: bytes per point and partner, for three copies of the
symmetrized lists, in which 1.6 points list a pair."""
DRAWS = 2800
"""Bytes per point of sampled partners: three draws of 64, and the mesh of a narrow map."""
BLOCKS = 25_000_000
"""Blocks of rows of dense affinities, before they are averaged over the scales."""
GRAPH = {"dense": 13, "sparse": 65}
"""Bytes per pair, or per stored entry, while precomputed affinities are symmetrized."""
STEP = {"exact": 250, "mesh": 200, "tree": 400}
"""Bytes per point of step 3: the state of the descent, with a tree."""
MESH, LARGEST_MESH = {1: (200, 1), 2: (200, 1), 3: (800_000, 0.5)}, 250_000_000
"""Bytes of a mesh with accuracy 0.01, by map dimension: a factor and a power of n; and at most."""
SPECTRAL = 1500
"""Bytes per point of eigenvectors; a matrix of float64, dense or sparse, comes on top."""
ENTRY = {"points": 32, "distances": 85}
"""Bytes per stored entry of sparse rows: copies by row and by column, or sorted and checked."""
COLUMN = 1120
"""Bytes per column of sparse rows, for principal components."""
DISTANCES = 9000
"""Bytes per point of a dense matrix of distances, which is searched in blocks of rows."""
DRAWN_POINT, CELL, SAMPLE, NODES = 18, 7, 28, 40
"""Bytes per coordinate of a point that cells are drawn around, per point and partitioning, per
sampled center, and per sampled center of a tree."""
THREAD, THREAD_ROWS = 5_500_000, {"exact": 256, "approximate": 1536}
"""Bytes per thread, and rows of coordinates that it copies in the search."""
ROWS_PER_BLOCK = 256
"""Rows that a thread searches at a time; fewer rows do not keep all threads busy."""
LARGEST_COVARIANCE = 2048
"""Largest side of a covariance matrix; above, principal components are found without one."""
DRAWING = 1.1
"""Copies of the pool that landmarks are drawn from, while they are drawn."""


class InputSize(NamedTuple):
    """Sizes of the input that the plan depends on."""

    n_points: int
    """Number of points to map."""
    n_features: int
    value_bytes: int = 8
    """Bytes of a coordinate in the working type of the search: 4 or 8."""
    n_entries: int | None = None
    """Number of stored entries of the points; None if they are dense."""
    row_bytes: int = 0
    """Bytes per row that `fit` reads or copies into memory; 0 if the points are in memory."""
    copies_read: int = 1
    """Copies of the rows in memory, at most, while all of them are read."""
    n_rows: int | None = None
    """Number of rows of the input, if landmarks are mapped."""
    n_pool: int | None = None
    """Number of rows in the pool that landmarks are drawn from."""
    table_bytes: int = 0
    """Bytes of a data frame as an array; with mixed columns, of its trees and coordinates."""
    n_listed: int | None = None
    """Distances per row of a sparse matrix of distances; None for other input."""
    note: str = ""
    """What the plan says about a mixed table."""
    columns: tuple[str, ...] = ()
    """Columns of a mixed table with their kinds."""
    notes: tuple[str, ...] = ()
    """Columns that distort the map, or are left out of it, as sentences."""


@dataclass(frozen=True)
class Costs:
    """The memory of a fit, and the list lengths of its kernel."""

    given: InputSize
    unfitted: MetricKernel
    n_components: int
    limit: Limit
    """Bytes that may be used, and why no more."""
    start: str
    """"pca", "spectral", or a start that needs no memory."""
    forces: Method
    """Repulsive forces if affinities are not dense."""
    is_approximate: bool
    """Whether neighbors are found by the approximate search."""

    @property
    def available(self) -> int:
        """Bytes that may be used."""
        return self.limit.value

    @cached_property
    def kernel(self) -> KernelCosts:
        """List lengths and memory of the kernel; no longer than the neighbors that are known."""
        n, n_listed = self.given.n_points, self.given.n_listed
        return self.unfitted.costs(n).within(n - 1 if n_listed is None else n_listed)

    @cached_property
    def bytes(self) -> dict[str, int]:
        """Upper bound for each form of the affinities that the kernel allows."""
        given, n = self.given, self.given.n_points
        is_drawn = self.kernel.n_partitions > 0
        read, pool = n * given.row_bytes, (given.n_pool or 0) * given.row_bytes
        held = min(2, given.copies_read) * read + given.table_bytes + self._threads()
        held += pool if is_drawn else 0
        reading = DRAWING * (read + pool) if pool else given.copies_read * read
        return {form: round(max(reading, held + own)) for form, own in self._forms().items()}

    def _forms(self) -> dict[str, float]:
        """Return the bytes of steps 1 to 3 for each form of the affinities."""
        n, kernel, entries = self.given.n_points, self.kernel, self.given.n_entries
        step, start, cells = self._step(), self._start(), self._cells()
        spectral = 8 * n**2 if self.start == "spectral" else 0
        if isinstance(self.unfitted, PrecomputedKernel):
            widened = 0 if entries is None else 8 * n**2
            forms = {"dense": GRAPH["dense"] * n**2 + widened + STEP["exact"] * n + start}
            if entries is not None:
                forms["sparse"] = GRAPH["sparse"] * entries + step + start
            return forms
        # The search is over before the start is computed.
        points = max(start, self._points((1 + self.is_approximate) * self.given.value_bytes))
        pairs = PAIR["dense"] * kernel.pair_bytes * n**2 + spectral
        if kernel.pair_bytes >= 4:  # counts of shared cells are computed in place
            pairs += BLOCKS
        converted = cells + start if cells else max(start, self._points(8))
        forms = {"dense": pairs + STEP["exact"] * n + converted}
        if kernel.n_relevant:
            lists = PAIR["sparse"] * n * (kernel.n_partners + kernel.n_far)
            forms["sparse"] = lists + step + cells + points
        if cells:
            forms["sampled"] = DRAWS * n + step + cells + start
        return forms

    def _points(self, value_bytes: int) -> float:
        """Return the bytes of copies of the points in the search, or of their distances."""
        n, d, entries = self.given.n_points, self.given.n_features, self.given.n_entries
        if self.unfitted.metric == "jaccard" and entries is None:
            entries = n * d
        if self.unfitted.metric == "precomputed":
            return DISTANCES * n if entries is None else ENTRY["distances"] * entries
        if entries is not None:
            return ENTRY["points"] * entries + 8 * d
        return value_bytes * n * d

    def _cells(self) -> float:
        """Return the bytes of the cells of an isolation kernel, and of the points they surround."""
        n, kernel, d = self.given.n_points, self.kernel, self.given.n_features
        if self.given.n_entries is not None:
            d = 2 * self.given.n_entries // n
        t, n_seen = kernel.n_partitions, self.given.n_pool or n
        own = CELL * n * t * len(kernel.psis) + SAMPLE * kernel.n_draws
        if kernel.has_trees:
            return own + NODES * kernel.n_draws
        m = sum(n_seen * -math.expm1(-t * psi / n_seen) for psi in kernel.psis)
        return own + DRAWN_POINT * d * m

    def _start(self) -> float:
        n, d = self.given.n_points, self.given.n_features
        if self.start == "spectral":
            return SPECTRAL * n
        if self.start != "pca":
            return 0
        side = min(n, d)
        if self.given.n_entries is not None or side > LARGEST_COVARIANCE:
            return COLUMN * d
        return 8 * side * (1024 + 3 * side)

    def _step(self) -> float:
        n, forces = self.given.n_points, self.forces
        mesh = 0.0
        if isinstance(forces, Mesh):
            factor, power = MESH[self.n_components]
            mesh = factor * n**power * math.sqrt(0.01 / forces.accuracy)
        return STEP[forces.name] * n + min(mesh, LARGEST_MESH)

    def _threads(self) -> float:
        n_busy = min(most_threads(), math.ceil(self.given.n_points / ROWS_PER_BLOCK))
        copied = 0
        if self.unfitted.metric != "precomputed" and self.given.n_entries is None:
            rows = THREAD_ROWS["approximate" if self.is_approximate else "exact"]
            copied = rows * self.given.value_bytes * self.given.n_features
        return n_busy * (THREAD + copied)

    def check(self, affinities: str, forms: tuple[str, ...], *, is_wish: bool) -> None:
        """Raise an error if the form of affinities does not fit; it names those that do.

        is_wish: whether the user has chosen the form.
        """
        if self.bytes[affinities] <= self.available:
            return
        hints = [
            f"choose {keyword('affinities', form)} ({size(self.bytes[form])})"
            for form in forms
            if self.bytes[form] <= self.available
        ]
        is_read = self.given.row_bytes > 0
        landmarks = f"map fewer of the rows with {keyword('landmarks')}"
        hint = ", or ".join([*hints, landmarks if is_read else "fit on fewer points"])
        why = f" ({self.limit.reason})" if self.limit.reason == CONTAINER else ""
        hint = f"{hint[0].upper()}{hint[1:]}."
        needed, free = size(self.bytes[affinities]), size(self.available)
        what = f"{affinities} affinities of {self.given.n_points:,} points"
        if is_wish:
            rule = f"fit in the {free} of memory that is available{why}; {what} need {needed}"
            raise ParameterError("affinities", rule, affinities, hint)
        rule = f"be at least {needed} for {what}; {free} is available{why}"
        raise ParameterError("memory_limit", rule, hint=hint)
