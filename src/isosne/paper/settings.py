"""What a reproduction is told: where its files go, which data, how thorough."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isosne import TSNE
from isosne.errors import ParameterError

QUICK_SETS = ("wine", "dermatology", "wdbc")
GRIDS = ("paper", "thin", "least")
SEED = 0


def _say_nothing(sentence: str) -> None:
    """Keep silent: the library prints nothing by itself."""


@dataclass(frozen=True)
class Settings:
    """How to reproduce a result of the paper.

    Parameters
    ----------
    out : path
        Folder for tables, values and pictures; made if it is not there.
    quick : bool, default=False
        Thin grids and small sets.
    data : path or None, default=None
        Data folder, as for `isosne.datasets.load`.
    sets : tuple of str, default=()
        Data sets to use; empty: those of the paper, or three small ones if quick.
    grid : {"paper", "thin", "least"} or None, default=None
        Values of psi and perplexity to try; None: fewer for larger sets.
    n_jobs : int or None, default=None
        Number of threads or processes; None: as many as Numba uses.
    say : callable, default: nothing
        Called with a line about each piece of work that is finished.
    """

    out: Path
    quick: bool = False
    data: Path | None = None
    sets: tuple[str, ...] = ()
    grid: str | None = None
    n_jobs: int | None = None
    say: Callable[[str], object] = _say_nothing

    def __post_init__(self) -> None:
        if self.grid is not None and self.grid not in GRIDS:
            raise ParameterError(
                f"grid must be one of {', '.join(GRIDS)}; got {self.grid!r}. "
                "Leave it out to try fewer values on larger sets."
            )

    def describe(self) -> dict[str, Any]:
        """Return what decides about the results, for comparison with files made before."""
        return {"quick": self.quick, "sets": list(self.sets), "grid": self.grid}


def paper_tsne(**others: Any) -> TSNE:
    """Return t-SNE as the authors ran it: their schedule, a random start, all pairs."""
    settings = {"affinities": "dense", "schedule": "paper", "start": "random", **others}
    return TSNE(random_state=SEED, **settings)
