"""Sphinx configuration: `make docs` builds the pages into build/site."""

from importlib.metadata import version as installed_version

project = "isosne"
author = "The isosne developers"
copyright = author  # noqa: A001  Sphinx's name
release = version = installed_version("isosne")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"isosne {version}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]  # a wider text column, so that code blocks fit
myst_heading_anchors = 3
highlight_language = "none"  # blocks without a language are commands, output or drawings
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give the types
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_default_options = {
    "exclude-members": "set_fit_request,set_transform_request,get_metadata_routing",
}
