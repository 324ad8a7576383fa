"""Sphinx configuration: `make docs` builds the pages into build/site."""

import logging
import os
import sys
from pathlib import Path

from isosne import __version__
from isosne.kernels.base import PUBLIC_METHODS

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))  # the extensions of this site
logging.getLogger("isosne").setLevel(logging.WARNING)  # accessible-pygments, of furo, prints INFO

project = "isosne"
author = "The isosne developers"
copyright = author  # noqa: A001  Sphinx's name
release = version = os.environ.get("ISOSNE_DOCS_VERSION", __version__)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "internal_links",
    "published_versions",
]
exclude_patterns = [
    "_build",
    "gallery/**/*.ipynb",
    "gallery/**/*.md5",
    "gallery/**/GALLERY_HEADER*",
]
templates_path = ["_templates"]
default_role = "py:obj"  # names in single backticks of docstrings are links where they can be
suppress_warnings = ["ref.python"]  # TSNE is isosne.TSNE, though isosne.compat has another
highlight_language = "none"  # blocks without a language are commands, output or drawings

html_theme = "furo"
html_title = f"isosne {version}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {  # those of furo, and the versions
    "**": [
        "sidebar/brand.html",
        "sidebar/versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
published_versions = os.environ.get("ISOSNE_DOCS_VERSIONS", "").split()

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_context = {"kernel_methods": PUBLIC_METHODS}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give the types
autodoc_default_options = {
    "exclude-members": "set_fit_request,set_transform_request,get_metadata_routing",
}
numpydoc_show_class_members = False  # the template of classes does it

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

SECTIONS = ["start", "data", "kernels", "reading", "optimization", "large", "sharing"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "subsection_order": [f"../examples/gallery/{name}" for name in SECTIONS],
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib", "gallery_pictures.scrape"),
    "image_srcset": ["2x"],
    "ignore_repr_types": r"matplotlib|IPython\.core\.display\.Image",
    "first_notebook_cell": "%matplotlib inline",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("isosne",),
    "abort_on_example_error": False,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,  # seconds: times of one machine are not shown
}
