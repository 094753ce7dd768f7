"""Extras: what each folder of `certree.extras` adds to the kernel, as stated by its module `extra`.

The kernel imports no extra by name. It asks this module, and what an extra has stated is imported when it is used. The same holds
for plug-ins: what other installed distributions add to the registries, found by their entry points.
"""

import importlib
import pkgutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Any

from certree.models.common.errors import UnsupportedError, printable
from certree.models.common.registry import entries_since, entries_so_far, import_folder

#: by name of what is added, the place `module:object`, the module relative to the extra
Places = Mapping[str, str]
#: by kind of entry the group of entry points whose modules register such entries
GROUPS = {
    "methods": "certree.methods",
    "topology families": "certree.topologies",
    "network files": "certree.importers",
    "table formats": "certree.formats",
    "rules": "certree.rules",
    "cost models": "certree.costs",
}
_ASKED: set[str] = set()


@dataclass(frozen=True)
class Extra:
    """The entries that one extra adds to the kernel.

    `provides`: what the kernel uses by the names on the left, such as the pictures of networks. `registries` and `presets`: kinds
    that `certree list` shows; functions that return a `Registry`, or a line for each name. `plug_ins`: by kind ("methods", "rules",
    "network files", "topology families", "table formats", "cost models", "artefacts", "documents", "forms", "traces", "program
    formats", "executors") the modules or folders whose import registers entries of the kernel's registries. `is_preview`: its names
    may change in a minor version.
    """

    provides: Places = field(default_factory=dict)
    registries: Places = field(default_factory=dict)
    presets: Places = field(default_factory=dict)
    plug_ins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_preview: bool = False


@cache
def extras() -> dict[str, Extra]:
    """The extras of this installation, by the name of their folder, in alphabetical order."""
    try:
        package = importlib.import_module("certree.extras")
    except ModuleNotFoundError:
        return {}
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg)
    return {name: importlib.import_module(f"certree.extras.{name}.extra").EXTRA for name in names}


def places(what: str) -> dict[str, str]:
    """The places `certree.extras.X.module:object` that all extras state under `provides`, `registries` or `presets`, by name."""
    return {
        name: f"certree.extras.{extra}.{place}"
        for extra, stated in extras().items()
        for name, place in getattr(stated, what).items()
    }


def object_at(place: str) -> Any:
    """The object at a place `module:object`; its module is imported."""
    module, _, name = place.partition(":")
    return attrgetter(name)(importlib.import_module(module))


def provided(name: str) -> Any:
    """The object that an extra provides to the kernel under a name; UnsupportedError where no extra of this installation does."""
    known = places("provides")
    if name not in known:
        raise UnsupportedError(f"no extra of this installation provides {name}")
    return object_at(known[name])


@cache
def import_plug_ins(kind: str) -> None:
    """Import the modules and folders in which extras, and plug-ins of other distributions, register entries of this kind."""
    for extra, stated in extras().items():
        for name in stated.plug_ins.get(kind, ()):
            module = importlib.import_module(f"certree.extras.{extra}.{name}")
            if hasattr(module, "__path__"):
                import_folder(module.__name__)
    _import_installed(kind)


def _import_installed(kind: str) -> None:
    """Import the plug-ins of a kind, once. One that raises is switched off: what it registered is taken out, a line on standard
    error names it, and everything else goes on."""
    if kind not in GROUPS or kind in _ASKED:
        return
    _ASKED.add(kind)  # first of all: what is imported asks for the same registry
    for point in sorted(_points().select(group=GROUPS[kind]), key=lambda point: (point.name, point.value)):
        _import(point)


@cache
def _points() -> Any:
    """The entry points of this environment, read once: a few milliseconds for a hundred distributions. Their class differs between
    versions of Python."""
    return entry_points()


def _import(point: EntryPoint) -> None:
    before, loaded = entries_so_far(), set(sys.modules)
    try:
        point.load()
    except (Exception, SystemExit) as error:
        for registry, name in entries_since(before):
            registry.discard(name)
        package = point.module.partition(".")[0]
        for module in [name for name in sys.modules if name.partition(".")[0] == package and name not in loaded]:
            del sys.modules[module]  # checks of modules that are not imported do not run
        whose = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        sys.stderr.write(printable(f"warning: plug-in {point.name}{whose} ({point.group}) is switched off: {reason}\n"))
