"""Write files that are complete or absent, and encode values as JSON.

A file is written under a temporary name in the folder of the final one, ``.NAME.TOKEN.part``, and
renamed when it is complete. The token is random, so that writers of the same file do not meet. A
writer locks its temporary file for as long as it lives. A temporary file without a lock was left
behind by a writer that was killed; it is removed when the same file is written again.
"""

import errno
import hashlib
import json
import os
import re
import secrets
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from isosne.errors import OutputError, keyword

try:
    import fcntl
except ImportError:  # Windows: temporary files of killed writers stay
    fcntl = None  # type: ignore[assignment]

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk, an exhausted quota and a file above the size limit."""
DAMAGE_ERRORS = (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
"""Exceptions that readers of NumPy and zip files raise if the content is damaged."""
TOKEN_BYTES = 8
"""Random bytes in a temporary name."""
LONGEST_STEM = 200
"""Bytes of the final name in a temporary one; most file systems allow 255 bytes in all."""
HASHED_BYTES = 2**20
"""Bytes of a file that are hashed at a time."""
ADVICE = {
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.ELOOP: "Choose another name, or remove the symbolic link.",
}
"""What to do about an error, by its number; otherwise it is about the folder."""
_completed: ContextVar[list[Path] | None] = ContextVar("completed", default=None)
"""Files that have been completed within `listing_completed`."""


class AtomicFile:
    """A temporary file in the folder of the final one.

    `commit` renames it once its content is on the disk; `discard` removes it.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path, self.force = path, force
        self._owner = os.getpid()
        with writing_to(path):
            self._check_name()
            _remove_abandoned(path)  # also if the name is taken: its writer may have left a link
            self._check_free()
            self.part, self.file = _create_part(path)

    def commit(self) -> None:
        """Flush the content to the disk and rename the file."""
        with writing_to(self.path):
            self.file.flush()
            os.fsync(self.file.fileno())
            self._check_free()
            if fcntl is None:  # Windows renames no open file; elsewhere closing ends the lock
                self.file.close()
            self._rename()
            self.file.close()
            _sync_folder(self.path.parent)

    def discard(self) -> None:
        """Remove the temporary file; do nothing after `commit`."""
        with suppress(OSError):  # closing flushes, which fails on a full disk
            self.file.close()
        if os.getpid() == self._owner:  # not in a fork, whose exit would remove its parent's file
            with suppress(OSError):
                self.part.unlink(missing_ok=True)

    def _rename(self) -> None:
        """Rename the file, and list it as completed also if an interrupt follows at once."""
        content = self.part.stat()
        try:
            if self.force:
                self.part.replace(self.path)
            else:
                self._rename_to_new()
        finally:
            completed = _completed.get()
            if completed is not None and self.path not in completed and _is_at(self.path, content):
                completed.append(self.path)

    def _rename_to_new(self) -> None:
        """Rename the file; a file of that name that has appeared meanwhile is left alone."""
        try:
            os.link(self.part, self.path)
        except FileExistsError:
            raise self._exists() from None
        except OSError:  # the file system has no hard links
            self.part.replace(self.path)
        else:
            self.part.unlink()

    def _check_name(self) -> None:
        if "\0" in str(self.path):
            raise OutputError(
                f"Cannot write {str(self.path)!r}: a file name cannot have a null character. "
                "Choose another name."
            )

    def _check_free(self) -> None:
        mode = None
        with suppress(FileNotFoundError, NotADirectoryError):
            mode = self.path.stat().st_mode
        if mode is not None and stat.S_ISDIR(mode):
            raise OutputError(f"Cannot write {self.path}: it is a folder. Name a file in it.")
        if mode is not None and not stat.S_ISREG(mode):  # renaming would replace a device
            raise OutputError(
                f"Cannot write {self.path}: it is not a regular file. Choose another name."
            )
        if not self.force and os.path.lexists(self.path):
            raise self._exists()
        if not self.path.parent.is_dir():
            raise OutputError(
                f"Cannot write {self.path}: the folder {self.path.parent} does not exist. "
                "Create the folder first."
            )

    def _exists(self) -> OutputError:
        return OutputError(
            f"Cannot write {self.path}: the file already exists. "
            f"Choose another name, or pass {keyword('force', True)} to replace it."
        )


def _is_at(path: Path, content: os.stat_result) -> bool:
    """Return whether a path leads to the file of a status."""
    try:
        return os.path.samestat(path.stat(), content)
    except OSError:
        return False


