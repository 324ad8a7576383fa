"""Registry of the paper's tables and figures: names, descriptions, and functions."""

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.paper import (
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
from benchmarks.paper.artifacts import is_finished
from benchmarks.paper.records import RECORDS
from benchmarks.paper.settings import Settings
from isosne._files import check_writable, writing_to
from isosne.errors import ParameterError, suggest


class Result(NamedTuple):
    """A table or figure: its location in the paper, what it shows, and how to reproduce it."""

    where: str
    shows: str
    make: Callable[[Settings], None]


def _simulation(name: str) -> Callable[[Settings], None]:
    return lambda settings: simulations.reproduce(name, settings)


RESULTS = {
    "results": Result(
        "section 5.2", "evaluation of both kernels on 21 data sets", results.reproduce
    ),
    "table-1": Result("Table 1", "five clusters, three share the origin", _simulation("table-1")),
    "table-2": Result("Table 2", "two clusters of equal density", _simulation("table-2")),
    "appendix-a": Result(
        "Appendix A", "clusters with shared attributes", _simulation("appendix-a")
    ),
    "similarity": Result("section 3.1", "similarities to the origin", origin.reproduce),
    "cells": Result("section 4.2", "cells for two densities", partitions.reproduce_cells),
    "contours": Result("Appendix B", "contours of the kernel", partitions.reproduce_contours),
    "coil20": Result("section 5.2", "COIL20 in 2-D and 3-D", coil20.reproduce),
    "runtime": Result("section 5.3", "run time of both kernels", runtime.reproduce),
    "growth": Result("Appendix C", "AUC_RNX by dimension", growth.reproduce),
    "kernels": Result("Appendix D", "adaptive Gaussian and kNN kernels", other_kernels.reproduce),
    "speedups": Result("App. E and F", "mesh forces, opt-SNE schedule", speedups.reproduce),
}
ALL = "all"


def describe() -> str:
    """Return one line for each name."""
    rows = [(name, result.where, result.shows) for name, result in RESULTS.items()]
    rows.append((ALL, "", "all of the above; skips finished results"))
    return "\n".join(f"{name:<12}  {where:<12}  {shows}" for name, where, shows in rows)


def reproduce(name: str, settings: Settings) -> None:
    """Reproduce a table or figure, or all of them, in the output folder of the settings."""
    if name == ALL:
        _reproduce_all(settings)
        return
    if name not in RESULTS:
        hint = suggest(name, RESULTS, "Choose one of these names.")
        raise ParameterError("name", f"be {ALL!r} or one of {', '.join(RESULTS)}", name, hint)
    for chosen in settings.sets:
        if chosen not in RECORDS:
            hint = suggest(
                chosen, RECORDS, "List the names with python -m benchmarks.paper --list-sets."
            )
            raise ParameterError("sets", "be data sets of the paper", chosen, hint)
    with writing_to(settings.out):
        settings.out.mkdir(parents=True, exist_ok=True)
    check_writable(settings.out / f"{name}.md", force=True)
    RESULTS[name].make(settings)


def _reproduce_all(settings: Settings) -> None:
    for name in RESULTS:
        if is_finished(settings, name):
            settings.report(f"{name}: already finished, skipped")
        else:
            settings.report(f"{name}: started")
            reproduce(name, settings)
