"""Read tables, and write and read maps, as files or through pipes."""

from isosne.files.map_reader import read_map
from isosne.files.map_writer import MapWriter
from isosne.files.maps import Map
from isosne.files.table_reader import Table, read_table

__all__ = ["Map", "MapWriter", "Table", "read_map", "read_table"]
