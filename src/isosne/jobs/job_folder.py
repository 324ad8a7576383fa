"""The output folder of a job: what the job is, which parts are done, and claims on the others.

Everything that is not a result is in the subfolder ``_isosne``, which readers of Parquet data sets
ignore: ``job.json``, a record per finished part in ``parts``, claims in ``claims``, and
``manifest.json`` once all parts are done. A part is done if it has a record and its result has the
recorded size. The record is written after the result, so a kill between the two repeats one part.

Results are in the folder itself, under the names of their parts; intermediate results, such as the
bins of which tiles are made, are in ``_isosne``.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isosne._files import (
    check_writable,
    encode_json,
    remove_abandoned_in,
    whole_file,
    writing_to,
)
from isosne.errors import DataError, OutputError
from isosne.jobs.claims import Claim, claimed
from isosne.jobs.parts import Part, Result

FOLDER, JOB, MANIFEST = "_isosne", "job.json", "manifest.json"


class JobFolder:
    """The output folder of a job, which is created if it does not exist.

    Parameters
    ----------
    output : path
        The folder.
    about : dict
        What all parts have in common, and must not change between the runs of a job.
    words : dict
        For each key of `about` what it is, as in "the model".
    results : str, default="."
        Subfolder of ``_isosne`` for the results; "." for the output folder itself.
    suffix : str, default=""
        What is added to the name of a part for the name of its result.
    """

    def __init__(
        self,
        output: Path,
        about: dict[str, Any],
        words: dict[str, str],
        *,
        results: str = ".",
        suffix: str = "",
    ) -> None:
        self.output, self.about = output, about
        self._suffix = suffix
        self._inside = output / FOLDER
        self._results = output if results == "." else self._inside / results
        self._roots = self._results, self._inside / "parts"
        begin(output, JOB, about, words)

    def result_path(self, part: Part) -> Path:
        """Return the file for the result of a part."""
        return self._results / f"{part.name}{self._suffix}"

    def record_of(self, part: Part) -> dict[str, Any] | None:
        """Return the record of a part; None if it is not done. Raise an error if it has changed."""
        path = self._record_path(part)
        if not path.exists():
            return None
        record = _read_json(path)
        _check_same(part, record["input"])
        result = self.result_path(part)
        is_there = result.is_file() and result.stat().st_size == record["output"]["n_bytes"]
        return record if is_there else None

    def check_present(self, parts: list[Part]) -> None:
        """Raise an error if a part that is done is no longer in the input."""
        names = {part.name for part in parts}
        records = self._inside / "parts"
        for path in sorted(records.rglob("*.json")):
            name = path.relative_to(records).as_posix().removesuffix(".json")
            if name not in names and not path.name.startswith("."):
                raise DataError(
                    f"The input of a job must not change; {name!r} was placed, and is no longer in "
                    f"the input. Restore it, or choose another folder than {self.output}."
                )

    @contextmanager
    def claimed(self, part: Part) -> Iterator[Claim | None]:
        """Claim a part for the time of the block; None if another process has claimed it."""
        path = self._inside / "claims" / f"{part.name}.claim"
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        with claimed(path) as claim:
            yield claim

    def record(self, part: Part, result: Result) -> None:
        """Note that a part is done."""
        path = self._record_path(part)
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        output = {"n_bytes": result.n_bytes, "sha256": result.sha256}
        content = {"part": part.name, "n_rows": result.n_rows, **result.notes}
        _write_json(path, content | {"input": part.stamp, "output": output})

    def read_manifest(self) -> dict[str, Any]:
        """Return the manifest; an empty one if the job has not been complete."""
        path = self._inside / MANIFEST
        return _read_json(path) if path.exists() else {}

    def write_manifest(self, records: list[dict[str, Any]], quality: dict[str, Any] | None) -> None:
        """Write the manifest of a complete job."""
        n_rows = sum(record["n_rows"] for record in records)
        content: dict[str, Any] = {"n_parts": len(records), "n_rows": n_rows}
        if quality is not None:
            content["quality"] = quality
        content["parts"] = records
        _write_json(self._inside / MANIFEST, {"isosne": "placed"} | self.about | content)

    def clean(self, records: list[dict[str, Any]]) -> None:
        """Remove claims, and what killed processes left behind."""
        shutil.rmtree(self._inside / "claims", ignore_errors=True)
        # The next writer of a part removes temporary files, but not those of a process that is
        # still about to end: its locks last as long as its last thread.
        folders = {(root / record["part"]).parent for record in records for root in self._roots}
        for folder in sorted(folders | {self._inside}):
            remove_abandoned_in(folder)

    def _record_path(self, part: Part) -> Path:
        return self._inside / "parts" / f"{part.name}.json"


def begin(output: Path, mark: str, about: dict[str, Any], words: dict[str, str]) -> None:
    """Create the folder of a job and write what the job is to the file `mark`.

    Raise an error if the folder has files of others, or if the file is there and tells of a
    different job: another value of a key of `words`.
    """
    path = output / FOLDER / mark
    with writing_to(output):
        output.mkdir(parents=True, exist_ok=True)
        # Listed before the look at the job: what is here without a job is not from a job.
        found = sorted(entry.name for entry in output.iterdir() if entry.name != FOLDER)
        if found and not path.exists():
            raise OutputError(
                f"Cannot write to {output}: the folder contains other files, such as "
                f"{found[0]!r}. Choose an empty or new folder."
            )
        path.parent.mkdir(exist_ok=True)
    check_writable(path, force=True)
    if not path.exists():
        try:
            _write_json(path, about, force=False)
        except OutputError:
            if not path.exists():  # otherwise another process was faster
                raise
    before = _read_json(path)
    for key, what in words.items():
        if before.get(key) != about[key]:
            raise OutputError(
                f"Cannot write to {output}: the folder belongs to a different job: {what} "
                f"was {_show(before.get(key))}, is now {_show(about[key])}. "
                "Choose another folder, or delete this one; nothing was changed."
            )


def _check_same(part: Part, before: dict[str, Any]) -> None:
    now = part.stamp
    if now == before:
        return
    how = "its content is different"
    if now.keys() == before.keys() >= {"n_bytes"}:
        how = "it was written again"
        if now["n_bytes"] != before["n_bytes"]:
            how = f"its size was {before['n_bytes']:,} bytes and is now {now['n_bytes']:,}"
    raise DataError(
        f"The input of a job must not change; {part} has changed since it was placed: {how}. "
        "Restore it, or choose another output folder."
    )


def _write_json(path: Path, content: dict[str, Any], *, force: bool = True) -> None:
    with whole_file(path, force=force) as file:
        file.write(f"{encode_json(content, indent=1)}\n".encode())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
        if isinstance(found, dict):
            return found
    except ValueError:
        pass
    raise DataError(f"Cannot read {path}: the file is damaged. Choose another output folder.")


def _show(value: Any) -> str:
    """Return a value in words; hashes are shortened."""
    if isinstance(value, list):
        return ", ".join(map(repr, value)) or "empty"
    return f"{value[:12]}..." if isinstance(value, str) and len(value) == 64 else str(value)
