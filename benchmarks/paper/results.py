"""The paper's table "Evaluation results": all data sets, methods and measures.

The paper selects the best parameter separately for each measure, using labels for DB and CH. We
add the results of a single selection by AUC_RNX, which needs no labels.
"""

from benchmarks.paper.artifacts import write_json, write_markdown
from benchmarks.paper.data import names
from benchmarks.paper.evaluation import MeasuredSet, measure_set
from benchmarks.paper.records import RECORDS
from benchmarks.paper.results_tables import Missing, page_parts, plain_values
from benchmarks.paper.settings import QUICK_SETS, Settings
from isosne.errors import DataError

TITLE = 'Evaluation results (the table of section "Evaluation results")'


def reproduce(settings: Settings) -> None:
    """Write results.md, updated after each data set, results.json, and a folder of sweeps.

    Data sets are processed by size, so that an interrupted run has finished most of them.
    """
    measured: list[MeasuredSet] = []
    missing: list[Missing] = []
    for name in chosen_sets(settings):
        try:
            measured.append(measure_set(name, settings))
        except DataError as error:
            missing.append(Missing(name, str(error)))
            settings.report(f"{name}: skipped. {error}")
            continue
        write_markdown(settings, "results", TITLE, page_parts(measured, missing))
    if not measured:
        raise DataError(
            f"At least one data set must be available; found none of {len(missing)}. "
            f"{missing[0].reason}"
        )
    write_markdown(settings, "results", TITLE, page_parts(measured, missing))
    write_json(settings, "results", plain_values(measured, missing))


def chosen_sets(settings: Settings) -> list[str]:
    """Return the names of the data sets, in the order of their size."""
    chosen = settings.sets or (QUICK_SETS if settings.quick else tuple(names()))
    return sorted(dict.fromkeys(chosen), key=lambda name: RECORDS[name].sizes[0])
