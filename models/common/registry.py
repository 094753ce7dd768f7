"""Registries filled by decorator: one per kind of plug-in (topology family, method, table format)."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Generic, TypeVar

from certree.models.common.errors import InputError, unknown_name

T = TypeVar("T")
_REGISTERED: list[tuple["Registry[Any]", str]] = []


def entries_so_far() -> int:
    """How many entries have been registered, in all registries."""
    return len(_REGISTERED)


def entries_since(count: int) -> list[tuple["Registry[Any]", str]]:
    """The (registry, name) of those that were registered after the first `count`."""
    return _REGISTERED[count:]


@cache
def import_folder(package: str) -> None:
    """Import every module below a package's folder, its sub-folders included, so that their entries register."""
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(module.name)


class Registry(Generic[T]):
    """Named entries of one kind, in alphabetical order; the first line of each docstring is its help text."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}
        self._examples: dict[str, tuple[str, ...]] = {}

    def register(self, name: str, *examples: str) -> Callable[[T], T]:
        """Add the decorated object under `name`; a second entry of that name, or one without a docstring, raises. `examples`:
        names with arguments, for tests of all entries."""

        def add(entry: T) -> T:
            if name in self._entries:
                raise ValueError(f"two {self.kind} entries are called {name!r}")
            if not (entry.__doc__ or "").strip():
                raise ValueError(f"the {self.kind} {name!r} needs a docstring")
            self._entries[name], self._examples[name] = entry, examples
            _REGISTERED.append((self, name))
            return entry

        return add

    def discard(self, name: str) -> None:
        """Take an entry out, if there is one: functions of a notebook are registered again."""
        self._entries.pop(name, None)

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            raise InputError(unknown_name(self.kind, name, self)) from None

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def examples(self, name: str) -> tuple[str, ...]:
        """The examples that an entry was registered with."""
        return self._examples[name]

    def describe(self) -> list[tuple[str, str]]:
        """(name, first docstring line) of every entry."""
        return [(name, self.explain(name).splitlines()[0]) for name in self]

    def explain(self, name: str) -> str:
        """The whole docstring of an entry, without its indentation."""
        return inspect.cleandoc(self[name].__doc__ or "")
