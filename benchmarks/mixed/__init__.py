"""Maps of tables with mixed columns and missing values, beside imputing and one-hot encoding.

* ``tables``: real tables with mixed columns, complete and with a third of the cells removed
* ``damaged``: numeric sets of the paper with cells removed, and with columns binned
* ``speed``: 100,000 rows, mixed against numeric (``--speed``, alone)

Figures are written to ``benchmarks/results/mixed-*.json``.
"""

import json
from types import ModuleType
from typing import Any

from benchmarks.harness import RESULTS, commit, machine
from benchmarks.mixed import damaged, speed, tables

N_SEEDS = 3


def run(quick: bool, speed_only: bool = False) -> str:
    """Return the tables of the comparison; or of the times, if only these are wanted."""
    if speed_only:
        return keep(speed, speed.measure(20_000 if quick else 100_000))
    seeds = range(1 if quick else N_SEEDS)
    return "\n\n".join(keep(part, part.measure(seeds, quick)) for part in (tables, damaged))


def keep(part: ModuleType, found: Any) -> str:
    """Write what a part has found to a file, and return it as a table."""
    RESULTS.mkdir(exist_ok=True)
    record = {"commit": commit(), "machine": machine(), "found": found}
    name = part.__name__.rpartition(".")[2]
    (RESULTS / f"mixed-{name}.json").write_text(json.dumps(record, indent=1))
    return str(part.show(found))
