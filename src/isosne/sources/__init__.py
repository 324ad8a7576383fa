"""Read the rows of arrays, files, folders and Dask collections through one interface.

Rows need not fit in memory: every source reads them in blocks or by index.
"""

from isosne.sources.formats import open_rows
from isosne.sources.mixture import MixtureRows
from isosne.sources.rows import Rows, blocks, is_stored

__all__ = ["MixtureRows", "Rows", "blocks", "is_stored", "open_rows"]
