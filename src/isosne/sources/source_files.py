"""The files of a source, which must not change while they are read."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from isosne._files import DAMAGE_ERRORS, describe_os_error
from isosne.errors import DataError, IsosneError

UNREADABLE = (*DAMAGE_ERRORS, OSError, csv.Error)
"""Exceptions of the readers for files that are damaged or have another format."""
SAMPLE_BYTES = 65_536
N_SAMPLES = 16
"""The fingerprint of a file uses N_SAMPLES + 1 samples of SAMPLE_BYTES: about 1 MB. Chosen, not
measured: quick to read, and size and modification time are part of the fingerprint anyway."""


class Stamp(NamedTuple):
    """Size and modification time of a file, from which a change is noticed."""

    n_bytes: int
    modified_ns: int


class SourceFiles:
    """The files of a source, with their sizes and modification times when it was opened.

    A source that is not in files has a name and no paths.
    """

    def __init__(self, name: str, *paths: Path) -> None:
        self.name = name
        self.stamps = {path: self._stamp(path) for path in paths}

    @property
    def paths(self) -> list[Path]:
        """The files, in the order of their rows."""
        return list(self.stamps)

    def check_unchanged(self) -> None:
        """Raise an error if a file has changed since the source was opened."""
        for path, before in self.stamps.items():
            now = self._stamp(path)
            if now == before:
                continue
            how = "it was written again"
            if now.n_bytes != before.n_bytes:
                how = f"its size was {before.n_bytes:,} bytes and is now {now.n_bytes:,}"
            raise DataError(
                f"{path} must not change while it is read; {how}. "
                "Wait until the file is complete, then start again."
            )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Check the files before and after a read; convert read errors to `DataError`."""
        self.check_unchanged()
        try:
            yield
        except IsosneError:
            self.check_unchanged()
            raise
        except UNREADABLE as error:
            self.check_unchanged()
            if not self.stamps:
                raise
            raise DataError(
                f"Cannot read {self.name}: the file is damaged, incomplete, or not of the format "
                f"that its extension names ({type(error).__name__}: {_first_line(error)}). "
                "Write or copy it again."
            ) from error
        self.check_unchanged()

    def digest(self, digest: Any) -> None:
        """Update a hash with sizes, modification times and samples of the content."""
        for path, stamp in self.stamps.items():
            digest.update(f"{path.name} {stamp.n_bytes} {stamp.modified_ns}".encode())
        # The first and the last file; a dictionary, as the order of a set differs between runs.
        for path in dict.fromkeys((*self.paths[:1], *self.paths[-1:])):
            n_bytes = self.stamps[path].n_bytes
            with path.open("rb") as file:
                for k in range(N_SAMPLES + 1):
                    file.seek(max(0, n_bytes - SAMPLE_BYTES) * k // N_SAMPLES)
                    digest.update(file.read(SAMPLE_BYTES))

    def _stamp(self, path: Path) -> Stamp:
        try:
            found = path.stat()
        except FileNotFoundError:
            raise DataError(f"Cannot read {path}: no such file. Correct the path.") from None
        except OSError as error:
            raise DataError(
                f"Cannot read {path}: {describe_os_error(error)}. "
                "Correct the path, or change its permissions."
            ) from error
        return Stamp(found.st_size, found.st_mtime_ns)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0].rstrip(".")
