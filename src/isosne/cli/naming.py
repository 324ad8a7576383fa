"""Columns that know their name, so that legends and controls can say it."""

from typing import Any


def named(values: Any, name: str | None) -> Any:
    """Return values as a series with a name; as they are, where there are none or no name."""
    if values is None or not name:
        return values
    import narwhals.stable.v2 as nw

    return nw.new_series(name, values, backend="pyarrow")
