"""Callbacks of scikit-learn: what they are told of a fit, and that they can stop it."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from isosne import TSNE, Phase, Schedule
from isosne.tsne import task_hooks
from tests.conftest import make

HAS_CALLBACKS = parse_version(sklearn.__version__) >= parse_version("1.9")
needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="scikit-learn 1.9 has callbacks")
TEN = Schedule((Phase(4, exaggeration=4), Phase(6)))


class Recorder:
    """A callback in the protocol of scikit-learn."""

    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.told = []
        self.maps = []

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.task_name} {context.task_id}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.told.append(f"end {context.task_name} {context.task_id}")
        self.X, self.n_steps = X, context.max_subtasks
        self.maps.append(fitted_estimator)
        return context.task_id == self.stop_at and context.parent is not None


class Propagated(Recorder):
    max_propagation_depth = None


def steps(n):
    return [f"{when} step {k}" for k in range(n) for when in ("begin", "end")]


def test_only_versions_with_callbacks_take_them():
    assert hasattr(TSNE(), "set_callbacks") == HAS_CALLBACKS


@needs_callbacks
def test_a_fit_is_a_task_and_each_step_a_subtask(two_blobs):
    recorder = Recorder()
    model = make(schedule=TEN).set_callbacks(recorder).fit(two_blobs)
    assert recorder.told == ["setup", "begin fit 0", *steps(10), "end fit 0", "teardown"]
    assert recorder.X is two_blobs
    assert recorder.n_steps == 10
    np.testing.assert_array_equal(
        model.embedding_, make(schedule=TEN).fit(two_blobs).embedding_, err_msg="the map changed"
    )
    recorder.told.clear()
    model.continue_fit(3)
    assert recorder.told == ["setup", "begin fit 0", *steps(3), "end fit 0", "teardown"]


@needs_callbacks
def test_each_step_has_an_estimator_as_if_the_fit_had_stopped_there(two_blobs):
    recorder = Recorder()
    model = make(schedule=TEN).set_callbacks(recorder).fit(two_blobs)
    last = recorder.maps[-1]  # of the whole fit
    for step in (1, 7):
        then = recorder.maps[step - 1]
        expected = make(schedule=TEN, callback=lambda s, step=step: s.iteration == step)
        expected.fit(two_blobs)
        np.testing.assert_array_equal(then.embedding_, expected.embedding_)
        np.testing.assert_array_equal(then.trace_, expected.trace_)
        assert then.n_iter_ == step
        np.testing.assert_array_equal(then.transform(two_blobs[:3]), expected.embedding_[:3])
        assert then.continue_fit(2).n_iter_ == step + 2
    assert model.n_iter_ == 10
    np.testing.assert_array_equal(last.embedding_, model.embedding_)


@needs_callbacks
def test_a_callback_can_stop_the_run(two_blobs):
    recorder, seen = Recorder(stop_at=4), []
    model = make(schedule=TEN, callback=seen.append).set_callbacks(recorder).fit(two_blobs)
    assert model.n_iter_ == len(seen) == 5
    assert recorder.told == ["setup", "begin fit 0", *steps(5), "end fit 0", "teardown"]
    recorder = Recorder()
    model = make(schedule=TEN, callback=lambda state: state.iteration == 2)
    model.set_callbacks(recorder).fit(two_blobs)
    assert recorder.told == ["setup", "begin fit 0", *steps(2), "end fit 0", "teardown"]


@needs_callbacks
def test_callbacks_are_torn_down_after_an_error(two_blobs):
    class Failing(Recorder):
        def on_fit_task_begin(self, estimator, context):
            super().on_fit_task_begin(estimator, context)
            if context.task_name == self.stop_at:
                raise OSError("disk full")

    for where, told in (
        ("fit", ["setup", "begin fit 0", "teardown"]),
        ("step", ["setup", "begin fit 0", "begin step 0", "teardown"]),
    ):
        recorder = Failing(where)
        model = make(schedule=TEN).set_callbacks(recorder)
        with pytest.raises(OSError, match=r"^disk full$"):
            model.fit(two_blobs)
        assert recorder.told == told
        assert not any("callback_fit" in name for name in vars(model))


@needs_callbacks
def test_pipelines_and_clones_pass_callbacks_on(two_blobs):
    recorder = Propagated()
    pipeline = make_pipeline(StandardScaler(), make(schedule=TEN)).set_callbacks(recorder)
    pipeline.fit_transform(two_blobs)
    assert [line for line in recorder.told if "step" in line] == steps(10)
    assert recorder.told.count("setup") == recorder.told.count("teardown") == 1
    alone = Recorder()
    clone(make(schedule=TEN).set_callbacks(alone)).fit(two_blobs)
    assert alone.told[2:-2] == steps(10)


@needs_callbacks
def test_the_progress_bar_of_scikit_learn(two_blobs, capfd):
    from sklearn.callback import ProgressBar

    make(schedule=TEN).set_callbacks(ProgressBar()).fit(two_blobs)
    shown = capfd.readouterr().out
    assert "TSNE" in shown
    assert "100%" in shown


def test_earlier_versions_fit_without_callbacks(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "sklearn.callback", raising=False)
    spec = importlib.util.spec_from_file_location("earlier", task_hooks.__file__)
    earlier = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(earlier)
    assert not hasattr(earlier.CallbackSupport, "set_callbacks")
    with earlier.FitTasks(earlier.CallbackSupport(), 10) as tasks:
        assert tasks.watch(None, print, dict) is print


@pytest.mark.slow
def test_callbacks_and_bars_are_not_imported_until_they_are_needed():
    script = """
import sys
import numpy as np
from isosne import TSNE, Phase, Schedule
TSNE(schedule=Schedule((Phase(3),))).fit(np.eye(9))
found = {"sklearn.callback", "rich", "tqdm", "IPython"} & set(sys.modules)
assert not found, found
"""
    subprocess.run([sys.executable, "-c", script], check=True)
