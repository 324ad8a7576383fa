"""Explore maps in the browser: the only package that imports Panel.

`explore` serves a page that shows a map while it is computed, answers questions about its points,
and compares two maps. The modules: `data`, `settings` and `session` (what is explored), `run` and
`measuring` (threads), `questions` and `alignment` (answers), `canvas`, `themes`, `controls`,
`panes`, `quality_pane`, `command_pane` and `page` (what a tab shows), `uploads` and `exports`
(files), `server`.
"""

from isosne._extras import require

require("panel", "explore", "isosne.explore")  # before the imports below need it

from isosne.explorer.explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
