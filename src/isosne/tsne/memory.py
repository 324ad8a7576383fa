"""Memory: what each form of the affinities takes at its peak, and what may be used."""

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
"""Columns that count: wider data are sparse, and are never copied whole."""
STATE_BYTES = 200
"""Bytes per point of coordinates, updates, gains and gradients, and their copies."""
DRAW_BYTES = 2000
"""Bytes per point of three sets of drawn partners with their random numbers."""


class InputSize(NamedTuple):
    """What the plan knows of the input."""

    n_points: int
    """Rows that are mapped."""
    n_features: int
    is_sparse: bool = False
    n_entries: int = 0
    """Stored entries of a sparse matrix in memory."""
    n_rows: int | None = None
    """Rows of the input, if some of them are mapped as landmarks."""
    n_pool: int | None = None
    """Rows that the kernel sees then."""
    bytes_held: int = 0
    """Bytes of rows that are not in memory yet and will be read."""
    bytes_of_pool: int = 0
    """Bytes that they would take if some of them were mapped as landmarks."""


class Costs:
    """Bytes that each form of the affinities takes at its peak, for a kernel and an input."""

    def __init__(self, kernel: KernelCosts, given: InputSize) -> None:
        n = given.n_points
        self.given = given
        self.n_neighbors = min(kernel.n_relevant, n - 1)
        self.n_partners = min(kernel.n_partners, n - 1)
        self.pair_bytes = kernel.pair_bytes
        copies = 8 * min(given.n_features, WIDEST)  # points in search order, and their products
        dense = n**2 * self.pair_bytes + n * (STATE_BYTES + 2 * copies) + kernel.drawn_bytes
        self.bytes = {"dense": dense}
        if kernel.n_relevant:
            lists = max(copies + 12 * self.n_neighbors, 32 * self.n_partners + 100)
            self.bytes["sparse"] = n * lists
        if kernel.cell_bytes:
            self.bytes["sampled"] = n * (kernel.cell_bytes + copies + DRAW_BYTES)
        self.bytes = {name: needed + given.bytes_held for name, needed in self.bytes.items()}

    def n_fitting(self, affinities: str, n_bytes: int) -> int:
        """Return how many points fit in n_bytes, besides the rows that are held."""
        n, left = self.given.n_points, max(n_bytes, 0)
        needed = self.bytes[affinities] - self.given.bytes_held
        if affinities != "dense":
            return int(n * left / needed)
        a, b = self.pair_bytes, needed / n - self.pair_bytes * n  # a n^2 + b n bytes
        return int(((b**2 + 4 * a * left) ** 0.5 - b) / (2 * a))


def out_of_memory(
    affinities: str, costs: Costs, possible: tuple[str, ...], available: int
) -> ParameterError:
    """Return the error that names what would fit instead."""
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
    """Return the number of points that fit; if none do, the memory that is needed."""
    held = costs.given.bytes_of_pool or costs.given.bytes_held
    n_fitting = costs.n_fitting(affinities, available - held)
    if n_fitting < 2:
        needed = math.ceil(1.01 * costs.bytes[affinities])  # not less when it is rounded
        return f"raise {keyword('memory_limit')} to {size(needed)} or more"
    if costs.given.bytes_held:
        return f"map at most {n_fitting:,} of the rows with {keyword('landmarks', n_fitting)}"
    return f"fit on at most {n_fitting:,} points"


def memory_available(limit: Any = None) -> int:
    """Return the bytes that may be used: what is free, or a limit given here or in the environment.

    A limit is a number of bytes or a string such as "1.5GB"; ISOSNE_MEMORY_LIMIT is read if it is
    None.
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
    """Return bytes in a form for people to read."""
    value = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"
