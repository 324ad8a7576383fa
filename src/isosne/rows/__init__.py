"""Read rows of arrays, files, folders and Dask collections, and write and read maps.

Rows need not fit in memory: every source reads them in blocks or by index. Names are imported at
first use: a fit of an array needs no reader.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isosne.rows.formats import open_rows
    from isosne.rows.map_writer import MapWriter
    from isosne.rows.maps import Map, read_map
    from isosne.rows.rows import Rows, blocks, is_stored
    from isosne.rows.table_reader import Table, read_table

_HOME = {
    "Map": "maps",
    "MapWriter": "map_writer",
    "Rows": "rows",
    "Table": "table_reader",
    "blocks": "rows",
    "is_stored": "rows",
    "open_rows": "formats",
    "read_map": "maps",
    "read_table": "table_reader",
}
__all__ = [
    "Map",
    "MapWriter",
    "Rows",
    "Table",
    "blocks",
    "is_stored",
    "open_rows",
    "read_map",
    "read_table",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"isosne.rows.{_HOME[name]}"), name)
    raise AttributeError(f"module 'isosne.rows' has no attribute {name!r}")
