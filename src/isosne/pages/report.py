"""A report: two maps, a verdict, R_NX curves, measures with explanations, and the settings."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isosne._checks import check_suffix
from isosne._files import whole_file
from isosne._random import RandomState
from isosne.pages.choices import offer_choices, paint_trust
from isosne.pages.curves import draw_curves
from isosne.pages.html import render_template
from isosne.pages.page import SUFFIXES, label_columns
from isosne.pages.scene import Scene
from isosne.pages.table import NamedMap
from isosne.plots.paint import Classes, spread_colors
from isosne.quality.procrustes import find_similarity
from isosne.studies.judged_maps import JudgedMap, Study, compare_maps, study
from isosne.studies.point_columns import Column, as_columns, paint_labels
from isosne.studies.readings import (
    read_basis,
    read_first,
    read_measures,
    read_seconds,
    read_trust,
    read_verdict,
    trust_by_class,
)
from isosne.tsne.estimator import TSNE


def write_report(
    path: str | os.PathLike[str],
    X: Any,
    labels: Any = None,
    *,
    columns: Any = None,
    model: TSNE | None = None,
    title: str | None = None,
    origin: Mapping[str, str] | None = None,
    n_seeds: int | None = None,
    random_state: RandomState = 0,
    findings: Mapping[str, str] | None = None,
    force: bool = False,
) -> Path:
    """Compare the maps of two kernels and write a report as a single HTML file.

    Parameters
    ----------
    path : str or path
        Output file; ends in .html.
    X, labels, columns, model, title, origin, n_seeds, random_state, findings
        See `isosne.studies.study`.
    force : bool, default=False
        Whether to overwrite an existing file.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    The file needs no network, fits a phone, and can be printed. Not in the paper.

    Each kernel is mapped with several seeds. The page shows the first map of each kernel, and the
    means of the measures with their standard errors. Differences that are not significant
    (Welch's t-test, 5 % level) are ties.

    Cost: that of `isosne.studies.study`, ``2 * n_seeds`` fits. The output file is checked before
    anything is computed.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from isosne.pages import write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X, y = load_iris(return_X_y=True)
    ...     path = write_report(f"{folder}/iris.html", X, y, title="Iris", n_seeds=2)
    ...     "<title>Iris</title>" in path.read_text()
    True
    """
    made = partial(
        study,
        X,
        labels,
        columns=columns,
        model=model,
        title=title,
        origin=origin,
        n_seeds=n_seeds,
        random_state=random_state,
        findings=findings,
    )
    return _write(path, made, force=force)


def write_comparison(
    path: str | os.PathLike[str],
    X: Any,
    maps: Mapping[str, Any],
    labels: Any = None,
    *,
    columns: Any = None,
    metric: str = "euclidean",
    p: float = 2.0,
    title: str | None = None,
    origin: Mapping[str, str] | None = None,
    random_state: RandomState = 0,
    force: bool = False,
) -> Path:
    """Compare existing maps, of any program, and write a report as a single HTML file.

    Parameters
    ----------
    path : str or path
        Output file; ends in .html.
    X, maps, labels, columns, metric, p, title, origin, random_state
        See `isosne.studies.compare_maps`.
    force : bool, default=False
        Whether to overwrite an existing file.

    Returns
    -------
    Path
        The output file.

    Notes
    -----
    The page is that of `write_report`, for any number of maps. Not in the paper. Cost: that of
    `isosne.studies.compare_maps`.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from isosne.pages import write_comparison
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X, y = load_iris(return_X_y=True)
    ...     path = write_comparison(f"{folder}/iris.html", X, {"first columns": X[:, :2]}, y)
    ...     "first columns" in path.read_text()
    True
    """
    made = partial(
        compare_maps,
        X,
        maps,
        labels,
        columns=columns,
        metric=metric,
        p=p,
        title=title,
        origin=origin,
        random_state=random_state,
    )
    return _write(path, made, force=force)


def _write(path: str | os.PathLike[str], made: Callable[[], Study], *, force: bool) -> Path:
    """Write the page of a study, which is made once the output file is known to be writable."""
    target = check_suffix(path, SUFFIXES)
    with whole_file(target, force=force) as file:
        file.write(render(made()).encode())
    return target


def render(found: Study) -> str:
    """Render a study as a self-contained HTML document.

    Parameters
    ----------
    found : Study
        The result of `isosne.studies.study`, or a `Study` of maps measured by
        `isosne.studies.judge`.

    Returns
    -------
    str
        The HTML document.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.pages import render
    >>> from isosne.studies import compare_maps
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> render(compare_maps(X, {"three times as large": 3 * X}))[:15]
    '<!DOCTYPE html>'
    """
    maps = found.maps
    n = len(maps[0].embedding)
    labels = spread_colors(
        paint_labels(found.labels, n, kind="labels"), np.asarray(maps[0].embedding, np.float64)
    )
    classes = labels if isinstance(labels, Classes) else None
    trusts = [paint for judged in maps for paint in paint_trust(judged.trust, n)]
    shown = as_columns(found.columns, n)
    columns = [
        *label_columns(labels),
        *(
            Column(f"trust, {judged.title}", paint.numbers)
            for judged, paint in zip(maps, trusts, strict=True)
        ),
        *shown,
    ]
    scene = Scene(
        _turn(maps),
        columns,
        offer_choices(labels, trusts, shown, len(maps)),
        is_report=True,
    )
    readings = read_measures(maps, classes)
    curves = draw_curves(maps, readings[0].values)
    scene.extra.append(curves.figure)
    return render_template(
        "report.html",
        scene,
        title=found.title,
        found=found,
        label_name=labels.title if labels else "",
        measured=maps[0].report,
        verdict=read_verdict(maps, readings),
        summary=read_first(maps) if len(maps) > 1 else "",
        basis=read_basis(maps),
        n_seeds=len(maps[0].scores),
        readings=readings,
        trust_readings=[read_trust(judged) for judged in maps],
        class_trust=trust_by_class(maps, classes) if classes else [],
        n_classes=classes.n_classes if classes else 0,
        curves=curves,
        read_seconds=read_seconds,
    )


def _turn(maps: Sequence[JudgedMap]) -> list[NamedMap]:
    """Return the maps as they are drawn: all but the first turned and mirrored onto the first."""
    first = np.asarray(maps[0].embedding)
    drawn = [NamedMap(maps[0].title, first)]
    for judged in maps[1:]:
        Y = np.asarray(judged.embedding)
        if Y.shape == first.shape and Y.shape[1] > 1:
            Y = Y @ find_similarity(Y, first).rotation
        drawn.append(NamedMap(judged.title, Y))
    return drawn
