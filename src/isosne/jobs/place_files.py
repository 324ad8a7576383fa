"""Place the rows of many files on a finished map, in one output file per input file."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from isosne._version import __version__
from isosne.errors import ParameterError
from isosne.files.sinks import AXES
from isosne.jobs.job import Job, PlacedFiles, Renew, Step
from isosne.jobs.job_folder import JobFolder
from isosne.jobs.part_files import PartPlacer
from isosne.jobs.part_rows import PartReader
from isosne.jobs.parts import Part, Result, list_parts
from isosne.jobs.placer import Placer
from isosne.jobs.tile_job import Tiles, TileStep, as_tiles
from isosne.jobs.whole_quality import PlacedPart, measure_whole
from isosne.sources import Rows
from isosne.sources.complete_rows import check_missing
from isosne.tsne.estimator import TSNE

WORDS = {
    "version": "the version of isosne",
    "model": "the model",
    "keep": "the list of columns to keep",
    "missing": "the treatment of missing values",
}
"""What must not change between the runs of a job, in words."""


def place_files(
    model: str | Path,
    source: str | Path | Mapping[str, Rows],
    output: str | Path,
    *,
    keep: Iterable[str] = (),
    missing: str = "refuse",
    tiles: Tiles | str | Path | None = None,
    quality: bool = False,
    n_jobs: int | None = None,
    callback: Callable[[PlacedFiles], Any] | None = None,
) -> PlacedFiles:
    """Place the rows of all files of a folder on the map of a model; resume if interrupted.

    Parameters
    ----------
    model : path
        Model file, written by ``TSNE.save`` or ``isosne embed --save-model``.
    source : path, or dict from str to Rows
        A folder of .parquet, .feather, .arrow, .csv or .npy files, which may be in subfolders, or
        one such file. Names that start with "." or "_" are ignored. Or results of
        `isosne.sources.open_rows` or `isosne.sources.MixtureRows`, by the names of output files.
    output : path
        Folder for the results: new, empty, or that of an earlier call with the same model and
        `keep`. Each file of the input gets a result of the same relative name and format.
    keep : list of str, default=()
        Columns to copy from the input, such as an identifier. They keep their types and precede
        the coordinates, which are named x, y and z.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing or infinite values: raise an error, or leave them
        out of the result. The manifest lists the rows that were left out.
    tiles : Tiles, path or None, default=None
        Folder for a map as tiles, which shows any number of rows; `Tiles` has more parameters.
    quality : bool, default=False
        Whether to measure the quality of the whole on a sample of the rows, when all are placed.
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
    origin = source if isinstance(source, Mapping) else Path(source)
    output, kept = Path(output), _check_keep(keep)
    wanted = None if tiles is None else as_tiles(tiles)
    check_missing(missing)
    _check_apart(origin, output, wanted)
    placer = Placer(model, n_jobs=n_jobs)
    parts = list_parts(origin)
    loaded = placer.load()
    _check_axes(kept, loaded.embedding_.shape[1])
    about = {"version": __version__, "model": placer.sha256, "keep": list(kept), "missing": missing}
    reader = _make_reader(loaded, kept, wanted, missing)
    placing = PlaceStep(PartPlacer(loaded, reader, kept, about), output, quality=quality)
    steps: list[Step] = [placing]
    if wanted is not None:
        steps.append(TileStep(wanted, loaded, reader, about, placing.folder))
    for step in steps:
        step.folder.check_present(parts)
    job = Job(steps, parts, callback)
    job.run()
    return replace(job.state(), quality=placing.quality)


class PlaceStep:
    """Places the rows of each part, and in the end writes the manifest, on request with quality."""

    def __init__(self, placer: PartPlacer, output: Path, *, quality: bool) -> None:
        self.folder = JobFolder(output, placer.about, WORDS)
        self.quality: dict[str, Any] | None = None
        self._placer, self._is_measured = placer, quality

    def make(self, part: Part, renew: Renew) -> Result:
        """Place the rows of a part."""
        return self._placer.place(part, self.folder.result_path(part), renew)

    def note(self, record: dict[str, Any]) -> None:
        """Take note of a part that is placed."""

    def finish(self, parts: list[Part], records: list[dict[str, Any]]) -> None:
        """Write the manifest; the quality of the same results is not measured again."""
        before = self.folder.read_manifest()
        found = before.get("quality") if before.get("parts") == records else None
        self.folder.write_manifest(records, found)
        self.folder.clean(records)
        if not self._is_measured:
            return
        if found is None:
            placed = [
                PlacedPart(part, self.folder.result_path(part), record["n_rows"])
                for part, record in zip(parts, records, strict=True)
            ]
            found = measure_whole(self._placer.model, self._placer.reader, placed)
            self.folder.write_manifest(records, found)
        self.quality = found


def _make_reader(
    model: TSNE, keep: tuple[str, ...], tiles: Tiles | None, missing: str
) -> PartReader:
    names = getattr(model, "feature_names_in_", None)
    excluded = dict.fromkeys(keep, "keep")
    if tiles is not None and tiles.label is not None:
        excluded.setdefault(tiles.label, "label")
    return PartReader(None if names is None else tuple(names.tolist()), excluded, missing)


def _check_apart(source: Path | Mapping[str, Any], output: Path, tiles: Tiles | None) -> None:
    """Raise an error if one of input, output and tiles is inside another."""
    folders = [("output", output)] + ([] if tiles is None else [("tiles", Path(tiles.folder))])
    others = [] if isinstance(source, Mapping) else [("the input", source)]
    for name, folder in folders:
        inner = folder.resolve()
        for what, other in others:
            outer = other.resolve()
            if inner.is_relative_to(outer) or outer.is_relative_to(inner):
                raise ParameterError(
                    name,
                    f"be a folder apart from {what}, {other}",
                    str(folder),
                    "Choose another folder.",
                )
        others.append((f"the {name}", folder))


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
