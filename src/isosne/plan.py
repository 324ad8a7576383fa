"""Every "auto" of the estimator resolved in one place, with the reason and the bytes it takes."""

from dataclasses import dataclass, field
from typing import Any

import psutil

from isosne._types import Kernel
from isosne.errors import ParameterError
from isosne.layout.objectives import Objective

DENSE_LIMIT = 50_000
"""Points beyond which all pairs take too long on a few cores, whatever memory there is."""
AFFINITIES = ("auto", "dense", "sparse")


@dataclass(frozen=True)
class Plan:
    """What a fit will do. Prints as a short table."""

    n_points: int
    n_components: int
    kernel: str
    affinities: str
    n_neighbors: int | None
    forces: str
    bytes_needed: int
    bytes_available: int
    reasons: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        lists = f", {self.n_neighbors} neighbors a point" if self.n_neighbors else ""
        lines = [
            f"points      {self.n_points:,} to {self.n_components} dimensions",
            f"kernel      {self.kernel}",
            f"affinities  {self.affinities}{lists}",
            f"forces      {self.forces}",
            f"memory      {_size(self.bytes_needed)} of {_size(self.bytes_available)} available",
        ]
        return "\n".join([*lines, *(f"because     {reason}" for reason in self.reasons)])


def make_plan(
    kernel: Kernel, n_points: int, n_components: int, objective: Objective, affinities: Any
) -> Plan:
    """Choose the form of the affinities for n points, or refuse what does not fit."""
    if affinities not in AFFINITIES:
        raise ParameterError(
            f"affinities must be one of {', '.join(AFFINITIES)}; got {affinities!r}. "
            "'auto' chooses by size and memory."
        )
    available = int(psutil.virtual_memory().available)
    dense_bytes = n_points**2 * kernel.pair_bytes(n_points) + 200 * n_points
    n_neighbors = min(kernel.n_relevant(n_points), n_points - 1)
    sparse_bytes = n_points * n_neighbors * 40
    chosen = affinities
    reasons: tuple[str, ...] = ()
    if affinities == "auto":
        chosen = "dense"
        reasons = (f"all pairs take {_size(dense_bytes)} and n is at most {DENSE_LIMIT:,}",)
        if objective.needs_all_pairs:
            reasons = (f"{objective} compares all pairs",)
        elif n_points > DENSE_LIMIT:
            chosen, reasons = "sparse", (f"all pairs take too long above {DENSE_LIMIT:,} points",)
        elif dense_bytes > 0.8 * available:
            chosen, reasons = "sparse", (f"all pairs would take {_size(dense_bytes)}",)
    if chosen == "sparse" and objective.needs_all_pairs:
        raise ParameterError(
            f"{objective} compares all pairs and needs affinities='dense'; got 'sparse'. "
            "Choose objective='kl', or dense affinities."
        )
    needed = dense_bytes if chosen == "dense" else sparse_bytes
    if needed > available:
        raise ParameterError(
            f"affinities={chosen!r} of {n_points:,} points need {_size(needed)}, and "
            f"{_size(available)} are available. "
            + (
                "Choose affinities='sparse', or fit on fewer points."
                if sparse_bytes < available and not objective.needs_all_pairs
                else "Fit on fewer points."
            )
        )
    return Plan(
        n_points=n_points,
        n_components=n_components,
        kernel=str(kernel),
        affinities=chosen,
        n_neighbors=n_neighbors if chosen == "sparse" else None,
        forces="exact",
        bytes_needed=needed,
        bytes_available=available,
        reasons=reasons,
    )


def _size(n_bytes: int) -> str:
    """Return bytes for a person to read."""
    value = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"
