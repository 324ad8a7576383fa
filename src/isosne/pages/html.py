"""A scene and a template, as the text of one HTML file that needs nothing else."""

from typing import Any

from bokeh.embed import file_html
from bokeh.resources import Resources

import isosne
from isosne.pages.assets import template
from isosne.pages.scene import Scene


def as_html(name: str, scene: Scene, *, title: str, **said: Any) -> str:
    """Fill a template with a scene and with what else it says."""
    variables = {
        "scene": scene,
        "about": scene.about,
        "is_strip": scene.is_strip,
        "version": isosne.__version__,
        **said,
    }
    return file_html(
        scene.as_document(),
        Resources(mode="inline", minified=True),
        title,
        template=template(name),
        template_variables=variables,
    )
