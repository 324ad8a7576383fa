"""Interactive HTML pages, by Bokeh; besides, only `explorer` imports it.

`write_page` shows one map; `write_report` compares several maps and their quality. A page is a
single HTML file with its data, scripts and styles; it needs no network.
"""

from isosne._extras import require

require("bokeh", "pages", "isosne.pages")  # before the imports below need it

from isosne.pages.page import write_page
from isosne.pages.report import write_report

__all__ = ["write_page", "write_report"]
