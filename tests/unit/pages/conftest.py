"""Maps to show, and a page as its reader's browser would take it apart."""

import base64
import gzip
import html
import json
from html.parser import HTMLParser

import numpy as np
import pytest


class Page(HTMLParser):
    """The text of a page: its elements, what they refer to, its words and its tables."""

    def __init__(self, text):
        super().__init__()
        self.text = text
        self.tags, self.references, self.links, self.shown = [], [], [], []
        self.scripts = {}
        self._within = None
        self.feed(text)
        self.about = json.loads(self.scripts.pop("about"))
        others = [json.loads(html.unescape(data)) for data in self.scripts.values()]
        (self.document,) = (entry for found in others for entry in found.values())
        self.tables = [self._table(found) for found in _find(self.document, "ColumnDataSource")]
        self.table = max(self.tables, key=len)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        self._within = (tag, given)
        if tag == "a":
            self.links.append(given["href"])
        else:
            self.references += [given[name] for name in ("src", "href") if name in given]
        if tag == "script" and given.get("type") == "application/json":
            self.scripts[given["id"]] = ""

    def handle_endtag(self, tag):
        self._within = None

    def handle_data(self, data):
        tag, given = self._within or ("", {})
        if tag == "script" and given.get("type") == "application/json":
            self.scripts[given["id"]] += data
        elif tag not in ("script", "style"):
            self.shown.append(data)

    @property
    def words(self):
        """What the page says, apart from what its script adds."""
        return " ".join(" ".join(self.shown).split())

    def _table(self, source):
        entries = source["attributes"]["data"]["entries"]
        return {name: _decode(values) for name, values in entries}

    def column(self, name):
        """Return a column that readers see, as they see it, in the order of the rows."""
        columns = self.about["columns"] + self.about["coordinates"]
        (told,) = (column for column in columns if column["name"] == name)
        values = self.table[told["field"]]
        if told["words"] is not None:
            values = np.array(told["words"])[values]
        return self.by_row(values)

    def by_row(self, values):
        return values[np.argsort(self.table["row"])]

    def find(self, kind):
        return list(_find(self.document, kind))


def _find(node, kind):
    if isinstance(node, dict):
        if node.get("name") == kind:
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from _find(part, kind)


def _decode(values):
    if isinstance(values, list):
        return np.array(values)
    data = values["array"]
    if isinstance(data, dict):
        raw = base64.b64decode(data["data"])
        if raw.startswith(b"\x1f\x8b"):  # later versions of Bokeh compress
            raw = gzip.decompress(raw)
        return np.frombuffer(raw, values["dtype"])
    return np.array(data)


@pytest.fixture
def read_page():
    """Take a page apart, from its path or its text."""
    return lambda page: Page(page if isinstance(page, str) else page.read_text("utf-8"))


@pytest.fixture
def map_of():
    """Make a map of n points."""

    def make(n, n_dims=2):
        return np.random.default_rng(n).normal(size=(n, n_dims)).astype(np.float32)

    return make
