"""The format of models and checkpoints: a zip file of a JSON header and NumPy arrays.

The header names the kind of content and the version of the format. The zip file has a checksum for
each member, so damage is detected. Nothing is pickled, and nothing is compressed: a file cannot
need more memory than its size suggests. A file that cannot be read is not changed.
"""

import errno
import json
import math
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from isosne._files import describe_os_error, encode_json, open_regular, whole_file
from isosne._types import Array
from isosne._version import __version__
from isosne.errors import DataError, shorten

FORMAT_VERSION = 1
"""Version of the file format, stored as "form"; later versions of isosne may write a higher one."""
HEADER = "header.json"
LARGEST_HEADER = 2**28
"""Largest header in bytes: room for a million coordinates that are given as a list."""
ARRAY_KINDS = "biufU"
"""Kinds of arrays that a file contains: booleans, numbers and text."""


class Archive(NamedTuple):
    """The content of a file: JSON values, and arrays by name."""

    header: dict[str, Any]
    arrays: dict[str, Array]


class RefusedError(Exception):
    """A whole file is refused for a reason that its message gives."""


def write_archive(
    path: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write a complete file and replace an existing one, or leave it unchanged after an error."""
    about = {"isosne": kind, "form": FORMAT_VERSION, "version": __version__, "arrays": list(arrays)}
    with whole_file(path, force=True) as file, zipfile.ZipFile(file, "w") as archive:
        # A ZipInfo has a fixed date, not that of the clock: the same content is the same bytes.
        archive.writestr(zipfile.ZipInfo(HEADER), encode_json(about | dict(header)))
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                npy.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def read_archive(path: Path, kind: str) -> Archive:
    """Read a file; raise an error if it is damaged, of another kind, or of a later version."""
    with (
        reading_archive(path, kind),
        open_regular(path) as file,
        zipfile.ZipFile(file) as archive,
    ):
        members = archive.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("its content is compressed")
        if sum(member.file_size for member in members) > path.stat().st_size:
            raise ValueError("its parts are larger than the file")
        if archive.getinfo(HEADER).file_size > LARGEST_HEADER:
            raise ValueError("its header is too long")
        header = json.loads(archive.read(HEADER))
        _check_header(header, path, kind)
        names = header["arrays"]
        if not isinstance(names, list) or len(set(names)) < len(names):
            raise ValueError("the list of its arrays has repeated names")
        return Archive(header, {name: _read_array(archive, f"{name}.npy") for name in names})


@contextmanager
def reading_archive(path: Path, kind: str) -> Iterator[None]:
    """Convert what damaged or wrong content raises to an error that names the file."""
    start, advice = f"Cannot read the {kind} {path}", "Choose another file"
    try:
        yield
    except RefusedError as error:
        raise DataError(str(error)) from None
    except FileNotFoundError as error:
        raise DataError(f"{start}: no such file. Check the name.") from error
    except Exception as error:  # damaged content raises anything
        # EINVAL: a seek to a position that a damaged header names
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            reason, advice = describe_os_error(error), f"{advice}, or check its permissions"
        else:
            why = shorten(str(error))
            reason = f"the file is damaged or not written by isosne ({why})"
            advice = f"{advice}; this one was not modified"
        raise DataError(f"{start}: {reason}. {advice}.") from error


def _check_header(header: Any, path: Path, kind: str) -> None:
    stored = header.get("isosne") if isinstance(header, dict) else None
    if stored != kind:
        what = f"a {stored} of isosne" if stored else "something else"
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
    """Return an array of a file, whose header must declare just the bytes that follow it."""
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


class Header(NamedTuple):
    """The content of the header of an .npy file."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        """The size of the values."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: Any) -> Header:
    """Read an .npy header; the position of the file is then that of the first value.

    Raises a ValueError if the header is damaged, or longer than `numpy.load` allows.
    """
    try:
        with quiet():
            is_first = npy.read_magic(file) == (1, 0)
            read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
            header = Header(*read(file))
    except Exception as error:  # damaged literals raise anything, from TokenError to MemoryError
        raise ValueError(f"the header of an array is damaged: {error}") from error
    if any(length < 0 for length in header.shape):
        raise ValueError(f"an array has the shape {header.shape}")
    return header


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress what NumPy and Python warn of in a header that is old or damaged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
