"""The rules for psi and the number of partitionings: what "auto" and a share of n stand for."""

from typing import Any

from isosne._checks import as_scales, is_integer, is_number
from isosne.errors import ParameterError

AUTO_SHARES = (0.8, 0.2, 0.05)
"""Shares of n_samples, one per scale (docs/decisions/0004-psi-by-rule.md)."""
AUTO_LIMIT = 20_000
"""Points above which one scale is used: lists of neighbors must stay short (decision 0006)."""
LARGE_SHARE = 0.1
"""Share of n_samples above that limit (decision 0006)."""
AUTO_PARTITIONS = 200
"""The paper's t."""
EXACT_FROM, EXACT_CELL = 10_000, 30
"""More points than this, and at most so many per cell on average: the closed form (0006)."""


def resolve_psi(psi: Any, n_samples: int) -> tuple[int, ...]:
    """Return the number of cells at each scale as an integer from 2 to n_samples."""
    if isinstance(psi, str) and psi == "auto":
        return auto_psi(n_samples)
    return tuple(_resolve_one(value, n_samples) for value in as_scales(psi, "psi"))


def auto_psi(n_samples: int) -> tuple[int, ...]:
    """Return psi by rule: three scales, or one where lists of neighbors must be short."""
    shares = AUTO_SHARES if n_samples <= AUTO_LIMIT else (LARGE_SHARE,)
    scales = {max(2, round(share * n_samples)) for share in shares}
    return tuple(sorted(scales, reverse=True))


def _resolve_one(psi: Any, n_samples: int) -> int:
    if is_number(psi) and 0 < psi < 1:
        return min(max(2, round(float(psi) * n_samples)), n_samples)
    if not is_integer(psi) or psi < 2:
        raise ParameterError(
            "psi",
            "be 'auto', an integer from 2 to n_samples, or a share of n_samples between 0 and 1",
            psi,
            "A single cell would hold every point; choose a larger psi.",
        )
    if psi > n_samples:
        raise ParameterError(
            "psi",
            f"be an integer from 2 to n_samples ({n_samples})",
            psi,
            "Lower psi, or fit the kernel on more points.",
        )
    return int(psi)


def auto_partitions(psis: tuple[int, ...], n_points: int, *, has_closed_form: bool) -> int | str:
    """Return the number of partitionings by rule: "exact" for many points in small cells."""
    has_small_cells = n_points / min(psis) <= EXACT_CELL
    if has_closed_form and n_points > EXACT_FROM and has_small_cells:
        return "exact"
    return AUTO_PARTITIONS
