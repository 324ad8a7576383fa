"""The file format of models and checkpoints: a zip file with a JSON header and NumPy arrays.

The header names the kind of content and the version of the format. The zip file has a checksum for
each member, so damage is detected. Nothing is pickled. A file that cannot be read is not changed.
"""

import errno
import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from isosne._files import DAMAGE_ERRORS, describe_os_error, encode_json, whole_file
from isosne._types import Array
from isosne._version import __version__
from isosne.errors import DataError

FORMAT_VERSION = 1
"""Version of the file format, stored as "form"; later versions of isosne may write a higher one."""
HEADER = "header.json"
DAMAGED = (*DAMAGE_ERRORS, RuntimeError, MemoryError, OverflowError, struct.error)
"""Exceptions that damaged zip files and array headers raise; found by flipping bytes in tests."""


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
        archive.writestr(HEADER, encode_json(whole))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def read_archive(path: Path, kind: str) -> Archive:
    """Read a file; raise an error if it is damaged, of another kind, or of a later version."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(HEADER))
            _check_header(header, path, kind)
            arrays = {name: _read_array(archive, f"{name}.npy") for name in header["arrays"]}
    except FileNotFoundError as error:
        raise DataError(f"Cannot read the {kind} {path}: no such file. Check the name.") from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # a seek to a position that a damaged header names
            raise _damaged(path, kind, error) from error
        raise DataError(
            f"Cannot read the {kind} {path}: {describe_os_error(error)}. Check its permissions."
        ) from error
    except DataError:
        raise
    except DAMAGED as error:
        raise _damaged(path, kind, error) from error
    return Archive(header, arrays)


def _damaged(path: Path, kind: str, error: Exception) -> DataError:
    return DataError(
        f"Cannot read the {kind} {path}: the file is damaged or not written by isosne ({error}). "
        "Choose another file; this one was not modified."
    )


def _check_header(header: Any, path: Path, kind: str) -> None:
    found = header.get("isosne") if isinstance(header, dict) else None
    if found != kind:
        what = f"a {found} of isosne" if found else "something else"
        raise DataError(
            f"{path} must contain a {kind} of isosne; it contains {what}. "
            "Choose another file; this one was not modified."
        )
    if header.get("form") != FORMAT_VERSION:
        raise DataError(
            f"{path} uses file format {header.get('form')}, written by isosne "
            f"{header.get('version')}; this version reads formats up to {FORMAT_VERSION}. "
            "Update isosne to read it."
        )


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name) as member:
        array: Array = npy.read_array(member, allow_pickle=False)
        member.read()  # up to the end of the member, where its checksum is compared
        return array
