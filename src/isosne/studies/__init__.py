"""Studies of embeddings: sweeps, comparison of kernels, readings of measures."""

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
