"""Scripts, styles and templates of the pages."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


@cache
def read_asset(name: str) -> str:
    """Return the text of a file in this folder."""
    return files(__name__).joinpath(name).read_text("utf-8")


def load_template(name: str) -> Template:
    """Return a template; it escapes all variables."""
    loader = PackageLoader(__name__, "")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template(name)
