"""Plug-ins: what other installed distributions add to the registries, found by their entry points."""

import sys
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points

from certree.models.common.errors import printable
from certree.models.common.registry import entries_since, entries_so_far

#: by kind of entry (`models/common/extras.py`) the group of entry points whose modules register such entries
GROUPS = {
    "methods": "certree.methods",
    "topology families": "certree.topologies",
    "network files": "certree.importers",
    "table formats": "certree.formats",
    "rules": "certree.rules",
    "cost models": "certree.costs",
}
_ASKED: set[str] = set()
#: by `GROUP: NAME` why a plug-in is switched off
SWITCHED_OFF: dict[str, str] = {}


def import_installed(kind: str) -> None:
    """Import the plug-ins of a kind, once. One that raises is switched off: what it registered is taken out, a line on standard
    error names it, and everything else goes on."""
    if kind not in GROUPS or kind in _ASKED:
        return
    _ASKED.add(kind)  # first of all: what is imported asks for the same registry
    for point in sorted(_points().select(group=GROUPS[kind]), key=lambda point: (point.name, point.value)):
        _import(point)


@cache
def _points() -> EntryPoints:
    """The entry points of this environment, read once: a few milliseconds for a hundred distributions."""
    return entry_points()


def _import(point: EntryPoint) -> None:
    before = entries_so_far()
    try:
        point.load()
    except Exception as error:
        for registry, name in entries_since(before):
            registry.discard(name)
        package = point.module.partition(".")[0]
        for module in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[module]  # checks of modules that are not imported do not run
        whose = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        SWITCHED_OFF[f"{point.group}: {point.name}"] = reason
        sys.stderr.write(printable(f"warning: plug-in {point.name}{whose} ({point.group}) is switched off: {reason}\n"))
