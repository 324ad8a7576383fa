"""A chooser of versions in the sidebar, for versions of the site that are published side by side.

Each version is in a folder of its name, and `published_versions` lists the names. A link leads to
the same page of the other version if that is in a folder beside the output folder, and has it;
otherwise to the front page of that version.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sphinx.application import Sphinx


class Version(NamedTuple):
    """A version of the site, and the address of a page of it."""

    name: str
    address: str
    is_present: bool


def link_versions(names: Sequence[str], present: str, site: Path, page: str) -> Iterator[Version]:
    """Yield the versions for a page of the present one, which is first if it is not listed."""
    up = "../" * (page.count("/") + 1)
    for name in names if present in names else (present, *names):
        target = page if (site.parent / name / page).is_file() else "index.html"
        yield Version(name, f"{up}{name}/{target}", name == present)


def _add_versions(app: Sphinx, name: str, _: str, context: dict[str, Any], __: Any) -> None:
    listed = app.config.published_versions
    page = app.builder.get_target_uri(name)
    versions = link_versions(listed, app.config.release, Path(app.outdir), page)
    context["published_versions"] = list(versions) if listed else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the setting, and what the template needs."""
    app.add_config_value("published_versions", [], "html", list)
    app.connect("html-page-context", _add_versions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
