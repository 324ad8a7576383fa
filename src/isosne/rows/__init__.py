"""Read rows of arrays, files, folders and Dask collections, and write and read maps.

Rows need not fit in memory: every source reads them in blocks or by index. Names are imported at
first use: a fit of an array needs no reader.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isosne.rows.formats import open_rows
    from isosne.rows.map_writer import MapWriter as MapWriter
    from isosne.rows.maps import Map, read_map
    from isosne.rows.rows import Rows
    from isosne.rows.rows import blocks as blocks
    from isosne.rows.rows import is_stored as is_stored
    from isosne.rows.table_reader import Table as Table
    from isosne.rows.table_reader import read_table as read_table

_HOME = {
    **dict.fromkeys(("Rows", "blocks", "is_stored"), "rows"),
    **dict.fromkeys(("Map", "read_map"), "maps"),
    **dict.fromkeys(("Table", "read_table"), "table_reader"),
    **{"MapWriter": "map_writer", "open_rows": "formats"},
}
__all__ = ["Map", "Rows", "open_rows", "read_map"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"isosne.rows.{_HOME[name]}"), name)
    raise AttributeError(f"module 'isosne.rows' has no attribute {name!r}")
