"""Maps of tables with mixed columns and missing values, beside imputing and one-hot encoding.

* ``tables``: real tables with mixed columns, complete and with a third of the cells removed
* ``damaged``: numeric sets of the paper with cells removed, and with columns binned
* ``speed``: 100,000 rows, mixed against numeric (``--speed``, alone)

Figures are written to ``benchmarks/results/mixed.json``, or ``mixed-speed.json``.
"""

import json
from typing import Any

from benchmarks.harness import RESULTS, commit, machine
from benchmarks.mixed import damaged, speed, tables

N_SEEDS = 3


def run(quick: bool, speed_only: bool = False) -> str:
    """Return the tables of the comparison; or of the times, if only these are wanted."""
    if speed_only:
        return _keep("mixed-speed", speed.measure(20_000 if quick else 100_000), speed.show)
    seeds = range(1 if quick else N_SEEDS)
    found = {"tables": tables.measure(seeds, quick), "damaged": damaged.measure(seeds, quick)}
    return _keep("mixed", found, _show)


def _show(found: dict[str, Any]) -> str:
    return tables.show(found["tables"]) + "\n\n" + damaged.show(found["damaged"])


def _keep(name: str, found: Any, show: Any) -> str:
    RESULTS.mkdir(exist_ok=True)
    record = {"commit": commit(), "machine": machine(), "found": found}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1))
    return str(show(found))
