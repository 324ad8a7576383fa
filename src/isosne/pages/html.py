"""Rendering of a scene and a template to a self-contained HTML file."""

from typing import Any, Protocol

from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.resources import Resources

import isosne
from isosne.pages.assets import load_template


class OwnResources(Resources):
    """Bokeh's scripts, inline.

    Bokeh adds the scripts of all models that the process knows, such as those of Panel after
    `isosne.explore`. They are files on a server, which a page does not have.
    """

    def _collect_external_resources(self, resource_attr: Any) -> list[str]:
        return []

    def clone(self, *, components: Any = None) -> "OwnResources":
        """Return the same resources for some components of Bokeh."""
        return OwnResources(mode="inline", minified=True, components=components)


class Scene(Protocol):
    """The figures of a page, and what its script reads of them."""

    about: dict[str, Any]
    is_strip: bool

    def as_document(self) -> Document:
        """Return the figures as a Bokeh document with scripts."""
        ...


def render_template(name: str, scene: Scene, *, title: str, **variables: Any) -> str:
    """Fill a template with a scene and further variables."""
    known = {
        "scene": scene,
        "about": scene.about,
        "is_strip": scene.is_strip,
        "version": isosne.__version__,
    }
    return file_html(
        scene.as_document(),
        OwnResources(mode="inline", minified=True),
        title,
        template=load_template(name),
        template_variables=known | variables,
    )
