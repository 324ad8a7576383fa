"""Explore maps in the browser: the only package that imports Panel.

`explore` serves a page that shows a map while it is computed, answers questions about its points,
and compares two maps. What is explored: `data`, `session`, `maps` (fits in threads), `measuring`
(answers). What a tab shows: `page`, `canvas`, `figures`, `colors`, `controls`, `panes`. Beyond the
page: `files`, `server`, `explorer`.
"""

from isosne._extras import require

require("panel", "explore", "isosne.explore")  # before the imports below need it

from isosne.explorer.explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
