"""Links to examples, and a check of the links within the built site.

A page links to the script of an example, which a checkout has; on the site, the link leads to the
page of the example. Each link of the site must lead to a file, and to an anchor that is in it. A
broken link is a warning, which `make docs` treats as an error. Addresses of other sites, and of
other versions of this one, are not visited.
"""

import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
EXAMPLE = re.compile(r"\]\(\.\./examples/gallery(?:/([\w/]+)\.py)?\)")
LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}


class Page(HTMLParser):
    """The anchors of a page, and the addresses that it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.addresses: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the anchors and the address of an element."""
        given = dict(attrs)
        self.anchors |= {given[name] or "" for name in ("id", "name") if name in given}
        if address := given.get(LINKS.get(tag, "")):
            self.addresses.add(address)
        for candidate in (given.get("srcset") or "").split(","):
            self.addresses |= set(candidate.split()[:1])


def broken_links(site: Path, versions: Collection[str] = ()) -> Iterator[tuple[Path, str]]:
    """Yield each page with an address in the site that does not exist.

    ``versions`` are folders beside the site that may be linked to.
    """
    elsewhere = [site.parent / version for version in versions if version != site.name]
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for address in sorted(page.addresses):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if any(target.is_relative_to(folder) for folder in elsewhere):
                continue
            anchors = pages[target].anchors if target in pages else set()
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in anchors):
                yield path.relative_to(site), address


def link_example_pages(text: str) -> str:
    """Return a page of the documentation whose links to scripts lead to pages of examples."""
    return EXAMPLE.sub(lambda found: f"](gallery/{found[1] or 'index'}.rst)", text)


def _read(app: Sphinx, name: str, content: list[str]) -> None:
    content[0] = link_example_pages(content[0])


def _check(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        versions = app.config.published_versions
        for path, address in broken_links(Path(app.outdir).resolve(), versions):
            logger.warning("%s: broken link to %s", path, address)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the links and the check."""
    app.connect("source-read", _read)
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
