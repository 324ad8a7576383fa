"""Scripts, styles and templates of the pages, as files of their own kind."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


@cache
def read_asset(name: str) -> str:
    """Return the text of a file of this folder."""
    return files(__name__).joinpath(name).read_text("utf-8")


def template(name: str) -> Template:
    """Return a template; it escapes whatever is put into it."""
    loader = PackageLoader(__name__, "")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template(name)
