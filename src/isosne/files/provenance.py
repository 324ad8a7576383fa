"""How a map was made, as a line of JSON that every map carries."""

import json
from collections.abc import Mapping
from typing import Any

from isosne._files import encode_json
from isosne.errors import DataError, ParameterError

KEY = "isosne"
"""Name under which Parquet, Arrow and .npz keep the line."""
COMMENT = "# isosne: "
"""Beginning of the line in a CSV."""
FORMAT = 1
"""Version of the layout of maps; a reader refuses later ones."""


def as_line(provenance: Mapping[str, Any]) -> str:
    """Return provenance as one line of JSON."""
    try:
        return encode_json({"format": FORMAT, **provenance})
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"provenance must hold text, numbers, lists and dictionaries; {error}. "
            "Convert what it holds to one of them."
        ) from error


def from_line(line: str | bytes | None, source: str) -> dict[str, Any]:
    """Return provenance from its line; refuse a file that is not a map of isosne."""
    try:
        found = json.loads(line or "")
        version = int(found.pop("format"))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DataError(
            f"A map must be a file that isosne wrote; {source} does not say so. "
            "Pass a map, or read the file as a table."
        ) from None
    if version > FORMAT:
        raise DataError(
            f"{source} was written by a later version of isosne (format {version}); this one reads "
            f"up to format {FORMAT}. Update isosne."
        )
    return dict(found)
