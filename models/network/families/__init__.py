"""The named topology families: one file each, registered by decorator, in `regular`, `routers` or `cabled`; extras add theirs."""

from collections.abc import Callable

from certree.models.common.extras import import_plug_ins
from certree.models.common.registry import Registry, import_folder
from certree.models.network.topology import Topology

Builder = Callable[[str], Topology]

#: family name -> builder taking the text behind the colon (`8x8` of `torus:8x8`)
FAMILIES: Registry[Builder] = Registry("topology family")


def load_families() -> Registry[Builder]:
    """The registry, with every module of this folder imported, and those of extras."""
    import_folder(__name__)
    import_plug_ins("topology families")
    return FAMILIES
