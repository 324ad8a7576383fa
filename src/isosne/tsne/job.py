"""What a run maps: the rows of a fit, or those of a fitted map and new ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isosne._random import RandomState
from isosne._types import Array
from isosne.errors import DataError
from isosne.kernels.base import MetricKernel
from isosne.layout.pull import Anchors
from isosne.layout.schedules import Schedule
from isosne.tsne.growth import grown_kernel
from isosne.tsne.input_data import Input


@dataclass(frozen=True)
class Job:
    """What a run maps.

    Parameters
    ----------
    given : Input
        The rows.
    seed : int, Generator or RandomState
        Seed of the run.
    schedule : Schedule
        Phases of the optimization.
    anchors : Anchors or None
        Places of rows on a previous map.
    source : object, default=None
        The user's input, whose columns are remembered.
    labels : object, default=None
        The y of `fit`, which callbacks of scikit-learn are told.
    earlier : MetricKernel or None, default=None
        The kernel of the map that is extended.
    """

    given: Input
    seed: RandomState
    schedule: Schedule
    anchors: Anchors | None
    source: Any = None
    labels: Any = None
    earlier: MetricKernel | None = None

    def fit(
        self, kernel: MetricKernel, rng: np.random.Generator
    ) -> tuple[MetricKernel, Array | None]:
        """Return the kernel fitted to the rows, and the row indices of landmarks."""
        if self.earlier is None:
            return self.given.fit(kernel, rng)
        return grown_kernel(kernel, self.earlier, self.given.points), None

    def anchors_among(self, landmarks: Array | None) -> Anchors | None:
        """Return the anchors, counted among the landmarks if there are any."""
        if self.anchors is None or landmarks is None:
            return self.anchors
        found = self.anchors.among(landmarks)
        if not len(found.rows):
            raise DataError(
                f"At least one landmark must have a place on the previous map; none of "
                f"{len(landmarks):,} has. Draw more landmarks, or map all rows."
            )
        return found

    def identity(self) -> dict[str, Any]:
        """Return what distinguishes an extension, besides the parameters, by name."""
        if self.earlier is None or self.anchors is None:
            return {}
        _, places, strength, _ = self.anchors
        return {"n_iter": self.schedule.n_iter, "strength": strength, "embedding_": places}
