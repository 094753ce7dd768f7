"""Templates and other assets of pages."""

import json
from functools import partial
from importlib import resources
from typing import Any

import jinja2

SHARED = "certree.extras.reports.explorer"


def environment(package: str = SHARED) -> jinja2.Environment:
    """The templates in the folder `assets` of a package, and those of the interactive view; what they show is escaped."""
    loaders = [jinja2.FunctionLoader(partial(_found, package=one)) for one in (package, SHARED)]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )


def asset(name: str, package: str = SHARED) -> str:
    """The text of a file in the folder `assets` of a package."""
    return (resources.files(package) / "assets" / name).read_text(encoding="utf-8")


def embedded(document: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _found(name: str, package: str) -> str | None:
    """The text of a file in the folder `assets` of a package, where it is there."""
    return asset(name, package) if (resources.files(package) / "assets" / name).is_file() else None
