"""The properties that TLC checks, with what their modules say about them."""

import re
from functools import cache
from pathlib import Path

from certree.extras.tla.check.model_file import listed
from certree.extras.tla.check.model_runs import specs_folder
from certree.models.common.registry import Registry

_DEFINITION = re.compile(r"(?P<comment>(?:^\\\*.*\n)*)^(?P<name>[A-Za-z]\w*) ==", re.MULTILINE)


class SpecProperty:
    """A property of the specifications: `modules` has by module the sentence that stands before its definition.

    A definition without a comment of its own belongs to the comment before it.
    """

    def __init__(self, modules: dict[str, str]) -> None:
        self.modules = modules
        self.__doc__ = "\n\n".join(f"{text} ({module})" for module, text in modules.items())


@cache
def load_properties() -> Registry[SpecProperty]:
    """The properties that models of `specs/models.toml` name, for `certree list`; the time is that of reading all modules.

    >>> print(load_properties().explain("RightSum"))
    What a host takes for a result is the sum of all contributions. (InNetworkReduce)
    <BLANKLINE>
    What is finished is right, as an invariant. (NIProof)
    """
    asked = {
        name
        for model in listed().models.values()
        for name in (*model.configuration.invariants, *model.configuration.properties, model.expected.breaks)
    }
    found: dict[str, dict[str, str]] = {}
    for path in sorted(specs_folder().glob("*.tla")):
        for name, comment in _commented(path).items():
            if name in asked:
                found.setdefault(name, {})[path.stem] = comment
    registry: Registry[SpecProperty] = Registry("TLA+ property")
    for name, modules in found.items():
        registry.register(name)(SpecProperty(modules))
    return registry


def _commented(module: Path) -> dict[str, str]:
    """The comment before each definition of a module."""
    found, comment = {}, ""
    for match in _DEFINITION.finditer(module.read_text()):
        lines = [line[2:].strip() for line in match["comment"].splitlines()]
        comment = " ".join(lines) or comment
        found[match["name"]] = comment
    return found
