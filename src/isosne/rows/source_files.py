"""The files of a source, which must not change while they are read."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from isosne._files import describe_os_error
from isosne.errors import DataError, IsosneError, keyword

LONGEST_REASON = 200
"""Letters of the message of a reader that are repeated in ours; some messages contain the file."""
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
        self.stamps = {path: _stamp(path) for path in paths}

    @property
    def paths(self) -> list[Path]:
        """The files, in the order of their rows."""
        return list(self.stamps)

    def check_unchanged(self) -> None:
        """Raise an error if a file has changed since the source was opened."""
        for path, before in self.stamps.items():
            now = _stamp(path)
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
        except Exception as error:  # readers raise almost anything for damaged files
            self.check_unchanged()
            if not self.stamps:
                raise
            raise self._refuse(error) from error
        self.check_unchanged()

    def _refuse(self, error: Exception) -> DataError:
        if isinstance(error, PermissionError):
            return DataError(
                f"Cannot read {self.name}: permission denied. Change the permissions of the file."
            )
        reason = f"{type(error).__name__}: {first_line(error)}"
        if isinstance(error, MemoryError):
            return DataError(
                f"Cannot read {self.name}: it needs more memory than there is, or it is damaged "
                f"({reason}). Map fewer rows with {keyword('landmarks')}, or write it again."
            )
        return DataError(
            f"Cannot read {self.name}: the file is damaged, incomplete, or not of the format that "
            f"its extension names ({reason}). Write or copy it again."
        )

    def digest(self, digest: Any) -> None:
        """Update a hash with sizes and samples of the content: a copy has the same hash."""
        for stamp in self.stamps.values():
            digest.update(f"{stamp.n_bytes} ".encode())
        # The first and the last file; a dictionary, as the order of a set differs between runs.
        for path in dict.fromkeys((*self.paths[:1], *self.paths[-1:])):
            n_bytes = self.stamps[path].n_bytes
            with path.open("rb") as file:
                for k in range(N_SAMPLES + 1):
                    file.seek(max(0, n_bytes - SAMPLE_BYTES) * k // N_SAMPLES)
                    digest.update(file.read(SAMPLE_BYTES))


def _stamp(path: Path) -> Stamp:
    found = stat_path(path)
    if stat.S_ISDIR(found.st_mode):
        raise DataError(f"Cannot read {path}: it is a folder. Name a file in it.")
    if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait for its writer
        raise DataError(
            f"Cannot read {path}: it is not a regular file, and rows are read in any order. "
            "Save its content to a file, or pipe it into isosne and pass '-' instead."
        )
    return Stamp(found.st_size, found.st_mtime_ns)


def stat_path(path: Path) -> os.stat_result:
    """Return what the system knows of a path; raise an error if it does not exist."""
    try:
        return path.stat()
    except FileNotFoundError:
        raise DataError(f"Cannot read {path}: no such file. Correct the path.") from None
    except OSError as error:
        raise DataError(
            f"Cannot read {path}: {describe_os_error(error)}. "
            "Correct the path, or change its permissions."
        ) from error
    except ValueError as error:  # a null character
        raise DataError(f"Cannot read {str(path)!r}: {error}. Correct the path.") from error


def first_line(error: BaseException) -> str:
    """Return the first line of a message of a reader, if it is long the start of it."""
    line = (str(error).splitlines() or [""])[0].rstrip(".")
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]}..."
