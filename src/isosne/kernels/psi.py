"""Rules for psi and the partitionings: fractions of n_samples, automatic choices, list lengths."""

from typing import Any

from isosne._checks import as_scales, check_count, is_integer, is_number, is_one_of
from isosne.errors import ParameterError, keyword

AUTO_SHARES = (0.8, 0.2, 0.05)
"""psi as fractions of n_samples, one per scale (measured: docs/decisions/0004)."""
AUTO_LIMIT = 20_000
"""Number of points above which a single scale is used, to keep neighbor lists short
(docs/decisions/0004 and 0006)."""
LARGE_SHARE = 0.1
"""psi as a fraction of n_samples above AUTO_LIMIT (measured: docs/decisions/0006)."""
AUTO_PARTITIONS = 200
"""The paper's t (section 5)."""
MOST_PARTITIONS = 1_000_000
"""Largest number of partitionings: their sampling error is then 0.0005 (chosen)."""
EXACT_FROM, EXACT_CELL = 10_000, 30
"""The closed form is used above 10 000 points (where affinities become sparse, docs/decisions/0006)
if a cell holds at most 30 points on average, so that lists have at most 240 (chosen)."""


def resolve_psi(psi: Any, n_samples: int) -> tuple[int, ...]:
    """Return the number of cells at each scale as an integer from 2 to n_samples."""
    if isinstance(psi, str) and psi == "auto":
        shares = AUTO_SHARES if n_samples <= AUTO_LIMIT else (LARGE_SHARE,)
        return tuple(sorted({max(2, round(share * n_samples)) for share in shares}, reverse=True))
    return tuple(_resolve_one(value, n_samples) for value in as_scales(psi, "psi"))


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
    """Return n_partitions for "auto": "exact" for many points in small cells, otherwise 200."""
    has_small_cells = n_points / min(psis) <= EXACT_CELL
    if has_closed_form and n_points > EXACT_FROM and has_small_cells:
        return "exact"
    return AUTO_PARTITIONS


def check_partitioning(partition: Any, n_partitions: Any, metric: str) -> None:
    """Raise an error for an unknown kind of partitioning, or one that the others do not allow."""
    if not is_one_of(partition, ("voronoi", "forest")):
        rule = "be 'voronoi' or 'forest'"
        raise ParameterError("partition", rule, partition, "Choose one of the two.")
    if partition == "forest" and metric != "euclidean":
        raise ParameterError(
            "metric",
            f"be left out with {keyword('partition', 'forest')}: isolation trees use no distance",
            metric,
            f"Leave it out, or choose {keyword('partition', 'voronoi')}.",
        )
    if partition == "forest" and is_one_of(n_partitions, ("exact",)):
        raise ParameterError(
            "n_partitions",
            f"be a number with {keyword('partition', 'forest')}: isolation trees have no closed "
            "form",
            n_partitions,
            "Pass 200, which is the default.",
        )
    if not is_one_of(n_partitions, ("exact", "auto")):
        hint = "Pass 200, or 'exact' for the closed form."
        check_count(n_partitions, "n_partitions", low=1, high=MOST_PARTITIONS, hint=hint)


RANKED = 8.0
"""Neighbors to rank, in units of n / psi, the mean cell size. With probability 1 - e^-8 one of them
is sampled; the measured error of a similarity is 2e-4 (docs/decisions/0006)."""
COMPARED = 5.0
"""Neighbors with a similarity, in units of n / psi. They hold about two thirds of a row's
similarity (measured: docs/decisions/0006)."""
