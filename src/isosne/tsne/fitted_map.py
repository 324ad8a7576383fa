"""The part of `TSNE` that uses a finished map: coordinates of new points, and model files."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._checks import (
    check_for_metric,
    check_names,
    check_number,
    check_points,
    check_width,
)
from isosne._extras import require
from isosne._html import beside, map_picture, pairs_table
from isosne._numba import threads
from isosne._types import Joint, Points
from isosne.affinities.sampled import SampledAffinities
from isosne.errors import DataError, show
from isosne.kernels.base import MetricKernel
from isosne.layout.objectives import Objective, as_objective, dof_of
from isosne.layout.pull import Anchors
from isosne.layout.schedules import Schedule, as_schedule, lasting
from isosne.neighbors.search import Search, make_search
from isosne.quality import Report
from isosne.quality import report as measure
from isosne.sources import Rows, is_stored, open_rows
from isosne.sources.scaled import Scale, ScaledRows
from isosne.tables.forest import TableForest
from isosne.tables.mixed_rows import MixedRows
from isosne.tsne.assembly import sample_affinities
from isosne.tsne.growth import check_growing, find_far_rows
from isosne.tsne.input_data import open_input
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
    alignment_: Anchors
    table_: TableForest
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
            return self._ready_placer().place(self._check_new(X))

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
        rows = self._open_new(X)
        shape = rows.shape[0], self._n_features_out
        if out is None:
            out = np.empty(shape, np.float32)
        check_out(out, shape)
        start = 0
        for block in self._placed(rows):
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
        return self._placed(self._open_new(X))

    def _placed(self, rows: Rows) -> Iterator[NDArray[np.float32]]:
        with threads(self.n_jobs):
            placer = self._ready_placer()
        return rows.apply(partial(place_checked, placer, self.n_jobs), PLACE_BYTES)

    def find_far(self, X: Any) -> NDArray[np.int64]:
        """Return the indices of new points that are far from every fitted point.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            New points.

        Returns
        -------
        array of int
            Indices of points whose nearest fitted point is farther away than 99 % of the fitted
            points have their nearest neighbor.

        Notes
        -----
        `transform` gives such points coordinates among points that they do not resemble. Of points
        from the same distribution as the fitted points, about 1 % are far by chance. The metric is
        that of the kernel. Costs a neighbor search among the fitted points.
        """
        check_is_fitted(self)
        check_growing(self.kernel_, None)
        with threads(self.n_jobs):
            return find_far_rows(self._search_fitted(), self._check_new(X))

    @property
    def displacement_(self) -> NDArray[np.float64]:
        """Distance of aligned rows from their places, relative to the radius of these places."""
        return self.alignment_.displacement(self.embedding_)

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
        points = self.table_.transform(X) if hasattr(self, "table_") else X
        return measure(points, self.embedding_, labels, k=k, **how)

    def plot(
        self,
        color: Any = None,
        *,
        kind: str = "auto",
        title: str | None = None,
        legend: bool | str = "auto",
        names: Mapping[Any, str] | Sequence[str] | None = None,
        annotate: Any = False,
        contours: bool = False,
        images: Any = None,
        style: str = "screen",
        ax: Any = None,
    ) -> Any:
        """Draw the map with `isosne.plots.plot_map`.

        Parameters
        ----------
        color : array, series, Trust or None, default=None
            What to color the points by: one label or number per point, or trust.
        kind : {"auto", "labels", "values", "trust"}, default="auto"
            How to interpret ``color``; see `plot_map`.
        title : str or None, default=None
            Title of the figure.
        legend : bool or "auto", default="auto"
            Whether to add a legend or a color bar. "auto": unless the classes are named on the map.
        names : mapping, sequence of str or None, default=None
            Names of the labels: a mapping from labels, or a sequence indexed by labels 0, 1, ...
        annotate : bool or array of shape (n_samples,), default=False
            Whether to write the names of the classes on the map, or labels to write there.
        contours : bool, default=False
            Whether to draw lines of equal density; see `plot_map`.
        images : array of shape (n_samples, height, width[, 3]) or None, default=None
            Images of the points; see `plot_map`.
        style : {"screen", "paper", "slides", "dark"}, default="screen"
            Sizes, fonts and colors; see `plot_map`.
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; None creates a new figure, available as ``ax.figure``.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.

        Notes
        -----
        `plot_map` has two more parameters, which mark points and set their size.
        """
        check_is_fitted(self)
        # By name: plots stand above the estimator, and need matplotlib.
        plots = require("isosne.plots", "plot", "TSNE.plot")
        return plots.plot_map(
            self.embedding_,
            color,
            kind=kind,
            title=title,
            legend=legend,
            names=names,
            annotate=annotate,
            contours=contours,
            images=images,
            style=style,
            ax=ax,
        )

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

    def _check_new(self, X: Any) -> Points:
        """Return validated new points as the kernel compares them: scaled, or as codes."""
        if is_stored(X):
            return check_points(self._open_new(X).read(slice(None)))
        if hasattr(self, "table_"):
            return self.table_.transform(X)
        points = check_points(X)
        check_width(points, self.n_features_in_, type(self).__name__)
        validate_data(self, X, reset=False, skip_check_array=True)
        if hasattr(self, "input_scale_"):
            points = self.input_scale_.apply(points)
        check_for_metric(points, self.kernel_.metric)
        return points

    def _open_new(self, X: Any) -> Rows:
        """Return new rows of an input of any kind as the kernel compares them."""
        if hasattr(self, "table_"):
            X = X.frame if isinstance(X, MixedRows) else X
            if is_stored(X):
                raise DataError(
                    "The map was made of a table with mixed columns, and takes tables in memory; "
                    f"got {show(X)}. Read it into a data frame, or pass parts of it."
                )
            return open_rows(self.table_.transform(X))
        rows = open_input(X)
        check_width(rows, self.n_features_in_, type(self).__name__)
        check_names(rows.column_names, getattr(self, "feature_names_in_", None))
        if hasattr(self, "input_scale_") and not isinstance(rows, ScaledRows):
            return ScaledRows(rows, self.input_scale_)
        return rows

    def _search_fitted(self) -> Search:
        """Return a search among the fitted points."""
        kernel = self.kernel_
        method = self.plan_.neighbors or "exact"
        return make_search(kernel.X_fit_, kernel.metric_, method)

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
