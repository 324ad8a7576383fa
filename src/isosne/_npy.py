"""Headers of .npy arrays, read within limits.

A header says how much memory the values take. It is checked before any of that memory is reserved,
and NumPy parses it as a Python literal only if it is short.
"""

import io
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import numpy as np

LONGEST_HEADER = 10_000
"""Longest header in bytes; the limit of `numpy.load`."""
MAGIC_BYTES = 8
"""Bytes of the magic string and the version."""


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

    Raises a ValueError if the header is damaged.
    """
    start = file.read(MAGIC_BYTES)
    n_length = 2 if start[-2:] == b"\x01\x00" else 4  # bytes of the length, by the version
    length = file.read(n_length)
    n_bytes = int.from_bytes(length, "little")
    if n_bytes > LONGEST_HEADER:
        raise ValueError(f"the header of an array has {n_bytes:,} bytes")
    header = _parse(io.BytesIO(start + length + file.read(n_bytes)))
    if any(length < 0 for length in header.shape):
        raise ValueError(f"an array has the shape {header.shape}")
    return header


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress what NumPy and Python warn of in a header that is old or damaged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _parse(file: BinaryIO) -> Header:
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        with quiet():
            return Header(*read(file))
    except Exception as error:  # damaged literals raise anything, from TokenError to MemoryError
        raise ValueError(f"the header of an array is damaged: {error}") from error
