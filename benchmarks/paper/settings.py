"""Settings of a reproduction: output folder, data, and thoroughness."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isosne import TSNE
from isosne.errors import ParameterError, keyword, suggest
from isosne.layout.schedules import Schedule

QUICK_SETS = ("wine", "dermatology", "wdbc")
"""Three small data sets of the paper."""
GRIDS = ("paper", "thin", "least")
SEED = 0  # of all data and maps; the paper states none


def _ignore(sentence: str) -> None:
    """Discard a progress message: the library prints nothing by itself."""


@dataclass(frozen=True)
class Settings:
    """Settings of a reproduction of the paper.

    Parameters
    ----------
    out : path
        Output folder for tables, values and figures; created if it does not exist.
    quick : bool, default=False
        Use smaller grids and small data sets.
    data : path or None, default=None
        Data folder; see `benchmarks.paper.data.load`.
    sets : tuple of str, default=()
        Data sets to use; empty: all of the paper's, or three small ones if ``quick``.
    grid : {"paper", "thin", "least"} or None, default=None
        Values of psi and perplexity to try; None: fewer values for larger data sets.
    n_jobs : int or None, default=None
        Number of threads or processes; None uses Numba's number of threads.
    report : callable, default: does nothing
        Called with a progress message after each step.
    schedule : Schedule or None, default=None
        Schedule of all maps; None uses that of the paper. A short one gives an impression of the
        output, not of the results.
    """

    out: Path
    quick: bool = False
    data: Path | None = None
    sets: tuple[str, ...] = ()
    grid: str | None = None
    n_jobs: int | None = None
    report: Callable[[str], object] = _ignore
    schedule: Schedule | None = None

    def __post_init__(self) -> None:
        if self.grid is not None and self.grid not in GRIDS:
            hint = suggest(
                self.grid,
                GRIDS,
                f"Use {keyword('grid', None)} to try fewer values on larger data sets.",
            )
            raise ParameterError("grid", f"be one of {', '.join(GRIDS)}", self.grid, hint)

    def describe(self) -> dict[str, Any]:
        """Return the settings that affect the results, to compare them with existing files."""
        described = {"quick": self.quick, "sets": list(self.sets), "grid": self.grid}
        return described if self.schedule is None else described | {"schedule": str(self.schedule)}

    def make_tsne(self, **others: Any) -> TSNE:
        """Return t-SNE as the authors ran it: their schedule, a random start, all pairs."""
        schedule = "paper" if self.schedule is None else self.schedule
        return TSNE(
            affinities="dense", schedule=schedule, start="random", random_state=SEED, **others
        )
