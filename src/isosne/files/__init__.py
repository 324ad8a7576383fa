"""Tables that go in, and maps that come out, as files or through pipes."""

from isosne.files.map_writer import MapWriter
from isosne.files.maps import Map, read_map
from isosne.files.tables import Table, read_table

__all__ = ["Map", "MapWriter", "Table", "read_map", "read_table"]
