"""Templates and other assets of pages."""

from importlib import resources

import jinja2


def environment() -> jinja2.Environment:
    """The templates of `assets`; what they show is escaped."""
    loader = jinja2.FunctionLoader(asset)
    return jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )


def asset(name: str) -> str:
    """The text of a file of `assets`."""
    return (resources.files("certree.api.pages") / "assets" / name).read_text(encoding="utf-8")
