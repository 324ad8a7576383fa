"""The paper's tables and figures by name, and how each is made."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import NamedTuple

from isosne._files import check_writable, writing_to
from isosne.datasets.catalog import check_name
from isosne.errors import ParameterError
from isosne.paper import (
    coil20,
    growth,
    origin,
    other_kernels,
    partitions,
    results,
    runtime,
    simulations,
    speedups,
)
from isosne.paper.outputs import is_finished
from isosne.paper.settings import Settings


class Result(NamedTuple):
    """A table or figure: where it is in the paper, what it shows, and what makes it."""

    where: str
    shows: str
    make: Callable[[Settings], None]


def _simulation(name: str) -> Callable[[Settings], None]:
    return lambda settings: simulations.reproduce(name, settings)


RESULTS = {
    "results": Result(
        "section 5.2", "evaluation results of 21 sets, both kernels", results.reproduce
    ),
    "table-1": Result("Table 1", "five clusters that meet", _simulation("table-1")),
    "table-2": Result("Table 2", "two clusters of equal density", _simulation("table-2")),
    "appendix-a": Result("Appendix A", "clusters that share attributes", _simulation("appendix-a")),
    "similarity": Result("section 3.1", "similarities to the origin", origin.reproduce),
    "cells": Result("section 4.2", "cells of two densities", partitions.reproduce_cells),
    "contours": Result("Appendix B", "contours of the kernel", partitions.reproduce_contours),
    "coil20": Result("section 5.2", "COIL20 in 2-D and 3-D", coil20.reproduce),
    "runtime": Result("section 5.3", "run time, both kernels", runtime.reproduce),
    "growth": Result("Appendix C", "AUC_RNX as the dimension grows", growth.reproduce),
    "kernels": Result("Appendix D", "adaptive Gaussian and kNN kernels", other_kernels.reproduce),
    "speedups": Result("App. E and F", "mesh forces, opt-SNE's schedule", speedups.reproduce),
}
ALL = "all"


def describe() -> str:
    """Return a line for each name."""
    rows = [(name, result.where, result.shows) for name, result in RESULTS.items()]
    rows.append((ALL, "", "everything above; what is finished is left as it is"))
    return "\n".join(f"{name:<12}  {where:<12}  {shows}" for name, where, shows in rows)


def reproduce(name: str, settings: Settings) -> None:
    """Make a table or figure, or all of them, into the folder of the settings."""
    if name == ALL:
        _make_all(settings)
        return
    if name not in RESULTS:
        near = get_close_matches(name.lower(), RESULTS, n=1, cutoff=0.6)
        advice = f"Did you mean {near[0]!r}?" if near else "isosne paper --list shows the names."
        raise ParameterError(
            f"name must be {ALL!r} or one of {', '.join(RESULTS)}; got {name!r}. {advice}"
        )
    for chosen in settings.sets:
        check_name(chosen, folder=settings.data)
    with writing_to(settings.out):
        settings.out.mkdir(parents=True, exist_ok=True)
    check_writable(settings.out / f"{name}.md", force=True)
    RESULTS[name].make(settings)


def _make_all(settings: Settings) -> None:
    for name in RESULTS:
        if is_finished(settings, name):
            settings.say(f"{name}: finished before")
        else:
            settings.say(f"{name}: begins")
            reproduce(name, settings)
