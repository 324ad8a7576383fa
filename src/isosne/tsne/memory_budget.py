"""Peak memory of each form of the affinities, and the memory limit."""

import math
import os
import re
from typing import Any, NamedTuple

import psutil

from isosne.errors import ParameterError, keyword
from isosne.kernels.costs import KernelCosts

LIMIT_VARIABLE = "ISOSNE_MEMORY_LIMIT"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
WIDEST = 10_000
"""Largest number of columns that is counted: wider data are sparse and are never copied to dense
arrays (chosen)."""
STATE_BYTES = 200
"""Bytes per point of coordinates, updates, gains and gradients with their copies (estimated)."""
DRAW_BYTES = 2000
"""Bytes per point of drawn partners: three draws of 64 partners (index 4, weight 4), and the random
numbers of one (2 of 4 bytes each)."""
NEIGHBOR_BYTES, PARTNER_BYTES, ROW_BYTES = 12, 32, 100
"""Bytes per neighbor in a search (index 4, key 8); per partner in `symmetrize_lists` (list 8,
transposed list 8, up to two entries of 8); per point of offsets and coordinates (estimated)."""


class InputSize(NamedTuple):
    """Sizes of the input that the plan depends on."""

    n_points: int
    """Number of points to map."""
    n_features: int
    is_sparse: bool = False
    n_entries: int = 0
    """Number of stored entries of a sparse matrix in memory."""
    n_rows: int | None = None
    """Number of rows of the input, if landmarks are mapped."""
    n_pool: int | None = None
    """Number of rows in the pool, if landmarks are mapped."""
    bytes_held: int = 0
    """Bytes of the rows that will be read into memory."""
    bytes_of_pool: int = 0
    """Bytes of the pool, if landmarks were mapped."""


class Costs:
    """Peak memory of each form of the affinities, for a kernel and an input."""

    def __init__(self, kernel: KernelCosts, given: InputSize) -> None:
        n = given.n_points
        self.given = given
        self.n_neighbors = min(kernel.n_relevant, n - 1)
        self.n_partners = min(kernel.n_partners, n - 1)
        self.pair_bytes = kernel.pair_bytes
        copies = 8 * min(given.n_features, WIDEST)  # float32 points and the factors of products
        dense = n**2 * self.pair_bytes + n * (STATE_BYTES + 2 * copies) + kernel.drawn_bytes
        self.bytes = {"dense": dense}
        if kernel.n_relevant:
            # The search and the symmetrized matrix are not in memory at the same time.
            search = copies + NEIGHBOR_BYTES * self.n_neighbors
            lists = max(search, PARTNER_BYTES * self.n_partners + ROW_BYTES)
            self.bytes["sparse"] = n * lists
        if kernel.cell_bytes:
            self.bytes["sampled"] = n * (kernel.cell_bytes + copies + DRAW_BYTES)
        self.bytes = {name: needed + given.bytes_held for name, needed in self.bytes.items()}

    def n_fitting(self, affinities: str, n_bytes: int) -> int:
        """Return the number of points that fit in n_bytes, besides the rows in memory."""
        n, left = self.given.n_points, max(n_bytes, 0)
        needed = self.bytes[affinities] - self.given.bytes_held
        if affinities != "dense":
            return int(n * left / needed)
        # Dense affinities take a n^2 + b n bytes; solve for n.
        a, b = self.pair_bytes, needed / n - self.pair_bytes * n
        return int(((b**2 + 4 * a * left) ** 0.5 - b) / (2 * a))


def out_of_memory(
    affinities: str, costs: Costs, possible: tuple[str, ...], available: int
) -> ParameterError:
    """Return an error that names alternatives that fit."""
    others = [
        f"{keyword('affinities', name)} ({size(costs.bytes[name])})"
        for name in possible
        if costs.bytes[name] <= available
    ]
    hint = _fewer(affinities, costs, available)
    hint = f"choose {' or '.join(others)}, or {hint}" if others else hint
    return ParameterError(
        "affinities",
        f"fit in the {size(available)} of memory that are available; {affinities} affinities of "
        f"{costs.given.n_points:,} points need {size(costs.bytes[affinities])}",
        affinities,
        f"{hint[0].upper()}{hint[1:]}.",
    )


def _fewer(affinities: str, costs: Costs, available: int) -> str:
    """Return a hint: the number of points that fit, or if none do, the memory that is needed."""
    held = costs.given.bytes_of_pool or costs.given.bytes_held
    n_fitting = costs.n_fitting(affinities, available - held)
    if n_fitting < 2:
        # 1 % more, because `size` prints three digits and must not round below the need.
        needed = math.ceil(1.01 * costs.bytes[affinities])
        return f"raise {keyword('memory_limit')} to {size(needed)} or more"
    if costs.given.bytes_held:
        return f"map at most {n_fitting:,} of the rows with {keyword('landmarks', n_fitting)}"
    return f"fit on at most {n_fitting:,} points"


def memory_available(limit: Any = None) -> int:
    """Return the number of bytes that may be used: free memory, or the limit if it is lower.

    limit: a number of bytes, a string such as "1.5GB", or None for the environment variable
    ISOSNE_MEMORY_LIMIT.
    """
    free = int(psutil.virtual_memory().available)
    source = "memory_limit"
    if limit is None and os.environ.get(LIMIT_VARIABLE):
        limit, source = os.environ[LIMIT_VARIABLE], LIMIT_VARIABLE
    return free if limit is None else min(free, _as_bytes(limit, source))


def _as_bytes(limit: Any, source: str) -> int:
    text = str(limit).strip().lower()
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\+?\d+)?)\s*([kmgt]?)i?b?", text)
    if isinstance(limit, bool) or match is None or float(match[1]) <= 0:
        raise ParameterError(
            source,
            "be a number of bytes or a size such as '1.5GB'",
            limit,
            "Leave it out to use the memory that is free.",
        )
    return int(float(match[1]) * UNITS[match[2]])


def size(n_bytes: int) -> str:
    """Return a number of bytes as text with three digits and a unit."""
    value = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"
