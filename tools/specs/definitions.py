"""The definitions of a TLA+ module that its specification is made of, as text."""

import re
from dataclasses import dataclass

from tools.specs.mutants import without_comments

_HEAD = re.compile(r"^(\w+)(?:\(([\w, ]+)\))? ==", re.MULTILINE)
_BLOCK_END = re.compile(r"^\S", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z]\w*\b")
_DECLARED = re.compile(r"^(CONSTANTS?|VARIABLES?)\b(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_TEMPORAL = re.compile(r"\b[WS]F_|\[\]\[|(?<!<)<>(?!>)")


@dataclass(frozen=True)
class Definition:
    """One definition: name, parameters, and the text behind `==` up to the next definition, with its columns.

    `start` and `end` are the place of all of it in the module's text without comments; `column` is that of the text behind `==`.
    """

    name: str
    parameters: tuple[str, ...]
    body: str
    start: int
    end: int
    column: int

    @property
    def is_temporal(self) -> bool:
        """Whether it is about whole runs: fairness."""
        return bool(_TEMPORAL.search(self.body))

    @property
    def has_empty_tuple(self) -> bool:
        """Whether it mentions the empty tuple."""
        return "<<>>" in self.body


@dataclass(frozen=True)
class Module:
    """A module: name, text without comments, its definitions by name, and what it declares."""

    name: str
    text: str
    definitions: dict[str, Definition]
    constants: tuple[str, ...]
    variables: tuple[str, ...]


def module_of(name: str, text: str) -> Module:
    """The parts of a module.

    >>> module_of("M", "VARIABLE x\\nInit == x = 0\\nStep(k) ==\\n  x' = k\\n====").definitions["Step"].parameters
    ('k',)
    """
    bare = without_comments(text)
    found = {}
    for match in _HEAD.finditer(bare):
        after = _BLOCK_END.search(bare, match.end())
        end = after.start() if after else len(bare)
        column = match.end() - match.start()
        parameters = tuple(part.strip() for part in (match[2] or "").split(",") if part.strip())
        found[match[1]] = Definition(match[1], parameters, bare[match.end() : end].rstrip(), match.start(), end, column)
    declared: dict[str, list[str]] = {"C": [], "V": []}
    for match in _DECLARED.finditer(bare):
        declared[match[1][0]] += _WORD.findall(match[2])
    return Module(name, bare, found, tuple(declared["C"]), tuple(declared["V"]))


def reached_from(modules: dict[str, Module], names: set[str]) -> set[str]:
    """The definitions that these names use, directly or not, in any of the modules; they themselves included."""
    bodies = {name: definition.body for module in modules.values() for name, definition in module.definitions.items()}
    found: set[str] = set()
    new = names & bodies.keys()
    while new:
        found |= new
        new = {word for name in new for word in _WORD.findall(bodies[name])} & bodies.keys() - found
    return found