def _create_part(path: Path) -> tuple[Path, BinaryIO]:
    """Create and lock a temporary file with a name of its own."""
    while True:
        part = path.with_name(f"{_part_stem(path)}{secrets.token_hex(TOKEN_BYTES)}.part")
        file = part.open("x+b")
        if _lock(file):
            return part, file
        file.close()  # another process is just looking whether it is abandoned
        part.unlink(missing_ok=True)


def _lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed; return False if another process has locked or removed it.

    True also where there are no locks: nobody can take the file for abandoned there.
    """
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return True
    return os.fstat(file.fileno()).st_nlink > 0


def _remove_abandoned(path: Path) -> None:
    """Remove temporary files of a path whose writers no longer exist."""
    _remove_unlocked(_list_parts(path))


def remove_abandoned_in(folder: Path) -> None:
    """Remove temporary files in a folder whose writers no longer exist."""
    _remove_unlocked(_list_temporary(folder, r"\..*\."))


def _remove_unlocked(parts: list[Path]) -> None:
    if fcntl is None:
        return
    for part in parts:
        with suppress(OSError), part.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def _list_parts(path: Path) -> list[Path]:
    """Return the temporary files of a path."""
    return _list_temporary(path.parent, re.escape(_part_stem(path)))


def _list_temporary(folder: Path, stem: str) -> list[Path]:
    """Return the temporary files in a folder whose names begin as a regular expression says."""
    name = re.compile(rf"{stem}[0-9a-f]{{{2 * TOKEN_BYTES}}}\.part", re.DOTALL)
    try:
        with os.scandir(folder) as entries:
            return [Path(entry) for entry in entries if name.fullmatch(entry.name)]
    except OSError:
        return []


def _part_stem(path: Path) -> str:
    """Return the start of the temporary names of a path."""
    name = os.fsencode(path.name)[:LONGEST_STEM].decode("utf-8", "ignore")
    return f".{name}."


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


def completed_files() -> list[Path]:
    """Return the files completed so far within `listing_completed`; none outside of it."""
    return list(_completed.get() or ())


@contextmanager
def listing_completed() -> Iterator[None]:
    """List the files that are completed within the block, in their order."""
    token = _completed.set([])
    try:
        yield
    finally:
        _completed.reset(token)


@contextmanager
def only_user(path: Path) -> Iterator[None]:
    """Reserve a file that is replaced several times; raise an error if another run has done so.

    A locked temporary file stands for the reservation, so it ends when its process is killed.
    """
    reservation = AtomicFile(path, force=True)
    try:
        if any(part != reservation.part and _is_locked(part) for part in _list_parts(path)):
            raise OutputError(
                f"Cannot write {path}: another run uses it. "
                "Wait until that run ends, or choose another name."
            )
        yield
    finally:
        reservation.discard()


def _is_locked(part: Path) -> bool:
    """Return whether the writer of a temporary file is alive."""
    if fcntl is None:
        return False
    with suppress(OSError), part.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Lock a file that is written line by line; raise an error if another process does so.

    The file is created if it does not exist, and removed at the end if it is still empty.
    """
    with writing_to(path):
        file = path.open("ab")
    try:
        if not _lock(file):
            raise OutputError(
                f"Cannot write {path}: another process writes to it. "
                "Wait until that process ends, or choose another name."
            )
        try:
            yield
        finally:
            if os.fstat(file.fileno()).st_size == 0:
                path.unlink(missing_ok=True)
    finally:
        file.close()


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
        advice = ADVICE.get(error.errno or 0, "Choose another folder, or change its permissions.")
        raise OutputError(f"Cannot write {path}: {describe_os_error(error)}. {advice}") from error


def is_there(path: Path) -> bool:
    """Return whether a path leads to something, also if the system refuses to say so."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        return error.errno not in (errno.ELOOP, errno.ENAMETOOLONG)
    return True


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; anything else raises an OSError and is not waited for."""
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # opening a folder raises
        raise OSError(errno.ESPIPE, "Not a regular file")
    return path.open("rb")


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the content of a file."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(HASHED_BYTES):
            digest.update(block)
    return digest.hexdigest()


def describe_os_error(error: OSError) -> str:
    """Return the reason of an error as it reads within a sentence: "permission denied"."""
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]


def _sync_folder(folder: Path) -> None:
    """Make a renamed file survive a power failure, on systems that can sync a folder."""
    if os.name == "posix":
        with suppress(OSError):  # a folder that cannot be read, or a file system without it
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
