"""The paper's table "Evaluation results": every set, every way to map it, every measure.

The paper picks the best value of the grid for each measure by itself, with labels for DB and CH.
Beside that stands the result of one choice for each map, by AUC_RNX, which needs no labels.
"""

from isosne.datasets import names, record
from isosne.errors import DataError
from isosne.paper.outputs import write_page, write_values
from isosne.paper.results_tables import Missing, page_parts, plain_values
from isosne.paper.settings import QUICK_SETS, Settings
from isosne.paper.sweeps import MeasuredSet, measure_set

TITLE = 'Evaluation results (the table of section "Evaluation results")'


def reproduce(settings: Settings) -> None:
    """Write results.md and results.json, anew after each set; sweeps go to a folder of their own.

    Sets come in the order of their size, so that a run that is stopped leaves most of them done.
    """
    measured: list[MeasuredSet] = []
    missing: list[Missing] = []
    for name in chosen_sets(settings):
        try:
            measured.append(measure_set(name, settings))
        except DataError as error:
            missing.append(Missing(name, str(error)))
            settings.say(f"{name}: left out. {error}")
            continue
        write_page(settings, "results", TITLE, page_parts(measured, missing))
    if not measured:
        raise DataError(
            f"At least one data set must be at hand; got none of {len(missing)}. "
            f"{missing[0].reason}"
        )
    write_page(settings, "results", TITLE, page_parts(measured, missing))
    write_values(settings, "results", plain_values(measured, missing))


def chosen_sets(settings: Settings) -> list[str]:
    """Return the names of the sets, small ones first."""
    chosen = settings.sets or (QUICK_SETS if settings.quick else tuple(names()))
    return sorted(dict.fromkeys(chosen), key=lambda name: record(name).n_points)
