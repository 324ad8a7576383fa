"""The label test: how much of the separation of classes on a map is the labels' own doing.

A map that is guided by labels separates the classes, even those of random labels. What it says
about the data is how well it places rows whose labels it has not seen.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from isosne._checks import check_count
from isosne._html import pairs_table
from isosne._random import RandomState, as_generator
from isosne._types import Array
from isosne.errors import ParameterError
from isosne.kernels.labels import as_labels, unknown_labels
from isosne.tsne.estimator import TSNE


class LabelTest(NamedTuple):
    """Scores of labels on a map: 10-NN accuracy of classes, R^2 of numbers.

    Attributes
    ----------
    fitted : float
        With all labels known to the map: how separate the classes look.
    permuted : float
        The same with randomly permuted labels: what the labels alone do.
    held_out : float
        Of rows whose labels the map has not seen: how separate the classes are.
    unguided : float
        Of the same rows on a map without labels.

    Examples
    --------
    >>> from isosne.structure import LabelTest
    >>> print(LabelTest(fitted=0.98, permuted=0.4, held_out=0.95, unguided=0.93))
    labels known to the map 0.980 (permuted 0.400), held out 0.950, map without labels 0.930
    """

    fitted: float
    permuted: float
    held_out: float
    unguided: float

    def __str__(self) -> str:
        return (
            f"labels known to the map {self.fitted:.3f} (permuted {self.permuted:.3f}), "
            f"held out {self.held_out:.3f}, map without labels {self.unguided:.3f}"
        )

    def _repr_html_(self) -> str:
        return pairs_table((name, f"{score:.3f}") for name, score in self._asdict().items())


def label_test(
    model: TSNE, X: Any, y: Any, *, n_folds: int = 5, random_state: RandomState = 0
) -> LabelTest:
    """Measure what labels do to a map: with all of them, permuted, held out, and without labels.

    Parameters
    ----------
    model : TSNE
        A map whose kernel has ``label_weight``; it is not changed, and need not be fitted.
    X, y
        Rows and labels, as for ``model.fit(X, y)``.
    n_folds : int, default=5
        Number of maps with held-out labels; each holds out the labels of one part of the rows.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the folds and of the permutation.

    Returns
    -------
    LabelTest
        Four scores; ``held_out`` is the one that says something about the data.

    Notes
    -----
    A row is scored by its 10 nearest rows on the map that have a label. Costs n_folds + 3 fits. A
    map is no classifier: held-out rows are mapped together with the others, without their labels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from isosne import OwnerKernel, TSNE
    >>> from isosne.structure import label_test
    >>> X, y = load_wine(return_X_y=True)
    >>> model = TSNE(OwnerKernel(label_weight=0.3), random_state=0)
    >>> scores = label_test(model, X, y, n_folds=2)
    >>> scores.fitted > scores.held_out
    True
    """
    if "label_weight" not in getattr(model.kernel, "get_params", dict)():
        hint = "Pass for example TSNE(OwnerKernel(label_weight=0.3))."
        raise ParameterError("model", "have a kernel with label_weight", model.kernel, hint)
    labels = as_labels(y, len(y))
    known = np.flatnonzero(labels >= 0 if labels.dtype.kind == "i" else ~np.isnan(labels))
    check_count(n_folds, "n_folds", low=2, high=len(known), hint="5 is usual.")
    rng = as_generator(random_state)
    permuted = labels.copy()
    permuted[known] = rng.permutation(labels[known])
    free = clone(model).set_params(kernel__label_weight=0)
    folds = list(KFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31))).split(known))
    unguided = free.fit_transform(X)
    hidden = []
    for _, part in folds:
        seen = labels.copy()
        seen[known[part]] = unknown_labels(labels, len(part))
        hidden.append(clone(model).fit_transform(X, seen))
    return LabelTest(
        _score([clone(model).fit_transform(X, labels)] * n_folds, labels, known, folds),
        _score([clone(model).fit_transform(X, permuted)] * n_folds, permuted, known, folds),
        _score(hidden, labels, known, folds),
        _score([unguided] * n_folds, labels, known, folds),
    )


def _score(
    maps: list[NDArray[np.float32]], labels: Array, known: Array, folds: list[tuple[Array, Array]]
) -> float:
    """Return the score of each part of the rows by the labels of the others, over all parts."""
    kind = KNeighborsClassifier if labels.dtype.kind == "i" else KNeighborsRegressor
    scores = []
    for Y, (others, part) in zip(maps, folds, strict=True):
        nearest = kind(min(10, len(others))).fit(Y[known[others]], labels[known[others]])
        scores.append(nearest.score(Y[known[part]], labels[known[part]]))
    return float(np.mean(scores))
