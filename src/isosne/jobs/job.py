"""Run a job: do each step for every part that nobody else is working on, then finish each step."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from isosne.jobs.job_folder import JobFolder
from isosne.jobs.parts import Part, Result

Renew = Callable[[], None]
"""Called from time to time, to tell other hosts that the work goes on."""
TOTALS = ("n_rows", "n_dropped", "n_outside")
"""Numbers of records that are added up."""


@dataclass(frozen=True)
class PlacedFiles:
    """How far a job has come.

    Parameters
    ----------
    output : Path
        The output folder.
    n_parts : int
        Number of parts of the input.
    n_done : int
        Number of parts that are done, by any process.
    n_placed : int
        Number of parts that this call has placed.
    n_rows : int
        Number of rows in the parts that are done.
    n_dropped : int
        Number of rows with missing values that were left out of these parts.
    n_outside : int
        Number of rows outside of the square that tiles cover; 0 without tiles.
    quality : dict or None
        Quality of the whole, if it was asked for and the job is complete.

    Examples
    --------
    >>> from pathlib import Path
    >>> from isosne import PlacedFiles
    >>> PlacedFiles(Path("placed"), n_parts=8, n_done=8, n_placed=3, n_rows=80_000).n_placed
    3
    """

    output: Path
    n_parts: int
    n_done: int
    n_placed: int
    n_rows: int
    n_dropped: int = 0
    n_outside: int = 0
    quality: dict[str, Any] | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all parts are done."""
        return self.n_done == self.n_parts


class Step(Protocol):
    """Something that is done for each part, with a record of each, and in the end for all."""

    folder: JobFolder

    def make(self, part: Part, renew: Renew) -> Result:
        """Do it for a part."""
        ...

    def note(self, record: dict[str, Any]) -> None:
        """Take note of a part for which it is done."""
        ...

    def finish(self, parts: list[Part], records: list[dict[str, Any]]) -> None:
        """Do what remains once it is done for all parts."""
        ...


class Job:
    """The parts of a job, and the records of those that are done, for each step."""

    def __init__(
        self,
        steps: Sequence[Step],
        parts: list[Part],
        callback: Callable[[PlacedFiles], Any] | None,
    ) -> None:
        self._steps, self._parts, self._callback = steps, parts, callback
        self._records: list[dict[str, dict[str, Any]]] = [{} for _ in steps]
        self._totals: Counter[str] = Counter()
        self._n_made = 0

    def state(self) -> PlacedFiles:
        """Return how far the job has come."""
        output, n_parts = self._steps[0].folder.output, len(self._parts)
        n_rows, n_dropped, n_outside = (self._totals[name] for name in TOTALS)
        n_done, n_made = len(self._records[-1]), self._n_made
        return PlacedFiles(output, n_parts, n_done, n_made, n_rows, n_dropped, n_outside)

    def run(self) -> None:
        """Do all parts that nobody else is doing, and finish if all are done."""
        for part in self._parts:
            self._look(part)
        self._tell()
        is_busy = True
        while is_busy:  # again after each pass: the owner of a part may have ended meanwhile
            is_busy = any(list(map(self._make, self._missing())))
        if not self._missing():
            for step, records in zip(self._steps, self._records, strict=True):
                step.finish(self._parts, [records[part.name] for part in self._parts])

    def _missing(self) -> list[Part]:
        return [part for part in self._parts if not self._is_done(part)]

    def _is_done(self, part: Part) -> bool:
        return part.name in self._records[-1]  # the steps of a part are done in order

    def _look(self, part: Part) -> bool:
        """Note the records of a part that was missing; return whether it is done now."""
        for step, records in zip(self._steps, self._records, strict=True):
            found = step.folder.record_of(part)
            if found is None:
                return False
            records[part.name] = found
            step.note(found)
        whole = {k: v for records in self._records for k, v in records[part.name].items()}
        self._totals.update({name: whole.get(name, 0) for name in TOTALS})
        return True

    def _make(self, part: Part) -> bool:
        """Do a part if it is neither done nor claimed; return whether this was so."""
        if self._look(part):
            return False
        with self._steps[0].folder.claimed(part) as claim:
            if claim is None or self._look(part):  # done between the look and the claim
                return False
            for step, records in zip(self._steps, self._records, strict=True):
                if part.name not in records:
                    step.folder.record(part, step.make(part, claim.renew))
        self._look(part)
        self._n_made += 1
        self._tell()
        return True

    def _tell(self) -> None:
        if self._callback is not None:
            self._callback(self.state())
