"""The provenance of a map: how it was made, as one line of JSON.

Beside a map in CSV it is a file of its own, ``map.csv.json``, so that the table itself stays plain.
That file has a hash of the map, because either of the two can be changed without the other.
"""

import json
import warnings
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

from isosne._files import AtomicFile, check_writable, encode_json, open_regular, writing_to
from isosne.errors import DataError, IsosneWarning, ParameterError

KEY = "isosne"
"""Name of the line in the metadata of Parquet and Arrow files, and of the array in .npz files."""
FORMAT_VERSION = 1
"""Version of the layout of map files; higher versions cannot be read."""


def encode_provenance(provenance: Mapping[str, Any]) -> str:
    """Return provenance as one line of JSON."""
    try:
        return encode_json({"format": FORMAT_VERSION, **provenance})
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "provenance",
            f"contain only strings, numbers, lists and dictionaries ({error})",
            hint="Convert other values to one of these types.",
        ) from error


def decode_provenance(line: str | bytes | None, source: str) -> dict[str, Any]:
    """Return provenance from its line; raise an error if a file is not a map of isosne."""
    try:
        found = json.loads(line or "")
        version = int(found.pop("format"))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DataError(
            f"{source} must be a map written by isosne; it has no provenance. "
            "Pass a map, or read the file as a table."
        ) from None
    if version > FORMAT_VERSION:
        raise DataError(
            f"{source} uses map format {version}; this version of isosne reads formats up to "
            f"{FORMAT_VERSION}. Update isosne."
        )
    return dict(found)


HASH = "sha256"
LARGEST_BYTES = 2**24
"""Largest file that is read: 16 MB. Chosen; provenance takes a few kilobytes."""


def sidecar_path(path: Path) -> Path:
    """Return the path of the provenance of a map."""
    return path.with_name(f"{path.name}.json")


class Sidecar:
    """The provenance of a map that is being written; an earlier one is replaced."""

    def __init__(self, path: Path, *, force: bool) -> None:
        self.path = sidecar_path(path)
        self._target = AtomicFile(self.path, force=force or _is_sidecar(self.path))

    def write(self, line: str, digest: str) -> None:
        """Write provenance, a line of JSON, and the hash of the map to a temporary file."""
        content = encode_json({KEY: json.loads(line), HASH: digest}, indent=1)
        with writing_to(self.path):
            self._target.file.write(content.encode())
            self._target.file.flush()

    def commit(self) -> None:
        """Give the file its name."""
        self._target.commit()

    def discard(self) -> None:
        """Remove the temporary file; do nothing after `commit`."""
        self._target.discard()


def check_sidecar(path: Path, *, force: bool) -> None:
    """Raise an error if the provenance of a map could not be written; call it before a long run."""
    target = sidecar_path(path)
    check_writable(target, force=force or _is_sidecar(target))


def read_sidecar(path: Path) -> dict[str, Any]:
    """Return the provenance of a map; empty if there is none, or if the map has changed."""
    found = _load(sidecar_path(path))
    if found is None:
        return {}
    with path.open("rb") as file:
        digest = file_digest(file, HASH).hexdigest()
    if found.get(HASH) != digest:
        warnings.warn(
            f"{sidecar_path(path)} does not describe {path}, which has changed since isosne wrote "
            "it. How the map was made is not known.",
            IsosneWarning,
            stacklevel=2,
        )
        return {}
    return decode_provenance(json.dumps(found[KEY]), str(path))


def _is_sidecar(path: Path) -> bool:
    return _load(path) is not None


def _load(path: Path) -> dict[str, Any] | None:
    """Return the content of a file of provenance; None if it is anything else."""
    try:
        with open_regular(path) as file:
            found = json.loads(file.read(LARGEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    is_own = isinstance(found, dict) and isinstance(found.get(KEY), dict) and HASH in found
    return found if is_own else None
