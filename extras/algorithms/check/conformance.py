"""The conformance suite for plug-ins: `python -m certree.conformance MODULE`."""

import importlib
import sys
from typing import Any

from certree.api import names
from certree.extras.algorithms.check.entry_checks import CHECKS
from certree.models.common.registry import Registry, entries_since, entries_so_far
from certree.models.network.network_files import load_network_formats

USAGE = (
    "usage: python -m certree.conformance MODULE, the name of a module that registers methods, families, formats, rules or costs"
)


def load_everything() -> None:
    """Load every registry, so that a name that is taken is found out."""
    names()
    load_network_formats()


def conformance(module: str) -> dict[str, list[str]]:
    """The faults found in each entry that a module registers, by `KIND NAME`; an empty list for an entry that conforms. ImportError
    and what else the module raises is passed on; ValueError where it registers nothing. Seconds for each entry.

    Of an installed plug-in, which is imported with the registries, the entries are those whose functions are its own.
    """
    load_everything()
    before = entries_so_far()
    importlib.import_module(module)
    entries = entries_since(before) or [
        (registry, name) for registry, name in entries_since(0) if name in registry and _is_of(module, registry[name])
    ]
    if not entries:
        raise ValueError(f"{module} registers nothing")
    return {f"{registry.kind} {name}": [*_faults(registry, name)] for registry, name in entries}


def _is_of(module: str, entry: object) -> bool:
    """Whether an entry, or a function that it has, is written in a module or below it (`written_in`: of methods in Python)."""
    parts = [entry, *getattr(entry, "__dict__", {}).values()]
    places = [getattr(part, "written_in", getattr(part, "__module__", "")) for part in parts]
    return any(f"{place}.".startswith(f"{module}.") for place in places)


def _faults(registry: Registry[Any], name: str) -> list[str]:
    if registry.kind not in CHECKS:
        return [f"entries of this kind are not checked; checked are {', '.join(sorted(CHECKS))}"]
    return list(CHECKS[registry.kind](registry, name))


def main(arguments: list[str] | None = None) -> None:
    """Print a line for each entry and fault; exit code 1 where there are faults, 2 where the module cannot be checked."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1 or given[0].startswith("-"):
        sys.stderr.write(f"{USAGE}\n")
        sys.exit(2)
    sys.path.insert(0, "")
    try:
        found = conformance(given[0])
    except Exception as error:
        sys.stderr.write(f"error: {given[0]}: {type(error).__name__}: {error}".partition("\n")[0] + "\n")
        sys.exit(2)
    for entry, faults in found.items():
        sys.stdout.write(f"{entry}: {f'{len(faults)} faults' if faults else 'conforms'}\n")
        sys.stdout.writelines(f"  {fault}\n" for fault in faults)
    sys.exit(1 if any(found.values()) else 0)
