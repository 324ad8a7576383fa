"""Encode the provenance of a map as one line of JSON."""

import json
from collections.abc import Mapping
from typing import Any

from isosne._files import encode_json
from isosne.errors import DataError, ParameterError

KEY = "isosne"
"""Name of the line in the metadata of Parquet and Arrow files, and of the array in .npz files."""
COMMENT = "# isosne: "
"""Start of the line in CSV files of the first version; today it is in a file of its own."""
FORMAT_VERSION = 1
"""Version of the layout of map files; higher versions cannot be read."""


def encode_provenance(provenance: Mapping[str, Any]) -> str:
    """Return provenance as one line of JSON."""
    try:
        return encode_json({"format": FORMAT_VERSION, **provenance})
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "provenance",
            f"contain only strings, numbers, lists and dictionaries ({error})",
            hint="Convert other values to one of these types.",
        ) from error


def decode_provenance(line: str | bytes | None, source: str) -> dict[str, Any]:
    """Return provenance from its line; raise an error if a file is not a map of isosne."""
    try:
        found = json.loads(line or "")
        version = int(found.pop("format"))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DataError(
            f"{source} must be a map written by isosne; it has no provenance. "
            "Pass a map, or read the file as a table."
        ) from None
    if version > FORMAT_VERSION:
        raise DataError(
            f"{source} uses map format {version}; this version of isosne reads formats up to "
            f"{FORMAT_VERSION}. Update isosne."
        )
    return dict(found)
