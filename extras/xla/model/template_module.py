"""Python modules that are a template with other constants: written, and read without executing them.

The code is the same for all schedules, but for the name of the function. Reading takes the constants as literals, and requires the
rest to be that of the template.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.roles import Roles
from certree.extras.xla.model.packed import unpacked
from certree.models.common.errors import InputError, short, unknown_name
from certree.models.schedule.collective import ALLTOALLV, WITH_ONE_ROOT, CollectiveKind

_CONSTANTS = "# constants of the schedule\n"
_CODE = "# the code below is the same in every such module\n"
_ABOUT = re.compile(r'"""[^"\\]*?Written by `certree export [^`\n]*` for: ([^"\\\n]{0,100})\.\n[^"\\]*"""\n')
_KINDS = {str(kind): kind for kind in CollectiveKind} | {ALLTOALLV: CollectiveKind.ALL_TO_ALL}
_WITH_BLOCKS = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_TO_ALL)
#: constants of every template; `names` of a template has the others
LAYOUT_NAMES = ("COLLECTIVE", "RANKS", "ROOT", "MEMBERS", "DEMAND")


def collective_name(layout: Layout) -> str:
    """The name of the collective in a module."""
    return ALLTOALLV if layout.roles.blocks else str(layout.kind)


def function_name(collective: str) -> str:
    """The name of the function in a module."""
    return collective.replace("-", "_")


