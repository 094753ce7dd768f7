"""Templates and other assets of pages."""

from functools import partial
from importlib import resources

import jinja2

PAGES = "certree.extras.reports.pages"


def environment(package: str = PAGES) -> jinja2.Environment:
    """The templates in the folder `assets` of a package; what they show is escaped."""
    loader = jinja2.FunctionLoader(partial(asset, package=package))
    return jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )


def asset(name: str, package: str = PAGES) -> str:
    """The text of a file in the folder `assets` of a package."""
    return (resources.files(package) / "assets" / name).read_text(encoding="utf-8")
