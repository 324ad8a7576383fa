"""The memory that may be used, and the error if a fit needs more."""

import math
import os
import re
from collections.abc import Callable
from typing import Any

import psutil

from isosne.errors import ParameterError, keyword
from isosne.tsne.peak_memory import Costs

LIMIT_VARIABLE = "ISOSNE_MEMORY_LIMIT"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def out_of_memory(
    affinities: str,
    costs: Costs,
    possible: tuple[str, ...],
    available: int,
    bytes_for: Callable[[int], int],
) -> ParameterError:
    """Return an error that names alternatives that fit.

    possible: the forms of affinities that can be chosen. bytes_for: memory for fewer points.
    """
    others = [
        f"{keyword('affinities', name)} ({size(costs.bytes[name])})"
        for name in possible
        if costs.bytes[name] <= available
    ]
    given, needed = costs.given, costs.bytes[affinities]
    n_fitting = most_that_fit(bytes_for, given.n_points, available)
    if n_fitting < 2:
        # 1 % more, because `size` prints three digits and must not round below the need.
        hint = f"raise {keyword('memory_limit')} to {size(math.ceil(1.01 * needed))} or more"
    elif given.row_bytes:
        hint = f"map at most {n_fitting:,} of the rows with {keyword('landmarks', n_fitting)}"
    else:
        hint = f"fit on at most {n_fitting:,} points"
    hint = f"choose {' or '.join(others)}, or {hint}" if others else hint
    return ParameterError(
        "affinities",
        f"fit in the {size(available)} of memory that are available; {affinities} affinities of "
        f"{given.n_points:,} points need {size(needed)}",
        affinities,
        f"{hint[0].upper()}{hint[1:]}.",
    )


def most_that_fit(bytes_for: Callable[[int], int], n_points: int, available: int) -> int:
    """Return a number of points below n_points that fits, or 1 if none is found.

    bytes_for: memory for a number of points; an error if the kernel cannot be fitted to so few.
    """
    fits, fails = 1, n_points
    while fails - fits > 1:
        middle = (fits + fails) // 2
        try:
            does_fit = bytes_for(middle) <= available
        except ParameterError:
            return fits
        fits, fails = (middle, fails) if does_fit else (fits, middle)
    return fits


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