def _sentence(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


@dataclass(frozen=True)
class Parts:
    """The parts of a module that differ from the template: constants by name, and the schedule in a few words. `lines`: of lists of
    lists that are constants, by place in the outer and in the inner one, the line of the file."""

    head: str
    values: Mapping[str, Any]
    about: str
    lines: Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Template:
    """The module of all-reduce on 2 devices in a file of a package, from which all others are made.

    `signature`: the parameters of its function, as written there; `names`: its constants, without LAYOUT_NAMES.
    """

    package: str
    file: str
    signature: str
    names: tuple[str, ...]

    @cached_property
    def _text(self) -> tuple[str, str, str]:
        """(what stands before the constants, the constants, the code after them)."""
        text = (files(self.package) / self.file).read_text(encoding="ascii")
        head, _, rest = text.partition(_CONSTANTS)
        return head, *rest.partition(f"\n{_CODE}")[::2]

    @property
    def mark(self) -> bytes:
        """The first line, with which every such module begins."""
        return f"{self._text[0].splitlines()[0]}\n".encode()

    @property
    def comment(self) -> str:
        """The lines of comment inside of a constant."""
        return "".join(f"{line}\n" for line in self._text[1].splitlines() if line.startswith("    #"))

    def written(self, layout: Layout, about: str, constants: str) -> bytes:
        """The module of a collective whose constants are these lines. The same arguments give the same bytes."""
        return f"{self._head(layout, about)}{_CONSTANTS}{constants}\n{_CODE}{self._code(collective_name(layout))}".encode()

    def _head(self, layout: Layout, about: str) -> str:
        head, name = self._text[0], collective_name(layout)
        words = name.capitalize() if "all" not in name else _sentence(name)
        head = head.replace("All-reduce on 2 devices", f"{words} on {layout.ranks} devices", 1)
        head = head.replace("all_reduce(x, axis_name)", f"{function_name(name)}(x, axis_name)", 1)
        return head.replace("all-reduce on ring:2, made by ring", about, 1)

    def _code(self, name: str) -> str:
        """The code with the function of a collective."""
        head = f'def all_reduce({self.signature}):\n    """All-reduce of x'
        own = head.replace("all_reduce", function_name(name)).replace("All-reduce", _sentence(name))
        return self._text[2].replace(head, own, 1)

    def parts(self, data: bytes, where: str) -> Parts:
        """The parts of a module. InputError, one line, for a file that is none, has other code, or whose constants are not literals
        or have other names."""
        try:
            text = data.decode("ascii")
        except UnicodeDecodeError:
            raise InputError(f"{where}: it has characters that are not ASCII") from None
        head, found, rest = text.partition(_CONSTANTS)
        constants, second, code = rest.partition(f"\n{_CODE}")
        if not found or not second:
            raise InputError(f"{where}: it lacks the line {(_CODE if found else _CONSTANTS).strip()!r}")
        values, lines = self._literals(constants, head.count("\n") + 2, where)
        name = values["COLLECTIVE"]
        if not isinstance(name, str) or name not in _KINDS:
            raise InputError(f"{where}: {unknown_name('collective', str(name), _KINDS)}")
        self._require_code(text, code, self._code(name), where)
        about = _ABOUT.match(head, len(self.mark))
        return Parts(head, values, about[1] if about else "", lines)

    def require_head(self, parts: Parts, layout: Layout, where: str) -> None:
        """Raise InputError where what stands before the constants is not what is written for a collective."""
        if parts.head != self._head(layout, parts.about):
            raise InputError(f"{where}: the lines before the constants are not those of its schedule")

    def _require_code(self, text: str, code: str, expected: str, where: str) -> None:
        for number, (line, own) in enumerate(zip(f"{code}\n".split("\n"), f"{expected}\n".split("\n"), strict=False)):
            if line != own:
                at = text[: -len(code)].count("\n") + 1 + number if code else text.count("\n")
                raise InputError(f"{where}: line {at} is {short(line)}; in a module of certree it is {short(own)}")
        if code != expected:
            raise InputError(f"{where}: its code has {len(code)} characters; expected {len(expected)}")

    def _literals(self, text: str, first: int, where: str) -> tuple[dict[str, Any], dict[tuple[int, int], int]]:
        """The constants by name, and the lines of what is listed in lists; `first`: the line of the first constant."""
        found: dict[str, Any] = {}
        lines: dict[tuple[int, int], int] = {}
        try:
            for line in ast.parse(text).body:
                if not isinstance(line, ast.Assign) or len(line.targets) != 1:
                    raise InputError(f"{where}: line {first + line.lineno - 1} is not a constant")
                target, value = line.targets[0], ast.literal_eval(line.value)
                if isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(target.elts) == len(value):
                    found |= {getattr(one, "id", ""): part for one, part in zip(target.elts, value, strict=True)}
                else:
                    found[getattr(target, "id", "")] = value
                for outer, rows in enumerate(line.value.elts if isinstance(line.value, ast.List) else ()):
                    lines |= {(outer, at): first + row.lineno - 1 for at, row in enumerate(getattr(rows, "elts", []))}
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise InputError(f"{where}: its constants are not literals of Python: {short(str(error))}") from None
        names = (*LAYOUT_NAMES, *self.names)
        if sorted(found) != sorted(names):
            raise InputError(f"{where}: it has the constants {short(', '.join(found))}; expected {', '.join(names)}")
        return found, lines


def layout_line(layout: Layout) -> str:
    """The constants LAYOUT_NAMES, as a line."""
    demand = [list(row) for row in layout.roles.blocks] or None
    members = None if layout.roles.members is None else list(layout.roles.members)
    return f'{", ".join(LAYOUT_NAMES)} = "{collective_name(layout)}", {layout.ranks}, {layout.root}, {members}, {demand}'


def block_of(layout: Layout) -> int:
    """The constant CHUNKS: the chunks of a block; of an alltoallv 1."""
    return 1 if layout.roles.blocks else layout.block


def layout_of(values: Mapping[str, Any], ranks: int, chunks: int) -> Layout:
    """The collective that the constants state, for N ranks and K chunks of a block. InputError where they do not fit."""
    for one in ("MEMBERS", "DEMAND"):  # the code of modules reads these as they are
        if not isinstance(values[one], list | None):
            raise InputError(f"{one} is {short(values[one])}; expected lists of whole numbers, or None")
    name = values["COLLECTIVE"]
    members = None if values["MEMBERS"] is None else tuple(unpacked(values["MEMBERS"], 1, "MEMBERS").tolist())
    blocks = () if values["DEMAND"] is None else tuple(map(tuple, unpacked(values["DEMAND"], 2, "DEMAND").tolist()))
    if bool(blocks) != (name == ALLTOALLV) or any(min(row) < 0 for row in blocks):
        raise InputError(f"DEMAND is {short(values['DEMAND'])}; an alltoallv has rows of whole numbers, and nothing else has it")
    kind = _KINDS[name]
    root = whole(values, "ROOT", 0, ranks - 1) if kind in WITH_ONE_ROOT else None
    if root is None and values["ROOT"] is not None:
        raise InputError(f"ROOT is {short(values['ROOT'])}; {name} has none")
    if blocks:
        chunks = max([*map(sum, blocks), *map(sum, zip(*blocks, strict=True))])
    elif kind in _WITH_BLOCKS:
        chunks *= ranks if members is None else len(members)
    return Layout(kind, ranks, chunks, root, Roles(members, blocks))


def whole(values: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """The constant of this name, a whole number from `least` to `most`; InputError for others."""
    value = values[name]
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"{name} is {short(value)}; allowed: {least} to {most}")
    return value
