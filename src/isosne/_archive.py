"""The file format of models and checkpoints: a zip file with a JSON header and NumPy arrays.

The header names the kind of content and the version of the format. The zip file has a checksum for
each member, so damage is detected. Nothing is pickled, and nothing is compressed: a file cannot
need more memory than its size suggests. A file that cannot be read is not changed.
"""

import errno
import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from isosne._files import (
    DAMAGE_ERRORS,
    describe_os_error,
    encode_json,
    open_regular,
    whole_file,
)
from isosne._npy import quiet, read_header
from isosne._types import Array
from isosne._version import __version__
from isosne.errors import DataError, shorten

FORMAT_VERSION = 1
"""Version of the file format, stored as "form"; later versions of isosne may write a higher one."""
HEADER = "header.json"
LARGEST_JSON = 2**28
"""Largest JSON member in bytes: room for a million coordinates that are given as a list."""
ARRAY_KINDS = "biufU"
"""Kinds of arrays that a file contains: booleans, numbers and text."""
DAMAGED = (
    *DAMAGE_ERRORS,
    *(RuntimeError, MemoryError, OverflowError, struct.error),
    *(AttributeError, IndexError, TypeError),
)
"""Exceptions that damaged files raise; found by changing bytes and values in tests."""


class Archive(NamedTuple):
    """The content of a file: JSON values, and arrays by name."""

    header: dict[str, Any]
    arrays: dict[str, Array]


def write_archive(
    path: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write a complete file and replace an existing one, or leave it unchanged after an error."""
    about = {"isosne": kind, "form": FORMAT_VERSION, "version": __version__, "arrays": list(arrays)}
    whole = about | dict(header)
    with whole_file(path, force=True) as file, zipfile.ZipFile(file, "w") as archive:
        # A ZipInfo has a fixed date, not that of the clock: the same content is the same bytes.
        archive.writestr(zipfile.ZipInfo(HEADER), encode_json(whole))
        for name, array in arrays.items():
            about_array = zipfile.ZipInfo(f"{name}.npy")
            with archive.open(about_array, "w", force_zip64=True) as member:
                npy.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def read_archive(path: Path, kind: str) -> Archive:
    """Read a file; raise an error if it is damaged, of another kind, or of a later version."""
    with reading_archive(path, kind), _open(path) as archive:
        header = json.loads(_read_bytes(archive, HEADER))
        _check_header(header, path, kind)
        names = header["arrays"]
        if not isinstance(names, list) or len(set(names)) < len(names):
            raise ValueError("the list of its arrays has repeated names")
        return Archive(header, {name: _read_array(archive, f"{name}.npy") for name in names})


def read_member(path: Path, kind: str, name: str) -> Any:
    """Return a JSON value or an array that the header does not list; None if it is absent."""
    with reading_archive(path, kind), _open(path) as archive:
        if name not in archive.namelist():
            return None
        if name.endswith(".npy"):
            return _read_array(archive, name)
        return json.loads(_read_bytes(archive, name))


@contextmanager
def reading_archive(path: Path, kind: str) -> Iterator[None]:
    """Convert what damaged or wrong content raises to an error that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"Cannot read the {kind} {path}: no such file. Check the name.") from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # a seek to a position that a damaged header names
            raise _damaged(path, kind, error) from error
        raise DataError(
            f"Cannot read the {kind} {path}: {describe_os_error(error)}. "
            "Choose another file, or check its permissions."
        ) from error
    except RefusedError as error:
        raise DataError(str(error)) from None
    except DAMAGED as error:
        raise _damaged(path, kind, error) from error


class RefusedError(Exception):
    """A whole file is refused for a reason that its message gives."""


def _damaged(path: Path, kind: str, error: Exception) -> DataError:
    return DataError(
        f"Cannot read the {kind} {path}: the file is damaged or not written by isosne "
        f"({shorten(str(error))}). "
        "Choose another file; this one was not modified."
    )


@contextmanager
def _open(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file whose members are no larger than the file; compressed ones could be."""
    with open_regular(path) as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("its content is compressed")
        if sum(member.file_size for member in members) > path.stat().st_size:
            raise ValueError("its parts are larger than the file")
        yield archive


def _read_bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    n_bytes = archive.getinfo(name).file_size
    if n_bytes > LARGEST_JSON:
        raise ValueError(f"{name} has {n_bytes:,} bytes")
    return archive.read(name)


def _check_header(header: Any, path: Path, kind: str) -> None:
    found = header.get("isosne") if isinstance(header, dict) else None
    if found != kind:
        what = f"a {found} of isosne" if found else "something else"
        raise RefusedError(
            f"{path} must contain a {kind} of isosne; it contains {what}. "
            "Choose another file; this one was not modified."
        )
    if header.get("form") != FORMAT_VERSION:
        raise RefusedError(
            f"{path} uses file format {header.get('form')}, written by isosne "
            f"{header.get('version')}; this version reads formats up to {FORMAT_VERSION}. "
            "Update isosne to read it."
        )


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name) as member:
        header = read_header(member)
        n_bytes = member.tell() + header.n_bytes
    is_known = header.dtype.kind in ARRAY_KINDS and header.dtype.itemsize > 0
    if not is_known or n_bytes != archive.getinfo(name).file_size:
        raise ValueError(f"the header of {name} does not fit its content")
    with archive.open(name) as member, quiet():  # from the start: a seek would skip the checksum
        array: Array = npy.read_array(member, allow_pickle=False)
        member.read()  # up to the end of the member, where its checksum is compared
    return array.astype(array.dtype.newbyteorder("="), copy=False)
