"""Files that are complete or absent, and values as JSON: how isosne writes to disk."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from isosne.errors import OutputError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class AtomicFile:
    """A temporary file beside its final place.

    `commit` gives it its name, once its content is on the disk; `discard` removes it.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self.force = path, force
        self.part = path.with_name(f".{path.name}.{os.getpid()}.part")
        with writing_to(path):
            self._check_free()
            self.file: BinaryIO = self.part.open("w+b")

    def commit(self) -> None:
        """Give the file its name."""
        with writing_to(self.path):
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            self._check_free()
            self.part.replace(self.path)
            _sync_folder(self.path.parent)

    def discard(self) -> None:
        """Remove what was written; nothing happens after a commit."""
        with suppress(OSError):  # what a full disk has no room for goes anyway
            self.file.close()
        self.part.unlink(missing_ok=True)

    def _check_free(self) -> None:
        if self.path.is_dir():
            raise OutputError(
                f"The output must be a file; {self.path} is a folder. Name a file in it."
            )
        if self.path.exists() and not self.force:
            raise OutputError(
                f"The output must not exist yet; {self.path} does. "
                "Choose another name, or replace it with --force (force=True)."
            )
        if not self.path.parent.is_dir():
            raise OutputError(
                f"The output must lie in a folder that exists; there is no {self.path.parent}. "
                "Make the folder first."
            )


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write to; it takes its name at the end, and is removed after an error."""
    target = AtomicFile(path, force=force)
    try:
        with writing_to(path):
            yield target.file
        target.commit()
    finally:
        target.discard()


def check_writable(path: Path, *, force: bool = False) -> None:
    """Refuse a path that `whole_file` could not write to, before any work is done."""
    AtomicFile(path, force=force).discard()


@contextmanager
def writing_to(path: Path | str) -> Iterator[None]:
    """Turn what the system says about writing into a sentence."""
    try:
        yield
    except OutputError:
        raise
    except BrokenPipeError as error:
        raise OutputError(
            f"The output must be read to its end; the reader of {path} has gone. "
            "Write to a file instead."
        ) from error
    except OSError as error:
        if error.errno in FULL:
            raise OutputError(
                f"The output needs space on the disk; there was none left for {path}. "
                "Free some space, or write to another disk. Nothing was changed under that name."
            ) from error
        raise OutputError(
            f"The output must go where one may write; {path} cannot be written: "
            f"{error.strerror or error}. Choose another folder, or change its permissions."
        ) from error


def _sync_folder(folder: Path) -> None:
    """Have the new name survive a loss of power, where the system can do that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def encode_json(value: Any, *, indent: int | None = None, allow_nan: bool = True) -> str:
    """Return a value as JSON; NumPy's numbers and arrays become Python's, paths become text."""
    return json.dumps(value, default=_plain, indent=indent, allow_nan=allow_nan)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"got a {type(value).__name__}")
