"""Maps of any number of rows as tiles: rows, classes and mean values by pixel, at several levels.

`isosne.place_files` and ``isosne place --tiles`` write them while they place rows.
"""

from isosne.tiles.tile_map import TileMap

__all__ = ["TileMap"]
