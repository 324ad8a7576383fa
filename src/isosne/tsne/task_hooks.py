"""Callbacks of scikit-learn 1.9 and later (`sklearn.callback`): a fit is a task, a step a subtask.

Earlier versions have no callbacks: `TSNE` then has no method `set_callbacks`, and fits as usual.
scikit-learn calls this interface experimental. Only the parts that it documents for estimators of
other packages are used: the mixin, the decorator and the context. They are imported when callbacks
are set, because they import rich.
"""

import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from isosne.layout.descent import State
from isosne.tsne.progress import n_left
from isosne.tsne.run import Run

MODULE = "sklearn.callback"


class CallbackSupport:
    """Adds `set_callbacks`, as scikit-learn's mixin does, if its version has callbacks."""

    if find_spec(MODULE):

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set callbacks of scikit-learn, such as ``sklearn.callback.ProgressBar()``.

            Parameters
            ----------
            *callbacks : objects that follow ``sklearn.callback.FitCallback``
                The callbacks; none removes those that were set.

            Returns
            -------
            TSNE
                The estimator itself.
            """
            from sklearn.callback import CallbackSupportMixin

            CallbackSupportMixin.set_callbacks(self, *callbacks)
            return self


class FitTasks:
    """The tasks of a fit, which scikit-learn reports to its callbacks; use it in ``with``.

    Without callbacks, a step costs about 3 microseconds (measured).

    Parameters
    ----------
    estimator : TSNE
        The estimator.
    n_steps : int
        Largest number of steps.
    data : mapping or None, default=None
        X and y, as the user passed them.
    """

    def __init__(self, estimator: Any, n_steps: int, data: Mapping[str, Any] | None = None) -> None:
        self._told = {"estimator": estimator, **(data or {})}
        self._n_steps = n_steps
        self._fit: Any = None

    def __enter__(self) -> Self:
        estimator = self._told["estimator"]
        if MODULE in sys.modules:  # otherwise no one has set a callback
            from sklearn.callback import CallbackSupportMixin

            begin = CallbackSupportMixin._init_callback_context
            try:
                self._fit = begin(estimator, max_subtasks=self._n_steps)
                self._fit.call_on_fit_task_begin(**self._told)
            except BaseException:
                self._tear_down()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._fit is None:
            return
        try:
            if kind is None:  # the estimator itself is fitted: no attributes are needed
                self._fit.call_on_fit_task_end(**self._told, reconstruction_attributes={})
        finally:
            self._tear_down()

    def watch(
        self,
        run: Run,
        callback: Callable[[State], object] | None,
        fitted: Callable[[], Mapping[str, Any]],
    ) -> Callable[[State], object] | None:
        """Return a callback for the steps of a run, which also calls the one of the user.

        ``fitted()`` returns the attributes of an estimator whose run stopped at the current step;
        it is called only if a callback asks for them.
        """
        if self._fit is None:
            return callback
        step = self._begin_step(run)

        def see(state: State) -> bool:
            nonlocal step
            stops = callback is not None and bool(callback(state))
            told = {**self._told, "reconstruction_attributes": fitted}
            stops = bool(step.call_on_fit_task_end(**told)) or stops
            if not stops:
                step = self._begin_step(run)
            return stops

        return see

    def _begin_step(self, run: Run) -> Any:
        """Return the task of the next step, which begins now; None if there is none."""
        if not n_left(run.progress, run.schedule):
            return None
        return self._fit.subcontext(task_name="step").call_on_fit_task_begin(**self._told)

    def _tear_down(self) -> None:
        """Tear down the callbacks, as scikit-learn does after a decorated method."""
        from sklearn.callback import with_callbacks

        with_callbacks(lambda estimator: None)(self._told["estimator"])
