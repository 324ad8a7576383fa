"""Studies of embeddings: sweeps, comparison of kernels, readings of measures."""

from isosne.studies.judged_maps import JudgedMap, Study, compare_maps, study
from isosne.studies.parameter_sweep import Sweep, sweep

__all__ = ["JudgedMap", "Study", "Sweep", "compare_maps", "study", "sweep"]
