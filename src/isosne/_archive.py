"""One file for a model or a checkpoint: a header in JSON and arrays, in a zip, without pickles.

The header names what the file holds and the version of its form. Every member carries its checksum,
so a damaged file is noticed; whatever cannot be understood is refused and left as it is.
"""

import errno
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from isosne._files import encode_json, whole_file
from isosne._types import Array
from isosne._version import __version__
from isosne.errors import DataError

FORM = 1
"""Version of the form; a file with a higher one was written by a later isosne."""
HEADER = "header.json"
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, KeyError, UnicodeDecodeError, ValueError),
    *(RuntimeError, MemoryError, OverflowError, struct.error),
)
"""What a zip and its members raise that are not what their headers say."""


class Archive(NamedTuple):
    """What a file holds: plain values, and arrays by name."""

    header: dict[str, Any]
    arrays: dict[str, Array]


def write_archive(
    path: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write a file of some kind in one piece, or leave what was there; replaces a file."""
    about = {"isosne": kind, "form": FORM, "version": __version__, "arrays": list(arrays)}
    whole = about | dict(header)
    with whole_file(path, force=True) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(HEADER, encode_json(whole))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def read_archive(path: Path, kind: str) -> Archive:
    """Read a file of some kind; refuse one that is damaged, foreign or too new."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(HEADER))
            _check_header(header, path, kind)
            arrays = {name: _read_array(archive, f"{name}.npy") for name in header["arrays"]}
    except FileNotFoundError as error:
        raise DataError(
            f"The {kind} must be in a file that exists; there is no {path}. Check the name."
        ) from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # a place in the file that there is not
            raise _damaged(path, kind, error) from error
        raise DataError(
            f"The {kind} must be in a file that can be read; {path} cannot: "
            f"{error.strerror or error}. Check its permissions."
        ) from error
    except DataError:
        raise
    except DAMAGE as error:
        raise _damaged(path, kind, error) from error
    return Archive(header, arrays)


def _damaged(path: Path, kind: str, error: Exception) -> DataError:
    return DataError(
        f"{path} must hold a whole {kind} of isosne; it is damaged or something else "
        f"({error}). Choose another file; this one was left as it is."
    )


def _check_header(header: Any, path: Path, kind: str) -> None:
    found = header.get("isosne") if isinstance(header, dict) else None
    if found != kind:
        raise DataError(
            f"{path} must hold a {kind} of isosne; it holds {found or 'something else'}. "
            "Choose another file; this one was left as it is."
        )
    if header.get("form") != FORM:
        raise DataError(
            f"{path} must be in form {FORM} or lower; it is in form {header.get('form')}, written "
            f"by isosne {header.get('version')}. Update isosne to read it."
        )


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name) as member:
        array: Array = npy.read_array(member, allow_pickle=False)
        member.read()  # to the end, where the checksum is compared
        return array
