"""Write files that are complete or absent, and encode values as JSON."""

import errno
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from isosne.errors import OutputError, keyword

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk, an exhausted quota and a file above the size limit."""
DAMAGE_ERRORS = (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
"""Exceptions that readers of NumPy and zip files raise if the content is damaged."""


class AtomicFile:
    """A temporary file in the folder of the final one.

    `commit` renames it once its content is on the disk; `discard` removes it.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self.force = path, force
        self.part = path.with_name(f".{path.name}.{os.getpid()}.part")
        with writing_to(path):
            self._check_free()
            self.file: BinaryIO = self.part.open("w+b")

    def commit(self) -> None:
        """Flush the content to the disk and rename the file."""
        with writing_to(self.path):
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            self._check_free()
            self.part.replace(self.path)
            _sync_folder(self.path.parent)

    def discard(self) -> None:
        """Remove the temporary file; do nothing after `commit`."""
        with suppress(OSError):  # closing flushes, which fails on a full disk
            self.file.close()
        self.part.unlink(missing_ok=True)

    def _check_free(self) -> None:
        if self.path.is_dir():
            raise OutputError(f"Cannot write {self.path}: it is a folder. Name a file in it.")
        if self.path.exists() and not self.force:
            raise OutputError(
                f"Cannot write {self.path}: the file already exists. "
                f"Choose another name, or pass {keyword('force', True)} to replace it."
            )
        if not self.path.parent.is_dir():
            raise OutputError(
                f"Cannot write {self.path}: the folder {self.path.parent} does not exist. "
                "Create the folder first."
            )


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when it is complete.

    The file is renamed at the end of the block, and removed after an error. An existing file is
    replaced if `force` is true; otherwise it is an error.
    """
    target = AtomicFile(path, force=force)
    try:
        with writing_to(path):
            yield target.file
        target.commit()
    finally:
        target.discard()


def check_writable(path: Path, *, force: bool = False) -> None:
    """Raise an error if `whole_file` could not write to a path; call it before a long run."""
    AtomicFile(path, force=force).discard()


@contextmanager
def writing_to(path: Path | str) -> Iterator[None]:
    """Convert errors of the operating system to `OutputError`."""
    try:
        yield
    except OutputError:
        raise
    except BrokenPipeError as error:
        raise OutputError(
            f"Cannot write to {path}: the reader closed the pipe before the end. "
            "Write to a file instead."
        ) from error
    except OSError as error:
        if error.errno in DISK_FULL:
            raise OutputError(
                f"Cannot write {path}: no space left on the disk. Free some space, or write to "
                "another disk. An existing file of that name was not changed."
            ) from error
        raise OutputError(
            f"Cannot write {path}: {describe_os_error(error)}. "
            "Choose another folder, or change its permissions."
        ) from error


def describe_os_error(error: OSError) -> str:
    """Return the reason of an error as it reads within a sentence: "permission denied"."""
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]


def _sync_folder(folder: Path) -> None:
    """Make a renamed file survive a power failure, on systems that can sync a folder."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def encode_json(value: Any, *, indent: int | None = None, allow_nan: bool = True) -> str:
    """Return a value as JSON; NumPy scalars and arrays become numbers and lists, paths strings."""
    return json.dumps(value, default=_as_plain, indent=indent, allow_nan=allow_nan)


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be encoded as JSON")
