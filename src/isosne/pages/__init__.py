"""Pages that open in any browser, without a network: the one door to Bokeh.

`write_page` shows one map; `write_report` draws a map with either kernel and says how far each can
be trusted. A page is one HTML file that holds its data, its script and its style.
"""

try:
    import bokeh  # noqa: F401  # asked for here, so that one sentence covers all modules
except ImportError:
    from isosne.errors import MissingPackageError

    raise MissingPackageError(
        "isosne.pages needs the package bokeh, which is not installed. "
        "Run pip install 'isosne[pages]'."
    ) from None

from isosne.pages.page import write_page
from isosne.pages.report import render, write_report

__all__ = ["render", "write_page", "write_report"]
