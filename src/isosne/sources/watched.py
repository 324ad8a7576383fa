"""Files that must stay as they are while they are read."""

import csv
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from isosne.errors import DataError, IsosneError

UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, csv.Error)
"""What readers raise on a file that is damaged or of another kind."""
SAMPLE_BYTES = 65_536
N_SAMPLES = 16


class Stamp(NamedTuple):
    """What tells one state of a file from another."""

    n_bytes: int
    modified_ns: int


class WatchedFiles:
    """The files of a source, with their sizes and times when it was opened."""

    def __init__(self, name: str, *paths: Path) -> None:
        self.name = name
        self.stamps = {path: self._stamp(path) for path in paths}

    @property
    def paths(self) -> list[Path]:
        """The files, in the order of their rows."""
        return list(self.stamps)

    def check(self) -> None:
        """Refuse to go on if a file is not what it was."""
        for path, before in self.stamps.items():
            now = self._stamp(path)
            if now == before:
                continue
            how = "written to again"
            if now.n_bytes != before.n_bytes:
                how = f"{before.n_bytes:,} bytes long, and is {now.n_bytes:,} now"
            raise DataError(
                f"A file must stay as it is while it is read; {path} was {how}. "
                "Wait until it is complete, then start again."
            )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Check the files before and after; say what is wrong if they cannot be read."""
        self.check()
        try:
            yield
        except IsosneError:
            self.check()
            raise
        except UNREADABLE as error:
            self.check()
            if not self.stamps:
                raise
            raise DataError(
                f"{self.name} must be a complete file of the kind that its name says; reading it "
                f"failed with {type(error).__name__}: {_first_line(error)}. Write or copy it again."
            ) from error
        self.check()

    def digest(self, digest: Any) -> None:
        """Feed sizes, times and samples of the content to a hash."""
        for path, stamp in self.stamps.items():
            digest.update(f"{path.name} {stamp.n_bytes} {stamp.modified_ns}".encode())
        for path in {self.paths[0], self.paths[-1]} if self.stamps else ():
            n_bytes = self.stamps[path].n_bytes
            with path.open("rb") as file:
                for k in range(N_SAMPLES + 1):
                    file.seek(max(0, n_bytes - SAMPLE_BYTES) * k // N_SAMPLES)
                    digest.update(file.read(SAMPLE_BYTES))

    def _stamp(self, path: Path) -> Stamp:
        try:
            found = path.stat()
        except FileNotFoundError:
            raise DataError(
                f"{path} must be a file that exists; there is none. Correct the path."
            ) from None
        except OSError as error:
            raise DataError(
                f"{path} must be a file that can be read; the system says: {error.strerror}. "
                "Correct the path, or its permissions."
            ) from error
        return Stamp(found.st_size, found.st_mtime_ns)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0].rstrip(".")
