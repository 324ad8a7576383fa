"""The part of `TSNE` that makes a map: the steps of a fit, further steps, and further rows."""

import math
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from copy import copy, deepcopy
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from isosne._checks import check_count, check_number, is_one_of
from isosne._numba import threads
from isosne._random import as_generator
from isosne.affinities.sparse import Sparse, as_affinities
from isosne.kernels.registry import as_kernel, for_table
from isosne.layout.descent import Progress, State
from isosne.layout.force_methods import Method, as_method
from isosne.layout.objectives import as_objective
from isosne.layout.pull import Anchors, make_pull
from isosne.layout.schedules import plain
from isosne.layout.start import initial_map
from isosne.sources import is_stored
from isosne.tables.mixed_rows import MixedRows
from isosne.tsne.alignment import LARGEST_STRENGTH
from isosne.tsne.assembly import make_affinities, make_forces
from isosne.tsne.checkpoint import Checkpoint
from isosne.tsne.choices import Request
from isosne.tsne.fitted_map import FittedMap
from isosne.tsne.growth import (
    check_growing,
    find_far_rows,
    gathering,
    growth_rng,
    joined,
    warn_of_far_rows,
)
from isosne.tsne.input_data import Input
from isosne.tsne.job import Job
from isosne.tsne.plan import make_plan, seeded_kernel, useful_threads
from isosne.tsne.progress import Reporter
from isosne.tsne.run import Finished, Run
from isosne.tsne.task_hooks import FitTasks

N_ITER, STRENGTH = 250, 30.0
"""Steps of an extension, and strength of the pull on the fitted rows: of 3, 10 and 30, it keeps the
most quality over many extensions, because it also holds the width of the map
(docs/decisions/0017)."""


