"""What the functions of plots refuse, and the whole sentences."""

import sys
from importlib import import_module

import numpy as np
import pytest
from matplotlib.figure import Figure

from isosne import GaussianKernel, IsolationKernel
from isosne.errors import DataError, MissingPackageError, OutputError, ParameterError
from isosne.plots import (
    animate,
    plot_cells,
    plot_contours,
    plot_map,
    plot_maps,
    plot_rnx,
)
from isosne.plots.paint import as_paint, paint_maps
from isosne.quality import Trust
from tests.conftest import refuses

Y = np.random.default_rng(0).normal(size=(6, 2))
AB = ["a", "b"] * 3
TRUST = Trust(np.array([5]), *np.full((4, 1), 0.5), np.eye(6, 2))
X = np.random.default_rng(0).random((60, 2))
CASES = [
    pytest.param(
        lambda: plot_map(np.ones((5, 4))),
        "embedding must be a dense array with 1 to 3 columns; got shape (5, 4). "
        "Pass the embedding, such as TSNE().fit(X).embedding_, not the data.",
    ),
    pytest.param(
        lambda: plot_map(Y, mark=[0, 6]),
        "mark must be an integer from 0 to 5; got mark=6. "
        "Pass a row index, or a list of row indices.",
    ),
    pytest.param(
        lambda: plot_map(Y, point_size=0),
        "point_size must be a number from 0.01 up; got point_size=0. "
        "Use point_size='auto' to choose it by the number of points.",
    ),
    pytest.param(
        lambda: plot_map(np.ones((5, 3)), ax=Figure().add_subplot()),
        "ax must be 3-D Axes for a map with 3 column(s), not Axes. "
        "Pass figure.add_subplot(projection='3d'), or ax=None for a new figure.",
    ),
    pytest.param(
        lambda: plot_map(Y, style="poster"),
        "style must be one of screen, paper, slides, dark; got style='poster'. "
        "Use style='screen' for the default.",
    ),
    pytest.param(
        lambda: plot_map(np.ones((6, 3)), AB, annotate=True),
        "annotate must be left out for a map with 3 column(s). Use it with two-dimensional maps.",
    ),
    pytest.param(
        lambda: plot_map(Y, annotate=True),
        "annotate must be False, True for the classes that color the points, or an array with a "
        "label for each of the 6 points; got annotate=True. Pass the labels, as in annotate=y.",
    ),
    pytest.param(
        lambda: plot_maps({"a": Y, "b": np.ones((5, 3))}),
        "maps must all have the same number of columns, not 2 and 3. "
        "Draw maps of different dimensions in separate figures.",
    ),
    pytest.param(
        lambda: plot_maps({"a": Y}, columns=0),
        "columns must be an integer from 1 up; got columns=0. Leave it out to choose it.",
    ),
    pytest.param(
        lambda: as_paint(AB, 6, kind="number"),
        "kind must be one of auto, labels, values, trust; got kind='number'. "
        "Use kind='auto' to choose it by the type of color.",
    ),
    pytest.param(
        lambda: as_paint([1.0, np.nan], 2),
        "color must be finite; got 1 NaN or infinite value(s). Drop or impute these points.",
    ),
    pytest.param(
        lambda: as_paint(np.array(["a", 1], object), 2),
        "color must be all text or all numbers; got a mixture of types. "
        "Convert it with np.asarray(color, dtype=str).",
    ),
    pytest.param(
        lambda: as_paint(AB, 6, kind="values"),
        "color must be numeric; got dtype <U1. Pass numbers, or kind='labels'.",
    ),
    pytest.param(
        lambda: as_paint([0.0, 2.0], 2, kind="trust"),
        "Trust must be between 0 and 1; got values from 0 to 2. "
        "Pass the result of isosne.quality.compare(...).trust(), or kind='values'.",
    ),
    pytest.param(
        lambda: as_paint(TRUST, 2),
        "Trust must belong to the map; got that of 6 points for a map of 2 points. "
        "Pass the result of isosne.quality.compare(...).trust() for this map.",
    ),
    pytest.param(
        lambda: as_paint([0, 1], 2, names=["zero"]),
        "names must have a name for every label; there is none for 1. "
        "Pass a mapping from labels to names, or a sequence for labels 0, 1, ...",
    ),
    pytest.param(
        lambda: as_paint([f"c{i}" for i in range(121)], 121),
        "color must have at most 120 classes; got 121. "
        "Merge rare classes, or pass numbers with kind='values'.",
    ),
    pytest.param(
        lambda: paint_maps({"left": [1, 2]}, {"left": 2, "right": 2}),
        "color must have an entry for every map; there is none for 'right'. "
        "Pass one column for all maps, or a mapping from all titles to columns.",
    ),
    pytest.param(
        lambda: paint_maps({"left": [1, 2], "right": TRUST}, {"left": 2, "right": 6}),
        "color must be Trust for all maps or for none. Draw these maps in two figures.",
    ),
    pytest.param(
        lambda: plot_rnx({}),
        "curves must be a mapping with at least one line; got curves={}. "
        "Pass a dict from names to pairs (x, y).",
    ),
    pytest.param(
        lambda: plot_contours(GaussianKernel(2).fit(np.eye(5)), (0, 0)),
        "kernel must be fitted on dense data with two columns; got 5 column(s) with "
        "metric='euclidean'. Fit the kernel on two columns.",
    ),
    pytest.param(
        lambda: plot_cells(IsolationKernel(4, n_partitions="exact").fit(X)),
        "kernel must be an IsolationKernel with sampled Voronoi cells and Euclidean metric; "
        "got kernel=IsolationKernel(n_partitions='exact', psi=4). "
        "Fit IsolationKernel with n_partitions=200.",
    ),
    pytest.param(
        lambda: plot_cells(IsolationKernel(4, n_partitions=3).fit(X), 3),
        "partition must be an integer from 0 to 2; got partition=3. "
        "The kernel has 3 partitionings.",
    ),
    pytest.param(
        lambda: animate([(0, Y), (1, Y[:5])], "run.gif"),
        "snapshots must contain at least one map, all of the same shape; "
        "got shapes (5, 2) and (6, 2). Collect copies of the map in a callback of TSNE.",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), CASES)
def test_what_must_hold_what_came_and_what_to_do(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refuses((DataError, ParameterError, OutputError), sentence):
        call()
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_one_sentence_says_so(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("isosne.plots")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with refuses(
        MissingPackageError,
        "isosne.plots.plot_map needs the package matplotlib, which is not installed. "
        "Install it with: pip install 'isosne[plot]'",
    ):
        _ = import_module("isosne.plots").plot_map
