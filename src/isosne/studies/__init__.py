"""Maps measured and compared: parameter sweeps, pairs of maps, and their reading in words.

Names are imported when first used: a sweep needs none of the packages that draw.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isosne.studies.compare import JudgedMap, Study, judge, study
    from isosne.studies.parameter_sweep import Sweep, paper_grid, sweep

__all__ = ["JudgedMap", "Study", "Sweep", "judge", "paper_grid", "study", "sweep"]

_HOME = dict.fromkeys(["JudgedMap", "Study", "judge", "study"], "isosne.studies.compare")
_HOME |= dict.fromkeys(["Sweep", "paper_grid", "sweep"], "isosne.studies.parameter_sweep")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'isosne.studies' has no attribute {name!r}")
