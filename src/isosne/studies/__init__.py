"""Studies of embeddings: sweeps, comparison of kernels, readings of measures.

Names are imported on first use: a sweep does not need the plotting packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isosne.studies.judged_maps import JudgedMap, Study, compare_maps, judge, study
    from isosne.studies.parameter_sweep import Sweep, paper_grid, sweep

__all__ = [
    "JudgedMap",
    "Study",
    "Sweep",
    "compare_maps",
    "judge",
    "paper_grid",
    "study",
    "sweep",
]

_HOME = dict.fromkeys(
    ["JudgedMap", "Study", "compare_maps", "judge", "study"], "isosne.studies.judged_maps"
)
_HOME |= dict.fromkeys(["Sweep", "paper_grid", "sweep"], "isosne.studies.parameter_sweep")


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'isosne.studies' has no attribute {name!r}")
