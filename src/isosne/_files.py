"""Write files that are complete or absent, and encode values as JSON.

A file is written under a temporary name beside the final one, ``.NAME.TOKEN.part``, and renamed
when it is complete.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from isosne.errors import OutputError, keyword

try:
    import fcntl
except ImportError:  # Windows: nothing is reserved
    fcntl = None  # type: ignore[assignment]

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk, an exhausted quota and a file above the size limit."""
_completed: ContextVar[list[Path]] = ContextVar("completed")
"""Files that have been completed within `listing_completed`."""


class AtomicFile:
    """A temporary file beside the final one: `commit` renames it, `discard` removes it.

    It has the mode of a file that it replaces. If the path is a link, its target is replaced.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self.force = path, force
        with writing_to(path):
            self._target = Path(os.path.realpath(path)) if path.is_symlink() else path
            self._check_free()
            self.part = _hidden(self._target, f"{secrets.token_hex(8)}.part")
            self.file: BinaryIO = self.part.open("x+b")
        with suppress(OSError):
            shutil.copymode(self._target, self.part)

    def commit(self) -> None:
        """Flush the content to the disk and rename the file."""
        with writing_to(self.path):
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            self._check_free()
            try:
                self.part.replace(self._target)
            finally:
                if not self.part.exists():  # it is renamed, also if an interrupt follows at once
                    _completed.get([]).append(self.path)

    def discard(self) -> None:
        """Remove the temporary file; do nothing after `commit`."""
        with suppress(OSError):  # closing flushes, which fails on a full disk
            self.file.close()
        with suppress(OSError):
            self.part.unlink(missing_ok=True)

    def _check_free(self) -> None:
        path, mode = self.path, None
        with suppress(FileNotFoundError, NotADirectoryError):
            mode = path.stat().st_mode
        if mode is not None and stat.S_ISDIR(mode):
            reason = "it is a folder. Name a file in it."
        elif mode is not None and not stat.S_ISREG(mode):  # renaming would replace a device
            reason = "it is not a regular file. Choose another name."
        elif not self.force and os.path.lexists(path):
            pass_force = f"pass {keyword('force', True)} to replace it"
            reason = f"the file already exists. Choose another name, or {pass_force}."
        elif not self._target.parent.is_dir():
            folder = self._target.parent
            reason = f"the folder {folder} does not exist. Create the folder first."
        else:
            return
        raise OutputError(f"Cannot write {path}: {reason}")


def _hidden(path: Path, suffix: str) -> Path:
    """Return a hidden name beside a path; a file system allows 255 bytes."""
    name = os.fsencode(path.name)[:200].decode("utf-8", "ignore")
    return path.with_name(f".{name}.{suffix}")


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
def only_user(path: Path) -> Iterator[None]:
    """Reserve a file for this process; raise an error if another process has done so.

    A lock on a file beside it is the reservation, so it ends when the process is killed.
    """
    check_writable(path, force=True)
    reservation = _hidden(path, "lock")
    with writing_to(path):
        file = reservation.open("ab")
    with file:
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.fstat(file.fileno()).st_nlink > 0  # the last user has not removed it
        except OSError as error:
            is_ours = not isinstance(error, BlockingIOError)  # a file system without locks
        if not is_ours:
            raise OutputError(
                f"Cannot write {path}: another run uses it. "
                "Wait until that run ends, or choose another name."
            )
        try:
            yield
        finally:
            with suppress(OSError):
                reservation.unlink()


@contextmanager
def listing_completed() -> Iterator[None]:
    """List the files that are completed within the block, in their order."""
    token = _completed.set([])
    try:
        yield
    finally:
        _completed.reset(token)


def completed_files() -> list[Path]:
    """Return the files completed so far within `listing_completed`; none outside of it."""
    return list(dict.fromkeys(_completed.get([])))


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
        reason = describe_os_error(error)
        advice = "Choose another folder, or change its permissions."
        if error.errno in DISK_FULL:
            reason = "no space left on the disk. Free some space, or write to another disk"
            advice = "An existing file of that name was not changed."
        elif error.errno == errno.ENAMETOOLONG:
            advice = "Choose a shorter name."
        raise OutputError(f"Cannot write {path}: {reason}. {advice}") from error


def is_there(path: Path) -> bool:
    """Return whether a path leads to something, also if the system refuses to say so."""
    try:
        path.stat()
    except (OSError, ValueError) as error:
        return isinstance(error, PermissionError)
    return True


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading; anything else raises an OSError and is not waited for."""
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # opening a folder raises
        raise OSError(errno.ESPIPE, "Not a regular file")
    return path.open("rb")


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the content of a file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe_os_error(error: OSError) -> str:
    """Return the reason of an error as it reads within a sentence: "permission denied"."""
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]


def encode_json(value: Any, *, indent: int | None = None, allow_nan: bool = True) -> str:
    """Return a value as JSON; NumPy scalars and arrays become numbers and lists, paths strings."""
    return json.dumps(value, default=_as_plain, indent=indent, allow_nan=allow_nan)


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be encoded as JSON")
