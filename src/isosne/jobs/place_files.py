"""Place the rows of many files on a finished map, in one output file per input file."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isosne._version import __version__
from isosne.errors import ParameterError
from isosne.files.sinks import AXES
from isosne.jobs.job_folder import JobFolder
from isosne.jobs.part_files import PartPlacer
from isosne.jobs.parts import Part, list_parts
from isosne.jobs.placer import Placer


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

    @property
    def is_complete(self) -> bool:
        """Whether all parts are done."""
        return self.n_done == self.n_parts


def place_files(
    model: str | Path,
    source: str | Path,
    output: str | Path,
    *,
    keep: Iterable[str] = (),
    n_jobs: int | None = None,
    callback: Callable[[PlacedFiles], Any] | None = None,
) -> PlacedFiles:
    """Place the rows of all files of a folder on the map of a model; resume if interrupted.

    Parameters
    ----------
    model : path
        Model file, written by ``TSNE.save`` or ``isosne embed --save-model``.
    source : path
        A folder of .parquet, .feather, .arrow, .csv or .npy files, which may be in subfolders, or
        one such file. Names that start with "." or "_" are ignored.
    output : path
        Folder for the results: new, empty, or that of an earlier call with the same model and
        `keep`. Each file of the input gets a result of the same relative name and format.
    keep : list of str, default=()
        Columns to copy from the input, such as an identifier. They keep their types and precede
        the coordinates, which are named x, y and z.
    n_jobs : int or None, default=None
        Number of threads. None uses all cores that are available.
    callback : callable or None, default=None
        Called with a `PlacedFiles` before the first part and after each part.

    Returns
    -------
    PlacedFiles
        How far the job has come. It is not complete if other processes are still placing parts.

    Raises
    ------
    OutputError
        If the output folder contains other files or belongs to a different job, or cannot be
        written.
    DataError
        If a file cannot be read or does not have the columns of the model, or if a file has
        changed since it was placed.

    Notes
    -----
    A result appears under its name when it is complete. If the call is interrupted at any moment,
    the same call places only the parts that are missing. The results are bit-identical to those of
    an uninterrupted call. Several processes may run the same call at the same time, also on several
    machines that share the folders: each part is placed by one of them. Files that were added to
    the input are placed by the next call.

    The subfolder ``_isosne`` of the output holds a record of each part and, in the end,
    ``manifest.json`` with all of them: rows, sizes, hashes and modification times. The memory in
    use does not depend on the number of rows, except that the kept columns of a CSV file are in
    memory.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from isosne import TSNE, place_files
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     TSNE(random_state=0).fit(X).save(folder / "model.isosne")
    ...     (folder / "in").mkdir()
    ...     for k in range(3):
    ...         np.save(folder / "in" / f"part-{k}.npy", X[20 * k : 20 * k + 20])
    ...     done = place_files(folder / "model.isosne", folder / "in", folder / "out")
    ...     np.load(folder / "out" / "part-2.npy").shape
    (20, 2)
    >>> done.n_placed, done.n_rows, done.is_complete
    (3, 60, True)
    """
    source, output = Path(source), Path(output)
    _check_apart(source, output)
    placer = Placer(model, n_jobs=n_jobs)
    kept = _check_keep(keep)
    parts = list_parts(source)
    loaded = placer.load()
    _check_axes(kept, loaded.embedding_.shape[1])
    about = {"version": __version__, "model": placer.sha256, "keep": list(kept)}
    folder = JobFolder(output, about)
    folder.check_present(parts)
    job = _Job(folder, PartPlacer(loaded, kept, about), parts, callback)
    job.run()
    return job.state()


class _Job:
    """The parts of a job, and the records of those that are done."""

    def __init__(
        self,
        folder: JobFolder,
        placer: PartPlacer,
        parts: list[Part],
        callback: Callable[[PlacedFiles], Any] | None,
    ) -> None:
        self._folder, self._placer, self._parts = folder, placer, parts
        self._callback = callback
        self._records: dict[str, dict[str, Any]] = {}
        self._n_placed = self._n_rows = 0

    def state(self) -> PlacedFiles:
        """Return how far the job has come."""
        n_parts, n_done = len(self._parts), len(self._records)
        return PlacedFiles(self._folder.output, n_parts, n_done, self._n_placed, self._n_rows)

    def run(self) -> None:
        """Place all parts that nobody else is placing, and write the manifest if all are done."""
        for part in self._parts:
            self._look(part)
        self._tell()
        is_busy = True
        while is_busy:  # again after each pass: the owner of a part may have ended meanwhile
            is_busy = any(list(map(self._place, self._missing())))
        if not self._missing():
            self._folder.finish([self._records[part.name] for part in self._parts])

    def _missing(self) -> list[Part]:
        return [part for part in self._parts if part.name not in self._records]

    def _look(self, part: Part) -> bool:
        """Note the record of a part that was missing, if it is done now; return whether it is."""
        record = self._folder.record_of(part)
        if record is not None:
            self._records[part.name] = record
            self._n_rows += record["n_rows"]
        return record is not None

    def _place(self, part: Part) -> bool:
        """Place a part if it is neither done nor claimed; return whether this was so."""
        if self._look(part):
            return False
        with self._folder.claimed(part) as claim:
            if claim is None or self._look(part):  # done between the look and the claim
                return False
            result = self._placer.place(part, self._folder.output / part.name, claim.renew)
            self._folder.record(part, result)
        self._look(part)
        self._n_placed += 1
        self._tell()
        return True

    def _tell(self) -> None:
        if self._callback is not None:
            self._callback(self.state())


def _check_apart(source: Path, output: Path) -> None:
    """Raise an error if the output is inside the input, or the other way round."""
    inner, outer = output.resolve(), source.resolve()
    if inner.is_relative_to(outer) or outer.is_relative_to(inner):
        raise ParameterError(
            "output",
            f"be a folder apart from the input, {source}",
            str(output),
            "Choose another folder.",
        )


def _check_keep(keep: Iterable[str]) -> tuple[str, ...]:
    names = (keep,) if isinstance(keep, str) else tuple(keep)
    if isinstance(keep, str) or len(set(names)) < len(names):
        raise ParameterError(
            "keep", "be a list of different column names", keep, "Name each column once."
        )
    return names


def _check_axes(keep: tuple[str, ...], n_components: int) -> None:
    """Raise an error if a kept column has the name of a coordinate."""
    for name in keep:
        if name in AXES[:n_components]:
            raise ParameterError(
                "keep",
                f"name other columns than {', '.join(AXES[:n_components])}, the coordinates",
                name,
                "Rename the column of the input.",
            )
