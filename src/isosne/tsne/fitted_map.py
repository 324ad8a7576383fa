"""The part of `TSNE` that uses a finished map: coordinates of new points, and model files."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._checks import check_names, check_number, check_points, check_width
from isosne._extras import require
from isosne._html import beside, map_picture, pairs_table
from isosne._numba import threads
from isosne._types import Joint
from isosne.affinities.sampled import SampledAffinities
from isosne.kernels.base import MetricKernel
from isosne.layout.objectives import Objective, as_objective, dof_of
from isosne.layout.schedules import Schedule, as_schedule, lasting
from isosne.quality import Report
from isosne.quality import report as measure
from isosne.sources import Rows, is_stored, open_rows
from isosne.sources.scaled import Scale, ScaledRows
from isosne.tsne.assembly import sample_affinities
from isosne.tsne.model_file import read_model, write_model
from isosne.tsne.new_points import MapPlacer, MapSettings, check_out, make_placer, place_checked
from isosne.tsne.plan import Plan
from isosne.tsne.run import Finished

PLACE_BYTES = 2**26
"""Bytes of rows per block in `place`: 64 MB (chosen; not measured)."""


class FittedMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of `TSNE`: methods that use a finished map."""

    objective: str | Objective
    schedule: str | Schedule
    exaggeration: float | None
    n_jobs: int | None
    embedding_: NDArray[np.float32]
    trace_: NDArray[np.float64]
    kernel_: MetricKernel
    plan_: Plan
    affinities_: Joint
    input_scale_: Scale
    input_options_: dict[str, Any]
    _finished: Finished

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the coordinates of new points on the map; the map does not change.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            New points; for precomputed affinities or distances, those to the fitted points.

        Returns
        -------
        array of float32, shape (n, n_components)
            Their coordinates.

        Notes
        -----
        Each point is placed independently of the others. A copy of a fitted point gets the
        coordinates of that point. Not part of the paper.
        """
        check_is_fitted(self)
        if is_stored(X):
            return self.place(X)
        with threads(self.n_jobs):
            points = check_points(X)
            check_width(points, self.n_features_in_, type(self).__name__)
            validate_data(self, X, reset=False, skip_check_array=True)
            if hasattr(self, "input_scale_"):
                points = self.input_scale_.apply(points)
            return self._ready_placer().place(points)

    def place(self, X: Any, out: Any = None) -> NDArray[np.float32]:
        """Return the coordinates of all rows of an input of any size, in constant memory.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The rows; with landmarks, usually the input of `fit`.
        out : array of float32, shape (n, n_components), default=None
            Array for the result, such as a memmap; None allocates a new array.

        Returns
        -------
        array of float32, shape (n, n_components)
            Their coordinates, in the order of the rows.
        """
        check_is_fitted(self)
        rows = open_rows(X)
        shape = rows.shape[0], self._n_features_out
        if out is None:
            out = np.empty(shape, np.float32)
        check_out(out, shape)
        start = 0
        for block in self.place_blocks(rows):
            out[start : start + len(block)] = block
            start += len(block)
        placed: NDArray[np.float32] = out
        return placed

    def place_blocks(self, X: Any) -> Iterator[NDArray[np.float32]]:
        """Return an iterator over the coordinates of all rows of an input, in blocks.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The rows. Blocks of a Dask collection are placed by the workers that hold them.

        Returns
        -------
        iterator of arrays of float32, shape (n_rows, n_components)
            Coordinates of the next rows, in order.
        """
        check_is_fitted(self)
        rows = self._open_new(X)
        with threads(self.n_jobs):
            placer = self._ready_placer()
        return rows.apply(partial(place_checked, placer, self.n_jobs), PLACE_BYTES)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file; an existing file is replaced.

        Parameters
        ----------
        path : path
            The file.
        """
        check_is_fitted(self)
        write_model(path, self, self._finished.seed)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model written by `save`, also by earlier versions.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        TSNE
            The fitted estimator, without ``affinities_``, which `continue_fit` computes again.
        """
        model = read_model(path, cls._get_param_names())
        self = cls(**model.parameters)
        for name, value in model.attributes.items():
            setattr(self, name, value)
        self._finished = Finished(model.seed)
        return self

    def report(self, X: Any, labels: Any = None, *, k: int = 10) -> Report:
        """Measure how well the map preserves neighborhoods and classes.

        Parameters
        ----------
        X : array, CSR or data frame of shape (n_samples, n_features)
            The points of `fit`.
        labels : array of shape (n_samples,) or None, default=None
            The class of each point.
        k : int, default=10
            Neighborhood size.

        Returns
        -------
        Report
            The measures, in the metric of the kernel. See `isosne.quality.report`.
        """
        check_is_fitted(self)
        metric, p = self.kernel_.metric, self.kernel_.p
        how: dict[str, Any] = {"metric": metric, "p": p, "random_state": 0, "n_jobs": self.n_jobs}
        return measure(X, self.embedding_, labels, k=k, **how)

    def plot(self, color: Any = None, *, title: str | None = None) -> Any:
        """Draw the map.

        Parameters
        ----------
        color : array of shape (n_samples,), Trust or None, default=None
            Labels, values or trust that color the points.
        title : str or None, default=None
            Title of the figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes. `isosne.plots.plot_map` has further parameters.
        """
        check_is_fitted(self)
        # By name: plots stand above the estimator, and need matplotlib.
        plots = require("isosne.plots", "plot", "TSNE.plot")
        return plots.plot_map(self.embedding_, color, title=title)

    def _repr_html_inner(self) -> str:
        """Return what notebooks show: a small map and its figures, after a fit."""
        return self._html_repr()

    def _html_repr(self) -> str:
        if not hasattr(self, "embedding_"):
            return str(estimator_html_repr(self))
        n, n_components = self.embedding_.shape
        rows = [
            (type(self).__name__, f"{n:,} points in {n_components} dimensions"),
            ("kernel", self.plan_.kernel),
            ("steps", f"{int(self.trace_[-1, 0]):,}"),
            ("objective", f"{self.trace_[-1, 1]:.4f}"),
        ]
        picture = map_picture(self.embedding_, f"map of {n:,} points")
        details = f"<details><summary>Plan</summary>{self.plan_._repr_html_()}</details>"
        return beside(picture, pairs_table(rows) + details)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown

    def _open_new(self, X: Any) -> Rows:
        """Open new rows, which must have the columns of `fit`, in the scale of the map."""
        rows = open_rows(X)
        check_width(rows, self.n_features_in_, type(self).__name__)
        check_names(rows.column_names, getattr(self, "feature_names_in_", None))
        if hasattr(self, "input_scale_") and not isinstance(rows, ScaledRows):
            rows = ScaledRows(rows, self.input_scale_)
        return rows

    def _ready_placer(self) -> MapPlacer:
        finished = self._finished
        if finished.placer is None:
            source: SampledAffinities | None = None
            if self.plan_.affinities == "sampled":
                source = getattr(self, "affinities_", None)
                source = source or sample_affinities(self.kernel_, finished.seed)
            exaggeration = self._schedule().phases[-1].exaggeration
            dof = dof_of(as_objective(self.objective))
            settings = MapSettings(self.embedding_, dof, exaggeration)
            finished.placer = make_placer(self.kernel_, self.plan_, source, settings)
        return finished.placer

    def _schedule(self) -> Schedule:
        schedule = as_schedule(self.schedule)
        if self.exaggeration is None:
            return schedule
        check_number(self.exaggeration, "exaggeration", low=1, hint="1 changes nothing.")
        return lasting(schedule, float(self.exaggeration))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