class GrowingMap(FittedMap):
    """Base class of `TSNE`: makes a map, continues its optimization, and adds rows to it."""

    kernel: Any
    n_components: int
    start: Any
    affinities: str | Sparse
    forces: str | Method
    memory_limit: int | str | None
    verbose: bool
    callback: Callable[[State], object] | None
    n_iter_: int
    isolated_: NDArray[np.int64]
    alignment_: Anchors

    def continue_fit(self, n_iter: int) -> Self:
        """Continue the optimization with the settings of the last phase of the schedule.

        Parameters
        ----------
        n_iter : int
            Number of additional steps.

        Returns
        -------
        TSNE
            The estimator itself.
        """
        check_is_fitted(self)
        check_count(n_iter, "n_iter", low=1, hint="Pass the number of further steps.")
        with threads(self.n_jobs), FitTasks(self, n_iter) as tasks:
            last = self._finished.run or self._revived()
            run = last.resumed(plain(n_iter, last.schedule))
            seed = self._finished.seed

            def finish(model: GrowingMap, ended: Run) -> None:
                model._set_fitted(ended, seed)

            self._descend(run, finish, Reporter(self.verbose), tasks)
        return self

    def extend(
        self,
        X: Any,
        *,
        n_iter: int = N_ITER,
        strength: float = STRENGTH,
        checkpoint: str | Path | None = None,
        every: int = 50,
    ) -> Self:
        """Add new rows to the map; all rows may move.

        Parameters
        ----------
        X : array, CSR, data frame, path, or Dask array or data frame
            The new rows, with the columns of the fitted rows. They follow the fitted rows in
            ``embedding_``.
        n_iter : int, default=250
            Number of steps.
        strength : float, default=30.0
            Strength of the pull that keeps fitted rows near their places; see `Alignment`. 0 lets
            them move freely.
        checkpoint : path or None, default=None
            File that holds the state of the extension. If it exists, the extension resumes from it.
        every : int, default=50
            Steps between two checkpoints.

        Returns
        -------
        TSNE
            The estimator itself. ``displacement_`` says how far the fitted rows have moved, and
            ``far_`` which new rows are far from all fitted rows; a warning counts them if they are
            more than chance explains.

        Notes
        -----
        The kernel is fitted to all rows; drawn Voronoi samples are kept as far as they are still a
        uniform sample. Neighbors and affinities are those of a fit on all rows, and cost as much;
        the optimization takes fewer steps. The previous map is enlarged by the square root of the
        growth. Random numbers follow from ``random_state`` and the number of fitted rows. Not part
        of the paper.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from isosne import TSNE
        >>> X = load_iris().data
        >>> TSNE(random_state=0).fit(X[::2]).extend(X[1::2]).embedding_.shape
        (150, 2)
        """
        check_is_fitted(self)
        check_count(n_iter, "n_iter", low=1, hint="Pass the number of steps.")
        hint = "0 lets the fitted rows move freely."
        check_number(strength, "strength", low=0, high=LARGEST_STRENGTH, hint=hint)
        check_growing(self.kernel_, self.plan_.n_rows)
        with threads(self.n_jobs):
            added = self._check_new(X)
            n = len(self.embedding_)
            scale = math.sqrt(1 + added.shape[0] / n)
            places = np.asarray(scale * self.embedding_, np.float32)
            far = find_far_rows(self._search_fitted(), added)
            job = Job(
                Input(joined(self.kernel_.X_fit_, added), None, self.kernel_.metric),
                growth_rng(self._seed, n),
                gathering(n_iter, self._schedule()),
                Anchors(np.arange(n), places, float(strength), scale),
                earlier=self.kernel_,
            )
            self._map_rows(job, checkpoint, every)
            self.far_ = n + far
        warn_of_far_rows(len(far), added.shape[0], n)
        return self

    def _map_rows(self, job: Job, checkpoint: str | Path | None, every: int) -> None:
        """Carry out a job: steps 1 to 3, and the fitted attributes."""
        given = job.given
        with ExitStack() as held:
            state_file = self._checkpoint(checkpoint, every, job)
            saved = held.enter_context(state_file.opened()) if state_file else None
            seed = saved.seed if saved else job.seed
            unused = deepcopy(seed)  # a generator moves on as it draws
            rng = saved.generator() if saved else as_generator(seed)
            if state_file:
                state_file.remember(rng, seed)
            request = self._request(job, rng, saved.route if saved else {})
            plan = make_plan(request, given.size(), self.get_params(deep=False))
            plan.parameters["random_state"] = unused if job.earlier is None else self._seed
            if state_file:
                plan = state_file.follow(plan, saved)
            reporter = Reporter(self.verbose)
            reporter.say(str(plan))
            reporter.say("Computing affinities")
            told = {"X": job.source, "y": job.labels}
            tasks = held.enter_context(FitTasks(self, request.schedule.n_iter, told))
            kernel, indices = job.fit(seeded_kernel(plan, request), rng)
            draws = int(rng.integers(2**31)) if plan.affinities == "sampled" else 0
            joint, isolated = make_affinities(kernel, plan, draws)
            anchors = job.anchors_among(indices)
            start = anchors if request.start is job.anchors else plan.parameters["start"]
            points = given.start_points(kernel.X_fit_, indices)
            Y = initial_map(start, points, joint, self.n_components, rng)
            forces = make_forces(joint, plan, request.objective)
            pull = make_pull(anchors, plan.n_points)
            run = Run(forces, request.schedule, Progress.at(Y), plan.n_threads, pull)
            if saved:
                run.restore(saved)

            def finish(model: GrowingMap, ended: Run) -> None:
                model._remember_input(job)
                model.kernel_, model.plan_, model.affinities_ = kernel, plan, joint
                model.isolated_ = isolated
                model._set_or_remove("landmark_indices_", indices)
                model._set_or_remove("alignment_", anchors)
                model._set_or_remove("far_", None)
                model._set_fitted(ended, draws)

            self._descend(run, finish, reporter, tasks, state_file)

    def _request(self, job: Job, rng: np.random.Generator, route: Mapping[str, Any]) -> Request:
        """Return the user's parameters, with the choices of an interrupted run if it resumes."""
        affinities, neighbors = as_affinities(self.affinities)
        forces = as_method(self.forces)
        if forces is None and route.get("forces"):
            forces = as_method(route["forces"])
        kernel = as_kernel(self.kernel, job.given.shape[0], rng)
        is_grown = job.earlier is not None and hasattr(self, "table_")
        if is_grown or job.given.forest is not None:
            kernel = for_table(kernel)
        is_carried = job.anchors is not None and (
            job.earlier is not None or is_one_of(self.start, ("auto",))
        )
        return Request(
            kernel=kernel,
            n_components=self.n_components,
            objective=as_objective(self.objective),
            schedule=job.schedule,
            start=job.anchors if is_carried else self.start,
            affinities=affinities or route.get("affinities"),
            neighbors=neighbors or route.get("neighbors"),
            forces=forces,
            memory_limit=self.memory_limit,
            n_listed=job.given.n_listed(kernel),
            anchors=job.anchors,
            note=job.given.note,
            has_coordinates=job.given.forest is not None,
        )

    def _checkpoint(self, path: str | Path | None, every: int, job: Job) -> Checkpoint | None:
        if path is None:
            return None
        parameters = self.get_params(deep=False) | job.identity()
        shape = self.n_components, job.given.shape[0]
        return Checkpoint(path, every, parameters, job.given.fingerprint(), shape)

    @property
    def _seed(self) -> Any:
        """The seed of the fit, on which that of an extension depends."""
        return self.plan_.parameters["random_state"]

    def _remember_input(self, job: Job) -> None:
        X, given = job.source, job.given
        if job.earlier is not None:
            return  # the columns are known
        self._set_or_remove("table_", given.forest)
        self._set_or_remove("input_scale_", given.scale)
        X = X.frame if isinstance(X, MixedRows) else X
        if not is_stored(X):
            validate_data(self, X, reset=True, skip_check_array=True)
            return
        self.n_features_in_ = given.shape[1]
        names = given.column_names
        self._set_or_remove("feature_names_in_", None if names is None else np.array(names, object))

    def _set_or_remove(self, name: str, value: object) -> None:
        """Set an attribute, or for None remove that of an earlier fit."""
        if value is not None:
            setattr(self, name, value)
        elif hasattr(self, name):
            delattr(self, name)

    def _revived(self) -> Run:
        """Return the run of a loaded model; affinities and forces are computed again."""
        self.affinities_, _ = make_affinities(self.kernel_, self.plan_, self._finished.seed)
        forces = make_forces(self.affinities_, self.plan_, as_objective(self.objective))
        Y = np.ascontiguousarray(self.embedding_.T)
        progress = Progress.at(Y, self.n_iter_)
        n_threads = useful_threads(len(self.embedding_), self.plan_.forces)
        pull = make_pull(getattr(self, "alignment_", None), len(self.embedding_))
        run = Run(forces, self._schedule(), progress, n_threads, pull)
        run.trace = [(int(i), float(value), float(norm)) for i, value, norm in self.trace_]
        return run

    def _descend(
        self,
        run: Run,
        finish: Callable[["GrowingMap", Run], None],
        reporter: Reporter,
        tasks: FitTasks,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Take the steps of a run; ``finish`` sets the fitted attributes, also after an error."""

        def fitted() -> dict[str, Any]:
            twin = copy(self)
            finish(twin, run.resumed(run.schedule))
            return dict(vars(twin))

        try:
            run.descend(tasks.watch(run, self.callback, fitted), checkpoint, reporter)
        except KeyboardInterrupt:
            warnings.warn(
                f"Interrupted at step {run.progress.iteration}; embedding_ holds the map so far. "
                "Call continue_fit for more steps.",
                RuntimeWarning,
                stacklevel=4,
            )
            raise
        finally:
            if run.is_usable:
                finish(self, run)

    def _set_fitted(self, run: Run, seed: int) -> None:
        """Set the fitted attributes from a run, even if it was interrupted."""
        run.record()
        self._finished = Finished(seed, run)
        self.embedding_ = np.ascontiguousarray(run.progress.Y.T)
        self.n_iter_ = run.progress.iteration
        self.trace_ = np.array(run.trace)
        self.kl_divergence_ = run.trace[-1][1]
