"""Rows that need not be in memory: arrays, files, folders and Dask collections behind one face."""

from isosne.sources.base import Rows, blocks, is_stored
from isosne.sources.formats import open_rows

__all__ = ["Rows", "blocks", "is_stored", "open_rows"]
