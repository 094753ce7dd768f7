"""The named topology families: one file each, registered by decorator and found by being in this folder."""

import importlib
import pkgutil
from collections.abc import Callable

from certree.models.registry import Registry
from certree.models.topology import Topology

Builder = Callable[[str], Topology]

#: family name -> builder taking the text behind the colon (`8x8` of `torus:8x8`)
FAMILIES: Registry[Builder] = Registry("topology family")


def load_families() -> Registry[Builder]:
    """The registry, with every module of this folder imported."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return FAMILIES
