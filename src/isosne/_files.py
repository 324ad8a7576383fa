"""A file that takes its name when it is complete, and goes away otherwise."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

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
